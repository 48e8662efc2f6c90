"""7.2.13.2: cumsum and its gradient: sums of all elements up to each, or from each on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate
from random import Random
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases.reduction import LENGTHS_OF_ROWS, ROWS, long_row, small_number
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import LAYOUTS, anything, ordinary, special, tensor
from suanzi.conformance.model.numbers import FORMATS, PARTS, Real, Value, add, decode, real, wrap
from suanzi.conformance.truth.lines import lines
from suanzi.conformance.truth.sums import added_allowed, reals, rough_sum

SHAPE = (3, 4, 2)
_NONE = Fraction(0)


@cases_of("cumsum", "cumsum_bwd")
def cumulative_sums(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give cumulative sums along each axis, and of all elements in one row."""
    for dtype in dtypes_of(op):
        yield from _of_shapes(op, dtype, wanted)
        if wanted.wants("plain", dtype) and (dtype in FORMATS or dtype in PARTS):
            xs = [x for i in range(4) for x in long_row(dtype, 128, i)]
            yield cumulative_case(op, "plain", dtype, "of 128 of one sign", xs, (4, 128), 1)
        if wanted.wants("special", dtype):
            yield from _special(op, dtype)
        if wanted.wants("random", dtype):
            whole = dtype not in FORMATS and dtype not in PARTS
            xs = anything(dtype, 60, wanted.seed) if whole else ordinary(dtype, 60, wanted.seed)
            yield cumulative_case(op, "random", dtype, "along 0", xs, (12, 5), 0)
            yield cumulative_case(op, "random", dtype, "along 1", xs, (12, 5), 1)


def _of_shapes(op: str, dtype: str, wanted: Wanted) -> Iterator[Case]:
    count = math.prod(SHAPE)
    if wanted.wants("plain", dtype):
        xs = ordinary(dtype, count)
        for axis in range(3):
            yield cumulative_case(op, "plain", dtype, f"along {axis}", xs, SHAPE, axis)
        flat = (count,) if op == "cumsum_bwd" else SHAPE
        yield cumulative_case(op, "plain", dtype, "of all by default", xs, flat)
        yield cumulative_case(op, "plain", dtype, "of all", xs, flat, -1)
        yield cumulative_case(op, "plain", dtype, "of one element", xs[:1], (1,), 0)
    if op == "cumsum" and dtype == "int8" and wanted.wants("plain", dtype):
        ys = ordinary(dtype, 12, "converted", -128, 127)
        yield cumulative_case(
            op, "plain", dtype, "converted to int32 first", ys, (12,), 0, to="int32"
        )
    if op == "cumsum_bwd" and dtype in ("int32", "float32") and wanted.wants("plain", dtype):
        xs = ordinary(dtype, count)
        yield cumulative_case(
            op, "plain", dtype, "back to the shape of the input", xs, (count,), -1, SHAPE
        )
    if wanted.wants("strided", dtype):
        xs = ordinary(dtype, count, "strided")
        for layout in LAYOUTS:
            title = f"{layout}, along 1"
            yield cumulative_case(op, "strided", dtype, title, xs, SHAPE, 1, layout=layout)
            if op == "cumsum":
                title = f"{layout}, of all"
                yield cumulative_case(op, "strided", dtype, title, xs, SHAPE, layout=layout)
            else:
                title = f"{layout}, of all"
                yield cumulative_case(op, "strided", dtype, title, xs, (count,), layout=layout)
    if wanted.wants("empty", dtype):
        for axis in (0, 1):
            yield cumulative_case(
                op, "empty", dtype, f"of shape 0 3 along {axis}", [], (0, 3), axis
            )
            yield cumulative_case(
                op, "empty", dtype, f"of shape 3 0 along {axis}", [], (3, 0), axis
            )
        yield cumulative_case(op, "empty", dtype, "of all of nothing", [], (0,))
        if op == "cumsum":
            yield cumulative_case(op, "empty", dtype, "of all without axes", ordinary(dtype, 1), ())
            yield cumulative_case(op, "empty", dtype, "of all of shape 2 0", [], (2, 0))


def _special(op: str, dtype: str) -> Iterator[Case]:
    part = PARTS.get(dtype, dtype)
    if part not in FORMATS:
        few = list(special(dtype))
        yield cumulative_case(op, "special", dtype, "of extremes", few * 3, (3 * len(few),), 0)
        return
    numbers = _special_rows(part)
    xs: list[Value] = list(numbers)
    if dtype in PARTS:
        xs = list(zip(numbers, numbers[::-1], strict=True))
    yield cumulative_case(op, "special", dtype, "NaN, infinities and overflow", xs, (8, 6), 1)


