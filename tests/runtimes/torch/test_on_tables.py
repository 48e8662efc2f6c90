"""Kernels that copy rows of tables by indices, in Triton's interpreter or on a GPU."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.helpers.devices import (
    KIND,
    assert_passes_in_the_interpreter,
    with_kernels,
    without_kernels,
)

import suanzi as sz
from suanzi.faces import array_api
from suanzi.ops import nn

RNG = np.random.default_rng(3)
DTYPES = ("bool", "int8", "uint16", "float16", "bfloat16", "int32", "float32", "uint64", "float64",
          "float8_e4m3fn")  # fmt: skip


@without_kernels
def test_in_the_interpreter() -> None:
    assert_passes_in_the_interpreter(__file__)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the calls that the kernel of rows computes."""
    from suanzi.runtimes.torch.loading import usable

    assert usable(KIND)
    from suanzi.runtimes.torch.triton import tables

    seen: list[str] = []
    given = tables._picked

    def noted(call: Any, *args: Any) -> Any:
        made = given(call, *args)
        seen.extend([call.op.key] if made is not None else [])
        return made

    monkeypatch.setattr(tables, "_picked", noted)
    return seen


def same(function: Any, *args: Any, device: str) -> None:
    wanted = function(*args)
    got = function(*(x.to_device(device) if isinstance(x, sz.Tensor) else x for x in args))
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    assert got.to_host().tolist() == wanted.tolist()


def table(kind: str, *shape: int) -> sz.Tensor:
    return sz.cast(sz.tensor(RNG.integers(0, 2 if kind == "bool" else 100, shape)), kind)


@with_kernels
@pytest.mark.parametrize("kind", DTYPES)
def test_rows(device: str, calls: list[str], kind: str) -> None:
    for width in (1, 3, 64, 5000):
        x = table(kind, 9, width)
        for at in (sz.tensor([2, 0, 8, 2, 2]), sz.tensor(RNG.integers(0, 9, 70).astype(np.uint8))):
            same(sz.gather, x, at, device=device)
            if x.dtype.kind == "float":
                same(nn.embedding, x, at, device=device)
    assert calls.count("gather") == 8
    assert calls.count("nn:embedding") == 8 * (sz.gather(x, at).dtype.kind == "float")


@with_kernels
@pytest.mark.parametrize("kind", DTYPES)
def test_scattered_rows(device: str, used: Counter[str], kind: str) -> None:
    """Of several updates of a row the last stays; rows without one are the input's."""
    for width in (1, 3, 64, 5000):
        x, new = table(kind, 9, width), table(kind, 6, width)
        same(sz.scatter, x, sz.tensor([2, 0, 8, 2, 2, 0]), new, True, device=device)
    x = table(kind, 5, 4, 3, 6)
    for picked in (1, 2, 3):
        at = sz.tensor(RNG.integers(0, 3, (7, 2, picked)).astype(np.int32))
        same(sz.scatter, x, at, table(kind, 7, 2, *x.shape[picked:]), True, device=device)
    assert used == {"scatter": 7}


@with_kernels
def test_scattered_elements_and_those_out_of_range(device: str, used: Counter[str]) -> None:
    x, at = table("float32", 3000), sz.tensor(RNG.integers(0, 3000, 20000))
    same(sz.scatter, x, at, table("float32", 20000), True, device=device)
    turned, rows = sz.transpose(table("int16", 8, 6)), sz.tensor([5, 0])
    same(sz.scatter, turned, rows, table("int16", 2, 8), True, device=device)
    assert used == {"scatter": 2}
    given = (
        v.to_device(device) for v in (x, sz.tensor([1, 3000]), sz.tensor([5.0, 6.0], "float32"))
    )
    made: Any = sz.scatter(*given, True)
    with pytest.raises(sz.InvalidArgument, match="index contains a number out of range"):
        made.to_host()


