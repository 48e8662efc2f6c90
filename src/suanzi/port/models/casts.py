"""The Casts of a model: what they lose, and whether a target would have chosen them.

A Cast that gives an operand the dtype of its partner, as PyTorch would have, is there because its
rules asked for it. Without it the target would have been given the dtypes before, and its own rules
say what it would have made of them. Other Casts are the author's, and only what they lose is
counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from suanzi.port.calls import Call, Taken
from suanzi.port.findings import Verdict
from suanzi.port.operators import known, operands
from suanzi.promote.engine import answer
from suanzi.promote.library import rule_set
from suanzi.promote.operands import Operand
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import Loss, loss

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
        if not any(made):
            continue
        before = [
            one.operand if cast is None else cast.source
            for one, cast in zip(taken, made, strict=True)
        ]
        meant = answer(before, rule_set(EXPORTED_FROM), promotion.operator)
        there = answer(before, target, promotion.operator)
        if there.dtype is None:
            continue  # it would have asked for a Cast, too
        for cast in {one.call.number: one for one in made if one is not None}.values():
            chosen = cast.call.result
            if chosen is None or chosen is there.dtype or chosen is not meant.dtype:
                continue
            shown = f"{call.operator}({', '.join(map(str, before))})"
            text = f"cast to {chosen}; of {shown} {target.name} would make {there.dtype}"
            assert cast.source.dtype is not None
            kept = loss(cast.source.dtype, there.dtype) is None
            if cast.lost is not None and kept:
                text = f"{text}, which keeps what this loses: {cast.lost}"
                yield cast.call, Verdict("SZ003", None, None, text, None, f"Cast before {shown}")
            else:
                yield cast.call, Verdict("SZ001", None, None, text, None, f"Cast before {shown}")
