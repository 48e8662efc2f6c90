"""Cases made of calls: a file lists the calls of an operator, and data classes fill them.

The truth and the bound of every case come from the operator's definition in `suanzi.truth`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from suanzi.base.hints import nearest
from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.model.case import GROUPS, Case, Expected, Output
from suanzi.conformance.model.data import LAYOUTS, numbers, ordinary, tensor
from suanzi.conformance.model.numbers import FORMATS, NARROW, Value, decode, real, spacing
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth.functions import fraction
from suanzi.truth import definition
from suanzi.truth.tracked import Tracked, arithmetic, tracked


@dataclass(frozen=True)
class Operand:
    """A tensor of a call: its shape, and what its elements are."""

    shape: tuple[int, ...]
    low: float = -4.0
    high: float = 4.0
    """Between which ordinary elements lie; also of the other data classes, where they can."""
    values: tuple[float, ...] | None = None
    """Its elements in every case, as indices and masks have them."""
    dtype: str | None = None
    """Its dtype, if not that of the case."""


@dataclass(frozen=True)
class Call:
    """A call: operands and parameters by name, in a group, with a title."""

    title: str
    arguments: Mapping[str, Any]
    """`Operand`s, lists of them, and everything else as it is given."""
    group: str = "plain"
    classes: tuple[str, ...] | None = None
    """The data classes that fill it; None: those of the operator."""
    dtypes: tuple[str, ...] | None = None
    """Only these; None: all of the operator's."""
    quick: bool = True
    """Whether it is in quick runs."""

    def __post_init__(self) -> None:
        """Raise for a group or a data class that the kit does not have: no run would have it."""
        found = [("data class", name, CLASSES) for name in self.classes or ()]
        for what, name, names in (("group", self.group, GROUPS), *found):
            if name not in names:
                raise ValueError(
                    f"the call {self.title!r} has the {what} {name!r}; there are "
                    f"{', '.join(names)}.{nearest(name, names)}"
                )


Fill = Callable[[str, Operand, Random], list[Value]]


def _ordinary(dtype: str, operand: Operand, random: Random) -> list[Value]:
    count = math.prod(operand.shape)
    return ordinary(dtype, count, random.random(), operand.low, operand.high)


def _whole(dtype: str, operand: Operand, random: Random) -> list[Value]:
    """Small whole numbers: sums and products of them are exact in any order."""
    low, high = math.ceil(operand.low), math.floor(min(operand.high, 3))
    return [real(random.randint(max(low, -3), high)) for _ in range(math.prod(operand.shape))]


def _wide(dtype: str, operand: Operand, random: Random) -> list[Value]:
    """Numbers of many magnitudes."""
    form = FORMATS[dtype]
    least = max(-12, 2 - form.bias)
    most = min(6, form.bias - 1)
    found = []
    for _ in range(math.prod(operand.shape)):
        x = math.ldexp(random.uniform(1, 2), random.randint(least, most))
        found.append(real(-x if operand.low < 0 and random.random() < 0.5 else x))
    return list(found)


def _constant(dtype: str, operand: Operand, random: Random) -> list[Value]:
    return ordinary(dtype, 1, random.random(), operand.low, operand.high) * math.prod(operand.shape)


def _outlier(dtype: str, operand: Operand, random: Random) -> list[Value]:
    """Ordinary numbers, and one in sixteen a thousand times as large where the dtype has it."""
    found = _ordinary(dtype, operand, random)
    most = Fraction(decode(FORMATS[dtype], FORMATS[dtype].largest).value)
    for i in range(random.randrange(16), len(found), 16):
        x = found[i]
        assert not isinstance(x, int | tuple)
        found[i] = real(max(min(x.value * 1000, most / 4), -most / 4))
    return found


