"""7.2.13.1: reduce: exact for integers, within the bound of any order of addition for floats."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from random import Random

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases._readings import either
from suanzi.conformance.cases._sparse import made_sparse
from suanzi.conformance.cases._values import zero
from suanzi.conformance.model.case import Case, Check, Output, Refused
from suanzi.conformance.model.data import LAYOUTS, anything, ordinary, special, tensor
from suanzi.conformance.model.expected import Cycle
from suanzi.conformance.model.numbers import (
    FORMATS,
    INTEGERS,
    NARROW,
    PARTS,
    Real,
    Value,
    decode,
    real,
    wrap,
)
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth.reduction import MODES, ROUNDED, reduced, result_dtype, takes
from suanzi.conformance.truth.sums import added_allowed, nearly_tied, reals, rough_sum

LENGTHS = (16, 1024)
"""Powers of two, so that the mean of numbers that are nearly tied is, too."""


@cases_of("reduce")
def reductions(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give every mode, axes in every form, and sums that are hard."""
    for dtype in dtypes_of(op):
        for mode in (m for m in MODES if takes(m, dtype)):
            yield from _of_mode(dtype, mode, wanted)
        if wanted.wants("status", dtype):
            yield from (_undefined(dtype, m) for m in MODES if not takes(m, dtype))
        if wanted.wants("plain", dtype):
            yield from _axes(dtype, wanted)
        if dtype in FORMATS or dtype in PARTS:
            yield from _sums(dtype, wanted)


def reduce_case(
    group: str,
    dtype: str,
    title: str,
    mode: str,
    xs: Sequence[Value],
    shape: Sequence[int],
    axis: Sequence[int] | None = None,
    *,
    keep: bool = False,
    layout: str = "dense",
    leave_out: Sequence[str] = (),
    made: Data | None = None,
) -> Case:
    """Return the case of a reduction."""
    axes = [a % len(shape) for a in axis or ()] or list(range(len(shape)))
    arguments = {"input": made or tensor(dtype, xs, shape, layout), "mode": mode}
    if axis is not None:
        arguments["axis"] = list(axis)
    if keep:
        arguments["keep_dims"] = True
    return Case(
        "reduce",
        group,
        dtype,
        f"{mode} {title}",
        {name: x for name, x in arguments.items() if name not in leave_out},
        lambda: reduced(mode, dtype, xs, shape, axes, keep),
    )


def _undefined(dtype: str, mode: str) -> Case:
    """Return a mode that a dtype does not have: bits of floats, an order of complex numbers."""
    arguments = {"input": tensor(dtype, ordinary(dtype, 4)), "mode": mode}
    title = f"{mode} is not defined"
    expected = either("E146", Refused(Status.TYPE_MISMATCH), Check("succeeds", {}))
    return Case("reduce", "status", dtype, title, arguments, lambda: expected)


def _of_mode(dtype: str, mode: str, wanted: Wanted) -> Iterator[Case]:
    if wanted.wants("plain", dtype):
        shape = (7, 9)
        yield reduce_case("plain", dtype, "of rows", mode, _values(mode, dtype, shape), shape, [1])
        yield reduce_case(
            "plain", dtype, "of columns", mode, _values(mode, dtype, shape), shape, [0]
        )
    chosen = dtype in ("bool", "int32", "uint8", "float32", "complex64") and not wanted.quick
    if wanted.wants("strided", dtype) and (chosen or mode in ("SUM", "MAX")):
        for layout in LAYOUTS[1:3] if wanted.quick else LAYOUTS:
            values = _values(mode, dtype, (3, 2, 5))
            title = f"{layout}, axes 0 and 2"
            yield reduce_case(
                "strided", dtype, title, mode, values, (3, 2, 5), [0, 2], layout=layout
            )
    if dtype in ("float32", "bool") and wanted.wants("strided", dtype):
        few = [x if i % 3 == 0 else zero(dtype) for i, x in enumerate(_values(mode, dtype, (4, 5)))]
        for kind in ("COO", "CSR"):
            title = f"of rows, sparse {kind}"
            yield made_sparse(
                reduce_case("strided", dtype, title, mode, few, (4, 5), [1]), {"input": kind}
            )
    if wanted.wants("empty", dtype):
        yield reduce_case("empty", dtype, "of no elements", mode, [], (0,))
        if chosen or mode in ("SUM", "MAX"):
            yield reduce_case("empty", dtype, "of no axes", mode, ordinary(dtype, 1), ())
        if chosen and (mode in ("SUM", "MAX", "MEAN", "LAND") or dtype == "int32"):
            for axis in ([0], [1], [2], [0, 1]):
                title = f"of shape 2 0 3 along {' '.join(map(str, axis))}"
                yield reduce_case("empty", dtype, title, mode, [], (2, 0, 3), axis)
            kept = "of shape 2 0 3 along 1 kept"
            yield reduce_case("empty", dtype, kept, mode, [], (2, 0, 3), [1], keep=True)
    if wanted.wants("special", dtype):
        yield from _special(dtype, mode)
    if wanted.wants("random", dtype):
        yield from _random(dtype, mode, wanted)


