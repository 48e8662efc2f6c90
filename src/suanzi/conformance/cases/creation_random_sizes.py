"""7.2.1.7 to .11: random numbers at the sizes at which kernels break.

Whatever the length, the numbers are in their range, have the moments of their distribution, and do
not repeat from one block to the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases.creation_random import (
    bernoulli_case,
    bounds,
    most,
    normal_case,
    shuffled_case,
    uniform_case,
)
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.numbers import PARTS

_LENGTHS = (31, 33, 65, 127, 129, 257, 1025, 4097)
_LARGE = 65_539


def _lengths(op: str, dtype: str, wanted: Wanted) -> list[int]:
    """Return all lengths for one dtype and one for the others; a large one where it is drawn so."""
    if dtype == "float32" and not wanted.quick:
        return [*_LENGTHS, _LARGE]
    return Random(f"sizes {op} {dtype}").sample(_LENGTHS, 1)


@cases_of("rand_uniform", "rand_normal", "rand_bernoulli", "randperm")
def random_numbers_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give lengths past those of vectors and blocks, and 65 x 129."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        if op == "randperm":
            for length in _lengths(op, dtype, wanted):
                if length <= most(dtype):
                    yield shuffled_case(op, "sizes", dtype, length, {"dtype": dtype})
            continue
        shapes: list[tuple[int, ...]] = [(n,) for n in _lengths(op, dtype, wanted)]
        if dtype == "float32":
            shapes.append(sizes.MATRIX)
        for shape in shapes:
            yield _case(op, dtype, shape)


def _case(op: str, dtype: str, shape: tuple[int, ...]) -> Case:
    title = sizes.words(shape)
    if op == "rand_bernoulli":
        return bernoulli_case(op, "sizes", dtype, title, shape, [0.25], {})
    if op == "rand_normal":
        mean = 1.5 - 2j if dtype in PARTS else -2
        told = {"mean": mean, "std": 0.5}
        return normal_case(op, "sizes", dtype, title, shape, told, mean, 0.5)
    low, high = bounds(dtype)
    given = {} if dtype == "bool" else {"min": low, "max": high}
    return uniform_case(op, "sizes", dtype, title, shape, given, low, high)
