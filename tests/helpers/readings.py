"""What a case expects, where the standard can be read in several ways."""

from __future__ import annotations

from typing import Any

from suanzi.conformance.model.case import Case, Either


def first_reading(case: Case) -> Any:
    """Return what is expected; of several readings, suanzi's own, which is the first."""
    expected = case.expect()
    while isinstance(expected, Either):
        expected = next(iter(expected.readings.values()))
    return expected
