"""How a tensor prints: its elements as short as they can be read back, and its dtype."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from suanzi.dtypes import DType

if TYPE_CHECKING:
    from suanzi.tensor import Tensor

THRESHOLD, EDGE = 1000, 3
"""From how many elements on a tensor is abridged, and how many stay at each end of an axis."""


def describe(x: Tensor) -> str:
    """Return the text of a tensor."""
    head = "Tensor("
    if x.size == 0:
        return f"{head}[], shape={x.shape}, dtype={x.dtype})"
    body = _block(x, len(head))
    return f"{head}{body}, dtype={x.dtype})"


def _block(x: Tensor, indent: int) -> str:
    from suanzi.tensor import readable

    values = readable(x)
    abridged = x.size > THRESHOLD
    cells = {}

    def collect(array: Any, path: tuple[int, ...]) -> Any:
        if array.ndim == 0:
            cells[path] = element(array.item(), x.dtype)
            return path
        return [
            None if i is None else collect(array[i], (*path, i))
            for i in _shown(array.shape[0], abridged)
        ]

    tree = collect(values, ())
    width = max(map(len, cells.values()))

    def draw(node: Any, depth: int) -> str:
        if isinstance(node, tuple):
            return cells[node].rjust(width if x.ndim > 0 else 0)
        parts = ["..." if child is None else draw(child, depth + 1) for child in node]
        if depth == x.ndim - 1:
            return f"[{', '.join(parts)}]"
        gap = ",\n" * 1 + "\n" * (x.ndim - depth - 2) + " " * (indent + depth + 1)
        return f"[{gap.join(parts)}]"

    return draw(tree, 0)


def _shown(count: int, abridged: bool) -> list[int | None]:
    if not abridged or count <= 2 * EDGE:
        return list(range(count))
    return [*range(EDGE), None, *range(count - EDGE, count)]


def element(value: Any, dt: DType) -> str:
    """Return the shortest text that reads back as the same element of a dtype.

    >>> from suanzi.dtypes import bfloat16, float32
    >>> element(0.10009765625, bfloat16), element(3.0, float32)
    ('0.1', '3')
    """
    if isinstance(value, complex):
        sign = "-" if math.copysign(1, value.imag) < 0 else "+"
        return f"{_float(value.real, dt)}{sign}{_float(abs(value.imag), dt)}j"
    if isinstance(value, float):
        return _float(value, dt)
    return repr(value)


def _float(value: float, dt: DType) -> str:
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e16:
        return f"{'-' * (math.copysign(1, value) < 0)}{abs(int(value))}"
    digits = dt.mantissa_bits * 0.30103
    for precision in range(1, int(digits) + 3):
        text = f"{value:.{precision}g}"
        if _rounds_to(float(text), value, dt):
            return text
    return repr(value)


def _rounds_to(guess: float, value: float, dt: DType) -> bool:
    from fractions import Fraction

    from suanzi.promote.values import convert, part

    if guess == value:
        return True
    if not math.isfinite(guess):
        return False
    return convert(Fraction(guess), part(dt)) == Fraction(value)
