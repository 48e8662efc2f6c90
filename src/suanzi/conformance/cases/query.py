"""7.2.2: what a tensor is, and which of its elements are numbers of a kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle, islice
from math import prod
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._elementwise import unary_cases
from suanzi.conformance.cases._operands import Elementwise
from suanzi.conformance.cases._sparse import made_sparse
from suanzi.conformance.cases._values import Shape, by, distinct, repeated
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import LAYOUTS, special, tensor
from suanzi.conformance.model.numbers import Real, Value

_SHAPES: tuple[Shape, ...] = ((2, 3), (7,), (4, 1), (4, 1, 3), (2, 3, 1, 2, 1))
_EMPTY: tuple[Shape, ...] = ((), (0,), (3, 0, 2))


# ---- of the tensor -------------------------------------------------------------------------------


def _dims(shape: Shape) -> Output:
    return Output("int32", (len(shape),), shape)


_FACTS: dict[str, Callable[[Shape], Any]] = {"shape": _dims, "size": prod, "rank": len}


@cases_of("shape", "size", "rank")
def facts(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give shapes, int32 as printed, E43, and numbers of elements and of axes, E44."""
    for dtype in dtypes_of(op):
        for group, shapes in (("plain", _SHAPES), ("empty", _EMPTY)):
            if wanted.wants(group, dtype):
                for shape in shapes:
                    yield _fact(op, group, dtype, by(shape), shape)
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                yield _fact(op, "strided", dtype, layout, (2, 3, 4), layout)
        if dtype == "float32" and wanted.wants("strided", dtype):
            for kind in ("COO", "CSR"):
                yield made_sparse(
                    _fact(op, "strided", dtype, f"sparse {kind}", (2, 3)), {"input": kind}
                )


def _fact(op: str, group: str, dtype: str, title: str, shape: Shape, layout: str = "dense") -> Case:
    data = tensor(dtype, distinct(dtype, prod(shape)), shape, layout)
    return Case(op, group, dtype, title, {"input": data}, lambda: (_FACTS[op](shape),))


@cases_of("is_contiguous")
def contiguity(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors that are row-major or not; axes of size 1 do not count, E21."""
    layouts: list[tuple[str, Shape, bool]] = [
        ("columns", (2, 3), False),
        ("columns", (2, 3, 4), False),
        ("columns", (7,), True),
        ("columns", (1, 5), True),
        ("columns", (1, 4, 1), True),
        ("gaps", (2, 3), False),
        ("gaps", (4,), False),
        ("gaps", (1, 1), True),
        ("reversed", (2, 3), False),
        ("reversed", (5,), False),
        ("reversed", (1,), True),
        ("offset", (2, 3), True),
        ("offset", (5,), True),
        ("repeated", (3, 4), False),
        ("repeated", (5,), False),
    ]
    for dtype in dtypes_of(op):
        for group, shapes in (("plain", _SHAPES), ("empty", _EMPTY)):
            if wanted.wants(group, dtype):
                for shape in shapes:
                    yield _contiguous(op, group, dtype, shape, "dense", True)
        if wanted.wants("strided", dtype):
            for layout, shape, answer in layouts:
                yield _contiguous(op, "strided", dtype, shape, layout, answer)


def _contiguous(op: str, group: str, dtype: str, shape: Shape, layout: str, answer: bool) -> Case:
    elements = distinct(dtype, prod(shape))
    if layout == "repeated":
        elements = repeated(elements, shape)
    data = tensor(dtype, elements, shape, layout)
    title = f"{layout} {by(shape)}"
    return Case(op, group, dtype, title, {"input": data}, lambda: (answer,))


# ---- of the elements -----------------------------------------------------------------------------


def _parts(x: Value) -> list[Real]:
    """Return the floats of an element; an integer has none, and is finite."""
    return list(x) if isinstance(x, tuple) else [x] if isinstance(x, Real) else []


_KINDS: dict[str, Callable[[Value], bool]] = {
    "is_finite": lambda x: all(p.size is not None and not p.is_nan for p in _parts(x)),
    "is_inf": lambda x: any(p.is_infinite for p in _parts(x)),
    "is_nan": lambda x: any(p.is_nan for p in _parts(x)),
}


@cases_of("is_finite", "is_inf", "is_nan")
def kinds(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give, for each element, whether it is finite, infinite or no number, E41 and E42.

    A complex number is finite if both its parts are, and the others if one of them is.
    """
    facts = Elementwise(
        op,
        ("input",),
        lambda dtype, row: int(_KINDS[op](row[0])),
        result=lambda dtype: "bool",
        ordinary=lambda dtype, count, *_: [*islice(cycle(special(dtype)), count)],
    )
    for dtype in facts.dtypes:
        plain = {shape: distinct(dtype, prod(shape)) for shape in _SHAPES[:2]}
        mixed = [*islice(cycle(special(dtype)), 60)]
        plain[2, 3, 2, 5] = mixed
        yield from unary_cases(facts, dtype, wanted, plain, mixed, (3, 4, 5), 100, _EMPTY)
