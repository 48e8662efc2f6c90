"""Programs of JAX, Paddle and MindSpore under blame, with and without a fault; prints JSON.

frameworks.py FRAMEWORK
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy as np

import suanzi as sz

X = np.random.default_rng(0).normal(size=(4, 8)).astype(np.float32)


def said(report: Any) -> dict[str, Any]:
    """Return what a test needs of a report."""
    judged = sorted({s.operator for s in report.sites if s.judged})
    return {"answer": report.answer, "judged": judged, "notes": list(report.notes),
            "not_judged": dict(report.unjudged()), "data": report.to_dict(),
            "text": str(report)}  # fmt: skip


def jax() -> Any:
    """A layer, a norm and a loss with their gradients; a fault in the primitive rsqrt."""
    import jax
    import jax.numpy as jnp
    from jax._src.lax import lax

    def loss(w: Any, x: Any) -> Any:
        h = jax.nn.gelu(x @ w)
        h = (h - h.mean(-1, keepdims=True)) * jax.lax.rsqrt(h.var(-1, keepdims=True) + 1e-5)
        return jax.nn.log_softmax(h)[:, 1].mean() + jnp.cumsum(h).max()

    step = jax.jit(jax.grad(loss))
    w, x = jnp.asarray(X.T), jnp.asarray(X)
    with jax.disable_jit():
        before = step(w, x)
    with sz.blame(framework="jax", overhead=None) as report:
        now = step(w, x)
    original = lax.rsqrt_p.impl
    lax.rsqrt_p.impl = lambda *args, **kwargs: original(*args, **kwargs) * 1.001
    try:
        with sz.blame(framework="jax") as wrong:
            step(w, x)
    finally:
        lax.rsqrt_p.impl = original
    return bool((before == now).all()), said(report), said(wrong)


def paddle() -> Any:
    """Layers and functions, forward and backward; a fault in the kernel of gelu."""
    import paddle
    from paddle.nn import functional as F

    class Net(paddle.nn.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.norm = paddle.nn.Linear(8, 8), paddle.nn.LayerNorm(8)

        def forward(self, x: Any) -> Any:
            h = self.norm(F.gelu(self.first(x)))
            h = F.softmax(paddle.matmul(h, h, transpose_y=True) / 4.0, axis=-1) @ h
            h += 1.0
            return (1.0 - h * 2.0).mean() + paddle.exp(h).sum()

    def run() -> Any:
        paddle.seed(0)
        net = Net()
        y = net(paddle.to_tensor(X))
        y.backward()
        return [y.numpy(), *(p.grad.numpy() for p in net.parameters())]

    before = run()
    with sz.blame(framework="paddle", overhead=None) as report:
        now = run()
    original = F.gelu
    F.gelu = lambda x: original(x) * 1.001
    try:
        with sz.blame(framework="paddle") as wrong:
            run()
    finally:
        F.gelu = original
    same = all((a == b).all() for a, b in zip(before, now, strict=True))
    return same, said(report), said(wrong)


def mindspore() -> Any:
    """Functions and a layer; a fault in tanh."""
    import mindspore
    from mindspore import ops

    def run() -> Any:
        x = mindspore.Tensor(X)
        h = ops.tanh(ops.matmul(x, x.swapaxes(0, 1)) / 4.0)
        h += 1.0
        return (1.0 - h * 2.0 + ops.sqrt(h + 1.0)).sum().asnumpy()

    before = run()
    with sz.blame(framework="mindspore", overhead=None) as report:
        now = run()
    original = ops.sqrt
    ops.sqrt = lambda x: original(x) * 1.001
    try:
        with sz.blame(framework="mindspore") as wrong:
            run()
    finally:
        ops.sqrt = original
    return bool((before == now).all()), said(report), said(wrong)


if __name__ == "__main__":
    os.environ.setdefault("GLOG_v", "4")
    os.environ.setdefault("GLOG_minloglevel", "3")
    print(json.dumps({"jax": jax, "paddle": paddle, "mindspore": mindspore}[sys.argv[1]]()))
