"""Model operators of one dtype: rule sets, which only promote, do not change a bit of it."""

from __future__ import annotations

from typing import Any

import pytest

import suanzi as sz
from helpers.every_operator import REGISTRY, function
from helpers.moves import raw
from helpers.valid_calls import valid
from suanzi import _core

OURS = [name for name in REGISTRY if name.startswith("nn:")]


def answer(name: str, dtype: sz.DType) -> list[Any]:
    given = valid(name)
    for key, x in given.items():
        if isinstance(x, sz.Tensor) and x.dtype.kind == "float":
            given[key] = _core.cast(x, dtype, False)
    found = function(name)(**given)
    several = found if isinstance(found, tuple) else (found,)
    return [(x.dtype, x.shape, raw(x).tobytes()) for x in several]


@pytest.mark.parametrize("name", OURS)
def test_rule_sets_do_not_change_what_is_computed(name: str) -> None:
    """Nor do they where an operator computes in float64 on the way, which one of them lacks."""
    for dtype in (sz.bfloat16, sz.float32):
        expected = answer(name, dtype)
        for rules in sz.rule_sets():
            with sz.promotion(rules):
                assert answer(name, dtype) == expected, rules
