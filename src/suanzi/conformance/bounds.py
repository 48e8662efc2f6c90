"""The error bounds of an operator at typical calls, as its definition gives them.

>>> first = typical_bounds("nn:softmax")[0]
>>> first.title, first.ulp["bfloat16"][0] < 0.51
('rows of 7', True)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.numbers import FORMATS, Real, spacing

DTYPES = ("bfloat16", "float16", "float32", "float64")
_LARGEST = 1000
"""Elements of the operands of the largest call; more take seconds."""


@dataclass(frozen=True)
class Typical:
    """The bounds of one call."""

    title: str
    ulp: Mapping[str, tuple[float, float]]
    """By dtype: the median of all elements and the largest, in units in the last place."""

    def __str__(self) -> str:
        each = (f"{name} {_short(a)} to {_short(b)}" for name, (a, b) in self.ulp.items())
        return f"{self.title}: {', '.join(each)}"


def typical_bounds(op: str) -> list[Typical]:
    """Return the bounds of the first ordinary call, and of the longest that is quick to compute.

    An operator of the standard, whose bound is a number of its record, has none here.
    """
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for dtype in DTYPES:
        wanted = Wanted(groups=frozenset({"plain", "sizes"}), dtypes=frozenset({dtype}))
        some = [case for case in cases(op, wanted) if case.skip is None and _size(case) <= _LARGEST]
        plain = [case for case in some if case.group == "plain"][:1]
        sizes = sorted((case for case in some if case.group == "sizes"), key=_size)[-1:]
        for case in plain + sizes:
            if ulps := list(_ulps(case)):
                found.setdefault(case.title, {})[dtype] = median(ulps), max(ulps)
    return [Typical(title, ulp) for title, ulp in found.items()]


def _size(case: Case) -> int:
    return sum(getattr(x, "size", 0) for x in case.arguments.values())


def _ulps(case: Case) -> Iterator[float]:
    expected = case.expect()
    for output in expected if isinstance(expected, tuple) else ():
        if not isinstance(output, Output) or output.allowed is None:
            continue
        form = FORMATS.get(output.dtype)
        for i, (x, most) in enumerate(zip(output.truth, output.allowed, strict=True)):
            if form is None or i in output.free or not isinstance(x, Real):
                continue
            if x.size and not x.is_nan:
                yield float(most / Fraction(2) ** spacing(form, x.size))


def _short(x: float) -> str:
    if not math.isfinite(x):
        return "any"
    return f"{x:.3g}" if x < 1000 else f"{x:.0e}"
