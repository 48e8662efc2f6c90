"""``strict``: the standard as printed: operands of different dtypes are refused.

But for true_divide, which 7.2.4.7.1 has make a floating-point number of any two dtypes.
"""

from __future__ import annotations

from collections.abc import Sequence

from suanzi.base.dtypes import DTYPES, DType, float32
from suanzi.promote.layers import NUMERIC_KINDS, Cell, Gate, default_alone, weak_number
from suanzi.promote.lossless import smallest
from suanzi.promote.operators import OUTSIDE, OperatorClass
from suanzi.promote.rules import RuleSet


def _quotient(a: DType, b: DType) -> Cell:
    floats = [d for d in (a, b) if d.kind in ("float", "complex")]
    if not floats:
        return Cell(float32, "a quotient of integers is of the default float")
    if len(floats) == 1:
        return Cell(floats[0], f"a quotient is of the dtype of its floats, {floats[0]}")
    wider = smallest(floats)
    return Cell(wider, f"{wider} is the narrowest that holds {a} and {b}")


def make(attributes: Sequence[str] = ()) -> RuleSet | None:
    """Return the rule set, which has no attributes."""
    if attributes:
        return None
    return RuleSet(
        name="strict",
        title="T/AI 131.1 as printed",
        version="T/AI 131.1-2025",
        source="T/AI 131.1-2025, clauses 7.2.4 to 7.2.8: unequal dtypes are STATUS_TYPE_MISMATCH",
        sources={"numbers": "T/AI 131.1-2025, clause 5.7"},
        dtypes=tuple(d for d in DTYPES if d.kind in NUMERIC_KINDS),
        pair=lambda a, b: Cell(None, f"{a} and {b} are not equal"),
        pairs={OperatorClass.TRUE_DIVISION: _quotient},
        gates=dict.fromkeys(OUTSIDE, Gate.parse("equal")),
        number=lambda dt, kind: weak_number(dt, kind, None),
        alone=default_alone(float32),
        floats={OperatorClass.REAL_FUNCTION: lambda dt: None},
        clause_statuses=True,
        notes=(
            "A Python number takes the dtype of the tensor where that can represent its kind.",
            "true_divide takes any two dtypes: the float's, or one that holds both floats.",
        ),
    )
