"""Convolutions: tiles and blocks, threads, levels, layouts, gradients and errors."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import suanzi as sz
from helpers.functions import at_level, threads
from helpers.normal import exact, made, turned
from suanzi import _core
from suanzi.base.status import DimensionsMismatch, InvalidArgument, StatusError, TypeMismatch
from suanzi.tensors.parts import permuted

Array = np.ndarray[Any, Any]
Each = tuple[int, ...]
CONV = {1: sz.nn.conv1d, 2: sz.nn.conv2d, 3: sz.nn.conv3d}
TRANSPOSED = {1: sz.nn.conv_transpose1d, 2: sz.nn.conv_transpose2d, 3: sz.nn.conv_transpose3d}
CONV_BWD = {1: sz.nn.conv1d_bwd, 2: sz.nn.conv2d_bwd, 3: sz.nn.conv3d_bwd}
TRANSPOSED_BWD = {
    1: sz.nn.conv_transpose1d_bwd,
    2: sz.nn.conv_transpose2d_bwd,
    3: sz.nn.conv_transpose3d_bwd,
}
# What a sum of n products of normal numbers may be off, over the square root of n.
BOUND = {"float64": 1e-14, "float32": 3e-6, "float16": 4e-3, "bfloat16": 3e-2}


def has_the_sums_of_avx2() -> bool:
    """Tell that avx2 is there, and that the level in force fuses a product and a sum as it does."""
    return "avx2" in _core.levels() and _core.level() != "baseline"


def convolved(
    x: Array, w: Array, stride: Each, padding: Each, dilation: Each, groups: int
) -> Array:
    """Return the formula in float64."""
    n = w.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    reach = tuple(d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:], strict=True))
    seen = sliding_window_view(x, reach, tuple(range(2, 2 + n)))
    taps: Any = (..., *(slice(None, None, d) for d in dilation))
    places: Any = (slice(None), slice(None), *(slice(None, None, s) for s in stride))
    seen = seen[taps][places]
    parts = []
    for xs, ws in zip(np.split(seen, groups, 1), np.split(w, groups, 0), strict=True):
        axes = (1, *range(2 + n, 2 + 2 * n))
        parts.append(np.moveaxis(np.tensordot(xs, ws, (axes, tuple(range(1, 2 + n)))), -1, 1))
    return np.concatenate(parts, 1)


def scattered(
    x: Array, w: Array, stride: Each, padding: Each, dilation: Each, groups: int, added: Each
) -> Array:
    """Return the transposed convolution in float64: each element to where it counts."""
    full = [
        (i - 1) * s + d * (k - 1) + 1 + a
        for i, s, d, k, a in zip(x.shape[2:], stride, dilation, w.shape[2:], added, strict=True)
    ]
    out = np.zeros((x.shape[0], w.shape[1] * groups, *full))
    for tap in product(*(range(k) for k in w.shape[2:])):
        of: Any = (..., *tap)
        to = tuple(
            slice(t * d, t * d + s * (i - 1) + 1, s)
            for t, d, s, i in zip(tap, dilation, stride, x.shape[2:], strict=True)
        )
        one = [
            np.einsum("nc...,co->no...", xs, ws[of])
            for xs, ws in zip(np.split(x, groups, 1), np.split(w, groups, 0), strict=True)
        ]
        out[(slice(None), slice(None), *to)] += np.concatenate(one, 1)
    ends = (slice(p, m - p) for p, m in zip(padding, full, strict=True))
    return out[(slice(None), slice(None), *ends)]


def close(found: sz.Tensor, wanted: Array, depth: float) -> None:
    bound = BOUND[found.dtype.name] * np.sqrt(depth)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(exact(found), wanted, rtol=bound, atol=bound)


# x, weight, stride, padding, dilation, groups: sizes around those of tiles, panels and blocks.
SHAPES: list[tuple[Each, Each, Each, Each, Each, int]] = [
    ((2, 3, 40, 37), (17, 3, 7, 7), (2, 2), (3, 3), (1, 1), 1),
    ((1, 30, 9, 33), (15, 30, 3, 3), (1, 1), (1, 1), (1, 1), 1),  # two blocks of products
    ((3, 33, 5, 7), (29, 33, 1, 1), (1, 1), (0, 0), (1, 1), 1),  # lines are joined
    ((2, 20, 11, 9), (6, 20, 1, 1), (2, 3), (0, 0), (1, 1), 1),
    ((1, 2, 6, 530), (3, 2, 2, 3), (1, 1), (0, 1), (1, 2), 1),  # a line in parts
    ((2, 6, 13, 18), (12, 1, 3, 3), (1, 2), (1, 1), (1, 1), 6),  # by the lines themselves
    ((3, 20, 7, 7), (40, 20, 3, 3), (1, 1), (1, 1), (1, 1), 1),  # two lines in a tile of pixels
    ((2, 300, 3, 30), (33, 300, 1, 2), (1, 1), (0, 1), (1, 1), 1),
    ((1, 16, 40, 40), (24, 16, 3, 3), (3, 3), (1, 1), (1, 1), 1),
    ((2, 32, 2, 7, 15), (48, 16, 2, 2, 2), (1, 1, 1), (1, 1, 1), (1, 1, 1), 2),
    ((2, 5, 20, 37), (10, 1, 5, 5), (2, 2), (2, 2), (1, 1), 5),
    ((1, 7, 3, 50), (7, 1, 7, 7), (1, 1), (3, 3), (1, 1), 7),
    ((2, 3, 30, 33), (3, 1, 3, 3), (1, 1), (2, 2), (2, 2), 3),
    ((2, 3, 11, 40), (3, 1, 2, 4), (1, 2), (0, 3), (1, 1), 3),
    ((1, 9, 300), (9, 1, 4), (1,), (3,), (1,), 9),
    ((2, 8, 10, 12), (12, 4, 3, 2), (2, 1), (2, 1), (2, 3), 2),
    ((1, 40, 8, 9), (36, 20, 3, 3), (1, 1), (1, 1), (1, 1), 2),
    (
        (2, 35, 9, 11),
        (70, 35, 3, 3),
        (2, 2),
        (1, 1),
        (1, 1),
        1,
    ),  # more than whole tiles
    ((1, 48, 6, 40, 5), (9, 48, 2, 3, 1), (1, 2, 1), (1, 1, 0), (1, 1, 1), 1),
    ((1, 64, 600), (32, 64, 3), (1,), (1,), (2,), 1),
    ((1, 48, 40, 44), (9, 48, 8, 8), (8, 8), (0, 3), (1, 1), 1),  # a lattice for every tap
    ((1, 1, 20, 20), (9, 1, 17, 16), (1, 1), (2, 0), (1, 1), 1),  # more taps than a block has
    ((1, 3, 32, 48), (20, 3, 16, 16), (16, 16), (0, 0), (1, 1), 1),
    ((2, 5, 300), (65, 5, 3), (1,), (1,), (1,), 1),
    ((1, 4, 9), (4, 2, 3), (5,), (4,), (2,), 2),
    ((2, 4, 5, 6, 7), (5, 4, 3, 2, 3), (1, 2, 1), (1, 0, 1), (1, 1, 2), 1),
    ((1, 1, 3, 2000), (1, 1, 2, 2), (1, 1), (0, 900), (1, 1500), 1),  # taps far apart
]


@pytest.mark.parametrize("name", _core.levels())
@pytest.mark.parametrize("dtype", BOUND)
@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_shapes(name: str, dtype: str, case: tuple[Each, Each, Each, Each, Each, int]) -> None:
    shape, kernel, stride, padding, dilation, groups = case
    n = len(kernel) - 2
    x, w, bias = made(dtype, *shape), made(dtype, *kernel, seed=1), made(dtype, kernel[0], seed=2)
    wanted = convolved(exact(x), exact(w), stride, padding, dilation, groups)
    wanted += exact(bias).reshape(-1, *(1,) * n)
    depth = prod(kernel[1:]) + 1
    with at_level(name):
        close(CONV[n](x, w, bias, stride, padding, dilation, groups), wanted, depth)


@pytest.mark.parametrize("name", _core.levels())
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_transposed(name: str, dtype: str, case: tuple[Each, Each, Each, Each, Each, int]) -> None:
    shape, kernel, stride, padding, dilation, groups = case
    if shape[-1] > 600:
        padding = (0, 0)
    n = len(kernel) - 2
    x = made(dtype, shape[0], kernel[0], *(max(2, k // 4) for k in shape[2:]))
    if any((i - 1) * s + d * (k - 1) < 2 * p for i, s, d, k, p in zip(
        x.shape[2:], stride, dilation, kernel[2:], padding, strict=True)):  # fmt: skip
        padding = (0,) * n
    w = made(dtype, *kernel, seed=1)
    added = tuple(max(s, d) - 1 for s, d in zip(stride, dilation, strict=True))
    wanted = scattered(exact(x), exact(w), stride, padding, dilation, groups, added)
    with at_level(name):
        found = TRANSPOSED[n](x, w, None, stride, padding, added, groups, dilation)
        close(found, wanted, kernel[0] * prod(kernel[2:]))


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_gradients(dtype: str, case: tuple[Each, Each, Each, Each, Each, int]) -> None:
    """The result is linear in x, in the weights and in the bias: products with it say so."""
    shape, kernel, stride, padding, dilation, groups = case
    n = len(kernel) - 2
    x, w, bias = made(dtype, *shape), made(dtype, *kernel, seed=1), made(dtype, kernel[0], seed=2)
    y = convolved(exact(x), exact(w), stride, padding, dilation, groups)
    g = made(dtype, *y.shape, seed=3)
    x_grad, w_grad, b_grad = CONV_BWD[n](g, x, w, bias, stride, padding, dilation, groups)
    # Along one random direction for each, in float64.
    other = np.random.default_rng(4).standard_normal(kernel)
    along = convolved(exact(x), other, stride, padding, dilation, groups)
    size = np.sqrt((exact(g) ** 2).sum() * (along**2).sum())
    assert abs((exact(w_grad) * other).sum() - (exact(g) * along).sum()) <= BOUND[dtype] * size
    other = np.random.default_rng(5).standard_normal(shape)
    along = convolved(other, exact(w), stride, padding, dilation, groups)
    size = np.sqrt((exact(g) ** 2).sum() * (along**2).sum())
    assert abs((exact(x_grad) * other).sum() - (exact(g) * along).sum()) <= BOUND[dtype] * size
    close(b_grad, exact(g).sum((0, *range(2, 2 + n))), g.size / kernel[0])
    assert len(CONV_BWD[n](g, x, w, None, stride, padding, dilation, groups)) == 2


@pytest.mark.parametrize(("dtype", "channels", "rows"), [("float32", 3, 4), ("bfloat16", 18, 9)])
def test_weight_gradients_over_many_blocks(dtype: str, channels: int, rows: int) -> None:
    x, g = made(dtype, 5, channels, 64, 70), made(dtype, 5, rows, 64, 70, seed=1)
    seen = sliding_window_view(np.pad(exact(x), [(0, 0), (0, 0), (1, 1), (1, 1)]), (3, 3), (2, 3))
    wanted = np.einsum("nohw,nchwij->ocij", exact(g), seen, optimize=True)
    w = made(dtype, rows, channels, 3, 3)
    with threads(1):
        found = sz.nn.conv2d_bwd(g, x, w, padding=1)[1]
    close(found, wanted, 5 * 64 * 70)
    with threads(3):
        again = sz.nn.conv2d_bwd(g, x, w, padding=1)[1]
    assert (exact(again) == exact(found)).all()


def test_gradients_of_a_transposed_convolution() -> None:
    x, w = made("float64", 2, 4, 5, 6), made("float64", 4, 3, 3, 2, seed=1)
    how: dict[str, Any] = {"stride": (2, 3), "padding": 1, "output_padding": (1, 2), "groups": 2}
    y = sz.nn.conv_transpose2d(x, w, **how)
    g, bias = made("float64", *y.shape, seed=2), made("float64", 6)
    x_grad, w_grad, b_grad = sz.nn.conv_transpose2d_bwd(g, x, w, bias, **how)
    for tensor, gradient, seed in ((x, x_grad, 3), (w, w_grad, 4)):
        other = made("float64", *tensor.shape, seed=seed)
        operands = (other, w) if tensor is x else (x, other)
        along = exact(sz.nn.conv_transpose2d(*operands, **how))
        np.testing.assert_allclose(
            (exact(gradient) * exact(other)).sum(), (exact(g) * along).sum(), rtol=1e-11
        )
    np.testing.assert_allclose(exact(b_grad), exact(g).sum((0, 2, 3)), rtol=1e-12)


@pytest.mark.parametrize("groups", [1, 6])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_threads_and_the_batch_change_no_bit(dtype: str, groups: int) -> None:
    x, w = made(dtype, 5, 36 // groups * groups, 14, 14), made(dtype, 36, 36 // groups, 3, 3)
    with threads(1):
        wanted = exact(sz.nn.conv2d(x, w, padding=1, groups=groups))
    with threads(3):
        assert (exact(sz.nn.conv2d(x, w, padding=1, groups=groups)) == wanted).all()
    one = sz.nn.conv2d(x[3:4], w, padding=1, groups=groups)
    assert (exact(one) == wanted[3:4]).all()
    back = exact(sz.nn.conv_transpose2d(x, w, stride=2, groups=groups))
    one = sz.nn.conv_transpose2d(x[3:4], w, stride=2, groups=groups)
    assert (exact(one) == back[3:4]).all()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize(
    ("shape", "kernel"),
    [
        ((3, 20, 7, 7), (40, 20, 3, 3)),
        ((2, 64, 14, 15), (33, 64, 3, 3)),
        ((1, 90, 3, 1100), (70, 90, 3, 3)),  # lines in parts, and channels
        ((2, 600, 6, 40), (16, 600, 1, 3)),
        ((2, 12, 9, 30), (7, 12, 3, 3)),
    ],
)
def test_tiles_of_pixels_have_the_bits_of_columns(
    dtype: str, stride: int, shape: Each, kernel: Each
) -> None:
    """Whatever part of them a thread has; transposed ones, too."""
    x, w, b = made(dtype, *shape), made(dtype, *kernel, seed=1), made(dtype, kernel[0], seed=2)
    g, turn = made(dtype, 2, kernel[0], 9, 8), made(dtype, *kernel)
    if not has_the_sums_of_avx2():
        pytest.skip("no level with columns and the same sums")
    with at_level("avx2"):
        wanted = exact(sz.nn.conv2d(x, w, b, stride, 1))
        back = exact(sz.nn.conv_transpose2d(g, turn, None, stride))
    for count in (1, 2, 5, 16):
        with threads(count):
            assert (exact(sz.nn.conv2d(x, w, b, stride, 1)) == wanted).all()
            assert (exact(sz.nn.conv2d(x[:1], w, b, stride, 1)) == wanted[:1]).all()
            assert (exact(sz.nn.conv_transpose2d(g, turn, None, stride)) == back).all()


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_channels_alone_have_the_same_bits_everywhere(dtype: str) -> None:
    """In any layout, at any level, in any batch and on any number of threads."""
    x, w, b = made(dtype, 3, 5, 40, 37), made(dtype, 5, 1, 3, 3), made(dtype, 5)
    last = permuted(_core.row_major_copy(permuted(x, (0, 2, 3, 1))), (0, 3, 1, 2))
    for stride in (1, 2):
        how: Any = (stride, 1, 1, 5)
        with threads(1):
            wanted = exact(sz.nn.conv2d(x, w, b, *how))
        for count in (2, 16):
            with threads(count):
                assert (exact(sz.nn.conv2d(x, w, b, *how)) == wanted).all()
                assert (exact(sz.nn.conv2d(x[1:2], w, b, *how)) == wanted[1:2]).all()
        assert (exact(sz.nn.conv2d(last, w, b, *how)) == wanted).all()
        assert (exact(sz.nn.conv2d(turned(x), w, b, *how)) == wanted).all()
        if has_the_sums_of_avx2():
            with at_level("avx2"):
                assert (exact(sz.nn.conv2d(x, w, b, *how)) == wanted).all()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_channels_alone_of_one_depth_have_results_of_several(dtype: str) -> None:
    x, w = made(dtype, 2, 5, 1, 4, 20), made(dtype, 5, 1, 3, 1, 1)
    for stride in (1, 2, 4):
        found = sz.nn.conv_transpose3d(x, w, None, (stride, 1, 1), (1, 0, 0), (stride - 1, 0, 0), 5)
        wanted = scattered(exact(x), exact(w), (stride, 1, 1), (1, 0, 0), (1, 1, 1), 5,
                           (stride - 1, 0, 0))  # fmt: skip
        close(found, wanted, 1)


@pytest.mark.parametrize("stride", [1, 2])
def test_few_pixels_on_many_threads(stride: int) -> None:
    """Threads share rows of weights and parts of the columns."""
    x, w, b = made("float32", 1, 64, 7, 9), made("float32", 130, 64, 3, 3), made("float32", 130)
    with threads(1):
        wanted = exact(sz.nn.conv2d(x, w, b, stride, 1))
    for count in (2, 5, 16):
        with threads(count):
            assert (exact(sz.nn.conv2d(x, w, b, stride, 1)) == wanted).all()


def test_an_image_with_small_numbers_changes_no_bit_of_others() -> None:
    """A matrix unit takes them for 0, and so does not multiply this one."""
    values = np.random.default_rng(0).standard_normal((3, 32, 7, 9))
    values[1, 0, 0, 0] = 1e-39
    x = sz.cast(sz.tensor(values), "bfloat16")
    w, wide = made("bfloat16", 24, 32, 3, 3), made("bfloat16", 32, 24, 3, 3)
    for found, weight, how in (
        (sz.nn.conv2d, w, {"padding": 1}),
        (sz.nn.conv_transpose2d, wide, {"stride": 2}),
    ):
        together = exact(found(x, weight, **how))
        for i in range(3):
            assert (exact(found(x[i : i + 1], weight, **how)) == together[i : i + 1]).all()
    only = np.zeros((1, 32, 3, 3))
    only[0, 5, 1, 1] = 1e-39
    weight = sz.cast(sz.tensor(np.full((16, 32, 1, 1), 2.0**100)), "bfloat16")
    tiny = sz.cast(sz.tensor(only), "bfloat16")
    assert (exact(sz.nn.conv2d(tiny, weight))[:, :, 1, 1] == exact(tiny).max() * 2.0**100).all()


def test_an_infinite_element_counts_where_a_kernel_reads_it() -> None:
    values = np.random.default_rng(0).standard_normal((1, 32, 5, 5))
    values[0, 3, 4, 4] = np.inf
    x, g = sz.cast(sz.tensor(values), "bfloat16"), made("bfloat16", 1, 24, 5, 5)
    found = exact(sz.nn.conv2d_bwd(g, x, made("bfloat16", 24, 32, 3, 3), padding=1)[1])
    reads = np.zeros((24, 32, 3, 3), bool)
    reads[:, 3, 1:, 1:] = True
    assert (np.isinf(found) == reads).all()
    assert not np.isnan(found).any()


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_layouts_change_no_bit(dtype: str) -> None:
    x, w, b = made(dtype, 2, 4, 9, 10), made(dtype, 6, 4, 3, 3), made(dtype, 6)
    wanted = exact(sz.nn.conv2d(x, w, b, 2, 1))
    for other in (turned(x), sz.concat([x, x], 3)[:, :, :, :10], x[:, :, :, ::-1][:, :, :, ::-1]):
        assert (exact(sz.nn.conv2d(other, turned(w), turned(b), 2, 1)) == wanted).all()
    # Channels last, and an image that is repeated.
    last = permuted(_core.row_major_copy(permuted(x, (0, 2, 3, 1))), (0, 3, 1, 2))
    assert (exact(sz.nn.conv2d(last, w, b, 2, 1)) == wanted).all()
    again = sz.expand(x[:1], (3, 4, 9, 10))
    assert (exact(sz.nn.conv2d(again, w, b, 2, 1)) == wanted[[0, 0, 0]]).all()
    g = made(dtype, *wanted.shape)
    for found, expected in zip(
        sz.nn.conv2d_bwd(turned(g), turned(x), turned(w), b, 2, 1),
        sz.nn.conv2d_bwd(g, x, w, b, 2, 1),
        strict=True,
    ):
        assert (exact(found) == exact(expected)).all()


def test_padding_same_puts_the_odd_zero_at_the_end() -> None:
    x, w = sz.tensor([[[1.0, 2, 3]]]), sz.tensor([[[10.0, 1]]])
    assert sz.nn.conv1d(x, w, padding="same").tolist() == [[[12.0, 23.0, 30.0]]]
    assert sz.nn.conv1d(x, w, padding="valid").tolist() == [[[12.0, 23.0]]]
    assert sz.nn.conv2d(made("float32", 1, 9, 8), made("float32", 1, 1, 4, 3), padding="same",
                        dilation=2).shape == (1, 9, 8)  # fmt: skip


def test_infinite_weights() -> None:
    """The padding of a convolution is multiplied; a transposed one has none."""
    x, w = sz.tensor([[[1.0, 2]]]), sz.tensor([[[np.inf, 1, 1]]])
    assert str(sz.nn.conv1d(x, w, padding=1).tolist()) == "[[[nan, inf]]]"
    assert sz.nn.conv_transpose1d(x, w).tolist() == [[[np.inf, np.inf, 3.0, 2.0]]]
    assert sz.nn.conv1d_bwd(sz.tensor([[[1.0, 2]]]), sz.zeros(shape=(1, 1, 4)), w)[0].tolist() == [
        [[np.inf, np.inf, 3.0, 2.0]]
    ]


def test_integers_become_floats_as_the_rules_say() -> None:
    x, w = sz.tensor([[[1, 2, 3]]], sz.int8), sz.tensor([[[0.5, 1]]], sz.float16)
    assert sz.nn.conv1d(x, w).dtype is sz.float16
    with sz.promotion("torch"):
        assert sz.nn.conv1d(x, sz.tensor([[[1, 1]]])).dtype is sz.float32


def test_nothing_to_sum() -> None:
    w, bias = sz.zeros(shape=(2, 0, 1)), sz.tensor([1.0, 2])
    assert sz.nn.conv1d(sz.zeros(shape=(1, 0, 2)), w, bias).tolist() == [[[1.0, 1], [2, 2]]]
    x = sz.zeros(shape=(0, 3, 4))
    gradients = sz.nn.conv1d_bwd(sz.zeros(shape=(0, 2, 3)), x, made("float32", 2, 3, 2))
    assert [g.shape for g in gradients] == [(0, 3, 4), (2, 3, 2)]
    assert not np.asarray(gradients[1]).any()


X, W = sz.zeros(shape=(1, 4, 5, 5)), sz.zeros(shape=(6, 2, 3, 3))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: sz.nn.conv2d(X, W), DimensionsMismatch, "x has 4 channels"),
        (lambda: sz.nn.conv2d(X, W, groups=4), DimensionsMismatch, "groups is 4"),
        (lambda: sz.nn.conv2d(X, W, groups=0), InvalidArgument, "groups is 0"),
        (lambda: sz.nn.conv2d(X[0, 0], W), DimensionsMismatch, "x has shape (5, 5)"),
        (lambda: sz.nn.conv2d(X, W[0], groups=2), DimensionsMismatch, "weight has shape"),
        (lambda: sz.nn.conv2d(X, W, sz.zeros(shape=(2,)), groups=2), DimensionsMismatch, "bias"),
        (lambda: sz.nn.conv2d(X, W, stride=0, groups=2), InvalidArgument, "stride is 0"),
        (lambda: sz.nn.conv2d(X, W, stride=(1, 2, 3), groups=2), InvalidArgument, "stride"),
        (lambda: sz.nn.conv2d(X, W, stride=2**31, groups=2), InvalidArgument, "below 2**31"),
        (lambda: sz.nn.conv2d(X, W, padding=-1, groups=2), InvalidArgument, "padding is -1"),
        (lambda: sz.nn.conv2d(X, W, padding="all", groups=2), InvalidArgument, "'same', 'valid'"),
        (lambda: sz.nn.conv2d(X, W, stride=2, padding="same", groups=2), InvalidArgument, "stride"),
        (lambda: sz.nn.conv2d(X, W, dilation=3, groups=2), DimensionsMismatch, "must fit"),
        (lambda: sz.nn.conv2d(sz.zeros((1, 4, 5, 5), sz.complex64), W), TypeMismatch, "complex64"),
        (lambda: sz.nn.conv_transpose2d(X, W), DimensionsMismatch, "x has 4 channels"),
        (lambda: sz.nn.conv_transpose2d(X, W[:4], output_padding=1), InvalidArgument, "output_pad"),
        (lambda: sz.nn.conv_transpose2d(X, W[:4], padding=9), DimensionsMismatch, "padding"),
        (lambda: sz.nn.conv2d_bwd(X, X, W, groups=2), DimensionsMismatch, "out_grad has shape"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[StatusError], words: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)
    assert str(raised.value).startswith("nn.conv")
