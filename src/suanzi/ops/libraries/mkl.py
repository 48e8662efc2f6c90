"""7.2.17: find MKL, and choose its layers.

The library to open is `libmkl_rt`. It loads three more from its folder when it is first called, and
ends the process if one is missing; so they are checked first. Two of its functions choose which:

- the interface with 32-bit integers, which suanzi uses throughout;
- no MKL threads: suanzi's threads share a product. MKL's other layers load OpenMP, of which
  PyTorch, Paddle and MindSpore each load another copy, or TBB, whose tasks change the order of
  summation.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

MACHINES = ("x86_64",)
CHOICES = (("MKL_Set_Interface_Layer", 0), ("MKL_Set_Threading_Layer", 1))
PARTS = ("intel_lp64", "sequential", "core")


def file() -> Path | None:
    """Return the newest complete library to open; None if there is none.

    >>> found = file()
    >>> found is None or "libmkl_rt" in found.name
    True
    """
    found = [
        one for folder in _folders() for one in folder.glob("libmkl_rt.so.*") if _is_whole(one)
    ]
    return max(found, key=lambda one: _version(one.name), default=None)


def _folders() -> Iterator[Path]:
    """Yield the folder where pip installed the package `mkl`, and the environment's `lib`."""
    from importlib.metadata import PackageNotFoundError, files

    try:
        listed = files("mkl") or []
    except PackageNotFoundError:
        listed = []
    yield from {Path(str(one.locate())).parent.resolve() for one in listed if "mkl_rt" in one.name}
    yield Path(sys.prefix, "lib")


def _is_whole(library: Path) -> bool:
    ending = library.name.removeprefix("libmkl_rt")
    return all(library.with_name(f"libmkl_{part}{ending}").is_file() for part in PARTS)


def _version(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.split(".")[2:] if part.isdecimal())
