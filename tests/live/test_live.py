"""The rule sets against the live packages, where they are installed.

A framework is looked for in this interpreter, or in the one that an environment variable such as
SUANZI_PYTHON_TORCH names.
"""

from __future__ import annotations

import os

import pytest

from suanzi.promote.live import FRAMEWORKS, NotInstalled, live
from suanzi.promote.live_results import ask_results


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_no_drift(framework: str) -> None:
    python = os.environ.get(f"SUANZI_PYTHON_{framework.upper()}")
    try:
        found = live(framework, python=python)
    except NotInstalled as reason:
        pytest.skip(str(reason))
    assert len(found.of("agrees")) > 350
    assert not found.drift, f"\n{found}"


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_tables_of_results(framework: str) -> None:
    try:
        found = ask_results(framework, os.environ.get(f"SUANZI_PYTHON_{framework.upper()}"))
    except NotInstalled as reason:
        pytest.skip(str(reason))
    assert found.differences == [], f"\n{found}"
