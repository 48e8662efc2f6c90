"""7.2.17: times products and decompositions under every installed provider of BLAS and LAPACK.

    python benchmarks/providers.py                       # on one thread and on all
    python benchmarks/providers.py --threads 1 --seconds 0.05

Times are in microseconds, the best of many calls that take turns; NumPy and PyTorch are measured
next to them where they have the dtype.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from measuring import array, tensor, torch

import suanzi as sz
from suanzi.ops.libraries import providers


def cases() -> Iterator[tuple[str, Callable[[], Any], Callable[[], Any], Callable[[], Any] | None]]:
    """Yield what is timed: suanzi's call, NumPy's, PyTorch's."""
    rng = np.random.default_rng(7)
    for dtype in ("f32", "f64", "c64", "c128", "bf16", "f16"):
        for n in (32, 128, 512, 1024):
            x = sz.cast(sz.tensor(rng.uniform(-9, 9, (n, n))), sz.dtype(dtype))
            a, t = array(x), tensor(x) if torch is not None else None
            own = (lambda t=t: torch.matmul(t, t)) if t is not None else None
            plain = (lambda a=a: a @ a) if dtype not in ("bf16", "f16") else (lambda: None)
            yield f"matmul {dtype} {n}", lambda x=x: sz.matmul(x, x), plain, own
    for dtype in ("f32", "f64"):
        for shape in ((16, 16), (128, 128), (512, 512), (64, 32, 32)):
            n = shape[-1]
            a = rng.standard_normal(shape) + 2 * n**0.5 * np.eye(n)
            x = sz.cast(sz.tensor(a), sz.dtype(dtype))
            a, t = array(x), tensor(x) if torch is not None else None
            for name, ours, numpys, torchs in (
                ("inverse", sz.inverse, np.linalg.inv, "inv"),
                ("qr", lambda x: sz.qr(x, "reduced"), np.linalg.qr, "qr"),
                ("svd", sz.svd, np.linalg.svd, "svd"),
                ("eig", sz.eig, np.linalg.eig, "eig"),
                ("solve", lambda x: sz.solve(x, x, False), lambda a: np.linalg.solve(a, a), ""),
            ):
                if n == 512 and name in ("svd", "eig"):
                    continue
                own = None
                if t is not None:
                    call = getattr(torch.linalg, torchs) if torchs else None
                    call = call or (lambda t: torch.linalg.solve(t, t))
                    own = lambda call=call, t=t: call(t)  # noqa: E731
                title = f"{name} {dtype} {'x'.join(map(str, shape))}"
                yield title, lambda f=ours, x=x: f(x), lambda f=numpys, a=a: f(a), own


def under(name: str, call: Callable[[], Any]) -> Callable[[], float]:
    """Return what calls with a provider, once, and returns how long that took."""

    def timed() -> float:
        sz.set_provider(name)
        return once(call)

    return timed


def once(call: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def best(calls: dict[str, Callable[[], float]], seconds: float) -> dict[str, float]:
    """Return the least time of each, of calls that take turns."""
    found = {name: float("inf") for name in calls}
    end, rounds = time.perf_counter() + seconds * len(calls), 0
    while rounds < 4 or time.perf_counter() < end:
        for name, timed in calls.items():
            for _ in range(3):  # so that the caches are its own
                found[name] = min(found[name], timed())
        rounds += 1
    return found


def run(threads: int, seconds: float) -> None:
    """Print a row for each case."""
    sz.set_num_threads(threads)
    if torch is not None:
        torch.set_num_threads(threads)
    names = [name for name in providers.NAMES if providers.is_installed(name)]
    peers = ["NumPy", *(["PyTorch"] if torch is not None else [])]
    print(f"\n{threads} threads, µs\n{'':24}", *(f"{one:>10}" for one in [*names, *peers]))
    for title, ours, numpys, torchs in cases():
        calls = {name: under(name, ours) for name in names}
        if numpys() is not None:
            calls["NumPy"] = lambda call=numpys: once(call)
        if torchs is not None:
            calls["PyTorch"] = lambda call=torchs: once(call)
        found = best(calls, seconds)
        cells = (
            f"{found[one] * 1e6:>10.1f}" if one in found else " " * 10 for one in [*names, *peers]
        )
        print(f"{title:24}", *cells, flush=True)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, help="one number of threads, instead of 1 and all")
    parser.add_argument("--seconds", type=float, default=0.2, help="how long each call is tried")
    asked = parser.parse_args()
    for threads in [asked.threads] if asked.threads else sorted({1, os.cpu_count() or 1}):
        run(threads, asked.seconds)


if __name__ == "__main__":
    main()
