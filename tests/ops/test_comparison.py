"""7.2.5: comparison against exact arithmetic, and allclose."""

from __future__ import annotations

from itertools import product

import pytest
from checking import check, check_binary, pack, pairs, samples

import suanzi as sz
from suanzi.conformance.oracle import COMPLEX, FLOATS, INTEGERS, REALS, SUBBYTE, binary, real

ORDER = ["greater", "greater_equal", "less", "less_equal"]
EQUALITY = ["equal", "not_equal"]
INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("name", [*REALS, *SUBBYTE])
@pytest.mark.parametrize("op", ORDER)
def test_order_of_every_pair_of_special_values(op: str, name: str) -> None:
    check_binary(op, name, *pairs(name, 3), "bool")


@pytest.mark.parametrize("name", [*REALS, *SUBBYTE, *COMPLEX, "bool"])
@pytest.mark.parametrize("op", EQUALITY)
def test_equality_of_every_pair_of_special_values(op: str, name: str) -> None:
    xs, ys = pairs(name, 2)
    check_binary(op, name, xs[:50], ys[:50], "bool")


@pytest.mark.parametrize("op", ORDER)
@pytest.mark.parametrize("name", [*COMPLEX, "bool"])
def test_what_has_no_order_is_refused(op: str, name: str) -> None:
    x = sz.tensor([1], sz.dtype(name))
    with pytest.raises(sz.TypeMismatch, match=rf"^{op} \(7\.2\.5\.\d\): x is {name}.*Cast first"):
        getattr(sz, op)(x, x)


@pytest.mark.parametrize("op", [*ORDER, *EQUALITY])
def test_operands_are_compared_in_the_promoted_dtype(op: str) -> None:
    """Under cann 2049 and float16 meet in float16, where 2049 is 2048."""
    got = getattr(sz, op)(sz.tensor([2049], sz.int32), sz.tensor([2048.0], sz.float16))
    check(got, "bool", [binary(op, "float16", real(2048), real(2048))])


@pytest.mark.parametrize("rules", ["numpy", "lossless"])
@pytest.mark.parametrize("op", [*ORDER, *EQUALITY])
def test_integers_without_a_common_dtype_are_compared_by_value(op: str, rules: str) -> None:
    xs, ys = samples("int64", 10), samples("uint64", 10)
    expected = [binary(op, "-", a, b) for a, b in product(xs, ys)]
    x, y = pack("int64", xs, (len(xs), 1)), pack("uint64", ys)
    with sz.promotion(rules):
        check(getattr(sz, op)(x, y), "bool", expected, (len(xs), len(ys)))
        mirrored = [binary(op, "-", b, a) for a, b in product(xs, ys)]
        check(getattr(sz, op)(y, x), "bool", mirrored, (len(xs), len(ys)))


@pytest.mark.parametrize("op", [*ORDER, *EQUALITY])
@pytest.mark.parametrize("name", ["int64", "uint64"])
def test_lossless_compares_integers_with_float64_by_value(op: str, name: str) -> None:
    xs, ys = samples(name, 10), samples("float64", 6)
    expected = [binary(op, "-", a, b) for a, b in product(xs, ys)]
    with sz.promotion("lossless"):
        got = getattr(sz, op)(pack(name, xs, (len(xs), 1)), pack("float64", ys))
        check(got, "bool", expected, (len(xs), len(ys)))


@pytest.mark.parametrize("op", [*ORDER, *EQUALITY])
@pytest.mark.parametrize("number", [2**64, 2**70 + 1, -(2**63) - 1, -(2**70), 10**400, -(10**400)])
def test_lossless_compares_numbers_beyond_64_bits_by_value(op: str, number: int) -> None:
    with sz.promotion("lossless"):
        for name in ("int64", "uint64", "float64"):
            xs = samples(name, 4)
            expected = [binary(op, "-", a, number) for a in xs]
            mirrored = [binary(op, "-", number, a) for a in xs]
            check(getattr(sz, op)(pack(name, xs), number), "bool", expected)
            check(getattr(sz, op)(number, pack(name, xs)), "bool", mirrored)


