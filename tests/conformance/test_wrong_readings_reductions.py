"""Reductions, indices and complex numbers, each read otherwise in one thing: the cases notice."""

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
    one_by_one,
    refused,
    table,
)

Array = Any


def only(which: str, change: Any) -> Any:
    """Return a change of one mode of reduce."""

    def changed(
        output: Array, input: Array, mode: str = "SUM", axis: Any = (), keep_dims: bool = False
    ) -> Array | None:
        axes = tuple(axis or range(input.ndim))
        return change(output, input, axes, keep_dims) if mode == which else None

    return changed


def cut(x: Array, like: Array) -> Array:
    limits = np.iinfo(like.dtype)
    return np.clip(x, limits.min, limits.max)


def nan_ignored(function: Any) -> Any:
    return lambda output, input, axes, keep: function(input, axis=axes, keepdims=keep)


REDUCTION: list[Entry] = [
    ("reduce", "keep_dims ignored", asked(lambda **a: {"keep_dims": False})),
    ("reduce", "axes always kept", asked(lambda **a: {"keep_dims": True})),
    ("reduce", "the last axis by default", asked(
        lambda input, axis=(), **a: None if axis or input.ndim < 2 else {"axis": [-1]})),
    ("reduce", "the first of many axes", asked(
        lambda input, axis=(), **a: {"axis": list(axis)[:1]} if len(axis or ()) > 1 else None)),
    ("reduce", "sums of integers saturate", made(only("SUM", lambda o, x, axes, keep: cut(
        np.sum(x, axes, np.int64, keepdims=keep), o)), "i")),
    ("reduce", "sums of integers are int64", made(only("SUM", lambda o, x, axes, keep: np.sum(
        x, axes, np.int64, keepdims=keep)), "i", keep_dtype=True)),
    ("reduce", "sums of bool are bool", made(
        only("SUM", lambda o, *_: o != 0), "b", keep_dtype=True)),
    ("reduce", "sums of bool are int32", made(
        only("SUM", lambda o, *_: o.astype(np.int32)), "b", keep_dtype=True)),
    ("reduce", "sums one by one in float16", made(only("SUM", lambda o, x, axes, keep: one_by_one(
        x, axes, keep) if x.dtype == np.float16 else None), "f")),
    ("reduce", "sums without NaN", made(only("SUM", nan_ignored(np.nansum)), "f")),
    ("reduce", "products saturate", made(only("PROD", lambda o, x, axes, keep: cut(
        np.prod(x, axes, np.int64, keepdims=keep), o)), "i")),
    ("reduce", "products without NaN", made(only("PROD", nan_ignored(np.nanprod)), "f")),
    ("reduce", "products of bool are bool", made(
        only("PROD", lambda o, *_: o != 0), "b", keep_dtype=True)),
    ("reduce", "the product of nothing is 0", made(only("PROD", lambda o, x, axes, keep: o * 0
        if x.size == 0 and o.size else None), "if")),
    ("reduce", "the largest ignores NaN", made(only("MAX", nan_ignored(np.fmax.reduce)), "f")),
    ("reduce", "the least ignores NaN", made(only("MIN", nan_ignored(np.fmin.reduce)), "f")),
    ("reduce", "the largest begins at 0", made(
        only("MAX", lambda o, *_: np.maximum(o, 0)), "i")),
    ("reduce", "the largest begins at the least float", made(
        only("MAX", lambda o, *_: np.maximum(o, np.finfo(o.dtype).min)), "f")),
    ("reduce", "the largest of nothing is the lowest", accepted(
        lambda input, mode="SUM", axis=(), keep_dims=False: np.full((), np.iinfo(np.int32).min)
        if mode == "MAX" and input.size == 0 else None)),
    ("reduce", "means of integers are integers", made(only("MEAN", lambda o, x, axes, keep:
        o.astype(x.dtype)), "i", keep_dtype=True)),
    ("reduce", "means of integers are cut", made(only("MEAN", lambda o, *_: np.trunc(o)), "i")),
    ("reduce", "means of wrapped sums", made(only("MEAN", lambda o, x, axes, keep: np.sum(
        x, axes, x.dtype, keepdims=keep) / max(1, x.size // max(1, o.size))), "i")),
    ("reduce", "means by one less", made(only("MEAN", lambda o, x, axes, keep:
        o * (n / (n - 1)) if (n := x.size // max(1, o.size)) > 1 else None), "f")),
    ("reduce", "the mean of nothing is NaN", accepted(
        lambda input, mode="SUM", **_: np.full((), np.nan) if mode == "MEAN" else None)),
    ("reduce", "LAND keeps the dtype", made(only("LAND", lambda o, x, *_: o.astype(x.dtype)),
        "if", keep_dtype=True)),
    ("reduce", "LAND of NaN is false", made(only("LAND", lambda o, x, axes, keep: np.all(
        (x != 0) & ~np.isnan(x), axes, keepdims=keep)), "f")),
    ("reduce", "LAND of nothing is false", made(only("LAND", lambda o, x, *_: o & False
        if x.size == 0 else None))),
    ("reduce", "LXOR is LOR", asked(
        lambda mode="SUM", **a: {"mode": "LOR"} if mode == "LXOR" else None)),
    ("reduce", "LXOR is not all the same", made(only("LXOR", lambda o, x, axes, keep: (np.any(
        x != 0, axes, keepdims=keep) & ~np.all(x != 0, axes, keepdims=keep))))),
    ("reduce", "LOR of the real part", made(only("LOR", lambda o, x, axes, keep: np.any(
        x.real != 0, axes, keepdims=keep)), "c")),
    ("reduce", "LXOR of bits", made(only("LXOR", lambda o, x, axes, keep:
        np.bitwise_xor.reduce(x, axes, keepdims=keep) != 0), "i")),
    ("reduce", "BXOR is BOR", asked(
        lambda mode="SUM", **a: {"mode": "BOR"} if mode == "BXOR" else None)),
    ("reduce", "BAND of nothing is 0", made(only("BAND", lambda o, x, *_: o * 0
        if x.size == 0 and o.size else None), "i")),
    ("reduce", "BAND on floats is taken", accepted(
        lambda mode="SUM", **_: np.zeros(()) if mode == "BAND" else None)),
    ("reduce", "axes are out of range", instead("INVALID_ARGUMENT", "OUT_OF_RANGE")),
    ("reduce", "a negative axis is refused", refused(
        lambda axis=(), **_: any(a < 0 for a in axis or ()))),
    ("reduce", "MAX by default", asked(
        lambda **a: {"mode": "MAX"} if "mode" not in a else None)),
    ("reduce_bwd", "ties go to the first", made(
        lambda g, out_grad, input, mode="SUM", axis=(), keep_dims=False: first_of_ties(
            g, input, axis) if mode in ("MAX", "MIN") else None, "f")),
    ("reduce_bwd", "ties each have all", made(
        lambda g, out_grad, input, mode="SUM", axis=(), keep_dims=False: np.where(
            g != 0, spread(out_grad, input, axis, keep_dims), 0)
        if mode in ("MAX", "MIN") else None, "f")),
    ("reduce_bwd", "products divide", made(
        lambda g, out_grad, input, mode="SUM", axis=(), keep_dims=False: spread(
            out_grad, input, axis, keep_dims) * np.prod(
                input, tuple(axis) if axis else None, keepdims=True) / input
        if mode == "PROD" else None, "f")),
    ("reduce_bwd", "means are not divided", asked(
        lambda mode="SUM", **a: {"mode": "SUM"} if mode == "MEAN" else None)),
    ("reduce_bwd", "one number for all", made(
        lambda g, out_grad, input, **_: np.full_like(g, out_grad.flat[0]) if g.size else None,
        "if")),
    ("cumsum", "-1 is the last axis", made(
        lambda o, input, axis=-1, dtype=None: np.cumsum(input, -1, input.dtype)
        if axis == -1 and input.ndim > 1 and not dtype else None, "iuf")),
    ("cumsum", "without its own", made(
        lambda o, input, axis=-1, dtype=None: o - input.reshape(o.shape), "i")),
    ("cumsum", "from the end", made(
        lambda o, input, axis=-1, dtype=None: np.flip(np.cumsum(np.flip(
            input.reshape(o.shape), axis), axis, o.dtype), axis), "i")),
    ("cumsum", "saturates", made(
        lambda o, input, axis=-1, dtype=None: cut(np.cumsum(
            input.reshape(o.shape), axis, np.int64), o), "i")),
    ("cumsum", "integers are int64", made(
        lambda o, input, axis=-1, dtype=None: np.cumsum(
            input.reshape(o.shape), axis, np.int64), "i", keep_dtype=True)),
    ("cumsum", "converted after", made(
        lambda o, input, axis=-1, dtype=None: np.cumsum(
            input.reshape(o.shape), axis, input.dtype), "i")),
    ("cumsum", "NaN is left out", made(
        lambda o, input, axis=-1, dtype=None: np.nancumsum(
            input.reshape(o.shape), axis, input.dtype), "f")),
    ("cumsum", "-2 is the last axis but one", accepted(
        lambda input, axis=-1, dtype=None: np.zeros(()) if axis == -2 else None)),
    ("cumsum", "the shape is kept", made(
        lambda o, input, axis=-1, dtype=None: o.reshape(input.shape))),
    ("cumsum_bwd", "a cumsum", made(
        lambda g, out_grad, axis=-1, input_shape=None: np.cumsum(
            out_grad, axis, out_grad.dtype).reshape(g.shape), "i")),
    ("cumsum_bwd", "input_shape ignored", made(
        lambda g, out_grad, axis=-1, input_shape=None: g.reshape(out_grad.shape))),
    ("cumsum_bwd", "an axis is out of range", instead("INVALID_ARGUMENT", "OUT_OF_RANGE")),
]  # fmt: skip


def spread(out_grad: Array, input: Array, axis: Any, keep: bool) -> Array:
    axes = tuple(a % input.ndim for a in axis) if axis else tuple(range(input.ndim))
    return out_grad if keep else np.expand_dims(out_grad, axes)


def first_of_ties(g: Array, input: Array, axis: Any) -> Array | None:
    axes = tuple(a % input.ndim for a in axis) if axis else tuple(range(input.ndim))
    if len(axes) > 1 and len(axes) < input.ndim:
        return None
    flat = g if len(axes) == 1 else g.reshape(-1)
    along = axes[0] if len(axes) == 1 else 0
    if not flat.size:
        return None
    first = np.cumsum(flat != 0, along) == 1
    return np.where(first & (flat != 0), flat.sum(along, keepdims=True), 0).reshape(g.shape)


def last_best(best: Any) -> Any:
    def changed(i: Array, input: Array, axis: int = -1, keepdim: bool = False, dtype: Any = None,
                ) -> Array:  # fmt: skip
        n = input.shape[axis]
        return n - 1 - best(np.flip(input, axis), axis, keepdims=keepdim)

    return changed


def without_nan(best: Any, end: float) -> Any:
    return lambda i, input, axis=-1, keepdim=False, dtype=None: best(
        np.where(np.isnan(input), end, input), axis, keepdims=keepdim
    )


def sorted_by(key: Any, *, turn: bool = True) -> Any:
    """Return a change of argsort: by another key, and backwards by turning round or not."""

    def changed(o: Array, i: Array, input: Array, axis: int = -1, descending: bool = True) -> Any:
        order = np.argsort(key(input), axis, kind="stable")
        if descending:
            order = np.flip(order, axis) if turn else order
        return np.take_along_axis(input, order, axis), order

    return changed


def where(mask: Array, as_tuple: bool) -> Any:
    return list(np.nonzero(mask)) if as_tuple else np.argwhere(mask)


INDEXING: list[Entry] = [
    ("argmax", "the last of equal ones", made(last_best(np.argmax), "iu")),
    ("argmax", "ignores NaN", made(without_nan(np.argmax, -np.inf), "f")),
    ("argmax", "a NaN is the last", made(
        lambda i, input, axis=-1, keepdim=False, dtype=None: last_best(np.argmax)(
            i, input, axis, keepdim) if np.isnan(input).any() else None, "f")),
    ("argmax", "of magnitudes", made(
        lambda i, input, axis=-1, keepdim=False, dtype=None: np.argmax(
            abs(input), axis, keepdims=keepdim), "f")),
    ("argmax", "keepdim ignored", asked(lambda **a: {"keepdim": False})),
    ("argmax", "the first axis by default", asked(
        lambda **a: {"axis": 0} if "axis" not in a else None)),
    ("argmax", "of all by default", made(
        lambda i, input, axis=None, keepdim=False, dtype=None: np.full(
            i.shape, np.argmax(input)) if axis is None else None, "iuf")),
    ("argmax", "int64 always", asked(lambda **a: {"dtype": "int64"})),
    ("argmax", "int32 by default", asked(
        lambda **a: {"dtype": "int32"} if "dtype" not in a else None)),
    ("argmax", "-0 is less than 0", made(
        lambda i, input, axis=-1, keepdim=False, dtype=None: np.argmax(
            np.where((input == 0) & ~np.signbit(input), np.finfo(input.dtype).smallest_subnormal,
                     input), axis, keepdims=keepdim), "f")),
    ("argmax", "an axis is an argument", instead("OUT_OF_RANGE", "INVALID_ARGUMENT")),
    ("argmin", "the last of equal ones", made(last_best(np.argmin), "iu")),
    ("argmin", "ignores NaN", made(without_nan(np.argmin, np.inf), "f")),
    ("argmin", "argmax, as printed", made(
        lambda i, input, axis=-1, keepdim=False, dtype=None: np.argmax(
            input, axis, keepdims=keepdim), "iuf")),
    ("argsort", "up by default", asked(
        lambda **a: {"descending": False} if "descending" not in a else None)),
    ("argsort", "down is up turned round", made(sorted_by(lambda x: x), "iu")),
    ("argsort", "NaN is the least", made(
        sorted_by(lambda x: np.where(np.isnan(x), -np.inf, x)), "f")),
    ("argsort", "NaN last both ways", made(
        lambda o, i, input, axis=-1, descending=True: sorted_by(lambda x: -x, turn=False)(
            o, i, input, axis, True) if descending else None, "f")),
    ("argsort", "unsigned", made(sorted_by(lambda x: x.view(f"u{x.itemsize}")), "i")),
    ("argsort", "-0 before 0", made(
        lambda o, i, input, axis=-1, descending=True: sorted_by(
            lambda x: np.where((x == 0) & ~np.signbit(x),
                               np.finfo(x.dtype).smallest_subnormal / 2, x).astype(np.float64)
            + np.where((x == 0) & ~np.signbit(x), 1e-300, 0))(o, i, input, axis, False)
        if not descending else None, "f")),
    ("argsort", "ranks for indices", made(
        lambda o, i, input, axis=-1, descending=True: (o, np.argsort(i, axis, kind="stable")))),
    ("argsort", "the first axis by default", asked(
        lambda **a: {"axis": 0} if "axis" not in a else None)),
    ("argsort", "indices int32", made(
        lambda o, i, **_: (o, i.astype(np.int32)), keep_dtype=True)),
    ("argsort_bwd", "gathers", made(
        lambda g, out_grad, indices, axis=-1: np.take_along_axis(out_grad, indices, axis))),
    ("argsort_bwd", "along the first axis", asked(
        lambda **a: {"axis": 0} if "axis" not in a else None)),
    ("argsort_bwd", "as it came", made(lambda g, out_grad, indices, axis=-1: out_grad)),
    ("topk", "the last of equal ones", made(
        lambda o, i, input, k, axis=-1, largest=True, sorted=True: tuple(
            np.take(x, np.arange(k), axis) for x in sorted_by(lambda x: x)(
                o, i, input, axis, True)) if largest else None, "iu")),
    ("topk", "largest ignored", asked(lambda **a: {"largest": True})),
    ("topk", "the least downwards", made(
        lambda o, i, input, k, axis=-1, largest=True, sorted=True: (
            np.flip(o, axis), np.flip(i, axis)) if not largest else None)),
    ("topk", "not sorted", made(
        lambda o, i, input, k, axis=-1, largest=True, sorted=True: (
            np.take_along_axis(input, np.sort(i, axis), axis), np.sort(i, axis)), "iuf")),
    ("topk", "ignores NaN", made(
        lambda o, i, input, k, axis=-1, largest=True, sorted=True: tuple(
            np.take(x, np.arange(k), axis) for x in sorted_by(
                lambda x: np.where(np.isnan(x), -np.inf, x))(o, i, input, axis, True))
        if largest else None, "f")),
    ("topk", "k of none is nothing", accepted(
        lambda input, k, **_: np.zeros((0,)) if k == 0 else None)),
    ("topk", "all of an axis is refused", refused(
        lambda input, k, axis=-1, **_: k == input.shape[axis])),
    ("topk", "the first axis by default", asked(
        lambda **a: {"axis": 0, "k": min(a["k"], a["input"].shape[0])}
        if "axis" not in a else None)),
    ("nonzero", "one matrix by default", asked(
        lambda **a: {"as_tuple": False} if "as_tuple" not in a else None)),
    ("nonzero", "columns, as printed", made(
        lambda i, input, as_tuple=True: [x.reshape(-1, 1) for x in i] if as_tuple else None)),
    ("nonzero", "coordinates in rows", made(
        lambda i, input, as_tuple=True: None if as_tuple else i.T)),
    ("nonzero", "NaN is zero", made(
        lambda i, input, as_tuple=True: where((input != 0) & ~np.isnan(input), as_tuple), "f")),
    ("nonzero", "by the real part", made(
        lambda i, input, as_tuple=True: where(input.real != 0, as_tuple), "c")),
    ("nonzero", "above zero", made(
        lambda i, input, as_tuple=True: where(input > 0, as_tuple), "if")),
    ("nonzero", "columns first", made(
        lambda i, input, as_tuple=True: np.argwhere(input.T != 0)[:, ::-1]
        if not as_tuple else None, "iuf")),
    ("nonzero", "none is nothing", accepted(
        lambda input, as_tuple=True: np.zeros((0, input.ndim), np.int64) if input.ndim else None)),
    ("nonzero", "-0 is not zero", made(
        lambda i, input, as_tuple=True: where((input != 0) | np.signbit(input), as_tuple), "f")),
]  # fmt: skip

COMPLEX: list[Entry] = [
    ("complex", "parts exchanged", made(lambda o, real, imag: imag + 1j * real, "f")),
    ("complex", "by i", made(lambda o, real, imag: real + 1j * imag, "f")),
    ("complex", "complex64 for float16", made(
        lambda o, real, imag: np.complex64(real), dtypes=("float16",), keep_dtype=True)),
    ("complex", "in polar form", made(
        lambda o, real, imag: real * np.exp(1j * imag), "f")),
    ("complex", "equal shapes only", refused(
        lambda real, imag: real.shape != imag.shape)),
    ("conj", "turned round", made(lambda o, input: -o, "c")),
    ("conj", "as it is", made(lambda o, input: input, "c")),
    ("conj", "0 has no sign", made(
        lambda o, input: np.where(input.imag == 0, input, o), "c")),
    ("conj", "refuses real ones", refused(lambda input: input.dtype.kind != "c")),
    ("conj", "real ones become complex", made(
        lambda o, input: np.complex64(o), "f", keep_dtype=True)),
    ("imag", "the real part", made(lambda o, input: input.real, "c")),
    ("imag", "of a real one is itself", made(lambda o, input: input, "if")),
    ("imag", "refuses real ones", refused(lambda input: input.dtype.kind != "c")),
    ("real", "the imaginary part", made(lambda o, input: input.imag, "c")),
    ("real", "the magnitude", made(lambda o, input: abs(input), "c")),
    ("real", "of a real one is float32", made(
        lambda o, input: np.float32(o), "i", keep_dtype=True)),
    ("real", "complex remains", made(
        lambda o, input: o.astype(input.dtype), "c", keep_dtype=True)),
]  # fmt: skip


@table(REDUCTION + INDEXING + COMPLEX)
def test_misreadings_are_noticed(op: str, reading: Reading) -> None:
    assert always_notices(op, reading)
