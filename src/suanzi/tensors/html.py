"""How a tensor prints in a notebook: what it is, and a table of its elements by their indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from suanzi.base.html import cell, note, page
from suanzi.tensors.numerals import texts
from suanzi.tensors.print_options import in_force
from suanzi.tensors.printing import Shown, describe, quantization, sampled

if TYPE_CHECKING:
    from suanzi.tensors.tensor import Tensor

LEFT_OUT = "…"


def tensor_page(x: Tensor) -> str:
    """Return a tensor as HTML."""
    facts = [
        f"Tensor of {x.dtype}",
        f"shape {x.shape}",
        f"layout {_layout(x)}",
        f"on {x.device}",
        *quantization(x),
    ]
    return page(note(" · ".join(facts)), _elements(x))


def _layout(x: Tensor) -> str:
    order = x.layout.min2maj
    if order is None:
        return f"dense with gaps, strides {x.strides}"
    return "dense" if order == tuple(range(x.ndim))[::-1] else f"dense, min2maj {order}"


def _elements(x: Tensor) -> str:
    if x.size == 0:
        return ""
    if x.dtype.kind == "char" or x.ndim == 0:
        text = describe(x).removeprefix("Tensor(").rpartition(", dtype=")[0]
        return f"<pre>{escape(text.removesuffix(', shape=()'))}</pre>"
    axes, values, shown_as = sampled(x, in_force())
    cells = iter(texts(values, shown_as))
    return f'<div class="scroll">{_nested(axes, cells)}</div>'


def _nested(axes: Sequence[Shown], cells: Iterator[str]) -> str:
    """Return a table of the last two axes, within rows of those before them."""
    if len(axes) <= 2:
        return _grid(axes, cells)
    rows = []
    for i in axes[0]:
        inside = LEFT_OUT if i is None else _nested(axes[1:], cells)
        rows.append(f"<tr>{cell(_index(i), 'th')}<td>{inside}</td></tr>")
    return f'<table class="numbers"><tbody>{"".join(rows)}</tbody></table>'


def _grid(axes: Sequence[Shown], cells: Iterator[str]) -> str:
    """Return one or two axes with their indices."""
    columns = axes[-1]
    head = "".join(cell(_index(i), "th") for i in columns)
    rows = []
    for i in axes[0] if len(axes) == 2 else [-1]:
        number = cell(_index(i), "th") if len(axes) == 2 else ""
        one = "".join(cell(LEFT_OUT if None in (i, j) else next(cells)) for j in columns)
        rows.append(f"<tr>{number}{one}</tr>")
    corner = "<th></th>" if len(axes) == 2 else ""
    return (
        f'<table class="numbers"><thead><tr>{corner}{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _index(i: int | None) -> str:
    return LEFT_OUT if i is None else str(i)
