"""Reports that were forged or damaged: `suanzi merge` and `compare` say so, and end with 2."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suanzi.base.status import InvalidArgument
from suanzi.conformance.model.blocks import unpacked
from suanzi.conformance.model.results import Result, Run
from suanzi.conformance.reports import deviations
from suanzi.conformance.reports import json as reports
from suanzi.front.cli import main

Report = dict[str, Any]
SUBJECT = {
    "title": "suanzi", "adapter": "a:A", "name": "suanzi", "version": "1", "rules": "cann",
    "statuses": True, "mapping": {"add": "sz.add"}, "missing": {}, "notes": [], "python": "3.11",
}  # fmt: skip
BLOCK = {
    "op": "add", "group": "plain", "outcome": "passed", "titles": ["a", "b"],
    "dtypes": {"float32": {"ulp": [0.1, 0.2], "bases": "n"}, "float64": {}},
}  # fmt: skip


def shard(number: int, of: int = 2) -> Report:
    op = ("add", "sub", "abs")[number % 3]
    settings = {
        "rules": "cann", "seed": 0, "quick": True, "minimal": False, "ops": ["add", "sub"],
        "categories": None, "dtypes": None, "groups": None, "cases": None, "timeout": 10.0,
        "jobs": 2, "unclaimed": {}, "deviations": [], "started": "2026", "suanzi": "0.1.0",
        "shard": {"number": number, "of": of, "unused": []},
    }  # fmt: skip
    result = Result(
        f"{op}/plain/int8/a",
        op,
        "plain",
        "int8",
        "failed",
        "wrong",
        "sz.add(1)",
        ulp=3.0,
        bound=0.5,
    )
    return Run(dict(SUBJECT), settings, [result], 1.0).to_dict()


def with_block(**changes: Any) -> Callable[[Report], Any]:
    def change(report: Report) -> None:
        report["schema"] = "suanzi-conformance/2"
        report["blocks"] = [{**copy.deepcopy(BLOCK), **changes}]

    return change


def put(*path: Any) -> Callable[[Report], Any]:
    """Return what puts a value, the last, where the others lead."""
    *way, last, value = path

    def change(report: Report) -> None:
        at: Any = report
        for name in way:
            at = at[name]
        at[last] = value

    return change


def said(tmp_path: Path, capsys: pytest.CaptureFixture[str], *texts: str | bytes) -> str:
    """Return the one sentence that merge says of files with these texts, ending with 2."""
    names = []
    for i, text in enumerate(texts):
        file = tmp_path / f"{i}.json"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        names.append(str(file))
    html = tmp_path / "all.html"
    assert main(["merge", *names, "--report", str(html)]) == 2
    assert not html.exists()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("suanzi: ")
    assert err.strip().count("\n") < 3
    assert all(c == "\n" or c.isprintable() for c in err)
    return " ".join(err.split())


FORGED: dict[str, tuple[Callable[[Report], Any], str]] = {
    "another schema": (put("schema", "suanzi-conformance/9"), "cannot be read"),
    "a schema that is a list": (put("schema", []), "cannot be read"),
    "no results": (put("results", None), "results is None, not array"),
    "a result that is a word": (put("results", 0, "x"), "results[0] is 'x', not object"),
    "an id that is a list": (put("results", 0, "id", [[]]), "results[0].id is [[]], not string"),
    "an id that is a number": (put("results", 0, "id", -1e999), "results[0].id"),
    "a problem that is a dict": (put("results", 0, "problem", {"a": {}}), "results[0].problem"),
    "a dtype that is null": (put("results", 0, "dtype", None), "results[0].dtype"),
    "an outcome of another": (put("results", 0, "outcome", "won"), "results[0].outcome is 'won'"),
    "a basis of another": (put("results", 0, "basis", "hope"), "results[0].basis is 'hope'"),
    "an error that is huge": (put("results", 0, "ulp", 10**400), "results[0].ulp"),
    "an error that is NaN": (put("results", 0, "ulp", float("nan")), "results[0].ulp is nan"),
    "an error below 0": (put("results", 0, "bound", -1), "0 or more"),
    "a flag that is a word": (put("results", 0, "unexpected", "yes"), "results[0].unexpected"),
    "a culprit that is a list": (put("results", 0, "culprit", []), "results[0].culprit"),
    "jobs that are a list": (put("settings", "jobs", [1]), "settings.jobs is [1], not integer"),
    "interfaces that are numbers": (put("settings", "ops", [0]), "settings.ops[0] is 0"),
    "groups without an end": (put("settings", "groups", -1e999), "settings.groups"),
    "deviations in lists": (put("settings", "deviations", [["x"]]), "settings.deviations[0]"),
    "what is unclaimed": (put("settings", "unclaimed", 1.5), "settings.unclaimed is 1.5"),
    "settings that are a list": (put("settings", []), "settings is [], not object"),
    "a mapping that is a list": (put("subject", "mapping", []), "subject.mapping is []"),
    "what is missing": (put("subject", "missing", "all"), "subject.missing is 'all'"),
    "dtypes of the subject": (put("subject", "dtypes", [[]]), "subject.dtypes[0]"),
    "a subject that is null": (put("subject", None), "subject is None, not object"),
    "seconds that are a word": (put("seconds", "long"), "seconds is 'long', not number"),
    "seconds beyond floats": (put("seconds", 10**400), "seconds"),
    "unused that are numbers": (put("unused", [1]), "unused[0] is 1, not string"),
    "unfinished in lists": (put("unfinished", [[]]), "unfinished[0] is [], not string"),
    "a shard that is a word": (put("settings", "shard", "1/2"), "settings.shard is '1/2'"),
    "a shard that is true": (put("settings", "shard", "number", True), "settings.shard.number"),
    "shard 0": (put("settings", "shard", "number", 0), "1 or more"),
    "shard 3 of 2": (put("settings", "shard", "number", 3), "is not of a shard"),
    "shards without an end": (put("settings", "shard", "of", 10**30), "are of 2 and 1000"),
    "the other shard": (put("settings", "shard", "number", 2), "2/2 is given more than once"),
    "another seed": (put("settings", "seed", 7), "seed is"),
    "another kit": (put("settings", "suanzi", "\x1b[2J"), r"suanzi is '\x1b[2J'"),
    "another subject": (put("subject", "name", "<b>"), "these are different backends"),
    "the case of the other": (put("results", 0, "id", "abs/plain/int8/a"), "is in two shards"),
    "a block that is a word": (put("blocks", ["x"]), "blocks[0] is 'x', not object"),
    "a block without titles": (put("blocks", [{"op": "add"}]), "blocks that cannot be read"),
    "titles that are numbers": (with_block(titles=[1, 2]), "blocks[0].titles[0]"),
    "dtypes in a list": (with_block(dtypes=["f32"]), "blocks[0].dtypes is ['f32']"),
    "fewer values than titles": (with_block(dtypes={"f32": {"ulp": [1]}}), "1 of ulp, not 2"),
    "a basis without a name": (with_block(all={"bases": "z"}), "KeyError('z')"),
    "an error that is a word": (with_block(all={"ulp": "far"}), "unpacked[2].ulp is 'far'"),
    "a hundred million cases": (
        with_block(titles=["t"] * 10_000, dtypes={str(i): {} for i in range(10_000)}),
        "more than 1000000 cases",
    ),
    "a title that every dtype repeats": (
        with_block(titles=["t" * 300_000], dtypes={str(i): {} for i in range(1000)}),
        "more than 268435456 characters",
    ),
    "a dtype that every title repeats": (
        with_block(titles=[str(i) for i in range(1000)], dtypes={"d" * 300_000: {}}),
        "more than 268435456 characters",
    ),
    "long words of many cases": (
        with_block(
            op="o" * 900, titles=["t"] * 1000, dtypes={f"{i:0100}": {} for i in range(1000)}
        ),
        "more than 268435456 characters",
    ),
    "a problem that every case repeats": (
        with_block(
            titles=["t"] * 1000,
            dtypes={str(i): {} for i in range(100)},
            all={"problem": "p" * 9000},
        ),
        "more than 268435456 characters",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change, words = FORGED[name]
    one, other = shard(1), shard(2)
    change(one)
    assert words in said(tmp_path, capsys, json.dumps(one), json.dumps(other))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, "is not JSON"),
        ('{"a":' * 100_000, "is not JSON"),
        ("[" * 400 + "]" * 400, "schema None cannot be read"),
        ("9" * 5000, "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"", "is not JSON"),
        ("null", "schema None cannot be read"),
        ('"\\u001b[31m"', "schema None cannot be read"),
    ],
)
def test_no_report(
    text: str | bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in said(tmp_path, capsys, text)


def test_a_file_that_is_too_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not read further than a report goes; some, as /dev/zero, have no end."""
    monkeypatch.setattr(reports, "LONGEST", 1000)
    assert "more than 1000 bytes" in said(tmp_path, capsys, " " * 1001)
    assert main(["merge", "/dev/zero"]) == 2
    assert "more than 1000 bytes" in capsys.readouterr().err


