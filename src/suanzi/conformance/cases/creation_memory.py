"""7.2.1: how many bytes are copied, and in which order the axes of a new tensor lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._values import SCALE, STORED, Shape, by, distinct, zero
from suanzi.conformance.model.case import Case, Check, Expected, Output
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import Value, real
from suanzi.conformance.subjects.wire import Bytes, Shaped

_DTYPES = ("float32", "int32", "complex64", "QT_SYM_INT8")
_SHAPE = (2, 3)
_FEWER = "elements that the bytes do not cover are 0"
_NO_MORE = "only n_bytes bytes are copied, and the rest of the tensor is 0"
_CUT = "no more bytes are copied than the tensor has"
_LAID = "the shape includes the order of its axes (6.4), which the new tensor has in memory"
_FAR_TOO_MANY = 1 << 22
"""Bytes: who copies them all leaves the memory it has."""


def _wanted(op: str, wanted: Wanted) -> Iterator[str]:
    for dtype in _DTYPES:
        if dtype in dtypes_of(op, quantised_too=True) and wanted.wants("plain", dtype):
            yield dtype


@cases_of("create_tensor", "create_quant_tensor")
def bytes_copied(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give fewer bytes than the tensor has, and more."""
    for dtype in _wanted(op, wanted):
        some, raw = _values(dtype, 9)
        item = len(raw) // 9
        for title, given, n_bytes, because in (
            ("4 of 6 elements", 4 * item, 4 * item, _FEWER),
            ("n_bytes of 4 of 6 elements", 6 * item, 4 * item, _NO_MORE),
            ("9 for 6 elements", 9 * item, 9 * item, _CUT),
            ("4 MiB for 6 elements", _FAR_TOO_MANY, _FAR_TOO_MANY, _CUT),
        ):
            if given == _FAR_TOO_MANY and dtype != "float32":
                continue
            count = min(n_bytes // item, prod(_SHAPE))
            truth = [*some[:count], *[zero(dtype)] * (prod(_SHAPE) - count)]
            arguments = {"shape": list(_SHAPE), "values": Bytes(raw, given), "n_bytes": n_bytes}
            yield _made(op, dtype, title, arguments, _SHAPE, truth, because)


@cases_of("create_tensor", "create_quant_tensor")
def bytes_in_order(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give bytes for a tensor whose axes lie in another order."""
    for dtype in _wanted(op, wanted):
        for shape, order in _ORDERS:
            some, raw = _values(dtype, prod(shape))
            given = _bytes(raw, shape, order)
            truth = _in_order(some, shape, order)
            yield _made(op, dtype, _title(shape, order), given, shape, truth, _LAID, order)
        shape, order = _ORDERS[0]
        some, raw = _values(dtype, 4)
        short = _bytes(raw, shape, order)
        truth = _in_order([*some, *[zero(dtype)] * 2], shape, order)
        title = f"4 of 6 elements, {_title(shape, order)}"
        yield _made(op, dtype, title, short, shape, truth, _FEWER, order)


_ORDERS: tuple[tuple[Shape, Shape], ...] = (((2, 3), (0, 1)), ((2, 3, 4), (1, 2, 0)))
"""Shapes, and orders in which their axes lie, the fastest first."""


def _bytes(raw: bytes, shape: Shape, order: Shape) -> dict[str, Any]:
    whole = Bytes(raw, len(raw))
    return {"shape": Shaped(shape, order), "values": whole, "n_bytes": len(raw)}


def _title(shape: Shape, order: Shape) -> str:
    return f"{by(shape)} min2maj {' '.join(map(str, order))}"


def _in_order(stored: Sequence[Value], shape: Shape, order: Shape) -> list[Value]:
    """Return the elements in row-major order of values that lie in an order of axes."""
    found: list[Value] = [stored[0]] * len(stored)
    for at, x in enumerate(stored):
        index, rest = [0] * len(shape), at
        for axis in order:
            rest, index[axis] = divmod(rest, shape[axis])
        flat = 0
        for n, i in zip(shape, index, strict=True):
            flat = flat * n + i
        found[flat] = x
    return found


def _values(dtype: str, count: int) -> tuple[list[Value], bytes]:
    some = distinct(dtype, count)
    return some, tensor(STORED.get(dtype, dtype), some).raw


def _made(
    op: str,
    dtype: str,
    title: str,
    arguments: dict[str, Any],
    shape: Shape,
    truth: Sequence[Value],
    because: str,
    order: Shape | None = None,
) -> Case:
    quantised: dict[str, Any] = {}
    if op == "create_quant_tensor":
        arguments = {**arguments, "scale": [SCALE]}
        quantised = {"scale": (SCALE,), "zero_point": 0}

    def expect() -> Expected:
        return (Output(dtype, shape, tuple(truth), min2maj=order, **quantised),)

    given = {"dtype": dtype, **arguments}
    return Case(op, "plain", dtype, title, given, expect, basis="normative", because=because)


@cases_of("wrap_tensor")
def wrapped_in_order(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give values by columns, which C has as a tensor and others as bytes, and a shape like it."""
    shape, order = _ORDERS[0]
    for dtype in _wanted(op, wanted):
        some, raw = _values(dtype, prod(shape))
        laid, whole = _in_order(some, shape, order), Bytes(raw, len(raw))
        for title, values in (("", tensor(dtype, laid, shape, "columns")), ("bytes, ", whole)):
            given = {"shape": Shaped(shape, order), "values": values}
            title += _title(shape, order)
            yield _made(op, dtype, title, given, shape, laid, _LAID, order)


@cases_of("zeros", "full", "empty", "rand_uniform", "rand_normal")
def new_in_order(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give a shape whose axes lie in another order, to be filled with one number, or any."""
    more: dict[str, dict[str, Any]] = {
        "full": {"value": 3}, "rand_uniform": {"min": 0, "max": 9},
    }  # fmt: skip
    for dtype in _wanted(op, wanted):
        if dtype not in ("float32", "int32") or (op, dtype) == ("rand_normal", "int32"):
            continue
        for shape, order in _ORDERS:
            given = {"dtype": dtype, "shape": Shaped(shape, order), **more.get(op, {})}
            expect = _filled(op, dtype, shape, order)
            title = _title(shape, order)
            yield Case(op, "plain", dtype, title, given, expect, basis="normative", because=_LAID)


def _filled(op: str, dtype: str, shape: Shape, order: Shape) -> Any:
    if op not in ("zeros", "full"):
        facts = {"dtype": dtype, "shape": shape, "min2maj": order}
        return lambda: Check("has_shape", facts)
    number: Value = 3 if dtype == "int32" else real(3)
    truth = (zero(dtype) if op == "zeros" else number,) * prod(shape)
    return lambda: (Output(dtype, shape, truth, min2maj=order),)
