"""Operators that move, scatter and combine elements: right ones are right, faults are named."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.blaming.test_planted import run


@cache
def found(script: str) -> Any:
    return run(script)


def check(script: str, least: int) -> None:
    """Check what a script says of each operator with PyTorch's kernel, and with a fault."""
    cases = found(script)
    assert len(cases) >= least
    for name, case in cases.items():
        operator = case["operator"]
        for dtype, said in case["right"].items():
            assert said is None or said[:3] == [[], True, {}], (name, dtype, said)
            # 16-bit kernels may round once more on the way, which is no mistake.
            assert said is None or dtype != "torch.float32" or not said[3], (name, dtype, said)
        assert any(case["right"].values()), name
        assert case["wrong"][0] == [operator], name


def test_operators_that_move_elements() -> None:
    check("moved.py", 40)


def test_smaller_layers_losses_and_distances() -> None:
    check("layered.py", 30)
