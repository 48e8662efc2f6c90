"""The exact values, against NumPy and ml_dtypes, which share no code with them."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import product

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz
from suanzi.base.dtypes import DTYPES
from suanzi.promote.values import contains, convert, holds, loss, number_loss, show

SMALL = """bool int4 int8 int16 uint1 uint4 uint8 uint16 float8_e4m3fn float8_e5m2 float16
    bfloat16""".split()


def numpy_dtype(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, name))


@cache
def values(name: str) -> set[float]:
    """Every value of a small dtype, from its bit patterns read by NumPy or ml_dtypes."""
    dt = sz.dtype(name)
    if dt.exponent_bits:
        bits = np.arange(2**dt.bits, dtype=f"uint{dt.bits}")
        with np.errstate(invalid="ignore"):
            found = bits.view(numpy_dtype(name)).astype(np.float64)
        return set(found[~np.isnan(found)].tolist())
    return set(map(float, range(sz.iinfo(dt).min, sz.iinfo(dt).max + 1)))


def exact(x: float) -> Fraction | float:
    return Fraction(x) if math.isfinite(x) else x


def test_holds_is_membership() -> None:
    """For every value of 8 bits, every 23rd of all, and what is next to a power of two."""
    everything = sorted(set().union(*map(values, SMALL)))
    near = {i + k for i, v in enumerate(everything) for k in range(-2, 3)
            if math.isinf(v) or abs(math.frexp(v)[0]) in (0, 0.5)}  # fmt: skip
    few = set().union(*(values(name) for name in SMALL if sz.dtype(name).bits <= 8))
    chosen = [v for i, v in enumerate(everything) if i % 23 == 0 or i in near or v in few]
    for v in chosen:
        number = exact(v)
        wrong = [name for name in SMALL if holds(sz.dtype(name), number) != (v in values(name))]
        assert not wrong, (v, wrong)


def test_contains_is_inclusion_and_loss_is_the_smallest_witness() -> None:
    for a, b in product(SMALL, repeat=2):
        source, target = sz.dtype(a), sz.dtype(b)
        missing = values(a) - values(b)
        assert contains(target, source) == (not missing), (a, b)
        found = loss(source, target)
        assert (found is None) == (not missing), (a, b)
        if found is None:
            continue
        assert float(found.value) in missing if math.isfinite(found.value) else True
        integers = [v for v in missing if v.is_integer()]
        if integers and not (source.exponent_bits and not target.exponent_bits):
            assert abs(found.value) == min(map(abs, integers)), (a, b, found)


def test_contains_between_all_dtypes_agrees_with_loss() -> None:
    numeric = [d for d in DTYPES if d.kind not in ("char", "quantized")]
    for a, b in product(numeric, repeat=2):
        assert (loss(a, b) is None) == contains(b, a)


@pytest.mark.parametrize(
    ("source", "target", "value"),
    [
        ("int32", "bfloat16", 257),
        ("int32", "float32", 16777217),
        ("uint64", "int64", 2**63),
        ("int64", "float64", 2**53 + 1),
        ("int16", "float16", 2049),
        ("int8", "uint8", -1),
        ("float16", "bfloat16", 257),
        ("bfloat16", "float16", 65536),
        ("float32", "int32", Fraction(1, 2)),
        ("uint4", "float8_e5m2", 9),
        ("complex64", "float32", 1j),
    ],
)
def test_counter_examples(source: str, target: str, value: object) -> None:
    found = loss(sz.dtype(source), sz.dtype(target))
    assert found is not None
    assert found.value == value


@pytest.mark.parametrize(
    ("source", "target", "overflow"),
    [("int64", "float16", 65520), ("int32", "int8", 128), ("int64", "float8_e4m3fn", 465)],
)
def test_where_overflow_begins(source: str, target: str, overflow: int) -> None:
    found = loss(sz.dtype(source), sz.dtype(target))
    assert found is not None
    assert (found.overflow, found.reason) == (overflow, "range")


FLOATS = ["float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32"]


@pytest.mark.parametrize("name", FLOATS)
@settings(max_examples=100)
@given(x=st.floats(allow_nan=False, width=32) | st.floats(-70000, 70000, width=32))
def test_conversion_to_floats(name: str, x: float) -> None:
    # Of float32 values only: from float64, ml_dtypes rounds twice.
    with np.errstate(all="ignore"):
        expected = float(np.float32(x).astype(numpy_dtype(name)))
    got = convert(Fraction(x) if math.isfinite(x) else x, sz.dtype(name))
    assert (math.isnan(got) and math.isnan(expected)) or float(got) == expected


def test_conversion_rounds_once() -> None:
    # Just above the midpoint of 1 and the next float16, by less than float32 can tell.
    above = 1 + Fraction(1, 2**11) + Fraction(1, 2**40)
    assert convert(above, sz.float16) == 1 + Fraction(1, 2**10)
    assert float(np.float32(float(above)).astype(np.float16)) == 1


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint8", "uint32", "uint64"])
@settings(max_examples=100)
@given(x=st.integers(-(2**63), 2**63 - 1))
def test_conversion_of_integers_wraps(name: str, x: int) -> None:
    assert convert(x, sz.dtype(name)) == int(np.int64(x).astype(name))


def test_conversion_of_floats_to_integers_saturates() -> None:
    cases = [(Fraction(5, 2), 2), (Fraction(-5, 2), -2), (300, 127), (math.inf, 127),
             (-math.inf, -128), (math.nan, 0)]  # fmt: skip
    for value, expected in cases:
        assert convert(value, sz.int8, saturate=True) == expected
    assert convert(300, sz.int8) == 44


def test_conversion_to_bool_and_of_complex() -> None:
    assert [convert(v, sz.bool) for v in (0, 7, Fraction(1, 2), math.nan)] == [0, 1, 1, 1]
    assert convert(2.5 + 1j, sz.int8) == 2
    assert convert(0.1 + 1j, sz.complex64) == complex(np.complex64(0.1 + 1j))


def test_number_loss() -> None:
    assert number_loss(300, sz.int8).becomes == 44  # type: ignore[union-attr]
    assert number_loss(10**400, sz.float64).becomes == math.inf  # type: ignore[union-attr]
    assert number_loss(0.1, sz.float64) is None
    assert number_loss(True, sz.int8) is None
    assert number_loss(1j, sz.complex32) is None
    assert number_loss(math.nan, sz.int8).becomes == 0  # type: ignore[union-attr]
    assert number_loss(math.nan, sz.float16) is None
    assert number_loss(math.inf, sz.float8_e4m3fn).reason == "range"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-7, "-7"),
        (2**63, "2**63"),
        (-(2**63), "-2**63"),
        (2**53 + 1, "2**53+1"),
        (-(2**53) - 1, "-(2**53+1)"),
        (2**53 - 1, "2**53-1"),
        (123456789, "123456789"),
        (10**400, "1.000e+400"),
        (Fraction(1, 2), "0.5"),
        (Fraction(4, 2), "2"),
        (math.inf, "inf"),
        (1j, "1j"),
        (True, "True"),
    ],
)
def test_show(value: object, text: str) -> None:
    assert show(value) == text  # type: ignore[arg-type]
