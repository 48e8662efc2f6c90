"""Known deviations against the live packages: they say all that a quick run finds, and no more.

By default a dtype of each kind, and no large tensors; SUANZI_ALL_CASES=1 runs all of a quick run.

A framework is looked for in this interpreter, or in the one that an environment variable such as
SUANZI_PYTHON_TORCH names.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from suanzi.conformance.check import check
from suanzi.conformance.model.case import GROUPS
from suanzi.conformance.reports.deviations import packaged
from suanzi.conformance.running.backends import backend
from suanzi.conformance.running.run import facts_of
from suanzi.promote.live import NotInstalled

FEW: dict[str, Any] = {
    "dtypes": ["any", "bool", "int8", "float32", "complex64"],
    "groups": [group for group in GROUPS if group != "sizes"],
}


@pytest.mark.parametrize("framework", ["numpy", "torch"])
def test_every_failure_is_known(framework: str) -> None:
    python = os.environ.get(f"SUANZI_PYTHON_{framework.upper()}")
    try:
        version = facts_of(backend(framework, python)).version
    except NotInstalled as reason:
        pytest.skip(str(reason))
    known = packaged(framework)
    if not any(one.holds_for(version) for one in known):
        pytest.skip(f"{framework} {version} is another version than the one that was looked at")
    few = {} if os.environ.get("SUANZI_ALL_CASES") else FEW
    run = check(framework, python=python, quick=True, jobs=1, **few)
    assert run.counts()["passed"] > 4000
    assert run.counts()["known"] > 150
    assert not [(r.id, r.problem) for r in run.results if r.bad and r.known is None]
    assert not [r.id for r in run.results if r.unexpected]
