"""Text for a terminal: in columns, and with nothing in it that would move the cursor."""

from __future__ import annotations

import re
import signal
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence


def columns(rows: Iterable[Sequence[str]], *, gap: int = 2, indent: int = 0) -> str:
    """Align rows of cells in columns.

    >>> print(columns([["a", "bb", "c"], ["aaa", "b", "c"]]))
    a    bb  c
    aaa  b   c
    >>> print(columns([["精度", "b"], ["aaaa", "b"]]))
    精度  b
    aaaa  b
    """
    table = [list(row) for row in rows]
    count = max((len(row) for row in table), default=0)
    widths = [
        max((width(row[i]) for row in table if i < len(row)), default=0) for i in range(count)
    ]
    lines = (
        (" " * gap).join(pad(cell, wide) for cell, wide in zip(row, widths, strict=False))
        for row in table
    )
    return "\n".join((" " * indent + line).rstrip() for line in lines)


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes: Chinese characters take two.

    >>> width("精度 0.5"), width("ulp")
    (8, 3)
    """
    if text.isascii():
        return len(text)
    return len(text) + sum(unicodedata.east_asian_width(c) in "WF" for c in text)


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """Return a text with spaces after it, or before it for `right`, up to a number of columns.

    >>> pad("精度", 6), pad("7", 3, right=True)
    ('精度  ', '  7')
    """
    spaces = " " * (columns - width(text))
    return spaces + text if right else text + spaces


def wrap(text: str, columns: int, *, first: str = "", rest: str = "") -> list[str]:
    """Return a paragraph as lines of at most so many columns, indented by `first` and `rest`.

    >>> wrap("累加精度低于所声明的", 10, rest="  ")
    ['累加精度低', '  于所声明', '  的']
    """
    if text.isascii():
        return textwrap.wrap(text, columns, initial_indent=first, subsequent_indent=rest)
    lines = [first]
    for word in re.findall(r"\s+|[^\s\u2e80-\u9fff\uff00-\uffef]+|[^\s][，。；：、）”]*", text):
        if width(lines[-1]) + width(word.rstrip()) > columns and lines[-1].strip():
            lines[-1] = lines[-1].rstrip()
            lines.append(rest)
            word = word.lstrip()
        lines[-1] += word
    return lines


def printable(text: str) -> str:
    r"""Return a text that cannot move the cursor: the words of others are not to be trusted.

    >>> print(printable("\x1b[2Jgone\n"))
    \x1b[2Jgone\n
    """
    return "".join(
        c if c.isprintable() or c == " " else c.encode("unicode_escape").decode() for c in text
    )


def ending(code: int) -> str:
    """Say how a process ended.

    >>> ending(-11), ending(7)
    ('signal SIGSEGV', 'exit status 7')
    """
    if code >= 0:
        return f"exit status {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


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
