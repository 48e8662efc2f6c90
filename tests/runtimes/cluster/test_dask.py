"""Tensors as the chunks of Dask's arrays, held against the same in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz

da = pytest.importorskip("dask.array", reason="chunks are Dask's")
chunks = pytest.importorskip("suanzi.dask")

NUMBERS = np.arange(24.0, dtype=np.float32).reshape(4, 6)

CALLS: dict[str, Callable[[Any], Any]] = {
    "slices": lambda x: x[1:, ::2],
    "indices": lambda x: x[[3, 0]],
    "masks": lambda x: x[x > 3],
    "add": lambda x: x + x[:1],
    "ufunc": np.sqrt,
    "sum": lambda x: x.sum(axis=0),
    "sum of all": lambda x: x.sum(),
    "mean": lambda x: x.mean(axis=1, keepdims=True),
    "mean without NaN": lambda x: da.nanmean(da.where(x > 3, x, np.nan).astype("f4")),
    "max": lambda x: x.max(axis=(0, 1)),
    "cumsum": lambda x: x.cumsum(axis=1),
    "tensordot": lambda x: da.tensordot(x, x, axes=((1,), (1,))),
    "einsum": lambda x: da.einsum("ij,kj->ik", x, x),
    "matmul": lambda x: x @ x.T,
    "concatenate": lambda x: da.concatenate([x, x], axis=1),
    "stack": lambda x: da.stack([x, x]),
    "rechunk": lambda x: x.rechunk((4, 1)),
    "reshape": lambda x: x.reshape(24),
    "where": lambda x: da.where(x > 3, x, 0),
    "astype": lambda x: x.astype("f8"),
    "overlap": lambda x: da.map_overlap(lambda b: b * 2, x, depth=1, boundary="none"),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_dask_does_keeps_tensors_and_numbers(name: str) -> None:
    tensors = da.from_array(sz.tensor(NUMBERS), chunks=(2, 3), asarray=False)
    found = CALLS[name](tensors).compute()
    wanted = CALLS[name](da.from_array(NUMBERS, chunks=(2, 3))).compute()
    assert isinstance(found, sz.Tensor)
    assert (found.shape, str(found.dtype)) == (wanted.shape, str(wanted.dtype))
    np.testing.assert_array_equal(found.numpy(), wanted)


def test_narrow_dtypes_stay() -> None:
    x = da.from_array(sz.tensor(NUMBERS, sz.bfloat16), chunks=(2, 3), asarray=False)
    found = x.map_blocks(lambda block: sz.exp(block) + 1).rechunk(4).compute()
    assert found.dtype is sz.bfloat16
    assert (found == sz.exp(sz.tensor(NUMBERS, sz.bfloat16)) + 1).all()


def test_counts() -> None:
    x = sz.tensor([[1.0, float("nan")], [2.0, 3.0]])
    assert chunks.counts(x).tolist() == 4
    assert chunks.counts(x, axis=-1, keepdims=True).tolist() == [[2], [2]]
    assert chunks.present(x, axis=0).tolist() == [2, 1]


def test_dask_knows_how_large_chunks_are() -> None:
    from dask.sizeof import sizeof

    assert sizeof(sz.zeros((100, 100))) == 40_000
    assert sizeof(sz.zeros((100, 100))[0]) == 40_000  # it keeps all of them alive


def test_storage_gets_the_elements() -> None:
    x = da.from_array(sz.tensor(NUMBERS), chunks=(2, 3), asarray=False)
    kept = np.zeros((4, 6), np.float32)
    da.store(x * 2, kept)
    np.testing.assert_array_equal(kept, NUMBERS * 2)
