"""What only dtypes beyond the quick ones show, each computed otherwise: a full run notices."""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers.misreadings import Entry, Reading, made, notices, one_by_one, table

Array = Any
UNSIGNED = ("uint8", "uint16", "uint32")
WHOLE = ("int64",)
DOUBLE = ("float64", "complex128")


def cut(x: Array, like: Array) -> Array:
    limits = np.iinfo(like.dtype)
    return np.clip(x, limits.min, limits.max)


def signed(x: Array) -> Array:
    return x.view(f"i{x.dtype.itemsize}")


def wide(x: Array) -> Array:
    return x.astype(np.int64)


def single(x: Array) -> Array:
    """Return numbers as a computation in float32 would leave them."""
    if isinstance(x, tuple):
        return tuple(map(single, x))
    return x.astype({"f": np.float32, "c": np.complex64}[x.dtype.kind]).astype(x.dtype)


def in_single(*outputs: Array, **_: Any) -> Any:
    made_ = tuple(single(x) if x.dtype.kind in "fc" else x for x in outputs)
    return made_ if len(made_) > 1 else made_[0]


def narrow_sum(o: Array, input: Array, mode: str = "SUM", axis: Any = (), keep_dims: bool = False,
               ) -> Array | None:  # fmt: skip
    if mode != "SUM" or not input.size or not input.ndim:
        return None
    return one_by_one(input, axis or range(input.ndim), keep_dims)


def narrow_product(out: Array, mat1: Array, mat2: Array) -> Array | None:
    if mat1.ndim != 2 or mat2.ndim != 2:
        return None
    total = np.zeros_like(out)
    for k in range(mat1.shape[1]):
        total = (total + mat1[:, k : k + 1] * mat2[k : k + 1]).astype(out.dtype)
    return total


def bfloat16_cut(output: Array, input: Array, type: str = "float32") -> Array | None:
    """Return the upper half of float32 as bfloat16, without rounding."""
    if type != "bfloat16":
        return None
    upper = (input.view(np.uint32) >> 16).astype(np.uint16)
    return upper.view(output.dtype)


def twice_rounded(output: Array, input: Array, type: str = "float32") -> Array | None:
    if type not in ("float16", "bfloat16"):
        return None
    return input.astype(np.float32).astype(output.dtype)


def through_double(output: Array, input: Array, type: str = "float32") -> Array | None:
    return input.astype(np.float64).astype(np.float32) if type == "float32" else None


