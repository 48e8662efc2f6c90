"""What is measured of a live PyTorch program, and that it computes the same while it is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from suanzi.port import Calls, judge, run_program
from suanzi.promote.live import NotInstalled

PYTHON = os.environ.get("SUANZI_PYTHON_TORCH")
PROGRAM = """
import torch
torch.manual_seed(3)
x = torch.tensor([2**33]) + 1
h = torch.full((4,), 300.0, dtype=torch.float16)
y = h * 150.0
z = y * 2
w = torch.tensor([1e-9, 1e-5, 1.0, 2.0, 0.0]).half()
mask = torch.full((4,), torch.finfo(torch.float16).min, dtype=torch.float16) + h
for k in range(5):
    n = torch.tensor([k, -k]) * 2
big = torch.randn(2000, 1000, requires_grad=True)
big.t().exp().sum().backward()
traced = torch.jit.trace(lambda a: a * 2 + 1, (torch.ones(3),), check_trace=False)
mapped = torch.vmap(lambda a: a * 2)(torch.ones(3, 2))
from torch.fx.experimental.proxy_tensor import make_fx
fx = make_fx(lambda a: a * 2 + 1)(torch.ones(3))
torch.save(big.detach() * 1, "saved.pt")
print(torch.randn(3).tolist(), big.grad.sum().item(), len(list(traced.graph.nodes())))
print(len(fx.graph.nodes), mapped.tolist(), b"_suanzi" in open("saved.pt", "rb").read())
"""


def recorded(folder: Path, values: str) -> tuple[Calls, str]:
    program, out = folder / "program.py", folder / f"{values}.txt"
    program.write_text(PROGRAM)
    before = os.getcwd()
    os.chdir(folder)
    try:
        with out.open("w") as file:
            calls = run_program(str(program), python=PYTHON, stdout=file, values=values)
    except NotInstalled as reason:
        pytest.skip(str(reason))
    finally:
        os.chdir(before)
    return calls, out.read_text()


def test_what_is_measured_changes_nothing(tmp_path: Path) -> None:
    sampled, shown = recorded(tmp_path, "sampled")
    assert (sampled.raised, sampled.missed) == (None, 0)
    plain = subprocess.run(
        [PYTHON or "python", str(tmp_path / "program.py")],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert shown == plain.stdout
    steps = next(c for c in sampled.calls if c.where and c.where.line == 11 and c.operator == "mul")
    assert steps.seen is not None
    assert (steps.seen.least, steps.seen.greatest, steps.count) == (-8, 8, 5)
    exp = next(c for c in sampled.calls if c.operator == "exp").arguments[0].seen  # type: ignore[union-attr]
    assert exp is not None
    assert -7 < exp.least < -3 < 3 < exp.greatest < 7
    report = judge(sampled, ["jax"])
    assert [(f.code, f.call.where.line) for f in report if f.call.where] == [("SZ006", 4)]
    assert [(one.where.line, one.text) for one in report.close()] == [
        (7, "overflows to inf"),
        (6, "largest value seen 44992: 1.5 times below float16's largest"),
        (8, "of the nonzero values seen, 25 % become 0 and 25 % subnormal"),
    ]


def test_nothing_is_measured_where_that_is_asked_for(tmp_path: Path) -> None:
    calls, _ = recorded(tmp_path, "none")
    assert all(call.seen is None for call in calls.calls)
    assert not judge(calls, ["jax"])
