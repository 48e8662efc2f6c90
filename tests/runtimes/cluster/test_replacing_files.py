"""Files that are replaced, or change after they were opened: nothing of the user's is lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.blocks import on_blocks, same

pytest.importorskip("dask.array", reason="tensors of blocks are Dask's")
cluster = pytest.importorskip("suanzi.cluster")

OLD = np.arange(6.0).reshape(2, 3)
NEW = OLD + 10


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


@pytest.fixture
def zarr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return Zarr, in a directory with an array `s`."""
    found = pytest.importorskip("zarr", reason="files are its")
    monkeypatch.chdir(tmp_path)
    cluster.to_zarr(on_blocks(2)(OLD), "s")
    return found


@pytest.fixture
def h5py(tmp_path: Path) -> Any:
    """Return h5py, and a file `f` of many things."""
    found = pytest.importorskip("h5py", reason="files are its")
    with found.File(tmp_path / "other", "w") as file:
        file["group/d"] = OLD
    with found.File(tmp_path / "f", "w") as file:
        file["d"], file["group/d"] = OLD, OLD
        file["dangling"] = found.SoftLink("/nowhere")
        file["outside"] = found.ExternalLink("missing", "/d")
        file["to a group"] = found.SoftLink("/group")
        file["other"] = found.ExternalLink("other", "/group")
    return found


# ---- Zarr ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["s", "s/", "s//", "./s/.", "link", "link/", "."])
def test_any_path_to_an_array(path: str, zarr: Any, tmp_path: Path) -> None:
    os.symlink("s", "link")
    if path == ".":
        os.chdir("s")
    cluster.to_zarr(on_blocks(2)(NEW), path, overwrite=True)
    same(cluster.from_zarr(tmp_path / "s"), sz.tensor(NEW))
    assert names(tmp_path) == ["link", "s"]
    assert (tmp_path / "link").is_symlink()


def test_only_an_array_is_replaced(zarr: Any, tmp_path: Path) -> None:
    for version in (2, 3):
        group = zarr.open_group(f"g{version}", mode="w", zarr_format=version)
        group.create_array("a", shape=(3,), dtype="f8")[:] = 7
        with pytest.raises(
            sz.InvalidArgument, match=r"is not a Zarr array, and was not replaced\.$"
        ):
            cluster.to_zarr(on_blocks(2)(NEW), f"g{version}", overwrite=True)
        assert zarr.open_array(f"g{version}/a", mode="r")[1] == 7
    with pytest.raises(sz.InvalidArgument, match="is a URL"):
        cluster.to_zarr(on_blocks(2)(NEW), "memory://x")
    assert names(tmp_path) == ["g2", "g3", "s"]


