"""The tests of this folder, run by the interpreter of PyTorch where this one has none."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import suanzi as sz

HERE = Path(__file__).parent


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is not None or "SUANZI_PYTHON_TORCH" not in os.environ,
    reason="SUANZI_PYTHON_TORCH names no interpreter, or PyTorch is in this one",
)
def test_in_the_interpreter_of_pytorch() -> None:
    paths = [str(HERE.parents[2] / "src"), str(HERE.parents[2]), *sys.path[1:]]
    done = subprocess.run(
        [os.environ["SUANZI_PYTHON_TORCH"], "-m", "pytest", "-q", "-n", "0",
         "-p", "no:cacheprovider",
         *map(str, sorted(HERE.glob("test_on_*.py")))],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is not None or "SUANZI_PYTHON_TORCH" not in os.environ,
    reason="SUANZI_PYTHON_TORCH names no interpreter, or PyTorch is in this one",
)
def test_kernels_in_the_interpreter_of_triton() -> None:
    paths = [str(HERE.parents[2] / "src"), str(HERE.parents[2]), *sys.path[1:]]
    done = subprocess.run(
        [os.environ["SUANZI_PYTHON_TORCH"], "-m", "pytest", "-q", "-n", "0",
         "-p", "no:cacheprovider", str(HERE / "test_on_kernels.py")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TRITON_INTERPRET": "1"},
        capture_output=True, text=True,
    )  # fmt: skip
    if "skipped" in done.stdout and " passed" not in done.stdout:
        pytest.skip("Triton is not installed there")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


def test_import_imports_no_pytorch() -> None:
    code = "import sys, suanzi as sz; sz.Device('cuda'); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="PyTorch is installed")
def test_without_pytorch_an_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    from suanzi.base import device

    entry = EntryPoint("cuda", "suanzi.runtimes.torch.provider:CUDA", device.ENTRY_POINTS)
    monkeypatch.setattr(device, "_announced", lambda: {"cuda": entry})
    with pytest.raises(sz.InvalidArgument, match=r"pip install 'suanzi\[torch\]'"):
        sz.zeros((2,), device="cuda")


def test_names_of_devices() -> None:
    assert str(sz.Device("torch:cuda:1")) == "cuda:1"
    assert sz.Device("torch:cpu") != sz.Device("cpu")
    assert sz.Device("torch:npu:2").type is sz.DeviceType.NPU
    assert sz.Device(sz.Device("cuda:3")) == sz.Device("cuda", 3)
    for wrong in ("torch", "torch:tpu", "cuda:x", "cuda:-1"):
        with pytest.raises(sz.InvalidArgument):
            sz.Device(wrong)
