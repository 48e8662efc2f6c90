"""save and load: tensors of every dtype in one file, with dtype, layout and quantisation.

The file is a ZIP archive: ``tensors.json`` describes the tensors, and each has its bytes, little
end first, in the order of its layout, in an entry of its own. Nothing in it is executed when it is
read.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from suanzi import _core
from suanzi.dtypes import dtype
from suanzi.layout import min2maj_of
from suanzi.status import InvalidArgument, TypeMismatch

if TYPE_CHECKING:
    from suanzi.tensor import Tensor

FORMAT, VERSION = "suanzi tensors", 1
_SINGLE = ""  # the name of a tensor that was saved alone

Parts = tuple[str, tuple[int, ...], tuple[int, ...], bytes, Any]
"""dtype, shape, order of axes from the fastest, bytes in that order, quantisation."""


def save(file: str | PathLike[str] | BinaryIO, tensors: Tensor | Mapping[str, Tensor], /) -> None:
    """Write a tensor, or a dictionary of them, to a file.

    >>> import io, suanzi as sz
    >>> file = io.BytesIO()
    >>> sz.save(file, {"x": sz.tensor([1, 2], sz.bfloat16)})
    >>> sz.load(file)
    {'x': Tensor([1, 2], dtype=bfloat16)}
    """
    import json
    import zipfile

    from suanzi.tensor import Tensor

    named = {_SINGLE: tensors} if isinstance(tensors, Tensor) else tensors
    if not isinstance(named, Mapping) or not all(isinstance(t, Tensor) for t in named.values()):
        raise TypeMismatch("save: it takes a Tensor, or a dictionary of names and Tensors.")
    described = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for i, (name, one) in enumerate(named.items()):
            kind, shape, order, raw, quantization = to_parts(one)
            archive.writestr(f"data/{i}", raw)
            described.append(
                {
                    "name": str(name),
                    "dtype": kind,
                    "shape": shape,
                    "min2maj": order,
                    "quantization": quantization,
                }
            )
        head = {"format": FORMAT, "version": VERSION, "tensors": described}
        archive.writestr("tensors.json", json.dumps(head, indent=1))


def load(file: str | PathLike[str] | BinaryIO, /) -> Tensor | dict[str, Tensor]:
    """Read what :func:`save` wrote: a tensor, or a dictionary of them."""
    import json
    import zipfile

    try:
        with zipfile.ZipFile(file) as archive:
            head = json.loads(archive.read("tensors.json"))
            if head["format"] != FORMAT or head["version"] > VERSION:
                raise InvalidArgument(
                    f"load: the file is {head['format']!r}, version {head['version']}; this is "
                    f"{FORMAT!r}, version {VERSION}."
                )
            found = {
                entry["name"]: from_parts(
                    entry["dtype"],
                    tuple(entry["shape"]),
                    tuple(entry["min2maj"]),
                    archive.read(f"data/{i}"),
                    entry["quantization"],
                )
                for i, entry in enumerate(head["tensors"])
            }
    except (zipfile.BadZipFile, KeyError, TypeError, json.JSONDecodeError) as error:
        raise InvalidArgument(f"load: the file is not one that save wrote ({error}).") from None
    return found[_SINGLE] if list(found) == [_SINGLE] else found


def to_parts(x: Tensor) -> Parts:
    """Take a tensor apart; a view with gaps becomes row-major."""
    order = min2maj_of(x.shape, x.strides) or tuple(range(x.ndim - 1, -1, -1))
    dense = x if min2maj_of(x.shape, x.strides) else _core.row_major_copy(x)
    raw = _bytes(dense)
    quantization = None
    if x.scale is not None:
        quantization = [list(x.scale), x.zero_point, x.channel_axis]
    return x.dtype.name, x.shape, order, raw, quantization


def from_parts(
    kind: str, shape: tuple[int, ...], min2maj: tuple[int, ...], raw: bytes, quantization: Any
) -> Tensor:
    """Put a tensor together from its parts."""
    dt = dtype(kind)
    flat = _core.empty((_count(shape),), dt)
    if len(raw) != flat.size * dt.itemsize or sorted(min2maj) != list(range(len(shape))):
        raise InvalidArgument(
            f"load: {len(raw)} bytes are not the elements of {dt} in shape {shape}."
        )
    memoryview(flat.storage)[:] = _little_endian(raw, dt.itemsize)
    strides, stride = [0] * len(shape), 1
    for axis in min2maj:
        strides[axis] = stride
        stride *= max(shape[axis], 1)
    made = cast("Tensor", _core.view(flat, 0, shape, strides))
    if quantization is not None:
        scale, zero_point, axis = quantization
        _core.set_quantization(made, scale, zero_point, -1 if axis is None else axis)
    return made


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        if not isinstance(size, int) or size < 0:
            raise InvalidArgument(f"load: {shape} is not a shape.")
        count *= size
    return count


def _bytes(dense: Tensor) -> bytes:
    size = dense.dtype.itemsize
    start = dense.offset * size
    return bytes(_little_endian(memoryview(dense.storage)[start : start + dense.size * size], size))


def _little_endian(raw: Any, itemsize: int) -> Any:
    if sys.byteorder == "little" or itemsize == 1:
        return raw
    import numpy as np

    width = min(itemsize, 8)
    return np.frombuffer(raw, f"V{width}").view(f"u{width}").byteswap().tobytes()
