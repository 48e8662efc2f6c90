"""Tensors of blocks from and to arrays of Zarr and datasets of HDF5: chunks are blocks.

Workers read and write the chunks of Zarr at the same time. HDF5 allows neither concurrent writers
nor readers during a write. So each block's task waits for the previous one, opens a new file,
writes and closes it: one chain, for any scheduler, without a lock. Blocks are computed
concurrently, and may come from the target file itself: the complete dataset is copied there at the
end.
"""

from __future__ import annotations

import json
import os
import shutil
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from suanzi.base.status import InvalidArgument
from suanzi.runtimes.cluster.exchange import as_blocks
from suanzi.runtimes.cluster.graph import new_name
from suanzi.runtimes.cluster.storing import (
    ATTRIBUTE,
    Where,
    attributes_of,
    chunks_of,
    errors_as,
    form_found,
    form_of,
    library,
    read,
    regular,
    write,
)
from suanzi.runtimes.cluster.tensor import BlockTensor

Path = str | os.PathLike[str]
_DESCRIPTIONS = ("zarr.json", ".zarray", ".zattrs")


def from_zarr(path: Path) -> BlockTensor:
    """Return an array of Zarr as a tensor of blocks; each is read by the worker that needs it.

    Chunks become blocks, unless :func:`suanzi.cluster.blocks` says otherwise. The path must be one
    that every worker has.
    """
    zarr, place = library("zarr", "from_zarr"), os.fspath(path)
    title = f"from_zarr: {place}"
    with errors_as(f"{title} cannot be read as a Zarr array"):
        array = zarr.open_array(place, mode="r")
        attribute = array.attrs.asdict().get(ATTRIBUTE)
        shape, dtype, chunks = tuple(array.shape), array.dtype, array.chunks
        coded = _codecs(array)
    if "pickle" in coded:
        raise InvalidArgument(
            f"{title} is pickled, which can execute code; refused. Write it with another codec."
        )
    form = form_found(title, shape, dtype, attribute)
    return read("from_zarr", title, form, shape, chunks, partial(_part_of_array, place))


def to_zarr(x: Any, path: Path, *, overwrite: bool = False) -> None:
    """Write a tensor of blocks to an array of Zarr, now; each block by the worker that has it.

    Blocks become chunks, which have one size along an axis, except the last. Every worker must be
    able to open the path; links in it are followed. The array is written under a temporary name in
    the same folder and renamed when it is complete. So `overwrite` replaces only a Zarr array, and
    the old array stays readable until then.

    >>> import suanzi as sz
    >>> from suanzi import cluster
    >>> from tempfile import TemporaryDirectory
    >>> x = sz.full(sz.bfloat16, "cluster", (4, 6), 0.5)
    >>> with TemporaryDirectory() as place:
    ...     cluster.to_zarr(x.reblock((2, 3)), place + "/x.zarr")
    ...     cluster.from_zarr(place + "/x.zarr")
    BlockTensor(shape=(4, 6), dtype=bfloat16, blocks=2 x 2)
    """
    zarr, place = library("zarr", "to_zarr"), _place(path)
    title, blocks = f"to_zarr: {place}", regular(as_blocks(x))
    _check_place(title, place, overwrite)
    form, new = form_of(blocks), f"{place}.{new_name('new')}"
    try:
        with errors_as(f"{title} cannot be made"):
            zarr.open_array(
                new, mode="w-", shape=blocks.shape, chunks=chunks_of(blocks), dtype=form.array,
                attributes=attributes_of(form),
            )  # fmt: skip
        write("to_zarr", title, blocks, partial(_put_in_array, new))
        _check_place(title, place, overwrite)  # another may have made it meanwhile
        _rename(title, new, place)
    finally:
        shutil.rmtree(new, ignore_errors=True)  # an incomplete array must not look complete


def _place(path: Path) -> str:
    """Return a path whose folder can have a temporary name: `s/`, `.` and links are resolved."""
    given = os.fspath(path)
    if "://" in given:
        raise InvalidArgument(
            f"to_zarr: {given} is a URL; to_zarr writes only to paths. Mount the storage and give "
            "its path."
        )
    return os.path.realpath(given)


