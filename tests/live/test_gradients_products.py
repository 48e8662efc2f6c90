"""7.2.17.1, .2, .12, .13: products and gradients against PyTorch, where it is installed."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import suanzi as sz

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
F = torch.nn.functional

KINDS = [np.float64, np.complex128]


def sample(shape: tuple[int, ...], kind: Any, seed: int) -> Any:
    rng = np.random.default_rng([seed, *shape])
    array = rng.standard_normal(shape)
    if kind is np.complex128:
        array = array + 1j * rng.standard_normal(shape)
    return np.asarray(array, kind)


def leaf(array: Any) -> Any:
    return torch.tensor(array, requires_grad=True)


def same(ours: sz.Tensor, theirs: Any) -> None:
    expected = theirs.detach().numpy()
    assert ours.shape == expected.shape
    assert ours.numpy().dtype == expected.dtype
    assert np.allclose(ours.numpy(), expected, rtol=1e-12, atol=1e-12)


def torch_dot(x: Any, y: Any) -> Any:
    if not x.ndim or not y.ndim:
        return x * y
    return torch.tensordot(x, y, ([x.ndim - 1], [max(y.ndim - 2, 0)]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((2, 3), (3, 4)), ((2, 3, 4), (5, 4, 2)), ((), (2, 3)), ((3, 2), ())],
    ids=str,
)  # fmt: skip
def test_dot(shapes: Any, kind: Any) -> None:
    x, y = (sample(shape, kind, i) for i, shape in enumerate(shapes))
    a, b = leaf(x), leaf(y)
    out = torch_dot(a, b)
    g = sample(tuple(out.shape), kind, 9)
    out.backward(torch.tensor(g))
    same(sz.dot(sz.tensor(x), sz.tensor(y)), out)
    tensors = [sz.tensor(v) for v in (g, x, y)]
    same(sz.dot_bwd1(*tensors), a.grad)
    same(sz.dot_bwd2(*tensors), b.grad)


@pytest.mark.parametrize(("kind", "leading"), list(product(KINDS, [(), (3,), (2, 4)])), ids=str)
def test_linear(kind: Any, leading: tuple[int, ...]) -> None:
    x, weight, bias = (
        sample(shape, kind, i) for i, shape in enumerate([(*leading, 3), (5, 3), (5,)])
    )
    a, w, c = leaf(x), leaf(weight), leaf(bias)
    out = F.linear(a, w, c)
    g = sample(tuple(out.shape), kind, 9)
    out.backward(torch.tensor(g))
    same(sz.linear(sz.tensor(x), sz.tensor(weight), sz.tensor(bias)), out)
    same(sz.linear_bwd_in(sz.tensor(g), sz.tensor(weight)), a.grad)
    same(sz.linear_bwd_weight(sz.tensor(g), sz.tensor(x)), w.grad)


@pytest.mark.parametrize("leading", [(3,), (2, 4)], ids=str)
def test_bilinear(leading: tuple[int, ...]) -> None:
    kind = np.float64
    shapes = [(*leading, 3), (*leading, 4), (5, 3, 4), (5,)]
    x, y, weight, bias = (sample(shape, kind, i) for i, shape in enumerate(shapes))
    a, b, w = leaf(x), leaf(y), leaf(weight)
    out = F.bilinear(a, b, w, torch.tensor(bias))
    g = sample(tuple(out.shape), kind, 9)
    out.backward(torch.tensor(g))
    same(sz.bilinear(*(sz.tensor(v) for v in (x, y, weight, bias))), out)
    t, p, q, r = (sz.tensor(v) for v in (g, x, y, weight))
    same(sz.bilinear_bwd_in1(t, q, r), a.grad)
    same(sz.bilinear_bwd_in2(t, p, r), b.grad)
    same(sz.bilinear_bwd_weight(t, p, q), w.grad)
