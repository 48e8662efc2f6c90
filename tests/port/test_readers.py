"""Calls that others recorded: text logs, dumps of msprobe."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import suanzi as sz
from suanzi.front.cli import main
from suanzi.port import judge
from suanzi.port.readers.dumps import read_msprobe
from suanzi.port.readers.logs import from_log

LOG = """\
Operator: aten._softmax.default
cnt: 12, ((T([64, 12, 128, 128], f16), -1, False), {})
Operator: aten._to_copy.default
cnt: 1, ((T([64, 1, 1, 128], f32),), {'dtype': f16, 'device': "cuda", 'layout': torch.strided})
Operator: aten.add.Tensor
cnt: 73, ((T([64, 128], f16), T([64, 128], f16, stride=(1, 64))), {})
cnt: 2, ((T([64, 128], f16), T([], f32)), {})
cnt: 1, ((T([4], i64), 3), {'alpha': 2})
Operator: aten.mul.Tensor
cnt: 1, ((T([64, 1, 1, 128], f16), -65504.0), {})
cnt: 5, ((T([8], i64), T([8], f16)), {})
Operator: aten.add_.Tensor
cnt: 1, ((T([2], f16), T([], f32)), {})
Operator: aten.cat.default
cnt: 3, (([T([2], f16), T([2], f32)],), {})
Operator: aten.where.self
cnt: 1, ((T([2], b8), T([2], f16), T([], f16)), {})
Operator: aten.index.Tensor
cnt: 1, ((T([8, 2], f16), [None, T([3], i64)]), {})
Operator: aten.masked_fill.Scalar
cnt: 1, ((T([8], f16), T([8], b8), -inf), {})
Operator: aten.nll_loss_forward.default
cnt: 1, ((T([8192, 305], f16), T([8192], i64), None, 1, -100), {})
"""


def test_a_log_is_judged() -> None:
    report = judge(from_log(LOG, "log.txt"), ["cann", "paddle", "jax"])
    assert [(f.code, f.rules, f.call.where and f.call.where.line, f.count) for f in report] == [
        ("SZ002", "paddle", 11, 5),
        ("SZ002", "paddle", 15, 3),
        ("SZ005", "cann", 7, 2),
        ("SZ005", "jax_x32", 7, 2),
    ]
    assert report.judged[0].unknown == {"nll_loss_forward": 1}
    assert report.judged[1].unwritten == {"in-place method": 1}
    assert report.summary().startswith("103 calls of torch, compared with")


@pytest.mark.parametrize(
    "text",
    [
        "nothing of that kind",
        "cnt: 1, ((T([2], f16),), {})",
        "Operator: aten.add.Tensor\ncnt: 1, ((T([2], f16), {})",
        "Operator: aten.add.Tensor\ncnt: 1, (T([2], f16),)",
        "Operator: aten.add.Tensor\ncnt: 1, ((T(2, f16),), {})",
        "Operator: aten.add.Tensor\ncnt: 1, (__import__('os'),)",
        "Operator: aten.add.Tensor\ncnt: 1, (" + "(" * 5000 + ")",
    ],
)
def test_what_is_no_log_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(sz.InvalidArgument, match="line [12] is not one of an operator log"):
        from_log(text)


def test_the_command_reads_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text(LOG)
    assert main(["port", str(log), "--to", "cann"]) == 1
    assert "log.txt:7  cnt: 2, ((T([64, 128], f16), T([], f32)), {})" in capsys.readouterr().out
    assert main(["port", str(tmp_path / "no.txt")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def tensor(name: str, *shape: int) -> dict[str, Any]:
    return {"type": "torch.Tensor", "dtype": f"torch.{name}", "shape": list(shape), "Max": 1.0}


def dumped(*arguments: Any, out: Any, **named: Any) -> dict[str, Any]:
    return {"input_args": list(arguments), "input_kwargs": named, "output": [out]}


DUMP = {
    "Tensor.__mul__.0.forward": dumped(
        tensor("bfloat16", 2, 3), tensor("float32"), out=tensor("bfloat16", 2, 3)
    ),
    "Tensor.__mul__.0.backward": {"input": [tensor("bfloat16", 2)], "output": [None]},
    "Torch.add.0.forward": dumped(
        tensor("int64", 2), {"type": "float", "value": 0.5}, out=tensor("float32", 2)
    ),
    "Torch.cat.0.forward": dumped(
        [tensor("float16", 2), tensor("float32", 2)], {"type": "int", "value": 0},
        out=tensor("float32", 4),
    ),
    "Tensor.__iadd__.0.forward": dumped(
        tensor("float16", 2), tensor("float32"), out=tensor("float16", 2)
    ),
    "Functional.frobnicate.0.forward": dumped(
        tensor("float16", 2), tensor("int64", 2), out=tensor("float16", 2)
    ),
    "Module.layer.Linear.forward.0": dumped(tensor("float16", 2), out=tensor("float16", 2)),
}  # fmt: skip
OLD = {"Tensor.__mul__.0.forward": [
    "File /x/site-packages/torch/nn/modules/module.py, line 15, in _call, \\n return f()",
    "File /home/me/model.py, line 7, in forward, \\n y = x * s",
]}  # fmt: skip
NEW = {"0": [["Tensor.__mul__.0.forward", "Torch.cat.0.forward"], OLD["Tensor.__mul__.0.forward"]]}


@pytest.mark.parametrize("stack", [OLD, NEW, None])
def test_a_dump_of_msprobe_is_judged(tmp_path: Path, stack: Any) -> None:
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"task": "statistics", "level": "mix", "data": DUMP}))
    if stack is not None:
        (tmp_path / "stack.json").write_text(json.dumps(stack))
    report = judge(read_msprobe(path), ["cann", "paddle", "jax"])
    assert sorted((f.code, f.rules, f.call.operator) for f in report) == [
        ("SZ002", "paddle", "cat"), ("SZ005", "cann", "mul"), ("SZ005", "jax_x32", "mul"),
        ("SZ007", "jax_x32", "iadd"),
    ]  # fmt: skip
    places = {f.place for f in report if f.call.operator == "mul"}
    assert places == ({"?"} if stack is None else {"/home/me/model.py:7"})
    assert report.judged[0].unknown == {"frobnicate": 1}


def test_a_dump_that_msprobe_wrote() -> None:
    """Written by mindstudio-probe 26.2.0 with PyTorch 2.13 on a CPU: seven lines and a gradient."""
    found = read_msprobe(Path(__file__).parents[1] / "data" / "msprobe" / "dump.json")
    shown = [(c.operator, str(c.result), c.way, c.where and c.where.line) for c in found.calls]
    assert shown == [
        ("linear", "float32", None, 8), ("relu", "float32", None, 8),
        ("mul", "float16", None, 9), ("mul", "int64", None, 10), ("add", "float16", None, 11),
        ("softmax", "float16", None, 12), ("iadd", "float16", "in-place", 13),
        ("sum", "float32", None, 14),
    ]  # fmt: skip
    scale = found.calls[2].arguments[1]
    assert str(scale.operand) == "0-d float32"
    assert (scale.least, scale.greatest) == (70000.0, 70000.0)
    report = judge(found, ["cann", "paddle"])
    assert [(f.code, f.rules, f.place) for f in report] == [
        ("SZ002", "paddle", "/work/prog.py:11"), ("SZ005", "cann", "/work/prog.py:9"),
    ]  # fmt: skip


def test_what_a_dump_has_beside_calls_of_pytorch(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    module = {"Module.0.Linear.forward.0": DUMP["Module.layer.Linear.forward.0"]}
    path.write_text(json.dumps({"level": "L0", "framework": "pytorch", "data": module}))
    with pytest.raises(sz.InvalidArgument, match="none of the forward calls of a program"):
        read_msprobe(path)
    path.write_text(json.dumps({"framework": "mindspore", "data": DUMP}))
    with pytest.raises(sz.InvalidArgument, match="a dump of 'mindspore'"):
        read_msprobe(path)
    path.write_text(json.dumps({"framework": None, "data": {"Torch.add.0.backward": {}}}))
    with pytest.raises(sz.InvalidArgument, match="none of the forward calls of a program"):
        read_msprobe(path)
    foreign = {"NPU.npu_rotary_mul.0.forward": DUMP["Functional.frobnicate.0.forward"]}
    path.write_text(json.dumps({"data": foreign}))
    assert judge(read_msprobe(path), ["cann"]).judged[0].unknown == {"NPU.npu_rotary_mul": 1}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"data": 3}', '{"data": {"Torch.add.0.forward": 1}}']
)
def test_what_is_no_dump_is_refused_in_a_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str
) -> None:
    path = tmp_path / "dump.json"
    path.write_text(text)
    assert main(["port", str(path)]) == 2
    assert "is not a dump of msprobe" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("least", "greatest", "said"),
    [
        (-1.0, 1.0, "the extremes of this program are kept"),
        (-1.0, 70000.0, "70000.0 of this program becomes inf"),
        (-2049.0, 1.0, "-2049.0 of this program becomes -2048"),
        (None, None, ""),
        (-1.0, float("inf"), ""),
        ("-1", "1", ""),
    ],
)
def test_the_extremes_of_a_dump_say_what_this_program_loses(
    tmp_path: Path, least: Any, greatest: Any, said: str
) -> None:
    chip = tmp_path / "chip"
    chip.write_text("name chip\nlike torch\ncell f32 bf16 -> f16\n")
    wide = {**tensor("bfloat16", 2), "Min": least, "Max": greatest}
    one = dumped(wide, {**tensor("float32", 2), "Max": None}, out=tensor("float32", 2))
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"data": {"Torch.add.0.forward": one}}))
    (found,) = judge(read_msprobe(path), [str(chip)])
    assert found.code == "SZ003"
    assert found.verdict.text.endswith(said)
    assert ("this program" in found.verdict.text) is bool(said)


def test_integers_of_a_dump_that_jax_makes_smaller(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    for greatest, codes in ((3_000_000_000, ["SZ006"]), (7, [])):
        wide = {**tensor("int64", 2), "Min": 0, "Max": greatest}
        one = dumped(wide, wide, out=tensor("int64", 2))
        path.write_text(json.dumps({"data": {"Torch.add.0.forward": one}}))
        report = judge(read_msprobe(path), ["jax", "cann"])
        assert [f.code for f in report] == codes


CONFIGS = """paddle.add(Tensor([2, 3],"float32"), Tensor([],"float64"), )
paddle.Tensor.__mul__(Tensor([4],"int64"), 2.5, )
paddle.concat(list[Tensor([2],"float16"),Tensor([1],"float16"),], axis=0, )

