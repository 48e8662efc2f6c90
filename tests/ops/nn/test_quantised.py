"""Quantised rows and blocks: every quotient against fractions, products exact, threads, errors."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import at_level, threads
from helpers.normal import exact, made
from suanzi import _core
from suanzi.tensors.parts import permuted

Array = np.ndarray[Any, Any]
LIMITS = {"int8": 127, "float8_e4m3fn": 448, "float8_e5m2": 57344}


def grid(dtype: str) -> list[Fraction]:
    """Return all numbers of a dtype, in order."""
    if dtype == "int8":
        return [Fraction(n) for n in range(-127, 128)]
    every = np.arange(256, dtype=np.uint8)
    import ml_dtypes

    numbers = every.view(getattr(ml_dtypes, dtype)).astype(np.float64)
    return sorted({Fraction(float(n)) for n in numbers if np.isfinite(n)})


def nearest(numbers: list[Fraction], y: Fraction) -> Fraction:
    """Return the nearest number, and of two the one whose last bit is 0."""
    best = sorted(range(len(numbers)), key=lambda i: abs(numbers[i] - y))[:2]
    if abs(numbers[best[0]] - y) != abs(numbers[best[1]] - y):
        return numbers[best[0]]
    zero = numbers.index(Fraction(0))
    return numbers[next(i for i in best if (i - zero) % 2 == 0)]


@pytest.mark.parametrize("level", _core.levels())
@pytest.mark.parametrize("source", ["float32", "bfloat16", "float16", "float8_e5m2"])
@pytest.mark.parametrize("dtype", LIMITS)
def test_every_quotient_is_rounded_once(dtype: str, source: str, level: str) -> None:
    pytest.importorskip("ml_dtypes")
    numbers, limit = grid(dtype), LIMITS[dtype]
    random = np.random.default_rng(5)
    rows = [
        random.standard_normal(40),
        random.standard_normal(40) * 2.0 ** random.integers(-12, 1, 40),
    ]
    # Ties: the largest number makes the scale a power of two, and the others lie between numbers.
    between = [float((a + b) / 2) for a, b in pairwise(numbers)]
    ties = np.array([limit, *random.choice(between, 39)]) / 8
    x = sz.cast(sz.tensor(np.stack([*rows, ties])), source)
    with at_level(level):
        q, scale = sz.nn.dynamic_quantize(x, dtype=dtype)
    for line, stored, s in zip(exact(x), exact(q), exact(scale)[:, 0], strict=True):
        assert s == np.float32(abs(line).max() / limit)
        for v, found in zip(line, stored, strict=True):
            assert Fraction(float(found)) == nearest(
                numbers, Fraction(float(v)) / Fraction(float(s))
            )


@pytest.mark.parametrize("delta", [-1, 0, 1])
def test_quotients_next_to_ties(delta: int) -> None:
    """One unit beside a tie, the quotient is rounded away from it, whatever the scale is."""
    random = np.random.default_rng(6)
    for _ in range(200):
        scale = np.float32(random.uniform(1, 2))
        top = np.float32(scale * np.float32(127))
        s = np.float32(float(top) / 127)
        ties = (np.arange(120) + 0.5) * float(s)
        x = ties.astype(np.float32)
        x = np.nextafter(x, np.float32(delta) * np.float32(np.inf)) if delta else x
        q, found = sz.nn.dynamic_quantize(sz.tensor(np.append(x, top)))
        assert found.item() == s
        wanted = [round(Fraction(float(v)) / Fraction(float(s))) for v in x]  # ties to even
        assert q.tolist()[:-1] == wanted


@pytest.mark.parametrize("dtype", LIMITS)
def test_blocks(dtype: str) -> None:
    x = made("float32", 3, 10, 1500)
    q, scale = sz.nn.dynamic_quantize(x, [4, 600], dtype)
    assert (q.shape, scale.shape) == ((3, 10, 1500), (3, 3, 3))
    for b in range(3):
        for i in range(0, 10, 4):
            for j in range(0, 1500, 600):
                block = x[b, i : min(i + 4, 10), j : min(j + 600, 1500)]
                flat = sz.nn.dynamic_quantize(block.reshape(1, block.size), dtype=dtype)
                assert exact(scale)[b, i // 4, j // 600] == flat[1].item()
                part = exact(q)[b, i : i + 4, j : j + 600]
                assert (part.ravel() == exact(flat[0])[0]).all()
    one = sz.nn.dynamic_quantize(x, 600, dtype)
    rows = sz.nn.dynamic_quantize(x, [1, 600], dtype)
    assert [(exact(a) == exact(b)).all() for a, b in zip(one, rows, strict=True)] == [True, True]


def test_threads_views_and_batches() -> None:
    x = made("bfloat16", 300, 700)
    q, scale = sz.nn.dynamic_quantize(x)
    with threads(3):
        again = sz.nn.dynamic_quantize(x)
    turned = permuted(sz.tensor(exact(x).T.copy()), (1, 0))
    view = sz.nn.dynamic_quantize(sz.cast(turned, sz.bfloat16))
    alone = sz.nn.dynamic_quantize(x[7])
    assert (exact(again[0]) == exact(q)).all()
    assert (exact(again[1]) == exact(scale)).all()
    assert (exact(view[0]) == exact(q)).all()
    assert (exact(alone[0]) == exact(q)[7]).all()
    assert alone[1].shape == (1,)


@pytest.mark.parametrize("source", ["float32", "float64", "float16"])
def test_zeros_nan_and_infinities(source: str) -> None:
    inf, nan = np.inf, np.nan
    x = sz.cast(sz.tensor([[0.0, -0.0, 0.0], [1.0, -inf, inf], [inf, nan, 1.0]]), source)
    for dtype, limit in LIMITS.items():
        q, scale = (exact(one) for one in sz.nn.dynamic_quantize(x, dtype=dtype))
        assert q[:2].tolist() == [[0, 0, 0], [0, -limit, limit]]
        assert (scale[0], scale[1]) == (2.0**-126, inf)
        assert np.isnan(scale[2])
        assert (np.isnan(q[2]) if dtype != "int8" else q[2] == 0).all()


def test_scales_at_the_ends_of_float32() -> None:
    q, scale = sz.nn.dynamic_quantize(sz.tensor([2.0**-130, -(2.0**-126)]))
    assert (q.tolist(), scale.tolist()) == ([0, -1], [2.0**-126])
    q, scale = sz.nn.dynamic_quantize(sz.tensor(np.array([1e300, 1.0])))
    assert (q.tolist(), scale.tolist()) == ([0, 0], [np.inf])


def operands(
    dtype: str, rows: int, outputs: int, inputs: int, block: Any
) -> tuple[list[sz.Tensor], Array]:
    """Return quantised operands with their scales, and the exact product as float64."""
    x, weight = made("float32", rows, inputs), made("float32", outputs, inputs, seed=1)
    q, s = sz.nn.dynamic_quantize(x, None if block is None else block[-1:], dtype)
    w, t = sz.nn.dynamic_quantize(weight, block, dtype)
    height, width = (1, inputs) if block is None else block
    wide = exact(q) * np.repeat(exact(s), width, 1)[:, :inputs]
    scales = np.repeat(np.repeat(exact(t), height, 0)[:outputs], width, 1)[:, :inputs]
    return [q, w, s, t], wide @ (exact(w) * scales).T


@pytest.mark.parametrize("level", _core.levels())
@pytest.mark.parametrize("block", [None, [32, 48], [1, 128]], ids=str)
@pytest.mark.parametrize("dtype", LIMITS)
def test_products(dtype: str, block: Any, level: str) -> None:
    given, wanted = operands(dtype, 140, 270, 700, block)
    bias = made("float32", 270, seed=3)
    with at_level(level):
        found = exact(sz.nn.scaled_linear(*given, bias, block, sz.float64))
    tolerance = 1e-13 if dtype == "int8" else 1e-5  # sums of float8 are of float32
    assert np.allclose(found, wanted + exact(bias), rtol=tolerance, atol=tolerance * 100)


@pytest.mark.parametrize("level", _core.levels())
@pytest.mark.parametrize("block", [None, [32, 64]], ids=str)
@pytest.mark.parametrize("dtype", LIMITS)
def test_bits_of_a_row_do_not_depend_on_others(dtype: str, block: Any, level: str) -> None:
    given, _ = operands(dtype, 300, 290, 520, block)
    with at_level(level):
        every = exact(sz.nn.scaled_linear(*given, block_size=block))
        with threads(3):
            again = exact(sz.nn.scaled_linear(*given, block_size=block))
        assert (again == every).all()
        for rows in (slice(0, 1), slice(299, 300), slice(40, 57)):
            some = [given[0][rows], given[1], given[2][rows], given[3]]
            assert (exact(sz.nn.scaled_linear(*some, block_size=block)) == every[rows]).all()


@pytest.mark.parametrize("level", _core.levels())
def test_sums_of_int8_are_exact_beyond_int32(level: str) -> None:
    inputs = 2**17 + 5
    x = sz.full(sz.int8, "cpu", (3, inputs), -128)
    ones = sz.tensor([[1.0]])
    with at_level(level):
        found = sz.nn.scaled_linear(x, x[:2], ones, ones, dtype=sz.float64)
    assert (exact(found) == 2.0**14 * inputs).all()
    assert found.shape == (3, 2)


@pytest.mark.parametrize("level", _core.levels())
@pytest.mark.parametrize("inputs", [1, 63, 64, 200])
@pytest.mark.parametrize("block", [[1, 1 << 20], [1, 63], [3, 64], [40, 7]], ids=str)
def test_sums_of_few_and_many_rows_of_int8(block: list[int], inputs: int, level: str) -> None:
    random = np.random.default_rng([inputs, *block])
    across = -(-inputs // block[1])
    for rows, outputs in ((1, 33), (2, 16), (3, 15), (4, 1), (5, 47), (12, 20), (13, 70), (35, 34)):
        x, weight = (
            random.choice([-128, -127, -1, 0, 3, 127], (n, inputs)) for n in (rows, outputs)
        )
        s, t = (random.random((n, across), np.float32) for n in (rows, -(-outputs // block[0])))
        wanted = np.zeros((rows, outputs))
        for i in range(across):  # one block after the other
            some = slice(i * block[1], (i + 1) * block[1])
            products = (x[:, some] @ weight[:, some].T).astype(np.float64)
            of_weight = np.repeat(t[:, i], block[0])[:outputs].astype(np.float64)
            wanted += products * (s[:, i : i + 1].astype(np.float64) * of_weight)
        q, w = (sz.tensor(n.astype(np.int8)) for n in (x, weight))
        with at_level(level):
            found = sz.nn.scaled_linear(
                q, w, sz.tensor(s), sz.tensor(t), block_size=block, dtype=sz.float64
            )
        assert (exact(found) == wanted).all()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_one_block_of_int8_is_correctly_rounded(dtype: str) -> None:
    given, wanted = operands("int8", 9, 11, 40, None)
    found = sz.nn.scaled_linear(*given, dtype=dtype)
    assert (exact(found) == exact(sz.cast(sz.tensor(wanted), dtype))).mean() > 0.98
    exact_product = exact(given[0]) @ exact(given[1]).T
    products = exact_product * (exact(given[2]) * exact(given[3])[:, 0])
    assert (exact(found) == exact(sz.cast(sz.tensor(products), dtype))).all()


def test_mixed_float8_views_and_scales_for_all() -> None:
    (q, w, s, t), _ = operands("float8_e4m3fn", 5, 7, 9, None)
    other = sz.cast(w, sz.float8_e5m2)
    one = sz.tensor(0.5)
    found = exact(sz.nn.scaled_linear(q, other, one, one))
    assert np.allclose(found, exact(q) @ exact(other).T / 4, rtol=1e-6)
    turned = permuted(sz.cast(sz.tensor(exact(w).T.copy()), w.dtype), (1, 0))
    assert (
        exact(sz.nn.scaled_linear(q, turned, s, t)) == exact(sz.nn.scaled_linear(q, w, s, t))
    ).all()
    batch = sz.nn.scaled_linear(q.reshape(5, 1, 9), w, s.reshape(5, 1, 1), t)
    assert batch.shape == (5, 1, 7)


Q, S = sz.tensor([[1, 2], [3, 4]], sz.int8), sz.tensor([[1.0], [1.0]])
F8 = sz.cast(sz.tensor([[1.0, 2.0], [3.0, 4.0]]), sz.float8_e4m3fn)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: sz.nn.dynamic_quantize(Q), sz.TypeMismatch, r"quantize \(10.1\): x is int8"),
        (lambda: sz.nn.dynamic_quantize(S, dtype=sz.int16), sz.TypeMismatch, "dtype is int16"),
        (lambda: sz.nn.dynamic_quantize(S, 0), sz.InvalidArgument, "block_size"),
        (lambda: sz.nn.dynamic_quantize(S, [1, 2, 3]), sz.InvalidArgument, "number of columns"),
        (lambda: sz.nn.dynamic_quantize(S, 2**31), sz.InvalidArgument, "below"),
        (lambda: sz.nn.dynamic_quantize(sz.tensor(1.0)), sz.DimensionsMismatch, "rank 0"),
        (lambda: sz.nn.dynamic_quantize(sz.tensor([1.0]), [2, 2]), sz.DimensionsMismatch, "2 or"),
        (lambda: sz.nn.scaled_linear(Q, F8, S, S), sz.TypeMismatch, "both must be int8"),
        (lambda: sz.nn.scaled_linear(S, S, S, S), sz.TypeMismatch, "dynamic_quantize makes them"),
        (lambda: sz.nn.scaled_linear(Q, Q[:, :1], S, S), sz.DimensionsMismatch, "two axes"),
        (lambda: sz.nn.scaled_linear(Q, Q, S[:, 0], S), sz.DimensionsMismatch, "x_scale has shape"),
        (lambda: sz.nn.scaled_linear(Q, Q, S.T, S), sz.DimensionsMismatch, "broadcast"),
        (lambda: sz.nn.scaled_linear(Q, Q, Q, S), sz.TypeMismatch, "x_scale is int8"),
        (lambda: sz.nn.scaled_linear(Q, Q, S, S, S), sz.DimensionsMismatch, "bias has shape"),
        (lambda: sz.nn.scaled_linear(Q, Q, S, S, dtype=sz.int8), sz.TypeMismatch, "dtype is int8"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        call()