def test_what_blocks_stand_for_is_counted() -> None:
    """Names by the cases that repeat them, and what is said of them."""
    made = list(unpacked([{**BLOCK, "all": {"because": "so"}}]))
    names = sum(len(one["id"]) - 3 for one in made)  # less the strokes
    said = sum(len(one.get("because", "")) + len(str(one.get("ulp", ""))) for one in made)
    assert reports._unpacked_length({**BLOCK, "all": {"because": "so"}}) == names + said


def test_shards_that_are_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = json.dumps(shard(1, 10**30))
    assert "and 999999999999999999999999999993 more missing" in said(tmp_path, capsys, first)
    assert "no reports; give" in said(tmp_path, capsys)


def test_what_names_say_is_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the terminal, in HTML and in JUnit's XML."""
    files = []
    for number in (1, 2):
        report = shard(number)
        bad = "<script>alert(1)</script>\x1b[31m\x00\u202e"
        report["subject"] |= {"title": bad, "version": bad, "mapping": {"add": bad}, "notes": [bad]}
        report["results"][0] |= {"problem": bad, "call": bad, "because": bad, "reproduction": bad}
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(report))
        files.append(str(file))
    html, junit = tmp_path / "all.html", tmp_path / "all.xml"
    arguments = ["merge", *files, "--report", str(html), "--junit", str(junit), "--verbose"]
    assert main(arguments) == 1
    told = "".join(capsys.readouterr())
    assert not {"\x1b", "\x00"} & set(told)
    assert "<script>alert" not in html.read_text()
    assert "\x1b" not in junit.read_text()


def test_compare_reads_no_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = shard(1)
    report["results"][0]["dtype"] = {}
    file = tmp_path / "1.json"
    file.write_text(json.dumps(report))
    assert main(["compare", str(file), str(file)]) == 2
    assert "results[0].dtype is {}, not string" in " ".join(capsys.readouterr().err.split())


def test_a_subject_names_no_file() -> None:
    known = next(deviations._PACKAGED.glob("*.toml"))
    assert deviations.packaged(known.stem)
    assert not deviations.packaged(f"../{known.parent.name}/{known.stem}")


def test_what_others_do_not_know_is_left_out(tmp_path: Path) -> None:
    report = shard(1) | {"later": [1]}
    report["results"][0] |= {"later": {}, "alone": {"id": 1}}
    file = tmp_path / "1.json"
    file.write_text(json.dumps(report))
    assert reports.read(file).results[0].alone is None
    file.write_text("{}")
    with pytest.raises(InvalidArgument, match="schema None"):
        reports.read(file)
