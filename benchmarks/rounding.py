"""The cost of correct rounding and of exact sums, as a ratio to the default in the same run.

python benchmarks/rounding.py [SIZE] [THREADS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import suanzi as sz
from suanzi import _core

FUNCTIONS = """
    exp expm1 log log1p log10 log2 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh rsqrt
""".split()
ANYWHERE = "exp expm1 sin cos tan sinh cosh tanh atan asinh".split()
ROUNDS = 15


def pair(first: Callable[[], Any], second: Callable[[], Any], count: int) -> str:
    """Return the shortest times of two calls, made in turn, by element, and their ratio."""
    best = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for i, call in enumerate((first, second)):
            begun = time.perf_counter()
            call()
            best[i] = min(best[i], (time.perf_counter() - begun) / count * 1e9)
    return f"{best[0]:6.2f} {best[1]:6.2f} ns, ratio {best[1] / best[0]:.2f}"


def correctly(call: Callable[[], Any]) -> Callable[[], Any]:
    """Return a call that is made with correct rounding."""

    def made() -> Any:
        with sz.rounding("correct"):
            return call()

    return made


def functions(n: int, level: str) -> None:
    """Print the functions of float32."""
    rng = np.random.default_rng(0)
    for name in FUNCTIONS:
        low, high = (-9, 9) if name in ANYWHERE else (1, 9) if name == "acosh" else (0.1, 0.9)
        x = sz.tensor(rng.uniform(low, high, n).astype(np.float32))
        function = getattr(sz, name)
        call = lambda function=function, x=x: function(x)  # noqa: E731
        print(f"{level} {name}: {pair(call, correctly(call), n)}", flush=True)
    x, y = (sz.tensor(rng.uniform(0.1, 9, n).astype(np.float32)) for _ in range(2))
    print(f"{level} pow: {pair(lambda: sz.pow(x, y), correctly(lambda: sz.pow(x, y)), n)}")


def sums(n: int) -> None:
    """Print sums with ``accumulate="exact"``."""
    rng = np.random.default_rng(1)
    for dtype in (sz.float32, sz.float64, sz.bfloat16):
        x, y = (sz.cast(sz.tensor(rng.standard_normal(n)), dtype) for _ in range(2))
        calls: dict[str, Callable[[Any], Any]] = {
            "sum": lambda how, x=x: sz.reduce(x, accumulate=how),
            "norm 2": lambda how, x=x: sz.norm(x, "2", accumulate=how),
            "dot": lambda how, x=x, y=y: sz.dot(x, y, accumulate=how),
        }
        for name, call in calls.items():
            found = pair(lambda: call("default"), lambda: call("exact"), n)  # noqa: B023
            print(f"{dtype} {name}: {found}", flush=True)


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 15
    sz.set_num_threads(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    for chosen in _core.levels():
        _core.use_level(chosen)
        functions(size, chosen)
    _core.use_level(_core.levels()[0])
    sums(size)
