"""Axes that are named from the front or from the end."""

from __future__ import annotations

from collections.abc import Sequence


def axes_of(axis: int | Sequence[int] | None, ndim: int) -> list[int]:
    """Return axes that are named from the front or the end, from the front; all for None."""
    if axis is None:
        return list(range(ndim))
    found = []
    for a in (axis,) if isinstance(axis, int) else axis:
        if not -ndim <= a < ndim:
            raise IndexError(f"axis {a} is out of range for {ndim} axes")
        found.append(a % ndim)
    return found
