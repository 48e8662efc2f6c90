"""7.2.1.7 to .11: the checks of random numbers: right generators pass, wrong ones do not."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from suanzi.conformance.judging.checks import find
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import FORMATS, PARTS, real
from suanzi.conformance.subjects.wire import Data

COUNT = 4096
FLOATS = ["float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64"]
INTEGERS = ["bool", "uint1", "int4", "uint4", "int8", "uint16", "int64", "uint64"]
Draw = Callable[[Random], Any]


def problem(name: str, dtype: str, drawn: list[Any], **facts: Any) -> str | None:
    data = tensor(dtype, drawn)
    return find(name)({}, [data], {"dtype": dtype, "shape": data.shape, **facts})


def many(draw: Draw, seed: object = 1, count: int = COUNT) -> list[Any]:
    random = Random(f"checks {seed}")
    return [draw(random) for _ in range(count)]


# ---- uniform -------------------------------------------------------------------------------------


def below(x: float, dtype: str, high: float) -> float:
    """Return a number that does not round up to the end."""
    last = high * (1 - 2.0 ** -(FORMATS[dtype].mantissa + 1))
    return min(x, last)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.5, 2.5), (-240.0, 240.0)])
def test_uniform_floats_pass(dtype: str, low: float, high: float) -> None:
    for seed in range(2):
        drawn = many(lambda r: below(r.uniform(low, high), dtype, high), seed)
        assert problem("uniform", dtype, drawn, low=[low], high=[high], open=True) is None


UNIFORM_MISTAKES: dict[str, Draw] = {
    "a constant": lambda r: 0.25,
    "half of the range": lambda r: r.random() / 2,
    "too low": lambda r: r.random() * 0.8,
    "squared": lambda r: r.random() ** 2,
    "two ends": lambda r: float(r.random() < 0.5) * 0.9,
    "normal": lambda r: min(max(r.gauss(0.5, 0.1), 0), 0.9),
    "the end": lambda r: math.ceil(r.random() * 1000) / 1000,
    "beyond": lambda r: r.random() * 1.01,
    "below": lambda r: r.random() - 0.01,
    "not a number": lambda r: math.nan if r.random() < 0.01 else r.random(),
    "infinite": lambda r: math.inf if r.random() < 0.01 else r.random(),
}


@pytest.mark.parametrize("mistake", UNIFORM_MISTAKES)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_uniform_mistakes_are_found(dtype: str, mistake: str) -> None:
    drawn = many(UNIFORM_MISTAKES[mistake])
    assert problem("uniform", dtype, drawn, low=[0], high=[1], open=True)
    closed = problem("uniform", dtype, drawn, low=[0], high=[1], open=False)
    assert (closed is None) == (mistake == "the end")


@pytest.mark.parametrize("dtype", INTEGERS)
def test_uniform_integers(dtype: str) -> None:
    bits = int(dtype.strip("uint")) if dtype != "bool" else 1
    low = -(2 ** (bits - 1)) if dtype.startswith("int") else 0
    high = low + 2**bits - 1
    for seed in range(2):
        drawn = many(lambda r: r.randint(low, high), seed)
        assert problem("uniform", dtype, drawn, low=[low], high=[high], open=False) is None
    assert problem("uniform", dtype, [low] * COUNT, low=[low], high=[high], open=False)
    assert problem("uniform", dtype, [low, high] * 2, low=[low], high=[high], open=False) is None
    if bits > 1:
        without_last = many(lambda r: r.randint(low, high - (1 if bits < 8 else 2**bits // 8)))
        assert problem("uniform", dtype, without_last, low=[low], high=[high], open=False)
        assert problem("uniform", dtype, [low + 2], low=[low], high=[low + 1], open=False)


def test_parts_of_complex_numbers_are_apart() -> None:
    facts: dict[str, Any] = {"low": [-1.5, -1.0], "high": [2.5, 3.0], "open": False}

    def apart(r: Random) -> Any:
        return _pair(r.uniform(-1.5, 2.49), r.uniform(-1, 2.99))

    def linked(r: Random) -> Any:
        x = r.uniform(-1.5, 2.49)
        return _pair(x, x + 0.5)

    assert problem("uniform", "complex64", many(apart), **facts) is None
    assert "are correlated" in (problem("uniform", "complex64", many(linked), **facts) or "")
    swapped = many(lambda r: _pair(r.uniform(-1, 2.99), r.uniform(-1.5, 2.49)))
    assert problem("uniform", "complex64", swapped, **facts)


def _pair(a: float, b: float) -> Any:
    return real(a), real(b)


# ---- normal --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("mean", "std"), [(0.0, 1.0), (-2.0, 0.5), (1.5, 2.0)])
def test_normal_numbers_pass(dtype: str, mean: float, std: float) -> None:
    for seed in range(2):
        drawn = many(lambda r: r.gauss(mean, std), seed)
        facts = {"mean": [mean], "variance": Fraction(std) ** 2}
        assert problem("normal", dtype, drawn, **facts) is None


NORMAL_MISTAKES: dict[str, Draw] = {
    "a constant": lambda r: 0.0,
    "shifted": lambda r: r.gauss(0.2, 1),
    "too wide": lambda r: r.gauss(0, 1.2),
    "too narrow": lambda r: r.gauss(0, 0.8),
    "uniform": lambda r: r.uniform(-(3**0.5), 3**0.5),
    "two points": lambda r: r.choice((-1.0, 1.0)),
    "one side": lambda r: abs(r.gauss(0, 1)),
    "far out": lambda r: 12.0 if r.random() < 0.002 else r.gauss(0, 1),
    "not a number": lambda r: math.nan if r.random() < 0.01 else r.gauss(0, 1),
}


@pytest.mark.parametrize("mistake", NORMAL_MISTAKES)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_normal_mistakes_are_found(dtype: str, mistake: str) -> None:
    drawn = many(NORMAL_MISTAKES[mistake])
    assert problem("normal", dtype, drawn, mean=[0], variance=Fraction(1))


def test_complex_normal_numbers() -> None:
    half = 0.5**0.5

    def right(r: Random) -> Any:
        return _pair(r.gauss(0, half), r.gauss(0, half))

    facts = {"mean": [0, 0], "variance": Fraction(1, 2)}
    for dtype in PARTS:
        assert problem("normal", dtype, many(right), **facts) is None
        each = many(lambda r: _pair(r.gauss(0, 1), r.gauss(0, 1)))
        assert problem("normal", dtype, each, **facts)
        same = [(x, x) for x, _ in many(right)]
        assert problem("normal", dtype, same, **facts)


def test_without_deviation_it_is_the_mean() -> None:
    facts: dict[str, Any] = {"mean": [1.5], "variance": Fraction(0)}
    assert problem("normal", "float32", [1.5] * 12, **facts) is None
    assert problem("normal", "float32", [1.5] * 11 + [1.6], **facts)


# ---- choices -------------------------------------------------------------------------------------


def test_bernoulli() -> None:
    def rows(chances: list[float], seed: int = 1) -> list[float]:
        return [float(x) for c in chances for x in many(lambda r, c=c: r.random() < c, (seed, c))]

    right = [0.0, 1.0, 0.25]
    for seed in range(2):
        assert problem("bernoulli", "float32", rows(right, seed), chances=right) is None
    for wrong in ([0.001, 1.0, 0.25], [0.0, 0.999, 0.25], [0.0, 1.0, 0.5], [1.0, 0.0, 0.75]):
        assert problem("bernoulli", "float32", rows(wrong), chances=right)
    assert problem("bernoulli", "float32", [0.5] * 3, chances=right)
    assert problem("bernoulli", "float32", [math.nan] * 3, chances=right)


def _drawn(weights: list[int], count: int, seed: object) -> list[int]:
    return many(lambda r: r.choices(range(len(weights)), weights)[0], seed, count)


def test_multinomial() -> None:
    weights = [0, 1, 3, 0, 4]
    facts: dict[str, Any] = {"weights": [weights], "replacement": True}
    for seed in range(2):
        assert problem("multinomial", "int64", _drawn(weights, COUNT, seed), **facts) is None
    for wrong in ([1, 1, 3, 0, 4], [0, 3, 1, 0, 4], [0, 1, 1, 0, 1]):
        assert problem("multinomial", "int64", _drawn(wrong, COUNT, 1), **facts)
    assert problem("multinomial", "int64", [5], **facts)
    assert problem("multinomial", "int64", [-1], **facts)


def test_multinomial_once() -> None:
    weights = [1, 2, 5]

    def rows(first: list[int]) -> list[int]:
        random = Random(3)
        found = []
        for _ in range(1000):
            a = random.choices(range(3), first)[0]
            rest = [w if i != a else 0 for i, w in enumerate(weights)]
            found += [a, random.choices(range(3), rest)[0]]
        return found

    facts: dict[str, Any] = {"weights": [weights] * 1000, "replacement": False}
    assert problem("multinomial", "int64", rows(weights), **facts) is None
    assert problem("multinomial", "int64", rows([1, 1, 1]), **facts)
    assert problem("multinomial", "int64", [1, 1], weights=[weights], replacement=False)


def test_permutations() -> None:
    shuffled = Random(1).sample(range(30), 30)
    assert problem("permutation", "int8", shuffled) is None
    assert problem("permutation", "float32", [float(x) for x in shuffled]) is None
    assert problem("permutation", "int8", [0, 1]) is None
    assert problem("permutation", "int8", list(range(30)))
    assert problem("permutation", "int8", list(range(30))[::-1])
    assert problem("permutation", "int8", [*shuffled[:-1], shuffled[0]])
    assert problem("permutation", "int8", [x + 1 for x in shuffled])
    assert problem("permutation", "float32", [0.5, 1.0])


def test_dtype_and_shape_come_first() -> None:
    data = Data("float32", (2,), bytes(8))
    facts = {"dtype": "float32", "shape": (3,), "low": [0], "high": [1], "open": False}
    assert find("uniform")({}, [data], facts) == "shape [2], not [3]"
    assert find("uniform")({}, [data], {**facts, "dtype": "int32"}) == "dtype float32, not int32"
