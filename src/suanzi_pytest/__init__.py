"""pytest's entry to suanzi's judge: the fixture ``judge``.

It stands outside the package, so that a run of pytest that does not use it imports nothing.
"""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def judge() -> Any:
    """``assert judge(my_softmax, "softmax")``: `sz.judge`, see there."""
    from suanzi.judgement import judge as found

    return found
