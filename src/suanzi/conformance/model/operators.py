"""Operators on exact values, real, complex or whole, by their names."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from suanzi.conformance.model.numbers import (
    WHOLE,
    ZERO,
    Real,
    Value,
    add,
    div,
    equal,
    floordiv,
    less,
    maximum,
    minimum,
    mod,
    mul,
    real,
    store,
    sub,
    to_whole,
    truth,
    wrap,
)


def integer_div(a: int, b: int) -> int:
    """The quotient rounded towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_REAL: dict[str, Callable[[Real, Real], Real]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": div,
    "true_divide": div,
    "floordiv": floordiv,
    "mod": mod,
    "max": maximum,
    "min": minimum,
}
_INTEGER: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": integer_div,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "max": max,
    "min": min,
    "bitwise_and": lambda a, b: a & b,
    "bitwise_or": lambda a, b: a | b,
    "bitwise_xor": lambda a, b: a ^ b,
}


def _equal(a: Value, b: Value) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return equal(a[0], b[0]) and equal(a[1], b[1])
    return equal(_as_real(a), _as_real(b))


def _less(a: Value, b: Value) -> bool:
    return less(_as_real(a), _as_real(b))


_COMPARISON: dict[str, Callable[[Value, Value], bool]] = {
    "equal": _equal,
    "not_equal": lambda a, b: not _equal(a, b),
    "greater": lambda a, b: _less(b, a),
    "greater_equal": lambda a, b: _less(b, a) or _equal(a, b),
    "less": _less,
    "less_equal": lambda a, b: _less(a, b) or _equal(a, b),
}


def _as_real(x: Value) -> Real:
    assert not isinstance(x, tuple)
    return real(x) if isinstance(x, int) else x


_LOGICAL: dict[str, Callable[[bool, bool], bool]] = {
    "logical_and": lambda a, b: a and b,
    "logical_or": lambda a, b: a or b,
    "logical_xor": lambda a, b: a != b,
}


BINARY = tuple(dict.fromkeys([*_REAL, *_INTEGER, *_COMPARISON, *_LOGICAL]))
"""The operators of two operands whose values are known here."""


def exact_binary(op: str, name: str, a: Value, b: Value) -> Value:
    """The result of an operator on two values of one dtype, before it is rounded."""
    if op in _COMPARISON:
        return int(_COMPARISON[op](a, b))
    if op in _LOGICAL:
        return int(_LOGICAL[op](truth(a), truth(b)))
    if isinstance(a, tuple) and isinstance(b, tuple):
        assert op in ("add", "sub")
        return (_REAL[op](a[0], b[0]), _REAL[op](a[1], b[1]))
    if isinstance(a, Real) and isinstance(b, Real):
        return _REAL[op](a, b)
    assert isinstance(a, int)
    assert isinstance(b, int)
    return wrap(name, _INTEGER[op](a, b))


def binary(op: str, name: str, a: Value, b: Value) -> Value:
    """The result of an operator on two values of one dtype, as the dtype holds it."""
    exact = exact_binary(op, name, a, b)
    return exact if isinstance(exact, int) else store(name, exact)


def exact_unary(op: str, name: str, a: Value) -> Value:
    """The result of an operator on one value, before it is rounded."""
    if op == "logical_not":
        return int(not truth(a))
    if isinstance(a, int):
        return wrap(name, {"abs": abs(a), "sign": (a > 0) - (a < 0), "bitwise_not": ~a}[op])
    assert isinstance(a, Real)
    if op == "abs":
        return Real(False, a.size, a.is_nan)
    if op == "sign":
        return a if a.is_nan else ZERO if a.is_zero else Real(a.negative, Fraction(1))
    if op == "reciprocal":
        return div(real(1), a)
    return to_whole(a, WHOLE[op])


def unary(op: str, name: str, a: Value) -> Value:
    """The result of an operator on one value, as the dtype holds it."""
    exact = exact_unary(op, name, a)
    return exact if isinstance(exact, int) else store(name, exact)
