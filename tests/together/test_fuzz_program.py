"""tools/fuzz.py: a short run with a fixed seed, and whether it would find what it is for."""

from __future__ import annotations

import faulthandler
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import suanzi as sz
from fuzzing.batch import Batch
from fuzzing.judging import Finding, verdict
from fuzzing.making import NAMES, Call, call_of
from fuzzing.processes import Place
from fuzzing.shrinking import as_python, in_child, shrunk
from fuzzing.soundness import unsound
from fuzzing.storm import Storm
from fuzzing.values import Code
from suanzi import _core
from suanzi.conformance.model.data import tensor

PROGRAM = Path(__file__).parents[2] / "tools" / "fuzz.py"
ENOUGH = int(os.environ.get("SUANZI_FUZZ_CALLS", "600"))


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


def test_a_short_storm_finds_nothing() -> None:
    """Of 20,480 calls, which take as long as the careful ones above."""
    done = run("--storm", "--calls", "10", "--seconds", "300", "--seed", "19")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "20480 calls in" in done.stdout
    assert "finding" not in done.stdout


def test_calls_are_made_of_their_number_alone() -> None:
    some = [call_of(3, i) for i in range(300)]
    assert some == [call_of(3, i) for i in range(300)]
    assert some != [call_of(4, i) for i in range(300)]
    assert {call.form for call in some} == {
        "python", "interface", "symbol", "in place", "sparse", "quantised", "array api", "core",
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
    faulthandler.disable()  # such an end is wanted: no trace of it among the test's output
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


def found_in_a_storm(index: int = 0) -> tuple[Storm, Place, Finding]:
    storm = Storm(5, ("abs",))
    place, found = storm.everything(index)[0]
    return storm, place, found


@pytest.mark.parametrize(
    ("function", "kind"),
    [(changing, "changed"), (raising, "foreign"), (broken, "internal"), (crashing, "crash")],
)
def test_a_storm_finds_it_too(function: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made simple, and names the call even where the batch as a whole is at fault."""

    def now_and_then(x: Any, *rest: Any) -> Any:
        return function(x) if isinstance(x, sz.Tensor) and x.shape == (2, 3) else RIGHT(x, *rest)

    monkeypatch.setattr(sz, "abs", now_and_then)
    storm, place, found = found_in_a_storm()
    assert found.kind == kind
    written = storm.explained(place, found)
    assert "sz.abs(x=x)" in written
    assert "(2, 3)" in written


def test_a_storm_finds_what_two_calls_do(monkeypatch: pytest.MonkeyPatch) -> None:
    dtypes: list[Any] = []

    def crashing_after_another(x: Any, *rest: Any) -> Any:
        if isinstance(x, sz.Tensor):
            dtypes.append(x.dtype)
            if x.dtype == sz.int8 and sz.complex64 in dtypes:
                crashing(x)
        return RIGHT(x, *rest)

    monkeypatch.setattr(sz, "abs", crashing_after_another)
    storm, place, found = found_in_a_storm()
    assert found.kind == "crash"
    written = storm.explained(place, found)
    assert written.startswith("# 2 calls")
    assert written.index("complex64") < written.index("int8")


def test_answers_of_a_storm_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = Batch(5, 0, ("add",))
    family = next(f for f in batch.families if f.form == "python")
    x = sz.zeros((2, 3), sz.int8)
    y = sz.zeros((3,), sz.int16)
    assert not unsound(family, ("x", "y"), [x, y], x + y)
    assert "shape" in unsound(family, ("x", "y"), [x, y], y)
    assert "dtype" in unsound(family, ("x", "y"), [x, y], x)
    outside = _core.view(sz.zeros((6,)), 0, (2, 3), (3, 1))
    assert not unsound(family, ("x",), [outside], outside)


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


def test_operands_of_which_numpy_has_no_array() -> None:
    call = Call("abs", "python", "cann", {"x": Code("sz.empty((2**62, 0), sz.complex128)")})
    assert verdict(replace(call, check="numpy")) == "gives"


def test_one_call_again() -> None:
    done = run("--seed", "3", "--only", "7", "--ops", "add,abs")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# call 7 of seed 3: ")
    assert "no operator" in run("--ops", "destroy").stderr
    again = run("--seed", "3", "--only", "7", "--ops", "xp.fft.*")
    assert again.returncode == 0, again.stderr
    assert "xp.fft." in again.stdout
