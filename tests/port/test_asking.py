"""suanzi live --dtypes: lists asked anew, with a program that stands for the interpreter."""

from __future__ import annotations

import json
import runpy
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from suanzi.front.cli import main
from suanzi.port import support as lists
from suanzi.port.asking import Asked

LIST = (Path(lists.__file__).parent / "dtypes" / "paddle.txt").read_text("utf-8")
BLOCK = Path(__file__).parents[2] / "examples" / "port" / "block.jsonl"


@pytest.fixture
def python(tmp_path: Path) -> Iterator[str]:
    """An interpreter whose Paddle lost bfloat16 in multiply, won it in add, and lacks erf."""
    text = LIST.replace("paddle 3.3.1", "paddle 9.9")
    lines = [line for line in text.splitlines() if not line.startswith("erf ")]
    for i, line in enumerate(lines):
        if line.startswith("multiply "):
            lines[i] = line.replace(" bf16", "")
        if line.startswith("add "):
            lines[i] = line + " bf16"
    (tmp_path / "list.txt").write_text("noise of the framework\n" + "\n".join(lines) + "\n")
    path = tmp_path / "python"
    path.write_text(f"#!{sys.executable}\nprint(open({str(tmp_path / 'list.txt')!r}).read())\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    yield str(path)
    lists._own.clear()
    lists.support.cache_clear()


def test_what_differs_is_said(
    python: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["live", "paddle", "--dtypes", "--python", python, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["differences"] == [
        {"operator": "add", "on": "cpu", "new": "bfloat16", "gone": "-"},
        {
            "operator": "erf", "on": "cpu", "new": "-",
            "gone": found["differences"][1]["gone"],
        },
        {"operator": "multiply", "on": "cpu", "new": "-", "gone": "bfloat16"},
    ]  # fmt: skip
    assert "float32" in found["differences"][1]["gone"]
    assert main(["live", "paddle", "--dtypes", "--python", python]) == 1
    assert "3 differ from the list of suanzi (paddle 3.3.1" in capsys.readouterr().out


def test_a_list_of_ones_own_is_what_port_goes_by(
    python: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    own = tmp_path / "own.txt"
    main(["live", "paddle", "--python", python, "--write", str(own)])
    assert own.read_text().startswith("# Which dtypes operators of paddle take")

    def lacking(*more: str) -> set[str]:
        capsys.readouterr()
        main(["port", str(BLOCK), "--to", "paddle", "--on", "cpu", "--json", *more])
        found = json.loads(capsys.readouterr().out)["findings"]
        return {one["text"].partition(" ")[0] for one in found if one["code"] == "SZ004"}

    before, after = lacking(), lacking("--dtypes", str(own))
    assert before - after == {"add"}
    assert after < before


def test_bad_input_is_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["live", "torch", "--dtypes"]) == 2
    assert "--dtypes does not support 'torch'" in capsys.readouterr().err
    assert main(["port", str(BLOCK), "--dtypes", "README.md"]) == 2
    assert "'README.md' is not a list of dtypes" in capsys.readouterr().err
    assert main(["port", str(BLOCK), "--dtypes", "nowhere.txt"]) == 2
    assert "cannot be read" in capsys.readouterr().err
    failing = tmp_path / "python"
    failing.write_text(f"#!{sys.executable}\nraise SystemExit('no such kernel')\n")
    failing.chmod(failing.stat().st_mode | stat.S_IXUSR)
    assert main(["live", "paddle", "--dtypes", "--python", str(failing)]) != 0
    assert "asking paddle for its dtypes failed: no such kernel" in capsys.readouterr().err


def test_the_list_of_suanzi_against_itself() -> None:
    assert Asked("paddle", LIST).differences == []
    assert "none differ from" in str(Asked("paddle", LIST))


def test_what_takes_a_shape_is_not_asked() -> None:
    """Paddle's `ones` of a tensor would take it for a shape; its dtypes are those of shapes."""
    asker = Path(lists.__file__).parent / "probes" / "ask_dtypes.py"
    names = {name for name, *_ in runpy.run_path(str(asker))["rows"]("paddle")}
    assert {"add", "softmax", "one_hot", "erfinv"} <= names
    assert not {"ones", "zeros", "full", "rand"} & names
