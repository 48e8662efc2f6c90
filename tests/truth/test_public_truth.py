"""suanzi.truth on anybody's arrays, compared with formulas written here in mpmath."""

from __future__ import annotations

import importlib
import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import mpmath
import numpy as np
import pytest

import suanzi as sz
from suanzi import truth
from suanzi.base.status import InvalidArgument
from suanzi.conformance.nn._calls import CALLS
from suanzi.conformance.subjects.wire import Data
from suanzi.standard import interfaces
from suanzi.truth import public
from suanzi.truth.bounds import Bound
from suanzi.truth.rounding import ROUNDED, round_exact, rounded
from suanzi.truth.tracked import Tracked, arithmetic, tracked
from suanzi.validate.judge.filling import filled

DTYPES = ("float8_e5m2", "float16", "bfloat16", "float32", "float64")


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, name, name))


def neighbours_of(x: np.generic) -> tuple[Fraction, Fraction]:
    """Return the midpoints between a number and the next ones below and above, exactly."""
    here = Fraction(float(x))
    one = np.array([x])
    up = Fraction(float(np.nextafter(one, np.array([np.inf], one.dtype))[0]))
    down = Fraction(float(np.nextafter(one, np.array([-np.inf], one.dtype))[0]))
    return (here + down) / 2, (here + up) / 2


def is_nearest(found: np.generic, exact: mpmath.mpf) -> bool:
    low, high = neighbours_of(found)
    with mpmath.workprec(400):
        as_mp = [mpmath.mpf(x.numerator) / x.denominator for x in (low, high)]
        return bool(as_mp[0] <= exact <= as_mp[1])


def softmax_of(row: list[float]) -> list[mpmath.mpf]:
    with mpmath.workprec(400):
        e = [mpmath.exp(mpmath.mpf(x)) for x in row]
        return [one / mpmath.fsum(e) for one in e]


@pytest.mark.parametrize("name", DTYPES)
def test_small_answers_are_correctly_rounded(name: str) -> None:
    x = np.random.default_rng(1).normal(size=(4, 9)).astype(dtype_of(name)) * dtype_of(name).type(2)
    found = truth.softmax(x)
    assert found.dtype == x.dtype
    for row, got in zip(x, found, strict=True):
        for one, exact in zip(got, softmax_of([float(v) for v in row]), strict=True):
            assert is_nearest(one, exact)


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32"])
def test_large_answers_are_those_of_small_ones(name: str) -> None:
    x = np.random.default_rng(2).normal(size=(40, 400)).astype(dtype_of(name))
    assert x.size > public.SMALL
    whole = truth.softmax(x)
    some = np.concatenate([truth.softmax(x[i : i + 4]) for i in (0, 17, 36)])
    assert (some == np.concatenate([whole[i : i + 4] for i in (0, 17, 36)])).all()


def test_what_float64_leaves_open_is_decided_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that give a tie up to float64's error are computed again, and only those."""
    x = np.zeros((30, 256), np.float32)
    x[7, :2] = [0.1, 0.2]
    asked: list[tuple[int, ...]] = []
    real = public._gives

    def gives(whole: Any, which: int, part: Any, region: Any) -> bool:
        asked.append(part["x"].shape)
        return real(whole, which, part, region)

    monkeypatch.setattr(public, "_gives", gives)
    monkeypatch.setattr(public, "rounded", lambda v, dtype: v)  # everything is open
    monkeypatch.setattr(public, "_remembered", {})
    found = truth.softmax(x)
    assert (1, 256) in asked
    assert found[0, 0] == np.float32(2.0**-8)
    assert is_nearest(found[7, 0], softmax_of([float(v) for v in x[7]])[0])


def test_columns_are_found_as_rows_are() -> None:
    x = np.random.default_rng(3).normal(size=(300, 30)).astype(np.float64)
    found = truth.softmax(x, axis=0)
    for column in (0, 29):
        exact = softmax_of(x[:, column].tolist())
        assert all(is_nearest(a, b) for a, b in zip(found[:, column], exact, strict=True))


