"""Paddle, MindSpore and OpenVINO as subjects, where they are installed.

Each is looked for in this interpreter, or in the one that an environment variable such as
SUANZI_PYTHON_PADDLE names. What of the worked examples is not as the standard has it is written
down here, so that a new version of a framework shows.
"""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import suanzi.conformance.subjects as subjects
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.judging.verdict import Answer
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import tensor, values
from suanzi.conformance.model.numbers import Value, real
from suanzi.conformance.running.backends import backend
from suanzi.conformance.running.process import Subject, Unanswered
from suanzi.conformance.running.reproduction import reproduction
from suanzi.conformance.running.run import run_case
from suanzi.conformance.subjects.wire import Data
from suanzi.promote.live import NotInstalled
from suanzi.standard import interfaces

NAMES = ("paddle", "mindspore", "openvino")
FILES = Path(subjects.__file__).parent / "frameworks"

WRONG_EXAMPLES = {
    "paddle": {"reduce_bwd", "cumsum", "topk"},
    "mindspore": {"create_sparse_tensor", "trace", "topk", "lstsq"},
    "openvino": {"true_divide", "reciprocal"},
}
"""The interfaces that have a worked example which fails; the findings say why."""


@pytest.fixture(scope="module", params=NAMES)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    yield from _started(request.param)


@pytest.fixture(scope="module")
def paddle() -> Iterator[Subject]:
    yield from _started("paddle")


@pytest.fixture(scope="module")
def mindspore() -> Iterator[Subject]:
    yield from _started("mindspore")


@pytest.fixture(scope="module")
def openvino() -> Iterator[Subject]:
    yield from _started("openvino")


def _started(name: str) -> Iterator[Subject]:
    try:
        found = Subject(backend(name), timeout=60.0)
    except NotInstalled as reason:
        pytest.skip(str(reason))
    with found:
        yield found


def asked(
    subject: Subject, op: str, arguments: Mapping[str, Any], rules: str | None = None
) -> Answer | Unanswered:
    return subject.ask(Case(op, "plain", "any", "a call", arguments, lambda: (), rules))


def result(subject: Subject, op: str, **arguments: Any) -> list[Value]:
    found = asked(subject, op, arguments)
    assert isinstance(found, Answer), found
    assert found.status == "SUCCESS", found.words
    data = found.outputs[0]
    assert isinstance(data, Data)
    return values(data)


