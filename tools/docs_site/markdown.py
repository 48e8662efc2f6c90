"""Small helpers to write Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a bar inside a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def fenced(text: str, language: str = "text") -> str:
    """Return a block of code."""
    return f"```{language}\n{text}\n```"


def code(words: Iterable[str]) -> str:
    """Return words as code, with commas between them."""
    return ", ".join(f"`{word}`" for word in words)


def docstring(text: str) -> str:
    """Return a docstring as Markdown: its examples become blocks of code.

    An example runs from its first prompt to the next empty line, as doctest has it.
    """
    parts: list[str] = []
    example: list[str] = []
    for line in [*text.splitlines(), ""]:
        if example or line.lstrip().startswith(">>>"):
            if line.strip():
                example.append(line)
                continue
            parts.append(fenced("\n".join(example).replace("<BLANKLINE>", ""), "pycon"))
            example = []
        parts.append(_prose(line))
    return "\n".join(parts).strip()


def _prose(line: str) -> str:
    """Return a line without the roles of Sphinx, and without what would be HTML or emphasis."""
    line = re.sub(r":[a-z]+:`", "`", line)
    line = line.replace("``", "`")
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(
        p if p.startswith("`") else p.replace("<", "&lt;").replace("*", r"\*") for p in parts
    )