def _special_rows(dtype: str) -> list[Real]:
    form = FORMATS[dtype]
    one, nan = decode(form, form.bias << form.mantissa), decode(form, form.nan)
    inf, tiny = decode(form, form.largest + form.infinity), decode(form, 1)
    large, zero = decode(form, form.largest), real(0)
    return [
        *(one, one, nan, one, one, one),
        *(one, inf, one, one, -one, one),
        *(-one, -inf, one, one, one, one),
        *(one, inf, one, -inf, one, one),
        *(tiny, tiny, -tiny, tiny, one, tiny),
        *(zero, -zero, -zero, zero, tiny, -tiny),
        *(one, large, large, large, one, one),
        *(-large, -large, -large, -large, -one, zero),
    ]


def cumulative_case(
    op: str,
    group: str,
    dtype: str,
    title: str,
    xs: Sequence[Value],
    shape: Sequence[int],
    axis: int | None = None,
    input_shape: Sequence[int] | None = None,
    *,
    layout: str = "dense",
    to: str | None = None,
    exact: bool = False,
) -> Case:
    """Return the case of cumulative sums; `exact` ones have no rounding error."""
    name = "input" if op == "cumsum" else "out_grad"
    arguments: dict[str, Any] = {name: tensor(dtype, xs, shape, layout)}
    for key, value in (("axis", axis), ("dtype", to)):
        if value is not None:
            arguments[key] = value
    if input_shape is not None:
        arguments["input_shape"] = list(input_shape)

    def expect() -> tuple[Output]:
        flat = axis in (None, -1)
        left = tuple(input_shape or ((len(xs),) if flat else shape))
        rows = [list(range(len(xs)))] if flat else lines(shape, [axis or 0])
        target = to or dtype
        truth: list[Value] = [0] * len(xs)
        bounds, roughly = [_NONE] * len(xs), [_NONE] * len(xs)
        for row in rows:
            line = row[::-1] if op == "cumsum_bwd" else row
            sums = _cumulative(target, [xs[i] for i in line], exact)
            for place, (sum_, bound, rough) in zip(line, sums, strict=True):
                truth[place], bounds[place], roughly[place] = sum_, bound, rough
        rounds = target in FORMATS or target in PARTS
        allowed = tuple(bounds) if rounds and not exact else None
        more = None if allowed is None else tuple(roughly)
        return (Output(target, left, tuple(truth), allowed=allowed, rough=more, zero_sign=False),)

    return Case(op, group, dtype, title, arguments, expect)


def _cumulative(
    dtype: str, row: Sequence[Value], exact: bool
) -> Iterator[tuple[Value, Fraction, Fraction]]:
    """Give the sums of a row up to each element, and how far they may be off, also leniently."""
    if dtype in PARTS:
        pairs = [x for x in row if isinstance(x, tuple)]
        first_side, second_side = (
            _cumulative_reals(PARTS[dtype], [x[i] for x in pairs], exact) for i in (0, 1)
        )
        for first, second in zip(first_side, second_side, strict=True):
            off, rough = max(first[1], second[1]), max(first[2], second[2])
            yield (first[0], second[0]), off, rough
    elif dtype in FORMATS:
        yield from _cumulative_reals(dtype, reals(row), exact)
    else:
        sum_ = 0
        for x in row:
            assert isinstance(x, int)
            sum_ += x
            yield wrap(dtype, sum_), _NONE, _NONE


def _cumulative_reals(
    dtype: str, row: Sequence[Real], exact: bool
) -> Iterator[tuple[Real, Fraction, Fraction]]:
    if exact:  # small integers, whose sums have no bounds
        known = cache(real)
        yield from ((known(n), _NONE, _NONE) for n in accumulate(int(x.value) for x in row))
        return
    sum_, size = real(0), Fraction(0)
    for count, x in enumerate(row, 1):
        sum_ = add(sum_, x)
        size += x.size if x.size is not None and not x.is_nan else 0
        rough = rough_sum(dtype, count, size)
        yield sum_, added_allowed(dtype, count, size, sum_), rough


# ---- large sizes ---------------------------------------------------------------------------------

_UP_AND_DOWN = (2, -1, -1, 1, -1, 3, -2, 1, -1, -2, 1)
"""Steps that return to where they began; every dtype holds all of their sums."""


@cases_of("cumsum", "cumsum_bwd")
def cumulative_sums_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give rows and columns of every length, of numbers whose sums are exact."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype) or dtype in ("bool", "uint1"):
            continue
        chosen = dtype in ("float32", "int32") and not wanted.quick
        few = {x: small_number(dtype, x) for x in _UP_AND_DOWN}
        for length in (
            LENGTHS_OF_ROWS if chosen else Random(f"{op} {dtype}").sample(LENGTHS_OF_ROWS, 2)
        ):
            rows = [few[_UP_AND_DOWN[(j + k) % 11]] for k in range(ROWS) for j in range(length)]
            count, shape = 65 if length < 1000 else 5, (ROWS, length)
            small = cumulative_case(op, "sizes", dtype, f"of {length}", rows, shape, 1, exact=True)
            yield from sizes.rows_and_columns(small, count, f"{count} {{word}} {{title}}")
