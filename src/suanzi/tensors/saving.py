"""save and load: tensors of every dtype in one file, with dtype, layout and quantisation.

The file is a ZIP archive: ``tensors.json`` describes the tensors, and each has its bytes, little
end first, in the order of its layout, in an entry of its own. A sparse tensor has such an entry for
each of its arrays; a file with one is of version 2, others stay of version 1. Nothing in a file is
executed when it is read.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO

from suanzi.base.dtypes import dtype
from suanzi.base.files import replace
from suanzi.base.status import AllocFailed, InvalidArgument, TypeMismatch, UninitializedObject
from suanzi.tensors.parts import count_of, from_parts, is_destroyed, to_parts
from suanzi.tensors.sparse.making import from_tensors, to_tensors
from suanzi.tensors.sparse.tensor import SparseTensor
from suanzi.tensors.tensor import Tensor

if TYPE_CHECKING:
    import zipfile

FORMAT, VERSION = "suanzi tensors", 2
_LONGEST_HEAD = 1 << 26
"""The bytes that describe the tensors: half a million, and a forged head fills no memory."""
_SINGLE = None  # the name of a tensor that was saved alone


def save(
    file: str | bytes | PathLike[str] | BinaryIO,
    tensors: Tensor | SparseTensor | Mapping[str, Any],
    /,
) -> None:
    """Write a tensor, dense or sparse, or a dictionary of them, to a file.

    >>> import io, suanzi as sz
    >>> file = io.BytesIO()
    >>> sz.save(file, {"x": sz.tensor([1, 2], sz.bfloat16)})
    >>> sz.load(file)
    {'x': Tensor([1, 2], dtype=bfloat16)}
    """
    import json
    import zipfile

    kinds = (Tensor, SparseTensor)
    named: Mapping[Any, Any] = tensors if isinstance(tensors, Mapping) else {_SINGLE: tensors}
    if not all(isinstance(t, kinds) for t in named.values()) or (
        named is tensors and not all(isinstance(name, str) for name in named)
    ):
        raise TypeMismatch("save: it takes a Tensor, or a dictionary of names and Tensors.")
    if any(is_destroyed(t) for t in named.values()):
        raise UninitializedObject("save: a tensor was destroyed.")
    if isinstance(file, str | bytes | PathLike):
        replace(os.fsdecode(file), lambda whole: save(whole, tensors))
        return
    if not hasattr(file, "write"):
        raise TypeMismatch(f"save: {file!r} is neither a path nor a file open for writing.")
    described = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for i, (name, one) in enumerate(named.items()):
            write = _write if isinstance(one, Tensor) else _write_sparse
            described.append({"name": name, **write(archive, f"data/{i}", one)})
        version = 2 if any("parts" in entry for entry in described) else 1
        head = {"format": FORMAT, "version": version, "tensors": described}
        text = json.dumps(head, indent=1)
        if len(text) > _LONGEST_HEAD:  # which JSON writes in ASCII
            raise InvalidArgument(
                f"save: names and scales of {len(named)} tensors take {len(text)} bytes, above "
                f"{_LONGEST_HEAD}; write them to several files."
            )
        archive.writestr("tensors.json", text)


def _write(archive: zipfile.ZipFile, place: str, x: Any) -> dict[str, Any]:
    """Write the bytes of a tensor, and return what describes it."""
    kind, shape, order, raw, quantization, _ = to_parts(x)
    archive.writestr(place, raw)
    return {"dtype": kind, "shape": shape, "min2maj": order, "quantization": quantization}


def _write_sparse(archive: zipfile.ZipFile, place: str, x: Any) -> dict[str, Any]:
    """Write the arrays of a sparse tensor, and return what describes it."""
    layout, shape, parts = to_tensors(x)
    described = [_write(archive, f"{place}/{i}", part) for i, part in enumerate(parts)]
    return {"layout": layout, "shape": shape, "parts": described}


def fill(file: Any, raw: bytearray) -> int:
    """Read into memory until it is full or the file ends; return the number of bytes read.

    One `readinto` may return less than requested, for example from a pipe.
    """
    at = 0
    with memoryview(raw) as whole:
        while at < len(raw):
            with whole[at:] as rest:
                count = file.readinto(rest)
            if not count:
                break
            at += count
    return at


def load(file: str | PathLike[str] | BinaryIO, /) -> Any:
    """Read what :func:`save` wrote: a tensor, or a dictionary of them.

    Any other file raises InvalidArgument; one that cannot be opened or read, OSError; one that is
    too large for the memory, AllocFailed.
    """
    import zipfile

    try:
        with zipfile.ZipFile(file) as archive:
            found = _read(archive)
    except MemoryError as error:  # AllocFailed is one
        raise AllocFailed(
            f"load: there is not enough memory for the file. {error}".rstrip()
        ) from None
    # What a file that is cut short, damaged or made by somebody else gives rise to is of many
    # kinds: BadZipFile, KeyError, EOFError, NotImplementedError, zlib.error, UnicodeError, ...
    except Exception as error:
        # A damaged file may send the reader to a place before its beginning, which is EINVAL.
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        raise InvalidArgument(f"load: the file was not written by sz.save: {error}") from None
    return found[_SINGLE] if list(found) == [_SINGLE] else found


def _read(archive: zipfile.ZipFile) -> dict[Any, Any]:
    import json
    from zipfile import ZIP_STORED

    names = archive.namelist()
    if len(set(names)) != len(names):
        raise InvalidArgument("an entry occurs twice.")
    if any(entry.compress_type != ZIP_STORED for entry in archive.infolist()):
        # `save` never compresses, and a small file must not become a large one in memory.
        raise InvalidArgument("it has compressed entries.")
    size = archive.getinfo("tensors.json").file_size
    if size > _LONGEST_HEAD:  # before anything is read into memory
        raise InvalidArgument(f"its header has {size} bytes, above the limit of {_LONGEST_HEAD}.")
    head = json.loads(archive.read("tensors.json"))
    version = head["version"]
    if head["format"] != FORMAT or type(version) is not int or not 1 <= version <= VERSION:
        raise InvalidArgument(
            f"the file is {head['format']!r}, version {head['version']}; this is "
            f"{FORMAT!r}, version {VERSION}."
        )
    found: dict[Any, Any] = {}
    for i, entry in enumerate(head["tensors"]):
        name = entry["name"]
        if name in found or not (isinstance(name, str) or (name is _SINGLE and i == 0)):
            raise InvalidArgument(f"{name!r} is not the name of a tensor.")
        read = _read_sparse if "parts" in entry else _read_dense
        found[name] = read(archive, f"data/{i}", entry)
    return found


def _read_dense(archive: zipfile.ZipFile, place: str, entry: Any) -> Tensor:
    shape = tuple(entry["shape"])
    size = count_of(shape) * dtype(entry["dtype"]).itemsize
    if archive.getinfo(place).file_size != size:  # before anything is read into memory
        raise InvalidArgument(f"the elements at {place!r} are not {size} bytes.")
    return from_parts(
        entry["dtype"], shape, tuple(entry["min2maj"]), archive.read(place), entry["quantization"]
    )


def _read_sparse(archive: zipfile.ZipFile, place: str, entry: Any) -> SparseTensor:
    parts = [_read_dense(archive, f"{place}/{i}", p) for i, p in enumerate(entry["parts"])]
    return from_tensors(entry["layout"], tuple(entry["shape"]), parts)
