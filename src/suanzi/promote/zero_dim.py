"""What a 0-d tensor counts as next to one with axes, in the three forms that frameworks have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanzi.base.dtypes import DType
from suanzi.promote.layers import Cell, kind_rank

if TYPE_CHECKING:
    from suanzi.promote.rules import RuleSet


@dataclass(frozen=True)
class ZeroDimRule:
    """A rule for a dimensioned dtype with a different 0-d one."""

    word: str
    """What a text table calls it."""
    text: str
    """What a 0-d tensor does under it."""
    answer: Callable[[RuleSet, DType, DType], Cell] | None
    """None: it counts as a tensor, gate included."""


def _by_category(rules: RuleSet, dim: DType, zero: DType) -> Cell:
    if kind_rank(dim.kind) >= kind_rank(zero.kind):
        return Cell(dim, f"a 0-d {zero} is of no higher category than {dim}, so it does not count")
    higher = f"a 0-d {zero} is of a higher category than {dim}"
    as_number = rules.number(dim, zero.kind if zero.kind != "uint" else "int")  # type: ignore[arg-type]
    if dim.kind == "float" and as_number.dtype is not None:
        return Cell(as_number.dtype, f"{higher}, and leaves its width")
    cell = rules.pair(dim, zero)
    if cell.dtype is None and zero.kind in ("float", "complex") and as_number.dtype is not None:
        return Cell(zero, f"{higher}, and counts like a number of its kind")
    return Cell(cell.dtype, f"{higher}: {cell.reason}")


def _by_kind(rules: RuleSet, dim: DType, zero: DType) -> Cell:
    if kind_rank(dim.kind) == kind_rank(zero.kind):
        return Cell(dim, f"a 0-d {zero} is of the kind of {dim}, so the tensor keeps its dtype")
    cell = rules.pair(dim, zero)
    return Cell(cell.dtype, f"a 0-d {zero} is of another kind than {dim}: {cell.reason}, no gate")


def _by_table(rules: RuleSet, dim: DType, zero: DType) -> Cell:
    cell = rules.pair(dim, zero)
    return Cell(cell.dtype, f"{cell.reason}, no gate for a 0-d {zero}")


AS_TENSOR = ZeroDimRule("tensor", "counts as a dimensioned tensor", None)
RULES: dict[str, ZeroDimRule] = {
    rule.word: rule
    for rule in (
        AS_TENSOR,
        ZeroDimRule("category", "counts only if its category is higher", _by_category),
        ZeroDimRule("kind", "is ignored next to a tensor of its kind; no gate", _by_kind),
        ZeroDimRule("table", "counts as a dimensioned tensor; no gate", _by_table),
    )
}
"""The rules a text table can name: PyTorch's is `category`, Paddle's `kind`."""