@with_kernels
def test_coordinates_axes_and_gaps(device: str, calls: list[str]) -> None:
    x = table("float32", 5, 4, 3, 6)
    for picked in (1, 2, 3):
        at = sz.tensor(RNG.integers(0, 3, (7, 2, picked)))
        same(sz.gather, x, at, device=device)
    cube = table("int16", 6, 8, 10)
    at = sz.tensor([[1, 0], [2, 2]])
    for parts in ((slice(1, 5), slice(2, 7)), (slice(0, 4), slice(None), slice(2, 9)),
                  (slice(0, 6, 2), slice(0, 8, 2), slice(0, 10, 3))):  # fmt: skip
        there = cube.to_device(device)[parts]
        for index in (at[0:1, 0], at[:, ::2]):
            got = sz.gather(there, index.to_device(device)).to_host()
            assert got.tolist() == sz.gather(cube[parts], index).tolist()
    assert len(calls) == 9
    same(sz.gather, cube, sz.tensor(RNG.integers(0, 6, (4, 3))), device=device)
    turned = sz.transpose(table("float32", 8, 6))
    same(sz.gather, turned, sz.tensor([5, 0]), device=device)
    same(nn.embedding, turned, sz.tensor([[5, 0], [1, 2]]), device=device)


def gradients(kind: str, *shape: int) -> sz.Tensor:
    return sz.cast(sz.tensor(RNG.standard_normal(shape)), kind)


FLOATS = pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])


@with_kernels
@FLOATS
def test_gradients_of_rows(device: str, used: Counter[str], kind: str) -> None:
    """Rows of fewer positions than two parts have the CPU's bits, rows of none are zeros."""
    for width, rows, times in ((1, 40, 3), (3, 40, 3), (64, 40, 3), (2100, 5, 3), (7, 6, 60)):
        x, at = sz.zeros((rows, width), kind), RNG.integers(0, rows - 2, (times, rows))
        assert np.bincount(at.ravel()).max() < 128
        grad = gradients(kind, times, rows, width)
        for dtype, padding in ((np.int64, None), (np.int32, 3), (np.uint8, -1), (np.int64, -rows)):
            same(nn.embedding_bwd, grad, x, sz.tensor(at.astype(dtype)), padding, device=device)
    assert used == {"nn:embedding_bwd": 20}


@with_kernels
@FLOATS
def test_gradients_of_rows_with_many_positions(device: str, used: Counter[str], kind: str) -> None:
    """Parts that are whole, missing by one and begun, alone and side by side: sums are exact."""
    for counts, width in (([64], 1), ([63, 65], 5), ([128, 0, 127, 129], 40), ([130], 2050),
                          ([1, 300, 0, 64, 64, 5, 1000, 2, 191, 70, 5000], 3)):  # fmt: skip
        at = np.repeat(np.arange(len(counts)), counts)
        for order in (at, RNG.permutation(at))[: 1 + (width < 2050)]:
            grad = sz.cast(sz.tensor(RNG.integers(-2, 3, (len(at), width))), kind)
            x = sz.zeros((len(counts) + 2, width), kind)
            same(nn.embedding_bwd, grad, x, sz.tensor(order), device=device)
    assert used == {"nn:embedding_bwd": 9}


@with_kernels
def test_gradients_of_one_row_named_100_000_times(device: str, used: Counter[str]) -> None:
    at = np.full(100_000, 7)
    at[::1000] = 2
    grad = gradients("float32", at.size, 3)
    got = nn.embedding_bwd(
        grad.to_device(device), sz.zeros((9, 3), device=device), sz.tensor(at, device=device)
    ).to_host()
    terms = np.asarray(grad).astype(np.float64)
    for row in (2, 7):
        exact = np.array([math.fsum(terms[at == row, c]) for c in range(3)])
        assert np.abs(np.asarray(got)[row] / exact - 1).max() < 2**-23
    # All are padding, and no gradient of these is read.
    bad = sz.full(shape=(at.size, 3), value=math.nan).to_device(device)
    where = sz.full(shape=(at.size,), value=7, dtype=sz.int64).to_device(device)
    made = nn.embedding_bwd(bad, sz.zeros((9, 3), device=device), where, 7)
    assert made.to_host().tolist() == [[0.0] * 3] * 9
    assert used == {"nn:embedding_bwd": 2}


