"""SciPy's BLAS, as the core takes it: its matrix products, and a way to keep it on one thread.

SciPy documents the functions of `scipy.linalg.cython_blas` as capsules for other compiled code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Limit = Callable[[bool], None]


def load() -> tuple[tuple[Any, ...], Limit | None] | None:
    """Return gemm for float32, float64, complex64 and complex128, and what limits their threads.

    None: there are no such functions, and the core multiplies by itself.
    """
    try:
        from scipy.linalg import cython_blas

        functions = cython_blas.__pyx_capi__
        gemm = tuple(functions[name] for name in ("sgemm", "dgemm", "cgemm", "zgemm"))
    except (ImportError, AttributeError, KeyError):
        return None
    return gemm, _limit()


def _limit() -> Limit | None:
    """Return what keeps SciPy's BLAS on one thread while products run.

    They have threads of their own. None: which BLAS it is, is not known.
    """
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    found = [one for one in ThreadpoolController().lib_controllers if one.user_api == "blas"]
    # A wheel of SciPy brings its own BLAS; NumPy's is another, and none of our business.
    own = [one for one in found if "scipy" in str(one.filepath)]
    return OneThread(own or found) if found else None


class OneThread:
    """Sets libraries to one thread when the first product begins, and back after the last one.

    It is called with the GIL only.
    """

    def __init__(self, libraries: Sequence[Any]) -> None:
        self._libraries = libraries
        self._running = 0
        self._before: list[int] = []

    def __call__(self, begins: bool) -> None:
        """Count a product that begins or ends."""
        self._running += 1 if begins else -1
        if begins and self._running == 1:
            self._before = [one.num_threads for one in self._libraries]
            self._set([1] * len(self._libraries))
        elif not begins and self._running == 0:
            self._set(self._before)

    def _set(self, counts: Sequence[int]) -> None:
        for library, count, before in zip(self._libraries, counts, self._before, strict=True):
            if before != 1:
                library.set_num_threads(count)
