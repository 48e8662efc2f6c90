"""The interfaces of the standard, and what exists of each: ``suanzi ops`` and ``suanzi op add``.

It combines the records (:mod:`suanzi.standard`) with the declarations (:mod:`suanzi.registry`), of
the standard and of other catalogues.

>>> one = entry("op_add")
>>> one.interface.clause, one.call, one.standard_form
('7.2.4.1', 'sz.add(x, y)', 'op_add(x, y) -> status, z')
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from suanzi.base.lang import chosen, described, docstrings, say
from suanzi.base.status import InvalidArgument
from suanzi.base.text import wrap
from suanzi.promote.operators import OPERATORS, OperatorClass
from suanzi.promote.registry import REGISTRY, Operator
from suanzi.standard import (
    Interface,
    categories,
    category_named,
    interface,
    interfaces,
    titles,
)
from suanzi.standard.catalogues import STANDARD, catalogue
from suanzi.standard.errata import errata_of

_CODES = {
    "I": "integers",
    "FR": "floating-point real numbers",
    "FC": "floating-point complex numbers",
    "FP": "floating-point numbers",
    "B": "bool",
    "ns": "not said",
}


@dataclass(frozen=True)
class Entry:
    """An interface, and the operator that implements it, if any."""

    interface: Interface
    operator: Operator | None

    @property
    def direction(self) -> str:
        """``forward`` or ``backward``."""
        return "backward" if self.interface.backward_of else "forward"

    @property
    def partners(self) -> tuple[str, ...]:
        """The backward interfaces of a forward one, or the forward interface of a backward one."""
        own = self.interface
        if own.backward_of:
            return (own.backward_of,)
        every = interfaces(own.catalogue).values()
        return tuple(i.name for i in every if i.backward_of == own.name)

    @property
    def call(self) -> str | None:
        """How it is called in Python; None if it is not available."""
        if self.operator is None:
            return None
        parameters = [
            parameter.replace(annotation=inspect.Parameter.empty)
            for parameter in inspect.signature(self.operator.function).parameters.values()
        ]
        name = self.interface.key.replace(":", ".")
        return f"sz.{name}{inspect.Signature(parameters)}"

    @property
    def standard_form(self) -> str:
        """The call in the standard's own form: its parameters, the status, and its outputs."""
        own = self.interface
        parameters = ", ".join(
            p.name if p.required else f"{p.name}={p.default or '...'}" for p in own.parameters
        )
        return f"{own.c_name}({parameters}) -> {', '.join(('status', *own.outputs))}"

    @property
    def promotion(self) -> str | None:
        """The class by which its operands are promoted; None where they are not."""
        found = OPERATORS.get(self.interface.key, OperatorClass.ANY)
        return found.title if found else None

    @property
    def accuracy(self) -> str | None:
        """The largest error of a float, in words; None if it has no bound."""
        if self.operator is None or self.operator.ulp is None:
            return None
        known = {0.0: "exact", 0.5: "correctly rounded, 0.5 ULP"}
        return known.get(self.operator.ulp, f"at most {self.operator.ulp:g} ULP")

    @property
    def bounds(self) -> list[str]:
        """The error bounds of typical calls, in ULP, where a definition gives them."""
        if self.interface.catalogue == STANDARD or self.operator is None:
            return []
        from suanzi.conformance.bounds import typical_bounds

        return [str(one) for one in typical_bounds(self.interface.key)]

    def documentation(self) -> tuple[str | None, str | None]:
        """Return the text of the docstring, and its example."""
        if self.operator is None:
            return None, None
        text = inspect.getdoc(self.operator.function) or ""
        words, mark, example = text.partition(">>>")
        return words.strip() or None, (mark + example).strip() or None

    def said_documentation(self) -> tuple[str | None, str | None]:
        """Return text and example of the docstring, the text in the chosen language."""
        words, example = self.documentation()
        if words is None or chosen() == "en":
            return words, example
        known = docstrings(chosen())
        parts = (known.get(in_one_line(part), part) for part in words.split("\n\n"))
        wrapped = (part if part.isascii() else "\n".join(wrap(part, 100)) for part in parts)
        return "\n\n".join(wrapped), example

    @property
    def domain(self) -> str | None:
        """The numbers that have a result, and what the others give."""
        if self.operator is None or self.operator.domain is None:
            return None
        return f"{self.operator.domain}; outside NaN, INVALID_ARGUMENT in the standard's form"

    def to_dict(self, bounds: bool = False) -> dict[str, Any]:
        """Return everything as plain data; `bounds` of typical calls take a second to compute."""
        own = self.interface
        description, example = self.documentation()
        return {
            **({} if own.catalogue == STANDARD else {"catalogue": own.catalogue}),
            "clause": own.clause,
            "table": own.table,
            "name": own.name,
            "C name": own.c_name,
            "also printed": list(own.printed),
            "category": own.category,
            "direction": self.direction,
            "backward" if self.direction == "forward" else "forward": list(self.partners),
            "minimal": own.minimal,
            "implemented": self.operator is not None,
            "Python": self.call,
            "standard" if own.catalogue == STANDARD else "C form": self.standard_form,
            "dtypes": self.operator and self.operator.dtypes_in_words(),
            _dtypes_label(own): in_words(own.dtypes),
            "statuses": [status.name for status in own.statuses],
            "promotion": self.promotion,
            "accuracy": self.accuracy,
            **({"bounds in ULP": self.bounds} if bounds and own.catalogue != STANDARD else {}),
            "domain": self.domain,
            "errata": [
                f"{e.id}: {e.here}" for e in errata_of(own.name) if own.catalogue == STANDARD
            ],
            "description": description,
            "example": example,
        }

    def lines(self) -> list[tuple[str, str]]:
        """Return everything but description and example as labelled lines, for a person."""
        lines = []
        for label, value in self.to_dict(bounds=True).items():
            if label in ("description", "example"):
                continue
            if label == "minimal" and self.interface.catalogue != STANDARD:
                continue  # a set of the standard's
            if isinstance(value, bool):
                value = "yes" if value else "no"
            elif isinstance(value, list):
                lines_of = label in ("errata", "bounds in ULP")
                value = ("\n" if lines_of else ", ").join(value)
            if value:
                lines.append((label, str(value)))
        return lines

    @property
    def title(self) -> str | None:
        """The title of its clause in the standard, which is Chinese; None in other catalogues."""
        if self.interface.catalogue != STANDARD:
            return None
        clause = f"{self.interface.clause}."
        *_, title = (text for of, text in titles().items() if clause.startswith(f"{of}."))
        return f"{title}（后向）" if self.interface.backward_of else title

    def said(self) -> list[tuple[str, str]]:
        """Return the labelled lines in the chosen language; names stay as they are."""
        lines = [
            (say(label), text if label in _NAMES else _said(label, text))
            for label, text in self.lines()
        ]
        title = self.title if chosen() == "zh" else None
        return [*lines[:1], (say("title"), title), *lines[1:]] if title else lines


