"""7.2.17.7 to .9: solutions of linear equations and inverses: residuals, in exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from suanzi.conformance.judging.checks import check
from suanzi.conformance.judging.checks.factors import (
    Arguments,
    Facts,
    allowance,
    identity,
    magnitudes,
    matrices,
    over,
    smallest,
    where,
    wrong_tensor,
)
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth.arrays import Exact, adjoint, exact, plus, times


def _pairs(first: Sequence[int], second: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Give which matrix of one batch meets which of the other, where they are broadcast."""
    rank = max(len(first), len(second))
    shapes = [(1,) * (rank - len(s)) + tuple(s) for s in (first, second)]
    batch = [b if a == 1 else a for a, b in zip(*shapes, strict=True)]
    for place in product(*map(range, batch)):
        found = []
        for shape in shapes:
            at = 0
            for k, n in zip(place, shape, strict=True):
                at = at * n + (k if n > 1 else 0)
            found.append(at)
        yield found[0], found[1]


@check
def solutions(arguments: Arguments, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Require mat x = rhs, or mat^H x = rhs, off by a little of |mat| |x| in each column."""
    mat, rhs = arguments["mat"], arguments["rhs"]
    one = len(rhs.shape) == 1
    n, dtype = mat.shape[-1], mat.dtype
    sides = Data(rhs.dtype, (n, 1), rhs.raw) if one else rhs
    pairs = list(_pairs(mat.shape[:-2], sides.shape[:-2]))
    problem = wrong_tensor("x", outputs[0], dtype, facts["shape"])
    if problem:
        return problem
    columns, turned = sides.shape[-1], facts.get("adjoint", arguments["adjoint"])
    found = exact(outputs[0]).reshape((len(pairs), n, columns))
    all_a, all_b = matrices(mat), matrices(sides)
    for i, (p, q) in enumerate(pairs):
        a = adjoint(all_a[p]) if turned else all_a[p]
        x = found.at(i)
        off = plus(times(a, x), all_b[q], -1).largest_part()
        rows = max(_row_sums(a), default=Fraction(0))
        largest = [max((s for s in magnitudes(x)[j::columns]), default=Fraction(0))
                   for j in range(columns)]  # fmt: skip
        tiny = smallest(dtype) * n * (1 + rows)
        allowed = [allowance(dtype, n) * rows * y + tiny for _ in range(n) for y in largest]
        problem = over("mat x - rhs", off, allowed, columns)
        if problem:
            return problem + where(i, len(pairs))
    return None


def _row_sums(a: Exact) -> list[Fraction]:
    m, n = a.shape
    sizes = magnitudes(a)
    return [sum(sizes[i * n : i * n + n], Fraction(0)) for i in range(m)]


@check
def inverses(arguments: Arguments, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Require mat inv = 1 or inv mat = 1, off by a little of |mat| |inv|.

    No algorithm has both residuals small for every matrix.
    """
    mat = arguments["mat"]
    dtype, n = mat.dtype, mat.shape[-1]
    problem = wrong_tensor("inv", outputs[0], dtype, mat.shape)
    if problem:
        return problem
    for b, (a, x) in enumerate(zip(matrices(mat), matrices(outputs[0]), strict=True)):
        rows, columns = (max(_row_sums(y), default=Fraction(0)) for y in (a, x))
        most = allowance(dtype, n) * rows * columns + smallest(dtype) * n * (1 + rows)
        offs = [plus(y, identity(n, n), -1).largest_part() for y in (times(a, x), times(x, a))]
        best = min(offs, key=lambda off: max(off, default=Fraction(0)))
        problem = over("mat inv - 1", best, [most] * len(best), n)
        if problem:
            return problem + where(b, math.prod(mat.shape[:-2]))
    return None
