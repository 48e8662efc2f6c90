"""End while daemon threads call operators: python -m helpers.exit_calls PART PARTS."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import suanzi as sz
from helpers.memory_cases import calls, regular

N = 352
"""Loops over N x N elements release the GIL; transforms of N and 2 N - 2 do not need SciPy, which
crashes in the same way."""


def of_operators() -> dict[str, Callable[[], Any]]:
    """Return a call of each operator of the standard."""
    given = {**calls(N), "eig": regular(100)["eig"], "svd": regular(100)["svd"]}
    for name in ("inverse", "cholesky", "solve", "lstsq", "lu", "qr"):
        given[name] = regular(N)[name]
    return {name: partial(getattr(sz, name), **named) for name, named in given.items()}


def arguments(n: int) -> list[tuple[Any, ...]]:
    """Return arguments of which at least one fits most functions of the array API."""
    x = sz.rand_uniform((n, n), min=0.0, max=1.0) + sz.array_api.eye(n) * n
    i = sz.cast(x, sz.int32)
    row, z, order = x[0], sz.complex(x, x), sz.randperm(n, sz.int64)
    return [
        *[(x,), (x, x), (i,), (i, i), (z,), ((n, n),), ((n, n), 2.0), ([x, x],), (x > 0, x, x)],
        *[
            (x, 2),
            (x, (2, 1)),
            (x, (n * n,)),
            (x, 0, 1),
            (x, sz.float64),
            (n,),
            (0.0, 1.0, n * n),
            (0, n * n),
        ],
        *[("ij,jk->ik", x, x), (row, x), (x, (1, 0)), (x, i[0]), (x, (2, n, n))],
        *[(x[:, :3], x[:, :3]), ((n, 1), (1, n)), (row, row), (sz.reshape(x, (1, n, n)), 0)],
        *[(x, {"axis": 0}), (x, order, {"axis": 0}), (x, sz.expand(order, (n, n)))],
    ]


def apply(function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """Call a function; a dictionary at the end of the arguments has those by name."""
    named = given[-1] if isinstance(given[-1], dict) else {}
    return function(*given[: len(given) - len(named)], **named)


def of_namespace() -> dict[str, Callable[[], Any]]:
    """Return a call of each function of the array API, with the first arguments that it takes."""
    small, large, matrices = arguments(4), arguments(N), arguments(100)
    found: dict[str, Callable[[], Any]] = {}
    for space in (sz.array_api, sz.array_api.linalg, sz.array_api.fft):
        for name in space.__all__:
            function = getattr(space, name)
            if not callable(function) or isinstance(function, type):
                continue
            used = matrices if space is sz.array_api.linalg else large
            for at, given in enumerate(small):
                try:
                    apply(function, given)
                except (sz.StatusError, TypeError, ValueError, AttributeError):
                    continue
                found[f"{space.__name__}.{name}"] = partial(apply, function, used[at])
                break
    return found


def of_tensors() -> dict[str, Callable[[], Any]]:
    """Return calls of methods and subscripts."""
    x, i = sz.rand_uniform((N, N), min=0.0, max=1.0), sz.randperm(N, sz.int64)
    y = sz.zeros((N, N))
    return {
        "x[i]": lambda: x[i],
        "x[mask]": lambda: x[x > 0.5],
        "x[::-1] = y": lambda: y.__setitem__(slice(None, None, -1), x),
        "x[i] = y": lambda: y.__setitem__(i, x),
        "copy": x.T.copy,
        "tolist": x.tolist,
        "tensor": lambda: sz.tensor(x.numpy().T),
        "+=": lambda: y.__iadd__(x),
        "@": lambda: x @ x,
        "sum": x.sum,
        "var": x.var,
    }


def all_calls() -> dict[str, Callable[[], Any]]:
    return {**of_operators(), **of_namespace(), **of_tensors()}


class Slow:
    """Keeps Python's shutdown waiting, without the GIL, so that every thread asks for it."""

    def __del__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        sleep(0.5)


def work(call: Callable[[], Any], begin: threading.Barrier) -> None:
    call()
    begin.wait()
    while True:
        call()


if __name__ == "__main__":
    part, parts = map(int, sys.argv[1:])
    chosen = list(all_calls().items())[part::parts]
    print(*(name for name, _ in chosen), flush=True)
    begin = threading.Barrier(len(chosen) + 1, timeout=100)
    for _, call in chosen:
        threading.Thread(target=work, args=(call, begin), daemon=True).start()
    begin.wait()
    time.sleep(0.1)
    slow = Slow()
