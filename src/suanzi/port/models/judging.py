"""A model compared with targets: its own rules, its Casts, and the dtypes of their operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from suanzi.port.findings import Finding
from suanzi.port.ignoring import Fingerprint
from suanzi.port.lacking import Dtypes, check_chips
from suanzi.port.models.casts import audit, casts
from suanzi.port.models.graph import Graph
from suanzi.port.passes import Judged
from suanzi.port.report import Report, targets
from suanzi.promote.rules import RuleSet


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
    """Return what is said of the model as a whole."""
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
