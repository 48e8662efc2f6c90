"""7.2.3.7, .8, .11, .12, .14: joined, against NumPy on bytes; promotion, quantised tensors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import every_level, threads
from helpers.moves import (
    ALL,
    ONE_OF_EACH_SIZE,
    Array,
    laid_out,
    quantized,
    raw,
    real,
    refused,
    same,
)
from suanzi import _core

# ---- concat and stack ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ONE_OF_EACH_SIZE, ids=str)
def test_large_parts(dtype: sz.DType) -> None:
    for axis in range(3):
        shapes = [[33, 65, 40], [33, 65, 40]]
        shapes[1][axis] = 7
        parts = [laid_out(s, dtype, o) for s, o in zip(shapes, [(0, 2, 1), (2, 0, 1)], strict=True)]
        same(sz.concat(parts, axis), np.concatenate([raw(x) for x in parts], axis))
        same(sz.stack([parts[0]] * 3, axis), np.stack([raw(parts[0])] * 3, axis))
    many = [laid_out((i % 3, 2), dtype, seed=i) for i in range(500)]
    same(sz.concat(many, 0), np.concatenate([raw(x) for x in many], 0))


@pytest.mark.parametrize("dtype", [sz.int8, sz.float32, sz.complex128], ids=str)
def test_past_the_caches(dtype: sz.DType) -> None:
    """Results so large that they bypass the caches, written in parts that are not aligned."""
    columns = 6_000_000 // 1001 // dtype.itemsize
    x, y = laid_out((1001, columns), dtype), laid_out((1001, columns), dtype, (0, 1), seed=1)
    calls: list[tuple[Callable[[], sz.Tensor], Array]] = [
        (lambda: sz.concat([x, y], 0), np.concatenate([raw(x), raw(y)], 0)),
        (lambda: sz.concat([x, y], 1), np.concatenate([raw(x), raw(y)], 1)),
        (lambda: sz.pad(y, (3, 700, 5, 9), pad_mode="PAD_PERIOD"),
         np.pad(raw(y), ((3, 700), (5, 9), (0, 0)), mode="wrap")),
        (lambda: sz.roll(y, [77, 99], [0, 1]), np.roll(raw(y), (77, 99), (0, 1))),
        (lambda: sz.tile(x, (2, 1)), np.tile(raw(x), (2, 1, 1))),
        (lambda: sz.tile(x[:, :900], (2, 3)), np.tile(raw(x)[:, :900], (2, 3, 1))),
    ]  # fmt: skip
    for _ in every_level():
        for count, (call, expected) in itertools.product((1, 5), calls):
            with threads(count):
                same(call(), expected)


def test_all_parts_are_promoted_at_once() -> None:
    """Pair by pair, the order would matter: of these, CANN's table is not associative."""
    parts = [sz.tensor([1.0], d) for d in (sz.float16, sz.bfloat16, sz.complex32)]
    found = {sz.concat(list(p), 0).dtype for p in itertools.permutations(parts)}
    assert len(found) == 1
    assert sz.concat([sz.tensor([2049], sz.int32), sz.tensor([0.5], sz.float16)], 0).tolist() == [
        2048,
        0.5,
    ]


def test_numbers_and_arrays() -> None:
    assert sz.stack([1, 2, 3], 0).tolist() == [1, 2, 3]
    assert sz.stack([1, 2.5], 0).dtype is sz.tensor([2.5]).dtype
    array = np.array([1, 2], np.int8)
    assert sz.concat([array, sz.tensor([3], sz.int8)], 0).tolist() == [1, 2, 3]
    assert sz.concat([array, array], 0).dtype is sz.int8
    assert sz.stack([np.float16(1), sz.tensor(2, sz.float16)], 0).dtype is sz.float16


# ---- tile ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["uint8", "int16", "float32", "complex64", "complex128"])
def test_tile_of_rows_of_every_length(name: str) -> None:
    rng = np.random.default_rng(6)
    for width in [*range(1, 150, 1 if name == "uint8" else 7), 512, 1000, 4099]:
        x = rng.integers(0, 99, (5, width)).astype(name)
        assert (sz.tile(sz.tensor(x), (1, 3)).numpy() == np.tile(x, (1, 3))).all()
    x = rng.integers(0, 99, (1700, 3)).astype(name)  # more short rows than are walked along at once
    assert (sz.tile(sz.tensor(x[:, :1]), (1, 3)).numpy() == np.tile(x[:, :1], (1, 3))).all()
    assert (sz.tile(sz.tensor(x), (1, 2)).numpy() == np.tile(x, (1, 2))).all()