@pytest.mark.parametrize("name", list(ROUNDED))
def test_rounding_of_exact_and_of_float64_numbers_agree(name: str) -> None:
    form, random = ROUNDED[name], np.random.default_rng(4)
    exponents = random.integers(form.lowest - form.bits - 2, form.lowest + 40, 300)
    x = np.ldexp(random.integers(1, 2**10, 300).astype(float), exponents)
    ties = np.ldexp(2.0 * random.integers(0, 2**form.bits, 100) + 1, form.lowest - form.bits)
    end = [
        form.largest,
        math.nextafter(form.largest, math.inf),
        form.largest * (1 + 2.0**-form.bits),
    ]
    x = np.concatenate([x, -x, ties, end, [0.0]])
    x = x[np.isfinite(x)]
    fast = rounded(x, name)
    with mpmath.workprec(200):
        exact = np.array([round_exact(mpmath.mpf(float(v)), name) for v in x])
    assert np.array_equal(fast, exact, equal_nan=True)
    if name in ("float16", "float32"):  # which NumPy rounds correctly
        with np.errstate(over="ignore"):
            assert np.array_equal(fast, x.astype(name).astype(float))


def test_float64_to_bfloat16_rounds_once() -> None:
    x = 1 + 2.0**-8 + 2.0**-40  # float32 makes a tie of it
    assert rounded(np.array([x]), "bfloat16")[0] == 1 + 2.0**-7
    assert float(np.float32(x).astype(ml_dtypes.bfloat16)) == 1.0


def test_special_values_and_overflow() -> None:
    inf, nan = math.inf, math.nan
    x = np.array([[0, -inf, 1], [inf, 0, 1], [nan, 0, 1], [-inf, -inf, -inf]], np.float32)
    found = truth.softmax(x)
    assert found[0, 1] == 0
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1:]).all()
    tiny = truth.softmax(np.array([0.0, -100.0, -103.0], np.float32))
    assert tiny.dtype == np.float32
    assert 0 < tiny[2] < 2.0**-140  # a subnormal number


def test_tensors_of_others() -> None:
    x = [[0.5, 1.0, -2.0]]
    want = truth.softmax(np.array(x, ml_dtypes.bfloat16))
    found = truth.softmax(sz.tensor(x, sz.bfloat16))
    assert found.tobytes() == want.tobytes()

    class Lazy:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array(x, np.float32)

    assert truth.softmax(Lazy()).dtype == np.float32


def test_an_answer_is_nobody_elses() -> None:
    x = np.array([1.0, 2.0], np.float32)
    truth.softmax(x)[:] = 7
    assert truth.softmax(x).sum() < 1.1


@pytest.mark.parametrize("op", sorted(interfaces("nn")))
def test_every_model_operator_has_a_plain_function_that_rounds_once(op: str) -> None:
    """Results are the numbers next to the exact ones, which the definition gives unrounded."""
    plain = getattr(truth, op)
    assert importlib.import_module("suanzi.truth").__getattr__(op) is plain  # the dotted path
    call = next(c for c in CALLS[f"nn:{op}"][0] if c.group == "plain")
    for name in ("bfloat16", "float32"):
        if call.dtypes and name not in call.dtypes:
            continue
        given = {n: array_of(filled(name, x, "ordinary", n)) for n, x in call.arguments.items()}
        made = plain(**given)
        with arithmetic("float64"):
            due = truth.definition(f"nn:{op}")(**{n: exactly(x) for n, x in given.items()})
        for found, exact in zip(each(made), each(due), strict=True):
            assert isinstance(found, np.ndarray)
            assert found.shape == exact.shape
            if not isinstance(exact, Tracked):
                assert np.array_equal(found, exact)
                continue
            # That of scaled_linear is an argument.
            assert found.dtype == dtype_of("float32" if op == "scaled_linear" else name)
            for got, value in zip(found.ravel(), exact.value.ravel(), strict=True):
                if np.isfinite(got.astype(np.float64)):
                    assert is_nearest(got, mpmath_of(value)), (op, name)


def array_of(x: Any) -> Any:
    if isinstance(x, list):
        return [array_of(one) for one in x]
    if not isinstance(x, Data):
        return x
    return np.frombuffer(x.raw, dtype_of(x.dtype)).reshape(x.shape)


def exactly(x: Any) -> Any:
    if isinstance(x, list):
        return [exactly(one) for one in x]
    if not isinstance(x, np.ndarray):
        return x
    return x if x.dtype.kind in "biu" else tracked(x.astype(np.float64))


