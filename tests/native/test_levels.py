"""Which instruction-set level is taken: the best there is, or the one asked for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from suanzi import _core


def level_with(wanted: str | None) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "SUANZI_LEVEL"}
    if wanted is not None:
        environment["SUANZI_LEVEL"] = wanted
    code = "from suanzi import _core; print(_core.level())"
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return found.stdout.strip()


@pytest.mark.parametrize("wanted", _core.levels())
def test_the_environment_chooses(wanted: str) -> None:
    assert level_with(wanted) == wanted


@pytest.mark.parametrize("wanted", [None, "", "avx1024"])
def test_else_the_best_is_taken(wanted: str | None) -> None:
    assert level_with(wanted) == _core.levels()[0]


def test_every_machine_has_the_baseline() -> None:
    assert _core.levels()[-1] == "baseline"
