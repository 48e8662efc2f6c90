"""How the files of a catalogue's categories, ``7.2.1-creation.toml`` and so on, are read.

>>> [category.name for category in categories()][:3]
['creation', 'query', 'transformation']
>>> categories()[3].facts[0]["prototype"]
'op_add(const Tensor x, const Tensor y, Tensor *z)'
"""

from __future__ import annotations

import marshal
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from typing import Any

from suanzi.base.toml import tomllib
from suanzi.standard.catalogues import STANDARD, catalogue

_FILE = re.compile(r"([\d.]+)-(\w+)\.toml")
_EXAMPLE = "[[interface.example]]\n"


@dataclass(frozen=True)
class Category:
    """A file: the interfaces of a clause, such as 7.2.4.

    The text is cut at the headings of its records before it is parsed, as that takes long: who asks
    for facts does not wait for examples, nor the other way round.
    """

    name: str
    clause: str
    text: str
    path: str

    @cached_property
    def _parts(self) -> list[str]:
        """What stands before the first interface, then each of them with its examples."""
        return re.split(r"^(?=\[\[interface\]\]$)", self.text, flags=re.M)

    @cached_property
    def _parsed(self) -> dict[str, Any]:
        return _parsed("".join(part.partition(_EXAMPLE)[0] for part in self._parts), self.path)

    @property
    def facts(self) -> list[dict[str, Any]]:
        """The records of its interfaces, without their examples, in the standard's order."""
        return list(self._parsed["interface"])

    @property
    def enumerations(self) -> dict[str, list[str]]:
        """The members of the enumerations its parameters are of."""
        return dict(self._parsed.get("enumeration", {}))

    def examples(self, of: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield the worked examples of one interface or all, each with the ``name`` of its own."""
        for part in self._parts[1:]:
            name = re.findall(r'^name = "(\w+)"$', part, re.M)[0]
            if of not in (None, name):
                continue
            _, heading, text = part.partition(_EXAMPLE)
            for entry in tomllib.loads(heading + text)["interface"]["example"]:
                yield {"name": name, **entry}


def _parsed(text: str, path: str) -> dict[str, Any]:
    """Return what a text of TOML says; the result is kept where Python keeps bytecode.

    Parsing all records takes as long as a third of `import suanzi`, in every process of a run.
    """
    kept = f"{os.path.splitext(cache_from_source(path))[0]}.records"
    key = MAGIC_NUMBER + source_hash(text.encode())
    with suppress(OSError, ValueError, EOFError, TypeError), open(kept, "rb") as file:
        if file.read(len(key)) == key:
            found: dict[str, Any] = marshal.load(file)
            return found
    made = tomllib.loads(text)
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            os.makedirs(os.path.dirname(kept), exist_ok=True)
            with open(f"{kept}.{os.getpid()}", "xb") as written:
                written.write(key + marshal.dumps(made))
            os.replace(written.name, kept)
    return made


def categories(of: str = STANDARD) -> tuple[Category, ...]:
    """Return the categories of a catalogue, in its order."""
    return _categories(catalogue(of).folder)


@cache
def _categories(folder: str) -> tuple[Category, ...]:
    files = filter(None, map(_FILE.fullmatch, os.listdir(folder)))
    in_order = sorted(files, key=lambda file: [int(n) for n in file[1].split(".")])
    return tuple(_read(folder, file) for file in in_order)


def _read(folder: str, file: re.Match[str]) -> Category:
    path = os.path.join(folder, file[0])
    with open(path, encoding="utf-8") as text:
        return Category(file[2].replace("_", " "), file[1], text.read(), path)
