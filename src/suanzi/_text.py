"""Text for a terminal: in columns, and with nothing in it that would move the cursor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


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


def printable(text: str) -> str:
    r"""Return a text that cannot move the cursor: the words of others are not to be trusted.

    >>> print(printable("\x1b[2Jgone\n"))
    \x1b[2Jgone\n
    """
    return "".join(
        c if c.isprintable() or c == " " else c.encode("unicode_escape").decode() for c in text
    )


# What XML 1.0 cannot hold, not even escaped; compiled when it is used, as that takes long.
_FORBIDDEN = "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def clean(text: str) -> str:
    r"""Return a text in which characters that XML cannot hold are escaped as in Python.

    >>> clean("a\x00b")
    'a\\x00b'
    """
    return re.sub(_FORBIDDEN, lambda found: found.group().encode("unicode_escape").decode(), text)


# Controls of the second kind, and what reverses the direction of the text after it.
_TRICKS = re.compile("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def without_tricks(text: str) -> str:
    r"""Return a text in which characters that hide or reorder others are escaped as in Python.

    >>> without_tricks("a\u202eb")
    'a\\u202eb'
    """
    return _TRICKS.sub(lambda found: found.group().encode("unicode_escape").decode(), text)
