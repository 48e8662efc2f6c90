"""7.2.17.7 to .9: linear algebra of small matrices in exact fractions, complex ones as pairs."""

from __future__ import annotations

from fractions import Fraction

Number = tuple[Fraction, Fraction]
Matrix = list[list[Number]]

_ZERO, _ONE = (Fraction(0), Fraction(0)), (Fraction(1), Fraction(0))


def matrix(rows: list[list[int | Fraction | complex]]) -> Matrix:
    """Return a matrix of Python's numbers, which are exact."""
    return [
        [(Fraction(x.real), Fraction(x.imag)) if isinstance(x, complex) else (Fraction(x), _ZERO[0])
         for x in row]
        for row in rows
    ]  # fmt: skip


def add(a: Number, b: Number) -> Number:
    """Return a sum."""
    return a[0] + b[0], a[1] + b[1]


def mul(a: Number, b: Number) -> Number:
    """Return a product."""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def div(a: Number, b: Number) -> Number:
    """Return a quotient."""
    size = b[0] * b[0] + b[1] * b[1]
    re, im = mul(a, (b[0], -b[1]))
    return re / size, im / size


def times(a: Matrix, b: Matrix) -> Matrix:
    """Return a product of matrices."""
    columns = range(len(b[0]))
    found = [[_ZERO for _ in columns] for _ in a]
    for i, row in enumerate(a):
        for k, x in enumerate(row):
            for j in columns:
                found[i][j] = add(found[i][j], mul(x, b[k][j]))
    return found


def minus(a: Matrix, b: Matrix) -> Matrix:
    """Return a difference of matrices."""
    return [
        [(x[0] - y[0], x[1] - y[1]) for x, y in zip(p, q, strict=True)]
        for p, q in zip(a, b, strict=True)
    ]


def adjoint(a: Matrix) -> Matrix:
    """Return the conjugate transpose."""
    return [[(x[0], -x[1]) for x in column] for column in zip(*a, strict=True)]


def solve(a: Matrix, b: Matrix) -> Matrix:
    """Return the x of a x = b, for a matrix that is regular."""
    n = len(a)
    rows = [list(p) + list(q) for p, q in zip(a, b, strict=True)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != _ZERO)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [div(x, rows[k][k]) for x in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != _ZERO:
                factor = (-rows[i][k][0], -rows[i][k][1])
                rows[i] = [add(x, mul(factor, y)) for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows]


def identity(n: int) -> Matrix:
    """Return ones on the diagonal."""
    return [[_ONE if i == j else _ZERO for j in range(n)] for i in range(n)]


def pseudo_inverse(left: Matrix, right: Matrix) -> Matrix:
    """Return that of left right: independent columns of the one, independent rows of the other.

    >>> found = pseudo_inverse(matrix([[1], [1]]), matrix([[1, 0]]))
    >>> [[str(x[0]) for x in row] for row in found]
    [['1/2', '1/2'], ['0', '0']]
    """
    columns = solve(times(adjoint(left), left), adjoint(left))
    rows = adjoint(solve(times(right, adjoint(right)), right))
    return times(rows, columns)


def squared_norm(a: Matrix) -> Fraction:
    """Return the sum of the squares of all magnitudes."""
    return sum((x[0] * x[0] + x[1] * x[1] for row in a for x in row), Fraction(0))
