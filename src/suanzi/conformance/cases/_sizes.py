"""The sizes at which kernels break: around vectors, tiles, blocks and the parts of threads.

Elements are some of a few, again and again after a prime number of them: see `model.expected`. So
the truth is computed for few values, and a million elements cost no more than their bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from math import prod
from random import Random

from suanzi.conformance.cases import Wanted
from suanzi.conformance.model.case import Case, Expected, Output
from suanzi.conformance.model.data import units_of
from suanzi.conformance.model.expected import Cycle, Picked, joined
from suanzi.conformance.model.numbers import Value
from suanzi.conformance.subjects.wire import ITEMSIZE, Data

PERIOD = 97
"""The values after which elements repeat: a prime, and more than a vector has of any dtype."""
_SHORT = (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 31, 32, 33, 47, 63, 64, 65, 70)
_LONG = (127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 4097)
LARGE, LARGE_QUICK, LARGEST = 1_000_003, 65_539, 2**24 + 1
"""The length of the large case of an operator: no multiple of anything."""
MATRIX = (65, 129)
"""Past the edges of tiles of 8, 16, 32, 64 and 128 by one row and by one column."""
_EVERY_LENGTH = ("float32", "int32")
_ALWAYS_LARGE = ("float32", "int32", "bool")


def lengths(op: str, dtype: str, wanted: Wanted) -> Sequence[int]:
    """Return lengths around vectors and blocks; all of them in two dtypes, a sample in the others.

    >>> lengths("add", "float32", Wanted())[:6], len(lengths("add", "int8", Wanted()))
    ((1, 2, 3, 4, 5, 7), 9)
    """
    if dtype in _EVERY_LENGTH and not wanted.quick:
        return _SHORT + _LONG
    random = Random(f"lengths {op} {dtype}")
    short, long = (2, 1) if wanted.quick else (5, 4)
    return sorted([*random.sample(_SHORT, short), *random.sample(_LONG, long)])


def large(op: str, dtypes: Sequence[str], wanted: Wanted) -> dict[str, int]:
    """Return the length of the large case, of the dtypes that have one.

    >>> large("add", ["int8", "float32"], Wanted())["float32"]
    1000003
    """
    chosen = [d for d in _ALWAYS_LARGE if d in dtypes][: 1 if wanted.quick else 2]
    if not wanted.quick and (others := [d for d in dtypes if d not in chosen]):
        chosen.append(Random(f"large {op}").choice(others))
    return dict.fromkeys(chosen, LARGE_QUICK if wanted.quick else LARGE)


def places(random: Random, count: int, wanted: Wanted) -> Sequence[int]:
    """Return every place of a vector, or a sample of them; the first and the last always."""
    if not wanted.quick:
        return range(count)
    return sorted({0, count - 1, *random.sample(range(count), 3)})


@dataclass(frozen=True)
class Few:
    """A few values of a dtype, of which tensors of any size are made.

    >>> Few("int8", [1, 2]).tensor([0, 1, 1], (3,)).raw
    b'\\x01\\x02\\x02'
    """

    dtype: str
    values: Sequence[Value]

    @cached_property
    def units(self) -> list[bytes]:
        """The bytes of each of them."""
        return units_of(self.dtype, tuple(self.values))

    def tensor(self, index: Sequence[int], shape: Sequence[int], layout: str = "dense") -> Data:
        """Return a tensor of some of them."""
        raw = joined(self.units, index)
        data = Data(self.dtype, tuple(shape), raw, layout)
        if isinstance(index, Cycle) and len(raw) > 2 * (step := index.period * len(self.units[0])):
            return replace(data, repeats=step)
        return data


def rows_and_columns(small: Case, count: int, title: str) -> Iterator[Case]:
    """Give matrices of so many rows, and columns, which are those of a small one over and over.

    The small case has its matrix first, and works along axis 1, which `axis` names; each output has
    an element, or a row, for each row. The title says {word} for rows or columns.
    """
    name, data = next(iter(small.arguments.items()))
    few = [data.raw[i : i + ITEMSIZE[data.dtype]]
           for i in range(0, len(data.raw), ITEMSIZE[data.dtype])]  # fmt: skip
    right = cache(small.expect)

    def laid(shape: Sequence[int], axis: int) -> tuple[Sequence[int], tuple[int, ...]]:
        if len(shape) == 1:
            return Cycle(shape[0], count), (count,)
        n, m = shape
        if axis:
            return [i % n * m + j for i in range(count) for j in range(m)], (count, m)
        return [i % n * m + j for j in range(m) for i in range(count)], (m, count)

    def output(x: Output, axis: int) -> Output:
        which, shape = laid(x.shape, axis)
        allowed, rough = (
            None if some is None else Picked(tuple(some), which) for some in (x.allowed, x.rough)
        )
        truth = Picked(tuple(x.truth), which)
        return replace(x, shape=shape, truth=truth, allowed=allowed, rough=rough)

    def expect(axis: int) -> Expected:
        outputs = right()
        assert isinstance(outputs, tuple)
        return tuple(output(x, axis) for x in outputs)

    for axis, word in ((1, "rows"), (0, "columns")):
        which, shape = laid(data.shape, axis)
        along = [axis] if isinstance(small.arguments["axis"], list) else axis
        matrix = Data(data.dtype, shape, joined(few, which))
        given = {**small.arguments, name: matrix, "axis": along}
        full = title.format(word=word, title=small.title)
        yield replace(small, title=full, arguments=given, expect=partial(expect, axis))


def blocks(count: int) -> list[tuple[str, int]]:
    """Return a place in the first, in a middle and in the last block of so many elements."""
    return [("first", 3), ("middle", count // 2 + 1), ("last", count - 1)]


def grid(rows: int, columns: int, a: int, b: int) -> list[int]:
    """Return the numbers of pairs, of `a` values along rows with `b` along columns, repeating.

    >>> grid(3, 3, 2, 2)
    [0, 1, 0, 2, 3, 2, 0, 1, 0]
    """
    return [i % a * b + j % b for i in range(rows) for j in range(columns)]


def words(shape: Sequence[int]) -> str:
    """Return a shape, for titles."""
    return f"{shape[0]} elements" if len(shape) == 1 else "by".join(map(str, shape))


def cycle(shape: Sequence[int]) -> Cycle:
    """Return which value each element of a shape is."""
    return Cycle(PERIOD, prod(shape))
