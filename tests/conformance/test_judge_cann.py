"""CANN's measures: errors divided by the truth and 1e-7, their mean, and the largest."""

from __future__ import annotations

import pytest

from suanzi.conformance.judging.judge import CANN_THRESHOLDS, judge
from suanzi.conformance.model.case import Output
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import real


def test_the_measures() -> None:
    wanted = Output("float32", (4,), tuple(real(x) for x in (1, 2, 0, -4)), ulp=1e9)
    found = judge(tensor("float32", [1.5, 2.0, 2.0**-24, -4.0]), wanted)
    each = [0.5 / (1 + 1e-7), 0, 2**-24 / 1e-7, 0]
    assert found.mean_relative == pytest.approx(sum(each) / 4, rel=1e-12)
    assert found.max_relative == pytest.approx(max(each), rel=1e-12)
    assert found.cann is False


def test_the_limits_as_cann_prints_them() -> None:
    assert {dtype: 1 / limit for dtype, limit in CANN_THRESHOLDS.items()} == {
        "float8_e5m2": 4, "float8_e4m3fn": 8, "bfloat16": 128, "float16": 1024, "float32": 8192,
    }  # fmt: skip


@pytest.mark.parametrize("dtype", CANN_THRESHOLDS)
def test_both_limits(dtype: str) -> None:
    limit = CANN_THRESHOLDS[dtype]
    wanted = Output(dtype, (64,), (real(1),) * 64, ulp=1e9)
    for off, count, kept in ((8, 1, True), (11, 1, False), (2, 64, False), (2, 16, True)):
        if off * limit > 1:  # no error is so large that a float8 fails by one alone
            continue
        some = [1 - off * limit] * count + [1.0] * (64 - count)
        assert judge(tensor(dtype, some), wanted).cann is kept, (off, count)
    assert judge(tensor("float64", [1.0]), Output("float64", (1,), (real(1),))).cann is None
