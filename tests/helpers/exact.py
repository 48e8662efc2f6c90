"""Casts from bits to bits, by the kit's oracle, and tensors of bits.

A real value is an int, a Fraction, or a float for what those do not have: -0.0, infinities, NaN.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

import suanzi as sz
from suanzi import _core
from suanzi.conformance.model import numbers as oracle
from suanzi.conformance.model.numbers import FORMATS, PARTS, SIGNED, UNSIGNED
from suanzi.conformance.subjects.wire import ITEMSIZE

Real = int | Fraction | float
Array = np.ndarray[Any, Any]

FLOATS = FORMATS
COMPLEX = PARTS
# width in bits, whether signed
INTEGERS = {name: (width, name in SIGNED) for name, width in (SIGNED | UNSIGNED).items()}
NAMES = ["bool", *INTEGERS, *FLOATS, *COMPLEX]


def decode(bits: int, name: str) -> Real:
    """Return the value of a bit pattern of a real dtype."""
    if name == "bool":
        return bits
    if name in INTEGERS:
        width, signed = INTEGERS[name]
        stored = max(width, 8)  # less than a byte is stored in one, sign-extended
        return bits - 2**stored if signed and bits >> (stored - 1) else bits
    found = oracle.decode(FORMATS[name], bits)
    if found.is_nan:
        return math.nan
    if found.size is None:
        return -math.inf if found.negative else math.inf
    return (-0.0 if found.negative else 0) if found.is_zero else found.value


def encode_float(value: Real, name: str, saturate: bool = False) -> int | None:
    """Return the bits of a value rounded once, ties to even; None for NaN."""
    form = FORMATS[name]
    bits = oracle.encode(form, oracle.real(value))
    if isinstance(value, float) and math.isnan(value):
        return None
    sign = bits >> (form.bits - 1) << (form.bits - 1)
    if bits - sign > form.largest:
        return sign | form.largest if saturate else bits if form.infinity else None
    return bits


def encode(value: Real, name: str, saturate: bool = False) -> int | None:
    """Return the bits of a value cast to a real dtype; None for NaN.

    Of integers, an int wraps; a fraction is truncated, and stops at the ends.
    """
    if name in FLOATS:
        return encode_float(value, name, saturate)
    given = value if isinstance(value, int) else oracle.real(value)
    whole = oracle.convert(given, name)
    assert isinstance(whole, int)
    return whole % 2 ** (8 * ITEMSIZE[name])


def cast(bits: int, source: str, target: str, saturate: bool = False) -> list[int | None]:
    """Return the bits of one element after a cast, one number for each part.

    Only a conversion saturates: a part whose format stays keeps its infinities.
    """
    saturate = saturate and COMPLEX.get(source, source) != COMPLEX.get(target, target)
    if source in COMPLEX:
        part = COMPLEX[source]
        width = 8 * ITEMSIZE[part]
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
    raw = b"".join(b.to_bytes(ITEMSIZE[name], "little") for b in bits)
    np.frombuffer(memoryview(made.storage), np.uint8)[: len(raw)] = np.frombuffer(raw, np.uint8)
    result: sz.Tensor = made
    return result


def bits_of(tensor: sz.Tensor) -> list[int]:
    """Return the bit patterns of a row-major tensor; complex ones give one for each part."""
    name = str(tensor.dtype)
    part = COMPLEX.get(name, name)
    count = tensor.size * (2 if name in COMPLEX else 1)
    raw = np.frombuffer(memoryview(tensor.storage), f"<u{ITEMSIZE[part]}", offset=0)
    return [int(b) for b in raw[:count]]


def is_nan(bits: int, name: str) -> bool:
    """Tell whether a bit pattern of a part is NaN."""
    part = COMPLEX.get(name, name)
    return part in FLOATS and oracle.decode(FORMATS[part], bits).is_nan
