"""A run on the terminal: a progress bar, then tables; plain text where no person looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from suanzi._text import columns, printable
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
            text = Text(printable(part.text), style=_STYLES[part.style])
            out.print(Padding(text, (0, 0, 0, part.indent)))


def plain(run: Run, *, verbose: bool = False) -> str:
    """Return a run as plain text."""
    return plain_parts(parts(run, verbose=verbose))


def plain_parts(said: Sequence[Part]) -> str:
    """Return tables and lines as plain text."""
    lines: list[str] = []
    for part in said:
        if isinstance(part, Line):
            lines.append(" " * part.indent + printable(part.text))
        else:
            lines += ["", printable(part.title), _plain_table(part), ""]
    text = "\n".join(lines).strip("\n")
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text


@contextmanager
def progress_bar(console: Console | None = None) -> Iterator[Callable[[Progress], None] | None]:
    """Show progress on the error stream if it is a terminal; give the function that updates it."""
    out = console or Console(stderr=True)
    if not out.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    with Bar(
        TextColumn("{task.description}", style="dim"), BarColumn(bar_width=None),
        MofNCompleteColumn(), TextColumn("{task.fields[wrong]}", style="red"), TimeElapsedColumn(),
        console=out, transient=True,
    ) as bar:  # fmt: skip
        task = bar.add_task("starting the backend", total=None, wrong="")
        wrong = 0

        def tell(progress: Progress) -> None:
            nonlocal wrong
            wrong += sum(r.bad for r in progress.results)
            bar.update(
                task,
                total=progress.total,
                completed=progress.done,
                description=f"{progress.op:20}",
                wrong=f"{wrong} wrong" if wrong else "",
            )

        yield tell


def _table(table: Table, width: int) -> RichTable:
    """Return a table that loses nothing in a narrow terminal: it moves together, then wraps."""
    rows = [table.header, *([cell.text for cell in row] for row in table.rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.header))]
    gap = 1 if sum(widths) + 2 * len(widths) > width else 2
    grid = RichTable(
        box=box.SIMPLE_HEAD, pad_edge=False, title=table.title, title_justify="left",
        padding=(0, gap - 1, 0, 0), show_edge=False,
    )  # fmt: skip
    last = len(table.header) - 1
    for i, name in enumerate(table.header):
        wraps = i == last or (i not in table.numbers and i > 0)
        grid.add_column(
            name, justify="right" if i in table.numbers else "left", overflow="fold",
            no_wrap=not wraps, min_width=min(widths[i], 10) if wraps else widths[i],
        )  # fmt: skip
    for row in table.rows:
        grid.add_row(*(Text(printable(cell.text), style=_STYLES[cell.style]) for cell in row))
    return grid


def _plain_table(table: Table) -> str:
    rows = [table.header, *(tuple(printable(cell.text) for cell in row) for row in table.rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.header))]
    return columns(
        [cell.rjust(widths[i]) if i in table.numbers else cell for i, cell in enumerate(row)]
        for row in rows
    )