@with_kernels
def test_the_gradient_of_a_row_depends_on_no_other(device: str, used: Counter[str]) -> None:
    mine = gradients("float32", 500, 40)
    seen = []
    for others in (0, 1, 63, 64, 700):
        at = RNG.permutation(np.repeat([5, 2], [500, others]))
        grad = np.asarray(gradients("float32", at.size, 40)).copy()
        grad[at == 5] = np.asarray(mine)
        made = nn.embedding_bwd(*(
            sz.tensor(v, device=device) for v in (grad, np.zeros((9, 40), np.float32), at)
        ))  # fmt: skip
        seen.append(np.asarray(made.to_host())[5].tobytes())
    assert set(seen) == {seen[0]}
    assert used == {"nn:embedding_bwd": 5}


@with_kernels
@FLOATS
def test_special_gradients(device: str, used: Counter[str], kind: str) -> None:
    """Ties of 16 bits are rounded once, sums beyond the range are infinite, and no zero is -0."""
    most = {"float16": 65504.0, "bfloat16": 3.3895e38}.get(kind, 3e38)
    rows = [[-0.0, math.nan, most], [-0.0, 1.0, most], [1.0, math.inf, 1.0],
            [2.0**-9, -math.inf, 2.0**-11], [2.0**-30, 0.0, 2.0**-40]]  # fmt: skip
    grad, at = sz.cast(sz.tensor(rows), kind), sz.tensor([0, 0, 2, 2, 2])
    x = sz.zeros((4, 3), kind)
    wanted = nn.embedding_bwd(grad, x, at)
    made: Any = nn.embedding_bwd(*(v.to_device(device) for v in (grad, x, at)))
    got, true = (np.asarray(sz.cast(v, "float64")) for v in (made.to_host(), wanted))
    assert np.array_equal(got, true, equal_nan=True)
    assert not np.signbit(got[0, 0])
    assert used == {"nn:embedding_bwd": 1}


@with_kernels
def test_layouts_of_gradients(device: str, used: Counter[str]) -> None:
    at = sz.tensor(RNG.integers(0, 6, (8, 10)))
    for parts in ((slice(None), slice(None), slice(2, 9)),
                  (slice(0, 8, 2), slice(1, 4), slice(0, 10, 3))):  # fmt: skip
        grad = gradients("bfloat16", 8, 10, 12)
        there = grad.to_device(device)[parts]
        x = sz.zeros((6, there.shape[-1]), "bfloat16")
        index = at.to_device(device)[parts[:2]]
        got: Any = nn.embedding_bwd(there, x.to_device(device), index)
        assert got.to_host().tolist() == nn.embedding_bwd(grad[parts], x, at[parts[:2]]).tolist()
    rows = sz.tensor(np.ones((4, 1), np.float32))
    spread = sz.expand(rows.to_device(device), (4, 6))
    got = nn.embedding_bwd(spread, sz.zeros((3, 6), device=device),
                           sz.tensor([2, 2, 0, 2], device=device))  # fmt: skip
    assert got.to_host().tolist() == [[1.0] * 6, [0.0] * 6, [3.0] * 6]
    wide = gradients("float32", 4, 6)
    same(nn.embedding_bwd, wide, sz.zeros((3, 6), "float16"), sz.tensor([2, 2, 0, 2]),
         device=device)  # fmt: skip
    same(nn.embedding_bwd, gradients("float32", 6), sz.zeros((3, 6)), sz.tensor(1), device=device)
    assert used == {"nn:embedding_bwd": 5}


