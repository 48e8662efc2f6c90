"""Operators that only move elements: where each element of a result comes from, by plain indices.

A move says it once for all dtypes; `move_cases` makes the cases of every group from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from random import Random
from typing import Any

from suanzi.conformance.cases import Wanted, dtypes_of
from suanzi.conformance.cases._sparse import made_sparse
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import LAYOUTS, anything, special, tensor
from suanzi.conformance.model.numbers import FORMATS, PARTS, ZERO, Real, Value, decode, wrap
from suanzi.conformance.subjects.wire import Data

Shape = tuple[int, ...]

STORED = {
    "char": "uint8",
    **{f"QT_{kind}_INT{n}": f"int{n}" for kind in ("SYM", "CH_SYM", "ASYM") for n in (8, 16)},
    **{f"QT_ASYM_UINT{n}": f"uint{n}" for n in (8, 16)},
}
"""The integers that dtypes without numbers of their own are stored as."""
SCALE = 0.25


# ---- places --------------------------------------------------------------------------------------


def indices(shape: Sequence[int]) -> Iterator[Shape]:
    """Give every index of a shape, in row-major order.

    >>> list(indices((2, 2)))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    return product(*map(range, shape))


def ravel(index: Sequence[int], shape: Sequence[int]) -> int:
    """Return how many elements are before an index.

    >>> ravel((1, 2), (2, 3))
    5
    """
    found = 0
    for i, n in zip(index, shape, strict=True):
        found = found * n + i
    return found


def by(shape: Sequence[int]) -> str:
    """Return a shape in a few characters, for titles."""
    return "x".join(map(str, shape)) or "0-d"


def text(numbers: Sequence[Any]) -> str:
    """Return numbers in a few characters, for titles."""
    return " ".join(map(str, numbers)) or "none"


@dataclass(frozen=True)
class Result:
    """One tensor that comes out: for each element, the place it comes from, None for a zero."""

    shape: Shape
    places: tuple[int | None, ...]


def result(shape: Sequence[int], source: Callable[[Shape], int | None]) -> Result:
    """Return a result whose element at each index comes from where `source` says."""
    return Result(tuple(shape), tuple(source(index) for index in indices(shape)))


