"""suanzi port with the live Paddle and MindSpore, here or where SUANZI_PYTHON_PADDLE names."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from suanzi.port import Calls, judge, run_program
from suanzi.promote.live import NotInstalled

PADDLE = """
import paddle
from paddle.nn import functional as F
layer = paddle.nn.Linear(4, 4)
x, s = paddle.ones([4, 4]), paddle.to_tensor(0.5, dtype="float64")
y = F.relu(layer(x) * s)
y += paddle.ones([4], dtype="float64")
z = paddle.ones([2], dtype="int64") + 0.5
y.mean().backward()
raise ValueError("no more")
"""
MINDSPORE = """
import mindspore as ms
from mindspore import Tensor, mint, nn, ops
ms.set_context(mode=ms.GRAPH_MODE)
x, s = Tensor([[1.0, 2.0]], ms.float32), Tensor(0.5, ms.float64)
y = ops.relu(nn.Dense(2, 2)(x) * s)
y += mint.ones((2,), dtype=ms.float64)
z = Tensor([1, 2], ms.int64) + 0.5
@ms.jit
def joined(a, b):
    return a + b
joined(Tensor([1.0], ms.float16), Tensor([1.0], ms.float64))
raise ValueError("no more")
"""


def recorded(folder: Path, framework: str, text: str) -> Calls:
    program = folder / "program.py"
    program.write_text(text)
    python = os.environ.get(f"SUANZI_PYTHON_{framework.upper()}")
    try:
        return run_program(
            str(program), framework=framework, python=python, stdout=subprocess.DEVNULL
        )
    except NotInstalled as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize(
    ("framework", "text", "lines"),
    [("paddle", PADDLE, (6, 7, 8)), ("mindspore", MINDSPORE, (6, 7, 8))],
)
def test_what_the_framework_computes(
    tmp_path: Path, framework: str, text: str, lines: tuple[int, int, int]
) -> None:
    found = recorded(tmp_path, framework, text)
    assert found.raised == "ValueError: no more"
    assert found.missed == 0
    product, symbol, number = (
        next(c for c in found.calls if c.where and c.where.line == line and c.operator in names)
        for line, names in zip(lines, (("mul",), ("add", "iadd"), ("add",)), strict=True)
    )
    assert [str(x.operand) for x in product.arguments] == ["float32", "0-d float64"]  # type: ignore[union-attr]
    assert str(product.result) == "float32"
    assert (symbol.way, str(symbol.result)) == ("in-place", "float64")
    assert number.arguments[1].operand.kind == "float"  # type: ignore[union-attr]
    report = judge(found, ["cann", "torch"])
    assert {(f.code, f.rules, f.call.where and f.call.where.line) for f in report} == {
        ("SZ005", "cann", lines[0]), ("SZ007", "torch", lines[1]), ("SZ007", "cann", lines[1]),
    }  # fmt: skip
    assert report.judged[0].unexplained == {}
