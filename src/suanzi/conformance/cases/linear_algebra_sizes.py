"""7.2.17.1, .2, .12, .13: products, and their gradients, at the sizes at which kernels break."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases.linear_algebra_products import NAMES, Shapes, small
from suanzi.conformance.cases.linear_algebra_products_backward import NAMES as GRADIENTS
from suanzi.conformance.cases.linear_algebra_products_backward import gradient_shapes
from suanzi.conformance.model.case import Case

_SIZED: dict[str, list[Shapes]] = {
    "matmul": [
        ((1, 65), (65, 1)), ((65, 3), (3, 129)), ((5, 129), (129, 7)), ((9, 8), (8, 17)),
        ((16, 33), (33, 16)), ((33, 5), (5, 15)), ((2, 9, 17), (2, 17, 9)), ((257,), (257, 3)),
        ((3, 1025), (1025,)), ((63, 2), (2, 65)), ((31, 32), (32, 31)),
    ],
    "dot": [((7,), (7,)), ((65,), (65,)), ((257,), (257,)), ((4097,), (4097,))],
    "linear": [((65, 9), (17, 9), (17,)), ((3, 129), (5, 129), (5,)), ((33, 2), (65, 2))],
    "bilinear": [((9, 17), (9, 5), (3, 17, 5), (3,)), ((2, 33), (2, 3), (5, 33, 3))],
}  # fmt: skip
_LARGE: dict[str, Shapes] = {
    "matmul": ((65, 33), (33, 129)),
    "dot": ((65, 33), (33, 65)),
    "linear": ((65, 33), (129, 33), (129,)),
    "bilinear": ((17, 33), (17, 9), (33, 33, 9), (33,)),
}


@cases_of(*_SIZED)
def products_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give products past the edges of tiles; all in one dtype, and one in each of the others."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        some = _SIZED[op]
        if dtype != "float32" or wanted.quick:
            some = Random(f"sizes {op} {dtype}").sample(some, 1 if wanted.quick else 2)
        for shapes in some:
            yield small(op, "sizes", dtype, NAMES[op], shapes)
        if dtype in ("float32", "int32") and not wanted.quick:
            yield small(op, "sizes", dtype, NAMES[op], _LARGE[op])


_OF_GRADIENTS = ((65, 3, 9, 5), (3, 17, 33, 2), (2, 129, 5, 3), (9, 16, 17, 8))
"""Rows, results, and the lengths of the one and the other input."""


@cases_of(*GRADIENTS)
def gradients_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give gradients past the edges of tiles; all in one dtype, and one in each of the others."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        some = list(_OF_GRADIENTS)
        if dtype != "float32" or wanted.quick:
            some = Random(f"sizes {op} {dtype}").sample(some, 1)
        for rows, *lengths in some:
            yield small(op, "sizes", dtype, GRADIENTS[op], gradient_shapes(op, (rows,), *lengths))
