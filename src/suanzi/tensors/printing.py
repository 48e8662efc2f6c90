"""How a tensor prints: its elements, as many as can be read, its dtype, and what they stand for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from suanzi.base.dtypes import DType, float32
from suanzi.base.numpy import Array, np
from suanzi.tensors.numerals import texts
from suanzi.tensors.parts import from_parts, readable
from suanzi.tensors.print_options import PrintOptions, in_force

if TYPE_CHECKING:
    from suanzi.tensors.tensor import Tensor

Shown = list[int | None]
"""Which indices of an axis are printed; None stands for those left out."""

_MOST = 1000  # of many axes, what is kept at the ends must not grow beyond it either
_BLANK_LINES = 2  # of many axes, the most between blocks
_TEXT_IS_DENSER = 8  # as many characters as these are read like one number


def describe(x: Tensor) -> str:
    """Return the text of a tensor."""
    options = in_force()
    head = "Tensor("
    facts = [f"dtype={x.dtype}", *quantization(x)]
    if x.size == 0 or (x.dtype.kind == "char" and x.ndim == 0):
        facts.insert(0, f"shape={x.shape}")
    return with_facts(head + _block(x, len(head), options), facts, len(head), options)


def described(
    head: str, axes: list[Shown], sample: Tensor, facts: list[str], options: PrintOptions
) -> str:
    """Return the text of a tensor of which only the printed elements are here, in `sample`."""
    if sample.size == 0:
        return with_facts(f"{head}[]", facts, len(head), options)
    values, shown_as = readable(sample).ravel().tolist(), sample.dtype
    if sample.scale is not None:
        every: list[Shown] = [list(range(n)) for n in sample.shape]
        values = _real_values(sample, readable(sample), every).ravel().tolist()
        shown_as = float32
    text = _cells(axes, values, shown_as, len(head), options)
    return with_facts(head + text, facts, len(head), options)


def with_facts(text: str, facts: list[str], indent: int, options: PrintOptions) -> str:
    """Return text with facts behind it, in a line of their own where the last has no room."""
    said = ", ".join(facts)
    last = len(text) - (text.rfind("\n") + 1)
    if last + len(said) + len(", )") <= options.linewidth:
        return f"{text}, {said})"
    return f"{text},\n{' ' * indent}{_wrapped(facts, indent, options.linewidth - 1)})"


def quantization(x: Tensor) -> list[str]:
    """Return what the integers stand for; of many scales, those at the ends."""
    if x.scale is None:
        return []
    ends = ends_of(len(x.scale), in_force().edgeitems)
    numbers = iter(texts([x.scale[i] for i in ends if i is not None], float32, PrintOptions()))
    scales = ", ".join("..." if i is None else next(numbers) for i in ends)
    if x.channel_axis is None:
        return [f"scale={scales}", f"zero_point={x.zero_point}"]
    return [f"scale=[{scales}]", f"zero_point={x.zero_point}", f"channel_axis={x.channel_axis}"]


def _block(x: Tensor, indent: int, options: PrintOptions) -> str:
    if x.size == 0:
        return "[]"
    axes, values, shown_as = sampled(x, options)
    return _cells(axes, values, shown_as, indent, options)


def _cells(
    axes: list[Shown], values: list[Any], shown_as: DType, indent: int, options: PrintOptions
) -> str:
    if shown_as.kind == "char" and axes:
        return _rows_of_text(axes, iter(values), indent, options.linewidth)
    cells = texts(values, shown_as, options)
    width = max(map(len, cells)) if axes else 0
    return _drawn(axes, iter([c.rjust(width) for c in cells]), indent, len(axes), options.linewidth)


def sampled(x: Tensor, options: PrintOptions) -> tuple[list[Shown], list[Any], DType]:
    """Return which indices of each axis are printed, the elements there, and how to write them."""
    axes = shown_of(x.shape, options, _TEXT_IS_DENSER if x.dtype.kind == "char" else 1)
    values = _sample(x, axes, options)
    shown_as = x.dtype
    if x.scale is not None:
        values, shown_as = _real_values(x, values, axes), float32
    return axes, values.ravel().tolist(), shown_as


# Not within _cells: a function that calls itself there would keep the tensor, and its memory, until
# the next garbage collection.
def _drawn(axes: list[Shown], cells: Iterator[str], indent: int, ndim: int, linewidth: int) -> str:
    """Return brackets around the cells of some axes, taken one after the other."""
    if not axes:
        return next(cells)
    if len(axes) == 1:
        row = ["..." if i is None else next(cells) for i in axes[0]]
        # Behind the last, there may be a bracket for each axis, and a comma.
        return f"[{_wrapped(row, indent + 1, linewidth - ndim - 1)}]"
    parts = [
        "..." if i is None else _drawn(axes[1:], cells, indent + 1, ndim, linewidth)
        for i in axes[0]
    ]
    return _stacked(parts, indent, len(axes))


def _stacked(parts: Sequence[str], indent: int, axes: int) -> str:
    """Return blocks one below the other in brackets; the more axes, the further apart."""
    lines = "\n" * min(axes - 1, 1 + _BLANK_LINES)
    gap = f",{lines}{' ' * (indent + 1)}"
    return f"[{gap.join(parts)}]"


def _wrapped(row: Sequence[str], indent: int, end: int) -> str:
    """Return cells with commas between them, in as many lines as they need."""
    lines, column = [[row[0]]], indent + len(row[0])
    for cell in row[1:]:
        column += len(cell) + 2
        if column > end:
            lines.append([])
            column = indent + len(cell)
        lines[-1].append(cell)
    return (",\n" + " " * indent).join(", ".join(line) for line in lines)


def _rows_of_text(axes: list[Shown], values: Iterator[bytes], indent: int, linewidth: int) -> str:
    """Return rows of characters as Python writes them: ``b'text'``."""
    if len(axes) > 1:
        parts = [
            "..." if i is None else _rows_of_text(axes[1:], values, indent + 1, linewidth)
            for i in axes[0]
        ]
        return _stacked(parts, indent, max(len(axes) - 1, 2))
    room = linewidth - indent - len("b'',")
    runs: list[list[bytes]] = [[]]
    for i in axes[0]:
        if i is None:
            runs.append([])
        else:
            runs[-1].append(next(values))
    between = "\n" + " " * indent
    parts = [between.join(_pieces(run, room)) for run in runs if run]
    dots = f"{between}...{between}" if sum(map(len, parts)) > room else "..."
    return dots.join(parts) + "..." * (len(parts) < len(runs))


def _pieces(row: Sequence[bytes], room: int) -> list[str]:
    """Return characters as literals, none longer than there is room for."""
    pieces, used = [b""], 0
    for character in row:
        width = len(repr(character)) - len("b''")
        if used + width > room and used:
            pieces.append(b"")
            used = 0
        pieces[-1] += character
        used += width
    return [repr(piece) for piece in pieces]


def shown_of(shape: tuple[int, ...], options: PrintOptions, denser: int = 1) -> list[Shown]:
    """Return which indices of each axis are printed; `denser` times as many of the last axis."""
    if not shape or math.prod(shape) <= options.threshold:
        return [list(range(n)) for n in shape]
    axes: list[Shown] = []
    for edge in range(options.edgeitems, -1, -1):
        axes = [ends_of(n, edge) for n in shape[:-1]] + [ends_of(shape[-1], edge * denser)]
        if math.prod(len(axis) for axis in axes) <= max(options.threshold, _MOST):
            break
    return axes


def ends_of(count: int, edge: int) -> Shown:
    """Return the first and the last indices of an axis; None stands for those between."""
    if count <= max(2 * edge, 1):
        return list(range(count))
    if edge == 0:
        return [0, None]
    return [*range(edge), None, *range(count - edge, count)]


def _sample(x: Tensor, axes: list[Shown], options: PrintOptions) -> Array:
    """Return the printed elements as plain numbers; the others are not even read."""
    if x.size <= max(options.threshold, 1):
        return readable(x)
    places, memory, size = [x.offset], x.storage.memory, x.dtype.itemsize
    for axis, stride in zip(axes, x.strides, strict=True):
        places = [place + i * stride for place in places for i in axis if i is not None]
    raw = b"".join(memory[place * size : (place + 1) * size] for place in places)
    return readable(from_parts(x.dtype.name, (len(places),), (0,), raw, None))


def _real_values(x: Tensor, integers: Array, axes: list[Shown]) -> Array:
    """Return what the printed integers of a quantised tensor stand for, in float32."""
    kept = [[i for i in axis if i is not None] for axis in axes]
    scale = np.array(x.scale, np.float32)
    if x.channel_axis is not None:
        scale = scale[kept[x.channel_axis]]
        scale = scale.reshape([-1 if axis == x.channel_axis else 1 for axis in range(x.ndim)])
    zero = np.int32(x.zero_point or 0)
    steps = integers.reshape([len(axis) for axis in kept]).astype(np.int32) - zero
    with np.errstate(all="ignore"):
        return np.asarray((steps * scale.astype(np.float64)).astype(np.float32))
