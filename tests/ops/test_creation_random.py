"""7.2.1.7 to .11: random numbers: their distribution, their ranges, what a seed promises."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers import exact, functions
from suanzi import _core

SIGMAS = 5.0  # at a fixed seed a right generator passes once and for all


def floats(x: sz.Tensor) -> Any:
    """The parts of a tensor as doubles."""
    wide = sz.complex128 if x.dtype.kind == "complex" else sz.float64
    return np.array(sz.cast(x, wide).numpy())


def check_chi_square(counts: Any, wanted: Any) -> None:
    chi = ((counts - wanted) ** 2 / wanted).sum()
    freedom = len(counts) - 1
    assert chi <= freedom + SIGMAS * math.sqrt(2 * freedom), chi


# ---- uniform -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(exact.FLOATS))
def test_max_is_never_reached(name: str) -> None:
    """Also where rounding to the format would reach it most of the time."""
    dt = sz.dtype(name)
    for high in (1.0, 2.0, 0.5, 3.0, 2.0**-6, 0.0, -1.0):
        low = high - abs(high or 1.0) * 2.0 ** -exact.FLOATS[name].mantissa
        low = sz.full(dt, value=low).item()
        x = sz.rand_uniform((500,), dt, min=low, max=high, seed=3).numpy().astype(np.float64)
        assert x.max() < high
        assert x.min() >= low
    smallest = sz.finfo(dt).smallest_subnormal
    x = sz.rand_uniform((500,), dt, min=0, max=smallest, seed=3)
    assert set(x.numpy().astype(float)) == {0.0}
    x = sz.rand_uniform((500,), dt, min=-smallest, max=smallest, seed=3)
    assert set(x.numpy().astype(float)) == {0.0, -smallest}


# ---- normal --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*exact.FLOATS, *exact.COMPLEX])
def test_normal_ends_at_the_range_of_the_dtype(name: str) -> None:
    dt = sz.dtype(name)
    top = sz.finfo(dt).max
    values = floats(sz.rand_normal((500,), dt, std=top if top < 1e308 else 1e308, seed=6))
    parts = np.concatenate([values.real, values.imag])
    assert np.isfinite(parts).all()
    assert np.abs(parts).max() == top
    assert floats(sz.rand_normal((3,), dt, mean=2, std=0, seed=1)).tolist() == [2] * 3


# ---- bernoulli -----------------------------------------------------------------------------------


def test_bernoulli_draws_by_index_whatever_the_layout() -> None:
    p = np.random.default_rng(0).random((3, 4, 5))
    first = sz.rand_bernoulli(sz.tensor(p), seed=3).tolist()
    for order in itertools.permutations(range(3)):
        x = sz.create_tensor((3, 4, 5), p, sz.float64, layout=order)
        assert sz.rand_bernoulli(x, seed=3).tolist() == first
    assert sz.rand_bernoulli(sz.zeros((0, 3)), seed=1).shape == (0, 3)
    assert sz.rand_bernoulli(1.0).item() == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [-0.001, 1.001, math.nan, math.inf])
def test_bernoulli_of_what_is_no_probability(bad: float) -> None:
    before = _core.pool_info()["storages"]
    with pytest.raises(sz.InvalidArgument, match="from 0 to 1"):
        sz.rand_bernoulli(np.array([0.5, bad]))
    assert _core.pool_info()["storages"] <= before


# ---- multinomial ---------------------------------------------------------------------------------


def test_multinomial_without_replacement() -> None:
    weights = np.array([1, 2, 0, 3, 4.0])
    rows = 20_000
    x = sz.multinomial(np.tile(weights, (rows, 1)), 4, False, seed=17).numpy()
    assert x.shape == (rows, 4)
    assert (np.sort(x, axis=1) == [0, 1, 3, 4]).all()
    p = weights / weights.sum()
    check_chi_square(np.bincount(x[:, 0], minlength=5)[[0, 1, 3, 4]], p[[0, 1, 3, 4]] * rows)
    # The second, given the first: what is left, in the same ratios.
    for first in (0, 1, 3, 4):
        left = [i for i in (0, 1, 3, 4) if i != first]
        chosen = x[x[:, 0] == first][:, 1]
        wanted = p[left] / p[left].sum() * len(chosen)
        check_chi_square(np.bincount(chosen, minlength=5)[left], wanted)


@pytest.mark.parametrize("replacement", [True, False])
def test_multinomial_of_extreme_weights(replacement: bool) -> None:
    for weights in ([1e308] * 4, [5e-324] * 4, [5e-324, 1e308, 0, 0], [0, 0, 0, 1.0]):
        w = np.array(weights)
        count = 1 if not replacement else 1000
        found = sz.multinomial(w, count, replacement, seed=5).numpy()
        assert (w[found] > 0).all()
    assert sz.multinomial(np.array([3.0]), 3, seed=1).tolist() == [0, 0, 0]
    assert sz.multinomial(np.ones((0, 3)), 2, replacement, seed=1).shape == (0, 2)
    assert sz.multinomial(np.ones(70_000), 70_000, False, seed=1).shape == (70_000,)


# ---- randperm ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*exact.INTEGERS, *exact.FLOATS, *exact.COMPLEX])
def test_randperm(name: str) -> None:
    part = exact.COMPLEX.get(name, name)
    most = sz.iinfo(name).max if name in exact.INTEGERS else 2 ** (exact.FLOATS[part].mantissa + 1)
    for count in {1, 2, min(most + 1, 5), min(most + 1, 40_000)}:
        x = sz.randperm(count, name, seed=3)
        assert (x.shape, x.dtype) == ((count,), sz.dtype(name))
        assert sorted(floats(x).real.tolist()) == list(range(count))
    if most < 2**40:
        with pytest.raises(sz.InvalidArgument, match=rf"only the integers from 0 to {most}"):
            sz.randperm(most + 2, name)


# ---- seeds ---------------------------------------------------------------------------------------

CALLS: dict[str, Any] = {
    "uniform": lambda seed: sz.rand_uniform((50, 3), seed=seed),
    "integers": lambda seed: sz.rand_uniform((50, 3), sz.int64, seed=seed),
    "normal": lambda seed: sz.rand_normal((50, 3), seed=seed),
    "bernoulli": lambda seed: sz.rand_bernoulli(sz.full(shape=(200,), value=0.5), seed),
    "multinomial": lambda seed: sz.multinomial(np.ones(1000), 50, seed=seed),
    "once": lambda seed: sz.multinomial(np.ones(1000), 50, False, seed),
    "randperm": lambda seed: sz.randperm(1000, seed=seed),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_seed_repeats_and_the_seed_0_does_not(name: str) -> None:
    call = CALLS[name]
    first = call(7).tolist()
    assert call(np.int32(7)).tolist() == first
    seen = [call(seed).tolist() for seed in (1, 2, -1, -7, 2**63 - 1, -(2**63), 0, 0)]
    for a, b in itertools.combinations([first, *seen], 2):
        assert a != b
    with functions.threads(1):
        assert call(7).tolist() == first


def test_a_seed_means_the_same_in_every_layout_and_of_every_size() -> None:
    shape = (5, 20, 400)  # several blocks
    for make in (sz.rand_uniform, sz.rand_normal):
        first = make(shape, seed=7)
        for order in itertools.permutations(range(3)):
            x = make(shape, seed=7, layout=order)
            assert x.layout.min2maj == order
            assert (x.numpy() == first.numpy()).all()
        assert (make((40_000,), seed=7).numpy() == first.numpy().ravel()).all()
        assert (make((10,), seed=7).numpy() == first.numpy().ravel()[:10]).all()
        assert make((3, 0), seed=7).shape == (3, 0)


@pytest.mark.parametrize("replacement", [True, False])
def test_multinomial_draws_by_row_whatever_the_layout(replacement: bool) -> None:
    """The rows of columns have gaps between their weights."""
    for dtype in (sz.float64, sz.float32, sz.bfloat16):
        x = sz.cast(sz.tensor([[2.0, 1.0, 5.0], [1.0, 3.0, 1.0]]), dtype)
        first = sz.multinomial(x, 2, replacement, seed=7).tolist()
        columns = sz.cast(sz.tensor([[2.0, 1.0], [1.0, 3.0], [5.0, 1.0]]), dtype).T
        for other in (columns, sz.concat([x, x], 1)[:, :3]):
            assert other.tolist() == x.tolist()
            assert sz.multinomial(other, 2, replacement, seed=7).tolist() == first
        backwards = sz.duplicate(x[::-1, ::-1])[::-1, ::-1]
        assert sz.multinomial(backwards, 2, replacement, seed=7).tolist() == first


def test_golden_values() -> None:
    """What these seeds gave when this was written: on every machine, for good."""
    assert sz.rand_uniform((3,), sz.float64, min=0, max=1, seed=42).tolist() == GOLDEN["uniform"]
    assert sz.rand_uniform((6,), sz.int8, seed=42).tolist() == GOLDEN["int8"]
    assert sz.rand_uniform((2,), sz.uint64, seed=42).tolist() == GOLDEN["uint64"]
    assert sz.rand_normal((3,), sz.float64, seed=42).tolist() == GOLDEN["normal"]
    assert sz.rand_normal((1,), sz.complex128, seed=42).tolist() == GOLDEN["complex"]
    half = sz.full(shape=(12,), value=0.5)
    assert sz.rand_bernoulli(half, seed=42).tolist() == GOLDEN["bernoulli"]
    assert sz.multinomial(np.array([1, 2, 3.0]), 8, seed=42).tolist() == GOLDEN["multinomial"]
    assert sz.multinomial(np.arange(6.0), 5, False, seed=42).tolist() == GOLDEN["once"]
    assert sz.randperm(8, sz.int8, seed=42).tolist() == GOLDEN["randperm"]
    later = sz.rand_uniform((40_000,), sz.int8, seed=42).tolist()  # of another block
    assert later[30_000:30_006] == GOLDEN["int8 later"]
    assert sz.rand_uniform((2,), sz.float64, min=0, max=1, seed=-1).tolist() == GOLDEN["negative"]


GOLDEN: dict[str, list[Any]] = {
    "int8 later": [122, 96, 122, 91, 50, 121],
    "uniform": [0.4685865183391049, 0.34086154938517876, 0.32706338120338474],
    "int8": [-45, 112, 106, 28, -69, -55],
    "uint64": [8643895580192075859, 6287785766076502189],
    "normal": [-0.21404799890081394, 1.4968589316609238, -2.075559441290222],
    "complex": [(-0.1513547915221762 + 1.05843910105709j)],
    "bernoulli": [1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
    "multinomial": [1, 2, 0, 1, 2, 2, 2, 1],
    "once": [5, 3, 4, 2, 1],
    "randperm": [0, 6, 7, 1, 5, 4, 3, 2],
    "negative": [0.08311886932882993, 0.13466801369145887],
}
