"""suanzi port with the live PyTorch, in this interpreter or the one SUANZI_PYTHON_TORCH names."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections import Counter
from pathlib import Path

import pytest

import suanzi
from suanzi.port import judge, read_calls, run_program
from suanzi.promote.live import NotInstalled

ROOT = Path(__file__).parents[2]
PYTHON = os.environ.get("SUANZI_PYTHON_TORCH")


def recorded(program: Path) -> object:
    try:
        return run_program(str(program), python=PYTHON, stdout=subprocess.DEVNULL)
    except NotInstalled as reason:
        pytest.skip(str(reason))


def test_the_block_is_recorded_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    live = recorded(Path("examples/port/block.py"))
    for target in ("cann", "jax", "paddle"):
        now, then = judge(live, [target]), judge(read_calls("examples/port/block.jsonl"), [target])
        assert [f.to_dict()["text"] for f in now] == [f.to_dict()["text"] for f in then]
        assert [f.call.where for f in now] == [f.call.where for f in then]


def test_which_calls_are_of_a_forward_under_eval(tmp_path: Path) -> None:
    program = tmp_path / "net.py"
    program.write_text(
        "import torch\n"
        "class Net(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.frozen = torch.nn.ReLU().eval()\n"
        "    def forward(self, x):\n"
        "        return self.frozen(x).sin()\n"
        "net, x = Net(), torch.ones(3, requires_grad=True)\n"
        "for _ in range(3):\n"
        "    net(x).exp()\n"
        "with torch.no_grad():\n"
        "    net(x)\n"
        "try:\n"
        "    net.eval()('no tensor')\n"
        "except TypeError:\n"
        "    x.cos()\n"
        "net(x)\n"
        "torch.jit.trace(net, x)\n"
        "torch.export.export(net, (x,), strict=True)\n"
    )
    live = recorded(program)
    assert live.raised is None
    found = Counter()
    for call in live.calls:
        found[call.operator, call.forward] += call.count
    assert (found["sin", "train"], found["exp", ""], found["cos", ""]) == (3, 3, 1)
    assert found["relu", "train"] == 3, "a frozen part of a model in training is trained around"
    assert found["sin", "eval"] >= 2
    assert found["exp", "train"] == found["cos", "eval"] == 0


def test_what_a_program_did_before_it_failed(tmp_path: Path) -> None:
    program = tmp_path / "fails.py"
    program.write_text(
        "import torch\n"
        "x = torch.ones(4, dtype=torch.float16)\n"
        "for k in range(50):\n"
        "    y = x * torch.ones(()) + k\n"
        "x += torch.ones(())\n"
        "torch.add(x, 2**20, out=x)\n"
        "raise ValueError('no more')\n"
    )
    live = recorded(program)
    assert live.raised == "ValueError: no more"
    ways = {call.where.line: call.way for call in live.calls if call.operator == "add"}
    assert ways == {4: None, 5: "in-place", 6: "out"}
    loop = next(c for c in live.calls if c.operator == "add" and c.where.line == 4)
    assert (loop.count, loop.arguments[1].greatest) == (50, 49)
    found = judge(live, ["cann", "jax"])
    assert {(f.code, f.rules, f.call.where.line) for f in found} == {
        ("SZ005", "cann", 4), ("SZ005", "jax_x32", 4), ("SZ007", "jax_x32", 5),
        ("SZ002", "jax_x32", 6),
    }  # fmt: skip


def test_numbers_of_every_kind(tmp_path: Path) -> None:
    program = tmp_path / "kinds.py"
    program.write_text(
        "import numpy as np, torch\n"
        "x = torch.ones(2, dtype=torch.float16)\n"
        "a = x * np.float64(2.5)\n"
        "b = x.to(torch.complex64) * 2j\n"
        "c = x * float('nan') + float('inf') + True\n"
        "d = torch.arange(2) * 2**70 if False else torch.arange(2) * 2**40\n"
    )
    live = recorded(program)
    assert (live.raised, live.missed) == (None, 0)
    kinds = {c.where.line: c.arguments[1].operand.kind for c in live.calls if c.operator == "mul"}
    assert kinds == {3: "float", 4: "complex", 5: "float", 6: "int"}
    found = judge(live, ["cann", "jax"])
    assert [(f.code, f.rules, f.call.where.line) for f in found] == [("SZ006", "jax_x32", 6)]
    assert not found.judged[0].unexplained


def test_a_trace_that_checks_itself(tmp_path: Path) -> None:
    """Constants of a script are numbers by the time that a mode is given them."""
    program = tmp_path / "model.py"
    program.write_text(
        "import torch\ntorch.jit.trace(lambda x: x.exp() * 2.5 + 1, torch.ones(3))\nprint(1)\n"
    )
    found = recorded(program)
    assert {"exp", "mul", "add"} <= {c.operator for c in found.calls}
    assert found.raised is None


def test_a_number_that_a_tensor_is_added_to_is_written_by_nobody(tmp_path: Path) -> None:
    program = tmp_path / "model.py"
    program.write_text(
        "import torch\n"
        "x = torch.ones(3, dtype=torch.int32)\n"
        "k, m = 0.5, 2\n"
        "k += x\n"
        "m *= x\n"
        "x += 1\n"
    )
    ways = {c.where.line: c.way for c in recorded(program).calls if c.operator in ("add", "mul")}
    assert ways == {4: None, 5: None, 6: "in-place"}


def test_inside_of_what_is_not_known(tmp_path: Path) -> None:
    """multi_head_attention_forward is a composite; what it is made of is seen."""
    program = tmp_path / "attention.py"
    program.write_text(
        "import torch\n"
        "attend = torch.nn.MultiheadAttention(8, 2)\n"
        "x = torch.ones(3, 1, 8)\n"
        "attend(x, x, x)\n"
    )
    live = recorded(program)
    seen = {call.operator for call in live.calls if call.where.line == 4}
    assert {"bmm", "view"} & seen
    assert live.raised is None
    assert not judge(live, ["cann", "paddle", "jax"])


def test_trace_in_a_process_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / "traced.py"
    script.write_text(
        "import json, torch\n"
        "import suanzi as sz\n"
        "x, s = torch.ones(4, dtype=torch.bfloat16), torch.tensor(2.0)\n"
        "with sz.port.trace('cann') as report:\n"
        "    y = x * s\n"
        "try:\n"
        "    with sz.port.trace('cann') as failed:\n"
        "        y = x * s\n"
        "        raise KeyError('so')\n"
        "except KeyError:\n"
        "    pass\n"
        "print(json.dumps([report.to_dict(), failed.to_dict()]))\n"
    )
    # Where suanzi is installed, the tree has no core.
    environment = os.environ | {"PYTHONPATH": str(Path(suanzi.__file__).parents[1])}
    done = subprocess.run(
        [PYTHON or sys.executable, str(script)],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    if "No module named 'torch'" in done.stderr:
        pytest.skip("PyTorch is not installed")
    report, failed = json.loads(done.stdout)
    assert [(f["code"], f["line"]) for f in report["findings"]] == [("SZ005", 5)]
    assert [(f["code"], f["line"]) for f in failed["findings"]] == [("SZ005", 8)]
    assert failed["raised"] == "KeyError: 'so'"


def test_ctrl_c_keeps_what_was_found(tmp_path: Path) -> None:
    try:
        subprocess.run([PYTHON or sys.executable, "-c", "import torch"], check=True)
    except subprocess.CalledProcessError:
        pytest.skip("torch is not installed")
    program = tmp_path / "long.py"
    program.write_text(
        "import time, torch\n"
        "x = torch.ones(4, dtype=torch.float16) * torch.tensor(2.0)\n"
        f"open({str(tmp_path / 'begun')!r}, 'w').close()\n"
        "time.sleep(100)\n"
    )
    command = [sys.executable, "-m", "suanzi", "port", str(program), "--to", "cann"]
    command += ["--python", PYTHON] if PYTHON else []
    restored = "import signal, os, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    run = f"{restored}; from suanzi.cli import main; sys.exit(main({command[3:]!r}))"
    with subprocess.Popen(
        [sys.executable, "-c", run], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for _ in range(600):
            if (tmp_path / "begun").exists():
                break
            time.sleep(0.1)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "SZ005 cann: mul(float16, 0-d float32)" in out
    assert "KeyboardInterrupt" in out


def test_what_goes_round_in_a_loop_is_few_calls(tmp_path: Path) -> None:
    program = tmp_path / "loop.py"
    program.write_text(
        "import torch\n"
        "x, y = torch.ones(4, dtype=torch.float16), torch.tensor(1.0)\n"
        "for k in range(300):\n"
        "    x = x * y\n"
        "    x.add_(k)\n"
    )
    live = recorded(program)
    assert sum(call.count for call in live.calls if call.operator == "mul") == 300
    adds = [call for call in live.calls if call.operator == "add"]
    assert sum(call.count for call in adds) == 300
    assert max(call.arguments[1].greatest for call in adds) == 299
    assert len(live.calls) < 20
    assert {f.code for f in judge(live, ["cann"])} == {"SZ005"}


MIX = "    y = torch.ones(3).half() * torch.ones(())\n"
PROCESSES = {
    "workers of a DataLoader": (
        "from torch.utils.data import DataLoader\n"
        "class Data:\n"
        "    def __len__(self):\n"
        "        return 8\n"
        "    def __getitem__(self, i):\n"
        "        return torch.ones(2).half() * torch.ones(())\n"
        "for x in DataLoader(Data(), batch_size=4, num_workers=2):\n"
        "    pass\n",
        8,
    ),
    "a thread": (
        f"import threading\ndef work():\n{MIX}"
        "t = threading.Thread(target=work)\nt.start()\nt.join()\n",
        1,
    ),
    "spawn": (
        f"import torch.multiprocessing as mp\ndef work(rank):\n{MIX}"
        "if __name__ == '__main__':\n    mp.spawn(work, nprocs=2)\n",
        2,
    ),
    "a script": (
        "@torch.jit.script\ndef f(x, s):\n    return x * s\n"
        "for k in range(4):\n    f(torch.ones(3).half(), torch.ones(()))\n",
        4,
    ),
    "a compiled function": (
        "@torch.compile(fullgraph=True)\ndef f(x, s):\n    return x * s\n"
        "f(torch.ones(3).half(), torch.ones(()))\n",
        1,
    ),
}


@pytest.mark.parametrize("name", PROCESSES)
def test_nothing_goes_unseen(tmp_path: Path, name: str) -> None:
    program = tmp_path / "program.py"
    text, calls = PROCESSES[name]
    program.write_text("import torch\n" + text)
    live = recorded(program)
    assert live.raised is None
    (found,) = judge(live, ["jax"])
    assert (found.code, found.verdict.question, found.count) == (
        "SZ005", "mul(float16, 0-d float32)", calls,
    )  # fmt: skip


def test_what_follows(tmp_path: Path) -> None:
    program = tmp_path / "chain.py"
    program.write_text(
        "import torch\n"
        "from torch import nn\n"
        "class Block(nn.Module):\n"
        "    def __init__(self, k):\n"
        "        super().__init__()\n"
        "        self.lin = nn.Linear(4, 4).half()\n"
        "        self.s = torch.tensor(1.0, dtype=torch.float32 if k == 15 else torch.float16)\n"
        "    def forward(self, x):\n"
        "        return torch.relu(self.lin(x)) * self.s\n"
        "net = nn.Sequential(*[Block(k) for k in range(24)])\n"
        "torch.exp(net(torch.ones(2, 4).half()))\n"
    )
    (found,) = judge(recorded(program), ["jax"])
    assert sum(call.count for call in found.followers) == 25
    program.write_text(
        "import torch\n"
        "y = torch.ones(3).half() * torch.ones(())\n"
        "v, i = y.topk(2)\n"
        "w = v + 1\n"
        "u = y.max(-1).values * 2\n"
        "s = y.sort(-1)[0] - 1\n"
    )
    (found,) = judge(recorded(program), ["jax"])
    assert [c.operator for c in found.followers] == ["topk", "add", "max", "mul", "sort", "sub"]
    program.write_text(
        "import torch\n"
        "x, s = torch.ones(3).half().requires_grad_(), torch.ones(())\n"
        "g, = torch.autograd.grad((x * s).sum(), x)\n"
    )
    assert any(call.backward for call in recorded(program).calls)


def test_what_is_saved_has_no_marks(tmp_path: Path) -> None:
    program, saved = tmp_path / "saving.py", tmp_path / "saved.pt"
    program.write_text(
        "import copy, torch\n"
        "x = torch.ones(2) + 1\n"
        "y = torch.ones(2) + 1\n"
        "y.mine = [3]\n"
        f"torch.save({{'x': x, 'y': y}}, {str(saved)!r})\n"
        "assert copy.deepcopy(y).mine == [3]\n"
    )
    assert recorded(program).raised is None
    with zipfile.ZipFile(saved) as file:
        pickled = file.read("saved/data.pkl")
    assert b"mine" in pickled
    assert b"_suanzi" not in pickled


def test_all_pairs_of_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the recording; tests/port/test_tabulated.py has the pairs."""
    monkeypatch.chdir(ROOT)
    targets = ["mindspore", "paddle", "openvino", "jax"]
    now = judge(recorded(Path("examples/port/results.py")), targets)
    then = judge(read_calls("examples/port/results.jsonl"), targets)
    assert len(now.findings) == 22
    assert [(f.rules, f.verdict.text) for f in now] == [(f.rules, f.verdict.text) for f in then]


def test_it_stops_where_dtypes_must_be_equal(tmp_path: Path) -> None:
    program = tmp_path / "stops.py"
    program.write_text(
        "import torch\n"
        "from torch import nn\n"
        "lin, conv = nn.Linear(8, 8).half(), nn.Conv1d(8, 8, 1).half()\n"
        "x = torch.clamp(torch.randn(4, 8).half(), max=torch.tensor(3.5))\n"
        "y = lin(x)\n"
        "z = conv(x[..., None])\n"
    )
    (found,) = judge(recorded(program), ["mindspore"])
    assert [call.operator for call, _ in found.stopped_at] == ["linear", "conv1d"]
    assert any(line.startswith("stops at line 5, linear: float32 with") for line in found.lines())
