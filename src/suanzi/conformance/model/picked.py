"""Many elements of few values: the truth of a million is computed once for each value.

The elements of a case of a large size repeat after a prime number of them, so that every value
comes to every lane of a vector and to every place of a block, and a block that is left out, or put
elsewhere, shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

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
