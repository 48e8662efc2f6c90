"""7.2.17.3 to .10: factors and solutions of matrices: residuals, orthogonality, exactly.

The bounds are those of backward error analysis, relative to the factors or to the norm of the
matrix. A dtype narrower than float32 may be computed in float32 and rounded once, float16 also in
itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from suanzi.conformance.judging.checks import check, is_lenient, slack
from suanzi.conformance.model.data import raw_bits, values
from suanzi.conformance.model.numbers import FORMATS, INTEGERS, NARROW, PARTS, two
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth.arrays import Exact, adjoint, exact, plus, times
from suanzi.conformance.truth.sums import machine_epsilon

Arguments = Mapping[str, Any]
Facts = Mapping[str, Any]


# ---- bounds -------------------------------------------------------------------------------------


def allowance(dtype: str, n: int) -> Fraction:
    """Return the relative error that a backward stable result of n steps may have."""
    part = PARTS.get(dtype, dtype)
    computed = part if part in ("float16", "float64") else "float32"
    steps = 4 * (2 if dtype in PARTS else 1) * max(n, 2)
    allowed = 2 * machine_epsilon(part) + steps * machine_epsilon(computed)
    if is_lenient() and part not in NARROW:
        # An eighth of half the digits: the norm of a matrix is larger than its elements.
        half = (FORMATS[part].mantissa + 1) // 2
        return max(allowed * slack(part), two(-half - 3))
    return allowed


def smallest(dtype: str) -> Fraction:
    """Return the smallest positive number of a dtype."""
    form = FORMATS[PARTS.get(dtype, dtype)]
    return two(1 - form.bias - form.mantissa)


def norm(a: Exact) -> Fraction:
    """Return the Frobenius norm, and a little more."""
    return root(sum(a.squares(), Fraction(0)))


def root(x: Fraction) -> Fraction:
    """Return a square root, rounded up to 60 bits or more."""
    if not x:
        return x
    shift = max(0, 60 - (x.numerator.bit_length() - x.denominator.bit_length()) // 2)
    return Fraction(math.isqrt((x.numerator << 2 * shift) // x.denominator) + 1, 1 << shift)


# ---- what comes ---------------------------------------------------------------------------------


def wrong_tensor(name: str, found: Any, dtype: str, shape: Sequence[int]) -> str | None:
    """Return what is wrong with an output before its values are looked at."""
    if not isinstance(found, Data):
        return f"{name}: {found!r} is not a tensor"
    if found.dtype != dtype:
        return f"{name}: dtype {found.dtype}, not {dtype}"
    if found.shape != tuple(shape):
        return f"{name}: shape {list(found.shape)}, not {list(shape)}"
    part = PARTS.get(dtype, dtype)
    if part in FORMATS:
        form = FORMATS[part]
        mask = (1 << (form.bits - 1)) - 1
        if any(bits & mask > form.largest for bits in raw_bits(found)):
            return f"{name}: not finite"
    return None


def matrices(data: Data) -> list[Exact]:
    """Return the matrices of a batch."""
    *outer, m, n = data.shape
    whole = exact(data).reshape((math.prod(outer), m, n))
    return [whole.at(i) for i in range(math.prod(outer))]


def where(i: int, count: int) -> str:
    """Return which matrix of a batch it is, in words."""
    return f" of matrix {i}" if count > 1 else ""


def over(
    what: str, found: Sequence[Fraction], allowed: Sequence[Fraction], columns: int
) -> str | None:
    """Return the first element that is off by more than is allowed."""
    for i, (x, most) in enumerate(zip(found, allowed, strict=True)):
        if x > most:
            at = divmod(i, columns)
            return f"{what}: the error at {list(at)} is {told(x)}, {told(most)} is allowed"
    return None


def told(x: Fraction) -> str:
    """Return a number in few characters, whatever its size."""
    try:
        return f"{float(x):.3g}"
    except OverflowError:
        return f"2^{x.numerator.bit_length() - x.denominator.bit_length()}"


def identity(m: int, n: int) -> Exact:
    """Return ones on the diagonal."""
    return Exact((m, n), [int(i == j) for i in range(m) for j in range(n)], None, 0)


def _picked(
    a: Exact,
    shape: tuple[int, int],
    keep: Callable[[int, int], bool],
    rows: Sequence[int] | None = None,
) -> Exact:
    """Return a part of a matrix, its rows in some order, with zeros where it is not kept."""
    columns = a.shape[1]
    order = range(shape[0]) if rows is None else rows
    places = [
        order[i] * columns + j if keep(i, j) else None
        for i in range(shape[0])
        for j in range(shape[1])
    ]
    im = a.im
    return Exact(
        shape,
        [0 if p is None else a.re[p] for p in places],
        None if im is None else [0 if p is None else im[p] for p in places],
        a.exponent,
    )


def _orthonormal(name: str, q: Exact, most: Fraction) -> str | None:
    """Return where columns are not orthonormal."""
    columns = q.shape[1]
    gram = plus(times(adjoint(q), q), identity(columns, columns), -1)
    found = gram.largest_part()
    return over(f"{name}^H {name} - 1", found, [most] * len(found), columns)


def _zeros_in(name: str, a: Exact, lower: bool) -> str | None:
    """Return where a triangle, without the diagonal, is not zero."""
    m, n = a.shape
    im = a.im or [0] * (m * n)
    for i, j in product(range(m), range(n)):
        if (i > j if lower else i < j) and (a.re[i * n + j] or im[i * n + j]):
            return f"{name} is not zero at {[i, j]}, outside its triangle"
    return None


# ---- factors ------------------------------------------------------------------------------------


@check
def lu_factors(arguments: Arguments, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Require P L U with partial pivoting, each element off by a few roundings of |L| |U|."""
    mat = arguments["mat"]
    *outer, m, n = mat.shape
    k, dtype = min(m, n), mat.dtype
    packed, swaps = outputs
    whole = getattr(swaps, "dtype", "")  # the integer dtype is not defined
    problem = wrong_tensor("lu", packed, dtype, mat.shape) or wrong_tensor(
        "ipiv", swaps, whole if whole in INTEGERS else "int64", (*outer, k)
    )
    if problem:
        return problem
    pivots = values(swaps)
    for b, (a, lu) in enumerate(zip(matrices(mat), matrices(packed), strict=True)):
        problem = _one_lu(
            a, lu, [p for p in pivots[b * k : b * k + k] if isinstance(p, int)], dtype
        )
        if problem:
            return problem + where(b, math.prod(outer))
    return None


