"""The reference: every interface of the standard, on the page of its category.

``tools/write_docs.py`` writes the pages, in the language of :mod:`docs_site.words`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from enum import Enum

from docs_site.markdown import anchored, code, docstring, fenced, table
from docs_site.words import say
from suanzi.base.device import Device
from suanzi.base.dtypes import DType
from suanzi.faces import interface as standard_form
from suanzi.promote.operators import OperatorClass
from suanzi.promote.registry import REGISTRY, Operator
from suanzi.standard import Interface, categories, interfaces
from suanzi.standard.catalogues import STANDARD, catalogue, catalogues
from suanzi.standard.errata import Erratum, errata, errata_of

TITLES = {
    "creation": "Creation and destruction",
    "query": "Query and check",
    "transformation": "Transformation",
    "arithmetic": "Arithmetic",
    "comparison": "Comparison",
    "logical": "Logic",
    "bitwise": "Bits",
    "power": "Powers and roots",
    "rounding": "Rounding",
    "trigonometric": "Trigonometry",
    "hyperbolic": "Hyperbolic functions",
    "exponential": "Exponentials and logarithms",
    "reduction": "Reduction",
    "indexing": "Indices",
    "complex": "Complex numbers",
    "signal": "Fourier transforms",
    "linear algebra": "Linear algebra",
    "interpolation": "Interpolation",
}
"""The categories in the standard's order, and what their pages are called."""

HOME = "reference/operators"
INDEX = f"{HOME}/index.md"
MINIMAL_SET = f"{HOME}/minimal-set.md"


def page_of(category: str, of: str = STANDARD) -> str:
    """Return the path of a category's page."""
    folder = HOME if of == STANDARD else f"reference/{of}"
    return f"{folder}/{category.replace(' ', '-')}.md"


def link_to(one: Interface, up: str = "") -> str:
    """Return a link to an interface: from a page of its catalogue, or `up` to the first page."""
    path = page_of(one.category, one.catalogue)
    return f"[`{one.name}`]({up + path if up else path.rpartition('/')[2]}#{one.name})"


def linked(markdown: str, up: str) -> str:
    """Return a part that is made with links to the interfaces that it lists."""

    def link(found: re.Match[str]) -> str:
        one = interfaces().get(found[1])
        return link_to(one, up) if one else found[0]

    # In tables and below the numbers of errata; elsewhere a word may be a parameter's name.
    return re.sub(
        r"^(?:\||\*(?!\*)).*$",
        lambda line: re.sub(r"(?<=[\d|,] )`(\w+)`(?=[,*]| \|)", link, line[0]),
        markdown,
        flags=re.M,
    )


def pages() -> dict[str, str]:
    """Return the page of every category by its path."""
    return {page_of(category, of): _category_page(category, of) for of, category in _all()}


def page_paths() -> list[str]:
    """Return the paths of those pages."""
    return [page_of(category, of) for of, category in _all()]


def _all() -> Iterator[tuple[str, str]]:
    """Yield every category with its catalogue."""
    for of in catalogues():
        catalogue(of).load()
        for category in categories(of).values():
            yield of, category


def members(category: str, of: str = STANDARD) -> list[Interface]:
    """Return the interfaces of a category in the order of the standard, or of a catalogue."""
    return [one for one in interfaces(of).values() if one.category == category]


def _category_page(category: str, of: str) -> str:
    found = members(category, of)
    clause = found[0].category_clause
    missing = [one.name for one in found if one.key not in REGISTRY]
    whole = say("the standard") if of == STANDARD else catalogue(of).title
    index = "index.md" if of == STANDARD else "../operators/index.md"
    parts = [
        anchored("#", TITLES.get(category, category.capitalize())),
        say(
            "Clause {} of {}: {}. [How to read this page]({}).", clause, whole, _count(found), index
        ),
        _overview(found),
    ]
    if missing:
        parts.append(say("Not declared yet: {}.", code(missing)))
    common = [erratum for erratum in errata() if clause in erratum.clauses]
    if common and of == STANDARD:
        parts.append(say("Errata of the whole category: {}.", _errata_links(common)))
    parts += [_section(one) for one in found]
    return "\n\n".join(parts) + "\n"


def _count(found: list[Interface]) -> str:
    backward = sum(one.backward_of is not None for one in found)
    forward = len(found) - backward
    if backward:
        return say("{} interfaces and {} backward", forward, backward)
    return say("{} interface", forward) if forward == 1 else say("{} interfaces", forward)


def _overview(found: Iterable[Interface]) -> str:
    return table(
        (say("clause"), say("name"), say("C name"), say("what it does")),
        [(one.clause, link_to(one), f"`{one.c_name}`", _first_line(one)) for one in found],
    )


def _first_line(one: Interface) -> str:
    op = REGISTRY.get(one.key)
    if op is None:
        return say("not declared yet")
    return docstring((inspect.getdoc(op.function) or "").split("\n\n")[0]).replace("\n", " ")


def _section(one: Interface) -> str:
    op = REGISTRY.get(one.key)
    names = f"{one.clause} `{one.c_name}`"
    parts = [f'## {one.name} <small>{names}</small> {{#{one.name} data-toc-label="{one.name}"}}']
    if op is None:
        parts += [say("Not declared yet."), fenced(_standard_call(one), "python")]
    else:
        calls = f"{_python_call(op)}\n{_standard_call(one)}"
        parts += [fenced(calls, "python"), docstring(inspect.getdoc(op.function) or "")]
    parts.append("\n".join(f"- **{say(name)}**{say(': ')}{said}" for name, said in _facts(one, op)))
    return "\n\n".join(parts)


