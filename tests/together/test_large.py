"""Results larger than the caches, which bypass them, are those of their small parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi import _core
from suanzi.tensors.exchange import from_numpy

# Reads and writes well above four second-level caches, and ends within a vector, block and chunk.
SIZE = (1 << 22) + 4099
PART = 20_011

Call = Callable[..., sz.Tensor]


@pytest.fixture(autouse=True, params=[1, 5])  # many bypass them sooner
def _threads(request: pytest.FixtureRequest) -> Iterator[None]:
    before = sz.get_num_threads()
    sz.set_num_threads(request.param)
    yield
    sz.set_num_threads(before)


def numbers(dtype: str, seed: int) -> sz.Tensor:
    values = np.random.default_rng(seed).integers(-100, 100, SIZE).astype(np.float32) / 4
    return sz.cast(from_numpy(values), sz.dtype(dtype))


def part(x: Any, start: int) -> Any:
    if not isinstance(x, sz.Tensor) or x.ndim == 0:
        return x
    length = min(PART, SIZE - start)
    return _core.view(x, x.offset + start * x.strides[0], (length,), x.strides)


def check(function: Call, *operands: Any) -> None:
    whole = bytes(function(*operands).storage.memory)
    parts = (function(*(part(x, i) for x in operands)) for i in range(0, SIZE, PART))
    assert whole == b"".join(bytes(p.storage.memory) for p in parts)


@pytest.mark.parametrize(
    ("a", "b"),
    [("f32", "f32"), ("f64", "f64"), ("f16", "f16"), ("bf16", "bf16"), ("i8", "f16"), ("u8", "i8")],
)
def test_two_operands(a: str, b: str) -> None:
    check(sz.add, numbers(a, 1), numbers(b, 2))


def test_a_number_beside_them() -> None:
    x = numbers("f32", 1)
    check(sz.mul, x, 2.5)
    check(sz.sub, 1, x)


def test_one_value_for_all() -> None:
    one = _core.view(sz.tensor([1.5], sz.float64), 0, (SIZE,), (0,))
    for found in (sz.add(one, one), sz.square(one), sz.cast(one, sz.float32)):
        assert len(set(found.tolist())) == 1


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16"])
def test_one_operand(dtype: str) -> None:
    x = numbers(dtype, 3)
    check(sz.exp, x)
    check(sz.abs, x)


def test_three_operands() -> None:
    x, y = numbers("f32", 1), numbers("f32", 2)
    check(sz.muladd, x, y, x)
    check(sz.where, sz.greater(x, y), x, y)


@pytest.mark.parametrize(
    ("a", "b"), [("f32", "f16"), ("f16", "f64"), ("i64", "f32"), ("f64", "i8")]
)
def test_casts(a: str, b: str) -> None:
    check(lambda x: sz.cast(x, sz.dtype(b)), numbers(a, 4))


def test_strided_operands() -> None:
    values = np.random.default_rng(5).normal(size=(SIZE, 2)).astype(np.float32)
    check(sz.add, from_numpy(values[:, 0]), from_numpy(values[:, 1]))
    check(lambda x: sz.cast(x, sz.float64), from_numpy(values[:, 1]))


@pytest.mark.parametrize(
    "dtypes", [("float32", "float32"), ("int8", "float16"), ("bfloat16", "int32")]
)
@pytest.mark.parametrize("threads", [1, 3])
def test_operands_that_lie_across_each_other(dtypes: tuple[str, str], threads: int) -> None:
    """Large ones are laid along the loop first; small parts of them are not."""
    shape = (3, 257, 391)
    x, y = (sz.cast(sz.tensor(np.arange(np.prod(shape)) % 97), sz.dtype(d)) for d in dtypes)
    x = x.reshape(shape)
    across = sz.transpose(y.reshape(391, 3, 257), (2, 0, 1))
    row = sz.transpose(y[: 391 * 257].reshape(391, 257))  # repeated along the first axis
    before = sz.get_num_threads()
    sz.set_num_threads(threads)
    try:
        for z in (across, row, across[:, ::-1, ::-1]):
            for whole, part in (
                (x + z, lambda a, b: a + b),
                (sz.where(x > z, x, z), lambda a, b: sz.where(a > b, a, b)),
                (sz.muladd(x, z, z), lambda a, b: sz.muladd(a, b, b)),
            ):
                for i in (0, 128, 256):
                    piece = part(x[:, i : i + 1], sz.expand(z, shape)[:, i : i + 1])
                    assert whole[:, i : i + 1].tolist() == piece.tolist()
    finally:
        sz.set_num_threads(before)
