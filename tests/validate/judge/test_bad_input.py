"""Kernels and calls that are wrong in themselves: a clear message, and nothing is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.base.status import InvalidArgument, StatusError
from suanzi.front.cli import main

KERNELS = """
import os, subprocess, sys, threading, time
import numpy as np

MARK = "MARKED"

def good(x):
    with np.errstate(all="ignore"):
        y = x.astype(np.float32)
        e = np.exp(y - y.max(-1, keepdims=True, initial=-np.inf))
        return (e / e.sum(-1, keepdims=True)).astype(x.dtype)

def prints(x):
    print("word " * 100_000)
    os.write(1, b'{"id": 1, "status": "SUCCESS", "outputs": []}\\n' * 100)
    return good(x)

def reads(x):
    assert sys.stdin.read() == ""
    return good(x)

def thread(x):
    threading.Thread(target=time.sleep, args=(500,)).start()
    return good(x)

def waiting():
    code = f"import time; time.sleep(500); {MARK!r}"
    return subprocess.Popen([sys.executable, "-c", code], start_new_session=True)

def child(x):
    waiting()
    return good(x)

def orphan(x):
    waiting()
    os.abort()

def exits(x):
    sys.exit(0)

def hangs(x):
    waiting()
    while True:
        time.sleep(1)

def two(x, y):
    return x

def none():
    return 1
"""


@pytest.fixture
def mark() -> str:
    return f"mark-{uuid.uuid4().hex}"


@pytest.fixture
def folder(tmp_path: Path, mark: str) -> Path:
    (tmp_path / "kernels.py").write_text(KERNELS.replace("MARKED", mark))
    (tmp_path / "ends.py").write_text("import os; os._exit(7)")
    (tmp_path / "raises.py").write_text("x = 1\n1 / 0\n")
    (tmp_path / "wrong.py").write_text("def f(x:\n")
    (tmp_path / "needs.py").write_text("import no_such_framework\n")
    return tmp_path


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "suanzi", "judge", *words]


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*words), cwd=folder, capture_output=True, text=True, timeout=300
    )  # fmt: skip


def marked(mark: str) -> list[int]:
    """Return the processes whose command has a mark; those that were killed need a moment."""
    for _ in range(50):
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    text = Path(f"/proc/{name}/cmdline").read_bytes()
                except OSError:
                    continue
                if mark.encode() in text:
                    found.append(int(name))
        if not found:
            return []
        time.sleep(0.1)
    return found


SMALL = ("--op", "softmax", "--dtype", "f32", "--shape", "2x5")


@pytest.mark.parametrize("name", ["prints", "reads", "thread"])
def test_what_a_kernel_does_besides_is_its_own_affair(folder: Path, name: str) -> None:
    found = run(folder, f"kernels.py::{name}", *SMALL)
    assert (found.returncode, found.stderr) == (0, ""), found.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")
@pytest.mark.parametrize(("name", "status"), [("child", 0), ("orphan", 1), ("exits", 1)])
def test_nothing_is_left_running(folder: Path, mark: str, name: str, status: int) -> None:
    found = run(folder, f"kernels.py::{name}", *SMALL)
    assert found.returncode == status, found.stdout + found.stderr
    assert ("JD002" in found.stdout) == bool(status)
    assert marked(mark) == []


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")
def test_an_interrupt_ends_everything(folder: Path, mark: str) -> None:
    process = subprocess.Popen(
        command("kernels.py::hangs", *SMALL), cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not any(mark in arguments(pid) for pid in running()) and time.monotonic() < until:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=60)
    assert (process.returncode, out, said) == (3, "", "suanzi: interrupted\n")
    assert marked(mark) == []


def running() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def arguments(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["kernels.py::two", *SMALL], "'y' has no default"),
        (["kernels.py::none", *SMALL], "cannot be called as nn:softmax(x, axis=-1)"),
        (["kernels.py::MARK", *SMALL], "of type str, not a function"),
        (["ends.py::f", *SMALL], "ended with exit status 7 before it was ready"),
        (["raises.py::f", *SMALL], "raises.py, line 2, fails when it is imported: ZeroDivision"),
        (["wrong.py::f", *SMALL], "wrong.py, line 1, fails when it is imported: SyntaxError"),
        (["needs.py::f", *SMALL], "No module named 'no_such_framework'. Install it there"),
        (["kernels.py::good", *SMALL, "--device", "cuda"], "numpy has no device 'cuda'"),
        (["kernels.py::good", *SMALL, "--framework", "nunpy"], "'nunpy' is not a framework"),
        (["kernels.py::good", *SMALL, "--python", "/no/such"], "judge: '/no/such' cannot be run"),
        (["kernels.py::good", *SMALL, "--timeout", "0"], "give seconds, more than 0"),
        (["kernels.py::good", *SMALL, "--script", "no/such/x.py"], "the folder of"),
        (["./libnothing.so", "--op", "add"], "judge: the library './libnothing.so'"),
        ([".::f", *SMALL], "is a folder"),
        (["kernels.py::good", "--op", "softmax", "--export", "ttk", "x"], "leave the kernel out"),
        (["--op", "softmax", "--export", "ttk", "kernels.py"], "cannot write to 'kernels.py'"),
    ],
)  # fmt: skip
def test_the_command_says_what_is_expected(
    folder: Path,
    words: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    status = main(["judge", *words])
    found = capsys.readouterr()
    assert said in found.err
    assert (status, found.out) == (2, "")


def good(x: Any) -> Any:
    return x


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"shapes": [(-3, 4)]}, r"\(-3, 4\) is not a shape"),
        ({"shapes": [()]}, "does not take the shapes"),
        ({"shapes": "3x4"}, "give a list of shapes"),
        ({"shapes": [(2.5,)]}, "is not a shape"),
        ({"shapes": [(1 << 40,)]}, "at most 134,217,728 can be judged"),
        ({"shapes": [{"y": (3,)}]}, "the operands of nn:softmax are x"),
        ({"op": "masked_select", "shapes": [(3,)]}, "the shapes of masked_select cannot be chosen"),
        ({"params": {"axes": 0}}, "has no parameter 'axes'; it has x, axis. Did you mean 'axis'"),
        ({"accumulate": "int8"}, "accumulate is 'int8'; it must be one of float16"),
        ({"dtypes": []}, "dtypes is empty"),
        ({"dtypes": "int32"}, "not a dtype of real"),
        ({"dtypes": 5}, "dtype"),
        ({"op": 5}, "give the name of an operator"),
        ({"framework": "nunpy"}, "'nunpy' is not a framework"),
        ({"device": "cuda"}, "numpy has no device 'cuda'"),
    ],
)  # fmt: skip
def test_sz_judge_says_what_is_expected(more: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        sz.judge(good, **{"op": "softmax", **more})
    if not {"framework", "device", "shapes"} & set(more):
        with pytest.raises(InvalidArgument, match=said):
            sz.judged(**{"op": "softmax", **more})


def test_a_framework_that_is_not_installed() -> None:
    for name in ("torch", "jax", "cupy", "paddle", "mindspore"):
        try:
            __import__(name)
        except ImportError:
            with pytest.raises(StatusError, match=f"{name} cannot be loaded"):
                sz.judge(good, "softmax", framework=name)
            return
    pytest.skip("every framework is installed")


def test_arithmetics_have_the_names_of_dtypes() -> None:
    with np.errstate(all="ignore"):
        verdict = sz.judge(good, "relu", accumulate="f16", dtypes="f32", shapes=[(2, 5)])
    assert verdict.accumulate == "float16"
