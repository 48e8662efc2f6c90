"""``strict``: the standard read to the letter: operands of different dtypes do not go together."""

from __future__ import annotations

from collections.abc import Sequence

from suanzi.dtypes import DTYPES, DType, float32
from suanzi.promote.cells import NUMERIC_KINDS, Cell
from suanzi.promote.layers import default_alone, weak_number
from suanzi.promote.operands import NumberKind
from suanzi.promote.operators import OperatorClass
from suanzi.promote.rules import RuleSet


def _pair(a: DType, b: DType) -> Cell:
    return Cell(None, f"{a} and {b} are not equal")


def _number(dt: DType, kind: NumberKind) -> Cell:
    return weak_number(dt, kind, None)


def make(attributes: Sequence[str] = ()) -> RuleSet | None:
    """Return the rule set, which has no attributes."""
    if attributes:
        return None
    return RuleSet(
        name="strict",
        title="T/AI 131.1 to the letter",
        version="T/AI 131.1-2025",
        source="T/AI 131.1-2025, clauses 7.2.4 to 7.2.8: unequal dtypes are STATUS_TYPE_MISMATCH",
        sources={"numbers": "T/AI 131.1-2025, clause 5.7"},
        dtypes=tuple(d for d in DTYPES if d.kind in NUMERIC_KINDS),
        pair=_pair,
        number=_number,
        alone=default_alone(float32),
        floats={OperatorClass.REAL_FUNCTION: lambda dt: None},
        notes=("A Python number takes the dtype of the tensor where that can represent its kind.",),
    )
