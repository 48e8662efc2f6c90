"""Cell, what one layer answers, and the order of kinds in promotion."""

from __future__ import annotations

from dataclasses import dataclass

from suanzi.dtypes import DType

_KIND_RANKS = {"bool": 0, "int": 1, "uint": 1, "float": 2, "complex": 3}
NUMERIC_KINDS = tuple(_KIND_RANKS)
"""The kinds of dtypes that promote; char and quantised dtypes do not."""


def kind_rank(kind: str) -> int:
    """Return the place of a kind, of a dtype or of a number, in bool < int < float < complex.

    >>> kind_rank("uint") == kind_rank("int") < kind_rank("float")
    True
    """
    return _KIND_RANKS[kind]


@dataclass(frozen=True, slots=True)
class Cell:
    """One answer of one layer: a dtype, or None for a refusal, and why."""

    dtype: DType | None
    reason: str
