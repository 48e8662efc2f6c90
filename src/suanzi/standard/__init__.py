"""The standard as data: its interfaces and the worked examples of its Appendix A, one file for each
category; ``README.md`` says how they are written. Each is read when it is first asked.

>>> interface("7.2.4.1").name, interface("add").statuses
('add', (<Status.SUCCESS: 0>, <Status.TYPE_MISMATCH: 1>))
>>> sum(i.minimal for i in interfaces().values())
77
>>> next(e.arguments for e in examples() if e.name == "zeros")
mappingproxy({'dtype': 'FLOAT32', 'device': 'CPU', 'shape': (2, 3)})
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from suanzi.base.hints import nearest
from suanzi.base.status import InvalidArgument, Status
from suanzi.standard.catalogues import STANDARD, catalogue, key_of, usable

if TYPE_CHECKING:
    from suanzi.standard.worked_examples import Example

Form = Literal[
    "elementwise", "view", "copy", "along", "reduction", "matrix", "transform", "creation", "query"
]
"""How results follow from operands; ``README.md`` describes each form."""
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True)
class Parameter:
    """A parameter of an interface."""

    name: str
    default: str | None
    """As the standard prints it; empty if it promises one and prints none, None if required."""
    added: bool = False
    """Whether the standard forgot it, and it is ours."""
    derived: bool = False
    """Whether it follows from another, as the length of an array does: Python may leave it out."""
    length_of: str | None = None
    """The parameter, an array, that it is the length of."""

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default is None


@dataclass(frozen=True)
class Interface:
    """One interface of the standard, or of another catalogue."""

    clause: str
    table: int
    name: str
    c_name: str
    printed: tuple[str, ...]
    """Other spellings of the name that the standard prints."""
    category: str
    category_clause: str
    """The clause of its category: 7.2.4 for add."""
    backward_of: str | None
    form: Form
    parameters: tuple[Parameter, ...]
    operands: tuple[str, ...]
    """The parameters that are tensors, or arrays of tensors."""
    outputs: tuple[str, ...]
    dtypes: str
    statuses: tuple[Status, ...]
    minimal: bool
    catalogue: str = STANDARD

    @property
    def key(self) -> str:
        """Its name, after that of its catalogue if that is not the standard: ``nn:softmax``."""
        return key_of(self.catalogue, self.name)


def interfaces(of: str = STANDARD) -> MappingProxyType[str, Interface]:
    """Return every interface of the standard, or of a catalogue, by name, in its order."""
    return _interfaces(of)


@cache
def _interfaces(of: str) -> MappingProxyType[str, Interface]:
    # Not above: `import suanzi` reads this file, and needs nothing of TOML.
    from suanzi.standard.records import categories

    return MappingProxyType(
        {
            entry["name"]: _interface(entry, of, category.name, category.clause)
            for category in categories(of)
            for entry in category.facts
        }
    )


def _interface(entry: dict[str, Any], of: str, category: str, clause: str) -> Interface:
    facts = {"table": 0, "minimal": False, **entry}
    for name in ("elements", "as_printed"):  # suanzi.standard.prototypes
        facts.pop(name, None)
    own = [_parameter(p, added=False) for p in facts.pop("parameters")]
    ours = [_parameter(p, added=True) for p in facts.pop("added", ())]
    c_name, _, items = facts.pop("prototype").partition("(")
    tensors = re.findall(r"\bTensor \**(\w+)", items)
    return Interface(
        c_name=c_name,
        operands=tuple(name for name in tensors if name not in facts["outputs"]),
        printed=tuple(facts.pop("printed", ())),
        category=category,
        category_clause=clause,
        catalogue=of,
        backward_of=facts.pop("backward_of", None),
        parameters=(*own, *ours),
        outputs=tuple(facts.pop("outputs")),
        statuses=tuple(Status[s] for s in facts.pop("statuses")),
        **facts,
    )


def _parameter(entry: dict[str, Any], added: bool) -> Parameter:
    derived = entry.get("derived", False)
    array = derived if isinstance(derived, str) else None
    return Parameter(entry["name"], entry.get("default"), added, bool(derived), array)


def record(key: str) -> Interface | None:
    """Return the record of an operator by its key, ``add`` or ``nn:softmax``, if it has one."""
    of, _, name = key.rpartition(":")
    return interfaces(of or STANDARD).get(name)


def interface(key: str) -> Interface:
    """Return an interface by its name, its C name, a misprint of it, or its clause.

    ``NAME:KEY`` is one of another catalogue; a name that the standard does not have is looked up
    in all of them.

    >>> interface("op_loglp").name, interface("7.2.4.1").c_name
    ('log1p', 'op_add')
    """
    of, _, name = key.strip().rpartition(":")
    if of:
        catalogue(of)  # raises where no such catalogue exists
    words = name.lower().removeprefix("sz.")
    found = interfaces(of or STANDARD).get(name) or _by_any_name(of or STANDARD).get(words)
    if found is None and not of:
        others = (_by_any_name(other.name).get(words) for other in usable())
        found = next(filter(None, others), None)
    if found is None and of:
        hint = nearest(name, _by_any_name(of))
        raise InvalidArgument(f"{name!r} is not an operator of {catalogue(of).title}.{hint}")
    if found is None:
        from suanzi.standard.other_names import explained

        elsewhere = explained(key)
        hint = f" {elsewhere}" if elsewhere else nearest(key, _by_any_name(STANDARD))
        raise InvalidArgument(f"{key!r} is not an interface of the standard.{hint}")
    return found


def misprints() -> dict[str, str]:
    """Return the names of operators that the standard misprints, with the right ones.

    >>> misprints()["loglp"]
    'log1p'
    """
    return {p.removeprefix("op_"): i.name for i in interfaces().values() for p in i.printed}


def categories(of: str = STANDARD) -> dict[str, str]:
    """Return the categories by their clauses, in the order of the standard or a catalogue.

    >>> categories()["7.2.4"]
    'arithmetic'
    """
    return {i.category_clause: i.category for i in interfaces(of).values()}


def category_named(name: str, of: str = STANDARD) -> str:
    """Return a category by its name, in any spelling, or by its clause.

    >>> category_named("7.2.4"), category_named("linear_algebra")
    ('arithmetic', 'linear algebra')
    """
    known = list(categories(of).values())
    wanted = name.strip().lower().replace("-", " ").replace("_", " ")
    wanted = categories(of).get(wanted, wanted)
    if wanted not in known:
        raise InvalidArgument(
            f"{name!r} is not a category; there are {', '.join(known)}.{nearest(wanted, known)}"
        )
    return wanted


def examples(of: str = STANDARD) -> tuple[Example, ...]:
    """Return the worked examples of the standard or a catalogue, misprints fixed, in its order.

    Each interface has at least one: suanzi's where the standard has none.

    >>> example = next(e for e in examples() if e.name == "min")
    >>> example.number, example.printed, example.errata
    ('A.2.4.10', '[1, 3, 4]', ('E76',))
    >>> example.outputs["z"]  # doctest: +ELLIPSIS
    ExampleTensor(dtype='INT32', shape=(3,), values=(1, 3, 2), ...)
    """
    return _examples(of)


@cache
def _examples(of: str) -> tuple[Example, ...]:
    from suanzi.standard.records import categories
    from suanzi.standard.worked_examples import example

    return tuple(
        example({**entry, "name": key_of(of, entry["name"])})
        for category in categories(of)
        for entry in category.examples()
    )


@cache
def valid_call(name: str) -> Mapping[str, Any]:
    """Return the arguments of a call that succeeds: those of the first example that does.

    >>> valid_call("randperm")
    mappingproxy({'dtype': 'FLOAT32', 'device': 'CPU', 'len': 4})
    """
    from suanzi.standard.records import categories
    from suanzi.standard.worked_examples import example

    facts = interface(name)
    (category,) = (c for c in categories(facts.catalogue) if c.name == facts.category)
    found = (example(entry) for entry in category.examples(facts.name))
    return next(one.arguments for one in found if one.status is Status.SUCCESS)


@cache
def _by_any_name(of: str) -> dict[str, Interface]:
    """Return every interface by its clause, and by all its names with and without ``op_``."""
    found: dict[str, Interface] = {}
    for one in interfaces(of).values():
        found[one.clause] = one
        for name in (one.c_name, *one.printed):
            found.setdefault(name, one)
            found.setdefault(name.removeprefix("op_"), one)
    return found | dict(interfaces(of))


@cache
def titles() -> Mapping[str, str]:
    """Return the titles of the clauses, in the standard's language.

    >>> titles()["7.2.13.1"]
    '规约'
    """
    from pathlib import Path

    from suanzi.base.toml import tomllib

    file = Path(__file__).parent / "titles.toml"
    return MappingProxyType(tomllib.loads(file.read_text("utf-8")))
