"""Catalogues: sets of operators, each a folder of records and a module that declares them.

The standard is the first one. Another package adds its own with an entry point of the group
``suanzi.catalogues``, named as the catalogue, that leads to a `Catalogue`. Its operators are called
``sz.NAME.OPERATOR``; elsewhere (the registry, ``suanzi op``, the kit) their key is
``NAME:OPERATOR``.
"""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from suanzi._hints import nearest
from suanzi.status import InvalidArgument

STANDARD = "standard"
ENTRY_POINTS = "suanzi.catalogues"


@dataclass(frozen=True)
class Catalogue:
    """A set of operators."""

    name: str
    folder: str
    """The folder of its records, in the format of ``README.md``."""
    module: str
    """The module that declares its operators; it is imported when one is first used."""
    title: str
    """What it is called in a sentence."""
    cases: str | None = None
    """The module that makes the conformance kit's cases of it, if it has some."""

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise InvalidArgument(
                f"catalogue: name is {self.name!r}; it must be an identifier: sz.NAME.OPERATOR."
            )

    def load(self) -> ModuleType:
        """Return the module of its operators, which declares them."""
        return importlib.import_module(self.module)


_KNOWN: dict[str, Catalogue] = {
    STANDARD: Catalogue(
        STANDARD, os.path.dirname(__file__), "suanzi.ops", "the standard, T/AI 131.1-2025"
    )
}


@cache
def _announced() -> dict[str, Any]:
    """Return the entry points by name; nothing is imported yet."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}


def register(catalogue: Catalogue) -> None:
    """Add a catalogue for this process; a package announces its own with an entry point."""
    if catalogue.name in catalogues() and _KNOWN.get(catalogue.name) != catalogue:
        raise InvalidArgument(f"catalogue: {catalogue.name!r} exists already; choose another name.")
    _KNOWN[catalogue.name] = catalogue


def catalogues() -> tuple[str, ...]:
    """Return the names of all catalogues, the standard first.

    >>> catalogues()[0]
    'standard'
    """
    return tuple(dict.fromkeys([*_KNOWN, *_announced()]))


def catalogue(name: str) -> Catalogue:
    """Return a catalogue by its name."""
    if name not in _KNOWN:
        if name not in _announced():
            raise InvalidArgument(
                f"{name!r} is not a catalogue; there are {', '.join(catalogues())}."
                f"{nearest(name, catalogues())} A package adds one with the entry-point group "
                f"{ENTRY_POINTS}."
            )
        _KNOWN[name] = _announced()[name].load()
    return _KNOWN[name]


def key_of(catalogue: str, name: str) -> str:
    """Return the key of an operator: its name, after that of its catalogue if not the standard.

    >>> key_of("standard", "add"), key_of("nn", "softmax")
    ('add', 'nn:softmax')
    """
    return name if catalogue == STANDARD else f"{catalogue}:{name}"
