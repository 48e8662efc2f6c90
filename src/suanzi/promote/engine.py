"""The engine: operands, a rule set and an operator class to an answer.

It is the only code that applies a rule set. It takes all operands at once, never folding pairs,
so its answer does not depend on their order; and it keeps every step, so that `explain` can show
how the answer came about.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import Any, NoReturn

from suanzi.base.dtypes import DType, float32, float64
from suanzi.base.dtypes import bool as bool_
from suanzi.base.status import InvalidArgument
from suanzi.promote.layers import Cell, Gate, kind_rank, weak_number
from suanzi.promote.operands import NumberKind, Operand, Role, operand
from suanzi.promote.operators import (
    Operator,
    OperatorClass,
    in_scope,
    is_tabulated,
    operator,
)
from suanzi.promote.results import results, row_and_column
from suanzi.promote.rules import RuleSet


class Layer(Enum):
    """Which part of a rule set gave the answer."""

    EQUAL = "equal dtypes"
    TABLE = "table"
    RULE = "rule"
    SEVERAL = "several operands"
    ZERO_DIM = "0-d tensor"
    NUMBER = "Python number"
    GATE = "gate"
    FLOAT = "integers to float"
    TURNED = "operator"
    INTEGERS_ONLY = "integers only"
    QUANTIZED = "quantised"
    MADE = "made as"
    EXACT = "exact comparison"
    UNKNOWN = "unknown dtype"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class Step:
    """One layer's answer."""

    layer: Layer
    text: str
    dtype: DType | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a rule set says about some operands."""

    operands: tuple[Operand, ...]
    rules: RuleSet
    operator: Operator
    dtype: DType | None
    """The dtype all operands are converted to; None for a refusal."""
    steps: tuple[Step, ...]

    @property
    def decisions(self) -> tuple[Step, ...]:
        """The steps that decided something; that equal dtypes stay equal only if nothing else."""
        return tuple(s for s in self.steps if s.layer is not Layer.EQUAL) or self.steps[-1:]

    @property
    def layer(self) -> Layer:
        """The layer that decided."""
        return self.decisions[-1].layer

    @property
    def reason(self) -> str:
        """Why, in the words of the layer that decided."""
        return self.decisions[-1].text

    @property
    def output(self) -> DType | None:
        """The dtype of the operator's result: bool for comparison and logic, else `dtype`."""
        if self.dtype is None:
            return None
        if self.operator.operator_class in GIVES_BOOL:
            return bool_
        if self.operator.name != "abs":
            return self.dtype
        from suanzi.base.dtypes import part

        return part(self.dtype)


GIVES_BOOL = (OperatorClass.COMPARISON, OperatorClass.LOGICAL)
_NEEDS_FLOAT = (OperatorClass.TRUE_DIVISION, OperatorClass.REAL_FUNCTION)
# Every integer dtype holds these, so that a number among them never overflows.
_FITS_EVERYWHERE = range(2)


def answer(
    operands: Iterable[Any], rules: RuleSet, op: str | OperatorClass | Operator | None = None
) -> Answer:
    """Return what `rules` say about `operands`, a refusal included."""
    seen = tuple(operand(x) for x in operands)
    run = Run(rules, operator(op))
    if is_tabulated(run.operator.name):
        found = run.look_up(run.as_made(seen))
        return Answer(seen, rules, run.operator, found, tuple(run.steps))
    try:
        dtype = run.finish(run.join(run.as_tensors(run.as_made(run.as_numbers(seen)))))
    except Refused:
        dtype = None
    result = Answer(seen, rules, run.operator, dtype, tuple(run.steps))
    _remember(result)
    return result


def _remember(result: Answer) -> None:
    """Keep the answer in the native table, unless a number or the operator has a say in it.

    Operands that are all alike are kept as a pair of them, which has the same answer.
    """
    rules, op = result.rules, result.operator
    if rules.forgets or any(o.weak for o in result.operands):
        return
    alike = len({o.code for o in result.operands}) == 1
    if len(result.operands) > 2 and not alike:
        return
    if result.layer is Layer.EXACT or (rules.on_loss != "ignore" and _may_lose(result)):
        return
    if op.name in rules.scopes() and not (alike and op.name in rules.for_unequal):
        return
    for o in result.operands:
        if o.role is Role.NUMBER and rules.join is not None:
            return
        has_a_say = o.kind == "int" and o.value is not None and rules.overflow == "refuse"
        if has_a_say and o.value not in _FITS_EVERYWHERE and not _is_held(result.dtype, o.value):
            return
    if result.dtype is None and op.name == "reciprocal":  # which refuses more than its class
        return
    a, b = result.operands[0].code, result.operands[-1].code
    for x, y in ((a, b), (b, a)):
        if result.dtype is None:
            rules._remember_refusal(op.operator_class, x, y)
        else:
            rules._remember(op.operator_class, x, y, result.dtype)