def _check_place(title: str, place: str, overwrite: bool) -> None:
    """Raise InvalidArgument unless the place is free or has an array that may be replaced."""
    if not os.path.lexists(place):
        return
    if not overwrite:
        raise InvalidArgument(f"{title} already exists; overwrite=True replaces it.")
    try:
        if not os.path.isdir(place):
            raise InvalidArgument("it is a file")
        library("zarr", "to_zarr").open_array(
            place, mode="r"
        )  # which a group of arrays is none for
    except Exception as error:  # of many kinds
        raise InvalidArgument(f"{title} is not a Zarr array, and was not replaced.") from error


def _rename(title: str, new: str, place: str) -> None:
    """Rename the new array; the old one is removed only then, and restored if that fails."""
    old = f"{place}.{new_name('old')}"
    with errors_as(f"{title} cannot be written"):
        if not os.path.lexists(place):
            os.rename(new, place)
            return
        os.rename(place, old)
        try:
            os.rename(new, place)
        except BaseException:
            os.rename(old, place)
            raise
    with errors_as(f"{title} was written, but the old data is still in {old}"):
        shutil.rmtree(old)


def _part_of_array(place: str, where: Where) -> np.ndarray[Any, Any]:
    array = library("zarr", "from_zarr").open_array(place, mode="r")
    _check_links(place, array, where)
    return np.asarray(array[where])


