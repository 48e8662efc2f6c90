"""Readings of places where the text is silent: dtypes of results, ends of ranges, order in memory.

Each rule adds the alternatives of one erratum; where a case falls under several errata, each
alternative of the first gets those of the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from suanzi.base.status import Status
from suanzi.conformance.cases import reading
from suanzi.conformance.cases._readings import among, either, names_of, one_output
from suanzi.conformance.cases._readings_elements import otherwise
from suanzi.conformance.model.case import Case, Check, Expected, Output, Refused
from suanzi.conformance.model.data import values
from suanzi.conformance.model.expected import Picked
from suanzi.conformance.model.numbers import FORMATS, PARTS, Real, Value, limits, real
from suanzi.conformance.model.unusual import is_whole, tensors
from suanzi.conformance.subjects.wire import Data
from suanzi.promote.operators import OPERATORS
from suanzi.standard import interfaces

_TM, _DM, _IA = Status.TYPE_MISMATCH, Status.DIMENSIONS_MISMATCH, Status.INVALID_ARGUMENT
_OR = Status.OUT_OF_RANGE
_BY_TYPE = Refused(_TM, others=(_IA,))
_BY_ARGUMENT = Refused(_IA, others=(_TM, _DM, _OR))
_FEW = 1 << 14
Shape = tuple[int, ...]
Index = tuple[int, ...]


def _tensor(case: Case, name: str = "input") -> Data | None:
    x = case.arguments.get(name)
    return x if isinstance(x, Data) and x.layout != "destroyed" else None


# ---- E10, E87, E11, E147: dtypes that an interface takes -----------------------------------------


@reading(*(name for name in OPERATORS if name in interfaces()))
def promotion(case: Case, expected: Expected) -> Expected:
    """Where only equal dtypes are allowed: refused, or promoted by whichever rules."""
    if case.group != "promotion" or case.rules != "strict" or not isinstance(expected, Refused):
        return expected
    erratum = "E10" if len(list(tensors(case.arguments))) > 1 else "E87"
    return either(erratum, expected, Check("promoted", {"op": case.op}))


_FLOATING = (
    "add sub mul muladd div true_divide reciprocal trace equal not_equal allclose logical_and "
    "logical_or logical_not logical_xor cumsum cumsum_bwd nonzero"
).split()


@reading(*_FLOATING)
def complex_numbers(case: Case, expected: Expected) -> Expected:
    """Floating-point with complex numbers among them, or of real numbers alone."""
    if isinstance(expected, Refused) or case.group in ("promotion", "status"):
        return expected
    if not any(x.dtype in PARTS for _, x in tensors(case.arguments)):
        return expected
    assert isinstance(expected, tuple | Check)
    return either("E11", expected, _BY_TYPE)


@reading("conj", "imag", "real")
def parts_of_integers(case: Case, expected: Expected) -> Expected:
    """Integers and bools as real numbers, or refused."""
    x = _tensor(case)
    if x is None or isinstance(expected, Refused) or x.dtype in FORMATS or x.dtype in PARTS:
        return expected
    assert isinstance(expected, tuple | Check)
    return either("E147", expected, _BY_TYPE)


# ---- dtypes of results ---------------------------------------------------------------------------


@reading("argsort", "topk", "nonzero")
def dtypes_of_indices(case: Case, expected: Expected) -> Expected:
    """Of integers with 32 or 64 bits."""
    if not isinstance(expected, tuple | Check):
        return expected
    found = (_with_indices(case.op, expected, name) for name in names_of("E145"))
    return either("E145", *found)


def _with_indices(op: str, expected: Any, dtype: str) -> Any:
    """Return what is expected, with indices of a dtype."""
    if isinstance(expected, Check):
        if "outputs" not in expected.facts:
            return expected
        outputs = _with_indices(op, tuple(expected.facts["outputs"]), dtype)
        return replace(expected, facts={**expected.facts, "outputs": outputs})
    if op == "nonzero":
        return tuple(_of_dtype(one, dtype) for one in expected)
    return expected[0], *(_of_dtype(one, dtype) for one in expected[1:])


def _of_dtype(expected: Any, dtype: str) -> Any:
    if isinstance(expected, list | tuple):
        return type(expected)(_of_dtype(one, dtype) for one in expected)
    return replace(expected, dtype=dtype) if isinstance(expected, Output) else expected


@reading("true_divide", "reciprocal")
def quotients_of_integers(case: Case, expected: Expected) -> Expected:
    """In floating-point of 32 or 64 bits."""
    made, x = one_output(expected), _tensor(case, "x")
    if made is None or x is None or case.group == "promotion" or not is_whole(x.dtype):
        return expected
    names = ("x", "y") if case.op == "true_divide" else ("x",)
    divisor = _tensor(case, names[-1])
    if made.dtype != "float32" or divisor is None or 0 in values(divisor):
        return expected
    exact = otherwise(case, replace(made, dtype=x.dtype), names, _quotient)
    answers = (replace(made, dtype=name, truth=exact, ulp=2.0) for name in names_of("E74"))
    return either("E74", *((one,) for one in answers))


def _quotient(x: int, y: int | None = None) -> Value:
    return real(Fraction(1, x) if y is None else Fraction(x, y))


_LOGICAL = ("LAND", "LOR", "LXOR")


@reading("reduce")
def dtypes_of_reductions(case: Case, expected: Expected) -> Expected:
    """Of integers: the dtype itself, a wider one, floating-point, or refused."""
    x, mode, made = _tensor(case), case.arguments.get("mode", "SUM"), one_output(expected)
    if x is None or made is None:
        if isinstance(expected, Refused) and mode == "MEAN":  # of no elements: either will do
            return replace(expected, others=(*expected.others, _TM))
        return expected
    if mode in _LOGICAL:
        own = replace(made, dtype=x.dtype, truth=_as_numbers(made.truth, x.dtype))
        return among("E92", {"bool": (made,), "its dtype": (own,)})
    if x.dtype != "bool" and not is_whole(x.dtype):
        return expected
    if mode == "MEAN":
        whole = None
        if is_whole(x.dtype) and not isinstance(made.truth, Picked):
            near = (Fraction(999, 1000),) * len(made.truth)
            whole = (replace(made, dtype=x.dtype, ulp=None, allowed=near, rough=None),)
        wide = (replace(made, dtype="float64"),)
        return among("E92", {"floating-point": (made,), "floating-point of 64 bits": wide,
                             "its dtype": whole, "refused": _BY_TYPE})  # fmt: skip
    if mode not in ("SUM", "PROD"):
        return expected
    sign = "u" if x.dtype.startswith("u") else ""
    wider = {"64 bits": f"{sign}int64", "64 bits, signed": "int64"}
    if x.dtype[-2:] not in ("32", "64"):
        wider["32 bits"] = f"{sign}int32"
    same = {"its dtype": x.dtype} if is_whole(x.dtype) else {}
    return among("E92", {n: (replace(made, dtype=d),) for n, d in {**same, **wider}.items()})


def _as_numbers(truth: Any, dtype: str) -> Any:
    if isinstance(truth, Picked):
        return Picked(_as_numbers(truth.base, dtype), truth.which)
    if dtype in PARTS:
        return tuple((real(x), real(0)) for x in truth)
    return tuple(real(x) for x in truth) if dtype in FORMATS else truth


@reading("cast")
def floats_to_integers(case: Case, expected: Expected) -> Expected:
    """Towards zero, to nearest with either kind of ties, or down."""
    made, x = one_output(expected), _tensor(case)
    if made is None or x is None or not is_whole(made.dtype):
        return expected
    if x.dtype not in FORMATS and x.dtype not in PARTS:
        return expected
    if isinstance(made.truth, Picked) and made.truth.base and _has_no_integer(x, made.dtype):
        # Nothing is required of what has no integer, wherever it is.
        free = [i for i, v in enumerate(values(x)) if _whole(v, math.trunc, made.dtype) is None]
        made = replace(made, truth=tuple(made.truth), free=tuple(free))
    like = replace(made, dtype=x.dtype)

    def answer(way: Callable[[Fraction], int]) -> tuple[Output]:
        truth = otherwise(case, like, ("input",), lambda v: _whole(v, way, made.dtype) or 0)
        return (replace(made, truth=truth),)

    others = (answer(round), answer(_away), answer(math.floor))
    return either("E45", (made,), *others, throughout=True)


def _has_no_integer(x: Data, dtype: str) -> bool:
    return x.size <= _FEW and any(_whole(v, math.trunc, dtype) is None for v in values(x))


def _whole(x: Value, way: Callable[[Fraction], int], dtype: str) -> int | None:
    """Return the integer of a number; None for NaN and what is out of range."""
    first = x[0] if isinstance(x, tuple) else x
    if not isinstance(first, Real) or first.size is None or first.is_nan:
        return None
    low, high = limits(dtype)
    found = way(first.value)
    return found if low <= found <= high else None


def _away(x: Fraction) -> int:
    return int(math.copysign(1, x)) * math.floor(abs(x) + Fraction(1, 2))


# ---- shapes of results ---------------------------------------------------------------------------


@reading("is_finite", "is_inf", "is_nan")
def one_flag(case: Case, expected: Expected) -> Expected:
    """One answer for each element, as the table has it, or one for all, as the text has it."""
    made = one_output(expected)
    if made is None or not made.truth:
        return expected
    each = made.truth.base if isinstance(made.truth, Picked) else made.truth
    flag = all(each) if case.op == "is_finite" else any(each)
    alone = replace(made, shape=(1,), truth=(int(flag),))
    return either("E41" if case.op == "is_finite" else "E42", (made,), (alone,), throughout=True)


@reading("allclose")
def shapes_of_closeness(case: Case, expected: Expected) -> Expected:
    """Of shape [1] or without axes."""
    made = one_output(expected)
    return expected if made is None else either("E81", (made,), (replace(made, shape=()),))


@reading("nonzero")
def rows_or_columns(case: Case, expected: Expected) -> Expected:
    """Coordinates of an element in a row, or in a column."""
    made = one_output(expected)
    if made is None or case.arguments.get("as_tuple", True) or len(made.shape) != 2:
        return expected
    n, k = made.shape
    turned = tuple(made.truth[i * k + j] for j in range(k) for i in range(n))
    columns = replace(made, shape=(k, n), truth=turned)
    return either("E102", (made,), (columns,), throughout=True)


@reading("fft_r2c", "fft_c2r")
def lengths_of_transforms(case: Case, expected: Expected) -> Expected:
    """By the parameters, or the shape of the input, as the table has it."""
    made, x = one_output(expected), _tensor(case)
    if made is None or x is None or made.shape == x.shape:
        return expected
    alike = Check("has_shape", {"dtype": made.dtype, "shape": x.shape})
    return either("E108", (made,), (alike,), throughout=True)


@reading("range")
def ends_of_ranges(case: Case, expected: Expected) -> Expected:
    """With the limit, or without it."""
    made, limit, step = (one_output(expected), *map(case.arguments.get, ("limit", "step")))
    if made is None or not made.truth or limit is None or not step:
        return expected
    *others, last = made.truth
    if abs(_complex(last) - complex(limit)) >= abs(step) / 2:
        return expected
    allowed = None if made.allowed is None else tuple(made.allowed)[:-1]
    shorter = replace(made, shape=(len(others),), truth=tuple(others), allowed=allowed)
    return either("E33", (made,), (shorter,), throughout=True)


def _complex(x: Value) -> complex:
    if isinstance(x, tuple):
        return complex(float(x[0].value), float(x[1].value))
    return complex(float(x.value) if isinstance(x, Real) else x)


@reading("expand_dims", "stack")
def axes_behind_the_last(case: Case, expected: Expected) -> Expected:
    """A new axis behind the last one, or refused, as that is outside the input."""
    x = case.arguments.get("input") or (case.arguments.get("input_lists") or [None])[0]
    if not isinstance(x, Data) or not isinstance(expected, tuple):
        return expected
    if case.arguments.get("axis") != len(x.shape):
        return expected
    return either("E46" if case.op == "expand_dims" else "E51", expected,
                  Refused(_OR, others=(_IA,)))  # fmt: skip


@reading("split")
def sums_of_sizes(case: Case, expected: Expected) -> Expected:
    """Sizes that add up to that of the axis, or refused, as they do not add up to all elements."""
    x, sizes = _tensor(case), case.arguments.get("split_sizes")
    if x is None or not sizes or not isinstance(expected, tuple) or sum(sizes) == x.size:
        return expected
    return either("E49", expected, _BY_ARGUMENT, throughout=True)


# ---- order and choice of elements ----------------------------------------------------------------


@reading("flatten")
def ends_of_flattening(case: Case, expected: Expected) -> Expected:
    """With the axis where it stops, or up to it."""
    made, x = one_output(expected), _tensor(case)
    start, stop = (case.arguments.get(name) for name in ("start_axis", "stop_axis"))
    if made is None or x is None or not isinstance(start, int) or not isinstance(stop, int):
        return expected
    first, end = start % len(x.shape), stop % len(x.shape)
    if end <= first:
        return expected
    middle = math.prod(x.shape[first:end])
    other = replace(made, shape=(*x.shape[:first], middle, *x.shape[end:]), min2maj=None)
    return either("E65", (made,), (other,), throughout=True)


@reading("reshape")
def order_of_reshaping(case: Case, expected: Expected) -> Expected:
    """In row-major order always, or in the order in which elements lie in memory."""
    made, x = one_output(expected), _tensor(case)
    if made is None or x is None or isinstance(made.truth, Picked):
        return expected
    order = tuple(range(len(x.shape))) if x.layout == "columns" else x.min2maj
    if order is None:
        return expected
    given, strides, places = values(x), _strides(x.shape), [0]
    for axis in reversed(order):
        places = [p + i * strides[axis] for p in places for i in range(x.shape[axis])]
    read = tuple(given[p] for p in places)
    return either("E20", (made,), (replace(made, truth=read, min2maj=None),))


def _strides(shape: Shape) -> list[int]:
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


def _picked_from(x: Data, shape: Shape, where: Callable[[Index], Index]) -> tuple[Value, ...]:
    """Return the elements of a tensor that a result of a shape has, each at an index of it."""
    given, strides = values(x), _strides(x.shape)
    return tuple(
        given[sum(i * s for i, s in zip(where(index), strides, strict=True))]
        for index in product(*map(range, shape))
    )


@reading("slice")
def sizes_of_slices(case: Case, expected: Expected) -> Expected:
    """The size counts the indices that are passed over, or the elements of the result."""
    made, x = one_output(expected), _tensor(case)
    begin, size, step = (tuple(case.arguments.get(n) or ()) for n in ("begin", "size", "step"))
    if made is None or x is None or all(n == 1 for n in step) or 0 in size:
        return expected
    ends = (b + (n - 1) * s for b, n, s in zip(begin, size, step, strict=True))
    if any(end >= n for end, n in zip(ends, x.shape, strict=True)):
        return either("E53", (made,), Refused(_OR, others=(_IA,)))
    truth = _picked_from(
        x, size, lambda at: tuple(b + i * s for b, i, s in zip(begin, at, step, strict=True))
    )
    return either("E53", (made,), (replace(made, shape=size, truth=truth),))


@reading("pad")
def edges_of_mirrors(case: Case, expected: Expected) -> Expected:
    """Mirrored with the edge or without it."""
    made, x = one_output(expected), _tensor(case)
    if made is None or x is None or case.arguments.get("pad_mode") != "PAD_MIRROR":
        return expected
    if isinstance(made.truth, Picked):
        return expected
    before = list(_flat(case.arguments["pad_width"]))[::2]
    if any(n < 2 for n in x.shape):
        return either("E56", (made,), _BY_ARGUMENT)

    def at(index: Index) -> Index:
        places = zip(index, before, x.shape, strict=True)
        return tuple(_mirrored(i - b, n) for i, b, n in places)

    truth = _picked_from(x, made.shape, at)
    return either("E56", (made,), (replace(made, truth=truth),))


def _mirrored(i: int, n: int) -> int:
    """Return the index of an element that is mirrored without the edges, as often as needed."""
    i %= 2 * n - 2
    return i if i < n else 2 * n - 2 - i


def _flat(widths: Sequence[Any]) -> Iterator[int]:
    for one in widths:
        yield from one if isinstance(one, list | tuple) else [one]


@reading("is_contiguous", "contiguous")
def contiguity(case: Case, expected: Expected) -> Expected:
    """In row-major order and without gaps, or without gaps in any order."""
    x = _tensor(case)
    if x is None or not isinstance(expected, tuple):
        return expected
    if x.layout != "columns" and x.min2maj is None:
        return expected
    if case.op == "is_contiguous":
        return either("E21", expected, (True,))
    made = one_output(expected)
    return expected if made is None else either("E21", (made,), (replace(made, min2maj=None),))
