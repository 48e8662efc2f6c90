"""Operators with a native fast path: the Python function behind it gives the same answers.

The calls are cases of the kit, which judges the answers themselves.
"""

from __future__ import annotations

from typing import Any

import pytest

from helpers.every_operator import REGISTRY
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.subjects.suanzi_adapter import Adapter, made, read
from suanzi.ops.calling.declare import _with_overrides
from suanzi.promote.registry import FUNCTIONS
from suanzi.standard import interface

GROUPS = frozenset({"plain", "strided", "empty", "special", "status"})
RANDOM = {"rand_uniform", "rand_normal", "rand_bernoulli", "multinomial", "randperm"}
NOT_SET = {"create_tensor", "wrap_tensor", "empty", "create_quant_tensor"}
"""Operators that may leave memory as it is."""
FAST = [
    name for name, op in REGISTRY.items()
    if op.kernel is None and interface(name).form != "query" and name not in RANDOM | NOT_SET
]  # fmt: skip


def answer(adapter: Adapter, name: str, arguments: Any) -> list[Any]:
    status, *outputs = adapter.call(name, made(arguments))
    return [status, *(as_data(x) for x in outputs)]


def as_data(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return [as_data(v) for v in x]
    return read(x) if hasattr(x, "dtype") else repr(x)


@pytest.mark.parametrize("name", FAST)
def test_python_and_the_fast_path_agree(name: str) -> None:
    fast, adapter = FUNCTIONS[name], Adapter()
    slow = _with_overrides(REGISTRY[name], REGISTRY[name].function)
    found = cases(name, Wanted(GROUPS, quick=True))
    assert found
    for case in found:
        expected = answer(adapter, name, case.arguments)
        FUNCTIONS[name] = slow
        try:
            assert answer(adapter, name, case.arguments) == expected, case.id
        finally:
            FUNCTIONS[name] = fast
