"""The C prototypes of Appendix A, misprints fixed: ``README.md`` says how.

>>> prototype("reduce").parameters[2]
Item(name='axis', base='int', pointer=True, const=True)
>>> str(prototype("add"))
'Status op_add(const Tensor x, const Tensor y, Tensor *z)'
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

from suanzi.base.status import InternalError
from suanzi.standard import Interface, interface, interfaces
from suanzi.standard.records import categories


@dataclass(frozen=True)
class Item:
    """A parameter of a C function."""

    name: str
    base: str
    """The type without const and pointer."""
    pointer: bool
    const: bool
    twice: bool = field(default=False, repr=False)
    """Whether it is a pointer to a pointer: an array that the function makes."""

    def __str__(self) -> str:
        star = "*" * (self.pointer + self.twice)
        return f"{'const ' if self.const else ''}{self.base} {star}{self.name}"


@dataclass(frozen=True)
class Prototype:
    """A C function of Appendix A."""

    interface: Interface
    items: tuple[Item, ...]
    """In the order of C."""
    elements: MappingProxyType[str, str]
    """How many elements arrays have whose length is no parameter, in words."""

    @property
    def outputs(self) -> tuple[Item, ...]:
        """What the function fills."""
        return tuple(item for item in self.items if item.name in self.interface.outputs)

    @property
    def parameters(self) -> tuple[Item, ...]:
        """What it is given."""
        return tuple(item for item in self.items if item.name not in self.interface.outputs)

    @property
    def lengths(self) -> dict[str, str]:
        """The arrays by the parameters that have their lengths."""
        found = {p.name: p.length_of for p in self.interface.parameters if p.length_of}
        known = {p.name for p in self.interface.parameters}
        for item in self.parameters:
            if item.name not in known:  # a length that only C has: its array is the pointer
                arrays = [i.name for i in self.parameters if i.pointer]
                found[item.name] = arrays[0]
        return found

    def __str__(self) -> str:
        return f"Status {self.interface.c_name}({', '.join(map(str, self.items))})"


@cache
def _records(of: str) -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for category in categories(of) for entry in category.facts}


@cache
def prototype(name: str) -> Prototype:
    """Return the C function of an interface."""
    facts = interface(name)
    return _prototype(facts, _records(facts.catalogue)[facts.name]["prototype"])


@cache
def as_printed(name: str) -> Prototype | None:
    """Return the function that Appendix A prints, where another is needed to call it.

    >>> str(as_printed("dot_bwd2"))
    'Status op_dot_bwd2(const Tensor out_grad, const Tensor vec1, Tensor *in_grad2)'
    """
    facts = interface(name)
    text = _records(facts.catalogue)[facts.name].get("as_printed")
    return None if text is None else _prototype(facts, text)


def _prototype(facts: Interface, text: str) -> Prototype:
    _, _, printed = text.removesuffix(")").partition("(")
    items = tuple(_item(one) for one in printed.split(", "))
    elements = _records(facts.catalogue)[facts.name].get("elements", {})
    return Prototype(facts, items, MappingProxyType(elements))


def prototypes() -> tuple[Prototype, ...]:
    """Return every C function, in the standard's order."""
    return tuple(prototype(name) for name in interfaces())


@cache
def enumerations() -> MappingProxyType[str, list[str]]:
    """Return the members of each enumeration of a parameter, in the order of their numbers."""
    found: dict[str, list[str]] = {}
    for category in categories():
        found |= category.enumerations
    return MappingProxyType(found)


def _item(text: str) -> Item:
    *words, name = text.split()
    const = words[0] == "const"
    if len(words) != 1 + const:
        raise InternalError(f"{text!r} is no parameter of a prototype.")
    return Item(name.lstrip("*"), words[-1], name.startswith("*"), const, name.startswith("**"))
