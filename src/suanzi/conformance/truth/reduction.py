"""7.2.13.1: the exact result of each mode of reduce, and the bound of its error."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction

from suanzi.base.status import Status
from suanzi.conformance.model.case import Expected, Output, Refused
from suanzi.conformance.model.numbers import (
    FORMATS,
    INTEGERS,
    NAN,
    PARTS,
    UNSIGNED,
    Real,
    Value,
    maximum,
    minimum,
    real,
    truth,
    wrap,
)
from suanzi.conformance.truth.lines import lines, shape_left
from suanzi.conformance.truth.sums import (
    complex_product,
    is_exact,
    magnitude,
    parts,
    product,
    product_allowed,
    reals,
    rough_sum,
    sum_allowed,
    total,
)

MODES = ("SUM", "PROD", "MAX", "MIN", "MEAN", "LAND", "LOR", "LXOR", "BAND", "BOR", "BXOR")
ROUNDED = ("SUM", "PROD", "MEAN")
"""The modes that round floats."""


def takes(mode: str, dtype: str) -> bool:
    """Tell whether a mode is defined for a dtype."""
    if mode in ("MAX", "MIN"):
        return dtype not in PARTS
    return mode == "MEAN" or mode[0] != "B" or (dtype not in FORMATS and dtype not in PARTS)


def result_dtype(mode: str, dtype: str) -> str:
    """Return the dtype of a result."""
    if mode[0] == "L":
        return "bool"
    if mode in ("SUM", "PROD") and dtype == "bool":
        return "int64"
    return "float32" if mode == "MEAN" and dtype in ("bool", *INTEGERS) else dtype


def reduced(
    mode: str,
    dtype: str,
    xs: Sequence[Value],
    shape: Sequence[int],
    axes: Sequence[int],
    keep: bool = False,
) -> Expected:
    """Return the expected result of reducing a tensor along axes."""
    target, found = result_dtype(mode, dtype), lines(shape, axes)
    left = shape_left(shape, axes, keep)
    rows = [[xs[i] for i in line] for line in found]
    if rows and not rows[0] and mode in ("MAX", "MIN", "MEAN"):
        instead = None
        if mode == "MEAN":
            nan: Value = (NAN, NAN) if target in PARTS else NAN
            instead = (Output(target, left, (nan,) * len(rows)),)
        return Refused(Status.INVALID_ARGUMENT, instead)
    made = tuple(_combined(mode, dtype, row) for row in rows)
    bounds = None
    if mode in ROUNDED and (target in FORMATS or target in PARTS) and not _one_rounding(mode, rows):
        bounds = tuple(_allowed(mode, dtype, row, one) for row, one in zip(rows, made, strict=True))
    # A sum of zeros, and the largest of them, may have either sign.
    rough = None
    if bounds is not None and mode != "PROD":
        rough = tuple(_rough(mode, dtype, row) for row in rows)
    return (Output(target, left, made, allowed=bounds, rough=rough, zero_sign=mode == "PROD"),)


def _one_rounding(mode: str, rows: Sequence[Sequence[Value]]) -> bool:
    """Tell whether there is one addition or multiplication, which is correctly rounded."""
    some = [x for row in rows for x in row]
    return (
        mode != "MEAN"
        and all(len(row) <= 2 for row in rows)
        and not (mode == "PROD" and any(isinstance(x, tuple) for x in some))
    )


_BITS: dict[str, Callable[[int, int], int]] = {
    "LAND": operator.and_, "LOR": operator.or_, "LXOR": operator.xor,
    "BAND": operator.and_, "BOR": operator.or_, "BXOR": operator.xor,
}  # fmt: skip


def _combined(mode: str, dtype: str, row: Sequence[Value]) -> Value:
    """Return one mode of one row, by its definition."""
    if mode in _BITS:
        start = int(mode in ("LAND", "BAND"))
        if mode == "BAND" and dtype != "bool":
            start = 2 ** UNSIGNED[dtype] - 1 if dtype in UNSIGNED else -1
        bits = [int(truth(x)) if mode[0] == "L" else x for x in row]
        return functools.reduce(_BITS[mode], [b for b in bits if isinstance(b, int)], start)
    if mode in ("MAX", "MIN"):
        if dtype in FORMATS:
            return functools.reduce(maximum if mode == "MAX" else minimum, reals(row))
        whole = [x for x in row if isinstance(x, int)]
        return max(whole) if mode == "MAX" else min(whole)
    if dtype in PARTS:
        if mode == "PROD":
            return complex_product(row)
        first, second = (_over(total(p), len(row) if mode == "MEAN" else 1) for p in parts(row))
        return first, second
    numbers = reals(row)
    if dtype in FORMATS:
        if mode == "PROD":
            return product(numbers)
        return _over(total(numbers), len(row) if mode == "MEAN" else 1)
    if mode == "MEAN":
        return _over(total(numbers), len(row))
    whole = [x for x in row if isinstance(x, int)]
    made = sum(whole) if mode == "SUM" else functools.reduce(operator.mul, whole, 1)
    return wrap(result_dtype(mode, dtype), made)


def _over(x: Real, count: int) -> Real:
    return real(x.value / count) if x.size is not None and not x.is_nan else x


def _allowed(mode: str, dtype: str, row: Sequence[Value], made: Value) -> Fraction:
    if mode == "PROD":
        return product_allowed(dtype, row, made)
    divisor = len(row) if mode == "MEAN" else 1
    target = result_dtype(mode, dtype)
    if isinstance(made, tuple):
        return max(sum_allowed(dtype, p, made, divisor) for p in parts(row))
    return sum_allowed(dtype, reals(row), made, divisor, target)


def _rough(mode: str, dtype: str, row: Sequence[Value]) -> Fraction:
    target, sides = result_dtype(mode, dtype), parts(row) if dtype in PARTS else (reals(row),)
    if mode == "SUM" and all(is_exact(dtype, side) for side in sides):
        return Fraction(0)
    size = max(map(magnitude, sides)) / (len(row) if mode == "MEAN" else 1)
    return rough_sum(target, len(row) + 2, size)
