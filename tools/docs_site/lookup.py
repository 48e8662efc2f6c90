"""Pages to look things up: the commands, the dtypes, the statuses."""

from __future__ import annotations

import inspect
import re

from cyclopts import Argument

import suanzi as sz
from docs_site.markdown import code, fenced, table
from docs_site.words import language, say
from suanzi.base import status
from suanzi.base.dtypes import DOCUMENTS, DTYPES, document_name
from suanzi.base.lang import translated
from suanzi.front.cli import app


def help_text(english: str) -> str:
    """Return what --help prints, in the current language; its marks would be HTML or a table."""
    text = " ".join(english.split())
    said = text if language() == "en" else translated(text, "zh") or say(text)
    parts = re.split(r"(`[^`]*`)", said)
    return "".join(p if p[:1] == "`" else p.replace("<", "&lt;") for p in parts)


def commands() -> str:
    """Return every command with its examples and its options."""
    parts = []
    for name in sorted(one for one in app if not one.startswith("-")):
        command = app[name]
        parts.append(f"## {name}")
        text, _, described = inspect.cleandoc(command.help or "").partition("Parameters\n")
        meanings = dict(re.findall(r"^(\w+)\n((?:    .*\n?)+)", f"{described}\n", re.M))
        for paragraph in text.strip().split("\n\n"):
            if paragraph.startswith("```"):
                parts.append(fenced(paragraph.strip("`\n"), "bash"))
            else:
                parts.append(help_text(paragraph))
        rows = [
            (code(one.names), help_text(_meaning(one, meanings)), _default(one.field_info.default))
            for one in command.assemble_argument_collection()
        ]
        if rows:
            parts.append(table((say("option"), say("what it does"), say("default")), rows))
    return "\n\n".join(parts)


def _meaning(argument: Argument, meanings: dict[str, str]) -> str:
    name = argument.names[0].lstrip("-").replace("-", "_").lower()
    return argument.parameter.help or meanings.get(name, "")


def _default(value: object) -> str:
    return "" if value in (None, False, (), "", inspect.Parameter.empty) else f"`{value}`"


def dtypes() -> str:
    """Return every dtype with its limits, and what others call it."""
    parts = []
    of_rules = {name: set(sz.table(name).dtypes) for name in sz.rule_sets()}
    for one in DTYPES:
        info = sz.finfo(one) if one.exponent_bits else sz.iinfo(one)
        rows = [
            (say("kind"), say(one.kind)),
            (say("bits"), str(one.bits)),
            (say("smallest and largest number"), f"`{info.min}`, `{info.max}`"),
        ]
        if one.exponent_bits:
            rows.append((say("distance from 1 to the next number"), f"`{info.eps}`"))
        for document in DOCUMENTS:
            name = document_name(one, document)
            if name != one.name:
                rows.append((say("name in {}", document), f"`{name}`"))
        rules = [name for name, known in of_rules.items() if one in known]
        if rules:
            rows.append((say("rule sets"), code(rules)))
        parts.append(f"## {one.name}\n\n{table((say('fact'), say('value')), rows)}")
    return "\n\n".join(parts)


def statuses() -> str:
    """Return every status with its code, the exceptions that carry it, and when it is used."""
    parts = []
    head = (say("code"), say("exception"), say("it is also"), say("when"))
    for one in status.Status:
        rows = [
            (str(int(one)), f"`sz.{error.__name__}`", code(_usual(error)), _when(error))
            for error in vars(status).values()
            if inspect.isclass(error) and getattr(error, "status", None) is one
        ]
        rows = rows or [(str(int(one)), "", "", say("The call succeeded."))]
        parts.append(f"## {one.name}\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def _usual(error: type) -> list[str]:
    bases = [base.__name__ for base in error.__mro__[1:] if base.__module__ == "builtins"]
    return [name for name in bases if name not in ("Exception", "BaseException", "object")]


def _when(error: type) -> str:
    return say((error.__doc__ or "").split("\n")[0])
