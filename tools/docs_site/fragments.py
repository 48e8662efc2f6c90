"""What stands in READMEs and docs/ between ``<!-- made: NAME ARGUMENTS -->`` and its end.

The tree keeps what is marked ``kept:``; what is marked ``made:`` is on the site alone. Pages of the
site link the interfaces that tables name to the reference; those of the tree do not.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path

import suanzi as sz
from docs_site import jax_table, lookup
from docs_site.atlas import atlas, samples
from docs_site.gpu import accelerators, behind
from docs_site.judged import judged_framework, judged_operators, judged_triton
from docs_site.markdown import anchored, code, fenced, table
from docs_site.operators import (
    TITLES,
    accuracy,
    all_interfaces,
    linked,
    members,
    minimal_set,
)
from docs_site.proposals import proposals
from docs_site.speed import brief, slower, summary
from docs_site.standards import all_standards, judged_outputs, judged_softmax, rules_by_dtype
from docs_site.words import say
from suanzi.base.text import columns
from suanzi.conformance import header_words
from suanzi.conformance.reports.deviations import packaged
from suanzi.conformance.truth.bounds import COMPLEX, NARROWER, REAL
from suanzi.promote.diff import Diff
from suanzi.promote.registry import REGISTRY
from suanzi.standard import categories, interfaces
from suanzi.standard.errata import KINDS, Erratum, errata
from suanzi.standard.other_names import LIBRARIES
from suanzi.standard.other_names import table as names_table

ERRATA = "../../explanations/errata.md"
"""From the pages of reference/frameworks."""
GUIDES = Path(__file__).parent.parent.parent / "docs" / "en" / "guides" / "operators"

MARK = re.compile(
    r"^(<!-- (made|kept): ([a-z-]+)((?: [\w+=.-]+)*) -->)\n(?:.*?\n)??(<!-- end: \3 -->)$",
    re.M | re.S,
)


def data_file(package: str, name: str) -> str:
    """Return the path in the tree of a file of data of suanzi, which may be installed."""
    home = Path(str(resources.files(f"suanzi.{package}")))
    return (Path("src") / home.relative_to(Path(sz.__file__).parents[1]) / name).as_posix()


COMMANDS = {
    "commands": "suanzi --help",
    "interfaces": "suanzi ops",
    "dtypes": "suanzi dtypes",
    "tables": "suanzi table torch",
    "diff": "suanzi diff {}",
    "standards": "suanzi standards",
}
"""What shows the same in a terminal."""
SOURCES = {
    "errata": data_file("standard", "errata.toml"),
    "proposals": "tools/docs_site/proposals.en.toml",
    "other-names": data_file("standard", "other-names.txt"),
    "findings": data_file("conformance.reports", "deviations/{}.toml"),
    "atlas": data_file("front.site", "data/accuracy"),
    "samples": data_file("front.site", "data/accuracy"),
    "judged-outputs": data_file("front.site", "data/judge.json"),
    "judged-softmax": data_file("front.site", "data/judge.json"),
    "slower": "benchmarks/results",
    "accelerators": "benchmarks/results/accelerators-nvidia-h200.json",
    "judged-framework": "benchmarks/results/judge-{}.json",
    "judged-triton": "benchmarks/results/judge-triton.json",
}
"""What else has the same, in the tree."""


def fill(markdown: str, up: str) -> str:
    """Return a page with what its marks stand for; `up` leads to the folder of its language."""

    def filled(mark: re.Match[str]) -> str:
        text = FRAGMENTS[mark[3]](*mark[4].split())
        return _between(mark, text if mark[3] == "commands" else linked(text, up))

    return MARK.sub(filled, markdown)


def shortened(markdown: str) -> str:
    """Return a page as the tree has it: parts that are made with the site are one line."""

    def filled(mark: re.Match[str]) -> str:
        if mark[2] == "kept":
            return _between(mark, FRAGMENTS[mark[3]](*mark[4].split()))
        return _between(mark, _note(mark[3], mark[4].split()))

    return MARK.sub(filled, markdown)


def _between(mark: re.Match[str], text: str) -> str:
    return f"{mark[1]}\n\n{text}\n\n{mark[5]}"


def _note(name: str, arguments: list[str]) -> str:
    """Return what stands where a part is made with the site."""
    command = COMMANDS.get(name, "").format(" ".join(arguments)).strip()
    if command:
        return say("*Made with the site, by `.ci/site`; in a terminal, by `{}`.*", command)
    source = SOURCES.get(name, "").format(*arguments)
    if source:
        return say("*Made with the site, by `.ci/site`, from `{}`.*", source)
    return say("*Made with the site, by `.ci/site`.*")


def all_errata() -> str:
    """Return the errata under the categories they belong to."""
    sections: dict[str, list[Erratum]] = {title: [] for title in ("General", *TITLES.values())}
    for erratum in errata():
        sections[_title_of(erratum)].append(erratum)
    parts = []
    for title, found in sections.items():
        if found:
            parts.append(anchored("##", title))
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
    mark = say(", results depend on it") if erratum.results else ""
    kinds = say(" and ").join(map(say, erratum.kinds))
    parts = [
        f"### {erratum.id}",
        f"*{kinds[0].upper()}{kinds[1:]}{mark}{say('. ')}{_where(erratum)}*",
        f"**{say('Printed:')}** {say(erratum.printed)}",
        f"**{say('Here:')}** {say(erratum.here)}",
    ]
    if erratum.readings:
        readings = say("; ").join(map(say, erratum.readings))
        parts.append(f"**{say('Interpretations:')}** {readings}{say('.')}")
    if erratum.tentative:
        parts.append(f"**{say('Tentative:')}** {say(erratum.tentative)}{say('.')}")
    if erratum.settled:
        parts.append(f"**{say('Settled:')}** {say(erratum.settled)}")
    return "\n\n".join(parts)


def _where(erratum: Erratum) -> str:
    names = {one.clause: f" `{one.name}`" for one in interfaces().values()}
    names |= {one.category_clause: f" {say(TITLES[one.category])}" for one in interfaces().values()}
    said = [clause + names.get(clause, "") for clause in erratum.clauses]
    return ", ".join(said) or say("The document")


def all_categories() -> str:
    """Return the interfaces by category, with their guides, for reference/operators/index.md."""
    every = list(interfaces().values())
    there = sum(one.name in REGISTRY for one in every)
    backward = sum(one.backward_of is not None for one in every)
    counted = say(
        "The {} interfaces of the standard, {} forward and {} backward; {} are declared.",
        len(every), len(every) - backward, backward, there,
    )  # fmt: skip
    rows = []
    for category, title in TITLES.items():
        found = members(category)
        name = category.replace(" ", "_")
        guides = sorted(p.stem for p in GUIDES.glob("*.md") if f"{p.stem}_".startswith(f"{name}_"))
        said = ", ".join(
            f"[{say(guide.removeprefix(name).strip('_') or 'guide')}]"
            f"(../../guides/operators/{guide}.md)"
            for guide in guides
        )
        rows.append((found[0].category_clause, say(title), said, code(one.name for one in found)))
    head = ("clause", "category", "guide", "interfaces")
    return f"{counted}\n\n{table(tuple(map(say, head)), rows)}"


def errata_kinds() -> str:
    """Return how many errata there are of each kind."""
    rows = [
        (say(kind), say(said), str(sum(kind in erratum.kinds for erratum in errata())))
        for kind, said in KINDS.items()
    ]
    return table((say("kind"), say("what it means"), say("how many")), rows)


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
            f"## {name}\n\n{say(found.title)}{say('.')}\n\n"
            f"{say('{} dtypes, {} pairs, {} refused.', len(found.dtypes), pairs, refused)}\n\n"
            f"{say('Tensor with tensor:')}\n\n{fenced(columns(found.tensor_rows()))}\n\n"
            f"{say('Tensor with Python number:')}\n\n{fenced(columns(found.number_rows()))}"
        )
    return "\n\n".join(parts)


def differences(a: str, b: str) -> str:
    """Return what changes from one rule set to another."""
    found = sz.diff(a, b)
    head = ("operands", "compared", "answered differently", "one refuses")
    rows = [(say(shape), *counts) for shape, *counts in found.summary()]
    parts = [table(tuple(map(say, head)), rows)]
    for rules, only in ((found.a, found.only_a), (found.b, found.only_b)):
        if only:
            parts.append(say("Only `{}` has {}.", rules.name, code(d.name for d in only)))
    parts += [_pairs(found, shape) for shape in found.compared if found.of_shape(shape)]
    return "\n\n".join(parts)


def difference_matrix() -> str:
    """Return how many pairs of tensors any two frameworks answer differently."""
    names = ("cann", "mindspore", "paddle", "openvino", "torch", "numpy", "jax")
    rows = []
    for a in names:
        counts = (_different(*sorted((a, b))) for b in names)
        cells = (say("{} of {}", *found) if found[0] else "" for found in counts)
        rows.append((f"`{a}`", *cells))
    return table(("", *(f"`{name}`" for name in names)), rows)


@cache
def _different(a: str, b: str) -> tuple[int, int]:
    """Return how many pairs of tensors two rule sets answer differently, and of how many."""
    if a == b:
        return 0, 0
    found = sz.diff(a, b)
    shape = next(iter(found.compared))
    return len(found.of_shape(shape)), found.compared[shape]


def _pairs(found: Diff, shape: str) -> str:
    """Return the differences of one shape: pairs that get the same two answers share a row."""
    left_name, right_name = shape.split(", ")
    groups: dict[tuple[str, str, str], list[str]] = {}
    for row in (one.row() for one in found.of_shape(shape)):
        left, right, *answers = (cell.removeprefix("0-d ") for cell in row)
        same = say("that of the {}", say(right_name))
        a, b = (
            same if answer == right else say(answer) if answer == "refused" else answer
            for answer in answers
        )
        groups.setdefault((left, a, b), []).append(right.removeprefix("a "))
    rows = [(left, ", ".join(right), a, b) for (left, a, b), right in groups.items()]
    head = (say(left_name), say(f"with {right_name}"), f"`{found.a.name}`", f"`{found.b.name}`")
    return f"{anchored('###', shape[0].upper() + shape[1:])}\n\n{table(head, rows)}"


def all_bounds() -> str:
    """Return the declared bound of every operator that has one."""
    rows = [
        (one.clause, f"`{one.name}`", accuracy(REGISTRY[one.name]), REGISTRY[one.name].domain)
        for category in TITLES
        for one in members(category)
        if one.name in REGISTRY and REGISTRY[one.name].ulp is not None
    ]
    return table(
        tuple(map(say, ("clause", "operator", "error", "domain"))),
        [(*row[:3], f"`{row[3]}`" if row[3] else "") for row in rows],
    )


def judged_bounds() -> str:
    """Return the bounds of the kit, operators of one bound in a row."""
    rows: dict[tuple[str, float], list[str]] = {}
    for kind, bounds in (("", REAL), (say("complex "), COMPLEX)):
        for name, ulp in sorted(bounds.items(), key=lambda item: item[1]):
            rows.setdefault((kind, ulp), []).append(name)
    return table(
        (say("What"), "float32, float64", say("narrower")),
        [(f"{kind}`{' '.join(names)}`", f"{ulp}", f"{NARROWER}")
         for (kind, ulp), names in rows.items()],
    )  # fmt: skip


def findings(subject: str, of: str = "standard") -> str:
    """Return the known deviations of a subject: what it does, and in which interfaces."""
    ops = {facts.key: name for name, facts in interfaces(of).items()}
    rows = [
        (
            re.sub(r"\b(E\d+)\b", lambda found: f"[{found[1]}]({ERRATA}#{found[1].lower()})",
                   say(one.reason)),
            say("all") if all(map(one.may_name, ops))
            else code(name for key, name in ops.items() if one.may_name(key)),
        )
        for one in packaged(subject)
    ]  # fmt: skip
    return table((say("what it does, and what is required"), say("interfaces")), rows)


def c_functions() -> str:
    """Return what each function of the C header takes, and when it returns which status."""
    rows = [
        (
            f"`{facts.c_name}`",
            facts.clause,
            say(header_words.dtypes(op) or "any"),
            say("; ").join(f"`{name}`: {say(when)}" for name, when in header_words.statuses(op)),
        )
        for op, facts in interfaces().items()
    ]
    head = ("function", "clause", "dtypes", "statuses but SUCCESS")
    return table(tuple(map(say, head)), rows)


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
            f"`{one.here}`"
            if one.exists
            else f"*{say('no operator')}*{one.here and say('; `{}`', one.here)}",
            *(
                code(name for name in one.names.get(library, ()) if name[0] != "_")
                for library in LIBRARIES
            ),
        ]
        for one in names_table()
    ]
    return table([say("here"), *LIBRARIES.values()], rows)


def model_categories(of: str = "nn") -> str:
    """Return the operators of a catalogue by category; backward ones are counted."""
    rows = []
    for clause, category in categories(of).items():
        found = members(category, of)
        forward = [one for one in found if not one.backward_of]
        names = ", ".join(f"`{one.name}`" for one in forward)
        guide = f"[{say('guide')}](../../guides/{of}/{category.replace(' ', '-')}.md)"
        rows.append((clause, say(category), guide, names, str(len(found) - len(forward))))
    return table(tuple(map(say, ("clause", "category", "guide", "operators", "backward"))), rows)


FRAGMENTS: dict[str, Callable[..., str]] = {
    "categories": all_categories,
    "interfaces": all_interfaces,
    "minimal-set": minimal_set,
    "errata": all_errata,
    "proposals": proposals,
    "commands": lookup.commands,
    "dtypes": lookup.dtypes,
    "statuses": lookup.statuses,
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
    "accelerators": accelerators,
    "behind": behind,
    "standards": all_standards,
    "standard-rules": rules_by_dtype,
    "judged-outputs": judged_outputs,
    "judged-softmax": judged_softmax,
    "judged-operators": judged_operators,
    "judged-framework": judged_framework,
    "judged-triton": judged_triton,
}
"""What a page can ask for, by name."""
