"""Functions of one number and powers, each computed or read otherwise: the cases notice."""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers.misreadings import (
    Entry,
    Reading,
    accepted,
    always_notices,
    asked,
    instead,
    made,
    refused,
    table,
)

Array = Any


def one(x: Array) -> Any:
    """Return 1 of the dtype, so that nothing becomes wider."""
    return x.dtype.type(1)


def turns(x: Array) -> Array:
    """Return an angle less its full turns, by a 2 pi of its own width."""
    return np.fmod(x, x.dtype.type(2 * np.pi))


def by_logarithm(y: Array, x: Array, e: Array) -> Array:
    return np.exp(e * np.log(x))


def nan_where(y: Array, condition: Array) -> Array:
    return np.where(condition, np.nan, y)


def outside(test: Any) -> Reading:
    """Return a reading that has NaN, and succeeds, outside the domain."""
    return accepted(
        lambda x: (
            np.full(tuple(x.shape), np.nan, str(x.dtype))
            if x.dtype.kind == "float" and np.any(test(np.float64(np.asarray(x))))
            else None
        )
    )


def tanh(y: Array, x: Array) -> Array:
    twice = np.exp(2 * x)
    return (twice - one(x)) / (twice + one(x))


def asinh(y: Array, x: Array) -> Array:
    return np.log(x + np.sqrt(x * x + one(x)))


def fast_rsqrt(y: Array, x: Array) -> Array:
    return np.where(np.isfinite(y) & (y != 0), y * (1 + 0.00175), y)


def flushed(y: Array, **_: Array) -> Array:
    return np.where(abs(y) < np.finfo(y.dtype).tiny, 0, y)


POWER: list[Entry] = [
    ("pow", "0 to the 0 is 0", made(lambda y, x, e: np.where((x == 0) & (e == 0), 0, y), "f")),
    ("pow", "0 to the 0 is NaN", made(lambda y, x, e: nan_where(y, (x == 0) & (e == 0)), "f")),
    ("pow", "NaN to the 0 is NaN", made(lambda y, x, e: nan_where(y, np.isnan(x)), "f")),
    ("pow", "1 to NaN is NaN", made(lambda y, x, e: nan_where(y, np.isnan(e)), "f")),
    ("pow", "-1 to infinity is NaN", made(
        lambda y, x, e: nan_where(y, (x == -1) & np.isinf(e)), "f")),
    ("pow", "by logarithm", made(by_logarithm, "f")),
    ("pow", "negative bases are none", made(lambda y, x, e: nan_where(y, x < 0), "f")),
    ("pow", "magnitude", made(lambda y, x, e: abs(y), "f")),
    ("pow", "an error outside the domain", refused(
        lambda x, e: bool(np.any((np.asarray(x) < 0) & (np.asarray(e) != np.rint(e)))))),
    ("pow", "whole exponents", made(lambda y, x, e: np.power(x, np.trunc(e)), "f")),
    ("pow", "-0 to a negative odd is +inf", made(
        lambda y, x, e: np.where((x == 0) & (e < 0), np.inf, y), "f")),
    ("pow", "equal shapes only", refused(
        lambda x, e: np.shape(x) != np.shape(e), "DIMENSIONS_MISMATCH")),
    ("pow", "integers stay", made(lambda y, x, e: np.int32(y), "iu", keep_dtype=True)),
    ("sqrt", "-0 gives 0", made(lambda y, x: y + one(y) * 0, "f")),
    ("sqrt", "-0 is refused", refused(lambda x: bool(np.any(np.signbit(x) & (x == 0))))),
    ("sqrt", "NaN is refused", refused(lambda x: bool(np.any(np.isnan(x))))),
    ("sqrt", "NaN below zero", outside(lambda x: x < 0)),
    ("sqrt", "of magnitudes", accepted(lambda x: np.sqrt(abs(np.asarray(x))))),
    ("sqrt", "by powers", made(lambda y, x: np.exp(np.log(x) * x.dtype.type(0.5)), "f")),
    ("sqrt", "without subnormals", made(
        lambda y, x: np.where(abs(x) < np.finfo(x.dtype).tiny, 0, y), "f")),
    ("rsqrt", "0 is refused", refused(lambda x: bool(np.any(x == 0)))),
    ("rsqrt", "a fast one", made(fast_rsqrt, "f")),
    ("rsqrt", "0 gives the largest", made(
        lambda y, x: np.where(x == 0, np.finfo(y.dtype).max, y), "f")),
    ("rsqrt", "sqrt", made(lambda y, x: np.sqrt(x), "f")),
    ("rsqrt", "NaN below zero", outside(lambda x: x < 0)),
    ("square", "keeps the sign", made(lambda y, x: x * abs(x), "f")),
    ("square", "integers stay", made(lambda y, x: np.int32(y), "iu", keep_dtype=True)),
    ("square", "doubled", made(lambda y, x: x + x, "f")),
    ("square", "saturates", made(lambda y, x: np.where(
        np.isinf(y) & np.isfinite(x), np.finfo(y.dtype).max, y), "f")),
]  # fmt: skip

