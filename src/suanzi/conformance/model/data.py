"""Tensors of the oracle's values as data, and back; no tensor library is asked."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import lru_cache, partial
from random import Random

from suanzi.conformance.model.numbers import (
    FORMATS,
    PARTS,
    SIGNED,
    Real,
    Value,
    decode,
    encode,
    encode_float,
    limits,
    ratio,
    real,
)
from suanzi.conformance.subjects.wire import ITEMSIZE, Data

LAYOUTS = ("columns", "gaps", "reversed", "offset")
"""The memory layouts that any dtype can have, except the dense one."""
_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}


def _unit(dtype: str) -> tuple[int, int]:
    """Return the bytes of one part of an element, and the number of parts."""
    parts = 2 if dtype in PARTS else 1
    return ITEMSIZE[dtype] // parts, parts


def bits_of(dtype: str, x: Value) -> tuple[int, ...]:
    """Return the bits of a value, rounded once to a dtype, one number for each part."""
    if isinstance(x, tuple):
        form = FORMATS[PARTS[dtype]]
        return encode(form, x[0]), encode(form, x[1])
    if dtype in PARTS:
        return bits_of(dtype, (x if isinstance(x, Real) else real(x), real(0)))
    if dtype in FORMATS:
        return (encode(FORMATS[dtype], x if isinstance(x, Real) else real(x)),)
    assert isinstance(x, int), (dtype, x)
    return (x % 2 ** (8 * ITEMSIZE[dtype]),)


def _bits_of(dtype: str, x: Value | float) -> int:
    if isinstance(x, float):
        return encode_float(FORMATS[dtype], x)
    return bits_of(dtype, x)[0]


def tensor(
    dtype: str,
    values: Sequence[Value | float],
    shape: Sequence[int] | None = None,
    layout: str = "dense",
) -> Data:
    """Return a tensor of these values, rounded once, as data."""
    kept = list(values)  # an id is unique only while its object is alive
    ids = list(map(id, kept))
    few = dict(zip(ids, kept, strict=True))  # large tensors have few different objects
    if dtype in PARTS:
        parts = {k: bits_of(dtype, real(x) if isinstance(x, float) else x) for k, x in few.items()}
        flat = [b for k in ids for b in parts[k]]
    else:
        known = FORMATS[dtype].decoded if dtype in FORMATS else {}
        bits = {k: known[k] if k in known else _bits_of(dtype, x) for k, x in few.items()}
        flat = [bits[k] for k in ids]
    return from_bits(dtype, flat, (len(kept),) if shape is None else shape, layout)


def from_bits(dtype: str, bits: Sequence[int], shape: Sequence[int], layout: str = "dense") -> Data:
    """Return a tensor of these bits, which are two numbers for each complex one, as data."""
    unit, parts = _unit(dtype)
    assert parts * math.prod(shape) == len(bits), (shape, len(bits))
    return Data(dtype, tuple(shape), struct.pack(f"<{len(bits)}{_CODES[unit]}", *bits), layout)


@lru_cache(256)
def units_of(dtype: str, few: tuple[Value, ...]) -> list[bytes]:
    """Return the bytes of each of a few values, rounded once.

    >>> units_of("int16", (1, -1))
    [b'\\x01\\x00', b'\\xff\\xff']
    """
    raw = tensor(dtype, few).raw
    size = ITEMSIZE[dtype]
    return [raw[at : at + size] for at in range(0, len(raw), size)]


def raw_bits(data: Data) -> tuple[int, ...]:
    """Return the bits of the elements; complex numbers give two each."""
    unit, _ = _unit(data.dtype)
    return struct.unpack(f"<{len(data.raw) // unit}{_CODES[unit]}", data.raw)


def values(data: Data) -> list[Value]:
    """Return the elements in row-major order."""
    bits = raw_bits(data)
    if data.dtype in PARTS:
        form = FORMATS[PARTS[data.dtype]]
        parts = list(map(partial(decode, form), bits))
        return list(zip(parts[::2], parts[1::2], strict=True))
    if data.dtype in FORMATS:
        return list(map(partial(decode, FORMATS[data.dtype]), bits))
    signed = data.dtype in SIGNED or (data.dtype.startswith("QT") and "UINT" not in data.dtype)
    width = 8 * ITEMSIZE[data.dtype]
    return [b - 2**width if signed and b >> (width - 1) else b for b in bits]


def numbers(data: Data) -> list[int | float]:
    """Return the elements as Python has them, complex ones as two each.

    >>> numbers(tensor("float16", [0.1, -0.0]))
    [0.0999755859375, -0.0]
    """
    found: list[int | float] = []
    for x in values(data):
        for part in x if isinstance(x, tuple) else (x,):
            if not isinstance(part, Real):
                found.append(part)
                continue
            size = math.inf if part.size is None else float(part.size)
            found.append(math.nan if part.is_nan else -size if part.negative else size)
    return found


def special(dtype: str) -> tuple[Value, ...]:
    """Return the values of a dtype that break things."""
    if dtype == "bool":
        return (0, 1)
    if dtype in PARTS:
        parts = [x for x in special(PARTS[dtype]) if isinstance(x, Real)]
        random = Random(f"special {dtype}")
        return tuple((a, random.choice(parts)) for a in parts) + tuple(
            (random.choice(parts), b) for b in parts
        )
    if dtype in FORMATS:
        form = FORMATS[dtype]
        one, normal = form.bias << form.mantissa, 1 << form.mantissa
        sizes = {0, 1, 2, normal - 1, normal, normal + 1, one - 1, one, one + 1}
        sizes |= {form.largest - 1, form.largest, form.largest + 1, form.nan}
        sizes |= {encode(form, real(x)) for x in (0.5, 1.5, 2, 2.5, 3, 10, 1 / 3)}
        sign = 1 << (form.bits - 1)
        return tuple(decode(form, size | s) for size in sorted(sizes) for s in (0, sign))
    low, high = limits(dtype)
    some = {low, low + 1, high, high - 1, -1, 0, 1, 2, 3, 7, -7, low // 2, high // 2 + 1}
    return tuple(sorted(x for x in some if low <= x <= high))


def ordinary(
    dtype: str, count: int, seed: object = 0, low: float = -8, high: float = 8
) -> list[Value]:
    """Return values of a moderate size, all of which the dtype holds."""
    random = Random(f"ordinary {dtype} {seed}")
    if dtype == "bool":
        return [random.randint(0, 1) for _ in range(count)]
    if dtype in PARTS:
        parts = [_real(x) for x in ordinary(PARTS[dtype], 2 * count, seed, low, high)]
        return list(zip(parts[::2], parts[1::2], strict=True))
    if dtype in FORMATS:
        form = FORMATS[dtype]
        floats = [random.uniform(low, high) for _ in range(count)]
        if form.mantissa == 52:
            # A random float leaves the last bits of a double zero: sums of such would be exact.
            return [decode(form, encode(form, _more_bits(x, random, high))) for x in floats]
        return [decode(form, encode_float(form, x)) for x in floats]
    least, most = limits(dtype)
    return [
        random.randint(max(least, math.ceil(low)), min(most, math.floor(high)))
        for _ in range(count)
    ]


def _more_bits(x: float, random: Random, high: float) -> Real:
    numerator, denominator = x.as_integer_ratio()
    scale = max(denominator, 2**78)
    found = numerator * (scale // denominator) + random.getrandbits(30) * (scale >> 78)
    # The two have common divisors; `encode` does not mind.
    return real(high) if found > high * scale else Real(found < 0, ratio(abs(found), scale))


def anything(dtype: str, count: int, seed: object = 0) -> list[Value]:
    """Return random bit patterns: values of every magnitude, NaN and infinities now and then."""
    random = Random(f"anything {dtype} {seed}")
    if dtype == "bool":
        return [random.randint(0, 1) for _ in range(count)]
    if dtype in PARTS:
        parts = [_real(x) for x in anything(PARTS[dtype], 2 * count, seed)]
        return list(zip(parts[::2], parts[1::2], strict=True))
    if dtype in FORMATS:
        form = FORMATS[dtype]
        return [decode(form, random.getrandbits(form.bits)) for _ in range(count)]
    low, high = limits(dtype)
    return [random.randint(low, high) for _ in range(count)]


def _real(x: Value) -> Real:
    assert isinstance(x, Real)
    return x


def out_of_order(found: Data, wanted: Sequence[int]) -> str | None:
    """Say so if a tensor lies in memory in another order than the one wanted.

    >>> out_of_order(Data("int8", (2, 1), b"ab"), (0, 1))
    'min2maj [1, 0], not [0, 1]'
    """
    default = range(len(found.shape))[::-1]
    order = list(default if found.min2maj is None else found.min2maj)
    return None if order == list(wanted) else f"min2maj {order}, not {list(wanted)}"


def sample(
    dtype: str,
    shape: Sequence[int],
    seed: object,
    exponents: tuple[int, int] = (-3, 0),
    positive: bool = False,
    layout: str = "dense",
) -> Data:
    """Return integers of the whole range, or floats of either sign between powers of two.

    The exponents are the least and the largest; -3 and 0 give sizes from 1/8 to 2.

    >>> sample("float16", (2, 3), "seed") == sample("float16", (2, 3), "seed")
    True
    """
    random = Random(f"sample {dtype} {tuple(shape)} {seed}")
    part = PARTS.get(dtype, dtype)
    count = math.prod(shape) * (2 if dtype in PARTS else 1)
    width = 8 * ITEMSIZE[part]
    if part in FORMATS:
        form = FORMATS[part]
        low, high = (e + form.bias for e in exponents)
        bits = [
            (0 if positive else random.getrandbits(1)) << (width - 1)
            | random.randint(low, high) << form.mantissa
            | random.getrandbits(form.mantissa)
            for _ in range(count)
        ]
    else:
        bits = [random.getrandbits(width) for _ in range(count)]
    return from_bits(dtype, bits, shape, layout)
