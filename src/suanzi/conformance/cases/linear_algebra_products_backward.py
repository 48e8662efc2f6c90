"""7.2.17.2, .12, .13: the gradients of products, which conjugate the other operand."""

from __future__ import annotations

from collections.abc import Iterator

from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.cases.linear_algebra_products import (
    OfMatrices,
    Shape,
    Shapes,
    product_cases,
    special_ones,
)
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.numbers import FORMATS, PARTS
from suanzi.conformance.truth.linear_algebra_products import formula

_DOTS: list[tuple[Shape, Shape]] = [
    ((5,), (5,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 3, 4), (4,)),
    ((2, 3, 4), (2, 4, 3)), ((4,), (2, 4, 3)), ((3, 4), (2, 2, 4, 3)), ((1, 1), (1, 1)),
]  # fmt: skip
_DOTS_WITH_NUMBERS: list[tuple[Shape, Shape]] = [((), (2, 3)), ((2, 3), ()), ((), ())]
_DOTS_OF_NOTHING: list[tuple[Shape, Shape]] = [
    ((0,), (0,)), ((2, 0), (0, 3)), ((0, 3), (3, 2)), ((), (0, 2)),
]  # fmt: skip


def _with_gradient(a: Shape, b: Shape) -> Shapes:
    return formula("dot", {"vec1": a, "vec2": b}).shape, a, b


NAMES = {
    "dot_bwd1": ("out_grad", "vec1", "vec2"),
    "dot_bwd2": ("out_grad", "vec1", "vec2"),
    "linear_bwd_in": ("out_grad", "weight"),
    "linear_bwd_weight": ("out_grad", "input"),
    "bilinear_bwd_in1": ("out_grad", "y", "weight"),
    "bilinear_bwd_in2": ("out_grad", "x", "weight"),
    "bilinear_bwd_weight": ("out_grad", "x", "y"),
}
_LEADING: list[Shape] = [(), (3,), (2, 2), (1,), (2, 1, 3)]


def gradient_shapes(op: str, lead: Shape, outputs: int, first: int, second: int) -> Shapes:
    """Return the shapes of the arguments of a gradient of dot, linear or bilinear."""
    if op.startswith("dot"):
        return _with_gradient((*lead, outputs), (outputs, first))
    return {
        "linear_bwd_in": ((*lead, outputs), (outputs, first)),
        "linear_bwd_weight": ((*lead, outputs), (*lead, first)),
        "bilinear_bwd_in1": ((*lead, outputs), (*lead, second), (outputs, first, second)),
        "bilinear_bwd_in2": ((*lead, outputs), (*lead, first), (outputs, first, second)),
        "bilinear_bwd_weight": ((*lead, outputs), (*lead, first), (*lead, second)),
    }[op]


def _choices(op: str) -> dict[str, list[Shapes]]:
    if op.startswith("dot"):
        return {
            "plain": [_with_gradient(*s) for s in _DOTS],
            "broadcast": [_with_gradient(*s) for s in _DOTS_WITH_NUMBERS],
            "empty": [_with_gradient(*s) for s in _DOTS_OF_NOTHING],
        }
    plain = [gradient_shapes(op, lead, 4, 3, 2) for lead in _LEADING]
    return {
        "plain": [*plain, gradient_shapes(op, (1,), 1, 1, 1), gradient_shapes(op, (2,), 3, 5, 4)],
        "empty": [
            gradient_shapes(op, (0,), 4, 3, 2),
            gradient_shapes(op, (2,), 0, 3, 2),
            gradient_shapes(op, (2,), 4, 0, 2),
        ],
    }


def _long(op: str) -> Shapes:
    """Return shapes whose sums have 600 terms."""
    return {
        "dot_bwd1": ((1, 600), (1, 3), (3, 600)),
        "dot_bwd2": ((600, 2), (600, 2), (2, 2)),
        "linear_bwd_in": ((1, 600), (600, 2)),
        "linear_bwd_weight": ((600, 2), (600, 2)),
        "bilinear_bwd_in1": ((1, 24), (1, 25), (24, 2, 25)),
        "bilinear_bwd_in2": ((1, 24), (1, 25), (24, 25, 2)),
        "bilinear_bwd_weight": ((600, 1), (600, 2), (600, 1)),
    }[op]


_SIZES = ((65, 3, 9, 5), (3, 17, 33, 2), (2, 129, 5, 3), (9, 16, 17, 8))
"""Rows, results, and the lengths of the one and the other input."""


def _special(op: str, dtype: str) -> Iterator[Case]:
    if dtype in FORMATS or dtype in PARTS:
        dot = op.startswith("dot")
        shapes = _with_gradient((2, 3), (3, 2)) if dot else gradient_shapes(op, (2,), 2, 3, 2)
        yield from special_ones(op, dtype, NAMES[op], shapes)


@cases_of(*NAMES)
def gradients(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give gradients of operands of every rank."""
    dot = op.startswith("dot")
    strided = _with_gradient((2, 3, 4), (3, 4, 2)) if dot else gradient_shapes(op, (2, 2), 4, 3, 2)
    sizes = [gradient_shapes(op, (rows,), *lengths) for rows, *lengths in _SIZES]
    facts = OfMatrices(NAMES[op], _choices(op), _long(op), strided, sizes, _special, gradient=True)
    return product_cases(op, facts, wanted)
