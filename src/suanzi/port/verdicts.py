"""What a target does with one call, by itself: silence, or a verdict with a code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from suanzi.dtypes import DType
from suanzi.port.codes import Code
from suanzi.port.findings import Verdict
from suanzi.promote.cells import Cell
from suanzi.promote.engine import Answer, Layer, answer
from suanzi.promote.fixes import Fix, cast_code
from suanzi.promote.keeping import fix_keeping
from suanzi.promote.operands import Operand
from suanzi.promote.operators import Operator
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import contains, holds, loss, number_loss, show

OwnValues: TypeAlias = tuple[tuple[DType, int | float], ...]
"""Values that tensors of the program had, each with the dtype."""


def exact(value: float) -> int | Fraction:
    """Return a finite number as what it is.

    >>> exact(0.5), exact(3.0)
    (Fraction(1, 2), 3)
    """
    found = Fraction(value)
    return found.numerator if found.denominator == 1 else found


def written(rules: RuleSet, way: str | None, result: DType, into: DType | None) -> Cell | None:
    """Return what is there after a result was written; None where the rule set does not say."""
    if way is None or into is None:
        return Cell(result, "a new tensor")
    rule, there = rules.writes.get(way), rules.made.get(into, into)
    if rule is None:
        return Cell(result, "it has the dtype already") if result is there else None
    return rule.answer(result, there)


class Judge:
    """One source and one target; it remembers what it was asked."""

    def __init__(self, source: RuleSet, target: RuleSet) -> None:
        self.source, self.target = source, target
        self._answers: dict[tuple[RuleSet, Operator, tuple[Operand, ...]], Answer] = {}

    def ask(self, rules: RuleSet, op: Operator, operands: Sequence[Operand]) -> Answer:
        """Return what a rule set says, from memory where it was asked before."""
        key = rules, op, tuple(operands)
        if key not in self._answers:
            self._answers[key] = answer(operands, rules, op)
        return self._answers[key]

    def here(self, dt: DType) -> DType:
        """Return what a dtype of the program is there from the start: JAX has no 64 bits."""
        return self.target.made.get(dt, dt)

    def judge(
        self,
        op: Operator,
        operands: Sequence[Operand],
        extremes: Sequence[int | float],
        way: str | None,
        into: DType | None,
        own: OwnValues = (),
    ) -> Verdict | None:
        """Return the verdict on a call that the source answers; None where nothing changes.

        `extremes` are those of Python numbers, `own` those of tensors, where they were recorded.
        """
        found = self.by_dtypes(op, operands, extremes, way, into)
        if not own:
            return found
        source, target = (self.ask(rules, op, operands) for rules in (self.source, self.target))
        if found is None:
            return self.made_too_small(source, target, own)
        if found.code not in ("SZ001", "SZ003") or target.dtype is None or source.dtype is None:
            return found
        for _, value in own:
            if holds(source.dtype, exact(value)) and (gone := number_loss(value, target.dtype)):
                becomes = f"{show(value)} of this program becomes {show(gone.becomes)}"
                return replace(found, code="SZ003", text=f"{found.text}; {becomes}")
        return replace(found, text=f"{found.text}; the extremes of this program are kept")

    def made_too_small(self, source: Answer, target: Answer, own: OwnValues) -> Verdict | None:
        """Return the verdict on integers of a tensor that the target makes of a smaller dtype."""
        for dt, value in own:
            here = self.here(dt)
            if here is not dt and here.kind in ("int", "uint") and not holds(here, exact(value)):
                text = f"{show(int(value))} of this program is out of range of {here}, as {dt} is"
                return self.verdict("SZ006", source, target, f"{text} there")
        return None

    def by_dtypes(
        self,
        op: Operator,
        operands: Sequence[Operand],
        extremes: Sequence[int | float],
        way: str | None,
        into: DType | None,
    ) -> Verdict | None:
        """Return the verdict that dtypes and Python numbers give."""
        source = self.ask(self.source, op, operands)
        target = self.ask(self.target, op, operands)
        assert source.dtype is not None
        assert source.output is not None
        if target.dtype is None or target.output is None:
            return self.verdict("SZ002", source, target, f"refused: {target.reason}")
        before = written(self.source, way, source.output, into)
        after = written(self.target, way, target.output, into)
        if before is None or before.dtype is None or after is None:
            return None
        was, there = self.here(before.dtype), after.dtype
        if there is None:
            how = {"out": "out="}.get(way or "", "in place")
            return self.verdict("SZ002", source, target, f"refused {how}: {after.reason}")
        if there is not was:
            if way is not None:
                keeps = "keeps" if before.dtype is into else "makes it"
                text = f"{there} from then on, where {self.source.name} {keeps} {before.dtype}"
                found = self.verdict("SZ007", source, target, text)
                if source.output is was:
                    if found.fix is None and target.output is was:
                        how = f"write x = x + y, not x += y: a new tensor of {was}"
                        found = replace(found, fix=Fix(how, ""))
                    return found
                # No cast of an operand does it: what was promoted has to be cast back.
                back = Fix(f"cast what comes out back to {was}", cast_code(self.target, "x", was))
                return replace(found, fix=back)
            return self.changed(source, target, there, was)
        return self.lost(source, target, extremes)

    def changed(self, source: Answer, target: Answer, there: DType, was: DType) -> Verdict:
        """Return the verdict on a result of another dtype."""
        text = f"{there}, {was} in {self.source.name}"
        kept = [o.dtype for o in target.operands if o.dtype is not None and contains(was, o.dtype)]
        gone = next((x for dt in kept if (x := loss(dt, there)) is not None), None)
        if gone is not None:
            return self.verdict("SZ003", source, target, f"{text}: {gone}")
        if contains(there, was):
            more = f", {there.bits // was.bits} times the memory" if was.bits >= 8 else ""
            return self.verdict("SZ005", source, target, f"{text}: silently wider{more}")
        return self.verdict("SZ001", source, target, text)

    def lost(
        self, source: Answer, target: Answer, extremes: Sequence[int | float]
    ) -> Verdict | None:
        """Return the verdict where the dtypes agree: a number that only the source holds."""
        if target.layer is Layer.EXACT or source.layer is Layer.EXACT:
            return None
        assert source.dtype is not None
        assert target.dtype is not None
        for value in extremes:
            fits = isinstance(value, int) and holds(source.dtype, value)
            if fits and target.dtype.kind in ("int", "uint") and not holds(target.dtype, value):
                text = f"{show(value)} is out of range of {target.dtype}"
                return self.verdict("SZ006", source, target, text)
        if target.output is not target.dtype and source.dtype is not target.dtype:
            # Compared, and in a dtype that tells less apart.
            tensors = [o.dtype for o in target.operands if o.dtype is not None]
            kept = [dt for dt in tensors if contains(source.dtype, dt)]
            gone = next((x for dt in kept if (x := loss(dt, target.dtype)) is not None), None)
            if gone is not None and self.here(source.dtype) is not target.dtype:
                text = f"computed in {target.dtype}, {source.dtype} in {self.source.name}: {gone}"
                return self.verdict("SZ003", source, target, text)
        return None

    def verdict(self, code: Code, source: Answer, target: Answer, text: str) -> Verdict:
        """Return a verdict with the fix that keeps what the source gave."""
        return Verdict(code, source, target, text, fix_keeping(target, source))
