"""``with`` blocks that set a context variable, and what is done where they end out of order.

A generator has no context of its own: what it sets inside a block, and then yields, stays set for
its caller.
"""

from __future__ import annotations

import warnings
from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Block:
    """A ``with`` block that is open, and the one around it."""

    outer: Block | None
    token: Token[Any]

    def holds(self, other: Block | None) -> bool:
        """Return whether another block was opened inside this one."""
        while other is not None and other is not self:
            other = other.outer
        return other is self


class Blocks(Generic[T]):
    """The blocks that set one variable.

    >>> from contextvars import ContextVar
    >>> colour = ContextVar("colour", default="none")
    >>> blocks = Blocks(colour, "paint", "its colour")
    >>> one = blocks.enter("red")
    >>> colour.get(), blocks.leave(one), colour.get()
    ('red', None, 'none')
    """

    def __init__(self, variable: ContextVar[T], name: str, what: str) -> None:
        self._variable, self._name, self._what = variable, name, what
        self._open: ContextVar[Block | None] = ContextVar(f"suanzi.{name}.open", default=None)

    def enter(self, value: T) -> Block:
        """Set the variable, and return what to leave the block with."""
        block = Block(self._open.get(), self._variable.set(value))
        self._open.set(block)
        return block

    def leave(self, block: Block) -> None:
        """Set the variable as it was before the block; warn if a block inside is still open."""
        innermost = self._open.get()
        if block.holds(innermost):
            self._open.set(block.outer)
            try:
                self._variable.reset(block.token)
            except ValueError:  # of another context: an asynchronous generator was ended here
                innermost = None
        if innermost is not block:
            warnings.warn(
                f"{self._name}: blocks end in another order than they began; a generator holds one "
                f"while it yields, so that {self._what} leaks to its caller. Leave it before the "
                "yield.",
                RuntimeWarning,
                stacklevel=4,
            )
