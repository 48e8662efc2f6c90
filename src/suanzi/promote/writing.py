"""What becomes of a promoted result that is written into a tensor: ``x += y``, ``x.add_(y)``, out=.

Frameworks know four ways. Two keep the dtype of the tensor and refuse what is of a higher kind; in
one nothing is written, and the name stands for another tensor from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from suanzi.base.dtypes import DType
from suanzi.promote.layers import Cell, kind_rank

WAYS = ("in-place", "in-place method", "out")
"""How a result is written: by ``x += y``, by a method such as ``x.add_(y)``, by ``out=x``."""


@dataclass(frozen=True)
class WriteRule:
    """What a tensor of one dtype does with a result of another."""

    word: str
    """What a text table calls it."""
    text: str
    answer: Callable[[DType, DType], Cell]
    """From the promoted dtype and the dtype of the target tensor to the dtype after the write."""


def _category(result: DType, target: DType) -> Cell:
    if kind_rank(result.kind) > kind_rank(target.kind):
        return Cell(None, f"{result} is of a higher category than {target} that is written to")
    return Cell(target, f"{target} written to keeps its dtype")


_SAME_KIND = ("bool", "uint", "int", "float", "complex")


def _same_kind(result: DType, target: DType) -> Cell:
    if _SAME_KIND.index(result.kind) > _SAME_KIND.index(target.kind):
        return Cell(None, f"{result} is not of the kind of {target} that is written to")
    return Cell(target, f"{target} written to keeps its dtype")


RULES: dict[str, WriteRule] = {
    rule.word: rule
    for rule in (
        WriteRule("category", "keeps its dtype; a result of a higher category is refused",
                  _category),
        WriteRule("same kind", "keeps its dtype; refused is what is later in bool, unsigned, "
                  "integer, float, complex", _same_kind),
        WriteRule("rebinds", "is not written to: the name stands for a new tensor of the promoted "
                  "dtype", lambda result, target: Cell(result, f"a new tensor of {result}")),
        WriteRule("none", "does not exist", lambda result, target: Cell(None, "it does not exist")),
    )
}  # fmt: skip
"""The rules a text table can name; PyTorch's is `category`, NumPy's `same kind`."""
