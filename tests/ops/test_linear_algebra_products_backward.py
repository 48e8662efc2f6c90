"""7.2.17.2, .12, .13: gradients of products, against central differences."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.gradients import central_differences
from helpers.matrices import random

KINDS = [sz.float64, sz.complex128]
DOTS = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 3, 4), (4,)),
        ((2, 3, 4), (2, 4, 3)), ((4,), (2, 4, 3)), ((3, 4), (2, 2, 4, 3)), ((), (2, 3)),
        ((2, 3), ()), ((), ()), ((1, 1), (1, 1))]  # fmt: skip


def check(found: sz.Tensor, forward: Callable[[Any], Any], at: Any, out_grad: Any) -> None:
    expected = central_differences(forward, at, out_grad)
    assert found.shape == expected.shape
    assert found.numpy().dtype == expected.dtype
    assert np.allclose(found.numpy(), expected, rtol=1e-6, atol=1e-8)


def dot(x: Any, y: Any) -> Any:
    if not x.ndim or not y.ndim:
        return x * y
    return np.tensordot(x, y, (x.ndim - 1, max(y.ndim - 2, 0)))


@pytest.mark.parametrize("kinds", list(product(KINDS, KINDS)), ids=str)
@pytest.mark.parametrize("shapes", DOTS, ids=str)
def test_dot(shapes: Any, kinds: Any) -> None:
    """That of a real operand is real, also where the other one is complex."""
    x, y = (
        random(shape, kind, i) for i, (shape, kind) in enumerate(zip(shapes, kinds, strict=True))
    )
    g = random(dot(x, y).shape, sz.complex128 if sz.complex128 in kinds else sz.float64, 7)
    tensors = [sz.tensor(a) for a in (g, x, y)]
    check(sz.dot_bwd1(*tensors), lambda at: dot(at, y), x, g)
    check(sz.dot_bwd2(*tensors), lambda at: dot(x, at), y, g)


def test_bilinear_in_blocks() -> None:
    """More rows than one block has."""
    x, y = random((3000, 60), sz.float64, 1), random((3000, 50), sz.float64, 2)
    weight, g = random((10, 60, 50), sz.float64, 3), random((3000, 10), sz.float64, 4)
    a, b, w, t = map(sz.tensor, (x, y, weight, g))
    cases = {
        "no,oij,nj->ni": (sz.bilinear_bwd_in1(t, b, w), (g, weight, y)),
        "no,oij,ni->nj": (sz.bilinear_bwd_in2(t, a, w), (g, weight, x)),
        "no,ni,nj->oij": (sz.bilinear_bwd_weight(t, a, b), (g, x, y)),
    }
    for subscripts, (found, arrays) in cases.items():
        expected = np.einsum(subscripts, *arrays, optimize=True)
        assert np.allclose(found.numpy(), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "dt", [sz.float16, sz.bfloat16, sz.float32, sz.complex32, sz.complex64], ids=str
)
def test_narrow_dtypes_are_rounded_once(dt: sz.DType) -> None:
    """Whole numbers, exact in every dtype, so that a second rounding or another order shows."""
    rng = np.random.default_rng(1)

    def whole(*shape: int) -> Any:
        made = rng.integers(-3, 4, shape)
        return made + 1j * rng.integers(-3, 4, shape) if dt.kind == "complex" else made

    g, x, y, w = whole(3, 4), whole(3, 2), whole(3, 5), whole(4, 2, 5)
    t, a, b, c = (sz.cast(sz.tensor(v), dt) for v in (g, x, y, w))
    cases = [
        (sz.linear_bwd_in(t, c[:, :, 0]), g @ np.conj(w[:, :, 0])),
        (sz.linear_bwd_weight(t, a), g.T @ np.conj(x)),
        (sz.bilinear_bwd_in1(t, b, c), np.einsum("no,oij,nj->ni", g, np.conj(w), np.conj(y))),
        (sz.bilinear_bwd_in2(t, a, c), np.einsum("no,oij,ni->nj", g, np.conj(w), np.conj(x))),
        (sz.bilinear_bwd_weight(t, a, b), np.einsum("no,ni,nj->oij", g, np.conj(x), np.conj(y))),
        (sz.dot_bwd1(t, a, sz.transpose(c[:, :, 0])), g @ np.conj(w[:, :, 0])),
        (sz.dot_bwd2(t, a, sz.transpose(c[:, :, 0])), np.conj(x).T @ g),
    ]
    for found, expected in cases:
        assert found.dtype is dt
        rounded = sz.cast(sz.tensor(np.asarray(expected)), dt)
        assert found.tolist() == rounded.tolist()


def test_dtypes_of_gradients_of_dot() -> None:
    g, half, whole = sz.tensor([0.5, 1.5]), sz.tensor(2.0, sz.float16), sz.tensor([3, 4], sz.int8)
    assert sz.dot_bwd1(g, half, sz.tensor([1.0, 2.0])).dtype is sz.float16
    assert sz.dot_bwd2(g, half, whole).tolist() == [1, 3]
    assert sz.dot_bwd2(g, half, whole).dtype is sz.float32  # no fractions would be left
    found = sz.dot_bwd1(sz.tensor([2, 3]), sz.tensor(2, sz.int8), sz.tensor([100, 100]))
    assert (found.dtype, found.item()) == (sz.int8, 500 - 512)
