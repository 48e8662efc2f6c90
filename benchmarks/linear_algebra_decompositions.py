"""7.2.17.3 to .11: times decompositions, equations and norms, in one run with peers.

    python benchmarks/linear_algebra_decompositions.py                # everything, some minutes
    python benchmarks/linear_algebra_decompositions.py large norms    # some groups
    python benchmarks/linear_algebra_decompositions.py --threads 1

Ratios above 1 mean suanzi is faster than the peer. NumPy and SciPy bring an OpenBLAS each,
suanzi uses theirs, and PyTorch has MKL. How many threads these take is read when they are loaded,
so that each number of threads is a process of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any


def large(table: Any, threads: int) -> None:
    """One matrix of 512 by 512; SciPy and NumPy as their users call them."""
    import numpy as np
    import scipy.linalg
    from measuring import torch

    import suanzi as sz

    table.title("512 by 512, ms", "1.0x the faster of NumPy and SciPy")
    rng = np.random.default_rng(0)
    linalg = torch.linalg if torch is not None else None
    for name in ("f32", "f64"):
        a = rng.standard_normal((512, 512)).astype(name.replace("f", "float"))
        b = a[:, :1].copy()
        p = a @ a.T + 512 * np.eye(512, dtype=a.dtype)
        cases: dict[str, tuple[Callable[..., Any], Any, Any, Any, tuple[Any, ...]]] = {
            "lu": (sz.lu, None, scipy.linalg.lu_factor, linalg and linalg.lu_factor, (a,)),
            "cholesky": (
                lambda x: sz.cholesky("L", x),
                np.linalg.cholesky,
                lambda x: scipy.linalg.cholesky(x, lower=True),
                linalg and linalg.cholesky,
                (p,),
            ),
            "qr": (
                sz.qr,
                np.linalg.qr,
                lambda x: scipy.linalg.qr(x, mode="economic"),
                linalg and linalg.qr,
                (a,),
            ),
            "solve": (
                lambda x, y: sz.solve(x, y, False),
                np.linalg.solve,
                scipy.linalg.solve,
                linalg and linalg.solve,
                (a, b),
            ),
            "inverse": (sz.inverse, np.linalg.inv, scipy.linalg.inv, linalg and linalg.inv, (a,)),
            "lstsq": (
                sz.lstsq,
                np.linalg.lstsq,
                scipy.linalg.lstsq,
                linalg and (lambda x, y: linalg.lstsq(x, y, driver="gelsd")),
                (a, b),
            ),
            "svd": (
                sz.svd,
                lambda x: np.linalg.svd(x, full_matrices=False),
                lambda x: scipy.linalg.svd(x, full_matrices=False),
                linalg and (lambda x: linalg.svd(x, full_matrices=False)),
                (a,),
            ),
            "eig": (sz.eig, np.linalg.eig, scipy.linalg.eig, linalg and linalg.eig, (a,)),
            "eig of a symmetric matrix": (
                sz.eig,
                np.linalg.eig,
                scipy.linalg.eig,
                linalg and linalg.eig,
                (p,),
            ),
        }
        for case, (*functions, arrays) in cases.items():
            calls = each(functions, arrays)
            table.row(f"{case} {name}", calls, numpy=1.0, scipy=1.0, unit=1e3, rounds=1.0)


def many(table: Any, threads: int) -> None:
    """Small matrices in batches, which SciPy takes one by one."""
    import numpy as np
    from measuring import torch

    import suanzi as sz

    table.title("1000 of 4 by 4, ms", "1.0x NumPy")
    rng = np.random.default_rng(0)
    linalg = torch.linalg if torch is not None else None
    for name in ("f32", "f64"):
        a = rng.standard_normal((1000, 4, 4)).astype(name.replace("f", "float"))
        b = a[..., :1].copy()
        p = a @ a.swapaxes(1, 2) + 4 * np.eye(4, dtype=a.dtype)
        cases: dict[str, tuple[Callable[..., Any], Any, Any, tuple[Any, ...]]] = {
            "cholesky": (
                lambda x: sz.cholesky("L", x),
                np.linalg.cholesky,
                linalg and linalg.cholesky,
                (p,),
            ),
            "qr": (sz.qr, np.linalg.qr, linalg and linalg.qr, (a,)),
            "solve": (
                lambda x, y: sz.solve(x, y, False),
                np.linalg.solve,
                linalg and linalg.solve,
                (a, b),
            ),
            "inverse": (sz.inverse, np.linalg.inv, linalg and linalg.inv, (a,)),
            "svd": (
                sz.svd,
                lambda x: np.linalg.svd(x, full_matrices=False),
                linalg and (lambda x: linalg.svd(x, full_matrices=False)),
                (a,),
            ),
            "eig": (sz.eig, np.linalg.eig, linalg and linalg.eig, (a,)),
        }
        for case, (ours, numpys, torchs, arrays) in cases.items():
            calls = each([ours, numpys, None, torchs], arrays)
            table.row(f"{case} {name}", calls, numpy=1.0, unit=1e3)


def norms(table: Any, threads: int) -> None:
    """A million elements, as one vector and as a thousand."""
    import numpy as np
    from measuring import torch

    import suanzi as sz

    table.title("norms of 1000 by 1000, ms", "1.0x NumPy")
    rng = np.random.default_rng(0)
    vector = torch.linalg.vector_norm if torch is not None else None
    for name in ("f32", "f64"):
        a = rng.standard_normal((1000, 1000)).astype(name.replace("f", "float"))
        for p in (1, 2, np.inf):
            for axis in ((), (0,), (1,)):
                calls = each(
                    [
                        lambda x, p=p, axis=axis: sz.norm(x, p, axis),
                        lambda x, p=p, axis=axis: (
                            np.linalg.norm(x, p, axis=axis[0])
                            if axis
                            else np.linalg.norm(x.ravel(), p)
                        ),
                        None,
                        vector and (lambda x, p=p, axis=axis: vector(x, p, axis or None)),
                    ],
                    (a,),
                )
                table.row(f"{p} {axis} {name}", calls, numpy=1.0, unit=1e3)


def each(functions: Any, arrays: tuple[Any, ...]) -> dict[str, Any]:
    """Return a case as suanzi, NumPy, SciPy and PyTorch are called with it."""
    from measuring import torch

    import suanzi as sz

    ours, numpys, scipys, torchs = functions
    made: dict[str, Any] = {"suanzi": (ours, tuple(sz.tensor(x) for x in arrays), {})}
    for peer, function in (("NumPy", numpys), ("SciPy", scipys)):
        if function is not None:
            made[peer] = (function, arrays, {})
    if torchs is not None:
        made["PyTorch"] = (torchs, tuple(torch.tensor(x) for x in arrays), {})
    return made


GROUPS = {"large": large, "many": many, "norms": norms}


def run() -> None:
    """Measure in a process for each number of threads, unless one is given to this one."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--threads", default="both")
    threads, others = parser.parse_known_args()
    if "OPENBLAS_NUM_THREADS" in os.environ and threads.threads != "both":
        from measuring import main

        main(__doc__, GROUPS, peers=("NumPy", "SciPy", "PyTorch"))
        return
    every = os.cpu_count() or 1
    for count in {"both": [1, every], "all": [every]}.get(threads.threads) or [threads.threads]:
        subprocess.run(
            [sys.executable, __file__, *others, "--threads", str(count)],
            env={**os.environ, "OPENBLAS_NUM_THREADS": str(count)},
            check=True,
        )


if __name__ == "__main__":
    run()
