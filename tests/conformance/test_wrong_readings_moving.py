"""Creation, query and transformation, each read otherwise in one thing: the cases notice."""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers.misreadings import (
    Entry,
    Reading,
    accepted,
    always_notices,
    asked,
    made,
    refused,
    table,
)

Array = Any


def default(name: str, value: Any) -> Reading:
    """Return a reading that has another default."""
    return asked(lambda **a: None if name in a else {name: value})


def rough(x: Array, dtype: Any) -> Array:
    """Return floats cut to a narrower dtype instead of rounded."""
    made_ = x.astype(dtype)
    return np.where(abs(made_) > abs(x), np.nextafter(made_, dtype(0)), made_)


def to(kind: str, change: Any) -> Any:
    """Return a change of casts to dtypes of a kind."""

    def changed(output: Array, input: Array, type: str = "float32") -> Array | None:
        return change(output, input) if output.dtype.kind == kind else None

    return changed


def limits(x: Array) -> Any:
    return np.iinfo(x.dtype)


CREATION: list[Entry] = [
    *((op, "float64 by default", default("dtype", "float64"))
      for op in ("zeros", "full", "empty", "range", "linspace", "rand_uniform", "rand_normal")),
    ("randperm", "int64 by default", default("dtype", "int64")),
    ("full", "one by default", default("value", 1)),
    ("full", "one axis by default", default("shape", (1,))),
    ("create_tensor", "by columns", made(
        lambda o, values=(), shape=(), **_: np.reshape(o, o.shape, order="F")
        if o.ndim < 2 else np.reshape(o.ravel(), o.shape, order="F"))),
    ("rand_uniform", "from 0 to 1 always", asked(
        lambda dtype="float32", **_: {"min": 0, "max": 1})),
    ("rand_uniform", "from 0 to 1 by default", asked(
        lambda min=None, max=None, dtype="float32", **_: {"min": 0, "max": 1}
        if min is None and max is None and dtype != "bool" else None)),
    ("rand_uniform", "the largest integer is left out", made(
        lambda o, min=None, max=None, **_: np.where(o == max, min, o)
        if o.dtype.kind == "i" and max is not None else None)),
    ("rand_uniform", "true", made(lambda o, **_: o | True if o.dtype.kind == "b" else None)),
    ("rand_uniform", "real", made(lambda o, **_: o.real + 0j if o.dtype.kind == "c" else None)),
    ("rand_uniform", "equal parts", made(
        lambda o, **_: o.real * (1 + 1j) if o.dtype.kind == "c" else None)),
    ("rand_uniform", "one number", made(
        lambda o, **_: np.full_like(o, o.flat[0]) if o.size else None)),
    ("rand_normal", "std is the variance", asked(
        lambda std=1, **_: {"std": abs(std) ** 0.5})),
    ("rand_normal", "mean ignored", asked(lambda **_: {"mean": 0})),
    ("rand_normal", "std ignored", asked(lambda **_: {"std": 1})),
    ("rand_normal", "each complex part has std", made(
        lambda o, mean=0, **_: (o - mean) * 2**0.5 + mean if o.dtype.kind == "c" else None)),
    ("rand_normal", "uniform", made(
        lambda o, mean=0, std=1, **_: mean + std * np.random.default_rng(1).uniform(
            -(3**0.5), 3**0.5, o.shape) if o.dtype.kind == "f" else None)),
    ("rand_normal", "no tails", made(
        lambda o, mean=0, std=1, **_: np.clip(o, mean - 1.5 * std, mean + 1.5 * std)
        if o.dtype.kind == "f" else None)),
    ("rand_bernoulli", "the other way", made(lambda o, input, **_: 1 - o)),
    ("rand_bernoulli", "a half always", made(
        lambda o, input, **_: np.random.default_rng(1).integers(0, 2, o.shape))),
    ("rand_bernoulli", "rounded", made(lambda o, input, **_: np.rint(input))),
    ("rand_bernoulli", "bool", made(lambda o, input, **_: o != 0, keep_dtype=True)),
    ("multinomial", "without weights", made(
        lambda o, input, replacement=True, **_: np.random.default_rng(1).integers(
            0, input.shape[-1], o.shape) if replacement else None)),
    ("multinomial", "replacement ignored", made(
        lambda o, input, replacement=True, **_: None if replacement else np.full_like(
            o, np.argmax(input)))),
    ("multinomial", "without replacement by default", refused(
        lambda input, num_samples=1, replacement=None, **_: replacement is None
        and bool(np.any(np.sum(input > 0, -1) < num_samples)))),
    ("multinomial", "weights must add up to one", refused(
        lambda input, **_: bool(np.any(abs(np.sum(np.float64(input), -1) - 1) > 1e-3)))),
    ("multinomial", "the likeliest", made(
        lambda o, input, replacement=True, **_: np.broadcast_to(
            np.argmax(input, -1)[..., None], o.shape) if replacement else None)),
    ("randperm", "with a repetition", made(
        lambda o, len, **_: np.where(o == 0, o.dtype.type(len - 1), o) if len > 1 else None)),
    ("randperm", "from 1", made(lambda o, len, **_: o + 1)),
    ("randperm", "in order", made(lambda o, len, **_: np.arange(len))),
    ("randperm", "turned by some", made(lambda o, len, **_: np.roll(
        np.arange(len), int(o.real[0])))),
    ("range", "ends by floating arithmetic", made(
        lambda o, start, limit, step, **_: o[: int((limit - start) / step) + 1]
        if not isinstance(step, complex) else None)),
    ("range", "added up", made(lambda o, start, limit, step, **_: np.cumsum(
        np.array([start] + [step] * (o.size - 1), o.dtype), dtype=o.dtype)
        if o.dtype.kind == "f" and o.size else None)),
    ("linspace", "one is the last", asked(
        lambda start, stop, num, **_: {"start": stop} if num == 1 else None)),
    ("linspace", "added up", made(lambda o, start, stop, num, **_: np.cumsum(np.array(
        [start] + [(stop - start) / max(num - 1, 1)] * (num - 1), o.dtype), dtype=o.dtype)
        if o.dtype.kind == "f" else None)),
    ("diag", "of a matrix is its diagonal", accepted(
        lambda input: np.diagonal(np.asarray(input)) if input.ndim == 2 else None)),
]  # fmt: skip

