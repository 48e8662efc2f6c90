"""How tensors print: the options in force, one set per thread and per asyncio task."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from suanzi.base.hints import shown
from suanzi.base.status import InvalidArgument


@dataclass(frozen=True)
class PrintOptions:
    """What is printed of a tensor, and how."""

    precision: int | None = None
    """The most digits behind the point; None: as many as identify the number in its dtype."""
    threshold: int = 1000
    """The most elements that are printed without leaving some out."""
    edgeitems: int = 3
    """How many stay at each end of an axis beyond that."""
    linewidth: int = 88
    """The most characters in a line."""
    suppress: bool = False
    """Whether scientific notation is never used."""


_DEFAULT: Final = PrintOptions()
_active: ContextVar[PrintOptions] = ContextVar("suanzi.printoptions", default=_DEFAULT)


class _AsItIs:
    """An option that was not given."""

    def __repr__(self) -> str:
        return "as it is"


_AS_IT_IS: Any = _AsItIs()


def in_force() -> PrintOptions:
    """Return the options in force here."""
    return _active.get()


def get_printoptions() -> dict[str, Any]:
    """Return how tensors print here, by the names that :func:`set_printoptions` takes.

    >>> get_printoptions()["linewidth"]
    88
    """
    return asdict(in_force())


def set_printoptions(
    *,
    precision: int | None = _AS_IT_IS,
    threshold: int = _AS_IT_IS,
    edgeitems: int = _AS_IT_IS,
    linewidth: int = _AS_IT_IS,
    suppress: bool = _AS_IT_IS,
) -> dict[str, Any]:
    """Say how tensors print from here on, and return how they did before.

    `precision` is the most digits behind the point, None for as many as identify a number in its
    dtype; `threshold` the most elements printed in full, and `edgeitems` how many stay at each end
    of an axis beyond that; `linewidth` the most characters in a line; with `suppress`, no number is
    in scientific notation, and None digits are 8. What is not given stays as it is.

    It holds in this thread and in the asyncio tasks it starts, nowhere else.

    >>> before = sz.set_printoptions(precision=3)
    >>> sz.tensor([2 / 3, 0.5])
    Tensor([0.667,   0.5], dtype=float32)
    >>> sz.set_printoptions(**before)["precision"]
    3
    """
    before = get_printoptions()
    _active.set(_changed(precision, threshold, edgeitems, linewidth, suppress))
    return before


@contextmanager
def printoptions(
    *,
    precision: int | None = _AS_IT_IS,
    threshold: int = _AS_IT_IS,
    edgeitems: int = _AS_IT_IS,
    linewidth: int = _AS_IT_IS,
    suppress: bool = _AS_IT_IS,
) -> Iterator[dict[str, Any]]:
    """Say how tensors print for a ``with`` block; the options are :func:`set_printoptions`'s.

    >>> with sz.printoptions(threshold=5, edgeitems=1):
    ...     print(sz.range(1, 100, 1, sz.int32))
    Tensor([  1, ..., 100], dtype=int32)
    """
    token = _active.set(_changed(precision, threshold, edgeitems, linewidth, suppress))
    try:
        yield get_printoptions()
    finally:
        _active.reset(token)


def _changed(*options: Any) -> PrintOptions:
    given = {k: v for k, v in zip(_LEAST, options, strict=True) if v is not _AS_IT_IS}
    for name, value in given.items():
        if name == "suppress":
            if not isinstance(value, bool):
                raise InvalidArgument(
                    f"printoptions: suppress is {shown(value)}; it must be True or False."
                )
        elif name != "precision" or value is not None:
            given[name] = _count(name, value, _LEAST[name])
    return replace(in_force(), **given)


_LEAST = {"precision": 0, "threshold": 0, "edgeitems": 1, "linewidth": 1, "suppress": 0}
"""The options in order, with the least number of each."""


def _count(name: str, value: Any, least: int) -> int:
    try:
        count = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = -1
    if count < least:
        also = ", or None" if name == "precision" else ""
        raise InvalidArgument(
            f"printoptions: {name} is {shown(value)}; it must be an integer from {least} on{also}."
        )
    return count
