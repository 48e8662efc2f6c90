"""Operators on a GPU against PyTorch (eager and compiled), CuPy and JAX, all in one run.

    python benchmarks/accelerators.py --out benchmarks/results/accelerators-nvidia-h200.json
    python benchmarks/accelerators.py --rows 'softmax|sum' --libraries suanzi,torch
    python benchmarks/accelerators.py --device cpu --quick     # whether every call runs

Each row is one operator (`accelerators_rows.py`): the bytes that it must read and write, by the
time of a call, in TB/s; a copy of PyTorch is the bound. Products are in TFLOP/s. Four calls are
made in a row and waited for, and the fastest of several rounds counts, so that what remains is the
device's time. Calls of 10 elements are not waited for: microseconds on the host. Libraries that are
not installed are left out; torch.compile and JAX compile until their seconds are spent.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from accelerators_rows import Make, Row, elementwise, few, in_rows, of_models

import suanzi as sz
from suanzi.ops import nn
from suanzi.runtimes.torch.provider import register
from suanzi.runtimes.torch.tensor import from_torch

sys.path.append(str(Path(__file__).parents[1] / "tools"))
import records

Wait = Callable[[Any], None]
Library = tuple[Callable[..., Any], Wait, Any]
"""How operands come to it, how it waits, and how calls are compiled."""
NAMES: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "sz": sz, "nn": nn}
AT_ONCE = 4


def of_call(call: Callable[[], Any], wait: Wait, rounds: int) -> float:
    """Return the seconds of a call, of the fastest of several rounds."""
    wait(call())
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(AT_ONCE):
            made = call()
        wait(made)
        best = min(best, (time.perf_counter() - start) / AT_ONCE)
    return best


def of_host(call: Callable[[], Any], wait: Wait, runs: int) -> float:
    """Return the seconds of a call that nothing waits for."""
    best = float("inf")
    for _ in range(4):
        start = time.perf_counter()
        for _ in range(runs):
            made = call()
        best = min(best, (time.perf_counter() - start) / runs)
        wait(made)
    return best


def libraries(device: str) -> dict[str, Library]:
    """Return the libraries that are installed."""

    def wait(_: Any) -> None:
        if device != "cpu":
            torch.accelerator.synchronize()

    found: dict[str, Library] = {
        "suanzi": (from_torch, wait, None),
        "torch": (lambda x: x, wait, None),
        "torch.compile": (lambda x: x, wait, torch.compile),
    }
    if device == "cpu":  # of which CuPy has none, and JAX another
        return found
    try:
        import cupy

        NAMES["cp"] = cupy
        found["cupy"] = (cupy.from_dlpack, lambda _: cupy.cuda.Device().synchronize(), None)
    except ImportError:
        pass
    try:
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax

        NAMES.update(jax=jax, jnp=jax.numpy)
        found["jax"] = (jax.dlpack.from_dlpack, lambda x: x.block_until_ready(), jax.jit)
    except ImportError:
        pass
    return found


def called(text: str, count: int) -> Callable[..., Any]:
    """Return the function of an expression of so many operands."""
    made: Callable[..., Any] = eval(f"lambda {', '.join('abc'[:count])}: {text}", NAMES)
    return made


class Budget:
    """The seconds that a library has to compile in; one that was not named has no end."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self._left = seconds

    def allows(self, library: str) -> bool:
        """Return whether there is time left."""
        return self._left.get(library, 1.0) > 0

    def spend(self, library: str, seconds: float) -> None:
        """Take time away."""
        if library in self._left:
            self._left[library] -= seconds


def measured(
    row: Row, library: str, known: Library, given: tuple[torch.Tensor, ...], rounds: int
) -> float | str:
    """Return what a library reaches in a row, or why it does not."""
    take, wait, compiled = known
    try:
        operands = [take(x) for x in given]
        call = called(row.calls[library.partition(".")[0]], len(operands))
        ready = compiled(call) if compiled else call
        for _ in range(3):  # the second call of a kind compiles kernels of suanzi's
            wait(ready(*operands))
        if row.unit == "us":
            return 1e6 * of_host(lambda: ready(*operands), wait, 100 * rounds)
        return row.work / of_call(lambda: ready(*operands), wait, rounds) / 1e12
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:80]}"


