"""The lists of dtypes by operator, asked of the framework again, where it is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def facts(text: str) -> dict[str, str]:
    """Return the lines of operators by their names."""
    return {
        line.partition(" ")[0]: line.partition(":")[2].strip()
        for line in text.splitlines()
        if " : " in line
    }


@pytest.mark.parametrize("target", ["paddle", "mindspore", "openvino"])
def test_the_list_is_what_the_framework_says(target: str) -> None:
    if importlib.util.find_spec(target) is None:
        pytest.skip(f"{target} is not installed")
    command = [sys.executable, str(ROOT / "tools" / "ask_dtypes.py"), target]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    there = (ROOT / "src" / "suanzi" / "port" / "dtypes" / f"{target}.txt").read_text("utf-8")
    assert facts(done.stdout) == facts(there)
