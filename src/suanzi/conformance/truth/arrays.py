"""Arrays of integers times a power of two, real or complex: sums of products without rounding.

Every finite number of every dtype is such a product, and integers are many times faster than
fractions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from operator import mul

from suanzi.conformance.model.data import raw_bits, values
from suanzi.conformance.model.numbers import FORMATS, PARTS, two
from suanzi.conformance.subjects.wire import Data

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Exact:
    """An array in row-major order; an element is (re + i im) 2^exponent."""

    shape: Shape
    re: list[int]
    im: list[int] | None
    exponent: int

    @property
    def unit(self) -> Fraction:
        """What the integers count."""
        return two(self.exponent)

    def reshape(self, shape: Shape) -> Exact:
        """Return the same elements in another shape."""
        assert math.prod(shape) == len(self.re), (shape, self.shape)
        return Exact(shape, self.re, self.im, self.exponent)

    def conj(self) -> Exact:
        """Return the conjugate of every element."""
        im = None if self.im is None else [-x for x in self.im]
        return Exact(self.shape, self.re, im, self.exponent)

    def magnitudes(self) -> Exact:
        """Return the magnitudes of the parts, for sums that cannot cancel."""
        im = None if self.im is None else [abs(x) for x in self.im]
        return Exact(self.shape, [abs(x) for x in self.re], im, self.exponent)

    def largest_part(self) -> list[Fraction]:
        """Return the larger magnitude of the two parts of each element."""
        if self.im is None:
            return [self._fraction(abs(x)) for x in self.re]
        pairs = zip(self.re, self.im, strict=True)
        return [self._fraction(max(abs(a), abs(b))) for a, b in pairs]

    def squares(self) -> list[Fraction]:
        """Return the squared magnitude of each element."""
        im = self.im or [0] * len(self.re)
        return [(a * a + b * b) * self.unit**2 for a, b in zip(self.re, im, strict=True)]

    def at(self, index: int) -> Exact:
        """Return one of the arrays along the first axis."""
        size = math.prod(self.shape[1:])
        some = slice(index * size, (index + 1) * size)
        im = None if self.im is None else self.im[some]
        return Exact(self.shape[1:], self.re[some], im, self.exponent)

    def fractions(self) -> list[tuple[Fraction, Fraction]]:
        """Return the two parts of each element."""
        im = self.im or [0] * len(self.re)
        return [(self._fraction(a), self._fraction(b)) for a, b in zip(self.re, im, strict=True)]

    def _fraction(self, x: int) -> Fraction:
        return Fraction(x, 1 << -self.exponent) if self.exponent < 0 else x * self.unit


def exact(data: Data) -> Exact:
    """Return the elements of a tensor, all of which are finite."""
    part = PARTS.get(data.dtype, data.dtype)
    if part not in FORMATS:
        return Exact(data.shape, [x for x in values(data) if isinstance(x, int)], None, 0)
    form = FORMATS[part]
    sign, one = 1 << (form.bits - 1), 1 << form.mantissa
    sizes, powers = [], []
    for bits in raw_bits(data):
        magnitude = bits & (sign - 1)
        assert magnitude <= form.largest, "neither NaN nor an infinity"
        field = magnitude >> form.mantissa
        size = (magnitude & (one - 1)) + (one if field else 0)
        sizes.append(-size if bits & sign else size)
        powers.append(max(field, 1))
    least = min((p for p, size in zip(powers, sizes, strict=True) if size), default=1)
    whole = [size << (p - least) if size else 0 for size, p in zip(sizes, powers, strict=True)]
    exponent = least - form.bias - form.mantissa
    if data.dtype in PARTS:
        return Exact(data.shape, whole[::2], whole[1::2], exponent)
    return Exact(data.shape, whole, None, exponent)


def plus(a: Exact, b: Exact, sign: int = 1) -> Exact:
    """Return a sum, or with the sign -1 a difference, of arrays of one shape."""
    assert a.shape == b.shape, (a.shape, b.shape)
    low = min(a.exponent, b.exponent)
    p, q = 1 << (a.exponent - low), sign << (b.exponent - low)
    re = [p * x + q * y for x, y in zip(a.re, b.re, strict=True)]
    im = None
    if a.im is not None or b.im is not None:
        zeros = [0] * len(re)
        im = [p * x + q * y for x, y in zip(a.im or zeros, b.im or zeros, strict=True)]
    return Exact(a.shape, re, im, low)


def einsum(first: str, second: str, out: str, a: Exact, b: Exact, sign: int = -1) -> Exact:
    """Return sums of products over the letters that `out` has not; `sign` is that of i^2.

    >>> x = Exact((2, 2), [1, 2, 3, 4], None, 0)
    >>> einsum("ij", "jk", "ik", x, x).re
    [7, 10, 15, 22]
    """
    sizes = dict(zip(first + second, a.shape + b.shape, strict=True))
    inner = [letter for letter in sizes if letter not in out]
    shape = tuple(sizes[letter] for letter in out)
    outer_a, outer_b = (_offsets(out, labels, x.shape, sizes) for labels, x in
                        ((first, a), (second, b)))  # fmt: skip
    inner_a, inner_b = (_offsets(inner, labels, x.shape, sizes) for labels, x in
                        ((first, a), (second, b)))  # fmt: skip
    pairs = list(zip(inner_a, inner_b, strict=True))
    places = list(zip(outer_a, outer_b, strict=True))

    def sums(x: list[int], y: list[int]) -> list[int]:
        return [sum(x[p + i] * y[q + j] for i, j in pairs) for p, q in places]

    exponent = a.exponent + b.exponent
    if a.im is None and b.im is None:
        return Exact(shape, sums(a.re, b.re), None, exponent)
    zeros_a, zeros_b = a.im or [0] * len(a.re), b.im or [0] * len(b.re)
    re = [x + sign * y for x, y in zip(sums(a.re, b.re), sums(zeros_a, zeros_b), strict=True)]
    im = [x + y for x, y in zip(sums(a.re, zeros_b), sums(zeros_a, b.re), strict=True)]
    return Exact(shape, re, im, exponent)


def _offsets(over: Sequence[str], labels: str, shape: Shape, sizes: dict[str, int]) -> list[int]:
    """Return where elements lie, for every choice of some letters; those it has not count 0."""
    strides, step = {}, 1
    for letter, size in zip(reversed(labels), reversed(shape), strict=True):
        strides[letter] = step
        step *= size
    steps = [range(0, sizes[x] * strides.get(x, 0), strides[x]) if strides.get(x)
             else [0] * sizes[x] for x in over]  # fmt: skip
    return [sum(choice) for choice in product(*steps)]


def adjoint(a: Exact) -> Exact:
    """Return the conjugate transposes of matrices along the last two axes."""
    *outer, m, n = a.shape
    order = [
        (b * m + i) * n + j for b in range(math.prod(outer)) for j in range(n) for i in range(m)
    ]
    im = None if a.im is None else [-a.im[k] for k in order]
    return Exact((*outer, n, m), [a.re[k] for k in order], im, a.exponent)


def times(a: Exact, b: Exact, sign: int = -1) -> Exact:
    """Return the product of two matrices; `sign` is that of i^2.

    >>> x = Exact((2, 2), [1, 2, 3, 4], None, 0)
    >>> times(x, x).re
    [7, 10, 15, 22]
    """
    (m, n), columns = a.shape, b.shape[1]

    def sums(x: list[int], y: list[int]) -> list[int]:
        # By whole rows and columns: several times as fast as element by element.
        down = [y[j::columns] for j in range(columns)]
        rows = [x[i * n : i * n + n] for i in range(m)]
        return [sum(map(mul, row, column)) for row in rows for column in down]

    shape, exponent = (m, columns), a.exponent + b.exponent
    if a.im is None and b.im is None:
        return Exact(shape, sums(a.re, b.re), None, exponent)
    if a.im is None or b.im is None:
        re = sums(a.re, b.re)
        im = sums(a.re, b.im) if b.im is not None else sums(a.im or [], b.re)
        return Exact(shape, re, im, exponent)
    re = [x + sign * y for x, y in zip(sums(a.re, b.re), sums(a.im, b.im), strict=True)]
    im = [x + y for x, y in zip(sums(a.re, b.im), sums(a.im, b.re), strict=True)]
    return Exact(shape, re, im, exponent)
