"""What all element-wise operators share: promotion, numbers, shapes, strides, blocks, symbols."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.checking import array, check, pack, samples, show
from helpers.functions import every_level
from suanzi import _core
from suanzi.conformance.model.numbers import COMPLEX, FLOATS, INTEGERS, REALS, Value, convert, real
from suanzi.conformance.model.operators import binary
from suanzi.tensors.exchange import from_numpy

NUMERIC = ["bool", *REALS, *COMPLEX]


def _promoted(op: str, x: sz.Tensor, y: sz.Tensor) -> str | None:
    """The promoted dtype, which tests/promote holds against the documents."""
    try:
        return sz.result_type(x, y, op=op).name
    except sz.TypeMismatch:
        return None


@pytest.mark.parametrize("rules", ["cann", "torch", "numpy"])
@pytest.mark.parametrize("op", ["sub", "less", "true_divide"])
def test_promoted_pairs_convert_once_and_then_compute(op: str, rules: str) -> None:
    """Whatever the loops do at once must give the bits of converting first, and then computing."""
    tried = 0
    with sz.promotion(rules):
        for a, b in product(NUMERIC, NUMERIC):
            if a == b:
                continue
            xs, ys = samples(a, 1, 5)[::9], samples(b, 1, 6)[::9]
            x, y = pack(a, xs, (len(xs), 1)), pack(b, ys)
            common = _promoted(op, x, y)
            if common is None or (common in COMPLEX and op != "sub") or common == "bool":
                continue
            expected = [
                binary(op, common, convert(u, common), convert(v, common))
                for u, v in product(xs, ys)
            ]
            out = "bool" if op == "less" else common
            got = getattr(sz, op)(x, y)
            check(got, out, expected, (len(xs), len(ys)), lambda i, a=a, b=b: f"{a} {op} {b}")  # type: ignore[misc]
            tried += 1
    assert tried > 50


def test_an_operand_is_rounded_before_it_is_added() -> None:
    x, half = sz.tensor([2049], sz.int32), sz.tensor([0.5], sz.float16)
    check(sz.add(x, half), "float16", [real(2048)])
    # Rounded through float32, 2**24 + 1 + 2**-7 would be a tie of bfloat16 less.
    big = 2**55 + 2**47 + 1
    got = sz.add(sz.tensor([big]), sz.tensor([0.0], sz.bfloat16))
    check(got, "bfloat16", [convert(big, "bfloat16")])
    assert convert(big, "bfloat16") == real(2**55 + 2**48)


@pytest.mark.parametrize("name", REALS)
def test_python_numbers_on_either_side(name: str) -> None:
    xs = samples(name, 6)
    x = pack(name, xs)
    for number in (0, 1, 3, 100):
        value = convert(number, name)
        check(x - number, name, [binary("sub", name, v, value) for v in xs])
        check(number - x, name, [binary("sub", name, value, v) for v in xs])
        check(sz.sub(number, x), name, [binary("sub", name, value, v) for v in xs])  # type: ignore[arg-type]
        check(sz.less(x, number), "bool", [binary("less", name, v, value) for v in xs])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("number", [0.1, -2049, 2**62 + 1, 2**64 - 1, 2**70 + 1, 10**40, 1e-50])
def test_a_number_is_rounded_once_to_the_dtype(name: str, number: int | float) -> None:
    xs = samples(name, 3)
    value = convert(real(number), name)
    check(pack(name, xs) + number, name, [binary("add", name, v, value) for v in xs])
    check(number + pack(name, xs), name, [binary("add", name, value, v) for v in xs])


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("number", [-1, 300, 2**31, 2**63, 2**64 - 1])
def test_a_number_wraps_to_an_integer_dtype_where_the_rule_set_lets_it(
    name: str, number: int
) -> None:
    xs = samples(name, 3)
    got = pack(name, xs) + number
    check(got, name, [binary("add", name, v, convert(number, name)) for v in xs])


@pytest.mark.parametrize("number", [2**64, 2**70 + 5, -(2**70)])
def test_a_number_beyond_64_bits_needs_a_float(number: int) -> None:
    with pytest.raises(sz.InvalidArgument, match=r"add \(7\.2\.4\.1\): y is .*beyond 64 bits"):
        sz.add(sz.tensor([1]), number)
    assert (sz.tensor([1.0], sz.float64) * number).item() == float(number)


def test_numbers_alone_make_a_tensor() -> None:
    check(sz.add(1, 2), "int64", [3], ())  # type: ignore[arg-type]
    check(sz.add(1, 2.5), "float32", [real(3.5)], ())  # type: ignore[arg-type]
    check(sz.abs(-5), "int64", [5], ())  # type: ignore[arg-type]
    check(sz.add(x=sz.tensor([1]), y=sz.tensor([2])), "int64", [3])


# ---- shapes --------------------------------------------------------------------------------------

SHAPES = [
    ((), ()), ((), (3,)), ((3,), ()), ((1,), (5,)), ((4, 1), (1, 5)), ((2, 3, 4), (3, 1)),
    ((2, 1, 4), (1, 3, 1)), ((1, 1, 1), (2,)), ((0,), (1,)), ((0,), ()), ((2, 0), (1, 1)),
    ((0, 3), (3,)), ((2, 1, 0), (5, 1)), ((1,) * 6, (2, 1, 2, 1, 2, 1)), ((2, 70), (70,)),
    ((70, 2), (70, 1)), ((3, 1, 700), (3, 5, 1)), ((64, 65), (64, 65)),
]  # fmt: skip


def _counted(name: str, shape: tuple[int, ...]) -> Any:
    values: list[Value] = []
    for i in range(int(np.prod(shape, dtype=np.int64))):
        values.append(convert(i % 61, name))
    return array(name, values, shape)


@pytest.mark.parametrize(("one", "other"), SHAPES)
@pytest.mark.parametrize("names", [("int16", "int16"), ("float16", "float16"), ("int8", "float32")])
def test_broadcasting(one: tuple[int, ...], other: tuple[int, ...], names: tuple[str, str]) -> None:
    a, b = _counted(names[0], one), _counted(names[1], other)
    x, y = sz.tensor(a), sz.tensor(b)
    wide = a.astype(np.float64), b.astype(np.float64)
    for got, expected in [
        (sz.sub(x, y), wide[0] - wide[1]),
        (sz.sub(y, x), wide[1] - wide[0]),
        (sz.less(x, y), wide[0] < wide[1]),
        (sz.muladd(x, y, x), wide[0] * wide[1] + wide[0]),
        (sz.where(sz.less(x, y), x, y), np.minimum(wide[0], wide[1])),
        (sz.logical_xor(x, y), (wide[0] != 0) != (wide[1] != 0)),
    ]:
        assert got.shape == expected.shape
        # float16 holds these sums; products beyond its integers are rounded as NumPy rounds.
        rounded = expected.astype(got.numpy().dtype)
        assert (got.numpy() == rounded).all()


# ---- strides -------------------------------------------------------------------------------------

VIEWS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda a: a.T,
    "reversed": lambda a: a[::-1, ::-1],
    "stepped": lambda a: a[::2, 1::3],
    "one axis reversed and transposed": lambda a: a[:, ::-1].T,
    "one row, repeated": lambda a: np.broadcast_to(a[3:4], a.shape),
    "one column, repeated": lambda a: np.broadcast_to(a[:, 2:3], a.shape),
    "one element, repeated": lambda a: np.broadcast_to(a[1, 1], a.shape),
    "a column": lambda a: a[:, 4],
    "an element": lambda a: a[2, 3, ...],
    "nothing": lambda a: a[5:5, ::-1],
}


@pytest.mark.parametrize("how", VIEWS)
@pytest.mark.parametrize("name", ["int8", "int64", "float16", "float32", "complex128"])
def test_views_of_any_strides(name: str, how: str) -> None:
    # 97 is prime, so that rows cross the blocks of the loops at every place.
    base = _counted(name, (31, 97))
    a = VIEWS[how](base)
    x = from_numpy(a)
    assert x.storage.data <= a.__array_interface__["data"][0]  # a view, not a copy
    dense = sz.tensor(a.copy())
    for _ in every_level():
        for op in ("sub", "mul", "equal"):
            function = getattr(sz, op)
            expected = function(dense, dense).numpy()
            for left, right in ((x, x), (x, dense), (dense, x)):
                got = function(left, right)
                assert got.shape == a.shape
                assert (got.numpy() == expected).all()
        assert (sz.abs(x).numpy() == sz.abs(dense).numpy()).all()
        assert (sz.muladd(x, dense, x).numpy() == sz.muladd(dense, dense, dense).numpy()).all()
        flags = sz.not_equal(x, 3)
        assert (sz.where(flags, x, 7).numpy() == sz.where(flags, dense, 7).numpy()).all()
        assert (sz.logical_not(x).numpy() == sz.logical_not(dense).numpy()).all()
    assert (base == _counted(name, (31, 97))).all()  # nothing wrote into the operand


def test_views_of_different_dtypes_and_orders() -> None:
    base = _counted("int16", (33, 65))
    other = _counted("float32", (65, 33))
    expected = base - other.T
    got = sz.sub(from_numpy(base), from_numpy(other.T))
    assert (got.numpy() == expected).all()
    got = sz.sub(from_numpy(base[::-1]), from_numpy(other.T[:, ::-1]))
    assert (got.numpy() == base[::-1] - other.T[:, ::-1]).all()
    view = _core.view(sz.tensor([1, 2, 3, 4, 5]), 4, (2, 3), (0, -1))
    check(sz.add(view, 1), "int64", [6, 5, 4] * 2, (2, 3))


# ---- Python's symbols ----------------------------------------------------------------------------

SYMBOLS: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("add", operator.add), ("sub", operator.sub), ("mul", operator.mul),
    ("true_divide", operator.truediv), ("floordiv", operator.floordiv), ("mod", operator.mod),
    ("pow", operator.pow), ("bitwise_and", operator.and_), ("bitwise_or", operator.or_),
    ("bitwise_xor", operator.xor), ("bitwise_left_shift", operator.lshift),
    ("bitwise_right_shift", operator.rshift), ("equal", operator.eq), ("not_equal", operator.ne),
    ("less", operator.lt), ("less_equal", operator.le), ("greater", operator.gt),
    ("greater_equal", operator.ge),
]  # fmt: skip


@pytest.mark.parametrize(("name", "symbol"), SYMBOLS)
def test_symbols_are_the_functions(name: str, symbol: Callable[[Any, Any], Any]) -> None:
    function = getattr(sz, name)
    x, y = sz.tensor([7, 2, 5, 1], sz.int16), sz.tensor([3, 2, 4, 1], sz.int16)
    for a, b in ((x, y), (x, 3), (3, x), (x, y.numpy()), (y.numpy(), x), (np.int16(3), x)):
        got, wanted = symbol(a, b), function(a, b)
        assert isinstance(got, sz.Tensor)
        assert (got.dtype, got.tolist()) == (wanted.dtype, wanted.tolist())


def test_symbols_of_one_operand() -> None:
    x = sz.tensor([-3, 0, 3], sz.int8)
    check(-x, "int8", [3, 0, -3])
    check(+x, "int8", [-3, 0, 3])
    check(~x, "int8", [2, -1, -4])
    check(abs(x), "int8", [3, 0, 3])
    check(-sz.tensor([0.0, float("inf")]), "float32", [real(-0.0), real(float("-inf"))])
    check(-sz.tensor([1], sz.uint8), "uint8", [255])
    check(-sz.tensor([1 - 2j]), "complex64", [(real(-1), real(2))])
    with pytest.raises(sz.TypeMismatch, match="negative"):
        -sz.tensor([True])


def test_numpy_arrays_keep_their_dtype() -> None:
    x = sz.tensor([1, 2], sz.int8)
    check(sz.add(x, np.array([0.5, 0.5], np.float16)), "float16", [real(1.5), real(2.5)])
    check(sz.add(np.array([1, 2], ">i4"), x), "int32", [2, 4])
    check(sz.add(x, np.float32(0.5)), "float32", [real(1.5), real(2.5)])
    assert show(real(1.5)) == "1.5"
