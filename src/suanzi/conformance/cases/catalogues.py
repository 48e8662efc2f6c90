"""Cases of the operators of other catalogues that follow from their records and worked examples.

The first worked example that succeeds is a valid call. It is changed until each status of the
record is due; its float operands are given in other dtypes, and the rule set says what comes out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from suanzi.base.dtypes import DTYPES, dtype
from suanzi.base.status import Status
from suanzi.conformance.cases import OF_EVERY_CATALOGUE, Wanted
from suanzi.conformance.cases.calls import cases_between
from suanzi.conformance.cases.examples import argument_of
from suanzi.conformance.model.case import Case, Check, Expected, Refused
from suanzi.conformance.model.data import numbers, tensor
from suanzi.conformance.model.numbers import FORMATS, NAN, PARTS, Value, real
from suanzi.conformance.subjects.wire import Data
from suanzi.promote.engine import answer
from suanzi.promote.library import rule_set
from suanzi.promote.operators import OPERATORS
from suanzi.promote.registry import REGISTRY
from suanzi.standard import Interface, examples, record
from suanzi.standard.worked_examples import Example, ExampleTensor

_TM, _DM, _IA = Status.TYPE_MISMATCH, Status.DIMENSIONS_MISMATCH, Status.INVALID_ARGUMENT
_OF_ARGUMENTS = (_IA, _DM, _TM, Status.OUT_OF_RANGE, Status.AXIS_ARGUMENT)
_UNTRIED = "no argument of a small call provokes it"
_PARTNERS = ("float32", "bfloat16", "int32")
"""With which every dtype meets in promotion cases of two operands."""
_QUICK = frozenset({"float32", "float16", "bfloat16", "int32"})
_KINDS = ("bool", "int", "uint", "float", "complex")
IN_FLOAT32: dict[str, frozenset[str]] = {}
"""By operator, the outputs that are float32, or float64 where the result is."""


@cache
def first_example(op: str) -> Example:
    """Return the first worked example of an operator that succeeds."""
    facts = _facts(op)
    some = (one for one in examples(facts.catalogue) if one.name == facts.key)
    return next(one for one in some if one.status is Status.SUCCESS)


def valid(op: str) -> dict[str, Any]:
    """Return a valid call of an operator: that of its first worked example.

    >>> valid("nn:softmax")["x"].shape
    (2,)
    """
    return {name: argument_of(x) for name, x in first_example(op).arguments.items()}


def _facts(op: str) -> Interface:
    facts = record(op)
    assert facts is not None, op
    return facts


def _floats(given: dict[str, Any]) -> list[str]:
    return [n for n, x in given.items() if isinstance(x, Data) and x.dtype in FORMATS]


# ---- statuses ------------------------------------------------------------------------------------


def statuses(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give a call for each status of the record; one that cannot be provoked is skipped."""
    if not wanted.wants("status", "any"):
        return
    given = valid(op)
    for status in _facts(op).statuses:
        if status is not Status.UNINITIALIZED_OBJECT:
            yield _of_status(op, status, given)
    for name, x in given.items():
        if isinstance(x, Data):
            destroyed = {**given, name: replace(x, layout="destroyed")}
            yield Case(op, "status", "any", f"UNINITIALIZED_OBJECT {name}", destroyed,
                       lambda: Refused(Status.UNINITIALIZED_OBJECT))  # fmt: skip
    floats = _floats(given)
    if floats:
        yield _refused(op, "no tensor", _IA, {**given, floats[0]: "no tensor"}, _OF_ARGUMENTS)


def _of_status(op: str, status: Status, given: dict[str, Any]) -> Case:
    if status is Status.SUCCESS:
        return Case(op, "status", "any", status.name, given, lambda: Check("succeeds", {}))
    changed = _change(op, status, given)
    if changed is None:
        return Case(op, "status", "any", status.name, given, lambda: Refused(status), skip=_UNTRIED)
    others = () if status is _TM else _OF_ARGUMENTS
    return _refused(op, "", status, {**given, **changed}, others, more=status is _TM)


def _refused(
    op: str,
    title: str,
    status: Status,
    given: dict[str, Any],
    others: tuple[Status, ...] = (),
    more: bool = False,
) -> Case:
    # A backend without status codes may take more dtypes than the record.
    taken = tuple(Check("succeeds", {}) for _ in _facts(op).outputs) if more else None
    expected = Refused(status, taken, tuple(s for s in others if s is not status))
    return Case(op, "status", "any", f"{status.name} {title}".strip(), given, lambda: expected)


