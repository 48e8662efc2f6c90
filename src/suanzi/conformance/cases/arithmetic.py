"""7.2.4: arithmetic, exact for integers, correctly rounded for floats."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.cases._elementwise import Elementwise, Row, all_cases, call, from_rows
from suanzi.conformance.model.case import Case, Refused
from suanzi.conformance.model.data import anything, ordinary, tensor
from suanzi.conformance.model.numbers import (
    FORMATS,
    NARROW,
    PARTS,
    SIGNED,
    Real,
    Value,
    add,
    exponent_of,
    limits,
    mul,
    unit,
    wrap,
)
from suanzi.conformance.model.operators import exact_binary, exact_unary
from suanzi.conformance.truth.functions import as_real, magnitude, number

Complex = tuple[Real, Real]
_DIVISIONS = ("div", "floordiv", "mod")


@cases_of("add", "sub")
def sums(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give sums and differences; those of complex numbers are those of the parts."""
    facts = Elementwise(op, ("x", "y"), lambda dtype, row: exact_binary(op, dtype, *row))
    return all_cases(facts, wanted)


@cases_of("max", "min")
def extremes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give the larger and the smaller of two; for two zeros, that is undefined."""
    facts = Elementwise(
        op, ("x", "y"), lambda dtype, row: exact_binary(op, dtype, *row), zero_sign=False
    )
    return all_cases(facts, wanted)


# ---- products and quotients ----------------------------------------------------------------------


@cases_of("mul")
def products(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give products."""
    facts = Elementwise(
        op,
        ("x", "y"),
        lambda dtype, row: exact_product(dtype, *row),
        defined=moderate_if_complex,
        random=_moderate_complex,
    )
    return all_cases(facts, wanted)


