"""The oracle against Python, struct and ml_dtypes; the checks against wrong answers."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from random import Random

import ml_dtypes
import numpy as np
import pytest

import suanzi as sz
from helpers.checking import (
    array,
    check,
    check_binary,
    check_near,
    check_unary,
    pack,
    samples,
    unpack,
)
from suanzi.conformance.model.numbers import (
    FLOATS,
    FORMATS,
    NAN,
    Real,
    Value,
    add,
    convert,
    decode,
    div,
    encode,
    encode_float,
    floordiv,
    mod,
    mul,
    real,
    store,
    sub,
    wrap,
)
from suanzi.conformance.model.operators import binary


def _float(x: Real) -> float:
    if x.is_nan:
        return math.nan
    return math.copysign(math.inf if x.size is None else float(x.size), -1 if x.negative else 1)


def _same(a: float, b: float) -> bool:
    return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))


@pytest.mark.parametrize("name", FLOATS)
def test_the_short_cuts_of_encode(name: str) -> None:
    """The bits of a Python float, and of a number that was decoded, are those of its fraction."""
    form, random = FORMATS[name], Random(name)
    floats = [random.uniform(-9, 9) * 2.0 ** random.randint(-40, 40) for _ in range(500)]
    normal, one = 1 << form.mantissa, form.bias << form.mantissa
    for bits in (0, 1, normal - 1, normal, one - 1, one, one + 1, form.largest - 1, form.largest):
        low, next_one = decode(form, bits).value, decode(form, min(bits + 1, form.largest)).value
        middle = float((low + next_one) / 2)
        floats += [float(low), middle, math.nextafter(middle, 0), math.nextafter(middle, math.inf)]
    floats += [0.0, math.inf, math.nan, float(decode(form, form.largest).value * (1 + 2.0**-30))]
    for x in (*floats, *(-x for x in floats)):
        fresh = real(x)
        assert encode_float(form, x) == encode(form, fresh), x
        known = decode(form, encode(form, fresh))
        assert encode(form, known) == encode(form, Real(known.negative, known.size, known.is_nan))


def test_float64_is_pythons() -> None:
    random = Random(0)
    for _ in range(2000):
        bits = random.getrandbits(64)
        value = struct.unpack("d", bits.to_bytes(8, "little"))[0]
        assert _same(_float(decode(FORMATS["float64"], bits)), value)
        if value == value:
            assert encode(FORMATS["float64"], real(value)) == bits


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_narrow_formats_are_those_of_ml_dtypes(name: str) -> None:
    form = FORMATS[name]
    kind = np.dtype(getattr(ml_dtypes, name, None) or name)
    every = np.arange(2**form.bits, dtype=f"u{form.bits // 8}")
    with np.errstate(invalid="ignore"):  # signalling NaN
        values = every.view(kind).astype(np.float64)
    for bits in range(0, 2**form.bits, 1 if form.bits == 8 else 23):
        assert _same(_float(decode(form, bits)), float(values[bits]))
    random = Random(name)
    # Of float32, since ml_dtypes takes float64 through it and rounds twice.
    wide = (random.uniform(-2, 2) * 2.0 ** random.randint(-20, 20) for _ in range(500))
    reals = [float(np.float32(x)) for x in wide]
    with np.errstate(over="ignore"):
        rounded = np.array(reals, np.float64).astype(kind).astype(np.float64)
    for x, wanted in zip(reals, rounded, strict=True):
        assert _same(_float(decode(form, encode(form, real(x)))), float(wanted))


def _python(op: Callable[[float, float], float], a: float, b: float) -> float | None:
    try:
        return op(a, b)
    except ZeroDivisionError:
        return None


@pytest.mark.parametrize(
    ("ours", "python"),
    [
        (add, lambda a, b: a + b),
        (sub, lambda a, b: a - b),
        (mul, lambda a, b: a * b),
        (div, lambda a, b: a / b),
        (mod, lambda a, b: a % b),
    ],
)
def test_operators_on_float64_are_pythons(
    ours: Callable[[Real, Real], Real], python: Callable[[float, float], float]
) -> None:
    values = samples("float64", 10)
    for a in values:
        for b in values:
            assert isinstance(a, Real)
            assert isinstance(b, Real)
            wanted = _python(python, _float(a), _float(b))
            if wanted is None:
                continue
            found = store("float64", ours(a, b))
            assert isinstance(found, Real)
            assert _same(_float(found), wanted), (ours.__name__, _float(a), _float(b))


def test_floor_of_the_exact_quotient() -> None:
    # Just below 1: Python's own // says 0 too, a rounded quotient would say 1.
    below = real(math.nextafter(1, 0))
    assert floordiv(below, real(1)) == real(0)
    assert floordiv(real(-1e-300), real(1e300)) == real(-1)
    assert floordiv(real(-7), real(2)) == real(-4)


def test_rounding_once_is_not_rounding_twice() -> None:
    tie = Fraction(2049) + Fraction(1, 2**30)
    assert convert(real(tie), "float16") == real(2050)
    assert store("float16", real(tie)) == real(2048)  # through float32, as narrow dtypes compute


def test_integers_wrap() -> None:
    assert [wrap("int8", x) for x in (127, 128, -129, 256)] == [127, -128, 127, 0]
    assert [wrap("uint4", x) for x in (16, -1)] == [0, 15]
    assert convert(NAN, "int8") == 0
    assert [convert(real(x), "int8") for x in (1e9, -1e9, -1.9)] == [127, -128, -1]


@pytest.mark.parametrize(
    "name", [*FLOATS, "int4", "int64", "uint64", "bool", "complex32", "complex128"]
)
def test_what_is_packed_is_unpacked(name: str) -> None:
    values = samples(name, 20)
    check(pack(name, values), name, values)
    assert len(unpack(pack(name, values))) == len(values)


# ---- the checks must fail ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("got", "name", "expected"),
    [
        (sz.tensor([1, 2, 3]), "int64", [1, 2, 4]),
        (sz.tensor([1, 2, 3]), "int32", [1, 2, 3]),
        (sz.tensor([1, 2, 3]), "int64", [1, 2]),
        (sz.tensor([[1, 2, 3]]), "int64", [1, 2, 3]),
        (sz.tensor([0.0]), "float32", [real(-0.0)]),
        (sz.tensor([float("inf")]), "float32", [NAN]),
        (sz.tensor([float("nan")]), "float32", [real(0.0)]),
        (sz.tensor([1.0]), "float32", [real(1 + 2.0**-23)]),
        (sz.tensor([1e-45]), "float32", [real(0.0)]),
        (sz.tensor([0.0], sz.float64), "float64", [real(5e-324)]),
        (sz.tensor([448.0], sz.float8_e4m3fn), "float8_e4m3fn", [NAN]),
        (sz.tensor([1 + 2j]), "complex64", [(real(1), real(-2))]),
        (sz.tensor([complex(0.0, -0.0)]), "complex64", [(real(0.0), real(0.0))]),
        (sz.tensor([True]), "bool", [0]),
        (sz.tensor([], sz.int8), "int8", [1]),
    ],
)
def test_check_raises_for_a_wrong_answer(got: sz.Tensor, name: str, expected: list[Value]) -> None:
    with pytest.raises(AssertionError):
        check(got, name, expected)


def test_check_sees_a_wrong_element_in_a_view() -> None:
    x = sz.tensor(array("int8", [1, 2, 3, 4], (2, 2)).T)
    check(x, "int8", [1, 3, 2, 4], (2, 2))
    with pytest.raises(AssertionError, match="2 of 4 elements are wrong"):
        check(x, "int8", [1, 2, 3, 4], (2, 2))


def test_any_nan_is_a_nan() -> None:
    negative = pack("float16", [Real(True, None, is_nan=True)])
    check(negative, "float16", [NAN])


def test_check_binary_raises_for_a_wrong_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    check_binary("add", "int8", [1], [2], "int8")
    monkeypatch.setattr(sz, "add", sz.sub)
    with pytest.raises(AssertionError, match=r"add\(1, 2\) in int8: -1, not 3"):
        check_binary("add", "int8", [1], [2], "int8")
    monkeypatch.setattr(sz, "floor", sz.ceil)
    with pytest.raises(AssertionError, match=r"floor\(0\.5\) in float32: 1\.0, not 0\.0"):
        check_unary("floor", "float32", [real(0.5)], "float32")


def test_check_near_counts_units() -> None:
    one = sz.tensor([1 + 1j])
    off = Fraction(1, 2**23)
    check_near(one, "complex64", [(1 + off, Fraction(1))], 1)
    for wrong in ((1 + 2 * off, Fraction(1)), (Fraction(1), 1 - 2 * off)):
        with pytest.raises(AssertionError):
            check_near(one, "complex64", [wrong], 1)
    with pytest.raises(AssertionError):
        check_near(sz.tensor([complex(1, math.nan)]), "complex64", [(Fraction(1), Fraction(1))], 1)
    with pytest.raises(AssertionError):
        check_near(one, "complex128", [(Fraction(1), Fraction(1))], 1)


def test_every_operator_of_the_oracle_is_used() -> None:
    assert binary("div", "int8", -7, 2) == -3
    assert binary("floordiv", "int8", -7, 2) == -4
    assert binary("mod", "int8", -7, 3) == 2
