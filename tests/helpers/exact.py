"""Casts by Python integers and fractions, from bits to bits; shares nothing with suanzi.

A real value is an int, a Fraction, or a float for what those do not have: -0.0, infinities, NaN.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

import suanzi as sz
from suanzi import _core

Real = int | Fraction | float
Array = np.ndarray[Any, Any]

# bits of the exponent, bits of the mantissa, whether there are infinities
FLOATS: dict[str, tuple[int, int, bool]] = {
    "float8_e4m3fn": (4, 3, False),
    "float8_e5m2": (5, 2, True),
    "float16": (5, 10, True),
    "bfloat16": (8, 7, True),
    "float32": (8, 23, True),
    "float64": (11, 52, True),
}
# width in bits, whether signed
INTEGERS: dict[str, tuple[int, bool]] = {
    "int4": (4, True),
    "int8": (8, True),
    "int16": (16, True),
    "int32": (32, True),
    "int64": (64, True),
    "uint1": (1, False),
    "uint4": (4, False),
    "uint8": (8, False),
    "uint16": (16, False),
    "uint32": (32, False),
    "uint64": (64, False),
}
COMPLEX = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
NAMES = ["bool", *INTEGERS, *FLOATS, *COMPLEX]


def itemsize(name: str) -> int:
    """Return the bytes one element takes."""
    if name in COMPLEX:
        return 2 * itemsize(COMPLEX[name])
    if name in FLOATS:
        return (1 + FLOATS[name][0] + FLOATS[name][1]) // 8
    return max(INTEGERS[name][0] // 8, 1) if name in INTEGERS else 1


def decode(bits: int, name: str) -> Real:
    """Return the value of a bit pattern of a real dtype."""
    if name == "bool":
        return bits
    if name in INTEGERS:
        width, signed = INTEGERS[name]
        stored = max(width, 8)  # less than a byte is stored in one, sign-extended
        return bits - 2**stored if signed and bits >> (stored - 1) else bits
    exponent_bits, mantissa_bits, infinite = FLOATS[name]
    sign = -1 if bits >> (exponent_bits + mantissa_bits) else 1
    exponent = bits >> mantissa_bits & (2**exponent_bits - 1)
    mantissa = bits & (2**mantissa_bits - 1)
    top = exponent == 2**exponent_bits - 1
    if top and infinite:
        return math.nan if mantissa else sign * math.inf
    if top and mantissa == 2**mantissa_bits - 1:
        return math.nan
    if exponent == mantissa == 0:
        return 0 if sign > 0 else -0.0
    bias = 2 ** (exponent_bits - 1) - 1
    if exponent:
        mantissa += 2**mantissa_bits
    return Fraction(sign * mantissa) * Fraction(2) ** (max(exponent, 1) - bias - mantissa_bits)


def largest(name: str) -> int:
    """Return the bits of the largest finite number of a float."""
    exponent_bits, mantissa_bits, infinite = FLOATS[name]
    top = (2**exponent_bits - 1) << mantissa_bits
    return top - 1 if infinite else top + 2**mantissa_bits - 2


def encode_float(value: Real, name: str, saturate: bool = False) -> int | None:
    """Return the bits of a value rounded once, ties to even; None for NaN."""
    exponent_bits, mantissa_bits, infinite = FLOATS[name]
    if isinstance(value, float) and math.isnan(value):
        return None
    negative = math.copysign(1, value) < 0 if isinstance(value, float) else value < 0
    sign = int(negative) << (exponent_bits + mantissa_bits)
    highest = largest(name)
    overflow = highest if saturate else highest + 1 if infinite else None
    if isinstance(value, float) and math.isinf(value):
        return None if overflow is None else sign | overflow
    magnitude = abs(Fraction(value))
    if magnitude == 0:
        return sign
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    lowest = 2 - 2 ** (exponent_bits - 1)
    exponent = max(exponent, lowest)
    # round() of a Fraction is to the nearest integer, ties to even.
    steps = round(magnitude / Fraction(2) ** (exponent - mantissa_bits))
    # Counting on from the first number of the binade; the lowest one goes on below it.
    bits = ((exponent - lowest) << mantissa_bits) + steps
    if bits > highest:
        return None if overflow is None else sign | overflow
    return sign | bits


def encode_integer(value: Real, name: str) -> int:
    """Return the bits of a value: an integer wraps; a float truncates, and stops at the ends."""
    width, signed = INTEGERS[name]
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
    if isinstance(value, int):
        whole = (value - low) % 2**width + low
    elif isinstance(value, float):
        whole = 0 if math.isnan(value) or value == 0 else high if value > 0 else low
    else:
        whole = min(max(math.trunc(value), low), high)
    return whole % 2 ** max(width, 8)


def encode(value: Real, name: str, saturate: bool = False) -> int | None:
    """Return the bits of a value cast to a real dtype; None for NaN."""
    if name == "bool":
        return int(value != 0)
    if name in INTEGERS:
        return encode_integer(value, name)
    return encode_float(value, name, saturate)


def cast(bits: int, source: str, target: str, saturate: bool = False) -> list[int | None]:
    """Return the bits of one element after a cast, one number for each part.

    Only a conversion saturates: a part whose format stays keeps its infinities.
    """
    saturate = saturate and COMPLEX.get(source, source) != COMPLEX.get(target, target)
    if source in COMPLEX:
        part = COMPLEX[source]
        width = 8 * itemsize(part)
        real, imag = (decode(b, part) for b in (bits & 2**width - 1, bits >> width))
    else:
        real, imag = decode(bits, source), 0
        if source in FLOATS and real == 0 and not isinstance(real, float):
            real = Fraction(0)  # a zero that was a float; as an integer it is the same
    if target == "bool":
        return [int(real != 0 or imag != 0)]
    if target in COMPLEX:
        return [encode(v, COMPLEX[target], saturate) for v in (real, imag)]
    return [encode(real, target, saturate)]


def tensor_of(bits: list[int], name: str, shape: tuple[int, ...] | None = None) -> sz.Tensor:
    """Make a tensor of bit patterns."""
    made = _core.empty((len(bits),) if shape is None else shape, sz.dtype(name))
    raw = b"".join(b.to_bytes(itemsize(name), "little") for b in bits)
    np.frombuffer(memoryview(made.storage), np.uint8)[: len(raw)] = np.frombuffer(raw, np.uint8)
    result: sz.Tensor = made
    return result


def bits_of(tensor: sz.Tensor) -> list[int]:
    """Return the bit patterns of a row-major tensor; complex ones give one for each part."""
    name = str(tensor.dtype)
    part = COMPLEX.get(name, name)
    count = tensor.size * (2 if name in COMPLEX else 1)
    raw = np.frombuffer(memoryview(tensor.storage), f"<u{itemsize(part)}", offset=0)
    return [int(b) for b in raw[:count]]


def is_nan(bits: int, name: str) -> bool:
    """Tell whether a bit pattern of a part is NaN."""
    part = COMPLEX.get(name, name)
    return part in FLOATS and decode(bits, part) != decode(bits, part)
