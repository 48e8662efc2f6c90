"""7.2.1: creation and destruction, of values that are given; numbers and chance have own files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._moves import Move, Moving, Result, moved, moving
from suanzi.conformance.cases._values import (
    SCALE,
    STORED,
    Shape,
    by,
    distinct,
    exactly,
    indices,
    strided,
    wrapped_sum,
    zero,
    zero_point_of,
)
from suanzi.conformance.model.case import Case, Check, Expected, Output
from suanzi.conformance.model.data import LAYOUTS, special, tensor
from suanzi.conformance.model.numbers import FORMATS, PARTS, Value, decode, limits, real

_SHAPES: tuple[Shape, ...] = ((2, 3), (2, 3, 4), (7,), (1, 3, 1, 2))
_EMPTY: tuple[Shape, ...] = ((), (0,), (3, 0, 2))


def _shapes(wanted: Wanted, dtype: str) -> Iterator[tuple[str, Shape]]:
    for group, shapes in (("plain", _SHAPES), ("empty", _EMPTY)):
        if wanted.wants(group, dtype):
            for shape in shapes[:2] if wanted.quick else shapes:
                yield group, shape


# ---- from values ---------------------------------------------------------------------------------


@cases_of("create_tensor", "wrap_tensor")
def from_values(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors of the values of others; that memory is shared or not is not seen here."""
    for dtype in dtypes_of(op):
        for group, shape in _shapes(wanted, dtype):
            yield _from_values(op, group, dtype, by(shape), distinct(dtype, prod(shape)), shape)
        if wanted.wants("special", dtype):
            few = special(STORED.get(dtype, dtype))
            yield _from_values(op, "special", dtype, "each", few, (len(few),))
        if wanted.wants("strided", dtype):
            for layout, elements in strided(distinct(dtype, 24), (2, 3, 4)):
                yield _from_values(op, "strided", dtype, layout, elements, (2, 3, 4), layout)


