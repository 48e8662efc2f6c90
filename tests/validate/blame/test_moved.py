"""Operators that move, scatter and combine elements: right ones are right, faults are named."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.validate.blame.test_planted import python_of_torch, run

from suanzi.front.cli import main


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


PRODUCTS = """
import torch
for dtype in (torch.float32, torch.float16, torch.float64):
    x = torch.full((1, 2), torch.finfo(dtype).max, dtype=dtype)
    x[0, 1] = 3
    by = torch.tensor([[4, 0.125, 5, 0.5]], dtype=dtype)
    x.scatter_reduce(1, torch.tensor([[0, 0, 1, 1]]), by, "prod")
"""


def test_products_that_overflow_on_the_way_are_right(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PRODUCTS)
    given = ["blame", str(program), "--python", python_of_torch(), "--ops", "scatter_reduce"]
    assert main([*given, "--overhead", "none", "--json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert (data["answer"], data["judged"]) == ("right", 3)
