"""JAX's own table of accuracy next to what `suanzi accuracy` measured of JAX."""

from __future__ import annotations

import math
from typing import Any

import records
from docs_site import atlas

DTYPES = ("bfloat16", "float16", "float32")
COLUMNS = (("jax-cpu", "CPU"), ("jax-cuda", "GPU"))
FILES = {title: file for file, title in COLUMNS}
# docs/accuracy.md of jax-ml/jax at 031068b03451af03f8797eee4c0e0a228fbbd6de, reviewed 2026-09-18.
# CPU and GPU, of bfloat16, float16 and float32: upper bounds in steps of 0.5 ULP; 1-2 depends on
# the processor.
_TABLE = """
acos         1.5 0.5  1.5 1  1.5 1.5
acosh        2 0.5    2 1    4.5 2.5
asin         1.5 0.5  1.5 1  2 1.5
asinh        1.5 0.5  1.5 1  3.5 2
atan         0.5 0.5  1 1    4-5.5 1.5
atan2        1 1      1 1    0.5 3
atanh        1.5 0.5  1.5 0.5  3 3.5
i0e          0.5 0.5  1 0.5  7 8
i1e          0.5 0.5  1 1    11 15.5
cbrt         0.5 0.5  1 1    0.5 1.5
cos          0.5 0.5  1 1    0.5 2
cosh         0.5 0.5  1 1    25 2.5
erf          0.5 0.5  1 1    7 6.5
erfinv       0.5 0.5  1 1    65 65
erfc         0.5 0.5  1 1    66 66.5
exp          0.5 1    1 1    1.5 2
exp2         101 101  14 14  68.5 69
expm1        0.5 0.5  2.5 1  6.5 1.5
log          0.5 0.5  1 1    1.5 1
log1p        0.5 0.5  1 1    3 1
log2         2 2      2 2    2.5 2
sigmoid      2.5 2.5  2 2    2.5 4
reciprocal   0.5 0.5  0.5 0.5  0.5 1
rsqrt        0.5 0.5  0.5 0.5  1-2 2
sin          0.5 0.5  1 1    0.5 1.5
sinh         0.5 0.5  1 0.5  25 3
sqrt         0.5 0.5  0.5 0.5  0.5 1
square       0.5 0.5  0.5 0.5  0.5 0.5
tan          0.5 0.5  1 1    0.5 3.5
tanh         0.5 0.5  0.5 0.5  5 5.5
deg2rad      1 1      1 1    1 1
hypot        1.5 1.5  1.5 1.5  1.5 2
log10        2 2      1.5 1.5  3 2.5
rad2deg      1 1      1.5 1.5  1 1
sinc         0.5 0.5  0.5 0.5  2.5 3.5
erfcx        0.5 0.5  1 1    3.5 4
"""


def published() -> dict[tuple[str, str, str], tuple[float, float]]:
    """Return JAX's bounds by file, dtype and function: the least and the largest."""
    found = {}
    for line in _TABLE.strip().splitlines():
        name, *numbers = line.split()
        for i, number in enumerate(numbers):
            low, _, high = number.partition("-")
            found[COLUMNS[i % 2][0], DTYPES[i // 2], name] = (float(low), float(high or low))
    return found


def measured(file: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the rows of a report by dtype and function."""
    rows = atlas.measured(records.read(atlas.HOME / f"{file}.json"))
    return {(r["dtype"], r["function"]): r for r in rows}


def bound(worst: float) -> float:
    """Return an error as JAX's table has it: rounded up to a half.

    >>> bound(0.5), bound(0.50003), bound(68.2)
    (0.5, 1.0, 68.5)
    """
    return math.ceil(2 * worst - 1e-6) / 2


def differences() -> list[tuple[str, str, str, float, float]]:
    """Return where the two differ: column, dtype, function, published and measured."""
    theirs = published()
    found = []
    for file, title in COLUMNS:
        ours = measured(file)
        for (of, dtype, name), (low, high) in theirs.items():
            row = ours.get((dtype, name))
            if of == file and row is not None and not low <= bound(row["worst"]) <= high:
                found.append((title, dtype, name, high, row["worst"]))
    return found


_REASONS = {
    "asin": "x / 2 is subnormal on the way and becomes zero; JAX's page of 2026-09-18 had 128 for "
    "bfloat16, which leaves out the subnormal numbers in between",
    "cbrt": "of subnormal arguments the installed version gives numbers of another sign and size",
    "atan2": "samples of each find other pairs; of 16 bits JAX tried all",
    "hypot": "the installed version computes `a * sqrt(1 + (b / a)**2)`",
    "sinc": "the installed version rounds pi x to the dtype, and is not 0 at whole numbers",
    "erfcx": "the installed version computes `exp(x*x) * erfc(x)` where erfc has left its range: "
    "[jax#38607](https://github.com/jax-ml/jax/issues/38607)",
}
"""Why the two differ; of others, the version is another one."""


def differing() -> str:
    """Return where the two differ, with reasons, as a table."""
    lines = ["| column | dtype | function | JAX's table | measured | reason |", "|" + " --- |" * 6]
    for title, dtype, name, theirs, ours in differences():
        other = "the version or the chip is another one"
        why = _REASONS.get(name, other) if ours > theirs else other
        searched = measured(FILES[title])[dtype, name]["arguments"] != "all"
        if searched and theirs / 2 < ours < theirs:
            why = "a search found less than all arguments have"
        lines.append(f"| {title} | {dtype} | `{name}` | {theirs:g} | {ours:.5g} | {why} |")
    return "\n".join(lines)


def compared() -> int:
    """Return how many cells of the two tables were compared."""
    ours = {(file, *key) for file, _ in COLUMNS for key in measured(file)}
    return len(ours & published().keys())
