"""What operands hold that the standard says nothing of: NaN, ties, no elements, too large integers.

It is looked for in the bytes of the operands, as a truth takes long.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from suanzi.conformance.model.numbers import FORMATS, PARTS, decode, limits
from suanzi.conformance.subjects.wire import Data

_FLOATS = {"float16": "e", "float32": "f", "float64": "d"}
_INTEGERS = {
    f"{sign}int{bits}": code if sign else code.lower()
    for bits, code in ((8, "B"), (16, "H"), (32, "I"), (64, "Q"))
    for sign in ("", "u")
}
_LEAST = {"float16": 2.0**-14, "float32": 2.0**-126, "float64": 2.0**-1022}
"""The smallest normal numbers."""
_MANY = 1 << 14
"""Elements from which on a sum is not made, but bounded by the largest of them."""
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
    part = PARTS.get(data.dtype, data.dtype)
    if part not in _FLOATS:
        return None
    sizes = [abs(x) for x in _unpacked(_distinct(data), _FLOATS[part])]
    if not all(map(math.isfinite, sizes)):
        return "NaN" if any(map(math.isnan, sizes)) else "infinities"
    if any(0 < x < _LEAST[part] for x in sizes):
        return "subnormal numbers"
    return None


def _distinct(data: Data) -> bytes:
    """Return the bytes of every element that there is, not of every place."""
    return data.raw[: data.repeats]


def _unpacked(raw: bytes, code: str) -> tuple[Any, ...]:
    return struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw)


def _code(dtype: str) -> str | None:
    """Return how elements of real numbers are unpacked; None of others."""
    return "B" if dtype == "bool" else _FLOATS.get(dtype) or _INTEGERS.get(dtype)


def has_ties(data: Data, axis: int) -> bool:
    """Tell whether two elements along an axis are equal, as -0 and 0 are."""
    code, rank = _code(data.dtype), len(data.shape)
    if code is None or not -rank <= axis < rank:
        return False
    length = data.shape[axis]
    if data.repeats and length * struct.calcsize(code) > data.repeats:
        return True
    inner = math.prod(data.shape[axis % rank + 1 :])
    found = _unpacked(data.raw, code)
    return any(
        len(set(found[first : first + length * inner : inner])) < length
        for outer in range(0, len(found), length * inner)
        for first in range(outer, outer + inner)
    )


def may_overflow(op: str, arguments: Mapping[str, Any]) -> bool:
    """Tell whether a result may be an integer that the dtype of the operands does not hold."""
    if op not in OVERFLOWING:
        return False
    given = [x for _, x in tensors(arguments) if x.dtype in _INTEGERS and x.raw]
    if not given:
        return False
    low, high = limits(given[0].dtype)
    return _bound(op, given, arguments, signed=low < 0) > high


def _bound(op: str, given: list[Data], arguments: Mapping[str, Any], signed: bool) -> float:
    """Return a size that the results do not exceed, or not by much; without end for others."""
    each = [_unpacked(_distinct(x), _INTEGERS[x.dtype]) for x in given]
    most, *others = (int(max(map(abs, x))) for x in each)
    other = max(others, default=0)
    if op in ("reduce", "reduce_bwd", "cumsum", "cumsum_bwd"):
        return _added(given[0], arguments, most)
    if op == "sub" and not signed:
        return math.inf if len(each) < 2 or _below(given, each) else most
    if op == "bitwise_left_shift":
        by = each[1] if len(each) > 1 else [arguments.get("shift")]
        if not all(isinstance(n, int) and 0 <= n <= 63 for n in by):
            return math.inf
        return float(most * 2 ** max(by))
    if op in ("matmul", "dot", "dot_bwd1", "dot_bwd2"):
        return most * other * max(max(x.shape, default=1) for x in given)
    if op == "muladd":
        return most * other + other
    if op == "trace":
        return most * max(given[0].shape)
    if op == "mul":
        return most * other
    return most + other if op in ("add", "sub", "scatter") else most


def _added(data: Data, arguments: Mapping[str, Any], most: int) -> float:
    """Return what sums or products along the axes of a call do not exceed."""
    mode, axis = arguments.get("mode", "SUM"), arguments.get("axis")
    if mode not in ("SUM", "PROD", "MEAN"):
        return 0
    rank = len(data.shape)
    axes = {a % rank for a in axis} if isinstance(axis, tuple) and axis else set(range(rank))
    if data.size > _MANY:
        count = math.prod(data.shape[a] for a in axes)
        return math.inf if mode == "PROD" else most * count
    sizes = [abs(x) for x in _unpacked(data.raw, _INTEGERS[data.dtype])]
    groups: dict[tuple[int, ...], list[int]] = {}
    for place, x in zip(product(*map(range, data.shape)), sizes, strict=True):
        groups.setdefault(tuple(n for a, n in enumerate(place) if a not in axes), []).append(x)
    return max(map(math.prod if mode == "PROD" else sum, groups.values()), default=0)


def _below(given: Sequence[Data], each: Sequence[Sequence[int]]) -> bool:
    """Tell whether an element is less than the one that is taken from it."""
    if given[0].shape != given[1].shape or given[0].repeats != given[1].repeats:
        return min(each[0]) < max(each[1])
    return any(x < y for x, y in zip(*each, strict=True))


def fits(data: Data, dtype: str) -> bool:
    """Tell whether every element of a tensor is in the range of another dtype."""
    if dtype == "bool":
        return True
    if data.dtype in PARTS:
        return dtype in PARTS
    code = _code(data.dtype)
    if code is None or not data.raw:
        return True
    found = _unpacked(_distinct(data), code)
    if dtype in _INTEGERS:
        low, high = limits(dtype)
        return all(math.isfinite(x) and low <= int(x) <= high for x in found)
    part = PARTS.get(dtype, dtype)
    if part not in _FLOATS:
        return True
    form = FORMATS[part]
    return all(abs(x) <= decode(form, form.largest).value for x in found if math.isfinite(x)) and (
        all(map(math.isfinite, found))
    )
