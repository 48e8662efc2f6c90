"""The tables of reference/accuracy-standards.md: the standards, and what they say of outputs."""

from __future__ import annotations

from typing import Any

import records
from docs_site.markdown import table
from docs_site.words import say
from suanzi.front.site import DATA
from suanzi.validate.criteria import Criterion, criterion, every, names

KINDS = {
    "zeros": "zeros",
    "the last 38 columns unwritten": "38 columns unwritten",
    "the neighbour's row": "the neighbour's row",
    "computed one precision lower": "computed in bfloat16",
    "computed in float32": "refuses a right one",
}
"""Outputs of a softmax as the file names them, and as columns of the page."""


def _results() -> Any:
    return records.read(DATA / "judge.json")


def judged_outputs() -> str:
    """Return the fourteen outputs, and what each standard says of them."""
    found = _results()
    cases = found["outputs"]
    listed = [
        f"{i}. {say('**right:** ') * c['right']}{say(c['name'])}" for i, c in enumerate(cases, 1)
    ]
    head = [say("standard"), *map(str, range(1, len(cases) + 1)), say("mistakes")]
    rows = []
    for row in found["rows"]:
        ours = row["name"] == "suanzi"
        count = say("{} of {}", row["mistakes"], row["of"])
        marks = [mark(v, c["right"]) for v, c in zip(row["said"], cases, strict=True)]
        name = "**suanzi**" if ours else f"`{row['name']}`"
        rows.append([name, *marks, f"**{count}**" if ours else count])
    return "\n".join([*listed, "", table(head, rows)])


def mark(accepted: bool | None, right: bool) -> str:
    """Return a verdict: mistakes in bold, a dash where a standard cannot be applied."""
    if accepted is None:
        return "–"
    word = say("yes") if accepted else say("no")
    return word if accepted == right else f"**{word}**"


def judged_softmax() -> str:
    """Return from which length on standards accept wrong outputs of a softmax."""
    rows = [
        [f"`{name}`", *(", ".join(found.get(kind, ())) or "–" for kind in KINDS)]
        for name, found in _results()["softmax"].items()
    ]
    return table([say("standard"), *map(say, KINDS.values())], rows)


def all_standards() -> str:
    """Return every standard with its rule and its source."""
    rows = []
    for name in names():
        one = criterion(name)
        source = one.source
        link = f"[{source.repository}](https://github.com/{source.repository}/tree/{source.commit})"
        where = f"{link}, {source.file}, {source.read}"
        rows.append([f"`{name}`", say(one.title), say(one.summary), where])
    head = ["name", "title", "rule", "source, file, read on"]
    return table([say(word) for word in head], rows)


def rules_by_dtype() -> str:
    """Return what every standard requires of a product of matrices, by dtype."""
    return table(
        [say("standard"), "bfloat16", "float32"],
        [
            [f"`{one.name}`", *(_rule(one, dtype) for dtype in ("bfloat16", "float32"))]
            for one in every()
        ],
    )


def _rule(one: Criterion, dtype: str) -> str:
    return "; ".join(f"`{rule}`" for rule in one.rules(dtype, "matmul"))
