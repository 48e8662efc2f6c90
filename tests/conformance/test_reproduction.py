"""Reproductions run where they are pasted, and make the call of their case."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.c_compiler import HEADER, build, compiler
from helpers.numpys import needs_numpy_2
from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.judging.verdict import verdict
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.expected import Check, Either, Output, Refused
from suanzi.conformance.model.numbers import real
from suanzi.conformance.running.backends import backend
from suanzi.conformance.running.process import Backend, Facts, Subject, Unanswered
from suanzi.conformance.running.reproduction import reproduction
from suanzi.promote.live import NotInstalled
from suanzi.standard import interfaces

PRINTED = Check("only the kit knows", {})
SOME = "add pad gather where sign concat".split()


def scripts(
    title: str, groups: str, ops: list[str]
) -> tuple[Backend, list[tuple[str, str, str | None]]]:
    """Return a script for each case that the subject answers, and what is wrong with the answer."""
    named = backend(title, os.environ.get(f"SUANZI_PYTHON_{title.upper()}"))
    found = []
    with Subject(named) as subject:
        for op in ops:
            wanted = Wanted(frozenset(groups.split()), quick=groups != "example")
            for case in cases(op, wanted):
                if case.skip or op in subject.facts.missing:
                    continue
                answer = subject.ask(case)
                if not isinstance(answer, Unanswered):
                    script = reproduction(case, named, subject.facts)
                    problem = verdict(case, answer, subject.facts.statuses).problem
                    found.append((case.id, script, problem))
    return named, found


def run(script: str) -> str:
    """Run a script, and return what it prints; it raises what it does not like."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        exec(compile(script, "reproduction", "exec"), {})
    return said.getvalue()


