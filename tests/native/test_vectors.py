"""What is computed by whole vectors is what one element alone gives, wherever it stands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.faces.array_api import all as every
from suanzi.faces.array_api import any as some
from suanzi.faces.array_api import clip

ENDS = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 1e-310, 1e-45, 3e38, 1.0000001]
FUNCTIONS = "max min log log2 log10 log1p expm1 tanh cosh asinh acosh atanh pow".split()


def numbers(dtype: str, seed: int) -> Any:
    """Special values, powers of two and their neighbours, and numbers of every size, in turn."""
    rng = np.random.default_rng(seed)
    powers = 2.0 ** np.arange(-20, 20)
    near = np.concatenate([powers, np.nextafter(powers, 0), np.nextafter(powers, np.inf)])
    values = np.concatenate([ENDS, near, rng.normal(size=90) * 10.0 ** rng.integers(-30, 30, 90)])
    with np.errstate(over="ignore"):
        return rng.permutation(values).astype(dtype)


def same(one: Any, other: Any) -> None:
    """Compare bits, those of NaN aside."""
    assert one.dtype == other.dtype
    equal = one.view(f"u{one.itemsize}") == other.view(f"u{one.itemsize}") if one.ndim else False
    assert np.all(equal | (np.isnan(one) & np.isnan(other)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", FUNCTIONS)
def test_real_numbers(op: str, dtype: str) -> None:
    x, y = numbers(dtype, 0), numbers(dtype, 1)
    operands = (x, y) if op in ("max", "min", "pow") else (x,)
    function = getattr(sz, op)
    whole = function(*map(sz.tensor, operands)).numpy()
    alone = [function(*(sz.tensor(a[i : i + 1]) for a in operands)).numpy() for i in range(len(x))]
    same(whole, np.concatenate(alone))
    shifted = function(*(sz.tensor(a)[3:] for a in operands)).numpy()
    same(shifted, whole[3:])
    if len(operands) == 2:  # one value beside many
        same(function(sz.tensor(x), sz.tensor(y[7:8])).numpy(), _each(function, x, y[7]))


def _each(function: Any, x: Any, y: Any) -> Any:
    return np.concatenate(
        [function(sz.tensor(x[i : i + 1]), sz.tensor(np.array([y]))).numpy() for i in range(len(x))]
    )


def test_complex_products() -> None:
    x = np.stack([numbers("float32", 2), numbers("float32", 3)], 1).view("complex64")[:, 0]
    y = np.stack([numbers("float32", 4), numbers("float32", 5)], 1).view("complex64")[:, 0]
    whole = sz.mul(sz.tensor(x), sz.tensor(y)).numpy()
    a, b = x.astype("complex128"), y.astype("complex128")
    with np.errstate(all="ignore"):  # products are exact there, and their sums rounded once more
        real = (a.real * b.real - a.imag * b.imag).astype("float32")
        imaginary = (a.real * b.imag + a.imag * b.real).astype("float32")
    same(whole.real.copy(), real)
    same(whole.imag.copy(), imaginary)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1087, 1088, 1089, 5000])
def test_rows_that_are_certain_before_their_end(n: int) -> None:
    places = sorted({0, n // 2, n - 1})
    rows = np.zeros((len(places) + 1, n), bool)
    rows[range(len(places)), places] = True
    assert some(sz.tensor(rows), axis=1).numpy().tolist() == [True] * len(places) + [False]
    assert every(sz.tensor(~rows), axis=1).numpy().tolist() == [False] * len(places) + [True]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "float16"])
def test_bounds_of_long_arrays(dtype: str) -> None:
    x = (np.arange(9001) % 251 - 125).astype(dtype)
    assert np.array_equal(clip(sz.tensor(x), -7, 90).numpy(), np.clip(x, -7, 90))


def test_integers_beyond_the_digits_of_float64() -> None:
    x = np.arange(200, dtype=np.int64)
    x[70] = 2**53 + 1
    x[140:] = 2**62 + 2**38 + x[140:] - 170  # next to the middle of two float32
    assert np.array_equal(sz.cast(sz.tensor(x), sz.float32).numpy(), x.astype(np.float32))
    assert np.array_equal(sz.cast(sz.tensor(-x), sz.float32).numpy(), (-x).astype(np.float32))