def _python_call(op: Operator) -> str:
    signature = inspect.signature(op.function)
    parts = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        default = parameter.default
        given = "" if default is parameter.empty else f" = {_literal(default)}"
        parts.append(f"{parameter.name}: {parameter.annotation}{given}")
    return _call(f"sz.{op.key.replace(':', '.')}", parts, signature.return_annotation)


def _call(name: str, parts: list[str], answer: str) -> str:
    """Return a call on one line, or on several if it is long."""
    line = f"{name}({', '.join(parts)}) -> {answer}"
    if len(line) <= 88:
        return line
    return "\n".join([f"{name}(", *(f"    {part}," for part in parts), f") -> {answer}"])


def _literal(value: object) -> str:
    """Return a default as one would write it."""
    if isinstance(value, DType):
        return f"sz.{value.name}"
    if isinstance(value, Device):
        return repr(str(value))
    return str(value.name) if isinstance(value, Enum) else repr(value)


def _standard_call(one: Interface) -> str:
    """Return the standard's form: all parameters in its order, and what comes back."""
    home = standard_form if one.catalogue == STANDARD else getattr(standard_form, one.catalogue)
    function = getattr(home, one.c_name, None)
    defaults = inspect.signature(function).parameters if function is not None else {}
    given = []
    for p in one.parameters:
        if p.required and not p.derived:
            given.append(p.name)
        elif p.name in defaults:
            given.append(f"{p.name}={_literal(defaults[p.name].default)}")
        else:
            given.append(f"{p.name}={p.default or 'None'}")
    answer = ", ".join(("Status", *one.outputs))
    return _call(f"{home.__name__.removeprefix('suanzi.')}.{one.c_name}", given, f"({answer})")


def _facts(one: Interface, op: Operator | None) -> list[tuple[str, str]]:
    clause = say("{}, Table {}.", one.clause, one.table) if one.table else say("{}.", one.clause)
    minimal = say(" In the [minimal set](minimal-set.md).") if one.minimal else ""
    rows = [("clause", clause + minimal)]
    if one.printed:
        rows.append(("printed as", code(one.printed)))
    if op is not None:
        rows.append(("dtypes", _dtypes(op)))
        if op.operator_class:
            title = say(op.operator_class.title)
            rows.append(("promotion", say("as [{}](../../explanations/promotion.md)", title)))
    else:
        rows.append(("dtypes of the clause", f"`{one.dtypes}`"))
    rows.append(("statuses", code(status.name for status in one.statuses)))
    rows += [("backward", ", ".join(link_to(b) for b in _backward(one)))] if _backward(one) else []
    if one.backward_of:
        rows.append(("backward of", link_to(interfaces(one.catalogue)[one.backward_of])))
    if op is not None and op.ulp is not None:
        rows.append(("accuracy", accuracy(op)))
    if op is not None and op.domain is not None:
        rows.append(
            ("domain", say("`{}`; NaN outside, an error in the standard's form", op.domain))
        )
    added = [p.name for p in one.parameters if p.added]
    if added:
        rows.append(("added here", say("{}, which the standard forgot", code(added))))
    found = errata_of(one.name) if one.catalogue == STANDARD else ()
    if found:
        rows.append(("errata", _errata_links(found)))
    return rows


def _backward(one: Interface) -> list[Interface]:
    every = interfaces(one.catalogue).values()
    return [other for other in every if other.backward_of == one.name]


def _dtypes(op: Operator) -> str:
    said = say(op.dtypes_in_words())
    if op.operator_class in (OperatorClass.REAL_FUNCTION, OperatorClass.TRUE_DIVISION):
        return say("{}; integers and bool are promoted to them", said)
    return said


def accuracy(op: Operator) -> str:
    """Return the bound of an operator's error in words."""
    assert op.ulp is not None
    if op.ulp <= 0.5:
        return say("correctly rounded, 0.5 ULP")
    return say("at most {} ULP in float32 and float64", f"{op.ulp:g}")


def _errata_links(found: Iterable[Erratum]) -> str:
    return ", ".join(f"[{one.id}](../../explanations/errata.md#{one.id.lower()})" for one in found)


def all_interfaces() -> str:
    """Return what each interface of the standard does, by category, for INDEX."""
    parts = []
    for category, title in TITLES.items():
        found = members(category)
        name = page_of(category).rpartition("/")[2]
        parts.append(anchored("##", title))
        parts.append(f"{found[0].category_clause}{say(', ')}[{say(title)}]({name})")
        parts.append(_overview(found))
    return "\n\n".join(parts)


def minimal_set() -> str:
    """Return the interfaces that every implementation must have, for reference/operators."""
    found = [one for one in interfaces().values() if one.minimal]
    rows = [
        (
            str(number),
            one.clause,
            link_to(one),
            f"`{one.c_name}`",
            say("yes") if one.name in REGISTRY else say("not yet"),
        )
        for number, one in enumerate(found, 1)
    ]
    return table(("", say("clause"), say("name"), say("C name"), say("declared")), rows)
