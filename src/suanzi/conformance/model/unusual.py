"""What operands hold that the standard says nothing of: NaN, ties, no elements, too large integers.

It is looked for in the bytes of the operands, as a truth takes long.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from suanzi.conformance.model.numbers import PARTS, limits
from suanzi.conformance.subjects.wire import Data

_FLOATS: dict[str, Any] = {"float16": np.float16, "float32": np.float32, "float64": np.float64}
_INTEGERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
OVERFLOWING = frozenset(
    "add sub mul muladd div floordiv mod abs reciprocal bitwise_left_shift trace cumsum cumsum_bwd "
    "reduce reduce_bwd matmul dot dot_bwd1 dot_bwd2 scatter".split()
)
"""Interfaces whose result can be an integer that its dtype does not hold."""


def tensors(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Data]]:
    """Give the tensors of a call, with the names of their parameters."""
    for name, value in arguments.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if isinstance(one, Data):
                yield name, one


def not_ordinary(data: Data) -> str | None:
    """Return what a tensor holds beside normal numbers and zero, in a word."""
    kind = _FLOATS.get(PARTS.get(data.dtype, data.dtype))
    if kind is None or not data.raw:
        return None
    sizes = np.abs(np.frombuffer(data.raw, kind))
    if not np.isfinite(sizes).all():
        return "NaN" if np.isnan(sizes).any() else "infinities"
    if ((sizes < np.finfo(kind).tiny) & (sizes > 0)).any():
        return "subnormal numbers"
    return None


def numbers(data: Data) -> Any:
    """Return the elements of a tensor of integers, floats or bool as NumPy has them, or None."""
    if data.dtype not in _FLOATS and data.dtype not in _INTEGERS and data.dtype != "bool":
        return None
    return np.frombuffer(data.raw, data.dtype).reshape(data.shape)


def has_ties(data: Data, axis: int) -> bool:
    """Tell whether two elements along an axis are equal, as -0 and 0 are."""
    found = numbers(data)
    if found is None or not found.ndim or not -found.ndim <= axis < found.ndim:
        return False
    ordered = np.sort(found, axis=axis)
    last = np.moveaxis(ordered, axis, -1)
    return bool((last[..., 1:] == last[..., :-1]).any())


def may_overflow(op: str, arguments: Mapping[str, Any]) -> bool:
    """Tell whether a result may be an integer that the dtype of the operands does not hold."""
    if op not in OVERFLOWING:
        return False
    given = [x for _, x in tensors(arguments) if x.dtype in _INTEGERS and x.raw]
    if not given:
        return False
    low, high = limits(given[0].dtype)
    each = [np.frombuffer(x.raw, x.dtype).astype(np.float64).reshape(x.shape) for x in given]
    with np.errstate(over="ignore"):
        return bool(_bound(op, each, arguments, signed=low < 0) > high)


def _bound(op: str, each: list[Any], arguments: Mapping[str, Any], signed: bool) -> float:
    """Return a size that the results do not exceed, or not by much; without end for others."""
    first, *others = (np.abs(x) for x in each)
    most, other = first.max(), max((x.max() for x in others), default=0.0)
    if op in ("reduce", "reduce_bwd", "cumsum", "cumsum_bwd"):
        mode = arguments.get("mode", "SUM")
        if mode not in ("SUM", "PROD", "MEAN"):
            return 0.0
        add = np.prod if mode == "PROD" else np.sum
        axis = arguments.get("axis")
        axes = axis if isinstance(axis, tuple) and axis else None
        return float(np.max(add(first, axis=axes)))
    if op == "sub" and not signed:
        return math.inf if len(each) > 1 and _below(*each) else most
    if op == "bitwise_left_shift":
        by = each[1] if len(each) > 1 else arguments.get("shift")
        if not isinstance(by, int | np.ndarray):
            return math.inf
        return math.inf if np.min(by) < 0 or np.max(by) > 63 else most * 2.0 ** float(np.max(by))
    if op in ("matmul", "dot", "dot_bwd1", "dot_bwd2"):
        return float(most * other * max(max(x.shape, default=1) for x in each))
    if op == "muladd":
        return float(most * other + other)
    if op == "trace":
        return float(most * max(first.shape))
    if op == "mul":
        return float(most * other)
    return float(most + other) if op in ("add", "sub", "scatter") else float(most)


def _below(x: Any, y: Any) -> bool:
    """Tell whether an element is less than the one that is taken from it."""
    return bool((x < y).any()) if x.shape == y.shape else bool(x.min() < y.max())


def fits(data: Data, dtype: str) -> bool:
    """Tell whether every element of a tensor is in the range of another dtype."""
    if dtype == "bool":
        return True
    if data.dtype in PARTS:
        return dtype in PARTS
    found = numbers(data)
    if found is None or not found.size:
        return True
    if dtype in _INTEGERS:
        low, high = limits(dtype)
        if not np.isfinite(found).all() if found.dtype.kind == "f" else False:
            return False
        return low <= int(found.min()) and int(found.max()) <= high
    part = PARTS.get(dtype, dtype)
    if part not in _FLOATS:
        return True
    return float(np.abs(found.astype(np.float64)).max()) <= float(np.finfo(_FLOATS[part]).max)
