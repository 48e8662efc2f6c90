"""Kernels that copy rows of tables by indices, in Triton's interpreter or on a GPU."""

from __future__ import annotations

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
from suanzi import array_api, nn

RNG = np.random.default_rng(3)
DTYPES = ("bool", "int8", "uint16", "float16", "bfloat16", "int32", "float32", "uint64", "float64",
          "float8_e4m3fn")  # fmt: skip


@without_kernels
def test_in_the_interpreter() -> None:
    assert_passes_in_the_interpreter(__file__)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the calls that the kernel of rows computes."""
    from suanzi.torch.loading import usable

    assert usable(KIND)
    from suanzi.torch.triton import tables

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
