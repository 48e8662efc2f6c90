"""Triton kernels in its interpreter, with PyTorch on a CPU; SUANZI_PYTHON_TRITON may name a Python.

Its interpreter cuts bfloat16 off where a GPU rounds, so that float32 and float16 are judged.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from suanzi.conformance.running.process import Backend, Subject
from suanzi.validate.judge import Verdict
from suanzi.validate.judge.engine import judge_with

FILE = Path(__file__).with_name("triton_kernels.py")
ROWS = [(3, 7), (2, 33), (2, 70)]
LOSS = [(5, 7), (3, 40)]
HEADS = [
    {"q": (1, 2, 9, 8), "k": (1, 2, 17, 8), "v": (1, 2, 17, 8)},
    {"q": (2, 1, 20, 5), "k": (2, 1, 33, 5), "v": (2, 1, 33, 5)},
]
PAIRS = [(4, 7), (3, 70)]


@cache
def python() -> str:
    found = os.environ.get("SUANZI_PYTHON_TRITON", sys.executable)
    if subprocess.run([found, "-c", "import triton, torch"], capture_output=True).returncode:
        pytest.skip("Triton is not installed here; SUANZI_PYTHON_TRITON may name a Python with it")
    return found


def judged(kernel: str, op: str, shapes: Any) -> Verdict:
    given = {"file": str(FILE), "function": kernel, "framework": "torch"}
    with Subject(Backend(kernel, "kernel_adapter:Adapter", python(), given), 120) as asked:
        return judge_with(asked, kernel, op, dtypes="float32,float16", shapes=shapes)


@pytest.mark.parametrize(
    ("kernel", "op", "shapes"),
    [
        ("softmax", "softmax", ROWS),
        ("softmax_online", "softmax", ROWS),
        ("layer_norm", "layer_norm", ROWS),
        ("rms_norm", "rms_norm", ROWS),
        ("silu", "silu", ROWS),
        ("add", "add", PAIRS),
        ("linear", "linear", ROWS),
        ("attention", "scaled_dot_product_attention", HEADS),
        ("cross_entropy", "cross_entropy", LOSS),
    ],
)
def test_a_right_kernel_of_triton_is_accepted(kernel: str, op: str, shapes: Any) -> None:
    verdict = judged(kernel, op, shapes)
    assert verdict, f"{verdict}"
    assert sum(c.outcome == "right" for c in verdict.cases) >= 6


@pytest.mark.parametrize(
    ("kernel", "op", "shapes", "code"),
    [
        ("softmax_padded_with_zeros", "softmax", ROWS, "JD404"),
        ("softmax_without_maximum", "softmax", ROWS, "JD301"),
        ("softmax_without_the_last_block", "softmax", ROWS, "JD202"),
        ("layer_norm_with_padding_in_the_variance", "layer_norm", ROWS, "JD404"),
        ("rms_norm_with_epsilon_outside", "rms_norm", ROWS, "JD404"),
        ("gelu_by_sigmoid", "gelu", ROWS, "JD404"),
        ("silu_with_a_grid_rounded_down", "silu", ROWS, "JD404"),
        ("add_of_flat_memory", "add", None, "JD404"),
        ("linear_summed_in_float16", "linear", [(9, 33), (9, 70)], "JD401"),
        ("linear_without_a_mask", "linear", ROWS, "JD404"),
        ("attention_that_does_not_rescale", "scaled_dot_product_attention", HEADS, "JD404"),
        ("cross_entropy_without_the_maximum", "cross_entropy", LOSS, "JD404"),
        ("cross_entropy_divided_by_all_rows", "cross_entropy", LOSS, "JD404"),
    ],
)
def test_a_wrong_kernel_of_triton_is_refused(kernel: str, op: str, shapes: Any, code: str) -> None:
    verdict = judged(kernel, op, shapes)
    assert not verdict
    assert verdict.failures
    assert code in {f.code for f in verdict.findings}, f"{verdict}"
