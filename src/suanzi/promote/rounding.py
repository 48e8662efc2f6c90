"""Where operands are rounded: before computing, or not at all, and then the result once.

Two frameworks with the same result dtype may still give different values. bfloat16 with a 0-d
float64 is bfloat16 in PyTorch and in its compiler; PyTorch converts the float64 first, the compiler
computes in float32 and converts the sum.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from suanzi.base.dtypes import DType, dtype, float32
from suanzi.promote.engine import Answer, Layer, answer
from suanzi.promote.layers import Moment, RoundingRule
from suanzi.promote.operands import Operand, Role
from suanzi.promote.operators import OperatorClass, in_scope
from suanzi.promote.tables import TABULATED
from suanzi.promote.values import Real, convert, loss, show


@dataclass(frozen=True)
class Example:
    """Two values, and what the operator gives if operands are rounded first and if they are not."""

    values: tuple[Real, Real]
    symbol: str
    before: Real
    after: Real

    def __str__(self) -> str:
        x, y = map(_short, self.values)
        return f"{self.symbol}({x}, {y})" if self.symbol.isalpha() else f"{x} {self.symbol} {y}"


@dataclass(frozen=True)
class Rounded:
    """When the operands of an answer are rounded, with values for which it matters."""

    when: Moment
    dtype: DType
    """The dtype that the rule set promotes to."""
    wide: DType
    """What operands are computed in where they are not converted to that before."""
    example: Example

    @property
    def computed(self) -> DType:
        """The dtype that is computed in."""
        return self.dtype if self.when == "before" else self.wide

    def __str__(self) -> str:
        one, before = self.example, self.when == "before"
        how = "operands, before computing" if before else f"the result, computed in {self.wide}"
        gives, other = (one.before, one.after) if before else (one.after, one.before)
        instead = self.wide if before else self.dtype
        would = f"operands in {instead} would give {_short(other)}"
        return f"{how}: {one} gives {_short(gives)}; {would}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        one = self.example
        return {
            "when": self.when,
            "computed": self.computed.name,
            "example": str(one),
            "before": _plain(one.before),
            "after": _plain(one.after),
        }


def rounded(found: Answer) -> Rounded | None:
    """Return when operands are rounded; None where that is not known or makes no difference."""
    target, rule = found.dtype, in_scope(found.rules.rounded, found.operator)
    symbol = _symbol(found)
    if target is None or rule is None or symbol is None or len(found.operands) != 2:
        return None
    if found.layer is Layer.EXACT:
        return None
    changed = [o for o in found.operands if o.dtype is not target] or found.operands
    when: Moment = "after" if any(rule.when[o.role] == "after" for o in changed) else "before"
    computed = _computed(found, rule, target)
    if computed is None:
        return None
    example = _example(found.operands, symbol, target, computed)
    if example is None:
        return None
    return Rounded(when, target, computed, example)


def _computed(found: Answer, rule: RoundingRule, target: DType) -> DType | None:
    """Return what is computed in where operands are not rounded first."""
    name, _, factor = rule.computed.partition("+")
    if name in TABULATED:
        from suanzi.promote.library import rule_set

        inner = rule_set(name)
        # A kernel gets a number as an argument of the type that it has alone.
        operands = [
            Operand(Role.ZERO_DIM, inner.alone[o.kind]) if o.kind is not None else o
            for o in found.operands
        ]
        if factor:
            scaled = answer([operands[-1], dtype(factor)], inner, "mul").dtype
            if scaled is None:
                return None
            operands[-1] = Operand(Role.TENSOR, scaled)
        return answer(operands, inner, found.operator).dtype
    if rule.computed:
        return dtype(rule.computed)
    return float32 if target.kind == "float" and target.bits < 32 else target


_SYMBOLS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "add": ("+", operator.add), "sub": ("-", operator.sub), "mul": ("*", operator.mul),
    "true_divide": ("/", operator.truediv), "equal": ("==", operator.eq),
    "not_equal": ("!=", operator.ne), "less": ("<", operator.lt),
    "less_equal": ("<=", operator.le), "greater": (">", operator.gt),
    "greater_equal": (">=", operator.ge), "max": ("max", max), "min": ("min", min),
}  # fmt: skip
_OF_CLASS = {
    OperatorClass.ANY: "add",
    OperatorClass.ARITHMETIC: "add",
    OperatorClass.TRUE_DIVISION: "true_divide",
    OperatorClass.COMPARISON: "equal",
}
_Symbol: TypeAlias = tuple[str, Callable[[Any, Any], Any]]


def _symbol(found: Answer) -> _Symbol | None:
    """Return the operator that an example computes; None for those that it does not know."""
    op = found.operator
    return _SYMBOLS.get(op.name or _OF_CLASS.get(op.operator_class, ""))


_VALUES = (Fraction(0.1), Fraction(-0.1), 3, 7, 11, 100, 200, 1000)


def _example(
    operands: tuple[Operand, ...], symbol: _Symbol, target: DType, computed: DType
) -> Example | None:
    """Return values for which it matters when operands are rounded, best some that cancel."""
    found: Example | None = None
    for x, y in product(*(_values(o, operands, (target, computed)) for o in operands)):
        first, last = (_stored(v, o) for v, o in zip((x, y), operands, strict=True))
        before = _compute(symbol, first, last, target, target)
        after = _compute(symbol, first, last, computed, target)
        if before is not None and after is not None and before != after:
            found = found or Example((x, y), symbol[0], before, after)
            if before in (0, 1):  # nothing is left, or two values are equal
                return Example((x, y), symbol[0], before, after)
    return found


def _values(
    one: Operand, operands: tuple[Operand, ...], targets: tuple[DType, ...]
) -> Iterator[Real]:
    """Yield values of an operand, simple ones first, then those that a conversion changes."""
    if one.value is not None:
        yield from _given(one)
        return
    found: list[Real] = [sign * v for o in operands for v in _given(o) for sign in (1, -1)]
    found += _VALUES
    found += [
        sign * v
        for o, t in product(operands, targets)
        for v in _lost(o, t)
        for sign in (1, -1)
        if isinstance(v, int | Fraction)
    ]
    yield from dict.fromkeys(v for v in found if _fits(v, one))


def _given(one: Operand) -> Iterator[int | Fraction]:
    """Yield the value of a Python number, if it has a finite one."""
    value = one.value
    if isinstance(value, int):
        yield int(value)
    elif isinstance(value, float) and math.isfinite(value):
        yield Fraction(value)


def _lost(one: Operand, target: DType) -> Iterable[Real]:
    lost = None if one.dtype is None or one.dtype.kind == "complex" else loss(one.dtype, target)
    if lost is None:
        return ()
    return (v for v in (lost.value, lost.becomes) if not isinstance(v, complex))


def _fits(value: Real, one: Operand) -> bool:
    """Tell whether an operand can have a value, rounded if it is of floats."""
    kind = one.kind if one.dtype is None else one.dtype.kind
    if kind in ("float", "complex"):
        stored = _stored(value, one)
        near = Fraction(value).denominator != 1 and not isinstance(stored, float)
        return near or stored == value
    return kind != "bool" and Fraction(value).denominator == 1 and _stored(value, one) == value


def _stored(value: Real, one: Operand) -> Real:
    if one.dtype is None:
        return value
    found = convert(value, one.dtype)
    assert not isinstance(found, complex)
    return found


def _compute(symbol: _Symbol, x: Real, y: Real, inner: DType, target: DType) -> Real | None:
    """Return x op y computed in one dtype and converted to another; None for no number."""
    x, y = _real(x, inner), _real(y, inner)
    try:
        if any(isinstance(v, float) for v in (x, y)):
            found = symbol[1](float(x), float(y))
        else:
            found = symbol[1](Fraction(x), Fraction(y))
    except (ZeroDivisionError, OverflowError):
        return None
    if isinstance(found, bool):
        return found
    found = _real(_real(found, inner), target)
    return None if isinstance(found, float) and math.isnan(found) else found


def _real(value: Real, dt: DType) -> Real:
    found = convert(value, dt)
    assert not isinstance(found, complex)
    return found


def _plain(value: Real) -> float | str:
    """Return a value as JSON can hold it."""
    found = float(value)
    return found if math.isfinite(found) else str(found)


def _short(value: Real) -> str:
    """Write a value in at most three digits where it is no integer."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, Fraction) and value.denominator != 1:
        return f"{float(value):.2g}" if abs(value) < Fraction(1, 1000) else f"{float(value):.5g}"
    return show(value)
