"""7.2.14 and 7.2.15: times argmax, argsort, topk, nonzero, complex numbers, in one run with peers.

    python benchmarks/indexing.py                  # everything, some minutes
    python benchmarks/indexing.py argmax small     # some groups
    python benchmarks/indexing.py --threads 1

Ratios above 1 mean suanzi is faster than the peer. `argsort` gives values and indices; PyTorch's
`sort` does, too, and NumPy's `argsort` the indices alone. Where a peer has two ways, the faster is
meant: the plain sort, which is not stable, and the stable one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from measuring import Call, Group, Table, array, main, tensor, torch

import suanzi as sz

RANDOM = np.random.default_rng(0)


def numbers(dtype: str, *shape: int) -> sz.Tensor:
    """Return random numbers that use the range of a dtype."""
    if dtype.startswith("i"):
        bits = int(dtype[1:])
        found = RANDOM.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), shape, np.int64)
    else:
        found = RANDOM.normal(0, 1, shape)
    return sz.cast(sz.tensor(found), sz.dtype(dtype))


def calls(
    x: sz.Tensor,
    ours: Callable[[Any], Any],
    numpys: Callable[[Any], Any] | None,
    torchs: Callable[[Any], Any] | None,
) -> dict[str, Call]:
    """Return a case as each library is called with it; NumPy has no bfloat16 of its own."""
    made: dict[str, Call] = {"suanzi": (ours, (x,), {})}
    if numpys is not None and x.dtype is not sz.bfloat16:
        made["NumPy"] = (numpys, (array(x),), {})
    if torch is not None and torchs is not None:
        made["PyTorch"] = (torchs, (tensor(x),), {})
    return made


def read_rate() -> float:
    """Return the bytes per second of a plain read: NumPy's sum of 64-bit integers."""
    words = np.ones(1 << 23, np.int64)
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        words.sum()
        best = min(best, time.perf_counter() - start)
    return words.nbytes / best * sz.get_num_threads()


def argmax(table: Table, threads: int) -> None:
    """Over one long row, and along both axes of a matrix."""
    table.title("argmax, ms", "1.0x the faster, or 90 % of a plain read")
    rate = read_rate()
    for dtype in ("f32", "f16", "bf16", "i8", "i64"):
        x = numbers(dtype, 1 << 24)
        moved = x.size * x.dtype.itemsize
        more: dict[str, Any] = {"faster": 1.0, "moved": moved, "copy": rate, "unit": 1e3}
        case = calls(x, sz.argmax, lambda a: a.argmax(), lambda t: t.argmax())
        table.row(f"{dtype} 16M", case, **more)
        matrix = sz.reshape(x, (4096, 4096))
        for axis in (0, 1):
            case = calls(
                matrix,
                lambda y, axis=axis, f=sz.argmax: f(y, axis),
                lambda a, axis=axis: a.argmax(axis),
                lambda t, axis=axis: t.argmax(axis),
            )
            table.row(f"{dtype} 4096 x 4096, axis {axis}", case, **more)


def argsort(table: Table, threads: int) -> None:
    """One long row, and many of several lengths."""
    table.title("argsort ascending, ms", "1.0x the faster")
    shapes = [(1 << 20,), (1024, 1024), (10_000, 100), (100_000, 10)]
    for dtype in ("f32", "f16", "bf16", "i8", "i64", "f64"):
        for shape in shapes if dtype in ("f32", "f64") else shapes[:1]:
            x = numbers(dtype, *shape)
            for kind, stable in (("", False), (" stable", True)):
                case = calls(
                    x,
                    lambda y, f=sz.argsort: f(y, -1, False),
                    lambda a, kind="stable" if stable else None: np.argsort(a, kind=kind),
                    lambda t, stable=stable: torch.sort(t, stable=stable),
                )
                table.row(f"{dtype} {shape}{kind}", case, faster=1.0, unit=1e3)


def _numpy_topk(a: Any, k: int) -> Any:
    places = np.argpartition(a, -k, axis=-1)[..., -k:]
    values = np.take_along_axis(a, places, -1)
    order = np.argsort(values, axis=-1)[..., ::-1]
    return np.take_along_axis(values, order, -1), np.take_along_axis(places, order, -1)


def topk(table: Table, threads: int) -> None:
    """Few and many of one long row, and of many rows."""
    table.title("topk, ms", "1.0x the faster")
    shapes = [((1 << 20,), 10), ((1 << 20,), 1000), ((1 << 20,), 100_000)]
    shapes += [((1024, 1024), 10), ((10_000, 100), 5), ((100_000, 10), 3)]
    for dtype in ("f32", "bf16", "i64"):
        for shape, k in shapes:
            case = calls(
                numbers(dtype, *shape),
                lambda y, k=k, f=sz.topk: f(y, k),
                lambda a, k=k: _numpy_topk(a, k),
                lambda t, k=k: torch.topk(t, k),
            )
            table.row(f"{dtype} {shape} k={k}", case, faster=1.0, unit=1e3)


def nonzero(table: Table, threads: int) -> None:
    """Few, half and all of a million."""
    table.title("nonzero of 1M, ms", "1.0x the faster")
    for dtype in ("bool", "f32", "i8"):
        for shape in ((1 << 20,), (1024, 1024)):
            for share in (0.01, 0.5, 1.0):
                case = calls(
                    sz.cast(sz.tensor(RANDOM.random(shape) < share), sz.dtype(dtype)),
                    sz.nonzero,
                    np.nonzero,
                    lambda t: torch.nonzero(t, as_tuple=True),
                )
                table.row(f"{dtype} {shape} {share:.0%}", case, faster=1.0, unit=1e3)


def complex_numbers(table: Table, threads: int) -> None:
    """Made, turned, and looked at."""
    table.title("complex numbers, us", "1.0x the faster")
    for n in (10, 1 << 20):
        x = numbers("f32", n)
        z = sz.complex(x, x)
        made = calls(
            x, lambda y, f=sz.complex: f(y, y), lambda a: a + 1j * a, lambda t: torch.complex(t, t)
        )
        table.row(f"complex {n}", made, faster=1.0)
        turned = calls(z, sz.conj, np.conj, lambda t: torch.conj_physical(t))
        table.row(f"conj {n}", turned, faster=1.0)
        table.row(f"real {n}", calls(z, sz.real, np.real, lambda t: torch.real(t)), faster=1.0)
        table.row(f"imag {n}", calls(z, sz.imag, np.imag, lambda t: torch.imag(t)), faster=1.0)


def small(table: Table, threads: int) -> None:
    """What a call of 10 elements costs."""
    table.title("10 elements, us", "1.0x the faster")
    x = numbers("f32", 10)
    cases: dict[str, tuple[Any, Any, Any]] = {
        "argmax": (sz.argmax, lambda a: a.argmax(), lambda t: t.argmax()),
        "argsort": (sz.argsort, np.argsort, lambda t: torch.sort(t)),
        "topk": (
            lambda y, f=sz.topk: f(y, 3),
            lambda a: np.argpartition(a, -3),
            lambda t: torch.topk(t, 3),
        ),
        "nonzero": (sz.nonzero, np.nonzero, lambda t: torch.nonzero(t)),
    }
    for name, case in cases.items():
        table.row(name, calls(x, *case), faster=1.0)


GROUPS: dict[str, Group] = {
    "argmax": argmax,
    "argsort": argsort,
    "topk": topk,
    "nonzero": nonzero,
    "complex": complex_numbers,
    "small": small,
}


if __name__ == "__main__":
    main(__doc__, GROUPS)
