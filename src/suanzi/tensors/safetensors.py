"""Files of safetensors, in which models are passed on: tensors by name, and some words about them.

A file is eight bytes that say how long its head is, the head, JSON that says of each tensor its
dtype, shape and place, and then the elements, row-major, little end first. bfloat16 and float8 are
kept as they are. Nothing in a file is executed.

>>> import io, suanzi as sz
>>> file = io.BytesIO()
>>> sz.safetensors.save(file, {"weight": sz.tensor([[1, 2]], sz.bfloat16)}, {"made by": "hand"})
>>> tensors, words = sz.safetensors.load(file)
>>> tensors, words
({'weight': Tensor([[1, 2]], dtype=bfloat16)}, {'made by': 'hand'})
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from os import PathLike
from typing import Any, BinaryIO

from suanzi import _core
from suanzi.base.dtypes import DTYPES, DType, dtype
from suanzi.base.files import replace
from suanzi.base.hints import shown
from suanzi.base.status import AllocFailed, InvalidArgument, TypeMismatch, UninitializedObject
from suanzi.tensors.exchange import check_room
from suanzi.tensors.parts import count_of, from_parts, is_destroyed, to_parts
from suanzi.tensors.saving import fill
from suanzi.tensors.tensor import Tensor

# As the format writes them.
_NAMES = """
BOOL bool   U8 uint8   U16 uint16   U32 uint32   U64 uint64
I8 int8   I16 int16   I32 int32   I64 int64
F8_E4M3 float8_e4m3fn   F8_E5M2 float8_e5m2
F16 float16   BF16 bfloat16   F32 float32   F64 float64   C64 complex64
""".split()
_READ: dict[str, DType] = {
    name: dtype(ours) for name, ours in zip(_NAMES[::2], _NAMES[1::2], strict=True)
}
_WRITTEN = {ours: name for name, ours in _READ.items()}
_LONGEST_HEAD = 100_000_000
_ABOUT = "__metadata__"
File = str | bytes | PathLike[str] | BinaryIO


def save(
    file: File, tensors: Mapping[str, Tensor], words: Mapping[str, str] | None = None, /
) -> None:
    """Write tensors by name, and text about them, to a file of safetensors.

    The format has no dtype for int4, complex32 and complex128, and no quantisation; such a tensor
    raises TypeMismatch, and nothing is written. :func:`suanzi.save` keeps all of them.
    """
    import json

    _check(tensors, words or {})
    if isinstance(file, str | bytes | PathLike):
        replace(os.fsdecode(file), lambda whole: save(whole, tensors, words))
        return
    if not hasattr(file, "write"):
        raise TypeMismatch(f"save: {file!r} is neither a path nor a file open for writing.")
    # The widest first, so that each lies where its elements can be read in place.
    ordered = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    head: dict[str, Any] = {_ABOUT: dict(words)} if words else {}
    end = 0
    for name in ordered:
        x = tensors[name]
        begin, end = end, end + x.nbytes
        kind = _WRITTEN[x.dtype]
        head[name] = {"dtype": kind, "shape": list(x.shape), "data_offsets": [begin, end]}
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for name in ordered:
        file.write(to_parts(_core.row_major_copy(tensors[name]))[3])


def load(file: File, /) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read a file of safetensors: the tensors by name, and the text about them.

    What is no such file raises InvalidArgument; a dtype that is not here TypeMismatch; one that is
    too large for the memory AllocFailed.
    """
    if isinstance(file, str | bytes | PathLike):
        with open(file, "rb") as opened:
            return load(opened)
    if not hasattr(file, "readinto") or not hasattr(file, "seek"):
        raise TypeMismatch(
            f"load: {shown(file)} is neither a path nor a file open for reading bytes."
        )
    try:
        file.seek(0, os.SEEK_END)
        size = file.tell()
        file.seek(0)
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(size - 8, _LONGEST_HEAD):
            raise InvalidArgument(f"it has {size} bytes, but its header should have {length}.")
        head = _read_head(file.read(length))
        words = head.pop(_ABOUT, {})
        places = _places(head, size - 8 - length)
        return {name: _read(file, 8 + length, *place) for name, place in places.items()}, words
    except InvalidArgument as error:
        raise InvalidArgument(f"load: the file is not a safetensors file: {error}") from None
    except MemoryError as error:  # AllocFailed is one
        raise AllocFailed(f"load: not enough memory for the file. {error}".rstrip()) from None


