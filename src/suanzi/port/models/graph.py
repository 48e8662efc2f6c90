"""A model as calls: its nodes with the types of their edges, its Casts, and its findings.

A Cast that gives an operand the dtype of its partner, as PyTorch would have, is there because
PyTorch's rules require it. Without it the target would have received the dtypes before, and its own
rules say what it would have made of them. Other Casts are the author's: only their losses count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from suanzi.base.dtypes import DType
from suanzi.port.findings import Finding, Fingerprint, Verdict
from suanzi.port.judged import Judged
from suanzi.port.operators import known, operands
from suanzi.port.report import Report, targets
from suanzi.port.support import COLUMNS, Dtypes, check_chips, support
from suanzi.promote.engine import answer
from suanzi.promote.library import rule_set
from suanzi.promote.operands import Operand, Role
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import Loss, loss
from suanzi.recording.calls import Call, Calls, Taken, Where
from suanzi.standard.other_names import table


@dataclass(frozen=True)
class Edge:
    """A value of a model."""

    dtype: DType | None
    """None for what is no tensor, or has a type that suanzi lacks."""
    zero_dim: bool = False
    made_by: int | None = None


@cache
def in_torch(framework: str) -> dict[str, str]:
    """Return what PyTorch calls the operators of a format of models: lists of dtypes need that.

    >>> in_torch("onnx")["Less"], in_torch("openvino")["Multiply"]
    ('lt', 'mul')
    """
    lists = [known for target in COLUMNS if (known := support(target))]
    rows = [
        one
        for one in table()
        if "torch" in one.names
        if one.dtype[-1:] in "012*"
        or one.operator == "cast"
        or any(known.first(one) for known in lists)
    ]
    return {name: one.names["torch"][0] for one in rows for name in one.names.get(framework, ())}


@dataclass
class Graph:
    """A model that was read."""

    file: str
    framework: str
    version: str
    calls: list[Call] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    """Of each call, the operator as the model calls it."""
    unmapped: Counter[str] = field(default_factory=Counter)
    """Operators without a list of dtypes, and how many nodes have them."""
    untyped: Counter[str] = field(default_factory=Counter)
    """Operators whose results have no type that could be found."""
    own: list[Finding] = field(default_factory=list)
    """Errors of the model by the rules of its format."""

    def add(self, operator: str, name: str, inputs: Sequence[Edge | None], output: Edge) -> Call:
        """Append a node and return it as a call."""
        mapped = in_torch(self.framework).get(operator)
        if mapped is None:
            self.unmapped[operator] += 1
        if output.dtype is None:
            self.untyped[operator] += 1
        taken = tuple(None if edge is None else _taken(edge) for edge in inputs)
        arguments: tuple[Taken | tuple[Taken, ...] | None, ...] = taken
        if mapped == "cat":
            arguments = (tuple(one for one in taken if one is not None),)
        call = Call(
            len(self.calls), mapped or operator, arguments, (), output.dtype, output.zero_dim,
            where=Where(self.file, 0, name or f"{operator} {len(self.calls)}"),
        )  # fmt: skip
        self.calls.append(call)
        self.given.append(operator)
        return call

    def to_calls(self) -> Calls:
        """Return the nodes as the calls of a program."""
        return Calls(self.framework, self.version, tuple(self.calls))


def _taken(edge: Edge) -> Taken | None:
    if edge.dtype is None:
        return None
    role = Role.ZERO_DIM if edge.zero_dim else Role.TENSOR
    return Taken(Operand(role, edge.dtype), edge.made_by)


EXPORTED_FROM = "torch"
"""Whose rules the Casts of models stand for."""


@dataclass(frozen=True)
class Cast:
    """A node that converts."""

    call: Call
    source: Operand
    lost: Loss | None


def casts(calls: list[Call]) -> list[Cast]:
    """Return the Casts of a model that change a dtype."""
    found = []
    for call in calls:
        first = call.arguments[0] if call.arguments else None
        if call.operator != "to" or not isinstance(first, Taken) or call.result is None:
            continue
        before = first.operand.dtype
        if before is not None and before is not call.result:
            found.append(Cast(call, first.operand, loss(before, call.result)))
    return found


def audit(calls: list[Call], target: RuleSet) -> Iterator[tuple[Call, Verdict]]:
    """Yield the Casts that the target would not have chosen, each with a verdict."""
    by_number = {one.call.number: one for one in casts(calls)}
    for call in calls:
        promotion = known().promotes.get(call.operator)
        taken = None if promotion is None else operands(call, promotion)
        if promotion is None or taken is None or len(taken) < 2:
            continue
        made = [by_number.get(-1 if one.made_by is None else one.made_by) for one in taken]
        partners = {one.operand.dtype for one, cast in zip(taken, made, strict=True) if not cast}
        made = [cast if cast and cast.call.result in partners else None for cast in made]
        rules = (target, rule_set(EXPORTED_FROM))
        if not any(made) or not all(one.knows(promotion.operator) for one in rules):
            continue
        before = [
            one.operand if cast is None else cast.source
            for one, cast in zip(taken, made, strict=True)
        ]
        meant = answer(before, rule_set(EXPORTED_FROM), promotion.operator)
        there = answer(before, target, promotion.operator)
        if there.dtype is None:
            continue  # it requires a Cast, too
        for cast in {one.call.number: one for one in made if one is not None}.values():
            chosen = cast.call.result
            if chosen is None or chosen is there.dtype or chosen is not meant.dtype:
                continue
            does = "compute in" if target.results == "caller" else "make"
            shown = f"{call.operator}({', '.join(map(str, before))})"
            text = f"cast to {chosen}; of {shown} {target.name} would {does} {there.dtype}"
            assert cast.source.dtype is not None
            kept = loss(cast.source.dtype, there.dtype) is None
            if cast.lost is not None and kept:
                text = f"{text}, which keeps what this loses: {cast.lost}"
                yield cast.call, Verdict("SZ003", None, None, text, None, f"Cast before {shown}")
            else:
                yield cast.call, Verdict("SZ001", None, None, text, None, f"Cast before {shown}")


def judge_graph(
    graph: Graph,
    to: Iterable[str | RuleSet],
    baseline: Counter[Fingerprint] | None = None,
    on: Iterable[str] = (),
) -> Report:
    """Return what is wrong in a model, and what the targets lack or would have done otherwise."""
    asked = targets(to, graph.framework)
    chips = check_chips(on, asked)
    judged = [_judged(graph, rules, chips) for rules in asked]
    judged[0] = replace(judged[0], findings=(*graph.own, *judged[0].findings))
    return Report(graph.to_calls(), tuple(judged), baseline or Counter(), _notes(graph))


def _judged(graph: Graph, rules: RuleSet, chips: tuple[str, ...]) -> Judged:
    dtypes = Dtypes(rules, chips)
    found: list[Finding] = []
    for call, verdict in audit(graph.calls, rules):
        found.append(Finding(call, verdict, rules.name))
    for call in graph.calls:
        if call.operator != "to":
            found += [Finding(call, verdict, rules.name) for verdict in dtypes.judge(call)]
    return Judged(rules, tuple(found), {}, {}, 0, {}, {}, len(graph.calls), dtypes)


def _notes(graph: Graph) -> tuple[str, ...]:
    """Return the notes about the whole model."""
    said = []
    found = casts(graph.calls)
    lossy = Counter(f"{one.source.dtype} to {one.call.result}" for one in found if one.lost)
    if found:
        which = ", ".join(f"{name} ({count})" for name, count in sorted(lossy.items()))
        many = sum(lossy.values())
        said.append(
            f"{len(found)} Cast{'s' * (len(found) != 1)}, {many or 'none'} of which "
            f"lose{'s' * (many == 1)} values" + (f": {which}" if which else "")
        )
    if graph.unmapped:
        names = ", ".join(f"{n} ({c})" for n, c in sorted(graph.unmapped.items()))
        said.append(f"not checked, operators without a list of dtypes: {names}")
    if graph.untyped:
        names = ", ".join(f"{n} ({c})" for n, c in sorted(graph.untyped.items()))
        said.append(f"not checked, results of unknown type: {names}")
    return tuple(said)
