"""7.2.16: Fourier transforms at the sizes at which kernels break, of what has a simple spectrum.

What is transformed is a product of one sequence for each axis: numbers that repeat, and impulses on
top of them. So every element counts, every element of the result is another, and the truth of
thousands of elements takes no more than a few multiplications each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases.signal import Setting
from suanzi.conformance.model.case import Case, Expected, Output
from suanzi.conformance.model.expected import Cycle, Picked
from suanzi.conformance.model.numbers import PARTS, Value, real
from suanzi.conformance.truth.arrays import Exact, einsum
from suanzi.conformance.truth.signal import (
    COMPLEX_OF,
    MODES,
    fourier_output,
    real_part,
    sequence,
    spectrum,
    taken,
    weighted,
)
from suanzi.conformance.truth.sums import unit_roundoff

_CHIEF = ("complex64", "float32")
_LENGTHS = (31, 33, 64, 65, 127, 128, 129, 256, 257, 1025)
_TIMES = (1, -2, 3)
_IMPULSES = 6
_PERIOD = 97
_LARGE, _LARGE_QUICK = _PERIOD * 10_309, _PERIOD * 676
_ROWS = (2063, 97)
"""Rows that threads share in parts: more bytes than one of them takes."""


@dataclass(frozen=True)
class _Line:
    """A sequence along one axis: what repeats, in whole numbers, and impulses by their place."""

    length: int
    repeats: Sequence[complex]
    impulses: dict[int, complex]

    @classmethod
    def made(cls, length: int, seed: object, form: str) -> _Line:
        """Make one of real or complex numbers, or one that is a spectrum of real numbers."""
        chance = Random(f"line {length} {seed} {form}")

        def some() -> complex:
            return complex(chance.randint(1, 4), 0 if form == "real" else chance.randint(-3, 3))

        period = max(p for p in range(1, min(length, 64) + 1) if length % p == 0)
        repeats = [some() for _ in range(period)]
        places = {length - 1, length // 2, *(chance.randrange(length) for _ in range(_IMPULSES))}
        impulses = {place: 2 * some() for place in sorted(places)}
        if form == "hermitian":
            repeats = _mirrored(dict(enumerate(repeats)), period)
            images = _mirrored(impulses, length)
            impulses = {i: x for i, x in enumerate(images) if x}
        return cls(length, repeats, impulses)

    def exact(self) -> Exact:
        """Return its elements."""
        return sequence(self.length, self.repeats, self.impulses)

    def transformed(self, forward: bool) -> Exact:
        """Return its transform."""
        return spectrum(self.length, self.repeats, self.impulses, forward)


def _mirrored(some: dict[int, complex], length: int) -> list[complex]:
    """Return numbers of which each has its conjugate as its image."""
    made = [0j] * length
    for i, x in some.items():
        image = -i % length
        made[i], made[image] = (x, x.conjugate()) if i != image else (complex(x.real),) * 2
    return made


@cases_of("fft_c2c", "fft_r2c", "fft_c2r")
def transforms_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give lengths past those of vectors and blocks, 65 x 129, and a million elements."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        chief = dtype in _CHIEF and not wanted.quick
        some = _LENGTHS if chief else _sample(op, dtype, 1)
        if wanted.quick and op == "fft_c2c":  # which has large ones besides
            some = [n for n in some if n < 200]
        for i, n in enumerate(some):
            yield _case(op, dtype, (5, n), [1], MODES[i % 3], i % 2 == 0)
        if chief:
            yield _case(op, dtype, sizes.MATRIX, [0], "by_n", False)
            if op == "fft_c2c":
                yield _case(op, dtype, sizes.MATRIX, [0, 1], "none", True)
                yield _case(op, dtype, (4097,), [0], "none", False)
            yield _case(op, dtype, _ROWS, [1], "none", True)
        if dtype in _CHIEF and (op == "fft_c2c" or (op == "fft_r2c" and not wanted.quick)):
            yield from _large(op, dtype, _LARGE_QUICK if wanted.quick else _LARGE)


@cases_of("fft_c2c_backward", "fft_r2c_backward", "fft_c2r_backward")
def gradients_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give some of the lengths, and many rows."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        chief = dtype in _CHIEF and not wanted.quick
        some = _sample(op, dtype, 4 if chief else 1)
        for i, n in enumerate(some):
            yield _case(op, dtype, (5, n), [1], MODES[i % 3], i % 2 == 0)
        if chief:
            yield _case(op, dtype, (2, 1025), [1], "by_n", False)
            yield _case(op, dtype, sizes.MATRIX, [0], "none", True)
            yield _case(op, dtype, _ROWS, [1], "none", True)


def _sample(op: str, dtype: str, count: int) -> Sequence[int]:
    short = [n for n in _LENGTHS if n < 1000]
    return sorted(Random(f"sizes {op} {dtype}").sample(short, count))


def _case(
    op: str, dtype: str, shape: tuple[int, ...], axes: list[int], mode: str, forward: bool
) -> Case:
    form = {"fft_c2r": "hermitian", "fft_r2c": "real", "fft_c2r_backward": "real"}.get(
        op, "complex"
    )
    # Rows that are not transformed are times one of three numbers, over and over; long ones equal.
    different = len(_TIMES) if max(shape[a] for a in axes) < 200 else 1
    few = tuple(n if a in axes else min(n, different) for a, n in enumerate(shape))
    rows = [
        _Line.made(n, (op, a), form) if a in axes else _Line(n, _TIMES[:n], {})
        for a, n in enumerate(few)
    ]
    part = PARTS.get(dtype, dtype)
    whole = _product([line.exact() for line in rows])
    last, length = axes[-1], shape[axes[-1]]
    half = length // 2 + 1
    given = taken(whole, last, half) if op == "fft_c2r" else whole
    data = sizes.Few(dtype, _values(dtype, given)).tensor(*_repeated(given.shape, shape, axes))
    more: dict[str, Any] = {}
    if op == "fft_c2r":
        more["last_dim_size"] = length
    if op == "fft_r2c_backward":
        more["input"] = sizes.Few(part, [real(1)]).tensor(Cycle(1, math.prod(shape)), shape)
    result = {"fft_r2c": COMPLEX_OF.get(dtype), "fft_c2r_backward": COMPLEX_OF.get(dtype),
              "fft_c2r": part, "fft_r2c_backward": part}.get(op) or dtype  # fmt: skip
    way = forward if not op.endswith("backward") else not forward

    def expect() -> tuple[Output]:
        found = _product(
            [line.transformed(way) if a in axes else line.exact() for a, line in enumerate(rows)]
        )
        if op in ("fft_r2c", "fft_c2r_backward"):
            found = taken(found, last, half)
        if op == "fft_c2r_backward":
            found = weighted(found, last, length)
        if result == part:
            found = real_part(found)
        n = math.prod(shape[a] for a in axes)
        once = fourier_output(found, whole, axes, n, mode, result, 2)
        assert isinstance(once.truth, tuple)
        assert isinstance(once.allowed, tuple)
        which, full = _repeated(found.shape, shape, axes)
        truth, allowed = Picked(once.truth, which), Picked(once.allowed, which)
        return (Output(result, full, truth, allowed=allowed, zero_sign=False),)

    how = Setting(shape, axes, mode, forward)
    return Case(op, "sizes", dtype, how.title(), how.arguments(op, data, **more), expect)


def _product(lines: Sequence[Exact]) -> Exact:
    """Return the products of the elements of sequences, one for each axis."""
    found = lines[0]
    for line in lines[1:]:
        found = einsum("a", "b", "ab", found.reshape((len(found.re),)), line)
    return found.reshape(tuple(len(line.re) for line in lines))


def _repeated(
    few: Sequence[int], shape: Sequence[int], axes: Sequence[int]
) -> tuple[list[int], tuple[int, ...]]:
    """Return which of a few rows each element is of, and the shape of them all."""
    full = tuple(n if a in axes else m for a, (n, m) in enumerate(zip(few, shape, strict=True)))
    found = [0]
    for n, m in zip(few, full, strict=True):
        found = [i * n + j % n for i in found for j in range(m)]
    return found, full


def _values(dtype: str, x: Exact) -> list[Value]:
    return [(real(p), real(q)) if dtype in PARTS else real(p) for p, q in x.fractions()]


# ---- a million -----------------------------------------------------------------------------------


def _large(op: str, dtype: str, n: int) -> Iterator[Case]:
    """Give a long sequence that repeats, and one of few impulses at equal distances.

    The spectrum of the one is what the other looks like.
    """
    form = "real" if op == "fft_r2c" else "complex"
    line = _Line.made(_PERIOD, (op, "large"), form)
    values = _values(dtype, line.exact())
    zero: Value = (real(0), real(0)) if dtype in PARTS else real(0)
    kept = n // 2 + 1 if op == "fft_r2c" else n
    result = COMPLEX_OF.get(dtype, dtype)
    apart = n // _PERIOD
    comb = [i // apart if i % apart == 0 else _PERIOD for i in range(n)]
    repeated = sizes.Few(dtype, values).tensor(Cycle(_PERIOD, n), (n,))
    impulses = sizes.Few(dtype, [*values, zero]).tensor(comb, (n,))

    def expect(many: int, which: Sequence[int]) -> Expected:
        # The transform of 97 elements, times how often they are there.
        found = line.transformed(True)
        scaled = Exact(found.shape, [many * x for x in found.re],
                       [many * x for x in found.im or ()], found.exponent)  # fmt: skip
        once = fourier_output(scaled, line.exact(), [0], n, "none", result, 2 * _root(many))
        assert once.allowed is not None
        # What repeats gathers in a few elements, and the relative errors of the passes with it.
        passes = n.bit_length() * unit_roundoff(result)
        own = tuple(
            most + passes * (abs(re) + abs(im))
            for most, (re, im) in zip(once.allowed, scaled.fractions(), strict=True)
        )
        nothing: Value = (real(0), real(0))
        truth = Picked((*once.truth, nothing), which)
        allowed = Picked((*own, max(once.allowed)), which)
        return (Output(result, (kept,), truth, allowed=allowed, zero_sign=False),)

    # Of n elements, n / 97 times the spectrum of 97 lies n / 97 apart, and the other way about.
    yield Case(op, "sizes", dtype, f"{n} that repeat", {"input": repeated},
               lambda: expect(apart, comb[:kept]))  # fmt: skip
    yield Case(op, "sizes", dtype, f"{n} of few impulses", {"input": impulses},
               lambda: expect(1, Cycle(_PERIOD, kept)))  # fmt: skip


def _root(n: int) -> int:
    return math.isqrt(n) + 1
