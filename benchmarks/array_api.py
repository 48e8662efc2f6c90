"""Times the array API's namespace against NumPy and the operators of suanzi, in one run.

    python benchmarks/array_api.py

What a call costs is seen with 10 elements: `add` of the namespace promotes by its own rules,
without a context, and costs what `sz.add` does. Ratios above 1 mean suanzi is faster than the peer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from measuring import Call, Group, Table, main

import suanzi as sz

xp = sz.array_api
MANY = 1 << 20
SAME = """add subtract multiply divide maximum exp sqrt floor isnan equal sum max mean
    cumulative_sum argmax sort concat stack reshape flip roll where astype""".split()
NUMPYS = {"cumulative_sum": "cumsum", "concat": "concatenate"}


def arguments(
    name: str, x: Any, make: Callable[[Any], Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return what a function is called with, by either library."""
    if name in ("add", "subtract", "multiply", "divide", "maximum", "equal"):
        return (x, x), {}
    if name in ("concat", "stack"):
        return ([x, x],), {}
    if name == "reshape":
        return (x, (2, -1)), {}
    if name == "where":
        return (make([True, False] * (len(x) // 2)), x, x), {}
    if name in ("cumulative_sum", "sort", "flip"):
        return (x,), {"axis": 0}
    if name == "roll":
        return (x, 3), {"axis": 0}
    return (x,), {}


def calls(name: str, n: int) -> dict[str, Call]:
    """Return a function of the namespace and NumPy's, on float32."""
    theirs = (np.arange(n) % 97 + 1).astype(np.float32)
    ours = xp.asarray(theirs, copy=True)
    if name == "astype":
        return {
            "suanzi": (xp.astype, (ours, sz.float64), {}),
            "NumPy": (np.astype, (theirs, np.dtype("float64")), {}),
        }
    mine, keywords = arguments(name, ours, xp.asarray)
    its, same = arguments(name, theirs, np.asarray)
    return {
        "suanzi": (getattr(xp, name), mine, keywords),
        "NumPy": (getattr(np, NUMPYS.get(name, name)), its, same),
    }


def small(table: Table, threads: int) -> None:
    """Ten elements: what a call costs."""
    table.title("array API, 10 elements, us", "1.5x NumPy's time at most")
    for name in SAME:
        table.row(name, calls(name, 10), numpy=1 / 1.5)
    x = xp.ones(10)
    table.row(
        "add, beside sz.add", {"suanzi": (xp.add, (x, x), {}), "sz.add": (sz.add, (x, x), {})}
    )


def large(table: Table, threads: int) -> None:
    """A million elements."""
    table.title("array API, 2^20 elements, us", "1.5x NumPy's time at most")
    for name in SAME:
        table.row(name, calls(name, MANY), numpy=1 / 1.5)


def functions(table: Table, threads: int) -> None:
    """Functions of complex numbers and of pairs, a million elements."""
    table.title("functions of the array API, 2^20 elements, us", "1.5x NumPy's time at most")
    numbers = np.random.default_rng(0).normal(size=(2, MANY)) * 3
    plane, (x, y) = numbers[0] + 1j * numbers[1], numbers
    for dtype in ("complex64", "complex128"):
        z = plane.astype(dtype)
        for name in "exp log sqrt sin tanh acos atanh".split():
            theirs = getattr(np, name, None) or getattr(np, f"arc{name[1:]}")
            both = {
                "suanzi": (getattr(xp, name), (xp.asarray(z),), {}),
                "NumPy": (theirs, (z,), {}),
            }
            table.row(f"{name} {dtype}", both, numpy=1 / 1.5)
    for name, theirs in {"atan2": np.arctan2, "hypot": np.hypot, "logaddexp": np.logaddexp}.items():
        mine = getattr(xp, name), (xp.asarray(x), xp.asarray(y)), {}
        table.row(f"{name} float64", {"suanzi": mine, "NumPy": (theirs, (x, y), {})}, numpy=1 / 1.5)


GROUPS: dict[str, Group] = {"small": small, "large": large, "functions": functions}

if __name__ == "__main__":
    main(__doc__, GROUPS)
