"""live, with frameworks that are wrong on purpose, absent, broken or silent."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

import suanzi as sz
from helpers.numpys import needs_numpy_2
from suanzi.promote.live import NotInstalled, live


def fake_python(folder: Path, script: str) -> str:
    """An interpreter that runs `script` instead of the probe it is given."""
    path = folder / "python"
    path.write_text(f"#!{sys.executable}\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def answering(folder: Path, *answers: list[object]) -> str:
    found = {"framework": "torch", "version": "0.1", "answers": list(answers)}
    return fake_python(
        folder, f"import json\nprint('noise')\nprint('suanzi-probe ' + json.dumps({found!r}))"
    )


def test_agreement_drift_and_missing_kernels(tmp_path: Path) -> None:
    python = answering(
        tmp_path,
        [None, None, ["int8", "float16"], "answer", "float16"],
        [None, None, ["int8", "int16"], "answer", "int64"],
        [None, None, ["bool", "uint16"], "refused", "RuntimeError: no"],
        [None, None, ["int8", "0d:int64"], "refused", "RuntimeError: no"],
        [None, "equal", ["int8", "float16"], "answer", "bool"],
        [None, "sqrt", ["int8"], "missing", "no kernel"],
        [None, None, ["int8", "py:float"], "answer", "float64"],
    )
    found = live("torch", python=python)
    assert found.version == "0.1"
    assert [cell.outcome for cell in found.cells] == [
        "agrees", "drift", "agrees", "drift", "agrees", "missing", "drift",
    ]  # fmt: skip
    assert [cell.row() for cell in found.drift] == [
        ("torch", "any", "int8, int16", "int16", "int64"),
        ("torch", "any", "int8, 0-d int64", "int8", "refused"),
        ("torch", "any", "int8, a Python float", "float32", "float64"),
    ]
    assert "7 cells asked, 3 agree, 0 known deviations, 3 drift, 1 without" in str(found)
    assert found.to_dict()["drift"][1]["message"] == "RuntimeError: no"


def test_known_deviations_are_told_apart(tmp_path: Path) -> None:
    python = answering(
        tmp_path,
        ["openvino+scalar", None, ["int8", "0d:uint8"], "answer", "int8"],
        ["openvino+scalar", None, ["int8", "0d:uint32"], "answer", "int8"],
    )
    found = live("openvino", python=python)
    assert [cell.outcome for cell in found.cells] == ["known", "drift"]
    assert "1 known deviation," in str(found)


def test_another_rule_set_can_be_held_against_it(tmp_path: Path) -> None:
    python = answering(tmp_path, [None, None, ["int32", "float16"], "answer", "float64"])
    assert live("torch", python=python).drift
    assert not live("torch", python=python, rules="numpy").drift


@needs_numpy_2
def test_numpy_itself() -> None:
    found = live("numpy")
    assert not found.drift, f"\n{found}"
    assert len(found.of("agrees")) == len(found.cells) > 2000


def test_a_framework_that_is_not_installed(tmp_path: Path) -> None:
    python = fake_python(tmp_path, "raise SystemExit(3)")
    with pytest.raises(NotInstalled, match=r"install suanzi\[jax\] there"):
        live("jax", python=python)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("import os; os.abort()", "failed"),
        ("raise SystemExit('broken package')", "failed: broken package"),
        ("print('nothing useful')", "failed: its process ended with exit status 0"),
    ],
)
def test_a_framework_that_fails(tmp_path: Path, script: str, message: str) -> None:
    with pytest.raises(sz.InternalError, match=message):
        live("torch", python=fake_python(tmp_path, script))


def test_a_framework_that_hangs(tmp_path: Path) -> None:
    python = fake_python(tmp_path, "import time; time.sleep(60)")
    with pytest.raises(sz.InternalError, match="did not answer within 0.5 seconds"):
        live("torch", python=python, timeout=0.5)


def test_bad_arguments() -> None:
    with pytest.raises(sz.InvalidArgument, match="Did you mean 'torch'"):
        live("troch")
    with pytest.raises(sz.InvalidArgument, match="cannot be run"):
        live("torch", python=os.path.join(os.sep, "no", "such", "python"))


ESCAPE = "\x1b]0;gone\x07\x1b[2J"


def test_words_of_a_framework_move_no_cursor(tmp_path: Path) -> None:
    found = live(
        "torch",
        python=answering(tmp_path, [None, None, ["int8", "int16"], "refused", f"no {ESCAPE}"]),
    )
    assert found.cells[0].message == r"no \x1b]0;gone\x07\x1b[2J"
    loud = fake_python(
        tmp_path,
        f"import json\nprint('suanzi-probe ' + json.dumps("
        f"{{'version': {'1 [red]' + ESCAPE!r}, 'answers': []}}))",
    )
    assert "\x1b" not in str(live("torch", python=loud))
    failing = fake_python(tmp_path, f"import sys\nsys.stderr.write({ESCAPE!r})\nsys.exit(1)")
    with pytest.raises(sz.InternalError) as caught:
        live("torch", python=failing)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    "said",
    [
        "{",
        "[]",
        "1",
        "{}",
        '{"version": 1}',
        '{"version": 1, "answers": [1]}',
        "[" * 10**6,
        '{"version": 1, "answers": [[null, null, ["int8"], "answer", {}]]}',
    ],
    ids=range(8),
)
def test_a_probe_that_says_something_else(tmp_path: Path, said: str) -> None:
    script = f"print('suanzi-probe ' + {said!r})"
    with pytest.raises(sz.StatusError):
        live("torch", python=fake_python(tmp_path, script))
