"""Sparse tensors to try, and what they stand for, from Python dictionaries alone."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np

import suanzi as sz
from helpers.checking import array, numpy_dtype, samples

NAMES = """bool int4 uint4 uint1 int8 uint8 int16 uint16 int32 uint32 int64 uint64 float8_e4m3fn
    float8_e5m2 float16 bfloat16 float32 float64 complex32 complex64 complex128""".split()
SHAPES: tuple[tuple[int, ...], ...] = (
    (), (1,), (5,), (0,), (2, 3), (1, 4), (0, 3), (3, 0), (6, 5), (2, 3, 4), (2, 0, 3),
    (2, 1, 3, 2),
)  # fmt: skip


def places(random: Random, shape: tuple[int, ...], count: int) -> list[tuple[int, ...]]:
    """Coordinates in any order, some of them twice; none where there is no element."""
    if 0 in shape:
        return []
    return [tuple(random.randrange(n) for n in shape) for _ in range(count)]


def indices(found: list[tuple[int, ...]], ndim: int) -> Any:
    return np.array(found, np.int64).reshape(len(found), ndim)


def make(
    random: Random,
    shape: tuple[int, ...],
    name: str,
    layout: str = "coo",
    count: int | None = None,
    whole: bool = False,
) -> sz.SparseTensor:
    """A sparse tensor, uncoalesced if COO, of values that break things, zeros among them.

    `whole` ones are small integers, whose sums are exact, so that their order does not matter.
    """
    count = random.randrange(2 * math.prod(shape) + 1) if count is None else count
    found = places(random, shape, count)
    values = numbers(random, name, len(found), whole)
    return sz.create_sparse_tensor(
        shape, indices(found, len(shape)), values, sz.dtype(name), layout=layout
    )


def numbers(random: Random, name: str, count: int, whole: bool = False) -> Any:
    if not whole:
        return array(name, [random.choice(samples(name)) for _ in range(count)])
    low = 0 if name.startswith(("u", "bool")) else -2
    high = 1 if name in ("bool", "uint1") else 2
    drawn = [random.randint(low, high) for _ in range(count)]
    return np.array(drawn, np.int64).astype(numpy_dtype(name))


def distinct(
    random: Random, shape: tuple[int, ...], name: str, layout: str = "coo"
) -> sz.SparseTensor:
    """A sparse tensor without duplicates, in any order, so that its sums have one element."""
    found = sorted(set(places(random, shape, random.randrange(math.prod(shape) + 1))))
    random.shuffle(found)
    values = numbers(random, name, len(found))
    return sz.create_sparse_tensor(
        shape, indices(found, len(shape)), values, sz.dtype(name), layout=layout
    )


def bits(x: sz.Tensor) -> tuple[Any, ...]:
    """The dtype, the shape and the bytes, in row-major order."""
    return x.dtype, x.shape, np.ascontiguousarray(x.numpy()).tobytes()


def same(got: sz.Tensor, expected: sz.Tensor, signs: bool = True) -> None:
    """Raise AssertionError unless two tensors are equal bit by bit, NaNs' payloads aside.

    Without `signs`, -0.0 is 0.0.
    """
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        raise AssertionError(f"{got.dtype} {got.shape}, not {expected.dtype} {expected.shape}")
    a, b = _comparable(got, signs), _comparable(expected, signs)
    if a != b:
        wrong = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
        first = "; ".join(f"[{i}] {a[i]}, not {b[i]}" for i in wrong[:5])
        raise AssertionError(f"{len(wrong)} of {len(a)} elements are wrong: {first}")


def _comparable(x: sz.Tensor, signs: bool) -> list[Any]:
    wide = {"float": np.float64, "complex": np.complex128}.get(x.dtype.kind)
    flat = np.asarray(x.numpy()).reshape(-1)
    if wide is None:
        return [int(v) for v in flat]
    if x.dtype.kind == "complex":
        parts = np.ascontiguousarray(flat.astype(wide)).view(np.float64)
    else:
        parts = flat.astype(wide)
    return [_named(float(v), signs) for v in parts]


def _named(v: float, signs: bool) -> str:
    return repr(v + 0.0 if not signs else v)
