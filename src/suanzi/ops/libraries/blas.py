"""7.2.17.1, .2, .12, .13: find SciPy's BLAS, and limit it to one thread."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def libraries(file: str | None = None) -> list[Any]:
    """Return the controllers of SciPy's BLAS, or of the one in a file; empty if unknown."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return []
    found = [one for one in ThreadpoolController().lib_controllers if one.user_api == "blas"]
    if file is not None:
        return [one for one in found if os.path.samefile(one.filepath, file)]
    # A wheel of SciPy contains a BLAS; NumPy's is another one, and not used here.
    return [one for one in found if _is_of_scipy(str(one.filepath))] or found


def _is_of_scipy(path: str) -> bool:
    """Return whether a library is in SciPy's folders; NumPy's may have a similar name."""
    return any(folder.startswith("scipy") for folder in Path(path).parts[-3:-1])


def addresses(found: Sequence[Any]) -> tuple[int, int] | None:
    """Return the addresses of OpenBLAS's functions that get and set its number of threads.

    Builds for NumPy and SciPy add a prefix or a suffix to their names.
    """
    if len(found) != 1 or found[0].internal_api != "openblas":
        return None
    for prefix in ("", "scipy_"):
        for suffix in ("", "64_", "_64"):
            names = [f"{prefix}openblas_{verb}_num_threads{suffix}" for verb in ("get", "set")]
            if all(hasattr(found[0].dynlib, name) for name in names):
                functions = (getattr(found[0].dynlib, name) for name in names)
                get, set_ = (ctypes.cast(one, ctypes.c_void_p).value or 0 for one in functions)
                return get, set_
    return None


class OneThread:
    """Sets libraries to one thread when the first product begins, and back after the last one.

    It must be called with the GIL.
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
