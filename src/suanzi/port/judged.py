"""Judged: what one target does with the calls of a program."""

from __future__ import annotations

from dataclasses import dataclass

from suanzi.port.available import Available
from suanzi.port.findings import Finding
from suanzi.port.given import Given
from suanzi.port.support import Dtypes
from suanzi.promote.rules import RuleSet


@dataclass(frozen=True)
class Judged:
    """What one target does with the calls of a program."""

    rules: RuleSet
    findings: tuple[Finding, ...]
    unknown: dict[str, int]
    """Operators that are not known and were given several dtypes, or changed one: not judged."""
    unexplained: dict[str, int]
    """Operators that promote, in calls whose result contradicts the source's rules: not judged."""
    uniform: int
    """Calls of operators that are not known and were given one dtype, which came out."""
    unwritten: dict[str, int]
    """Ways of writing a result of which the target's rules say nothing: not judged."""
    made: dict[str, str]
    """Dtypes of the program that the target does not have, and what it makes of them."""
    judged: int
    """Calls that were judged."""
    dtypes: Dtypes
    """What is known of the dtypes that the target's operators take."""
    given: Given | None = None
    """Which calls of a program it was compared with; None: all of a model."""
    available: Available | None = None
    """Which operators of a program it has; None: not known for models."""
