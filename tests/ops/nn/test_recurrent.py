"""Operators along time: formulas, levels, threads, batches, cuts, layouts and errors."""

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
causal = sz.nn.causal_conv1d
# batch, channels, length, width
SIZES = [(1, 3, 1, 4), (2, 5, 70, 4), (1, 2, 9000, 3), (1, 1, 10_000, 2), (3, 300, 2, 4),
         (2, 3, 40, 1), (2, 3, 4, 9), (1, 2, 5000, 7)]  # fmt: skip


def operands(dtype: str, sizes: tuple[int, ...]) -> tuple[sz.Tensor, ...]:
    batch, channels, length, width = sizes
    return (
        made(dtype, batch, channels, length), made(dtype, channels, width, seed=1),
        made(dtype, channels, seed=2), made(dtype, batch, channels, width - 1, seed=3),
    )  # fmt: skip


def formula(x: Array, w: Array, b: Array, state: Array, silu: bool) -> Array:
    seen = np.concatenate([state, x], -1)
    y = sum(w[:, k : k + 1] * seen[..., k : k + x.shape[-1]] for k in range(w.shape[1]))
    y = y + b[:, None]
    return y / (1 + np.exp(-y)) if silu else y


@pytest.mark.parametrize("name", _core.levels())
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", BOUND)
def test_values_and_threads(name: str, sizes: tuple[int, ...], dtype: str) -> None:
    given = operands(dtype, sizes)
    silu = sizes[0] == 1
    wanted = formula(*map(exact, given), silu=silu)
    how: dict[str, Any] = {"activation": "silu" if silu else None, "return_state": True}
    with at_level(name), threads(1):
        y, state = causal(*given, **how)
    scale = sizes[3] * BOUND[dtype]
    np.testing.assert_allclose(exact(y), wanted, rtol=scale, atol=scale)
    both = np.concatenate([exact(given[3]), exact(given[0])], -1)
    assert (exact(state) == both[..., sizes[2] :]).all()
    with at_level(name), threads(3):
        again, _ = causal(*(turned(x) for x in given), **how)
    assert (exact(again) == exact(y)).all()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("width", [2, 4, 6])
def test_bits_do_not_depend_on_batch_or_cuts(dtype: str, width: int) -> None:
    x, w, b, _ = operands(dtype, (3, 70, 130, width))
    whole, last = causal(x, w, b, activation="silu", return_state=True)
    for i in range(3):
        assert (exact(causal(x[i : i + 1], w, b, activation="silu")) == exact(whole[i])).all()
    one = causal(x[1:2, 33:34], w[33:34], b[33:34], activation="silu")
    assert (exact(one)[0, 0] == exact(whole)[1, 33]).all()
    state = sz.zeros((3, 70, width - 1), dtype)
    parts = []
    for cut in (slice(0, 1), slice(1, 3), slice(3, 90), slice(90, 130)):
        y, state = causal(x[..., cut], w, b, state, activation="silu", return_state=True)
        parts.append(exact(y))
    assert (np.concatenate(parts, -1) == exact(whole)).all()
    assert (exact(state) == exact(last)).all()


@pytest.mark.parametrize("name", _core.levels())
@pytest.mark.parametrize("silu", [False, True])
@pytest.mark.parametrize("sizes", [(2, 5, 70, 4), (3, 2, 2, 4), (2, 3, 33, 3), (1, 1, 9, 1),
                                   (2, 2, 3, 9)], ids=str)  # fmt: skip
def test_gradients_are_slopes(name: str, sizes: tuple[int, ...], silu: bool) -> None:
    """Along a random direction of all operands, the formula grows as the gradients say."""
    given = operands("float64", sizes)
    values = [exact(x) for x in given]
    ways = [exact(made("float64", *x.shape, seed=7)) for x in given]
    above = made("float64", *given[0].shape, seed=8)
    late = made("float64", *given[3].shape, seed=9)

    def result(step: float) -> float:
        x, w, b, state = (v + step * way for v, way in zip(values, ways, strict=True))
        last = np.concatenate([state, x], -1)[..., x.shape[-1] :]
        y = formula(x, w, b, state, silu)
        return float((y * exact(above)).sum() + (last * exact(late)).sum())

    gate: Any = "silu" if silu else None
    with at_level(name):
        grads = sz.nn.causal_conv1d_bwd(above, *given, late, activation=gate)
    h = 1e-5
    wanted = (result(h) - result(-h)) / (2 * h)
    found = sum((exact(g) * way).sum() for g, way in zip(grads, ways, strict=True))
    assert abs(found - wanted) <= 1e-7 * (1 + abs(wanted))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_gradients_of_threads_and_layouts(dtype: str) -> None:
    given = operands(dtype, (3, 200, 61, 4))
    above = made(dtype, 3, 200, 61, seed=5)
    with threads(1):
        once = sz.nn.causal_conv1d_bwd(above, *given, activation="silu")
    with threads(3):
        again = sz.nn.causal_conv1d_bwd(
            turned(above), *(turned(x) for x in given), activation="silu"
        )
    assert [x.shape for x in once] == [x.shape for x in given]
    for a, b in zip(once, again, strict=True):
        assert (exact(a) == exact(b)).all()
    few = sz.nn.causal_conv1d_bwd(above, *given[:2], activation="silu")
    assert len(few) == 2


def test_16_bits_are_rounded_once() -> None:
    """A sum whose terms cancel keeps what bfloat16 would have lost on the way."""
    x = sz.tensor([[[256.0, 1.0, 256.0]]], sz.bfloat16)
    w = sz.tensor([[1.0, 1.0, -1.0]], sz.bfloat16)
    assert exact(causal(x, w))[0, 0, 2] == 1.0


def test_promotion_and_zero_sizes() -> None:
    x, w = made("bfloat16", 1, 2, 3), made("float32", 2, 4)
    assert causal(x, w).dtype is sz.float32
    with sz.promotion("numpy"):
        assert causal(sz.full("int64", "cpu", (1, 2, 3), 1), w).dtype is sz.float64
    y, state = causal(x[..., :0], w, return_state=True)
    assert y.shape == (1, 2, 0)
    assert (exact(state) == 0).all()
    x_grad, w_grad = sz.nn.causal_conv1d_bwd(x[:0], x[:0], w)
    assert x_grad.shape == (0, 2, 3)
    assert (exact(w_grad) == 0).all()


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x, w: causal(x[0], w), sz.DimensionsMismatch, "expand_dims"),
        (lambda x, w: causal(x, w[:1]), sz.DimensionsMismatch, r"must be \(2, width\)"),
        (lambda x, w: causal(x, w[:, :0]), sz.DimensionsMismatch, "at least one tap"),
        (lambda x, w: causal(x, w, w), sz.DimensionsMismatch, "bias has shape"),
        (lambda x, w: causal(x, w, None, x[..., :2]), sz.DimensionsMismatch,
         r"initial_state has shape .* \(1, 2, 3\)"),
        (lambda x, w: causal(x, w, activation="relu"), sz.InvalidArgument, "one of silu"),
        (lambda x, w: causal(x, w, return_state=1.5), sz.InvalidArgument, "return_state"),
        (lambda x, w: causal(x * 1j, w), sz.TypeMismatch, "complex"),
        (lambda x, w: sz.nn.causal_conv1d_bwd(x[..., :1], x, w), sz.DimensionsMismatch, "out_grad"),
        (lambda x, w: sz.nn.causal_conv1d_bwd(x, x, w, final_state_grad=x), sz.DimensionsMismatch,
         "final_state_grad has shape"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        call(made("float32", 1, 2, 5), made("float32", 2, 4))
