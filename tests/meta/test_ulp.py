"""The ULP helper against hand-made results, most of them wrong."""

from __future__ import annotations

import math

import pytest
from ulp import FORMATS, assert_within, error, mp, truths_of, ulp_at, worst_error

import suanzi as sz

INF, NAN = math.inf, math.nan


def test_the_formats_are_those_of_the_dtypes() -> None:
    for dtype, form in FORMATS.items():
        info = sz.finfo(dtype)
        assert form.precision == info.precision
        assert form.min_exponent == info.min_exponent
        assert (
            mp.mpf(2) ** form.max_exponent <= float(info.max) < mp.mpf(2) ** (form.max_exponent + 1)
        )


@pytest.mark.parametrize(
    ("truth", "dtype", "expected"),
    [
        (1, sz.float64, 2.0**-52),
        (0.999, sz.float64, 2.0**-53),
        (-1.5, sz.float32, 2.0**-23),
        (3, sz.float16, 2.0**-9),
        (3, sz.bfloat16, 2.0**-6),
        (1e-310, sz.float64, 2.0**-1074),  # subnormal: the spacing no longer shrinks
        (0, sz.float32, 2.0**-149),
        (1e300, sz.float32, 2.0**104),  # beyond the range: that of the last binade
    ],
)
def test_the_unit_in_the_last_place(truth: float, dtype: sz.DType, expected: float) -> None:
    assert ulp_at(mp.mpf(truth), dtype) == expected


def test_a_third_is_off_by_a_third_of_a_step() -> None:
    third = mp.mpf(1) / 3
    assert 0 < error(1 / 3, third, sz.float64) < 0.5
    assert 0.5 < error(math.nextafter(1 / 3, 1), third, sz.float64) < 1.5
    # The double nearest to a third is far away from it in steps of more digits, not of float32.
    assert error(1 / 3, third, sz.float32) < 1e-8


@pytest.mark.parametrize("steps", [1, 4, 100])
def test_steps_are_counted(steps: int) -> None:
    assert error(1 + steps * 2.0**-23, mp.mpf(1), sz.float32) == steps
    assert error(-(1 + steps * 2.0**-10), mp.mpf(-1), sz.float16) == steps
    assert error(steps * 5e-324, mp.mpf(0), sz.float64) == steps


def test_below_one_the_steps_are_those_of_the_truth() -> None:
    # 1 - 2**-24 is one step of the lower binade away from 1, which is half a step of the upper.
    assert error(1 - 2.0**-24, mp.mpf(1), sz.float32) == 0.5
    assert error(1.0, mp.mpf(1) - mp.ldexp(1, -24), sz.float32) == 1


@pytest.mark.parametrize(
    ("found", "truth"),
    [
        (NAN, 1.0),
        (NAN, INF),
        (NAN, 0.0),
        (0.0, NAN),
        (INF, NAN),
        (-INF, INF),
        (1e308, INF),
        (0.0, -0.0),
        (-0.0, 0.0),
        (5e-324, 0.0),
        (-1.0, 1.0),
        (INF, -1e300),
    ],
)
def test_a_wrong_kind_or_sign_is_infinitely_off(found: float, truth: float) -> None:
    assert error(found, truth, sz.float64) == INF
    with pytest.raises(AssertionError, match="ULP"):
        assert_within(1e300, [0], [found], [truth], sz.float64)


@pytest.mark.parametrize(
    ("found", "truth"), [(NAN, NAN), (INF, INF), (-INF, -INF), (0.0, 0.0), (-0.0, -0.0), (2.5, 2.5)]
)
def test_the_right_special_value_is_exact(found: float, truth: float) -> None:
    assert error(found, truth, sz.float64) == 0


def test_underflow_keeps_its_sign() -> None:
    tiny = mp.ldexp(1, -1080)
    assert error(0.0, tiny, sz.float64) < 0.5
    assert error(-0.0, tiny, sz.float64) == INF
    assert error(-0.0, -tiny, sz.float64) < 0.5
    # A subnormal truth: zero is a whole step off.
    assert error(0.0, mp.ldexp(1, -149), sz.float32) == 1


def test_overflow() -> None:
    largest = (2 - mp.ldexp(1, -23)) * mp.ldexp(1, 127)
    assert error(INF, mp.mpf("1e60"), sz.float32) == 0
    assert error(INF, largest, sz.float32) == 1
    assert error(float(largest), mp.mpf("1e60"), sz.float32) == 1
    assert error(float(largest), largest, sz.float32) == 0
    assert error(1e30, mp.mpf("1e60"), sz.float32) > 1e6
    assert error(-INF, mp.mpf("1e60"), sz.float32) == INF


def test_the_worst_is_found_wherever_it_stands() -> None:
    truths = [mp.mpf(1)] * 5
    for where in range(5):
        found = [1.0] * 5
        found[where] = 1 + 2.0**-20
        assert worst_error(found, truths, sz.float32) == (8, where)
        with pytest.raises(AssertionError, match=f"f of {where} .*8.000 ULP"):
            assert_within(7.9, range(5), found, truths, sz.float32, "f")
        assert assert_within(8, range(5), found, truths, sz.float32, "f") == 8
    assert worst_error([], [], sz.float32) == (0, -1)


def test_missing_results_are_noticed() -> None:
    with pytest.raises(AssertionError, match="2 arguments, 1 results, 2 truths"):
        assert_within(3, [1, 2], [1.0], [1.0, 2.0], sz.float32)


def test_truths_have_more_digits_than_any_format() -> None:
    (root,) = truths_of(mp.sqrt, [2.0])
    assert abs(root * root - 2) < mp.mpf(10) ** -50
