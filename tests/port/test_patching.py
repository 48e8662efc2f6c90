"""Paddle's and MindSpore's programs: recorded with small modules that stand for the frameworks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import suanzi as sz
from helpers.small_frameworks import frameworks, recorded
from suanzi.port import judge, run_program
from suanzi.port.operators import FRAMEWORKS, known, plain_name
from suanzi.port.report import targets, usual_targets
from suanzi.port.running import trace
from suanzi.recording.calls import Call, Taken
from suanzi.recording.recorders import recording

__all__ = ["frameworks"]  # a fixture


def shown(call: Call) -> tuple[Any, ...]:
    """The operator, its operands, how it writes and the line."""
    operands = [str(x.operand) for x in call.arguments if isinstance(x, Taken)]
    assert call.where is not None
    return call.operator, operands, str(call.result), call.way, call.where.line


def test_a_program_of_paddle(frameworks: Path) -> None:
    found = recorded(
        frameworks,
        "paddle",
        "import sys, paddle\n"
        "assert sys.argv[1:] == ['--n', '3']\n"
        "x, s = paddle.ones([2]), paddle.ones([], 'float64')\n"
        "for k in range(3):\n"
        "    y = x + k\n"
        "x += s\n"
        "y = paddle.add(x=y, y=s)\n"
        "h = paddle.ones([2], dtype='float16')\n"
        "h.add_(s)\n"
        "z = 1 + h < 2.5\n"
        "paddle.composite(x, s)\n"
        "paddle.mixed(x, h)\n"
        "n, m = paddle.numel(x), len(x)\n"
        "paddle.broken(x)\n",
    )
    assert [shown(call) for call in found.calls] == [
        ("ones", [], "float32", None, 3),
        ("ones", [], "float64", None, 3),
        ("add", ["float32", "a Python int"], "float32", None, 5),
        ("add", ["float32", "0-d float64"], "float64", "in-place", 6),
        ("add", ["float32", "0-d float64"], "float64", None, 7),
        ("ones", [], "float16", None, 8),
        ("add", ["float16", "0-d float64"], "float64", "in-place method", 9),
        ("radd", ["float64", "a Python int"], "float64", None, 10),
        ("lt", ["float64", "a Python float"], "bool", None, 10),
        ("multiply", ["float64", "0-d float64"], "float64", None, 11),
        ("exp", ["float64"], "float64", None, 11),
        ("mixed", ["float64", "float64"], "float16", None, 12),
    ]
    loop = found.calls[2]
    number = loop.arguments[1]
    assert isinstance(number, Taken)
    assert (loop.count, number.least, number.greatest) == (3, 0, 2)
    in_place = found.calls[3]
    assert in_place.arguments[0].made_by == 0  # type: ignore[union-attr]
    assert (found.framework, found.version) == ("paddle", "3.99")
    assert found.raised == "RuntimeError: no kernel"
    report = judge(found, ["torch"])
    assert report.to_dict()["unknown"] == {"mixed": 1}
    assert [(f.code, f.call.where and f.call.where.line) for f in report] == []
    assert "add (3)" in "\n".join(report.notes())  # Paddle's 0-d tensors do not widen a float


def test_a_program_of_mindspore(frameworks: Path) -> None:
    found = recorded(
        frameworks,
        "mindspore",
        "import os, mindspore\n"
        "from mindspore import mint, ops\n"
        "from mindspore.ops.primitive import Primitive, Special\n"
        "mindspore.set_context(mode=mindspore.GRAPH_MODE, device='CPU')\n"
        "mindspore.context.set_context(mode=mindspore.GRAPH_MODE)\n"
        "assert (mindspore.mode, mindspore.said[-1]) == (mindspore.PYNATIVE_MODE, 'CPU')\n"
        "assert os.environ['MS_JIT'] == '0'\n"
        "x, y = ops.ones((2,), 'float16'), mindspore.Parameter('float64')\n"
        "mint.add(x, y)\n"
        "Special('RealDiv')(x, y)\n"
        "Primitive('AddExt')(x, y)\n"
        "Primitive('Unheard')(x, y)\n"
        "x += y\n",
    )
    assert [shown(call) for call in found.calls] == [
        ("ones", [], "float16", None, 8),
        ("add", ["float16", "float64"], "float64", None, 9),
        ("real_div", ["float16", "float64"], "float64", None, 10),
        ("add", ["float16", "float64"], "float64", None, 11),
        ("unheard", ["float16", "float64"], "float64", None, 12),
        ("add", ["float16", "float64"], "float64", "in-place", 13),
    ]
    assert found.raised is None
    (finding,) = judge(found, ["torch"])
    assert finding.code == "SZ007"
    assert finding.verdict.text == "float16 from then on, where mindspore makes it float64"
    assert finding.verdict.fix is not None
    assert "x = x + y" in finding.verdict.fix.text


def test_a_block_of_this_process_leaves_the_framework_as_it_was(
    frameworks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(frameworks / "env"))
    for name in [n for n in sys.modules if n.partition(".")[0] in ("paddle", "mindspore")]:
        monkeypatch.delitem(sys.modules, name)
    import mindspore  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import paddle  # type: ignore[import-untyped, import-not-found, unused-ignore]

    before = dict(vars(paddle)), dict(vars(paddle.Tensor)), dict(vars(mindspore.Tensor))
    with trace("cann", framework="paddle") as report:
        paddle.ones([2]) + paddle.ones([], "float64")
    assert [f.verdict.question for f in report] == []
    assert report.calls is not None
    assert len(report.calls.calls) == 3
    with pytest.raises(ZeroDivisionError), trace("cann", framework="mindspore") as report:  # noqa: PT012
        assert mindspore.mode == mindspore.PYNATIVE_MODE
        raise ZeroDivisionError
    assert mindspore.mode == mindspore.GRAPH_MODE
    assert report.raised == "ZeroDivisionError: "
    assert (vars(paddle), vars(paddle.Tensor), vars(mindspore.Tensor)) == before
    for name in [n for n in sys.modules if n.partition(".")[0] in ("paddle", "mindspore")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_recorder_and_the_analysis_read_the_same_names(framework: str) -> None:
    names = recording.Names(framework)
    found = known(framework)
    assert names.known == {*found.promotes, *found.follows, *found.chosen}
    assert not found.follows & found.promotes.keys()
    assert not found.chosen & (found.promotes.keys() | found.follows)
    for name in "add add_ __add__ __iadd__ __radd__ __invert__ __ipow__ _to_copy copy_".split():
        assert recording.plain(name) == plain_name(name)


def test_targets_of_other_sources() -> None:
    assert [r.name for r in targets(["jax", "openvino"], "paddle")] == ["jax_x32", "openvino"]
    assert "mindspore" not in usual_targets("mindspore")
    with pytest.raises(sz.InvalidArgument, match="'tensorflow' cannot be recorded; use torch"):
        run_program("README.md", framework="tensorflow")
