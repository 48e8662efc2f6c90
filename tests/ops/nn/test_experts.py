"""Experts: gates against float64, ties, the order of tokens, products by group, threads, errors."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import at_level, threads
from helpers.normal import exact, made
from suanzi import _core
from suanzi.tensors.parts import permuted

Array = np.ndarray[Any, Any]
UNIT = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}


def scores(x: Array, indices: Array, scoring: str, renormalize: bool) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    every = e / e.sum(-1, keepdims=True) if scoring == "softmax" else 1 / (1 + np.exp(-x))
    some = np.take_along_axis(every, indices, -1)
    return some / some.sum(-1, keepdims=True) if renormalize else some


@pytest.mark.parametrize("renormalize", [False, True])
@pytest.mark.parametrize("scoring", ["softmax", "sigmoid"])
@pytest.mark.parametrize("dtype", UNIT)
def test_gates_and_their_gradients(dtype: str, scoring: str, renormalize: bool) -> None:
    x, above = made(dtype, 3, 5, 64), made(dtype, 3, 5, 6, seed=1)
    how = {"scoring": scoring, "renormalize": renormalize}
    weights, indices = sz.nn.moe_gating(x, 6, **how)
    given, at = exact(x), np.asarray(indices)
    assert (at == np.argsort(-given, -1, kind="stable")[..., :6]).all()
    wanted = scores(given, at, scoring, renormalize)
    unit = max(UNIT[dtype], 2.0**-53)
    wide = min(max(unit, 2.0**-53), 2.0**-24)
    assert (
        abs(exact(weights) - wanted) <= unit * wanted + 40 * wide + 2.0**-25 * (unit == 2**-11)
    ).all()
    found = exact(sz.nn.moe_gating_bwd(above, x, 6, **how))
    step, g = 1e-6, exact(above)
    for i in range(0, 64, 7):
        moved = np.zeros(64)
        moved[i] = step
        up, down = (scores(given + d, at, scoring, renormalize) for d in (moved, -moved))
        slope = ((up - down) * g).sum(-1) / (2 * step)
        assert np.allclose(found[..., i], slope, rtol=4 * unit, atol=1e-7 + 60 * wide + unit / 64)
    with threads(3):
        again = sz.nn.moe_gating(x, 6, **how)
    assert (exact(again[0]) == exact(weights)).all()
    alone, where = sz.nn.moe_gating(x[1, 2], 6, **how)
    assert (exact(alone) == exact(weights)[1, 2]).all()
    assert (np.asarray(where) == at[1, 2]).all()


def test_ties_nan_and_infinities() -> None:
    inf, nan = np.inf, np.nan
    x = sz.tensor([[2.0, 5.0, 5.0, 5.0], [-inf, 1.0, -inf, -inf], [0.0, nan, 9.0, inf]])
    _, indices = sz.nn.moe_gating(x, 2)
    assert indices.tolist() == [[1, 2], [1, 0], [1, 3]]
    weights, _ = sz.nn.moe_gating(x, 2, renormalize=True)
    assert weights[:2].tolist() == [[0.5, 0.5], [1.0, 0.0]]
    assert np.isnan(exact(weights)[2]).all()
    # The sigmoids of both are 0 in float32, and so is their sum.
    small = sz.tensor([-300.0, -300.0, -400.0])
    assert sz.nn.moe_gating(small, 2, "sigmoid", True)[0].tolist() == [0.5, 0.5]
    # Sigmoids that are rounded to 1: the larger logit comes first.
    assert sz.nn.moe_gating(sz.tensor([40.0, 90.0]), 2, "sigmoid")[1].tolist() == [1, 0]


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint64"])
def test_permutation_is_a_stable_sort(dtype: str) -> None:
    given = np.random.default_rng(3).integers(0, 60, (37, 8))
    counts, order, positions = sz.nn.moe_permutation(sz.cast(sz.tensor(given), dtype), 64)
    assert (np.asarray(counts) == np.bincount(given.ravel(), minlength=64)).all()
    assert (np.asarray(order) == np.argsort(given.ravel(), kind="stable")).all()
    assert positions.shape == (37, 8)
    assert (np.asarray(order)[np.asarray(positions)] == np.arange(37 * 8).reshape(37, 8)).all()


def test_permutation_of_views_and_of_nothing() -> None:
    given = np.random.default_rng(4).integers(0, 5, (4, 6))
    plain = sz.nn.moe_permutation(sz.tensor(given.T.copy()), 5)
    for one in (permuted(sz.tensor(given), (1, 0)), sz.tensor(given[:, ::-1].copy())[:, ::-1]):
        same = given.T if one.shape == (6, 4) else given
        found = sz.nn.moe_permutation(one, 5)
        wanted = plain if one.shape == (6, 4) else sz.nn.moe_permutation(sz.tensor(same), 5)
        assert [x.tolist() for x in found] == [x.tolist() for x in wanted]
    assert sz.nn.moe_permutation(sz.tensor(2), 3)[2].tolist() == 0
    empty = sz.nn.moe_permutation(_core.empty((0, 2), sz.int64), 0)
    assert [x.shape for x in empty] == [(0,), (0,), (0, 2)]


@pytest.mark.parametrize("level", _core.levels())
@pytest.mark.parametrize("dtype", UNIT)
def test_products_by_group(level: str, dtype: str) -> None:
    sizes = [17, 0, 1, 40, 0]
    x, weight = made(dtype, 58, 70), made(dtype, 5, 70, 33)
    above = made(dtype, 58, 33, seed=2)
    with at_level(level):
        found = exact(sz.nn.grouped_matmul(x, weight, sz.tensor(sizes)))
        by_x, by_weight = (exact(g) for g in sz.nn.grouped_matmul_bwd(above, x, weight, sizes))
    a, w, g = exact(x), exact(weight), exact(above)
    unit, wide = UNIT[dtype], min(max(UNIT[dtype], 2.0**-53), 2.0**-24)
    start = 0

    def near(some: Array, left: Array, right: Array) -> None:
        bound = unit * abs(left @ right) + 64 * wide * (abs(left) @ abs(right)) + 2.0**-25
        assert (abs(some - left @ right) <= bound).all()

    for i, n in enumerate(sizes):
        rows = slice(start, start + n)
        near(found[rows], a[rows], w[i])
        near(by_x[rows], g[rows], w[i].T)
        near(by_weight[i], a[rows].T, g[rows])
        start += n
    assert (by_weight[1] == 0).all()


def test_indices_that_another_thread_changes_write_nothing_outside() -> None:
    given = np.random.default_rng(0).integers(0, 8, 300_000)
    indices, done = sz.from_dlpack(given), threading.Event()

    def change() -> None:
        at = 0
        while not done.is_set():
            given[at], given[at] = 10**12, 3
            at = (at + 7919) % given.size

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(20):
            with suppress(sz.OutOfRange):
                counts, order, _ = sz.nn.moe_permutation(indices, 8)
                assert int(counts.sum().item()) == given.size
                assert np.array_equal(np.sort(exact(order)), np.arange(given.size))
    finally:
        done.set()
        thread.join()


def test_products_by_group_of_views_and_threads() -> None:
    x, weight = made("bfloat16", 90, 200), made("bfloat16", 3, 200, 150)
    plain = exact(sz.nn.grouped_matmul(x, weight, [30, 2, 58]))
    turned = permuted(sz.tensor(exact(weight).transpose(0, 2, 1).copy()), (0, 2, 1))
    with threads(3):
        again = sz.nn.grouped_matmul(x, sz.cast(turned, sz.bfloat16), [30, 2, 58])
    assert (exact(again) == plain).all()
    # The bits of a row are those of the same row in other groups; those of BLAS need not be.
    for size in (1, 2, 15, 16, 17) if _core.products_in_tiles() else ():
        alone = exact(sz.nn.grouped_matmul(x[32 : 32 + size], weight, [0, 0, size]))
        assert (alone == plain[32 : 32 + size]).all()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(700, 530), (300, 1100), (1024, 33)], ids=str)
def test_few_rows_have_the_bits_of_many(dtype: str, shape: tuple[int, int]) -> None:
    x, weight = made(dtype, 100, shape[0]), made(dtype, 3, *shape)
    every = exact(sz.nn.grouped_matmul(x, weight, [0, 100, 0]))
    wanted = exact(x) @ exact(weight)[1]
    bound = shape[0] * 2.0**-24 * (np.abs(exact(x)) @ np.abs(exact(weight)[1]))
    bound += np.abs(wanted) * {"float32": 0, "float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype]
    gaps = sz.concat([weight, weight], 2)[:, :, : shape[1]]
    for sizes in ([0, 1, 0], [3, 4, 5], [1, 8, 0], [7, 15, 2], [0, 16, 17], [3, 20, 1]):
        first = slice(sizes[0], sizes[0] + sizes[1])
        rows = sz.concat([x[50 : 50 + sizes[0]], x[: sizes[1]], x[70 : 70 + sizes[2]]], 0)
        for count, given in ((1, weight), (3, gaps)):
            with threads(count):
                found = exact(sz.nn.grouped_matmul(rows, given, sizes))[first]
            assert (np.abs(found - wanted[: sizes[1]]) <= bound[: sizes[1]]).all()
            if _core.products_in_tiles():  # the bits of BLAS depend on the shape
                assert (found == every[: sizes[1]]).all()


def test_a_layer_of_experts_and_its_gradient_of_tokens() -> None:
    tokens, k, experts = 20, 2, 4
    x, weight = made("float64", tokens, 6), made("float64", experts, 6, 5)
    gates, indices = sz.nn.moe_gating(made("float64", tokens, experts), k, renormalize=True)
    counts, order, positions = sz.nn.moe_permutation(indices, experts)
    rows = sz.nn.embedding(x, sz.floordiv(order, k))
    y = sz.nn.embedding(sz.nn.grouped_matmul(rows, weight, counts), positions)
    found = exact((y * gates.reshape(tokens, k, 1)).sum(1))
    a, w, at = exact(x), exact(weight), np.asarray(indices)
    wanted = np.einsum("tk,ti,tkio->to", exact(gates), a, w[at])
    assert np.allclose(found, wanted, rtol=1e-12)


X, W = made("float32", 4, 3), made("float32", 2, 3, 5)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: sz.nn.moe_gating(X, 4), sz.InvalidArgument, r"moe_gating \(11.1\): k is 4.*to 3"),
        (lambda: sz.nn.moe_gating(X, 0), sz.InvalidArgument, "k is 0"),
        (lambda: sz.nn.moe_gating(X, 2, "top"), sz.InvalidArgument, "softmax, sigmoid"),
        (lambda: sz.nn.moe_gating(sz.tensor(1.0), 1), sz.DimensionsMismatch, "rank 0"),
        (lambda: sz.nn.moe_gating(X * 1j, 1), sz.TypeMismatch, "complex"),
        (lambda: sz.nn.moe_gating_bwd(X, X, 2), sz.DimensionsMismatch, r"it must be \(4, 2\)"),
        (lambda: sz.nn.moe_permutation(X, 2), sz.TypeMismatch, "of integers"),
        (lambda: sz.nn.moe_permutation(sz.tensor([0, 2]), 2), sz.OutOfRange, "contains 2"),
        (lambda: sz.nn.moe_permutation(sz.tensor([-1]), 2), sz.OutOfRange, "contains -1"),
        (lambda: sz.nn.moe_permutation(sz.tensor([0]), 0), sz.OutOfRange, "no experts"),
        (lambda: sz.nn.moe_permutation(sz.tensor([0]), -1), sz.InvalidArgument, "num_experts"),
        (lambda: sz.nn.moe_permutation(sz.tensor([0]), 2**62), sz.AllocFailed, "moe_permutation"),
        (lambda: sz.nn.grouped_matmul(X, W, [4, 1]), sz.InvalidArgument, "sum of group_sizes is 5"),
        (lambda: sz.nn.grouped_matmul(X, W, [5, -1]), sz.InvalidArgument, "contains -1"),
        (lambda: sz.nn.grouped_matmul(X, W, [4]), sz.DimensionsMismatch, "1 numbers"),
        (lambda: sz.nn.grouped_matmul(X, W, X), sz.TypeMismatch, "of integers"),
        (lambda: sz.nn.grouped_matmul(X, W, sz.tensor([[4]])), sz.DimensionsMismatch, "one axis"),
        (lambda: sz.nn.grouped_matmul(X, X, [4, 0]), sz.DimensionsMismatch, "groups, inputs"),
        (lambda: sz.nn.grouped_matmul_bwd(X, X, W, [4, 0]), sz.DimensionsMismatch, "out_grad has"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        call()