def _check(tensors: Mapping[str, Tensor], words: Mapping[str, str]) -> None:
    if not isinstance(tensors, Mapping) or not all(
        isinstance(name, str) and isinstance(x, Tensor) for name, x in tensors.items()
    ):
        raise TypeMismatch("save: safetensors takes a dictionary of names and Tensors.")
    if not all(isinstance(one, str) for pair in words.items() for one in pair):
        raise TypeMismatch("save: the metadata must be a dictionary of strings.")
    for name, x in tensors.items():
        if is_destroyed(x):
            raise UninitializedObject(f"save: the tensor {name!r} was destroyed.")
        if x.dtype not in _WRITTEN:
            raise TypeMismatch(
                f"save: the tensor {name!r} is {x.dtype}, and safetensors supports only "
                f"{', '.join(str(dt) for dt in DTYPES if dt in _WRITTEN)}; sz.save supports every "
                "dtype."
            )
        if name == _ABOUT:
            raise InvalidArgument(
                f"save: {_ABOUT!r} is reserved for metadata and cannot name a tensor."
            )


def _read_head(raw: bytes) -> dict[str, Any]:
    import json

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise InvalidArgument("a name occurs twice in its header.")
        return found

    try:
        head = json.loads(raw, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"its header is not JSON: {error}") from None
    words = head.get(_ABOUT, {}) if isinstance(head, dict) else None
    if not isinstance(words, dict) or not all(isinstance(one, str) for one in words.values()):
        raise InvalidArgument("its header is not a dictionary of names.")
    return head  # type: ignore[no-any-return]


def _places(head: dict[str, Any], size: int) -> dict[str, tuple[DType, tuple[int, ...], int]]:
    """Return dtype, shape and first byte of each tensor; they lie side by side, without gaps."""
    found = {}
    spans = []
    for name, entry in head.items():
        try:
            kind, shape = entry["dtype"], tuple(entry["shape"])
            begin, end = entry["data_offsets"]
        except (KeyError, TypeError, ValueError):
            raise InvalidArgument(f"{name!r:.100} is not described as a tensor.") from None
        if not isinstance(kind, str) or kind not in _READ:
            raise TypeMismatch(
                f"load: the tensor {name!r:.100} is {kind!r:.100}, which is not among "
                f"{', '.join(_READ)}."
            )
        nbytes = count_of(shape) * _READ[kind].itemsize
        if type(begin) is not int or type(end) is not int or end - begin != nbytes:
            raise InvalidArgument(f"{name!r:.100} does not have the bytes of its shape.")
        spans.append((begin, end))
        found[name] = (_READ[kind], shape, begin)
    reached = 0
    for begin, end in sorted(spans):
        if begin != reached:
            raise InvalidArgument("its tensors overlap, or leave bytes out.")
        reached = end
    if reached != size:
        raise InvalidArgument(f"its tensors have {reached} bytes, but the file has {size}.")
    return found


def _read(file: BinaryIO, start: int, dt: DType, shape: tuple[int, ...], begin: int) -> Tensor:
    nbytes = count_of(shape) * dt.itemsize
    check_room(nbytes, f"a tensor of {dt} with shape {shape}")
    file.seek(start + begin)
    raw = bytearray(nbytes)
    if fill(file, raw) != nbytes:
        raise InvalidArgument("it ends too early.")
    return from_parts(dt.name, shape, tuple(range(len(shape) - 1, -1, -1)), raw, None)
