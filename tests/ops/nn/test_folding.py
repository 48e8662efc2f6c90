"""nn 7.11 to 7.18: windows as columns and back, and pixels: layouts, threads, dtypes and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import suanzi as sz
from helpers.functions import at_level, threads
from helpers.normal import exact, made
from suanzi import _core
from suanzi.base.status import DimensionsMismatch, InvalidArgument, StatusError
from suanzi.tensors.parts import permuted

Array = np.ndarray[Any, Any]
CASES: list[dict[str, Any]] = [
    {"kernel_size": 3},
    {"kernel_size": (2, 5), "padding": (1, 3), "stride": (2, 1)},
    {"kernel_size": (3, 2), "dilation": (2, 4), "padding": 2, "stride": (1, 3)},
    {"kernel_size": 1, "stride": 5},
    {"kernel_size": (1, 2), "dilation": (1, 9), "padding": (0, 30), "stride": (1, 7)},
]


def columns(x: Array, how: dict[str, Any]) -> Array:
    """Return the windows of images in float64."""
    pair = {k: v if isinstance(v, tuple) else (v, v) for k, v in how.items()}
    kernel, stride = pair["kernel_size"], pair.get("stride", (1, 1))
    dilation, padding = pair.get("dilation", (1, 1)), pair.get("padding", (0, 0))
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    reach = tuple(d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True))
    seen = sliding_window_view(x, reach, (2, 3))
    seen = seen[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
    n, c, h, w, i, j = seen.shape
    return seen.transpose(0, 1, 4, 5, 2, 3).reshape(n, c * i * j, h * w)


@pytest.mark.parametrize("name", _core.levels())
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn"])
@pytest.mark.parametrize("how", CASES, ids=str)
def test_unfold_and_fold(name: str, dtype: str, how: dict[str, Any]) -> None:
    x = made(dtype, 2, 3, 9, 37)
    with at_level(name):
        found = sz.nn.unfold(x, **how)
        wanted = columns(exact(x), how)
        assert (exact(found) == wanted).all()
        # fold adds what unfold copies: their products with any tensors are the same.
        g = made(dtype, *wanted.shape, seed=1)
        folded = sz.nn.fold(sz.cast(g, sz.float64), x.shape[2:], **how)
        other = np.random.default_rng(2).standard_normal(x.shape)
        size = np.abs(exact(g)).max() * np.sqrt(wanted.size)
        difference = (exact(folded) * other).sum() - (exact(g) * columns(other, how)).sum()
        assert abs(difference) < 1e-12 * size
        narrow = sz.nn.fold(g, x.shape[2:], **how)
    rounded = sz.cast(sz.cast(folded, sz.float32), dtype)
    bound = {"float64": 0.0, "float32": 1e-6}.get(dtype, 0.13 if "8" in dtype else 1e-2)
    np.testing.assert_allclose(
        exact(narrow), exact(rounded), rtol=bound or 1e-6, atol=bound or 1e-6
    )


def test_layouts_and_threads_change_no_bit() -> None:
    x = made("bfloat16", 2, 5, 64, 66)
    how: dict[str, Any] = {"kernel_size": 3, "padding": 1, "stride": 2}
    turned = permuted(_core.row_major_copy(permuted(x, (3, 1, 0, 2))), (2, 1, 3, 0))
    with threads(1):
        wanted = sz.nn.unfold(x, **how)
        back = exact(sz.nn.fold(wanted, (64, 66), **how))
    with threads(3):
        assert (exact(sz.nn.unfold(turned, **how)) == exact(wanted)).all()
        other = permuted(_core.row_major_copy(permuted(wanted, (2, 0, 1))), (1, 2, 0))
        assert (exact(sz.nn.fold(other, (64, 66), **how)) == back).all()


def test_pixels() -> None:
    x = sz.tensor(np.arange(2 * 12 * 2 * 3, dtype=np.float32).reshape(2, 12, 2, 3))
    wide = np.asarray(sz.nn.pixel_shuffle(x, 2))
    for i, j in np.ndindex(2, 2):
        assert (wide[:, :, i::2, j::2] == np.asarray(x)[:, i * 2 + j :: 4]).all()
    assert (np.asarray(sz.nn.pixel_unshuffle(sz.tensor(wide), 2)) == np.asarray(x)).all()
    assert sz.nn.pixel_shuffle(x[:0], 2).shape == (0, 3, 4, 6)
    assert sz.nn.pixel_shuffle_bwd(sz.tensor(wide), x, 2).tolist() == x.tolist()


X = sz.zeros(shape=(1, 4, 5, 5))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: sz.nn.unfold(X, 6), DimensionsMismatch, "must fit"),
        (lambda: sz.nn.unfold(X[0, 0], 2), DimensionsMismatch, "x has shape (5, 5)"),
        (lambda: sz.nn.unfold(X, 0), InvalidArgument, "kernel_size is 0"),
        (lambda: sz.nn.unfold(X, 2, stride=(1, 2, 3)), InvalidArgument, "stride"),
        (lambda: sz.nn.unfold(X, [2, "3"]), InvalidArgument, "kernel_size"),  # type: ignore[list-item]
        (lambda: sz.nn.fold(X[0], (5, 5), 2), DimensionsMismatch, "x has shape"),
        (lambda: sz.nn.unfold_bwd(X[0], X, 2), DimensionsMismatch, "out_grad has shape"),
        (lambda: sz.nn.fold_bwd(X, X[0], (5, 4), 2), DimensionsMismatch, "output_size"),
        (lambda: sz.nn.pixel_shuffle(X, 3), DimensionsMismatch, "multiple of 9"),
        (lambda: sz.nn.pixel_unshuffle(X, 2), DimensionsMismatch, "multiples of 2"),
        (lambda: sz.nn.pixel_unshuffle(X, 0), InvalidArgument, "downscale_factor is 0"),
        (lambda: sz.nn.pixel_shuffle_bwd(X[:, :, :4, :4], X, 2), DimensionsMismatch, "out_grad"),
    ],
)
def test_errors(call: Any, error: type[StatusError], words: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)
    assert str(raised.value).startswith("nn.")