QUERY: list[Entry] = [
    ("is_finite", "one for all", made(lambda o, input: np.all(o))),
    ("is_finite", "integers are not", made(lambda o, input: o & False, "i")),
    ("is_finite", "by the real part", made(lambda o, input: np.isfinite(input.real), "c")),
    ("is_finite", "the largest is not", made(
        lambda o, input: o & (abs(input) < np.finfo(input.dtype).max), "f")),
    ("is_inf", "NaN too", made(lambda o, input: ~np.isfinite(input), "f")),
    ("is_inf", "in both parts", made(
        lambda o, input: np.isinf(input.real) & np.isinf(input.imag), "c")),
    ("is_nan", "infinities too", made(lambda o, input: ~np.isfinite(input), "f")),
    ("is_nan", "in both parts", made(
        lambda o, input: np.isnan(input.real) & np.isnan(input.imag), "c")),
    ("shape", "of a number is 1", made(
        lambda o, input: np.ones(1, np.int32) if not o.size else None)),
    ("shape", "the fastest axis first", made(lambda o, input: o[::-1].copy())),
    ("size", "of a number is 0", made(lambda n, input: 0 if input.ndim == 0 else n)),
    ("size", "in bytes", made(lambda n, input: input.nbytes)),
    ("rank", "of a number is 1", made(lambda n, input: max(n, 1))),
    ("rank", "of a matrix", made(lambda n, input: int(np.linalg.matrix_rank(input.astype(float)))
        if input.ndim == 2 and input.size else n, "if")),
    ("is_contiguous", "always", made(lambda n, input: True)),
    ("is_contiguous", "axes of one count", made(
        lambda n, input: n and all(k > 1 for k in input.shape))),
]  # fmt: skip

