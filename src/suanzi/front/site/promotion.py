"""Rule sets as the page has them: the tables of every layer, as the engine gives them.

The page composes them in the order of `suanzi.promote.engine`; a test compares its answers with
the engine's. Reasons are stored once, with marks for the dtypes and the operator of a cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from itertools import product
from typing import Any, TypeVar

from suanzi.base.dtypes import DTYPES, DType, document_name
from suanzi.promote.engine import GIVES_BOOL, Layer, Refused, Run
from suanzi.promote.explain import OURS, SOURCES
from suanzi.promote.fixes import cast_code, magnitude
from suanzi.promote.layers import NUMERIC_KINDS, weak_number
from suanzi.promote.library import rule_set, rule_sets
from suanzi.promote.operands import NUMBER_KINDS, typed_operand
from suanzi.promote.operators import (
    OPERATORS,
    OUTSIDE,
    SYMBOLS,
    Operator,
    OperatorClass,
    in_scope,
    operator,
)
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import Loss, convert, holds, loss, number_loss, show

NUMERIC = tuple(d for d in DTYPES if d.kind in NUMERIC_KINDS)
INDEX = {d: i for i, d in enumerate(NUMERIC)}
NUMBERS = ("true", "2", "-1", "300", "16777217", "2.5", "0.1", "1e39", "1j")
"""Python numbers whose value is known, as they are typed."""

Cells = tuple[int, ...]
_EMPTY = (-1, -1)
_WORD = re.compile(r"(?<!a Python )(?<!\{)\b\w+\b")
T = TypeVar("T", bound=Hashable)


class Pool(list[T]):
    """Values without repetition, each known by its index."""

    def __init__(self) -> None:
        self._index: dict[T, int] = {}

    def index_of(self, value: T) -> int:
        """Return the index of a value, which is added if it is new."""
        if value not in self._index:
            self._index[value] = len(self)
            self.append(value)
        return self._index[value]


@cache
def promotion() -> dict[str, Any]:
    """Return everything about promotion, as data."""
    reasons: Pool[str] = Pool()
    return {
        "dtypes": [[d.name, d.kind, d.bits, d.mantissa_bits] for d in NUMERIC],
        "losses": [[_loss(loss(a, b)) for b in NUMERIC] for a in NUMERIC],
        "numbers": [_number(text) for text in NUMBERS],
        "operators": _operators(),
        "layers": {layer.name: layer.value for layer in Layer},
        "ours": {layer.name: text for layer, text in OURS.items()},
        "sources": {layer.name: key for layer, key in SOURCES.items()},
        "rules": [_rules(rule_set(name), reasons) for name in rule_sets()],
        "reasons": reasons,
    }


def _loss(one: Loss | None) -> list[Any] | None:
    """Return what is lost: its magnitude, values with what becomes of them, the last one kept."""
    if one is None:
        return None
    pairs = [show(one.value), show(one.becomes)]
    if one.overflow is not None and one.overflow != one.value:
        image = convert(one.overflow, one.target, saturate=one.saturates)
        pairs += [show(one.overflow), show(image)]
    whole = one.source is not None and isinstance(one.value, int)
    kept = show(abs(one.value) - 1) if whole else ""  # type: ignore[operator]
    return [magnitude(one.value), pairs, kept]


def _number(text: str) -> dict[str, Any]:
    value = typed_operand(text)
    return {
        "text": text,
        "shown": str(value) if isinstance(value, bool | float | complex) else show(value),
        "kind": type(value).__name__,
        "losses": [_loss(number_loss(value, d)) for d in NUMERIC],
        "held": [int(holds(d, int(value))) for d in NUMERIC] if isinstance(value, int) else [],
    }


def _operators() -> list[dict[str, Any]]:
    """Return the operators by class; those of models come last."""
    symbols: dict[str, str] = {}
    for symbol, name in SYMBOLS.items():
        symbols.setdefault(name, symbol)
    groups = [
        {
            "title": one.title,
            "bool": one in GIVES_BOOL,
            "names": [[n, symbols.get(n, "")] for n, of in sorted(OPERATORS.items()) if of is one],
        }
        for one in OperatorClass
    ]
    models = [[name, ""] for name in sorted(OUTSIDE)]
    return [*groups, {"title": "of models", "bool": False, "names": models}]


def _rules(rules: RuleSet, reasons: Pool[str]) -> dict[str, Any]:
    layers = _Layers(rules, reasons)
    scopes: Pool[tuple[Any, ...]] = Pool()
    by_operator = {
        one.title: scopes.index_of(layers.of(Operator("", one))) for one in OperatorClass
    }
    for name in (*OPERATORS, *OUTSIDE):
        asked = operator(name)
        found = scopes.index_of(layers.of(asked))
        if found != by_operator[asked.operator_class.title]:
            by_operator[name] = found
    return {
        "name": rules.name,
        "title": rules.title,
        "version": rules.version,
        "source": rules.source,
        "sources": dict(rules.sources),
        "dtypes": [INDEX[d] for d in rules.dtypes],
        "names": [document_name(d, rules.names) for d in NUMERIC],
        "casts": [cast_code(rules, "{x}", d) for d in NUMERIC],
        "no_casts": [INDEX[d] for d in rules.casts if d in INDEX],
        "made": {INDEX[a]: INDEX[b] for a, b in rules.made.items() if a in INDEX},
        "alone": {kind: INDEX[d] for kind, d in rules.alone.items()},
        "zero": rules.numbers_are_zero_dim,
        "checked": rules.overflow == "refuse",
        "exact": rules.exact_comparison,
        "join": rules.join is not None,
        "layer": (Layer.TABLE if rules.tabulated else Layer.RULE).name,
        "unknown": [name for name in OUTSIDE if not rules.knows(operator(name))],
        "by_operator": by_operator,
        "scopes": scopes,
        "tables": layers.tables,
    }


class _Layers:
    """The tables of one rule set, each stored once.

    A cell is two numbers: 1 + the dtype, 0 for a refusal, and the reason; both are -1 where the
    layer has no say.
    """

    def __init__(self, rules: RuleSet, reasons: Pool[str]) -> None:
        self.rules, self.reasons = rules, reasons
        self.tables: Pool[tuple[int, ...]] = Pool()
        self._made: dict[tuple[Any, ...], int] = {}

    def of(self, op: Operator) -> tuple[Any, ...]:
        """Return the tables of an operator: pairs, gate, 0-d, numbers, what it makes of the result.

        Each is an index, -1 for an empty one. Its class follows, and whether the first operand
        decides.
        """
        rules = self.rules
        gate, zero, own = rules.gate(op), rules.zero_dim(op).answer, rules.gates.get(op.name)
        pair = in_scope(rules.pairs, op)
        cells, turned = in_scope(rules.number_cells, op), in_scope(rules.turned, op)
        last = id(turned), op.operator_class, op.name == "reciprocal"
        return (
            self._table(("pairs", id(pair)), self._pairs, op),
            self._table(("gate", id(gate), bool(op.name)), self._gate, op),
            self._table(("zero", id(zero)), self._zero, op),
            self._table(("numbers", id(cells)), self._numbers, op),
            self._table(("last", *last), self._last, op),
            op.operator_class.title,
            own is not None and own.first,
        )

    def _table(
        self, key: tuple[Any, ...], make: Callable[[Operator], Iterator[Cells]], op: Operator
    ) -> int:
        if key not in self._made:
            flat = tuple(number for cell in make(op) for number in cell)
            empty = all(number == -1 for number in flat)
            self._made[key] = -1 if empty else self.tables.index_of(flat)
        return self._made[key]

    def _cell(self, dt: DType | None, why: str, *of: DType, op: str = "") -> tuple[int, int]:
        marked = mark(why, self.rules.names, (*of, dt), op)
        return 0 if dt is None else 1 + INDEX[dt], self.reasons.index_of(marked)

    def _each(self) -> Iterator[tuple[DType, DType]]:
        return product(self.rules.dtypes, self.rules.dtypes)

    def _pairs(self, op: Operator) -> Iterator[Cells]:
        pair = Run(self.rules, op).pair
        for a, b in self._each():
            if a is b or self.rules.join is not None:  # which takes all operands at once
                yield _EMPTY
            else:
                found = pair(a, b)
                yield self._cell(found.dtype, found.reason, a, b)

    def _gate(self, op: Operator) -> Iterator[Cells]:
        gate = self.rules.gate(op)
        for a, b in self._each():
            if gate is None or gate.admits(a, b):
                yield _EMPTY
            else:
                yield self._cell(None, gate.refusal(op.name, a, b), a, b, op=op.name)

    def _zero(self, op: Operator) -> Iterator[Cells]:
        zero = self.rules.zero_dim(op).answer
        if zero is not None:
            for a, b in self._each():
                found = zero(self.rules, a, b)
                yield _EMPTY if a is b else self._cell(found.dtype, found.reason, a, b)

    def _numbers(self, op: Operator) -> Iterator[Cells]:
        run, known = Run(self.rules, op), self.rules.dtypes
        for a, kind in product(NUMERIC, NUMBER_KINDS):
            found = run.number(a, kind) if a in known else weak_number(a, kind, None)
            own = op.title if found.reason.endswith(f" in {op.title}") else ""
            yield self._cell(found.dtype, found.reason, a, op=own)

    def _last(self, op: Operator) -> Iterator[Cells]:
        for a in NUMERIC:
            run = Run(self.rules, op)
            with suppress(Refused):
                run.finish(a)
            if run.steps:
                step = run.steps[-1]
                own = op.title if step.layer is Layer.TURNED else ""
                cell = self._cell(step.dtype, step.text, a, op=own)
                yield (*cell, list(Layer).index(step.layer))
            else:
                yield (-1, -1, -1)


def mark(why: str, document: str, dtypes: Iterable[DType | None], op: str = "") -> str:
    """Return a reason with marks for the dtypes, and the operator, that it names.

    >>> from suanzi import bfloat16, int32
    >>> mark("row i32, column bf16", "short", (int32, bfloat16))
    'row {A}, column {B}'
    """
    names: dict[str, str] = {}
    for letter, dt in reversed(list(zip("abc", dtypes, strict=False))):
        if dt is not None:
            names[document_name(dt, document)] = f"{{{letter.upper()}}}"
            names[dt.name] = f"{{{letter}}}"
    if op:
        why = why.replace(op, "{op}", 1)
    return _WORD.sub(lambda m: names.get(m[0], m[0]), why)
