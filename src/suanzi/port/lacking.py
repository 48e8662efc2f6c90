"""SZ004: calls of operators that lack a dtype, and what is not known of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from suanzi._hints import nearest
from suanzi.dtypes import DType
from suanzi.port.calls import Call, Taken
from suanzi.port.findings import Verdict
from suanzi.port.support import Lack, lacks, support
from suanzi.promote.fixes import Fix, cast_code
from suanzi.promote.operands import Role
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import contains, loss
from suanzi.status import InvalidArgument


class Dtypes:
    """What a target's operators take of the calls of a program, as far as it is known."""

    def __init__(self, rules: RuleSet, on: tuple[str, ...] = (), source: str = "torch") -> None:
        self.rules, self.source = rules, source
        self.known = support(rules.name)
        self.chips = tuple(c for c in on if self.known is not None and c in self.known.chips)
        self.judged = 0
        """Calls whose dtypes were looked up."""
        self.partly: Counter[str] = Counter()
        """By chip, calls that lack their dtype there and have it elsewhere."""
        self.unlisted: Counter[str] = Counter()
        """Operators of which it is not known, with their calls."""

    @property
    def is_asked(self) -> bool:
        """Whether dtypes are judged: a chip was named, or all that matter are known."""
        return self.known is not None and bool(self.chips or not self.known.others)

    def judge(self, call: Call) -> list[Verdict]:
        """Return a verdict for each dtype that the operator of a call lacks."""
        if not self.is_asked:
            return []
        assert self.known is not None
        found = lacks(call, self.known, self.chips, self.source)
        if found is None:
            self.unlisted[call.operator] += call.count
            return []
        self.judged += call.count
        wanted = self.chips or self.known.chips
        whole = [one for one in found if one.chips == wanted or self.chips]
        for chip in wanted:
            if any(chip in one.chips for one in found if one not in whole):
                self.partly[chip] += call.count
        return [
            Verdict("SZ004", None, None, one.text, self.fix(one), _question(call)) for one in whole
        ]

    def fix(self, one: Lack) -> Fix | None:
        """Return the cast to a dtype that is taken: one that holds all values, or the widest."""
        options = [dt for dt in one.taken if dt.kind not in ("bool",)]
        holding = [dt for dt in options if contains(dt, one.dtype)]
        alike = [dt for dt in options if dt.kind == one.dtype.kind]
        best: DType | None = None
        if holding:
            best = min(holding, key=lambda dt: (dt.bits, dt.kind != one.dtype.kind, dt.name))
        elif alike:
            best = max(alike, key=lambda dt: (dt.bits, dt.name))
        if best is None:
            return None
        lost = loss(one.dtype, best)
        text = f"cast {one.dtype} to {best} before it, and back after it"
        return Fix(text + (f": {lost}" if lost else ""), cast_code(self.rules, "x", best))

    def notes(self) -> list[str]:
        """Return what is known for some chips alone, and of which operators nothing is."""
        name = self.rules.name
        said = []
        if self.known is not None and not self.is_asked:
            chips = ",".join(self.known.chips)
            said.append(
                f"not checked, dtypes of {name}'s operators: known for {chips} only "
                f"(add --on {chips})"
            )
        for chip, count in self.partly.items():
            calls = "1 call uses" if count == 1 else f"{count} calls use"
            said.append(
                f"{calls} dtypes that {name} does not support on {chip} (details: --on {chip})"
            )
        if self.unlisted:
            many = len(self.unlisted)
            said.append(
                f"not checked, dtypes of {many} operator{'s' * (many != 1)}: unknown for {name} "
                "(--json lists them)"
            )
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return what is known as plain data."""
        return {
            "sources": list(self.known.sources) if self.known else [],
            "chips": list(self.chips or (self.known.chips if self.known else ())),
            "judged": self.judged,
            "partly": dict(self.partly),
            "unlisted": dict(self.unlisted),
        }


def check_chips(on: Iterable[str], targets: Iterable[RuleSet]) -> tuple[str, ...]:
    """Return the chips that were named; raise for one that no target has.

    >>> from suanzi.promote.library import rule_set
    >>> check_chips(["910B"], [rule_set("cann")])
    ('910b',)
    """
    asked = tuple(chip.strip().lower() for chip in on if chip.strip())
    found = [support(rules.name) for rules in targets]
    known = list(dict.fromkeys(chip for one in found if one is not None for chip in one.chips))
    for chip in asked:
        if chip not in known:
            said = f"known are {', '.join(known)}" if known else "no chips of the targets are known"
            raise InvalidArgument(f"port: unknown chip {chip!r}; {said}.{nearest(chip, known)}")
    return asked


def _question(call: Call) -> str:
    """Return the operator and its operands as the other findings show them."""
    shown = []
    for x in (*call.arguments, *(x for _, x in call.named)):
        if isinstance(x, tuple):
            shown += [str(one.operand) for one in x]
        elif isinstance(x, Taken) and x.operand.role is not Role.NUMBER:
            shown.append(str(x.operand))
    return f"{call.operator}({', '.join(shown)})"
