"""Gradients that a framework derives from a kernel, `backward=True`.

The frameworks are in this interpreter, or where SUANZI_PYTHON_TORCH and SUANZI_PYTHON_JAX name.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.base.status import InvalidArgument
from suanzi.conformance.running.process import Backend, Subject
from suanzi.validate.judge import Verdict
from suanzi.validate.judge.arguments import gradients_of, operator_key
from suanzi.validate.judge.engine import judge_with

HERE = Path(__file__).parent


@cache
def python(framework: str) -> str:
    found = os.environ.get(f"SUANZI_PYTHON_{framework.upper()}", sys.executable)
    if subprocess.run([found, "-c", f"import {framework}"], capture_output=True).returncode:
        pytest.skip(f"{framework} is not installed here; SUANZI_PYTHON_{framework.upper()} may")
    return found


def judged(framework: str, kernel: str, op: str = "softmax", **options: Any) -> Verdict:
    given = {
        "file": str(HERE / f"gradients_{framework}.py"),
        "function": kernel,
        "framework": framework,
        "gradients": gradients_of(operator_key(op)),
    }
    backend = Backend(kernel, "kernel_adapter:Adapter", python(framework), given)
    options = {"dtypes": "float32", "shapes": [(3, 40), (2, 129)], "backward": True, **options}
    with Subject(backend, 60) as asked:
        return judge_with(asked, kernel, op, **options)


@pytest.mark.parametrize(
    ("framework", "kernel", "op"),
    [
        ("torch", "softmax", "softmax"),
        ("torch", "by_hand", "softmax"),
        ("torch", "linear", "linear"),
        ("jax", "softmax", "softmax"),
    ],
)
def test_a_right_gradient_is_accepted(framework: str, kernel: str, op: str) -> None:
    verdict = judged(framework, kernel, op)
    assert verdict, f"{verdict}"
    judged_ops = {c.id.partition("/")[0] for c in verdict.cases if c.outcome == "right"}
    assert judged_ops == {f"nn:{op}", f"nn:{op}_bwd"}
    assert "and its gradient" in str(verdict)


@pytest.mark.parametrize(
    ("framework", "kernel", "op", "code", "words"),
    [
        ("torch", "without_the_sum", "softmax", "JD404", ""),
        ("torch", "of_the_mean", "softmax", "JD404", ""),
        ("torch", "of_another_dtype", "softmax", "JD401", "behaves like"),
        ("torch", "detached", "softmax", "JD110", "does not depend on its inputs"),
        ("torch", "half_detached", "softmax", "JD404", ""),
        ("torch", "linear_of_a_frozen_weight", "linear", "JD110", "does not depend on weight"),
        ("jax", "by_hand", "softmax", "JD404", ""),
        ("jax", "detached", "softmax", "JD201", "every element is 0"),
    ],
)
def test_a_wrong_gradient_is_refused(
    framework: str, kernel: str, op: str, code: str, words: str
) -> None:
    verdict = judged(framework, kernel, op)
    assert not verdict
    wrong = [c for c in verdict.cases if c.outcome == "wrong"]
    assert all("_bwd/" in c.id for c in wrong), "the forward kernel is right"
    found = {f.code: f.words for f in verdict.findings}
    assert code in found, f"{verdict}"
    assert words in found[code]
    assert "out_grad" in verdict.script


def test_a_kernel_without_gradients_is_named() -> None:
    with pytest.raises(InvalidArgument, match=r"of torch or jax.*of numpy.*softmax_bwd"):
        sz.judge(np.exp, "softmax", framework="numpy", backward=True)
    with pytest.raises(InvalidArgument, match="is a gradient itself; name the operator, softmax"):
        sz.judge(np.exp, "softmax_bwd", framework="numpy", backward=True)


def test_a_registered_operator_has_a_gradient() -> None:
    def squared(x: Any) -> Any:
        return x * x

    def squared_bwd(out_grad: Any, x: Any) -> Any:
        return 2 * out_grad * x

    sz.judge.register("squared", truth=squared, inputs=[{"x": (3, 5)}], backward=squared_bwd)
    assert gradients_of("own:squared") == ["x"]
    assert sz.judge(lambda g, x: 2 * g * x, "squared_bwd", dtypes="float32")
    assert not sz.judge(lambda g, x: g * x, "squared_bwd", dtypes="float32")
