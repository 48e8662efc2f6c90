"""Times promotion against NumPy and PyTorch in one run; ratios above 1 mean suanzi is faster.

    python benchmarks/promotion.py

The cases take turns, so that a busy machine slows all of them alike; the best of many rounds
counts.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
import timeit

import numpy as np

import suanzi as sz

ROUNDS, CALLS = 200, 2000


def best(cases: dict[str, str], names: dict[str, object]) -> dict[str, float]:
    """Return the best time of each statement in nanoseconds."""
    timers = {label: timeit.Timer(statement, globals=names) for label, statement in cases.items()}
    found = dict.fromkeys(cases, float("inf"))
    for _ in range(ROUNDS):
        for label, timer in timers.items():
            found[label] = min(found[label], timer.timeit(CALLS) / CALLS * 1e9)
    return found


def show(title: str, times: dict[str, float], ours: str, unit: str = "ns") -> None:
    """Print times, with what suanzi's own is faster by."""
    print(f"\n{title}")
    for label, found in times.items():
        ratio = "" if label == ours else f"{found / times[ours]:6.2f}x"
        print(f"  {label:45}{found:9.1f} {unit} {ratio}")


def import_time(module: str) -> float:
    """Return the best time in milliseconds that importing a module adds to an interpreter."""

    def run(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return (time.perf_counter() - start) * 1e3

    times = [(run("pass"), run(f"import {module}")) for _ in range(15)]
    return min(t for _, t in times) - min(t for t, _ in times)


def main() -> None:
    """Measure and print."""
    names: dict[str, object] = {
        "sz": sz,
        "np": np,
        "a": sz.int32,
        "b": sz.float32,
        "na": np.dtype("int32"),
        "nb": np.dtype("float32"),
        "array": np.ones(10, np.int32),
    }
    two = {
        "sz.promote_types(a, b)": "sz.promote_types(a, b)",
        "sz.promote_types(a, b, rules='numpy')": "sz.promote_types(a, b, rules='numpy')",
        "numpy.promote_types(a, b)": "np.promote_types(na, nb)",
    }
    numbers = {
        "sz.result_type(a, 2.5)": "sz.result_type(a, 2.5)",
        "sz.result_type(a, 2.5, op='add')": "sz.result_type(a, 2.5, op='add')",
        "numpy.result_type(array, 2.5)": "np.result_type(array, 2.5)",
    }
    if importlib.util.find_spec("torch"):
        import torch

        names |= {"torch": torch, "ta": torch.int32, "tb": torch.float32}
        names["tensor"] = torch.ones(10, dtype=torch.int32)
        two["torch.promote_types(a, b)"] = "torch.promote_types(ta, tb)"
        numbers["torch.result_type(tensor, 2.5)"] = "torch.result_type(tensor, 2.5)"
    else:
        print("torch is not installed; install torch to see it beside")
    for statement in (*two.values(), *numbers.values()):
        exec(statement, names)  # fills the native table: the first question asks the engine
    show("two dtypes", best(two, names), "sz.promote_types(a, b)")
    show("a dtype and a number", best(numbers, names), "sz.result_type(a, 2.5)")
    imports = {f"import {module}": import_time(module) for module in ("suanzi", "numpy")}
    show("import", imports, "import suanzi", "ms")


if __name__ == "__main__":
    main()
