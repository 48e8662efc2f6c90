"""Exactly rounded operators and casts give the same bits on every level and for every thread count.

Random bit patterns, at sizes around the widths of vectors, chunks and blocks.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.exact import COMPLEX, INTEGERS, NAMES
from helpers.functions import Array, every_level, same_bits, threads
from helpers.standard_operators import REGISTRY
from suanzi.tensors.exchange import numpy_dtype

SIZES = [0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 2047, 2048, 2049, 70001]
LARGEST = SIZES[-1]


def exact(operands: int) -> list[str]:
    return [
        op.name
        for op in REGISTRY.values()
        if op.kernel and (op.ulp is None or op.ulp <= 0.5)
        if len(inspect.signature(op.function).parameters) == operands
    ]


BINARY = [*exact(2), "bitwise_left_shift", "bitwise_right_shift"]
UNARY = [*exact(1), "abs", "logical_not"]
SYMBOLS: dict[str, Callable[..., Any]] = {"negative": operator.neg}


def function(name: str) -> Callable[..., sz.Tensor]:
    found: Callable[..., sz.Tensor] = SYMBOLS.get(name) or getattr(sz, name)
    return found


@cache
def patterns(name: str, seed: int) -> Array:
    """Return random bit patterns of a dtype, many of them small, equal, or special."""
    rng = np.random.default_rng([seed, NAMES.index(name)])
    kind = numpy_dtype(sz.dtype(name))
    if name == "bool":
        return rng.integers(0, 2, LARGEST, np.uint8).view(np.bool_)
    if name in INTEGERS and INTEGERS[name][0] < 8:
        width, signed = INTEGERS[name]
        low = -(2 ** (width - 1)) if signed else 0
        return rng.integers(low, low + 2**width, LARGEST, np.int8).view(np.uint8).view(kind)
    raw = rng.integers(0, 256, (LARGEST, kind.itemsize), np.uint8)
    part = kind.itemsize // (2 if name in COMPLEX else 1)
    # The top byte of zero, of infinity, or of about one, more often than chance would have it.
    for byte in (0x00, 0x7F, 0xFF, 0x3F, 0x40):
        raw[rng.integers(0, LARGEST, LARGEST // 20), part - 1] = byte
    raw[rng.integers(0, LARGEST, LARGEST // 20)] = 0
    values: Array = raw.reshape(-1).view(kind)
    return values


def operands(name: str, dtype: str, count: int) -> list[Array]:
    x, y = patterns(dtype, 1), patterns(dtype, 2)
    if count == 1:
        return [x]
    if name.endswith("_shift"):
        width = 1 if dtype == "bool" else INTEGERS[dtype][0]
        amounts = np.arange(LARGEST) * 7 % width
        y = amounts.astype(np.uint8 if dtype == "bool" else x.dtype)
    elif name in ("div", "floordiv", "mod") and (dtype in INTEGERS):
        y = np.where(y == 0, np.ones(1, y.dtype), y)
    else:
        y = np.where(np.arange(LARGEST) % 11 == 0, x, y)  # equal operands are rare otherwise
    return [x, y]


def results(call: Callable[[], sz.Tensor], counts: tuple[int, ...]) -> dict[Any, Array]:
    found = {}
    for level in every_level():
        for count in counts:
            with threads(count):
                found[level, count] = np.array(call().numpy())
    return found


def counts_for(size: int) -> tuple[int, ...]:
    """Return the thread counts to try: short loops never use more than one."""
    return (1, 2, 3) if size == LARGEST else (1,)


def assert_all_equal(what: str, found: dict[Any, Array]) -> None:
    (first, expected), *others = found.items()
    for key, value in others:
        assert same_bits(expected, value), f"{what}: {first} and {key} differ"


CASES = [
    (name, str(dtype), 2 if name in BINARY else 1)
    for name in (*BINARY, *UNARY)
    for dtype in REGISTRY[name].dtypes
    if str(dtype) in NAMES
]
CASES += [("negative", name, 1) for name in NAMES if name not in ("bool", "int4", "uint1", "uint4")]


@pytest.mark.parametrize(("name", "dtype", "count"), CASES)
def test_operators(name: str, dtype: str, count: int) -> None:
    arguments = operands(name, dtype, count)
    for size in SIZES:
        tensors = [sz.tensor(a[:size]) for a in arguments]
        found = results(lambda tensors=tensors: function(name)(*tensors), counts_for(size))
        assert_all_equal(f"{name} of {size} {dtype}", found)
        if size == LARGEST:
            whole = next(iter(found.values()))
        elif size in (33, 2049):
            short = next(iter(found.values()))
    # A prefix is the beginning of the whole: where an element stands does not matter.
    assert same_bits(short, whole[: short.size])


@pytest.mark.parametrize("name", BINARY)
def test_one_value_beside_many(name: str) -> None:
    for dtype in ("float16", "bfloat16", "float32", "float64", "int8", "int32", "uint64"):
        if sz.dtype(dtype) not in REGISTRY[name].dtypes:
            continue
        x, y = operands(name, dtype, 2)
        for size in (1, 33, 2049):
            for i in (3, 12):
                left, right = sz.tensor(x[:size]), sz.tensor(y[i])
                spread = sz.tensor(np.full(size, y[i]))
                found = results(lambda a=left, b=right: function(name)(a, b), (1,))
                found |= {("spread", 0): np.array(function(name)(left, spread).numpy())}
                assert_all_equal(f"{name} of {size} {dtype} and one", found)
                other, many = sz.tensor(x[i]), sz.tensor(y[:size])
                spread = sz.tensor(np.full(size, x[i]))
                found = results(lambda a=other, b=many: function(name)(a, b), (1,))
                found |= {("spread", 0): np.array(function(name)(spread, many).numpy())}
                assert_all_equal(f"{name} of one and {size} {dtype}", found)


@pytest.mark.parametrize("name", ["add", "mul", "less"])
@pytest.mark.parametrize(
    ("a", "b"),
    [("int8", "float16"), ("int32", "bfloat16"), ("float16", "float32"), ("uint8", "int64")],
)
def test_mixed_dtypes(name: str, a: str, b: str) -> None:
    """Promotion is two steps: convert each operand, rounded once, then compute."""
    promoted = sz.promote_types(sz.dtype(a), sz.dtype(b))
    for size in (1, 33, 2049, LARGEST):
        x, y = sz.tensor(patterns(a, 1)[:size]), sz.tensor(patterns(b, 2)[:size])
        found = results(lambda x=x, y=y: function(name)(x, y), counts_for(size))
        steps = function(name)(sz.cast(x, promoted), sz.cast(y, promoted))
        assert_all_equal(f"{name} of {a} and {b}", found | {("steps", 0): np.array(steps.numpy())})


@pytest.mark.parametrize("source", NAMES)
def test_casts(source: str) -> None:
    values = patterns(source, 1)
    for target in NAMES:
        for saturate in (False, True):
            most = target in ("float16", "bfloat16", "int8") and not saturate
            for size in SIZES if most else (33, 2049, LARGEST):
                x = sz.tensor(values[:size])
                found = results(
                    lambda x=x, t=target, s=saturate: sz.cast(x, t, saturate=s), counts_for(size)
                )
                assert_all_equal(f"cast of {size} {source} to {target}", found)
