"""The errata that results depend on as proposals to the working group, in each language.

The texts are in ``proposals.*.toml``; clauses come from the errata.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docs_site.markdown import table
from docs_site.words import language, say
from suanzi.base.toml import tomllib
from suanzi.standard.errata import Erratum, errata

FOLDER = Path(__file__).parent


def read(of: str) -> dict[str, dict[str, Any]]:
    """Return the texts of the proposals in a language by the ids of their errata."""
    return tomllib.loads((FOLDER / f"proposals.{of}.toml").read_text("utf-8"))


def proposals() -> str:
    """Return a table of all proposals, and each with its wording."""
    texts, known = read(language()), {one.id: one for one in errata()}
    rows = [
        (f"[{name}](#{name.lower()})", _clauses(known[name], 3), said["title"], _kinds(known[name]))
        for name, said in texts.items()
    ]
    head = (say("number"), say("clauses"), say("title"), say("kind"))
    parts = [table(head, rows)]
    parts += [_proposal(known[name], said) for name, said in texts.items()]
    return "\n\n".join(parts)


def _proposal(erratum: Erratum, said: dict[str, Any]) -> str:
    stop = say(".")
    options = "\n".join(f"{i}. {one}{stop}" for i, one in enumerate(said["options"], 1))
    anchor = erratum.id.lower()
    clauses, kinds = _clauses(erratum), _kinds(erratum)
    return "\n\n".join(
        [
            f"## {erratum.id} {said['title']} {{#{anchor}}}",
            say(
                "**Clauses:** {}. **Kind:** {}. [The erratum](errata.md#{}).",
                clauses,
                kinds,
                anchor,
            ),
            f"**{say('Problem:')}** {said['problem']}",
            f"**{say('Options:')}**\n\n{options}",
            f"**{say('Elsewhere:')}** {said['elsewhere']}",
            f"**{say('Proposed wording:')}**\n\n> {said['wording']}",
        ]
    )


def _clauses(erratum: Erratum, most: int | None = None) -> str:
    listed = say(", ").join(erratum.clauses[:most])
    return say("{} and others", listed) if len(erratum.clauses) > (most or 1000) else listed


def _kinds(erratum: Erratum) -> str:
    return say(", ").join(map(say, erratum.kinds))
