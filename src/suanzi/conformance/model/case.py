"""A case: a call of one interface, and what must come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suanzi.conformance.model.basis import STANDARD_DTYPES, STRIDED, Basis, Why, why
from suanzi.conformance.model.expected import Check, Either, Expected, Output, Outputs, Refused
from suanzi.standard import Interface, interface

__all__ = [
    "GROUPS",
    "STANDARD_DTYPES",
    "STRIDED",
    "Case",
    "Check",
    "Either",
    "Expected",
    "Output",
    "Outputs",
    "Refused",
]

GROUPS = {
    "plain": "ordinary values of every dtype",
    "broadcast": "shapes that are stretched to one another",
    "strided": "tensors that do not lie row-major in memory",
    "empty": "no elements, and no axes",
    "special": "NaN, infinities, signed zeros, subnormals, extremes",
    "random": "random values from the seed",
    "sizes": "lengths around vectors, tiles and blocks, up to a million",
    "status": "every status that the clause lists",
    "promotion": "every cell of the promotion table",
    "example": "the worked examples of Appendix A",
}
"""What cases are for, in the order of the report."""


@dataclass(frozen=True)
class Case:
    """A call, and what must come of it; what that is, is computed when it is asked."""

    op: str
    group: str
    dtype: str
    title: str
    """What is tried, in a few words; with operator, group and dtype, no other has it."""
    arguments: Mapping[str, Any]
    """By the standard's names: numbers, strings, lists, None, and tensors as `Data`."""
    expect: Callable[[], Expected]
    rules: str | None = None
    """The rule set under which it is made, if that matters."""
    skip: str | None = None
    """Why it cannot be tried; it is counted all the same."""
    basis: Basis | None = None
    """Where its demand comes from; None if that follows from what it is."""
    because: str = ""
    """A sentence of its own on that, in place of the one that follows."""

    disputed: bool = False
    """Whether only its truth says if there are several readings of it."""

    steps: Sequence[Sequence[Any]] = ()
    """In place of one call, several, with what is written and read between them: lists of a word
    and what belongs to it, as `subjects.steps` has them. What is read is the outputs."""

    @property
    def id(self) -> str:
        """Its name, the same in every run and every version."""
        return f"{self.op}/{self.group}/{self.dtype}/{self.title.replace(' ', '-')}"

    @property
    def interface(self) -> Interface:
        """The interface it calls."""
        return interface(self.op)

    @property
    def outputs(self) -> Sequence[str]:
        """The names of what comes out."""
        if not self.steps:
            return self.interface.outputs
        return [f"{step[1]}, read as step {i}" for i, step in enumerate(self.steps, 1)
                if step[0] == "read"]  # fmt: skip

    @property
    def why(self) -> Why:
        """Where its demand comes from; the truth is worked out only where it is disputed."""
        return why(self)

    @property
    def extension(self) -> bool:
        """Whether it asks for something that the standard does not have."""
        return self.why.basis == "extension"
