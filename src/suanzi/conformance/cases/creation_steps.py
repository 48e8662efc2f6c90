"""7.2.1: whose memory a tensor has, what a seed does: several calls in one case.

The steps of a case are lists: `make` a tensor, `call` an interface, `write` into memory, `read`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._steps import contiguous_cases
from suanzi.conformance.cases._values import distinct
from suanzi.conformance.model.case import Case, Check, Expected, Output, Refused
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import Value
from suanzi.conformance.subjects.wire import Data, Ref

_SHAPE = (3, 5)
_SHARED = "the output shares the memory of the values: writes to the values change it"
_COPIED = "the output has separate memory: writes to the input do not change it"
_SAME = "a contiguous tensor is returned itself: writes to it change the output"
_OWN = "a tensor that is not contiguous is copied: writes to it do not change the output"
_OTHERS = "only the given tensor is destroyed"
_VIEWS = "memory shared with another tensor remains; the clause does not mention it"
_GONE = (
    "the clause has a status for a missing tensor, and does not say that a destroyed one is missing"
)
_SEED = "equal seeds give equal numbers, different seeds different ones"
_SYSTEM = "with a seed of 0 the system chooses it: two calls give different numbers"
_SEEDED = ("rand_uniform", "rand_normal", "rand_bernoulli", "multinomial", "randperm")


@cases_of("wrap_tensor", "create_tensor", "duplicate", "contiguous")
def memory(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give a tensor whose origin is written to afterwards."""
    for dtype in ("float32", "int32", "bool", "complex64"):
        if dtype not in dtypes_of(op) or not wanted.wants("plain", dtype):
            continue
        if op == "contiguous":
            yield _written(op, dtype, "dense", shared=True, because=_SAME)
            yield _written(op, dtype, "columns", shared=False, because=_OWN)
        else:
            shared = op == "wrap_tensor"
            yield _written(op, dtype, "dense", shared, _SHARED if shared else _COPIED)


def _written(op: str, dtype: str, layout: str, shared: bool, because: str) -> Case:
    old, new = _two(dtype)
    arguments: dict[str, Any] = {"input": Ref("x")}
    if op in ("wrap_tensor", "create_tensor"):
        arguments = {"dtype": dtype, "shape": list(_SHAPE), "values": Ref("x")}
    steps: list[list[Any]] = [
        ["make", "x", _data(dtype, old, layout)],
        ["call", op, arguments, ["y"]],
        ["read", "y"],
        ["write", "x", _data(dtype, new)],
        ["read", "y"],
    ]

    def expect() -> Expected:
        return tuple(Output(dtype, _SHAPE, tuple(v)) for v in (old, new if shared else old))

    title = f"{'shares' if shared else 'has its own'} memory, of a {layout} tensor"
    return Case(
        op, "plain", dtype, title, {}, expect, basis="normative", because=because, steps=steps
    )


def _two(dtype: str) -> tuple[list[Value], list[Value]]:
    if dtype == "bool":
        old: list[Value] = [i % 3 % 2 for i in range(15)]
        return old, [1 - i % 3 % 2 for i in range(15)]
    return distinct(dtype, 15), distinct(dtype, 15, 40)


def _data(dtype: str, values: list[Value], layout: str = "dense") -> Data:
    return tensor(dtype, values, _SHAPE, layout)


@cases_of("contiguous")
def default_order(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give a tensor in another order, and ask whether what is made of it is contiguous."""
    return contiguous_cases(op, wanted, _SHAPE, {})


@cases_of("destroy")
def destroyed(op: str, wanted: Wanted) -> Iterator[Case]:
    """Destroy a tensor, and look at another one, at memory that is used again, and at itself."""
    for dtype in ("float32", "int32"):
        if not wanted.wants("plain", dtype):
            continue
        old, new = _two(dtype)
        made = [_created(dtype, old, "x")]
        over, again = ["call", op, {"input": Ref("x")}, []], _created(dtype, new, "z")
        both: Expected = tuple(Output(dtype, _SHAPE, tuple(v)) for v in (old, new))
        for other, more, basis, because in (
            ("duplicate", {}, "normative", _OTHERS),
            ("reshape", {"dims": list(_SHAPE)}, "quality", _VIEWS),
        ):
            call = ["call", other, {"input": Ref("x"), **more}, ["y"]]
            steps = [*made, call, over, again, ["read", "y"], ["read", "z"]]
            title = f"leaves what {other} made of it"
            yield _stepped(op, dtype, title, steps, both, basis, because)
        gone = Refused(Status.UNINITIALIZED_OBJECT)
        yield _stepped(op, dtype, "twice", [*made, over, over], gone, "quality", _GONE)
        use = ["call", "duplicate", {"input": Ref("x")}, ["y"]]
        yield _stepped(op, dtype, "and use", [*made, over, use], gone, "quality", _GONE)


def _created(dtype: str, values: list[Value], name: str) -> list[Any]:
    given = {"dtype": dtype, "shape": list(_SHAPE), "values": _data(dtype, values)}
    return ["call", "create_tensor", given, [name]]


def _stepped(
    op: str,
    dtype: str,
    title: str,
    steps: list[list[Any]],
    expected: Expected,
    basis: Any,
    because: str,
) -> Case:
    return Case(
        op, "plain", dtype, title, {}, lambda: expected, basis=basis, because=because, steps=steps
    )


@cases_of(*_SEEDED)
def seeds(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give a seed twice and another once, and the seed 0 twice."""
    dtype = "int64" if op == "randperm" else "float32"
    if not wanted.wants("plain", dtype):
        return
    given: dict[str, dict[str, Any]] = {
        "rand_uniform": {"dtype": dtype, "shape": [64], "min": 0.0, "max": 1.0},
        "rand_normal": {"dtype": dtype, "shape": [64], "mean": 0.0, "std": 1.0},
        "rand_bernoulli": {"input": Ref("x")},
        "multinomial": {"input": Ref("x"), "num_samples": 64, "replacement": True},
        "randperm": {"dtype": dtype, "len": 64},
    }
    first = [["make", "x", tensor(dtype, [0.5] * 64)]] if "input" in given[op] else []
    # Only two of the clauses have a seed; of the others it is an extension.
    basis: Any = "normative" if op in ("rand_uniform", "rand_normal") else "extension"
    for title, numbers, same, because in (
        ("a seed twice and another", (7, 7, 8), [[0, 1]], _SEED),
        ("the seed 0 twice", (0, 0), [], _SYSTEM),
    ):
        steps = list(first)
        for i, seed in enumerate(numbers):
            steps.append(["call", op, {**given[op], "seed": seed}, [f"y{i}"]])
            steps.append(["read", f"y{i}"])
        facts = {"same": same}
        yield Case(
            op, "plain", dtype, title, {}, partial(Check, "same_or_not", facts), basis=basis,
            because=because, steps=steps,
        )  # fmt: skip
