"""Calls that others recorded: text logs."""

from __future__ import annotations

from pathlib import Path

import pytest

import suanzi as sz
from suanzi.cli import main
from suanzi.port import judge
from suanzi.port.readers.operator_logs import from_log

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
        ("SZ005", "cann", 7, 2),
        ("SZ005", "jax_x32", 7, 2),
        ("SZ002", "paddle", 11, 5),
        ("SZ002", "paddle", 15, 3),
    ]
    assert report.judged[0].unknown == {"nll_loss_forward": 1}
    assert report.judged[1].unwritten == {"in-place method": 1}
    assert report.summary().startswith("103 calls of torch, held against")


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
