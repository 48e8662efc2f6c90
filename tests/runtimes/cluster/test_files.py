"""Tensors of blocks from and to Zarr and HDF5, read back by those libraries themselves, too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import suanzi as sz
from helpers.blocks import on_blocks, same

pytest.importorskip("dask.array", reason="tensors of blocks are Dask's")
cluster = pytest.importorskip("suanzi.cluster")
FORMATS = ["zarr", "hdf5"]
NEEDED = {"zarr": "zarr", "hdf5": "h5py"}

RNG = np.random.default_rng(7)
REAL = RNG.normal(size=(5, 7)) * 4
WHOLE = RNG.integers(0, 2, (5, 7))

TENSORS: dict[str, sz.Tensor] = {
    **{
        dt.name: sz.tensor(WHOLE if dt.kind in ("int", "uint", "bool") else REAL, dt)
        for dt in (
            sz.bool, sz.int8, sz.uint16, sz.int64, sz.uint64, sz.float16, sz.float64, sz.bfloat16,
            sz.float8_e4m3fn, sz.float8_e5m2, sz.int4, sz.uint4, sz.uint1, sz.complex32,
            sz.complex64, sz.complex128,
        )
    },
    "QT_ASYM_UINT8": sz.quantize(sz.tensor(REAL), sz.QT_ASYM_UINT8),
    "QT_CH_SYM_INT16": sz.quantize(sz.tensor(REAL), sz.QT_CH_SYM_INT16),
    "rows": sz.quantize(sz.tensor(REAL), sz.QT_CH_SYM_INT8, channel_axis=0),
    "without a scale": sz.tensor(WHOLE, sz.QT_SYM_INT8),
    "char": sz.create_tensor((3,), b"a\0z", sz.char),
    "no axes": sz.tensor(2.5, sz.bfloat16),
    "no elements": sz.zeros((0, 3), sz.float32),
}  # fmt: skip


@pytest.fixture(params=FORMATS)
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Return the two functions of a format, and a place for a file."""
    pytest.importorskip(NEEDED[request.param], reason="files are its")
    reads = getattr(cluster, f"from_{request.param}")
    return reads, getattr(cluster, f"to_{request.param}"), tmp_path / "x"


@pytest.mark.parametrize("name", TENSORS)
def test_what_is_written_comes_back(name: str, files: Any) -> None:
    reads, writes, place = files
    x = on_blocks((2, 3))(TENSORS[name])
    writes(x, place)
    found = reads(place)
    same(found, TENSORS[name])
    assert found.blocks == x.blocks
    with cluster.blocks(3 if found.ndim else -1):
        same(reads(place), TENSORS[name])


def test_blocks_of_unlike_sizes(files: Any) -> None:
    reads, writes, place = files
    with cluster.blocks(((1, 4), (3, 2, 2))):
        x = sz.tensor(REAL, sz.bfloat16, device="cluster")
    writes(sz.exp(x), place)
    assert reads(place).blocks == ((4, 1), (3, 3, 1))
    same(reads(place), sz.exp(sz.tensor(REAL, sz.bfloat16)))


def test_other_programs_read_what_is_plain(tmp_path: Path) -> None:
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    x = on_blocks((2, 3))(REAL)
    cluster.to_zarr(x, tmp_path / "z")
    cluster.to_hdf5(x, tmp_path / "h", "a/b")
    array = zarr.open_array(tmp_path / "z", mode="r")
    assert np.array_equal(array[:], REAL)
    assert (array.chunks, dict(array.attrs)) == ((2, 3), {})
    with h5py.File(tmp_path / "h") as file:
        assert np.array_equal(file["a/b"][:], REAL)
        assert (file["a/b"].chunks, dict(file["a/b"].attrs)) == ((2, 3), {})
    cluster.to_zarr(on_blocks(-1)(sz.tensor(REAL, sz.bfloat16)), tmp_path / "bits")
    bits = zarr.open_array(tmp_path / "bits", mode="r")
    assert np.array_equal(bits[:].view(ml_dtypes.bfloat16), REAL.astype(ml_dtypes.bfloat16))
    assert dict(bits.attrs) == {"suanzi": {"dtype": "bfloat16"}}


