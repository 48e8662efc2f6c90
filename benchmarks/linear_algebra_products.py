"""7.2.17.1, .2, .12, .13: times products of matrices and vectors in one run with peers.

    python benchmarks/linear_algebra_products.py                   # everything, some minutes
    python benchmarks/linear_algebra_products.py large small       # some groups
    python benchmarks/linear_algebra_products.py --threads 1

Ratios above 1 mean suanzi is faster than the peer. NumPy and SciPy get as many threads as suanzi
has, by threadpoolctl. NumPy has no fast products of integers and float16: where one takes a second,
it is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from measuring import Call, Group, Table, array, main, tensor, torch
from threadpoolctl import threadpool_limits

import suanzi as sz

PAIR = tuple[tuple[int, ...], tuple[int, ...]]
SCIPY = {
    "f32": scipy.linalg.blas.sgemm,
    "f64": scipy.linalg.blas.dgemm,
    "c64": scipy.linalg.blas.cgemm,
}


def make(dtype: str, shape: tuple[int, ...]) -> sz.Tensor:
    """Return a tensor of small numbers."""
    rng = np.random.default_rng(shape)
    return sz.cast(sz.tensor(rng.uniform(-9, 9, shape)), sz.dtype(dtype))


def calls(
    name: str, shapes: PAIR, numpy: bool = True, scipy: bool = False, **keywords: Any
) -> dict[str, Call]:
    """Return a product as each library is called with it."""
    x, y = (make(name, shape) for shape in shapes)
    made: dict[str, Call] = {"suanzi": (sz.matmul, (x, y), keywords)}
    if numpy:
        made["NumPy"] = (np.matmul, (array(x), array(y)), {})
    if scipy:  # which takes matrices that lie column by column
        columns = tuple(np.asfortranarray(array(v)) for v in (x, y))
        made["SciPy"] = (lambda a, b, f=SCIPY[name]: f(1, a, b), columns, {})
    if torch is not None and not keywords:
        theirs = tensor(x), tensor(y)
        try:
            torch.matmul(theirs[0][..., :1], theirs[1][..., :1, :] if y.ndim > 1 else theirs[1][:1])
            made["PyTorch"] = (torch.matmul, theirs, {})
        except RuntimeError:  # it has none for this dtype
            pass
    return made


def large(table: Table, threads: int) -> None:
    """Matrices, and batches of them."""
    cube: PAIR = ((1024, 1024), (1024, 1024))
    batch: PAIR = ((64, 128, 128), (64, 128, 128))
    table.title(f"1024 x 1024 x 1024, {threads} threads, µs", "1.0x NumPy and SciPy")
    for dtype in ("f32", "f64", "c64"):
        table.row(f"1024 {dtype}", calls(dtype, cube, scipy=True), numpy=1, rounds=1)
    for dtype in ("f16", "bf16", "i8", "i16", "i32", "i64"):
        table.row(f"1024 {dtype}", calls(dtype, cube, numpy=False), rounds=1)
    table.row("1024 i8 to i32", calls("i8", cube, numpy=False, dtype=sz.int32), rounds=1)
    table.title(f"64 of 128 x 128 x 128, {threads} threads, µs", "1.0x NumPy")
    for dtype in ("f32", "f64", "c64"):
        table.row(f"64 of 128 {dtype}", calls(dtype, batch), numpy=1, rounds=1)
    for dtype in ("f16", "bf16", "i8", "i32"):
        table.row(f"64 of 128 {dtype}", calls(dtype, batch, numpy=False), rounds=1)
    table.title(f"128 x 128 x 128, {threads} threads, µs", "1.0x both")
    for dtype in ("f32", "f64", "c64"):
        table.row(f"128 {dtype}", calls(dtype, ((128, 128), (128, 128))), faster=1)
    for dtype in ("f16", "bf16", "i8"):
        table.row(f"128 {dtype}", calls(dtype, ((128, 128), (128, 128)), numpy=False), faster=1)
    table.title(f"linear, 1024 x 1024 to 1024, {threads} threads, µs", "1.0x PyTorch")
    for dtype in ("f32", "bf16"):
        x = make(dtype, (1024, 1024))
        made: dict[str, Call] = {"suanzi": (sz.linear, (x, x), {})}
        if torch is not None:
            made["PyTorch"] = (torch.nn.functional.linear, (tensor(x), tensor(x)), {})
        table.row(f"linear {dtype}", made, torch=1, rounds=1)


def vectors(table: Table, threads: int) -> None:
    """Products with a vector, which memory is the measure of."""
    table.title(f"vectors, {threads} threads, µs", "1.0x NumPy for f32")
    cases: dict[str, PAIR] = {
        "4096 x 4096 by a vector": ((4096, 4096), (4096,)),
        "a vector by 4096 x 4096": ((4096,), (4096, 4096)),
        "dot of 1,000,000": ((1000000,), (1000000,)),
    }
    for name, shapes in cases.items():
        table.row(f"{name} f32", calls("f32", shapes), numpy=1)
        for dtype in ("bf16", "i8"):
            table.row(f"{name} {dtype}", calls(dtype, shapes, numpy=False))


def small(table: Table, threads: int) -> None:
    """What a call costs."""
    table.title("small, µs", "1.0x both")
    for n in (4, 32, 100):
        for dtype in ("f32", "f64", "c64", "i32"):
            table.row(f"{n} x {n} {dtype}", calls(dtype, ((n, n), (n, n))), faster=1)
    x, w, b = make("f32", (16, 64)), make("f32", (32, 64)), make("f32", (32,))
    linear: dict[str, Call] = {
        "suanzi": (sz.linear, (x, w, b), {}),
        "NumPy": (lambda x, w, b: x @ w.T + b, tuple(map(array, (x, w, b))), {}),
    }
    if torch is not None:
        own = tuple(map(tensor, (x, w, b)))
        linear["PyTorch"] = (torch.nn.functional.linear, own, {})
    table.row("linear 16 x 64 to 32 f32", linear, faster=1)


def limited(group: Group) -> Group:
    """Return a group whose peers have as many threads as suanzi."""

    def run(table: Table, threads: int) -> None:
        with threadpool_limits(threads, "blas"):
            group(table, threads)

    return run


GROUPS = {
    name: limited(group)
    for name, group in [("small", small), ("vectors", vectors), ("large", large)]
}

if __name__ == "__main__":
    main(__doc__, GROUPS, peers=("NumPy", "SciPy", "PyTorch"))