@cases_of("div", "true_divide", "floordiv", "mod")
def quotients(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give quotients and remainders; an integer divided by zero is an error of the argument."""
    facts = Elementwise(
        op,
        ("x", "y"),
        lambda dtype, row: _quotient(op, dtype, *row),
        defined=_has_a_floor if op == "floordiv" else _divisible,
        ordinary=_divisors,
        random=_moderate_complex,
        # The standard does not say which sign a remainder or a floor of zero has.
        zero_sign=op in ("div", "true_divide"),
        refused=lambda dtype: (1, 0) if op in _DIVISIONS and _is_integer(dtype) else None,
    )
    yield from all_cases(facts, wanted)
    if op in _DIVISIONS:
        yield from _integer_divisions(facts, wanted)


def _integer_divisions(facts: Elementwise, wanted: Wanted) -> Iterator[Case]:
    for dtype in facts.dtypes:
        if dtype in SIGNED and wanted.wants("plain", dtype):
            low, high = limits(dtype)
            signs: list[Row] = [(-7, 2), (7, -2), (-7, -2), (low, 1), (high, -1), (low, low)]
            yield from_rows(facts, "plain", dtype, "signs", signs, wanted)
        if not _is_integer(dtype) or not wanted.wants("special", dtype):
            continue
        values = ordinary(dtype, 6, "divided", low=1)
        for title, divisors in (
            ("a zero among divisors", [1, 2, 3, 0, 5, 6]),
            ("zero by zero", [0] * 6),
        ):
            dividends = values if title.startswith("a zero") else [0] * 6
            arguments = {"x": tensor(dtype, dividends), "y": tensor(dtype, divisors)}
            yield Case(
                facts.op, "special", dtype, title, arguments,
                lambda: Refused(Status.INVALID_ARGUMENT),
            )  # fmt: skip
        yield call(facts, "special", dtype, "no elements by zero", [[], [0]], [(0,), (1,)])
        if dtype in SIGNED:
            # Alone: the machine's own division stops the process.
            title = "the most negative number by minus one"
            yield from_rows(facts, "special", dtype, title, [(limits(dtype)[0], -1)] * 3, wanted)


def _is_integer(dtype: str) -> bool:
    return dtype not in FORMATS and dtype not in PARTS


def _quotient(op: str, dtype: str, x: Value, y: Value) -> Value:
    if isinstance(x, tuple) and isinstance(y, tuple):
        return exact_quotient(x, y)
    return exact_binary(op, dtype, x, y)


def _divisible(dtype: str, row: Row) -> bool:
    if dtype in PARTS:
        return moderate_if_complex(dtype, row) and any(
            not part.is_zero for part in _complex(row[1])
        )
    if dtype in FORMATS:
        return True
    return row[1] != 0 and not (dtype in SIGNED and row == (limits(dtype)[0], -1))


def _has_a_floor(dtype: str, row: Row) -> bool:
    """Leave out infinities: the floor of an infinite or a vanishing quotient has two readings."""
    return _divisible(dtype, row) and not any(isinstance(x, Real) and x.is_infinite for x in row)


def _divisors(dtype: str, count: int, seed: object, operand: int) -> list[Value]:
    values = ordinary(dtype, count, (seed, operand))
    return [3 if operand == 1 and x == 0 else x for x in values]


@cases_of("reciprocal")
def reciprocals(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give reciprocals."""

    def truth(dtype: str, row: Row) -> Value:
        if dtype in PARTS:
            one = (Real(False, Fraction(1)), Real(False, Fraction(0)))
            return exact_quotient(one, _complex(row[0]))
        return exact_unary(op, dtype, row[0])

    facts = Elementwise(
        op, ("x",), truth, defined=lambda d, row: _divisible(d, (*row, *row)),
        random=_moderate_complex,
    )  # fmt: skip
    return all_cases(facts, wanted)


# ---- magnitudes ----------------------------------------------------------------------------------


@cases_of("abs")
def magnitudes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give magnitudes; those of complex numbers are real."""

    def truth(dtype: str, row: Row) -> Value:
        if dtype in PARTS:
            return as_real(magnitude(*(number(part) for part in _complex(row[0]))))
        return exact_unary(op, dtype, row[0])

    facts = Elementwise(op, ("x",), truth, lambda dtype: PARTS.get(dtype, dtype))
    return all_cases(facts, wanted)


# ---- muladd --------------------------------------------------------------------------------------


@cases_of("muladd")
def products_and_sums(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give x * y + a; the product may be rounded on the way, or not."""
    facts = Elementwise(
        op,
        ("x", "y", "a"),
        _muladd,
        allowed=_muladd_error,
        defined=_muladd_stays_finite,
        random=_moderate_complex,
    )
    return all_cases(facts, wanted)


def _muladd(dtype: str, row: Row) -> Value:
    x, y, a = row
    made = exact_product(dtype, x, y)
    if isinstance(made, int):
        assert isinstance(a, int)
        return wrap(dtype, made + a)
    return exact_binary("add", dtype, made, a)


def _muladd_error(dtype: str, row: Row, truth: Value) -> Fraction:
    """Return half a unit of the product and half a unit of the sum of what that became."""
    part = PARTS.get(dtype, dtype)
    total = _size(truth)
    if part not in FORMATS or total is None:
        return Fraction(0)
    form, made = FORMATS[part], _size(exact_product(dtype, row[0], row[1]))
    assert made is not None
    on_the_way = unit(form, made) * (3 if dtype in PARTS else Fraction(1, 2))
    at_the_end = unit(form, total + on_the_way) / 2
    if part in NARROW:  # rounded to float32 first
        at_the_end += unit(FORMATS["float32"], total) / 2
    return on_the_way + at_the_end


def _muladd_stays_finite(dtype: str, row: Row) -> bool:
    """Tell whether it does not matter if a product overflows before the sum."""
    if dtype not in FORMATS:
        return moderate_if_complex(dtype, row)
    x, y, a = (_real(v) for v in row)
    if not x.size or not y.size:
        return True
    top = (FORMATS[dtype].largest >> FORMATS[dtype].mantissa) - FORMATS[dtype].bias
    low = sum(exponent_of(*v.as_integer_ratio()) for v in (x.size, y.size))
    return low + 1 < top or (a.size is not None and a.negative == (x.negative != y.negative))


def _real(x: Value) -> Real:
    assert isinstance(x, Real)
    return x


def _size(x: Value) -> Fraction | None:
    """Return the size of a number or of its larger part; None for what is not finite."""
    if isinstance(x, int):
        return Fraction(abs(x))
    parts = x if isinstance(x, tuple) else (x,)
    sizes = [None if p.is_nan else p.size for p in parts]
    return None if None in sizes else max(s for s in sizes if s is not None)


# ---- complex numbers -----------------------------------------------------------------------------


def exact_product(dtype: str, x: Value, y: Value) -> Value:
    """Return a product, before it is rounded; parts of complex numbers must be finite."""
    if isinstance(x, tuple) and isinstance(y, tuple):
        (a, b), (c, d) = x, y
        return add(mul(a, c), -mul(b, d)), add(mul(a, d), mul(b, c))
    return exact_binary("mul", dtype, x, y)


def exact_quotient(x: Complex, y: Complex) -> Complex:
    """Return a complex quotient of finite numbers, before it is rounded."""
    (a, b), (c, d) = ((p.value for p in z) for z in (x, y))
    norm = c * c + d * d
    found = (a * c + b * d) / norm, (b * c - a * d) / norm
    return Real(found[0] < 0, abs(found[0])), Real(found[1] < 0, abs(found[1]))


def _complex(x: Value) -> Complex:
    assert isinstance(x, tuple)
    return x


def moderate_if_complex(dtype: str, row: Row) -> bool:
    """Tell whether parts of complex numbers are zero or near one.

    What products and quotients of infinities, and of numbers whose squares overflow, come to is
    left to each library: the standard says nothing, and C's Annex G is a recommendation.
    """
    if dtype not in PARTS:
        return True
    least, most = Fraction(1, 16), Fraction(16)
    return all(
        not p.is_nan and p.size is not None and (p.size == 0 or least <= p.size <= most)
        for x in row
        for p in _complex(x)
    )


def _moderate_complex(dtype: str, count: int, seed: object, operand: int) -> list[Value]:
    if dtype in PARTS:
        return ordinary(dtype, count, ("random", seed, operand))
    return anything(dtype, count, (seed, operand))
