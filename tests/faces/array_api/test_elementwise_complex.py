"""Functions of complex numbers: parts against mpmath in ULP, special values against C's Annex G."""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import suanzi as sz
from helpers.complex_numbers import points, worst
from helpers.functions import every_level, same_bits, threads
from suanzi.faces import array_api
from suanzi.tensors.exchange import from_numpy

INF, NAN = math.inf, math.nan

Array = np.ndarray[Any, Any]

# The functions with their truth, and how many ULP a part may be off in complex64 and complex128.
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "exp": (mpmath.exp, 1, 3),
    "expm1": (mpmath.expm1, 1, 3),
    "log": (mpmath.log, 1, 3),
    "log1p": (lambda z: mpmath.log(1 + z), 1, 3),
    "log2": (lambda z: mpmath.log(z) / mpmath.log(2), 1, 4),
    "log10": (lambda z: mpmath.log(z) / mpmath.log(10), 1, 4),
    "sqrt": (mpmath.sqrt, 1, 3),
    "sin": (mpmath.sin, 1, 4),
    "cos": (mpmath.cos, 1, 4),
    "tan": (mpmath.tan, 1, 8),
    "sinh": (mpmath.sinh, 1, 4),
    "cosh": (mpmath.cosh, 1, 4),
    "tanh": (mpmath.tanh, 1, 8),
    "asin": (mpmath.asin, 1, 6),
    "acos": (mpmath.acos, 1, 6),
    "atan": (mpmath.atan, 1, 6),
    "asinh": (mpmath.asinh, 1, 6),
    "acosh": (mpmath.acosh, 1, 6),
    "atanh": (mpmath.atanh, 1, 6),
    "square": (lambda z: z * z, 1, 2),
    "sign": (lambda z: z / abs(z), 1, 3),
}
KINDS = {"complex64": np.complex64, "complex128": np.complex128}
# Where a part of these goes through 0, its error is that of numbers as large as the other part.
WEAK = {"expm1", "log1p", "square"}


def call(name: str, *arguments: Array) -> Array:
    """Return the namespace's results as an array."""
    made: Array = getattr(array_api, name)(*(sz.tensor(x) for x in arguments)).numpy()
    return made


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_parts_are_within_their_bounds(name: str, dtype: str) -> None:
    truth, single, double = FUNCTIONS[name]
    z = points(240, len(name), KINDS[dtype], 20)
    if name in WEAK:
        z = z[np.abs(z.real) >= 2 ** (-20 if dtype == "complex64" else -1)]
        z = z[z.real > 0] if name != "square" else z[np.abs(z.real) > 2 * np.abs(z.imag)]
        z = z[np.cos(z.imag) < -0.1] if name == "expm1" else z
    for level in every_level():
        found = call(name, z)
        error, at = worst(z.tolist(), found.tolist(), truth, dtype)
        assert error <= (single if dtype == "complex64" else double), (level, at)


@pytest.mark.parametrize("name", sorted(WEAK))
def test_what_cancels_is_off_by_the_magnitude_alone(name: str) -> None:
    truth = FUNCTIONS[name][0]
    z = points(300, 5, np.complex128, 3)
    for x, w in zip(z.tolist(), call(name, z).tolist(), strict=True):
        with mpmath.workprec(400):
            exact = truth(mpmath.mpc(x))
            assert abs(mpmath.mpc(w) - exact) <= 4 * 2.0**-53 * abs(exact), x


# ---- special values ------------------------------------------------------------------------------

CMATH = ("exp log log10 sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh").split()
PARTS = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 1e20, -1e20, 1e300, -1e300, INF, -INF, NAN]
PARTS += [1e-320, -1e-320, 1e-200, 720.0, -720.0]


def leaves_signs_open(name: str, z: complex) -> bool:
    """Tell whether C does not say the sign of a zero or an infinity."""
    angle = z.real if name in ("sin", "cos", "tan") else z.imag
    entire = name in ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh")
    return cmath.isnan(z) or (entire and math.isinf(angle))


# What the array API has otherwise than Python 3.11: a zero beside NaN, signs of an infinite tanh.
OTHERWISE: dict[str, Callable[[complex], bool]] = {
    "tan": lambda z: (z.imag == 0 and math.isnan(z.real)) or math.isinf(z.imag),
    "tanh": lambda z: (z.real == 0 and math.isnan(z.imag)) or math.isinf(z.real),
    "acosh": lambda z: z.real == 0 and math.isnan(z.imag),
}


