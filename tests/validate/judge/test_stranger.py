"""`assert_right` by a stranger: NumPy's answers in float64 are right, faults in them are not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import suanzi as sz

RNG = np.random.default_rng(3)
Array = np.ndarray[Any, Any]


def _normal(*shape: int) -> Array:
    made: Array = RNG.normal(size=shape).astype(np.float32)
    return made


X, Y, G, W, BIAS = _normal(3, 5), _normal(3, 5), _normal(3, 5), _normal(4, 5), _normal(4)
POSITIVE, PULLED, ROW, TARGETS = np.abs(X) + np.float32(0.1), _normal(3, 4), _normal(7), [1, 0, 4]
IMAGE, KERNEL = _normal(2, 3, 6, 6), _normal(4, 3, 3, 3)
Q, K, V = _normal(1, 2, 3, 4), _normal(1, 2, 5, 4), _normal(1, 2, 5, 4)
A, B, P, D, L, PIXELS, C = (x.astype(float) for x in (X, Y, POSITIVE, G, W, IMAGE, KERNEL))
SYMMETRIC = np.float32(A @ A.T + 3 * np.eye(3))
S = SYMMETRIC.astype(float)
SIGMOID = 1 / (1 + np.exp(-A))
BY_ERF = np.frompyfunc(math.erf, 1, 1)


def _softmax(a: Array) -> Array:
    e = np.exp(a - a.max(-1, keepdims=True))
    made: Array = e / e.sum(-1, keepdims=True)
    return made


def _convolved() -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(PIXELS, (3, 3), (2, 3))
    made: Array = np.einsum("ncijab,ocab->noij", windows, C)
    return made


SCORES = Q.astype(float) @ K.astype(float).swapaxes(-1, -2) / 2
LOG_SOFTMAX, SOFT = np.log(_softmax(A)), _softmax(A)
CASES: list[tuple[str, tuple[Any, ...], dict[str, Any], list[Any]]] = [
    ("add", (X, Y), {}, [A + B]),
    ("mul", (X, Y), {}, [A * B]),
    ("div", (X, POSITIVE), {}, [A / P]),
    ("exp", (X,), {}, [np.exp(A)]),
    ("log", (POSITIVE,), {}, [np.log(P)]),
    ("sin", (X,), {}, [np.sin(A)]),
    ("tanh", (X,), {}, [np.tanh(A)]),
    ("sqrt", (POSITIVE,), {}, [np.sqrt(P)]),
    ("pow", (POSITIVE, Y), {}, [P**B]),
    ("square", (X,), {}, [A * A]),
    ("clip", (X, -1.0, 1.0), {}, [A.clip(-1, 1)]),
    ("where", (X > 0, X, Y), {}, [np.where(X > 0, A, B)]),
    ("greater", (X, Y), {}, [A > B]),
    ("reduce", (X,), {"axis": -1}, [A.sum(-1)]),
    ("reduce_bwd", (PULLED[:, 0], X), {"axis": -1},
     [np.broadcast_to(PULLED[:, :1].astype(float), (3, 5))]),
    ("cumsum", (X,), {"axis": 1}, [A.cumsum(1)]),
    ("argmax", (X,), {}, [A.argmax(-1)]),
    ("topk", (X,), {"k": 2}, [np.sort(A)[:, ::-1][:, :2], np.argsort(-A)[:, :2]]),
    ("argsort", (X,), {}, [np.sort(A)[:, ::-1], np.argsort(-A)]),
    ("nonzero", (X > 0,), {}, [*np.nonzero(X > 0)]),
    ("matmul", (X, Y.T.copy()), {}, [A @ B.T]),
    ("dot", (X, Y.T.copy()), {}, [A @ B.T]),
    ("concat", ([X, Y],), {"axis": 0}, [np.concatenate([A, B])]),
    ("split", (X,), {"split_sizes": [1, 2], "axis": 0}, [A[:1], A[1:]]),
    ("transpose", (X,), {}, [A.T]),
    ("norm", (X, "2"), {}, [np.sqrt((A * A).sum())]),
    ("inverse", (SYMMETRIC,), {}, [np.linalg.inv(S)]),
    ("cholesky", ("L", SYMMETRIC), {}, [np.linalg.cholesky(S)]),
    ("fft_r2c", (ROW,), {}, [np.fft.rfft(ROW.astype(float))]),
    ("softmax", (X,), {}, [SOFT]),
    ("softmax_bwd", (G, X), {}, [SOFT * (D - (D * SOFT).sum(-1, keepdims=True))]),
    ("gelu", (X,), {}, [A * (1 + BY_ERF(A / math.sqrt(2)).astype(float)) / 2]),
    ("silu_bwd", (G, X), {}, [D * SIGMOID * (1 + A * (1 - SIGMOID))]),
    ("relu_bwd", (G, X), {}, [D * (A > 0)]),
    ("layer_norm", (X,), {"normalized_shape": 5},
     [(A - A.mean(-1, keepdims=True)) / np.sqrt(A.var(-1, keepdims=True) + 1e-5)]),
    ("linear", (X, W, BIAS), {}, [A @ L.T + BIAS.astype(float)]),
    ("linear_bwd", (PULLED, X, W, BIAS), {},
     [PULLED.astype(float) @ L, PULLED.T.astype(float) @ A, PULLED.astype(float).sum(0)]),
    ("conv2d", (IMAGE, KERNEL), {}, [_convolved()]),
    ("max_pool2d", (IMAGE, 2), {}, [PIXELS.reshape(2, 3, 3, 2, 3, 2).max((3, 5))]),
    ("avg_pool2d", (IMAGE, 2), {}, [PIXELS.reshape(2, 3, 3, 2, 3, 2).mean((3, 5))]),
    ("scaled_dot_product_attention", (Q, K, V), {}, [_softmax(SCORES) @ V.astype(float)]),
    ("cross_entropy", (X, np.array(TARGETS)), {}, [-LOG_SOFTMAX[range(3), TARGETS].mean()]),
    ("mse_loss_bwd", (np.float32(1.5), X, Y), {}, [(A - B) / 5, (B - A) / 5]),
    ("one_hot", (np.array(TARGETS), 5), {}, [np.eye(5, dtype=np.int64)[TARGETS]]),
    ("embedding", (W, np.array([2, 0])), {}, [L[[2, 0]]]),
]  # fmt: skip


def _stored(x: Any) -> Array:
    """Return an answer in the dtype of a result: floats as float32."""
    made = np.asarray(x)
    to = {"f": np.dtype(np.float32), "c": np.dtype(np.complex64)}.get(made.dtype.kind, made.dtype)
    return made.astype(to)


def _faults(x: Array) -> Iterator[tuple[str, Any]]:
    yield "None", None
    yield "text", "x"
    yield "numbers without a dtype", x.tolist() if x.ndim else "1"
    yield "objects", x.astype(object)
    yield "float64", x.real.astype(np.float64)
    yield "int16", x.real.astype(np.int16)
    yield "an axis more", x[None]
    if x.ndim:
        yield "a column less", x[..., :-1]
    for name, made in (("NaN", np.nan), ("infinity", np.inf)):
        if x.dtype.kind in "fc":
            wrong = x.copy().reshape(-1)
            wrong[-1] = made
            yield name, wrong.reshape(x.shape)
    wrong = x.copy().reshape(-1)
    at = int(np.abs(wrong).argmax())
    wrong[at] = ~wrong[at] if x.dtype == bool else wrong[at] + (wrong[at] / 1000 or 1)
    if x.dtype.kind == "i":
        wrong[at] = x.flat[at] + 1
    yield "another element", wrong.reshape(x.shape)


@pytest.mark.parametrize(("op", "inputs", "params", "answers"), CASES)
def test_right_answers_pass_and_faults_do_not(
    op: str, inputs: tuple[Any, ...], params: dict[str, Any], answers: list[Any]
) -> None:
    right = [_stored(x) for x in answers]
    sz.assert_right(op, inputs, tuple(right), **params)
    sz.assert_right(op, inputs, right, **params)
    counts: list[Any] = [(), tuple(right[:-1]), (*right, right[0]), None, {"output": right[0]}]
    for wrong in counts:
        with pytest.raises(AssertionError, match="outputs, not|output 0 is a"):
            sz.assert_right(op, inputs, wrong, **params)
    for i, x in enumerate(right):
        named = f"{op} is wrong: " + (f"output {i}" if len(right) > 1 else "")
        for fault, wrong in _faults(x):
            with pytest.raises(AssertionError) as raised:
                sz.assert_right(op, inputs, (*right[:i], wrong, *right[i + 1 :]), **params)
            assert str(raised.value).startswith(named), fault


def test_there_are_forty() -> None:
    assert len(CASES) >= 40
