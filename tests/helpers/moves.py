"""Tensors of any layout as arrays of bytes, which NumPy moves without knowing their dtype."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

import suanzi as sz
from helpers.every_operator import REGISTRY, function
from suanzi import _core
from suanzi.base.dtypes import DTYPES
from suanzi.standard import interface

if TYPE_CHECKING:
    from collections.abc import Iterator

Array = np.ndarray[Any, Any]
ALL = list(DTYPES)
ONE_OF_EACH_SIZE = [sz.int8, sz.bfloat16, sz.float32, sz.int64, sz.complex128]


def raw(x: sz.Tensor) -> Array:
    """Return the bytes of the elements, with an axis for them at the end; on the same memory."""
    item = x.dtype.itemsize
    shape = (*x.shape, item)
    if x.size == 0:
        return np.zeros(shape, np.uint8)
    strides = (*(s * item for s in x.strides), 1)
    return np.ndarray(shape, np.uint8, x.storage.memory, x.offset * item, strides)


def same(x: sz.Tensor, expected: Array) -> None:
    """Raise unless a tensor has the bytes of an array, and so its shape."""
    found = raw(x)
    assert found.shape == expected.shape, (x.shape, expected.shape)
    assert np.array_equal(found, expected)


def random_bytes(count: int, dtype: sz.DType, seed: int) -> Array:
    """Return the bytes of elements, of which a bool has 0 or 1."""
    made = np.random.default_rng(seed).integers(0, 256, (count, dtype.itemsize), np.uint8)
    return made % 2 if dtype is sz.bool else made


def laid_out(
    shape: Sequence[int],
    dtype: sz.DType,
    order: Sequence[int] | None = None,
    steps: Sequence[int] | None = None,
    repeats: Sequence[bool] | None = None,
    before: int = 0,
    seed: int = 0,
) -> sz.Tensor:
    """Return a tensor of random bytes: axes in memory in `order`, the fastest first.

    `steps` are factors of the strides, negative to go backwards; axes in `repeats` have stride 0.
    """
    ndim = len(shape)
    order = range(ndim - 1, -1, -1) if order is None else order
    steps = [1] * ndim if steps is None else steps
    strides, stride, start = [0] * ndim, 1, before
    for axis in order:
        if repeats is not None and repeats[axis]:
            continue
        strides[axis] = stride * steps[axis]
        reach = (max(shape[axis], 1) - 1) * abs(strides[axis])
        start += reach if steps[axis] < 0 else 0
        stride = max(stride, 1) * max(shape[axis], 1) * abs(steps[axis])
    base = _core.empty((before + stride + 3,), dtype)
    base.storage.memory[:] = random_bytes(base.size, dtype, seed).tobytes()
    made: sz.Tensor = _core.view(base, start, tuple(shape), strides)
    if dtype.kind == "quantized":
        _core.set_quantization(made, [0.5], 0, -1)
    return made


@st.composite
def layouts(
    draw: st.DrawFn,
    shape: Sequence[int],
    dtypes: Sequence[sz.DType] = tuple(ALL),
    repeats: bool = True,
) -> sz.Tensor:
    """Make a tensor of a shape, of any dtype, anywhere in memory."""
    ndim = len(shape)
    dtype = draw(st.sampled_from(dtypes))
    seed = draw(st.integers(0, 1000))
    if draw(st.booleans()):
        return laid_out(shape, dtype, seed=seed)
    order = draw(st.permutations(range(ndim)))
    if draw(st.booleans()):
        return laid_out(shape, dtype, order, seed=seed)
    step = st.sampled_from([1, 1, 2, 3, -1, -2])
    steps = draw(st.lists(step, min_size=ndim, max_size=ndim))
    twice = draw(st.lists(st.sampled_from([False, False, repeats]), min_size=ndim, max_size=ndim))
    return laid_out(shape, dtype, order, steps, twice, draw(st.integers(0, 3)), seed)


@st.composite
def tensors(
    draw: st.DrawFn,
    min_dims: int = 0,
    max_dims: int = 5,
    max_side: int = 5,
    min_side: int = 0,
    dtypes: Sequence[sz.DType] = tuple(ALL),
    repeats: bool = True,
) -> sz.Tensor:
    """Make a tensor of any shape, dtype and layout."""
    side = st.integers(min_side, max_side)
    shape = draw(st.lists(side, min_size=min_dims, max_size=max_dims))
    made: sz.Tensor = draw(layouts(shape, dtypes, repeats))
    return made


def quantized(
    data: Any, dtype: sz.DType, scale: Sequence[float], zero_point: int = 0, axis: int = -1
) -> sz.Tensor:
    """Return a quantised tensor that stores integers."""
    made: sz.Tensor = _core.cast(sz.tensor(np.array(data)), dtype, False)
    _core.set_quantization(made, scale, zero_point, axis)
    return made


def real(x: sz.Tensor) -> Array:
    """Return what a quantised tensor stands for, element by element."""
    sign = "u" if "UINT" in str(x.dtype) else "i"
    stored = np.ascontiguousarray(raw(x)).view(f"{sign}{x.dtype.itemsize}")[..., 0]
    assert x.scale is not None
    assert x.zero_point is not None
    scale = np.array(x.scale, np.float64)
    if x.channel_axis is not None:
        assert len(scale) == x.shape[x.channel_axis]
        scale = scale.reshape([-1 if a == x.channel_axis else 1 for a in range(x.ndim)])
    else:
        assert len(scale) == 1
    made: Array = (stored.astype(np.float64) - x.zero_point) * scale
    return made


@contextmanager
def nothing_made() -> Iterator[None]:
    """Raise if more storages are alive at the end than at the start."""
    before = _core.pool_info()["storages"]
    yield
    assert _core.pool_info()["storages"] <= before


def no_tensor_error(name: str) -> type[sz.StatusError]:
    """Return the error for what is no tensor: a TypeError, with the status the clause lists."""
    listed = interface(name).statuses
    has_own = sz.Status.TYPE_MISMATCH in listed or sz.Status.INVALID_ARGUMENT not in listed
    return sz.TypeMismatch if has_own else sz.WrongObject


def refused(
    error: type[sz.StatusError], name: str, *arguments: Any, match: str = "", **named: Any
) -> None:
    """Raise unless an operator refuses a call in its name, and makes nothing."""
    kind, text = None, ""
    with nothing_made():
        try:
            function(name)(*arguments, **named)
        except sz.StatusError as caught:
            kind, text = type(caught), str(caught)
    assert kind is error, f"{kind} {text}"
    assert text.startswith(f"{REGISTRY[name].title}: "), text
    assert text.endswith((".", "?")), text  # the question is whether another name was meant
    assert match in text, text


def destroyed() -> sz.Tensor:
    """Return a tensor that is gone."""
    gone = sz.tensor([1, 2])
    _core.destroy(gone)
    return gone
