"""Where a case can be answered in more than one way: the erratum's readings, all of them right.

Makers of cases say what suanzi reads. Rules, in the files `_readings_*`, look at a case and at what
is expected, and add what other readers of the standard would give; ``errata.toml`` has the names of
the readings, in the order in which `either` takes them.
"""

from __future__ import annotations

from functools import cache

from suanzi.conformance.model.case import Check, Either, Expected, Output, Outputs, Refused
from suanzi.errata import errata

Answer = Outputs | Refused | Check


@cache
def names_of(erratum: str) -> tuple[str, ...]:
    """Return the names of the readings of an erratum."""
    return next(one.readings for one in errata() if one.id == erratum)


def either(erratum: str, *answers: Answer | None, throughout: bool = False) -> Expected:
    """Return the answers by the readings of an erratum; None where a reading has none.

    Where all are the same, there is nothing to choose.
    """
    pairs = zip(names_of(erratum), answers, strict=True)
    kept = {name: answer for name, answer in pairs if answer is not None}
    first = next(iter(kept.values()))
    if all(answer == first for answer in kept.values()):
        return first
    return Either(erratum, kept, throughout)


def one_output(expected: Expected) -> Output | None:
    """Return the only output, if that is what is expected."""
    if isinstance(expected, tuple) and len(expected) == 1 and isinstance(expected[0], Output):
        return expected[0]
    return None