@dataclass(frozen=True)
class Move:
    """A call of an operator that moves elements, for tensors of any dtype."""

    title: str
    tensors: Mapping[str, Shape | list[Shape]]
    """The shapes of the tensors whose elements are moved; places count through them in order."""
    result: Result | list[Result]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The others."""

    @property
    def size(self) -> int:
        """The number of elements that there are to move."""
        return sum(map(prod, _flat(self.tensors.values())))


def one(title: str, shape: Shape, out: Result | list[Result], /, **arguments: Any) -> Move:
    """Return a move of the elements of `input` alone."""
    return Move(f"{by(shape)} {title}".strip(), {"input": shape}, out, arguments)


def _flat(shapes: Any) -> list[Shape]:
    return [s for x in shapes for s in (x if isinstance(x, list) else [x])]


# ---- values --------------------------------------------------------------------------------------


def distinct(dtype: str, count: int, start: int = 0) -> list[Value]:
    """Return values that differ as long as the dtype has enough of them.

    >>> distinct("int8", 3)
    [21, 42, 63]
    """
    if dtype in PARTS:
        parts = [x for x in distinct(PARTS[dtype], 2 * count, start) if isinstance(x, Real)]
        return list(zip(parts[::2], parts[1::2], strict=True))
    numbers = range(start + 1, start + count + 1)
    if dtype in FORMATS:
        form = FORMATS[dtype]
        step, sign = max(1, form.largest // 997), 1 << (form.bits - 1)
        return [
            decode(form, (1 + i * step % (form.largest - 1)) | (sign if i % 2 else 0))
            for i in numbers
        ]
    stored = STORED.get(dtype, dtype)
    if stored in ("bool", "uint1"):
        random = Random(f"distinct {start}")
        return [random.randint(0, 1) for _ in numbers]
    # An odd factor takes different numbers to different ones, and reaches every byte.
    return [wrap(stored, i * 0x9E3779B97F4A7C15) for i in numbers]


def repeated(elements: Sequence[Value], shape: Sequence[int]) -> list[Value]:
    """Return elements that are the same along the first axis.

    >>> repeated([1, 2, 3, 4], (2, 2))
    [1, 2, 1, 2]
    """
    row = len(elements) // shape[0] if shape and shape[0] else len(elements)
    return [elements[i % row] for i in range(len(elements))]


def random_shape(random: Random, most: int = 4) -> Shape:
    """Return a shape of one axis or more, none of them empty."""
    return tuple(random.randint(1, 4) for _ in range(random.randint(1, most)))


def strided(elements: list[Value], shape: Sequence[int]) -> Iterator[tuple[str, list[Value]]]:
    """Give every layout, and elements of a shape that can lie so."""
    for layout in LAYOUTS:
        yield layout, elements
    yield "repeated", repeated(elements, shape)


def zero(dtype: str, zero_point: int = 0) -> Value:
    """Return what stands for zero."""
    if dtype in PARTS:
        return (ZERO, ZERO)
    return ZERO if dtype in FORMATS else zero_point


def zero_point_of(dtype: str) -> int:
    """Return the zero point that cases of a quantised dtype have."""
    return 3 if "ASYM" in dtype else 0


def quantised(dtype: str) -> bool:
    """Tell whether a dtype has a scale."""
    return dtype.startswith("QT")


# ---- cases ---------------------------------------------------------------------------------------


def move_case(
    op: str,
    group: str,
    dtype: str,
    move: Move,
    elements: Sequence[Value],
    layout: str = "dense",
    title: str | None = None,
) -> Case:
    """Return the case of a move of these elements."""
    arguments: dict[str, Any] = {}
    at = 0
    for name, shapes in move.tensors.items():
        made = []
        for shape in shapes if isinstance(shapes, list) else [shapes]:
            made.append(_data(dtype, elements[at : at + prod(shape)], shape))
            at += prod(shape)
        arguments[name] = made if isinstance(shapes, list) else made[0]
    arguments |= move.arguments

    def expect() -> tuple[Any]:
        found = move.result
        if isinstance(found, list):
            return ([_output(dtype, r, elements) for r in found],)
        return (_output(dtype, found, elements),)

    laid = {name: laid_out(value, layout) for name, value in arguments.items()}
    return Case(op, group, dtype, title or move.title, laid, expect)


def _data(dtype: str, elements: Sequence[Value], shape: Shape) -> Data:
    data = tensor(dtype, elements, shape)
    if quantised(dtype):
        return replace(data, scale=(SCALE,), zero_point=zero_point_of(dtype))
    return data


def _output(dtype: str, found: Result, elements: Sequence[Value]) -> Output:
    nothing = zero(dtype, zero_point_of(dtype))
    truth = tuple(nothing if p is None else elements[p] for p in found.places)
    if quantised(dtype):
        scale, zero_point = (SCALE,), zero_point_of(dtype)
        return Output(dtype, found.shape, truth, scale=scale, zero_point=zero_point)
    return Output(dtype, found.shape, truth)


def laid_out(value: Any, layout: str) -> Any:
    """Return an argument with its tensors in a layout."""
    if isinstance(value, Data):
        return replace(value, layout=layout)
    return [laid_out(v, layout) for v in value] if isinstance(value, list) else value


def move_cases(
    op: str,
    wanted: Wanted,
    plain: Sequence[Move],
    empty: Sequence[Move] = (),
    broadcast: Sequence[Move] = (),
    drawn: Callable[[Random], Move] | None = None,
    quantised_too: bool = True,
) -> Iterator[Case]:
    """Give the cases of every group for every dtype that an operator takes.

    Of quantised tensors only the plain ones, whose zero point makes zeros visible. In a quick run
    one dtype has all of the plain ones, the others two.
    """
    for dtype in dtypes_of(op, quantised_too):
        if dtype.startswith("QT_CH"):
            continue  # what becomes of a scale for each channel, no clause says
        groups = {"plain": plain[:2] if wanted.quick and dtype != "float32" else plain}
        if not quantised(dtype):
            groups |= {"broadcast": broadcast, "empty": empty}
        for group, moves in groups.items():
            if wanted.wants(group, dtype):
                for move in moves:
                    yield move_case(op, group, dtype, move, distinct(dtype, move.size))
        if quantised(dtype):
            continue
        if wanted.wants("strided", dtype):
            yield from _strided(op, dtype, plain[: 1 if wanted.quick else 2])
            if dtype == "float32" and list(plain[0].tensors) == ["input"]:
                yield _of_sparse(op, dtype, plain[0])
        if wanted.wants("special", dtype) and dtype not in ("bool", "uint1"):
            yield from _special(op, dtype, plain[0])
        if drawn is not None and wanted.wants("random", dtype):
            for i in range(1 if wanted.quick else 2):
                random = Random(f"{op} {dtype} {wanted.seed} {i}")
                move = drawn(random)
                elements = anything(STORED.get(dtype, dtype), move.size, (wanted.seed, op, i))
                yield move_case(op, "random", dtype, move, elements, title=f"shape and values {i}")


def _strided(op: str, dtype: str, moves: Sequence[Move]) -> Iterator[Case]:
    for move in moves:
        elements = distinct(dtype, move.size)
        for layout in LAYOUTS:
            yield move_case(op, "strided", dtype, move, elements, layout, f"{layout} {move.title}")
        same, at = [], 0
        for shape in _flat(move.tensors.values()):
            same += repeated(elements[at : at + prod(shape)], shape)
            at += prod(shape)
        title = f"repeated {move.title}"
        yield move_case(op, "strided", dtype, move, same, "repeated", title)


def _of_sparse(op: str, dtype: str, move: Move) -> Case:
    some = distinct(dtype, move.size)
    few = [x if i % 3 == 0 else zero(dtype) for i, x in enumerate(some)]
    title = f"sparse COO {move.title}"
    return made_sparse(move_case(op, "strided", dtype, move, few, title=title), {"input": "COO"})


def _special(op: str, dtype: str, move: Move) -> Iterator[Case]:
    few = special(STORED.get(dtype, dtype))
    for i, at in enumerate(range(0, len(few), move.size)):
        elements = [few[(at + k) % len(few)] for k in range(move.size)]
        yield move_case(op, "special", dtype, move, elements, title=f"{move.title} {i}")
