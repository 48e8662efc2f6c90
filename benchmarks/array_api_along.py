"""Times the array API's functions along axes and of matrices against NumPy's, in one run.

    python benchmarks/array_api_along.py

Ratios above 1 mean suanzi is faster than NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from measuring import Call, Group, Table, main

import suanzi as sz

xp = sz.array_api
ALONG = """sum prod mean var std max any all count_nonzero argmax cumulative_sum cumulative_prod
    diff sort argsort take_along_axis repeat vecdot""".split()
OF_ALL = "nonzero searchsorted unique_values unique_counts unique_inverse unique_all isin".split()
SYMMETRIC = "cholesky eigh eigvalsh".split()
OF_MATRICES = """det slogdet inv solve eig eigvals svd svdvals qr pinv matrix_rank matrix_norm
    vector_norm matmul trace diagonal""".split()


def pair(ours: Any, theirs: Any, arrays: list[Any], **keywords: Any) -> dict[str, Call]:
    """Return the same call of both libraries, an array that is given twice twice to both."""
    mine = {id(a): xp.asarray(a, copy=True) for a in arrays}
    tensors = tuple(mine[id(a)] for a in arrays)
    return {"suanzi": (ours, tensors, keywords), "NumPy": (theirs, tuple(arrays), keywords)}


def along(table: Table, threads: int) -> None:
    """Functions along an axis, of float32."""
    table.title("array API along an axis, float32, us", "1.5x NumPy's time at most")
    rng = np.random.default_rng(0)
    for shape, axis in (((10,), 0), ((1000, 1000), 0), ((1000, 1000), 1)):
        x = rng.random(shape).astype(np.float32)
        for name in ALONG:
            arrays = [x > 0.5] if name in ("any", "all") else [x]
            if name == "take_along_axis":
                arrays.append(np.argsort(x, axis))
            elif name == "repeat":
                arrays.append(rng.integers(0, 4, shape[axis]))
            elif name == "vecdot":
                arrays.append(x)
            calls = pair(getattr(xp, name), getattr(np, name), arrays, axis=axis)
            table.row(f"{name} {shape} axis {axis}", calls, numpy=1 / 1.5)


def sets(table: Table, threads: int) -> None:
    """Searches and sets, of a million numbers."""
    table.title("array API, searches and sets, us", "1.5x NumPy's time at most")
    rng = np.random.default_rng(0)
    for dt in (np.float32, np.int64):
        x = (rng.random(1 << 20) * 1000).astype(dt)
        for name in OF_ALL:
            arrays = [x]
            if name == "searchsorted":
                arrays = [np.sort(x), x]
            elif name == "isin":
                arrays.append(x[:500])
            calls = pair(getattr(xp, name), getattr(np, name), arrays)
            table.row(f"{name} {np.dtype(dt)}", calls, numpy=1 / 1.5)


def matrices(table: Table, threads: int) -> None:
    """The linear algebra extension, of float64."""
    table.title("array API, linalg, float64, us", "1.5x NumPy's time at most")
    rng = np.random.default_rng(0)
    for shape in ((3, 3), (50, 3, 3), (30, 30), (200, 200)):
        x = rng.standard_normal(shape)
        good = x @ x.swapaxes(-1, -2) + np.eye(shape[-1])
        for name in (*SYMMETRIC, *OF_MATRICES):
            arrays = [good if name in SYMMETRIC else x]
            if name in ("solve", "matmul"):
                arrays.append(good)
            calls = pair(getattr(xp.linalg, name), getattr(np.linalg, name), arrays)
            table.row(f"{name} {shape}", calls, numpy=1 / 1.5)


GROUPS: dict[str, Group] = {"along": along, "sets": sets, "matrices": matrices}

if __name__ == "__main__":
    main(__doc__, GROUPS)
