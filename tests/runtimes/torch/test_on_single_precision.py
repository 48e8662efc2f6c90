"""Functions of float32 that kernels compute in float32: bounds, and special arguments.

In Triton's interpreter, or on a GPU with SUANZI_DEVICE=cuda. NumPy's float64 is the oracle.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.helpers.devices import (
    assert_passes_in_the_interpreter,
    with_kernels,
    without_kernels,
)

import suanzi as sz

COUNT = 4096
INF, NAN = np.inf, np.nan
SPECIAL = [0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 1.5, -1.5, INF, -INF, NAN, 1e-45, -1e-45, 1e-38,
           3e38, -3e38, 2**24 - 1, 2**24, 2**23 + 1, 1 - 2**24, 1 + 2**-23, 1 - 2**-24, -1 - 2**-23,
           2**-24 - 1, 2**31, -(2**31), 1e10, -149, -150, -126, 127, 128]  # fmt: skip
KINDS = ("any bits", "any size", "large exponents", "near 1", "whole", "subnormal", "common")


@without_kernels
def test_in_the_interpreter() -> None:
    assert_passes_in_the_interpreter(__file__)


def pairs(kind: str) -> tuple[Any, Any]:
    """Return numbers and exponents of float32."""
    rng = np.random.default_rng(KINDS.index(kind))
    some = rng.integers(1, 0x7F800000, COUNT).astype(np.int32).view(np.float32)
    every = rng.integers(-(2**31), 2**31, (2, COUNT)).astype(np.int32).view(np.float32)
    exponent = rng.uniform(-151, 128.2, COUNT)
    if kind == "any bits":
        return every[0], every[1]
    if kind == "common":
        return rng.uniform(0, 3, COUNT).astype(np.float32), rng.uniform(-4, 4, COUNT)
    if kind == "whole":
        return rng.uniform(-40, 40, COUNT).astype(np.float32), rng.integers(-45, 45, COUNT)
    if kind == "large exponents":
        some = rng.uniform(0.7, 1.43, COUNT).astype(np.float32)
        exponent = rng.uniform(100, 128, COUNT) * rng.choice([-1, 1], COUNT)
    if kind == "near 1":
        size = rng.uniform(-1, 1, COUNT) * 10.0 ** rng.uniform(-7.3, -0.5, COUNT)
        some = (1 + size).astype(np.float32)
    if kind == "subnormal":
        some = rng.integers(1, 0x800000, COUNT).astype(np.int32).view(np.float32)
    with np.errstate(divide="ignore"):
        return some, exponent / np.log2(some.astype(np.float64))


def errors(device: str, x: Any, y: Any) -> Any:
    """Return errors of powers in ULP, infinite where NaN, signs or infinities are wrong."""
    with np.errstate(all="ignore"):
        x, y = np.asarray(x, np.float32), np.asarray(y, np.float32)
        wanted = np.power(x.astype(np.float64), y.astype(np.float64))
        there: Any = sz.pow(*(sz.tensor(v, device=device) for v in (x, y)))
        made = there.to_host().numpy()
        # What is beyond the largest number is as far from it as 2**128.
        size, near = (np.minimum(np.abs(v.astype(np.float64)), 2.0**128) for v in (wanted, made))
        unit = 2.0 ** (np.clip(np.frexp(size)[1] - 1, -126, 127) - 23)
        found = np.abs(near - size) / unit
        found[np.signbit(wanted) != np.signbit(made)] = INF
        found[np.isnan(wanted) | np.isnan(made)] = INF
        found[np.isnan(wanted) & np.isnan(made)] = 0
    return found


@with_kernels
@pytest.mark.parametrize("kind", KINDS)
def test_powers_are_within_their_bound(device: str, planned: list[object], kind: str) -> None:
    x, y = pairs(kind)
    found = errors(device, x, y)
    worst = int(found.argmax())
    assert found[worst] <= 1.5, (x[worst], y[worst], found[worst])
    assert len(planned) == 1


@with_kernels
def test_powers_of_special_numbers(device: str) -> None:
    x, y = (a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL))
    found = errors(device, x, y)
    assert (found <= 1).all(), list(zip(x[found > 1], y[found > 1], strict=True))[:9]


@with_kernels
def test_powers_that_are_numbers_are_exact(device: str) -> None:
    x = np.arange(1, 2048)
    assert (errors(device, x, np.full_like(x, 2)) == 0).all()
    assert (errors(device, x, np.ones_like(x)) == 0).all()
    whole = np.arange(-149, 128)
    assert (errors(device, np.full_like(whole, 2), whole) == 0).all()


@with_kernels
@pytest.mark.parametrize(("name", "limit"), [("gelu", 1.9), ("silu", 0.9)])
def test_activations_of_numbers_of_all_sizes(device: str, name: str, limit: float) -> None:
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.uniform(-3, 3, COUNT), rng.uniform(-110, 16, COUNT)])
    x = x.astype(np.float32).astype(np.float64)
    if name == "gelu":
        x = np.maximum(x, -14.5)
        tail = np.array([math.erfc(abs(v) / math.sqrt(2)) / 2 for v in x])
        wanted = x * np.where(x < 0, tail, 1 - tail)
    else:
        wanted = x / (1 + np.exp(-x))
    made = getattr(sz.nn, name)(sz.tensor(x.astype(np.float32), device=device)).to_host().numpy()
    unit = 2.0 ** (np.maximum(np.frexp(wanted)[1] - 1, -126) - 23)
    found = np.abs(made - wanted) / unit
    assert found.max() <= limit, (x[found.argmax()], found.max())
