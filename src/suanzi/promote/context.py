"""The rule set in force, one per thread and per asyncio task."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token

from suanzi import _core
from suanzi.promote.library import DEFAULT, loaded, rule_set
from suanzi.promote.rules import RuleSet

_active: ContextVar[RuleSet] = ContextVar("suanzi.promotion")
_core.use_rules(_active, loaded)


def get_promotion() -> RuleSet:
    """Return the rule set in force here: what was set last in this thread or task, else `cann`."""
    found = _active.get(None)
    if found is None:
        found = rule_set(DEFAULT)
        _core.set_default_rules(found)
    return found


def set_promotion(rules: str | RuleSet) -> RuleSet:
    """Put a rule set in force from here on, and return the one before.

    It holds in this thread and in the asyncio tasks it starts, nowhere else: a new thread begins
    with `cann`, unless it runs in a copy of this context (`contextvars.copy_context().run`).

    >>> before = set_promotion("torch")
    >>> get_promotion().name, set_promotion(before).name
    ('torch', 'torch')
    """
    before = get_promotion()
    _choose(rule_set(rules))
    return before


@contextmanager
def promotion(rules: str | RuleSet) -> Iterator[RuleSet]:
    """Put a rule set in force for a ``with`` block.

    >>> with promotion("mindspore") as rules:
    ...     get_promotion().name
    'mindspore'
    """
    chosen = rule_set(rules)
    token = _choose(chosen)
    try:
        yield chosen
    finally:
        _active.reset(token)


def _choose(rules: RuleSet) -> Token[RuleSet]:
    _core.rules_chosen()
    return _active.set(rules)


def rules_in_force(rules: str | RuleSet | None) -> RuleSet:
    """Return the rule set an argument names; None is the one in force."""
    return get_promotion() if rules is None else rule_set(rules)
