"""tools/fuzz.py: a short run with a fixed seed, and whether it would find what it is for."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import suanzi as sz
from fuzzing.judging import Finding, verdict
from fuzzing.making import NAMES, Call, Code, call_of
from fuzzing.shrinking import as_python, in_child, shrunk
from suanzi.conformance.model.data import tensor

PROGRAM = Path(__file__).parents[2] / "tools" / "fuzz.py"
ENOUGH = int(os.environ.get("SUANZI_FUZZ_CALLS", "1500"))


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, PROGRAM, "--quiet", *words],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_a_short_run_finds_nothing() -> None:
    done = run("--calls", str(ENOUGH), "--seconds", "300", "--seed", "19")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " gives" in done.stdout
    assert "finding" not in done.stdout


def test_calls_are_made_of_their_number_alone() -> None:
    some = [call_of(3, i) for i in range(300)]
    assert some == [call_of(3, i) for i in range(300)]
    assert some != [call_of(4, i) for i in range(300)]
    assert {call.form for call in some} == {
        "python", "interface", "symbol", "sparse", "quantised",
    }  # fmt: skip
    assert {call_of(0, i).op for i in range(5000)} == set(NAMES)


X = tensor("float32", [1.0, -2.0, 3.0, -4.0, 5.0, -6.0], (2, 3))


def planted(monkeypatch: pytest.MonkeyPatch, function: Any, check: str = "") -> Call:
    monkeypatch.setattr(sz, "abs", function)
    value = replace(X, layout="columns")
    return Call("abs", "python", "torch", {"x": value}, check=check)


RIGHT = sz.abs


def wrong_where_strided(x: sz.Tensor) -> sz.Tensor:
    return RIGHT(x) if x.strides == (3, 1) else RIGHT(x) + 1


def wrong_everywhere(x: sz.Tensor) -> sz.Tensor:
    return x + 0


def wrong_at_the_end(x: sz.Tensor) -> sz.Tensor:
    found = RIGHT(x)
    found[-1:] = 7 * len(x)
    return found


def changing(x: sz.Tensor) -> sz.Tensor:
    found = RIGHT(x)
    x[0, 0] = 9
    return found


def raising(x: sz.Tensor) -> sz.Tensor:
    raise KeyError("oops")


def broken(x: sz.Tensor) -> sz.Tensor:
    raise sz.InternalError("oops")


def crashing(x: sz.Tensor) -> sz.Tensor:
    os.abort()


def hanging(x: sz.Tensor) -> sz.Tensor:
    time.sleep(100)
    return x


@pytest.mark.parametrize(
    ("function", "check", "kind"),
    [
        (wrong_where_strided, "", "layout"),
        (wrong_everywhere, "numpy", "numpy"),
        (wrong_everywhere, "interface", "form"),
        (wrong_at_the_end, "blocks", "blocks"),
        (changing, "", "changed"),
        (raising, "", "foreign"),
        (broken, "", "internal"),
        (crashing, "", "crash"),
        (hanging, "", "hang"),
    ],
)
def test_what_must_not_be_is_found(
    function: Any, check: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = planted(monkeypatch, function, check)
    found = in_child(call, 2 if kind == "hang" else 60)
    assert isinstance(found, Finding)
    assert found.kind == kind


def test_a_finding_is_made_simple(monkeypatch: pytest.MonkeyPatch) -> None:
    call = planted(monkeypatch, raising)
    simple = shrunk(replace(call, domain_errors=True), "foreign", 30)
    assert (simple.rules, simple.domain_errors) == ("cann", False)
    assert simple.arguments["x"].size == 0
    monkeypatch.undo()
    written = as_python(simple)
    names: dict[str, Any] = {}
    exec(written, names)
    assert names["x"].size == 0


def test_arguments_that_are_written() -> None:
    call = Call("abs", "python", "cann", {"x": Code("10**400")})
    assert isinstance(verdict(call), str)
    assert "x = 10**400" in as_python(call)


def test_one_call_again() -> None:
    done = run("--seed", "3", "--only", "7", "--ops", "add,abs")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# call 7 of seed 3: ")
    assert "no operator" in run("--ops", "destroy").stderr