def _change(op: str, status: Status, given: dict[str, Any]) -> dict[str, Any] | None:
    """Return the arguments that make a valid call one that deserves a status."""
    floats = _floats(given)
    if status is _TM and floats:
        return {name: _as(given[name], "complex64") for name in floats}
    if status in (_IA, Status.OUT_OF_RANGE, Status.AXIS_ARGUMENT):
        if any(p.name == "axis" for p in _facts(op).parameters):
            return {"axis": 99}
        wrong = [p.name for p in _facts(op).parameters if p.default in _NUMBERS]
        return {wrong[0]: "no number"} if wrong else None
    if status is _DM and len(floats) > 1:
        x = given[floats[1]]
        return {floats[1]: tensor(x.dtype, [1.0] * 7**5, (7,) * 5)}
    return None


_NUMBERS = frozenset({"0", "1", "-1", "1e-5", "1e-05", "0.01", "1.0", "0.5", "2"})
"""Defaults of parameters that are numbers, as records write them."""


# ---- promotion -----------------------------------------------------------------------------------


def promotion(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give what comes out where the float operands have other dtypes, alone and in pairs."""
    if "promotion" not in wanted.groups or op not in OPERATORS:
        return
    given = valid(op)
    floats = _floats(given)
    rules = rule_set(wanted.rules)
    known = [d.name for d in DTYPES if d in set(rules.dtypes) and d.kind in _KINDS]
    for a in known:
        partners = dict.fromkeys((a, *_PARTNERS)) if len(floats) > 1 else (a,)
        for b in partners:
            if (wanted.quick and not _QUICK.issuperset((a, b))) or b not in known:
                continue
            name = a if len(floats) < 2 else f"{a}-{b}"
            if floats and wanted.wants("promotion", name):
                yield from _cell(op, wanted.rules, name, given, floats, a, b)


def _cell(
    op: str, rules: str, name: str, given: dict[str, Any], floats: list[str], a: str, b: str
) -> Iterator[Case]:
    dtypes = {n: b if i == 1 else a for i, n in enumerate(floats)}
    found = answer(list(dtypes.values()), rule_set(rules), op)
    if found.dtype is not None and found.dtype not in REGISTRY[op].dtypes:
        return  # no matter of promotion: the operator does not take the dtype
    arguments = {**given, **{n: _as(given[n], of) for n, of in dtypes.items()}}
    result = None if found.output is None else found.output.name
    title = f"{rules} {'an operand' if len(floats) < 2 else 'operands'}"
    yield Case(op, "promotion", name, title, arguments, lambda: _due(op, result), rules=rules)


def _due(op: str, result: str | None) -> Expected:
    """Return outputs of the promoted dtype; those that are not floats have their own."""
    if result is None:
        return Refused(_TM, others=(_IA,))
    kept, wide = IN_FLOAT32.get(op, ()), "float64" if result == "float64" else "float32"
    outputs = first_example(op).outputs.items()
    return tuple(_shaped(x, wide if name in kept else result) for name, x in outputs)


def _shaped(x: Any, result: str) -> Check:
    if not isinstance(x, ExampleTensor):
        return Check("succeeds", {})
    own = dtype(x.dtype)
    return Check("has_shape", {
        "dtype": result if own.kind == "float" else own.name, "shape": x.shape})  # fmt: skip


def _as(x: Data, of: str) -> Data:
    """Return a tensor in another dtype; of integers and bool, numbers that they have."""
    made: list[Value] = []
    for number in numbers(x):
        if of in PARTS:
            made.append((real(number), real(0.0)))
        elif of in FORMATS:
            made.append(NAN if number != number else real(number))
        elif of == "bool":
            made.append(int(bool(number)))
        else:
            made.append(abs(round(number)) if abs(number) < 100 else 100)
    return tensor(of, made, x.shape)


# ---- several calls -------------------------------------------------------------------------------


def between_calls(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give what calls do to one another."""
    yield from cases_between(op, valid(op), wanted)


for maker in (statuses, promotion, between_calls):
    OF_EVERY_CATALOGUE.append(maker)
