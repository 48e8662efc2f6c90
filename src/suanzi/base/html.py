"""HTML for notebooks, without scripts; and pages that need nothing else, in one look.

Both are readable on light and on dark grounds. Only what makes HTML imports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from suanzi.base.lang import chosen, say
from suanzi.base.text import clean, without_tricks

if TYPE_CHECKING:
    from jinja2 import Environment

Mark = Literal["", "refused", "lossy", "good"]

# Colours are the notebook's own; the ground of what stands out lets light and dark shine through.
_STYLE = (
    "<style>"
    ".suanzi table{border-collapse:collapse;margin:.3em 0}"
    ".suanzi caption{caption-side:top;text-align:left;font-weight:bold}"
    ".suanzi th,.suanzi td{text-align:left;vertical-align:top;padding:.1em .5em;"
    "border:1px solid rgba(128,128,128,.3);white-space:pre-wrap}"
    ".suanzi th{font-weight:bold;background:rgba(128,128,128,.12)}"
    ".suanzi .numbers td{text-align:right;font-family:monospace;white-space:pre}"
    ".suanzi .numbers th{text-align:right;font-weight:normal;opacity:.7}"
    ".suanzi .scroll{overflow-x:auto}"
    ".suanzi .refused{background:rgba(220,50,50,.28)}"
    ".suanzi .lossy{background:rgba(230,160,0,.28)}"
    ".suanzi .good{background:rgba(40,160,70,.22)}"
    "</style>"
)


class Cell(NamedTuple):
    """A cell that stands out, or says more where the mouse rests."""

    text: str
    mark: Mark = ""
    title: str = ""


def page(*parts: str) -> str:
    """Return parts, HTML each, as what a notebook shows.

    >>> page(note("a < b")).endswith('<p>a &lt; b</p></div>')
    True
    """
    return f'<div class="suanzi">{_STYLE}{"".join(parts)}</div>'


def note(text: str) -> str:
    """Return a line of text."""
    return f"<p>{escape(text)}</p>"


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[str | Cell]],
    *,
    row_heads: bool = False,
    caption: str = "",
) -> str:
    """Return a table; cells are escaped, `row_heads` makes the first of each row a heading.

    >>> table(["a"], [["<"], [Cell("-", "refused", "no such row")]])
    '<div class="scroll"><table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;</td></tr>\
<tr><td class="refused" title="no such row">-</td></tr></tbody></table></div>'
    """
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    names = "".join(f"<th>{escape(name)}</th>" for name in header)
    head = f"<thead><tr>{names}</tr></thead>" if header else ""
    body = "".join(_row(row, row_heads) for row in rows)
    return f'<div class="scroll"><table>{above}{head}<tbody>{body}</tbody></table></div>'


def _row(row: Sequence[str | Cell], row_heads: bool) -> str:
    cells = "".join(cell(one, "th" if row_heads and i == 0 else "td") for i, one in enumerate(row))
    return f"<tr>{cells}</tr>"


def cell(one: str | Cell, tag: str = "td") -> str:
    """Return a cell."""
    text, mark, title = one if isinstance(one, Cell) else Cell(one)
    attributes = f' class="{mark}"' * bool(mark) + f' title="{escape(title)}"' * bool(title)
    return f"<{tag}{attributes}>{escape(text)}</{tag}>"


def render(folder: Path, template: str, facts: Mapping[str, Any]) -> str:
    """Return the page of a template in a folder, which extends ``base.html.j2``."""
    lang = {"zh": "zh-CN"}.get(chosen(), chosen())
    return _environment(folder).get_template(template).render(facts, say=say, lang=lang)


@cache
def _environment(folder: Path) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def speakable(value: Any) -> Any:
        """Return a value without characters that text cannot have, or that reorder it."""
        is_text = isinstance(value, str) and not isinstance(value, Markup)
        return without_tricks(clean(value)) if is_text else value

    return Environment(
        loader=FileSystemLoader([folder, Path(__file__).parent / "pages"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=speakable,
    )
