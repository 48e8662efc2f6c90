"""Which tests ran, each set of parameters by itself: `pytest --record FILE`.

tools/ran_nowhere.py reads it. One test loops over several sets of parameters (helpers/looping.py),
and passes where one of them does: here each has its own outcome, by the name that `--apart` gives.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

Outcome = tuple[str, str]
"""passed, failed or skipped; and why it was skipped."""


def reason_of(report: Any) -> str:
    """Return why something was skipped, in one line."""
    where = report.longrepr
    text = where[2] if isinstance(where, tuple) else getattr(report, "wasxfail", "") or str(where)
    return " ".join(str(text).removeprefix("Skipped: ").split())


class Recorder:
    """Collects outcomes, from every process of a run, and writes them where the run ends."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.outcomes: dict[str, Outcome] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that is skipped as one."""
        if report.skipped:
            self.outcomes[report.nodeid] = ("skipped", reason_of(report))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test, or each set of parameters of a test that loops over some."""
        each: list[tuple[str, str, str]] = getattr(report, "each", [])
        base = report.nodeid.partition("[")[0]
        for name, outcome, reason in each:
            self.outcomes[f"{base}[{name}]"] = (outcome, " ".join(reason.split()))
        if not each and (report.when == "call" or not report.passed):
            reason = reason_of(report) if report.skipped else ""
            self.outcomes[report.nodeid] = (report.outcome, reason)

    def pytest_sessionfinish(self) -> None:
        """Write the record."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(self.outcomes, indent=0, sort_keys=True))