def test_tile_of_many_axes() -> None:
    x = sz.reshape(laid_out((4,), sz.int16), (2, *[1] * 30, 2, *[1] * 31))
    assert x.ndim == 63
    repeats = [3, *[1] * 29, 2, 2, *[1] * 30, 2]
    same(sz.tile(x, repeats), np.tile(raw(x), (*repeats, 1)))
    one = sz.reshape(sz.tensor([7]), (1,) * 64)
    assert sz.tile(one, (2,) + (1,) * 62 + (3,)).tolist() is not None
    assert sz.squeeze(sz.tile(one, (2,) + (1,) * 62 + (3,))).tolist() == [[7] * 3] * 2
    assert sz.tile(one, (2,) * 12 + (1,) * 52).size == 4096


# ---- pad ----------------------------------------------------------------------------------------

MODES = {"PAD_PERIOD": "wrap", "PAD_MIRROR": "symmetric"}


def source(mode: str, n: int, before: int, after: int) -> Any:
    """Return which element comes where; np.pad of 1.26 has others where an axis is narrow."""
    at = np.arange(-before, n + after)
    return at % n if mode == "PAD_PERIOD" else np.minimum(at % (2 * n), 2 * n - 1 - at % (2 * n))


@pytest.mark.parametrize("mode", MODES)
def test_pad_wider_than_the_axis(mode: str) -> None:
    for n, before, after in itertools.product((1, 2, 3), (0, 1, 5, 40), (0, 2, 7, 33)):
        x, widths = laid_out((n, 2), sz.int16), [(before, after), (0, 0)]
        same(sz.pad(x, widths, pad_mode=mode), raw(x)[source(mode, n, before, after)])
    few, widths = np.array([1, 2, 3], np.int8), (10**6, 10**6 + 1)
    expected = few[source(mode, 3, *widths)]
    assert np.array_equal(sz.pad(sz.tensor(few), widths, pad_mode=mode).numpy(), expected)


@pytest.mark.parametrize("dtype", [d for d in ALL if d.kind not in ("char", "quantized")], ids=str)
def test_pad_values(dtype: sz.DType) -> None:
    x = _core.cast(sz.tensor([1, 0]), dtype, False)
    values: list[Any] = [0, 1, True, np.int8(1), sz.tensor(1), np.float32(1)]
    if dtype.exponent_bits:
        values += [0.1, 1 / 3, 1e-9, -0.0, float("inf"), 65519.0, 2**70, -(2**63), 2**64 - 1]
    if dtype.kind == "complex":
        values += [0.1 + 0.3j]
    if dtype.kind in ("int", "uint"):
        values += [sz.iinfo(dtype).max, sz.iinfo(dtype).min, 1.0]
    for value in values:
        number = value.item() if hasattr(value, "item") else value
        expected = raw(sz.tensor([number], dtype))[0]
        for made in (sz.pad(x, (1, 2), value), sz.pad(x, [(1, 2)], pad_value=value)):
            assert made.dtype is dtype
            assert np.array_equal(raw(made)[0], expected), value
            assert np.array_equal(raw(made)[3:], [expected] * 2)
            same(made[1:3], raw(x))


def test_pad_refuses_values() -> None:
    for dtype, value in (
        *((sz.int8, 128), (sz.uint8, -1), (sz.int8, 1.5), (sz.int8, float("nan")), (sz.bool, 2)),
        *((sz.float32, 1j), (sz.int64, 2**63), (sz.uint1, 2), (sz.float32, "0"), (sz.int8, [0])),
        *((sz.int8, sz.tensor([0, 1])), (sz.uint64, 2**64), (sz.int8, b"a")),
    ):
        refused(sz.InvalidArgument, "pad", sz.tensor([1], dtype), (1, 1), value, match="pad_value")
    refused(sz.InvalidArgument, "pad", sz.tensor([1]), (1, 1), None, match="pad_value")
    text = sz.tensor("ab")
    assert sz.pad(text, (1, 1), b"-").tolist() == [b"-", b"a", b"b", b"-"]
    for mode in ("PAD_REFLECT", 3, -1, True, None, 1.5, [0], "pad_perio", np.array([1, 2])):
        refused(sz.InvalidArgument, "pad", sz.tensor([1]), (1, 1), 0, mode, match="pad_mode")
    assert sz.pad(sz.tensor([1, 2]), (1, 1), 0, 1).tolist() == [2, 1, 2, 1]


