"""Fixes of a live PyTorch program, proven by running it again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from suanzi.front.cli import main

PYTHON = os.environ.get("SUANZI_PYTHON_TORCH")
FILES = {
    "net.py": """import torch
from parts import scaled

s = torch.full((1,), 0.3)[0]
x = torch.randn(64).half()
y = scaled(x, s)
half = torch.full((1,), 0.5)[0]
z = (x +
     1) * half
i = x.long() & (x > 0)
k = torch.full((3,), 7)
print(y.dtype, z.sum().item(), k.sum().item())
""",
    "parts.py": "def scaled(x, factor):\n    # é\n    return x * factor\n",
}


def test_each_fix_is_proven_and_git_applies_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    python = ["--python", PYTHON] if PYTHON else []
    status = main(["port", "net.py", "--to", "jax,paddle", "--patch", "out.diff", *python])
    out, err = capsys.readouterr()
    if status == 2 and "is not installed" in err:
        pytest.skip(err)
    if "before Python 3.11" in out:
        pytest.skip("the interpreter of PyTorch does not say where an expression is")
    assert "torch.float16" in err
    for name, text in FILES.items():
        assert (tmp_path / name).read_text("utf-8") == text
    subprocess.run(["git", "apply", "out.diff"], check=True, cwd=tmp_path)
    net = (tmp_path / "net.py").read_text("utf-8")
    # With 0.3 rounded to float16 first, PyTorch gives other results; with 0.5 it does not.
    assert "return (x.to(factor.dtype) * factor).to(x.dtype)" in (tmp_path / "parts.py").read_text()
    assert "z = (x +\n     1) * half.to(torch.float16)\n" in net
    assert "k = torch.full((3,), 7, dtype=torch.int64)" in net
    assert "i = x.long() & (x > 0).to(torch.int64)" in net
    again = main(["port", "net.py", "--to", "jax,paddle", *python])
    assert again == 0, capsys.readouterr().out
