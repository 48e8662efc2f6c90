"""Programs of JAX, Paddle and MindSpore, each where it is installed, with a fault and without.

A framework is in this interpreter, or in that which SUANZI_PYTHON_JAX and so on name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

import jsonschema
import pytest
from tests.validate.blame.test_planted import command_of

from suanzi.front.agents.schemas import schema

FAULTS = {"jax": ("rsqrt", "rsqrt("), "paddle": ("gelu", "F.gelu("), "mindspore": ("sqrt", "sqrt(")}
SEEN = {
    "jax": {"dot_general", "tanh", "rsqrt", "reduce_sum", "transpose", "cumsum", "add_any"},
    "paddle": {"linear", "gelu", "layer_norm", "matmul", "softmax", "rsub", "exp", "mean"},
    "mindspore": {"matmul", "tanh", "truediv", "iadd", "rsub", "sqrt", "sum"},
}


@cache
def found(framework: str) -> Any:
    python = os.environ.get(f"SUANZI_PYTHON_{framework.upper()}", sys.executable)
    if subprocess.run([python, "-c", f"import {framework}"], capture_output=True).returncode:
        pytest.skip(f"{framework} is not installed; SUANZI_PYTHON_{framework.upper()} may name it")
    command = command_of("frameworks.py", framework, python=python)
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("framework", FAULTS)
def test_right_calls_are_right_and_bits_stay(framework: str) -> None:
    same, report, _ = found(framework)
    assert same
    assert report["answer"] == "right", report["text"]
    assert set(report["judged"]) >= SEEN[framework]
    assert report["not_judged"] == {}
    assert len(report["notes"]) == 1
    jsonschema.validate(report["data"], schema("blame"))


@pytest.mark.parametrize("framework", FAULTS)
def test_a_planted_fault_is_named(framework: str) -> None:
    operator, text = FAULTS[framework]
    _, _, wrong = found(framework)
    findings = [one for one in wrong["data"]["findings"] if one["kind"] == "wrong"]
    assert [one["operator"] for one in findings] == [operator]
    with open(findings[0]["file"], encoding="utf-8") as file:
        assert text in file.read().splitlines()[findings[0]["line"] - 1]
