"""What the benchmarks share: calls that take turns, a row per case, the numbers of threads."""

from __future__ import annotations

import importlib.util
import os
import time
import timeit
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import suanzi as sz

torch: Any = None
if importlib.util.find_spec("torch"):
    import torch

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""A function, what it is called with, and its keywords."""


class Table:
    """Prints a row per case, and keeps what missed its target."""

    def __init__(self, peers: tuple[str, ...] = ("NumPy", "PyTorch")) -> None:
        self.missed: list[str] = []
        self.peers = peers

    def title(self, text: str, targets: str) -> None:
        """Start a group."""
        print(f"\n{text}; at least {targets}")
        peers = "".join(f"{peer:>12}" for peer in self.peers)
        print(f"  {'case':34}{'suanzi':>12}{peers}  ratios")

    def row(
        self,
        case: str,
        calls: dict[str, Call],
        *,
        numpy: float | None = None,
        scipy: float | None = None,
        torch: float | None = None,
        faster: float | None = None,
        moved: int = 0,
        copy: float = 0,
        against: str = "a copy",
        unit: float = 1e6,
        rounds: float = 0.4,
    ) -> None:
        """Measure and print a case; the keywords are the ratios asked for."""
        times = best(calls, rounds)
        ours = times["suanzi"]
        ratios = {name: t / ours for name, t in times.items() if name != "suanzi"}
        least = min(ratios.values(), default=float("inf"))
        share = moved / ours / copy if copy else 0.0
        good = all(
            wanted is None or name not in ratios or ratios[name] >= wanted
            for name, wanted in (("NumPy", numpy), ("SciPy", scipy), ("PyTorch", torch))
        ) and (faster is None or least >= faster or share >= 0.9)
        cells = "".join(
            f"{times[n] * unit:12.2f}" if n in times else f"{'-':>12}"
            for n in ("suanzi", *self.peers)
        )
        shown = "  ".join(f"{n} {r:.2f}" for n, r in ratios.items())
        shown += f"  {share:.0%} of {against}" if copy else ""
        print(f"  {case:34}{cells}  {shown}{'' if good else '   below'}", flush=True)
        if not good:
            self.missed.append(f"{case}: {shown}")

    def summary(self) -> None:
        """Print what missed its target."""
        print(f"\n{len(self.missed)} below what is asked for")
        for line in self.missed:
            print(f"  {line}")


def timer(call: Call) -> timeit.Timer:
    """Return a timer that calls a function as a user writes it, with nothing in between."""
    function, arguments, keywords = call
    names = {f"x{i}": x for i, x in enumerate(arguments)}
    written = ", ".join([*names, *(f"{k}={k}" for k in keywords)])
    return timeit.Timer(f"f({written})", globals={"f": function, **names, **keywords})


def best(calls: dict[str, Call], seconds: float) -> dict[str, float]:
    """Return the best time of each call in seconds; they take turns."""
    shared = sz.get_num_threads() > 1 and len(calls) > 1
    found = dict.fromkeys(calls, float("inf"))
    timers = {name: timer(call) for name, call in calls.items()}
    batch: dict[str, int] = {}
    for name, one in timers.items():
        one.timeit(1)
        batch[name] = max(1, int((2e-3 if shared else 2e-4) / max(one.timeit(1), 1e-9)))
    end, rounds = time.perf_counter() + seconds * len(calls), 0
    while rounds < 5 or time.perf_counter() < end:
        rounds += 1
        for name, one in timers.items():
            if shared:
                time.sleep(0.005)  # threads of the one before may still wait busily for more work
            found[name] = min(found[name], one.timeit(batch[name]) / batch[name])
    return found


def make(dtype: str, n: int, low: float = 1, high: float = 100) -> sz.Tensor:
    """Return a tensor of numbers in a range."""
    rng = np.random.default_rng(n)
    values = rng.uniform(low, high, n)
    return sz.cast(sz.tensor(values), sz.dtype(dtype))


def array(x: sz.Tensor) -> Any:
    """Return the elements as an array of NumPy's own memory."""
    return x.numpy().copy()


def tensor(x: sz.Tensor) -> Any:
    """Return the elements as a PyTorch tensor of its own memory."""
    return torch.from_dlpack(x).clone()


def settings(which: str) -> Iterator[int]:
    """Set and yield the numbers of threads to measure with."""
    every = os.cpu_count() or 1
    for count in {"1": [1], "all": [every], "both": [1, every]}[which]:
        sz.set_num_threads(count)
        if torch is not None:
            torch.set_num_threads(count)
        yield count


def header() -> str:
    """Return what is compared, in words."""
    peer = f"PyTorch {torch.__version__}" if torch is not None else "no PyTorch (install torch)"
    return f"suanzi {sz.__version__} ({sz._core.level()}), NumPy {np.__version__}, {peer}"
