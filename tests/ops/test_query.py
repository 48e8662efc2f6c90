"""7.2.2: every pattern, layouts, large tensors, and what is refused."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suanzi as sz
from helpers import exact, functions
from suanzi import _core

CHECKS = ("is_finite", "is_inf", "is_nan")


@cache
def kinds(part: str) -> list[str]:
    """The check that each of the patterns passes."""
    values = [exact.decode(bits, part) for bits in some_bits(part)]
    special = {True: "is_nan", False: "is_inf"}
    return [
        special[math.isnan(v)] if isinstance(v, float) and v != 0 else "is_finite" for v in values
    ]


def some_bits(part: str) -> list[int]:
    """Every pattern of the narrow formats, and of the wide ones those around what is special."""
    if part not in exact.FLOATS:
        return [0, 1]
    exponent, mantissa = exact.FLOATS[part].exponent, exact.FLOATS[part].mantissa
    width = 1 + exponent + mantissa
    if width <= 16:
        return list(range(2**width))
    top = (2**exponent - 1) << mantissa
    found = [
        0,
        1,
        1 << mantissa,
        top - 1,
        top,
        top + 1,
        top | 2 ** (mantissa - 1),
        top | 2**mantissa - 1,
    ]
    found += [i * 0x9E3779B97F4A7C15 % 2 ** (width - 1) for i in range(1, 200)]
    return [*found, *[b | 1 << (width - 1) for b in found]]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", exact.NAMES)
def test_every_pattern(check: str, name: str) -> None:
    part = exact.COMPLEX.get(name, name)
    bits = some_bits(part)
    wanted = [kind == check for kind in kinds(part)]
    if name in exact.COMPLEX:
        others = bits[len(bits) // 3 :] + bits[: len(bits) // 3]
        raw = np.array(list(zip(bits, others, strict=True)), f"u{exact.ITEMSIZE[part]}")
        rest = wanted[len(bits) // 3 :] + wanted[: len(bits) // 3]
        both = all if check == "is_finite" else any
        wanted = [both(pair) for pair in zip(wanted, rest, strict=True)]
    else:
        raw = np.array(bits, f"u{exact.ITEMSIZE[part]}")
    x = sz.create_tensor((len(bits),), raw.tobytes(), name)
    for _ in functions.every_level():
        found = getattr(sz, check)(x)
        assert found.dtype is sz.bool
        assert found.tolist() == wanted
        assert set(bytes(found.storage.memory)) <= {0, 1}


@pytest.mark.parametrize("name", ["float16", "float32", "complex64", "int8"])
def test_large(name: str) -> None:
    """Over several blocks and threads, and past the caches."""
    pattern = [0, 1, np.inf, np.nan, -np.inf, 5, 6] if name != "int8" else np.arange(7.0)
    values = np.resize(np.array(pattern, np.float32), 3_000_001)
    x = sz.cast(sz.tensor(values), name)
    for check in CHECKS:
        wanted = getattr(np, check.replace("_", ""))(values)
        for count in (1, 5):
            with functions.threads(count):
                assert (getattr(sz, check)(x).numpy() == wanted).all()


@pytest.mark.parametrize("rules", ["cann", "strict", "numpy", "torch", "jax", "paddle", "lossless"])
def test_no_rule_set_has_a_say(rules: str) -> None:
    with sz.promotion(rules):
        for name in exact.NAMES:
            x = sz.zeros((3,), name)
            assert sz.is_finite(x).tolist() == [True] * 3
            assert sz.is_nan(input=x).tolist() == sz.is_inf(x).tolist() == [False] * 3


def test_numbers_arrays_and_quantised_tensors() -> None:
    assert sz.is_nan(math.nan).item() is True
    assert sz.is_inf(3).item() is False
    assert sz.is_finite(np.array([1, np.inf])).tolist() == [True, False]
    q = _core.cast(sz.tensor([1, 2], sz.int8), sz.QT_SYM_INT8, False)
    with pytest.raises(sz.InvalidArgument, match="without a scale"):
        sz.is_finite(q)
    _core.set_quantization(q, [0.5], 0, -1)
    assert sz.is_finite(q).tolist() == [True, True]


# ---- shape, size, rank, is_contiguous ------------------------------------------------------------


def test_as_many_axes_as_there_can_be() -> None:
    x = sz.zeros((1,) * 64)
    assert sz.shape(x).tolist() == [1] * 64
    assert (sz.size(x), sz.rank(x)) == (1, 64)


def test_a_shape_beyond_32_bits() -> None:
    huge = _core.view(sz.tensor(1), 0, (2, 2**31), (0, 0))
    before = _core.pool_info()["storages"]
    with pytest.raises(sz.InvalidArgument, match=r"shape \(7.2.2.1\): input has shape .*Use input"):
        sz.shape(huge)
    assert _core.pool_info()["storages"] <= before
    assert sz.shape(_core.view(sz.tensor(1), 0, (2**31 - 1,), (0,))).tolist() == [2**31 - 1]
    assert sz.size(huge) == 2**32


def test_numbers_and_arrays_have_a_shape() -> None:
    assert sz.shape(np.zeros((2, 3))).tolist() == [2, 3]
    assert (sz.size(2.5), sz.rank(True)) == (1, 0)


@given(st.lists(st.integers(0, 3), max_size=4), st.data())
def test_contiguous_is_row_major_without_gaps(shape: list[int], data: Any) -> None:
    dims = tuple(shape)
    strides = data.draw(st.tuples(*[st.integers(-6, 12)] * len(dims)))
    base = sz.zeros((200,), sz.int8)
    x = _core.view(base, 100, dims, strides)
    # Element by element, in the order of their indices, memory goes on by one.
    places = [sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(dims)]
    assert sz.is_contiguous(x) is (places == list(range(len(places))))