def agree(found: float, wanted: float, signs: bool) -> bool:
    """Tell whether a part is what C says: the same zero, infinity or NaN, or a number near by."""
    if math.isnan(wanted) or math.isnan(found):
        return math.isnan(wanted) and math.isnan(found)
    if signs and math.copysign(1, found) != math.copysign(1, wanted):
        return False
    if math.isinf(wanted) or wanted == 0:
        return abs(found) == abs(wanted)
    return math.isclose(found, wanted, rel_tol=1e-12, abs_tol=1e-322)


@pytest.mark.parametrize("name", CMATH)
def test_special_values_are_those_of_c(name: str) -> None:
    z = [complex(a, b) for a, b in itertools.product(PARTS, PARTS)]
    for level in every_level():
        found = getattr(array_api, name)(sz.tensor(z, sz.complex128)).tolist()
        seen = 0
        for x, w in zip(z, found, strict=True):
            if name in OTHERWISE and OTHERWISE[name](x):
                continue
            try:
                wanted = getattr(cmath, name)(x)
            except OverflowError:
                assert cmath.isinf(w), (x, w)
                continue
            except ValueError:  # a pole, or an angle that is not finite
                assert cmath.isinf(w) or cmath.isnan(w), (x, w)
                continue
            seen += 1
            signs = not leaves_signs_open(name, x)
            right = agree(w.real, wanted.real, signs) and agree(w.imag, wanted.imag, signs)
            assert right, f"{name}({x!r}) at {level} is {w!r}, not {wanted!r}"
        assert seen > 180


@pytest.mark.parametrize(
    ("name", "z", "wanted"),
    [
        ("expm1", complex(0.0, 0.0), 0j),
        ("expm1", complex(-0.0, 0.0), 0j),
        ("expm1", complex(INF, 0.0), complex(INF, 0.0)),
        ("expm1", complex(-INF, 2.0), complex(-1.0, 0.0)),
        ("expm1", complex(1.0, INF), complex(NAN, NAN)),
        ("expm1", complex(NAN, 0.0), complex(NAN, 0.0)),
        ("expm1", complex(1e-300, 1e-300), complex(1e-300, 1e-300)),
        ("expm1", complex(1e-10, 1e6), complex(-0.06324781, -0.3499935)),
        ("log1p", complex(-1.0, 0.0), complex(-INF, 0.0)),
        ("log1p", complex(2.0, INF), complex(INF, math.pi / 2)),
        ("log1p", complex(-INF, 1.0), complex(INF, math.pi)),
        ("log1p", complex(-INF, INF), complex(INF, 3 * math.pi / 4)),
        ("log1p", complex(NAN, INF), complex(INF, NAN)),
        ("log1p", complex(1e-300, 1e-300), complex(1e-300, 1e-300)),
        ("log1p", complex(1e-20, 1e-5), complex(5e-11, 1e-5)),
        ("log2", complex(8.0, 0.0), complex(3.0, 0.0)),
        ("log2", complex(-0.0, 0.0), complex(-INF, math.pi / math.log(2))),
        ("exp", complex(1420.0, 1e-310), complex(INF, 4.9907326e306)),
        ("atanh", complex(1.0, 1e-250), complex(math.log(2e250) / 2, math.pi / 4)),
        ("atanh", complex(-1.0, 5e-324), complex(-372.5666095, math.pi / 4)),
        ("atanh", complex(1e308, 1e308), complex(5e-309, math.pi / 2)),
        ("tanh", complex(INF, 2.0), complex(1.0, 0.0)),
        ("tanh", complex(-INF, -2.0), complex(-1.0, -0.0)),
        ("tanh", complex(INF, NAN), complex(1.0, 0.0)),
        ("tanh", complex(0.0, NAN), complex(0.0, NAN)),
        ("tanh", complex(0.0, INF), complex(0.0, NAN)),
        ("tan", complex(2.0, INF), complex(0.0, 1.0)),
        ("acosh", complex(0.0, NAN), complex(NAN, math.pi / 2)),
        ("sign", complex(0.0, -0.0), 0j),
        ("sign", complex(3.0, 4.0), complex(0.6, 0.8)),
        ("sign", complex(3e-320, 4e-320), complex(0.6, 0.8)),
        ("sign", complex(3e307, 4e307), complex(0.6, 0.8)),
        ("sign", complex(INF, 1.0), complex(1.0, 0.0)),
        ("sign", complex(NAN, 1.0), complex(NAN, NAN)),
        ("round", complex(2.5, -0.5), complex(2.0, -0.0)),
        ("square", complex(1.0, 2.0), complex(-3.0, 4.0)),
    ],
)
def test_what_cmath_has_not(name: str, z: complex, wanted: complex) -> None:
    found = getattr(array_api, name)(sz.tensor([z], sz.complex128)).item()
    for part, right in ((found.real, wanted.real), (found.imag, wanted.imag)):
        near = math.isclose(part, right, rel_tol=1e-6) if right else agree(part, right, True)
        assert near or (math.isnan(part) and math.isnan(right)), found


