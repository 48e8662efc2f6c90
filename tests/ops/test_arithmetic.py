"""7.2.4: what the conformance kit does not ask of arithmetic: suanzi's own, sharper claims."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest

import suanzi as sz
from helpers.checking import check, check_binary, check_near, pack, pairs, samples, show
from helpers.functions import every_level
from suanzi import _core
from suanzi.conformance.model.numbers import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    PARTS,
    REALS,
    Real,
    Value,
    add,
    compute_format,
    convert,
    div,
    limits,
    mul,
    real,
    rounded,
    store,
    wrap,
)
from suanzi.conformance.model.operators import binary

DIVISIONS = ["div", "floordiv", "mod"]
INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("op", ["floordiv", "mod", "max", "min"])
def test_signs_of_zeros_and_what_becomes_of_infinities(op: str, name: str) -> None:
    """The standard does not say, so the kit does not ask."""
    check_binary(op, name, *pairs(name, 3), name)


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64"])
def test_the_most_negative_integer_has_no_opposite(name: str) -> None:
    low, _ = limits(name)
    check(-pack(name, [low]), name, [low])


def test_floordiv_is_the_rounded_floor_of_the_exact_quotient() -> None:
    """Beyond 2**53 the floor is rounded, and may lie half-way where the quotient does not."""
    random = Random(0)
    xs: list[Value] = []
    ys: list[Value] = []
    for _ in range(3000):
        scale = random.choice([10, 53, 54, 55, 56, 60, 100, 105, 106, 107, 108, 200])
        sign = random.choice([1, -1])
        xs.append(real(sign * float(random.getrandbits(53) | 1) * 2.0**scale))
        ys.append(real(random.choice([1, -1]) * float(random.getrandbits(53) | 1)))
    expected = [binary("floordiv", "float64", a, b) for a, b in zip(xs, ys, strict=True)]
    got = sz.floordiv(pack("float64", xs), pack("float64", ys))
    check(got, "float64", expected, came=lambda i: f"{show(xs[i])} // {show(ys[i])}")


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("op", DIVISIONS)
def test_an_integer_zero_divisor_is_an_error(op: str, name: str) -> None:
    function = getattr(sz, op)
    x = pack(name, list(range(1, 71)))
    zero_last = pack(name, [*range(1, 70), 0])
    for divisor in (0, zero_last, pack(name, [0]), pack(name, [0], ())):
        with pytest.raises(sz.DivisionByZero, match=rf"^{op} \(7\.2\.4\.\d\): y contains a z") as e:
            function(x, divisor)
        assert e.value.status is sz.Status.INVALID_ARGUMENT
        assert isinstance(e.value, ZeroDivisionError)
        assert "sz.where" in str(e.value)
    # Without elements nothing is divided.
    check(function(pack(name, []), 0), name, [])


# ---- complex -------------------------------------------------------------------------------------


def _moderate(name: str, seed: int) -> list[tuple[Real, Real]]:
    """Complex numbers whose products and quotients stay within the range."""
    random = Random(f"{name} {seed}")
    made: list[tuple[Real, Real]] = []
    for _ in range(24):
        parts = (real(random.choice([1, -1]) * 2.0 ** random.uniform(-4, 4)) for _ in range(2))
        first, second = (rounded(compute_format(PARTS[name]), p) for p in parts)
        value = convert((first, second), name)
        assert isinstance(value, tuple)
        made.append(value)
    return made


@pytest.mark.parametrize(
    ("name", "ulp"), [("complex32", 0.51), ("complex64", 0.51), ("complex128", 3)]
)
def test_complex_products_and_quotients(name: str, ulp: float) -> None:
    """complex64 computes in double precision, so it is almost as good as rounded once."""
    xs, ys = _moderate(name, 1), _moderate(name, 2)
    both = [(a, b) for a, b in product(xs, ys)]
    left, right = pack(name, [a for a, _ in both]), pack(name, [b for _, b in both])

    def parts(a: tuple[Real, Real], b: tuple[Real, Real]) -> tuple[Fraction, ...]:
        return (a[0].value, a[1].value, b[0].value, b[1].value)

    products, quotients = [], []
    for a, b in both:
        p, q, r, s = parts(a, b)
        norm = r * r + s * s
        products.append((p * r - q * s, p * s + q * r))
        quotients.append(((p * r + q * s) / norm, (q * r - p * s) / norm))
    for _ in every_level():
        check_near(sz.mul(left, right), name, products, ulp)
        check_near(sz.div(left, right), name, quotients, ulp)
        check_near(sz.true_divide(left, right), name, quotients, ulp)
    ones = pack(name, [(real(1), real(0))] * len(ys))
    assert (sz.reciprocal(pack(name, ys)) == sz.div(ones, pack(name, ys))).numpy().all()


def test_complex_products_at_the_ends_of_the_range() -> None:
    """A part is finite where its exact value is: also in place, by one number, and in squares."""
    top = float(sz.finfo(sz.float64).max)
    ends = [0.0, -2.5, 1e-310, 1e200, -1e200, top / 2, -top]
    every = [complex(x, y) for x, y in product(ends, ends)]
    both = list(product(every, every))
    left, right = (sz.tensor(list(column), sz.complex128) for column in zip(*both, strict=True))
    given = sz.tensor(every, sz.complex128)
    for _ in every_level():
        products = sz.mul(left, right)
        changed = sz.duplicate(left)
        changed *= right
        assert repr(changed.tolist()) == repr(products.tolist())
        by_one = sz.mul(sz.tensor(every[-1], sz.complex128), given)
        assert repr(by_one.tolist()) == repr(products[-len(every) :].tolist())
        squares = sz.array_api.square(given)
        assert repr(squares.tolist()) == repr(products[:: len(every) + 1].tolist())
        for (x, y), z in zip(both, products.tolist(), strict=True):
            p, q, r, s = (Fraction(v) for v in (x.real, x.imag, y.real, y.imag))
            error = (abs(p) + abs(q)) * (abs(r) + abs(s)) / 2**51 + Fraction(1, 2**1073)
            for found, truth in ((z.real, p * r - q * s), (z.imag, p * s + q * r)):
                if found == found and abs(found) < INF:
                    assert abs(Fraction(found) - truth) <= error, (x, y, z)
                else:
                    assert abs(truth) + error > top, (x, y, z)
                    assert found == (INF if truth > 0 else -INF), (x, y, z)


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_division_by_zero_and_infinity(name: str) -> None:
    dt = sz.dtype(name)
    x = sz.tensor([1 + 1j, -2 + 1j], dt)
    for infinite in (complex(INF, 0), complex(0, -INF), complex(INF, INF), complex(-INF, 3)):
        for value in sz.div(x, sz.tensor([infinite], dt)).tolist():
            assert value == 0
    for value in sz.div(x, sz.tensor([0j], dt)).tolist():
        assert INF in (abs(value.real), abs(value.imag))
    # A large divisor does not overflow on the way.
    top = float(sz.finfo(PARTS[name]).max)
    large = sz.tensor([complex(top, top)], dt)
    assert sz.div(large, large).item() == 1


# ---- integers to floating-point ------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["cann", "numpy"])
@pytest.mark.parametrize("name", [*INTEGERS, "bool"])
def test_true_divide_and_reciprocal_of_integers(name: str, rules: str) -> None:
    """Each operand is rounded to the float first, and then their quotient."""
    xs, ys = pairs(name, 4)
    with sz.promotion(rules):
        got = sz.true_divide(pack(name, xs, (len(xs), 1)), pack(name, ys))
        out = got.dtype.name
        assert out == "float32" or rules == "numpy"
        expected = [
            binary("div", out, convert(a, out), convert(b, out)) for a, b in product(xs, ys)
        ]
        check(got, out, expected, (len(xs), len(ys)))
        if name == "bool":  # which Table 66 does not have
            with pytest.raises(sz.TypeMismatch, match=r"^reciprocal .*: bool is refused"):
                sz.reciprocal(pack(name, xs))
            return
        once = sz.reciprocal(pack(name, xs))
        out = once.dtype.name
        ones = [store(out, div(real(1), _real(convert(a, out)))) for a in xs]
        check(once, out, ones)


def _real(x: Value) -> Real:
    assert isinstance(x, Real)
    return x


# ---- muladd --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REALS)
def test_muladd_rounds_product_and_sum(name: str) -> None:
    xs, ys = pairs(name, 2)
    ts = samples(name, 1, 3)
    rows = [(a, b, ts[(i + 7 * j) % len(ts)]) for i, a in enumerate(xs) for j, b in enumerate(ys)]
    expected = [_muladd(name, *row) for row in rows]
    x, y, a = (pack(name, [row[i] for row in rows]) for i in range(3))
    for _ in every_level():
        check(sz.muladd(x, y, a), name, expected, came=lambda i: str([show(v) for v in rows[i]]))


def _muladd(name: str, x: Value, y: Value, a: Value) -> Value:
    if isinstance(x, int) and isinstance(y, int) and isinstance(a, int):
        return wrap(name, x * y + a)
    assert isinstance(x, Real)
    product_ = rounded(compute_format(name), mul(x, _real(y)))
    return store(name, add(product_, _real(a)))


def test_muladd_broadcasts_and_promotes_all_three() -> None:
    x = sz.tensor([[1], [2]], sz.int8)
    got = sz.muladd(x, sz.tensor([0.5, 1.5, 2.5], sz.float16), 10)
    check(got, "float16", [real(v) for v in (10.5, 11.5, 12.5, 11, 13, 15)], (2, 3))
    got = sz.muladd(2, 3, sz.tensor([0.25], sz.bfloat16))
    check(got, "bfloat16", [real(6.25)])
    check(sz.muladd(2, 3, 4), "int64", [10], ())
    got = sz.muladd(sz.tensor([1 + 1j]), sz.tensor([2 - 1j]), sz.tensor([0.5]))
    check(got, "complex64", [(real(3.5), real(1))])
    # 2049 is no float16: it is rounded before it is multiplied.
    got = sz.muladd(sz.tensor([2049], sz.int32), sz.tensor([1.0], sz.float16), 0.0)
    check(got, "float16", [real(2048)])


# ---- trace ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "arguments", "why"),
    [
        ((3,), (), "two axes"),
        ((), (), "two axes"),
        ((2, 2), (0, 0, 0), "both 0"),
        ((2, 2), (0, 1, -1), "both 1"),
        ((2, 2), (0, 2, 0), "dim0 is 2; for 2 axes it must be from -2 to 1"),
        ((2, 2), (0, 0, -3), "dim1 is -3"),
        ((2, 2), (0.5,), "offset is 0.5; it must be an integer"),
        ((2, 2), (0, 0.0, 1), "dim0 is 0.0; it must be an integer"),
        ((2, 2), (True,), "offset is True"),
    ],
)
def test_trace_refuses(shape: tuple[int, ...], arguments: tuple[int, ...], why: str) -> None:
    x = _core.empty(shape, sz.float32)
    with pytest.raises(sz.InvalidArgument) as e:
        sz.trace(x, *arguments)
    assert str(e.value).startswith("trace (7.2.4.13): ")
    assert why in str(e.value)
    with pytest.raises(sz.InvalidArgument) as e:
        sz.trace_backward(sz.tensor(1.0), shape, *arguments)
    assert str(e.value).startswith("trace_backward (7.2.4.13.4): ")


def test_trace_backward_of_one_value_repeated_without_memory() -> None:
    repeated = _core.view(sz.tensor([3.0]), 0, (4,), (0,))
    assert sz.trace(sz.trace_backward(repeated, (2, 2, 4))).tolist() == [6] * 4


def test_trace_backward_checks_shapes() -> None:
    with pytest.raises(sz.InvalidArgument, match=r"grad_y has shape \(2,\).*must have shape \(\)"):
        sz.trace_backward(sz.tensor([1.0, 2.0]), (2, 2))
    for bad in ((-1, 2), 3, (2.0, 2)):
        with pytest.raises(sz.InvalidArgument, match="input_shape is"):
            sz.trace_backward(sz.tensor(1.0), bad)  # type: ignore[arg-type]
    with pytest.raises(sz.AllocFailed):
        sz.trace_backward(sz.tensor(1.0), (2**40, 2**40))