def _values(mode: str, dtype: str, shape: Sequence[int]) -> list[Value]:
    """Return elements for which a mode gives different results; products have a moderate size."""
    count = math.prod(shape)
    if mode == "PROD" and (dtype in FORMATS or dtype in PARTS):
        random = Random(f"signs {dtype} {count}")
        sizes = ordinary(dtype, count, "sizes", 0.6, 1.6)
        if dtype in PARTS:
            return sizes
        return [-x if random.random() < 0.5 else x for x in sizes if isinstance(x, Real)]
    found = ordinary(dtype, count, mode)
    if mode[0] == "L":
        zero = ordinary(dtype, 1, 0, 0, 0)[0]
        few, many = Random("few"), Random("many")
        other: Value = (real(1), real(0)) if dtype in PARTS else real(1) if dtype in FORMATS else 1
        # Rows of ones, rows of zeros, and mixed ones.
        for i in range(count):
            row = i // shape[-1] % 4
            chance = (few if row < 2 else many).random()
            found[i] = other if (row == 0 or chance < 0.1 + 0.2 * row) and row != 1 else zero
    return found


def _axes(dtype: str, wanted: Wanted) -> Iterator[Case]:
    """Give axes in every form: none, some, all, negative ones, in any order; kept and not."""
    shape = (3, 1, 4, 2)
    modes = {"int32": ["SUM", "MAX", "MEAN"], "float32": ["SUM", "PROD"], "bool": ["LOR"]}.get(
        dtype, ["MIN" if dtype in FORMATS else "SUM"]
    )
    if dtype not in ("bool", "int32", "int64", "float16", "float32", "complex64"):
        return
    if wanted.quick:
        modes = modes[:1] if dtype in ("int32", "float32") else []
    for mode, keep in product(modes, (False, True)):
        xs = ordinary(dtype, math.prod(shape), "axes")
        for axis in (None, [], [0], [1], [3], [-1], [-3], [0, 2], [2, 0], [-1, 0], [0, 1, 2, 3]):
            named = "not given" if axis is None else " ".join(map(str, axis)) or "empty"
            title = f"axis {named}{' kept' if keep else ''}"
            yield reduce_case("plain", dtype, title, mode, xs, shape, axis, keep=keep)
    yield reduce_case(
        "plain", dtype, "is the default", "SUM", ordinary(dtype, 5), (5,), leave_out=["mode"]
    )


# ---- sums of floats ------------------------------------------------------------------------------


def _sums(dtype: str, wanted: Wanted) -> Iterator[Case]:
    if wanted.wants("plain", dtype):
        for count in LENGTHS[: 1 if wanted.quick else None]:
            xs = [x for i in range(4) for x in long_row(dtype, count, i)]
            made = tensor(dtype, xs, (4, count))
            for mode in ("SUM", "MEAN"):
                title = f"of {count} of one sign"
                yield reduce_case("plain", dtype, title, mode, xs, (4, count), [1], made=made)
        across = [xs[i * count + j] for j in range(count) for i in range(2)]
        title = f"of {count} of one sign in columns"
        yield reduce_case("plain", dtype, title, "SUM", across, (count, 2), [0])
    if wanted.wants("special", dtype):
        xs = [x for i in range(6) for x in _cancelling(dtype, 40, i)]
        made = tensor(dtype, xs, (6, 40))
        for mode in ("SUM", "MEAN"):
            title = "where most cancels"
            yield reduce_case("special", dtype, title, mode, xs, (6, 40), [1], made=made)


@lru_cache(64)
def long_row(dtype: str, count: int, i: int) -> list[Value]:
    """Return a row whose sum shows a thousandth more, and one element less."""
    if dtype in PARTS:
        first, second = (reals(long_row(PARTS[dtype], count, k)) for k in (i, 3 - i))
        return list(zip(first, second, strict=True))
    if dtype in NARROW:
        return nearly_tied(dtype, count, i % 2 == 0, i)
    return ordinary(dtype, count, i, 0.25, 1)


