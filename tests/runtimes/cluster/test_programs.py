"""Random programs on blocks give the bits that the same program gives on one tensor.

The numbers are small integers, so that sums and products are exact in every order; what rounding
does is in test_sums.py.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz

pytest.importorskip("dask", reason="tensors of blocks are Dask's")
cluster = pytest.importorskip("suanzi.cluster")

DTYPES = (sz.int8, sz.int32, sz.uint8, sz.float16, sz.bfloat16, sz.float32, sz.float64)
SIZES = st.integers(1, 7)


@st.composite
def cuts_of(draw: Any, shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Draw how a shape is cut: blocks of any sizes."""
    made = []
    for n in shape:
        edges = draw(st.sets(st.integers(1, max(n - 1, 1)), max_size=3)) if n > 1 else set()
        ends = sorted({0, n, *edges})
        made.append(tuple(b - a for a, b in pairwise(ends)))
    return tuple(made)


def drawn(data: Any, shape: tuple[int, ...], dtype: sz.DType) -> tuple[Any, Any]:
    """Return a tensor, and the same in blocks."""
    seed = data.draw(st.integers(0, 2**32 - 1))
    low = 0 if dtype.kind == "uint" else -4
    numbers = np.random.default_rng(seed).integers(low, 5, shape)
    host = sz.tensor(numbers, dtype)
    with cluster.blocks(data.draw(cuts_of(shape)) if shape else -1):
        return host, host.to_device("cluster")


def small(x: Any) -> Any:
    """Return numbers that stay exact through the next step."""
    return sz.clip(x, 0, 9) if x.dtype.kind == "uint" else sz.clip(x, -9, 9)


def elementwise(data: Any, x: Any) -> Callable[[Any, Any], Any]:
    return data.draw(  # type: ignore[no-any-return]
        st.sampled_from(
            [
                lambda a, b: a + b,
                lambda a, b: a - b,
                lambda a, b: small(a * b),
                lambda a, b: sz.max(a, b),
                lambda a, b: sz.where(sz.greater(a, b), a, b),
                lambda a, b: sz.cast(sz.equal(a, b), a.dtype),
                lambda a, b: sz.abs(a) * 2 - b,
            ]
        )
    )


@st.composite
def broadcastable(draw: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    kept = shape[draw(st.integers(0, len(shape))) :]
    return tuple(draw(st.sampled_from([n, 1])) for n in kept)


def step(data: Any, host: Any, there: Any) -> tuple[Any, Any]:
    """Return both tensors after one more random operator."""
    kind = data.draw(st.sampled_from(["elements", "view", "reshape", "reduce", "line", "product"]))
    if host.ndim == 0:
        kind = "elements"
    if kind == "elements":
        function = elementwise(data, host)
        other, its = drawn(data, data.draw(broadcastable(host.shape)), host.dtype)
        return function(host, other), function(there, its)
    axis = data.draw(st.integers(0, host.ndim - 1))
    if kind == "product":
        inner = host.shape[-1]
        shape = (inner, data.draw(SIZES)) if data.draw(st.booleans()) else (inner,)
        other, its = drawn(data, shape, host.dtype)
        return small(sz.matmul(host, other)), small(sz.matmul(there, its))
    if kind == "reshape":
        axes = [host.shape[i] for i in data.draw(st.permutations(range(host.ndim)))]
        shape = data.draw(st.sampled_from([axes, [-1], [1, *axes[1:], axes[0]], [*axes, 1]]))
        return host.reshape(*shape), there.reshape(*shape)
    perm = data.draw(st.permutations(range(host.ndim)))
    start, stop = data.draw(st.integers(-8, 8)), data.draw(st.integers(-8, 8))
    pace = data.draw(st.sampled_from([-3, -1, 1, 2]))
    key = (*(slice(None),) * axis, slice(start, stop, pace))
    views = [
        lambda x: sz.transpose(x, perm),
        lambda x: sz.flip(x, axis),
        lambda x: x[key] if host[key].size else x,
        lambda x: sz.expand_dims(x, axis) if x.ndim < 4 else x,
        lambda x: sz.squeeze(x),
        lambda x: sz.expand(x, (2, *x.shape)) if x.ndim < 4 else x,
    ]
    keep = data.draw(st.booleans())
    mode = data.draw(st.sampled_from(["SUM", "MAX", "MIN", "PROD", "LOR", "LXOR"]))
    reductions = [
        lambda x: sz.cast(small(sz.cast(sz.reduce(x, mode, axis, keep), sz.int32)), x.dtype),
        lambda x: sz.cast(sz.argmax(x, axis, keep), x.dtype),
        lambda x: sz.cast(sz.argmin(x, axis, keep), x.dtype),
        lambda x: small(sz.reduce(x, mode, None, keep)) if mode in ("MAX", "SUM") else x,
    ]
    lines = [lambda x: small(sz.cumsum(x, axis)), lambda x: small(sz.cumsum(x))]
    one = data.draw(st.sampled_from({"view": views, "reduce": reductions, "line": lines}[kind]))
    return one(host), one(there)


@settings(max_examples=60)
@given(data=st.data())
def test_programs(data: Any) -> None:
    shape = tuple(data.draw(st.lists(SIZES, min_size=1, max_size=3)))
    host, there = drawn(data, shape, data.draw(st.sampled_from(DTYPES)))
    for _ in range(data.draw(st.integers(1, 5))):
        host, there = step(data, host, there)
        assert (there.shape, there.dtype) == (host.shape, host.dtype)
    found = there.to_host()
    assert (found.shape, found.dtype) == (host.shape, host.dtype)
    assert found.tolist() == host.tolist()
    with sz.printoptions(threshold=10, edgeitems=1):
        assert str(host).split("dtype")[0].split() == (
            str(there).removeprefix("Block").split("dtype")[0].split()
        )
