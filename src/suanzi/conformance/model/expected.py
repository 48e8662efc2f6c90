"""Expected results of a call: outputs, a refusal, a property, or one of several interpretations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from suanzi.conformance.model.numbers import Value
from suanzi.conformance.model.picked import Picked
from suanzi.status import Status


@dataclass(frozen=True)
class Output:
    """The expected value of an output tensor.

    `truth` is not rounded. Without `ulp` and `allowed`, the result is the truth rounded once to the
    dtype, to the bit; narrow floats may be rounded to float32 before.
    """

    dtype: str
    shape: tuple[int, ...]
    truth: tuple[Value, ...] | Picked[Value]
    """In row-major order."""
    ulp: float | None = None
    """The largest error, in units in the last place of the truth."""
    allowed: tuple[Fraction, ...] | Picked[Fraction] | None = None
    """The largest error of each element, where it does not follow from its size, as in a sum."""
    zero_sign: bool = True
    """Whether the sign of a zero counts."""
    free: tuple[int, ...] = ()
    """The elements of which nothing is required: casts of numbers out of range."""
    scale: tuple[float, ...] | None = None
    """Of a quantised tensor, whose truth are the integers it stores."""
    zero_point: int | None = None
    sparse: str | None = None
    """The kind of layout of a sparse tensor, whose truth are all of its elements; "any" if it may
    be dense as well."""
    min2maj: tuple[int, ...] | None = None
    """The required order of the axes in memory, the fastest first; None if it is free."""


@dataclass(frozen=True)
class Refused:
    """The call must return an error status, and no output."""

    status: Status
    instead: Outputs | None = None
    """What a backend without status codes may return: NaN outside a domain, as in IEEE 754."""
    others: tuple[Status, ...] = ()
    """Other accepted statuses, where the standard names none or several."""

    @property
    def statuses(self) -> tuple[Status, ...]:
        """Every status that is right."""
        return (self.status, *self.others)


@dataclass(frozen=True)
class Check:
    """A property of outputs that are not unique."""

    name: str
    """A function of :mod:`suanzi.conformance.judging.checks`."""
    facts: Mapping[str, Any]


Outputs = tuple["Output | Check | Any", ...]
"""One for each output of the interface: a tensor, a list of them, or a plain value."""


NO_INTERPRETATION = "matches no interpretation of"
"""How the problem of an answer begins that none of several interpretations allows."""


@dataclass(frozen=True)
class Either:
    """The expected results of a call that the standard defines ambiguously.

    Any of the interpretations passes; the report shows which one a backend follows.
    """

    erratum: str
    """Its id: E86."""
    readings: Mapping[str, Outputs | Refused | Check]
    """The expected result by the name of the interpretation, in a few words."""
    throughout: bool = False
    """Whether all cases of the erratum must follow the same interpretation."""


Expected = Outputs | Refused | Check | Either


def may_refuse(expected: Expected) -> bool:
    """Tell whether a refusal can be right."""
    if isinstance(expected, Either):
        return any(isinstance(one, Refused) for one in expected.readings.values())
    return isinstance(expected, Refused)
