"""Where the demand of a case comes from: the standard's letter, a reading of it, or neither.

Levels rest on the letter and on readings. A case may say its basis; of most it follows from what is
tried, by the rules below, the first that fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from suanzi.conformance.model.expected import Either, Expected, Refused
from suanzi.conformance.subjects.wire import Data

if TYPE_CHECKING:
    from suanzi.conformance.model.case import Case

Basis = Literal["letter", "reading", "quality", "extension"]
BASES: tuple[Basis, ...] = get_args(Basis)
MEANING: dict[Basis, str] = {
    "letter": "a clause, its table, or the chapters 5 and 6 say it",
    "reading": "the text contradicts itself, is silent, or only Appendix A says it: every answer "
    "that a reader can defend is right",
    "quality": "the standard does not ask for it: accuracy, signs of zeros, NaN, ties, no elements",
    "extension": "dtypes and layouts beyond 6.2, and comforts that the standard does not have",
}
DEMANDED: frozenset[Basis] = frozenset({"letter", "reading"})
"""What levels rest on."""

STANDARD_DTYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
    "complex128".split()
)
"""The dtypes of clause 6.2; others are extensions, and not to have them is no failure."""
STRIDED = frozenset({"gaps", "reversed", "repeated"})
"""Layouts that take strides, which the structures of A.1 do not have: extensions, too."""


@dataclass(frozen=True)
class Why:
    """Where a demand comes from."""

    basis: Basis
    clause: str
    """The clause, or the erratum of a reading."""
    sentence: str
    """What it says, in our own words."""

    def __str__(self) -> str:
        return f"{self.basis}, {self.clause}: {self.sentence}"


def why(case: Case, expected: Expected | None = None) -> Why:
    """Return where the demand of a case comes from; what is expected tells more, if it is known."""
    found = _derived(case)
    if isinstance(expected, Either) and case.basis is None and found.basis != "extension":
        names = " or ".join(expected.readings)
        found = Why("reading", expected.erratum, f"the text leaves open: {names}")
    basis = case.basis or found.basis
    return Why(basis, found.clause, case.because or found.sentence)


def _derived(case: Case) -> Why:
    clause = case.interface.clause
    for dtype in case.dtype.split("-"):
        if dtype not in STANDARD_DTYPES and dtype != "any":
            return Why("extension", "6.2", f"{dtype} is no dtype of the standard")
    given = [one for x in case.arguments.values() for one in (x if isinstance(x, list) else [x])]
    for x in given:
        if isinstance(x, Data) and x.layout in STRIDED:
            return Why("extension", "6.3", "the layouts of the standard have no strides")
    if case.group == "status" and case.skip is None:
        expected = case.expect()
        if isinstance(expected, Refused) and not any(
            s in case.interface.statuses for s in expected.statuses
        ):
            return Why("quality", clause, f"the clause does not list {expected.status.name}")
    if case.group in ("empty", "special"):
        return Why("quality", clause, "the clause does not speak of such values and lengths")
    if case.group == "example":
        return Why("reading", clause, "an example of Appendix A, which is informative")
    return Why("letter", clause, "the function of the clause")
