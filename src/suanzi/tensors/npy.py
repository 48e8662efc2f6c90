"""Files of NumPy, ``.npy`` with one tensor and ``.npz`` with several by name; no dtype is lost.

NumPy's own reader brings the dtypes of ml_dtypes back as raw bytes. Here they come back by a rule:

- two raw bytes (``V2``) are bfloat16, the only dtype that NumPy writes so;
- ``f1``, which NumPy writes and does not read, is float8_e5m2;
- a structure with one field is the dtype that the field is named after: so :func:`save` writes
  float8_e4m3fn, float8_e5m2, int4, uint4, uint1 and complex32, and NumPy reads the bytes;
- other raw bytes, such as the ``V1`` that NumPy makes of float8_e4m3fn, int4 and uint4 alike, are
  the `dtype` that :func:`load` is given, and an error without.

Nothing in a file is executed: arrays of Python objects are refused.

>>> import io, suanzi as sz
>>> file = io.BytesIO()
>>> sz.npy.save(file, {"weight": sz.tensor([[1, 2]], sz.bfloat16), "bias": sz.tensor([3], sz.int4)})
>>> sz.npy.load(file)
{'weight': Tensor([[1, 2]], dtype=bfloat16), 'bias': Tensor([3], dtype=int4)}
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Mapping
from os import PathLike
from typing import Any, BinaryIO

from suanzi import _core
from suanzi.base.dtypes import DTYPES, DType, DTypeLike, dtype
from suanzi.base.files import replace
from suanzi.base.hints import shown
from suanzi.base.numpy import np
from suanzi.base.status import (
    AllocFailed,
    InvalidArgument,
    StatusError,
    TypeMismatch,
    UninitializedObject,
)
from suanzi.tensors.exchange import check_room
from suanzi.tensors.parts import count_of, from_parts, is_destroyed, to_parts
from suanzi.tensors.saving import fill
from suanzi.tensors.tensor import Tensor

_MAGIC, _ARCHIVE = b"\x93NUMPY", b"PK"
_LONGEST_HEAD = 10_000  # as NumPy's reader: Python's own could crash on longer ones
_MOST_INFLATED = 1032
"""Bytes that deflate makes of one at most."""
_LETTERS = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}
_KEPT = {dt for dt in DTYPES if dt.kind in ("bool", "int", "uint", "float", "complex")}
_DESCRIBED = re.compile(r"([<>=|]?)([a-zA-Z])(\d+)")
File = str | bytes | PathLike[str] | BinaryIO


def save(file: File, tensors: Tensor | Mapping[str, Tensor], /) -> None:
    """Write a tensor as ``.npy``, or several by name as ``.npz``, whatever the file is called.

    A tensor whose memory is in column-major order stays so. Quantised tensors and char raise
    TypeMismatch; :func:`suanzi.save` keeps them.
    """
    named = tensors if isinstance(tensors, Mapping) else {"": tensors}
    for name, x in named.items():
        if not isinstance(x, Tensor) or not isinstance(name, str):
            raise TypeMismatch("save: it takes a Tensor, or a dictionary of names and Tensors.")
        if is_destroyed(x):
            raise UninitializedObject("save: a tensor was destroyed.")
        if x.dtype not in _KEPT:
            raise TypeMismatch(
                f"save: {name or 'the tensor'} is {x.dtype}, which .npy does not have. Use "
                "sz.save, which keeps it, or cast it first."
            )
    if isinstance(file, str | bytes | PathLike):
        replace(os.fsdecode(file), lambda whole: save(whole, tensors))
        return
    if not hasattr(file, "write"):
        raise TypeMismatch(f"save: {shown(file)} is neither a path nor a file open for writing.")
    if named is not tensors:
        _write(file, named[""])
        return
    import zipfile

    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, x in named.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                _write(entry, x)


def load(file: File, /, dtype: DTypeLike | None = None) -> Any:
    """Read what NumPy or :func:`save` wrote: a tensor of ``.npy``, a dictionary of ``.npz``.

    `dtype` is what raw bytes stand for that the file does not tell. What is no such file raises
    InvalidArgument, what is no array of numbers TypeMismatch.
    """
    wanted = None if dtype is None else _wanted(dtype)
    if isinstance(file, str | bytes | PathLike):
        with open(file, "rb") as opened:
            return load(opened, dtype=dtype)
    if not hasattr(file, "readinto") or not hasattr(file, "seek"):
        raise TypeMismatch(
            f"load: {shown(file)} is neither a path nor a file open for reading bytes."
        )
    file.seek(0)
    begin = file.read(2)
    file.seek(0)
    try:
        if begin == _ARCHIVE:
            return _read_archive(file, wanted)
        return _read(file, wanted, _length(file))
    except MemoryError as error:  # AllocFailed is one
        raise AllocFailed(f"load: not enough memory for the file. {error}".rstrip()) from None
    except (StatusError, OSError):
        raise
    # A damaged archive gives rise to errors of many kinds.
    except Exception as error:
        raise InvalidArgument(f"load: the file is not a NumPy file: {error}") from None


def _wanted(given: Any) -> DType:
    found = dtype(given)
    if found not in _KEPT:
        raise TypeMismatch(f"load: dtype is {found}; it must be of numbers, or bool.")
    return found


# ---- writing ------------------------------------------------------------------------------------


def _write(file: Any, x: Tensor) -> None:
    columns = x.ndim > 1 and not _core.is_row_major(x) and _core.is_row_major(x.T)
    dense = x.T if columns else x
    dense = dense if _core.is_row_major(dense) else _core.row_major_copy(dense)
    head = repr(
        {"descr": _description(x.dtype), "fortran_order": columns, "shape": tuple(x.shape)}
    ).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"  # what follows begins at a multiple of 64
    file.write(_MAGIC + b"\x01\x00" + len(head).to_bytes(2, "little") + head)
    file.write(to_parts(dense)[3])


def _description(dt: DType) -> Any:
    """Return how the format says a dtype: as NumPy does, where that is a dtype of its own."""
    size = dt.itemsize
    if dt.name == "bfloat16":
        return "<V2"
    own = dt.bits >= 8 if dt.kind in ("bool", "int", "uint") else dt.bits > 8
    if dt.name == "complex32" or not own:
        return [(dt.name, f"|V{size}")]
    letter = next(letter for letter, kind in _LETTERS.items() if kind == dt.kind)
    return f"{'|' if size == 1 else '<'}{letter}{size}"


# ---- reading ------------------------------------------------------------------------------------


def _read_archive(file: BinaryIO, wanted: DType | None) -> dict[str, Tensor]:
    import zipfile

    found = {}
    length = _length(file)
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        if len(set(names)) != len(names):
            raise InvalidArgument("load: an entry of the archive occurs twice.")
        for entry in archive.infolist():
            ratio = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: _MOST_INFLATED}
            if entry.compress_type not in ratio:
                raise InvalidArgument(
                    "load: the archive uses a compression that NumPy does not write."
                )
            if not 0 <= entry.header_offset < length:  # below 0, seek would be an OSError
                raise InvalidArgument("load: the archive has entries beyond the end of the file.")
            most = ratio[entry.compress_type] * min(entry.compress_size, length)
            with archive.open(entry) as opened:
                found[entry.filename.removesuffix(".npy")] = _read(opened, wanted, most)
    return found


def _length(file: BinaryIO) -> int:
    """Return how many bytes a file has, and be at its begin."""
    end = file.seek(0, os.SEEK_END)
    file.seek(0)
    return end


def _read(file: Any, wanted: DType | None, most: int) -> Tensor:
    """Read an array from a file of `most` bytes, whatever it says."""
    start = file.read(8)
    if len(start) < 8 or start[:6] != _MAGIC or start[6] not in (1, 2, 3):
        raise InvalidArgument("load: the file is neither .npy nor .npz of NumPy.")
    length = int.from_bytes(file.read(2 if start[6] == 1 else 4), "little")
    if length > _LONGEST_HEAD:
        raise InvalidArgument(
            f"load: its header has {length} bytes, above the limit of {_LONGEST_HEAD}."
        )
    try:
        head = ast.literal_eval(file.read(length).decode("utf8" if start[6] == 3 else "latin1"))
        described, columns, shape = head["descr"], head["fortran_order"], head["shape"]
        if type(columns) is not bool or type(shape) is not tuple:
            raise ValueError("fortran_order must be a bool, and shape a tuple")
    # The parser says MemoryError of what is nested too deeply.
    except (ValueError, SyntaxError, LookupError, TypeError, RecursionError, MemoryError) as error:
        raise InvalidArgument(f"load: its header does not describe an array: {error}") from None
    dt, swapped = _dtype_of(described, wanted)
    size = count_of(shape) * dt.itemsize
    short = f"load: it ends before the {size} bytes of its elements."
    if size > most:
        raise InvalidArgument(short)
    check_room(size, f"a tensor of {dt} with shape {shape}")
    raw = bytearray(size)
    if fill(file, raw) != size:
        raise InvalidArgument(short)
    if swapped:
        _swap(raw, dt)
    axes = range(len(shape)) if columns else range(len(shape) - 1, -1, -1)
    return from_parts(dt.name, shape, tuple(axes), raw, None)


def _dtype_of(described: Any, wanted: DType | None) -> tuple[DType, bool]:
    """Return the dtype that a file describes, and whether its bytes are the other way round."""
    if isinstance(described, list) and len(described) == 1 and len(described[0]) == 2:
        name, raw = described[0]
        named = next((dt for dt in _KEPT if dt.name == name), None)
        if named is not None and raw in (f"|V{named.itemsize}", f"<V{named.itemsize}"):
            return named, False
    match = _DESCRIBED.fullmatch(described) if isinstance(described, str) else None
    if match is None:
        raise TypeMismatch(f"load: the file has {shown(described)}, which is not a numeric dtype.")
    order, letter, size = match[1], match[2], int(match[3])
    if letter == "V" and size == 2 and wanted is None:
        return dtype("bfloat16"), False
    if letter == "f" and size == 1:
        return dtype("float8_e5m2"), False
    if letter == "V":
        if wanted is None or wanted.itemsize != size:
            fitting = sorted(dt.name for dt in _KEPT if dt.itemsize == size)
            raise TypeMismatch(
                f"load: the file has raw bytes, {size} for each element, and does not name their "
                f"dtype. Give dtype=, {', '.join(fitting) or 'which none here is'}."
            )
        return wanted, False
    kind = _LETTERS.get(letter)
    name = "bool" if kind == "bool" else f"{kind}{8 * size}"
    found = next((dt for dt in _KEPT if dt.name == name and dt.itemsize == size), None)
    if kind is None or found is None:
        raise TypeMismatch(
            f"load: the file has {described!r}, which is not supported; only bool, integers and "
            "floating-point numbers are read, not objects or text."
        )
    return found, order == ">"


def _swap(raw: bytearray, dt: DType) -> None:
    """Turn the bytes of every number, or of both its parts, round."""
    width = dt.itemsize // (2 if dt.kind == "complex" else 1)
    np.frombuffer(raw, f"u{width}").byteswap(inplace=True)
