"""SKILL.md is true: each command in it runs, each option exists, what it prints fits its schema."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from cyclopts import CycloptsError, MissingArgumentError

import suanzi as sz
from suanzi.front.agents.schemas import NAMES, schema
from suanzi.front.agents.skill import STATUSES
from suanzi.front.cli import app, main

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def skill() -> str:
    from suanzi.front.agents.skill import text
    from suanzi.front.cli.skill import options_of

    return text({name: options_of(app, name) for name in NAMES})


def commands(text: str) -> list[str]:
    """Return the commands of a skill: lines of blocks, and those in sentences."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    rest = re.sub(r"```.*?```", "", text, flags=re.S)
    return [*lines, *re.findall(r"`(suanzi [^`]+)`", rest)]


def unknown_options(text: str) -> Iterator[str]:
    """Give the commands that cannot be parsed, and options that no command has."""
    for line in commands(text):
        words = shlex.split(line, comments=True)[1:]
        try:
            if words[0] != "COMMAND":
                app.parse_args(words, exit_on_error=False, print_error=False)
        except MissingArgumentError:
            if "#" in line:  # a sentence may name a command alone
                yield line
        except CycloptsError as error:
            yield f"{line}: {error}"
    known = {"--help"} | {
        name
        for command in (*NAMES, "promote", "ops", "live")
        for one in app[command].assemble_argument_collection()
        for name in one.names
    }
    for name in re.findall(r"(?<![-\w])--[a-z][a-z-]*", text):
        if name not in known:
            yield name


def test_the_head_is_as_the_format_requires(skill: str) -> None:
    head = re.match(r"---\nname: (.+)\ndescription: (.+)\n", skill)
    assert head
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", head[1])
    assert 1 <= len(json.loads(head[2])) <= 1024
    assert "Use it when" in head[2]
    (compatibility,) = re.findall(r"^compatibility: (.+)$", skill, re.M)
    assert len(compatibility) <= 500
    assert len(skill.splitlines()) < 500


def test_every_option_exists(skill: str) -> None:
    assert list(unknown_options(skill)) == []


def test_an_option_that_does_not_exist_is_found(skill: str) -> None:
    wrong = skill.replace("--dtype f32 --standard", "--dtypes f32 --standard", 1)
    assert len(list(unknown_options(wrong))) == 1
    wrong = skill.replace("`--accumulate bfloat16`", "`--accumulation bfloat16`")
    assert list(unknown_options(wrong)) == ["--accumulation"]


