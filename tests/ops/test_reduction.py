"""7.2.13.1: reduce beyond the kit: any layout, exact means, levels, threads, many elements."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suanzi as sz
from helpers.functions import each_level, same_bits, threads
from helpers.moves import laid_out, layouts, raw
from helpers.sums import nearest
from suanzi import _core
from suanzi.conformance.truth.reduction import reduced, takes

MODES = list(sz.ReduceMode.__members__)
INTEGERS = [f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)]
FLOATS = ["float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64"]
COMPLEX = ["complex32", "complex64", "complex128"]
NAMES = ["bool", *INTEGERS, *FLOATS, *COMPLEX]


def every_axes(ndim: int) -> list[tuple[int, ...]]:
    return [c for n in range(1, ndim + 1) for c in itertools.combinations(range(ndim), n)] or [()]


@given(st.data())
def test_integers_of_any_layout(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 6), max_size=4))
    dtypes = [sz.dtype(n) for n in ("bool", *INTEGERS)]
    x = data.draw(layouts(shape, dtypes))
    axes = data.draw(st.lists(st.sampled_from(range(len(shape))), unique=True)) if shape else []
    mode = data.draw(st.sampled_from(["SUM", "PROD", "MAX", "MIN", "LXOR", "BAND", "BXOR"]))
    found = sz.reduce(x, mode, [a - len(shape) for a in axes] if data.draw(st.booleans()) else axes)
    along = sorted(axes) or list(range(len(shape)))
    values = [int(v) for v in sz.reshape(x, (x.size,)).tolist()]
    (wanted,) = reduced(mode, str(x.dtype), values, shape, along)
    assert sz.reshape(found, (found.size,)).tolist() == list(wanted.truth)
    assert found.storage != x.storage


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


@pytest.mark.parametrize("name", FLOATS)
def test_special_values(name: str) -> None:
    nan, inf = math.nan, math.inf if name != "float8_e4m3fn" else 448.0
    for count in (3, 40, 700):
        rest = [1.0, -2.0, 0.5] * count
        for place in (0, len(rest) // 2, len(rest)):
            with_nan = sz.tensor([*rest[:place], -nan, *rest[place:]], name)
            for mode in ("SUM", "PROD", "MAX", "MIN", "MEAN"):
                assert math.isnan(sz.reduce(with_nan, mode).item())
            assert sz.reduce(with_nan, "LAND").item() is True
            with_inf = sz.tensor([*rest[:place], inf, *rest[place:]], name)
            assert sz.reduce(with_inf, "MAX").item() == inf
            assert (
                sz.reduce(sz.tensor([*rest[:place], -inf, *rest[place:]], name), "MIN").item()
                == -inf
            )
    if inf == math.inf:
        assert math.isnan(sz.reduce(sz.tensor([inf, 1, -inf], name)).item())
        assert sz.reduce(sz.tensor([inf, 1], name), "MEAN").item() == inf
    zeros = sz.tensor([-0.0, 0.0, -0.0], name)
    assert math.copysign(1, sz.reduce(zeros, "MAX").item()) == 1
    assert math.copysign(1, sz.reduce(zeros, "MIN").item()) == -1
    assert math.copysign(1, sz.reduce(sz.tensor([-0.0] * 300, name)).item()) == -1
    assert math.copysign(1, sz.reduce(sz.tensor([], name)).item()) == 1


def test_every_pair_of_float8_by_size() -> None:
    for name in ("float8_e4m3fn", "float8_e5m2"):
        every = (
            np.repeat(np.arange(256, dtype=np.uint8), 256),
            np.tile(np.arange(256, dtype=np.uint8), 256),
        )
        pairs = _core.empty((65536, 2), sz.dtype(name))
        raw(pairs)[..., 0] = np.stack(every, 1)
        for mode, function in (("MAX", sz.max), ("MIN", sz.min)):
            one = sz.reduce(pairs, mode, 1).numpy()
            assert same_bits(one, function(pairs[:, 0], pairs[:, 1]).numpy())


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
            with each_level() as levels:
                for level in levels:
                    _core.use_level(level)
                    assert same_bits(sz.reduce(plain, mode, axes).numpy(), expected)


@pytest.mark.parametrize("name", NAMES)
def test_every_level_agrees(name: str) -> None:
    shapes = [(1,), (15,), (16,), (17,), (255,), (257,), (1023,), (1030,), (4099,), (300, 67)]
    for seed, shape in enumerate(shapes):
        x = laid_out(shape, sz.dtype(name), seed=seed)
        for mode in MODES:
            if not takes(mode, name):
                continue
            with each_level() as levels:
                made = []
                for level in levels:
                    _core.use_level(level)
                    made.append([sz.reduce(x, mode, a).numpy() for a in (None, 0, x.ndim - 1)])
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


def test_quantised_elements_are_what_they_stand_for() -> None:
    x = sz.create_quant_tensor((3,), 0.5, sz.QT_ASYM_UINT8, zero_point=10, values=[12, 8, 20])
    assert sz.reduce(x).item() == 5.0
    assert sz.reduce(x).dtype is sz.float32
    assert sz.reduce(x, "MAX").item() == 5.0
    assert sz.cumsum(x).tolist() == [1.0, 0.0, 5.0]


def test_trace_uses_it() -> None:
    for name in (*INTEGERS, *FLOATS, *COMPLEX):
        x = sz.cast(sz.tensor(np.arange(12).reshape(3, 4) % 5), sz.dtype(name))
        assert sz.trace(x).item() == 0 + 5 % 5 + 10 % 5
        assert sz.trace(x, offset=9).item() == 0


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "int8", "int64"])
def test_columns_around_the_edges_of_vectors_tiles_and_blocks(name: str) -> None:
    """All below 0, so that what is filled up with is seen; sums are exact, in whatever order."""
    exact_sums = name not in ("bfloat16", "int8")
    with each_level() as levels:
        for rows in (1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 80, 81, 255, 256, 257, 300):
            for columns in (16, 17, 63, 65, 130):
                values = [[-1 - (7 * i + 3 * j) % 5 for j in range(columns)] for i in range(rows)]
                x, transposed = sz.tensor(values, sz.dtype(name)), list(zip(*values, strict=True))
                for level in levels:
                    _core.use_level(level)
                    for mode, each in (("MAX", max), ("MIN", min)):
                        found = sz.reduce(x, mode, [0]).tolist()
                        assert found == [each(column) for column in transposed], (mode, level)
                        along = sz.reduce(x, mode, [1]).tolist()
                        assert along == [each(row) for row in values], (mode, level, x.shape)
                    if exact_sums:
                        total = sz.reduce(x, "SUM", [0]).tolist()
                        assert total == [sum(column) for column in transposed], (level, x.shape)


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_a_nan_anywhere_wins_and_zeros_have_an_order(name: str) -> None:
    with each_level() as levels:
        for level, count in itertools.product(levels, (1, 2, 3, 5, 15, 17, 33, 70, 257, 300)):
            _core.use_level(level)
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


def test_the_mean_of_bool_is_a_share() -> None:
    """E92: Table 113 excepts no mode."""
    x = sz.tensor([[True, False, True], [True, True, True]])
    got = sz.reduce(x, "MEAN", axis=1)
    assert got.dtype is sz.float32
    assert got.tolist() == [np.float32(2 / 3), 1]
    assert sz.reduce(x.T[:, ::-1], "MEAN").item() == np.float32(5 / 6)
    many = sz.expand(sz.tensor([True]), (2**24 + 1,))
    assert sz.reduce(many, "MEAN").item() == 1
    with pytest.raises(sz.InvalidArgument):
        sz.reduce(sz.zeros((0,), sz.bool), "MEAN")
