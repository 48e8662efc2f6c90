"""Every cell of a rule set's tables, under every operator that promotes.

An operand is converted to the promoted dtype, rounded once, and only then computed with; so a cell
is judged by its dtype and by values that show what the conversion loses. A rule set is data, read
from the documents; that its answer is the operator's is what is tried here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from suanzi.base.dtypes import DTYPES, DType
from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.cases._elementwise import integers_become_floats
from suanzi.conformance.model.case import Case, Check, Expected, Output, Refused
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import (
    FORMATS,
    PARTS,
    Real,
    Value,
    convert,
    limits,
    real,
    store,
)
from suanzi.conformance.model.operators import BINARY, binary
from suanzi.promote.engine import Answer, answer
from suanzi.promote.library import rule_set
from suanzi.promote.operands import ZeroDim
from suanzi.promote.operators import OPERATORS
from suanzi.promote.registry import REGISTRY
from suanzi.standard import interfaces

NUMBERS = {"bool": True, "int": 2, "float": 2.5, "complex": 2j}
"""A Python number of each kind."""
_KINDS = ("bool", "int", "uint", "float", "complex")
_EITHER_ZERO = frozenset({"floordiv", "mod", "max", "min"})
"""Operators with zeros of undefined sign."""
_WITH_NUMBERS = frozenset({"add", "true_divide", "equal"})
"""Operators that are tried with 0-d tensors and Python numbers, too: one of each kind."""
_QUICK = frozenset({"add", "true_divide", "equal", "bitwise_and", "concat"})


@dataclass(frozen=True)
class _Operand:
    """A tensor, a 0-d tensor or a number, as promotion sees it and as an argument."""

    dtype: str
    values: tuple[Value, ...]
    question: Any
    """What the engine is asked with."""
    argument: Any
    shape: tuple[int, ...]
    is_number: bool = False


@cases_of(*(name for name in OPERATORS if name in interfaces()))
def promotion(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give the cells of the rule set for one operator."""
    if "promotion" not in wanted.groups or (wanted.quick and op not in _QUICK):
        return
    known = _dtypes(wanted.rules)
    if not integers_become_floats(op, wanted.rules):
        return
    if _arguments(op, (_tensor("float32", 0), _tensor("float32", 1))) is None:
        return
    for a in known:
        for b in known:
            if wanted.wants("promotion", f"{a.name}-{b.name}"):
                x, y = _tensor(a.name, 0), _tensor(b.name, 1)
                yield from _cell(op, wanted.rules, "tensors", (x, y))
                if op in _WITH_NUMBERS:
                    zero = _zero_dim(b.name)
                    yield from _cell(op, wanted.rules, "0-d on the right", (x, zero))
                    yield from _cell(op, wanted.rules, "0-d on the left", (_zero_dim(a.name), y))
        if op in _WITH_NUMBERS and wanted.wants("promotion", a.name):
            for kind in NUMBERS:
                pair = (_tensor(a.name, 0), _number(kind))
                yield from _cell(op, wanted.rules, f"Python {kind}", pair)


@cache
def _dtypes(rules: str) -> tuple[DType, ...]:
    known = set(rule_set(rules).dtypes)
    return tuple(d for d in DTYPES if d in known and d.kind in _KINDS)


@cache
def _tensor(dtype: str, which: int) -> _Operand:
    values = _values(dtype, which)
    return _Operand(dtype, values, dtype, tensor(dtype, values), (len(values),))


@cache
def _zero_dim(dtype: str) -> _Operand:
    values = _values(dtype, 1)[:1]
    return _Operand(dtype, values, ZeroDim(dtype), tensor(dtype, values, ()), ())


@cache
def _number(kind: str) -> _Operand:
    x = NUMBERS[kind]
    value: Value
    if isinstance(x, complex):
        value = (real(x.real), real(x.imag))
    else:
        value = real(x) if isinstance(x, float) else int(x)
    return _Operand(kind, (value,), x, x, (), is_number=True)


