"""A run on the terminal: a progress bar, then tables; plain text where no person looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from suanzi.base.lang import say
from suanzi.base.text import columns, pad, printable, width
from suanzi.conformance.check import Progress
from suanzi.conformance.model.results import Run
from suanzi.conformance.reports.summary import Line, Part, Table, parts

_STYLES = {"": "", "good": "green", "warn": "yellow", "bad": "red", "dim": "dim", "bold": "bold"}


def show(run: Run, *, verbose: bool = False, console: Console | None = None) -> None:
    """Print a run in colour."""
    show_parts(parts(run, verbose=verbose), console)


def show_parts(said: Sequence[Part], console: Console | None = None) -> None:
    """Print tables and lines in colour."""
    out = console or Console()
    for part in said:
        if isinstance(part, Table):
            out.print(_table(part, out.width))
        else:
            text = Text(printable(say(part.text)), style=_STYLES[part.style])
            out.print(Padding(text, (0, 0, 0, part.indent)))


def plain(run: Run, *, verbose: bool = False) -> str:
    """Return a run as plain text."""
    return plain_parts(parts(run, verbose=verbose))


def plain_parts(said: Sequence[Part]) -> str:
    """Return tables and lines as plain text."""
    lines: list[str] = []
    for part in said:
        if isinstance(part, Line):
            lines.append(" " * part.indent + printable(say(part.text)))
        else:
            lines += ["", printable(say(part.title)), _plain_table(part), ""]
    text = "\n".join(lines).strip("\n")
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text


@contextmanager
def progress_bar(
    console: Console | None = None, first: str = "starting the backend", by_itself: bool = True
) -> Iterator[Callable[[Progress], None] | None]:
    """Show progress on the error stream if it is a terminal; give the function that updates it.

    `first` is said until something is done. The bar has a thread that moves it, unless it is not to
    move `by_itself`: where processes are forked meanwhile, there must be none.
    """
    out = console or Console(stderr=True)
    if not out.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    with Bar(
        TextColumn("{task.description}", style="dim"), BarColumn(bar_width=None),
        MofNCompleteColumn(), TextColumn("{task.fields[wrong]}", style="red"), TimeElapsedColumn(),
        console=out, transient=True, auto_refresh=by_itself,
    ) as bar:  # fmt: skip
        task = bar.add_task(say(first), total=None, wrong="")
        bar.refresh()
        wrong = 0

        def tell(progress: Progress) -> None:
            nonlocal wrong
            wrong += sum(r.bad for r in progress.results)
            bar.update(
                task,
                total=progress.total,
                completed=progress.done,
                description=f"{progress.op:20}",
                wrong=say(f"{wrong} wrong") if wrong else "",
                refresh=not by_itself,
            )

        yield tell


def _table(table: Table, most: int) -> RichTable:
    """Return a table that loses nothing in a narrow terminal: it moves together, then wraps."""
    header, *rows = _said(table)
    widths = [max(width(row[i]) for row in (header, *rows)) for i in range(len(header))]
    gap = 1 if sum(widths) + 2 * len(widths) > most else 2
    grid = RichTable(
        box=box.SIMPLE_HEAD, pad_edge=False, title=say(table.title), title_justify="left",
        padding=(0, gap - 1, 0, 0), show_edge=False,
    )  # fmt: skip
    last = len(header) - 1
    for i, name in enumerate(header):
        wraps = i == last or (i not in table.numbers and i > 0)
        grid.add_column(
            name, justify="right" if i in table.numbers else "left", overflow="fold",
            no_wrap=not wraps, min_width=min(widths[i], 10) if wraps else widths[i],
        )  # fmt: skip
    for cells, row in zip(table.rows, rows, strict=True):
        styled = zip(cells, row, strict=True)
        grid.add_row(*(Text(printable(text), style=_STYLES[cell.style]) for cell, text in styled))
    return grid


def _plain_table(table: Table) -> str:
    rows = [[printable(text) for text in row] for row in _said(table)]
    widths = [max(width(row[i]) for row in rows) for i in range(len(table.header))]
    return columns(
        [pad(cell, widths[i], right=True) if i in table.numbers else cell
         for i, cell in enumerate(row)]
        for row in rows
    )  # fmt: skip


def _said(table: Table) -> list[list[str]]:
    """Return the header and the rows of a table in the chosen language."""
    rows = ([cell.text if cell.is_name else say(cell.text) for cell in row] for row in table.rows)
    return [[say(name) for name in table.header], *rows]
