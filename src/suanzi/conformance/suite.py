"""The test of the kit: one case for the backend. See :mod:`suanzi.conformance.plugin`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from suanzi.conformance.model.case import Case
    from suanzi.conformance.reports.deviations import Deviation
    from suanzi.conformance.running.process import Subject


def test_conformance(
    suanzi_case: Case,
    suanzi_subject: Subject,
    suanzi_deviations: list[Deviation],
    suanzi_strict: bool,
) -> None:
    """Fail with the problem and a program to reproduce it; skip what the backend does not have.

    A failure in quality or an extension is an expected failure, unless the run is strict.
    """
    from suanzi.base.text import printable
    from suanzi.conformance.reports import deviations
    from suanzi.conformance.running.run import run_case

    found = run_case(suanzi_subject, suanzi_case)
    ((result,), _) = deviations.apply([found], suanzi_deviations, suanzi_subject.facts.version)
    problem = printable(result.problem or "")
    if result.outcome in ("unsupported", "skipped"):
        pytest.skip(f"{result.outcome}: {problem}")
    if result.unexpected:
        pytest.fail(f"{result.id} passes, but is listed as a known deviation", pytrace=False)
    if result.known is not None:
        pytest.xfail(f"{result.known} ({problem})")
    if result.bad and not result.fatal and (not suanzi_strict or result.basis == "tentative"):
        pytest.xfail(f"{result.broken}, not required by the standard: {problem}")
    if result.outcome != "passed":
        paste = f"\n\n{result.reproduction}" if result.reproduction else ""
        why = f"\nrequired by {result.because}" if result.because else ""
        pytest.fail(f"{result.id}: {result.outcome}: {problem}{why}{paste}", pytrace=False)
