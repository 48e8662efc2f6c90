"""7.2.1 and 7.2.2: times creation and query against NumPy and PyTorch in one run.

    python benchmarks/creation.py

Ratios above 1 mean suanzi is faster than the peer. `touched` writes one element of each page: zeros
that NumPy and PyTorch have from the system are only made when they are touched.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from measuring import Call, Group, Table, main, torch

import suanzi as sz

SMALL, LARGE, MANY = (10,), (1 << 24,), 1 << 20
SEED = 7


def cases(shape: tuple[int, ...]) -> dict[str, dict[str, Call]]:
    """What is made of a shape: float32 of each library."""
    f32, found = np.float32, {}
    peers: list[tuple[str, Any, Any, Any]] = [
        ("empty", (sz.empty, (shape,), {}), (np.empty, (shape, f32), {}), ("empty", (shape,))),
        ("zeros", (sz.zeros, (shape,), {}), (np.zeros, (shape, f32), {}), ("zeros", (shape,))),
        (
            "full",
            (sz.full, (), {"shape": shape, "value": 1.5}),
            (np.full, (shape, 1.5, f32), {}),
            ("full", (shape, 1.5)),
        ),
    ]
    for name, ours, numpys, (other, arguments) in peers:
        found[name] = {"suanzi": ours, "NumPy": numpys}
        if torch is not None:
            found[name]["PyTorch"] = (getattr(torch, other), arguments, {})
    return found


def touched(make: Any, view: Any) -> Call:
    """Make zeros and write one element of each page."""

    def call() -> None:
        view(make())[::1024] = 1

    return (call, (), {})


def queries(shape: tuple[int, ...], dtype: str) -> dict[str, dict[str, Call]]:
    """Ask of each element whether it is finite, infinite or NaN."""
    array = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    found: dict[str, dict[str, Call]] = {}
    for name in ("is_finite", "is_nan"):
        other = name.replace("_", "")
        calls: dict[str, Call] = {
            "suanzi": (getattr(sz, name), (sz.tensor(array),), {}),
            "NumPy": (getattr(np, other), (array,), {}),
        }
        if torch is not None:
            calls["PyTorch"] = (getattr(torch, other), (torch.from_numpy(array),), {})
        found[f"{name} {dtype}"] = calls
    return found


def sequences() -> dict[str, dict[str, Call]]:
    """A million numbers in a row, or at random."""
    f32, random = np.float32, np.random.default_rng(1)
    found: dict[str, dict[str, Call]] = {
        "range": {
            "suanzi": (sz.range, (0, MANY - 1, 1), {}),
            "NumPy": (np.arange, (0, MANY, 1, f32), {}),
        },
        "linspace": {
            "suanzi": (sz.linspace, (0, 1, MANY), {}),
            "NumPy": (np.linspace, (0, 1, MANY), {"dtype": f32}),
        },
        "rand_uniform": {
            "suanzi": (sz.rand_uniform, ((MANY,),), {"min": 0, "max": 1, "seed": SEED}),
            "NumPy": (random.uniform, (0, 1, MANY), {}),
        },
        "rand_normal": {
            "suanzi": (sz.rand_normal, ((MANY,),), {"seed": SEED}),
            "NumPy": (random.standard_normal, (MANY,), {}),
        },
        "randperm": {
            "suanzi": (sz.randperm, (MANY,), {"seed": SEED}),
            "NumPy": (random.permutation, (MANY,), {}),
        },
    }
    if torch is not None:
        found["range"]["PyTorch"] = (torch.arange, (0, MANY), {"dtype": torch.float32})
        found["linspace"]["PyTorch"] = (torch.linspace, (0, 1, MANY), {})
        found["rand_uniform"]["PyTorch"] = (torch.rand, (MANY,), {})
        found["rand_normal"]["PyTorch"] = (torch.randn, (MANY,), {})
        found["randperm"]["PyTorch"] = (torch.randperm, (MANY,), {})
    return found


def small(table: Table, threads: int) -> None:
    """Ten elements: what a call costs."""
    table.title("10 elements, microseconds", "1 times both")
    for name, calls in {**cases(SMALL), **queries(SMALL, "float32")}.items():
        table.row(name, calls, faster=1)


def large(table: Table, threads: int) -> None:
    """Sixteen million elements."""
    table.title(f"16M elements, {threads} threads, milliseconds", "1 times both")
    for name, calls in cases(LARGE).items():
        table.row(name, calls, unit=1e3)
    zeros = {
        "suanzi": touched(lambda: sz.zeros(LARGE), lambda x: x.numpy()),
        "NumPy": touched(lambda: np.zeros(LARGE, np.float32), lambda x: x),
    }
    if torch is not None:
        zeros["PyTorch"] = touched(lambda: torch.zeros(LARGE), lambda x: x)
    table.row("zeros, touched", zeros, unit=1e3, faster=1)


def asked(table: Table, threads: int) -> None:
    """Whether elements are finite, or NaN."""
    table.title(f"queries of 16M elements, {threads} threads, milliseconds", "1 times both")
    for dtype in ("float32", "float16"):
        for name, calls in queries(LARGE, dtype).items():
            table.row(name, calls, unit=1e3, faster=1)


def ranges(table: Table, threads: int) -> None:
    """Numbers in a row."""
    table.title(f"1M elements, {threads} threads, milliseconds", "nothing")
    for name, calls in sequences().items():
        if not name.startswith("rand"):
            table.row(name, calls, unit=1e3)


def random_numbers(table: Table, threads: int) -> None:
    """Numbers at random."""
    table.title(f"1M random numbers, {threads} threads, milliseconds", "nothing")
    for name, calls in sequences().items():
        if name.startswith("rand"):
            table.row(name, calls, unit=1e3)


GROUPS: dict[str, Group] = {
    "small": small,
    "large": large,
    "queries": asked,
    "ranges": ranges,
    "random": random_numbers,
}

if __name__ == "__main__":
    main(__doc__, GROUPS)
