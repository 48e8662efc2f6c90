"""Explanation: an answer with the layer and the cell it came from, what is lost, and the fix."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from suanzi.base.dtypes import DType
from suanzi.base.lang import said, say
from suanzi.base.status import InvalidArgument
from suanzi.base.text import columns
from suanzi.promote.engine import Answer, Layer
from suanzi.promote.fixes import Fix, fix_for, fix_keeping, losses, same, unknown_losses, wanted_by
from suanzi.promote.results import results
from suanzi.promote.rounding import Rounded, rounded
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import Loss, Real

if TYPE_CHECKING:
    from suanzi.base.html import Mark

# The entry of RuleSet.sources that a layer comes from, and suanzi's own layers.
SOURCES = {
    Layer.NUMBER: "numbers",
    Layer.ZERO_DIM: "zero-d",
    Layer.GATE: "gate",
    Layer.FLOAT: "float",
    Layer.TURNED: "float",
    Layer.MADE: "made",
}
OURS = {
    Layer.SEVERAL: "all operands at once, as numpy.result_type and jax.numpy.result_type do",
    Layer.QUANTIZED: "quantised values are real values",
    Layer.EQUAL: "equal dtypes need no promotion",
    Layer.EXACT: "values are compared, not dtypes",
    Layer.INTEGERS_ONLY: "T/AI 131.1-2025, clause 7.2.7",
}


@dataclass(frozen=True, repr=False)
class Explanation:
    """What a rule set says about some operands, why, what is lost and how to fix it.

    It prints as text in a terminal and as a table in a notebook.
    """

    answer: Answer
    like: RuleSet | None = None
    """The rule set whose result is to be kept: that of the program's framework."""

    @property
    def dtype(self) -> DType | None:
        """The dtype the operands are converted to; None for a refusal."""
        return self.answer.dtype

    @property
    def output(self) -> DType | None:
        """The dtype of the operator's result: bool for comparison and logic."""
        return self.answer.output

    @property
    def rules(self) -> RuleSet:
        """The rule set of the answer."""
        return self.answer.rules

    @property
    def refused(self) -> bool:
        """Whether the rule set refuses these operands."""
        return self.answer.dtype is None

    @property
    def layer(self) -> str:
        """The layer that decided: ``"table"``, ``"gate"``, ``"0-d tensor"``, ..."""
        return self.answer.layer.value

    @property
    def reason(self) -> str:
        """The cell, or the sentence, that decided."""
        return self.answer.reason

    @property
    def source(self) -> str:
        """The document, with its version, that the deciding layer comes from."""
        rules, layer = self.rules, self.answer.layer
        if layer in OURS:
            return f"suanzi: {OURS[layer]}"
        if layer is Layer.FLOAT and "float" not in rules.sources:
            return f"T/AI 131.1-2025: floating-point only; the default float of {rules.title}"
        if layer is Layer.RESULT and (table := results(rules.name)) is not None:
            return f"{rules.title} ({table.version}): {table.source}"
        source = rules.sources.get(SOURCES.get(layer, ""), rules.source)
        return f"{rules.title} ({rules.version}): {source}"

    @cached_property
    def losses(self) -> tuple[Loss, ...]:
        """What each operand loses, with a counter-example found by computation."""
        return losses(self.answer)

    @property
    def exact(self) -> bool | None:
        """Whether every value of every operand survives; None where the values are not known."""
        if self.refused or self.losses:
            return False
        return None if unknown_losses(self.answer) else True

    @property
    def counter_example(self) -> int | float | complex | None:
        """The simplest value that is lost, or None."""
        if not self.losses:
            return None
        value = self.losses[0].value
        return value if isinstance(value, int | complex) else float(value)

    @cached_property
    def rounded(self) -> Rounded | None:
        """When operands are rounded, with an example; None where it is not known or no matter."""
        return rounded(self.answer)

    @cached_property
    def wanted(self) -> Answer | None:
        """What the rule set `like` says about the operands; None without one."""
        return None if self.like is None else wanted_by(self.answer, self.like)

    @property
    def differs(self) -> bool:
        """Whether another dtype is computed in than under `like`."""
        return self.wanted is not None and not same(self.answer, self.wanted)

    @cached_property
    def fixes(self) -> tuple[Fix, ...]:
        """The fixes: what keeps the result of `like` first, then what loses no values, or least."""
        keeps = None if self.wanted is None else fix_keeping(self.answer, self.wanted)
        lossless = fix_for(self.answer)
        if keeps is not None and lossless is not None and keeps.code == lossless.code != "":
            lossless = None  # the same casts
        return tuple(fix for fix in (keeps, lossless) if fix is not None)

    @property
    def fix(self) -> Fix | None:
        """How to fix the difference, the loss or the refusal: the first of `fixes`."""
        return self.fixes[0] if self.fixes else None

    @property
    def title(self) -> str:
        """The question and its answer in one line."""
        names = ", ".join(str(o) for o in self.answer.operands)
        op = self.answer.operator.title
        question = f"{op}({names})" if op else names
        if self.dtype is None:
            return f"{question} -> refused"
        if self.output is not self.dtype:
            return f"{question} -> {self.output}, computed in {self.dtype}"
        return f"{question} -> {self.dtype}"

    def lines(self) -> list[tuple[str, str]]:
        """Return the explanation as labelled lines."""
        steps = [f"{step.layer.value}: {step.text}" for step in self.answer.decisions]
        lines = [("rules", f"{self.rules.name}, {self.rules.title}")]
        lines += [("" if i else "why", step) for i, step in enumerate(dict.fromkeys(steps))]
        lines += [("source", self.source)]
        lines += [
            ("lost", f"{x.source} in {x.target}: {x}" if x.source else f"{x}, in {x.target}")
            for x in self.losses
        ]
        if self.exact:
            lines.append(("lost", "nothing: every value survives"))
        elif self.exact is None:
            lines.append(("lost", "unknown: it depends on the values"))
        if self.rounded is not None:
            lines.append(("rounded", str(self.rounded)))
        if self.wanted is not None:
            lines.append((self.wanted.rules.name, self._compared(self.wanted)))
        for label, fix in zip(("fix", "or"), self.fixes, strict=False):
            lines.append((label, fix.text))
            if fix.code:
                lines.append(("", fix.code))
        return lines

    def _compared(self, wanted: Answer) -> str:
        """Return the answer of the rule set `like`, and the reason if it differs."""
        if not self.differs:
            return "the same" if wanted.dtype is not None else "refused, too"
        why = f"{wanted.layer.value}: {wanted.reason}"
        if wanted.dtype is None:
            return f"refused, {why}"
        lacks = "" if wanted.dtype in self.rules.dtypes else f", which {self.rules.title} lacks"
        return f"{wanted.dtype}{lacks}, {why}"

    def __str__(self) -> str:
        return f"{say(self.title)}\n{columns(said(self.lines()), indent=2)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from suanzi.base.html import Cell, page, table

        rows = [
            (say(label), Cell(say(text), _mark(self)) if label == "lost" else say(text))
            for label, text in self.lines()
        ]
        return page(table((), rows, row_heads=True, caption=say(self.title)))

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data, as ``--json`` prints it."""
        return {
            "operands": [str(o) for o in self.answer.operands],
            "op": self.answer.operator.title or None,
            "rules": self.rules.name,
            "version": self.rules.version,
            "dtype": self.dtype and self.dtype.name,
            "output": self.output and self.output.name,
            "refused": self.refused,
            "layer": self.layer,
            "reason": self.reason,
            "steps": [
                {"layer": s.layer.value, "text": s.text, "dtype": s.dtype and s.dtype.name}
                for s in self.answer.steps
            ],
            "source": self.source,
            "exact": self.exact,
            "lost": [
                {
                    "operand": one.source.name if one.source else "number",
                    "value": _plain(one.value),
                    "becomes": _plain(one.becomes),
                    "overflows_at": None if one.overflow is None else _plain(one.overflow),
                    "reason": one.reason,
                }
                for one in self.losses
            ],
            "rounded": self.rounded and self.rounded.to_dict(),
            "fix": self.fix and {"text": self.fix.text, "code": self.fix.code},
            **self._kept(),
        }

    def _kept(self) -> dict[str, Any]:
        """Return the part about `like` as plain data; empty without it."""
        if self.wanted is None:
            return {}
        wanted = self.wanted
        return {
            "like": {
                "rules": wanted.rules.name,
                "version": wanted.rules.version,
                "dtype": wanted.dtype and wanted.dtype.name,
                "output": wanted.output and wanted.output.name,
            },
            "differs": self.differs,
            "fixes": [{"text": fix.text, "code": fix.code} for fix in self.fixes],
        }


def _plain(value: Real | complex) -> int | float | str:
    """Return a value as JSON can hold it: a number, or text for what is none there."""
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value if isinstance(value, int) else float(value)


def _mark(one: Explanation) -> Mark:
    """Return how an answer stands out in a notebook."""
    return "refused" if one.refused else "good" if one.exact else "lossy"


_LOST = {True: "nothing", None: "unknown", False: "-"}


@dataclass(frozen=True, repr=False)
class Explanations:
    """The same question put to several rule sets."""

    explanations: tuple[Explanation, ...]

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.explanations)

    def __len__(self) -> int:
        return len(self.explanations)

    def __getitem__(self, rules: str) -> Explanation:
        found = next((e for e in self.explanations if e.rules.name == rules), None)
        if found is None:
            names = ", ".join(e.rules.name for e in self.explanations)
            raise InvalidArgument(f"{rules!r} is not one of these rule sets: {names}.")
        return found

    header = ("rules", "dtype", "lost", "why")

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return one row per rule set: name, dtype, what is lost, why."""
        return [
            (
                e.rules.name,
                "refused" if e.dtype is None else e.dtype.name,
                "; ".join(str(one) for one in e.losses) or _LOST[e.exact],
                f"{e.layer}: {e.reason}",
            )
            for e in self.explanations
        ]

    @property
    def question(self) -> str:
        """The operands, and the operator if one was named."""
        return self.explanations[0].title.partition(" -> ")[0]

    def __str__(self) -> str:
        rows = [*said([self.header]), *said(self.rows(), names=(0,))]
        return f"{self.question}\n{columns(rows, indent=2)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from suanzi.base.html import Cell, page, table

        rows = [
            (name, Cell(dtype, _mark(one)), Cell(lost, _mark(one)), why)
            for one, (name, dtype, lost, why) in zip(
                self, said(self.rows(), names=(0,)), strict=True
            )
        ]
        return page(table(said([self.header])[0], rows, row_heads=True, caption=self.question))

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the explanations as plain data."""
        return [e.to_dict() for e in self.explanations]