def _special(dtype: str, operand: Operand, random: Random) -> list[Value]:
    """Ordinary numbers, and a NaN, an infinity or a zero at some of every three rows."""
    found = _ordinary(dtype, operand, random)
    form, last = FORMATS[dtype], operand.shape[-1] if operand.shape else 1
    some = [math.nan, -0.0, *([math.inf, -math.inf] if form.infinity else [])]
    for row in range(0, len(found) // max(last, 1), 2):
        found[row * last + random.randrange(last)] = real(some[row // 2 % len(some)])
    return found


CLASSES: Mapping[str, tuple[str, Fill]] = {
    "ordinary": ("plain", _ordinary),
    "whole numbers": ("plain", _whole),
    "many magnitudes": ("random", _wide),
    "constant": ("plain", _constant),
    "outliers": ("random", _outlier),
    "special values": ("special", _special),
}
"""What fills the operands of a call, by the name in a title: the group, and the function."""


CALLS: dict[str, tuple[Sequence[Call], Sequence[str]]] = {}
"""The declared calls by operator, and their data classes."""
STORED: dict[str, Callable[[Mapping[str, Any]], Sequence[str]]] = {}
"""By operator, the dtypes of outputs that its arguments name, where they are not the case's."""
GRID = " exactly"
"""After the dtype of an output whose truth is rounded: an error says that it may be another one."""
_EXACT_ELEMENTS = 1000
"""Up to so many elements of inputs the truth has all digits; float64 does for the others."""


def declare(op: str, calls: Sequence[Call], classes: Sequence[str] = ("ordinary",)) -> None:
    """Declare the calls of an operator, by its key, and the data classes that fill them."""
    CALLS[op] = calls, classes

    @cases_of(op)
    def make(name: str, wanted: Wanted) -> Iterator[Case]:
        for dtype in dtypes_of(name):
            for call in calls:
                if (call.dtypes and dtype not in call.dtypes) or (wanted.quick and not call.quick):
                    continue
                yield from _filled(name, dtype, call, call.classes or tuple(classes), wanted)
            first = next((c for c in calls if c.group == "plain"), None)
            if first and wanted.wants("strided", dtype):
                for layout in LAYOUTS:
                    yield case_of(name, dtype, replace(first, group="strided"), "ordinary", layout)


def _filled(
    op: str, dtype: str, call: Call, classes: Sequence[str], wanted: Wanted
) -> Iterator[Case]:
    for name in classes:
        group = CLASSES[name][0] if call.group == "plain" else call.group
        if wanted.wants(group, dtype):
            yield case_of(op, dtype, replace(call, group=group), name)


def case_of(
    op: str,
    dtype: str,
    call: Call,
    data_class: str,
    layout: str = "dense",
    accumulate: str | None = None,
) -> Case:
    """Return the case of a call, filled by a data class."""
    random = Random(f"{op} {dtype} {call.title} {data_class}")
    fill = CLASSES[data_class][1]

    def made(x: Any) -> Any:
        if isinstance(x, list | tuple) and any(isinstance(one, Operand) for one in x):
            return [made(one) for one in x]
        if not isinstance(x, Operand):
            return x
        of = x.dtype or dtype
        given: list[Value]
        if x.values is not None:
            given = [int(v) if of not in FORMATS else real(float(v)) for v in x.values]
        else:
            given = fill(of, x, random) if of in FORMATS else _integers(of, x, random)
        return tensor(of, given, x.shape, layout)

    arguments = {name: made(x) for name, x in call.arguments.items()}
    title = call.title + ("" if data_class == "ordinary" else f", {data_class}")
    title += "" if layout == "dense" else f", {layout}"

    def expect() -> Expected:
        return expected(op, dtype, arguments, accumulate)

    return Case(op, call.group, dtype, title, arguments, expect)


def _integers(dtype: str, operand: Operand, random: Random) -> list[Value]:
    low, high = (0, 1) if dtype == "bool" else (math.ceil(operand.low), math.floor(operand.high))
    return [random.randint(low, high) for _ in range(math.prod(operand.shape))]


# ---- what is expected ----------------------------------------------------------------------------


def expected(
    op: str, dtype: str, arguments: Mapping[str, Any], accumulate: str | None = None
) -> Expected:
    """Return the outputs of a call by its definition, with the bound of a careful computation.

    Floats narrower than float32 are computed in float32 and rounded once, or as `accumulate` says.
    """
    name = accumulate or ("float64" if dtype == "float64" else "float32")
    size = sum(x.size for x in arguments.values() if isinstance(x, Data))
    with arithmetic(name, exact=name == "float64" or size <= _EXACT_ELEMENTS):
        made = definition(op)(**{name: _argument(x) for name, x in arguments.items()})
        outputs = made if isinstance(made, tuple) else (made,)
        names = STORED[op](arguments) if op in STORED else [dtype] * len(outputs)
        return tuple(
            _stored(one, name.removesuffix(GRID)) if name.endswith(GRID) else _output(one, name)
            for one, name in zip(outputs, names, strict=True)
        )


def _argument(x: Any) -> Any:
    if isinstance(x, list) and x and isinstance(x[0], Data):
        return [_argument(one) for one in x]
    if not isinstance(x, Data):
        return x
    found = numbers(x)
    if x.dtype in FORMATS:
        return tracked(np.array(found, dtype=np.float64).reshape(x.shape))
    return np.array(found, dtype=bool if x.dtype == "bool" else np.int64).reshape(x.shape)


def _output(made: Any, dtype: str) -> Output:
    if not isinstance(made, Tracked):
        whole = np.asarray(made)
        name = "bool" if whole.dtype == bool else "int64"
        return Output(name, whole.shape, tuple(int(x) for x in whole.ravel()))
    form = FORMATS[dtype]
    truth = [_real(x) for x in made.value.ravel()]
    errors = made.error.ravel().tolist()
    allowed, free = [], []
    for i, (x, error) in enumerate(zip(truth, errors, strict=True)):
        if not math.isfinite(error):
            free.append(i)
            error = 0.0
        most = Fraction(error)
        if dtype in NARROW and x.size is not None and not x.is_nan:
            most += Fraction(2) ** spacing(form, x.size + most) / 2
        allowed.append(most)
    return Output(
        dtype, made.shape, tuple(truth), allowed=tuple(allowed), free=tuple(free), zero_sign=False
    )


def _stored(made: Tracked, dtype: str) -> Output:
    """Return numbers of a dtype, free where the error of a quotient decides which it is."""
    flat = made.value.ravel()
    truth = [_real(x) if dtype in FORMATS else int(x) for x in flat]
    free = tuple(np.flatnonzero(made.error.ravel()).tolist())
    return Output(dtype, made.shape, tuple(truth), free=free, zero_sign=False)


def _real(x: Any) -> Any:
    if isinstance(x, float) or not x or math.isinf(x) or math.isnan(x):
        return real(float(x))
    return real(fraction(x))