@cases_of("create_tensor", "wrap_tensor")
def by_default(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give a tensor without a dtype, and one without values, which are then anything."""
    if wanted.wants("plain", "float32"):
        made = _from_values(op, "plain", "float32", "without dtype", distinct("float32", 6), (2, 3))
        arguments = {k: v for k, v in made.arguments.items() if k != "dtype"}
        yield replace(made, arguments=arguments)
    for dtype in dtypes_of(op):
        if wanted.wants("plain", dtype):
            arguments = {"dtype": dtype, "shape": [2, 3], "values": []}
            yield Case(op, "plain", dtype, "without values", arguments, _anything(dtype, (2, 3)))


def _from_values(
    op: str,
    group: str,
    dtype: str,
    title: str,
    elements: Sequence[Value],
    shape: Shape,
    layout: str = "dense",
) -> Case:
    arguments = {
        "dtype": dtype,
        "shape": list(shape),
        "values": tensor(dtype, elements, shape, layout),
    }
    return Case(
        op, group, dtype, title, arguments, lambda: (Output(dtype, shape, tuple(elements)),)
    )


def _anything(dtype: str, shape: Shape) -> Any:
    facts = {"dtype": dtype, "shape": shape}
    return lambda: Check("has_shape", facts)


# ---- of one value --------------------------------------------------------------------------------


@cases_of("zeros", "empty")
def blank(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors of zeros, and of anything."""
    for dtype in dtypes_of(op):
        for group, shape in _shapes(wanted, dtype):
            yield _blank(op, group, dtype, by(shape), shape, {"dtype": dtype})
    if wanted.wants("plain", "float32"):
        yield _blank(op, "plain", "float32", "without dtype", (2, 3), {})


def _blank(
    op: str, group: str, dtype: str, title: str, shape: Shape, arguments: dict[str, Any]
) -> Case:
    def zeros() -> Expected:
        return (Output(dtype, shape, (zero(dtype),) * prod(shape)),)

    expect = zeros if op == "zeros" else _anything(dtype, shape)
    return Case(op, group, dtype, title, {**arguments, "shape": list(shape)}, expect)


@cases_of("full")
def filled(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors of one value, which is rounded once; without a shape one element, E25."""
    for dtype in dtypes_of(op):
        for group, shape in _shapes(wanted, dtype):
            yield _full(op, group, dtype, by(shape), shape, _ordinary(dtype))
        if wanted.wants("special", dtype):
            for value in _edges(dtype):
                yield _full(op, "special", dtype, f"{value!r}".strip("()"), (3,), value)
    if wanted.wants("plain", "float32"):
        yield Case(
            op, "plain", "float32", "without arguments", {},
            lambda: (Output("float32", (), (real(0),)),),
        )  # fmt: skip
        yield Case(
            op, "plain", "float32", "without dtype", {"shape": [2], "value": 1.5},
            lambda: (Output("float32", (2,), (real(1.5),) * 2),),
        )  # fmt: skip
        yield Case(
            op, "plain", "float32", "without shape", {"value": 3},
            lambda: (Output("float32", (), (real(3),)),),
        )  # fmt: skip


def _ordinary(dtype: str) -> Any:
    if dtype in PARTS:
        return 1.5 - 2j
    return -2.5 if dtype in FORMATS else dtype == "bool" or 1


def _edges(dtype: str) -> list[Any]:
    """Return values at the ends of a dtype, and such as it rounds."""
    if dtype in PARTS:
        few = [0, -0.0, 0.1, float("inf"), float("nan"), 2**24 + 1]
        return [*few, complex(0.1, -0.0), complex(float("nan"), float("-inf"))]
    if dtype in FORMATS:
        form = FORMATS[dtype]
        ends = [decode(form, bits).value for bits in (1, form.largest, 1 << form.mantissa)]
        found = [0, -0.0, 0.1, -1 / 3, 1e-8, 1e5, 1e39, float("inf"), float("-inf"), float("nan")]
        whole = [465, 2049, 65519, 65520, 2**24 + 1, 2**53 + 1, 2**63, 2**64 - 1, -(10**30)]
        return [*found, *whole, *(float(x) for x in ends)]
    if dtype == "bool":
        return [False, True, 0, 1]
    low, high = limits(dtype)
    return sorted({low, high, 0, 1, high // 2})


def _full(op: str, group: str, dtype: str, title: str, shape: Shape, value: Any) -> Case:
    def expect() -> tuple[Output]:
        return (Output(dtype, shape, (exactly(dtype, value),) * prod(shape)),)

    arguments = {"dtype": dtype, "shape": list(shape), "value": value}
    return Case(op, group, dtype, title, arguments, expect)


# ---- copies --------------------------------------------------------------------------------------


moving("contiguous duplicate", Moving(  # from any layout
    lambda shape: moved("", shape, Result(shape, range(prod(shape)))),
    plain=[((2, 3, 4),), ((2, 3),), ((7,),), ((1, 3, 1, 2),),
           ((2, 3, 2, 2),), ((2, 1, 2, 1, 3, 1, 2, 1),)],
    empty=[(shape,) for shape in _EMPTY],
    sizes=lambda r, c: [(f"{r}x{c}", (r, c))],
))  # fmt: skip


def _diag(n: int) -> Move:
    places = [i if i == j else None for i in range(n) for j in range(n)]
    return moved("", (n,), Result((n, n), places))


moving("diag", Moving(_diag, plain=[(5,), (1,), (2,), (9,)], empty=[(0,)]))


@cases_of("destroy")
def ends(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give tensors to be destroyed; that they are then refused is a case of every interface."""
    for dtype in dtypes_of(op):
        shapes = [("plain", (2, 3)), ("plain", (7,)), ("empty", ()), ("empty", (0, 2))]
        for group, shape in shapes:
            if wanted.wants(group, dtype):
                data = tensor(dtype, distinct(dtype, prod(shape)), shape)
                yield Case(op, group, dtype, by(shape), {"input": data}, lambda: ())
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                data = tensor(dtype, distinct(dtype, 6), (2, 3), layout)
                yield Case(op, "strided", dtype, layout, {"input": data}, lambda: ())


# ---- sparse and quantised tensors ----------------------------------------------------------------


@cases_of("create_sparse_tensor")
def sparse(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give sparse tensors, which are compared as dense ones; equal indices add up, E35."""
    calls: list[tuple[str, Shape, list[list[int]]]] = [
        ("in order", (2, 3), [[0, 1], [1, 0], [1, 2]]),
        ("in any order", (3, 4), [[2, 0], [0, 3], [2, 3], [1, 1]]),
        ("one axis", (6,), [[5], [0], [3]]),
        ("three axes", (2, 2, 3), [[1, 0, 2], [0, 1, 0]]),
        ("all elements", (2, 2), [[1, 1], [0, 0], [1, 0], [0, 1]]),
    ]
    twice = ("equal indices", (2, 3), [[0, 1], [1, 2], [0, 1], [1, 0]])
    empty: list[tuple[str, Shape, list[list[int]]]] = [
        ("nothing stored", (2, 3), []),
        ("nothing to store", (0, 3), []),
    ]
    for dtype in dtypes_of(op):
        if wanted.wants("plain", dtype):
            for call in calls[:2] if wanted.quick else calls:
                yield _sparse(op, "plain", dtype, *call)
            if dtype not in ("bool", "uint1"):
                yield _sparse(op, "plain", dtype, *twice)
        if wanted.wants("empty", dtype):
            for call in empty:
                yield _sparse(op, "empty", dtype, *call)
        if wanted.wants("special", dtype):
            few = [x for x in special(dtype) if not isinstance(x, int) or x]
            places = [[i, (3 * i) % 5] for i in range(len(few))]
            yield _sparse(op, "special", dtype, "each", (len(few), 5), places, few)
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                yield _sparse(op, "strided", dtype, layout, *calls[1][1:], layout=layout)


def _sparse(
    op: str,
    group: str,
    dtype: str,
    title: str,
    shape: Shape,
    places: list[list[int]],
    elements: Sequence[Value] = (),
    layout: str = "dense",
) -> Case:
    stored = list(elements) or [_stored(dtype, i) for i in range(len(places))]

    def expect() -> tuple[Output]:
        found: dict[tuple[int, ...], Value] = {}
        for at, x in zip(map(tuple, places), stored, strict=True):
            found[at] = wrapped_sum(dtype, found[at], x) if at in found else x
        truth = tuple(found.get(index, zero(dtype)) for index in indices(shape))
        return (Output(dtype, shape, truth, zero_sign=False, sparse="COO"),)

    flat = [i for at in places for i in at]
    arguments = {
        "dtype": dtype,
        "shape": list(shape),
        "indices": tensor("int64", flat, (len(places), len(shape)), layout),
        "values": tensor(dtype, stored, layout=layout),
    }
    return Case(op, group, dtype, title, arguments, expect)


def _stored(dtype: str, i: int) -> Value:
    """Return small numbers of which no sum is rounded or wraps."""
    if dtype in PARTS:
        return real(i + 1), real(Fraction(i, 2))
    if dtype in FORMATS:
        return real(Fraction(i + 1, 2))
    return 1 if dtype in ("bool", "uint1") else i + 1


@cases_of("create_quant_tensor")
def quantised_tensors(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give quantised tensors of integers that are stored as they are, E39."""
    for dtype in dtypes_of(op, quantised_too=True):
        point = zero_point_of(dtype)
        one_scale, channels = [SCALE], [0.25, 0.5, 2.0]
        if wanted.wants("plain", dtype):
            yield _quantised(op, "plain", dtype, "2x3", (2, 3), one_scale, point)
            yield _quantised(op, "plain", dtype, "one axis", (5,), [2.0], point)
            yield _quantised(op, "plain", dtype, "another scale", (2, 3), [1.5], None)
            if dtype.startswith("QT_CH"):
                yield _quantised(op, "plain", dtype, "channels", (2, 3), channels, None)
                yield _quantised(op, "plain", dtype, "channels 4 axes", (2, 3, 1, 2), channels, 0)
                yield _quantised(op, "plain", dtype, "channels of a vector", (3,), channels, 0)
            if "ASYM" not in dtype:
                yield _quantised(op, "plain", dtype, "zero point ignored", (4,), one_scale, 3)
            else:
                low, high = limits(STORED[dtype])
                for zero_point in (low, high):
                    title = f"zero point {zero_point}"
                    yield _quantised(op, "plain", dtype, title, (4,), one_scale, zero_point)
            arguments = {"dtype": dtype, "shape": [2, 3], "scale": one_scale}
            yield Case(op, "plain", dtype, "without values", arguments, _anything(dtype, (2, 3)))
        if wanted.wants("special", dtype):
            few = special(STORED[dtype])
            yield _quantised(op, "special", dtype, "each", (len(few),), one_scale, point, few)
        if wanted.wants("empty", dtype):
            for shape in _EMPTY[:2]:
                yield _quantised(op, "empty", dtype, by(shape), shape, one_scale, point)
        if wanted.wants("strided", dtype):
            for layout in LAYOUTS:
                yield _quantised(
                    op, "strided", dtype, layout, (2, 3, 4), one_scale, point, layout=layout
                )


def _quantised(
    op: str,
    group: str,
    dtype: str,
    title: str,
    shape: Shape,
    scale: list[float],
    zero_point: int | None,
    elements: Sequence[Value] = (),
    layout: str = "dense",
) -> Case:
    stored = list(elements) or distinct(dtype, prod(shape))
    arguments: dict[str, Any] = {
        "dtype": dtype,
        "shape": list(shape),
        "values": tensor(STORED[dtype], stored, shape, layout),
        "scale": scale,
    }
    if zero_point is not None:
        arguments["zero_point"] = zero_point

    held = (zero_point or 0) if "ASYM" in dtype else 0  # a symmetric dtype has no other

    def expect() -> tuple[Output]:
        return (Output(dtype, shape, tuple(stored), scale=tuple(scale), zero_point=held),)

    return Case(op, group, dtype, title, arguments, expect)