_NAMES = ("clause", "table", "name", "C name", "also printed", "backward", "forward", "Python",
          "standard", "C form", "statuses")  # fmt: skip


def in_one_line(part: str) -> str:
    """Return a paragraph of a docstring as catalogues have it.

    >>> in_one_line("A\\n    :class:`Layout`, or ``x``.")
    'A `Layout`, or `x`.'
    """
    return re.sub(r":\w+:`|``", "`", " ".join(part.split()))


def _said(label: str, text: str) -> str:
    if "dtypes" in label and chosen() != "en":
        parts = re.split(r"(, | and |; |: )", text)
        marks = {", ": "、", " and ": "和", "; ": "；", ": ": "："}
        joined = "".join(marks.get(part) or say(part) for part in parts)
        return re.sub("和(?=[a-z])", "和 ", joined)
    if label == "errata":
        errata = (line.partition(": ") for line in text.split("\n"))
        return "\n".join(f"{number}: {described(words)}" for number, _, words in errata)
    return "\n".join(say(line) for line in text.split("\n"))


def _dtypes_label(own: Interface) -> str:
    return "dtypes in the standard" if own.catalogue == STANDARD else "dtypes in the record"


def in_words(dtypes: str) -> str:
    """Return what a clause says of dtypes in words.

    >>> in_words("I FP B"), in_words("input ns; index I")
    ('integers, floating-point numbers and bool', 'input: not said; index: integers')
    """
    parts = []
    for part in dtypes.split("; "):
        tokens = part.split()
        words = [_CODES[token] for token in tokens if token in _CODES]
        others = " ".join(token for token in tokens if token not in _CODES).rstrip(":")
        said = " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
        parts.append(f"{others}: {said}" if others and said else others or said)
    return "; ".join(parts)


def entry(key: str) -> Entry:
    """Return one interface by its name, its C name, a misprint of it, or its clause.

    >>> entry("7.2.4")
    Traceback (most recent call last):
        ...
    suanzi.status.InvalidArgument: 7.2.4 is a category, arithmetic, of 14 interfaces; \
`suanzi ops --category 7.2.4` lists them.
    """
    category = categories().get(key)
    if category is not None and key not in {one.clause for one in interfaces().values()}:
        raise InvalidArgument(
            f"{key} is a category, {category}, of {len(entries(category))} interfaces; "
            f"`suanzi ops --category {key}` lists them."
        )
    found = interface(key)
    return _entry(found)


def _entry(found: Interface) -> Entry:
    catalogue(found.catalogue).load()
    return Entry(found, REGISTRY.get(found.key))


def entries(
    category: str | None = None, *, minimal: bool = False, missing: bool = False, of: str = STANDARD
) -> list[Entry]:
    """Return the interfaces of the standard, or of another catalogue, in its order, all or some.

    `category` is its name or its clause; `minimal` selects those of the minimal set, `missing`
    those that are not implemented.

    >>> [one.interface.name for one in entries("power", minimal=True)]
    ['pow']
    """
    catalogue(of)  # raises where no such catalogue exists
    chosen = None if category is None else category_named(category, of)
    found = [_entry(one) for one in interfaces(of).values()]
    return [
        one
        for one in found
        if (chosen is None or one.interface.category == chosen)
        and (one.interface.minimal or not minimal)
        and (one.operator is None or not missing)
    ]


def counts(of: Iterable[Entry]) -> dict[str, int]:
    """Return how many interfaces there are, and how many of each kind.

    >>> counts(one for one in entries() if one.interface.category == "arithmetic")
    {'interfaces': 14, 'forward': 13, 'backward': 1, 'minimal': 8, 'implemented': 14}
    """
    listed = list(of)
    return {
        "interfaces": len(listed),
        "forward": sum(one.direction == "forward" for one in listed),
        "backward": sum(one.direction == "backward" for one in listed),
        "minimal": sum(one.interface.minimal for one in listed),
        "implemented": sum(one.operator is not None for one in listed),
    }