def measure(
    rows: Iterator[Row], chosen: dict[str, Library], rounds: int, budget: Budget
) -> dict[str, dict[str, Any]]:
    """Return the table: rows by name, each with its unit and the results of libraries."""
    table: dict[str, dict[str, Any]] = {}
    for row in rows:
        given = row.operands()
        found = table[row.name] = {"unit": row.unit}
        for library, known in chosen.items():
            if not row.calls.get(library.partition(".")[0]) or (
                library == "torch.compile" and not row.is_compiled
            ):
                continue
            if not budget.allows(library):
                continue
            start = time.monotonic()
            found[library] = measured(row, library, known, given, rounds)
            budget.spend(library, time.monotonic() - start)
        del given
    return table


def all_rows(n: int, device: str, chosen: str) -> Iterator[Row]:
    """Yield the rows whose names a pattern is found in."""
    make = Make(device)

    def copy() -> Iterator[Row]:
        for dtype in (torch.float32, torch.bfloat16):
            name = f"copy {str(dtype).removeprefix('torch.')}"
            yield Row(name, lambda dtype=dtype: (make.normal(dtype, n),), 2 * n * dtype.itemsize,
                      {"torch": "a.clone()"})  # fmt: skip

    groups = chain(copy(), elementwise(n, make), in_rows(n, make), of_models(n, make), few(make))
    return (row for row in groups if re.search(chosen, row.name))


def described(device: str) -> str:
    """Return device, driver and versions."""
    facts = [f"PyTorch {torch.__version__}", f"Python {platform.python_version()}"]
    if device.startswith("cuda"):
        facts.insert(0, f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}")
        try:
            line = Path("/proc/driver/nvidia/version").read_text("utf-8").splitlines()[0]
            facts.insert(1, "driver " + line.split("  ")[1].split()[0])
        except (OSError, IndexError):
            pass
    for name in ("triton", "cupy", "jax"):
        try:
            facts.append(f"{name} {__import__(name).__version__}")
        except ImportError:
            continue
    return ", ".join(facts)


def printed(table: dict[str, dict[str, Any]], names: list[str]) -> Iterator[str]:
    """Yield the lines of the table in Markdown; above 1, suanzi is faster than PyTorch."""
    yield "| operator | unit | " + " | ".join(names) + " | suanzi / torch |"
    yield "|---" * (len(names) + 3) + "|"
    for name, found in table.items():
        cells = [found.get(one, "") for one in names]
        shown = [f"{x:.3g}" if isinstance(x, float) else x for x in cells]
        yield f"| {name} | {found['unit']} | {' | '.join(shown)} | {_ratio(found)} |"


def _ratio(found: dict[str, Any]) -> str:
    own, peer = found.get("suanzi"), found.get("torch")
    if not isinstance(own, float) or not isinstance(peer, float):
        return ""
    return f"{peer / own if found['unit'] == 'us' else own / peer:.2f}"


def main() -> None:
    """Print the table in Markdown, and write it as JSON."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--device", default="cuda")
    asked.add_argument("--elements", type=int, default=1 << 26)
    asked.add_argument("--rounds", type=int, default=4)
    asked.add_argument("--rows", default="", help="a pattern that is found in their names")
    asked.add_argument("--libraries", default="", help="suanzi,torch,torch.compile,cupy,jax")
    asked.add_argument("--compile-seconds", type=float, default=25)
    asked.add_argument("--quick", action="store_true", help="few elements, one round, no compiler")
    asked.add_argument("--out")
    options = asked.parse_args()
    if options.quick:
        options.elements, options.rounds, options.compile_seconds = 1 << 16, 1, 0
        torch.set_num_threads(1)
    register()
    known = libraries(options.device)
    names = options.libraries.split(",") if options.libraries else list(known)
    budget = Budget(dict.fromkeys(("torch.compile", "jax"), options.compile_seconds))
    rows = all_rows(options.elements, options.device, options.rows)
    start = time.monotonic()
    table = measure(rows, {one: known[one] for one in names}, options.rounds, budget)
    print(f"{described(options.device)}; {options.elements} elements; "
          f"{time.monotonic() - start:.0f} s")  # fmt: skip
    print("\n".join(printed(table, names)))
    if options.out:
        facts = {"machine": described(options.device), "elements": options.elements}
        records.write(Path(options.out), {**facts, "table": table})


if __name__ == "__main__":
    main()
