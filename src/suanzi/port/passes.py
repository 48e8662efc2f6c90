"""What a target does with each call: by itself, and after the calls before it changed.

By itself, a call has the dtypes that the source gave it. Carried on, it has those that the target
would have by then. What changes by itself is a root cause; what changes only when carried on
follows one. A refusal is assumed to be fixed, so that nothing follows from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from suanzi.base.dtypes import DType
from suanzi.port import autocast
from suanzi.port.available import Available
from suanzi.port.findings import Code, Finding, Verdict
from suanzi.port.given import Given
from suanzi.port.judged import Judged
from suanzi.port.operators import FRAMEWORKS, Promotion, known, operands
from suanzi.port.support import Dtypes
from suanzi.port.tabulated import Tables, is_weak, of_values_alone
from suanzi.port.values import TooSmall, with_own_values
from suanzi.promote.engine import Answer, Layer, answer
from suanzi.promote.fixes import Fix, cast_code, fix_keeping
from suanzi.promote.layers import Cell
from suanzi.promote.library import rule_set
from suanzi.promote.operands import Operand, Role
from suanzi.promote.operators import OUTSIDE, Operator
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import contains, holds, loss, number_loss, show
from suanzi.recording.calls import Call, Calls, Taken

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
    """Return the dtype after a result was written; None where the rule set does not define it."""
    if way is None or into is None:
        return Cell(result, "a new tensor")
    rule, there = rules.writes.get(way), rules.made.get(into, into)
    if rule is None:
        return Cell(result, "it has the dtype already") if result is there else None
    return rule.answer(result, there)


class Judge:
    """One source and one target; answers are cached."""

    def __init__(self, source: RuleSet, target: RuleSet, written: RuleSet | None = None) -> None:
        self.source, self.target = source, target
        self.written = written or target
        """The framework whose code fixes are."""
        self._answers: dict[tuple[RuleSet, Operator, tuple[Operand, ...]], Answer] = {}

    def ask(self, rules: RuleSet, op: Operator, operands: Sequence[Operand]) -> Answer:
        """Return the answer of a rule set, from the cache if possible."""
        key = rules, op, tuple(operands)
        if key not in self._answers:
            self._answers[key] = answer(operands, rules, op)
        return self._answers[key]

    def here(self, dt: DType) -> DType:
        """Return the target's dtype for a dtype of the program: JAX has no 64 bits."""
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
        if not own or found is None:
            return found
        source, target = (self.ask(rules, op, operands) for rules in (self.source, self.target))
        if found.code not in ("SZ001", "SZ003") or target.dtype is None or source.dtype is None:
            return found
        for _, value in own:
            if holds(source.dtype, exact(value)) and (gone := number_loss(value, target.dtype)):
                becomes = f"{show(value)} of this program becomes {show(gone.becomes)}"
                return replace(found, code="SZ003", text=f"{found.text}; {becomes}")
        return replace(found, text=f"{found.text}; the extremes of this program are kept")

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
                back = Fix(f"cast what comes out back to {was}", cast_code(self.written, "x", was))
                return replace(found, fix=back)
            return self.changed(source, target, there, was)
        return self.lost(source, target, extremes)

    def changed(self, source: Answer, target: Answer, there: DType, was: DType) -> Verdict:
        """Return the verdict on a result of another dtype, or computed in another."""
        text = f"{there}, {was} in {self.source.name}"
        if self.target.results == "caller":
            text = f"computed in {text}, and cast to the out that you allocate"
        kept = [o.dtype for o in target.operands if o.dtype is not None and contains(was, o.dtype)]
        gone = next((x for dt in kept if (x := loss(dt, there)) is not None), None)
        if gone is not None:
            return self.verdict("SZ003", source, target, f"{text}: {gone}")
        if contains(there, was):
            if self.target.results == "caller":
                return self.verdict("SZ005", source, target, text)
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
            # A comparison in a dtype that distinguishes fewer values.
            tensors = [o.dtype for o in target.operands if o.dtype is not None]
            kept = [dt for dt in tensors if contains(source.dtype, dt)]
            gone = next((x for dt in kept if (x := loss(dt, target.dtype)) is not None), None)
            if gone is not None and self.here(source.dtype) is not target.dtype:
                text = f"computed in {target.dtype}, {source.dtype} in {self.source.name}: {gone}"
                return self.verdict("SZ003", source, target, text)
        return None

    def verdict(self, code: Code, source: Answer, target: Answer, text: str) -> Verdict:
        """Return a verdict with the fix that keeps what the source gave."""
        return Verdict(code, source, target, text, fix_keeping(target, source, self.written))


