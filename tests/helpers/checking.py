"""Values to try, and tensors compared with the oracle, bit by bit.

There is no tolerance, except in `check_near`, which says how many units in the last place it
allows. Every check raises AssertionError; tests/meta feeds them wrong answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random
from typing import Any

import ml_dtypes
import numpy as np

import suanzi as sz
from helpers.functions import every_level
from suanzi.conformance.model.numbers import (
    FORMATS,
    PARTS,
    SUBBYTE,
    Real,
    Value,
    decode,
    encode,
    limits,
    real,
    two,
)
from suanzi.conformance.model.operators import binary, unary

# ---- values to try -------------------------------------------------------------------------------


@cache
def samples(name: str, count: int = 24, seed: int = 0) -> tuple[Value, ...]:
    """The values of a dtype that break things, and some at random."""
    random = Random(f"{name} {seed}")
    if name == "bool":
        return (0, 1)
    if name in PARTS:
        parts = [x for x in samples(PARTS[name], count, seed) if isinstance(x, Real)]
        return tuple((random.choice(parts), random.choice(parts)) for _ in range(2 * len(parts)))
    if name in FORMATS:
        return tuple(decode(FORMATS[name], bits) for bits in _float_bits(name, count, random))
    low, high = limits(name)
    edges = {
        low,
        low + 1,
        high,
        high - 1,
        -1,
        0,
        1,
        2,
        3,
        7,
        -7,
        low // 2,
        high // 2,
        high // 2 + 1,
    }
    # Around the integers that float16, float32 and float64 no longer hold.
    edges |= {2**n + d for n in (11, 24, 53) for d in (-1, 0, 1, 3)}
    edges |= {random.randint(low, high) for _ in range(count)}
    edges |= {random.randint(-30, 30) for _ in range(count // 2)}
    return tuple(sorted(x for x in edges if low <= x <= high))


def _float_bits(name: str, count: int, random: Random) -> list[int]:
    form = FORMATS[name]
    one = form.bias << form.mantissa
    smallest_normal = 1 << form.mantissa
    magnitudes = {0, 1, 2, smallest_normal - 1, smallest_normal, smallest_normal + 1}
    magnitudes |= {form.largest, form.largest - 1, form.largest + 1, form.nan}
    magnitudes |= {one - 1, one, one + 1, one + 2}
    for value in (0.5, 1.5, 2, 2.5, 3, 10, 1 / 3):
        magnitudes.add(encode(form, real(value)))
    magnitudes |= {random.randrange(form.largest) for _ in range(count)}
    # Near one, so that sums round and quotients are not all far out of range.
    span = 4 << form.mantissa
    magnitudes |= {one + random.randrange(-span, span) for _ in range(count)}
    sign = 1 << (form.bits - 1)
    return [m | s for m in sorted(magnitudes) for s in (0, sign)]


def pairs(name: str, count: int = 10) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Two lists of values, each of which is to meet each of the other."""
    return samples(name, count, 1), samples(name, count, 2)


# ---- tensors -------------------------------------------------------------------------------------


