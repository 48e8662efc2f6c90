"""Cases with more than one interpretation: those of an erratum, each of which passes.

Makers of cases have suanzi's interpretation. Rules, in the files `_readings_*`, add the results of
other interpretations to what is expected; ``errata.toml`` has their names, in the order in which
`either` takes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from suanzi.conformance.model.case import Check, Either, Expected, Output, Outputs, Refused
from suanzi.standard.errata import errata

Answer = Outputs | Refused | Check


@cache
def names_of(erratum: str) -> tuple[str, ...]:
    """Return the names of the interpretations of an erratum."""
    return next(one.readings for one in errata() if one.id == erratum)


def either(erratum: str, *answers: Answer | None, throughout: bool = False) -> Expected:
    """Return the expected results by the interpretations of an erratum; None where one has none.

    Where all are the same, that result alone.
    """
    return among(erratum, dict(zip(names_of(erratum), answers, strict=True)), throughout)


def among(erratum: str, answers: Mapping[str, Answer | None], throughout: bool = False) -> Expected:
    """Return the expected results by the names of interpretations, some of them or all."""
    unknown = set(answers) - set(names_of(erratum))
    assert not unknown, f"{erratum} has no interpretation {unknown}"
    kept = {name: answer for name, answer in answers.items() if answer is not None}
    first = next(iter(kept.values()))
    if all(answer == first for answer in kept.values()):
        return first
    return Either(erratum, kept, throughout)


def one_output(expected: Expected) -> Output | None:
    """Return the expected output, if there is exactly one."""
    if isinstance(expected, tuple) and len(expected) == 1 and isinstance(expected[0], Output):
        return expected[0]
    return None
