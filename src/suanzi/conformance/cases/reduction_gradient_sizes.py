"""7.2.13.1.4: the gradients of reduce at the sizes at which kernels break."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod
from random import Random

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases._moves import LARGE, Move, Result, sized_case
from suanzi.conformance.cases.reduction_gradients import gradient_case, inputs, modes
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.numbers import real
from suanzi.conformance.model.picked import Cycle

_SHAPES = ((3, 17), (5, 33), (2, 65), (65, 2), (3, 129), (129, 3), (1, 257), (257, 1))
_LONG = {"PROD": 40}
"""How many elements of a mode are reduced to one: each gradient is a product of all others."""


@cases_of("reduce_bwd")
def gradients_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give rows and columns past the edges of vectors and tiles, 65 x 129, and a million."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        chief = dtype in ("float32", "int32") and not wanted.quick
        for mode in modes(dtype):
            random = Random(f"sizes {op} {dtype} {mode}")
            for shape in _SHAPES if chief else random.sample(_SHAPES, 1):
                axis = int(shape[1] > shape[0])
                if shape[axis] <= _LONG.get(mode, shape[axis]):
                    yield _case(dtype, mode, shape, axis)
            if dtype == "float32" and mode == "MAX" and not wanted.quick:
                yield _case(dtype, mode, sizes.MATRIX, 1)
        if dtype == "float32" and not wanted.quick:
            yield _a_million(dtype)


def _case(dtype: str, mode: str, shape: tuple[int, int], axis: int) -> Case:
    given = inputs(dtype, mode, prod(shape), "sizes")
    title = f"of {shape[0]}x{shape[1]} along {axis}"
    return gradient_case("sizes", dtype, title, mode, given, shape, [axis])


def _a_million(dtype: str) -> Case:
    """Return sums of columns, whose gradients are repeated in every row."""
    rows, columns = LARGE
    result = Result(LARGE, tuple(range(columns)) * rows)
    given = {"mode": "SUM", "axis": [0]}
    move = Move(f"SUM of {rows}x{columns} along 0", {"out_grad": (columns,)}, result, given)
    made = sized_case("reduce_bwd", dtype, move)
    ones = sizes.Few(dtype, [real(1)]).tensor(Cycle(1, rows * columns), LARGE)
    return replace(made, arguments={**made.arguments, "input": ones})
