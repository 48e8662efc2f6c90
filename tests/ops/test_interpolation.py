"""7.2.18: interpolate against fractions, on every dtype, layout, level and thread count."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import every_level, same_bits, threads
from helpers.moves import raw
from suanzi.conformance.truth.interpolation import terms
from suanzi.promote.registry import FLOATS

Array = np.ndarray[Any, Any]
LINEAR = {3: "linear", 4: "bilinear", 5: "trilinear"}
NARROW = [d for d in FLOATS if d.bits < 32]
UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}


def numbers(shape: Sequence[int], dtype: str = "float32", seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def exactly(x: Array, sizes: Sequence[int], mode: str) -> Array:
    """Return the true values of an array of finite numbers, as fractions."""
    found = np.array([Fraction(float(v)) for v in x.ravel()], object).reshape(x.shape)
    for axis, out in enumerate(sizes, 2):
        rows = []
        for i in range(out):
            parts = terms(mode, x.shape[axis], out, i).items()
            rows.append(sum(np.take(found, k, axis) * weight for k, weight in parts))
        found = np.stack(rows, axis)
    return found


def check(x: Array, sizes: Sequence[int], kind: str) -> None:
    """Raise unless every element is as near to the truth as it should be."""
    mode = LINEAR[x.ndim] if kind == "linear" else kind
    found = sz.interpolate(sz.tensor(x), tuple(sizes), mode=mode).numpy()
    truth = exactly(x, sizes, kind)
    assert found.shape == (*x.shape[:2], *sizes)
    assert found.dtype == x.dtype
    largest = max((abs(float(v)) for v in x.ravel()), default=0)
    unit = UNIT[x.dtype.name]
    # Along each axis, a weight, a product and a sum are rounded; a mean only once, from float64,
    # in which sums of float64 lose little.
    roundings = {"nearest": 0, "linear": 3.01 * len(sizes), "area": 1.01}[kind]
    if kind == "area" and x.dtype == np.float64:
        roundings = 5
    for one, exact in zip(found.ravel(), truth.ravel(), strict=True):
        assert abs(float(one) - exact) <= roundings * unit * largest


SIZES_1 = [(a, b) for a in (1, 2, 3, 4, 5, 7, 10) for b in (1, 2, 3, 4, 5, 6, 7, 9, 13)]


@pytest.mark.parametrize("kind", ["nearest", "linear", "area"])
@pytest.mark.parametrize("dtype", UNIT)
def test_every_pair_of_sizes(dtype: str, kind: str) -> None:
    for n, out in SIZES_1:
        check(numbers((1, 2, n), dtype, n), (out,), kind)


@pytest.mark.parametrize("sizes", [(2**20,), (5,)])
def test_places_are_exact_however_long_the_axis(sizes: tuple[int, ...]) -> None:
    """In float32, (i + 1/2) * in / out - 1/2 is off by whole elements here."""
    n = 3 * 2**20 + 1
    x = np.arange(n, dtype=np.float64)
    found = sz.interpolate(sz.tensor(x.reshape(1, 1, n)), sizes).numpy()[0, 0]
    between = sz.interpolate(sz.tensor(x.reshape(1, 1, n)), sizes, mode="linear").numpy()[0, 0]
    mean = sz.interpolate(sz.tensor(x.reshape(1, 1, n)), sizes, mode="area").numpy()[0, 0]
    rng = np.random.default_rng(0)
    for i in [0, 1, sizes[0] - 1, *rng.integers(0, sizes[0], 50).tolist()]:
        assert found[i] == i * n // sizes[0]
        exact = sum(k * w for k, w in terms("linear", n, sizes[0], i).items())
        assert abs(between[i] - exact) <= 2.0**-51 * float(exact)
        first, last = i * n // sizes[0], -(-(i + 1) * n // sizes[0]) - 1
        assert abs(mean[i] - (first + last) / 2) <= 2.0**-51 * last


# ---- dtypes ----


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_narrow_ones_are_float32_rounded_once(dtype: sz.DType) -> None:
    for shape, sizes in (((2, 3, 9), (14,)), ((1, 2, 7, 8), (3, 20)), ((1, 1, 3, 4, 5), (4, 3, 7))):
        x = sz.cast(sz.tensor(3 * numbers(shape)), dtype)
        for mode in ("nearest", LINEAR[len(shape)], "area"):
            found = sz.interpolate(x, sizes, mode=mode)
            wide = sz.interpolate(sz.cast(x, sz.float32), sizes, mode=mode)
            assert found.dtype is dtype
            assert np.array_equal(raw(found), raw(sz.cast(wide, dtype)))


@pytest.mark.parametrize("dtype", [sz.bool, sz.int4, sz.uint8, sz.int32, sz.int64], ids=str)
def test_integers_are_promoted(dtype: sz.DType) -> None:
    x = sz.tensor([[[1, 0, 1, 1]]], dtype)
    for mode in ("nearest", "linear", "area"):
        found = sz.interpolate(x, 6, mode=mode)
        assert found.dtype is sz.float32
        expected = sz.interpolate(sz.tensor([[[1.0, 0, 1, 1]]], sz.float32), 6, mode=mode)
        assert same_bits(found.numpy(), expected.numpy())
    with sz.promotion("strict"), pytest.raises(sz.TypeMismatch, match="interpolate"):
        sz.interpolate(x, 6)


# ---- special values ----


def test_what_has_no_weight_has_no_say() -> None:
    special = np.array([[[1, np.inf, -0.0, np.nan, 5e-45, -np.inf]]], np.float32)
    for dtype in (np.float32, np.float64):
        x = special.astype(dtype)
        for mode in ("nearest", "linear", "area"):
            assert same_bits(sz.interpolate(sz.tensor(x), 6, mode=mode).numpy(), x)
    x = np.array([[[np.nan, 2, np.inf]]], np.float32)
    assert sz.interpolate(sz.tensor(x), 1, mode="linear").item() == 2
    plane = np.full((1, 1, 3, 3), np.nan, np.float32)
    plane[0, 0, 1, 1] = 7
    assert sz.interpolate(sz.tensor(plane), 1, mode="bilinear").item() == 7


def test_sums_are_no_worse_than_they_must_be() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, (1, 1, 700, 3001))
    for dtype in ("float32", "float64"):
        values = x.astype(dtype)
        found = sz.interpolate(sz.tensor(values), 1, mode="area").item()
        truth = float(np.mean(values.astype(np.longdouble)))
        assert abs(found - truth) <= UNIT[dtype] * truth * (1 if dtype == "float32" else 8)
    # What is lost to a large element comes back when it goes.
    column = np.array([1e16, 1, 1, 1, -1e16, 1], np.float64).reshape(1, 1, 6, 1)
    assert sz.interpolate(sz.tensor(column), 1, mode="area").item() == 4 / 6


# ---- layouts, levels, threads ----


LARGE = [
    ((3, 2, 50, 60), (70, 90)), ((2, 2, 61, 90), (20, 31)), ((1, 1, 3000), (5001,)),
    ((1, 2, 9001), (3,)), ((1, 1, 9, 20, 30), (13, 11, 47)), ((1, 1, 70001), (2500,)),
    ((40, 50, 6, 6), (12, 12)), ((1, 3, 2, 5000), (3, 1)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize(("shape", "sizes"), LARGE)
def test_levels_and_threads_change_nothing(
    shape: tuple[int, ...], sizes: tuple[int, ...], dtype: str
) -> None:
    x = sz.cast(sz.tensor(numbers(shape, "float64")), sz.dtype(dtype))
    for mode in ("nearest", LINEAR[len(shape)], "area"):
        with threads(1):
            expected = np.array(raw(sz.interpolate(x, sizes, mode=mode)))
        for _ in every_level():
            for count in (1, 2, 5):
                with threads(count):
                    assert np.array_equal(raw(sz.interpolate(x, sizes, mode=mode)), expected)


@pytest.mark.parametrize(("shape", "sizes"), LARGE)
def test_large_ones_at_some_places(shape: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    x = numbers(shape, "float64")
    rng = np.random.default_rng(1)
    for kind in ("nearest", "linear", "area"):
        mode = LINEAR[len(shape)] if kind == "linear" else kind
        found = sz.interpolate(sz.tensor(x), sizes, mode=mode).numpy()
        for _ in range(30):
            at = tuple(int(rng.integers(0, n)) for n in found.shape)
            truth = x[at[:2]].astype(np.longdouble)
            for n, out, i in zip(shape[2:], sizes, at[2:], strict=True):
                some = terms(kind, n, out, i)
                weight = np.array([float(w) for w in some.values()], np.longdouble)
                truth = np.tensordot(weight, truth[list(some)], 1)
            assert abs(found[at] - truth) < 1e-14


def test_results_beyond_the_caches() -> None:
    """Large results are written past the caches."""
    x = sz.tensor(numbers((4, 8, 200, 100)))
    for dtype in (sz.float32, sz.bfloat16):
        part = sz.cast(x, dtype)
        for mode in ("nearest", "bilinear", "area"):
            with threads(5):  # of which each may fill less of the last cache than of few
                found = sz.interpolate(part, (401, 203), mode=mode)
            for n, c in ((0, 0), (3, 7)):
                alone = sz.interpolate(part[n : n + 1, c : c + 1], (401, 203), mode=mode)
                assert np.array_equal(raw(found[n, c]), raw(alone[0, 0]))


# ---- sizes ----


def test_sizes_in_all_the_ways_they_are_given() -> None:
    x = sz.tensor(numbers((1, 1, 4, 6)))
    expected = sz.interpolate(x, (8, 8)).numpy()
    for size in (8, np.int8(8), [8, 8], np.array([8, 8]), sz.tensor([8, 8]), sz.tensor(8)):
        assert same_bits(sz.interpolate(x, size).numpy(), expected)
    wanted = (8, 9)
    expected = sz.interpolate(x, wanted).numpy()
    assert same_bits(sz.interpolate(x, range(8, 10)).numpy(), expected)
    factors: list[Any] = [(2, 1.5), [2.0, 1.5], np.array([2, 1.5]), sz.tensor([2, 1.5])]
    for factor in [*factors, (np.float32(2), sz.tensor(1.5))]:
        assert same_bits(sz.interpolate(x, scale_factor=factor).numpy(), expected)
        assert same_bits(sz.interpolate(x, (), factor).numpy(), expected)
    assert sz.interpolate(x, wanted, scale_factor="ignored").shape == (1, 1, 8, 9)
    assert sz.interpolate(x, None, 0.5).shape == (1, 1, 2, 3)


def test_size_and_scale_factor_agree() -> None:
    """A factor that was computed from sizes leads back to them."""
    for n in range(1, 60):
        x = sz.zeros((0, 1, n))
        for out in range(1, 120, 3):
            assert sz.interpolate(x, scale_factor=out / n).shape[2] == out
    for n, factor, out in (
        (30, 0.1, 3), (100, 0.29, 29), (9, 1 / 3, 3), (3, 1.5, 4), (10, 0.35, 3), (7, 0.9999, 6),
        (5, 1.99, 9), (10, 0.1, 1), (1000, 1.001, 1001), (3, 0.99, 2), (64, 2.5, 160),
    ):  # fmt: skip
        assert sz.interpolate(sz.zeros((0, 1, n)), scale_factor=factor).shape[2] == out


def test_the_short_cut_and_python_agree() -> None:
    slow = sz.interpolate(sz.tensor(numbers((1, 2, 4, 6))), np.int64(5), mode="bilinear")
    x = sz.tensor(numbers((1, 2, 4, 6)))
    calls: list[Any] = [
        lambda: sz.interpolate(x, 5, mode="bilinear"),
        lambda: sz.interpolate(x, (5, 5), mode="bilinear"),
        lambda: sz.interpolate(x, [5, 5], None, "bilinear"),
        lambda: sz.interpolate(x, size=5, mode="bilinear"),
        lambda: sz.interpolate(x, mode="bilinear", size=(5, 5)),
        lambda: sz.interpolate(x, mode="bilinear", scale_factor=None, size=5),
        lambda: sz.interpolate(mode="bilinear", input=x, size=5),
        lambda: sz.interpolate(x, 5, 9.5, mode="bilinear"),
    ]
    for call in calls:
        assert same_bits(call().numpy(), slow.numpy())
    wrong: list[Any] = [
        lambda: sz.interpolate(x, 5, size=5),
        lambda: sz.interpolate(x, 5, None, "area", mode="area"),
        lambda: sz.interpolate(x, 5, None, "area", 1),
        lambda: sz.interpolate(x, 5, moed="area"),
        lambda: sz.interpolate(),
    ]
    for call in wrong:
        with pytest.raises(TypeError):
            call()


def test_rule_sets_without_float64() -> None:
    x = sz.tensor(np.arange(8.0).reshape(1, 1, 8))
    with sz.promotion("jax_x32"):
        found, turned = (sz.interpolate(one, (16,)) for one in (x, x[:, :, ::-1]))
    assert found.dtype is turned.dtype is sz.float32