# ---- allclose ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y", "arguments", "close"),
    [
        ([10, 1e-7], [10.1, 1e-8], {}, False),  # A.2.5.7
        ([10, 1e-7], [10.00001, 1e-8], {}, False),
        ([10, 1e-8], [10.00001, 1e-9], {}, True),
        ([1.0], [1.5], {"rtol": 0, "atol": 0.5}, True),
        ([1.0], [1.5], {"rtol": 0, "atol": 0.25}, False),
        # The tolerance is relative to y: the formula is not symmetric.
        ([1.0], [2.0], {"rtol": 0.5, "atol": 0}, True),
        ([2.0], [1.0], {"rtol": 0.5, "atol": 0}, False),
        ([INF, -INF], [INF, -INF], {}, True),
        ([INF], [-INF], {"atol": 1.0}, False),
        ([1.0], [INF], {"rtol": 1.0}, False),
        ([INF], [1.0], {"rtol": 1.0}, False),
        ([NAN], [NAN], {}, False),
        ([NAN], [NAN], {"equal_nan": True}, True),
        ([NAN], [1.0], {"equal_nan": True}, False),
        ([0.0], [-0.0], {"rtol": 0, "atol": 0}, True),
    ],
)
@pytest.mark.parametrize("name", ["float32", "float64"])
def test_allclose(
    name: str, x: list[float], y: list[float], arguments: dict[str, float], close: bool
) -> None:
    dt = sz.dtype(name)
    check(sz.allclose(sz.tensor(x, dt), sz.tensor(y, dt), **arguments), "bool", [close])


@pytest.mark.parametrize("name", [*REALS, *COMPLEX])
def test_allclose_of_every_dtype(name: str) -> None:
    dt = sz.dtype(name)
    x, y = sz.tensor([1, 2], dt), sz.tensor([1, 3], dt)
    check(sz.allclose(x, x, 0, 0), "bool", [1])
    check(sz.allclose(x, y, 0, 0), "bool", [0])
    check(sz.allclose(x, y, 0, 1), "bool", [1])
    check(sz.allclose(pack(name, []), pack(name, [])), "bool", [1])
    check(sz.allclose(sz.tensor([[1], [1]], dt), 1, 0, 0), "bool", [1])


def test_allclose_of_integers_is_exact() -> None:
    for name in INTEGERS:
        top = int(sz.iinfo(name).max)
        x, y = sz.tensor([top], sz.dtype(name)), sz.tensor([top - 1], sz.dtype(name))
        check(sz.allclose(x, y, 0, 0), "bool", [0])
        check(sz.allclose(x, y, 0, 1), "bool", [1])
        low = sz.tensor([int(sz.iinfo(name).min)], sz.dtype(name))
        check(sz.allclose(x, low, 0, 2), "bool", [0])  # the difference must not wrap to -1


def test_allclose_converts_a_number_once() -> None:
    check(sz.allclose(sz.tensor([0.1], sz.float64), 0.1, 0, 0), "bool", [1])
    check(sz.allclose(sz.tensor([2.0**70], sz.float64), 2**70, 0, 0), "bool", [1])
    check(sz.allclose(0.1, sz.tensor([0.1], sz.bfloat16), 0, 0), "bool", [1])


def test_allclose_without_a_common_dtype_is_by_value() -> None:
    one_below, power = sz.tensor([2**63 - 1]), sz.tensor([2**63], sz.uint64)
    for rules in ("numpy", "lossless"):
        with sz.promotion(rules):
            check(sz.allclose(power, one_below, 0, 0), "bool", [0])
            check(sz.allclose(power, one_below, 0, 1), "bool", [1])
    with sz.promotion("lossless"):
        x, y = sz.tensor([2.0**53], sz.float64), sz.tensor([2**53 + 1])
        check(sz.allclose(x, y, 0, 0), "bool", [0])
        check(sz.allclose(x, y, 0, 1), "bool", [1])
        check(sz.allclose(sz.tensor([INF], sz.float64), y, 0, 1), "bool", [0])


def test_allclose_refuses() -> None:
    x = sz.tensor([1.0, 2.0])
    with pytest.raises(sz.InvalidArgument, match=r"^allclose \(7\.2\.5\.7\): x has shape \(2,\)"):
        sz.allclose(x, sz.tensor([1.0, 2.0, 3.0]))
    for name in ("rtol", "atol"):
        for bad in (-1, NAN, "1", None):
            with pytest.raises(sz.InvalidArgument, match=rf"^allclose \(7\.2\.5\.7\): {name} is"):
                sz.allclose(x, x, **{name: bad})  # type: ignore[arg-type]
    with pytest.raises(sz.TypeMismatch, match=r"^allclose \(7\.2\.5\.7\): x is bool"):
        sz.allclose(sz.tensor([True]), sz.tensor([True]))


@pytest.mark.parametrize("name", FLOATS)
def test_nan_is_unlike_everything(name: str) -> None:
    x = sz.tensor([NAN] * 40, sz.dtype(name))
    check(x == x, "bool", [0] * 40)
    check(x != x, "bool", [1] * 40)
    check(x >= x, "bool", [0] * 40)
