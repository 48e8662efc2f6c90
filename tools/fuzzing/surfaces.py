"""The surfaces of the library that may be chosen alone, each with its names and where it computes.

``core`` are the standard's operators and the core's functions for parts of a tensor, ``nn`` those
of models, ``array-api`` the functions of the Python array API. ``cluster`` and ``torch:cpu`` make
every call on that device, too, and ``c`` in a C library, through the header of the standard.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fuzzing import c_library
from fuzzing.making import NAMES
from fuzzing.namespaces import form_beyond


class Surface(NamedTuple):
    """Which names it has, and the device that its calls are made on."""

    has: Callable[[str], bool]
    device: str = ""


def _on_a_device(name: str) -> bool:
    return not name.startswith("core.")  # which has no devices


SURFACES = {
    "core": Surface(lambda name: ":" not in name and not name.startswith("xp.")),
    "nn": Surface(lambda name: name.startswith("nn:")),
    "array-api": Surface(lambda name: name.startswith("xp.")),
    "cluster": Surface(_on_a_device, "cluster"),
    "torch:cpu": Surface(_on_a_device, "torch:cpu"),
    "c": Surface(lambda name: not form_beyond(name) and c_library.has(name), c_library.NAME),
}


def surface_of(surface: str, device: str) -> Surface:
    """Return a surface by its name, or that of a device, or all of it."""
    if surface:
        return SURFACES[surface]
    return Surface(_on_a_device if device else lambda name: True, device)


def names_of(surface: Surface) -> tuple[str, ...]:
    """Return the names that a surface has.

    >>> len(names_of(surface_of("nn", ""))) > 100
    True
    """
    return tuple(name for name in NAMES if surface.has(name))
