"""The judge finds wrong answers, and passes right ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from suanzi.conformance.judging.judge import Judgement, judge
from suanzi.conformance.model.case import Output
from suanzi.conformance.model.data import ordinary, raw_bits, special, tensor, values
from suanzi.conformance.model.numbers import (
    FLOATS,
    FORMATS,
    PARTS,
    Real,
    Value,
    decode,
    encode,
    real,
    two,
)
from suanzi.conformance.subjects.wire import Data

INF, NAN = math.inf, math.nan
DTYPES = ["bool", "int8", "int64", "uint16", "uint64", *FLOATS, *PARTS]
BOUNDS: list[dict[str, Any]] = [{}, {"ulp": 0.5}, {"ulp": 4}, {"allowed": Fraction(1, 64)}]


def judged(
    dtype: str,
    found: Sequence[Value | float],
    truth: Sequence[Value | float | Fraction],
    **bounds: Any,
) -> Judgement:
    exact = tuple(real(x) if isinstance(x, float | Fraction) else x for x in truth)
    if isinstance(bounds.get("allowed"), Fraction):
        bounds["allowed"] = (bounds["allowed"],) * len(exact)
    return judge(tensor(dtype, found), Output(dtype, (len(exact),), exact, **bounds))


def unit(dtype: str, bits: int) -> Fraction:
    """The distance from a positive number to the next."""
    form = FORMATS[dtype]
    return decode(form, bits + 1).value - decode(form, bits).value


def one(dtype: str) -> int:
    return encode(FORMATS[dtype], real(1))


# ---- right answers -------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_truth_passes(dtype: str, bounds: dict[str, Any]) -> None:
    for right in (ordinary(dtype, 100), special(dtype)):
        found = judged(dtype, right, right, **bounds)
        assert found.problem is None
        assert not found.ulp


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_rounded_truth_is_up_to_half_a_unit_off(dtype: str) -> None:
    form = FORMATS[dtype]
    for bits in (1, 5, one(dtype) + 3, form.largest - 1):
        low, step = decode(form, bits), unit(dtype, bits)
        for part in (Fraction(1, 3), Fraction(1, 2), Fraction(3, 4)):
            truth = Real(False, low.value + part * step)
            right = decode(form, encode(form, truth))
            found = judged(dtype, [right], [truth])
            assert found.problem is None
            assert found.ulp == pytest.approx(float(min(part, 1 - part)), abs=1e-12)


def test_a_third_is_a_third_of_a_unit_off() -> None:
    assert judged("float32", [1 / 3], [Fraction(1, 3)]).ulp == pytest.approx(1 / 3)
    assert judged("float64", [0.1], [Fraction(1, 10)]).ulp == pytest.approx(0.4)


def test_which_nan_does_not_matter() -> None:
    found = Data("float32", (2,), b"\1\0\x80\x7f\xff\xff\xff\xff")
    assert all(x.is_nan for x in values(found))
    for bounds in ({}, {"ulp": 1}):
        assert judge(found, Output("float32", (2,), (real(NAN),) * 2, **bounds)).problem is None


def test_narrow_floats_may_be_rounded_to_float32_first() -> None:
    above_half = 1 + two(-11) + two(-30)
    assert judged("float16", [1 + 2.0**-10], [above_half]).problem is None
    assert judged("float16", [1.0], [above_half]).problem is None
    assert judged("float32", [1.0], [1 + two(-24) + two(-54)]).problem is not None
    assert judged("float16", [1.0], [1 + two(-11) + two(-20)]).problem is not None


# ---- wrong answers -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_bit_of_one_element_of_a_hundred(dtype: str) -> None:
    right = ordinary(dtype, 100)
    good = tensor(dtype, right)
    size = len(good.raw) // 100
    wanted = Output(dtype, (10, 10), tuple(right))
    for at in (0, 37, 99):
        raw = bytearray(good.raw)
        raw[at * size] ^= 1
        found = judge(Data(dtype, (10, 10), bytes(raw)), wanted)
        assert found.problem is not None
        assert f"1 of 100 elements: [{at // 10}, {at % 10}]" in found.problem


@pytest.mark.parametrize("dtype", FLOATS)
def test_just_over_half_a_unit(dtype: str) -> None:
    form, bits = FORMATS[dtype], one(dtype) + 2
    low, high = decode(form, bits), decode(form, bits + 1)
    truth = low.value + Fraction(49, 100) * unit(dtype, bits)
    assert judged(dtype, [low], [truth]).problem is None
    for bounds in ({}, {"ulp": 0.5}, {"allowed": unit(dtype, bits) / 2}):
        found = judged(dtype, [high], [truth], **bounds)
        assert found.problem is not None
    assert judged(dtype, [high], [truth], ulp=0.5).ulp == pytest.approx(0.51)
    assert judged(dtype, [high], [truth], ulp=0.52).problem is None
    assert judged(dtype, [-high], [truth], ulp=0.52).problem is not None


@pytest.mark.parametrize("dtype", FLOATS)
def test_ties_go_to_even(dtype: str) -> None:
    form, bits = FORMATS[dtype], one(dtype)
    low, high = decode(form, bits), decode(form, bits + 1)
    tie = (low.value + high.value) / 2
    assert judged(dtype, [low], [tie]).problem is None
    assert judged(dtype, [high], [tie]).problem is not None
    assert judged(dtype, [high], [tie], ulp=0.5).problem is None


@pytest.mark.parametrize("bounds", [{}, {"ulp": 4}])
@pytest.mark.parametrize("dtype", FLOATS)
def test_swapped_signs_of_zero(dtype: str, bounds: dict[str, Any]) -> None:
    assert judged(dtype, [0.0, -0.0], [0.0, -0.0], **bounds).problem is None
    assert "2 of 2" in str(judged(dtype, [-0.0, 0.0], [0.0, -0.0], **bounds).problem)
    assert judged(dtype, [-0.0, 0.0], [0.0, -0.0], **bounds, zero_sign=False).problem is None
    # An underflow has the sign of what it was.
    tiny = Fraction(1, 2**2000)
    assert judged(dtype, [0.0, -0.0], [tiny, -tiny], **bounds).problem is None
    assert judged(dtype, [-0.0], [tiny], **bounds).problem is not None


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("dtype", [*FLOATS, *PARTS])
def test_nan_for_a_number_and_a_number_for_nan(dtype: str, bounds: dict[str, Any]) -> None:
    number: Value = (real(1), real(2)) if dtype in PARTS else real(1)
    nan: Value = (real(1), real(NAN)) if dtype in PARTS else real(NAN)
    assert judged(dtype, [nan], [nan], **bounds).problem is None
    assert judged(dtype, [nan], [number], **bounds).problem is not None
    assert judged(dtype, [number], [nan], **bounds).problem is not None


@pytest.mark.parametrize("dtype", [name for name in FLOATS if FORMATS[name].infinity])
def test_infinity_near_overflow(dtype: str) -> None:
    form = FORMATS[dtype]
    largest = decode(form, form.largest)
    step = unit(dtype, form.largest - 1)
    infinity = real(INF)
    below, at = largest.value + step * Fraction(49, 100), largest.value + step / 2
    assert judged(dtype, [largest, infinity], [below, at]).problem is None
    assert judged(dtype, [infinity], [below]).problem is not None
    assert judged(dtype, [largest], [at]).problem is not None
    assert judged(dtype, [infinity], [below], ulp=0.52).problem is None
    assert judged(dtype, [infinity], [below], ulp=0.5).problem is not None
    huge = Fraction(2**5000)
    for bounds in ({}, {"ulp": 0.5}, {"ulp": 4}):
        assert judged(dtype, [infinity, -infinity], [huge, -huge], **bounds).problem is None
        assert judged(dtype, [-infinity], [huge], **bounds).problem is not None
        assert judged(dtype, [infinity], [largest.value / 2], **bounds).problem is not None
        assert judged(dtype, [infinity], [INF], **bounds).problem is None
        assert judged(dtype, [-infinity], [INF], **bounds).problem is not None
        assert judged(dtype, [largest], [INF], **bounds).problem is not None
        assert judged(dtype, [real(NAN)], [INF], **bounds).problem is not None
    assert judged(dtype, [largest], [huge]).problem is not None
    assert judged(dtype, [largest], [huge], ulp=0.5).problem is not None


def test_nan_is_the_overflow_of_what_has_no_infinity() -> None:
    dtype = "float8_e4m3fn"
    for bounds in ({}, {"ulp": 1}):
        assert judged(dtype, [NAN], [Fraction(1000)], **bounds).problem is None
        assert judged(dtype, [NAN], [INF], **bounds).problem is None
        assert judged(dtype, [NAN], [Fraction(400)], **bounds).problem is not None
        assert judged(dtype, [448.0], [INF], **bounds).problem is not None
    assert judged(dtype, [448.0], [Fraction(460)]).problem is None
    assert judged(dtype, [NAN], [Fraction(470)]).problem is None
    # It counts as 480, the first number that overflows.
    assert judged(dtype, [NAN], [Fraction(460)], ulp=1).problem is None
    assert judged(dtype, [NAN], [Fraction(460)], ulp=0.5).problem is not None


@pytest.mark.parametrize("bounds", [{}, {"ulp": 4}])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_subnormals_flushed_to_zero(dtype: str, bounds: dict[str, Any]) -> None:
    form = FORMATS[dtype]
    right = [decode(form, bits) for bits in (5, 100, (1 << form.mantissa) - 1)]
    assert judged(dtype, right, right, **bounds).problem is None
    assert "3 of 3" in str(judged(dtype, [0.0] * 3, right, **bounds).problem)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_a_factor_of_1_001(dtype: str) -> None:
    truth = ordinary(dtype, 50)
    scaled: list[Value] = []
    for x in truth:
        parts = [
            real(p.value * Fraction(1001, 1000)) for p in (x if isinstance(x, tuple) else (x,))
        ]
        scaled.append((parts[0], parts[1]) if isinstance(x, tuple) else parts[0])
    for bounds in ({}, {"ulp": 5}):
        assert "50 of 50" in str(judged(dtype, scaled, truth, **bounds).problem)


@pytest.mark.parametrize("dtype", ["int8", "uint64", "bool"])
def test_integers_are_exact_unless_allowed(dtype: str) -> None:
    assert judged(dtype, [1, 0, 1], [1, 0, 1]).problem is None
    assert judged(dtype, [1, 0, 1], [1, 1, 1]).problem == "1 of 3 elements: [1] 0, not 1"
    assert judged(dtype, [1, 0], [1, 1], allowed=Fraction(1)).problem is None
    assert judged(dtype, [1, 0], [1, 1], allowed=Fraction(99, 100)).problem is not None
    assert judged("int8", [3], [Fraction(7, 2)], allowed=Fraction(1, 2)).problem is None


@pytest.mark.parametrize("bounds", [*BOUNDS, {"ulp": 4, "zero_sign": False}])
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_swapped_sign(dtype: str, bounds: dict[str, Any]) -> None:
    assert judged(dtype, [-1.5, 2.0], [1.5, -2.0], **bounds).problem is not None


def test_what_is_not_the_tensor_at_all() -> None:
    wanted = Output("float32", (2, 3), tuple(real(x) for x in range(6)))
    good = tensor("float32", [real(x) for x in range(6)], (2, 3))
    assert judge(good, wanted).problem is None
    assert judge(replace(good, shape=(3, 2)), wanted).problem == "shape [3, 2], not [2, 3]"
    assert judge(replace(good, shape=(6,)), wanted).problem == "shape [6], not [2, 3]"
    assert judge(replace(good, dtype="int32"), wanted).problem == "dtype int32, not float32"
    assert judge(replace(good, raw=good.raw[:-4]), wanted).problem is not None
    for stranger in (None, 1.5, [good], "tensor"):
        assert "is not a tensor" in str(judge(stranger, wanted).problem)


def test_an_error_allowed_is_that_of_its_own_element() -> None:
    allowed = (Fraction(1, 8), Fraction(0))
    assert judged("float32", [1.125, 2.0], [1.0, 2.0], allowed=allowed).problem is None
    found = judged("float32", [1.0, 2.125], [1.0, 2.0], allowed=allowed)
    assert found.problem == "1 of 2 elements: [1] 2.125, not 2"
    # What is told is the error that comes nearest to its own limit, or is the farthest past it.
    assert found.bound == 0
    assert found.ulp == 2.0**19


def test_complex_numbers_are_measured_by_the_larger_part() -> None:
    truth: list[Value] = [(real(1), real(Fraction(1, 2**30)))]
    small_part_off: list[Value] = [(real(1), real(2.0**-24))]
    assert judged("complex64", small_part_off, truth, ulp=1).problem is None
    assert judged("complex64", small_part_off, truth, ulp=0.4).problem is not None
    assert judged("complex64", small_part_off, truth).problem is not None
    swapped: list[Value] = [(truth[0][1], truth[0][0])]  # type: ignore[index]
    assert judged("complex64", swapped, truth, ulp=4).problem is not None


# ---- CANN's measures, computed by hand -----------------------------------------------------------


def test_relative_errors() -> None:
    found = judged("float32", [1 + 2.0**-10, 2.0, 4.0], [1.0, 2.0, 4.0], ulp=2**14)
    assert found.problem is None
    assert found.max_relative == pytest.approx(2.0**-10 / (1 + 1e-7), rel=1e-12)
    assert found.mean_relative == pytest.approx(2.0**-10 / (1 + 1e-7) / 3, rel=1e-12)
    assert found.cann is False  # the limit of the mean is 2^-13
    fine = judged("float32", [1 + 2.0**-23, 2.0, 4.0], [1.0, 2.0, 4.0], ulp=1)
    assert fine.mean_relative == pytest.approx(2.0**-23 / 3)
    assert fine.cann is True


def test_relative_errors_whose_sum_is_too_large_for_a_float() -> None:
    found = judged("float64", [1.7e308, 1.7e308, 1.0], [1e-7, 1e-7, 1.0], ulp=1)
    assert found.problem is not None
    assert found.max_relative == math.inf
    large = judged("float64", [1.5e308, 1.5e308, 1.5e308], [1.0, 1.0, 1.0], ulp=1)
    assert large.mean_relative == pytest.approx(1.5e308)


def test_the_largest_relative_error_has_a_limit_of_its_own() -> None:
    truth = [1.0] * 100
    assert judged("float32", [1 + 2.0**-9, *truth[1:]], truth, ulp=2**20).cann is False
    assert judged("float32", [1 + 2.0**-10, *truth[1:]], truth, ulp=2**20).cann is True


def test_limits_are_those_of_the_dtype() -> None:
    for dtype, off, kept in (
        ("float16", 2.0**-10, True), ("float16", 2.0**-9, False),
        ("bfloat16", 2.0**-7, True), ("bfloat16", 2.0**-6, False),
    ):  # fmt: skip
        assert judged(dtype, [1 + off], [1.0], ulp=4).cann is kept
    assert judged("float64", [1.0], [1.0]).cann is None
    assert judged("complex64", [(real(1), real(1))], [(real(1), real(1))]).cann is True
    assert judged("int32", [1], [1]).cann is None


def test_next_to_nothing_is_relative_to_1e_7() -> None:
    found = judged("float32", [1e-9], [0.0], allowed=Fraction(1))
    assert found.max_relative == pytest.approx(1e-2)


def test_what_is_not_finite_counts_in_no_measure() -> None:
    found = judged("float32", [INF, NAN, 1.0], [INF, NAN, 1.0], ulp=1)
    assert (found.ulp, found.mean_relative, found.max_relative) == (0, 0, 0)
    assert raw_bits(tensor("float32", [1.0])) == (0x3F800000,)