def each(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


def mpmath_of(x: Any) -> mpmath.mpf:
    if isinstance(x, Fraction):
        with mpmath.workprec(400):
            return mpmath.mpf(x.numerator) / x.denominator
    return mpmath.mpf(x)


def test_names() -> None:
    assert "softmax" in dir(truth)
    assert "axis" in str(__import__("inspect").signature(truth.softmax))
    assert "exp" in (truth.softmax.__doc__ or "")
    with pytest.raises(AttributeError, match="Did you mean 'softmax'"):
        truth.sofmax  # noqa: B018
    for wrong, words in (
        (lambda: truth.softmax(), "softmax"),
        (lambda: truth.softmax(np.array([1, 2])), "astype"),
        (lambda: truth.softmax(np.array([1j])), "complex128"),
        (lambda: truth.softmax([1.0]), "no argument is an array"),
        (lambda: truth.bound("softmax", np.zeros(2, np.float32), accumulate="int8"), "accumulate"),
        (lambda: truth.bound("nothing"), "no definition"),
    ):
        with pytest.raises(InvalidArgument, match=words):
            wrong()


def test_a_bound_has_the_rounding_of_the_result() -> None:
    x = np.random.default_rng(5).normal(size=(3, 8))
    errors = {}
    for name in ("float16", "bfloat16", "float32", "float64"):
        found = truth.bound("softmax", x.astype(dtype_of(name)))
        assert isinstance(found, Bound)
        assert found.dtype == name
        assert found.accepts(found.value)
        assert not found.accepts(found.value + 2 * found.error)
        assert found.requires
        assert not found.free.any()
        errors[name] = found.error
        answer = truth.softmax(x.astype(dtype_of(name))).astype(np.float64)
        assert (abs(answer - found.value) <= found.error).all()
    assert (errors["bfloat16"] > errors["float16"]).all()
    assert (errors["float16"] > errors["float32"]).all()
    assert (errors["float32"] > errors["float64"]).all()
    half = 2.0**-9 * truth.softmax(x)
    assert (errors["bfloat16"] < 2.2 * half).all()


BAD: list[tuple[str, Any]] = [
    ("softmax", lambda: truth.softmax(np.float32(3))),
    ("softmax", lambda: truth.softmax(np.ones(3, np.float32), axis=5)),
    ("matmul", lambda: truth.matmul(np.ones((2, 3), np.float32), np.ones((2, 3), np.float32))),
    ("add", lambda: truth.add(np.ones(2, np.float32), np.ones(3, np.float32))),
    ("gather", lambda: truth.gather(np.ones(3, np.float32), np.array([7]))),
    ("fft_c2c", lambda: truth.fft_c2c(np.zeros(0, np.complex64))),
]


@pytest.mark.parametrize(("name", "call"), BAD)
def test_arguments_that_do_not_fit_are_a_status(name: str, call: Any) -> None:
    with pytest.raises(sz.InvalidArgument, match=rf"truth\.{name}: it does not take .*shape"):
        call()


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_masks_of_the_lowest_number_leave_a_bound_that_says_something(name: str) -> None:
    """x minus its maximum overflows in float32 there; its exponential is 0 all the same."""
    from suanzi.truth.nn import softmaxes

    lowest = float(np.finfo(np.float32).min)
    x = np.array([[0.3, 1.0, lowest, lowest], [0.3, lowest, -0.7, lowest]])
    with np.errstate(all="ignore"), arithmetic("float32", False):
        made = getattr(softmaxes, name)(tracked(x))
    far = x == lowest if name == "log_softmax" else np.zeros(made.shape, bool)
    assert (made.error[~far] < 1e-5).all()
    others = [[row[0], row[k]] for row, k in zip(x.tolist(), (1, 2), strict=True)]
    with arithmetic("float32", False):
        plain = getattr(softmaxes, name)(tracked(np.array(others)))
    same = made.value if name == "logsumexp" else made.value[[[0, 0], [1, 1]], [[0, 1], [0, 2]]]
    np.testing.assert_array_equal(same, plain.value)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("size", [1e4, 6e4])
def test_far_beyond_the_largest_number(dtype: Any, size: float) -> None:
    """All digits of such a number would take minutes."""
    with np.errstate(all="ignore"):
        x = np.array([size, -size, size**2, -(size**2)], dtype)
        x = x[np.isfinite(x)]
        np.testing.assert_array_equal(truth.exp(x), np.where(x > 0, np.inf, 0).astype(dtype))


def test_far_beyond_the_largest_number_of_a_format_without_infinity() -> None:
    assert math.isnan(round_exact(mpmath.exp(1e12), "float8_e4m3fn"))
    for dtype, form in ROUNDED.items():
        least, most = mpmath.mpf(form.least), mpmath.mpf(form.largest)
        assert round_exact(least / 2, dtype) == 0
        assert round_exact(least * mpmath.mpf(0.51), dtype) == form.least
        assert round_exact(most + mpmath.mpf(form.widest) * 0.49, dtype) == form.largest
        assert not math.isfinite(round_exact(most + mpmath.mpf(form.widest) * 0.51, dtype))
        assert math.copysign(1, round_exact(-mpmath.exp(-1e12), dtype)) == -1
