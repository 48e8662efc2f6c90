"""Where operands are rounded, and what autocast casts, asked of the live packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import suanzi as sz
from suanzi.port import autocast

TORCH = """
import json, torch
def computed(compiled):
    one = lambda x, s: (x + s, x - 0.1, x * s, x == s, x == 0.1)
    if compiled:
        one = torch.compile(one)
    s = torch.tensor(-0.1, dtype=torch.float64)
    sums = one(torch.tensor([0.1], dtype=torch.bfloat16), s)
    equal = one(torch.tensor([-0.1], dtype=torch.bfloat16), s)[3]
    ldexp = torch.compile(torch.ldexp) if compiled else torch.ldexp
    return [sums[0].item(), sums[1].item(), equal.item(), sums[4].item(), str(
        ldexp(torch.ones(2, dtype=torch.bool), torch.ones(2).half()).dtype)]
def names(key):
    found = {n[6:].split(".")[0].lstrip("_") for n in torch._C._dispatch_get_all_op_names()
             if n.startswith("aten::") and torch._C._dispatch_has_kernel_for_dispatch_key(n, key)}
    return sorted(found)
print(json.dumps([torch.__version__, computed(False), computed(True),
                  names("AutocastCPU"), names("AutocastCUDA")]))
"""
PADDLE = """
import json
from paddle.amp import amp_lists as lists
white, black = lists.white_list(), lists.black_list()
print(json.dumps([[sorted(x["float16"][level]) for x in (white, black)] for level in ("O1", "O2")]))
"""
MINDSPORE = """
import json
from mindspore.train import amp
found = [amp.AMP_AUTO_WHITE_LIST, amp.AMP_AUTO_BLACK_LIST, amp.AMP_WHITE_LIST, amp.AMP_BLACK_LIST]
print(json.dumps([sorted(x.__name__ for x in names) for names in found]))
"""


def asked(framework: str, program: str) -> list[object]:
    python = os.environ.get(f"SUANZI_PYTHON_{framework.upper()}", sys.executable)
    there = f"import importlib.util as u; raise SystemExit(u.find_spec({framework!r}) is None)"
    if subprocess.run([python, "-c", there], capture_output=True, check=False).returncode:
        pytest.skip(f"{framework} is not installed for {python}")
    run = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    found: list[object] = json.loads(run.stdout.splitlines()[-1])
    return found


def own_names(name: str, policy: str) -> list[str]:
    """Return the framework's own names of a list."""
    return sorted(op for op, found in autocast.read(name).own.items() if found == policy)


def test_torch() -> None:
    version, eager, compiled, cpu, cuda = asked("torch", TORCH)
    if not str(version).startswith("2.13"):
        pytest.skip(f"PyTorch is {version}, the lists are of 2.13")
    zero = sz.ZeroDim(sz.float64)
    for rules, found in (("torch", eager), ("inductor", compiled)):
        assert isinstance(found, list)
        one = sz.explain(sz.bfloat16, zero, rules=rules, op="add").rounded
        assert one is not None
        assert found[0] == float(one.example.before if one.when == "before" else one.example.after)
        one = sz.explain(sz.bfloat16, 0.1, rules=rules, op="sub").rounded
        assert one is not None
        assert (found[1] == 0) == (one.when == "before")
        one = sz.explain(sz.bfloat16, zero, rules=rules, op="==").rounded
        assert one is not None
        assert found[2] == (one.when == "before")
        assert found[3] is True
    assert isinstance(eager, list)
    assert isinstance(compiled, list)
    assert (eager[4], compiled[4]) == ("torch.float16", "torch.float32")  # pytorch#197091
    for name, registered in (("torch_cpu", cpu), ("torch_cuda", cuda)):
        assert isinstance(registered, list)
        listed = {op for op in autocast.read(name).policies if op != "*"}
        # Refused on CUDA, and made of others that are listed.
        assert set(registered) - listed <= {"binary_cross_entropy"}
        assert listed - set(registered) <= {"convolution", "cudnn_convolution"}


def test_paddle() -> None:
    for level, found in zip(("O1", "O2"), asked("paddle", PADDLE), strict=True):
        assert isinstance(found, list)
        white, black = found
        assert own_names(f"paddle_{level}", "float32") == black
        if level == "O1":
            assert own_names("paddle_O1", "lower") == white


def test_mindspore() -> None:
    white, black, white_o1, black_o2 = asked("mindspore", MINDSPORE)
    assert own_names("mindspore_auto", "lower") == white
    assert own_names("mindspore_auto", "float32") == black
    assert own_names("mindspore_O1", "lower") == white_o1
    assert own_names("mindspore_O2", "float32") == black_o2
