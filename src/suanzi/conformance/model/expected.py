"""Expected results of a call: outputs, a refusal, a property, or one of several interpretations.

The elements of a case of a large size repeat after a prime number of them (`Picked`): the truth of
a million is computed once for each value, every value comes to every lane of a vector and to every
position in a block, and a block that is left out or misplaced shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar, overload

from suanzi.base.status import Status
from suanzi.conformance.model.numbers import Value

T = TypeVar("T")


class Cycle(Sequence[int]):
    """The numbers 0, 1, ..., period - 1, over and over.

    >>> list(Cycle(3, 7)), Cycle(3, 7)[5]
    ([0, 1, 2, 0, 1, 2, 0], 2)
    """

    def __init__(self, period: int, count: int) -> None:
        self.period, self.size = period, count

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[int]:
        whole, rest = divmod(self.size, self.period)
        for _ in range(whole):
            yield from range(self.period)
        yield from range(rest)

    @overload
    def __getitem__(self, i: int) -> int: ...

    @overload
    def __getitem__(self, i: slice) -> Sequence[int]: ...

    def __getitem__(self, i: int | slice) -> int | Sequence[int]:
        if isinstance(i, slice):
            return [k % self.period for k in range(*i.indices(self.size))]
        return range(self.size)[i] % self.period


@dataclass(frozen=True, eq=False)
class Picked(Sequence[T], Generic[T]):
    """A sequence whose elements are some of a few.

    >>> list(Picked(("a", "b"), Cycle(2, 5))), Picked(("a", "b"), [1, 0])[0]
    (['a', 'b', 'a', 'b', 'a'], 'b')
    """

    base: tuple[T, ...]
    which: Sequence[int]
    """Which of them each element is."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Picked) and (self.base, [*self.which]) == (
            other.base,
            [*other.which],
        )

    def __hash__(self) -> int:
        return hash((self.base, len(self)))

    def __len__(self) -> int:
        return len(self.which)

    def __iter__(self) -> Iterator[T]:
        return map(self.base.__getitem__, self.which)

    @overload
    def __getitem__(self, i: int) -> T: ...

    @overload
    def __getitem__(self, i: slice) -> Sequence[T]: ...

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return tuple(self.base[k] for k in self.which[i])
        return self.base[self.which[i]]


def joined(units: Sequence[bytes], index: Sequence[int]) -> bytes:
    """Return the bytes of elements that are some of a few, given those of each of the few.

    >>> joined([b"a", b"b"], Cycle(2, 5)), joined([b"a", b"b"], [1, 1, 0])
    (b'ababa', b'bba')
    """
    if isinstance(index, Cycle):
        whole, rest = divmod(index.size, index.period)
        once = b"".join(units[: index.period])
        return once * whole + b"".join(units[:rest])
    return b"".join(map(units.__getitem__, index))


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
    rough: tuple[Fraction, ...] | Picked[Fraction] | None = None
    """The largest error of each element that makes it inaccurate only, where the length says it."""
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
    readings: Mapping[str, Outputs | Refused | Check | Either]
    """The expected result by the name of the interpretation, in a few words; another `Either` where
    the case falls under a further erratum."""
    throughout: bool = False
    """Whether all cases of the erratum must follow the same interpretation."""


Expected = Outputs | Refused | Check | Either


def may_refuse(expected: Expected) -> bool:
    """Tell whether a refusal can be right."""
    if isinstance(expected, Either):
        return any(map(may_refuse, expected.readings.values()))
    if isinstance(expected, Check):
        return expected.facts.get("may_refuse") is True
    return isinstance(expected, Refused)
