"""Creation, random numbers, joining and parting of blocks: the bits of one tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.blocks import same

pytest.importorskip("dask.array", reason="tensors of blocks are Dask's")
cluster = pytest.importorskip("suanzi.cluster")

NUMBERS = sz.tensor(np.arange(35, dtype=np.int16).reshape(5, 7))
SIZES = [(2, 3), -1, (1, 1)]


CREATED: dict[str, Any] = {
    "range of floats": lambda d: sz.range(5, 3, -0.125, device=d),
    "range of integers": lambda d: sz.range(-5, 100, 3, sz.int8, device=d),
    "range beyond": lambda d: sz.range(-3e38, 3e38, 1e38, device=d),
    "linspace": lambda d: sz.linspace(0, 1, 24, device=d),
    "linspace of one": lambda d: sz.linspace(3, 4, 1, sz.float16, device=d),
    "linspace of complex": lambda d: sz.linspace(1j, 2 - 1j, 7, sz.complex64, device=d),
    "uniform": lambda d: sz.rand_uniform((9, 5), seed=7, min=0, max=1, device=d),
    "uniform of 3 axes": lambda d: sz.rand_uniform((3, 4, 5), sz.float64, seed=-7, device=d),
    "uniform of complex": lambda d: sz.rand_uniform((7, 5), sz.complex64, seed=7, device=d),
    "uniform bfloat16": lambda d: sz.rand_uniform((4, 9), sz.bfloat16, d, -1, 1, seed=3),
    "integers": lambda d: sz.rand_uniform((9, 7), sz.int8, min=-3, max=3, seed=7, device=d),
    "wide integers": lambda d: sz.rand_uniform((9, 7), sz.int64, seed=7, device=d),
    "normal": lambda d: sz.rand_normal((9, 5), seed=7, mean=3, std=2, device=d),
    "normal of complex": lambda d: sz.rand_normal((9, 5), sz.complex128, mean=1j, seed=7, device=d),
    "normal, 0-d": lambda d: sz.rand_normal((), seed=7, device=d),
    "normal of none": lambda d: sz.rand_normal((0, 3), seed=7, device=d),
    "randperm": lambda d: sz.randperm(11, sz.int32, seed=7, device=d),
}  # fmt: skip


@pytest.mark.parametrize("size", [3, -1])
@pytest.mark.parametrize("name", CREATED)
def test_what_is_created(name: str, size: int) -> None:
    with cluster.blocks(size):
        same(CREATED[name]("cluster"), CREATED[name]("cpu"))


def test_the_seed_0_is_drawn_once() -> None:
    with cluster.blocks(2):
        x: Any = sz.rand_uniform((8,), device="cluster", min=0, max=1)
        y: Any = sz.rand_uniform((8,), device="cluster", min=0, max=1)
    assert x.tolist() == x.tolist()
    assert x.tolist() != y.tolist()


def test_a_normal_number_never_depends_on_the_blocks() -> None:
    wanted = sz.rand_normal((500, 41), seed=11)
    for size in ((499, 40), (7, 41), (500, 3)):
        with cluster.blocks(size):
            same(sz.rand_normal((500, 41), seed=11, device="cluster"), wanted)


CALLS: dict[str, Any] = {
    "bernoulli": lambda x: sz.rand_bernoulli(sz.cast(x, sz.float32) / 35.0, seed=7),
    "multinomial": lambda x: sz.multinomial(sz.cast(x, sz.float64), 6, seed=7),
    "concat": lambda x: sz.concat([x, x[:, ::-1], x[:2]], 0),
    "concat of dtypes": lambda x: sz.concat([x, sz.cast(x, sz.float32)], -1),
    "concat with nothing": lambda x: sz.concat([x[:0], x], 0),
    "stack": lambda x: sz.stack([x, x + 1], 1),
    "stack at the end": lambda x: sz.stack([x, sz.cast(x, sz.float32)], -1),
    "split": lambda x: sz.split(x, [1, 4, 2], axis=1),
    "split evenly": lambda x: sz.split(x, None, 5),
    "tile": lambda x: sz.tile(x, (2, 3)),
    "tile to nothing": lambda x: sz.tile(x, (0, 1)),
    "roll": lambda x: sz.roll(x, (2, -3), (0, 1)),
    "roll of all": lambda x: sz.roll(x, 9),
    "roll of nothing": lambda x: sz.roll(x[:0], 2, 0),
    "pad": lambda x: sz.pad(x, (1, 2, 0, 3), 9),
    "pad behind": lambda x: sz.pad(x, (0, 0, 0, 3), -9),
    "pad by mirror": lambda x: sz.pad(x, [(2, 12), (8, 1)], pad_mode="PAD_MIRROR"),
    "pad by period": lambda x: sz.pad(x, (7, 3, 1, 16), pad_mode="PAD_PERIOD"),
    "pad of nothing": lambda x: sz.pad(x[:0], (0, 0, 1, 1), pad_mode="PAD_MIRROR"),
    "roll of many axes": lambda x: sz.roll(x[0, :1].reshape((1,) * 13), (1,) * 13, range(13)),
    "meshgrid": lambda x: sz.meshgrid([x[0], x[:, 0]]),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CALLS)
def test_the_bits_of_one_tensor(name: str, size: Any) -> None:
    with cluster.blocks(size):
        x = NUMBERS.to_device("cluster")
    same(CALLS[name](x), CALLS[name](NUMBERS))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: sz.concat([x, x[:, 1:]], 0),
        lambda x: sz.concat([x, x[0]], 0),
        lambda x: sz.concat([x, x], 2),
        lambda x: sz.stack([x, x[1:]], 0),
        lambda x: sz.split(x, [1, 1], axis=1),
        lambda x: sz.tile(x, (-1, 2)),
        lambda x: sz.roll(x, (1, 2), (0,)),
        lambda x: sz.pad(x, (1, 2)),
        lambda x: sz.pad(x, (1, 2, 3, 4), pad_mode="PAD"),
    ],
)
def test_errors_are_those_of_one_tensor(call: Any) -> None:
    with pytest.raises(sz.StatusError) as wanted:
        call(NUMBERS)
    with pytest.raises(type(wanted.value)) as found:
        call(NUMBERS.to_device("cluster"))
    assert str(found.value).split(":")[0] == str(wanted.value).split(":")[0]


def test_pad_of_char() -> None:
    x = sz.zeros((3, 4), sz.char)
    with cluster.blocks(2):
        found = sz.pad(x.to_device("cluster"), (0, 1, 1, 0))
    assert found.tolist() == sz.pad(x, (0, 1, 1, 0)).tolist()