# ---- roll ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", range(1, 15))
def test_roll_of_every_number_of_axes(count: int) -> None:
    """Four are rolled at a time; which is the last of a number that leaves one over?"""
    x = sz.reshape(sz.range(0, 2**14 - 1, 1, sz.int32), (2,) * 14)
    for axes in (tuple(range(count)), tuple(range(14 - count, 14))):
        same(sz.roll(x, [1] * count, axes), np.roll(raw(x), [1] * count, axes))


# ---- quantised tensors --------------------------------------------------------------------------


def test_parts_that_stand_for_the_same_stay_quantised() -> None:
    for dtype, zero in ((sz.QT_SYM_INT8, 0), (sz.QT_ASYM_UINT8, 7), (sz.QT_ASYM_INT16, -3)):
        x, y = (quantized(v, dtype, [0.25], zero) for v in ([[1, 2]], [[3, 4]]))
        for made, expected in (
            (sz.concat([x, y], 0), np.concatenate([real(x), real(y)])),
            (sz.stack([x, y], 1), np.stack([real(x), real(y)], 1)),
            (sz.tile(x, (2, 3)), np.tile(real(x), (2, 3))),
            (sz.roll(y, 1), np.roll(real(y), 1)),
            (sz.roll(y, [1], [1]), np.roll(real(y), 1, 1)),
            (sz.pad(x, (1, 0, 0, 2)), np.pad(real(x), ((1, 0), (0, 2)))),
            (sz.pad(x, (1, 0, 0, 2), 1.5), np.pad(real(x), ((1, 0), (0, 2)), constant_values=1.5)),
            (sz.pad(x, (1, 1, 1, 1), 0, "PAD_MIRROR"), np.pad(real(x), 1, mode="symmetric")),
        ):
            assert made.dtype is dtype
            assert np.array_equal(real(made), expected)


def test_parts_that_do_not_become_real_numbers() -> None:
    x, y = quantized([1, 2], sz.QT_SYM_INT8, [0.25]), quantized([3], sz.QT_SYM_INT8, [0.5])
    made = sz.concat([x, y], 0)
    assert made.dtype is sz.float32
    assert made.tolist() == [0.25, 0.5, 1.5]
    assert sz.concat([x, sz.tensor([1.0], sz.float16)], 0).tolist() == [0.25, 0.5, 1]
    bare = _core.cast(sz.tensor([1, 2]), sz.QT_SYM_INT8, False)
    refused(sz.InvalidArgument, "concat", [bare, x], 0, match="without a scale")
    refused(sz.InvalidArgument, "stack", [x, bare], 0, match="without a scale")


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_scales_follow_their_channels(axis: int) -> None:
    scales = [0.5, 2.0, 8.0]
    values = np.arange(12).reshape((2, 2, 3) if axis == 2 else (2, 3, 2) if axis else (3, 2, 2))
    x = quantized(values, sz.QT_CH_SYM_INT8, scales, 0, axis)
    y = quantized(values + 1, sz.QT_CH_SYM_INT8, [1.0, 4.0, 0.5], 0, axis)
    r = real(x)
    for along in range(3):
        made = sz.concat([x, x], along)
        assert made.dtype is x.dtype
        assert np.array_equal(real(made), np.concatenate([r, r], along))
        mixed = sz.concat([x, y], along)
        assert (mixed.dtype is x.dtype) == (along == axis)
        found = real(mixed) if along == axis else mixed.numpy()
        assert np.array_equal(found, np.concatenate([r, real(y)], along))
        for n in (1, 2):
            sizes = [n, r.shape[along] - n] if r.shape[along] > n else [r.shape[along]]
            whole = sz.concat(sz.split(x, sizes, axis=along), along)
            assert whole.dtype is x.dtype
            assert np.array_equal(real(whole), r)
            again = sz.concat([p[...] for p in sz.split(x, sizes, axis=along)], along)
            assert again.dtype is x.dtype
            assert np.array_equal(real(again), r)
        shift = [1 if a == along else 0 for a in range(3)]
        assert np.array_equal(real(sz.roll(x, shift, (0, 1, 2))), np.roll(r, 1, along))
        repeats = [3 if a == along else 1 for a in range(3)]
        assert np.array_equal(real(sz.tile(x, repeats)), np.tile(r, repeats))
        pairs = [(2, 4) if a == along else (0, 0) for a in range(3)]
        for mode, name in MODES.items():
            padded = sz.pad(x, pairs, pad_mode=mode)
            assert np.array_equal(real(padded), np.pad(r, pairs, mode=name))  # type: ignore[call-overload]
        if along == axis:
            refused(sz.InvalidArgument, "pad", x, pairs, match="channels")
        else:
            assert np.array_equal(real(sz.pad(x, pairs)), np.pad(r, pairs))
        refused(sz.InvalidArgument, "pad", x, pairs, 1.5, match="scale" if along != axis else "")
    for along in range(4):
        made = sz.stack([x, x], along)
        assert np.array_equal(real(made), np.stack([r, r], along))
    refused(sz.InvalidArgument, "roll", x, 1, match="channels")