@pytest.fixture
def folder(tmp_path: Path, skill: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the skill, and calls that were recorded before."""
    for code in re.findall(r"```python\n(.*?)```", skill, re.S):
        (tmp_path / code.split()[1]).write_text(code)
    shutil.copy(ROOT / "examples" / "port" / "block.jsonl", tmp_path / "calls.jsonl")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_ends_as_it_says(
    folder: Path, skill: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = set()
    for line in commands(skill):
        if (said := re.search(r"  # (\d)(?:: (\w+))?$", line)) is None:
            continue
        words = shlex.split(line, comments=True)[1:]
        if words[0] == "judge" and "--shape" not in words:
            words += ["--shape", "2x40"]  # fewer cases
        status = main(words)
        printed = capsys.readouterr()
        assert status == int(said[1]), f"{line}\n{printed.err}"
        shown.add((words[0], status))
        if "--json" in words:
            found = json.loads(printed.out)
            jsonschema.validate(found, schema(words[0]))
            assert said[2] is None or found["findings"][0]["code"] == said[2]
        if status == 2:
            assert printed.err.count("\n") == 1
    assert (folder / "show.py").exists()
    for command in NAMES:  # without torch, blame has nothing to run
        ends = [2] if command == "blame" else [n for n in STATUSES[command] if n != 3]
        assert {(command, n) for n in ends} <= shown


def test_the_other_commands_of_its_sentences_run(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["ops"], ["ops", "--catalogue", "nn"], ["rules"], ["dtypes"], ["op", "softmax"]):
        assert main(words) == 0
    capsys.readouterr()


# ---- schemas -------------------------------------------------------------------------------------


def other_shape(x: Any) -> Any:
    return x[..., None] * 1


def refuses(x: Any) -> Any:
    if x.dtype != np.float32:
        raise TypeError("unsupported dtype")
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_verdicts_fit_their_schema() -> None:
    some = {"shapes": [(2, 33)]}
    with np.errstate(all="ignore"):
        verdicts = [
            sz.judge(other_shape, "softmax", dtypes="float32", **some),
            sz.judge(refuses, "softmax", **some),
            sz.judge(np.zeros_like, "softmax", dtypes="bfloat16", standards="all", **some),
            sz.judge(lambda x, y: (x, y), "add", dtypes="float32"),
        ]
    for verdict in verdicts:
        found = json.loads(verdict.to_json())
        jsonschema.validate(found, schema("judge"))
        assert sum(found["counts"].values()) == len(found["cases"])
    assert {f["code"] for v in verdicts for f in v.to_dict()["findings"]} >= {"JD103", "JD503"}


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_schemas_that_leave_nothing_out(name: str) -> None:
    whole = schema(name)
    jsonschema.Draft202012Validator.check_schema(whole)
    assert whole["additionalProperties"] is False
    assert set(whole["required"]) <= set(whole["properties"])


def test_explanations_fit_their_schema() -> None:
    operands = ("int8", "uint64", "bfloat16", "float8_e5m2", "complex64", "bool", sz.ZeroDim("f32"))
    validator = jsonschema.Draft202012Validator(schema("explain"))
    for a in operands:
        for b in (*operands, 300, 1e40, 2j):
            for one in sz.explain_all(a, b, op="mul", rules=["cann", "jax", "openvino", "strict"]):
                validator.validate(json.loads(json.dumps(one.to_dict(), allow_nan=False)))


@pytest.mark.parametrize("target", ["cann", "jax,openvino", "strict", "torch_npu,paddle"])
def test_reports_of_a_port_fit_their_schema(
    target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in ("block.jsonl", "scaled_paddle.jsonl", "scaled.xml"):
        main(["port", str(ROOT / "examples" / "port" / file), "--to", target, "--json"])
        jsonschema.validate(json.loads(capsys.readouterr().out), schema("port"))


# ---- writing it ----------------------------------------------------------------------------------


def test_it_is_written_to_a_file_or_into_a_folder(
    tmp_path: Path, skill: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["skill"]) == 0
    assert capsys.readouterr().out == skill
    for given, file in (
        ("new/skills", "new/skills/suanzi/SKILL.md"),
        ("new/suanzi", "new/suanzi/SKILL.md"),
        ("AGENT.md", "AGENT.md"),
        ("AGENT.md", "AGENT.md"),  # again
    ):
        assert main(["skill", str(tmp_path / given)]) == 0
        assert (tmp_path / file).read_text("utf-8") == skill
        assert capsys.readouterr().out == f"Written: {tmp_path / file}\n"
    assert main(["skill", "--schema", "port"]) == 0
    assert json.loads(capsys.readouterr().out) == schema("port")


def test_places_that_cannot_be_written_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "notes.md").write_text("# Mine\n")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    given = {"file": "Not a directory", "notes.md": "is not the skill of suanzi"}
    if os.geteuid():  # root may write anywhere
        given["closed"] = "Permission denied"
    for name, said in given.items():
        assert main(["skill", str(tmp_path / name)]) == 2
        assert said in capsys.readouterr().err
    assert (tmp_path / "notes.md").read_text() == "# Mine\n"
    assert main(["skill", "x.md", "--schema", "judge"]) == 2
    assert "leave the file out" in capsys.readouterr().err
    assert main(["skill", "--schema", "check"]) == 2
    assert "judge" in capsys.readouterr().err
