"""7.2.13: sums, means and cumulative sums of floats within the stated bounds, by fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import threads
from helpers.sums import nearest, running_bound, sum_bound, within
from suanzi.conformance.model.numbers import FORMATS

NAMES = ["float16", "bfloat16", "float32", "float64"]


def hard_cases(name: str) -> list[Any]:
    """Return arrays that sums go wrong on: cancelling, of many magnitudes, long."""
    rng = np.random.default_rng(7)
    span = {"float16": 4, "bfloat16": 30, "float32": 30, "float64": 200}[name]
    cases: list[Any] = [rng.standard_normal(n) for n in (1, 2, 15, 16, 17, 256, 257, 5000)]
    wide = rng.standard_normal(3000) * np.exp(rng.uniform(-span, span, 3000) / 2)
    cases += [wide, np.concatenate([wide, -wide[::-1]]), np.full(20001, 0.1), np.sort(np.abs(wide))]
    cases.append(np.tile([1.0, 2.0**-9, -1.0], 4000))
    return cases


@pytest.mark.parametrize("name", NAMES)
def test_sums_and_means(name: str) -> None:
    for values in hard_cases(name):
        x = sz.cast(sz.tensor(values), sz.dtype(name))
        numbers = x.tolist()
        if not all(map(math.isfinite, numbers)):
            continue
        bound = sum_bound(name, len(numbers))
        within(sz.reduce(x, "MEAN").item(), numbers, bound, name, len(numbers))
        if abs(sum(numbers)) < 60000:
            within(sz.reduce(x).item(), numbers, bound, name)
        turned = sz.expand(sz.expand_dims(x, 1), (len(numbers), 20))
        assert sz.reduce(turned, "MEAN", 0).tolist() == [sz.reduce(x, "MEAN").item()] * 20


@pytest.mark.parametrize("name", NAMES)
def test_cumulative_sums(name: str) -> None:
    for values in hard_cases(name):
        x = sz.cast(sz.tensor(values), sz.dtype(name))
        if not all(map(math.isfinite, x.tolist())):
            continue
        total = size = 0
        bound, unit = running_bound(x.size), 2**1100  # every float is whole in it
        for i, (one, got) in enumerate(zip(x.tolist(), sz.cumsum(x).tolist(), strict=True)):
            top, bottom = one.as_integer_ratio()
            total, size = total + top * (unit // bottom), size + abs(top) * (unit // bottom)
            if 40 < i < x.size - 2 and i % 61:
                continue
            exact, reach = Fraction(total, unit), bound * Fraction(size, unit)
            assert math.isinf(got) or (
                nearest(exact - reach, name) <= Fraction(got) <= nearest(exact + reach, name)
            )
            assert math.isfinite(got) or abs(exact) > 60000


@pytest.mark.parametrize("name", ["float32", "float64", "bfloat16"])
def test_millions(name: str) -> None:
    """Whole numbers times a power of two, whose sum Python's integers know."""
    rng = np.random.default_rng(3)
    digits = FORMATS[name].mantissa
    whole = rng.integers(-(2**digits), 2**digits, 3_000_000)
    x = sz.cast(sz.tensor(whole), sz.dtype(name))
    exact = int(whole.sum(dtype=np.int64))  # below 2**63: at most 52 and 22 bits
    if name == "float64":
        exact = sum(whole.tolist())
    reach = sum_bound(name, whole.size) * int(
        np.abs(whole).sum(dtype=object if name == "float64" else None)
    )
    low, high = nearest(exact - reach, name), nearest(exact + reach, name)
    for count in (1, 2):
        with threads(count):
            assert low <= Fraction(sz.reduce(x).item()) <= high
            last = sz.cumsum(x)[-1].item()
            assert (
                abs(Fraction(last) - exact)
                <= abs(nearest(Fraction(exact), name)) / 2**digits + reach
            )


def test_a_mean_does_not_overflow() -> None:
    for name, largest in (("float16", 65504.0), ("bfloat16", 3.3895313892515355e38)):
        x = sz.full(name, "cpu", (5000,), largest)
        assert sz.reduce(x).item() == math.inf
        if name == "float16":
            assert sz.reduce(x, "MEAN").item() == largest
    single = sz.full("float32", "cpu", (5000,), 3e38)
    assert sz.reduce(single, "MEAN").item() == np.float32(3e38)
    assert sz.reduce(sz.tensor([3e38, 3e38, -3e38], sz.float32)).item() == np.float32(3e38)


def test_a_mean_is_rounded_once() -> None:
    x = sz.tensor([2048.0, 1.0, 0.0], sz.float16)  # whose sum is none
    assert sz.reduce(x, "MEAN").item() == 683
    many = sz.tensor([1.0, 2.0**-10, 2.0**-24], sz.float16)
    exact = (1 + Fraction(1, 2**10) + Fraction(1, 2**24)) / 3
    assert Fraction(sz.reduce(many, "MEAN").item()) == nearest(exact, "float16")
