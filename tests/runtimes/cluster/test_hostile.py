"""What others wrote or computed is checked: links, chunks, blocks of workers; costs are linear."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suanzi as sz

pytest.importorskip("dask.array", reason="tensors of blocks are Dask's")
cluster = pytest.importorskip("suanzi.cluster")


def blocks(x: Any, size: int = 2) -> Any:
    with cluster.blocks(size):
        return sz.tensor(x, device="cluster")


def test_a_chunk_that_is_a_link(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    secret = tmp_path / "secret"
    secret.write_bytes(b"1234")
    for version, key in ((2, "1"), (3, "c/1")):
        place = tmp_path / f"z{version}"
        array = zarr.create_array(
            place, shape=(8,), chunks=(4,), dtype="u1", zarr_format=version, compressors=None
        )
        array[:] = 7
        x = cluster.from_zarr(place)
        assert x.to_host().tolist() == [7] * 8
        (place / key).unlink()
        (place / key).symlink_to(secret)
        assert x[:4].to_host().tolist() == [7] * 4
        with pytest.raises(sz.InvalidArgument, match="is a link, which is not allowed"):
            x.to_host()
    linked = tmp_path / "to z"
    linked.symlink_to(tmp_path / "z2", target_is_directory=True)
    assert cluster.from_zarr(linked)[:4].to_host().tolist() == [7] * 4  # the user's own link


def test_a_dataset_that_becomes_an_external_link(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    for name in ("h", "other"):
        cluster.to_hdf5(blocks(np.arange(4.0)), tmp_path / name)
    x = cluster.from_hdf5(tmp_path / "h")
    with h5py.File(tmp_path / "h", "a") as file:
        del file["tensor"]
        file["tensor"] = h5py.ExternalLink("other", "tensor")
    with pytest.raises(sz.InvalidArgument, match="its elements are in other files"):
        x.to_host()


def test_chunks_without_elements(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    (tmp_path / "z").mkdir()
    facts = {"shape": [2], "chunks": [0], "dtype": "<f8", "fill_value": 0, "zarr_format": 2}
    facts |= {"compressor": None, "filters": None, "order": "C"}
    (tmp_path / "z" / ".zarray").write_text(json.dumps(facts))
    with pytest.raises(sz.InvalidArgument, match="from_zarr") as caught:
        cluster.from_zarr(tmp_path / "z")
    assert "modulo" not in str(caught.value)


@pytest.mark.parametrize("axis", [None, 0])
def test_the_starts_of_an_axis_are_computed_once(
    axis: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Computed for every block, they made reading quadratic in the number of chunks."""
    from suanzi.runtimes.cluster import grid, storing

    starts: Callable[..., list[int]] = grid.starts
    calls = []
    monkeypatch.setattr(grid, "starts", lambda sizes: calls.append(1) or starts(sizes))
    quantization = cluster.quantization.Quantization((1.0,) * (1 if axis is None else 60), 0, axis)
    form = storing.Form(sz.QT_SYM_INT8 if axis is None else sz.QT_CH_SYM_INT8, quantization)
    x = storing.read("read", "x", form, (60, 40), (1, 1), np.zeros)
    assert len(x.graph.layers[x.name]) == 2400
    assert len(calls) <= 4


def test_sorting_no_elements() -> None:
    for shape in ((2, 0), (0,), (0, 3)):
        x = sz.zeros(shape).to_device("cluster")
        values, order = sz.argsort(x, len(shape) - 1)
        assert values.to_host().shape == order.to_host().shape == shape


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize(
    "forged",
    [
        lambda x: sz.zeros((7,)),
        lambda x: sz.cast(x, sz.int8),
        lambda x: sz.create_quant_tensor(x.shape, 1.0, sz.QT_SYM_INT8),
        lambda x: None,
    ],
    ids=["shape", "dtype", "quantised", "nothing"],
)
def test_a_worker_that_returns_something_else(forged: Any, size: int) -> None:
    from suanzi.runtimes.cluster.graph import block_by_block

    x = blocks(np.ones((4, 4)), size)
    y = block_by_block("forged", forged, [(x, range(2))], x.blocks, x.dtype)
    with pytest.raises(sz.InternalError, match=r"block \(0, 0\) should be a tensor of shape"):
        y.to_host()


def test_dask_cannot_write_into_a_block() -> None:
    x = blocks([1, 2, 3])

    def write(chunk: Any) -> Any:
        chunk[0] = 77
        return chunk

    with pytest.raises(ValueError, match="read-only"):
        x.to_dask().map_blocks(write, dtype="i8").compute(scheduler="sync")
    assert x.tolist() == [1, 2, 3]


def test_a_block_that_was_destroyed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be sent, and Dask would ask for it without end."""
    from suanzi.promote import registry

    def destroyed(x: Any, y: Any) -> Any:
        result = sz.duplicate(x)
        sz.destroy(result)
        return result

    x = blocks([1, 2, 3])
    y = x - 1
    monkeypatch.setitem(registry.FUNCTIONS, "sub", destroyed)
    with pytest.raises(sz.InternalError, match="sub returned a tensor that was destroyed"):
        y.to_host()