def test_what_other_programs_wrote(tmp_path: Path) -> None:
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    zarr.open_array(tmp_path / "z", mode="w", shape=(5, 7), chunks=(4, 4), dtype=">f4",
                    zarr_format=2)[:] = REAL  # fmt: skip
    assert cluster.from_zarr(tmp_path / "z").blocks == ((4, 1), (4, 3))
    same(cluster.from_zarr(tmp_path / "z"), sz.tensor(REAL, sz.float32))
    with h5py.File(tmp_path / "h", "w") as file:
        file["x"] = REAL.astype(">f8")  # in one piece
    same(cluster.from_hdf5(tmp_path / "h", "x"), sz.tensor(REAL))


def test_what_is_there_stays_unless_told(files: Any) -> None:
    reads, writes, place = files
    writes(on_blocks(2)(REAL), place)
    with pytest.raises(sz.InvalidArgument, match="already exists; overwrite=True"):
        writes(on_blocks(2)(WHOLE), place)
    same(reads(place), sz.tensor(REAL))
    writes(on_blocks(3)(WHOLE), place, overwrite=True)
    same(reads(place), sz.tensor(WHOLE))


def test_what_fails_leaves_nothing_behind(files: Any) -> None:
    reads, writes, place = files
    x = on_blocks(2)(np.array([1, 2, 0]))
    with pytest.raises(sz.StatusError):
        writes(sz.floordiv(x, x), place)
    with pytest.raises(sz.InvalidArgument, match="cannot be read"):
        reads(place)


def test_what_is_read_may_be_overwritten(files: Any, tmp_path: Path) -> None:
    reads, writes, place = files
    writes(on_blocks((2, 3))(REAL), place)
    for _ in range(2):
        writes(reads(place) + 1, place, overwrite=True)
    same(reads(place), sz.tensor(REAL + 1 + 1))
    assert [one.name for one in tmp_path.iterdir()] == ["x"]


def test_what_was_there_stays_when_a_write_fails(files: Any, tmp_path: Path) -> None:
    reads, writes, place = files
    writes(on_blocks(2)(REAL), place)
    x = on_blocks(2)(np.array([1, 2, 0]))
    with pytest.raises(sz.StatusError):
        writes(sz.floordiv(x, x), place, overwrite=True)
    same(reads(place), sz.tensor(REAL))
    assert [one.name for one in tmp_path.iterdir()] == ["x"]


def test_a_directory_of_others_is_not_replaced(files: Any, tmp_path: Path) -> None:
    _, writes, _ = files
    (tmp_path / "precious").write_text("1")
    with pytest.raises(sz.InvalidArgument, match=r"^to_[^\n]*\.$"):
        writes(on_blocks(2)(REAL), tmp_path, overwrite=True)
    assert (tmp_path / "precious").read_text() == "1"


def test_a_file_that_goes_away_before_it_is_read(files: Any) -> None:
    reads, writes, place = files
    writes(on_blocks(2)(REAL), place)
    x = reads(place)
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    with pytest.raises(sz.InvalidArgument, match="cannot be read: "):
        x.to_host()


def test_files_that_are_none(files: Any, tmp_path: Path) -> None:
    reads, _, place = files
    (tmp_path / "text").write_text("no array")
    for wrong in (place, tmp_path / "text", tmp_path):
        with pytest.raises(sz.InvalidArgument, match=r"cannot be read as [^\n]*\.$"):
            reads(wrong)


HOSTILE: list[Any] = [
    7, "x", [], [1, 2], {}, {"dtype": 7}, {"dtype": "no"}, {"dtype": "float32"},
    {"dtype": "float8_e5m2"},
    {"dtype": "QT_CH_SYM_INT16", "scale": [1.0, 2.0], "zero_point": 0, "channel_axis": 1},
    {"dtype": "QT_CH_SYM_INT16", "scale": [1.0] * 7, "zero_point": 0, "channel_axis": 9},
    {"dtype": "QT_CH_SYM_INT16", "scale": [-1.0], "zero_point": 0, "channel_axis": None},
    {"dtype": "QT_CH_SYM_INT16", "scale": ["a"], "zero_point": 0, "channel_axis": None},
    {"dtype": "QT_SYM_INT16", "scale": [1.0], "zero_point": 5, "channel_axis": None},
    {"dtype": "QT_SYM_INT16", "scale": 3, "zero_point": 0, "channel_axis": None},
    {"dtype": "QT_SYM_INT16", "scale": [1.0]},
    {"dtype": "bfloat16", "scale": [1.0], "zero_point": 0, "channel_axis": None},
]  # fmt: skip