@with_kernels
def test_gradients_of_more_rows_than_16_bits_count(device: str, used: Counter[str]) -> None:
    """Indices are sorted in 16 bits up to a limit, and the padding row comes after them."""
    import torch

    from suanzi.runtimes.torch.triton import embedding_bwd

    assert all(rows <= torch.iinfo(dtype).max for rows, dtype in embedding_bwd._KEYS)
    for rows in (32767, 32768, 70000):
        at = sz.tensor([rows - 1, 0, rows - 1, 32766, 5, rows - 2])
        for padding in (None, rows - 1):
            same(nn.embedding_bwd, gradients("float32", 6, 2), sz.zeros((rows, 2)), at, padding,
                 device=device)  # fmt: skip
    assert used == {"nn:embedding_bwd": 6}


@with_kernels
def test_gradients_at_indices_out_of_range_and_of_nothing(device: str, used: Counter[str]) -> None:
    x, grad = sz.zeros((4, 3), device=device), sz.full(shape=(2, 3), value=1.0).to_device(device)
    for bad in (sz.tensor([0, 4]), sz.tensor([-1, 2]), sz.tensor([2**64 - 1, 0], sz.uint64),
                sz.tensor([2**40, 1])):  # fmt: skip
        for padding in (None, 0):
            nn.embedding_bwd(grad, x, bad.to_device(device), padding)
            with pytest.raises(sz.OutOfRange, match="an index must be from 0 to 3"):
                sz.synchronize()
    assert used == {"nn:embedding_bwd": 8}
    for rows, many, width in ((4, 0, 3), (4, 2, 0), (0, 0, 3)):
        same(nn.embedding_bwd, sz.zeros((many, width)), sz.zeros((rows, width)),
             sz.zeros((many,), sz.int64), device=device)  # fmt: skip


@with_kernels
def test_take_counts_from_the_end(device: str, calls: list[str]) -> None:
    x = array_api.asarray(np.arange(5 * 4 * 6, dtype=np.float32).reshape(5, 4, 6))
    at = array_api.asarray([-1, 0, 2, -4])
    for axis in (0, 1, 2, -2):
        wanted = np.take(np.arange(120.0).reshape(5, 4, 6), [-1, 0, 2, -4], axis)
        there = array_api.take(x.to_device(device), at.to_device(device), axis=axis)
        assert there.to_host().tolist() == wanted.tolist()
    assert calls == ["array_api:take"] * 4


@with_kernels
def test_no_elements_and_rows(device: str) -> None:
    for shape, count in (((4, 0), 3), ((4, 3), 0), ((0, 3), 0)):
        at = sz.zeros((count,), sz.int64)
        same(sz.gather, sz.zeros(shape), at, device=device)
        same(nn.embedding, sz.zeros(shape), at, device=device)


@with_kernels
def test_indices_out_of_range_are_reported(device: str, calls: list[str]) -> None:
    x = table("float32", 4, 3).to_device(device)
    for bad in (sz.tensor([0, 4]), sz.tensor([-1]), sz.tensor([2**64 - 1], sz.uint64),
                sz.tensor([2**40])):  # fmt: skip
        there = bad.to_device(device)
        sz.gather(x, there)
        with pytest.raises(sz.InvalidArgument, match="out of range for axes of sizes"):
            sz.synchronize()
        nn.embedding(x, there)
        with pytest.raises(sz.OutOfRange, match="an index must be from 0 to 3"):
            sz.synchronize()
    sz.gather(x, sz.tensor([[3, 2], [0, 3]], device=device))
    with pytest.raises(sz.InvalidArgument, match=r"axes of sizes \(4, 3\)"):
        sz.synchronize()
    for last in (-5, 4):
        array_api.take(x, sz.tensor([0, last], device=device), axis=0)
        with pytest.raises(sz.OutOfRange, match="valid: -4 to 3"):
            sz.synchronize()
    assert len(calls) == 11
    array_api.take(x, sz.tensor([0, -4, 3], device=device), axis=0)
    sz.synchronize()
