"""How functions of float32 are rounded: by default within a few units, or correctly.

A correctly rounded result is the nearest number to the exact one. There is only one, so that it is
the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from suanzi import _core
from suanzi.base.blocks import Blocks
from suanzi.base.hints import nearest, shown
from suanzi.base.status import InvalidArgument

Rounding = Literal["default", "correct"]
ROUNDINGS: tuple[Rounding, ...] = ("default", "correct")

_correct: ContextVar[bool] = ContextVar("suanzi.rounding")
_blocks = Blocks(_correct, "rounding", "its choice")
_core.use_rounding(_correct)
_everywhere = False


def get_rounding() -> Rounding:
    """Return how functions of float32 are rounded here: ``"default"`` or ``"correct"``."""
    return ROUNDINGS[_correct.get(_everywhere)]


def set_rounding(mode: Rounding, *, everywhere: bool = False) -> Rounding:
    """Choose how functions of float32 are rounded from here on, and return what was chosen before.

    ``"correct"`` rounds the results of 7.2.8, 7.2.10, 7.2.11 and 7.2.12 correctly, also of the
    standard's form and of the array API; it takes a few times as long. ``"default"`` keeps the
    declared error bounds. Functions of 16 bits and fewer are correctly rounded either way; of
    float64 and complex dtypes, nothing changes.

    It holds in this thread and in the asyncio tasks it starts. With `everywhere`, it holds here and
    is what all threads begin with that have not chosen.

    >>> set_rounding("correct"), get_rounding(), set_rounding("default")
    ('default', 'correct', 'correct')
    """
    global _everywhere
    correct, before = _is_correct("set_rounding", mode), get_rounding()
    if everywhere:
        _everywhere = correct
        _core.set_default_rounding(correct)
    _core.rounding_chosen()
    _correct.set(correct)
    return before


@contextmanager
def rounding(mode: Rounding) -> Iterator[None]:
    """Choose how functions of float32 are rounded for a ``with`` block, in this thread or task.

    See `set_rounding` for the modes. A generator that yields inside the block shares the context of
    its caller: leave the block before you yield.

    >>> x = sz.tensor([0.0859375 + 2**-24], sz.float32)
    >>> with sz.rounding("correct"):
    ...     y = sz.exp(x)
    >>> y.dtype
    suanzi.float32
    """
    correct = _is_correct("rounding", mode)
    _core.rounding_chosen()
    block = _blocks.enter(correct)
    try:
        yield
    finally:
        _blocks.leave(block)


def _is_correct(caller: str, mode: str) -> bool:
    if not isinstance(mode, str) or mode not in ROUNDINGS:
        raise InvalidArgument(
            f"{caller}: mode is {shown(mode)}; it is one of {', '.join(ROUNDINGS)}."
            + (nearest(mode, ROUNDINGS) if isinstance(mode, str) else "")
        )
    return mode == "correct"
