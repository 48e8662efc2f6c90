"""The rules of running errors: float32 in any order is within the bound, a lower precision is not.

Each rule is tried with NumPy in float32, as kernels compute: sums in several orders, reciprocals,
exponentials by way of exp2. Truths are those of float64, or of mpmath.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from suanzi.truth import tracked as t

F = np.float32
RANDOM = np.random.default_rng(32)
Array = np.ndarray[Any, Any]


def rows(kind: str, n: int, count: int = 40) -> Array:
    x = RANDOM.normal(size=(count, n))
    if kind == "positive":
        x = abs(x)
    elif kind == "magnitudes":
        x = x * np.exp2(RANDOM.integers(-12, 12, size=x.shape))
    elif kind == "cancelling":
        x[:, n // 2 :] = -x[:, : n - n // 2]
    elif kind == "alternating":
        x = abs(x) * np.where(np.arange(n) % 2, 1, -1)
    elif kind == "constant":
        x = np.broadcast_to(RANDOM.uniform(0.1, 1, size=(count, 1)), x.shape)
    elif kind == "outlier":
        x[:, 0] = 1000.0
    return x.astype(F)


def in_a_row(x: Array) -> Array:
    return np.cumsum(x, -1, dtype=F)[:, -1]


def lanes(x: Array, width: int) -> Array:
    n = x.shape[-1]
    padded = np.pad(x, ((0, 0), (0, -n % width)))
    return in_a_row(np.cumsum(padded.reshape(len(x), -1, width), 1, dtype=F)[:, -1])


ORDERS: dict[str, Callable[[Array], Array]] = {
    "in a row": in_a_row,
    "backwards": lambda x: in_a_row(x[:, ::-1]),
    "pairwise": lambda x: np.add.reduce(np.ascontiguousarray(x), -1, dtype=F),
    "8 lanes": lambda x: lanes(x, 8),
    "32 lanes": lambda x: lanes(x, 32),
    "by size": lambda x: in_a_row(np.take_along_axis(x, np.argsort(abs(x), -1), -1)),
    "shuffled": lambda x: in_a_row(x[:, RANDOM.permutation(x.shape[-1])]),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "kind",
    ["normal", "positive", "magnitudes", "cancelling", "alternating", "constant", "outlier"],
)
def test_sums_in_any_order_are_within_the_bound(kind: str, order: str) -> None:
    for n in (1, 2, 7, 33, 129, 1000, 4097):
        x = rows(kind, n)
        with t.arithmetic("float32", exact=False):
            bound = t.tracked(x.astype(float)).sum(-1)
        off = abs(ORDERS[order](x).astype(float) - bound.value)
        assert (off <= bound.error).all(), (n, (off / bound.error).max())


@pytest.mark.parametrize("kind", ["normal", "positive"])
@pytest.mark.parametrize("n", [64, 1000, 4097])
def test_sums_of_a_lower_precision_are_beyond_it(kind: str, n: int) -> None:
    x = rows(kind, n)
    with t.arithmetic("float32", exact=False):
        bound = t.tracked(x.astype(float)).sum(-1)
    narrow = np.cumsum(x, -1, dtype=np.float16)[:, -1].astype(float)
    assert (abs(narrow - bound.value) > bound.error).mean() > 0.5


def test_exact_and_float64_values_have_the_same_bound() -> None:
    x = rows("normal", 33, 5).astype(float)
    found = []
    for exact in (True, False):
        with t.arithmetic("float32", exact):
            y = t.exp(t.tracked(x) - t.tracked(x).max(-1, keepdims=True))
            found.append((y / y.sum(-1, keepdims=True)).error)
    assert np.allclose(found[0], found[1], rtol=1e-6, atol=0)


def kernel_of(name: str) -> Callable[[Array], Array]:
    """Return float32 kernels of functions as libraries write them."""
    log2e = F(1.4426950408889634)
    return {
        "exp": lambda x: np.exp2(x * log2e),
        "sigmoid": lambda x: F(1) / (F(1) + np.exp2(-x * log2e)),
        "tanh": np.tanh,
        "log": lambda x: np.log2(abs(x) + F(0.5)) * F(0.6931471805599453),
        "sqrt": lambda x: np.sqrt(abs(x)),
        "log1p": lambda x: np.log1p(abs(x)),
        "sin": np.sin,
        "cos": np.cos,
    }[name]


@pytest.mark.parametrize("name", ["exp", "sigmoid", "tanh", "log", "sqrt", "log1p", "sin", "cos"])
def test_functions_as_libraries_have_them_are_within_the_bound(name: str) -> None:
    x = (RANDOM.normal(size=4000) * 8).astype(F)
    with t.arithmetic("float32", exact=False):
        given = t.tracked(x.astype(float))
        if name in ("log", "sqrt", "log1p"):
            given = t.absolute(given)
        if name == "log":
            given = given + 0.5
        bound = getattr(t, name)(given)
    off = abs(kernel_of(name)(x).astype(float) - bound.value)
    assert (off <= bound.error).all(), (off / bound.error).max()
    # and it is no bound that anything satisfies: three digits less are beyond it
    rough = bound.value * (1 + 2.0**-13)
    visible = (abs(bound.value) > 1e-30) & (abs(x) < 8)
    assert (abs(rough - bound.value) > bound.error)[visible].mean() > 0.95


@pytest.mark.parametrize("name", ["exp", "log", "log1p", "sqrt", "tanh", "erf", "erfc", "sigmoid"])
def test_errors_of_arguments_are_passed_on(name: str) -> None:
    """What an argument off by its bound gives is within the bound of the result."""
    x = abs(RANDOM.normal(size=60)) * 2 + 0.02
    error = x * RANDOM.uniform(0, 0.3, size=60)
    with t.arithmetic("float64"):
        plain = getattr(t, name)(t.tracked(x))
        moved = getattr(t, name)(t.Tracked(t.tracked(x).value, error))
        for at in (x - error, x + error):
            there = getattr(t, name)(t.tracked(at)).value
            off = np.abs(there - plain.value).astype(float)
            assert (off <= moved.error).all(), name


def test_products_and_quotients_pass_errors_on() -> None:
    x, y = RANDOM.normal(size=(2, 500))
    ex, ey = abs(RANDOM.normal(size=(2, 500))) * 0.1
    with t.arithmetic("float64", exact=False):
        a, b = t.Tracked(x, ex), t.Tracked(y, ey)
        for of in (operator.add, operator.sub, operator.mul, operator.truediv):
            made = of(a, b).error * (1 + 1e-12)
            for i, j in itertools.product((-1, 1), repeat=2):
                safe = (ey < abs(y)) | (of is not operator.truediv)
                off = abs(of(x + i * ex, y + j * ey) - of(x, y))
                assert (off <= made)[safe].all(), of
                assert np.isinf(made[~safe]).all()


def test_quotients_by_way_of_a_reciprocal() -> None:
    x, y = (abs(RANDOM.normal(size=(2, 2000))) + 0.01).astype(F)
    with t.arithmetic("float32", exact=False):
        bound = t.tracked(x.astype(float)) / t.tracked(y.astype(float))
    for off in (x * (F(1) / y), x / y):
        assert (abs(off.astype(float) - bound.value) <= bound.error).all()
    assert (bound.error < 4 * 2.0**-24 * abs(bound.value)).all()


def test_products_of_matrices_in_blocks() -> None:
    a, b = (RANDOM.normal(size=s).astype(F) for s in ((6, 300), (300, 5)))
    with t.arithmetic("float32", exact=False):
        bound = t.tracked(a.astype(float)) @ t.tracked(b.astype(float))
    whole = a @ b
    parts = sum((a[:, i : i + 32] @ b[i : i + 32] for i in range(0, 300, 32)), np.zeros((6, 5), F))
    for found in (whole, parts):
        assert (abs(found.astype(float) - bound.value) <= bound.error).all()
    low = a.astype(np.float16).astype(float) @ b.astype(np.float16).astype(float)
    assert (abs(low - bound.value) > bound.error).mean() > 0.5


def test_the_edges_of_the_range() -> None:
    with t.arithmetic("float32"):
        assert np.isinf(t.exp(t.tracked([89.0])).error).all()  # it may overflow
        assert np.isinf(t.exp(t.tracked([1000.0])).error).all()  # beyond float64, too
        assert (t.exp(t.tracked([-120.0])).error >= 2.0**-126).all()  # it may be flushed to zero
        assert (t.exp(t.tracked([-np.inf])).error == 0).all()
        huge = t.tracked([3e38, 3e38, -3e38])
        assert np.isinf(huge.sum().error)  # a partial sum overflows
        unknown = t.exp(t.tracked([1000.0])) * 0
        assert np.isinf(unknown.error).all()  # nothing times an overflow is NaN
        exact = t.tracked([np.inf]) * t.tracked([2.0])
        assert mpmath.isinf(exact.value[0])
        assert exact.error[0] == 0


def test_a_planted_fault_shows() -> None:
    """A bound that forgets the errors of its operands does not cover a softmax in float32."""
    x = (RANDOM.normal(size=(50, 300)) * 10).astype(F)
    e = np.exp(x - x.max(-1, keepdims=True))
    found = e / in_a_row(e)[:, None]
    with t.arithmetic("float32", exact=False):
        wide = t.tracked(x.astype(float))
        s = t.exp(wide - wide.max(-1, keepdims=True))
        right = s / s.sum(-1, keepdims=True)
        exact_ = t.tracked(s.value)
        wrong = exact_ / t.tracked(s.value.sum(-1, keepdims=True))
    off = abs(found.astype(float) - right.value)
    assert (off <= right.error).all()
    assert not (off <= wrong.error).all()
