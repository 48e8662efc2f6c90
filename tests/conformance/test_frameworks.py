"""The adapters of frameworks: every interface has its place, and NumPy's answers come through."""

from __future__ import annotations

import builtins
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from helpers.numpys import needs_numpy_2
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.members import members
from suanzi.conformance.model.results import Result
from suanzi.conformance.reports.deviations import apply, packaged
from suanzi.conformance.running import backends
from suanzi.conformance.running.backends import backend
from suanzi.conformance.running.process import (
    Facts,
    Subject,
    Unanswered,
    completed_steps,
    question_of,
)
from suanzi.conformance.running.run import run_case
from suanzi.promote.live import NotInstalled
from suanzi.standard import interfaces, record

SUBJECTS = Path(backends.__file__).parents[1] / "subjects"

# Imports an adapter with something in place of its framework, and says what its table has.
LOOK = """
import ast, importlib, importlib.abc, importlib.machinery, json, sys
from unittest.mock import MagicMock

class Anything(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == sys.argv[1] != "numpy":
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        return MagicMock(__version__="0", __path__=[], __spec__=spec)
    def exec_module(self, module):
        pass

sys.meta_path.insert(0, Anything())
sys.path.insert(0, sys.argv[2])
module = importlib.import_module(f"frameworks.{sys.argv[1]}_adapter")
from frameworks import common

def variables(text):
    tree = ast.parse(text, mode="eval")
    bound = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {node.id for node in ast.walk(tree)
              if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - bound)

adapter = module.Adapter
print(json.dumps({
    "mapping": {op: variables(text) for op, text in adapter.mapping.items()},
    "missing": adapter.missing,
    "names": sorted({**vars(common), **vars(module)}),
    "gradients": common.GRADIENTS,
}))
"""


