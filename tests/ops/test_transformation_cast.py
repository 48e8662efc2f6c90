"""7.2.3.1: cast, beyond what the cases of the kit try: saturation, long arrays, by hand."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from functools import cache

import pytest

import suanzi as sz
from helpers.exact import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    ITEMSIZE,
    NAMES,
    bits_of,
    cast,
    decode,
    encode,
    is_nan,
    tensor_of,
)
from suanzi.promote.values import convert

# More than a vector, a chunk and a block, and no multiple of any.
LONG = 4099


def edges(name: str) -> list[int]:
    """Return the bit patterns of a real dtype at its ends, and some at random."""
    rng = random.Random(name)
    if name == "bool":
        return [0, 1]
    if name in INTEGERS:
        width, signed = INTEGERS[name]
        low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
        values = {low, low + 1, high, high - 1, 0, 1, high // 2, high // 2 + 1}
        for k in range(width):
            values |= {s * 2**k + d for s in (1, -1) for d in (-1, 0, 1)}
        values |= {rng.randint(low, high) for _ in range(20)}
        return [v % 2 ** max(width, 8) for v in sorted(values) if low <= v <= high]
    exponent_bits, mantissa_bits = FLOATS[name].exponent, FLOATS[name].mantissa
    sign = 1 << (exponent_bits + mantissa_bits)
    if ITEMSIZE[name] == 1:
        return list(range(256))
    one = (2 ** (exponent_bits - 1) - 1) << mantissa_bits
    positive = {0, 1, 2, (1 << mantissa_bits) - 1, 1 << mantissa_bits, FLOATS[name].largest}
    positive |= {
        FLOATS[name].largest + 1,
        FLOATS[name].largest + 2,
        sign - 1,
        one,
        one - 1,
        one + 1,
    }
    positive |= {one + (k << mantissa_bits) + d for k in range(-4, 12) for d in (0, 1, -1)}
    positive |= {rng.randrange(sign) for _ in range(40)}
    return sorted({b for p in positive for b in (p, p | sign) if p < sign})


@cache
def halfway(source: str, target: str) -> list[int]:
    """Return values of the source at, and next to, the middle between two values of the target."""
    if target not in FLOATS:
        # Where truncation and saturation change: around the ends of the integers, and at halves.
        ends = [] if target == "bool" else [-1, 0, 1]
        if target in INTEGERS:
            width, signed = INTEGERS[target]
            ends += [-(2 ** (width - 1)), 2 ** (width - 1) - 1] if signed else [2**width - 1]
        middles = [Fraction(e) + d for e in ends for d in (Fraction(-1, 2), Fraction(1, 2), 1, -1)]
    else:
        rng = random.Random(source + target)
        top = FLOATS[target].largest
        starts = [0, 1, 2, top - 1] + [rng.randrange(top) for _ in range(40)]
        exponent_bits, mantissa_bits = FLOATS[target].exponent, FLOATS[target].mantissa
        one = (2 ** (exponent_bits - 1) - 1) << mantissa_bits
        starts += [min(one + (k << mantissa_bits) + rng.randrange(99), top - 1) for k in range(64)]
        middles = [
            (Fraction(decode(b, target)) + Fraction(decode(b + 1, target))) / 2 for b in starts
        ]
        last, before = (Fraction(decode(b, target)) for b in (top, top - 1))
        middles.append(last + (last - before) / 2)  # where overflow begins
    found = set()
    for middle in middles:
        for value in (middle, -middle):
            bits = encode(value, source)
            if bits is not None:
                width = 8 * ITEMSIZE[source]
                found |= {b for b in (bits - 1, bits, bits + 1) if 0 <= b < 2**width}
    if source == "bool" or (source in INTEGERS and INTEGERS[source][0] < 8):
        allowed = set(edges(source))
        return sorted(found & allowed)
    return sorted(found)


def samples(source: str, target: str) -> list[int]:
    if source not in COMPLEX:
        return sorted({*edges(source), *halfway(source, COMPLEX.get(target, target))})
    part = COMPLEX[source]
    width = 8 * ITEMSIZE[part]
    parts = sorted({*edges(part), *halfway(part, COMPLEX.get(target, target))})
    mixed = random.Random(0).sample(parts, len(parts))
    zeros = [0, 1 << (width - 1)]
    pairs = [*zip(parts, mixed, strict=True), *((a, b) for a in zeros for b in [*zeros, parts[7]])]
    return [real | imag << width for real, imag in pairs]


def check(source: str, target: str, saturate: bool = False) -> None:
    bits = samples(source, target)
    found = bits_of(sz.cast(tensor_of(bits, source), sz.dtype(target), saturate=saturate))
    expected = [p for b in bits for p in cast(b, source, target, saturate)]
    assert len(found) == len(expected)
    per = len(found) // len(bits)
    for i, (got, want) in enumerate(zip(found, expected, strict=True)):
        right = is_nan(got, target) if want is None else got == want
        assert right, (
            f"{source} {bits[i // per]:#x} to {target}: {got:#x}, not "
            f"{'NaN' if want is None else hex(want)}"
        )


NARROW = [
    n for n in (*FLOATS, *COMPLEX) if n not in ("float32", "float64", "complex64", "complex128")
]


@pytest.mark.parametrize("target", NARROW)
@pytest.mark.parametrize("source", NAMES)
def test_saturation(source: str, target: str) -> None:
    if source != target:  # nothing to convert, nothing to clamp
        check(source, target, saturate=True)


@pytest.mark.parametrize("source", [*FLOATS, "int64", "uint64", "int8"])
def test_long_arrays_agree_with_short_ones(source: str) -> None:
    # The short casts are cases of the kit; here whole vectors, their rest, and many blocks.
    for target in NAMES:
        bits = samples(source, target)
        short = bits_of(sz.cast(tensor_of(bits, source), sz.dtype(target)))
        per = len(short) // len(bits)
        order = random.Random(1).choices(range(len(bits)), k=LONG)
        found = bits_of(sz.cast(tensor_of([bits[i] for i in order], source), sz.dtype(target)))
        for at, i in enumerate(order):
            for part in range(per):
                got, want = found[at * per + part], short[i * per + part]
                # Vector and scalar conversions may differ in the payload of a NaN, no more.
                assert got == want or (is_nan(got, target) and is_nan(want, target))


@pytest.mark.parametrize("target", NAMES)
def test_the_promotion_engine_agrees(target: str) -> None:
    """What `explain` says a conversion loses is what cast does."""
    dt = sz.dtype(target)
    for source in ("float64", "float32", "int64", "uint8", "float8_e4m3fn"):
        for bits in samples(source, target)[::5]:
            value = decode(bits, source)
            answer = convert(value, dt, saturate=source in FLOATS)
            if target == "bool":
                answer = int(value != 0)
            (found, *_) = cast(bits, source, target)
            part = COMPLEX.get(target, target)
            if found is None:
                assert isinstance(answer, float)
                assert math.isnan(answer)
            else:
                assert decode(found, part) == answer, (source, value)


# ---- shapes -------------------------------------------------------------------------------------


def test_a_cast_to_the_same_dtype_is_a_copy() -> None:
    x = sz.tensor([1.0, 2.0])
    assert sz.cast(x, sz.float32).storage != x.storage


# ---- refusals -----------------------------------------------------------------------------------


def test_a_number_that_fits_no_dtype_is_refused_in_its_name() -> None:
    with pytest.raises(sz.InvalidArgument, match=r"cast \(7\.2\.3\.1\): input: .*int64"):
        sz.cast(2**70, sz.float32)
    with pytest.raises(sz.InvalidArgument, match=r"sin \(7\.2\.10\.1\): x: .*int64"):
        sz.sin(2**70)


@pytest.mark.parametrize(("dtype", "bits"), [("int4", 4), ("uint4", 4), ("uint1", 1)])
def test_the_rest_of_a_byte_says_nothing(dtype: str, bits: int) -> None:
    """Foreign memory may have anything beside an integer that takes a part of a byte."""
    values = [byte % 2**bits for byte in range(256)]
    if dtype == "int4":
        values = [value - 16 if value > 7 else value for value in values]
    x = sz.wrap_tensor((256,), sz.dtype(dtype), values=bytearray(range(256)))
    for part in (slice(None), slice(None, None, -1), slice(1, None, 3)):
        seen, expected = x[part], values[part]
        for target in (sz.int8, sz.int64, sz.float32, sz.float16):
            assert sz.cast(seen, target).tolist() == expected
        truths = [value != 0 for value in expected]
        assert sz.cast(seen, sz.bool).tolist() == truths
        assert sz.logical_and(seen, seen).tolist() == truths
        assert sz.logical_not(seen).tolist() == [not truth for truth in truths]
        assert sz.where(sz.cast(seen, sz.bool), 1, 0).tolist() == [int(truth) for truth in truths]