ROUNDING: list[Entry] = [
    ("round", "half away from zero", made(
        lambda y, x: np.where(abs(x - np.trunc(x)) == 0.5, np.trunc(x) + np.sign(x), y), "f")),
    ("round", "half up", made(
        lambda y, x: np.where(x - np.floor(x) == 0.5, np.ceil(x), y), "f")),
    ("round", "floor of a half more", made(lambda y, x: np.copysign(
        np.floor(abs(x) + x.dtype.type(0.5)), x), "f")),
    ("round", "as integers", made(lambda y, x: np.int32(y), "f", keep_dtype=True)),
    ("floor", "through int32", made(lambda y, x: np.floor(x).astype(np.int32), "f")),
    ("floor", "toward zero", made(lambda y, x: np.trunc(x), "f")),
    ("floor", "-0 gives 0", made(lambda y, x: y + one(y) * 0, "f")),
    ("ceil", "next integer always", made(lambda y, x: np.floor(x) + one(x), "f")),
    ("ceil", "-0.5 gives 0", made(lambda y, x: y + one(y) * 0, "f")),
    ("ceil", "away from zero", made(lambda y, x: np.copysign(np.ceil(abs(x)), x), "f")),
    ("trunc", "floor", made(lambda y, x: np.floor(x), "f")),
    ("trunc", "-0.5 gives 0", made(lambda y, x: y + one(y) * 0, "f")),
    ("trunc", "through int32", made(lambda y, x: np.where(
        np.isfinite(x), x, 0).astype(np.int32), "f")),
    *(("rint", f"{a} is {b}", asked(
        lambda x, mode, a=a, b=b: {"mode": b} if mode == a else None))
      for a, b in (("DOWNWARD", "UPWARD"), ("UPWARD", "DOWNWARD"), ("TOWARDZERO", "DOWNWARD"),
                   ("TONEAREST", "TOWARDZERO"), ("DOWNWARD", "TOWARDZERO"))),
    ("rint", "half away from zero", made(
        lambda y, x, mode: np.where(abs(x - np.trunc(x)) == 0.5, np.trunc(x) + np.sign(x), y)
        if mode == "TONEAREST" else None, "f")),
]  # fmt: skip

TRIGONOMETRIC: list[Entry] = [
    ("sin", "turns by a rounded pi", made(lambda y, x: np.sin(turns(x)), "f")),
    ("sin", "degrees", made(lambda y, x: np.sin(np.deg2rad(x)), "f")),
    ("sin", "0 of infinity", made(lambda y, x: np.where(np.isinf(x), 0, y), "f")),
    ("sin", "-0 gives 0", made(lambda y, x: np.where(x == 0, 0, y), "f")),
    ("sin", "huge ones give 0", made(lambda y, x: np.where(abs(x) > 2.0**20, 0, y), "f")),
    ("sin", "of a cosine", made(
        lambda y, x: np.sqrt(np.maximum(one(x) - np.cos(x) ** 2, 0)) * np.sign(y), "f")),
    ("cos", "turns by a rounded pi", made(lambda y, x: np.cos(turns(x)), "f")),
    ("cos", "a sine a quarter on", made(
        lambda y, x: np.sin(x + x.dtype.type(np.pi / 2)), "f")),
    ("tan", "turns by a rounded pi", made(lambda y, x: np.tan(turns(x)), "f")),
    ("tan", "refused at infinity", refused(lambda x: bool(np.any(np.isinf(x))))),
    ("tan", "a little off", made(lambda y, x: y * (1 + 2**-9), "f")),
    ("asin", "refused outside", refused(lambda x: bool(np.any(abs(np.asarray(x)) > 1)))),
    ("asin", "clipped", made(lambda y, x: np.arcsin(np.clip(x, -1, 1)), "f")),
    ("asin", "by atan", made(lambda y, x: np.arctan(x / np.sqrt(one(x) - x * x)), "f")),
    ("acos", "refused outside", refused(lambda x: bool(np.any(abs(np.asarray(x)) > 1)))),
    ("acos", "a quarter less asin", made(
        lambda y, x: x.dtype.type(np.pi / 2) - np.arcsin(x), "f")),
    ("acos", "clipped", made(lambda y, x: np.arccos(np.clip(x, -1, 1)), "f")),
    ("atan", "refused beyond 1", refused(lambda x: bool(np.any(abs(np.asarray(x)) > 1)))),
    ("atan", "NaN at infinity", made(lambda y, x: nan_where(y, np.isinf(x)), "f")),
    ("atan", "a series of two terms near 0", made(
        lambda y, x: np.where(abs(x) < 0.1, x - x**3 / 3, y), "f")),
    ("atan", "of the magnitude", made(lambda y, x: abs(y), "f")),
]  # fmt: skip

