"""The lists of dtypes by operator, asked of the framework again, where it is installed."""

from __future__ import annotations

import os

import pytest

from suanzi.port.asking import ask_dtypes
from suanzi.promote.live import NotInstalled


@pytest.mark.parametrize("target", ["paddle", "mindspore", "openvino"])
def test_the_list_is_what_the_framework_says(target: str) -> None:
    try:
        found = ask_dtypes(target, os.environ.get(f"SUANZI_PYTHON_{target.upper()}"))
    except NotInstalled as reason:
        pytest.skip(str(reason))
    assert found.differences == []
    assert len(found.now.places) > 30
