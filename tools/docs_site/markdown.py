"""Small helpers to write Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from docs_site.words import language, say


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a bar inside a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def anchored(level: str, title: str) -> str:
    """Return a heading whose anchor is the English one in every language."""
    said = say(title)
    return f"{level} {said}" if said == title else f"{level} {said} {{#{slug(title)}}}"


def slug(heading: str) -> str:
    """Return the anchor of a heading: the one that it names, or that of its words."""
    named = re.search(r"\{#([\w-]+)[^}]*\}\s*$", heading)
    if named:
        return named[1]
    words = re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower()
    return re.sub(r"[-\s]+", "-", words)


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
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        lines = paragraph.splitlines()
        first = next((i for i, line in enumerate(lines) if line.lstrip().startswith(">>>")), None)
        prose, example = lines[:first], lines[first:] if first is not None else []
        if prose:
            parts.append(_translated("\n".join(map(_prose, prose))))
        if example:
            parts.append(fenced("\n".join(example).replace("<BLANKLINE>", ""), "pycon"))
    return "\n\n".join(parts)


def _translated(paragraph: str) -> str:
    """Return a paragraph in the current language; lists and quotes keep their lines."""
    if language() == "en":
        return paragraph
    return say(" ".join(paragraph.split()))


def _prose(line: str) -> str:
    """Return a line without the roles of Sphinx, and without what would be HTML or emphasis."""
    line = re.sub(r":[a-z]+:`", "`", line)
    line = line.replace("``", "`")
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(
        p if p.startswith("`") else p.replace("<", "&lt;").replace("*", r"\*") for p in parts
    )
