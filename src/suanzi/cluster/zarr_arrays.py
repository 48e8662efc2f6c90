"""Tensors of blocks from and to arrays of Zarr: chunks are blocks, which workers read and write."""

from __future__ import annotations

import os
import shutil
from functools import partial
from itertools import product
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
_DESCRIPTIONS = ("zarr.json", ".zarray", ".zattrs")


def from_zarr(path: Path) -> BlockTensor:
    """Return an array of Zarr as a tensor of blocks; each is read by the worker that needs it.

    Chunks become blocks, unless :func:`suanzi.cluster.blocks` says otherwise. The path must be one
    that every worker has.
    """
    zarr, place = _zarr("from_zarr"), os.fspath(path)
    title = f"from_zarr: {place}"
    try:
        array = zarr.open_array(place, mode="r")
        attribute = array.attrs.asdict().get(ATTRIBUTE)
        shape, dtype, chunks = tuple(array.shape), array.dtype, array.chunks
        coded = _codecs(array)
    except Exception as error:  # of many kinds: what is read is another's
        raise InvalidArgument(
            f"{title} cannot be read as a Zarr array: {sentence(error)}"
        ) from error
    if "pickle" in coded:
        raise InvalidArgument(
            f"{title} is pickled, which can execute code; refused. Write it with another codec."
        )
    form = form_found(title, shape, dtype, attribute)
    return read("from_zarr", title, form, shape, chunks, partial(_part, place))


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
    zarr, place = _zarr("to_zarr"), _place(path)
    title, blocks = f"to_zarr: {place}", regular(as_blocks(x))
    _ask(title, place, overwrite)
    form, new = form_of(blocks), f"{place}.{new_name('new')}"
    try:
        try:
            zarr.open_array(
                new,
                mode="w-",
                shape=blocks.shape,
                chunks=chunks_of(blocks),
                dtype=form.array,
                attributes=attributes_of(form),
            )
        except Exception as error:
            raise InvalidArgument(f"{title} cannot be made: {sentence(error)}") from error
        write("to_zarr", title, blocks, partial(_put, new))
        _ask(title, place, overwrite)  # another may have made it meanwhile
        _rename(title, new, place)
    finally:
        shutil.rmtree(new, ignore_errors=True)  # what is not all there must not look so


def _place(path: Path) -> str:
    """Return a path whose folder can have a temporary name: `s/`, `.` and links are resolved."""
    given = os.fspath(path)
    if "://" in given:
        raise InvalidArgument(
            f"to_zarr: {given} is a URL; to_zarr writes only to paths. Mount the storage and give "
            "its path."
        )
    return os.path.realpath(given)


def _ask(title: str, place: str, overwrite: bool) -> None:
    """Refuse to replace what is there, unless it is an array of Zarr and may be replaced."""
    if not os.path.lexists(place):
        return
    if not overwrite:
        raise InvalidArgument(f"{title} already exists; overwrite=True replaces it.")
    try:
        if not os.path.isdir(place):
            raise InvalidArgument("it is a file")
        _zarr("to_zarr").open_array(place, mode="r")  # which a group of arrays is none for
    except Exception as error:  # of many kinds: what is there is another's
        raise InvalidArgument(f"{title} is not a Zarr array, and was not replaced.") from error


def _rename(title: str, new: str, place: str) -> None:
    """Give what is new its name; what had it goes only then, and comes back if that fails."""
    old = f"{place}.{new_name('old')}"
    try:
        if not os.path.lexists(place):
            os.rename(new, place)
            return
        os.rename(place, old)
        try:
            os.rename(new, place)
        except BaseException:
            os.rename(old, place)
            raise
    except OSError as error:
        raise InvalidArgument(f"{title} cannot be written: {sentence(error)}") from error
    try:
        shutil.rmtree(old)
    except OSError as error:
        raise InvalidArgument(
            f"{title} was written, but the old data is still in {old}: {sentence(error)}"
        ) from error


def _part(place: str, where: Where) -> np.ndarray[Any, Any]:
    array = _zarr("from_zarr").open_array(place, mode="r")
    _check_links(place, array, where)
    part: np.ndarray[Any, Any] = np.asarray(array[where])
    return part


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


def _put(place: str, where: Where, block: np.ndarray[Any, Any]) -> None:
    _zarr("to_zarr").open_array(place, mode="r+")[where] = block


def _codecs(array: Any) -> list[str]:
    """Return the names of what an array of Zarr's older format is coded with."""
    facts = array.metadata
    some = [*(getattr(facts, "filters", None) or ()), getattr(facts, "compressor", None)]
    return [codec.codec_id for codec in some if hasattr(codec, "codec_id")]


def _zarr(name: str) -> Any:
    try:
        import zarr
    except ModuleNotFoundError:
        raise ImportError(
            f"{name} needs Zarr; `pip install 'suanzi[cluster-files]'` installs it."
        ) from None
    return zarr
