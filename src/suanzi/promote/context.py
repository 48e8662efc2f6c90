"""The rule set in force, one per thread and per asyncio task, and the one that they begin with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import lru_cache

from suanzi import _core
from suanzi.base.blocks import Blocks
from suanzi.base.hints import nearest
from suanzi.base.status import InvalidArgument
from suanzi.promote.library import BRINGS, DEFAULT, loaded, rule_set
from suanzi.promote.losing import ON_LOSS, OnLoss
from suanzi.promote.rules import RuleSet

_active: ContextVar[RuleSet] = ContextVar("suanzi.promotion")
_blocks = Blocks(_active, "promotion", "its rule set")
_core.use_rules(_active, loaded)
_everywhere: RuleSet | None = None
"""The rule set in force where none was chosen; None is `cann`, created on first use."""


def get_promotion() -> RuleSet:
    """Return the rule set in force here: what was set last in this thread or task.

    Where nothing was, it is what `set_promotion` put in force everywhere, else `cann`.
    """
    global _everywhere
    found = _active.get(None) or _everywhere
    if found is None:
        found = _everywhere = rule_set(DEFAULT)
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
    before, chosen = get_promotion(), _ready(rules)
    if everywhere:
        _everywhere = chosen
        _core.set_default_rules(chosen)
    _core.rules_chosen()
    _active.set(chosen)
    return before


@contextmanager
def promotion(rules: str | RuleSet, *, on_loss: OnLoss = "ignore") -> Iterator[RuleSet]:
    """Put a rule set in force for a ``with`` block, in this thread or task.

    With ``on_loss="warn"`` an operator that converts an operand to a dtype that does not hold all
    of its values gives a :class:`suanzi.LossWarning`, which has a value that is lost: one of this
    call, if it lost one, else an example. With ``"raise"`` it raises TypeMismatch.

    A generator that yields inside the block has no context of its own: the rule set stays in force
    for its caller, until the generator continues and leaves the block. Give `rules` to the
    functions that take it, or leave the block before you yield. Where blocks end in another
    order than they began, which only that can cause, there is a RuntimeWarning, and what was in
    force before the outer one is in force again.

    >>> with promotion("mindspore") as rules:
    ...     get_promotion().name
    'mindspore'
    """
    chosen = _ready(rules)
    if on_loss not in ON_LOSS:
        raise InvalidArgument(
            f"promotion: on_loss is {on_loss!r}; it is one of {', '.join(ON_LOSS)}."
            + nearest(str(on_loss), ON_LOSS)
        )
    if on_loss != chosen.on_loss:
        chosen = _watching(chosen, on_loss)
    _core.rules_chosen()
    block = _blocks.enter(chosen)
    try:
        yield chosen
    finally:
        _blocks.leave(block)


@lru_cache(maxsize=32)
def _watching(rules: RuleSet, on_loss: OnLoss) -> RuleSet:
    """Return the same rule set with another `on_loss`."""
    if rules.name in BRINGS:
        raise InvalidArgument(
            f"promotion: the functions of {rules.name} promote by themselves, without on_loss."
        )
    return replace(rules, on_loss=on_loss)


@lru_cache(maxsize=32)
def forgetting(rules: RuleSet) -> RuleSet:
    """Return a rule set that says the same, and remembers nothing where Python does not see it."""
    return rules if rules.forgets else replace(rules, forgets=True)


def _ready(rules: str | RuleSet) -> RuleSet:
    """Return a rule set that can be put in force: the operators that it brings are loaded."""
    chosen = rule_set(rules)
    if chosen.name in BRINGS:
        BRINGS[chosen.name]()
    here = _active.get(None)
    return forgetting(chosen) if here is not None and here.forgets else chosen


def rules_in_force(rules: str | RuleSet | None) -> RuleSet:
    """Return the rule set an argument names; None is the one in force."""
    return get_promotion() if rules is None else rule_set(rules)
