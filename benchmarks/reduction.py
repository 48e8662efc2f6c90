"""7.2.13: times reductions and cumulative sums in one run with NumPy and PyTorch.

    python benchmarks/reduction.py                # everything, some minutes
    python benchmarks/reduction.py large small    # some groups
    python benchmarks/reduction.py --threads 1

Ratios above 1 mean suanzi is faster than the peer. Each library's sum has the dtype of its
input: that of int8 is int8. What is asked for is to be as fast as the faster of the two, or to read
at 90 % of the speed at which NumPy reads bytes that it does next to nothing with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from measuring import Call, Group, Table, array, best, main, make, tensor, torch

import suanzi as sz

SIDE = 4096
DTYPES = ("float32", "float16", "bfloat16", "int8", "int64")


def numpy_call(mode: str, x: Any, axis: int | None) -> Call | None:
    """Return NumPy's way; it has none for bfloat16, and means of its own dtype."""
    if x.dtype.name == "bfloat16":
        return None
    if mode == "sum":
        return np.sum, (x,), {"axis": axis, "dtype": x.dtype}
    return (np.max if mode == "max" else np.mean), (x,), {"axis": axis}


def torch_call(mode: str, x: Any, axis: int | None) -> Call | None:
    """Return PyTorch's way; it has no mean of integers."""
    if torch is None or (mode == "mean" and not x.is_floating_point()):
        return None
    dim = (0, 1) if axis is None else axis
    if mode == "sum":
        return torch.sum, (x, dim), {"dtype": x.dtype}
    return (torch.amax if mode == "max" else torch.mean), (x, dim), {}


def read_speed(size: int) -> float:
    """Return the bytes per second at which NumPy reads memory."""
    x = np.ones(size, np.uint8)
    ways: dict[str, Call] = {
        "bytes": (np.max, (x,), {}),
        "words": (np.bitwise_or.reduce, (x.view(np.uint64),), {}),
    }
    return size / min(best(ways, 0.3).values())


def large(table: Table, threads: int) -> None:
    """Sixteen million elements, all of them and along each axis of a square."""
    table.title("16M elements, ms", "1.0x the faster, or 90 % of a plain read")
    speeds = {n: read_speed(n * SIDE * SIDE) for n in (1, 2, 4, 8)}
    for name in DTYPES:
        x = make(name, SIDE * SIDE).reshape(SIDE, SIDE)
        x_numpy, x_torch = array(x), tensor(x) if torch is not None else None
        for mode in ("sum", "max", "mean"):
            for axis in (None, 0, 1):
                calls: dict[str, Call | None] = {
                    "suanzi": (sz.reduce, (x, mode.upper(), axis), {}),
                    "NumPy": numpy_call(mode, x_numpy, axis),
                    "PyTorch": torch_call(mode, x_torch, axis),
                }
                where = "all" if axis is None else f"axis {axis}"
                table.row(
                    f"{mode} {name}, {where}",
                    {k: v for k, v in calls.items() if v is not None},
                    faster=1.0,
                    moved=x.size * x.dtype.itemsize,
                    copy=speeds[x.dtype.itemsize],
                    against="a read",
                    unit=1e3,
                    rounds=0.15,
                )


def running(table: Table, threads: int) -> None:
    """Running sums of sixteen million elements."""
    table.title("cumsum, 16M elements, ms", "1.0x the faster")
    for name in DTYPES:
        x = make(name, SIDE * SIDE, 0, 1)
        for axis, shape in ((0, (SIDE * SIDE,)), (0, (SIDE, SIDE)), (1, (SIDE, SIDE))):
            y = x.reshape(shape)
            calls: dict[str, Call] = {"suanzi": (sz.cumsum, (y, axis), {})}
            if name != "bfloat16":
                calls["NumPy"] = (np.cumsum, (array(y),), {"axis": axis, "dtype": array(y).dtype})
            if torch is not None:
                other = tensor(y)
                calls["PyTorch"] = (torch.cumsum, (other, axis), {"dtype": other.dtype})
            label = "one row" if len(shape) == 1 else f"axis {axis}"
            table.row(f"cumsum {name}, {label}", calls, faster=1.0, unit=1e3, rounds=0.15)


def small(table: Table, threads: int) -> None:
    """Ten elements: what a call costs."""
    table.title("10 elements, ns", "1.0x both, and under 1000 ns")
    for name in ("float32", "int64", "float16"):
        x = make(name, 10)
        y, z = array(x), tensor(x) if torch is not None else None
        ways: dict[str, tuple[Callable[..., Any], ...]] = {
            "sum": (sz.reduce, np.sum, torch.sum if torch is not None else None),
            "cumsum": (
                lambda x, f=sz.cumsum: f(x, 0),
                lambda x: np.cumsum(x, 0),
                lambda x: torch.cumsum(x, 0),
            ),
            "max along axis 0": (
                lambda x, f=sz.reduce: f(x, "MAX", 0),
                lambda x: np.max(x, 0),
                lambda x: torch.amax(x, 0),
            ),
        }
        for label, (ours, numpys, torchs) in ways.items():
            calls: dict[str, Call] = {"suanzi": (ours, (x,), {}), "NumPy": (numpys, (y,), {})}
            if torch is not None:
                calls["PyTorch"] = (torchs, (z,), {})
            table.row(f"{label} {name}", calls, numpy=1.0, torch=1.0, unit=1e9, rounds=0.1)


GROUPS: dict[str, Group] = {"large": large, "running": running, "small": small}

if __name__ == "__main__":
    main(__doc__, GROUPS)
