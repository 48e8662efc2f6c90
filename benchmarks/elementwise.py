"""7.2.4 to 7.2.12: times element-wise operators against NumPy and PyTorch, on one thread and all.

    python benchmarks/elementwise.py                     # everything, some minutes
    python benchmarks/elementwise.py small mixed-1M      # some groups

Ratios above 1 mean suanzi is faster than the peer. The libraries take turns, so that a busy
machine slows all of them alike, and the best of many rounds counts. NumPy runs on one thread.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from measuring import Call, Group, Table, array, best, main, make, tensor, torch

import suanzi as sz
from suanzi.promote.registry import REGISTRY

NUMPY_NAMES = {"mul": "multiply", "div": "divide", "max": "maximum", "pow": "power"}
TORCH_NAMES = {"equal": "eq", "max": "maximum"}


def numpys(name: str) -> Any:
    """Return NumPy's function of the name, if it has one."""
    return getattr(np, NUMPY_NAMES.get(name, name), None) or getattr(np, f"arc{name[1:]}", None)


SIZES = {"1M": 1 << 20, "16M": 1 << 24}
MIXED = "i8+f16 i32+f32 i64+f32 bf16+f32 f16+bf16 u8+i8 f32+c64".split()
FUNCTIONS = [
    op.name
    for op in REGISTRY.values()
    if op.clause.startswith(("7.2.10.", "7.2.11.", "7.2.12.")) and numpys(op.name) is not None
]
CASTS = "f32>f16 f16>f32 f32>bf16 bf16>f32 i64>f32 f64>i8".split()


def operands(name: str, *xs: sz.Tensor, same: Any = None) -> dict[str, Call]:
    """Return an operator as each library is called with it."""
    theirs = numpys(name)
    arrays = tuple(array(x) for x in xs)
    keywords = {} if same is None else {"dtype": same, "casting": "unsafe"}
    calls: dict[str, Call] = {
        "suanzi": (getattr(sz, name), xs, {}),
        "NumPy": (theirs, arrays, keywords),
    }
    try:
        theirs(*arrays, **keywords)
    except TypeError:  # there is no loop for these two: each is converted first
        calls["NumPy"] = (lambda *v: theirs(*(x.astype(same) for x in v)), arrays, {})
    if torch is not None:
        torchs = getattr(torch, TORCH_NAMES.get(name, name))
        calls["PyTorch"] = (torchs, tuple(tensor(x) for x in xs), {})
    return calls


@functools.cache
def copy_bandwidth(n: int, threads: int) -> float:
    """Return the bytes per second, read and written, of a plain copy of n bytes."""
    source, target = np.ones(n, np.uint8), np.ones(n, np.uint8)
    calls: dict[str, Call] = {"copy": (np.copyto, (target, source), {})}
    if torch is not None and threads > 1:
        s, t = torch.from_numpy(source), torch.from_numpy(target)
        calls["threads"] = (t.copy_, (s,), {})
    return 2 * n / min(best(calls, 0.5).values())


def small(table: Table, threads: int) -> None:
    """Ten elements: what a call costs."""
    x = make("f32", 10, 0.5, 4)
    table.title("10 elements, ns", "2x NumPy, 8x PyTorch")
    for name in ("add", "mul", "equal"):
        table.row(f"{name} f32", operands(name, x, x), numpy=2, torch=8, unit=1e9)
    table.row("exp f32", operands("exp", x), numpy=2, torch=8, unit=1e9)
    table.title("10 elements, mixed, ns", "4x NumPy, 10x PyTorch")
    for pair in ("i32+f32", "f16+bf16"):
        a, b = (make(d, 10) for d in pair.split("+"))
        calls = operands("add", a, b, same=sz.add(a, b).numpy().dtype)
        table.row(f"add {pair}", calls, numpy=4, torch=10, unit=1e9)


def mixed(table: Table, size: str, threads: int) -> None:
    """Two dtypes: conversion and computation in one pass."""
    table.title(f"{size}, mixed pairs, {threads} threads, µs", "1.5x the faster")
    for pair in MIXED:
        a, b = (make(d, SIZES[size]) for d in pair.split("+"))
        calls = operands("add", a, b, same=sz.add(a, b).numpy().dtype)
        table.row(f"add {pair}", calls, faster=1.5)


