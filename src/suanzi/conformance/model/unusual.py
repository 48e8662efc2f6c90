"""Operands that the standard does not define: NaN, ties, integers whose results do not fit.

They are recognised by the bytes of the operands, as computing a truth takes long.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

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
"""Above this number of elements a sum is not computed, but bounded by the largest of them."""


def tensors(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Data]]:
    """Give the tensors of a call, with the names of their parameters."""
    for name, value in arguments.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if isinstance(one, Data):
                yield name, one


def is_whole(dtype: str) -> bool:
    """Tell whether a dtype is one of integers."""
    return dtype in _INTEGERS


def not_ordinary(data: Data) -> str | None:
    """Return what a tensor has besides normal numbers and zero, in a word."""
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
    """Return the bytes of every different element."""
    return data.raw[: data.repeats]


def _unpacked(raw: bytes, code: str) -> tuple[Any, ...]:
    return struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw)


def _code(dtype: str) -> str | None:
    """Return the format that unpacks real numbers; None for others."""
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


class _Operands(NamedTuple):
    """The integer operands of a call."""

    given: list[Data]
    arguments: Mapping[str, Any]
    each: list[tuple[int, ...]]
    """Their elements."""
    most: int
    """The largest magnitude of the first operand."""
    other: int
    """That of the others."""


def _of_sub(x: _Operands) -> float:
    if limits(x.given[0].dtype)[0] < 0:
        return x.most + x.other
    return math.inf if len(x.each) < 2 or _below(x.given, x.each) else x.most


def _of_shift(x: _Operands) -> float:
    by = x.each[1] if len(x.each) > 1 else [x.arguments.get("shift")]
    if not all(isinstance(n, int) and 0 <= n <= 63 for n in by):
        return math.inf
    return float(x.most * 2 ** max(by))  # type: ignore[type-var, operator]


_BOUNDS: dict[str, Callable[[_Operands], float]] = {
    **dict.fromkeys(("add", "scatter"), lambda x: x.most + x.other),
    "sub": _of_sub,
    "mul": lambda x: x.most * x.other,
    "muladd": lambda x: x.most * x.other + x.other,
    **dict.fromkeys(("div", "floordiv", "mod", "abs", "reciprocal"), lambda x: x.most),
    "bitwise_left_shift": _of_shift,
    "trace": lambda x: x.most * max(x.given[0].shape),
    "reduce": lambda x: _added(x.given[0], x.arguments, x.most, x.arguments.get("axis")),
    **dict.fromkeys(("reduce_bwd", "cumsum", "cumsum_bwd"),
                    lambda x: _added(x.given[0], x.arguments, x.most)),
    **dict.fromkeys(("matmul", "dot", "dot_bwd1", "dot_bwd2"),
                    lambda x: x.most * x.other * max(max(y.shape, default=1) for y in x.given)),
}  # fmt: skip
"""Sizes that integer results do not exceed, or not by much, for interfaces whose results may not
fit their dtype."""


def may_overflow(op: str, arguments: Mapping[str, Any]) -> bool:
    """Tell whether an integer result may be outside the range of the operands' dtype."""
    bound = _BOUNDS.get(op)
    given = [x for _, x in tensors(arguments) if x.dtype in _INTEGERS and x.raw]
    if bound is None or not given:
        return False
    each = [_unpacked(_distinct(x), _INTEGERS[x.dtype]) for x in given]
    most, *others = (int(max(map(abs, x))) for x in each)
    operands = _Operands(given, arguments, each, most, max(others, default=0))
    return bound(operands) > limits(given[0].dtype)[1]


def _added(data: Data, arguments: Mapping[str, Any], most: int, axis: Any = None) -> float:
    """Return a bound of the sums or products along some axes, or all."""
    mode = arguments.get("mode", "SUM")
    if mode not in ("SUM", "PROD", "MEAN"):
        return 0
    rank = len(data.shape)
    some = isinstance(axis, list | tuple) and all(-rank <= a < rank for a in axis)
    axes = {a % rank for a in axis} if some and axis else set(range(rank))
    if data.size > _MANY:
        count = math.prod(data.shape[a] for a in axes)
        return math.inf if mode == "PROD" else most * count
    sizes = [abs(x) for x in _unpacked(data.raw, _INTEGERS[data.dtype])]
    groups: dict[tuple[int, ...], list[int]] = {}
    for place, x in zip(product(*map(range, data.shape)), sizes, strict=True):
        groups.setdefault(tuple(n for a, n in enumerate(place) if a not in axes), []).append(x)
    return max(map(math.prod if mode == "PROD" else sum, groups.values()), default=0)


def _below(given: Sequence[Data], each: Sequence[Sequence[int]]) -> bool:
    """Tell whether an element is less than the one subtracted from it."""
    if given[0].shape != given[1].shape or given[0].repeats != given[1].repeats:
        return min(each[0]) < max(each[1])
    return any(x < y for x, y in zip(*each, strict=True))


def fits(data: Data, dtype: str) -> bool:
    """Tell whether every element of a tensor is in the range of another dtype."""
    if dtype == "bool":
        return True
    code = _code(PARTS.get(data.dtype, data.dtype))
    if code is None or not data.raw:
        return True
    found = _unpacked(_distinct(data), code)
    if data.dtype in PARTS and dtype not in PARTS:
        found = found[::2]  # only the real part is kept
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