CASTS: list[Entry] = [
    ("cast", "floats are rounded", made(to("i", lambda o, x: np.clip(
        np.nan_to_num(np.rint(x)), limits(o).min, limits(o).max)), "f")),
    ("cast", "floats are floored", made(to("i", lambda o, x: np.where(
        np.isfinite(x) & (x < 0) & (x > -100) & (x != np.trunc(x)), o - 1, o)), "f")),
    ("cast", "NaN is the lowest", made(to("i", lambda o, x: np.where(
        np.isnan(x), limits(o).min, o)), "f")),
    ("cast", "infinity is the lowest", made(to("i", lambda o, x: np.where(
        x == np.inf, limits(o).min, o)), "f")),
    ("cast", "integers saturate", made(to("i", lambda o, x: np.clip(
        x.astype(np.int64), limits(o).min, limits(o).max)), "i")),
    ("cast", "0.5 is false", made(to("b", lambda o, x: np.trunc(x) != 0), "f")),
    ("cast", "NaN is false", made(to("b", lambda o, x: o & ~np.isnan(x)), "f")),
    ("cast", "-0 is true", made(to("b", lambda o, x: o | np.signbit(x)), "f")),
    ("cast", "2 is false", made(to("b", lambda o, x: (x & 1) != 0), "i")),
    ("cast", "complex to magnitude", made(to("f", lambda o, x: abs(x)), "c")),
    ("cast", "complex to real is refused", refused(
        lambda input, type="float32": input.dtype.kind == "c" and "complex" not in type)),
    ("cast", "float64 by default", default("type", "float64")),
    ("cast", "the largest for overflow", made(to("f", lambda o, x: np.where(
        np.isinf(o) & np.isfinite(x), np.copysign(np.finfo(o.dtype).max, x), o)), "f")),
    ("cast", "narrower floats are cut", made(lambda o, input, type="float32": rough(
        input, np.float16) if o.dtype == np.float16 else None, "f")),
    ("cast", "without subnormals", made(to("f", lambda o, x: np.where(
        abs(o) < np.finfo(o.dtype).tiny, 0, o)), "f")),
    ("cast", "bool is all bits", made(to("i", lambda o, x: -o), "b")),
    ("cast", "an imaginary part appears", made(to("c", lambda o, x: o + 1j * o.real), "if")),
    ("cast", "through float32", made(lambda o, input, type="float32": np.float32(input).astype(
        o.dtype) if o.dtype.kind == "i" and input.dtype.itemsize < 8 else None, "i")),
]  # fmt: skip

