"""7.2.16: Fourier transforms by their definition: sums over roots of unity of 140 bits.

Nothing here is a fast transform. The roots come from mpmath; all else is integers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache

import mpmath

from suanzi.conformance.model.case import Output
from suanzi.conformance.model.numbers import PARTS, Value, real
from suanzi.conformance.truth.arrays import Exact, Shape, einsum
from suanzi.conformance.truth.sums import half_unit, unit_roundoff

MODES = ("none", "by_sqrt_n", "by_n")
COMPLEX_OF = {part: whole for whole, part in PARTS.items()}
_BITS = 140
_LETTERS = "abcdefgh"
_STEPS = 4
"""How often each of the log2(n) passes, and two more for a prime length, may round fully."""


@cache
def _roots(n: int) -> tuple[list[int], list[int]]:
    """Return exp(-2 pi i k / n) 2^140 for k from 0 to n - 1."""
    with mpmath.workprec(_BITS + 30):
        found = [mpmath.expjpi(mpmath.mpf(-2 * k) / n) for k in range(n)]
        scale = mpmath.mpf(2) ** _BITS
        return ([int(mpmath.nint(z.real * scale)) for z in found],
                [int(mpmath.nint(z.imag * scale)) for z in found])  # fmt: skip


def transform(x: Exact, axes: Sequence[int], forward: bool) -> Exact:
    """Return the transform along axes, not scaled."""
    labels = _LETTERS[: len(x.shape)]
    for axis in axes:
        n = x.shape[axis]
        re, im = _roots(n)
        places = [j * k % n for j in range(n) for k in range(n)]
        sign = 1 if forward else -1
        matrix = Exact((n, n), [re[p] for p in places], [sign * im[p] for p in places], -_BITS)
        out = labels.replace(labels[axis], "z")
        x = einsum("z" + labels[axis], labels, out, matrix, x)
    return x


def sequence(length: int, repeats: Sequence[complex], impulses: Mapping[int, complex]) -> Exact:
    """Return whole numbers that repeat, with impulses added at some places.

    >>> sequence(4, [1, 2], {3: 5}).re
    [1, 2, 1, 7]
    """
    found = [complex(repeats[i % len(repeats)]) for i in range(length)]
    for i, x in impulses.items():
        found[i] += x
    im = [int(x.imag) for x in found]
    return Exact((length,), [int(x.real) for x in found], im if any(im) else None, 0)


def spectrum(
    length: int, repeats: Sequence[complex], impulses: Mapping[int, complex], forward: bool
) -> Exact:
    """Return the transform of such a sequence, not scaled, from its few numbers.

    >>> [x >> 140 for x in spectrum(4, [1, 2], {}, True).re]
    [6, 0, -2, 0]
    """
    roots = _roots(length)
    sign = 1 if forward else -1
    re, im = [0] * length, [0] * length
    apart = length // len(repeats)  # and so far from each other are the frequencies of what repeats
    few = transform(sequence(len(repeats), repeats, {}), [0], forward)
    for k in range(len(repeats)):
        re[k * apart] = apart * few.re[k]
        im[k * apart] = apart * (few.im or [0] * len(repeats))[k]
    for j, x in impulses.items():
        a, b = int(x.real), int(x.imag)
        for k in range(length):
            c, s = roots[0][p := j * k % length], sign * roots[1][p]
            re[k] += a * c - b * s
            im[k] += a * s + b * c
    return Exact((length,), re, im, -_BITS)


def taken(x: Exact, axis: int, length: int) -> Exact:
    """Return the first elements along an axis; behind its end they are zero."""
    return _along(x, axis, [k if k < x.shape[axis] else None for k in range(length)])


def extended(x: Exact, axis: int, length: int) -> Exact:
    """Return a whole spectrum of its half: the rest are conjugates, and its own image is real."""
    assert x.im is not None
    half = length // 2
    whole = _along(x, axis, [k if k <= half else length - k for k in range(length)])
    assert whole.im is not None
    own = {0, half} if length % 2 == 0 else {0}
    inner = math.prod(x.shape[axis + 1 :])
    im = []
    for i, y in enumerate(whole.im):
        k = i // inner % length
        im.append(0 if k in own else y if k <= half else -y)
    return Exact(whole.shape, whole.re, im, whole.exponent)


def weighted(x: Exact, axis: int, length: int) -> Exact:
    """Return a half spectrum, twice where it has a mirror image."""
    inner = math.prod(x.shape[axis + 1 :])
    own = {0, length // 2} if length % 2 == 0 else {0}
    factors = [1 if i // inner % x.shape[axis] in own else 2 for i in range(len(x.re))]
    im = None if x.im is None else [f * y for f, y in zip(factors, x.im, strict=True)]
    re = [f * y for f, y in zip(factors, x.re, strict=True)]
    return Exact(x.shape, re, im, x.exponent)


def real_part(x: Exact) -> Exact:
    """Return the real parts."""
    return Exact(x.shape, x.re, None, x.exponent)


def _along(x: Exact, axis: int, places: Sequence[int | None]) -> Exact:
    outer, inner = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
    n = x.shape[axis]
    order = [
        None if k is None else (o * n + k) * inner + i
        for o in range(outer)
        for k in places
        for i in range(inner)
    ]
    shape = (*x.shape[:axis], len(places), *x.shape[axis + 1 :])
    im = x.im
    return Exact(
        shape,
        [0 if p is None else x.re[p] for p in order],
        None if im is None else [0 if p is None else im[p] for p in order],
        x.exponent,
    )


def factor(mode: str, n: int) -> Fraction:
    """Return what a mode multiplies a transform of so many elements by."""
    if mode == "by_sqrt_n":
        return Fraction(math.isqrt((1 << 2 * _BITS) // n), 1 << _BITS)
    return Fraction(1, n if mode == "by_n" else 1)


def fourier_output(
    found: Exact, source: Exact, axes: Sequence[int], n: int, mode: str, dtype: str, more: int = 1
) -> Output:
    """Return what a transform must be: off by a few roundings of log2(n) passes at most.

    The error is relative to the norm of what was transformed, times `more`.
    """
    scale = factor(mode, n)
    passes = (n - 1).bit_length() + 2 if n > 1 else 1
    step = _STEPS * passes * unit_roundoff(dtype) * more * scale
    truth: list[Value] = []
    allowed = []
    norms = _norms(source, axes, found.shape)
    for (re, im), norm in zip(found.fractions(), norms, strict=True):
        p, q = re * scale, im * scale
        truth.append((real(p), real(q)) if dtype in PARTS else real(p))
        error = step * norm
        allowed.append(error + half_unit(dtype, max(abs(p), abs(q)) + error))
    return Output(dtype, found.shape, tuple(truth), allowed=tuple(allowed), zero_sign=False)


def _norms(x: Exact, axes: Sequence[int], shape: Shape) -> list[Fraction]:
    """Return the norm over the axes, for each element of a transform."""
    im = x.im or [0] * len(x.re)
    labels = _LETTERS[: len(x.shape)]
    kept = "".join(k for i, k in enumerate(labels) if i not in axes)
    squares = Exact(x.shape, [a * a + b * b for a, b in zip(x.re, im, strict=True)], None, 0)
    total = einsum(labels, "", kept, squares, Exact((), [1], None, 0))
    roots = [math.isqrt(s) + (s > 0) for s in total.re]
    lengths = tuple(shape[i] for i in axes)
    ones = Exact(lengths, [1] * math.prod(lengths), None, 0)
    spread = einsum(
        kept, "".join(labels[i] for i in axes), labels, Exact(total.shape, roots, None, 0), ones
    )
    return [r * x.unit for r in spread.re]