@pytest.mark.parametrize("attribute", HOSTILE, ids=str)
def test_attributes_that_lie(attribute: Any, files: Any) -> None:
    reads, writes, place = files
    writes(on_blocks(2)(WHOLE.astype(np.uint16)), place)
    if reads is cluster.from_zarr:
        import zarr

        zarr.open_array(place, mode="r+").attrs["suanzi"] = attribute
    else:
        import h5py

        with h5py.File(place, "r+") as file:
            file["tensor"].attrs["suanzi"] = json.dumps(attribute)
    with pytest.raises(sz.InvalidArgument, match=r"which does not match its [^\n]*\.$"):
        reads(place)


def test_elements_of_no_dtype(tmp_path: Path) -> None:
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    zarr.open_array(tmp_path / "z", mode="w", shape=(3,), chunks=(3,), dtype="<M8[s]",
                    zarr_format=2)  # fmt: skip
    with h5py.File(tmp_path / "h", "w") as file:
        file["text"] = ["a", "b"]
        file["pair"] = np.zeros(3, [("a", "i4"), ("b", "f4")])
        file.create_group("group")
    with pytest.raises(sz.InvalidArgument, match="for which there is no dtype"):
        cluster.from_zarr(tmp_path / "z")
    for name in ("text", "pair"):
        with pytest.raises(sz.InvalidArgument, match="for which there is no dtype"):
            cluster.from_hdf5(tmp_path / "h", name)
    for name in ("group", "none"):
        with pytest.raises(sz.InvalidArgument, match="cannot be read as an HDF5 dataset"):
            cluster.from_hdf5(tmp_path / "h", name)


def test_bytes_that_are_no_number_of_the_dtype(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    for dtype, wrong in (("int4", 8), ("int4", 247), ("uint4", 16), ("uint1", 2)):
        array = zarr.open_array(tmp_path / "z", mode="w", shape=(3,), chunks=(3,), dtype="u1")
        array.attrs["suanzi"] = {"dtype": dtype}
        array[1] = wrong
        with pytest.raises(sz.InvalidArgument, match=f"contains bytes that are not valid {dtype}"):
            cluster.from_zarr(tmp_path / "z").to_host()


def test_what_would_run_code_or_read_other_files(tmp_path: Path) -> None:
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    zarr.open_array(tmp_path / "z", mode="w", shape=(3,), chunks=(3,), dtype="u1", zarr_format=2)
    said = json.loads((tmp_path / "z" / ".zarray").read_text())
    for coded in ({"compressor": {"id": "pickle"}}, {"filters": [{"id": "pickle"}]}):
        (tmp_path / "z" / ".zarray").write_text(json.dumps(said | coded))
        with pytest.raises(sz.InvalidArgument, match="is pickled|cannot be read"):
            cluster.from_zarr(tmp_path / "z")
    with h5py.File(tmp_path / "other", "w") as file:
        file["tensor"] = REAL
    with h5py.File(tmp_path / "h", "w") as file:
        layout = h5py.VirtualLayout((5, 7), "f8")
        layout[:] = h5py.VirtualSource(tmp_path / "other", "tensor", (5, 7))
        file.create_virtual_dataset("virtual", layout)
        file["link"] = h5py.ExternalLink("other", "tensor")
        raw = [(str(tmp_path / "z" / ".zarray"), 0, 8)]
        file.create_dataset("external", (1,), "f8", external=raw)
    for name in ("virtual", "link", "external"):
        with pytest.raises(sz.InvalidArgument, match="its elements are in other files"):
            cluster.from_hdf5(tmp_path / "h", name)


def test_no_task_writes_beside_another(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    import dask

    x = on_blocks((1, 2))(REAL)
    with dask.config.set(scheduler="threads", num_workers=8):
        for turn in range(3):
            cluster.to_hdf5(x + turn, tmp_path / "h", f"x{turn}")
    with h5py.File(tmp_path / "h") as file:
        assert np.array_equal(file["x2"][:], REAL + 2)


def test_one_writer_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("h5py")
    import time

    import dask

    from suanzi.runtimes.cluster import files

    writing, most = [], []

    def slowly(*args: Any) -> None:
        writing.append(1)
        most.append(len(writing))
        time.sleep(0.01)
        writing.pop()

    monkeypatch.setattr(files, "_put_in_dataset", slowly)
    with dask.config.set(scheduler="threads", num_workers=8):
        cluster.to_hdf5(on_blocks((1, 7))(REAL), tmp_path / "h")
    assert most == [1] * 5