def _cancelling(dtype: str, count: int, seed: object) -> list[Value]:
    """Return numbers that nearly all have their negative among them, in a mixed order."""
    half: list[Value] = ordinary(dtype, count // 2 - 1, seed)
    rest = ordinary(dtype, count - 2 * len(half), seed, -0.5, 0.5)
    found = [*half, *(_negative(x) for x in half), *rest]
    Random(f"mixed {seed}").shuffle(found)
    return found


def _negative(x: Value) -> Value:
    return (-x[0], -x[1]) if isinstance(x, tuple) else -x


# ---- special values ------------------------------------------------------------------------------


def _special(dtype: str, mode: str) -> Iterator[Case]:
    few = special(dtype)
    if dtype in PARTS:
        if mode in ("SUM", "LAND", "LOR", "LXOR"):
            pairs = list(zip(few, few[1:] + few[:1], strict=True))
            yield _rows_case(dtype, "of pairs", mode, pairs)
        return
    if mode[0] == "L":
        yield _rows_case(dtype, "of pairs", mode, list(zip(few, few[1:] + few[:1], strict=True)))
    elif mode != "MEAN":
        chief = _chief(dtype) if dtype in FORMATS else few
        yield _rows_case(dtype, "of pairs", mode, list(product(chief, chief)))
    if dtype not in FORMATS:
        if dtype != "bool":
            rows = [few, few[::-1], [few[-1]] * len(few)]
            yield _rows_case(dtype, "of extremes", mode, rows)
        return
    form = FORMATS[dtype]
    one, nan = decode(form, form.bias << form.mantissa), decode(form, form.nan)
    inf = decode(form, form.largest + form.infinity)
    tiny, large = decode(form, 1), decode(form, form.largest)
    plain = ordinary(dtype, 5, "beside", 0.5, 2)
    rows = [[*plain[:i], x, *plain[i:]] for i in (0, 3, 5) for x in (nan, inf, -inf)]
    yield _rows_case(dtype, "beside a NaN and infinities", mode, rows)
    if mode in ("SUM", "MEAN"):
        both = [[inf, one, -inf], [one, -inf, inf], [inf, inf, one], [-inf, tiny, -inf]]
        yield _rows_case(dtype, "of infinities of both signs", mode, both)
        yield _rows_case(dtype, "of subnormal numbers", mode, [[tiny] * 9, [tiny, -tiny, tiny] * 3])
    if mode == "SUM":
        yield _rows_case(dtype, "that overflows", mode, [[large] * 3, [-large] * 3])
        if dtype in NARROW and dtype != "bfloat16":
            # The partial sum is beyond the dtype, and not beyond float32, in which it is added.
            rows = [[large, large, -large, -large], [-large, -large, large, large]]
            yield _rows_case(dtype, "that overflows on the way", mode, rows)
    if mode == "PROD":
        zero = real(0)
        rows = [[zero, *plain], [*plain, -zero], [large, large, one], [-large, large, large]]
        yield _rows_case(dtype, "with zeros", mode, rows[:2])
        yield _rows_case(dtype, "that overflows", mode, rows[2:])
        small = decode(form, 1 << form.mantissa)
        rows = [[small, small, small], [-tiny, small, one], [small, one, one]]
        yield _rows_case(dtype, "that vanishes", mode, rows)


def _chief(dtype: str) -> list[Value]:
    """Return the numbers of each kind, of both signs."""
    form = FORMATS[dtype]
    sizes = [0, 1, 1 << form.mantissa, form.bias << form.mantissa, form.largest]
    sizes += [form.largest + 1] if form.infinity else []
    found = [decode(form, size) for size in sizes]
    return [*found, *(-x for x in found), decode(form, form.nan)]


def _rows_case(dtype: str, title: str, mode: str, rows: Sequence[Sequence[Value]]) -> Case:
    xs = [x for row in rows for x in row]
    return reduce_case("special", dtype, title, mode, xs, (len(rows), len(rows[0])), [1])


# ---- random values -------------------------------------------------------------------------------


def _random(dtype: str, mode: str, wanted: Wanted) -> Iterator[Case]:
    shape = (4, 6, 5)
    count = math.prod(shape)
    axis = [[0], [1], [2], [0, 2], [1, 2]][Random(f"axis {mode} {dtype}").randrange(5)]
    title = f"along {' '.join(map(str, axis))}"
    seed = (wanted.seed, mode)
    if mode not in ROUNDED or (dtype not in FORMATS and dtype not in PARTS):
        xs = anything(dtype, count, seed)
    else:
        low, high = (0.5, 1.5) if mode == "PROD" else (-100, 100)
        xs = ordinary(dtype, count, seed, low, high)
    yield reduce_case("random", dtype, title, mode, xs, shape, axis)


# ---- large sizes ---------------------------------------------------------------------------------

ROWS = 5
"""The different rows of a matrix."""
LENGTHS_OF_ROWS = (1, 3, 8, 17, 33, 64, 65, 129, 257, 1025, 4097)
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
        if dtype in _LARGEST and not wanted.quick:
            yield _million(dtype, _LARGEST[dtype], sizes.LARGEST)


def small_number(dtype: str, x: int) -> Value:
    """Return a small integer as a value of a dtype; of a complex one, with its negative."""
    if dtype in PARTS:
        return real(x), real(-x)
    return real(x) if dtype in FORMATS else wrap(dtype, x)


def _few(mode: str, dtype: str) -> list[Value]:
    """Return the numbers that rows are made of."""
    if mode[0] == "L" or dtype in ("bool", "uint1"):
        return [small_number(dtype, 0), small_number(dtype, 1)]
    if mode == "PROD":
        return [small_number(dtype, 1), small_number(dtype, 2)] if dtype not in PARTS else [
            (real(1), real(0)), (real(1), real(1))]  # fmt: skip
    return ordinary(dtype, 29, f"few {mode}")


def _row(mode: str, count: int, length: int, k: int) -> list[int]:
    """Return which of a few numbers a row has: all alike but one, or all of them in turn."""
    if count == 2:
        row = [k % 2 if mode != "PROD" else 0] * length
        if k > 1 or mode == "PROD":
            row[Random(f"{length} {k}").randrange(length)] ^= 1
        return row
    return [(j * (k + 1) + k) % count for j in range(length)]


def _of_rows(
    dtype: str, mode: str, rows: Sequence[Sequence[Value]], count: int, title: str
) -> Iterator[Case]:
    """Give matrices of so many rows, and of columns, of some over and over."""
    some = [x for row in rows for x in row]
    small = reduce_case("sizes", dtype, title, mode, some, (len(rows), len(rows[0])), [1])
    yield from sizes.rows_and_columns(small, count, f"{mode} {count} {{word}} {title}")


def _of_lengths(dtype: str, mode: str, wanted: Wanted) -> Iterator[Case]:
    chosen = dtype in ("float32", "int32") and not wanted.quick
    some = LENGTHS_OF_ROWS if chosen else Random(f"{mode} {dtype}").sample(LENGTHS_OF_ROWS[:-1], 2)
    few = _few(mode, dtype)
    for length in some[:1] if wanted.quick else some:
        rows = [[few[i] for i in _row(mode, len(few), length, k)] for k in range(ROWS)]
        yield from _of_rows(dtype, mode, rows, 70 if length < 1000 else 9, f"of {length}")


def _decisive(dtype: str, mode: str) -> Iterator[Case]:
    """Give what decides, the largest, the least or NaN, at every place of a vector."""
    small, large = small_number(dtype, 0), small_number(dtype, 1)
    pair = [small, large] if mode == "MAX" else [large, small]
    decides = {"the best": pair}
    if dtype in FORMATS:
        decides["NaN"] = [small, decode(FORMATS[dtype], FORMATS[dtype].nan)]
    for title, pair in decides.items():
        rows = [[pair[i == j] for j in range(_VECTOR)] for i in range(_VECTOR)]
        yield from _of_rows(dtype, mode, rows, _VECTOR, f"with {title} at every place")


# ---- a million elements --------------------------------------------------------------------------

_LARGE = {
    "float32": ("SUM", "MEAN", "MAX", "MIN", "LAND"),
    "int32": ("SUM", "PROD", "MAX", "BXOR", "BAND", "LXOR"),
    "bool": ("SUM", "LAND", "LOR", "LXOR"),
}


_LARGEST = {"bool": "SUM", "int8": "MIN"}


def _million(dtype: str, mode: str, count: int = sizes.LARGE) -> Case:
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
        truth = real(total / count if mode == "MEAN" else total)
        assert truth.size is not None
        allowed = added_allowed(target, count, truth.size, truth)
        rough = rough_sum(target, count, truth.size)
        return Output(target, (), (truth,), allowed=(allowed,), rough=(rough,))
    # Of all the others, a number twice is as good as none, or as once.
    few = [x for x, n in pairs for _ in range(1 if mode in ("LXOR", "BXOR") and n % 2 else 2)]
    found = reduced(mode, dtype, few, (len(few),), [0])
    assert isinstance(found, tuple)
    (right,) = found
    assert isinstance(right, Output)
    return right


def _fraction(x: Value) -> Fraction:
    return x.value if isinstance(x, Real) else Fraction(x)  # type: ignore[arg-type]
