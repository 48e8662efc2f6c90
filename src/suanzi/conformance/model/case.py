"""A case: a call of one interface, and its expected results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
    "broadcast": "shapes that are broadcast",
    "strided": "tensors that are not row-major in memory",
    "empty": "tensors without elements or axes",
    "special": "NaN, infinities, signed zeros, subnormals, extremes",
    "random": "random values from the seed",
    "sizes": "lengths around vectors, tiles and blocks, up to a million",
    "calls": "outputs during later calls, two threads, the memory of many calls",
    "status": "every status that the clause lists",
    "promotion": "every cell of the promotion table",
    "example": "the worked examples of Appendix A",
}
"""The groups of cases, in the order of the report."""


@dataclass(frozen=True)
class Case:
    """A call and its expected results, which are computed when needed."""

    op: str
    group: str
    dtype: str
    title: str
    """What is tested, in a few words; unique together with operator, group and dtype."""
    arguments: Mapping[str, Any]
    """By the standard's names: numbers, strings, lists, None, and tensors as `Data`."""
    expect: Callable[[], Expected]
    rules: str | None = None
    """The rule set under which it is called, if that matters."""
    skip: str | None = None
    """Why it cannot be tested; it is counted nevertheless."""
    basis: Basis | None = None
    """Its basis; None if that follows from the call."""
    because: str = ""
    """The reason for its basis, instead of the derived one."""

    disputed: bool = False
    """Whether only its expected result shows if there are several interpretations."""

    steps: Sequence[Sequence[Any]] = ()
    """Several calls instead of one, with writes and reads between them: lists of a word and its
    arguments, as in `subjects.steps`. The outputs are what the steps read."""

    @property
    def id(self) -> str:
        """Its name, the same in every run and every version."""
        return f"{self.op}/{self.group}/{self.dtype}/{self.title.replace(' ', '-')}"

    @cached_property
    def interface(self) -> Interface:
        """The interface it calls."""
        return interface(self.op)

    @property
    def outputs(self) -> Sequence[str]:
        """The names of the outputs."""
        if not self.steps:
            return self.interface.outputs
        return [f"{step[1]}, read as step {i}" for i, step in enumerate(self.steps, 1)
                if step[0] == "read"]  # fmt: skip

    @property
    def why(self) -> Why:
        """Its basis; the expected result is computed only where it is disputed."""
        return why(self)

    @property
    def extension(self) -> bool:
        """Whether it tests something that the standard does not have."""
        return self.why.basis == "extension"
