"""What stands in READMEs and docs/ between ``<!-- made: NAME ARGUMENTS -->`` and its end.

Interfaces are named, not linked: the reference is made with the site, which links them itself.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import suanzi as sz
from docs_site import jax_table
from docs_site.atlas import atlas, samples
from docs_site.judged import judged_framework, judged_operators, judged_triton
from docs_site.markdown import code, fenced, table
from docs_site.operators import TITLES, accuracy, members
from docs_site.speed import brief, slower, summary
from docs_site.standards import all_standards, judged_outputs, judged_softmax, rules_by_dtype
from suanzi._text import columns
from suanzi.conformance import header_words
from suanzi.conformance.reports.deviations import packaged
from suanzi.conformance.truth.bounds import COMPLEX, NARROWER, REAL
from suanzi.errata import KINDS, Erratum, errata
from suanzi.promote.diff import Diff
from suanzi.registry import REGISTRY
from suanzi.standard import categories, interfaces
from suanzi.standard.other_names import LIBRARIES
from suanzi.standard.other_names import table as names_table

GUIDES = Path(__file__).parent.parent.parent / "docs" / "operators"

MARK = re.compile(
    r"^(<!-- made: ([a-z-]+)((?: [\w+=.-]+)*) -->)\n(?:.*?\n)??(<!-- end: \2 -->)$", re.M | re.S
)


def fill(markdown: str) -> str:
    """Return a page with what its marks stand for between each and its end."""
    return MARK.sub(lambda m: f"{m[1]}\n\n{FRAGMENTS[m[2]](*m[3].split())}\n\n{m[4]}", markdown)


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
        + (f"\n\n**Interpretations:** {'; '.join(erratum.readings)}." if erratum.readings else "")
        + (f"\n\n**Tentative:** {erratum.tentative}." if erratum.tentative else "")
        + (f"\n\n**Settled:** {erratum.settled}" if erratum.settled else "")
    )


def _where(erratum: Erratum) -> str:
    names = {one.clause: f" `{one.name}`" for one in interfaces().values()}
    names |= {one.category_clause: f" {TITLES[one.category]}" for one in interfaces().values()}
    said = [clause + names.get(clause, "") for clause in erratum.clauses]
    return ", ".join(said) or "The document"


def all_categories() -> str:
    """Return the interfaces by category, with the guides of docs/operators."""
    rows = []
    for category, title in TITLES.items():
        found = members(category)
        name = category.replace(" ", "_")
        guides = sorted(p.stem for p in GUIDES.glob("*.md") if f"{p.stem}_".startswith(f"{name}_"))
        said = ", ".join(
            f"[{guide.removeprefix(name).strip('_') or 'guide'}]({guide}.md)" for guide in guides
        )
        rows.append((found[0].category_clause, title, said, code(one.name for one in found)))
    return table(("clause", "category", "guide", "interfaces"), rows)


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
            parts.append(f"Only `{rules.name}` has {code(d.name for d in only)}.")
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
        (one.clause, f"`{one.name}`", accuracy(REGISTRY[one.name]), REGISTRY[one.name].domain)
        for category in TITLES
        for one in members(category)
        if one.name in REGISTRY and REGISTRY[one.name].ulp is not None
    ]
    return table(
        ("clause", "operator", "error", "domain"),
        [(*row[:3], f"`{row[3]}`" if row[3] else "") for row in rows],
    )


def judged_bounds() -> str:
    """Return the bounds of the kit, operators of one bound in a row."""
    rows: dict[tuple[str, float], list[str]] = {}
    for kind, bounds in (("", REAL), ("complex ", COMPLEX)):
        for name, ulp in sorted(bounds.items(), key=lambda item: item[1]):
            rows.setdefault((kind, ulp), []).append(name)
    return table(
        ("What", "float32, float64", "narrower"),
        [(f"{kind}`{' '.join(names)}`", f"{ulp}", f"{NARROWER}")
         for (kind, ulp), names in rows.items()],
    )  # fmt: skip


def findings(subject: str, of: str = "standard") -> str:
    """Return the known deviations of a subject: what it does, and in which interfaces."""
    ops = {facts.key: name for name, facts in interfaces(of).items()}
    rows = [
        (
            re.sub(r"\b(E\d+)\b", lambda found: f"[{found[1]}](../errata.md#{found[1].lower()})",
                   one.reason),
            "all" if all(map(one.may_name, ops))
            else code(name for key, name in ops.items() if one.may_name(key)),
        )
        for one in packaged(subject)
    ]  # fmt: skip
    return table(("what it does, and what is asked for", "interfaces"), rows)


def c_functions() -> str:
    """Return what each function of the C header takes, and when it returns which status."""
    rows = [
        (
            f"`{facts.c_name}`",
            facts.clause,
            header_words.dtypes(op) or "any",
            "; ".join(f"`{name}`: {when}" for name, when in header_words.statuses(op)),
        )
        for op, facts in interfaces().items()
    ]
    return table(("function", "clause", "dtypes", "statuses but SUCCESS"), rows)


def declaration(name: str) -> str:
    """Return how an operator is declared, without the examples of its docstring.

    They would be executed with those of the page, and end in quotes.
    """
    source = inspect.getsource(REGISTRY[name].function).rstrip()
    return fenced(re.sub(r'\n\n +>>>.*?\n +"""', '"""', source, flags=re.S), "python")


def other_names() -> str:
    """Return the table of other libraries' names; what has no operator is said in italics."""
    rows = [
        [
            f"`{one.here}`" if one.exists else f"*no operator*{one.here and f'; `{one.here}`'}",
            *(
                code(name for name in one.names.get(library, ()) if name[0] != "_")
                for library in LIBRARIES
            ),
        ]
        for one in names_table()
    ]
    return table(["here", *LIBRARIES.values()], rows)


def model_categories(of: str = "nn") -> str:
    """Return the operators of a catalogue by category; backward ones are counted."""
    rows = []
    for clause, category in categories(of).items():
        found = members(category, of)
        forward = [one for one in found if not one.backward_of]
        names = ", ".join(f"`{one.name}`" for one in forward)
        rows.append((clause, category, names, str(len(found) - len(forward))))
    return table(("clause", "category", "operators", "backward"), rows)


FRAGMENTS: dict[str, Callable[..., str]] = {
    "categories": all_categories,
    "errata": all_errata,
    "errata-kinds": errata_kinds,
    "tables": all_tables,
    "diff": differences,
    "diff-matrix": difference_matrix,
    "accuracy": all_bounds,
    "atlas": atlas,
    "samples": samples,
    "jax-table": jax_table.differing,
    "bounds": judged_bounds,
    "findings": findings,
    "c-functions": c_functions,
    "source": declaration,
    "other-names": other_names,
    "model-categories": model_categories,
    "speed": summary,
    "speed-brief": brief,
    "slower": slower,
    "standards": all_standards,
    "standard-rules": rules_by_dtype,
    "judged-outputs": judged_outputs,
    "judged-softmax": judged_softmax,
    "judged-operators": judged_operators,
    "judged-framework": judged_framework,
    "judged-triton": judged_triton,
}
"""What a page can ask for, by name."""
