"""Sums, products, means, variances, extremes and cumulative ones against NumPy in float64."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.arrays import EVERY, FLOATING, INTEGERS, NARROW, close, exact, made
from helpers.functions import threads
from suanzi.base.status import InvalidArgument, OutOfRange, TypeMismatch

xp = sz.array_api
AXES = (None, 0, -1, 1, (0, 2), (-1, 0, 1), ())
LAYOUTS = ("rows", "transposed", "strided")


def wide(dt: sz.DType) -> sz.DType:
    """Return the dtype of a sum, as the standard has it."""
    if dt.kind in ("bool", "int"):
        return sz.int64
    return sz.uint64 if dt.kind == "uint" else dt


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dt", EVERY, ids=str)
def test_sums_and_products(dt: sz.DType, layout: str) -> None:
    x = made(dt, (3, 4, 2), layout=layout)
    a = exact(x)
    for axis, keepdims in itertools.product(AXES, (False, True)):
        kept: Any = {"axis": axis, "keepdims": keepdims}
        total, product = xp.sum(x, **kept), xp.prod(x, **kept)
        assert total.dtype is product.dtype is wide(dt)
        sizes = np.abs(a).sum(**kept)
        if dt in FLOATING:
            assert close(total, a.sum(**kept), 1, np.maximum(sizes, 1))
            if dt in NARROW:  # float32 has these sums exactly: one rounding is left
                assert (
                    exact(total).tolist() == exact(sz.cast(sz.tensor(a.sum(**kept)), dt)).tolist()
                )
            assert close(product, a.prod(**kept), 4)
        else:
            assert np.array_equal(exact(total), a.sum(**kept))
            assert np.array_equal(exact(product), a.prod(**kept))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dt", EVERY, ids=str)
def test_means_and_variances(dt: sz.DType, layout: str) -> None:
    x = made(dt, (3, 4, 2), layout=layout)
    a = exact(x)
    real = dt if dt.kind != "complex" else sz.dtypes.part(dt)
    for axis, keepdims in itertools.product(AXES, (False, True)):
        kept: Any = {"axis": axis, "keepdims": keepdims}
        mean, var, std = xp.mean(x, **kept), xp.var(x, **kept), xp.std(x, **kept)
        assert mean.dtype is (dt if dt in FLOATING else sz.float32)
        assert var.dtype is std.dtype is (real if dt in FLOATING else sz.float32)
        plain = a.astype(np.float64) if dt not in FLOATING else a
        assert close(mean, plain.mean(**kept), 2, np.abs(plain).max())
        assert close(var, plain.var(**kept), 4)
        assert close(std, plain.std(**kept), 4)
        if axis != ():
            assert close(xp.var(x, correction=0.5, **kept), plain.var(ddof=0.5, **kept), 4)


@pytest.mark.parametrize("dt", [sz.float32, sz.float64], ids=str)
def test_variances_of_many_are_those_of_operators_one_by_one(dt: sz.DType) -> None:
    rng = np.random.default_rng(11)
    for shape in ((1,), (17,), (70000,), (5, 300), (260, 17), (1100, 40), (3, 70, 21), (20, 2100)):
        plain = sz.cast(sz.tensor(rng.standard_normal(shape) + 100), dt)
        last = plain.ndim - 1
        laid = [plain, sz.flip(plain, [0]), sz.cast(plain, dt, layout=tuple(range(last, -1, -1)))]
        for x, axes in itertools.product(laid, {(0,), (last,), tuple(range(last + 1))}):
            apart = sz.sub(x, sz.reduce(x, "MEAN", axes, keep_dims=True))
            total = sz.reduce(sz.mul(apart, apart), "SUM", axes)
            expected = sz.div(total, sz.tensor(x.size // total.size, dt)).numpy()
            for count in (1, 2):
                with threads(count):
                    found = xp.var(x, axis=axes).numpy()
                assert np.array_equal(found, expected), (shape, axes, count)
    holes = sz.tensor([[1.0, np.nan], [np.inf, 2]], dt)
    assert np.isnan(xp.var(holes, axis=0).numpy()).all()


def test_16_bit_floats_are_rounded_once() -> None:
    # 1 + 255 * 2**-9 in bfloat16: added one by one in it, each would be lost.
    x = sz.tensor([1.0] + [2.0**-9] * 255, sz.bfloat16)
    assert xp.sum(x).item() == sz.cast(sz.tensor(1 + 255 * 2.0**-9), sz.bfloat16).item()
    # The squares of float16 overflow, and the variance does not.
    y = sz.tensor([300.0, -300.0] * 4, sz.float16)
    assert xp.std(y).item() == 300
    z = sz.tensor([1.0 + 2.0**-7] * 8, sz.bfloat16)
    powers = np.cumprod(np.full(8, 1 + 2.0**-7))
    assert exact(xp.cumulative_prod(z)).tolist() == [
        sz.cast(sz.tensor(p), sz.bfloat16).item() for p in powers.tolist()
    ]


@pytest.mark.parametrize("dt", [d for d in EVERY if d.kind != "complex"], ids=str)
def test_extremes(dt: sz.DType) -> None:
    x = made(dt, (3, 4, 2), layout="strided")
    a = exact(x)
    for axis, keepdims in itertools.product(AXES, (False, True)):
        kept: Any = {"axis": axis, "keepdims": keepdims}
        assert xp.max(x, **kept).dtype is dt
        assert np.array_equal(exact(xp.max(x, **kept)), a.max(**kept))
        assert np.array_equal(exact(xp.min(x, **kept)), a.min(**kept))


def test_nan_is_the_extreme() -> None:
    x = sz.tensor([1.0, float("nan"), 3.0], sz.bfloat16)
    assert np.isnan(xp.max(x).item())
    assert np.isnan(xp.min(x).item())


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dt", EVERY, ids=str)
def test_cumulative(dt: sz.DType, layout: str) -> None:
    x = made(dt, (3, 4, 2), layout=layout)
    a = exact(x)
    for axis, initial in itertools.product((0, 1, -1), (False, True)):
        kept: Any = {"axis": axis, "include_initial": initial}
        total, product = xp.cumulative_sum(x, **kept), xp.cumulative_prod(x, **kept)
        assert total.dtype is product.dtype is wide(dt)
        sums, products = np.cumsum(a, axis), np.cumprod(a, axis)
        if initial:
            edge = [(int(i == axis % 3), 0) for i in range(3)]
            sums, products = np.pad(sums, edge), np.pad(products, edge, constant_values=1)
        if dt in FLOATING:
            assert close(total, sums, 1, np.abs(a).sum())
            assert close(product, products, 4)
        else:
            assert np.array_equal(exact(total), sums)
            assert np.array_equal(exact(product), products)


@pytest.mark.parametrize("shape", [(70000,), (3, 300), (300, 3), (40, 70, 5), (3, 7, 100)])
@pytest.mark.parametrize("dt", [sz.int32, sz.float32, sz.float64, sz.complex64], ids=str)
def test_cumulative_products_of_many(dt: sz.DType, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    a = np.exp(rng.standard_normal(shape) * 0.01)
    if dt.kind == "complex":
        a = a * np.exp(1j * rng.standard_normal(shape))
    x = sz.cast(sz.tensor(a), dt) if dt is not sz.int32 else made(dt, shape)
    for axis in range(len(shape)):
        got = xp.cumulative_prod(x, axis=axis, dtype=dt)
        if dt is sz.int32:
            true = np.cumprod(exact(x).astype(np.int32), axis, dtype=np.int32)
            assert np.array_equal(got.numpy(), true)
        else:
            n = shape[axis]
            roundings = n * 2.0**-52 / sz.finfo(dt).eps
            assert close(got, np.cumprod(exact(x), axis), 4 + 4 * roundings)


def test_a_dtype_that_is_asked_for() -> None:
    x = sz.tensor([100, 100], sz.int8)
    assert xp.sum(x, dtype=sz.int8).item() == -56
    assert xp.sum(x, dtype=sz.float16).dtype is sz.float16
    assert xp.cumulative_prod(x, dtype=sz.float64)[-1].item() == 1e4
    with pytest.raises(TypeMismatch, match="sum: x is complex64 and dtype float32"):
        xp.sum(sz.tensor([1j], sz.complex64), dtype=sz.float32)
    with pytest.raises(TypeMismatch, match="prod: .* dtype int4"):
        xp.prod(x, dtype=sz.int4)


@pytest.mark.parametrize("dt", EVERY, ids=str)
def test_of_nothing(dt: sz.DType) -> None:
    x = sz.cast(sz.zeros((0, 3)), dt)
    assert exact(xp.sum(x, axis=0)).tolist() == [0, 0, 0]
    assert xp.sum(x, axis=1).shape == (0,)
    assert xp.prod(x).item() == 1
    assert np.isnan(exact(xp.mean(x, axis=0))).all()
    assert xp.mean(x, axis=0).shape == (3,)
    assert np.isnan(exact(xp.std(x))).all()
    assert xp.cumulative_sum(x, axis=0, include_initial=True).shape == (1, 3)
    if dt.kind != "complex":
        assert xp.max(x, axis=1).shape == (0,)
        with pytest.raises(InvalidArgument, match="max: x has shape"):
            xp.max(x, axis=0)


def test_a_number_alone() -> None:
    x = sz.tensor(3, sz.int4)
    assert (xp.sum(x).item(), xp.mean(x).item(), xp.max(x).item(), xp.var(x).item()) == (3, 3, 3, 0)


def test_a_correction_that_leaves_nothing_is_nan() -> None:
    assert np.isnan(xp.var(sz.tensor([1.0, 2.0]), correction=2).item())


def test_refusals_name_the_function_and_the_argument() -> None:
    x = sz.tensor([[1.0, 2.0]])
    with pytest.raises(OutOfRange, match="sum: axis is 2; for 2 axes it must be from -2 to 1"):
        xp.sum(x, axis=2)
    with pytest.raises(InvalidArgument, match="mean: axis .* twice"):
        xp.mean(x, axis=(0, -2))
    with pytest.raises(TypeMismatch, match="max: x is complex64; it must be of bool, integers"):
        xp.max(sz.tensor([1j], sz.complex64))
    with pytest.raises(TypeMismatch, match="sum: x is .*; it must be a Tensor"):
        xp.sum([1, 2])
    with pytest.raises(InvalidArgument, match="cumulative_sum: axis is None, and x has 2 axes"):
        xp.cumulative_sum(x)
    with pytest.raises(TypeMismatch, match="var: correction"):
        xp.var(x, correction="1")
    with pytest.raises(TypeMismatch, match="sum: x is QT"):
        xp.sum(sz.quantize(x, sz.QT_SYM_INT8))


def test_rules_in_force_have_no_say() -> None:
    x = sz.tensor([1.0, 2.0], sz.bfloat16)
    with sz.promotion("numpy"):
        assert xp.var(x).dtype is sz.bfloat16
        assert xp.mean(x).item() == 1.5


def test_integers_are_all_here() -> None:
    assert {str(dt) for dt in INTEGERS} >= {"int4", "uint1", "uint4", "uint64"}
