"""7.2.5: comparison, where the conformance kit cannot ask: rule sets, numbers, messages."""

from __future__ import annotations

import pytest

import suanzi as sz
from helpers.checking import check
from suanzi.conformance.model.numbers import real
from suanzi.conformance.model.operators import binary

ORDER = ["greater", "greater_equal", "less", "less_equal"]
EQUALITY = ["equal", "not_equal"]
INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("op", [*ORDER, *EQUALITY])
def test_operands_are_compared_in_the_promoted_dtype(op: str) -> None:
    """Under cann 2049 and float16 meet in float16, where 2049 is 2048."""
    got = getattr(sz, op)(sz.tensor([2049], sz.int32), sz.tensor([2048.0], sz.float16))
    check(got, "bool", [binary(op, "float16", real(2048), real(2048))])


# ---- allclose ------------------------------------------------------------------------------------


def test_allclose_of_nothing() -> None:
    for y in (10**400, sz.empty((0, 2**62), sz.int8)):
        with sz.promotion("lossless"):
            check(sz.allclose(sz.empty((0, 2**62), sz.bool), y), "bool", [1])


def test_allclose_converts_a_number_once() -> None:
    check(sz.allclose(sz.tensor([0.1], sz.float64), 0.1, 0, 0), "bool", [1])
    check(sz.allclose(sz.tensor([2.0**70], sz.float64), 2**70, 0, 0), "bool", [1])
    check(sz.allclose(0.1, sz.tensor([0.1], sz.bfloat16), 0, 0), "bool", [1])


def test_allclose_without_a_common_dtype_is_by_value() -> None:
    one_below, power = sz.tensor([2**63 - 1]), sz.tensor([2**63], sz.uint64)
    for rules in ("numpy", "lossless"):
        with sz.promotion(rules):
            check(sz.allclose(power, one_below, 0, 0), "bool", [0])
            check(sz.allclose(power, one_below, 0, 1), "bool", [1])
    with sz.promotion("lossless"):
        x, y = sz.tensor([2.0**53], sz.float64), sz.tensor([2**53 + 1])
        check(sz.allclose(x, y, 0, 0), "bool", [0])
        check(sz.allclose(x, y, 0, 1), "bool", [1])
        check(sz.allclose(sz.tensor([INF], sz.float64), y, 0, 1), "bool", [0])


def test_allclose_refuses() -> None:
    x = sz.tensor([1.0, 2.0])
    with pytest.raises(sz.InvalidArgument, match=r"^allclose \(7\.2\.5\.7\): x has shape \(2,\)"):
        sz.allclose(x, sz.tensor([1.0, 2.0, 3.0]))
    for name in ("rtol", "atol"):
        for bad in (-1, NAN, "1", None):
            with pytest.raises(sz.InvalidArgument, match=rf"^allclose \(7\.2\.5\.7\): {name} is"):
                sz.allclose(x, x, **{name: bad})  # type: ignore[arg-type]
    with pytest.raises(sz.TypeMismatch, match=r"^allclose \(7\.2\.5\.7\): x is bool"):
        sz.allclose(sz.tensor([True]), sz.tensor([True]))
