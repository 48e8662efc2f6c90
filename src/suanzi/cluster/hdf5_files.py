"""Tensors of blocks from and to datasets of HDF5, which one writer at a time may change.

HDF5 allows neither concurrent writers nor readers during a write. So each block's task waits for
the previous one, opens a new file, writes and closes it: one chain, for any scheduler, without a
lock. Blocks are computed concurrently, and may come from the target file itself: the complete
dataset is copied there at the end.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from suanzi.cluster.exchange import as_blocks
from suanzi.cluster.graph import new_name
from suanzi.cluster.storing import (
    ATTRIBUTE,
    Where,
    attributes_of,
    chunks_of,
    form_found,
    form_of,
    read,
    regular,
    sentence,
    write,
)
from suanzi.cluster.tensor import BlockTensor
from suanzi.status import InvalidArgument

Path = str | os.PathLike[str]


def from_hdf5(path: Path, name: str = "tensor") -> BlockTensor:
    """Return a dataset of an HDF5 file as a tensor of blocks; the workers read them.

    Chunks become blocks, unless :func:`suanzi.cluster.blocks` says otherwise. The path must be one
    that every worker has.
    """
    h5py, place = _h5py("from_hdf5"), os.fspath(path)
    title = f"from_hdf5: {place}, {name!r}"
    try:
        with h5py.File(place, "r") as file:
            data = _dataset(file, name)
            facts = (tuple(data.shape), data.dtype, data.chunks)
            attribute = data.attrs.get(ATTRIBUTE)
    except Exception as error:  # of many kinds: what is read is another's
        raise InvalidArgument(
            f"{title} cannot be read as an HDF5 dataset: {sentence(error)}"
        ) from error
    shape, dtype, chunks = facts
    form = form_found(title, shape, dtype, attribute)
    return read("from_hdf5", title, form, shape, chunks, partial(_part, place, name))


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
    h5py, place = _h5py("to_hdf5"), os.fspath(path)
    title = f"to_hdf5: {place}, {name!r}"
    blocks = regular(as_blocks(x))
    new = f"{place}.{new_name('new')}"
    try:
        with _told(title, "made"):
            if os.path.exists(place):
                with h5py.File(place, "r") as file:
                    _ask(title, file, name, overwrite)
            with h5py.File(new, "w", libver=("v110", "latest")) as file:
                _make(file, name, blocks)
        write("to_hdf5", title, blocks, partial(_put, new, name), one_at_a_time=True)
        with _told(title, "written"):
            if not os.path.exists(place):
                os.replace(new, place)
                return
            with h5py.File(new, "r") as made, h5py.File(place, "a") as file:
                there = _ask(title, file, name, overwrite)  # another may have made it meanwhile
                _bring(made, file, name, there)
    finally:
        if os.path.exists(new):
            os.remove(new)


def _ask(title: str, file: Any, name: str, overwrite: bool) -> bool:
    """Tell whether a name is taken, and refuse to replace what has it, unless it may be replaced.

    A link may be: what it leads to, if anything, stays.
    """
    h5py = _h5py("to_hdf5")
    link = file.get(name, getlink=True)
    if link is None:
        return False
    if not overwrite:
        raise InvalidArgument(f"{title} already exists; overwrite=True replaces it.")
    if isinstance(link, h5py.HardLink) and not isinstance(file[name], h5py.Dataset):
        raise InvalidArgument(f"{title} is not an HDF5 dataset, and was not replaced.")
    return True


def _bring(made: Any, file: Any, name: str, there: bool) -> None:
    """Copy a dataset that is whole; what has its name goes only then, and else keeps it."""
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
    in_chunks = blocks.ndim > 0 and blocks.size > 0
    data = file.create_dataset(
        name,
        shape=blocks.shape,
        dtype=form.array,
        chunks=chunks_of(blocks) if in_chunks else None,
    )
    for key, told in attributes_of(form).items():
        data.attrs[key] = json.dumps(told)


@contextmanager
def _told(title: str, what: str) -> Iterator[None]:
    """Tell what a library says, of many kinds, in a sentence."""
    try:
        yield
    except InvalidArgument:
        raise
    except Exception as error:
        raise InvalidArgument(f"{title} cannot be {what}: {sentence(error)}") from error


def _part(place: str, name: str, where: Where) -> np.ndarray[Any, Any]:
    with _h5py("from_hdf5").File(place, "r") as file:
        part: np.ndarray[Any, Any] = np.asarray(_dataset(file, name)[where])
    return part


def _dataset(file: Any, name: str) -> Any:
    """Return a dataset of a file, if its elements are in that file."""
    data = file[name]
    if data.is_virtual or data.external or data.file.filename != file.filename:
        raise InvalidArgument("its elements are in other files, which is not allowed")
    return data


def _put(place: str, name: str, where: Where, block: np.ndarray[Any, Any]) -> None:
    with _h5py("to_hdf5").File(place, "r+") as file:
        data = file[name]
        data[where] = block
        data.flush()  # HDF5 writes now; an error when the dataset is closed would be ignored


def _h5py(name: str) -> Any:
    try:
        import h5py
    except ModuleNotFoundError:
        raise ImportError(
            f"{name} needs h5py; `pip install 'suanzi[cluster-files]'` installs it."
        ) from None
    return h5py