def written_in(framework: str) -> RuleSet | None:
    """Return the rules whose casts are code of a program; None where it is none of Python."""
    if framework == "suanzi":
        return rule_set("strict")
    return rule_set(framework) if framework in FRAMEWORKS else None


@dataclass(frozen=True)
class _Carried:
    """What a result is under the target, where it is something else than under the source."""

    dtype: DType
    root: Finding


class _Pass:
    def __init__(self, calls: Calls, source: RuleSet, target: RuleSet, on: tuple[str, ...]) -> None:
        self.calls, self.given = calls, Given(calls, target)
        self.judge = Judge(source, target, written_in(calls.framework))
        self.source, self.target = source, target
        self.known = known(calls.framework)
        self.results: dict[int, DType | None] = {}
        self.carried: dict[int, _Carried] = {}
        self.weak: set[int | None] = set()
        self.findings: list[Finding] = []
        self.by_line: dict[object, Finding] = {}
        self.unknown: Counter[str] = Counter()
        self.unexplained: Counter[str] = Counter()
        self.unwritten: Counter[str] = Counter()
        self.made: dict[str, str] = {}
        self.uniform = self.judged = 0
        self.verdicts: dict[object, Verdict | None] = {}
        self.dtypes = Dtypes(target, on, calls.framework, self.judge.written)
        self.available = Available(target, calls.framework)
        self.tables = Tables(source, target, self.judge.written)
        self.of_values_alone = of_values_alone(calls.calls)
        self.too_small = TooSmall(target)

    def run(self) -> Judged:
        for call in self.calls.calls:
            self.results[call.number] = call.result
            promotes = call.operator in self.known.promotes
            if is_weak(call, self.weak, promotes, self.calls.framework):
                self.weak.add(call.number)
            self.one(call)
        return Judged(
            self.target, tuple(self.findings), dict(self.unknown), dict(self.unexplained),
            self.uniform, dict(self.unwritten), self.made, self.judged,
            self.dtypes, self.given, self.available,
        )  # fmt: skip

    def one(self, call: Call) -> None:
        if not self.given.has(call):
            return
        before = len(self.findings)
        self.judge_promotion(call, call.operator, self.known.promotes.get(call.operator))
        if len(self.findings) == before:
            self.too_small.judge(call, self.found)
        refused = any(one.code == "SZ002" for one in self.findings[before:])
        dtypes = [] if refused else self.dtypes.judge(call)
        for verdict in [*dtypes, *self.available.judge(call)]:
            self.found(call, verdict)

    def judge_autocast(self, call: Call) -> bool:
        """Judge a call under autocast by the lists of both; False where these do not explain it."""
        roots = [self.origin(x) for x in autocast.floats_of(call)]
        there = [None if r is None else r.dtype for r in roots]
        found = autocast.judge(call, self.target, self.calls.level, there, self.judge.written)
        if found is None:
            return False
        self.judged += call.count
        if found.verdict is not None:
            root = next((r.root for r in roots if r is not None and found.follows), None)
            if root is not None:
                root.followers.append(call)
            else:
                root = self.found(call, found.verdict)
            if found.there is not found.was:
                self.carried[call.number] = _Carried(found.there, root)
        return True

    def judge_promotion(self, call: Call, name: str, promotion: Promotion | None) -> None:
        if call.autocast is not None and self.judge_autocast(call):
            return
        if self.by_table(call):
            return
        if name in self.known.chosen or "dtype" in dict(call.named):
            self.cast(call)
            return
        if promotion is not None and not any(n == "rounding_mode" for n, _ in call.named):
            taken = operands(call, promotion)
            if promotion.operator.name in OUTSIDE:
                known = all(rules.knows(promotion.operator) for rules in (self.source, self.target))
                if taken is None or not known:
                    self.follow(call)
                    return
                call = replace(call, way=None)  # what is written in place keeps its dtype anyway
            if taken is None or (call.result is None and self.calls.results):
                self.unexplained[name] += call.count
                return
            self.promoted(call, promotion.operator, taken)
        elif name in self.known.follows:
            self.follow(call)
        else:
            self.count_unknown(call)

    def by_table(self, call: Call) -> bool:
        """Judge a call by the tables of results; tell whether nothing else is to be asked."""
        found = self.tables.known(call)
        for row, was, there in found:
            if row.is_of_indices and call.number in self.of_values_alone:
                continue
            verdict = self.tables.verdict(call, row, was, there)
            if verdict is not None:
                finding = self.found(call, verdict)
                if not row.is_of_indices:
                    self.judged += call.count
                    self.carried[call.number] = _Carried(there, finding)
                    return True
        for row, was, _ in found:
            if row.is_of_indices:
                continue
            before = self.origin(row.operand) if row.operand is not None else None
            now = None if before is None else self.tables.asked(row, before.dtype)
            if before is not None and now is None:
                return False
            self.judged += call.count
            if before is not None and now is not None and now is not self.here(was):
                before.root.followers.append(call)
                self.carried[call.number] = _Carried(now, before.root)
            return True
        return False

    def cast(self, call: Call) -> None:
        """Judge a cast to a dtype that the target's tensors cannot be cast to."""
        first = next(iter(call.arguments), None)
        here = None if call.result is None else self.target.casts.get(call.result)
        if here is None or not isinstance(first, Taken) or first.operand.dtype is call.result:
            return
        # With a device, or as another tensor, it is a copy that keeps the dtype.
        given = [*call.arguments[1:], *(x for _, x in call.named)]
        if call.operator != "double" and (call.operator != "to" or given != [None]):
            return
        assert first.operand.dtype is not None
        gone = loss(first.operand.dtype, here)
        text = f"{here}, {call.result} in {self.source.name}" + (f": {gone}" if gone else "")
        fix = Fix(f"cast it on the CPU, or allow for {here}", "x.cpu().double()")
        asked = f"{call.operator}({first.operand}) to {call.result}"
        verdict = Verdict("SZ003" if gone else "SZ001", None, None, text, fix, asked)
        self.carried[call.number] = _Carried(here, self.found(call, verdict))

    def promoted(self, call: Call, op: Operator, taken: tuple[Taken, ...]) -> None:
        seen = tuple(_with_value(one, one.made_by in self.weak) for one in taken)
        into = self.written_to(call)
        source = self.judge.ask(self.source, op, seen)
        expected = None
        if source.output is not None:
            expected = written(self.source, call.way, source.output, into)
        if expected is not None and not self.calls.results:
            call = replace(call, result=expected.dtype)
        if call.result is None or expected is None or expected.dtype is not call.result:
            self.unexplained[call.operator] += call.count
            return
        if call.way is not None and call.way not in self.target.writes:
            there = self.judge.ask(self.target, op, seen).output
            uniform = {o.dtype for o in seen} <= {into, None}
            if into is None or not uniform or there is not self.here(into):
                self.unwritten[call.way] += call.count
                return
            # Where all have the dtype already it is written, however that is done.
        self.judged += call.count
        for one in taken:
            dt = one.operand.dtype
            if dt is not None and dt in self.target.made:
                self.made[dt.name] = self.target.made[dt].name
        extremes, own = _extremes(taken)
        key = op, seen, extremes, own, call.way, into
        if key not in self.verdicts:
            found = self.judge.judge(op, seen, extremes, call.way, into, own)
            self.verdicts[key] = found and with_own_values(found, taken)
        verdict = self.verdicts[key]
        if verdict is not None:
            assert verdict.target is not None
            finding = self.found(call, verdict)
            after = self.after(verdict.target.output, call.way, into)
            if self.target.results == "caller" and call.way is None:
                after = call.result  # the out that the caller allocates
            if after is not None and after is not self.judge.here(call.result):
                self.carried[call.number] = _Carried(after, finding)
            return
        self.carry(call, op, taken, seen, into)

    def found(self, call: Call, verdict: Verdict) -> Finding:
        """Return the finding of a line, made when the line is first met with such a verdict."""
        where = call.where
        line = where and replace(where, by=None, layer="")
        key = line, verdict.code, verdict.question, verdict.text, call.way, call.backward
        if key not in self.by_line:
            self.by_line[key] = Finding(call, verdict, self.target.name, 0)
            self.findings.append(self.by_line[key])
        finding = self.by_line[key]
        finding.count += call.count
        if where is not None:
            finding.callers.add((where.by, where.layer))
        return finding

    def carry(
        self,
        call: Call,
        op: Operator,
        taken: tuple[Taken, ...],
        seen: tuple[Operand, ...],
        into: DType | None,
    ) -> None:
        """Ask again with the dtypes that the target has by now."""
        roots = [self.origin(one) for one in taken]
        root = next((one.root for one in roots if one is not None), None)
        if root is None:
            return
        changed = [
            o if one is None else replace(o, dtype=one.dtype)
            for o, one in zip(seen, roots, strict=True)
        ]
        found = self.judge.ask(self.target, op, changed)
        if found.output is None:
            root.stopped_at.append((call, _why_stopped(found)))
            return
        if call.way is not None and roots[0] is not None:
            into = roots[0].dtype if call.way != "out" else into
        after = self.after(found.output, call.way, into)
        if after is not None and call.result is not None and after is not self.here(call.result):
            root.followers.append(call)
            self.carried[call.number] = _Carried(after, root)

    def follow(self, call: Call) -> None:
        """Carry the dtype of the first tensor on, where the source's result had it."""
        first = next((x for x in call.arguments if isinstance(x, Taken)), None)
        if first is None:
            first = next((x for _, x in call.named if isinstance(x, Taken)), None)
        if first is None or first.operand.dtype is not call.result:
            return
        carried = self.origin(first)
        if carried is not None:
            carried.root.followers.append(call)
            self.carried[call.number] = carried

    def count_unknown(self, call: Call) -> None:
        arguments = [*call.arguments, *(x for _, x in call.named)]
        tensors = [x.operand.dtype for x in arguments if isinstance(x, Taken)]
        tensors += [t.operand.dtype for x in arguments if isinstance(x, tuple) for t in x]
        dtypes = {dt for dt in (call.result, *tensors) if dt is not None}
        if len(dtypes) <= 1 and (call.result is not None or not self.calls.results):
            self.uniform += call.count
        else:
            self.unknown[call.operator] += call.count

    def origin(self, taken: Taken) -> _Carried | None:
        """Return what an operand is under the target, if a call that changed made it."""
        if taken.made_by is None or self.results.get(taken.made_by) is not taken.operand.dtype:
            return None  # a tensor that was given other data since
        return self.carried.get(taken.made_by)

    def written_to(self, call: Call) -> DType | None:
        if call.way is None:
            return None
        target = call.argument("out") if call.way == "out" else call.arguments[0]
        return target.operand.dtype if isinstance(target, Taken) else None

    def after(self, result: DType | None, way: str | None, into: DType | None) -> DType | None:
        if result is None:
            return None
        cell = written(self.target, way, result, into)
        return None if cell is None else cell.dtype

    def here(self, dt: DType) -> DType:
        return self.judge.here(dt)


