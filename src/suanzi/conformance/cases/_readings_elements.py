"""Readings of element-wise interfaces: ties, quotients, domains, infinities, broadcasting."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from suanzi.base.status import Status
from suanzi.conformance.cases import reading
from suanzi.conformance.cases._elementwise import Row, stretched
from suanzi.conformance.cases._readings import either, one_output
from suanzi.conformance.judging.checks.factors import root
from suanzi.conformance.model.case import Case, Expected, Output, Refused
from suanzi.conformance.model.data import values
from suanzi.conformance.model.expected import Cycle, Picked
from suanzi.conformance.model.numbers import FORMATS, NAN, PARTS, Real, Value, convert, real, wrap
from suanzi.conformance.model.operators import BINARY, exact_binary
from suanzi.conformance.subjects.wire import ITEMSIZE, Data
from suanzi.conformance.truth.functions import FUNCTIONS
from suanzi.promote.registry import REGISTRY

_TM, _DM, _IA = Status.TYPE_MISMATCH, Status.DIMENSIONS_MISMATCH, Status.INVALID_ARGUMENT
_BOTH = ("x", "y")
_WITH_DOMAIN = [name for name in FUNCTIONS if REGISTRY[name].domain is not None]


# ---- E86: ties ----------------------------------------------------------------------------------


@reading("round", "rint")
def ties(case: Case, expected: Expected) -> Expected:
    """To even, or away from zero, which is schoolbook rounding."""
    made = one_output(expected)
    x = case.arguments["x"]
    if made is None or case.arguments.get("mode", "TONEAREST") != "TONEAREST":
        return expected
    if x.dtype not in FORMATS:
        return expected
    away = otherwise(case, made, ("x",), _away)
    return either("E86", (made,), (replace(made, truth=away),), throughout=True)


def _away(x: Value) -> Value:
    assert isinstance(x, Real)
    if x.size is None:
        return x
    return Real(x.negative, Fraction(math.floor(x.size + Fraction(1, 2))))


# ---- E72 and E75: quotients ---------------------------------------------------------------------


@reading("div")
def integer_quotients(case: Case, expected: Expected) -> Expected:
    """Towards zero, down, or in floating-point, of 32 or 64 bits."""
    made = one_output(expected)
    if made is None or made.dtype in FORMATS or made.dtype in PARTS:
        return expected
    kind = made.dtype
    floored = otherwise(case, made, _BOTH, lambda x, y: exact_binary("floordiv", kind, x, y))
    down = replace(made, truth=floored)
    exact = otherwise(case, made, _BOTH, lambda x, y: real(Fraction(x, y)))
    # Integers may be rounded before they are divided.
    floats, wide = (
        Output(d, made.shape, exact, ulp=2.0, zero_sign=False) for d in ("float32", "float64")
    )
    return either("E72", (made,), (down,), (floats,), (wide,), throughout=True)


@reading("mod")
def remainders(case: Case, expected: Expected) -> Expected:
    """Of the sign of the divisor, or of the dividend."""
    made = one_output(expected)
    if made is None:
        return expected
    kind = made.dtype
    truth = otherwise(case, made, _BOTH, lambda x, y: _of_the_dividend(kind, x, y))
    return either("E75", (made,), (replace(made, truth=truth),), throughout=True)


def otherwise(
    case: Case, made: Output, names: Sequence[str], way: Callable[..., Value]
) -> tuple[Value, ...] | Picked[Value]:
    """Return another truth; of many elements of few values, it is computed once for each value."""
    operands = [case.arguments[name] for name in names]
    picked = made.truth
    alike = all(isinstance(x, Data) and x.shape == made.shape for x in operands)
    if not isinstance(picked, Picked) or not alike:
        return tuple(way(*row) for row in _rows(operands, made))
    cycle = picked.which.period if isinstance(picked.which, Cycle) else len(picked)
    places: dict[int, int] = {}
    for place in range(min(cycle, len(picked))):
        places.setdefault(picked.which[place], place)
    base = list(picked.base)
    few = [_at(x, list(places.values())) for x in operands]
    for which, row in zip(places, _rows(few, made), strict=True):
        base[which] = way(*row)
    return Picked(tuple(base), picked.which)


def _at(x: Data, places: Sequence[int]) -> Data:
    """Return the elements at some places."""
    size = ITEMSIZE[x.dtype]
    raw = b"".join(x.raw[i * size : (i + 1) * size] for i in places)
    return Data(x.dtype, (len(places),), raw)


def _rows(operands: Sequence[Any], made: Output) -> list[Any]:
    """Return the operands of each element, in the dtype that is computed in."""
    columns: list[list[Value]] = []
    shapes = []
    for x in operands:
        given = values(x) if isinstance(x, Data) else [_value(x)]
        columns.append([convert(v, made.dtype) for v in given])
        shapes.append(x.shape if isinstance(x, Data) else ())
    rows: list[Row] = stretched(columns, shapes)[1]
    return rows


def _value(x: Any) -> Value:
    return real(x) if isinstance(x, float) else int(x)


def _of_the_dividend(dtype: str, x: Value, y: Value) -> Value:
    if isinstance(x, int) and isinstance(y, int):
        rest = abs(x) % abs(y)
        return wrap(dtype, -rest if x < 0 else rest)
    assert isinstance(x, Real)
    assert isinstance(y, Real)
    if x.is_nan or y.is_nan or x.size is None or y.size == 0:
        return NAN
    return x if y.size is None else Real(x.negative, x.size % y.size)


# ---- E90: outside a domain, and at a pole -------------------------------------------------------


@reading(*_WITH_DOMAIN, "asin", "acos", "pow")
def domains(case: Case, expected: Expected) -> Expected:
    """Refused, or what IEEE 754 has: NaN, and infinities at poles."""
    if isinstance(expected, Refused):
        if expected.status is _IA and expected.instead is not None:
            return either("E90", Refused(_IA), expected.instead)
        return expected
    made = one_output(expected)
    if made is None:
        return expected
    few = made.truth.base if isinstance(made.truth, Picked) else made.truth
    if all(isinstance(y, Real) and y.size is not None for y in few):
        return expected
    if not any(_has_none(case, i, y) for i, y in enumerate(made.truth)):
        return expected
    return either("E90", Refused(_IA), (made,))


def _has_none(case: Case, i: int, y: Value) -> bool:
    """Tell whether a result is no number, though the operands were."""
    assert isinstance(y, Real)
    if y.size is not None:
        return False
    given = [values(case.arguments[n]) for n in ("x", "e") if n in case.arguments]
    if any(len(one) not in (1, len(given[0])) for one in given):
        return False
    row = [one[i] if len(one) > 1 else one[0] for one in given]
    plain = [real(x) if isinstance(x, int) else x for x in row]
    if any(isinstance(x, Real) and x.is_nan for x in plain):
        return False
    return y.is_nan or all(isinstance(x, Real) and x.size is not None for x in plain)


# ---- statuses -----------------------------------------------------------------------------------


_TIED_TO_SHAPES = frozenset({"true_divide", "allclose"})
"""Whose clauses name INVALID_ARGUMENT for shapes."""


@reading(*BINARY, "muladd")
def shapes_that_differ(case: Case, expected: Expected) -> Expected:
    """Where no fitting status is listed, that for shapes or that for arguments."""
    if not isinstance(expected, Refused) or case.op in _TIED_TO_SHAPES:
        return expected
    given = [x for x in case.arguments.values() if isinstance(x, Data)]
    if expected.status not in (_DM, _IA) or any(x.layout == "destroyed" for x in given):
        return expected
    if not any(x.shape == (7,) for x in given):
        return expected
    return either("E09", Refused(_DM), Refused(_IA))


@reading("pow")
def broadcast_powers(case: Case, expected: Expected) -> Expected:
    """Broadcast as everything is by 5.4, or refused, since the clause wants equal shapes."""
    x, e = case.arguments["x"], case.arguments["e"]
    differ = isinstance(x, Data) and isinstance(e, Data) and x.shape != e.shape
    if not differ or isinstance(expected, Refused):
        return expected
    assert isinstance(expected, tuple)
    return either("E84", expected, Refused(_DM))


@reading("sign")
def signs(case: Case, expected: Expected) -> Expected:
    """Of complex numbers and bool: refused, or x / abs(x) and the value itself."""
    x = case.arguments["input"]
    if not isinstance(expected, Refused) or not isinstance(x, Data) or x.layout == "destroyed":
        return expected
    refused = Refused(_IA, others=(_TM,))
    if x.dtype == "bool":
        return either("E67", refused, (Output("bool", x.shape, tuple(values(x))),))
    if x.dtype not in PARTS:
        return expected
    truth = tuple(_direction(z) for z in values(x))
    near = (Fraction(1, 2**20),) * len(truth)
    return either("E67", refused, (Output(x.dtype, x.shape, truth, allowed=near),))


def _direction(z: Value) -> Value:
    assert isinstance(z, tuple)
    length = root(z[0].value ** 2 + z[1].value ** 2) or Fraction(1)
    return real(z[0].value / length), real(z[1].value / length)


# ---- E139: closeness of infinities --------------------------------------------------------------


@reading("allclose")
def infinities(case: Case, expected: Expected) -> Expected:
    """NumPy's answer, or that of the formula."""
    made = one_output(expected)
    if made is None or case.group != "special":
        return expected
    x, y = (list(map(_number, values(case.arguments[name]))) for name in ("x", "y"))
    if not any(map(_infinite, [*x, *y])):
        return expected
    rtol, atol = (case.arguments.get(n, d) for n, d in (("rtol", 1e-5), ("atol", 1e-8)))
    nan = case.arguments.get("equal_nan", False)
    near = all(
        abs(a - b) <= atol + rtol * abs(b) or (nan and a != a and b != b)
        for a, b in zip(x, y, strict=True)
    )
    return either("E139", (made,), (replace(made, truth=(int(near),)),), throughout=True)


def _infinite(z: complex) -> bool:
    return math.isinf(z.real) or math.isinf(z.imag)


def _number(x: Value) -> complex:
    if isinstance(x, tuple):
        return complex(_float(x[0]), _float(x[1]))
    return complex(_float(x)) if isinstance(x, Real) else complex(x)


def _float(x: Real) -> float:
    size = math.nan if x.is_nan else math.inf if x.size is None else float(x.size)
    return -size if x.negative else size
