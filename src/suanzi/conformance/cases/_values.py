"""Values that cases are made of, and shapes and indices in a few characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

from suanzi.conformance.model.data import LAYOUTS
from suanzi.conformance.model.numbers import FORMATS, PARTS, ZERO, Real, Value, decode, real, wrap
from suanzi.conformance.subjects.wire import Data

Shape = tuple[int, ...]

STORED = {
    "char": "uint8",
    **{f"QT_{kind}_INT{n}": f"int{n}" for kind in ("SYM", "CH_SYM", "ASYM") for n in (8, 16)},
    **{f"QT_ASYM_UINT{n}": f"uint{n}" for n in (8, 16)},
}
"""The integers that store dtypes which have no numbers themselves."""
SCALE = 0.25


def indices(shape: Sequence[int]) -> Iterator[Shape]:
    """Give every index of a shape, in row-major order.

    >>> list(indices((2, 2)))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    return product(*map(range, shape))


def ravel(index: Sequence[int], shape: Sequence[int]) -> int:
    """Return how many elements are before an index.

    >>> ravel((1, 2), (2, 3))
    5
    """
    found = 0
    for i, n in zip(index, shape, strict=True):
        found = found * n + i
    return found


def by(shape: Sequence[int]) -> str:
    """Return a shape in a few characters, for titles."""
    return "x".join(map(str, shape)) or "0-d"


def text(numbers: Sequence[Any]) -> str:
    """Return numbers in a few characters, for titles."""
    return " ".join(map(str, numbers)) or "none"


def distinct(dtype: str, count: int, start: int = 0) -> list[Value]:
    """Return values that differ as long as the dtype has enough of them.

    >>> distinct("int8", 3)
    [21, 42, 63]
    """
    if dtype in PARTS:
        parts = [x for x in distinct(PARTS[dtype], 2 * count, start) if isinstance(x, Real)]
        return list(zip(parts[::2], parts[1::2], strict=True))
    numbers = range(start + 1, start + count + 1)
    if dtype in FORMATS:
        form = FORMATS[dtype]
        # From the smallest normal number on: no clause defines results for those below it.
        least, sign = 1 << form.mantissa, 1 << (form.bits - 1)
        room = form.largest - least
        step = max(1, room // 997)
        return [decode(form, (least + i * step % room) | (sign if i % 2 else 0)) for i in numbers]
    stored = STORED.get(dtype, dtype)
    if stored in ("bool", "uint1"):
        random = Random(f"distinct {start}")
        return [random.randint(0, 1) for _ in numbers]
    # An odd factor takes different numbers to different ones, and reaches every byte.
    return [wrap(stored, i * 0x9E3779B97F4A7C15) for i in numbers]


def repeated(elements: Sequence[Value], shape: Sequence[int]) -> list[Value]:
    """Return elements that are the same along the first axis.

    >>> repeated([1, 2, 3, 4], (2, 2))
    [1, 2, 1, 2]
    """
    row = len(elements) // shape[0] if shape and shape[0] else len(elements)
    return [elements[i % row] for i in range(len(elements))]


def random_shape(random: Random, most: int = 4) -> Shape:
    """Return a shape of one axis or more, none of them empty."""
    return tuple(random.randint(1, 4) for _ in range(random.randint(1, most)))


def strided(elements: list[Value], shape: Sequence[int]) -> Iterator[tuple[str, list[Value]]]:
    """Give every layout, and elements of a shape that can lie so."""
    for layout in LAYOUTS:
        yield layout, elements
    yield "repeated", repeated(elements, shape)


def zero(dtype: str, zero_point: int = 0) -> Value:
    """Return what stands for zero."""
    if dtype in PARTS:
        return (ZERO, ZERO)
    return ZERO if dtype in FORMATS else zero_point


def exactly(dtype: str, value: Any) -> Value:
    """Return a Python number as a value of a dtype, before it is rounded."""
    if dtype in PARTS:
        return real(value.real), real(value.imag)
    return real(value) if dtype in FORMATS else int(value)


def wrapped_sum(dtype: str, a: Value, b: Value) -> Value:
    """Return the exact sum of two values; integers wrap around.

    >>> wrapped_sum("int8", 127, 1)
    -128
    """
    if isinstance(a, tuple) and isinstance(b, tuple):
        return real(a[0].value + b[0].value), real(a[1].value + b[1].value)
    if isinstance(a, Real) and isinstance(b, Real):
        return real(a.value + b.value)
    assert isinstance(a, int)
    assert isinstance(b, int)
    return wrap(dtype, a + b)


def zero_point_of(dtype: str) -> int:
    """Return the zero point that cases of a quantised dtype have."""
    return 3 if "ASYM" in dtype else 0


def quantised(dtype: str) -> bool:
    """Tell whether a dtype has a scale."""
    return dtype.startswith("QT")


def laid_out(value: Any, layout: str) -> Any:
    """Return an argument with its tensors in a layout."""
    if isinstance(value, Data):
        return replace(value, layout=layout)
    return [laid_out(v, layout) for v in value] if isinstance(value, list) else value
