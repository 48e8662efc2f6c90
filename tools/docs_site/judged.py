"""What the pages of the judge say of operators and of kernels that were judged."""

from __future__ import annotations

from typing import Any

import records
from docs_site.markdown import code, table
from docs_site.words import say
from suanzi.standard import interfaces
from suanzi.truth import definitions, plain_truths
from suanzi.truth.standard import WITHOUT
from suanzi.validate.judge.cases import calls_of
from suanzi.validate.judge.given import has_truth


def judged_operators() -> str:
    """Return how each operator of the standard is judged, and what `suanzi.truth` has of it."""
    known, plain = definitions(), plain_truths()
    by_inputs = [n for n in interfaces() if n in known and calls_of(n)]
    by_cases = [n for n in interfaces() if n not in by_inputs and (n in known or n in plain)]
    several = [n for n in WITHOUT if has_truth(n)]
    rows = [
        ("any shapes and data", "yes", "yes", by_inputs),
        ("the kit's cases", "yes", "yes", by_cases),
        ("the kit's cases, by a property", "yes", "no", several),
        *(
            (f"not judged: {why}", "no", "no", [n for n, w in WITHOUT.items() if w == why])
            for why in dict.fromkeys(w for n, w in WITHOUT.items() if n not in several)
        ),
    ]
    head = (say("judged by"), "`assert_right`", "`suanzi.truth`", say("operators"))
    return table(head, [(say(a), say(b), say(c), _names(names)) for a, b, c, names in rows])


def _names(names: list[str]) -> str:
    return f"{len(names)}: " + ", ".join(f"`{name}`" for name in names)


def judged_framework(name: str) -> str:
    """Return which operators of a framework are right, and what is wrong with the others."""
    found = records.read(f"judge-{name}")["operators"]
    right = [n for n, one in found.items() if one["answer"] == "right"]
    rows = [
        (f"`{n}`", _cases(one), _words(one)) for n, one in found.items() if one["answer"] == "wrong"
    ]
    late = [f"`{n}`" for n, one in found.items() if one["answer"] == "not judged"]
    lines = [say("**Right** ({}): {}.", len(right), code(right)), ""]
    if late:
        lines += [say("Not judged: {}.", ", ".join(late)), ""]
    return "\n".join([*lines, _table("operator", rows)])


def judged_triton() -> str:
    """Return what the judge says of Triton kernels on a GPU."""
    found = records.read("judge-triton")["kernels"]
    right = [n for n, one in found.items() if one["right"]]
    rows = [(f"`{n}`", _cases(one), _words(one)) for n, one in found.items() if not one["right"]]
    first = say("**Right** ({}): {}.", len(right), code(right))
    return "\n".join([first, "", _table("kernel", rows)])


def _table(of: str, rows: list[tuple[str, ...]]) -> str:
    return table((say(of), say("right cases"), say("first finding")), rows)


def _cases(one: Any) -> str:
    return ", ".join(f"{dtype} {count}" for dtype, count in one["cases"].items())


def _words(one: Any) -> str:
    found = [f for f in one.get("findings", ()) if not f["code"].startswith("JD5")]
    if not found:
        return ""
    words = " ".join(str(found[0]["words"]).replace("`", "'").split())
    return f"{found[0]['code']}: {words[:200].replace('|', '/')}"
