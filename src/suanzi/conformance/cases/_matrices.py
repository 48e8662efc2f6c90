"""Matrices that are hard in a way of their own, for decompositions and solvers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from random import Random

from suanzi.conformance.cases import Wanted
from suanzi.conformance.model.data import sample, tensor, values
from suanzi.conformance.model.numbers import PARTS, Value, real
from suanzi.conformance.subjects.wire import Data

Shape = tuple[int, ...]

SQUARE: tuple[Shape, ...] = (
    (7, 7), (8, 8), (15, 15), (16, 16), (17, 17), (31, 31), (32, 32), (33, 33),
    (17, 3, 3), (33, 2, 2), (65, 4, 4), (9, 16, 16), (700, 3, 3),
)  # fmt: skip
"""Around the tiles of a library and around those for which it is not called, alone and many."""
DIFFERENT = 5
"""How many matrices of a batch are different ones."""


def number(dtype: str, re: float, im: float = 0.0) -> Value:
    """Return a number of a dtype, without its imaginary part where that is real."""
    return (real(re), real(im)) if dtype in PARTS else real(re)


def from_rows(dtype: str, rows: Sequence[Sequence[float]], layout: str = "dense") -> Data:
    """Return a matrix of real numbers."""
    shape = (len(rows), len(rows[0]))
    return tensor(dtype, [number(dtype, x) for row in rows for x in row], shape, layout)


def stacked(some: Sequence[Data]) -> Data:
    """Return matrices of one shape as a batch."""
    raw = b"".join(x.raw for x in some)
    return Data(some[0].dtype, (len(some), *some[0].shape), raw)


def as_layout(data: Data, layout: str) -> Data:
    """Return the same elements, to lie in memory in another way."""
    return Data(data.dtype, data.shape, data.raw, layout)


def random(dtype: str, shape: Sequence[int], seed: object, layout: str = "dense") -> Data:
    """Return numbers of either sign from 1/8 to 2."""
    return sample(dtype, shape, ("matrix", seed), layout=layout)


def graded(dtype: str, m: int, n: int) -> Data:
    """Return a matrix whose rows become smaller, by 8 from one to the next."""
    step = 1 if dtype.startswith("float8") else 3
    rows = [sample(dtype, (n,), ("graded", i), (-2 - step * i, -step * i)) for i in range(m)]
    return Data(dtype, (m, n), b"".join(row.raw for row in rows))


def low_rank(dtype: str, m: int, n: int, rank: int) -> Data:
    """Return a product of matrices of small integers, which is exact."""
    chance = Random(f"low rank {dtype} {m} {n} {rank}")
    left = [[chance.randint(-2, 2) or 1 for _ in range(rank)] for _ in range(m)]
    right = [[chance.randint(-2, 2) or 1 for _ in range(n)] for _ in range(rank)]
    return from_rows(
        dtype,
        [[float(sum(p * right[k][j] for k, p in enumerate(row))) for j in range(n)]
         for row in left],
    )  # fmt: skip


def hilbert(dtype: str, n: int) -> Data:
    """Return Hilbert's matrix, rounded, which is far from orthogonal."""
    return from_rows(dtype, [[1 / (i + j + 1) for j in range(n)] for i in range(n)])


def dominant(dtype: str, shape: Sequence[int], seed: object, layout: str = "dense") -> Data:
    """Return diagonally dominant matrices, which are regular."""
    some = values(sample(dtype, shape, ("dominant", seed), (-3, -2)))
    n = shape[-1]
    for b in range(math.prod(shape[:-2])):
        for i in range(n):
            some[b * n * n + i * n + i] = number(dtype, n if i % 2 else -n - 1)
    return tensor(dtype, some, shape, layout)


def definite(dtype: str, n: int, seed: object) -> Data:
    """Return a Hermitian positive definite matrix, which is diagonally dominant."""
    some = values(sample(dtype, (n, n), ("definite", seed), (-3, -2)))
    for i in range(n):
        some[i * n + i] = number(dtype, n + i % 3)
        for j in range(i):
            x = some[i * n + j]
            some[j * n + i] = (x[0], -x[1]) if isinstance(x, tuple) else x
    return tensor(dtype, some, (n, n))


# ---- large sizes ---------------------------------------------------------------------------------


def chosen(op: str, dtype: str, wanted: Wanted, shapes: Sequence[Shape]) -> Sequence[Shape]:
    """Return all of some shapes for one dtype, and one of them for each of the others."""
    if dtype == "float32" and not wanted.quick:
        return shapes
    some = [s for s in shapes if max(s) < 100 and math.prod(s) <= 300]
    return Random(f"sizes {op} {dtype}").sample(some, 1)


def words_of(shape: Shape) -> str:
    """Return a shape, for titles."""
    return ("batch of " if len(shape) > 2 else "") + "x".join(map(str, shape))


def batch(some: Sequence[Data], count: int) -> Data:
    """Return so many matrices, which are some over and over."""
    return stacked([some[i % len(some)] for i in range(count)])


class Reflection:
    """A reflection 1 - 2 v v^T / 256, its rows in another order, its columns times powers of two.

    v has as many ones of either sign as a power of two, so that every element is exact.
    """

    def __init__(self, n: int, scaled: bool = True) -> None:
        chance = Random(f"reflection {n}")
        self.n, self.ones = n, 1 << (n.bit_length() - 1)
        v = [chance.choice((-1, 1)) for _ in range(self.ones)] + [0] * (n - self.ones)
        chance.shuffle(v)
        self.v = v
        self.order = list(range(n))
        chance.shuffle(self.order)
        self.powers = [Fraction(2) ** chance.randint(-1, 1) if scaled else Fraction(1) for _ in v]

    def _reflected(self, i: int, j: int) -> Fraction:
        return int(i == j) - Fraction(2 * self.v[i] * self.v[j], self.ones)

    def rows(self) -> list[list[Fraction]]:
        """Return the matrix."""
        return [[self._reflected(i, j) * self.powers[j] for j in range(self.n)] for i in self.order]

    def inverse(self) -> list[list[Fraction]]:
        """Return its inverse."""
        return [[self._reflected(i, j) / self.powers[i] for j in self.order] for i in range(self.n)]

    def times(self, x: Sequence[int]) -> list[Fraction]:
        """Return the product with a vector."""
        scaled = [p * a for p, a in zip(self.powers, x, strict=True)]
        along = sum((a * b for a, b in zip(self.v, scaled, strict=True)), Fraction(0))
        step = 2 * along / self.ones
        return [scaled[i] - self.v[i] * step for i in self.order]
