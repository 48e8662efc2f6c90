"""What a recorder kept of a program: its calls in order, and their tensors."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import index
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from suanzi.base.files import only_files
from suanzi.base.status import InvalidArgument
from suanzi.conformance.subjects.wire import Data
from suanzi.recording.calls import Where

_STORED = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
"""NumPy's dtypes of the same size, for those that it does not have."""


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor: the name of its dtype, and an array of its elements, or of their bits."""

    dtype: str
    array: np.ndarray[Any, Any] = field(repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return tuple(self.array.shape)

    def like(self, array: np.ndarray[Any, Any]) -> Value:
        """Return other elements of the same dtype."""
        return Value(self.dtype, array)

    def data(self) -> Data:
        """Return the tensor as the adapters of the kit take it."""
        return Data(self.dtype, self.shape, np.ascontiguousarray(self.array).tobytes())

    def numbers(self) -> np.ndarray[Any, Any]:
        """Return the elements as numbers that hold all of them."""
        if self.dtype in _STORED:
            return np.asarray(self.array.view(getattr(ml_dtypes, self.dtype)), "float64")
        if self.array.dtype.kind == "f":
            return self.array.astype("float64")
        return self.array


def value_of(data: Data) -> Value:
    """Return a tensor that an adapter gave."""
    stored = np.dtype(_STORED.get(data.dtype, data.dtype))
    return Value(data.dtype, np.frombuffer(data.raw, stored).reshape(data.shape))


@dataclass(frozen=True)
class Kept:
    """One call, with its tensors by their numbers."""

    number: int
    """That of its record among the calls of the program."""
    operator: str
    way: str | None
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    results: tuple[int | None, ...]
    where: Where | None
    backward: bool


@dataclass(frozen=True)
class Inputs:
    """The calls that were kept, and their tensors."""

    calls: tuple[Kept, ...]
    values: Mapping[int, Value]
    dropped: int
    """Calls for which there was no room."""


def read_kept(folder: Path) -> Inputs:
    """Return what a recorder kept in a folder."""
    calls: list[Kept] = []
    values: dict[int, Value] = {}
    dropped = 0
    try:
        only_files(folder)
        content = np.memmap(folder / "tensors.bin", "uint8", "r") if _size(folder) else b""
        for line in (folder / "calls.jsonl").read_text("utf-8").splitlines():
            one = json.loads(line)
            if "op" in one:
                calls.append(_kept(one))
            elif "end" in one:
                dropped = one["dropped"]
            elif _known(one["dtype"]):
                values[one["tensor"]] = _value(one, content)
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise InvalidArgument(
            f"replay: what was kept in {str(folder)!r} cannot be read: {error!r:.400}."
        ) from None
    return Inputs(tuple(calls), values, dropped)


def _size(folder: Path) -> int:
    return (folder / "tensors.bin").stat().st_size


def _known(name: str) -> bool:
    try:
        np.dtype(_STORED.get(name, name))
    except TypeError:
        return False
    return True


def _value(one: dict[str, Any], content: Any) -> Value:
    stored = np.dtype(_STORED.get(one["dtype"], one["dtype"]))
    shape, at = tuple(map(index, one["shape"])), index(one["at"])
    raw = content[at : at + math.prod(shape) * stored.itemsize]
    if min((at, *shape)) < 0 or len(raw) != math.prod(shape) * stored.itemsize:
        raise ValueError(f"tensor {one['tensor']!r:.60} has other bytes than its shape")
    return Value(one["dtype"], np.frombuffer(raw, stored).reshape(shape))


def _kept(one: dict[str, Any]) -> Kept:
    where = None
    if "where" in one:
        by = one.get("by")
        file, line = one["where"]
        where = Where(file, line, by=(by[0], by[1]) if by else None, layer=one.get("layer", ""))
    return Kept(
        one["call"], one["op"], one["way"], tuple(one["args"]), one["kwargs"],
        tuple(one["results"]), where, bool(one.get("backward")),
    )  # fmt: skip
