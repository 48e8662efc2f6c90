"""7.2.17: where MKL is, and which of its parts are used.

The library to open is `libmkl_rt`. It loads three more from its own folder when it is first called,
and ends the process where one is missing; so they are looked for before. Which three is chosen by
two functions of its:

- the interface with integers of 32 bits, as everything here counts;
- no threads of its own. Our threads share a product, each with parts of its own. MKL's other layers
  bring OpenMP, of which PyTorch, Paddle and MindSpore each have another one in the process, or TBB,
  whose tasks have a say in the order of summation.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

MACHINES = ("x86_64",)
CHOICES = (("MKL_Set_Interface_Layer", 0), ("MKL_Set_Threading_Layer", 1))
PARTS = ("intel_lp64", "sequential", "core")


def file() -> Path | None:
    """Return the library to open, the newest whose parts are beside it; None where there is none.

    >>> found = file()
    >>> found is None or "libmkl_rt" in found.name
    True
    """
    found = [
        one for folder in _folders() for one in folder.glob("libmkl_rt.so.*") if _is_whole(one)
    ]
    return max(found, key=lambda one: _version(one.name), default=None)


def _folders() -> Iterator[Path]:
    """Yield the folder that pip has put the package `mkl` into, and the environment's own."""
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
