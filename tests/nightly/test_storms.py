"""A minute of the fuzzer for each surface and kind of file; `SUANZI_SECONDS` is shorter."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "tools" / "fuzz.py"
SECONDS = os.environ.get("SUANZI_SECONDS", "60")
NEEDS = {"cluster": "dask", "torch:cpu": "torch", "mcp": "mcp"}
SURFACES = ["core", "nn", "array-api", "cluster", "torch:cpu", "c"]
FILES = ["npy,npz,numpy,safetensors,sz", "calls,log,msprobe,run,kept", "report,compare,evidence",
         "mcp"]  # fmt: skip


def storm(*words: str) -> None:
    for word in words:
        if word in NEEDS and importlib.util.find_spec(NEEDS[word]) is None:
            pytest.skip(f"{NEEDS[word]} is not installed")
    done = subprocess.run(
        [sys.executable, PROGRAM, "--quiet", "--seconds", SECONDS, *words],
        capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )  # fmt: skip
    print(done.stdout)  # how many calls there were, with `pytest -s`
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 calls" not in done.stdout


@pytest.mark.parametrize("surface", SURFACES)
def test_calls(surface: str) -> None:
    if surface == "c" and not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("there is no C compiler")
    storm("--surface", surface)


@pytest.mark.parametrize("surface", ["core", "nn", "array-api"])
def test_many_calls(surface: str) -> None:
    storm("--storm", "--surface", surface)


@pytest.mark.parametrize("kinds", FILES)
def test_files(kinds: str) -> None:
    storm("--hostile", kinds)
