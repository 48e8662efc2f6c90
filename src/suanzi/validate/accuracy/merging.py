"""Merges the reports of all shards of a measurement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suanzi.base.status import InvalidArgument
from suanzi.conformance.shards import all_shards
from suanzi.validate.accuracy.engine import Row
from suanzi.validate.accuracy.functions import FUNCTIONS
from suanzi.validate.accuracy.inputs import WIDTHS
from suanzi.validate.accuracy.report import Accuracy
from suanzi.validate.accuracy.samples import SAMPLED

_OWN = ("shard", "command")
"""The settings in which shards may differ."""


def merge(reports: Sequence[Accuracy]) -> Accuracy:
    """Return the report that one run would have made; seconds are the sum over all shards."""
    numbers = all_shards([one.settings.get("shard") or {} for one in reports], "accuracy")
    first = reports[numbers[1]]
    for number, i in numbers.items():
        _same(first, reports[i], number)
    rows: dict[tuple[str, str], Row] = {}
    for report in reports:
        for row in report.rows:
            whole = rows.setdefault((row.name, row.dtype), Row(row.name, row.dtype, row.coverage))
            whole.missing = whole.missing or row.missing
            whole.tally.add(row.tally)
    names, dtypes = [*FUNCTIONS, *SAMPLED], list(WIDTHS)
    ordered = sorted(rows.values(), key=lambda r: (dtypes.index(r.dtype), names.index(r.name)))
    settings = {name: value for name, value in first.settings.items() if name != "shard"}
    seconds = sum(one.seconds for one in reports)
    return Accuracy(first.subject, tuple(ordered), seconds, settings, first.machine, first.measured)


def _same(first: Accuracy, other: Accuracy, number: int) -> None:
    about: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("subject", dict(first.subject), dict(other.subject)),
        ("settings", _settings(first), _settings(other)),
    ]
    for what, a, b in about:
        for name in dict.fromkeys((*a, *b)):
            if a.get(name) != b.get(name):
                raise InvalidArgument(
                    f"merge: {name} is {a.get(name)!r} in shard 1 and {b.get(name)!r} in shard "
                    f"{number}; the {what} of all shards must be the same."
                )


def _settings(report: Accuracy) -> dict[str, Any]:
    return {name: value for name, value in report.settings.items() if name not in _OWN}
