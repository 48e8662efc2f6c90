"""`sz.rounding("correct")`: functions of float32 are correctly rounded, on every level."""

from __future__ import annotations

import math
import threading

import mpmath
import numpy as np
import pytest

import suanzi as sz
from helpers.functions import Array, every_level, same_bits, threads
from suanzi.truth.rounding import round_exact
from suanzi.validate.accuracy import FUNCTIONS, accuracy
from suanzi.validate.accuracy.errors import judged, settle

NAMES = """
    rsqrt exp expm1 log log1p log10 log2 sin cos tan asin acos atan sinh cosh tanh
    asinh acosh atanh
""".split()
# Functions of these are next to the middle of two float32, as 1 + x and 1 - x^2/2 are, or to x;
# expm1 and tanh of the last ones were found by trying all arguments.
HARD = [2.0**-24, -(2.0**-25), 2.0**-12, 3 * 2.0**-24, 2.0**-149, -(2.0**-149), 2.0**-126]
HARD += [float.fromhex(f"0x1.{digits}") for digits in (
    "e65bb6p-7", "f86c3cp-7", "f89e96p-7", "ded93ep-7", "e2f8c6p-8", "eab6cap-8"
)]  # fmt: skip


def arguments(seed: int, count: int) -> Array:
    """Return numbers of all magnitudes, between -9 and 9, special and hard ones."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 1 << 32, count, dtype=np.uint32).view(np.float32)
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 2.0**127, 88.72284, -103.97208]
    some = [rng.uniform(-9, 9, count), special, HARD]
    with np.errstate(invalid="ignore"):
        return np.concatenate([bits, *some]).astype(np.float32)


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_correctly_rounded_on_every_level(name: str) -> None:
    x, f = arguments(NAMES.index(name), 3000), FUNCTIONS[name]
    for level in every_level():
        with sz.rounding("correct"):
            found = getattr(sz, name)(sz.tensor(x)).numpy()
        with np.errstate(all="ignore"):
            tally = judged(f, "float32", (x.astype(np.float64),), found.astype(np.float64))
        settle(f, "float32", tally)
        assert (tally.wrong, tally.special, tally.flushed) == (0, 0, 0), (level, tally)


def test_what_float64_does_not_decide_is_decided_by_many_digits() -> None:
    """Only powers of small whole numbers are often in the middle of two float32."""
    bases = np.arange(4097, 8192, 7).astype(np.float32)
    for level in every_level():
        with sz.rounding("correct"):
            squares = sz.pow(sz.tensor(bases), sz.tensor(np.float32(2))).numpy()
            cubes = sz.pow(sz.tensor(-bases), sz.tensor(np.float32(3))).numpy()
            roots = sz.pow(sz.tensor(bases**2), sz.tensor(np.float32(1.5))).numpy()
        exact = [int(b) for b in bases]
        assert squares.tolist() == [float(np.float32(b**2)) for b in exact], level
        assert cubes.tolist() == [round_exact(mpmath.mpf(-(b**3)), "float32") for b in exact], level
        due = [round_exact(mpmath.mpf(int(np.float32(b * b))) ** 1.5, "float32") for b in exact]
        assert roots.tolist() == due, level


def test_powers_are_correctly_rounded_on_every_level() -> None:
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.uniform(0, 9, 1500), np.exp(rng.uniform(-80, 80, 1500))])
    y = np.concatenate([rng.uniform(-40, 40, 1500), rng.uniform(-1.5, 1.5, 1500)])
    x, y = x.astype(np.float32), y.astype(np.float32)
    with mpmath.workprec(300):
        exact = [mpmath.mpf(float(a)) ** mpmath.mpf(float(b)) for a, b in zip(x, y, strict=True)]
        due = np.array([round_exact(e, "float32") for e in exact], np.float32)
    special = np.array([0, -0.0, 1, -1, 2, -2, 0.5, math.inf, -math.inf, math.nan, 3], np.float32)
    a, b = map(np.ravel, np.meshgrid(special, special))
    with np.errstate(all="ignore"):
        want = np.power(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
    for level in every_level():
        with sz.rounding("correct"):
            assert same_bits(sz.pow(sz.tensor(x), sz.tensor(y)).numpy(), due), level
            assert same_bits(sz.pow(sz.tensor(a), sz.tensor(b)).numpy(), want), level
            one = sz.pow(sz.tensor(x), 2.5).numpy()
            assert same_bits(one, sz.pow(sz.tensor(x), sz.tensor(np.full_like(x, 2.5))).numpy())


@pytest.mark.parametrize("name", ["exp", "sin", "log1p"])
def test_threads_sizes_and_strides_change_nothing(name: str) -> None:
    x, function = arguments(1, 20_000), getattr(sz, name)
    with sz.rounding("correct"):
        whole = function(sz.tensor(x)).numpy()
        for count in (1, 2, 3):
            with threads(count):
                assert same_bits(function(sz.tensor(x)).numpy(), whole)
        for n in (0, 1, 15, 16, 17, 511, 512, 513):
            assert same_bits(function(sz.tensor(x)[:n]).numpy(), whole[:n])
        assert same_bits(function(sz.tensor(x)[::3]).numpy(), whole[::3])


def test_every_form_of_a_call_is_rounded() -> None:
    x = sz.tensor(arguments(2, 4000))
    with sz.rounding("correct"):
        due = sz.exp(x).numpy()
        status, found = sz.interface.op_exp(x)
        assert status == sz.Status.SUCCESS
        assert same_bits(found.numpy(), due)
        assert same_bits(sz.array_api.exp(x).numpy(), due)
        with sz.promotion("torch"):
            assert same_bits(sz.exp(x).numpy(), due)
    assert not same_bits(sz.exp(x).numpy(), due)
    power = sz.tensor(arguments(3, 4000))
    base = sz.tensor(np.full(power.shape, 1.5, np.float32))
    with sz.rounding("correct"):
        due = (base**power).numpy()
        base **= power
    assert same_bits(base.numpy(), due)


def test_it_holds_in_a_block_a_thread_or_everywhere() -> None:
    assert sz.get_rounding() == "default"
    seen: list[str] = []

    def ask() -> None:
        seen.append(sz.get_rounding())

    def in_a_thread() -> str:
        one = threading.Thread(target=ask)
        one.start()
        one.join()
        return seen[-1]

    with sz.rounding("correct"):
        with sz.rounding("default"):
            assert sz.get_rounding() == "default"
        assert (sz.get_rounding(), in_a_thread()) == ("correct", "default")
    assert sz.set_rounding("correct", everywhere=True) == "default"
    assert (in_a_thread(), sz.set_rounding("default", everywhere=True)) == ("correct", "correct")
    assert (in_a_thread(), sz.get_rounding()) == ("default", "default")


def test_an_unknown_mode_is_refused() -> None:
    for call in (sz.set_rounding, lambda mode: sz.rounding(mode).__enter__()):
        with pytest.raises(sz.InvalidArgument, match="'corect'.*default, correct.*correct"):
            call("corect")
        for bad in (None, 3, ["correct"], b"correct"):
            with pytest.raises(sz.InvalidArgument, match="mode is .*; it is one of default"):
                call(bad)
    with pytest.raises(sz.InvalidArgument, match="'odd'.*default, correct"):
        accuracy(functions=["exp"], dtypes=["f32"], rounding="odd")
    with pytest.raises(sz.InvalidArgument, match="--rounding is for suanzi"):
        accuracy("numpy", functions=["exp"], dtypes=["f32"], rounding="correct")


def test_accuracy_measures_the_mode() -> None:
    found = accuracy(functions=["pow"], dtypes=["f32"], rounding="correct", jobs=1)
    assert found.rows[0].tally.wrong == 0
    assert "correct rounding" in str(found)
