"""How a tensor prints: its elements as short as they can be read back, and its dtype."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from suanzi.dtypes import DType, float32

if TYPE_CHECKING:
    import numpy as np

    from suanzi.tensor import Tensor

THRESHOLD, EDGE = 1000, 3
"""The most elements that are printed, and how many stay at each end of an axis beyond that.

Fewer stay at the ends where there are so many axes that this would still be too many.
"""


def describe(x: Tensor) -> str:
    """Return the text of a tensor."""
    head = "Tensor("
    facts = f"dtype={x.dtype}{_quantization(x)}"
    if x.size == 0:
        return f"{head}[], shape={x.shape}, {facts})"
    return f"{head}{_block(x, len(head))}, {facts})"


def _quantization(x: Tensor) -> str:
    """Return what the integers stand for; of many scales, those at the ends."""
    if x.scale is None:
        return ""
    texts = ["..." if i is None else _float(x.scale[i], float32) for i in _ends(len(x.scale), EDGE)]
    if x.channel_axis is None:
        return f", scale={texts[0]}, zero_point={x.zero_point}"
    scales = ", ".join(texts)
    return f", scale=[{scales}], zero_point={x.zero_point}, channel_axis={x.channel_axis}"


def _block(x: Tensor, indent: int) -> str:
    shown = _shown(x.shape)
    values = _sample(x, shown)
    shown_as = x.dtype
    if x.scale is not None:
        values, shown_as = _real_values(x, values, shown), float32
    cells = [element(value, shown_as) for value in values.ravel().tolist()]
    width = max(map(len, cells)) if x.ndim > 0 else 0
    return _drawn(shown, iter([cell.rjust(width) for cell in cells]), indent)


# Not within _block: a function that calls itself there would keep the tensor, and its memory, until
# the next garbage collection.
def _drawn(axes: list[list[int | None]], cells: Iterator[str], indent: int) -> str:
    """Return brackets around the cells of some axes, taken one after the other."""
    if not axes:
        return next(cells)
    parts = ["..." if i is None else _drawn(axes[1:], cells, indent + 1) for i in axes[0]]
    gap = ", " if len(axes) == 1 else "," + "\n" * (len(axes) - 1) + " " * (indent + 1)
    return f"[{gap.join(parts)}]"


def _shown(shape: tuple[int, ...]) -> list[list[int | None]]:
    """Return which indices of each axis are printed; None stands for those left out."""
    if math.prod(shape) <= THRESHOLD:
        return [list(range(n)) for n in shape]
    for edge in range(EDGE, -1, -1):
        axes = [_ends(n, edge) for n in shape]
        if math.prod(len(axis) for axis in axes) <= THRESHOLD:
            break
    return axes


def _ends(count: int, edge: int) -> list[int | None]:
    if count <= max(2 * edge, 1):
        return list(range(count))
    if edge == 0:
        return [0, None]
    return [*range(edge), None, *range(count - edge, count)]


def _sample(x: Tensor, shown: list[list[int | None]]) -> np.ndarray[Any, Any]:
    """Return the printed elements as plain numbers; the others are not even read."""
    from suanzi.saving import from_parts
    from suanzi.tensor import readable

    if x.size <= THRESHOLD:
        return readable(x)
    places, memory, size = [x.offset], x.storage.memory, x.dtype.itemsize
    for axis, stride in zip(shown, x.strides, strict=True):
        places = [place + i * stride for place in places for i in axis if i is not None]
    raw = b"".join(memory[place * size : (place + 1) * size] for place in places)
    return readable(from_parts(x.dtype.name, (len(places),), (0,), raw, None))


def _real_values(
    x: Tensor, integers: np.ndarray[Any, Any], shown: list[list[int | None]]
) -> np.ndarray[Any, Any]:
    """Return what the printed integers of a quantised tensor stand for, in float32."""
    import numpy as np

    kept = [[i for i in axis if i is not None] for axis in shown]
    scale = np.array(x.scale, np.float32)
    if x.channel_axis is not None:
        scale = scale[kept[x.channel_axis]]
        scale = scale.reshape([-1 if axis == x.channel_axis else 1 for axis in range(x.ndim)])
    zero = np.int32(x.zero_point or 0)
    steps = integers.reshape([len(axis) for axis in kept]).astype(np.int32) - zero
    with np.errstate(all="ignore"):
        return np.asarray(steps.astype(np.float32) * scale)


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