HYPERBOLIC: list[Entry] = [
    ("sinh", "by exponentials", made(
        lambda y, x: (np.exp(x) - np.exp(-x)) / x.dtype.type(2), "f")),
    ("sinh", "overflows early", made(lambda y, x: np.where(
        np.isinf(np.exp(abs(x))), np.copysign(np.inf, x), y), "f")),
    ("cosh", "overflows early", made(lambda y, x: np.where(
        np.isinf(np.exp(abs(x))), np.inf, y), "f")),
    ("cosh", "odd", made(lambda y, x: np.copysign(y, x), "f")),
    ("tanh", "by exponentials", made(tanh, "f")),
    ("tanh", "1 at 0, as printed", made(lambda y, x: np.where(x == 0, 1, y), "f")),
    ("tanh", "-0 gives 0", made(lambda y, x: np.where(x == 0, 0, y), "f")),
    ("asinh", "by logarithms", made(asinh, "f")),
    ("asinh", "overflows early", made(lambda y, x: np.where(
        np.isinf(x * x), np.copysign(np.inf, x), y), "f")),
    ("acosh", "NaN below 1", outside(lambda x: x < 1)),
    ("acosh", "by logarithms", made(
        lambda y, x: np.log(x + np.sqrt(x * x - one(x))), "f")),
    ("acosh", "refused at 1", refused(lambda x: bool(np.any(x == 1)))),
    ("atanh", "NaN beyond 1", outside(lambda x: abs(x) > 1)),
    ("atanh", "by logarithms", made(
        lambda y, x: np.log((one(x) + x) / (one(x) - x)) / x.dtype.type(2), "f")),
]  # fmt: skip

EXPONENTIAL: list[Entry] = [
    ("exp", "the largest for too much", made(lambda y, x: np.where(
        np.isinf(y) & np.isfinite(x), np.finfo(y.dtype).max, y), "f")),
    ("exp", "without subnormals", made(flushed, "f")),
    ("exp", "by powers of a rounded e", made(
        lambda y, x: np.power(x.dtype.type(np.e), x), "f")),
    ("exp", "refused where it overflows", refused(
        lambda x: bool(np.any(np.isinf(np.exp(x)) & np.isfinite(x))))),
    ("expm1", "less one", made(lambda y, x: np.exp(x) - one(x), "f")),
    ("expm1", "-0 gives 0", made(lambda y, x: np.where(x == 0, 0, y), "f")),
    ("log", "refused at 0", refused(lambda x: bool(np.any(x == 0)))),
    ("log", "NaN below zero", outside(lambda x: x < 0)),
    ("log", "NaN at -0", made(lambda y, x: nan_where(y, (x == 0) & np.signbit(x)), "f")),
    ("log", "the lowest at 0", made(
        lambda y, x: np.where(x == 0, np.finfo(y.dtype).min, y), "f")),
    ("log", "a little more inside", made(lambda y, x: np.log(x + x.dtype.type(1e-7)), "f")),
    ("log", "NaN is refused", refused(lambda x: bool(np.any(np.isnan(x))))),
    ("log", "without subnormals", made(lambda y, x: np.where(
        abs(x) < np.finfo(x.dtype).tiny, -np.inf, y), "f")),
    ("log1p", "one more", made(lambda y, x: np.log(one(x) + x), "f")),
    ("log1p", "refused at -1", refused(lambda x: bool(np.any(x == -1)))),
    ("log1p", "NaN below -1", outside(lambda x: x < -1)),
    ("log1p", "-0 gives 0", made(lambda y, x: np.where(x == 0, 0, y), "f")),
    ("log10", "log", made(lambda y, x: np.log(x), "f")),
    ("log10", "of a rounded log2", made(
        lambda y, x: (np.log2(x).astype(np.float16) * 0.30103), "f")),
    ("log10", "refused at 0", refused(lambda x: bool(np.any(x == 0)))),
    ("log2", "log", made(lambda y, x: np.log(x), "f")),
    ("log2", "exponents only", made(lambda y, x: np.floor(y), "f")),
    ("log2", "NaN below zero", outside(lambda x: x < 0)),
    ("log2", "outside is a wrong type", instead("INVALID_ARGUMENT", "TYPE_MISMATCH")),
]  # fmt: skip


@table(POWER + ROUNDING + TRIGONOMETRIC + HYPERBOLIC + EXPONENTIAL)
def test_misreadings_are_noticed(op: str, reading: Reading) -> None:
    assert always_notices(op, reading)
