"""The rule set in force, one per thread and per asyncio task, and the one that they begin with."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass

from suanzi import _core
from suanzi.promote.library import DEFAULT, loaded, rule_set
from suanzi.promote.rules import RuleSet

_active: ContextVar[RuleSet] = ContextVar("suanzi.promotion")
_core.use_rules(_active, loaded)
_everywhere: RuleSet | None = None
"""What is in force where nothing was chosen; None is `cann`, which is made when it is asked."""


@dataclass(frozen=True, eq=False)
class _Block:
    """A ``with`` block that is open, and the one around it."""

    outer: _Block | None

    def holds(self, other: _Block | None) -> bool:
        """Tell whether another block was opened inside this one."""
        while other is not None and other is not self:
            other = other.outer
        return other is self


_open: ContextVar[_Block | None] = ContextVar("suanzi.promotion.open", default=None)


def get_promotion() -> RuleSet:
    """Return the rule set in force here: what was set last in this thread or task.

    Where nothing was, it is what `set_promotion` put in force everywhere, else `cann`.
    """
    found = _active.get(None) or _everywhere
    if found is None:
        found = rule_set(DEFAULT)
        _core.set_default_rules(found)
    return found


def set_promotion(rules: str | RuleSet, *, everywhere: bool = False) -> RuleSet:
    """Put a rule set in force from here on, and return the one before.

    It holds in this thread and in the asyncio tasks it starts, nowhere else: a new thread begins
    with `cann`, unless it runs in a copy of this context (`contextvars.copy_context().run`). With
    `everywhere`, it holds here and is what all threads begin with, new ones and those that have not
    chosen another: the default of the process.

    >>> before = set_promotion("torch")
    >>> get_promotion().name, set_promotion(before).name
    ('torch', 'torch')
    """
    global _everywhere
    before, chosen = get_promotion(), rule_set(rules)
    if everywhere:
        _everywhere = chosen
        _core.set_default_rules(chosen)
    _choose(chosen)
    return before


@contextmanager
def promotion(rules: str | RuleSet) -> Iterator[RuleSet]:
    """Put a rule set in force for a ``with`` block, in this thread or task.

    A generator that yields inside the block has no context of its own: the rule set stays in force
    for its caller, until the generator goes on and leaves the block. Give `rules` to the functions
    that take it, or leave the block before you yield. Where blocks end in another order than they
    began, which only that can cause, there is a RuntimeWarning, and what was in force before the
    outer one is in force again.

    >>> with promotion("mindspore") as rules:
    ...     get_promotion().name
    'mindspore'
    """
    chosen = rule_set(rules)
    block = _Block(_open.get())
    _open.set(block)
    token = _choose(chosen)
    try:
        yield chosen
    finally:
        _leave(block, token)


def _leave(block: _Block, token: Token[RuleSet]) -> None:
    innermost = _open.get()
    if block.holds(innermost):
        _open.set(block.outer)
        try:
            _active.reset(token)
        except ValueError:  # a block of another context: an asynchronous generator was ended here
            innermost = None
    if innermost is not block:
        warnings.warn(
            "promotion: blocks end in another order than they began; a generator holds one while "
            "it yields, so that its rule set leaks to its caller. Leave it before the yield.",
            RuntimeWarning,
            stacklevel=4,
        )


def _choose(rules: RuleSet) -> Token[RuleSet]:
    _core.rules_chosen()
    return _active.set(rules)


def rules_in_force(rules: str | RuleSet | None) -> RuleSet:
    """Return the rule set an argument names; None is the one in force."""
    return get_promotion() if rules is None else rule_set(rules)
