"""The pytest plugin of the judge: the fixture ``judge``, for ``assert judge(kernel, "softmax")``.

One line in a ``conftest.py`` turns it on::

    pytest_plugins = ["suanzi.judge_plugin"]

or ``pytest -p suanzi.judge_plugin``. It does not register itself: pytest would rewrite every
module of suanzi for assertions in each run on the machine. `sz.judged` needs no plugin.
"""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def judge() -> Any:
    """``sz.judge``."""
    from suanzi.validate.judge import judge as found

    return found
