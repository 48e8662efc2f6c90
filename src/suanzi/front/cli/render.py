"""Colour for the terminal; only the command line uses it, and only where a person looks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from suanzi.base.lang import said, say
from suanzi.base.text import columns
from suanzi.promote.diff import Diff
from suanzi.promote.explain import Explanation, Explanations
from suanzi.promote.live import Live
from suanzi.promote.table import Laws, Table
from suanzi.promote.values import contains

if TYPE_CHECKING:
    from suanzi.port.under_autocast import UnderAutocast

_REFUSED, _LOSSY, _EXACT, _DIM = "red", "yellow", "green", "dim"


def for_a_person() -> bool:
    """Tell whether standard output is a terminal."""
    return sys.stdout.isatty()


@contextmanager
def waiting(what: str) -> Iterator[Callable[[str], None]]:
    """Show on the error stream that something takes a while, where a person looks.

    What is given back shows other words.
    """
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status(f"{what} ...") as status:
            yield lambda words: status.update(f"{words} ...")
    else:
        yield lambda words: None


@contextmanager
def counting() -> Iterator[Callable[[int, int, str], None] | None]:
    """Give what shows how much is done, on the error stream where a person looks; else None."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status(say("starting ...")) as status:
        yield lambda done, whole, what: status.update(say(f"{done} of {whole}: {what}"))


def rows(header: Sequence[str], body: Sequence[Sequence[str | Text]], title: str = "") -> None:
    """Print rows as a table that wraps to the terminal."""
    grid = RichTable(
        box=box.SIMPLE_HEAD if header else None,
        show_header=bool(header),
        pad_edge=False,
        title=title or None,
        title_justify="left",
    )
    for i, name in enumerate(header or [""] * max(map(len, body), default=0)):
        grid.add_column(name, overflow="fold", style="" if i or header else _DIM)
    for row in body:
        grid.add_row(*row)
    Console().print(grid)


def _style(one: Explanation) -> str:
    return _REFUSED if one.refused else _EXACT if one.exact else _LOSSY


def explanations(found: Explanations) -> None:
    """Print one line per rule set, coloured by what is lost."""
    body = [
        (name, Text(dtype, style=_style(one)), Text(lost, style=_style(one)), Text(why, style=_DIM))
        for one, (name, dtype, lost, why) in zip(found, said(found.rows(), names=(0,)), strict=True)
    ]
    rows(said([found.header])[0], body, title=found.question)


def autocast(found: UnderAutocast) -> None:
    """Print what autocast gives at each level."""
    rows(said([found.header])[0], said(found.rows(), names=(0, 1)), title=say(found.question))


def explanation(found: Explanation) -> None:
    """Print an explanation with its labels dimmed."""
    grid = RichTable(box=None, show_header=False, pad_edge=False)
    grid.add_column(style=_DIM)
    grid.add_column(overflow="fold")
    for label, text in found.lines():
        style = {"lost": _style(found), "fix": "bold"}.get(label, "")
        grid.add_row("  " + say(label), Text(say(text), style=style))
    console = Console()
    console.print(Text(say(found.title), style=f"bold {_style(found)}"))
    console.print(grid)


def table(found: Table) -> None:
    """Print the tables, refusals red, lossy cells yellow; too wide for the terminal, unwrapped."""
    console = Console()
    console.print(Text(found.title, style="bold"))
    styles = {
        (a, b): _REFUSED
        if result is None
        else ""
        if contains(result, a) and contains(result, b)
        else _LOSSY
        for (a, b), result in found.tensors.items()
    }
    head, *body = found.tensor_rows()
    width = max(len(cell) for row in (head, *body) for cell in row) + 2
    title, refuses, loses = map(say, ("tensor with tensor", "- refuses", "yellow loses values"))
    console.print(f"\n{title}  [dim]({refuses}, [/][yellow]{loses}[/][dim])[/]")
    lines = [Text("".join(cell.ljust(width) for cell in head), style="bold")]
    for a, row in zip(found.dtypes, body, strict=True):
        line = Text(row[0].ljust(width), style="bold")
        for b, cell in zip(found.dtypes, row[1:], strict=True):
            line.append(cell.ljust(width), style=f"not bold {styles[a, b]}")
        lines.append(line)
    for line in lines:
        console.print(line, no_wrap=True, overflow="ignore", crop=False)
    console.print("\n" + say("tensor with Python number"))
    console.print(columns(found.number_rows()), highlight=False)


def diff_summary(found: Diff) -> str:
    """Return the counts of a diff as text."""
    head = ("", "compared", "differ", "one refuses")
    return columns(said([head, *found.summary()]), indent=2)


def diff(found: Diff) -> None:
    """Print the counts of a diff, then its differences."""
    summary, _, _ = str(found).partition("\n\n")
    console = Console()
    console.print(summary, highlight=False)
    if found:
        body = [
            (say(left), say(right), _answer(a), _answer(b))
            for left, right, a, b in (d.row() for d in found)
        ]
        rows(found.header, body)


def _answer(text: str) -> Text:
    return Text(say(text), style=_REFUSED if text == "refused" else "")


def laws(found: Laws) -> None:
    """Print the laws, those that hold in green."""
    body = [
        (
            say(law),
            Text(say(holds), style=_EXACT if holds == "yes" else _LOSSY),
            Text(say(example), style=_DIM),
        )
        for law, holds, example in found.lines()
    ]
    rows(said([("law", "holds", "first counter-example")])[0], body, title=found.table.title)


def live(found: Live) -> None:
    """Print the counts, the drift in red and the known deviations dimmed."""
    console = Console()
    style = _REFUSED if found.drift else _EXACT
    console.print(Text(say(found.summary())), highlight=False, style=style)
    header = said([found.header])[0]
    if found.drift:
        rows(header, said(cell.row() for cell in found.drift), title=say("drift"))
    known = found.of("known")
    if known:
        rows(header, said(cell.row() for cell in known), title=say("known deviations"))
    for rules in found.rules:
        for deviation in rules.deviations:
            console.print(f"{rules.name}: {deviation}", style=_DIM, highlight=False)
