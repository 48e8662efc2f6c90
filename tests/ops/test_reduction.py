"""7.2.13.1: reduce beyond the kit: any layout, exact means, levels, threads, many elements."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import every_level, same_bits, threads
from helpers.moves import laid_out
from helpers.sums import nearest
from suanzi.conformance.truth.reduction import takes

MODES = list(sz.ReduceMode.__members__)
INTEGERS = [f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)]
FLOATS = ["float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64"]
COMPLEX = ["complex32", "complex64", "complex128"]
NAMES = ["bool", *INTEGERS, *FLOATS, *COMPLEX]


def every_axes(ndim: int) -> list[tuple[int, ...]]:
    return [c for n in range(1, ndim + 1) for c in itertools.combinations(range(ndim), n)] or [()]


@pytest.mark.parametrize("name", INTEGERS)
def test_the_mean_of_integers_is_exact(name: str) -> None:
    for seed, count in enumerate([1, 2, 3, 7, 255, 257, 1000, 40000]):
        x = laid_out((count,), sz.dtype(name), seed=seed)
        mean = Fraction(sum(x.tolist()), count)
        assert Fraction(sz.reduce(x, "MEAN").item()) == nearest(mean, "float32")


def test_means_of_large_integers() -> None:
    big = sz.tensor([2**63 - 1, -(2**63), 2**62 + 1, -(2**62)], sz.int64)
    assert sz.reduce(big, "MEAN").item() == 0
    assert sz.reduce(sz.tensor([2**62 + 1, -(2**62), 1], sz.int64), "MEAN").item() == np.float32(
        2 / 3
    )
    assert sz.reduce(sz.tensor([2**64 - 1, 2**64 - 1], sz.uint64), "MEAN").item() == 2.0**64


@pytest.mark.parametrize("name", ["int8", "uint32", "int64"])
def test_small_means_of_very_many(name: str) -> None:
    """More than 2**28 elements, whose mean is far below 1."""
    one = 1 if name[0] == "u" else -1
    for count in (100003, 100003 * 7):
        x = sz.zeros((count,), sz.dtype(name))
        x[5] = one
        many = sz.expand(x, (2**28 // count + 1, count))
        assert Fraction(sz.reduce(many, "MEAN").item()) == nearest(Fraction(one, count), "float32")
    assert sz.reduce(sz.expand(sz.zeros((1,), sz.dtype(name)), (2**28,)), "MEAN").item() == 0


# ---- special values -----------------------------------------------------------------------------


def test_complex_products() -> None:
    x = sz.tensor([1 + 2j, 3 - 1j, -2 + 0.5j], sz.complex64)
    assert sz.reduce(x, "PROD").item() == (1 + 2j) * (3 - 1j) * (-2 + 0.5j)
    wide = sz.tensor([[1e30 + 1e30j], [1e30 - 1e30j], [1e-40j]], sz.complex64)
    assert sz.reduce(wide, "PROD", 0).item() != 0  # in float64, nothing overflows or vanishes
    turns = sz.full("complex128", "cpu", (1001,), 1j)
    assert sz.reduce(turns, "PROD").item() == 1j


# ---- one order ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["float16", "bfloat16", "float32", "float64", "complex64", "complex32"]
)
def test_the_result_depends_on_shape_and_elements_alone(name: str) -> None:
    rng = np.random.default_rng(5)
    for shape in [
        (40000,),
        (257, 70),
        (70, 257),
        (3, 5000),
        (20, 30, 40),
        (5, 4, 3, 7),
        (17000, 3),
        (17000, 17),
    ]:
        values = rng.standard_normal(shape) * np.exp(rng.uniform(-3, 3, shape))
        plain = sz.cast(sz.tensor(values), sz.dtype(name))
        copies = [plain]
        for order in list(itertools.permutations(range(len(shape))))[1:4]:
            copies.append(sz.cast(plain, plain.dtype, layout=order))
        wide = sz.tile(plain, [2] * len(shape))
        copies.append(wide[tuple(slice(n) for n in shape)])
        copies.append(sz.flip(sz.contiguous(sz.flip(plain, [0])), [0]))
        for axes, mode in itertools.product(every_axes(len(shape)), ("SUM", "PROD")):
            expected = sz.reduce(plain, mode, axes).numpy()
            for x in copies:
                for count in (1, 3):
                    with threads(count):
                        assert same_bits(sz.reduce(x, mode, axes).numpy(), expected)
            for _ in every_level():
                assert same_bits(sz.reduce(plain, mode, axes).numpy(), expected)


@pytest.mark.parametrize("name", NAMES)
def test_every_level_agrees(name: str) -> None:
    shapes = [(1,), (15,), (16,), (17,), (255,), (257,), (1023,), (1030,), (4099,), (300, 67)]
    for seed, shape in enumerate(shapes):
        x = laid_out(shape, sz.dtype(name), seed=seed)
        for mode in MODES:
            if not takes(mode, name):
                continue
            made = [
                [sz.reduce(x, mode, a).numpy() for a in (None, 0, x.ndim - 1)]
                for _ in every_level()
            ]
            for one in made:
                assert all(same_bits(a, b) for a, b in zip(one, made[0], strict=True))


def test_the_result_lies_as_the_input_does() -> None:
    x = sz.cast(sz.tensor(np.arange(24.0).reshape(2, 3, 4)), sz.float32, layout=(0, 1, 2))
    found = sz.reduce(x, axis=1)
    assert found.shape == (2, 4)
    assert found.layout.min2maj == (0, 1)
    assert found.tolist() == np.arange(24.0).reshape(2, 3, 4).sum(1).tolist()
    kept = sz.reduce(x, axis=1, keep_dims=True)
    assert kept.shape == (2, 1, 4)
    assert kept.tolist() == np.arange(24.0).reshape(2, 3, 4).sum(1, keepdims=True).tolist()


def test_repeated_elements() -> None:
    x = sz.expand(sz.tensor([[1.0], [2.0]], sz.float16), (2, 100000))
    assert sz.reduce(x, axis=0).tolist()[:3] == [3.0, 3.0, 3.0]
    assert sz.reduce(x, "MEAN", axis=1).tolist() == [1.0, 2.0]
    assert sz.reduce(x).item() == math.inf  # 300000 is beyond float16
    many = sz.expand(sz.tensor(1, sz.int8), (2**20, 3))
    assert sz.reduce(many, axis=0).tolist() == [0, 0, 0]
    assert sz.reduce(many, "MEAN").item() == 1


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_a_nan_anywhere_wins_and_zeros_have_an_order(name: str) -> None:
    for level in every_level():
        for count in (1, 2, 3, 5, 15, 17, 33, 70, 257, 300):
            for index in {0, count // 2, count - 1}:
                column = [math.nan if i == index else -1.0 - i % 3 for i in range(count)]
                x = sz.tensor([[-9.0] * 20 + [v] + [-9.0] * 20 for v in column], sz.dtype(name))
                for mode in ("MAX", "MIN"):
                    found = sz.reduce(x, mode, [0]).tolist()
                    assert [math.isnan(v) for v in found] == [i == 20 for i in range(41)], level
                    assert math.isnan(sz.reduce(x, mode).item()), (mode, level)
            zeros = sz.tensor([0.0, -0.0] * count, sz.dtype(name))
            assert math.copysign(1, sz.reduce(zeros, "MAX").item()) == 1
            assert math.copysign(1, sz.reduce(zeros, "MIN").item()) == -1
