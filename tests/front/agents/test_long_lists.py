"""Lists without end in requests of agents: they are refused before their items are looked at."""

from __future__ import annotations

import time
from typing import Any

import pytest

from suanzi.base.status import InvalidArgument
from suanzi.front.agents.tools import check, tools


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("explain", {"operands": [1] * 10**6}),
        ("truth", {"op": "add", "inputs": [1] * 10**6}),
        ("truth", {"op": "add", "inputs": {str(i): 1 for i in range(10**5)}}),
        ("judge", {"op": "add", "dtypes": ["float32"] * 10**6}),
        ("judge", {"op": "add", "shapes": [[1] * 10**6]}),
    ],
)
def test_a_long_list_is_refused_at_once(name: str, arguments: dict[str, Any]) -> None:
    tool = next(one for one in tools() if one.name == name)
    start = time.process_time()
    with pytest.raises(InvalidArgument, match="items; give at most 1,000"):
        check(tool, arguments)
    assert time.process_time() - start < 2


def test_many_elements_of_a_tensor_are_no_long_list() -> None:
    tool = next(one for one in tools() if one.name == "truth")
    check(tool, {"op": "exp", "inputs": [{"values": [1.0] * 5000}]})
