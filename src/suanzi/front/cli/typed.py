"""What is typed on the command line: rule sets, operands, and the options of several commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from suanzi.base.dtypes import BYTE_COUNTING, dtype, read_as
from suanzi.base.lang import say
from suanzi.promote.library import rules_or_file
from suanzi.promote.rules import RuleSet

Flag = Annotated[bool, Parameter(negative="")]
Json = Annotated[bool, Parameter(negative="", help="Print data, not text.")]
Op = Annotated[
    str | None, Parameter(help="An operator (`add`, `==`) or a class of them (`comparison`).")
]
Operand = Annotated[
    str, Parameter(help="Dtypes, 0-d tensors (`0d:f32`), Python numbers (`2.5`, `py:int`).")
]
Rules = Annotated[str, Parameter(help="The rule set, by name or from a file of your own.")]
Python = Annotated[
    str | None,
    Parameter(help="The interpreter that has the framework; this one by default."),
]
Words = Annotated[list[str] | None, Parameter(negative="")]
Minimal = Annotated[bool, Parameter(negative="", help="Only the interfaces of the minimal set.")]
CaseRules = Annotated[
    str | None,
    Parameter(
        help="Rule set of the promotion cases, by name or from a file; by default the backend's."
    ),
]
Jobs = Annotated[int | None, Parameter(help="How many processes; one for each core by default.")]
Verbose = Annotated[bool, Parameter(negative="", help="Show every failure in full.")]
Html = Annotated[str | None, Parameter(help="Write an HTML report to this file.")]
Junit = Annotated[str | None, Parameter(help="Write JUnit XML to this file.")]
JsonFile = Annotated[
    list[str] | None,
    Parameter(
        negative="",
        consume_multiple=True,
        help="Print the report as JSON; with a file, write it there.",
    ),
]


def rules(name: str) -> RuleSet:
    """Return a rule set by its name, or from a text table of the user's."""
    return rules_or_file(name)


def several_rules(names: str) -> list[RuleSet]:
    """Return rule sets whose names, or files, are joined by commas."""
    return [rules_or_file(name) for name in names.split(",") if name.strip()]


def note_other_readings(operands: Sequence[str], asked: Sequence[RuleSet]) -> None:
    """Print a note where a short name counts bits here and bytes in a requested document."""
    documents = sorted({one.names for one in asked} & set(BYTE_COUNTING))
    for text in dict.fromkeys(one.lower().removeprefix("0d:") for one in operands):
        note = ""
        others = {d: other for d in documents if (other := read_as(text, d)) is not None}
        for other in dict.fromkeys(o for o in others.values() if o is not dtype(text)):
            where = " and ".join(d for d in documents if others.get(d) is other)
            note = say(f"read as {dtype(text)}; in the table of {where} it stands for {other}")
        if text == "f8":
            note = say("read as float64, as Paddle writes it; eight bits are f8e4m3 or f8e5m2")
        if note:
            print(say(f"note: {text} is {note}"), file=sys.stderr)
