"""What a kit and its subject say to each other: tensors as bytes, arguments, one line of JSON each.

This file is read by the kit and, alone, by the interpreter of a subject, which need not have
suanzi nor a recent Python.
"""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass, field
from typing import Any

# The bytes of one element; less than a byte takes one.
ITEMSIZE = {
    "bool": 1,
    **{f"{sign}int{bits}": max(bits // 8, 1) for sign in ("", "u") for bits in (4, 8, 16, 32, 64)},
    "uint1": 1,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "complex32": 4,
    "complex64": 8,
    "complex128": 16,
    "char": 1,
    **{f"QT_{kind}_INT{bits}": bits // 8 for kind in ("SYM", "CH_SYM", "ASYM") for bits in (8, 16)},
    **{f"QT_ASYM_UINT{bits}": bits // 8 for bits in (8, 16)},
}

LAYOUTS = ("dense", "columns", "gaps", "reversed", "offset", "repeated", "destroyed")
"""How a tensor is to lie in memory.

dense      row-major, and nothing else
columns    the first axis the fastest: gap-free, min2maj 0, 1, 2, ...
gaps       every second element of a larger tensor, along every axis
reversed   backwards along every axis
offset     behind other elements of the same storage
repeated   an axis of stride 0, where its elements are all the same
destroyed  made, then destroyed: a handle to nothing
"""

LARGEST = 1 << 28
"""The bytes of the largest tensor that is sent in a few; a forged file may ask for more."""


class Unsuitable(Exception):
    """What cannot be a subject at all; the words say why, and what is expected."""


class Unsupported(Exception):
    """What a subject does not have: an interface, a dtype, a layout. Say why in words."""


class Unsaid(Unsupported):
    """What a kind of subject cannot express, such as a string in place of a tensor in C.

    No library of that kind could answer, so it is not required.
    """


class Broken(Exception):
    """What no call may do, whatever it returns: change an input, give what is no tensor."""


class NoKernel(Unsupported):
    """A function that a subject has, but not for this dtype: a refusal where one is due."""


@dataclass(frozen=True)
class Data:
    """A tensor as data."""

    dtype: str
    shape: tuple[int, ...]
    raw: bytes = field(repr=False)
    """The elements in row-major order, little-endian; less than a byte takes one."""
    layout: str = "dense"
    scale: tuple[float, ...] | None = None
    zero_point: int | None = None
    sparse: str | None = None
    """The kind of a sparse layout, as in COO; the elements are all of them."""
    repeats: int | None = field(default=None, compare=False)
    """After how many bytes the raw ones begin again, where that makes them short to send."""
    min2maj: tuple[int, ...] | None = field(default=None, compare=False)
    """The axes as they lie in memory, the fastest first; None if row-major, or as `layout` says."""

    device: str | None = field(default=None, compare=False)
    """Of what was read: its device, as in npu:1; None if the backend does not say."""

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Bytes:
    """Values as they lie in memory, which have neither a dtype nor a shape."""

    first: bytes = field(repr=False)
    """With which they begin, and begin again."""
    size: int

    @property
    def content(self) -> bytes:
        """All of them."""
        return _repeated(self.first, self.size)[0]


@dataclass(frozen=True)
class Shaped:
    """A shape with the order of its axes in memory, the fastest first, as A.1 has both in one."""

    dims: tuple[int, ...]
    min2maj: tuple[int, ...]


@dataclass(frozen=True)
class Set:
    """The names of outputs that a call set although it returned an error."""

    names: list[str]

    def __str__(self) -> str:
        return ""


@dataclass(frozen=True)
class Ref:
    """A tensor that a step before made, by its name, as an argument of the next."""

    name: str


def to_json(x: Any) -> Any:
    """Return an argument or a result as JSON has it."""
    if isinstance(x, bool) or x is None or isinstance(x, (str, int)):
        return x
    if isinstance(x, float):
        return x if math.isfinite(x) else {"float": repr(x)}
    if isinstance(x, complex):
        return {"complex": [to_json(x.real), to_json(x.imag)]}
    if isinstance(x, (list, tuple)):
        return [to_json(v) for v in x]
    if isinstance(x, Ref):
        return {"ref": x.name}
    if isinstance(x, Bytes):
        return {"bytes": [base64.b64encode(x.first).decode(), x.size]}
    if isinstance(x, Shaped):
        return {"shaped": [list(x.dims), list(x.min2maj)]}
    if isinstance(x, dict):
        return {"dict": {k: to_json(v) for k, v in x.items()}}
    made = {
        "dtype": x.dtype,
        "shape": list(x.shape),
        "raw": base64.b64encode(x.raw[: x.repeats]).decode(),
        "layout": x.layout if x.layout != "dense" else None,
        "scale": None if x.scale is None else list(x.scale),
        "zero_point": x.zero_point,
        "sparse": x.sparse,
        "repeats": x.repeats and len(x.raw),
        "min2maj": None if x.min2maj is None else list(x.min2maj),
        "device": x.device,
    }
    return {"tensor": {k: v for k, v in made.items() if v is not None}}


def from_json(x: Any) -> Any:
    """Return what `to_json` was given; sequences come back as lists."""
    if isinstance(x, list):
        return [from_json(v) for v in x]
    if not isinstance(x, dict):
        return x
    ((kind, value),) = x.items()
    if kind == "float":
        return float(value)
    if kind == "complex":
        return complex(from_json(value[0]), from_json(value[1]))
    if kind == "dict":
        return {k: from_json(v) for k, v in value.items()}
    if kind == "ref":
        return Ref(value)
    if kind == "bytes":
        return Bytes(base64.b64decode(value[0]), value[1])
    if kind == "shaped":
        return Shaped(tuple(value[0]), tuple(value[1]))
    facts = dict(value)
    facts["shape"] = tuple(facts["shape"])
    facts["raw"] = base64.b64decode(facts["raw"])
    for name in ("scale", "min2maj"):
        if name in facts:
            facts[name] = tuple(facts[name])
    if "repeats" in facts:
        facts["raw"], facts["repeats"] = _repeated(facts["raw"], facts["repeats"])
    return Data(**facts)


def _repeated(raw: bytes, count: int) -> tuple[bytes, int]:
    """Return so many bytes that begin again, and after how many they do."""
    if not raw or not 0 < count <= LARGEST:
        raise ValueError(f"{len(raw)} bytes that are to be repeated to {count!r}")
    return (raw * (count // len(raw) + 1))[:count], len(raw)


def check_tensors(x: Any) -> None:
    """Raise an error for a tensor that is none: other bytes than its dtype and shape ask for."""
    if isinstance(x, list):
        for one in x:
            check_tensors(one)
    if isinstance(x, Data):
        if x.dtype not in ITEMSIZE:
            raise ValueError(f"a tensor of {x.dtype!r}, which is no dtype")
        if any(type(n) is not int or n < 0 for n in x.shape):
            raise ValueError(f"a tensor of the shape {list(x.shape)!r}")
        if len(x.raw) != x.size * ITEMSIZE[x.dtype]:
            raise ValueError(f"{len(x.raw)} bytes are no {x.dtype} of shape {list(x.shape)}")
        if any(type(scale) not in (int, float) for scale in x.scale or ()):
            raise ValueError(f"a tensor of the scale {x.scale!r}")
        if type(x.zero_point) not in (int, type(None)):
            raise ValueError(f"a tensor of the zero point {x.zero_point!r}")
        if not isinstance(x.sparse or "", str) or not isinstance(x.layout, str):
            raise ValueError(f"a tensor of the layout {x.layout!r}, sparse {x.sparse!r}")
        if not isinstance(x.device or "", str):
            raise ValueError(f"a tensor on the device {x.device!r}")
