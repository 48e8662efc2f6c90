"""The cases of the kit, one file for each category of the standard, made from the registry.

A file declares, with `cases_of`, the calls of its interfaces and the expected results. Cases that
follow from the standard's data alone are made for all: statuses, promotion, worked examples.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from suanzi.base.hints import nearest
from suanzi.base.status import InternalError
from suanzi.conformance.model.basis import REQUIRED, why
from suanzi.conformance.model.case import GROUPS, Case, Either, Expected
from suanzi.promote.library import learn_rules
from suanzi.promote.registry import REGISTRY
from suanzi.standard import interface, interfaces
from suanzi.standard.catalogues import STANDARD, catalogue

Maker = Callable[[str, "Wanted"], Iterator[Case]]

Rule = Callable[[Case, Expected], Expected]

_MAKERS: dict[str, list[Maker]] = {}
_RULES: dict[str, list[Rule]] = {}
Derive = Callable[[str, "Wanted", Sequence[Maker]], Iterator[Case]]
_DERIVED: list[Derive] = []
OF_EVERY_CATALOGUE: list[Maker] = []
"""Makers of cases that need nothing but the records, of whichever catalogue."""
QUICK_DTYPES = frozenset({"any", "bool", "int8", "int32", "float16", "float32", "complex64"})


@dataclass(frozen=True)
class Wanted:
    """Which cases are wanted; makers use it to leave out the others."""

    groups: frozenset[str] = frozenset(GROUPS)
    dtypes: frozenset[str] | None = None
    """Only cases of these; None for all."""
    rules: str = "cann"
    """The rule set of the promotion cases."""
    rules_text: str | None = None
    """The text of a rule set that is not built in, for the processes of a run."""
    seed: int = 0
    """Of random values."""
    quick: bool = False
    """Whether to use fewer values and dtypes."""
    quick_dtypes: frozenset[str] = QUICK_DTYPES
    """The dtypes of a quick run."""
    normative: bool = False
    """Whether only what the standard requires is wanted: normative cases and interpretations."""
    folder: str | None = None
    """The folder of frozen cases, to be read instead of made."""

    def __contains__(self, case: Case) -> bool:
        parts = case.dtype.split("-")
        if self.dtypes is not None and not self.dtypes.intersection(parts):
            return False
        if self.quick and not self.quick_dtypes.issuperset(parts):
            return False
        return case.group in self.groups

    def wants(self, group: str, dtype: str) -> bool:
        """Tell whether cases of a group and a dtype are wanted."""
        if group not in GROUPS:  # no run would have them, and none would say so
            raise ValueError(
                f"{group!r} is not a group of cases; there are {', '.join(GROUPS)}."
                f"{nearest(group, GROUPS)}"
            )
        return Case("", group, dtype, "", {}, lambda: ()) in self


def cases_of(*names: str) -> Callable[[Maker], Maker]:
    """Declare a function that makes cases of interfaces; it is called for each by name."""

    def declare(maker: Maker) -> Maker:
        for name in names:
            _MAKERS.setdefault(name, []).append(maker)
        return maker

    return declare


def derived(derive: Derive) -> Derive:
    """Declare a function that makes further cases of every interface, from those of its makers."""
    _DERIVED.append(derive)
    return derive


def reading(*names: str) -> Callable[[Rule], Rule]:
    """Declare a rule that adds other interpretations to what is expected of a case."""

    def declare(rule: Rule) -> Rule:
        for name in names:
            _RULES.setdefault(name, []).append(rule)
        return rule

    return declare


_UNSAID = frozenset({"special", "empty"})
_SAID = frozenset(
    "round rint allclose sqrt rsqrt acosh atanh log log1p log10 log2 asin acos pow".split()
)
"""Interfaces whose errata are about special values: ties, infinities, domains and poles."""


def _read(case: Case) -> Case:
    """Return a case with every interpretation; of several errata, each of each."""
    rules = _RULES.get(case.op)
    if not rules or case.skip is not None or case.group == "calls":
        return case
    if case.group in _UNSAID and case.op not in _SAID and case.basis is None:
        # No interpretation requires what no clause defines.
        derived = why(case)
        if derived.basis == "quality":
            case = replace(case, basis=derived.basis, because=derived.sentence)
    original = case.expect

    def expect() -> Expected:
        expected = original()
        for rule in rules:
            expected = _widened(rule, case, expected)
        return expected

    return replace(case, expect=expect, disputed=True)


def _widened(rule: Rule, case: Case, expected: Expected) -> Expected:
    """Apply a rule to what is expected; where an erratum has alternatives, to each of them."""
    if not isinstance(expected, Either):
        return rule(case, expected)
    found = {name: _widened(rule, case, one) for name, one in expected.readings.items()}
    return replace(expected, readings=found)


def dtypes_of(op: str, quantised_too: bool = False) -> list[str]:
    """Return the names of the dtypes that an interface takes, quantised ones only where asked."""
    return [d.name for d in REGISTRY[op].dtypes if quantised_too or d.kind != "quantized"]


@cache
def load(category: str) -> None:
    """Import the files that make cases of a category, and those that make them for all."""
    categories = {facts.category.replace(" ", "_") for facts in interfaces().values()}
    for module in pkgutil.iter_modules(__path__):
        of = [c for c in categories if module.name == c or module.name.startswith(f"{c}_")]
        if not of or category.replace(" ", "_") in of:
            importlib.import_module(f"{__name__}.{module.name}")


@cache
def load_catalogue(name: str) -> None:
    """Import the operators of another catalogue, and the module that makes cases of them."""
    found = catalogue(name)
    found.load()
    load(name)  # no category: the files that make cases for all
    for maker in OF_EVERY_CATALOGUE:
        cases_of(*(facts.key for facts in interfaces(name).values()))(maker)
    if found.cases is not None:
        importlib.import_module(found.cases)


def cases(op: str, wanted: Wanted | None = None) -> list[Case]:
    """Return the cases of an interface, in the order of the groups.

    >>> found = cases("add")
    >>> len(found) > 100, found[0].op
    (True, 'add')
    """
    facts = interface(op)
    if facts.catalogue == STANDARD:
        load(facts.category)
    else:
        load_catalogue(facts.catalogue)
    chosen = wanted or Wanted()
    if chosen.rules_text is not None:
        learn_rules(chosen.rules_text)
    if facts.catalogue != STANDARD:
        chosen = replace(chosen, quick_dtypes=chosen.quick_dtypes | {"bfloat16"})
    made = _made(facts.key, chosen)
    found = [c for c in made if c in chosen and (not chosen.normative or c.why.basis in REQUIRED)]
    order = list(GROUPS)
    found.sort(key=lambda c: order.index(c.group))
    twice = {c.id for c in found}
    if len(twice) != len(found):
        seen: set[str] = set()
        double = next(c.id for c in found if c.id in seen or seen.add(c.id))  # type: ignore[func-returns-value]
        raise InternalError(f"two cases have the id {double}.")
    return found


def _made(op: str, wanted: Wanted) -> list[Case]:
    if wanted.folder is not None:
        from suanzi.conformance.cases import frozen

        return frozen.read(wanted.folder, op)
    # In one order, whichever file was imported first: a restarted process continues by it.
    makers = sorted(_MAKERS.get(op, []), key=lambda maker: maker.__module__)
    found = [case for maker in makers for case in maker(op, wanted)]
    more = [case for derive in _DERIVED for case in derive(op, wanted, makers)]
    return [_read(case) for case in (*found, *more)]


def operators(
    names: Sequence[str] = (),
    categories: Sequence[str] = (),
    minimal: bool = False,
    of: str = STANDARD,
) -> list[str]:
    """Return the wanted interfaces of a catalogue in its order, named ones of others last."""
    chosen = {interface(name).key: None for name in names}
    own = {facts.key: facts for facts in interfaces(of).values()}
    return [
        key
        for key, facts in own.items()
        if (not chosen or key in chosen)
        and (not categories or facts.category in categories)
        and (not minimal or facts.minimal)
    ] + [key for key in chosen if key not in own]
