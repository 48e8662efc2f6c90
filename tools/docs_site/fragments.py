"""What stands in written pages where they say ``<!-- made: NAME ARGUMENTS -->``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import suanzi as sz
from docs_site.markdown import code, fenced, table
from docs_site.operators import TITLES, accuracy, link_to, members
from suanzi._text import columns
from suanzi.conformance.reports.deviations import packaged
from suanzi.errata import KINDS, Erratum, errata
from suanzi.promote.diff import Diff
from suanzi.registry import REGISTRY
from suanzi.standard import interfaces

MARK = re.compile(r"^<!-- made: ([a-z-]+)((?: [\w+=.-]+)*) -->$", re.M)


def fill(markdown: str) -> str:
    """Return a page with each mark followed by what it stands for."""
    return MARK.sub(lambda found: FRAGMENTS[found[1]](*found[2].split()), markdown)


def all_errata() -> str:
    """Return the errata under the categories they belong to."""
    sections: dict[str, list[Erratum]] = {title: [] for title in ("General", *TITLES.values())}
    for erratum in errata():
        sections[_title_of(erratum)].append(erratum)
    parts = []
    for title, found in sections.items():
        if found:
            parts.append(f"## {title}")
            parts += map(_erratum, found)
    return "\n\n".join(parts)


def _title_of(erratum: Erratum) -> str:
    """Return the category of the first clause; what names several categories is general."""
    found = {
        one.category
        for one in interfaces().values()
        for clause in erratum.clauses
        if clause == one.clause or clause == one.category_clause
    }
    general = not erratum.clauses or not erratum.clauses[0].startswith("7.2.")
    return TITLES[found.pop()] if len(found) == 1 and not general else "General"


def _erratum(erratum: Erratum) -> str:
    mark = ", results depend on it" if erratum.results else ""
    kinds = " and ".join(erratum.kinds)
    return (
        f"### {erratum.id}\n\n"
        f"*{kinds[0].upper()}{kinds[1:]}{mark}. {_where(erratum)}*\n\n"
        f"**Printed:** {erratum.printed}\n\n**Here:** {erratum.here}"
    )


def _where(erratum: Erratum) -> str:
    by_clause = {one.clause: one for one in interfaces().values()}
    categories = {one.category_clause: one.category for one in interfaces().values()}
    said = []
    for clause in erratum.clauses:
        if clause in by_clause:
            said.append(f"{clause} {link_to(by_clause[clause], '')}")
        elif clause in categories:
            page = f"reference/{categories[clause].replace(' ', '-')}.md"
            said.append(f"{clause} [{TITLES[categories[clause]]}]({page})")
        else:
            said.append(clause)
    return ", ".join(said) or "The document"


def errata_kinds() -> str:
    """Return how many errata there are of each kind."""
    rows = [
        (kind, said, str(sum(kind in erratum.kinds for erratum in errata())))
        for kind, said in KINDS.items()
    ]
    return table(("kind", "what it means", "how many"), rows)


def all_tables() -> str:
    """Return the tables of every rule set, as their documents print them."""
    parts = []
    for name in sz.rule_sets():
        found = sz.table(name)
        refused = sum(
            found.tensors[a, b] is None
            for i, a in enumerate(found.dtypes)
            for b in found.dtypes[i:]
        )
        pairs = len(found.dtypes) * (len(found.dtypes) + 1) // 2
        parts.append(
            f"## {name}\n\n{found.title}.\n\n"
            f"{len(found.dtypes)} dtypes, {pairs} pairs, {refused} refused.\n\n"
            f"Tensor with tensor:\n\n{fenced(columns(found.tensor_rows()))}\n\n"
            f"Tensor with Python number:\n\n{fenced(columns(found.number_rows()))}"
        )
    return "\n\n".join(parts)


def differences(a: str, b: str) -> str:
    """Return what changes from one rule set to another."""
    found = sz.diff(a, b)
    parts = [
        table(("operands", "compared", "answered differently", "one refuses"), found.summary())
    ]
    for rules, only in ((found.a, found.only_a), (found.b, found.only_b)):
        if only:
            parts.append(f"Only `{rules.name}` speaks of {code(d.name for d in only)}.")
    parts += [_pairs(found, shape) for shape in found.compared if found.of_shape(shape)]
    return "\n\n".join(parts)


def difference_matrix() -> str:
    """Return how many pairs of tensors any two frameworks answer differently."""
    names = ("cann", "mindspore", "paddle", "openvino", "torch", "numpy", "jax")
    rows = []
    for a in names:
        cells = []
        for b in names:
            found = sz.diff(a, b)
            shape = next(iter(found.compared))
            different = len(found.of_shape(shape))
            cells.append("" if a == b else f"{different} of {found.compared[shape]}")
        rows.append((f"`{a}`", *cells))
    return table(("", *(f"`{name}`" for name in names)), rows)


def _pairs(found: Diff, shape: str) -> str:
    """Return the differences of one shape: pairs that get the same two answers share a row."""
    left_name, right_name = shape.split(", ")
    groups: dict[tuple[str, str, str], list[str]] = {}
    for row in (one.row() for one in found.of_shape(shape)):
        left, right, *answers = (cell.removeprefix("0-d ") for cell in row)
        a, b = (f"that of the {right_name}" if answer == right else answer for answer in answers)
        groups.setdefault((left, a, b), []).append(right.removeprefix("a "))
    rows = [(left, ", ".join(right), a, b) for (left, a, b), right in groups.items()]
    head = (left_name, f"with {right_name}", f"`{found.a.name}`", f"`{found.b.name}`")
    return f"### {shape[0].upper()}{shape[1:]}\n\n{table(head, rows)}"


def all_bounds() -> str:
    """Return the declared bound of every operator that has one."""
    rows = [
        (one.clause, link_to(one, ""), accuracy(REGISTRY[one.name]), REGISTRY[one.name].domain)
        for category in TITLES
        for one in members(category)
        if one.name in REGISTRY and REGISTRY[one.name].ulp is not None
    ]
    return table(
        ("clause", "operator", "error", "domain"),
        [(*row[:3], f"`{row[3]}`" if row[3] else "") for row in rows],
    )


def findings(subject: str) -> str:
    """Return the known deviations of a subject: what it does, and in which interfaces."""
    rows = [
        (
            re.sub(r"\b(E\d+)\b", lambda found: f"[{found[1]}](../errata.md#{found[1].lower()})",
                   one.reason),
            ", ".join(link_to(x, "") for x in interfaces().values() if one.may_name(x.name)),
        )
        for one in packaged(subject)
    ]  # fmt: skip
    return table(("what it does, and what is asked for", "interfaces"), rows)


def declaration(name: str) -> str:
    """Return how an operator is declared, decorator and docstring included."""
    return fenced(inspect.getsource(REGISTRY[name].function).rstrip(), "python")


FRAGMENTS: dict[str, Callable[..., str]] = {
    "errata": all_errata,
    "errata-kinds": errata_kinds,
    "tables": all_tables,
    "diff": differences,
    "diff-matrix": difference_matrix,
    "accuracy": all_bounds,
    "findings": findings,
    "source": declaration,
}
"""What a page can ask for, by name."""
