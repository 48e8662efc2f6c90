"""How far results are from references, counted; with NumPy, or with PyTorch on a device.

This file is read by the kit and, alone, by the interpreter of a subject.
"""

from __future__ import annotations

import math
from typing import Any

EDGES = (0.5, 0.51, 0.55, 0.6, 0.7, 0.8, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0, 64.0, 1024.0)
"""Of the histogram; errors up to 0.5 come first, and those above the last one last."""
MOST = 256
"""Near ties of one block of float32 that are computed again with all digits.

A few are due; but half of all subnormal numbers, halved, are ties in float64, as in gelu and silu.
"""


def scales(m: Any, size: Any, bits: int, lowest: int) -> Any:
    """Return how many neighbours of a format there are to 1, at magnitudes of any precision."""
    exponents = size.view(m.int64) >> 52
    m.clip(exponents, lowest + 1023, None, out=exponents)
    exponents = (2045 + bits) - exponents
    exponents <<= 52
    return exponents.view(m.float64)


def judged(
    m: Any,
    form: dict[str, Any],
    x: Any,
    found: Any,
    exact: Any,
    *,
    rest: Any = None,
    narrow: float = 1e-9,
    skip: Any = None,
    zero: float | None = None,
    most: int | None = None,
) -> dict[str, Any]:
    """Compare results with exact ones; `m` is NumPy or PyTorch, the numbers are float64.

    `rest` is what the exact ones leave out, in units of the last place; `skip` marks what is not
    required of special values; `zero` is the function at 0, for backends that take subnormal
    arguments for 0. The places of what float64 cannot decide are `disputed`, `most` of them; how
    many are left is `undecided`.
    """
    limit = form["largest"] + form["widest"] / 2
    size = m.abs(exact)
    error = found - exact
    if form["bits"] == 53:  # its subnormal numbers have no such exponent
        error /= form["units"](exact)
    else:
        error *= scales(m, size, form["bits"], form["lowest"])
    if rest is not None:
        error -= rest
    error = m.abs(error)
    total, count, flushed = float(error.sum()), int(error.shape[0]), 0
    wrong: Any = None
    if not (math.isfinite(total) and float(size.max()) < limit):
        error, counted, wrong = _special(m, form, found, exact, error, limit)
        count = int(counted.sum())
    zeros = found == 0
    any_zeros = bool(zeros.any())
    if any_zeros:
        unsigned = zeros & (exact == 0) & (m.signbit(exact) != m.signbit(found))
        wrong = unsigned if wrong is None else wrong | unsigned
    small = zero is not None and float(m.abs(x).min()) < math.ldexp(1.0, form["lowest"])
    gone = _flushed(m, form, x, found, exact, error, wrong, zero) if any_zeros or small else None
    if gone is not None:
        flushed = int(gone.sum())
        count -= int((gone & m.isfinite(found)).sum())
        error = m.where(gone, 0.0, error)
        wrong = None if wrong is None else wrong & ~gone
    if wrong is not None and skip is not None:
        wrong = wrong & ~skip
    special = 0 if wrong is None else int(wrong.sum())
    special_at = int(m.argmax(wrong + 0)) if special else None
    if wrong is not None or gone is not None:
        total = float(error.sum())
    at = int(m.argmax(error))
    above = error > 0.5 + narrow
    high = error[above]
    counts = [len(high)] if len(high) else []
    for edge in EDGES[1:] if counts else ():
        counts.append(int((high > edge).sum()) if counts[-1] else 0)
    near = error >= 0.5 - narrow
    disputed = m.where(near & ~above)[0] if int(near.sum()) > len(high) else []
    kept = disputed[:most]
    return {
        "count": count, "worst": float(error[at]), "worst_at": at, "total": total,
        "wrong": int(high.shape[0]), "above_one": int((high > 1.0).sum()),
        "histogram": [count - sum(_steps(counts)), *_steps(counts)], "special": special,
        "special_at": special_at, "flushed": flushed, "disputed": [int(i) for i in kept],
        "undecided": len(disputed) - len(kept),
    }  # fmt: skip


def disorder(order: str, above: Any, below: Any) -> int:
    """Count neighbours in the wrong order; both halves are ordered by magnitude."""
    if not order:
        return 0
    if order == "falls":
        above, below = below, above
    last, first = (below[1:], below[:-1])[:: 1 if order == "rises from 0" else -1]
    return int((above[1:] < above[:-1]).sum()) + int((last < first).sum())


def asymmetry(m: Any, symmetry: str, above: Any, below: Any) -> int:
    """Count results of x and -x that differ by more than the sign."""
    if not symmetry:
        return 0
    other = -below if symmetry == "odd" else below
    same = (above == other) & (m.signbit(above) == m.signbit(other))
    return int((~(same | (m.isnan(above) & m.isnan(other)))).sum())


def _steps(above: list[int]) -> list[int]:
    """Return how many are between edges, given how many are above each."""
    if not above:
        return [0] * len(EDGES)
    return [a - b for a, b in zip(above, [*above[1:], 0])]  # noqa: B905


def _flushed(
    m: Any,
    form: dict[str, Any],
    x: Any,
    found: Any,
    exact: Any,
    error: Any,
    wrong: Any,
    zero: float | None,
) -> Any:
    """Return which subnormal numbers, arguments or results, were taken for zero."""
    smallest = math.ldexp(1.0, form["lowest"])
    off = error > 0.5
    # A result that is computed a little too small is subnormal, too: exp2(-126) of float32.
    gone = (found == 0) & off & (m.abs(exact) < smallest * (1 + 2.0**-10))
    if zero is not None:
        same = m.isnan(found) if math.isnan(zero) else m.abs(found) == abs(zero)
        off = off if wrong is None else off | wrong
        gone = gone | (same & off & (m.abs(x) < smallest) & (x != 0))
    return gone if bool(gone.any()) else None


def _special(
    m: Any, form: dict[str, Any], found: Any, exact: Any, error: Any, limit: float
) -> tuple[Any, Any, Any]:
    """Return errors of the results that are numbers, which these are, and which are wrong."""
    over = m.abs(exact) >= limit
    plain = m.isfinite(exact) & ~over
    finite = m.isfinite(found)
    counted = plain & finite
    if not form["infinity"]:  # what it has no number for may be NaN or the largest
        wrong = (plain & m.isnan(found)) | (m.isnan(exact) & ~m.isnan(found))
    else:
        due = m.where(over & m.isfinite(exact), m.sign(exact) * math.inf, exact)
        wrong = (plain != finite) | (~plain & (m.isnan(due) != m.isnan(found)))
        wrong = wrong | (m.isinf(due) & m.isinf(found) & (due != found))
    # At the very end of the range, nearest may be either.
    wrong = wrong & ~(m.abs(m.abs(exact) - limit) < form["widest"] * 1e-6)
    return m.where(counted, error, 0.0), counted, wrong