def _may_lose(result: Answer) -> bool:
    """Tell whether a call has to come back here, because it may lose something."""
    from suanzi.promote.values import contains

    return result.dtype is not None and any(
        o.dtype is None or not contains(result.dtype, o.dtype) for o in result.operands
    )


def _is_held(dt: DType | None, value: Any) -> bool:
    """Tell whether the value of a Python int made no difference to an answer."""
    from suanzi.promote.values import holds

    if dt is None or dt.kind not in ("int", "uint"):
        return dt is not None and dt.kind in ("float", "complex")
    return holds(dt, int(value))


class Refused(Exception):
    """A layer refused; the last step says which, and why."""


class Run:
    """One question on its way through the layers."""

    def __init__(self, rules: RuleSet, operator: Operator) -> None:
        self.rules = rules
        self.operator = operator
        self.key = operator.operator_class
        self.steps: list[Step] = []
        self.pair = in_scope(rules.pairs, operator) or rules.pair
        self.pair_layer = Layer.TABLE if rules.tabulated else Layer.RULE

    def take(self, layer: Layer, cell: Cell) -> DType:
        """Note which layer answered, and return its dtype; raise where it refuses."""
        self.steps.append(Step(layer, cell.reason, cell.dtype))
        if cell.dtype is None:
            raise Refused
        return cell.dtype

    def refuse(self, layer: Layer, why: str) -> NoReturn:
        """Note that a layer refuses, and raise."""
        self.take(layer, Cell(None, why))
        raise AssertionError

    def without_quantized(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        """Replace quantised operands by the float their real values are computed in."""
        dtypes = {o.dtype for o in operands}
        keeps = self.key in (OperatorClass.ANY, OperatorClass.JOINING) and len(dtypes) == 1
        if keeps or not any(d is not None and d.kind == "quantized" for d in dtypes):
            return operands
        # scale times a 16-bit integer needs 40 significant bits, so only float64 is exact
        real = float64 if self.rules.join is not None else float32
        self.take(Layer.QUANTIZED, Cell(real, f"quantised values are computed in {real}"))
        return tuple(
            Operand(o.role, real) if o.dtype is not None and o.dtype.kind == "quantized" else o
            for o in operands
        )

    def as_numbers(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        """Replace tensors that were made of Python numbers by these, where the rules do."""
        if self.rules.weak_types:
            operands = tuple(_as_number(o) if o.weak else o for o in operands)
        return self.without_quantized(operands)

    def as_made(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        """Replace tensors of dtypes that the framework does not have by what it makes of them."""
        made = self.rules.made
        if not made:
            return operands
        replaced = []
        for o in operands:
            here = None if o.dtype is None else made.get(o.dtype)
            if here is not None:
                why = f"{self.rules.title} has no {o.dtype} and makes {here} of it"
                o = Operand(o.role, self.take(Layer.MADE, Cell(here, why)))
            replaced.append(o)
        return tuple(replaced)

    def as_tensors(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        """Replace Python numbers by 0-d tensors, where the rule set has no other rule for them."""
        if not self.rules.numbers_are_zero_dim:
            return operands
        replaced = []
        none_has_axes = all(o.role is not Role.TENSOR for o in operands)
        yields = none_has_axes and self.operator.name in self.rules.numbers_yield_in
        for o in operands:
            if o.role is Role.ZERO_DIM and yields:
                o = Operand(Role.TENSOR, o.dtype)
            if o.kind is not None:
                constant = self.rules.alone.get(o.kind)
                what = "refused" if constant is None else f"a 0-d {constant}"
                why = f"a Python {o.kind} is {what}"
                o = Operand(Role.ZERO_DIM, self.take(Layer.NUMBER, Cell(constant, why)))
            replaced.append(o)
        return tuple(replaced)

    def join(self, operands: tuple[Operand, ...]) -> DType:
        """Join all operands: tensors, 0-d tensors, numbers."""
        tensors = _distinct(o.dtype for o in operands if o.role is Role.TENSOR)
        zeros = _distinct(o.dtype for o in operands if o.role is Role.ZERO_DIM)
        numbers = [o for o in operands if o.role is Role.NUMBER]
        self.check_known(_distinct((*tensors, *zeros)), numbers)
        first = operands[0].dtype
        gate = self.rules.gates.get(self.operator.name)
        if gate is not None and gate.first and first is not None:
            why = "the result has the dtype of the first operand"
            return self.take(Layer.GATE, Cell(first, why))
        if self.needs_no_common_dtype(operands):
            return self.take(
                Layer.EXACT, Cell(bool_, "compared exactly, value by value; nothing is converted")
            )
        if self.rules.join is not None and (numbers or len({*tensors, *zeros}) > 1):
            return self.take(Layer.RULE, self.rules.join(operands))
        joined = self.join_tensors(tensors, zeros)
        return self.join_numbers(joined, numbers) if numbers else _present(joined)

    def check_known(self, dtypes: tuple[DType, ...], numbers: list[Operand]) -> None:
        """Refuse dtypes that the rule set has no answer for."""
        if numbers and any(d.kind == "char" for d in dtypes):
            self.refuse(Layer.UNKNOWN, "char holds text, which does not mix with numbers")
        unknown = [d for d in dtypes if d not in self.rules.dtypes]
        if unknown and len(dtypes) > 1:
            self.refuse(Layer.UNKNOWN, f"{self.rules.title} has no rule for {unknown[0]}")

    def needs_no_common_dtype(self, operands: tuple[Operand, ...]) -> bool:
        """Tell whether these are compared value by value, for want of a dtype that holds them."""
        if self.rules.exact_comparison == "never" or self.key not in GIVES_BOOL:
            return False
        kinds = {o.kind if o.dtype is None else o.dtype.kind for o in operands}
        if kinds <= {"bool", "int", "uint", "float"} and self.rules.join is not None:
            return self.rules.join(operands).dtype is None
        if not kinds <= {"bool", "int", "uint"} or self.key is not OperatorClass.COMPARISON:
            return False
        tried = answer(operands, self.rules).dtype
        return tried is None or tried.kind == "float"

    def join_tensors(self, tensors: tuple[DType, ...], zeros: tuple[DType, ...]) -> DType | None:
        """Return what tensors and 0-d tensors are promoted to."""
        gate = self.rules.gate(self.operator)
        self.check_answered(len({*tensors, *zeros}))
        zero_dim = self.rules.zero_dim(self.operator).answer
        if zero_dim is None:
            return self.join_dtypes(_distinct((*tensors, *zeros)), gate)
        dim = self.join_dtypes(tensors, gate)
        zero = self.join_dtypes(zeros, None)
        if dim is None or zero is None or dim is zero:
            return dim or zero
        return self.take(Layer.ZERO_DIM, zero_dim(self.rules, dim, zero))

    def look_up(self, operands: tuple[Operand, ...]) -> DType:
        """Return what the table of results has for an operator that does not promote."""
        table, asked = results(self.rules.name), row_and_column(self.operator.name, operands)
        found = None if table is None or asked is None else table.of(*asked)
        if found is None or asked is None:
            given = ", ".join(map(str, operands))
            raise InvalidArgument(
                f"{self.operator.name}: which dtype it gives for {given} is not known of "
                f"{self.rules.name}; the tables are in suanzi/promote/results."
            )
        row, column = asked
        why = f"row {row}" + (f", column {column}" if column is not None else "")
        return self.take(Layer.RESULT, Cell(found, why))

    def check_answered(self, dtypes: int) -> None:
        """Raise where the rule set says nothing about unequal dtypes in this operator."""
        if dtypes > 1 and not self.rules.knows(self.operator):
            raise InvalidArgument(
                f"{self.operator.name}: what {self.rules.name} does with unequal dtypes in it is "
                "not known; a rule set that knows has a line "
                f"'gate {self.operator.name}: equal', 'first' or 'open'."
            )

    def join_dtypes(self, dtypes: tuple[DType, ...], gate: Gate | None) -> DType | None:
        """Return what dtypes of one kind of operand are promoted to."""
        if len(dtypes) < 2:
            if dtypes:
                self.take(Layer.EQUAL, Cell(dtypes[0], self.equal_text(dtypes[0])))
            return dtypes[0] if dtypes else None
        for a, b in combinations(dtypes, 2):
            if gate is not None and not gate.admits(a, b):
                self.refuse(Layer.GATE, gate.refusal(self.operator.name, a, b))
            self.take(self.pair_layer, self.pair(a, b))
        if len(dtypes) == 2:
            return self.steps[-1].dtype
        return self.take(Layer.SEVERAL, self.least_above(dtypes))

    def equal_text(self, dt: DType) -> str:
        """Return why equal dtypes need no promotion."""
        if dt in self.rules.dtypes:
            return f"{dt} needs no promotion"
        return f"{dt} needs no promotion, though {self.rules.title} has no rule for it"

    def least_above(self, dtypes: tuple[DType, ...]) -> Cell:
        """Return the least dtype that absorbs all of three or more.

        That is how NumPy and JAX answer (checked on every set of three and four dtypes). Where
        several are minimal, as for int8, uint64 and int16 in NumPy, the answers of the pairs are
        added to the set until it has a greatest element.
        """
        absorbs = self.absorbs
        common = [d for d in self.rules.dtypes if all(absorbs(d, x) for x in dtypes)]
        least = [d for d in common if all(absorbs(x, d) for x in common)]
        names = ", ".join(d.name for d in dtypes)
        if least:
            return Cell(least[0], f"{least[0]} is the least dtype that absorbs {names}")
        closure = set(dtypes)
        while True:
            more = {self.pair(a, b).dtype for a, b in combinations(closure, 2)} - {None}
            if more <= closure:
                break
            closure |= {d for d in more if d is not None}
        top = [d for d in closure if all(absorbs(d, x) for x in closure)]
        if top:
            return Cell(top[0], f"{top[0]} absorbs {names} and the answers of their pairs")
        return Cell(None, f"no one dtype absorbs {names}")

    def absorbs(self, outer: DType, inner: DType) -> bool:
        """Return whether a dtype with another one stays what it is."""
        return outer is inner or self.pair(outer, inner).dtype is outer

    def join_numbers(self, joined: DType | None, numbers: list[Operand]) -> DType:
        """Return what the dtype of the tensors and Python numbers are promoted to."""
        kinds: list[NumberKind] = [o.kind for o in numbers if o.kind is not None]
        kind = max(kinds, key=kind_rank)
        if joined is None:
            alone = self.rules.alone.get(kind)
            why = f"a Python {kind} on its own is {alone or 'refused'}"
            return self.take(Layer.NUMBER, Cell(alone, why))
        if joined not in self.rules.dtypes:
            return self.take(Layer.NUMBER, weak_number(joined, kind, None))
        found = self.take(Layer.NUMBER, self.number(joined, kind))
        if self.rules.overflow == "refuse" and found.kind in ("int", "uint"):
            for o in numbers:
                from suanzi.promote.values import holds, show

                if isinstance(o.value, int) and not holds(found, int(o.value)):
                    self.refuse(Layer.NUMBER, f"{found} does not hold {show(o.value)}")
        return found

    def number(self, dt: DType, kind: NumberKind) -> Cell:
        """Return what a dtype gives with a Python number, in this operator."""
        own = in_scope(self.rules.number_cells, self.operator) or {}
        if (dt, kind) not in own:
            return self.rules.number(dt, kind)
        found = own[dt, kind]
        why = f"{dt} with a Python {kind} is {found or 'refused'} in {self.operator.title}"
        return Cell(found, why)

    def finish(self, dt: DType) -> DType:
        """Apply what the operator asks of the joined dtype."""
        turned = in_scope(self.rules.turned, self.operator) or {}
        if dt not in turned:
            return self.finish_class(dt)
        found = turned[dt]
        what = self.operator.title or "an operator"
        why = f"{what} takes no {dt}" if found is None else f"{what} turns {dt} into {found}"
        return self.take(Layer.TURNED, Cell(found, why))

    def finish_class(self, dt: DType) -> DType:
        """Apply what the class of the operator asks of the joined dtype."""
        if dt.kind == "char" and self.key not in (OperatorClass.ANY, OperatorClass.JOINING):
            self.refuse(Layer.UNKNOWN, "char holds text, which no operator computes with")
        if dt.kind not in ("bool", "int", "uint"):
            if self.key is OperatorClass.BITWISE:
                self.refuse(
                    Layer.INTEGERS_ONLY, f"bitwise operators take integers and bool, not {dt}"
                )
            return dt
        if self.operator.name == "reciprocal" and dt is bool_:
            self.refuse(Layer.FLOAT, "Table 66 has integers and floating-point numbers, no bool")
        if self.key in _NEEDS_FLOAT:
            found = self.rules.float_for(self.key, dt)
            who = "a real function" if self.key is OperatorClass.REAL_FUNCTION else "true division"
            why = f"{who} takes no {dt}" if found is None else f"{who} turns {dt} into {found}"
            return self.take(Layer.FLOAT, Cell(found, why))
        return dt


def _as_number(o: Operand) -> Operand:
    assert o.dtype is not None
    kind: Any = "int" if o.dtype.kind == "uint" else o.dtype.kind
    return Operand(Role.NUMBER, kind=kind)


def _distinct(dtypes: Iterable[DType | None]) -> tuple[DType, ...]:
    """Return dtypes without repetition in the order of the list, so that no order matters."""
    return tuple(sorted({d for d in dtypes if d is not None}, key=lambda d: d.index))


def _present(dt: DType | None) -> DType:
    assert dt is not None, "no operand"
    return dt