TRANSFORMATION: list[Entry] = [
    ("expand_dims", "in the last place by default", default("axis", -1)),
    ("expand_dims", "-1 is before the last", made(
        lambda o, input, axis=0: np.expand_dims(input, input.ndim + axis)
        if -input.ndim <= axis < 0 else None)),
    ("squeeze", "another length is refused", refused(
        lambda input, axis=(), **_: any(input.shape[a] != 1 for a in axis or ()))),
    ("squeeze", "the first by default", made(
        lambda o, input, axis=None: np.squeeze(input, next(
            i for i, n in enumerate(input.shape) if n == 1))
        if not axis and 1 in input.shape else None)),
    ("transpose", "the last two by default", made(
        lambda o, input, perm=None: np.swapaxes(input, -1, -2)
        if not perm and input.ndim > 1 else None)),
    ("transpose", "nothing by default", made(
        lambda o, input, perm=None: None if perm else input)),
    ("split", "sizes are places", made(
        lambda o, input, split_sizes=(), nsplit=None, axis=0: np.split(
            input, list(split_sizes)[:-1], axis) if split_sizes else None)),
    ("split", "the last axis by default", asked(
        lambda **a: None if "axis" in a else {"axis": a["input"].ndim - 1})),
    ("unstack", "the axis is kept", made(
        lambda o, input, axis=0, num=None: [np.expand_dims(x, axis) for x in o])),
    ("unstack", "the last axis by default", asked(
        lambda **a: None if "axis" in a else {"axis": a["input"].ndim - 1})),
    ("stack", "joined", made(lambda o, input_lists, axis: np.concatenate(input_lists, axis)
        if axis < input_lists[0].ndim else None)),
    ("concat", "the first axis", asked(lambda **_: {"axis": 0})),
    ("slice", "size is a count", made(
        lambda o, input, begin, size, step: input[tuple(
            np.s_[b : b + n * s : s] for b, n, s in zip(begin, size, step, strict=True))])),
    ("slice", "size is an end", made(
        lambda o, input, begin, size, step: input[tuple(
            np.s_[b:n:s] for b, n, s in zip(begin, size, step, strict=True))])),
    ("slice", "cut short", made(
        lambda o, input, begin, size, step: o[tuple(np.s_[: n // s] for n, s in zip(
            size, step, strict=True))])),
    ("slice", "an empty one is refused", refused(
        lambda size, **_: any(n == 0 for n in size))),
    ("slice_backward", "step ignored", asked(
        lambda begin, size, step, grad_out, **_: {"step": [1] * len(step), "size": list(
            grad_out.shape)})),
    ("slice_backward", "ones elsewhere", made(
        lambda g, grad_out, **_: np.where(g == 0, 1, g), "if")),
    ("pad", "before and after exchanged", asked(lambda pad_width, **_: {
        "pad_width": [n for i in range(0, len(pad_width), 2)
                      for n in (pad_width[i + 1], pad_width[i])]})),
    ("pad", "the last axis first", asked(lambda pad_width, **_: {
        "pad_width": [n for i in range(len(pad_width) - 2, -1, -2)
                      for n in pad_width[i : i + 2]]})),
    ("pad", "mirrors without the edge", made(
        lambda o, input, pad_width, pad_mode="PAD_CONST", **_: np.pad(input, np.reshape(
            pad_width, (-1, 2)), "reflect") if pad_mode == "PAD_MIRROR" and input.size else None)),
    ("pad", "the edge for a mirror", made(
        lambda o, input, pad_width, pad_mode="PAD_CONST", **_: np.pad(input, np.reshape(
            pad_width, (-1, 2)), "edge") if pad_mode == "PAD_MIRROR" and input.size else None)),
    ("pad", "no more than once", refused(
        lambda input, pad_width, pad_mode="PAD_CONST", **_: pad_mode != "PAD_CONST" and any(
            n > input.shape[i // 2] for i, n in enumerate(np.ravel(pad_width))))),
    ("roll", "along the last axis by default", made(
        lambda o, input, shifts, axis=(): None if axis or input.ndim < 2 else np.roll(
            input, shifts[0], -1))),
    ("roll", "the last of one axis counts", made(
        lambda o, input, shifts, axis=(): None if len(axis or ()) == len({
            a % input.ndim for a in axis or ()}) else np.roll(
                input, shifts[-1], axis[-1]))),
    ("roll", "no more than once", refused(
        lambda input, shifts, axis=(): any(abs(n) > input.shape[a]
            for n, a in zip(shifts, axis or (), strict=False)))),
    ("roll", "filled with zeros", made(
        lambda o, input, shifts, axis=(): o * (np.indices(o.shape)[axis[0]] >= shifts[0])
        if len(axis or ()) == 1 and shifts[0] > 0 else None, "if")),
    ("crop", "in the middle by default", made(
        lambda o, input, shape, offsets=None: None if offsets else input[tuple(
            np.s_[(n - m) // 2 : (n - m) // 2 + m] for n, m in zip(
                input.shape, shape, strict=True))])),
    ("clip", "half open", made(
        lambda o, input, low=None, high=None: np.where(input == high, np.nextafter(
            o, o.dtype.type(-np.inf)), o) if isinstance(high, int | float) else None, "f")),
    ("clip", "low ignored", asked(lambda **_: {"low": None})),
    ("clip", "high ignored", asked(lambda **_: {"high": None})),
    ("clip", "no bounds are zeros", made(
        lambda o, input, low=None, high=None: np.maximum(o, 0) if low is None else None, "if")),
    ("clip_backward", "ones", made(
        lambda g, grad_out, low, high, input: g != 0, "f")),
    ("clip_backward", "everywhere", made(lambda g, grad_out, low, high, input: grad_out)),
    ("gather", "along the axis", made(
        lambda o, input, index: np.take_along_axis(input, index, 0),
        misfit="INVALID_ARGUMENT")),
    ("gather", "rows for coordinates", made(
        lambda o, input, index: np.take(input, index, 0)
        if index.ndim > 1 and index.max(initial=0) < input.shape[0] else None)),
    ("gather", "flat", made(
        lambda o, input, index: np.take(input, index) if index.ndim == 1 else None)),
    ("gather", "from the end", accepted(
        lambda input, index: np.asarray(input)[np.asarray(index)]
        if np.any(np.asarray(index) < 0) else None)),
    ("scatter", "the first of equal places", made(
        lambda o, input, index, updates, override=True: scattered_first(input, index, updates)
        if override and index.ndim == 1 else None)),
    ("scatter", "each place is added to once", made(
        lambda o, input, index, updates, override=True: added_once(input, index, updates)
        if not override and index.ndim == 1 else None, "if")),
    ("scatter", "adds by default", default("override", False)),
    ("scatter", "from the end", accepted(
        lambda input, index, updates, override=True: np.asarray(input)
        if np.any(np.asarray(index) < 0) else None)),
    ("expand", "to the left", made(lambda o, input, shape: np.broadcast_to(np.reshape(
        input, (*input.shape, *(1,) * (o.ndim - input.ndim))), o.shape),
        misfit="INVALID_ARGUMENT")),
    ("flatten", "all of it", made(lambda o, input, start_axis, stop_axis: input.reshape(-1))),
    ("flatten", "from 1", made(
        lambda o, input, start_axis, stop_axis: input.reshape(input.shape[0], -1)
        if input.ndim and input.size else None)),
    ("sign", "-0 is -1", made(lambda o, input: np.copysign(
        np.where(np.isnan(input), np.nan, 1), input), "f")),
    ("sign", "an integer", made(
        lambda o, input: np.int32(np.nan_to_num(o)), "f", keep_dtype=True)),
    ("where", "not stretched", refused(
        lambda condition, x, y: not condition.shape == np.shape(x) == np.shape(y))),
    ("where", "a sum of products", made(
        lambda o, condition, x, y: condition * x + ~condition * y, "bf")),
    ("masked_select", "the shape is kept", made(
        lambda o, input, mask: np.where(mask, input, 0), "bif")),
    ("masked_select", "a smaller mask is refused", refused(
        lambda input, mask: input.shape != mask.shape)),
    ("meshgrid", "in the other order", made(lambda o, input: o[::-1])),
    ("tile", "each element", made(
        lambda o, input, repeats: np.kron(input, np.ones(repeats, input.dtype)), "iuf")),
    ("reverse", "by position", made(lambda o, input, axis: np.roll(o, 1) if o.size else None)),
]  # fmt: skip


def scattered_first(input: Array, index: Array, updates: Array) -> Array:
    made_ = input.copy()
    for i in reversed(range(len(index))):
        made_[index[i]] = updates[i]
    return made_


def added_once(input: Array, index: Array, updates: Array) -> Array:
    made_ = input.copy()
    made_[index] += updates
    return made_


@table(CREATION + QUERY + CASTS + TRANSFORMATION)
def test_misreadings_are_noticed(op: str, reading: Reading) -> None:
    assert always_notices(op, reading)
