"""Which dtype autocast of several frameworks gives for one operator, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from suanzi.base.dtypes import DType, bfloat16, float16, float64
from suanzi.base.hints import nearest
from suanzi.base.lang import said, say
from suanzi.base.status import InvalidArgument, StatusError
from suanzi.base.text import columns
from suanzi.port.autocast import LISTS, SAYS, Lists, read
from suanzi.promote.engine import answer
from suanzi.promote.library import rule_set
from suanzi.promote.operands import Operand, operand
from suanzi.promote.operators import operator
from suanzi.promote.rules import RuleSet


@dataclass(frozen=True)
class Row:
    """What autocast does at one level, or on one device, of a framework."""

    rules: str
    title: str
    """The framework with its device or level; empty where it has no autocast."""
    computed: DType | None
    """None: not known, or refused."""
    result: DType | None
    why: str
    source: str = ""


@dataclass(frozen=True, repr=False)
class UnderAutocast:
    """What autocast makes of one operator, by framework."""

    op: str
    operands: tuple[Operand, ...]
    lower: DType
    """The lower precision."""
    found: tuple[Row, ...]

    header = ("rules", "autocast", "computed in", "result", "why")

    @property
    def question(self) -> str:
        """The operator and its operands."""
        return f"{self.op}({', '.join(map(str, self.operands))}) under autocast to {self.lower}"

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Return the rows of the table."""
        return [
            (row.rules, row.title or "-", str(row.computed or "-"), str(row.result or "-"), row.why)
            for row in self.found
        ]

    def __str__(self) -> str:
        rows = [*said([self.header]), *said(self.rows(), names=(0, 1))]
        return f"{say(self.question)}\n{columns(rows, indent=2)}"

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "op": self.op,
            "operands": [str(one) for one in self.operands],
            "lower": self.lower.name,
            "autocast": [
                {
                    "rules": row.rules,
                    "title": row.title or None,
                    "computed": row.computed and row.computed.name,
                    "result": row.result and row.result.name,
                    "why": row.why,
                    "source": row.source or None,
                }
                for row in self.found
            ],
        }


def explain_autocast(
    *operands: Any, op: str, rules: str | Iterable[str | RuleSet] = tuple(LISTS)
) -> UnderAutocast:
    """Return which dtype autocast gives for an operator, by PyTorch's name, at each of its levels.

    The lower precision is bfloat16, and float16 if an operand has it.

    >>> explain_autocast("f32", "f32", op="bmm", rules="torch,paddle")
    bmm(float32, float32) under autocast to bfloat16
      rules   autocast            computed in  result    why
      torch   PyTorch on CUDA     bfloat16     bfloat16  casts to the lower precision
      torch   PyTorch on the CPU  bfloat16     bfloat16  casts to the lower precision
      paddle  Paddle O1           float32      float32   does not cast
      paddle  Paddle O2           bfloat16     bfloat16  casts to the lower precision
    """
    given = tuple(operand(one) for one in operands)
    floats = [one.dtype for one in given if one.dtype is not None and one.dtype.kind == "float"]
    if not floats:
        raise InvalidArgument("explain: autocast casts tensors of floats; give the dtype of one.")
    if float64 in floats:
        raise InvalidArgument(
            "explain: autocast does not cast float64; give operands of float32 or less."
        )
    known = {name for files in LISTS.values() for file in files for name in read(file).policies}
    if op not in known and not _is_operator(op):
        raise InvalidArgument(
            f"explain: no list of autocast has the operator {op!r}; it takes PyTorch's names."
            f"{nearest(op, sorted(known))}"
        )
    names = rules.split(",") if isinstance(rules, str) else rules
    asked = [rule_set(one.strip() if isinstance(one, str) else one) for one in names]
    lower = float16 if float16 in floats else bfloat16
    found = [
        _row(one, read(file), op, given, floats, lower)
        for one in asked
        for file in LISTS.get(one.name, ())
    ]
    found += [
        Row(one.name, "", None, None, "has no autocast: the program casts")
        for one in asked
        if one.name not in LISTS
    ]
    return UnderAutocast(op, given, lower, tuple(found))


def _row(
    rules: RuleSet, lists: Lists, op: str, given: tuple[Operand, ...], floats: list[DType],
    lower: DType,
) -> Row:  # fmt: skip
    policy = lists.policy(op)
    if policy is None:
        why = "not in its lists, and may be made of others"
        return Row(rules.name, lists.title, None, None, why, lists.source)
    computed = lists.computed(op, lower, floats)
    why = SAYS[policy]
    if policy == "others" and len(set(floats)) > 1:
        computed, reason = _promoted(rules, op, given)
        why = f"{why}: {reason}"
    if computed is None:
        return Row(rules.name, lists.title, None, None, why, lists.source)
    result = lists.result(op, computed)
    if result is not computed:
        why += f", and the result back to {result}"
    return Row(rules.name, lists.title, computed, result, why, lists.source)


def _is_operator(op: str) -> bool:
    """Tell whether rule sets know an operator."""
    try:
        operator(op)
    except StatusError:
        return False
    return True


def _promoted(rules: RuleSet, op: str, given: tuple[Operand, ...]) -> tuple[DType | None, str]:
    """Return what the rules give without autocast, and why; None where they do not say."""
    try:
        found = answer(given, rules, operator(op))
    except StatusError:
        return None, "what it does with these dtypes is not known"
    return found.dtype, found.reason
