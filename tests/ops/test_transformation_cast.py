"""7.2.3.1: cast, beyond what the cases of the kit try: saturation, long arrays, by hand."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
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
from suanzi.tensors.exchange import from_numpy, numpy_dtype

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


# ---- by hand ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        # Through float32 these would first become a tie, and then go the wrong way.
        (1 + 2.0**-11 + 2.0**-40, "float64", "float16", 1 + 2.0**-10),
        (1 + 3 * 2.0**-11 - 2.0**-40, "float64", "float16", 1 + 2.0**-10),
        (1 + 2.0**-8 + 2.0**-45, "float64", "bfloat16", 1 + 2.0**-7),
        (1 + 2.0**-4 + 2.0**-50, "float64", "float8_e4m3fn", 1.125),
        (2**62 + 2**54 + 1, "int64", "bfloat16", 2.0**62 + 2.0**55),
        (-(2**62) - 2**54 - 1, "int64", "bfloat16", -(2.0**62) - 2.0**55),
        (2**63 + 2**39 + 1, "uint64", "float32", 2.0**63 + 2.0**40),
        (2**53 + 1, "int64", "float64", 2.0**53),
        (2**53 + 3, "uint64", "float64", 2.0**53 + 4),
        (2**24 + 1, "int32", "float32", 2.0**24),
        (65519, "int32", "float16", 65504.0),
        (65520, "int32", "float16", math.inf),
        (2.0**-25, "float64", "float16", 0.0),
        (2.0**-25 * (1 + 2.0**-50), "float64", "float16", 2.0**-24),
        (464.0, "float32", "float8_e4m3fn", 448.0),
        (1e39, "float64", "float32", math.inf),
        (2.0**63, "float32", "int64", 2**63 - 1),
        (-(2.0**63), "float64", "int64", -(2**63)),
        (-0.9, "float32", "uint8", 0),
        (-1e30, "float64", "uint64", 0),
        (2.0**64, "float64", "uint64", 2**64 - 1),
        (127.9, "float64", "int8", 127),
        (300, "int32", "uint8", 44),
        (-129, "int16", "int8", 127),
        (2**63, "uint64", "int64", -(2**63)),
        (9, "int8", "int4", -7),
        (3, "uint8", "uint1", 1),
        (2, "uint8", "uint1", 0),
        (2.0, "float32", "uint1", 1),
        (-1, "int64", "uint4", 15),
        (math.inf, "float16", "int32", 2**31 - 1),
        (1e-45, "float32", "bool", True),
        (-0.0, "float64", "bool", False),
        (math.nan, "float16", "bool", True),
        (math.nan, "bfloat16", "int16", 0),
        (True, "bool", "float8_e5m2", 1.0),
    ],
)
def test_by_hand(value: float, source: str, target: str, expected: float) -> None:
    x = sz.tensor([value] * 3, sz.dtype(source))
    assert sz.cast(x, sz.dtype(target)).tolist() == [expected] * 3


def test_complex_by_hand() -> None:
    x = sz.tensor([1 + 2j, -0.0 + 1j, complex(math.nan, 0), 1e6 - 1e6j], sz.complex128)
    assert sz.cast(x, sz.int8).tolist() == [1, 0, 0, 127]
    assert sz.cast(x, sz.bool).tolist() == [True, True, True, True]
    assert sz.cast(x, sz.complex32).tolist()[3] == complex(math.inf, -math.inf)
    assert sz.cast(x, sz.complex32, saturate=True).tolist()[3] == complex(65504, -65504)
    assert sz.cast(sz.tensor([0j]), sz.bool).tolist() == [False]
    assert sz.cast(sz.tensor([3], sz.int8), sz.complex64).tolist() == [3 + 0j]


# ---- shapes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target", [sz.int8, sz.float16, sz.bfloat16, sz.complex64, sz.float64], ids=str
)
def test_strides(target: sz.DType) -> None:
    x = np.random.default_rng(3).uniform(-300, 300, (37, 90)).astype(np.float32)
    whole = np.array(sz.cast(sz.tensor(x), target).numpy())
    views = [
        np.s_[::2],
        np.s_[:, ::3],
        np.s_[::-1, ::-1],
        np.s_[5, 7::2],
        np.s_[:, 4:5],
        np.s_[3, 3],
    ]
    for view in views:
        found = sz.cast(from_numpy(x[view]), target)
        assert found.shape == x[view].shape
        assert found.numpy().tobytes() == np.ascontiguousarray(whole[view]).tobytes()
    turned = sz.cast(from_numpy(x.T), target)
    assert np.ascontiguousarray(turned.numpy()).tobytes() == np.ascontiguousarray(whole.T).tobytes()
    repeated = sz.cast(from_numpy(np.broadcast_to(x[:1], (5, 90))), target)
    assert (repeated.numpy() == whole[:1]).all()


def test_a_cast_to_the_same_dtype_is_a_copy() -> None:
    x = sz.tensor([1.0, 2.0])
    assert sz.cast(x, sz.float32).storage != x.storage


def test_order_is_kept() -> None:
    """Casting never turns the order of two numbers round."""
    values = sorted(random.Random(5).uniform(-1e5, 1e5) for _ in range(3000))
    for target in (sz.float16, sz.bfloat16, sz.float8_e5m2, sz.int16, sz.uint8):
        found = sz.cast(sz.tensor(values, sz.float64), target).tolist()
        assert all(a <= b for a, b in pairwise(found))


# ---- refusals -----------------------------------------------------------------------------------


def test_text_is_no_number() -> None:
    text = sz.tensor("abc")
    assert sz.cast(text, sz.char).tolist() == text.tolist()
    with pytest.raises(sz.TypeMismatch, match=r"cast \(7\.2\.3\.1\).*char") as caught:
        sz.cast(text, sz.int8)
    assert caught.value.status is sz.Status.TYPE_MISMATCH
    with pytest.raises(sz.TypeMismatch, match=r"cast \(7\.2\.3\.1\).*char"):
        sz.cast(sz.tensor([1]), sz.char)


def test_unknown_dtypes_and_destroyed_tensors() -> None:
    with pytest.raises(sz.InvalidArgument):
        sz.cast(sz.tensor([1]), "float17")
    from suanzi import _core

    x = sz.tensor([1.0])
    _core.destroy(x)
    with pytest.raises(sz.UninitializedObject, match="destroyed"):
        sz.cast(x, sz.int8)


def test_numpy_agrees_where_it_says_anything() -> None:
    x = np.random.default_rng(6).uniform(-1e4, 1e4, 5000)
    for target in (sz.float16, sz.float32, sz.int16, sz.int64):
        kind = numpy_dtype(target)
        assert (sz.cast(sz.tensor(x), target).numpy() == x.astype(kind)).all()


def test_saturate_is_a_bool() -> None:
    with pytest.raises(sz.InvalidArgument, match=r"cast \(7\.2\.3\.1\): saturate is 'yes'"):
        sz.cast(sz.tensor([1]), sz.int8, saturate="yes")  # type: ignore[arg-type]


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
