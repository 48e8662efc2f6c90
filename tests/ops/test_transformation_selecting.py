"""7.2.3.17, .18, .25: gather, scatter, masked_select, against NumPy on bytes, and sums."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers import exact
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

INDEX_DTYPES = [d for d in ALL if d.kind in ("int", "uint") and d.bits >= 8]


def take(bits: Array, index: Array) -> Array:
    """Return what an index picks of an array of bytes."""
    if index.ndim == 1:
        return bits[index.astype(int)]
    return bits[tuple(index[..., i].astype(int) for i in range(index.shape[-1]))]


@pytest.mark.parametrize("dtype", ONE_OF_EACH_SIZE, ids=str)
@pytest.mark.parametrize("row", [(), (1,), (3,), (64,), (700,), (5, 7)], ids=str)
def test_gather_many_rows(dtype: sz.DType, row: tuple[int, ...]) -> None:
    rng = np.random.default_rng(4)
    count = 60_000 // max(int(np.prod(row)), 1)
    for order in (None, range(len(row) + 1)):
        x = laid_out((500, *row), dtype, order)
        index = rng.integers(0, 500, count)
        for n in (1, 3):
            with threads(n):
                same(sz.gather(x, sz.tensor(index)), raw(x)[index])
                same(x[index - 500], raw(x)[index])


def test_gather_past_the_caches() -> None:
    x = laid_out((3000, 1030), sz.float32)
    index = np.random.default_rng(5).permutation(3000)
    for _ in every_level():
        same(sz.gather(x, sz.tensor(index)), raw(x)[index])


SUMMED = [d for d in ALL if d.kind in ("int", "uint", "float", "complex")]


def add_up(parts: list[int], name: str) -> int | None:
    """Return the bits of a sum of bit patterns in their order: integers wrap, floats in float32."""
    wide = "float64" if name == "float64" else "float32"
    total = exact.decode(parts[0], name)
    for bits in parts[1:]:
        total = total + exact.decode(bits, name)
        if name in exact.FLOATS:
            rounded = exact.encode(total, wide)
            assert rounded is not None
            total = exact.decode(rounded, wide)
    return exact.encode(total, name)


@pytest.mark.parametrize("dtype", SUMMED, ids=str)
def test_scatter_adds_up(dtype: sz.DType) -> None:
    rng = np.random.default_rng(11)
    name = exact.COMPLEX.get(str(dtype), str(dtype))
    values = [1, 3, 5, 7, 100, -9, 0.1, 1 / 3, 65, 2.5e-3, 400, -250]
    if dtype.kind in ("int", "uint"):
        info = sz.iinfo(dtype)
        pool = [exact.encode(v, name) for v in (1, 2, 3, info.max, info.min, info.max - 1)]
    else:
        pool = [exact.encode(float(v), name) for v in values]
    parts = 2 if dtype.kind == "complex" else 1
    for rows, width in ((3, 2), (4, 1500)):
        size, n = rows * width * parts, 9 * width * parts
        base, new = rng.choice(len(pool), size), rng.choice(len(pool), n)
        x = exact.tensor_of([pool[i] for i in base], name, (rows, width * parts))
        u = exact.tensor_of([pool[i] for i in new], name, (9, width * parts))
        index = rng.integers(0, rows, 9)
        if parts == 2:  # the same memory, seen as pairs
            pairs = [_core.empty((t.shape[0], width), dtype) for t in (x, u)]
            for pair, t in zip(pairs, (x, u), strict=True):
                pair.storage.memory[:] = bytes(t.storage.memory)
            made = sz.scatter(pairs[0], sz.tensor(index), pairs[1], override=False)
        else:
            made = sz.scatter(x, sz.tensor(index), u, override=False)
        assert made.dtype is dtype
        found = np.array(exact.bits_of(made)).reshape(rows, -1)
        a, b = base.reshape(rows, -1), new.reshape(9, -1)
        for row in range(rows):
            for column in range(0, width * parts, max(width // 3, 1)):
                terms = [pool[a[row, column]]]
                terms += [pool[b[k, column]] for k in range(9) if index[k] == row]
                total, bits = add_up([t for t in terms if t is not None], name), found[row, column]
                assert exact.is_nan(int(bits), name) if total is None else bits == total


def test_narrow_floats_are_rounded_once() -> None:
    x = sz.tensor([2048.0], sz.float16)
    ones = sz.tensor([1.0, 1.0, 1.0, 1.0], sz.float16)
    index = sz.tensor([0, 0, 0, 0])
    assert sz.scatter(x, index, ones, False).item() == 2052  # one by one it would stay
    assert sz.scatter(x, index, ones).item() == 1


@pytest.mark.parametrize("dtype", [d for d in ALL if d not in SUMMED], ids=str)
def test_what_has_no_sums_is_refused(dtype: sz.DType) -> None:
    x = laid_out((2,), dtype)
    refused(sz.InvalidArgument, "scatter", x, sz.tensor([0]), x[:1], False)
    same(sz.scatter(x, sz.tensor([0]), x[1:]), raw(x)[[1, 1]])


# ---- masked_select ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ONE_OF_EACH_SIZE, ids=str)
def test_masked_select_of_many(dtype: sz.DType) -> None:
    rng = np.random.default_rng(9)
    for _ in every_level():
        for n in (1, 15, 16, 17, 8191, 8193, 32767, 32769, 100_003):
            x = laid_out((n,), dtype)
            for share in (0.0, 0.01, 0.5, 1.0):
                mask = rng.random(n) < share
                same(sz.masked_select(x, sz.tensor(mask)), raw(x)[mask])
        x = laid_out((300, 400), dtype, (0, 1), [1, 2])
        for mask in (
            rng.random((300, 400)) < 0.3,
            rng.random(400) < 0.5,
            rng.random((300, 1)) < 0.5,
        ):
            chosen = np.broadcast_to(mask, (300, 400))
            for count in (1, 3):
                with threads(count):
                    same(sz.masked_select(x, sz.tensor(mask)), raw(x)[chosen])
        wide = sz.expand(x[:1, :1], (300, 400))
        same(sz.masked_select(wide, sz.tensor(chosen)), raw(wide)[chosen])


def test_a_mask_may_have_any_bytes() -> None:
    memory = np.random.default_rng(2).integers(0, 3, 5000, np.uint8) * 85
    mask = _core.wrap_memory(memory.ctypes.data, 5000, sz.bool, (5000,), (1,), 0, False, memory)
    x = sz.tensor(np.arange(5000))
    assert sz.masked_select(x, mask).tolist() == np.flatnonzero(memory).tolist()


# ---- quantised tensors --------------------------------------------------------------------------


def test_quantised_tensors() -> None:
    values = np.arange(24).reshape(2, 3, 4)
    x = quantized(values, sz.QT_ASYM_UINT8, [0.5], 2)
    rows, pairs = sz.tensor([1, 0, 1]), sz.tensor([[1, 2], [0, 0]])
    for index in (rows, pairs):
        made = sz.gather(x, index)
        assert made.dtype is x.dtype
        assert np.array_equal(real(made), take(real(x), np.array(index.numpy())))
        again = sz.scatter(x, index, made)
        assert np.array_equal(real(again), real(x))
    mask = np.arange(24).reshape(2, 3, 4) % 3 == 1
    assert np.array_equal(real(sz.masked_select(x, sz.tensor(mask))), real(x)[mask])
    other = quantized([values[0]], sz.QT_ASYM_UINT8, [0.25], 2)
    refused(sz.InvalidArgument, "scatter", x, sz.tensor([1]), other, match="scale")
    refused(sz.InvalidArgument, "scatter", x, sz.tensor([1]), x[:1], False, match="overwrite")
    channels = quantized(values, sz.QT_CH_SYM_INT8, [1.0, 2.0, 4.0], 0, 1)
    made = sz.gather(channels, rows)
    assert np.array_equal(real(made), real(channels)[[1, 0, 1]])
    refused(sz.InvalidArgument, "gather", channels, pairs, match="channels")
    refused(sz.InvalidArgument, "masked_select", channels, sz.tensor(mask), match="channels")
    again = sz.scatter(channels, sz.tensor([0]), sz.gather(channels, sz.tensor([1])))
    assert np.array_equal(real(again), real(channels)[[1, 1]])
    last = quantized(values, sz.QT_CH_SYM_INT8, [1.0, 2.0, 4.0, 8.0], 0, 2)
    assert np.array_equal(real(sz.gather(last, pairs)), real(last)[[1, 0], [2, 0]])


# ---- statuses -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", INDEX_DTYPES, ids=str)
def test_indices_are_from_0_to_the_end(dtype: sz.DType) -> None:
    x, two = sz.tensor([[1, 2], [3, 4]]), sz.tensor([[1, 2], [3, 4]])
    info = sz.iinfo(dtype)
    for bad in {2, info.max, info.min if info.min < 0 else 2, -1 if info.min < 0 else 2}:
        for index in (sz.tensor([0, bad], dtype), sz.tensor([[0, 1], [1, bad]], dtype)):
            new = two if index.ndim == 1 else sz.tensor([1, 2])
            refused(sz.InvalidArgument, "gather", x, index, match=f"index contains {bad} ")
            refused(sz.InvalidArgument, "scatter", x, index, new, match=f"index contains {bad} ")


def test_gather_and_scatter_refuse() -> None:
    x, i = sz.tensor([[1, 2], [3, 4]]), sz.tensor([0, 1])
    for name, more in (("gather", ()), ("scatter", (x,))):
        for bad in ([0.0], [True, False], 0, [0j], [[0, 0, 0]]):
            refused(sz.InvalidArgument, name, x, sz.tensor(bad), *more, match="index")
        for dtype, shape in ((sz.uint4, (1,)), (sz.int64, (2, 0))):
            refused(sz.InvalidArgument, name, x, sz.zeros(shape, dtype), *more, match="index")
        refused(sz.InvalidArgument, name, sz.tensor(1), i, *more, match="index")
    for new in (x[:1], x[0], sz.expand_dims(x), sz.tensor([[1.0, 2], [3, 4]]), sz.tensor(1)):
        refused(sz.InvalidArgument, "scatter", x, i, new, match="updates")
    many = sz.reshape(sz.tensor([1]), (1,) * 64)
    refused(sz.InvalidArgument, "gather", many, sz.tensor([[[0]]]), match="64")
    assert sz.gather(many, sz.tensor([[0]])).ndim == 64
    big = sz.expand(sz.tensor([0]), (2**45,))
    refused(sz.AllocFailed, "gather", x, big)
    refused(sz.AllocFailed, "gather", x, sz.expand(sz.tensor([0]), (2**62,)))
    refused(sz.AllocFailed, "gather", sz.expand(sz.tensor([[1]]), (2, 2**45)), i)
    refused(sz.AllocFailed, "scatter", big, i, i)


def test_masked_select_refuses() -> None:
    x, mask = sz.tensor([[1, 2], [3, 4]]), sz.tensor([True, False])
    for bad in (sz.tensor([0, 1]), sz.tensor([0, 1], sz.uint1), np.ones(2), 1):
        refused(sz.InvalidArgument, "masked_select", x, bad, match="mask")
    for shape in ((3,), (2, 3), (1, 2, 2), (2, 2, 2), (0,), (3, 1)):
        bad = sz.tensor(np.ones(shape, bool))
        refused(sz.InvalidArgument, "masked_select", x, bad, match="mask")
    assert sz.masked_select(x, True).tolist() == [1, 2, 3, 4]
    assert sz.masked_select(5, np.bool_(True)).tolist() == [5]
    assert sz.masked_select(x, False).shape == (0,)
    line = sz.expand(sz.tensor([1], sz.int8), (1, 2**40))
    refused(sz.InvalidArgument, "masked_select", line, sz.expand(mask[:1], (2**40, 1)))


# ---- other threads ------------------------------------------------------------------------------

Calls = dict[str, Callable[[sz.Tensor, sz.Tensor, sz.Tensor], Any]]
CALLS: Calls = {
    "masked_select": lambda x, i, m: sz.masked_select(x, m),
    "gather": lambda x, i, m: sz.gather(x, i),
    "index": lambda x, i, m: x[i],
    "mask": lambda x, i, m: x[m],
    "concat": lambda x, i, m: sz.concat([x, x, x], 0),
    "stack": lambda x, i, m: sz.stack([x, x], 1),
    "tile": lambda x, i, m: sz.tile(x, (3,)),
    "pad": lambda x, i, m: sz.pad(x, (9, 9)),
    "roll": lambda x, i, m: sz.roll(x, 7),
    "scatter": lambda x, i, m: sz.scatter(x, i, x),
    "reshape": lambda x, i, m: sz.reshape(sz.flip(x, 0), (-(-x.size // 2), 2)),
    "assign": lambda x, i, m: x.__setitem__(np.s_[1:], x[:-1]),
    "assign_mask": lambda x, i, m: x.__setitem__(m, 1),
}


@pytest.mark.parametrize("name", CALLS)
def test_tensors_destroyed_and_overwritten_meanwhile(name: str) -> None:
    """Whatever another thread does, a call has a result or raises."""
    size = 200_000
    stop = threading.Event()
    current: list[sz.Tensor] = []

    def disturb() -> None:
        turn = 0
        while not stop.is_set():
            for t in list(current):
                turn += 1
                try:
                    if turn % 5 == 0:
                        _core.destroy(t)
                    elif t.dtype is sz.bool:
                        t[...] = turn % 2 == 0
                    else:
                        t[...] = 5
                except (sz.StatusError, TypeError, ValueError):
                    pass

    other = threading.Thread(target=disturb)
    other.start()
    try:
        for _ in range(5):
            x, index = sz.tensor(np.arange(size)), sz.tensor(np.arange(size))
            mask = sz.tensor(np.arange(size) % 3 == 0)
            current[:] = [x, index, mask]
            for _ in range(4):
                try:
                    CALLS[name](x, index, mask)
                except (sz.StatusError, TypeError, ValueError):
                    break
    finally:
        stop.set()
        other.join()
