"""Columns of text and of HTML, for what is printed in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def columns(rows: Iterable[Sequence[str]], *, gap: int = 2, indent: int = 0) -> str:
    """Align rows of cells in columns.

    >>> print(columns([["a", "bb", "c"], ["aaa", "b", "c"]]))
    a    bb  c
    aaa  b   c
    """
    table = [list(row) for row in rows]
    count = max((len(row) for row in table), default=0)
    widths = [max((len(row[i]) for row in table if i < len(row)), default=0) for i in range(count)]
    lines = (
        (" " * gap).join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        for row in table
    )
    return "\n".join((" " * indent + line).rstrip() for line in lines)


def html_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, row_heads: bool = False
) -> str:
    """Return an HTML table; cells are escaped, `row_heads` makes the first of each row a heading.

    >>> html_table(["a"], [["<"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>"
        + "".join(
            f"<th>{escape(cell)}</th>" if row_heads and i == 0 else f"<td>{escape(cell)}</td>"
            for i, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
