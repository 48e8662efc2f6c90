"""7.2.8: pow against mpmath and the table of C; test_functions.py has the functions of one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import Array, compute, every_level, same_bits, threads
from helpers.ulp import assert_within
from suanzi.conformance.truth.functions import INF, NAN, power
from suanzi.tensors.exchange import numpy_dtype

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 2.5, -2.5, INF, -INF, NAN]


def check_power(x: Array, y: Array, dtype: sz.DType, limit: float = 3) -> float:
    pairs = list(zip(x.tolist(), y.tolist(), strict=True))
    truths = [power(a, b) for a, b in pairs]
    worst = 0.0
    for level in every_level():
        found = compute("pow", x, y).tolist()
        worst = max(worst, assert_within(limit, pairs, found, truths, dtype, f"pow {level}"))
    return worst


def pairs_of(dtype: type, seed: int) -> tuple[Array, Array]:
    """Return pairs whose powers are mostly in range: anywhere, and next to 1 with a large y."""
    rng, limit = np.random.default_rng(seed), np.finfo(dtype).maxexp
    wide = np.exp2(rng.uniform(-limit, limit, 400))
    near = 1 + np.exp2(-rng.uniform(1, 23 if dtype is np.float32 else 50, 400)) * rng.choice(
        [-1.0, 1.0], 400
    )
    x = np.concatenate([wide, near]).astype(dtype)
    x = np.where(x == 1, dtype(2), x)
    y = rng.uniform(-limit - 30, limit + 2, x.size) / np.log2(x.astype(np.float64))
    return x, y.astype(dtype)


@pytest.mark.parametrize("dtype", [sz.float32, sz.float64], ids=str)
def test_pow_within_the_declared_error(dtype: sz.DType) -> None:
    kind: type = np.dtype(dtype.name).type
    x, y = pairs_of(kind, 1)
    check_power(x, y, dtype)
    rng, limit = np.random.default_rng(2), np.finfo(kind).maxexp
    # Negative bases with whole exponents, small exponents, and subnormal bases and results.
    base, whole = -np.exp2(rng.uniform(-5, 5, 300)), rng.integers(-40, 40, 300)
    check_power(base.astype(kind), whole.astype(kind), dtype)
    small = np.exp2(rng.uniform(-60, 3, 300)) * rng.choice([-1.0, 1.0], 300)
    check_power(
        np.exp2(rng.uniform(-limit - 20, limit, 300)).astype(kind), small.astype(kind), dtype
    )
    # Just above 1, where a logarithm a few bits short shows.
    edge = (1.0078 - rng.uniform(0, 1e-4, 300)).astype(kind)
    check_power(edge, (rng.uniform(0.8, 1, 300) * limit / np.log2(edge)).astype(kind), dtype)


@pytest.mark.parametrize("dtype", [sz.float32, sz.float64], ids=str)
def test_the_special_cases_of_pow(dtype: sz.DType) -> None:
    kind: Any = np.dtype(dtype.name).type
    info = np.finfo(kind)
    more = [info.max, -info.max, info.smallest_subnormal, -info.smallest_subnormal, 2.0**24 + 2]
    more += [2.0 / info.eps, -2.0 / info.eps, 1 / info.eps + 1, 1 + info.eps, 1 - info.epsneg]
    points = np.array([*SPECIAL, *map(float, more)]).astype(kind)
    x, y = (a.ravel() for a in np.meshgrid(points, points))
    check_power(x, y, dtype)
    # One by one too: a special element in a vector must not change the others, nor need them.
    for a, b in list(zip(x, y, strict=True))[::7]:
        alone = compute("pow", np.array([a]), np.array([b])).tolist()
        assert_within(3, [(a, b)], alone, [power(float(a), float(b))], dtype, "pow")


def test_pow_with_one_value_is_pow_with_many() -> None:
    x, y = pairs_of(np.float64, 3)
    for _ in every_level():
        for value in (2.0, -0.5, 0.5, 1000.0):
            many_values = np.full_like(x, value)
            assert same_bits(compute("pow", x, np.array(value)), compute("pow", x, many_values))
            assert same_bits(compute("pow", np.array(value), y), compute("pow", many_values, y))
            number = sz.pow(sz.tensor(x), value).numpy()
            assert same_bits(np.array(number), compute("pow", x, many_values))


@pytest.mark.parametrize(
    "dtype", [sz.float8_e4m3fn, sz.float8_e5m2, sz.float16, sz.bfloat16], ids=str
)
def test_pow_of_narrow_dtypes_is_the_same_on_every_level(dtype: sz.DType) -> None:
    """That it is correctly rounded, too, is tested in `accuracy/test_rounding.py`."""
    if dtype.itemsize == 1:  # every pair there is
        x, y = (a.ravel().astype(np.uint8) for a in np.meshgrid(np.arange(256), np.arange(256)))
    else:
        bits = np.random.default_rng(4).integers(0, 2**16, (2, 50_001), dtype=np.uint16)
        # Half of the bases positive and of moderate size, or most results would be special.
        bits[0, ::2] = np.random.default_rng(5).integers(0x3000, 0x4400, 25_001)
        x, y = bits
    a, b = (sz.tensor(v.view(numpy_dtype(dtype))) for v in (x, y))
    first = None
    for level in every_level():
        found = sz.pow(a, b)
        assert found.dtype is dtype
        first = found.numpy() if first is None else first
        assert same_bits(found.numpy(), first), level


def test_threads_and_neighbours_change_nothing_in_pow() -> None:
    rng = np.random.default_rng(6)
    for kind in (np.float32, np.float64):
        x, y = (np.exp2(rng.uniform(-3, 3, 130_003)).astype(kind) for _ in range(2))
        x[::97] = -x[::97]
        shuffled = rng.permutation(x.size)
        for _ in every_level():
            with threads(1):
                one = compute("pow", x, y)
            for count in (2, 3):
                with threads(count):
                    assert same_bits(compute("pow", x, y), one)
            assert same_bits(compute("pow", x[shuffled], y[shuffled]), one[shuffled])


def test_square_roots_are_correctly_rounded() -> None:
    rng = np.random.default_rng(9)
    for dtype, bits in ((sz.float32, np.uint32), (sz.float64, np.uint64)):
        kind = np.dtype(dtype.name)
        x = np.abs(rng.integers(0, 2 ** (8 * kind.itemsize), 3000, dtype=bits).view(kind))
        x = x[np.isfinite(x)]
        for _ in every_level():
            for argument, found in zip(x.tolist(), compute("sqrt", x).tolist(), strict=True):
                # The root lies between the midpoints to the neighbours: no rounding in sight.
                value = Fraction(found)
                below, above = (
                    Fraction(float(np.nextafter(kind.type(found), kind.type(to))))
                    for to in (-INF, INF)
                )
                low, high = (value + below) / 2, (value + above) / 2
                assert low * low <= Fraction(argument) <= high * high


def test_square_roots_near_the_middle_of_two_numbers() -> None:
    """Where a step of Newton's method may go wrong, and beside what has none."""
    rng = np.random.default_rng(10)
    roots = [(1 << 52) + int(n) for n in rng.integers(0, 1 << 52, 4000)]
    squares = [(2 * n + 1) ** 2 // 4 + step for n in roots for step in (0, 1)]
    hard = np.array([float(n) for n in squares]) * np.exp2(2 * rng.integers(-400, 400, 8000))
    whole = np.array([float(n) for n in range(500)]) ** 2
    powers = np.exp2(np.arange(-1074, 1024, dtype=float))
    x = np.concatenate([hard, whole, powers, np.nextafter(powers, 0), [0.0, -0.0, INF, NAN, -1.0]])
    with np.errstate(invalid="ignore"):
        true = np.sqrt(x)
    for _ in every_level():
        found = compute("sqrt", x)
        assert np.array_equal(found, true, equal_nan=True)
        assert np.array_equal(np.signbit(found[:-2]), np.signbit(true[:-2]))
