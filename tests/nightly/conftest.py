"""Tests that take minutes: `.ci/nightly` runs them, or who names this folder.

They are left out of every other run, unless SUANZI_NIGHTLY=1 is set.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what nobody asked for; None lets other plugins decide."""
    if os.environ.get("SUANZI_NIGHTLY") == "1" or any(map(_is_here, config.args)):
        return None
    return True


def _is_here(argument: str) -> bool:
    path = Path(argument.partition("::")[0]).resolve()
    return path == HERE or HERE in path.parents