@cache
def table(framework: str) -> dict[str, Any]:
    found = subprocess.run(
        [sys.executable, "-c", LOOK, framework, str(SUBJECTS)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr[-2000:]
    return json.loads(found.stdout.splitlines()[-1])


@pytest.mark.parametrize("framework", backends.FRAMEWORKS)
def test_every_interface_is_mapped_or_missing_with_a_reason(framework: str) -> None:
    found = table(framework)
    mapped, missing = set(found["mapping"]), set(found["missing"])
    assert {op for op in mapped | missing if ":" not in op} == set(interfaces())
    assert not mapped & missing
    assert all(len(reason) > 10 for reason in found["missing"].values())


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_model_operators_are_mapped_or_missing_with_a_reason(framework: str) -> None:
    found = table(framework)
    named = {op for op in (*found["mapping"], *found["missing"]) if op.startswith("nn:")}
    assert set(members("nn")) <= named


@pytest.mark.parametrize("framework", backends.FRAMEWORKS)
def test_expressions_use_parameters_and_names_of_the_adapter(framework: str) -> None:
    found = table(framework)
    known = set(found["names"]) | set(dir(builtins))
    for op, used in found["mapping"].items():
        facts = record(op)
        parameters = {p.name for p in facts.parameters} if facts else set(used)
        assert set(used) <= known | parameters, op


def test_gradients_are_the_backward_interfaces() -> None:
    found = table("numpy")
    assert set(found["gradients"]) == {n for n, f in interfaces().items() if f.backward_of}


def test_frameworks_get_every_argument() -> None:
    """An adapter that sets `defaults` gets all parameters; another tests the backend's own."""
    case = next(c for c in cases("argsort", Wanted()) if "descending" not in c.arguments)
    facts = Facts("chip", "1", "strict", False, {}, {}, [], "3.12")
    sent = question_of(case, facts)["arguments"]["dict"]
    full = question_of(case, replace(facts, defaults=True))["arguments"]["dict"]
    assert "descending" not in sent
    assert full["descending"] is True
    assert {p.name for p in interfaces()["argsort"].parameters} == set(full)
    steps = [["make", "x", 1], ["call", "flip", {"input": 1}, ["y"]], ["read", "y"]]
    assert [s[:2] for s in completed_steps(steps)] == [s[:2] for s in steps]
    (_, _, given, _) = completed_steps([["call", "expand_dims", {"input": 1}, ["y"]]])[0]
    assert given == {"axis": 0, "input": 1}


@pytest.fixture(scope="module")
def numpy() -> Iterator[Subject]:
    with Subject(backend("numpy", sys.executable)) as subject:
        yield subject


def one(op: str, group: str = "example", dtype: str | None = None) -> Case:
    wanted = Wanted(frozenset({group}), None if dtype is None else frozenset({dtype}))
    return cases(op, wanted)[0]


@pytest.mark.parametrize(
    "op",
    "full range split slice pad gather scatter where add mod allclose rint argsort nonzero complex "
    "fft_c2r cholesky qr svd solve norm linear bilinear transpose reshape shape rank".split(),
)
@needs_numpy_2
def test_numpy_gives_the_worked_examples(numpy: Subject, op: str) -> None:
    examples = cases(op, Wanted(frozenset({"example"})))
    found, _ = apply(
        [run_case(numpy, case) for case in examples], packaged("numpy"), numpy.facts.version
    )
    # On some machines, it solves what has no solution: that is known, and nothing else is.
    unsolved = {"solve/example/float32/A.2.17.7-1"}
    for one in found:
        known = one.id in unsolved and one.known is not None
        assert one.outcome == "passed" or known, (one.id, one.problem)


def test_what_numpy_does_otherwise_is_a_failure(numpy: Subject) -> None:
    found = run_case(numpy, one("cumsum"))  # Table 115 keeps the dtype; of a sum none is said (E92)
    assert (found.outcome, found.problem) == ("failed", "output: dtype int64, not int32")
    assert found.reproduction is not None
    assert "np.cumsum(input" in found.reproduction


def test_what_numpy_does_not_have_is_unsupported(numpy: Subject) -> None:
    for case, words in (
        (one("add", "plain", "bfloat16"), "NumPy has no bfloat16"),
        (one("reduce_bwd"), "NumPy computes no gradients"),
    ):
        found = run_case(numpy, case)
        assert (found.outcome, found.problem) == ("unsupported", words)


def test_a_missing_kernel_is_a_refusal_only_where_one_is_due(numpy: Subject) -> None:
    case = one("add", "plain", "int8")
    half = Case("inverse", "plain", "float16", "half", {"mat": _matrix()}, lambda: ())
    answer = numpy.ask(half)
    assert isinstance(answer, Unanswered)
    assert answer.refused
    assert "unsupported in linalg" in answer.words
    assert run_case(numpy, half).outcome == "unsupported"
    refused = Case("inverse", "status", "float16", "half", {"mat": _matrix()}, _refusal)
    assert run_case(numpy, refused).outcome == "passed"
    assert run_case(numpy, case).outcome == "passed"


def _matrix() -> Any:
    from suanzi.conformance.model.data import tensor

    return tensor("float16", [4.0, 1.0, 1.0, 3.0], (2, 2))


def _refusal() -> Any:
    from suanzi.base.status import Status
    from suanzi.conformance.model.case import Refused

    return Refused(Status.TYPE_MISMATCH)


@pytest.mark.parametrize("layout", ["columns", "gaps", "reversed", "offset", "repeated"])
def test_numpys_arrays_lie_as_they_are_told(layout: str) -> None:
    script = f"""
import sys
sys.path.insert(0, {str(SUBJECTS)!r})
import numpy as np
from frameworks.numpy_adapter import Adapter
from wire import Data
x = np.array([[1, 1, 1], [2, 2, 2]], np.int16)
made = Adapter().create(Data("int16", (2, 3), x.tobytes(), {layout!r}))
assert (made == x).all()
assert Adapter().read(made).raw == x.tobytes()
print(made.strides)
"""
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    strides = {
        "columns": (2, 4), "gaps": (24, 4), "reversed": (-6, -2), "offset": (6, 2),
        "repeated": (2, 0),
    }  # fmt: skip
    assert found.stdout.strip() == str(strides[layout])


@pytest.mark.parametrize(("framework", "least"), [("torch", 165), ("jax", 160)])
def test_the_worked_examples_in_other_frameworks(framework: str, least: int) -> None:
    python = os.environ.get(f"SUANZI_PYTHON_{framework.upper()}")
    try:
        subject = Subject(backend(framework, python), 60)
    except NotInstalled as reason:
        pytest.skip(str(reason))
    with subject:
        examples = [c for op in interfaces() for c in cases(op, Wanted(frozenset({"example"})))]
        found: list[Result] = [run_case(subject, case) for case in examples]
    broken = [r for r in found if "NameError" in (r.problem or "") or r.outcome == "crashed"]
    broken += [r for r in found if (r.problem or "").startswith(("read:", "create:"))]
    assert not broken
    assert sum(r.outcome == "passed" for r in found) >= least
