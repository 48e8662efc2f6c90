"""The device of tests/runtimes/torch: SUANZI_DEVICE, or PyTorch's CPU; and whether kernels run."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

DEVICE = os.environ.get("SUANZI_DEVICE", "torch:cpu")
"""With SUANZI_DEVICE=cuda SUANZI_TRITON=1 the tests run on a GPU, kernels compiled."""
KIND = DEVICE.removeprefix("torch:").partition(":")[0]
HAS_KERNELS = KIND == "cuda" or os.environ.get("TRITON_INTERPRET") == "1"
WHY_NOT = "TRITON_INTERPRET=1 runs kernels without a GPU, SUANZI_DEVICE=cuda on one"

KINDS = pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16"])
with_kernels = pytest.mark.skipif(not HAS_KERNELS, reason=WHY_NOT)
without_kernels = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None or HAS_KERNELS,
    reason="Triton is not installed, or the kernels of this process run",
)


def assert_passes_in_the_interpreter(file: str) -> None:
    """Run the tests of a file in a process in which Triton interprets the kernels."""
    given = {**os.environ, "TRITON_INTERPRET": "1"}
    run = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", file]
    done = subprocess.run(run, env=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
