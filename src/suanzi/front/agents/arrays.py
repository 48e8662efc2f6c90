"""Tensors of agents: nested lists in JSON with a dtype, or .npy files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from suanzi.base.dtypes import dtype as dtype_named
from suanzi.base.dtypes import iinfo
from suanzi.base.hints import shown
from suanzi.base.status import InvalidArgument, StatusError
from suanzi.tensors import npy
from suanzi.tensors.make import tensor

MOST_ELEMENTS = 1_000_000
"""Elements of an input; the exact answer of more takes minutes."""
MOST_RETURNED = 4096
"""Elements of an answer that are returned as lists."""
_SHOWN = 8
_WORDS = ("nan", "inf", "-inf", "+inf", "infinity", "-infinity")

Array = NDArray[Any]


def read_tensor(given: Mapping[str, Any], name: str) -> Array:
    """Return a tensor of JSON: ``{"values": [1, 2], "dtype": "float32"}`` or ``{"npy": "x.npy"}``.

    >>> read_tensor({"values": [[1, "nan"]], "dtype": "f16"}, "x")
    array([[ 1., nan]], dtype=float16)
    """
    wanted = given.get("dtype")
    try:
        known = None if wanted is None else dtype_named(wanted)
    except StatusError as error:
        raise InvalidArgument(f"truth: inputs: {name}: {error}") from None
    if "npy" in given:
        found = _read_file(given["npy"], None if known is None else known.name)
    else:
        found = _read_values(given["values"], "float32" if known is None else known.name, name)
    if found.size > MOST_ELEMENTS:
        raise InvalidArgument(
            f"truth: inputs: {name} has {found.size:,} elements; at most {MOST_ELEMENTS:,} are "
            "computed."
        )
    return found


def _numpy_dtype(name: str) -> np.dtype[Any]:
    try:
        return np.dtype(getattr(ml_dtypes, name, name))
    except TypeError:
        raise InvalidArgument(f"truth: {name} has no arrays of NumPy; use another dtype.") from None


def _read_values(values: Any, dtype: str, name: str) -> Array:
    of = _numpy_dtype(dtype)
    is_float = of.kind in "fV"
    shape: list[int] = []
    first = values
    while isinstance(first, list):
        shape.append(len(first))
        first = first[0] if first else None
    flat: list[Any] = []
    _flatten(values, shape, flat, name)
    numbers = [_number(x, dtype, is_float, name) for x in flat]
    try:
        with np.errstate(all="ignore"):
            return np.array(numbers, np.float64 if is_float else None).astype(of).reshape(shape)
    except (OverflowError, ValueError) as error:
        raise InvalidArgument(f"truth: inputs: {name}: {error}.") from None


def _flatten(values: Any, shape: Sequence[int], into: list[Any], name: str) -> None:
    if not shape:
        if isinstance(values, list):
            raise InvalidArgument(f"truth: inputs: {name}: a list among numbers: {shown(values)}.")
        into.append(values)
        return
    if not isinstance(values, list) or len(values) != shape[0]:
        raise InvalidArgument(
            f"truth: inputs: {name}: {shown(values)} where a list of {shape[0]} is expected; all "
            "rows must have the same length."
        )
    for one in values:
        _flatten(one, shape[1:], into, name)


def _number(x: Any, dtype: str, is_float: bool, name: str) -> Any:
    if is_float and isinstance(x, str) and x.lower() in _WORDS:
        return float(x)
    if isinstance(x, bool) if dtype == "bool" else isinstance(x, int) and not isinstance(x, bool):
        if dtype != "bool" and not is_float:
            limits = iinfo(dtype)
            if not limits.min <= x <= limits.max:
                raise InvalidArgument(
                    f"truth: inputs: {name} has {x}; {dtype} is {limits.min} to {limits.max}."
                )
        return x
    if is_float and isinstance(x, float):
        return x
    what = "numbers, 'nan', 'inf' or '-inf'" if is_float else f"values of {dtype}"
    raise InvalidArgument(f"truth: inputs: {name} has {shown(x)}; give {what}.")


def _read_file(path: str, dtype: str | None) -> Array:
    """Return the array of an .npy file; bits of another dtype may be there as unsigned integers."""
    try:
        made = npy.load(path)
    except OSError as error:
        raise InvalidArgument(f"truth: {path!r} cannot be read: {error.strerror}.") from None
    except (StatusError, ValueError) as error:  # a path may have a zero byte
        raise InvalidArgument(f"truth: {path!r}: {error}") from None
    if isinstance(made, dict):
        raise InvalidArgument(f"truth: {path!r} has several arrays; give an .npy file with one.")
    if math.prod(made.shape) > MOST_ELEMENTS:
        raise InvalidArgument(
            f"truth: {path!r} has {math.prod(made.shape):,} elements; at most {MOST_ELEMENTS:,} "
            "are computed."
        )
    found = np.asarray(made.numpy())
    if dtype is None or found.dtype.name == dtype:
        return found
    of = _numpy_dtype(dtype)
    if found.dtype.kind == "u" and of.kind in "fV" and found.dtype.itemsize == of.itemsize:
        return found.view(of)
    raise InvalidArgument(
        f"truth: {path!r} has {found.dtype.name}, not {dtype}; leave dtype out, or convert it."
    )


def write_outputs(
    op: str, outputs: Sequence[Array], file: str | None
) -> tuple[dict[str, Any], str]:
    """Return the outputs of an operator as data and as text; a file gets the values instead."""
    if file is not None and len(outputs) > 1:
        raise InvalidArgument(
            f"truth: {op} has {len(outputs)} outputs, and output names one file; leave it out."
        )
    data, lines = [], []
    for x in outputs:
        facts: dict[str, Any] = {"dtype": x.dtype.name, "shape": list(x.shape)}
        few = ", ".join(str(v) for v in x.reshape(-1)[:_SHOWN])
        more = ", ..." if x.size > _SHOWN else ""
        lines.append(f"{op}: {x.dtype.name} of shape {x.shape}: {few}{more}")
        if file is not None:
            data.append({**facts, "npy": _write(file, x)})
            lines[-1] += f"; written to {file}"
            continue
        if x.size > MOST_RETURNED:
            raise InvalidArgument(
                f"truth: the answer has {x.size:,} elements, and at most {MOST_RETURNED:,} are "
                'returned; give a file as output: "answer.npy".'
            )
        data.append({**facts, "values": _plain(x)})
    return {"op": op, "outputs": data}, "\n".join(lines)


def _plain(x: Array) -> Any:
    """Return an array as nested lists that JSON has: what is no number there is a string."""

    def one(value: Any) -> Any:
        if isinstance(value, list):
            return [one(v) for v in value]
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        return value

    wide = x.astype(np.float64) if x.dtype.kind in "fV" else x
    return one(wide.tolist())


def _write(file: str, x: Array) -> str:
    path = Path(file)
    if path.suffix != ".npy":
        raise InvalidArgument(f"truth: output is {file!r}; its name must end in .npy.")
    try:
        npy.save(str(path), tensor(x))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InvalidArgument(f"truth: cannot write to {file!r}: {why}.") from None
    return file