paddle.maximum(x=Tensor([2],"float32"), y=Tensor([2],"float64"), )
paddle.cast(Tensor([2],"float32"), Dtype(float16), )
paddle.frobnicate(Tensor([2],"float16"), Tensor([2],"int64"), )
paddle.concat(tuple(Tensor([2],"float32"),Tensor([1],"float32"),), axis=-1, )
paddle.odd(Tensor([2],"float32") oops, )
"""


def test_a_log_of_paddle(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "api_config.txt"
    path.write_text(CONFIGS)
    assert main(["port", str(path), "--to", "cann,torch", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["from"], found["calls"]) == ("paddle", 7)
    assert [(f["code"], f["rules"], f["line"], f["operator"]) for f in found["findings"]] == [
        ("SZ005", "cann", 1, "add")
    ]
    assert found["unknown"] == {"frobnicate": 1}
    assert main(["port", str(path), "--to", "torch"]) == 0
    assert "1 call could not be recorded" in capsys.readouterr().out
    path.write_text(f'paddle.add(Tensor([2],"float16"), {"-" * 1500}1, )\n')
    assert main(["port", str(path), "--to", "torch"]) == 2, "nothing was seen"
    assert "1 call could not be recorded" in capsys.readouterr().out
    path.write_text(CONFIGS + "torch.add(x, y)\n")
    assert main(["port", str(path)]) == 2
    assert "line 10 is not a call of Paddle" in capsys.readouterr().err