# ---- powers --------------------------------------------------------------------------------------


def test_powers() -> None:
    rng = np.random.default_rng(3)
    a = points(160, 9, np.complex128, 3)
    b = rng.choice([2, -1, 0.5, 3, 1j, -2.5 + 1j, 10, -7, 0.1 - 3j], a.size).astype(np.complex128)
    found = call("pow", a, b)
    single = call("pow", a.astype(np.complex64), b.astype(np.complex64))
    for x, y, w, v in zip(a.tolist(), b.tolist(), found.tolist(), single.tolist(), strict=True):
        with mpmath.workprec(300):
            exact = mpmath.mpc(x) ** mpmath.mpc(y)
            size = abs(mpmath.mpc(y) * mpmath.log(mpmath.mpc(x)))
            assert abs(mpmath.mpc(w) - exact) <= (8 + 2 * size) * 2.0**-53 * abs(exact), (x, y)
            low = mpmath.mpc(complex(np.complex64(x))) ** mpmath.mpc(complex(np.complex64(y)))
            assert abs(mpmath.mpc(v) - low) <= 2.0**-24 * 1.01 * abs(low), (x, y)


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (1 + 2j, 2, -3 + 4j),
        (1 + 2j, 0, 1 + 0j),
        (1j, 2, -1 + 0j),
        (2 + 0j, -2, 0.25 - 0j),
        (0j, 2, 0j),
        (0j, 0, 1 + 0j),
        (0j, 0.5 + 1j, 0j),
        (complex(NAN, 1), 0, 1 + 0j),
        (1e200 + 1e200j, 2, complex(0, INF)),
        (1e-200 + 0j, -1, 1e200 + 0j),
        (4 + 0j, 0.5, 2 + 0j),
        (complex(4, -0.0), 0.5, complex(2, -0.0)),
        (complex(-4, -0.0), 0.5, -2j),
    ],
)
def test_powers_that_are_known(a: complex, b: complex, wanted: complex) -> None:
    x, y = sz.tensor([a], sz.complex128), sz.tensor([b], sz.complex128)
    for found in (array_api.pow(x, y), array_api.pow(x, b)):
        w = found.item()
        if cmath.isinf(wanted):
            assert cmath.isinf(w)
        else:
            assert cmath.isclose(w, wanted, rel_tol=1e-15, abs_tol=2e-16), w
            assert math.copysign(1, w.imag) == math.copysign(1, wanted.imag) or w.imag == 0


# ---- how they lie, what they are made of ---------------------------------------------------------


@pytest.mark.parametrize("name", [*FUNCTIONS, "round", "pow"])
def test_layouts_threads_and_neighbours_change_nothing(name: str) -> None:
    z = points(24_000, 2, np.complex64, 9).reshape(-1)[:20_008]
    function = getattr(array_api, name)
    other = [sz.tensor(0.3 + 0.7j, sz.complex64)] if name == "pow" else []
    for _ in every_level():
        with threads(1):
            one = function(sz.tensor(z), *other).numpy()
        with threads(3):
            assert same_bits(function(sz.tensor(z), *other).numpy(), one)
        for start in range(3):
            strided = function(from_numpy(z[start::3]), *other).numpy()
            assert same_bits(np.array(strided), one[start::3])
        square = z.reshape(4, -1).T
        turned = function(from_numpy(square), *other).numpy()
        assert same_bits(np.array(turned), one.reshape(4, -1).T)
        for i in range(0, z.size, 1999):
            assert same_bits(function(sz.tensor(z[i]), *other).numpy(), one[i])
    assert function(sz.tensor(z[:0].reshape(0, 3)), *other).shape == (0, 3)


@pytest.mark.parametrize("name", [*FUNCTIONS, "round"])
def test_complex32_is_complex64_rounded_once(name: str) -> None:
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2**32, 3000, dtype=np.uint32)
    parts = bits.view(np.float16).reshape(-1, 2)
    half = sz.complex(sz.tensor(parts[:, 0].copy()), sz.tensor(parts[:, 1].copy()))
    function = getattr(array_api, name)
    found = function(half)
    assert found.dtype is sz.complex32
    once = sz.cast(function(sz.cast(half, sz.complex64)), sz.complex32)
    for part in (sz.real, sz.imag):
        assert same_bits(part(found).numpy(), part(once).numpy())


def test_the_operators_of_the_standard_stay_as_they_are() -> None:
    z = sz.tensor([1j])
    for name in ("exp", "log", "sqrt", "sin", "atanh", "square"):
        with pytest.raises(sz.TypeMismatch, match="floating-point real numbers"):
            getattr(sz, name)(z)