def _one_lu(a: Exact, lu: Exact, swaps: list[int], dtype: str) -> str | None:
    m, n = a.shape
    k = min(m, n)
    for i, p in enumerate(swaps):
        if not i <= p < m:
            return f"ipiv: row {i} is swapped with row {p} of {m} rows"
    lower = plus(_picked(lu, (m, k), lambda i, j: i > j), identity(m, k))
    upper = _picked(lu, (k, n), lambda i, j: i <= j)
    # Complex pivots may be chosen by |re| + |im|, so that a factor can be as large as root 2.
    most = (1 + 4 * machine_epsilon(dtype)) ** 2 * (2 if dtype in PARTS else 1)
    if any(s > most for s in lower.squares()):
        return "lu: an element of L is larger than 1, so the pivot was not the largest"
    rows = list(range(m))
    for i, p in enumerate(swaps):
        rows[i], rows[p] = rows[p], rows[i]
    turned = _picked(a, (m, n), lambda i, j: True, rows)
    off = plus(times(lower, upper), turned, -1).largest_part()
    sizes = times(lower.magnitudes(), upper.magnitudes(), 1).largest_part()
    tiny = smallest(dtype) * k * (1 + max(upper.largest_part(), default=Fraction(0)))
    allowed = [allowance(dtype, k) * s + tiny for s in sizes]
    return over("L U - P mat", off, allowed, n)


