"""A tensor without elements costs nothing, whatever its shape: none goes through its rows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import suanzi as sz

PROGRAM = Path(__file__).parents[1] / "helpers" / "nothing.py"
MANY = 2**40


def test_every_operator_ends() -> None:
    """All of them take seconds; one that goes through its rows, hours."""
    command = [sys.executable, str(PROGRAM), "0"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired as error:
        begun = (error.stdout or b"").decode().splitlines()
        pytest.fail(f"no end: {begun[-1:]}")
    lines = ran.stdout.splitlines()
    assert ran.returncode == 0, (lines[-1:], ran.stderr)
    assert [line for line in lines if line.startswith("WRONG")] == []
    assert len(lines) > 5000


def test_what_comes_out() -> None:
    factors, swaps = sz.lu(sz.empty((MANY, 0, 3)))
    assert (factors.shape, swaps.shape) == ((MANY, 0, 3), (MANY, 0))
    q, r = sz.qr(sz.empty((MANY, 0, 3), sz.complex64))
    assert q is not None
    assert (q.shape, r.shape, r.dtype) == ((MANY, 0, 0), (MANY, 0, 3), sz.complex64)
    x = sz.empty((MANY, 0))
    assert sz.bilinear_bwd_weight(x, x, x).shape == (0, 0, 0)
    assert sz.solve(sz.tensor([[2.0]]), sz.empty((MANY, 1, 0)), False).shape == (MANY, 1, 0)
    assert sz.empty((MANY, 3, 0))[:, [2, 0]].shape == (MANY, 2, 0)
    with pytest.raises(sz.OutOfRange):
        sz.empty((MANY, 3, 0))[:, [3, 0]]
    with pytest.raises(sz.AllocFailed, match="lists of shape"):
        x.tolist()
    assert sz.empty((0, MANY)).tolist() == []
    assert sz.empty((2, 0)).tolist() == [[], []]
