"""The rule sets against the live packages, where they are installed.

A framework is looked for in this interpreter, or in the one that an environment variable such as
SUANZI_PYTHON_TORCH names.
"""

from __future__ import annotations

import os
import re

import pytest

import suanzi as sz
from suanzi.promote.library import rule_set
from suanzi.promote.live import FRAMEWORKS, NoDevice, NotInstalled, live
from suanzi.promote.live_results import WITH_RESULTS, ask_results
from suanzi.promote.results import results


def numbers(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version, of which the rules of dtypes are."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def skip_where_older(framework: str, version: str, due: str, differences: list[str]) -> None:
    """Skip where what differs is of a framework that is older than suanzi's tables of it."""
    if differences and numbers(version) < numbers(due):
        many = f"{len(differences)} cells differ, the first: {differences[0]}"
        pytest.skip(f"needs {framework} {due}, which the tables are of; in {version} {many}")


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_no_drift(framework: str) -> None:
    python = os.environ.get(f"SUANZI_PYTHON_{framework.upper()}")
    try:
        found = live(framework, python=python)
    except NotInstalled as reason:
        pytest.skip(str(reason))
    except NoDevice as reason:
        pytest.skip(f"needs a GPU: {reason}")
    assert len(found.of("agrees")) > 350
    drift = [f"{' '.join(cell.row())}: {cell.message}" for cell in found.drift]
    skip_where_older(framework, found.version, rule_set(framework).version, drift)
    assert not found.drift, f"\n{found}"


@pytest.mark.parametrize("framework", WITH_RESULTS)
def test_the_tables_of_results(framework: str) -> None:
    try:
        found = ask_results(framework, os.environ.get(f"SUANZI_PYTHON_{framework.upper()}"))
    except NotInstalled as reason:
        pytest.skip(str(reason))
    for name, now in found.now.items():
        then = results(name)
        assert then is not None, name
        skip_where_older(framework, now.version, then.version, [*map(str, found.differences)])
    assert found.differences == [], f"\n{found}"


def test_what_has_no_results_is_refused_and_an_older_framework_is_known() -> None:
    with pytest.raises(sz.InvalidArgument, match="--results does not support 'triton'"):
        ask_results("triton")
    skip_where_older("triton", "3.6.0", "3.9.0", [])
    skip_where_older("triton", "3.10.0", "3.9.0", ["one"])
    skip_where_older("triton", "3.9.1", "3.9.0", ["one"])
    with pytest.raises(pytest.skip.Exception, match=r"needs triton 3.9.0.* in 3.6.0 1 cells"):
        skip_where_older("triton", "3.6.0", "3.9.0", ["one"])