def test_what_cannot_be_stored_pads_nothing() -> None:
    x = quantized([1, 2], sz.QT_ASYM_INT8, [0.5], 1)
    for bad in (float("nan"), float("inf"), -float("inf"), 1j, "1", 10**400):
        refused(sz.InvalidArgument, "pad", x, (1, 1), bad, match="pad_value")
    assert real(sz.pad(x, (1, 0), 1e9))[0] == (127 - 1) * 0.5
    assert real(sz.pad(x, (1, 0), -1e9))[0] == (-128 - 1) * 0.5


# ---- statuses -----------------------------------------------------------------------------------


def test_results_beyond_all_memory() -> None:
    x = sz.tensor([1, 2], sz.int8)
    big = sz.expand(sz.tensor([1], sz.int8), (2**62,))
    refused(sz.AllocFailed, "concat", [big, big], 0)
    refused(sz.AllocFailed, "concat", input_lists=[big, big], axis=0)
    refused(sz.AllocFailed, "stack", [big, big], 0)
    for repeats in ((2**50,), (2**62,), (2**63 - 1,)):
        refused(sz.AllocFailed, "tile", x, repeats)
    refused(sz.InvalidArgument, "tile", x, (2**63,))
    for widths in ((2**50, 0), (2**62, 2**62), (2**63 - 1, 2**63 - 1)):
        refused(sz.AllocFailed, "pad", x, widths)
        refused(sz.AllocFailed, "pad", x, widths, pad_mode="PAD_PERIOD")
    refused(sz.InvalidArgument, "pad", x, (2**63, 0))
    refused(sz.AllocFailed, "roll", big, 1)
    refused(sz.AllocFailed, "roll", big, [1], [0])
    channels = quantized([[1, 2]], sz.QT_CH_SYM_INT8, [1, 2], 0, 1)
    refused(sz.AllocFailed, "tile", channels, (1, 2**50))
    refused(sz.AllocFailed, "tile", channels[0:0], (1, 2**61))


def test_joining_refuses() -> None:
    x, y = sz.tensor([[1, 2], [3, 4]]), sz.tensor([[1, 2, 3]])
    for parts in ([x, y], (x, y)):
        refused(sz.InvalidArgument, "concat", parts, 0, match="input_lists[1]")
        refused(sz.InvalidArgument, "stack", parts, 0, match="input_lists[1]")
    refused(sz.InvalidArgument, "concat", [x, x[0]], 0, match="rank")
    refused(sz.InvalidArgument, "concat", [sz.tensor(1)], 0, match="rank")
    for name in ("concat", "stack"):
        for bad in ([], (), x, np.ones((2, 2)), "ab", 1, {1: 2}, iter([x])):
            refused(sz.InvalidArgument, name, bad, 0, match="input_lists")
        refused(sz.UninitializedObject, name, [x, None], 0, match="input_lists[1]")
        for bad in ("a", [1, 2]):
            refused(sz.WrongObject, name, [x, bad], 0, match="input_lists[1]")
        assert getattr(sz, name)([x, x], sz.tensor(0)).shape == getattr(sz, name)([x, x], 0).shape


@pytest.mark.parametrize("rules", ["cann", "torch", "numpy", "jax"])
def test_numbers_beside_tensors_stack_as_they_add(rules: str) -> None:
    x = sz.tensor(1.5, sz.float16)
    with sz.promotion(rules):
        for numbers in ([2.5], [2], [True], [2.5, 3], [1j]):
            wanted = x
            for number in numbers:
                wanted = wanted + number
            assert sz.stack([x, *numbers], 0).dtype is wanted.dtype
        found = sz.stack([x, 2.5, 3], 0)
    assert found.tolist() == [1.5, 2.5, 3]
    assert sz.stack([1, 2.5], 0).dtype is sz.float32
