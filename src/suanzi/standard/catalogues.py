"""Catalogues: sets of operators, each a folder of records and a module that declares them.

The standard is the first one. Another package adds its own with an entry point of the group
``suanzi.catalogues``, named as the catalogue, that leads to a `Catalogue`. Its operators are called
``sz.NAME.OPERATOR``; elsewhere (the registry, ``suanzi op``, the kit) their key is
``NAME:OPERATOR``.
"""

from __future__ import annotations

import importlib
import keyword
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from suanzi.base.hints import nearest, shown
from suanzi.base.status import InvalidArgument

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
        if (
            not self.name.isidentifier() or keyword.iskeyword(self.name)
            or self.name.startswith("_") or self.name == "array_api"
        ):  # fmt: skip
            raise InvalidArgument(
                f"catalogue: name is {self.name!r}; it must be an identifier, as in "
                "sz.NAME.OPERATOR, without a leading underscore, and not array_api."
            )

    def load(self) -> ModuleType:
        """Return the module of its operators, which declares them."""
        return importlib.import_module(self.module)


_KNOWN: dict[str, Catalogue] = {
    STANDARD: Catalogue(
        STANDARD, os.path.dirname(__file__), "suanzi.ops", "the standard, T/AI 131.1-2025"
    ),
    "nn": Catalogue(
        "nn",
        os.path.join(os.path.dirname(os.path.dirname(__file__)), "ops", "nn"),
        "suanzi.ops.nn",
        "the model operators",
        "suanzi.conformance.nn",
    ),
}


@cache
def _announced() -> dict[str, list[Any]]:
    """Return the different entry points of each name; nothing is imported yet."""
    from importlib.metadata import entry_points

    found: dict[str, dict[str, Any]] = {}
    for entry in entry_points(group=ENTRY_POINTS):
        found.setdefault(entry.name, {})[entry.value] = entry
    return {name: list(entries.values()) for name, entries in found.items()}


def _loaded(name: str) -> Catalogue:
    """Return what the entry point of a name leads to."""
    entry, *others = _announced()[name]
    said = f"catalogue: the entry point {name} = {entry.value}"
    if others:
        raise InvalidArgument(f"{said} is also {others[0].value}; remove one of the packages.")
    try:
        found = entry.load()
    except Exception as error:  # whatever that package raises
        raise InvalidArgument(f"{said} cannot be loaded: {error!r}.") from error
    if not isinstance(found, Catalogue) or found.name != name or not os.path.isdir(found.folder):
        raise InvalidArgument(
            f"{said} is {shown(found)}; it must be a Catalogue of that name whose folder exists."
        )
    return found


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
        _KNOWN[name] = _loaded(name)
    return _KNOWN[name]


def usable() -> Iterator[Catalogue]:
    """Give all catalogues except those of broken packages, which must not harm the others."""
    for name in catalogues():
        with suppress(InvalidArgument):
            yield catalogue(name)


def key_of(catalogue: str, name: str) -> str:
    """Return the key of an operator: its name, after that of its catalogue if not the standard.

    >>> key_of("standard", "add"), key_of("nn", "softmax")
    ('add', 'nn:softmax')
    """
    return name if catalogue == STANDARD else f"{catalogue}:{name}"
