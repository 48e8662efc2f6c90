"""Calls of a live PyTorch program made again, by suanzi's operators and in a live JAX."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from suanzi.front.cli import main

PYTHON = os.environ.get("SUANZI_PYTHON_TORCH")
JAX = os.environ.get("SUANZI_PYTHON_JAX")
PROGRAM = """
import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.inner, self.outer = nn.LayerNorm(8), nn.Linear(8, 16), nn.Linear(16, 8)
        self.register_buffer("scale", torch.full((2,), 0.3)[0])
    def forward(self, x):
        h = nn.functional.gelu(self.inner(self.norm(x)))
        h = h * self.scale
        return (self.outer(h) + x).softmax(-1)
net, x = Net().half(), torch.randn(4, 8).half()
net.scale = net.scale.float()
with torch.no_grad():
    y = net(x)
    y.add_(1)
    z = y.view(2, -1)[:, 1:].t() @ torch.ones(2, 3, dtype=torch.float16)
    w = torch.cat([z, z.flip(0)]).masked_fill(torch.ones(30, 3) > 2, -1.0)
"""


def replayed(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, object]:
    program = folder / "net.py"
    program.write_text(PROGRAM)
    python = ["--python", PYTHON] if PYTHON else []
    status = main(["port", str(program), "--to", "jax", "--json", *python, *more])
    out, err = capsys.readouterr()
    if (status == 2 and "is not installed" in err) or "cannot be loaded" in err:
        pytest.skip(err)
    (found,) = json.loads(out)["replay"]
    return found  # type: ignore[no-any-return]


def test_every_call_is_replayed_and_the_scale_departs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = replayed(tmp_path, capsys, "--replay")
    assert found["left"] == {}
    assert found["noise_ulp"] <= 4  # type: ignore[operator]
    first = found["first"]
    assert isinstance(first, dict)
    assert (first["line"], first["dtypes"]) == (12, "float32, was float16")
    carried = [one["line"] for one in found["lines"] if one["chained"]]  # type: ignore[attr-defined]
    assert carried
    assert min(carried) >= 12
    layers = {one["layer"] for one in found["lines"]}  # type: ignore[attr-defined]
    assert {"Net.norm", "Net.inner", "Net.outer"} <= layers


def test_little_room_keeps_the_first_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = replayed(tmp_path, capsys, "--replay", "--replay-bytes", "500")
    assert found["dropped"] > 10  # type: ignore[operator]


@pytest.mark.skipif(JAX is None, reason="SUANZI_PYTHON_JAX names no interpreter with JAX")
def test_the_calls_are_made_in_jax(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = replayed(tmp_path, capsys, "--python-to", str(JAX))
    assert str(found["how"]).startswith("by jax 0.")
    first = found["first"]
    assert isinstance(first, dict)
    assert (first["line"], first["dtypes"]) == (12, "float32, was float16")
    assert first["own"] <= 4
