"""Runs made by hand, and at random, for the tests of what comes after a run."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from suanzi.conformance.model.results import OUTCOMES, Result, Run
from suanzi.standard import interfaces

SUBJECT: dict[str, Any] = {
    "title": "vendor.so",
    "name": "vendor",
    "version": "2.1",
    "rules": "strict",
    "statuses": True,
    "mapping": {"add": "v_add"},
    "missing": {"eig": "no eigenvalues"},
    "notes": ["subnormals are flushed"],
    "python": "3.11.7",
}
SETTINGS: dict[str, Any] = {
    "rules": "cann",
    "seed": 0,
    "quick": False,
    "minimal": False,
    "ops": None,
    "categories": None,
    "dtypes": None,
    "groups": None,
    "cases": None,
    "timeout": 10.0,
    "jobs": 2,
    "deviations": [],
    "ids": "0" * 64,
    "started": "2026-01-01T00:00:00+00:00",
}


def result(
    op: str = "add",
    outcome: Any = "passed",
    *,
    group: str = "plain",
    dtype: str = "int8",
    title: str = "3-elements",
    **more: Any,
) -> Result:
    """Return a result; what did not pass has a problem."""
    if outcome != "passed":
        more.setdefault("problem", f"it {outcome}")
    return Result(f"{op}/{group}/{dtype}/{title}", op, group, dtype, outcome, **more)


def run(*results: Result, settings: dict[str, Any] | None = None, **more: Any) -> Run:
    """Return a run of results."""
    return Run(SUBJECT, SETTINGS | (settings or {}), list(results), **more)


def of_all(outcome: Any = "passed", **changed: Any) -> Run:
    """Return a run with a case of every interface, and a cell of the promotion table.

    An interface that is named has the outcome that is given.
    """
    some = [result(name, changed.get(name, outcome)) for name in interfaces()]
    cell = result("add", group="promotion", dtype="int8-int16")
    return run(*some, cell)


BASIS = st.sampled_from([None, "normative", "interpretation", "tentative", "quality"])


@st.composite
def results(draw: st.DrawFn) -> list[Result]:
    """Draw results with ids of their own, of few interfaces, so that they meet."""
    size = draw(st.integers(0, 25))
    words = st.text(st.characters(), max_size=12)
    measure = st.none() | st.floats(0, 1e6) | st.just(float("inf"))
    found = []
    for i in range(size):
        outcome = draw(st.sampled_from(OUTCOMES))
        bad = outcome in ("failed", "crashed", "hung")
        dtype = draw(st.sampled_from(["int8", "float16", "bfloat16", "int8-float16"]))
        found.append(
            result(
                draw(st.sampled_from(["add", "exp", "linear_bwd_in", "create_tensor"])),
                outcome,
                group=draw(st.sampled_from(["plain", "promotion", "special"])),
                dtype=dtype,
                title=f"{i}-{draw(words)}",
                problem=None if outcome == "passed" else draw(words),
                extension=dtype == "bfloat16",
                basis=(basis := draw(BASIS) if dtype != "bfloat16" else "extension"),
                broken=draw(st.sampled_from([basis, "quality"])) if bad else None,
                reading=draw(st.none() | words.map(lambda name: f"E1: {name}")),
                ulp=draw(measure),
                bound=draw(measure),
                mean_relative=draw(measure),
                max_relative=draw(measure),
                cann=draw(st.none() | st.booleans()),
                known=draw(st.none() | words) if bad else None,
                unexpected=draw(st.booleans()) if outcome == "passed" else False,
                reproduction=draw(st.none() | words) if bad else None,
            )
        )
    return found
