"""7.2.1.14: times sparse tensors against SciPy in one run; ratios above 1 mean suanzi is faster.

    python benchmarks/sparse.py

A million elements in float32, at random in a square of 100,000. The two take turns, so that a busy
machine slows both alike, and the best of several rounds counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from measuring import Call, Group, Table, main

import suanzi as sz

COUNT, SIDE = 1_000_000, 100_000


def cases() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Return what is timed: suanzi's way, and SciPy's."""
    random = np.random.default_rng(1)
    places = random.integers(0, SIDE, (4, COUNT))
    values = random.standard_normal(COUNT, np.float32)
    coo = [scipy.sparse.coo_array((values, tuple(p)), (SIDE, SIDE)) for p in np.split(places, 2)]
    other, another = [one.tocsr() for one in coo]
    ours = [sz.from_scipy(one) for one in coo]
    x, y = [one.to_csr() for one in ours]
    sorted_x, sorted_y = [one.coalesce() for one in ours]
    vector = random.standard_normal(SIDE, np.float32)
    matrix = random.standard_normal((SIDE, 16), np.float32)
    vector_of_ours, matrix_of_ours = sz.from_dlpack(vector), sz.from_dlpack(matrix)
    dense = np.zeros((4096, 4096), np.float32)
    dense.reshape(-1)[random.integers(0, dense.size, COUNT)] = 1
    dense_of_ours = sz.from_dlpack(dense)
    compact, compact_of_scipy = sz.to_sparse(dense_of_ours, "csr"), scipy.sparse.csr_array(dense)
    two, both = np.float32(2), [one.tocsr().tocoo() for one in coo]
    return {
        "CSR @ vector": (lambda: x @ vector_of_ours, lambda: other @ vector),
        "CSR @ matrix, 16 columns": (lambda: x @ matrix_of_ours, lambda: other @ matrix),
        "CSR @ CSR": (lambda: x @ y, lambda: other @ another),
        "CSR + CSR": (lambda: x + y, lambda: other + another),
        "CSR * CSR": (lambda: x * y, lambda: other * another),
        "CSR * 2": (lambda: x * 2, lambda: other * two),
        "COO + COO, sorted": (lambda: sorted_x + sorted_y, lambda: both[0] + both[1]),
        "COO to CSR, unsorted": (lambda: fresh(ours[0]).to_csr(), coo[0].tocsr),
        "CSR to COO": (x.to_coo, other.tocoo),
        "sum along rows": (lambda: x.reduce("SUM", 1), lambda: other.sum(axis=1)),
        "sum along columns": (lambda: x.reduce("SUM", 0), lambda: other.sum(axis=0)),
        "dense 4096 x 4096 to CSR": (
            lambda: sz.to_sparse(dense_of_ours, "csr"),
            lambda: scipy.sparse.csr_array(dense),
        ),
        "CSR to dense 4096 x 4096": (compact.to_dense, compact_of_scipy.toarray),
    }


def fresh(x: sz.SparseTensor) -> sz.SparseTensor:
    """Return a tensor that does not remember whether it is coalesced."""
    return sz.SparseTensor(x.shape, x.layout.type, (x.coordinates,), x.values)


def large(table: Table, threads: int) -> None:
    """A row per case."""
    table.title(f"a million elements, {threads} threads, milliseconds", "nothing")
    for label, (ours, scipys) in cases().items():
        calls: dict[str, Call] = {"suanzi": (ours, (), {}), "SciPy": (scipys, (), {})}
        table.row(label, calls, unit=1e3)


GROUPS: dict[str, Group] = {"large": large}

if __name__ == "__main__":
    main(__doc__, GROUPS, peers=("SciPy",))