def _check_links(place: str, array: Any, where: Where) -> None:
    """Raise InvalidArgument if a file of these elements is a link to somewhere else."""
    if "://" in place:
        return
    folder, facts = os.path.realpath(place), array.metadata
    sizes = getattr(array, "shards", None) or array.chunks
    ranges = (
        range(axis.start // size, -(-axis.stop // size))
        for axis, size in zip(where, sizes, strict=True)
    )
    keys = (facts.encode_chunk_key(index) for index in product(*ranges))
    for key in (*_DESCRIPTIONS, *keys):
        path = os.path.join(folder, *key.split("/"))
        if os.path.realpath(path) != path:
            raise InvalidArgument(f"the file {key!r} of the array is a link, which is not allowed")


def _put_in_array(place: str, where: Where, block: np.ndarray[Any, Any]) -> None:
    library("zarr", "to_zarr").open_array(place, mode="r+")[where] = block


def _codecs(array: Any) -> list[str]:
    """Return the names of what an array of Zarr's older format is coded with."""
    facts = array.metadata
    some = [*(getattr(facts, "filters", None) or ()), getattr(facts, "compressor", None)]
    return [codec.codec_id for codec in some if hasattr(codec, "codec_id")]


def from_hdf5(path: Path, name: str = "tensor") -> BlockTensor:
    """Return a dataset of an HDF5 file as a tensor of blocks; the workers read them.

    Chunks become blocks, unless :func:`suanzi.cluster.blocks` says otherwise. The path must be one
    that every worker has.
    """
    h5py, place = library("h5py", "from_hdf5"), os.fspath(path)
    title = f"from_hdf5: {place}, {name!r}"
    with errors_as(f"{title} cannot be read as an HDF5 dataset"), h5py.File(place, "r") as file:
        data = _dataset(file, name)
        shape, dtype, chunks = tuple(data.shape), data.dtype, data.chunks
        attribute = data.attrs.get(ATTRIBUTE)
    form = form_found(title, shape, dtype, attribute)
    return read("from_hdf5", title, form, shape, chunks, partial(_part_of_dataset, place, name))


def to_hdf5(x: Any, path: Path, name: str = "tensor", *, overwrite: bool = False) -> None:
    """Write a tensor of blocks to a dataset of an HDF5 file, now; blocks become chunks.

    The file is created if it does not exist, else the dataset is added to it. `overwrite` replaces
    a dataset of that name, or a link itself, when the new one is complete, but not a group. HDF5
    does not reuse the space of the old dataset, so the file grows; `h5repack` shrinks it. One
    worker writes at a time. Every worker must be able to open the path.

    >>> import suanzi as sz
    >>> from suanzi import cluster
    >>> from tempfile import TemporaryDirectory
    >>> x = sz.full(sz.bfloat16, "cluster", (4, 6), 0.5)
    >>> with TemporaryDirectory() as place:
    ...     cluster.to_hdf5(x.reblock((2, 3)), place + "/x.h5")
    ...     cluster.from_hdf5(place + "/x.h5")
    BlockTensor(shape=(4, 6), dtype=bfloat16, blocks=2 x 2)
    """
    h5py, place = library("h5py", "to_hdf5"), os.fspath(path)
    title = f"to_hdf5: {place}, {name!r}"
    blocks = regular(as_blocks(x))
    new = f"{place}.{new_name('new')}"
    try:
        with errors_as(f"{title} cannot be made", InvalidArgument):
            if os.path.exists(place):
                with h5py.File(place, "r") as file:
                    _check_name(title, file, name, overwrite)
            with h5py.File(new, "w", libver=("v110", "latest")) as file:
                _make(file, name, blocks)
        write("to_hdf5", title, blocks, partial(_put_in_dataset, new, name), one_at_a_time=True)
        with errors_as(f"{title} cannot be written", InvalidArgument):
            if not os.path.exists(place):
                os.replace(new, place)
                return
            with h5py.File(new, "r") as made, h5py.File(place, "a") as file:
                there = _check_name(
                    title, file, name, overwrite
                )  # another may have made it meanwhile
                _bring(made, file, name, there)
    finally:
        if os.path.exists(new):
            os.remove(new)


def _check_name(title: str, file: Any, name: str, overwrite: bool) -> bool:
    """Tell whether a name is taken; raise InvalidArgument if it may not be replaced.

    A link may be replaced; its target stays.
    """
    h5py = library("h5py", "to_hdf5")
    link = file.get(name, getlink=True)
    if link is None:
        return False
    if not overwrite:
        raise InvalidArgument(f"{title} already exists; overwrite=True replaces it.")
    if isinstance(link, h5py.HardLink) and not isinstance(file[name], h5py.Dataset):
        raise InvalidArgument(f"{title} is not an HDF5 dataset, and was not replaced.")
    return True


def _bring(made: Any, file: Any, name: str, there: bool) -> None:
    """Copy a complete dataset; the old one of that name is removed only then."""
    whole, old = new_name("new"), new_name("old")
    try:
        made.copy(name, file, whole)
        file.flush()  # an error on closing the file would be ignored
        if there:
            file.move(name, old)
        try:
            file.move(whole, name)
        except BaseException:
            if there:
                file.move(old, name)
            raise
        if there:
            del file[old]
    finally:
        if whole in file:
            del file[whole]


def _make(file: Any, name: str, blocks: BlockTensor) -> None:
    """Make a dataset for the blocks of a tensor."""
    form = form_of(blocks)
    chunks = chunks_of(blocks) if blocks.ndim and blocks.size else None
    data = file.create_dataset(name, shape=blocks.shape, dtype=form.array, chunks=chunks)
    for key, facts in attributes_of(form).items():
        data.attrs[key] = json.dumps(facts)


def _part_of_dataset(place: str, name: str, where: Where) -> np.ndarray[Any, Any]:
    with library("h5py", "from_hdf5").File(place, "r") as file:
        return np.asarray(_dataset(file, name)[where])


def _dataset(file: Any, name: str) -> Any:
    """Return a dataset of a file, if its elements are in that file."""
    data = file[name]
    if data.is_virtual or data.external or data.file.filename != file.filename:
        raise InvalidArgument("its elements are in other files, which is not allowed")
    return data


def _put_in_dataset(place: str, name: str, where: Where, block: np.ndarray[Any, Any]) -> None:
    with library("h5py", "to_hdf5").File(place, "r+") as file:
        data = file[name]
        data[where] = block
        data.flush()  # HDF5 writes now; an error when the dataset is closed would be ignored