def same(table: Table, size: str, threads: int) -> None:
    """One dtype: as fast as memory."""
    n = SIZES[size]
    table.title(f"{size}, {threads} threads, µs", "1.0x the faster, or 90 % of a copy's bandwidth")
    for dtype in ("f32", "f64", "i64", "i8"):
        a, b = make(dtype, n), make(dtype, n)
        for name in ("add", "mul", "equal", "max"):
            moved = 2 * n * a.dtype.itemsize + n * (1 if name == "equal" else a.dtype.itemsize)
            copy = copy_bandwidth(moved // 2, threads)
            table.row(f"{name} {dtype}", operands(name, a, b), faster=1, moved=moved, copy=copy)


def half(table: Table, size: str, threads: int) -> None:
    """The 16-bit floats."""
    table.title(f"{size}, 16-bit floats, {threads} threads, µs", "1.0x the faster")
    for dtype in ("f16", "bf16"):
        a, b = make(dtype, SIZES[size]), make(dtype, SIZES[size])
        for name in ("add", "mul", "div", "equal"):
            table.row(f"{name} {dtype}", operands(name, a, b), faster=1)


def functions(table: Table, size: str, threads: int) -> None:
    """The functions of 7.2.10 to 7.2.12, and pow."""
    table.title(f"{size}, functions, {threads} threads, µs", "1.0x NumPy")
    for dtype in ("f32", "f64"):
        for name in FUNCTIONS:
            low, high = {"acosh": (1, 50), "atanh": (-0.99, 0.99)}.get(name, (-0.99, 0.99))
            low, high = (0.01, 50) if name.startswith("log") else (low, high)
            low, high = (-20, 20) if name in ("sin", "cos", "tan", "exp", "tanh") else (low, high)
            table.row(
                f"{name} {dtype}", operands(name, make(dtype, SIZES[size], low, high)), numpy=1
            )
        a, b = make(dtype, SIZES[size], 0.1, 10), make(dtype, SIZES[size], -3, 3)
        table.row(f"pow {dtype}", operands("pow", a, b), numpy=1)


def half_functions(table: Table, size: str, threads: int) -> None:
    """Some functions of the 16-bit floats."""
    table.title(f"{size}, functions of 16-bit floats, {threads} threads, µs", "1.0x the faster")
    for dtype in ("f16", "bf16"):
        for name in ("exp", "tanh", "log", "sin"):
            low, high = (0.01, 50) if name == "log" else (-20, 20)
            x = make(dtype, SIZES[size], low, high)
            table.row(f"{name} {dtype}", operands(name, x), faster=1)


def casts(table: Table, threads: int) -> None:
    """Conversions alone."""
    n = SIZES["16M"]
    table.title(f"16M, casts, {threads} threads, µs", "1.0x the faster")
    for pair in CASTS:
        source, target = pair.split(">")
        x = make(source, n)
        a, goal = array(x), sz.dtype(target)
        dt = sz.cast(make(source, 1), goal).numpy().dtype
        calls: dict[str, Call] = {
            "suanzi": (sz.cast, (x, goal), {}),
            "NumPy": (a.astype, (dt,), {}),
        }
        if torch is not None:
            t, to = tensor(x), tensor(sz.cast(make(source, 1), goal)).dtype
            calls["PyTorch"] = (t.to, (to,), {})
        table.row(pair.replace(">", " to "), calls, faster=1)


MEMORY = """
import suanzi as sz, numpy as np
n = 1 << 24
x = sz.cast(sz.tensor(np.ones(n, np.float32)), sz.int8)
y = sz.cast(sz.tensor(np.ones(n, np.float32)), sz.float16)
sz.add(sz.tensor([1], sz.int8), sz.tensor([1], sz.float16))
sz._core.trim_pool()
def status(key):
    return next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith(key)) * 1024
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
z = sz.add(x, y)
print(status("VmHWM") - before - z.size * z.dtype.itemsize)
"""


def memory(table: Table, threads: int) -> None:
    """Print what a mixed operation needs in addition to its output."""
    if not os.path.exists("/proc/self/clear_refs"):
        print("\nmemory: this system does not say what a process used at most")
        return
    found = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True
    )
    print(f"\nmemory: i8+f16 over 16M elements: its output and {int(found.stdout) / 1024:.0f} KiB")


def at_sizes(name: str, group: Callable[[Table, str, int], None]) -> dict[str, Group]:
    """Return a group for each size."""

    def at(size: str) -> Group:
        return lambda table, threads: group(table, size, threads)

    return {f"{name}-{size}": at(size) for size in SIZES}


GROUPS: dict[str, Group] = {
    "small": small,
    **at_sizes("mixed", mixed),
    **at_sizes("same", same),
    **at_sizes("half", half),
    **at_sizes("functions", functions),
    "half-functions-1M": lambda table, threads: half_functions(table, "1M", threads),
    "casts": casts,
    "memory": memory,
}

if __name__ == "__main__":
    with np.errstate(all="ignore"):
        main(__doc__, GROUPS)
