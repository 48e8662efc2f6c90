"""A case: a call of one interface, and what must come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from suanzi.conformance.model.numbers import Value
from suanzi.conformance.subjects.wire import Data
from suanzi.standard import Interface, interface
from suanzi.status import Status

GROUPS = {
    "plain": "ordinary values of every dtype",
    "broadcast": "shapes that are stretched to one another",
    "strided": "tensors that do not lie row-major in memory",
    "empty": "no elements, and no axes",
    "special": "NaN, infinities, signed zeros, subnormals, extremes",
    "random": "random values from the seed",
    "status": "every status that the clause lists",
    "promotion": "every cell of the promotion table",
    "example": "the worked examples of Appendix A",
}
"""What cases are for, in the order of the report."""

STANDARD_DTYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
    "complex128".split()
)
"""The dtypes of clause 6.2; others are extensions, and not to have them is no failure."""
STRIDED = frozenset({"gaps", "reversed", "repeated"})
"""Layouts that take strides, which the structures of A.1 do not have: extensions, too."""


@dataclass(frozen=True)
class Output:
    """What one output tensor must be.

    `truth` is not rounded. Without `ulp` and `allowed`, the answer is the truth rounded once to the
    dtype, to the bit; narrow floats may be rounded to float32 before.
    """

    dtype: str
    shape: tuple[int, ...]
    truth: tuple[Value, ...]
    """In row-major order."""
    ulp: float | None = None
    """The largest error, in units of the last place of the truth."""
    allowed: tuple[Fraction, ...] | None = None
    """The largest error of each element, where it does not follow from its size, as in a sum."""
    zero_sign: bool = True
    """Whether the sign of a zero counts."""
    scale: tuple[float, ...] | None = None
    """Of a quantised tensor, whose truth are the integers it stores."""
    zero_point: int | None = None
    sparse: str | None = None
    """The kind of layout of a sparse tensor, whose truth are all of its elements."""


@dataclass(frozen=True)
class Refused:
    """The call must return a status that is no success, and no output."""

    status: Status
    instead: Outputs | None = None
    """What a subject without status codes may return: NaN outside a domain, as IEEE 754 has it."""


@dataclass(frozen=True)
class Check:
    """What must hold of the outputs where they can be more than one thing."""

    name: str
    """A function of :mod:`suanzi.conformance.judging.checks`."""
    facts: Mapping[str, Any]


Outputs = tuple["Output | Check | Any", ...]
"""One for each output of the interface: a tensor, a list of them, or a plain value."""
Expected = Outputs | Refused | Check


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

    @property
    def id(self) -> str:
        """Its name, the same in every run and every version."""
        return f"{self.op}/{self.group}/{self.dtype}/{self.title.replace(' ', '-')}"

    @property
    def interface(self) -> Interface:
        """The interface it calls."""
        return interface(self.op)

    @property
    def extension(self) -> bool:
        """Whether it has a dtype or a layout that the standard does not have."""
        if any(part not in STANDARD_DTYPES for part in self.dtype.split("-") if part != "any"):
            return True
        given = [
            one for x in self.arguments.values() for one in (x if isinstance(x, list) else [x])
        ]
        return any(isinstance(x, Data) and x.layout in STRIDED for x in given)
