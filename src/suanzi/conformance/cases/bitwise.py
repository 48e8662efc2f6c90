"""7.2.7: bits of integers and bool."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from random import Random

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.cases._elementwise import Elementwise, Row, all_cases, from_rows
from suanzi.conformance.model.case import Case, Output, Refused
from suanzi.conformance.model.data import anything, ordinary, special, tensor
from suanzi.conformance.model.numbers import SIGNED, UNSIGNED, Value, wrap
from suanzi.conformance.model.operators import exact_binary, exact_unary


@cases_of("bitwise_and", "bitwise_or", "bitwise_xor")
def of_two(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give the functions of two operands, bit by bit."""
    facts = Elementwise(op, ("x", "y"), lambda dtype, row: exact_binary(op, dtype, *row))
    return all_cases(facts, wanted)


@cases_of("bitwise_not")
def of_one(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give every bit the other way; a bool has one."""

    def truth(dtype: str, row: Row) -> Value:
        return int(row[0] == 0) if dtype == "bool" else exact_unary(op, dtype, *row)

    return all_cases(Elementwise(op, ("x",), truth), wanted)


# ---- shifts --------------------------------------------------------------------------------------


@cases_of("bitwise_left_shift", "bitwise_right_shift")
def shifts(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give shifts by tensors, by numbers, by the default, and by too much."""
    facts = Elementwise(
        op,
        ("x", "shift"),
        lambda dtype, row: _shifted(op, dtype, *row),
        dtype_of=lambda dtype, operand: "int64" if operand and dtype == "bool" else dtype,
        defined=lambda dtype, row: _within(dtype, row[1]),
        ordinary=lambda *wanted: _operand(ordinary, *wanted),
        random=lambda *wanted: _operand(anything, *wanted),
        refused=lambda dtype: None if dtype == "bool" else (1, _width(dtype)),
    )
    yield from all_cases(facts, wanted)
    for dtype in facts.dtypes:
        width = _width(dtype)
        few = [x for x in special(dtype) if isinstance(x, int)]
        if wanted.wants("plain", dtype):
            for title, more in (("one by default", {}), ("a number", {"shift": width - 1})):
                yield _by_number(op, dtype, title, few, more)
        if wanted.wants("special", dtype):
            rows: list[Row] = list(product(few[:2] + few[-2:], range(width)))
            yield from_rows(facts, "special", dtype, "every amount", rows, wanted)
            yield from _refused(op, dtype, few, width)


def _operand(
    make: Callable[[str, int, object], list[Value]],
    dtype: str,
    count: int,
    seed: object,
    operand: int,
) -> list[Value]:
    if operand == 0:
        return make(dtype, count, seed)
    random = Random(f"shifts of {dtype} {seed}")
    return [random.randrange(_width(dtype)) for _ in range(count)]


def _refused(op: str, dtype: str, few: list[int], width: int) -> Iterator[Case]:
    amounts = [("negative", -1)] + ([("the width", width)] if dtype != "bool" else [])
    for title, amount in amounts:
        for kind in ("int64", "a number"):
            shift = amount if kind == "a number" else tensor("int64", [0, amount, 0])
            arguments = {"x": tensor(dtype, (few * 2)[:3]), "shift": shift}
            words = f"{title} as {kind}" if kind == "a number" else f"{title} among others"
            yield Case(
                op, "special", dtype, words, arguments,
                lambda: Refused(Status.INVALID_ARGUMENT),
            )  # fmt: skip


def _by_number(op: str, dtype: str, title: str, few: list[int], more: dict[str, int]) -> Case:
    def expect() -> tuple[Output]:
        truth = tuple(_shifted(op, dtype, x, more.get("shift", 1)) for x in few)
        return (Output(dtype, (len(few),), truth),)

    return Case(op, "plain", dtype, title, {"x": tensor(dtype, few), **more}, expect)


def _width(dtype: str) -> int:
    return 1 if dtype == "bool" else SIGNED.get(dtype) or UNSIGNED[dtype]


def _within(dtype: str, shift: Value) -> bool:
    return isinstance(shift, int) and 0 <= shift < _width(dtype)


def _shifted(op: str, dtype: str, x: Value, shift: Value) -> Value:
    assert isinstance(x, int)
    assert isinstance(shift, int)
    if dtype == "bool":  # the one bit stays only where it is not moved
        return int(x and not shift)
    return wrap(dtype, x << shift if op == "bitwise_left_shift" else x >> shift)