def judge_calls(calls: Calls, source: RuleSet, target: RuleSet, on: tuple[str, ...] = ()) -> Judged:
    """Return what `target` changes of a program that ran under `source`.

    `on` are the chips that matter; by default a dtype is lacking only if it is on all of them.
    """
    return _Pass(calls, source, target, on).run()


def _why_stopped(found: Answer) -> str:
    """Return why the target refuses what it computes with by then: which dtypes meet."""
    gate = found.rules.gate(found.operator)
    if found.layer is not Layer.GATE or gate is None or gate.pairs:
        return found.reason
    dtypes = dict.fromkeys(o.dtype.name for o in found.operands if o.dtype is not None)
    return f"{' with '.join(dtypes)}, where it takes equal dtypes only"


def _extremes(taken: tuple[Taken, ...]) -> tuple[tuple[int | float, ...], OwnValues]:
    """Return the least and the greatest of the numbers, and those of tensors with their dtypes."""
    numbers: list[int | float] = []
    own: list[tuple[DType, int | float]] = []
    for one in taken:
        some = [x for x in (one.least, one.greatest) if x is not None]
        if one.operand.dtype is None:
            numbers += some
        else:
            own += [(one.operand.dtype, x) for x in some]
    return tuple(numbers), tuple(own)


def _with_value(taken: Taken, weak: bool) -> Operand:
    o = replace(taken.operand, weak=True) if weak else taken.operand
    if o.role is Role.NUMBER and taken.least == taken.greatest and taken.least is not None:
        return replace(o, value=taken.least)
    return o
