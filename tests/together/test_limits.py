"""Every operator with little memory: an answer or ALLOC_FAILED; it neither dies nor hangs.

`SUANZI_ALL_LIMITS=1 pytest tests/together/test_limits.py` tries all operators at all rooms;
without, it tries those that call other libraries, and a sample of the others.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.memory_cases import calls
from helpers.model_memory_cases import model_calls
from helpers.sanitizers import needs_a_limit

PROGRAM = Path(__file__).parents[1] / "helpers" / "limited_call.py"
LAPACK = "lu cholesky qr svd eig solve lstsq inverse".split()
LIBRARIES = [*LAPACK, "matmul", "dot", "linear", "fft_c2c", "fft_r2c", "fft_c2r"]
EVERY = bool(os.environ.get("SUANZI_ALL_LIMITS"))
ROOMS = ["0.1", "1", "8", "40", "120", "300"]  # MiB
NAMES = sorted({**calls(3), **model_calls(3)})
SAMPLE = sorted({*LIBRARIES, *NAMES[::12]})


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is set and read as Linux has it")
@needs_a_limit
@pytest.mark.parametrize("temperature", ["cold", "warm", "full"])
@pytest.mark.parametrize("n", [20, 300])
def test_no_death_and_no_hang(temperature: str, n: int) -> None:
    names = NAMES if EVERY else LIBRARIES if n == 20 else SAMPLE
    rooms = ROOMS if EVERY else ROOMS[n == 20 :: 2]
    done = subprocess.run(
        [sys.executable, PROGRAM, temperature, str(n), ",".join(rooms), ",".join(names)],
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(lines) == len(names) * len(rooms)
    right = ["gives", "no memory"]
    assert [line for line in lines if line[2] not in right] == []
    if "300" in rooms and temperature == "warm":  # which is enough for each of them
        assert [line for line in lines if line[1] == "300" and line[2] != "gives"] == []