def numpy_dtype(name: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def _raw(name: str, x: Value) -> list[int]:
    if isinstance(x, tuple):
        form = FORMATS[PARTS[name]]
        return [encode(form, x[0]), encode(form, x[1])]
    if isinstance(x, Real):
        return [encode(FORMATS[name], x)]
    return [x % 256 if name in SUBBYTE or name == "bool" else x % 2 ** (8 * _size(name))]


def _size(name: str) -> int:
    return numpy_dtype(name).itemsize


def array(name: str, values: Sequence[Value], shape: Sequence[int] | None = None) -> Any:
    """A NumPy array with exactly these values."""
    made = _expected_bits(name, values).view(numpy_dtype(name))
    return made.reshape(shape if shape is not None else (len(values),))


def pack(name: str, values: Sequence[Value], shape: Sequence[int] | None = None) -> sz.Tensor:
    """A tensor with exactly these values."""
    return sz.tensor(array(name, values, shape))


def _bits(x: sz.Tensor) -> Any:
    """The bits of a tensor in row-major order; complex numbers give two."""
    flat = np.ascontiguousarray(x.numpy()).reshape(-1)
    unit = flat.dtype.itemsize // (2 if x.dtype.name in PARTS else 1)
    return flat.view(f"u{unit}")


def _expected_bits(name: str, values: Sequence[Value]) -> Any:
    unit = _size(name) // (2 if name in PARTS else 1)
    return np.array([bits for x in values for bits in _raw(name, x)], f"u{unit}")


def _one_nan(name: str, bits: Any) -> Any:
    """The bits with every NaN made the same one."""
    form = FORMATS.get(PARTS.get(name, name))
    if form is None:
        return bits
    magnitude = bits & (2 ** (form.bits - 1) - 1)
    above = form.largest + (1 if form.infinity else 0)
    return np.where(magnitude > above, np.array(form.nan, bits.dtype), bits)


def unpack(x: sz.Tensor) -> list[Value]:
    """The values of a tensor, in row-major order."""
    name = x.dtype.name
    if name in PARTS:
        form = FORMATS[PARTS[name]]
        both = [decode(form, int(b)) for b in _bits(x)]
        return list(zip(both[::2], both[1::2], strict=True))
    if name in FORMATS:
        return [decode(FORMATS[name], int(b)) for b in _bits(x)]
    return [int(v) for v in x.numpy().reshape(-1)]


def show(x: Value) -> str:
    if isinstance(x, tuple):
        return f"({show(x[0])}, {show(x[1])})"
    if isinstance(x, int):
        return str(x)
    if x.is_nan:
        return "nan"
    sign = "-" if x.negative else ""
    return f"{sign}inf" if x.size is None else f"{sign}{float(x.size)!r}"


def check(
    got: sz.Tensor,
    name: str,
    expected: Sequence[Value],
    shape: Sequence[int] | None = None,
    came: Callable[[int], str] = lambda i: "",
) -> None:
    """Raise AssertionError unless a tensor has this dtype, this shape and exactly these values.

    `came` says what the operands of an element were.
    """
    if got.dtype.name != name:
        raise AssertionError(f"dtype {got.dtype.name}, not {name}")
    wanted = tuple(shape) if shape is not None else (len(expected),)
    if got.shape != wanted:
        raise AssertionError(f"shape {got.shape}, not {wanted}")
    bits, right = (_one_nan(name, b) for b in (_bits(got), _expected_bits(name, expected)))
    if len(bits) != len(right):
        raise AssertionError(f"{len(bits)} elements, not {len(right)}")
    wrong = sorted({int(i) // (2 if name in PARTS else 1) for i in np.flatnonzero(bits != right)})
    if wrong:
        found = unpack(got)
        first = "; ".join(
            f"[{i}] {came(i)}: {show(found[i])}, not {show(expected[i])}" for i in wrong[:5]
        )
        raise AssertionError(f"{len(wrong)} of {len(found)} elements are wrong: {first}")


def check_near(
    got: sz.Tensor,
    name: str,
    expected: Sequence[tuple[Fraction, Fraction]],
    ulp: Fraction | float,
    came: Callable[[int], str] = lambda i: "",
) -> None:
    """Raise AssertionError unless every complex number is within `ulp` of the exact one.

    The unit is that of the format at the magnitude of the exact number, so that a part that almost
    cancels may be as wrong as the other.
    """
    if got.dtype.name != name:
        raise AssertionError(f"dtype {got.dtype.name}, not {name}")
    form = FORMATS[PARTS[name]]
    found = unpack(got)
    if len(found) != len(expected):
        raise AssertionError(f"{len(found)} elements, not {len(expected)}")
    for i, (value, exact) in enumerate(zip(found, expected, strict=True)):
        assert isinstance(value, tuple)
        size = max(abs(exact[0]), abs(exact[1]))
        unit = two(max(_exponent(size), 1 - form.bias) - form.mantissa)
        if encode(form, real(size * (1 + two(-form.mantissa)))) > form.largest:
            continue  # too near the end of the range to say which side it falls on
        for part, wanted in zip(value, exact, strict=True):
            if part.is_nan or part.size is None or abs(part.value - wanted) > Fraction(ulp) * unit:
                raise AssertionError(
                    f"[{i}] {came(i)}: {show(value)}, not ({float(wanted)!r} as one part)"
                )


def _exponent(size: Fraction) -> int:
    if size == 0:
        return -(10**6)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return exponent - (two(exponent) > size)


def check_binary(op: str, name: str, xs: Sequence[Value], ys: Sequence[Value], out: str) -> None:
    """Compare every x with every y, broadcast and dense, with the oracle, at every level."""
    expected = [binary(op, name, a, b) for a, b in product(xs, ys)]
    function = getattr(sz, op)
    n, m = len(xs), len(ys)
    column, row = pack(name, xs, (n, 1)), pack(name, ys, (1, m))
    left = pack(name, [a for a, _ in product(xs, ys)])
    right = pack(name, [b for _, b in product(xs, ys)])

    def came(i: int) -> str:
        return f"{op}({show(xs[i // m])}, {show(ys[i % m])}) in {name}"

    for _ in every_level():
        check(function(column, row), out, expected, (n, m), came)
        check(function(left, right), out, expected, came=came)


def check_unary(op: str, name: str, xs: Sequence[Value], out: str) -> None:
    """Compare an operator of one operand with the oracle, at every level."""
    expected = [unary(op, out if op == "reciprocal" else name, a) for a in xs]
    for _ in every_level():
        got = getattr(sz, op)(pack(name, xs))
        check(got, out, expected, came=lambda i: f"{op}({show(xs[i])}) in {name}")