@pytest.mark.parametrize(
    "file",
    [
        *(f"{name}_adapter" for name in NAMES),
        *("openvino_graphs", "jax_lowering", "jax_random", "jax_transforms"),
    ],
)
def test_an_adapter_needs_its_framework_alone_and_no_new_python(file: str) -> None:
    source = (FILES / f"{file}.py").read_text()
    tree = ast.parse(source, feature_version=(3, 9))
    modules = {
        module.partition(".")[0]
        for node in ast.walk(tree)
        for module in (
            [one.name for one in node.names]
            if isinstance(node, ast.Import)
            else [str(node.module)]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert modules <= {
        file.partition("_")[0],
        "functools",
        "numpy",
        "os",
        "random",
        "re",
        "sys",
        "warnings",
        "wire",
        "frameworks",
    }


def test_contexts_of_jax_are_shared_where_none_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A private function of JAX, which a later one may call with arguments, or not have."""
    made: list[tuple[Any, ...]] = []

    def make(*args: Any, **kwargs: Any) -> int:
        made.append((args, kwargs))
        return len(made)

    mlir = ModuleType("jax._src.interpreters.mlir")
    parent = ModuleType("jax._src.interpreters")
    parent.mlir = mlir  # type: ignore[attr-defined]
    for name in ("jax", "jax._src"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, parent.__name__, parent)
    monkeypatch.setitem(sys.modules, mlir.__name__, mlir)
    share = runpy.run_path(str(FILES / "jax_lowering.py"))["share_contexts"]
    share()
    assert not hasattr(mlir, "make_ir_context")
    monkeypatch.setattr(mlir, "make_ir_context", make, raising=False)
    share()
    context: Any = mlir.make_ir_context  # type: ignore[attr-defined]
    assert (context(), context(), context("cpu"), context(threads=2), context()) == (1, 1, 2, 3, 1)
    assert made == [((), {}), (("cpu",), {}), ((), {"threads": 2})]


def test_an_expression_is_one_program_for_all_tensors_and_one_for_each_other_argument(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tensors are arguments of it; an axis is part of it, and so is whether a number is whole."""
    compiled: list[Any] = []

    def jit(function: Any) -> Any:
        compiled.append(function)
        return function

    jax = ModuleType("jax")
    jax.jit, jax.Array = jit, bytes  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jax", jax)
    asked: list[Any] = []

    def evaluate(op: str, bound: dict[str, Any]) -> int:
        asked.append((op, bound))
        return len(asked)

    programs = runpy.run_path(str(FILES / "jax_lowering.py"))["Programs"](evaluate)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("sum", {"x": b"a", "axis": 1}),
        ("sum", {"x": b"b", "axis": 1}),
        ("sum", {"x": b"b", "axis": 1.0}),
        ("max", {"x": b"b", "axis": 1}),
        ("max", {"x": [b"b", b"c"], "axis": [1]}),
        ("max", {"x": [b"d"], "axis": [1]}),
    ]
    assert [programs.of(*call) for call in calls] == [1, 2, 3, 4, 5, 6]
    assert asked == calls
    assert len(compiled) == 4


def test_every_interface_has_an_expression_or_a_reason(subject: Subject) -> None:
    facts = subject.facts
    assert set(facts.mapping) | set(facts.missing) == set(interfaces())
    assert not set(facts.mapping) & set(facts.missing)
    assert all(len(reason) > 10 for reason in facts.missing.values())
    assert facts.rules == facts.name
    assert facts.statuses is False
    assert facts.notes


def test_expressions_use_the_names_of_the_standard(subject: Subject) -> None:
    for op, text in subject.facts.mapping.items():
        used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        required = {p.name for p in interfaces()[op].parameters if p.required and not p.derived}
        assert required <= used | {"device"}, op


def test_the_worked_examples(subject: Subject) -> None:
    wanted = Wanted(groups=frozenset({"example"}))
    found = [run_case(subject, case) for op in interfaces() for case in cases(op, wanted)]
    assert {r.outcome for r in found} <= {"passed", "failed", "unsupported", "skipped"}
    wrong = {r.op for r in found if r.outcome == "failed"}
    assert wrong == WRONG_EXAMPLES[subject.facts.name]
    passed = sum(r.outcome == "passed" for r in found)
    assert passed > 120, passed


def test_a_reproduction_runs_by_itself(subject: Subject) -> None:
    case = next(c for c in cases("add", Wanted()) if c.dtype == "float32" and c.group == "plain")
    script = reproduction(case, subject.backend, subject.facts)
    assert subject.facts.mapping["add"] in script
    first = values(case.arguments["x"])[0].value + values(case.arguments["y"])[0].value  # type: ignore[union-attr, operator]
    due = str(float(first))[:4]
    assert due in script
    for text, is_right in ((script, True), (script.replace(due, "99."), False)):
        done = subprocess.run(
            [subject.backend.python, "-c", text], capture_output=True, text=True, timeout=120
        )
        assert (done.returncode == 0) == is_right, done.stderr


def test_dtypes_that_are_not_there_are_unsupported_and_said_to_be(subject: Subject) -> None:
    found = asked(subject, "abs", {"x": Data("QT_SYM_INT8", (1,), b"\1", scale=(1.0,))})
    assert isinstance(found, Unanswered)
    assert found.outcome == "unsupported"
    assert subject.facts.name in found.words.lower()


# ---- what each is known for ----------------------------------------------------------------------


def test_paddle_promotes_among_floats_only(paddle: Subject) -> None:
    ints, floats = tensor("int32", [1, 2]), tensor("float32", [0.5, 0.5])
    refused = asked(paddle, "add", {"x": ints, "y": floats})
    assert isinstance(refused, Answer)
    assert refused.status is None
    halves = tensor("float16", [1.0, 2.0])
    assert result(paddle, "add", x=halves, y=floats) == [real(1.5), real(2.5)]


def test_paddle_without_a_kernel_is_no_refusal(paddle: Subject) -> None:
    found = asked(
        paddle, "bitwise_and", {"x": tensor("float32", [1.0]), "y": tensor("float32", [1.0])}
    )
    assert isinstance(found, Unanswered)
    assert found.refused
    assert "not registered" in found.words


def test_mindspore_says_an_error_at_its_own_operator(mindspore: Subject) -> None:
    index = tensor("int64", [5])
    wrong = asked(mindspore, "gather", {"input": tensor("float32", [1.0, 2.0]), "index": index})
    assert isinstance(wrong, Answer)
    assert wrong.status is None
    assert "Gather" in wrong.words
    assert result(mindspore, "abs", x=tensor("float32", [-2.0])) == [real(2)]


def test_mindspore_says_in_words_which_kernel_is_missing(mindspore: Subject) -> None:
    found = asked(mindspore, "topk", {"input": tensor("bfloat16", [1.0, 2.0]), "k": 1})
    assert isinstance(found, Unanswered)
    assert found.refused
    assert found.words.startswith("TypeError: Kernel select failed: Select CPU operator[TopK]")


def test_openvino_computes_float32_in_float32(openvino: Subject) -> None:
    small = 2.0**-20
    x = tensor("float32", [1 + small, 3.0], (1, 2))
    y = tensor("float32", [1.0, 0.0], (2, 1))
    assert result(openvino, "matmul", mat1=x, mat2=y) == [real(1 + small)]


def test_openvino_promotes_by_the_rules_that_are_asked_for(openvino: Subject) -> None:
    operands = {"x": tensor("int32", [1]), "y": tensor("float16", [0.5])}
    strict = asked(openvino, "add", operands, "openvino")
    loose = asked(openvino, "add", operands, "openvino+unsafe")
    assert isinstance(strict, Answer)
    assert isinstance(loose, Answer)
    assert (strict.status, loose.status) == (None, "SUCCESS")
