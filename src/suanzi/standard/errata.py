"""Where the standard contradicts itself, and how it is read here: ``standard/errata.toml``.

>>> [erratum.id for erratum in errata_of("transpose")]
['E47', 'E48']
>>> len(errata()), sum(erratum.results for erratum in errata())
(148, 41)
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import Any

from suanzi.standard import Interface, interface

KINDS = {
    "example": "a worked example is wrong",
    "contradiction": "two places disagree",
    "gap": "something is not said",
    "misprint": "a name, a number or a formula is misspelt",
}
"""What an erratum can be."""


@dataclass(frozen=True)
class Erratum:
    """One place where the standard cannot be followed as it stands."""

    id: str
    clauses: tuple[str, ...]
    """Interfaces, categories or general clauses; empty for the document as a whole."""
    kinds: tuple[str, ...]
    printed: str
    """What the standard has."""
    here: str
    """What suanzi does."""
    results: bool = False
    """Whether results or signatures depend on how it is read."""
    readings: tuple[str, ...] = ()
    """What answers a reader could give, where the kit takes more than one, in a few words each."""
    tentative: str = ""
    """What remains open until the committee decides, where no list of readings would be complete:
    cases of it count neither for nor against a backend."""
    settled: str = ""
    """Which sentence of the body decides, where another one or an example disagrees."""

    def names(self, one: Interface) -> bool:
        """Return whether it is about this very interface."""
        return one.clause in self.clauses

    def touches(self, one: Interface) -> bool:
        """Return whether it is about an interface, or about the category it belongs to."""
        return self.names(one) or one.category_clause in self.clauses


@cache
def errata() -> tuple[Erratum, ...]:
    """Return every erratum, by its number."""
    from suanzi.base.toml import tomllib

    file = os.path.join(os.path.dirname(__file__), "errata.toml")
    with open(file, "rb") as text:
        entries = tomllib.load(text)["erratum"]
    found = []
    for entry in entries:
        facts: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()
        }
        found.append(Erratum(**facts))
    return tuple(found)


def errata_of(key: str) -> tuple[Erratum, ...]:
    """Return the errata of one interface, given by name, C name or clause; those of its category
    are not among them.
    """
    one = interface(key)
    return tuple(erratum for erratum in errata() if erratum.names(one))
