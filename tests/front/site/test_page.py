"""The page of `suanzi site`: its data, its words, its size, and how it is written."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import suanzi as sz
import write_site_data
from front.site.questions import ASK, CLASSES, answer, questions
from suanzi.conformance.check import check
from suanzi.conformance.reports.deviations import packaged
from suanzi.conformance.reports.json import write as write_report
from suanzi.front import site
from suanzi.front.cli import main
from suanzi.front.site.accuracy import accuracy
from suanzi.front.site.words import label, translated, words
from suanzi.promote.operators import OPERATORS, OUTSIDE
from suanzi.standard import categories, interfaces
from suanzi.validate.accuracy import accuracy as measure

SOURCES = [p.read_text("utf-8") for p in (site.HOME / "page").iterdir() if p.suffix != ".css"]


@pytest.fixture(scope="module")
def page() -> str:
    return site.html()


@pytest.fixture(scope="module")
def data(page: str) -> dict[str, Any]:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return dict(json.loads(found))


def test_it_is_small_and_loads_nothing(page: str) -> None:
    assert len(page.encode()) < 1_000_000
    assert "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'" in page
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.S)
    assert not re.search(r'(src|href)="(?!#)', markup)
    style = "".join(re.findall(r"<style>(.*?)</style>", page, re.S))
    assert not re.search(r"url\(|@import", style)
    scripts = "\n".join(SOURCES)
    assert not re.search(r"\bfetch\(|XMLHttpRequest|WebSocket|import\(|sendBeacon|\.src\b", scripts)


def test_every_label_is_in_both_languages_and_used() -> None:
    labels = words()["label"]
    for key, texts in labels.items():
        en, zh = texts
        assert en.strip(), key
        assert zh.strip(), key
        assert sorted(re.findall(r"\{\d\}", en)) == sorted(re.findall(r"\{\d\}", zh)), key
        plain = re.sub(r"\{\d\}|\W", "", zh)
        assert not plain or re.search("[\u4e00-\u9fff]", zh) or en == zh, key
    text = "\n".join(SOURCES)
    made = {f"class_{one.replace(' ', '_')}" for one in (*CLASSES, "of models")}
    measures = re.search(r"const MEASURES = \{(.*?)\};", text, re.S)
    assert measures is not None
    made |= {f"m_{name}" for name in re.findall(r"(\w+): row", measures[1])}
    parts = ("promotion", "accuracy", "conformance", "judge")
    made |= {*parts, *(f"{part}_lead" for part in parts)}
    used = set(re.findall(r'\b(?:t|w|fact)\("(\w+)"', text)) | set(re.findall(r'"(\w+)"', text))
    assert set(re.findall(r'\bt\("(\w+)"', text)) <= set(labels)
    assert set(labels) <= used | made
    assert made <= set(labels)
    assert label("title") == labels["title"][0]


def test_every_reason_and_fix_is_translated(data: dict[str, Any]) -> None:
    for text in data["promotion"]["reasons"]:
        assert translated(re.sub(r"\{\w+\}", "int8", text)), text
    for layer in data["promotion"]["layers"].values():
        assert translated(layer), layer
    for question in questions(100, seed=11):
        found = answer(question)
        if not found["known"]:
            continue
        fixes = [one["text"] for one in found["fixes"]]
        steps = [step.partition(": ")[2] for step in found["steps"]]
        for text in (*steps, *fixes, *(one["text"] for one in found["lost"])):
            chinese = translated(text)
            assert chinese is not None, (question, text)
            assert not re.search(r"\b(the|becomes|with|is|every|operand)\b", chinese), chinese


def test_other_data_is_translated(data: dict[str, Any]) -> None:
    said = [name for name, _ in data["judge"]["outputs"]]
    for kinds in data["judge"]["softmax"].values():
        said += [*kinds, *(text for texts in kinds.values() for text in texts)]
    said += categories().values()
    for score in data["conformance"]["scores"]:
        said += [word for level in score["levels"][:3] for word in level[:2]]
        said += [verdict for verdict, _ in score["interfaces"].values()]
    for text in dict.fromkeys(said):
        assert translated(text), text


def test_the_operators_and_rule_sets_are_all_there(data: dict[str, Any]) -> None:
    found = data["promotion"]
    assert [one["name"] for one in found["rules"]] == list(sz.rule_sets())
    names = [name for group in found["operators"] for name, _ in group["names"]]
    assert sorted(names) == sorted([*OPERATORS, *OUTSIDE])


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_the_page_answers_as_the_engine_does(data: dict[str, Any], tmp_path: Path) -> None:
    asked = questions(100, seed=11)
    script = (site.HOME / "page" / "promote.js").read_text("utf-8")
    given = json.dumps({"DATA": {"promotion": data["promotion"]}, "asked": asked})
    program = tmp_path / "ask.js"
    program.write_text(
        f"{script}\nconst {{DATA, asked}} = {given};\n"
        f"console.log(JSON.stringify(({ASK})(asked)));\n"
    )
    done = subprocess.run(["node", program], capture_output=True, text=True, check=True)
    for question, found in zip(asked, json.loads(done.stdout), strict=True):
        assert found == answer(question), question


def test_the_atlas_is_that_of_the_files(data: dict[str, Any]) -> None:
    files = sorted((site.DATA / "accuracy").glob("*.json"))
    shown = data["accuracy"]["subjects"]
    assert len(shown) == len(files)
    assert shown[0]["title"] == "suanzi"
    for file in files:
        facts = json.loads(file.read_text("utf-8"))
        (subject,) = accuracy([file])["subjects"]
        assert subject in shown
        assert subject["rows"] == facts["rows"]
        assert data["accuracy"]["columns"] == facts["columns"]


def test_a_report_is_stored_as_it_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = measure(functions=["exp"], dtypes=["float8_e5m2"], jobs=1)
    file = tmp_path / "report.json"
    file.write_text(report.to_json(), "utf-8")
    monkeypatch.setattr(write_site_data, "DATA", tmp_path)
    (there,) = accuracy([write_site_data.store(file)])["subjects"]
    (shown,) = accuracy([], [file])["subjects"]
    assert there == shown
    here = dict(zip(accuracy([])["columns"], there["rows"][0], strict=False))
    tally = report.rows[0].tally
    assert (here["function"], here["dtype"], here["count"]) == ("exp", "float8_e5m2", tally.count)
    assert here["worst"] == pytest.approx(tally.worst, rel=1e-5)
    old = json.loads((tmp_path / "accuracy" / "suanzi-cpu.json").read_text("utf-8"))
    (tmp_path / "old.json").write_text(json.dumps(old | {"columns": ["function"]}), "utf-8")
    with pytest.raises(ValueError, match="earlier version"):
        accuracy([tmp_path / "old.json"])


def test_the_scoreboard_has_every_interface_and_deviation(data: dict[str, Any]) -> None:
    found = data["conformance"]
    assert [name for _, name, *_ in found["interfaces"]] == list(interfaces())
    assert {one["name"] for one in found["scores"]} >= {"suanzi", "numpy", "torch"}
    for score in found["scores"]:
        assert set(score["interfaces"]) == set(interfaces())
        listed = {one["reason"] for one in found["deviations"] if one["of"] == score["name"]}
        assert listed == {one.reason for one in packaged(score["name"]) if not one.unsupported}
    for one in found["deviations"]:
        assert one["case"]
        assert "cases" not in one or one["case"].partition("/")[0] in interfaces()


def test_the_judge_table_is_that_of_the_file(data: dict[str, Any]) -> None:
    file = json.loads((site.DATA / "judge.json").read_text("utf-8"))
    found = data["judge"]
    assert found["rows"] == [[row["name"], row["said"]] for row in file["rows"]]
    for (_, said), row in zip(found["rows"], file["rows"], strict=True):
        wrong = [
            s is not None and s != right
            for s, (_, right) in zip(said, found["outputs"], strict=True)
        ]
        assert sum(wrong) == row["mistakes"]


def test_results_of_yours_are_added(tmp_path: Path) -> None:
    found = measure(functions=["exp"], dtypes=["float8_e5m2"], jobs=1)
    mine = json.loads(found.to_json())
    mine["subject"] |= {"name": "mine", "title": "mine"}
    file, report = tmp_path / "mine.json", tmp_path / "report.json"
    file.write_text(json.dumps(mine))
    write_report(check(ops=["abs"], dtypes=["int8"], groups=["plain"], jobs=1), report)
    made = site.write(tmp_path / "page", [file], [report]).read_text("utf-8")
    assert '"title":"mine"' in made
    assert site.write(tmp_path / "page").name == "index.html"  # it replaces its own


def test_bad_arguments_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, full = tmp_path / "file", tmp_path / "full"
    file.write_text("{}")
    full.mkdir()
    (full / "mine.txt").touch()
    for arguments, words_of_it in (
        ([str(file)], "is a file; give a folder"),
        ([str(full)], "has other files in it"),
        ([str(file / "below")], "cannot be written: Not a directory"),
        ([str(tmp_path / "new"), "--accuracy", str(file)], "is not a report of `suanzi accuracy"),
        ([str(tmp_path / "new"), "--accuracy", "none.json"], "cannot be read: No such file"),
        ([str(tmp_path / "new"), "--check", str(file)], "report"),
    ):
        assert main(["site", *arguments]) == 2
        assert words_of_it in capsys.readouterr().err, arguments
    assert not (tmp_path / "new").exists()


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["site", str(tmp_path / "a" / "b")]) == 0
    written = Path(capsys.readouterr().out.strip())
    assert written == tmp_path / "a" / "b" / "index.html"
    assert written.read_text("utf-8").startswith("<!DOCTYPE html>")
