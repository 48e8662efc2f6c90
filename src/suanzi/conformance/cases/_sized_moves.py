"""Operators that only move elements, at the sizes at which kernels break.

The elements are a few values over and over, so that where each comes from is a list of numbers, and
a million of them are compared as bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod
from random import Random
from typing import Any

from suanzi.conformance.cases import Wanted, dtypes_of
from suanzi.conformance.cases import _sizes as sizes
from suanzi.conformance.cases._moves import Move, Result, Shape, distinct, zero
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.picked import Cycle, Picked

PERIOD = 251
"""Of elements that are moved: a prime, as many as a byte can tell apart."""
LARGE = (1009, 991)

Moves = Callable[[int, int], Iterable[Move]]
"""Makes the moves of a matrix of so many rows and columns, one after the other."""


def sized_cases(
    op: str, wanted: Wanted, moves: Moves, more: Callable[[], Sequence[Move]] = tuple
) -> Iterator[Case]:
    """Give the moves of a matrix past the edges of tiles, and of one of a million elements.

    One dtype has all of them, and those that are not of a matrix; the others a sample.
    """
    dtypes = [d for d in dtypes_of(op) if wanted.wants("sizes", d)]
    if not dtypes:
        return
    chief = "float32" if "float32" in dtypes else dtypes[0]
    matrix = [*moves(*sizes.MATRIX), *more()]
    for dtype in dtypes:
        some = matrix
        if dtype != chief:
            random = Random(f"moves {op} {dtype}")
            some = random.sample(matrix, min(len(matrix), 1 if wanted.quick else 2))
        for move in some:
            yield sized_case(op, dtype, move)
        if dtype in (chief, "int32"):
            move = next(iter(moves(100, 131)))
            yield sized_case(op, dtype, replace(move, title=f"{move.title} by columns"), "columns")
    if not wanted.quick:
        other, move = Random(f"large {op}").choice(dtypes), next(iter(moves(*LARGE)))
        for dtype in dict.fromkeys((chief, other)):
            yield sized_case(op, dtype, move)


def sized_case(op: str, dtype: str, move: Move, layout: str = "dense") -> Case:
    """Return the case of a move of a few values over and over."""
    few = sizes.Few(dtype, [*distinct(dtype, PERIOD), zero(dtype)])
    arguments: dict[str, Any] = {}
    at = 0
    for name, shapes in move.tensors.items():
        made = []
        for shape in shapes if isinstance(shapes, list) else [shapes]:
            made.append(few.tensor(_from(at, prod(shape)), shape, layout))
            at += prod(shape)
        arguments[name] = made if isinstance(shapes, list) else made[0]

    def output(one: Result) -> Output:
        index = [PERIOD if p is None else p % PERIOD for p in one.places]
        return Output(dtype, one.shape, Picked(tuple(few.values), index))

    def expect() -> tuple[Any]:
        found = move.result
        return ([output(r) for r in found] if isinstance(found, list) else output(found),)

    return Case(op, "sizes", dtype, move.title, {**arguments, **move.arguments}, expect)


def _from(start: int, count: int) -> Sequence[int]:
    if start == 0:
        return Cycle(PERIOD, count)
    return [i % PERIOD for i in range(start, start + count)]


def moved(
    title: str, shape: Shape, out: Sequence[int], places: Sequence[int | None], /, **arguments: Any
) -> Move:
    """Return a move of `input`, with the places of all elements in order."""
    return Move(title, {"input": shape}, Result(tuple(out), tuple(places)), arguments)