ADAPTER = "suanzi.conformance.subjects.suanzi_adapter:Adapter"
"""suanzi, as an adapter of somebody's own is asked."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("title", ["suanzi", pytest.param("numpy", marks=needs_numpy_2), ADAPTER])
@pytest.mark.parametrize("groups", ["example", "special strided empty status"])
def test_every_script_asserts_what_the_kit_does(title: str, groups: str) -> None:
    ops = list(interfaces())[title == ADAPTER :: 2] if groups == "example" else SOME
    _, found = scripts(title, groups, ops)
    assert len(found) > 80
    for name, script, problem in found:
        if script.startswith("suanzi check"):
            continue
        error = None
        try:
            run(script)
        except Exception as raised:
            error = raised
        # What only the kit can judge is printed.
        if error is not None or "# `suanzi check` knows" not in script:
            assert (error is None) == (problem is None), (name, error, problem)


def test_scripts_assert_dtypes_signs_and_readings() -> None:
    with Subject(backend(ADAPTER)) as subject:
        x = tensor("float32", [0.0, -0.0])
        right = Output("float32", (2,), (real(0.0), real(-0.0)))
        for wanted, passes in (
            (right, True),
            (replace(right, truth=(real(0.0), real(0.0))), False),
            (replace(right, truth=(real(0.0), real(0.0)), zero_sign=False), True),
            (replace(right, dtype="float64"), False),
            (replace(right, shape=(2, 1)), False),
            (Refused(Status.INVALID_ARGUMENT), False),
            (Either("E1", {"a": (replace(right, dtype="int8"),), "b": (right,)}), True),
            (Either("E1", {"a": Refused(Status.INVALID_ARGUMENT), "b": (right,)}), True),
        ):
            due = wanted if isinstance(wanted, Refused | Either) else (wanted,)
            case = Case(
                "contiguous", "special", "float32", "zeros", {"input": x}, lambda due=due: due
            )
            script = reproduction(case, subject.backend, subject.facts)
            if passes:
                run(script)
            else:
                with pytest.raises(AssertionError):
                    run(script)


def test_a_program_in_c(tmp_path: Path) -> None:
    library = build(
        """
        #include <stdlib.h>
        static int64_t two[] = {2};
        static float numbers[] = {1, -0.0f};
        static struct StorageImpl storage = {{kReal, 32}, {kCPU, 0}, 2, numbers};
        static struct TensorImpl made = {2, 0, {1, two, {kDense, NULL}}, NULL, 0, &storage};
        Status op_abs(const Tensor x, Tensor *y) { *y = &made; return STATUS_SUCCESS; }
        """,
        tmp_path,
    )
    vendor = Backend(str(library), "c_adapter:Adapter", options={"path": str(library)})
    facts = Facts("vendor", "1", "strict", True, {}, {}, [], "")
    right = Output("float32", (2,), (real(1.0), real(-0.0)))
    for given, wanted, words in (
        ([1.0, 0.0], (right,), None),
        ([float("nan"), 1e-45], (replace(right, zero_sign=False, truth=(real(1), real(0))),), None),
        ([1.0, 0.0], (replace(right, truth=(real(1), real(0))),), "y[1]: -0, not 0"),
        (
            [1.0, 0.0],
            (replace(right, truth=(real(1.25), real(-0.0)), ulp=2.0),),
            "y[0]: 1, not 1.2",
        ),
        ([1.0, 0.0], (replace(right, dtype="float64"),), "y: dtype {4, 32}, not {4, 64}"),
        ([1.0, 0.0], Refused(Status.INVALID_ARGUMENT), "status 0"),
    ):
        x = tensor("float32", given)
        case = Case("abs", "plain", "float32", "two", {"x": x}, lambda wanted=wanted: wanted)
        (tmp_path / "case.c").write_text(reproduction(case, vendor, facts), "ascii")
        command = [compiler("cc"), "-Wall", "-Werror", "-std=c99", "case.c", "-o", "case",
                   str(library), f"-Wl,-rpath,{tmp_path}", "-lm"]  # fmt: skip
        subprocess.run(command, cwd=tmp_path, check=True)
        said = subprocess.run(["./case"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (said.returncode == 0) == (words is None), said
        assert (words or "status 0") in said.stdout
    assert (tmp_path / HEADER).exists()


def test_scripts_for_pytorch_run_there() -> None:
    try:
        named, found = scripts("torch", "example", [*SOME, "range", "reduce_bwd", "fft_r2c", "svd"])
    except NotInstalled as reason:
        pytest.skip(str(reason))
    every = (
        "import json, sys\n"
        "for name, script, problem in json.load(sys.stdin):\n"
        "    try:\n"
        "        exec(compile(script, name, 'exec'), {})\n"
        "    except SystemExit:\n"
        "        assert problem is None, (name, problem)\n"
        "    except Exception as error:\n"
        "        assert problem is not None, (name, error)\n"
        "    else:\n"
        "        assert problem is None or '# `suanzi check` knows' in script, (name, problem)\n"
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
    script = made(Case("sign", "plain", "float32", "exact", {"input": x}, lambda: PRINTED))
    space: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(script, space)
    assert space["input"].tobytes() == x.raw  # type: ignore[attr-defined]


@needs_numpy_2
def test_parameters_do_not_hide_what_functions_need() -> None:
    case = Case("randperm", "plain", "int64", "four", {"len": 4, "dtype": "int64"}, lambda: PRINTED)
    assert sorted(run(made(case)).strip("[]\n").split()) == ["0", "1", "2", "3"]
    case = next(c for c in cases("fft_c2c") if c.group == "example")
    assert "axes_ = [0]" in made(case) or "axes = [0]" in made(case)
    run(made(case))


@needs_numpy_2
def test_numbers_that_python_does_not_read_as_it_writes_them() -> None:
    given = {"dtype": "complex64", "shape": [1], "value": complex("nan-infj")}
    case = Case("full", "special", "complex64", "both", given, lambda: PRINTED)
    assert "nan" in run(made(case))
    assert "nan" in run(made(case, "suanzi"))


def test_under_another_rule_set() -> None:
    case = Case(
        "add", "promotion", "int8-float16", "mixed",
        {"x": tensor("int8", [1]), "y": tensor("float16", [0.5])}, lambda: PRINTED, rules="torch",
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
    gone = next(c for c in cases("destroy") if c.group == "plain")
    assert reproduction(gone, vendor, facts) == (
        f"suanzi check --backend ./libvendor.so --case {gone.id}"
    )
    other = replace(vendor, title="torch", adapter="frameworks.torch_adapter:Adapter", python="/t")
    assert reproduction(case, other, facts) == (
        f"suanzi check --backend torch --python /t --case {case.id}"
    )
    huge = Case(
        "sign", "plain", "int8", "big", {"input": tensor("int8", [1] * 3000)}, lambda: PRINTED
    )
    assert made(huge) == "suanzi check --backend numpy --case sign/plain/int8/big"


def test_the_interpreter_is_named_if_it_is_another() -> None:
    assert sys.executable not in made(cases("add")[0], "suanzi")