def test_an_old_array_comes_back(
    zarr: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = os.rename

    def fails(a: str, b: str) -> None:
        if ".new-" in a:
            raise OSError("no rename")
        rename(a, b)

    monkeypatch.setattr(os, "rename", fails)
    with pytest.raises(sz.InvalidArgument, match=r"cannot be written: no rename\.$"):
        cluster.to_zarr(on_blocks(2)(NEW), "s", overwrite=True)
    same(cluster.from_zarr("s"), sz.tensor(OLD))
    assert names(tmp_path) == ["s"]


def test_an_old_array_that_cannot_be_removed(zarr: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rmtree = shutil.rmtree

    def fails(path: str, ignore_errors: bool = False) -> None:
        if ".old-" in path:
            raise PermissionError("not yours")
        rmtree(path, ignore_errors)

    monkeypatch.setattr(shutil, "rmtree", fails)
    with pytest.raises(sz.InvalidArgument, match=r"was written, but .* still in .*: not yours\.$"):
        cluster.to_zarr(on_blocks(2)(NEW), "s", overwrite=True)
    same(cluster.from_zarr("s"), sz.tensor(NEW))


def test_an_array_that_cannot_be_made(
    zarr: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = zarr.open_array

    def fails(path: str, mode: str, **facts: Any) -> Any:
        made = make(path, mode=mode, **facts)
        if mode != "r":
            raise OSError("no room")
        return made

    monkeypatch.setattr(zarr, "open_array", fails)
    for path in ("s", "t"):
        with pytest.raises(sz.InvalidArgument, match=r"cannot be made: no room\.$"):
            cluster.to_zarr(on_blocks(2)(NEW), path, overwrite=True)
    assert names(tmp_path) == ["s"]


# ---- HDF5 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["d", "/d", "dangling", "outside", "to a group", "group/d"])
def test_datasets_and_links_are_replaced(name: str, h5py: Any, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "f") as file:
        before = sorted(file)
    with pytest.raises(sz.InvalidArgument, match="already exists; overwrite=True"):
        cluster.to_hdf5(on_blocks(2)(NEW), tmp_path / "f", name)
    cluster.to_hdf5(on_blocks(2)(NEW), tmp_path / "f", name, overwrite=True)
    same(cluster.from_hdf5(tmp_path / "f", name), sz.tensor(NEW))
    with h5py.File(tmp_path / "f") as file:
        assert sorted(file) == before
        assert np.array_equal(file["group/d"][:], NEW if name == "group/d" else OLD)


@pytest.mark.parametrize("name", ["group", "d/b", "dangling/b", "other/d", "/", "."])
def test_what_is_refused_changes_nothing(name: str, h5py: Any, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "f") as file:
        before = sorted(file)
    with pytest.raises(sz.InvalidArgument, match=r"^to_hdf5: [^\n]*\.$"):
        cluster.to_hdf5(on_blocks(2)(NEW), tmp_path / "f", name, overwrite=True)
    with h5py.File(tmp_path / "f") as file:
        assert sorted(file) == before
        for one in ("d", "group/d", "other/d"):
            assert np.array_equal(file[one][:], OLD)
    assert names(tmp_path) == ["f", "other"]


# ---- both ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["zarr", "hdf5"])
def test_what_another_wrote_meanwhile_stays(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from suanzi.runtimes.cluster import files as module

    pytest.importorskip({"zarr": "zarr", "hdf5": "h5py"}[form], reason="files are its")
    writes, reads = getattr(cluster, f"to_{form}"), getattr(cluster, f"from_{form}")
    write = module.write

    def slowly(*args: Any, **more: Any) -> None:
        monkeypatch.setattr(module, "write", write)
        writes(on_blocks(2)(OLD), tmp_path / "x")  # another program
        write(*args, **more)

    monkeypatch.setattr(module, "write", slowly)
    with pytest.raises(sz.InvalidArgument, match="already exists; overwrite=True"):
        writes(on_blocks(2)(NEW), tmp_path / "x")
    same(reads(tmp_path / "x"), sz.tensor(OLD))
    assert names(tmp_path) == ["x"]


@pytest.mark.parametrize("form", ["zarr", "hdf5"])
def test_a_file_that_changes_after_it_was_opened(form: str, tmp_path: Path) -> None:
    pytest.importorskip({"zarr": "zarr", "hdf5": "h5py"}[form], reason="files are its")
    writes, reads = getattr(cluster, f"to_{form}"), getattr(cluster, f"from_{form}")
    for first in (sz.tensor(OLD), sz.tensor(OLD, sz.bfloat16)):
        for other in (OLD[:1], OLD[:, :2], OLD[0], OLD.astype("f4"), OLD.astype("i8")):
            writes(on_blocks(2)(first), tmp_path / "x", overwrite=True)
            x = reads(tmp_path / "x")
            writes(on_blocks(2)(other), tmp_path / "x", overwrite=True)
            with pytest.raises(
                sz.InvalidArgument,
                match=rf"^from_{form}: .*x.* (has changed: .* Open it again|cannot be read: .*)\.$",
            ):
                x.to_host()
