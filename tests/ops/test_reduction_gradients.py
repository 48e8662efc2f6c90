"""7.2.13.1.4: reduce_bwd where it is delicate: complex numbers, ties of NaN, many elements."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.gradients import central_differences

SHAPES: list[tuple[int, ...]] = [(), (4,), (3, 1, 2)]


def every_axes(ndim: int) -> list[tuple[int, ...]]:
    return [c for n in range(1, ndim + 1) for c in itertools.combinations(range(ndim), n)] or [()]


@pytest.mark.parametrize("mode", ["SUM", "MEAN", "PROD"])
def test_of_complex_numbers(mode: str) -> None:
    rng = np.random.default_rng(1)
    for shape in SHAPES:
        x = np.array(rng.standard_normal(shape) + 1j * rng.standard_normal(shape))
        for axes, keep in itertools.product(every_axes(len(shape)), (False, True)):

            def forward(at: Any, axes: Any = axes, keep: bool = keep) -> Any:
                return sz.reduce(sz.tensor(at), mode, axes, keep_dims=keep).numpy()

            left = forward(x).shape
            out_grad = np.array(rng.standard_normal(left) + 1j * rng.standard_normal(left))
            found = sz.reduce_bwd(sz.tensor(out_grad), sz.tensor(x), mode, axes, keep_dims=keep)
            expected = central_differences(forward, x, out_grad)
            assert found.shape == x.shape
            assert np.allclose(found.numpy(), expected, rtol=1e-5, atol=1e-7)


def test_integers_and_nan_that_are_equal() -> None:
    g = sz.tensor(6.0)
    assert sz.reduce_bwd(g, sz.tensor([1, 1, 1, 3]), "MIN").tolist() == [2, 2, 2, 0]
    assert sz.reduce_bwd(g, sz.tensor([math.nan, 1.0, math.nan]), "MAX").tolist() == [3, 0, 3]
    assert sz.reduce_bwd(g, sz.tensor([True, False, True]), "MAX").tolist() == [3, 0, 3]


@pytest.mark.parametrize("dtype", ["complex32", "complex64", "complex128"])
def test_the_parts_of_a_complex_gradient_are_shared_apart(dtype: str) -> None:
    """An infinite part does not spoil the other, as it does not in the mean itself."""
    g = sz.tensor([complex(math.inf, 1), complex(-1, math.nan), complex(2, -0.0)], dtype)
    real = sz.real(g).dtype
    for mode, x in (("MEAN", sz.zeros((3, 2), dtype)), ("MAX", sz.zeros((3, 2), real))):
        found = sz.reduce_bwd(g, x, mode, 1)
        assert sz.real(found).tolist() == [[math.inf] * 2, [-0.5] * 2, [1.0] * 2]
        imaginary = sz.imag(found).tolist()
        assert imaginary[0] == [0.5] * 2
        assert all(math.isnan(v) for v in imaginary[1])
        assert [math.copysign(1, v) for v in imaginary[2]] == [-1, -1]


def test_dtypes_and_rounding() -> None:
    many = sz.full("float16", "cpu", (70000,), 1)  # more than float16 can count
    found = sz.reduce_bwd(sz.tensor(1.0, sz.float16), many, "MEAN")
    assert found.dtype is sz.float16
    assert found[0].item() == np.float16(1 / 70000)
    wide = sz.cast(many, sz.bfloat16)
    assert sz.reduce_bwd(sz.tensor(2.0, sz.bfloat16), wide, "MAX")[5].item() == float(
        sz.tensor(2 / 70000, sz.bfloat16).item()
    )
    whole = sz.reduce_bwd(sz.tensor(3), sz.tensor([True, False]))
    assert whole.tolist() == [3, 3]
    assert whole.dtype is sz.int64
    assert sz.reduce_bwd(sz.tensor(2), sz.tensor([3, 4], sz.int64), "PROD").tolist() == [8, 6]
    tiny = sz.tensor([1e-30, 1e-30, 1e30, 1e30], sz.float32)
    back = sz.reduce_bwd(sz.tensor(1.0), tiny, "PROD").tolist()
    assert back == pytest.approx([1e30, 1e30, 1e-30, 1e-30], rel=1e-6)


@pytest.mark.parametrize("mode", ["SUM", "PROD", "MEAN", "MAX", "MIN"])
def test_a_gradient_of_another_dtype_is_refused(mode: str) -> None:
    """7.2.13.1.5: it has the dtype of what was reduced."""
    x = sz.tensor([1.0, 2.0])
    for dt in (sz.float64, sz.float16, sz.int32, sz.complex128):
        with pytest.raises(sz.TypeMismatch, match="out_grad is"):
            sz.reduce_bwd(sz.cast(sz.tensor(1.0), dt), x, mode)
        status, _ = sz.interface.op_reduce_bwd(sz.cast(sz.tensor(1.0), dt), x, mode)
        assert status is sz.Status.TYPE_MISMATCH
