"""7.2.17.7, .9: solve and inverse of badly scaled matrices, by exact rational numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz

Matrix = list[list[Fraction]]
EPSILON = Fraction(1, 2**52)
LARGEST = Fraction(2) ** 1024
SMALLEST = Fraction(1, 2**1022)


def exactly(a: np.ndarray) -> Matrix:
    return [[Fraction(float(x)) for x in row] for row in a]


def minor(a: Matrix, i: int, j: int) -> Matrix:
    return [[x for k, x in enumerate(row) if k != j] for h, row in enumerate(a) if h != i]


def determinant(a: Matrix) -> Fraction:
    n, total = len(a), Fraction(0)
    for order in permutations(range(n)):
        swaps = sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))
        term = Fraction(-1 if swaps % 2 else 1)
        for i, j in enumerate(order):
            term *= a[i][j]
        total += term
    return total


def inverse(a: Matrix) -> Matrix | None:
    whole, n = determinant(a), len(a)
    if not whole:
        return None
    sign = (1, -1)
    return [
        [sign[(i + j) % 2] * determinant(minor(a, j, i)) / whole for j in range(n)]
        for i in range(n)
    ]


def norm(a: Matrix) -> Fraction:
    return max(sum(map(abs, row), Fraction(0)) for row in a)


def scales(a: Matrix) -> tuple[list[Fraction], list[Fraction]]:
    """Return exact factors that make the largest element of each row and each column 1."""
    rows = [1 / (max(map(abs, row)) or 1) for row in a]
    columns = [
        1 / (max(abs(x) * r for x, r in zip(column, rows, strict=True)) or 1)
        for column in zip(*a, strict=True)
    ]
    return rows, columns


def layouts(a: np.ndarray) -> list[sz.Tensor]:
    n = len(a)
    wide = np.zeros((2 * n, 3 * n))
    wide[::2, ::3] = a
    kept = sz.tensor(wide)
    return [sz.tensor(a), sz.transpose(sz.tensor(a.T.copy())), kept[::2, ::3]]


def outcome(a: sz.Tensor) -> np.ndarray | str:
    try:
        return sz.inverse(a).numpy()
    except sz.InvalidArgument as error:
        return str(error)


def check(a: np.ndarray) -> None:
    found = [outcome(x) for x in layouts(a)]
    for other in found[1:]:
        if isinstance(found[0], str):
            assert isinstance(other, str), (a, found)
        else:
            assert not isinstance(other, str), (a, found)
            assert np.array_equal(found[0], other), (a, found)
    exact = exactly(a)
    truth = inverse(exact)
    if truth is None:
        assert isinstance(found[0], str), (a, found)
        return
    n = len(a)
    ones = [Fraction(1)] * n
    ways = [
        (ones, ones),
        scales(exact),
        scales([list(row) for row in zip(*exact, strict=True)])[::-1],
    ]
    limits = []
    for rows, columns in ways:
        scaled = [[exact[i][j] * rows[i] * columns[j] for j in range(n)] for i in range(n)]
        back = [[truth[i][j] / columns[i] / rows[j] for j in range(n)] for i in range(n)]
        condition = norm(scaled) * norm(back)
        if condition * EPSILON <= 50:  # good enough for an answer
            error = 40 * EPSILON * condition * norm(back)
            limits.append((condition, error, rows, columns))
    made = found[0]
    if isinstance(made, str):
        beyond = any(abs(x) > LARGEST / 2 for row in truth for x in row)
        assert beyond or all(one[0] * EPSILON * 50 > 1 for one in limits), (a, made)
        return
    # The error of each element is what the condition allows, in one of the ways.
    for i in range(n):
        for j in range(n):
            error = abs(Fraction(float(made[i][j])) - truth[i][j])
            limit = max(e * columns[i] * rows[j] for _, e, rows, columns in limits)
            assert error <= limit + SMALLEST * EPSILON, (a, made, (i, j), float(truth[i][j]))


def test_small_elements_do_not_vanish_on_the_way() -> None:
    a = np.array([[-9.26e130, 6.63e282], [6.69e-284, -5.91e-214]])
    check(a)
    for x in layouts(a):
        assert sz.inverse(x).numpy().shape == (2, 2)
        rhs = np.array([1e-100, 1e-50])
        for adjoint in (False, True):
            solved = sz.solve(x, sz.tensor(rhs), adjoint).numpy()
            truth = inverse(exactly(a.T if adjoint else a))
            assert truth is not None
            for i in range(2):
                terms = [truth[i][j] * Fraction(rhs[j]) for j in range(2)]
                error = abs(Fraction(solved[i]) - sum(terms))
                assert error <= 10 * EPSILON * (sum(map(abs, terms)) + SMALLEST), (adjoint, solved)


@pytest.mark.parametrize("n", [2, 3])
def test_any_scale_in_any_layout(n: int) -> None:
    rng = np.random.default_rng(n)
    for spread in (5, 60, 200, 280):
        for _ in range(15):
            a = rng.uniform(-1, 1, (n, n)) * 10.0 ** rng.uniform(-spread, spread, (n, n))
            a[rng.uniform(size=(n, n)) < 0.1] = 0
            check(a)


@pytest.mark.parametrize("n", [2, 3])
def test_rows_and_columns_of_any_scale(n: int) -> None:
    rng = np.random.default_rng(10 + n)
    for _ in range(30):
        down, across = (2.0 ** rng.integers(-500, 500, n) for _ in range(2))
        check(rng.uniform(-1, 1, (n, n)) * down[:, None] * across)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4))
def test_any_numbers(numbers: list[float]) -> None:
    check(np.array(numbers).reshape(2, 2))


def test_complex_adjoints() -> None:
    rng = np.random.default_rng(5)
    for n in (1, 2, 5, 20):
        down = 10.0 ** rng.integers(-100, 100, (n, 1))
        a = (rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))) * down
        b = rng.standard_normal((n, 2)) + 1j * rng.standard_normal((n, 2))
        x = sz.solve(sz.tensor(a), sz.tensor(a.conj().T @ b), True).numpy()
        assert np.allclose(a.conj().T @ x, a.conj().T @ b, rtol=1e-8)
