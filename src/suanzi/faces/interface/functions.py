"""The functions of Appendix A, ``op_add`` and so on: built from the records, when first used.

Each is compiled from a few lines of text, so that Python itself binds its arguments, and help and
``inspect.signature`` show them. ``tools/write_names.py`` writes the same heads into the stub.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from math import isfinite
from types import MappingProxyType, ModuleType
from typing import Any

from suanzi.faces.interface.calling import REQUIRED, Answer, call
from suanzi.promote.registry import REGISTRY
from suanzi.standard import Interface, Parameter, interfaces
from suanzi.standard.catalogues import STANDARD, catalogue

HOME = "suanzi.interface"


def module_name(facts: Interface) -> str:
    """Return the module of an interface in this package: its category's, or its catalogue's."""
    standard = facts.catalogue == STANDARD
    return facts.category.replace(" ", "_") if standard else facts.catalogue


def by_name(of: str = STANDARD) -> Mapping[str, Interface]:
    """Return the interfaces of a catalogue by their C names, misprints of them included."""
    return _by_name(of)


@cache
def _by_name(of: str) -> Mapping[str, Interface]:
    catalogue(of).load()
    found = [facts for facts in interfaces(of).values() if facts.key in REGISTRY]
    return MappingProxyType({name: i for i in found for name in (i.c_name, *i.printed)})


def head(facts: Interface) -> str:
    """Return the first line of the definition of a function."""
    own = inspect.signature(REGISTRY[facts.key].function).parameters
    written = [f"{p.name}: Any = {_default(p, own)}" for p in facts.parameters]
    return f"def {facts.c_name}({', '.join(written)}) -> Answer:"


def _default(parameter: Parameter, own: Mapping[str, inspect.Parameter]) -> str:
    """Return a default as text: a literal, or the name of a dtype, a device or a mode."""
    if parameter.derived:
        return "None"
    if parameter.required:
        return "REQUIRED"
    value = own[parameter.name].default
    if isinstance(value, float) and not isfinite(value):
        return f'float("{value}")'
    if value is None or type(value) in (bool, int, float, tuple):
        return repr(value)
    return f'"{getattr(value, "name", None) or value}"'


def doc(facts: Interface) -> str:
    """Return the docstring of a function."""
    summary = (inspect.getdoc(REGISTRY[facts.key].function) or "").split("\n\n")[0].split("\n")[0]
    outputs = ", ".join(["Status", *facts.outputs]) + "," * (not facts.outputs)
    where = f"Clause {facts.clause}" + f", Table {facts.table}" * bool(facts.table)
    where += f"; returns ({outputs})."
    return f"{summary}\n\n    {where}\n    "


@cache
def function(c_name: str, of: str) -> Callable[..., Answer]:
    """Return the function of a C name."""
    facts = by_name(of)[c_name]
    if c_name != facts.c_name:
        return function(facts.c_name, of)
    passed = ", ".join(f"{p.name}={p.name}" for p in facts.parameters)
    scope: dict[str, Any] = {"Any": Any, "Answer": Answer, "REQUIRED": REQUIRED, "call": call}
    scope["__name__"] = f"{HOME}.{module_name(facts)}"  # where pickle finds the function
    exec(f"{head(facts)}\n    return call({facts.key!r}, {passed})", scope)
    made: Callable[..., Answer] = scope[c_name]
    made.__doc__ = doc(facts)
    if of != STANDARD:  # whose module is an attribute, and cannot be imported by name
        made.__module__, made.__qualname__ = HOME, f"{of}.{c_name}"
    return made


@cache
def module_of(name: str, of: str) -> ModuleType:
    """Return the module of a category, such as ``suanzi.interface.reduction``, or a catalogue."""

    def names() -> list[str]:
        return sorted(key for key, facts in by_name(of).items() if module_name(facts) == name)

    def attribute(key: str) -> Any:
        if key == "__all__":
            return names()
        facts = by_name(of).get(key)
        if facts is None or module_name(facts) != name:
            raise AttributeError(f"module {module.__name__!r} has no attribute {key!r}")
        return function(key, of)

    title = f"of Appendix A for {name.replace('_', ' ')}"
    title = title if of == STANDARD else f"in C of {catalogue(of).title}"
    module = ModuleType(f"{HOME}.{name}", f"The functions {title}.")
    vars(module).update(__getattr__=attribute, __dir__=names, __package__=HOME)
    return module
