"""7.2.7: bits, where the conformance kit cannot ask: dtypes of shifts, messages."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

import suanzi as sz
from helpers.checking import array, check, pack, samples
from helpers.functions import every_level
from suanzi.conformance.model.numbers import (
    INTEGERS,
    SIGNED,
    UNSIGNED,
    wrap,
)

SHIFTS = ["bitwise_left_shift", "bitwise_right_shift"]


def _width(name: str) -> int:
    return SIGNED.get(name) or UNSIGNED[name]


def _shifted(op: str, name: str, x: int, shift: int) -> int:
    return wrap(name, x << shift if op == "bitwise_left_shift" else x >> shift)


def test_not_of_bool_stays_bool() -> None:
    """A bool is one bit in a byte: the other seven must not show."""
    x = sz.tensor([True, False] * 20)
    check(sz.bitwise_not(x), "bool", [0, 1] * 20)
    assert set(bytes(memoryview(sz.bitwise_not(x).storage))[:40]) == {0, 1}


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("op", SHIFTS)
def test_shifts_by_every_amount(op: str, name: str) -> None:
    xs, shifts = [x for x in samples(name, 10) if isinstance(x, int)], list(range(_width(name)))
    expected = [_shifted(op, name, x, s) for x, s in product(xs, shifts)]
    x, shape = pack(name, xs, (len(xs), 1)), (len(xs), len(shifts))
    function = getattr(sz, op)
    for _ in every_level():
        for kind in ("int64", "uint8", name):  # a shift of any integer dtype
            check(function(x, pack(kind, shifts)), name, expected, shape)
    check(function(pack(name, xs)), name, [_shifted(op, name, v, 1) for v in xs])
    last = _width(name) - 1
    check(function(pack(name, xs), last), name, [_shifted(op, name, v, last) for v in xs])


@pytest.mark.parametrize("op", SHIFTS)
@pytest.mark.parametrize("name", INTEGERS)
def test_shifts_past_the_width_or_negative_are_refused(name: str, op: str) -> None:
    x = pack(name, list(range(70)))
    width = _width(name)
    amounts: list[sz.Tensor | int] = [width, -1, 2**64, -(2**64), sz.tensor([width]), sz.tensor(-1)]
    amounts += [sz.tensor([0] * 69 + [width]), sz.tensor([2**63], sz.uint64), sz.tensor([256])]
    for amount in amounts:
        with pytest.raises(sz.InvalidArgument) as e:
            getattr(sz, op)(x, amount)
        clause = "7.2.7.5" if op == "bitwise_left_shift" else "7.2.7.6"
        assert str(e.value).startswith(f"{op} ({clause}): shift is ")
        assert f"for {name} it must be from 0 to {width - 1}" in str(e.value)


@pytest.mark.parametrize("op", SHIFTS)
def test_a_shifted_bool_is_false(op: str) -> None:
    function = getattr(sz, op)
    x = sz.tensor([True, False, True])
    check(function(x), "bool", [0, 0, 0])
    check(function(x, 0), "bool", [1, 0, 1])
    check(function(x, sz.tensor([0, 0, 40])), "bool", [1, 0, 0])
    for bad in (-1, sz.tensor([0, 0, -1]), 2**63):
        with pytest.raises(sz.InvalidArgument, match="for bool it must be at least 0"):
            function(x, bad)


@pytest.mark.parametrize("op", SHIFTS)
def test_a_shift_takes_integers_only(op: str) -> None:
    function = getattr(sz, op)
    x = sz.tensor([1, 2])
    for bad in (1.0, True, 1j, sz.tensor([1.0]), sz.tensor([True])):
        with pytest.raises(sz.TypeMismatch, match=rf"^{op} \(7\.2\.7\.\d\): shift is .*integer"):
            function(x, bad)
    for number in (2.5, 1j):
        with pytest.raises(sz.TypeMismatch, match=rf"^{op} \(7\.2\.7\.\d\): x is the number"):
            function(number, x)
    with pytest.raises(sz.InvalidArgument, match=rf"^{op} \(7\.2\.7\.\d\): x is 300.*int8"):
        function(300, sz.tensor([1], sz.int8))
    with pytest.raises(sz.DimensionsMismatch, match=r"x has shape \(2,\) and shift has shape \(3,"):
        function(x, sz.tensor([1, 2, 3]))
    check(function(5, sz.tensor([0], sz.int16)), "int16", [5])
    check(function(5, 0), "int64", [5], ())
    check(function(array("int8", [4]), array("uint8", [0])), "int8", [4])
    check(function(pack("int8", []), pack("int64", [])), "int8", [])


@pytest.mark.parametrize("op", [sz.bitwise_left_shift, sz.bitwise_right_shift])
def test_shifts_that_a_view_repeats_are_looked_at_once(op: Callable[..., sz.Tensor]) -> None:
    many = sz.expand(sz.tensor([1], sz.int8), (2**62,))
    assert op(sz.zeros((0, 1), sz.int16), many).shape == (0, 2**62)
    for x in (True, 3, sz.tensor([1], sz.int32)):
        with pytest.raises(sz.AllocFailed):
            op(x, many)
    with pytest.raises(sz.InvalidArgument, match="shift is -1"):
        op(3, sz.expand(sz.tensor([[-1], [1]], sz.int8), (2, 2**40)))
    assert op(8, sz.expand(sz.tensor([[1], [0]], sz.int8), (2, 3))).shape == (2, 3)
