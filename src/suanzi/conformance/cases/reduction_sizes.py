"""7.2.13: reduce and cumsum at the sizes at which kernels break.

Rows and columns are some of a few, whose truth is found once; a million elements are a few numbers,
each so many times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from random import Random

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import ordinary
from suanzi.conformance.model.numbers import FORMATS, INTEGERS, PARTS, Real, Value, decode, wrap
from suanzi.conformance.model.numbers import real as as_real
from suanzi.conformance.model.picked import Cycle, Picked
from suanzi.conformance.truth.reduction import MODES, reduced, result_dtype, takes
from suanzi.conformance.truth.sums import added_allowed

_ROWS = 5
"""The different rows of a matrix."""
_LENGTHS = (1, 3, 8, 17, 33, 64, 65, 129, 257, 1025, 4097)
_VECTOR = 70
"""More than a vector has elements, of any dtype."""


@cases_of("reduce")
def reductions_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give rows and columns of every length, what decides at every place, and a million."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype):
            continue
        for mode in (m for m in MODES if takes(m, dtype)):
            yield from _of_lengths(dtype, mode, wanted)
            if mode in ("MAX", "MIN"):
                yield from _decisive(dtype, mode)
        if dtype in ("float32", "int32", "bool") and not wanted.quick:
            yield from (_million(dtype, mode) for mode in _LARGE[dtype])


def _number(dtype: str, x: int) -> Value:
    if dtype in PARTS:
        return as_real(x), as_real(-x)
    return as_real(x) if dtype in FORMATS else wrap(dtype, x)


def _few(mode: str, dtype: str) -> list[Value]:
    """Return the numbers that rows are made of."""
    if mode[0] == "L" or dtype in ("bool", "uint1"):
        return [_number(dtype, 0), _number(dtype, 1)]
    if mode == "PROD":
        return [_number(dtype, 1), _number(dtype, 2)] if dtype not in PARTS else [
            (as_real(1), as_real(0)), (as_real(1), as_real(1))]  # fmt: skip
    return ordinary(dtype, 29, f"few {mode}")


def _row(mode: str, count: int, length: int, k: int) -> list[int]:
    """Return which of a few numbers a row has: all alike but one, or all of them in turn."""
    if count == 2:
        row = [k % 2 if mode != "PROD" else 0] * length
        if k > 1 or mode == "PROD":
            row[Random(f"{length} {k}").randrange(length)] ^= 1
        return row
    return [(j * (k + 1) + k) % count for j in range(length)]


@dataclass(frozen=True)
class Rows:
    """A few different rows, of which matrices are made; what comes of each is found once."""

    dtype: str
    mode: str
    few: sizes.Few
    rows: Sequence[Sequence[int]]

    @cached_property
    def right(self) -> Output:
        """What comes of each row."""
        shape = len(self.rows), len(self.rows[0])
        numbers = [self.few.values[k] for row in self.rows for k in row]
        found = reduced(self.mode, self.dtype, numbers, shape, [1])
        assert isinstance(found, tuple)
        assert isinstance(found[0], Output)
        return found[0]

    def case(self, count: int, axis: int, title: str) -> Case:
        """Return the case of a matrix of `count` rows, or columns."""
        length, different = len(self.rows[0]), len(self.rows)
        if axis:
            index = [k for i in range(count) for k in self.rows[i % different]]
        else:
            index = [self.rows[i % different][j] for j in range(length) for i in range(count)]

        def expect() -> tuple[Output]:
            right, which = self.right, Cycle(different, count)
            allowed = None if right.allowed is None else Picked(tuple(right.allowed), which)
            truth = Picked(tuple(right.truth), which)
            return (replace(right, shape=(count,), truth=truth, allowed=allowed),)

        data = self.few.tensor(index, (count, length) if axis else (length, count))
        arguments = {"input": data, "mode": self.mode, "axis": [axis]}
        title = f"{self.mode} {count} {'rows' if axis else 'columns'} {title}"
        return Case("reduce", "sizes", self.dtype, title, arguments, expect)


def _of_lengths(dtype: str, mode: str, wanted: Wanted) -> Iterator[Case]:
    chosen = dtype in ("float32", "int32") and not wanted.quick
    some = _LENGTHS if chosen else Random(f"{mode} {dtype}").sample(_LENGTHS[:-1], 2)
    few = sizes.Few(dtype, _few(mode, dtype))
    for length in some[:1] if wanted.quick else some:
        which = [_row(mode, len(few.values), length, k) for k in range(_ROWS)]
        rows = Rows(dtype, mode, few, which)
        for axis in (1, 0):
            yield rows.case(70 if length < 1000 else 9, axis, f"of {length}")


def _decisive(dtype: str, mode: str) -> Iterator[Case]:
    """Give what decides, the largest, the least or NaN, at every place of a vector."""
    small, large = _number(dtype, 0), _number(dtype, 1)
    pair = [small, large] if mode == "MAX" else [large, small]
    decides = {"the best": pair}
    if dtype in FORMATS:
        decides["NaN"] = [small, decode(FORMATS[dtype], FORMATS[dtype].nan)]
    which = [[int(i == j) for j in range(_VECTOR)] for i in range(_VECTOR)]
    for title, pair in decides.items():
        rows = Rows(dtype, mode, sizes.Few(dtype, pair), which)
        for axis in (1, 0):
            yield rows.case(_VECTOR, axis, f"with {title} at every place")


# ---- a million elements --------------------------------------------------------------------------

_LARGE = {
    "float32": ("SUM", "MEAN", "MAX", "MIN", "LAND"),
    "int32": ("SUM", "PROD", "MAX", "BXOR", "BAND", "LXOR"),
    "bool": ("SUM", "LAND", "LOR", "LXOR"),
}


def _million(dtype: str, mode: str) -> Case:
    count = sizes.LARGE
    few = sizes.Few(dtype, ordinary(dtype, sizes.PERIOD, f"million {mode}", 1, 8))
    if mode in ("LAND", "LOR", "MAX", "MIN", "BAND", "PROD") and dtype != "float32":
        few = sizes.Few(dtype, [1] * sizes.PERIOD if mode != "LOR" else [0] * sizes.PERIOD)
    data = few.tensor(Cycle(sizes.PERIOD, count), (count,))

    def expect() -> tuple[Output]:
        often = Counter(dict.fromkeys(range(sizes.PERIOD), count // sizes.PERIOD))
        often.update(range(count % sizes.PERIOD))
        return (_of_counts(dtype, mode, [(few.values[k], n) for k, n in often.items()]),)

    title = f"{mode} of {count} elements"
    return Case("reduce", "sizes", dtype, title, {"input": data, "mode": mode}, expect)


def _of_counts(dtype: str, mode: str, pairs: Sequence[tuple[Value, int]]) -> Output:
    """Return what comes of numbers, each so many times."""
    target = result_dtype(mode, dtype)
    if mode in ("SUM", "MEAN"):
        total = sum((_fraction(x) * n for x, n in pairs), Fraction(0))
        if target in INTEGERS:
            return Output(target, (), (wrap(target, int(total)),))
        count = sum(n for _, n in pairs)
        truth = as_real(total / count if mode == "MEAN" else total)
        assert truth.size is not None
        return Output(
            target, (), (truth,), allowed=(added_allowed(target, count, truth.size, truth),)
        )
    # Of all the others, a number twice is as good as none, or as once.
    few = [x for x, n in pairs for _ in range(1 if mode in ("LXOR", "BXOR") and n % 2 else 2)]
    found = reduced(mode, dtype, few, (len(few),), [0])
    assert isinstance(found, tuple)
    (right,) = found
    assert isinstance(right, Output)
    return right


def _fraction(x: Value) -> Fraction:
    return x.value if isinstance(x, Real) else Fraction(x)  # type: ignore[arg-type]


# ---- cumsum --------------------------------------------------------------------------------------


@cases_of("cumsum", "cumsum_bwd")
def cumulative_sums_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give rows and columns of every length, of numbers whose sums are exact."""
    for dtype in dtypes_of(op):
        if not wanted.wants("sizes", dtype) or dtype in ("bool", "uint1"):
            continue
        chosen = dtype in ("float32", "int32") and not wanted.quick
        some = _LENGTHS if chosen else Random(f"{op} {dtype}").sample(_LENGTHS, 2)
        for length in some:
            for axis in (1, 0):
                yield _cumulative(op, dtype, length, axis)