def _values(dtype: str, which: int) -> tuple[Value, ...]:
    """Return numbers, of which other dtypes do not hold all; the second ones are no zeros."""
    if dtype == "bool":
        return ((1, 0, 1), (1, 1, 1))[which]
    if dtype in PARTS:
        parts = [_values(PARTS[dtype], which), _values(PARTS[dtype], 1 - which)]
        return tuple(zip(*parts, strict=True))
    if dtype in FORMATS:
        numbers = ((1.5, -0.25, 0.1), (0.5, 3.0, -1.75))[which]
        return tuple(convert(real(x), dtype) for x in numbers)
    low, high = limits(dtype)
    numbers = ((2049, -7, 16777217), (3, 257, -2))[which]
    return tuple(x if low <= x <= high else high - 1 if x > 0 and high > 1 else 1 for x in numbers)


def _cell(op: str, rules: str, title: str, operands: tuple[_Operand, ...]) -> Iterator[Case]:
    found = answer([o.question for o in operands], rule_set(rules), op)
    if found.dtype is not None and found.dtype not in REGISTRY[op].dtypes:
        return  # no matter of promotion: the operator does not take the dtype
    arguments = _arguments(op, operands)
    assert arguments is not None
    dtype = "-".join(o.dtype for o in operands if not o.is_number)
    yield Case(op, "promotion", dtype, f"{rules} {title}", arguments,
               lambda: _expected(op, found, operands), rules=rules)  # fmt: skip


def _arguments(op: str, operands: Sequence[_Operand]) -> dict[str, Any] | None:
    """Return a call with these operands; None if the operator is not tried here."""
    x, y = (o.argument for o in operands)
    if op in BINARY or op == "allclose":
        return {"x": x, "y": y}
    match op:
        case "pow":
            return {"x": x, "e": y}
        case "muladd":
            return {"x": x, "y": y, "a": y}
        case "dot":
            return {"vec1": x, "vec2": y}
        case "matmul":
            return {"mat1": x, "mat2": y}
        case "concat" | "stack":
            return {"input_lists": [x, y], "axis": 0}
        case "where":
            return {"condition": tensor("bool", [1, 0, 1]), "x": x, "y": y}
    return None


def _expected(op: str, found: Answer, operands: Sequence[_Operand]) -> Expected:
    if found.dtype is None or found.output is None:
        # By the clause's own status, where it does not list that of types.
        listed = Status.TYPE_MISMATCH in interfaces()[op].statuses
        return Refused(Status.TYPE_MISMATCH, others=() if listed else (Status.INVALID_ARGUMENT,))
    shape = max((o.shape for o in operands), key=len)
    inside, out = found.dtype.name, found.output.name
    each = [_stretched(o, shape) for o in operands]
    exact = found.dtype.kind == "complex" and op not in ("add", "sub", "equal", "not_equal")
    # Of an operator whose values are not known, the dtype is judged.
    if op in BINARY and (not exact or found.output.kind == "bool"):
        if found.layer.name != "EXACT":
            each = [[convert(v, inside) for v in values] for values in each]
        if op != "floordiv" or not any(_is_infinite(v) for values in each for v in values):
            truth = tuple(binary(op, inside, a, b) for a, b in zip(*each, strict=True))
            return (Output(out, shape, truth, zero_sign=op not in _EITHER_ZERO),)
    if op in ("concat", "stack", "where"):
        return (_joined(op, out, each),)
    shapes: Mapping[str, tuple[int, ...]] = {"dot": (), "matmul": (), "allclose": (1,)}
    return (Check("has_shape", {"dtype": out, "shape": shapes.get(op, shape)}),)


def _is_infinite(x: Value) -> bool:
    """Tell whether a number overflowed: the floor of such a quotient has two readings."""
    return isinstance(x, Real) and x.is_infinite


def _stretched(operand: _Operand, shape: tuple[int, ...]) -> list[Value]:
    count = shape[0] if shape else 1
    return list(operand.values) * (count if len(operand.values) == 1 else 1)


def _joined(op: str, dtype: str, each: Sequence[Sequence[Value]]) -> Output:
    x, y = ([store(dtype, convert(v, dtype)) for v in values] for values in each)
    if op == "where":
        return Output(dtype, (3,), (x[0], y[1], x[2]))
    return Output(dtype, (6,) if op == "concat" else (2, 3), (*x, *y))