def saturated_float8(output: Array, input: Array, type: str = "float32") -> Array | None:
    if not type.startswith("float8"):
        return None
    top = {"float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}[type]
    return np.where(np.isnan(input), input, np.clip(input, -top, top)).astype(output.dtype)


WIDE: list[Entry] = [
    ("cast", "bfloat16 is cut", made(bfloat16_cut, dtypes=("float32",))),
    ("cast", "rounded twice", made(twice_rounded, dtypes=("float64",))),
    ("cast", "whole numbers rounded twice", made(through_double, dtypes=WHOLE)),
    ("cast", "float8 saturates", made(saturated_float8, dtypes=("float32",))),
    ("cast", "unsigned ones are signed", made(
        lambda output, input, type="float32": signed(input).astype(output.dtype)
        if output.dtype.kind == "i" and output.itemsize > input.itemsize else None,
        dtypes=UNSIGNED)),
    ("sign", "unsigned ones too", made(lambda o, input: np.ones_like(o), dtypes=UNSIGNED)),
    ("add", "unsigned saturates", made(lambda z, x, y: cut(wide(x) + wide(y), z),
        dtypes=UNSIGNED)),
    ("sub", "unsigned saturates", made(lambda z, x, y: cut(wide(x) - wide(y), z),
        dtypes=UNSIGNED)),
    ("sub", "unsigned becomes signed", made(
        lambda z, x, y: wide(x) - wide(y), dtypes=UNSIGNED, keep_dtype=True)),
    ("mul", "unsigned saturates", made(lambda z, x, y: cut(wide(x) * wide(y), z),
        dtypes=UNSIGNED)),
    ("max", "unsigned is signed", made(
        lambda z, x, y: np.where(signed(x) > signed(y), x, y), dtypes=UNSIGNED)),
    ("greater", "unsigned is signed", made(
        lambda z, x, y: signed(x) > signed(y), dtypes=UNSIGNED)),
    ("less_equal", "unsigned is signed", made(
        lambda z, x, y: signed(x) <= signed(y), dtypes=UNSIGNED)),
    ("bitwise_right_shift", "unsigned is arithmetic", made(
        lambda y, x, shift=1: signed(x) >> np.asarray(shift).astype(signed(x).dtype),
        dtypes=UNSIGNED)),
    ("argsort", "unsigned is signed", made(
        lambda o, i, input, axis=-1, descending=True: (o, np.argsort(
            -wide(signed(input)) if descending else signed(input), axis, kind="stable")),
        dtypes=UNSIGNED)),
    ("argmax", "unsigned is signed", made(
        lambda i, input, axis=-1, keepdim=False, dtype=None: np.argmax(
            signed(input), axis, keepdims=keepdim), dtypes=UNSIGNED)),
    ("div", "int64 through float64", made(
        lambda z, x, y: np.trunc(np.float64(x) / np.float64(y)), dtypes=WHOLE)),
    ("mod", "int64 through float64", made(
        lambda z, x, y: np.mod(np.float64(x), np.float64(y)), dtypes=WHOLE)),
    ("mul", "int64 through float64", made(
        lambda z, x, y: np.where(abs(np.float64(x) * np.float64(y)) < 2.0**62,
                                 np.float64(x) * np.float64(y), z), dtypes=WHOLE)),
    ("equal", "int64 through float64", made(
        lambda z, x, y: np.float64(x) == np.float64(y), dtypes=WHOLE)),
    ("less", "int64 through float64", made(
        lambda z, x, y: np.float64(x) < np.float64(y), dtypes=WHOLE)),
    ("max", "int64 through float64", made(
        lambda z, x, y: np.where(abs(z) < 2**62, np.float64(z), z), dtypes=WHOLE)),
    ("clip", "int64 through float64", made(
        lambda o, input, low=None, high=None: np.where(
            abs(o) < 2**62, np.float64(o), o), dtypes=WHOLE)),
    ("argmax", "int64 through float64", made(
        lambda i, input, axis=-1, keepdim=False, dtype=None: np.argmax(
            np.float64(input), axis, keepdims=keepdim), dtypes=WHOLE)),
    ("argsort", "int64 through float64", made(
        lambda o, i, input, axis=-1, descending=True: (o, np.argsort(
            -np.float64(input) if descending else np.float64(input), axis, kind="stable")),
        dtypes=WHOLE)),
    ("matmul", "int64 through float64", made(
        lambda out, mat1, mat2: np.where(abs(out) < 2**62, np.matmul(
            np.float64(mat1), np.float64(mat2)), out), dtypes=WHOLE)),
    ("reduce", "int64 through float64", made(
        lambda o, input, mode="SUM", **_: np.where(abs(o) < 2**62, np.float64(o), o)
        if mode == "SUM" else None, dtypes=WHOLE)),
    ("cumsum", "int64 through float64", made(
        lambda o, input, **_: np.where(abs(o) < 2**62, np.float64(o), o)
        if o.dtype == np.int64 else None, dtypes=WHOLE)),
    ("abs", "int64 through float64", made(
        lambda y, x: np.where(abs(y) < 2**62, np.float64(y), y), dtypes=WHOLE)),
    ("reduce", "sums in bfloat16", made(narrow_sum, dtypes=("bfloat16",))),
    ("matmul", "sums in bfloat16", made(narrow_product, dtypes=("bfloat16",))),
    *((op, "float64 in float32", made(in_single, dtypes=DOUBLE)) for op in
      """add mul div pow sqrt exp log sin tanh atan reduce cumsum trace matmul dot linear bilinear
      norm solve inverse lstsq svd qr eig lu cholesky fft_c2c fft_r2c fft_c2r reduce_bwd
      linear_bwd_in""".split()),
    ("interpolate", "float64 in float32", made(
        lambda o, input, mode="nearest", **_: single(o) if mode != "nearest" else None,
        dtypes=DOUBLE)),
]  # fmt: skip


@table(WIDE)
def test_misreadings_are_noticed(op: str, reading: Reading) -> None:
    assert notices(op, reading, quick=False, dtypes=vars(reading)["dtypes"])