_UP_AND_DOWN = (2, -1, -1, 1, -1, 3, -2, 1, -1, -2, 1)
"""Steps that come back to where they began; every dtype holds all of their sums."""


def _cumulative(op: str, dtype: str, length: int, axis: int) -> Case:
    steps = [[_UP_AND_DOWN[(j + k) % 11] for j in range(length)] for k in range(_ROWS)]
    rows = 65 if length < 1000 else 5
    few = sizes.Few(dtype, [_number(dtype, x) for x in range(-6, 7)])

    def laid(per_row: Sequence[Sequence[int]]) -> list[int]:
        if axis:
            return [x + 6 for i in range(rows) for x in per_row[i % _ROWS]]
        return [per_row[i % _ROWS][j] + 6 for j in range(length) for i in range(rows)]

    def added(row: Sequence[int]) -> list[int]:
        return list(accumulate(row)) if op == "cumsum" else list(accumulate(row[::-1]))[::-1]

    shape = (rows, length) if axis else (length, rows)

    def expect() -> tuple[Output]:
        truth = Picked(tuple(few.values), laid([added(row) for row in steps]))
        return (Output(dtype, shape, truth, zero_sign=False),)

    name = "input" if op == "cumsum" else "out_grad"
    arguments = {name: few.tensor(laid(steps), shape), "axis": axis}
    title = f"{rows} {'rows' if axis else 'columns'} of {length}"
    return Case(op, "sizes", dtype, title, arguments, expect)
