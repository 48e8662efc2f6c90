"""The judge's verdicts on kernels whose worth is known: none may be wrong."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import suanzi as sz

# It is no module of a package: tests are imported one by one.
_spec = importlib.util.spec_from_file_location("kernels", Path(__file__).with_name("kernels.py"))
assert _spec is not None
assert _spec.loader is not None
kernels = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(kernels)


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


@pytest.mark.parametrize(
    ("op", "kernel", "params"), kernels.RIGHT, ids=lambda x: getattr(x, "__name__", None)
)
def test_a_right_kernel_is_accepted(op: str, kernel: Callable[..., Any], params: Any) -> None:
    verdict = sz.judge(kernel, op, params=params)
    assert verdict, f"{verdict}"
    judged = [c for c in verdict.cases if c.outcome == "right"]
    assert len(judged) >= 12
    assert {c.id.split("/")[2] for c in judged} >= {"float32", "bfloat16"}


NARROW = {"softmax_summed_in_float16", "softmax_in_float32"}
"""Those that are wrong in dtypes of 16 bits only."""


@pytest.mark.parametrize(
    ("op", "kernel", "code", "params"), kernels.WRONG, ids=lambda x: getattr(x, "__name__", None)
)
def test_a_wrong_kernel_is_refused(
    op: str, kernel: Callable[..., Any], code: str, params: Any
) -> None:
    few = {} if kernel.__name__ in NARROW else {"dtypes": "float32"}
    verdict = sz.judge(kernel, op, params=params, **few)
    assert not verdict
    assert code in [f.code for f in verdict.findings], f"{verdict}"
    assert verdict.first_failure is not None
    assert verdict.script
