"""Attention and rotary embeddings: tiles, threads, levels, layouts and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import at_level, threads
from helpers.normal import exact, made, turned
from suanzi import _core

Array = np.ndarray[Any, Any]
BOUND = {"float64": 1e-13, "float32": 4e-6, "float16": 2e-3, "bfloat16": 1.6e-2}
attend = sz.nn.scaled_dot_product_attention


def attention(q: Array, k: Array, v: Array, hidden: Array | None = None, cap: float = 0.0) -> Array:
    """Return the formula in float64; rows without keys are 0."""
    group = q.shape[-3] // k.shape[-3]
    k, v = np.repeat(k, group, -3), np.repeat(v, group, -3)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    s = cap * np.tanh(s / cap) if cap else s
    s = s if hidden is None else np.where(hidden, -np.inf, s)
    top = s.max(-1, keepdims=True)
    e = np.exp(s - np.where(np.isinf(top), 0, top))
    total = e.sum(-1, keepdims=True)
    return np.where(total > 0, e @ v / np.where(total > 0, total, 1), 0)


def positions(queries: int, keys: int, offset: int = 0) -> Array:
    """Return how many keys each key comes after the query."""
    return np.arange(keys)[None] - np.arange(queries)[:, None] - offset


SIZES = [
    # heads, heads of keys, queries, keys, columns, columns of values
    (2, 2, 1, 257, 64, 64), (8, 2, 2, 513, 128, 40), (4, 4, 9, 255, 16, 16),
    (2, 1, 65, 256, 80, 33), (1, 1, 129, 300, 128, 128), (3, 3, 33, 7, 5, 1),
]  # fmt: skip


@pytest.mark.parametrize("name", _core.levels())
@pytest.mark.parametrize("dtype", BOUND)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_blocks_and_tiles(name: str, dtype: str, sizes: tuple[int, ...]) -> None:
    heads, shared, queries, keys, columns, width = sizes
    q = made(dtype, 2, heads, queries, columns)
    k, v = made(dtype, 2, shared, keys, columns), made(dtype, 2, shared, keys, width, seed=1)
    full = [exact(x) for x in (q, k, v)]
    hidden = np.random.default_rng(1).random((2, heads, queries, keys)) < 0.3
    hidden[0, 0, 0] = True
    after = positions(queries, keys, keys - queries)
    with at_level(name):
        for options, wanted in (
            ({}, attention(*full)),
            ({"mask": sz.tensor(~hidden), "softcap": 2.0}, attention(*full, hidden, 2.0)),
            ({"causal": True, "align": "bottom_right"}, attention(*full, after > 0)),
            ({"window": (5, 3)}, attention(*full, abs(positions(queries, keys) + 1) > 4)),
        ):
            found = exact(attend(q, k, v, **options))  # type: ignore[arg-type]
            np.testing.assert_allclose(found, wanted, atol=BOUND[dtype], rtol=BOUND[dtype])


@pytest.mark.parametrize("queries", [1, 40])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_threads_and_the_batch_change_no_bit(dtype: str, queries: int) -> None:
    q, k = made(dtype, 3, 4, queries, 64), made(dtype, 3, 2, 600, 64)
    with threads(1):
        wanted = exact(attend(q, k, k, causal=True, align="bottom_right"))
    with threads(3):
        assert (exact(attend(q, k, k, causal=True, align="bottom_right")) == wanted).all()
    one = attend(q[1:2], k[1:2], k[1:2], causal=True, align="bottom_right")
    assert (exact(one) == wanted[1:2]).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float8_e4m3fn", "float64"])
@pytest.mark.parametrize("queries", [2, 20])
def test_layouts(dtype: str, queries: int) -> None:
    q, k = made(dtype, 2, 4, queries, 8), made(dtype, 2, 2, 30, 8)
    mask = sz.tensor(np.random.default_rng(0).random((queries, 30)) < 0.7)
    wanted = exact(attend(q, k, k, mask))
    assert (exact(attend(turned(q), turned(k), turned(k), turned(mask))) == wanted).all()
    back = attend(sz.flip(q, (2,)), k, k, sz.flip(mask, (0,)))
    assert (exact(back)[:, :, ::-1] == wanted).all()
    added = sz.cast(sz.tensor(np.where(np.asarray(mask), 0, -np.inf)), dtype)
    if dtype != "float8_e4m3fn":  # which has no infinity
        assert (exact(attend(q, k, k, turned(added))) == wanted).all()


def test_hidden_values_take_no_part() -> None:
    q, k, v = made("float32", 1, 20, 4), made("float32", 1, 9, 4), np.ones((1, 9, 4))
    v[0, 5] = [np.nan, np.inf, 1, 1]
    mask = np.full((20, 9), True)
    mask[::2, 5] = False
    found = exact(attend(q, k, sz.tensor(v, sz.float32), sz.tensor(mask)))[0]
    np.testing.assert_allclose(found[::2], 1, rtol=1e-6)
    assert np.isnan(found[1::2, 0]).all()
    assert np.isinf(found[1::2, 1]).all()
    np.testing.assert_allclose(found[:, 2:], 1, rtol=1e-6)
    seen = exact(attend(q, k, sz.tensor(v, sz.float32), causal=True))[0]
    assert np.isfinite(seen[:5]).all()
    assert not np.isfinite(seen[5:, :2]).any()


def test_rows_without_keys() -> None:
    q, k = made("float32", 2, 3, 4), made("float32", 2, 5, 4)
    none = sz.tensor(np.zeros((3, 5), bool))
    assert (exact(attend(q, k, k, none)) == 0).all()
    assert np.isnan(exact(attend(q, k, k, none, masked_rows="nan"))).all()
    sink = sz.tensor([0.0, -np.inf], sz.float32)
    found = exact(attend(q, k, k, none, sink=sink, masked_rows="nan"))
    assert (found[0] == 0).all()
    assert np.isnan(found[1]).all()


def test_a_sink_is_a_key_without_a_value() -> None:
    q, k = made("float64", 2, 12, 4), made("float64", 2, 5, 4)
    sink = np.array([0.5, -1.0])
    # A further column makes the score of a further key that of the sink.
    more = np.concatenate([exact(q), np.ones((2, 12, 1))], -1)
    keys = np.concatenate([exact(k), np.zeros((2, 5, 1))], -1)
    last = np.zeros((2, 1, 5))
    last[:, 0, 4] = sink * np.sqrt(5)
    keys, values = (
        np.concatenate([keys, last], 1),
        np.concatenate([exact(k), np.zeros((2, 1, 4))], 1),
    )
    found = attend(q, k, k, sink=sz.tensor(sink), scale=1 / np.sqrt(5))
    np.testing.assert_allclose(exact(found), attention(more, keys, values), rtol=1e-13)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x: attend(x, x[..., :1], x), sz.DimensionsMismatch, "last sizes of q and k"),
        (lambda x: attend(x, x, x[:, :1]), sz.DimensionsMismatch, "same number of rows"),
        (lambda x: attend(x, x[:0], x[:0]), sz.DimensionsMismatch, "multiple"),
        (lambda x: attend(x[0, 0], x, x), sz.DimensionsMismatch, "q has rank 1"),
        (lambda x: attend(x, x, x, sz.tensor([1, 2])), sz.TypeMismatch, "mask is int"),
        (lambda x: attend(x, x, x, sz.tensor([True] * 3)), sz.DimensionsMismatch, "broadcast to"),
        (lambda x: attend(x, x, x, sink=sz.tensor([1.0])), sz.DimensionsMismatch, r"\(2,\)"),
        (lambda x: attend(x, x, x, softcap=0), sz.InvalidArgument, "above 0"),
        (lambda x: attend(x, x, x, window=(1, -2)), sz.InvalidArgument, "-1 for no limit"),
        (lambda x: attend(x, x, x, align="left"), sz.InvalidArgument, "'bottom_right'"),
        (lambda x: attend(x, x, x, masked_rows=0), sz.InvalidArgument, "'zero' or 'nan'"),
        (lambda x: attend(x, x, x, scale="1"), sz.InvalidArgument, "scale"),
        (lambda x: attend(x * 1j, x, x), sz.TypeMismatch, "complex"),
        (lambda x: attend(x, x, x, scale=10**400), sz.InvalidArgument, "beyond float64"),
        (lambda x: sz.nn.rotary_embedding(x, x, x), sz.DimensionsMismatch, "number of pairs"),
        (lambda x: sz.nn.rotary_embedding(x, x[..., :2], x[..., :1]), sz.DimensionsMismatch,
         "cos has shape .* and sin has shape .* must be equal"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        call(made("float32", 2, 4, 4))


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("dtype", ["bfloat16", "float64"])
def test_rotary_layouts_and_threads(dtype: str, interleaved: bool) -> None:
    x, angles = made(dtype, 2, 3, 700, 40), np.random.default_rng(0).uniform(-3, 3, (700, 16))
    cos, sin = (sz.cast(sz.tensor(f(angles)), dtype) for f in (np.cos, np.sin))
    full, c, s = exact(x), exact(cos), exact(sin)
    order = np.arange(32).reshape(16, 2).T if interleaved else np.arange(32).reshape(2, 16)
    a, b = full[..., order[0]], full[..., order[1]]
    wanted = full.copy()
    wanted[..., order[0]], wanted[..., order[1]] = a * c - b * s, b * c + a * s
    unit = 2.0**-8 if dtype == "bfloat16" else 1e-15
    with threads(1):
        found = exact(sz.nn.rotary_embedding(x, cos, sin, interleaved=interleaved))
    np.testing.assert_allclose(found, wanted, rtol=unit, atol=unit)
    with threads(3):
        again = exact(sz.nn.rotary_embedding(turned(x), cos, sin, interleaved=interleaved))
    assert (again == found).all()


@pytest.mark.parametrize("name", _core.levels())
@pytest.mark.parametrize("sizes", [(4, 2, 3, 300, 8, 5), (2, 2, 140, 270, 16, 33)], ids=str)
@pytest.mark.parametrize(("causal", "cap"), [(False, 0.0), (True, 2.0)])
def test_gradients_are_slopes(name: str, sizes: tuple[int, ...], causal: bool, cap: float) -> None:
    """Along a random direction of q, k and v, the formula grows as the gradients say."""
    heads, shared, queries, keys, columns, width = sizes
    given = [made("float64", 2, heads, queries, columns), made("float64", 2, shared, keys, columns)]
    given += [made("float64", 2, shared, keys, width), made("float64", 2, heads, queries, width)]
    q, k, v, above = (exact(x) for x in given)
    hidden = positions(queries, keys, keys - queries) > 0 if causal else None
    options = {"causal": causal, "align": "bottom_right", "softcap": cap or None}
    with at_level(name), threads(2):
        found = sz.nn.scaled_dot_product_attention_bwd(given[3], *given[:3], **options)
    for i, x in enumerate((q, k, v)):
        way = np.random.default_rng(i).standard_normal(x.shape)
        ends = []
        for step in (1e-5, -1e-5):
            moved = [q, k, v]
            moved[i] = x + step * way
            ends.append((above * attention(*moved, hidden, cap)).sum())
        slope = (ends[0] - ends[1]) / 2e-5
        assert abs((exact(found[i]) * way).sum() - slope) < 1e-6 * max(1, abs(slope))


def test_gradients_change_neither_with_threads_nor_with_the_batch() -> None:
    q, k = made("bfloat16", 3, 4, 20, 16), made("bfloat16", 3, 2, 300, 16)
    with threads(1):
        wanted = [exact(x) for x in sz.nn.scaled_dot_product_attention_bwd(q, q, k, k)]
    with threads(3):
        again = [exact(x) for x in sz.nn.scaled_dot_product_attention_bwd(q, q, k, k)]
    one = sz.nn.scaled_dot_product_attention_bwd(*(x[1:2] for x in (q, q, k, k)))
    for first, second, alone in zip(wanted, again, one, strict=True):
        assert (first == second).all()
        assert (first[1:2] == exact(alone)).all()


def test_gradients_of_what_is_broadcast_are_rounded_once() -> None:
    q, k = made("bfloat16", 2, 1, 12, 4), made("bfloat16", 1, 1, 9, 4)
    k_grad = sz.nn.scaled_dot_product_attention_bwd(q, q, k, k)[1]
    wide = [sz.cast(x, sz.float32) for x in (q, q, k, k)]
    right = sz.nn.scaled_dot_product_attention_bwd(*wide)[1]
    assert k_grad.shape == k.shape
    assert (exact(k_grad) == exact(sz.cast(right, sz.bfloat16))).all()
    with pytest.raises(sz.DimensionsMismatch, match="that of the result"):
        sz.nn.scaled_dot_product_attention_bwd(k, q, k, k)
