"""Sums, means, norms and products of blocks are rounded once, as those of one tensor are."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.blocks import same

pytest.importorskip("dask", reason="tensors of blocks are Dask's")
cluster = pytest.importorskip("suanzi.cluster")

RNG = np.random.default_rng(16)
NARROW = (sz.bfloat16, sz.float16, sz.float8_e5m2)
FLOATS = (*NARROW, sz.float32, sz.float64)


def on_blocks(host: sz.Tensor, size: Any) -> Any:
    with cluster.blocks(size):
        return host.to_device("cluster")


def normal(shape: tuple[int, ...], dtype: sz.DType) -> sz.Tensor:
    return sz.cast(sz.tensor(RNG.normal(size=shape)), dtype)


def exactly(x: Any) -> list[Fraction]:
    return [Fraction(v) for v in np.ravel(sz.cast(x, sz.float64).numpy()).tolist()]


def test_as_many_ones_as_a_narrow_sum_would_lose() -> None:
    ones = on_blocks(sz.full(sz.bfloat16, shape=(257, 1000), value=1), (64, 100))
    assert ones.sum().item() == 256_000 + 1024  # 257,000 is between two numbers of bfloat16
    assert ones.mean().item() == 1
    assert ones.sum().item() == sz.full(sz.bfloat16, shape=(257, 1000), value=1).sum().item()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_sums_keep_the_documented_error(dtype: sz.DType) -> None:
    host = normal((3000,), dtype)
    numbers = exactly(host)
    wide = 2.0**-24 if dtype in NARROW else 2.0**-53
    bound = (20 + math.log2(3000 / 256)) * wide * float(sum(map(abs, numbers)))
    found = on_blocks(host, 171).sum().to_host()
    total = sum(numbers)
    below = abs(Fraction(found.item()) - total)  # type: ignore[arg-type]
    nearest = abs(Fraction(sz.cast(sz.tensor(float(total), sz.float64), dtype).item()) - total)  # type: ignore[arg-type]
    assert float(below) <= float(nearest) + bound + float(abs(total)) * wide


MODES = [
    pytest.param(dtype, mode, id=f"{dtype}-{mode}")
    for mode in ("SUM", "MEAN", "MAX", "LXOR")
    for dtype in (sz.bool, sz.int8, sz.uint64, *FLOATS, sz.complex32)
    if mode != "MAX" or dtype.kind != "complex"
]


@pytest.mark.parametrize(("dtype", "mode"), MODES)
def test_modes_give_the_bits_of_one_tensor(dtype: sz.DType, mode: str) -> None:
    host = sz.cast(sz.tensor(RNG.normal(size=(9, 4, 11)) * 30, sz.float32), dtype)
    x = on_blocks(host, (4, 3, 2))
    for axis, keep in ((None, False), (0, True), ((0, 2), False), ((1,), True)):
        want, found = sz.reduce(host, mode, axis, keep), sz.reduce(x, mode, axis, keep)
        same(found, want)


def test_means_of_large_integers_are_exact() -> None:
    host = sz.tensor([2**62, 2**62 - 1, 2**62 + 5, -3, 2**63 - 1], sz.int64)
    assert on_blocks(host, 2).mean().item() == host.mean().item()


@pytest.mark.parametrize("perm", list(permutations(range(3))), ids=str)
def test_blocks_that_lie_in_another_order(perm: tuple[int, ...]) -> None:
    host = normal((4, 5, 6), sz.float32)
    x = on_blocks(host, (3, 2, 4))
    for axis in (0, 1, 2, (0, 2)):
        for move in (lambda v: sz.transpose(v, perm), lambda v: sz.transpose(v, perm)[::-1]):
            assert move(x).sum(axis).tolist() == move(host).sum(axis).tolist()


def test_functions_of_ones_own() -> None:
    host = normal((5, 7, 3), sz.float64)
    x = on_blocks(host, (2, 3, 2))
    # Not commutative: the left one stays.
    first = sz.ReduceFunction(lambda a, b: a, name="first")
    last = sz.ReduceFunction(lambda a, b: b, finish=lambda found, count: found * count)
    for how in (first, last):
        for axis in (0, 1, (0, 2), None):
            assert sz.reduce(x, how, axis).tolist() == sz.reduce(host, how, axis).tolist()


@pytest.mark.parametrize("dtype", [sz.int8, sz.bfloat16, sz.float32], ids=str)
def test_traces(dtype: sz.DType) -> None:
    host = sz.cast(normal((6, 3, 7), sz.float32) * 9, dtype)
    x = on_blocks(host, (2, 2, 3))
    for offset in (-7, -6, -2, 0, 1, 3, 6, 7):
        for dims in ((0, 2), (2, 0), (-2, 0), (1, 2)):
            want, found = sz.trace(host, offset, *dims), sz.trace(x, offset, *dims)
            same(found, want)


@pytest.mark.parametrize("dtype", [*FLOATS, sz.complex64, sz.complex128], ids=str)
def test_norms(dtype: sz.DType) -> None:
    host = normal((6, 7), dtype)
    x = on_blocks(host, (4, 2))
    close = 2 * sz.finfo(dtype).eps
    for p in ("1", "2", "inf", "3"):
        for axis in ((), 0, 1):
            want, found = sz.norm(host, p, axis), sz.norm(x, p, axis)
            assert (found.shape, found.dtype) == (want.shape, want.dtype)
            assert np.allclose(
                found.to_host().astype(sz.float64).numpy(),
                want.astype(sz.float64).numpy(), rtol=close, atol=0,
            )  # fmt: skip
    for p in ("fro", "1", "inf"):
        assert sz.norm(x, p, (0, 1)).dtype is sz.norm(host, p, (0, 1)).dtype


@pytest.mark.parametrize("scale", [1e200, 1e-200, 0.0, math.inf, math.nan])
def test_norms_whose_squares_overflow_or_vanish(scale: float) -> None:
    host = sz.tensor([3.0, 4.0, 0.0], sz.float64) * scale
    found, want = sz.norm(on_blocks(host, 1), "2").item(), sz.norm(host, "2").item()
    assert found == want or (found != found and want != want)


@pytest.mark.parametrize("dtype", [sz.bfloat16, sz.float32, sz.int8, sz.complex64], ids=str)
def test_products_are_as_near_as_those_of_one_tensor(dtype: sz.DType) -> None:
    real = dtype.kind != "complex"
    x, y = (
        sz.cast(sz.tensor(RNG.normal(size=s) * 5, sz.float32), dtype) for s in ((9, 70), (70, 8))
    )
    found = (on_blocks(x, (4, 3)) @ on_blocks(y, (5, 3))).to_host()
    want = x @ y
    if dtype is sz.int8:
        assert found.tolist() == want.tolist()
        return
    wide = sz.float64 if real else sz.complex128
    exact = sz.cast(x, wide).numpy() @ sz.cast(y, wide).numpy()
    errors = [np.abs(sz.cast(v, wide).numpy() - exact).max() for v in (found, want)]
    assert errors[0] <= 1.01 * errors[1] + np.abs(exact).max() * 2**-24


def test_a_bias_is_added_before_the_rounding() -> None:
    x = sz.full(sz.bfloat16, shape=(1, 256), value=1)
    weight, bias = sz.full(sz.bfloat16, shape=(1, 256), value=1), sz.tensor([1.0], sz.bfloat16)
    parts = on_blocks(x, (1, 32)), on_blocks(weight, (1, 32))
    for some in (sz.tensor([2.0], sz.bfloat16), bias):
        want = sz.linear(x, weight, some)
        assert sz.linear(*parts, on_blocks(some, 1)).tolist() == want.tolist()


def test_operands_are_promoted_before_they_are_multiplied() -> None:
    x, y = sz.tensor([[257] * 8], sz.int32), sz.full(sz.bfloat16, shape=(8, 1), value=1)
    assert sz.matmul(on_blocks(x, (1, 2)), on_blocks(y, (2, 1))).tolist() == (x @ y).tolist()


def test_methods() -> None:
    host = normal((5, 7), sz.float32)
    x = on_blocks(host, (2, 3))
    for call in (
        lambda v: v.sum(axis=-1), lambda v: v.mean(0, keepdims=True), lambda v: v.max(),
        lambda v: v.argmax(), lambda v: v.argmin(-1, keepdims=True), lambda v: (v > 0).any(1),
        lambda v: v.clip(-1, 1), lambda v: v.T, lambda v: v.transpose(1, 0), lambda v: v.flatten(),
        lambda v: v.to(sz.float16), lambda v: v.round(), lambda v: v.cumsum(0), lambda v: -abs(v),
    ):  # fmt: skip
        found, want = call(x), call(host)
        same(found, want)
    assert math.isclose(x.var().item(), host.var().item(), rel_tol=1e-6)
    assert math.isclose(x.std(correction=1).item(), host.std(correction=1).item(), rel_tol=1e-6)


@pytest.mark.parametrize("mode", ["SUM", "PROD", "LAND", "LOR"])
@pytest.mark.parametrize("dtype", [sz.int8, sz.float16, sz.bool], ids=str)
def test_reductions_of_nothing(mode: str, dtype: sz.DType) -> None:
    host = sz.zeros((0, 3), dtype)
    there = host.to_device("cluster")
    for axis in (0, None):
        found, want = sz.reduce(there, mode, axis), sz.reduce(host, mode, axis)
        gathered = found.to_host()  # type: ignore[attr-defined]
        assert (found.dtype, found.shape) == (want.dtype, want.shape)
        assert gathered.dtype is want.dtype
        assert str(gathered) == str(want)


def test_no_task_adds_up_more_than_a_few() -> None:
    from suanzi.runtimes.cluster.products import _PAIRS, _SUMS

    with cluster.blocks((1, 1)):
        x: Any = sz.full(sz.float32, "cluster", (1, 300), 1)
        y: Any = sz.full(sz.float32, "cluster", (300, 1), 1)
    made = x @ y
    assert made.item() == 300
    own = [layer for name, layer in made.graph.layers.items() if name == made.name]
    lists = [part for task in own[0].values() for part in task if isinstance(part, list)]
    assert max(map(len, lists)) == max(_PAIRS, _SUMS)


def test_blocks_have_no_exact_sums() -> None:
    x = sz.zeros((2, 2), device="cluster")
    for sum_of in (sz.reduce, sz.norm):
        with pytest.raises(sz.TypeMismatch, match="'exact', which tensors of blocks do not have"):
            sum_of(x, accumulate="exact")