@check
def cholesky_factor(arguments: Arguments, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Require one triangle with a positive diagonal, whose product is `facts["mat"]`."""
    mat, upper = facts["mat"], arguments["upper"] == "U"
    dtype, count = mat.dtype, math.prod(mat.shape[:-2])
    problem = wrong_tensor("out", outputs[0], dtype, mat.shape)
    if problem:
        return problem
    for b, (a, factor) in enumerate(zip(matrices(mat), matrices(outputs[0]), strict=True)):
        n = a.shape[0]
        problem = _zeros_in("out", factor, lower=upper)
        diagonal = range(0, n * n, n + 1)
        if any(factor.re[i] <= 0 or (factor.im is not None and factor.im[i]) for i in diagonal):
            problem = problem or "out: the diagonal is not positive"
        lower = adjoint(factor) if upper else factor
        off = plus(times(lower, adjoint(lower)), a, -1).largest_part()
        sizes = magnitudes(times(lower.magnitudes(), adjoint(lower).magnitudes(), 1))
        tiny = smallest(dtype) * n * (1 + 2 * max(factor.largest_part(), default=Fraction(0)))
        allowed = [allowance(dtype, n + 1) * s + tiny for s in sizes]
        problem = problem or over("its product - mat", off, allowed, n)
        if problem:
            return problem + where(b, count)
    return None


def magnitudes(a: Exact) -> list[Fraction]:
    """Return the sum of the magnitudes of the parts of each element."""
    im = a.im or [0] * len(a.re)
    return [(abs(p) + abs(q)) * a.unit for p, q in zip(a.re, im, strict=True)]


@check
def qr_factors(arguments: Arguments, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Require orthonormal columns and a triangle; each column is off by a little of its length."""
    mat, mode = arguments["mat"], arguments.get("mode", "reduced")
    *outer, m, n = mat.shape
    dtype, inner = mat.dtype, m if mode == "complete" else min(m, n)
    q, r = outputs
    problem = wrong_tensor("R", r, dtype, (*outer, inner, n))
    if mode == "r":
        problem = problem or (None if q is None else "Q: mode r has none")
    else:
        problem = problem or wrong_tensor("Q", q, dtype, (*outer, m, inner))
    if problem:
        return problem
    step = allowance(dtype, max(m, n))
    tiny = smallest(dtype) * max(m, n)
    qs = [None] * math.prod(outer) if mode == "r" else matrices(q)
    for b, (a, one_q, one_r) in enumerate(zip(matrices(mat), qs, matrices(r), strict=True)):
        lengths = [root(x) for x in _column_squares(a)]
        problem = _zeros_in("R", one_r, lower=True)
        if one_q is None:
            off = plus(times(adjoint(one_r), one_r), times(adjoint(a), a), -1).largest_part()
            allowed = [2 * step * x * y + tiny * (1 + x + y) for x in lengths for y in lengths]
            problem = problem or over("R^H R - mat^H mat", off, allowed, n)
        else:
            problem = problem or _orthonormal("Q", one_q, step + tiny)
            off = plus(times(one_q, one_r), a, -1).largest_part()
            allowed = [step * x + tiny * (1 + x) for _ in range(m) for x in lengths]
            problem = problem or over("Q R - mat", off, allowed, n)
        if problem:
            return problem + where(b, math.prod(outer))
    return None


def _column_squares(a: Exact) -> list[Fraction]:
    m, n = a.shape
    squares = a.squares()
    return [sum((squares[i * n + j] for i in range(m)), Fraction(0)) for j in range(n)]


@check
def svd_factors(arguments: Arguments, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Require orthonormal columns, and singular values in order; `facts["values"]` has theirs."""
    mat, thin = arguments["mat"], arguments.get("format", True)
    *outer, n, m = mat.shape
    dtype, k = mat.dtype, min(n, m)
    u, s, v = outputs
    small = thin and not facts.get("whole", False)
    problem = (
        wrong_tensor("U", u, dtype, (*outer, n, k if thin else n))
        or wrong_tensor("S", s, PARTS.get(dtype, dtype), (*outer, *((k, k) if small else (n, m))))
        or wrong_tensor("V", v, dtype, (*outer, m, k if thin else m))
    )
    if problem:
        return problem
    step, tiny = allowance(dtype, max(m, n)), smallest(dtype) * max(m, n)
    # With two bits zeros would be near enough; U, S and V rounded once are off by (1 + 1/8)**3 - 1.
    share = min(2 * step, Fraction(3, 4))
    all_of = zip(matrices(mat), matrices(u), matrices(s), matrices(v), strict=True)
    for b, (a, one_u, one_s, one_v) in enumerate(all_of):
        size = norm(a)
        columns = one_s.shape[1]
        diagonal = [one_s.re[i * columns + i] * one_s.unit for i in range(k)]
        problem = _zeros_in("S", one_s, lower=True) or _zeros_in("S", one_s, lower=False)
        if diagonal != sorted(diagonal, reverse=True) or any(x < 0 for x in diagonal):
            problem = problem or "S: the singular values are negative or do not descend"
        problem = problem or _orthonormal("U", one_u, step + tiny)
        problem = problem or _orthonormal("V", one_v, step + tiny)
        if thin and not small:  # what is off the diagonal is zero, and has no partner
            one_s = _picked(one_s, (k, k), lambda i, j: True)
        off = plus(times(times(one_u, one_s), adjoint(one_v)), a, -1).largest_part()
        most = share * size + tiny * (1 + size)
        problem = problem or over("U S V^H - mat", off, [most] * len(off), m)
        if "values" in facts:
            errors = [abs(x - y) for x, y in zip(diagonal, facts["values"][b], strict=True)]
            problem = problem or over("S", errors, [step * size + tiny] * k, k)
        if problem:
            return problem + where(b, math.prod(outer))
    return None


@check
def eigen_pairs(arguments: Arguments, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Require mat v = w v with columns of length 1; `facts["values"]` has w and its condition.

    With `facts["lengths"]`, columns may be of any length but 0.
    """
    mat, result = arguments["mat"], facts["dtype"]
    dtype, n = mat.dtype, mat.shape[-1]
    w, v = outputs
    problem = wrong_tensor("w", w, result, mat.shape[:-1]) or wrong_tensor(
        "v", v, result, mat.shape
    )
    if problem:
        return problem
    # Of float8 the result has more digits than the matrix: what that dtype allows is anything.
    step = allowance(result if dtype.startswith("float8") else dtype, n)
    tiny = smallest(result) * n
    roots = exact(w).reshape((math.prod(mat.shape[:-2]), n, 1))
    for b, (a, vectors) in enumerate(zip(matrices(mat), matrices(v), strict=True)):
        size, squares = norm(a), _column_squares(vectors)
        if facts.get("lengths", False):
            problem = None if all(squares) else "v: a column is zero"
        else:
            problem = over("the squared length of a column of v, less 1,",
                           [abs(x - 1) for x in squares], [2 * step + tiny] * n, n)  # fmt: skip
        lengths = [max(root(x), Fraction(1, 2**20)) for x in squares]
        own = roots.at(b)
        spread = Exact(
            (n, n),
            [own.re[j] if i == j else 0 for i in range(n) for j in range(n)],
            [(own.im or [0] * n)[j] if i == j else 0 for i in range(n) for j in range(n)],
            own.exponent,
        )
        off = plus(times(a, vectors), times(vectors, spread), -1).largest_part()
        most = 2 * step * size + tiny * (1 + size)
        problem = problem or over(
            "mat v - v w", off, [most * x for _ in range(n) for x in lengths], n
        )
        if facts.get("traces", False):
            problem = problem or _traces(a, own, step * size + tiny)
        if "values" in facts:
            problem = problem or _matched(own.fractions(), facts["values"][b], step * size + tiny)
        if problem:
            return problem + where(b, math.prod(mat.shape[:-2]))
    return None


def _traces(a: Exact, roots: Exact, error: Fraction) -> str | None:
    """Require the sums of powers of all eigenvalues: those of a matrix this near have the same."""
    n = a.shape[0]
    size, power = norm(a) + error, identity(n, n)
    sums = [(Fraction(1), Fraction(0))] * n
    for k in (1, 2, 3):
        power = times(power, a)
        sums = [
            (p * x - q * y, p * y + q * x)
            for (p, q), (x, y) in zip(sums, roots.fractions(), strict=True)
        ]
        parts = power.fractions()
        for i in (0, 1):
            due = sum((parts[j * n + j][i] for j in range(n)), Fraction(0))
            off = abs(sum((s[i] for s in sums), Fraction(0)) - due)
            if off > 2 * k * n * error * size ** (k - 1):
                return f"w: the sum of the powers {k} of all is off by {told(off)}"
    return None


def _matched(
    found: Sequence[tuple[Fraction, Fraction]],
    wanted: Sequence[tuple[Fraction, Fraction, Fraction]],
    error: Fraction,
) -> str | None:
    """Return which eigenvalue was not found, each of them once; their order is free."""
    left = list(found)
    for re, im, condition in wanted:
        nearest = min(left, key=lambda z: abs(z[0] - re) + abs(z[1] - im))
        left.remove(nearest)
        off = max(abs(nearest[0] - re), abs(nearest[1] - im))
        if off > 2 * error * condition:
            name = f"{float(re):.6g}{float(im):+.6g}i"
            return f"w: the eigenvalue {name} is missing; the error of the nearest is {told(off)}"
    return None
