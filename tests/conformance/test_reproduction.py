"""Reproductions run where they are pasted, and make the call of their case."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import tensor
from suanzi.conformance.running.backends import backend
from suanzi.conformance.running.process import Backend, Facts, Subject, Unanswered
from suanzi.conformance.running.reproduction import reproduction
from suanzi.promote.live import NotInstalled
from suanzi.standard import interfaces

SOME = "add pad gather where sign concat".split()


def scripts(title: str, groups: str, ops: list[str]) -> tuple[Backend, list[tuple[str, str]]]:
    """Return a script for each case that the subject answers."""
    named = backend(title, os.environ.get(f"SUANZI_PYTHON_{title.upper()}"))
    found = []
    with Subject(named) as subject:
        for op in ops:
            wanted = Wanted(frozenset(groups.split()), quick=groups != "example")
            for case in cases(op, wanted):
                if case.skip or op in subject.facts.missing:
                    continue
                answer = subject.ask(case)
                if not isinstance(answer, Unanswered) and answer.status == "SUCCESS":
                    found.append((case.id, reproduction(case, named, subject.facts)))
    return named, found


def run(script: str) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(script, "reproduction", "exec"), {})
    return said.getvalue()


@pytest.mark.parametrize("title", ["suanzi", "numpy"])
@pytest.mark.parametrize("groups", ["example", "special strided empty"])
def test_every_script_runs(title: str, groups: str) -> None:
    ops = list(interfaces()) if groups == "example" else SOME
    _, found = scripts(title, groups, ops)
    assert len(found) > 100
    for name, script in found:
        if "seterr" in script or title == "suanzi":
            assert run(script), name


def test_scripts_for_pytorch_run_there() -> None:
    try:
        named, found = scripts("torch", "example", [*SOME, "range", "reduce_bwd", "fft_r2c", "svd"])
    except NotInstalled as reason:
        pytest.skip(str(reason))
    every = (
        "import json, sys\n"
        "for name, script in json.load(sys.stdin):\n"
        "    exec(compile(script, name, 'exec'), {})\n"
    )
    said = subprocess.run(
        [named.python, "-c", every], input=json.dumps(found), text=True, capture_output=True,
        check=False,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr[-1000:]
    assert len(found) > 10


def made(case: Case, title: str = "numpy") -> str:
    with Subject(backend(title)) as subject:
        return reproduction(case, subject.backend, subject.facts)


def test_every_value_is_written_exactly() -> None:
    x = tensor("float32", [0.1, -0.0, float("nan"), float("-inf"), 1e-45])
    script = made(Case("sign", "plain", "float32", "exact", {"input": x}, lambda: ()))
    space: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(script, space)
    assert space["input"].tobytes() == x.raw  # type: ignore[attr-defined]


def test_parameters_do_not_hide_what_functions_need() -> None:
    case = Case("randperm", "plain", "int64", "four", {"len": 4, "dtype": "int64"}, lambda: ())
    assert sorted(run(made(case)).strip("[]\n").split()) == ["0", "1", "2", "3"]
    case = next(c for c in cases("fft_c2c") if c.group == "example")
    assert "axes_ = [0]" in made(case) or "axes = [0]" in made(case)
    run(made(case))


def test_numbers_that_python_does_not_read_as_it_writes_them() -> None:
    given = {"dtype": "complex64", "shape": [1], "value": complex("nan-infj")}
    case = Case("full", "special", "complex64", "both", given, lambda: ())
    assert "nan" in run(made(case))
    assert "nan" in run(made(case, "suanzi"))


def test_under_another_rule_set() -> None:
    case = Case(
        "add", "promotion", "int8-float16", "mixed",
        {"x": tensor("int8", [1]), "y": tensor("float16", [0.5])}, lambda: (), rules="torch",
    )  # fmt: skip
    assert "set_promotion('torch')" in made(case, "suanzi")
    said = subprocess.run(
        [sys.executable, "-c", made(case, "suanzi")], capture_output=True, text=True, check=True
    )
    assert "1.5" in said.stdout


def test_what_has_no_script_gets_the_command() -> None:
    case = cases("add")[0]
    facts = Facts("vendor", "1", "strict", True, {}, {}, [], "")
    vendor = Backend("./libvendor.so", "c_adapter:Adapter")
    assert reproduction(case, vendor, facts) == (
        f"suanzi check --backend ./libvendor.so --case {case.id}"
    )
    other = replace(vendor, title="torch", adapter="frameworks.torch_adapter:Adapter", python="/t")
    assert reproduction(case, other, facts) == (
        f"suanzi check --backend torch --python /t --case {case.id}"
    )
    huge = Case("sign", "plain", "int8", "big", {"input": tensor("int8", [1] * 3000)}, lambda: ())
    assert made(huge) == "suanzi check --backend numpy --case sign/plain/int8/big"


def test_the_interpreter_is_named_if_it_is_another() -> None:
    assert sys.executable not in made(cases("add")[0], "suanzi")
