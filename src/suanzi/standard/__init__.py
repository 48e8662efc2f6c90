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

from suanzi._hints import nearest
from suanzi.status import InvalidArgument, Status

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
    """One interface of the standard."""

    clause: str
    table: int
    name: str
    c_name: str
    printed: tuple[str, ...]
    """Other spellings of the name that the standard prints."""
    category: str
    backward_of: str | None
    form: Form
    parameters: tuple[Parameter, ...]
    operands: tuple[str, ...]
    """The parameters that are tensors, or arrays of tensors."""
    outputs: tuple[str, ...]
    dtypes: str
    statuses: tuple[Status, ...]
    minimal: bool

    @property
    def category_clause(self) -> str:
        """The clause of its category: 7.2.4 for add."""
        return ".".join(self.clause.split(".")[:3])


@cache
def interfaces() -> MappingProxyType[str, Interface]:
    """Return every interface of the standard, by name, in its order."""
    # Not above: `import suanzi` reads this file, and needs nothing of TOML.
    from suanzi.standard.records import categories

    return MappingProxyType(
        {
            entry["name"]: _interface(entry, category.name)
            for category in categories()
            for entry in category.facts
        }
    )


def _interface(entry: dict[str, Any], category: str) -> Interface:
    facts = dict(entry)
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


def interface(key: str) -> Interface:
    """Return an interface by its name, its C name, a misprint of it, or its clause.

    >>> interface("op_loglp").name, interface("7.2.4.1").c_name
    ('log1p', 'op_add')
    """
    found = interfaces().get(key) or _by_any_name().get(key.strip().lower().removeprefix("sz."))
    if found is None:
        from suanzi.standard.other_names import explained

        elsewhere = explained(key)
        hint = f" {elsewhere}" if elsewhere else nearest(key, _by_any_name())
        raise InvalidArgument(f"{key!r} is not an interface of the standard.{hint}")
    return found


def misprints() -> dict[str, str]:
    """Return the names of operators that the standard misprints, with the right ones.

    >>> misprints()["loglp"]
    'log1p'
    """
    return {p.removeprefix("op_"): i.name for i in interfaces().values() for p in i.printed}


def categories() -> dict[str, str]:
    """Return the categories by their clauses, in the standard's order.

    >>> categories()["7.2.4"]
    'arithmetic'
    """
    return {i.category_clause: i.category for i in interfaces().values()}


def category_named(name: str) -> str:
    """Return a category by its name, in any spelling, or by its clause.

    >>> category_named("7.2.4"), category_named("linear_algebra")
    ('arithmetic', 'linear algebra')
    """
    known = list(categories().values())
    wanted = name.strip().lower().replace("-", " ").replace("_", " ")
    wanted = categories().get(wanted, wanted)
    if wanted not in known:
        raise InvalidArgument(
            f"{name!r} is not a category; there are {', '.join(known)}.{nearest(wanted, known)}"
        )
    return wanted


@cache
def examples() -> tuple[Example, ...]:
    """Return the worked examples, misprints mended, in the standard's order.

    Each interface has one at least: one of ours where the standard has none.

    >>> example = next(e for e in examples() if e.name == "min")
    >>> example.number, example.printed, example.errata
    ('A.2.4.10', '[1, 3, 4]', ('E76',))
    >>> example.outputs["z"]  # doctest: +ELLIPSIS
    ExampleTensor(dtype='INT32', shape=(3,), values=(1, 3, 2), ...)
    """
    from suanzi.standard.records import categories
    from suanzi.standard.worked_examples import example

    return tuple(example(entry) for category in categories() for entry in category.examples())


@cache
def valid_call(name: str) -> Mapping[str, Any]:
    """Return the arguments of a call that succeeds: those of the first example that does.

    >>> valid_call("randperm")
    mappingproxy({'dtype': 'FLOAT32', 'device': 'CPU', 'len': 4})
    """
    from suanzi.standard.records import categories
    from suanzi.standard.worked_examples import example

    facts = interface(name)
    (category,) = (c for c in categories() if c.name == facts.category)
    found = (example(entry) for entry in category.examples(facts.name))
    return next(one.arguments for one in found if one.status is Status.SUCCESS)


@cache
def _by_any_name() -> dict[str, Interface]:
    """Return every interface by its clause, and by all its names with and without ``op_``."""
    found: dict[str, Interface] = {}
    for one in interfaces().values():
        found[one.clause] = one
        for name in (one.c_name, *one.printed):
            found.setdefault(name, one)
            found.setdefault(name.removeprefix("op_"), one)
    return found | dict(interfaces())
