"""promote_types and result_type: an answer as a dtype, a refusal as TypeMismatch."""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.dtypes import DType, DTypeLike, dtype
from suanzi.promote.context import rules_in_force
from suanzi.promote.engine import Answer, answer
from suanzi.promote.mend import mend
from suanzi.promote.operators import OperatorClass
from suanzi.promote.rules import RuleSet
from suanzi.status import InvalidArgument, TypeMismatch


@_core.accelerate_promote_types
def promote_types(
    a: DTypeLike, b: DTypeLike, /, *, rules: str | RuleSet | None = None
) -> DType:
    """Return the dtype that two tensors of dtypes `a` and `b` are computed in.

    `rules` is a rule set or its name; without it, the rule set in force. A refusal raises
    TypeMismatch.

    >>> import suanzi as sz
    >>> sz.promote_types(sz.int32, sz.bfloat16)
    suanzi.bfloat16
    >>> sz.promote_types("i32", "f16", rules="numpy")
    suanzi.float64
    """
    return _dtype_of(answer((dtype(a), dtype(b)), rules_in_force(rules)))


def result_type(
    *operands: Any, rules: str | RuleSet | None = None, op: str | OperatorClass | None = None
) -> DType:
    """Return the dtype in which an operator computes with these operands, taken all at once.

    An operand is a dtype (a dimensioned tensor of it), ``ZeroDim(dtype)``, a tensor, a Python
    number, or ``Number(type)`` for any number of a type. `op` is an operator (``"add"``, ``"=="``)
    or a class of operators (``"comparison"``): rule sets can gate them differently. Comparison and
    logic give bool whatever the dtype they compute in.

    >>> import suanzi as sz
    >>> sz.result_type(sz.int8, 2.5)
    suanzi.float32
    >>> sz.result_type(sz.int8, sz.ZeroDim(sz.int64), rules="torch")
    suanzi.int8
    >>> sz.result_type(sz.int32, op="exp")
    suanzi.float32
    """
    if not operands:
        raise InvalidArgument("result_type: there is no operand; give at least one.")
    return _dtype_of(answer(operands, rules_in_force(rules), op))


def _dtype_of(found: Answer) -> DType:
    if found.dtype is None:
        raise TypeMismatch(refusal(found))
    return found.dtype


def refusal(found: Answer) -> str:
    """Return the sentence that says what was refused, by whom, why, and what would mend it."""
    where = f"{found.operator}: " if found.operator else ""
    names = " and ".join(str(o) for o in found.operands)
    verb = "have no common dtype" if len(found.operands) > 1 else "is refused"
    fix = mend(found)
    return (
        f"{where}{names} {verb} under {found.rules.name} ({found.rules.title}): {found.reason}."
        + (f" {fix.text[0].upper()}{fix.text[1:]}." if fix else "")
    )
