"""Arithmetic, comparison, logic and bits, each read otherwise in one thing: the cases notice."""

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


def saturated(x: Array, low_and_high_of: Array) -> Array:
    limits = np.iinfo(low_and_high_of.dtype)
    return np.clip(x, limits.min, limits.max)


def wide(x: Array) -> Array:
    return x.astype(np.int64)


def truncated(x: Array, y: Array) -> Array:
    return np.sign(wide(x)) * np.sign(wide(y)) * (abs(wide(x)) // np.maximum(abs(wide(y)), 1))


def lowest_by_minus_one(z: Array, x: Array, y: Array) -> Array:
    limits = np.iinfo(z.dtype)
    return np.where((x == limits.min) & (y == -1), limits.max, z)


def close(x: Array, y: Array, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False,
          factor: Any = abs) -> Array:  # fmt: skip
    near = abs(x - y) <= atol + rtol * factor(y)
    return np.all(near | (x == y) | (equal_nan & np.isnan(x) & np.isnan(y)))


def as_shape_of(z: Array, x: Any) -> Array:
    return np.full(z.shape, x)


def bits(x: Array) -> Array:
    return x.view(f"u{x.dtype.itemsize}")


def rough_mod(z: Array, x: Array, y: Array) -> Array:
    return x - np.floor(x / y) * y


def asymmetric(z: Array, x: Array, y: Array) -> Array:
    return np.where(x > y, x, y)


def zero_divided(x: Any, y: Any) -> Any:
    if not x.dtype.kind.startswith(("i", "u")):
        return None
    return np.zeros(np.broadcast_shapes(tuple(x.shape), tuple(y.shape)), str(x.dtype))


ARITHMETIC: list[Entry] = [
    ("add", "saturates", made(lambda z, x, y: saturated(wide(x) + wide(y), z), "i")),
    ("add", "in float32", made(lambda z, x, y: np.float32(x) + np.float32(y), "iu")),
    ("sub", "saturates", made(lambda z, x, y: saturated(wide(x) - wide(y), z), "i")),
    ("sub", "a distance", made(lambda z, x, y: abs(z), "if")),
    ("mul", "saturates", made(lambda z, x, y: saturated(wide(x) * wide(y), z), "i")),
    ("mul", "parts by parts", made(
        lambda z, x, y: x.real * y.real + 1j * (x.imag * y.imag), "c")),
    ("mul", "conjugates", made(lambda z, x, y: np.conj(x) * y, "c")),
    ("muladd", "adds first", made(lambda z, x, y, a: (x + a) * y, "iuf")),
    ("muladd", "saturates", made(
        lambda z, x, y, a: saturated(wide(x) * wide(y) + wide(a), z), "i")),
    ("muladd", "subtracts", made(lambda z, x, y, a: x * y - a, "iuf")),
    ("div", "integers floor", made(lambda z, x, y: np.floor_divide(x, y), "i")),
    ("div", "integers through float32", made(
        lambda z, x, y: np.trunc(np.float32(x) / np.float32(y)), "i")),
    ("div", "lowest by -1 saturates", made(lowest_by_minus_one, "i")),
    ("div", "by zero gives zero", accepted(zero_divided)),
    ("div", "a float by zero is refused", refused(
        lambda x, y: x.dtype.kind == "f" and bool(np.any(y == 0)))),
    ("div", "times the reciprocal", made(lambda z, x, y: x * (1 / y).astype(x.dtype), "f")),
    ("floordiv", "truncates integers", made(lambda z, x, y: truncated(x, y), "i")),
    ("floordiv", "truncates floats", made(lambda z, x, y: np.trunc(x / y), "f")),
    ("floordiv", "lowest by -1 saturates", made(lowest_by_minus_one, "i")),
    ("floordiv", "by zero gives zero", accepted(zero_divided)),
    ("floordiv", "floors what is rounded", made(
        lambda z, x, y: np.floor(x / y), "f")),
    ("floordiv", "integers become floats", made(
        lambda z, x, y: np.floor(np.float32(x) / np.float32(y)), "iu", keep_dtype=True)),
    ("true_divide", "integers floor", made(lambda z, x, y: np.floor(z), "iu")),
    ("true_divide", "integers become float64", made(
        lambda z, x, y: np.float64(x) / np.float64(y), "iu", keep_dtype=True)),
    ("true_divide", "an integer by zero is refused", refused(
        lambda x, y: x.dtype.kind == "i" and bool(np.any(y == 0)))),
    ("mod", "sign of the dividend", made(lambda z, x, y: np.fmod(x, y), "i")),
    ("mod", "sign of the dividend in floats", made(lambda z, x, y: np.fmod(x, y), "f")),
    ("mod", "never negative", made(lambda z, x, y: np.mod(x, abs(y)), "i")),
    ("mod", "by floor of the quotient", made(rough_mod, "f")),
    ("mod", "nearest quotient", made(lambda z, x, y: x - np.rint(x / y) * y, "f")),
    ("mod", "by zero gives zero", accepted(zero_divided)),
    ("max", "ignores NaN", made(lambda z, x, y: np.fmax(x, y), "f")),
    ("max", "y where x is no more", made(asymmetric, "f")),
    ("max", "unsigned", made(lambda z, x, y: np.where(bits(x) > bits(y), x, y), "i")),
    ("min", "ignores NaN", made(lambda z, x, y: np.fmin(x, y), "f")),
    ("min", "y where x is no less", made(lambda z, x, y: np.where(x < y, x, y), "f")),
    ("abs", "parts added", made(lambda y, x: abs(x.real) + abs(x.imag), "c")),
    ("abs", "without care of overflow", made(
        lambda y, x: np.sqrt(x.real * x.real + x.imag * x.imag), "c")),
    ("abs", "complex remains", made(lambda y, x: y.astype(x.dtype), "c", keep_dtype=True)),
    ("abs", "lowest saturates", made(lambda y, x: np.where(y < 0, np.iinfo(y.dtype).max, y), "i")),
    ("abs", "-0 stays", made(lambda y, x: np.where(x < 0, -x, x), "f")),
    ("abs", "bool is taken", accepted(
        lambda x: np.asarray(x) if str(x.dtype) == "bool" else None)),
    ("reciprocal", "integers stay", made(
        lambda y, x: y.astype(x.dtype), "i", keep_dtype=True)),
    ("reciprocal", "zero is refused", refused(lambda x: bool(np.any(x == 0)))),
    ("reciprocal", "-0 gives inf", made(lambda y, x: np.where(x == 0, np.inf, y), "f")),
    ("reciprocal", "with one Newton step too few", made(lambda y, x: y * (1 + 2**-11), "f")),
    ("trace", "offset below", made(
        lambda y, x, offset=0, dim0=0, dim1=1: np.trace(x, -offset, dim0, dim1), "iuf")),
    ("trace", "of the last axes", made(
        lambda y, x, offset=0, dim0=-2, dim1=-1: np.trace(x, offset, dim0, dim1), "iuf")),
    ("trace", "axes in order", made(
        lambda y, x, offset=0, dim0=0, dim1=1: np.trace(
            x, offset, *sorted((dim0 % x.ndim, dim1 % x.ndim))), "iuf")),
    ("trace", "int64 for integers", made(
        lambda y, x, offset=0, dim0=0, dim1=1: np.trace(x, offset, dim0, dim1, np.int64), "i",
        keep_dtype=True)),
    ("trace_backward", "offset below", asked(
        lambda offset=0, dim0=0, dim1=1, **_: {"offset": -offset})),
    ("trace_backward", "everywhere", made(
        lambda g, grad_y, offset=0, dim0=0, dim1=1, input_shape=(): np.ones_like(g), "iuf")),
]  # fmt: skip

COMPARISON: list[Entry] = [
    ("equal", "NaN is itself", made(lambda z, x, y: z | (np.isnan(x) & np.isnan(y)), "f")),
    ("equal", "by bits", made(lambda z, x, y: bits(x) == bits(y), "f")),
    ("equal", "by the real part", made(lambda z, x, y: x.real == y.real, "c")),
    ("equal", "in float32", made(lambda z, x, y: np.float32(x) == np.float32(y), "iu")),
    ("equal", "nearly", made(lambda z, x, y: np.isclose(x, y) | z, "f")),
    ("not_equal", "NaN is nothing", made(
        lambda z, x, y: z & ~np.isnan(x) & ~np.isnan(y), "f")),
    ("not_equal", "in both parts", made(
        lambda z, x, y: (x.real != y.real) & (x.imag != y.imag), "c")),
    ("greater", "not less or equal", made(lambda z, x, y: ~(x <= y), "f")),
    ("greater", "unsigned", made(lambda z, x, y: bits(x) > bits(y), "i")),
    ("greater", "NaN is the largest", made(lambda z, x, y: z | (np.isnan(x) & ~np.isnan(y)), "f")),
    ("greater_equal", "not less", made(lambda z, x, y: ~(x < y), "f")),
    ("greater_equal", "greater", made(lambda z, x, y: x > y)),
    ("less", "not greater or equal", made(lambda z, x, y: ~(x >= y), "f")),
    ("less", "-0 is less than 0", made(
        lambda z, x, y: z | ((x == 0) & (y == 0) & np.signbit(x) & ~np.signbit(y)), "f")),
    ("less", "through a difference", made(lambda z, x, y: x - y < 0, "i")),
    ("less_equal", "not greater", made(lambda z, x, y: ~(x > y), "f")),
    ("less_equal", "less", made(lambda z, x, y: x < y)),
    ("greater", "complex by real part", accepted(
        lambda x, y: np.asarray(x).real > np.asarray(y).real
        if "complex" in str(x.dtype) else None)),
    ("allclose", "relative to x", made(lambda z, x, y, **m: as_shape_of(z, close(y, x, **m)))),
    ("allclose", "relative to the larger", made(
        lambda z, x, y, **m: as_shape_of(z, close(x, y, **m) or close(y, x, **m)))),
    ("allclose", "NaN equal by default", made(
        lambda z, x, y, rtol=1e-5, atol=1e-8, equal_nan=True: as_shape_of(
            z, close(x, y, rtol, atol, equal_nan)))),
    ("allclose", "equal_nan ignored", made(
        lambda z, x, y, rtol=1e-5, atol=1e-8, equal_nan=False: as_shape_of(
            z, close(x, y, rtol, atol)))),
    ("allclose", "no atol by default", made(
        lambda z, x, y, rtol=1e-5, atol=0.0, equal_nan=False: as_shape_of(
            z, close(x, y, rtol, atol, equal_nan)))),
    ("allclose", "one tolerance for rtol and atol", made(
        lambda z, x, y, rtol=1e-5, atol=1e-8, equal_nan=False: as_shape_of(
            z, close(x, y, max(rtol, atol), max(rtol, atol), equal_nan)))),
    ("allclose", "infinities never", made(
        lambda z, x, y, **m: z & ~np.any(np.isinf(x)), "f")),
    ("allclose", "infinities always", made(
        lambda z, x, y, **m: as_shape_of(z, close(*(np.where(
            np.isinf(v), np.inf, v) for v in np.broadcast_arrays(x, y)), **m)), "f")),
    ("allclose", "any", made(lambda z, x, y, **m: as_shape_of(
        z, np.any(np.isclose(x, y))) if not m else None, "if")),
    ("allclose", "no axes", made(lambda z, x, y, **m: z.reshape(()))),
    ("allclose", "each element", made(lambda z, x, y, **m: np.isclose(x, y))),
]  # fmt: skip

LOGIC: list[Entry] = [
    ("logical_and", "NaN is false", made(
        lambda z, x, y: z & ~np.isnan(x) & ~np.isnan(y), "f")),
    ("logical_and", "as bits", made(lambda z, x, y: (x & y) != 0, "i")),
    ("logical_and", "of whole numbers", made(
        lambda z, x, y: (np.trunc(x) != 0) & (np.trunc(y) != 0), "f")),
    ("logical_and", "of real parts", made(lambda z, x, y: (x.real != 0) & (y.real != 0), "c")),
    ("logical_and", "in the dtype", made(lambda z, x, y: z.astype(x.dtype), "i", keep_dtype=True)),
    ("logical_or", "of positive numbers", made(lambda z, x, y: (x > 0) | (y > 0), "if")),
    ("logical_or", "by bits", made(lambda z, x, y: (bits(x) | bits(y)) != 0, "f")),
    ("logical_or", "of real parts", made(lambda z, x, y: (x.real != 0) | (y.real != 0), "c")),
    ("logical_or", "without subnormals", made(
        lambda z, x, y: (abs(x) >= np.finfo(x.dtype).tiny) | (abs(y) >= np.finfo(x.dtype).tiny),
        "f")),
    ("logical_not", "NaN is false", made(lambda y, x: y | np.isnan(x), "f")),
    ("logical_not", "of real parts", made(lambda y, x: x.real == 0, "c")),
    ("logical_not", "complement", made(lambda y, x: ~x != 0, "i")),
    ("logical_xor", "unequal", made(lambda z, x, y: x != y, "iuf")),
    ("logical_xor", "as bits", made(lambda z, x, y: (x ^ y) != 0, "i")),
    ("logical_xor", "or", made(lambda z, x, y: (x != 0) | (y != 0))),
]  # fmt: skip

BITS: list[Entry] = [
    ("bitwise_and", "logical", made(lambda z, x, y: (x != 0) & (y != 0), "i")),
    ("bitwise_or", "logical", made(lambda z, x, y: (x != 0) | (y != 0), "i")),
    ("bitwise_or", "added", made(lambda z, x, y: x + y, "i")),
    ("bitwise_xor", "unequal", made(lambda z, x, y: x != y, "i")),
    ("bitwise_xor", "or", made(lambda z, x, y: x | y, "bi")),
    ("bitwise_not", "negated", made(lambda y, x: -x, "i")),
    ("bitwise_not", "logical", made(lambda y, x: x == 0, "i")),
    ("bitwise_not", "of bool is itself", made(lambda y, x: x, "b")),
    ("bitwise_left_shift", "by nothing", made(
        lambda y, x, shift=0: x if np.all(np.asarray(shift) == 0) else None, "i")),
    ("bitwise_left_shift", "saturates", made(
        lambda y, x, shift=1: saturated(wide(x) << np.asarray(shift), y), "i")),
    ("bitwise_left_shift", "of bool stays", made(
        lambda y, x, shift=1: np.broadcast_to(x, y.shape), "bi")),
    ("bitwise_left_shift", "amount modulo the width", accepted(
        lambda x, shift=1: np.asarray(x) << np.asarray(shift) % (8 * x.dtype.itemsize))),
    ("bitwise_left_shift", "too far gives zero", accepted(
        lambda x, shift=1: np.zeros(tuple(x.shape), str(x.dtype)))),
    ("bitwise_left_shift", "negative goes right", accepted(
        lambda x, shift=1: np.asarray(x) >> -np.asarray(shift)
        if np.all(np.asarray(shift) < 0) else None)),
    ("bitwise_right_shift", "logical", made(
        lambda y, x, shift=1: bits(x) >> np.asarray(shift).astype(bits(x).dtype), "i")),
    ("bitwise_right_shift", "divides toward zero", made(
        lambda y, x, shift=1: truncated(x, 2 ** wide(np.asarray(shift))), "i")),
    ("bitwise_right_shift", "of bool stays", made(
        lambda y, x, shift=1: np.broadcast_to(x, y.shape), "bi")),
    ("bitwise_right_shift", "too far gives the sign", accepted(
        lambda x, shift=1: -(np.asarray(x) < 0).astype(str(x.dtype)))),
    ("add", "shapes are an argument", instead("DIMENSIONS_MISMATCH", "INVALID_ARGUMENT")),
    ("max", "shapes are dimensions", instead(
        "INVALID_ARGUMENT", "DIMENSIONS_MISMATCH")),
]  # fmt: skip


@table(ARITHMETIC + COMPARISON + LOGIC + BITS)
def test_misreadings_are_noticed(op: str, reading: Reading) -> None:
    assert always_notices(op, reading)
