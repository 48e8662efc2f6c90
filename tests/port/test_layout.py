"""How findings are put together in the text of a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers.small_frameworks import frameworks, recorded
from suanzi.front.cli import main
from suanzi.port import judge, read_calls
from suanzi.port.layout import called_by

HALF, SCALE = {"dtype": "bfloat16"}, {"dtype": "float32", "zero_dim": True}
MUL = {"op": "mul", "arguments": [HALF, SCALE], "result": "bfloat16"}
__all__ = ["frameworks"]  # a fixture

LIBRARY = "/envs/a/lib/python3.12/site-packages/models/attention.py"


def written(path: Path, *calls: dict[str, Any]) -> Path:
    head = {"format": "suanzi-calls/1", "framework": "torch", "version": "2"}
    numbered = [{"call": i, **one} for i, one in enumerate(calls)]
    path.write_text(
        "".join(json.dumps(one) + "\n" for one in [head, *numbered, {"end": True, "raised": None}])
    )
    return path


def lines_of(path: Path, *to: str, on: tuple[str, ...] = ()) -> list[str]:
    return str(judge(read_calls(path), to, on=on)).splitlines()


def test_refusals_come_first_and_libraries_last(tmp_path: Path) -> None:
    add = {"op": "add", "arguments": [{"dtype": "float16"}, {"dtype": "bfloat16"}],
           "result": "float32"}  # fmt: skip
    file = written(
        tmp_path / "calls.jsonl",
        {**MUL, "where": [LIBRARY, 3, "f", "models.attention"]},
        {**MUL, "where": ["/work/train.py", 9, "f", "train"]},
        {**add, "where": ["/work/train.py", 30, "f", "train"]},
    )
    heads = [line for line in lines_of(file, "jax", "mindspore") if ".py:" in line]
    own = heads.index("/work/train.py:9")
    assert own < heads.index("models/attention.py:3")
    refused = [x.code for x in judge(read_calls(file), ["jax", "mindspore"])]
    assert refused == sorted(refused, key=lambda code: code not in ("SZ002", "SZ004"))


def test_targets_with_the_same_finding_are_joined(tmp_path: Path) -> None:
    file = written(tmp_path / "calls.jsonl", {**MUL, "where": ["/work/train.py", 9, "f", "train"]})
    text = lines_of(file, "jax", "jax_x64", "cann")
    assert [line for line in text if "SZ005" in line] == [
        "  SZ005 jax_x32, jax: mul(bfloat16, 0-d float32)",
        "  SZ005 cann: mul(bfloat16, 0-d float32)",
    ]


def test_a_line_that_many_layers_run_is_one_finding(tmp_path: Path) -> None:
    where = [LIBRARY, 3, "f", "models.attention"]
    callers = [(7, 0), (7, 1), (9, 0), (9, 2)]
    file = written(
        tmp_path / "calls.jsonl",
        *({**MUL, "where": where, "by": ["/work/train.py", line], "layer": f"Net.layers.{layer}"}
          for line, layer in callers),
    )  # fmt: skip
    lines = lines_of(file, "jax")
    assert [line for line in lines if "SZ005" in line] == [
        "  SZ005 jax_x32: mul(bfloat16, 0-d float32), 4 calls"
    ]
    assert "  called by /work/train.py:7 and 1 more, in Net.layers.0 and 2 more layers" in lines
    (alone,) = judge(read_calls(written(tmp_path / "one.jsonl", {**MUL, "where": where})), ["jax"])
    assert called_by(alone) == ""


def test_a_fact_of_many_findings_is_said_once(tmp_path: Path) -> None:
    def add(line: int) -> dict[str, Any]:
        return {"op": "add", "arguments": [HALF, HALF], "result": "bfloat16",
                "where": ["/work/net.py", line, "f", "net"]}  # fmt: skip

    few = written(tmp_path / "few.jsonl", *map(add, range(1, 4)))
    assert sum("SZ004" in line for line in lines_of(few, "torch_npu", on=("910",))) == 3
    many = written(tmp_path / "many.jsonl", *map(add, range(1, 21)))
    text = lines_of(many, "torch_npu", on=("910",))
    assert text[2:4] == [
        "SZ004 torch_npu: no bfloat16 on 910: 20 calls of 1 operator (add)",
        "      /work/net.py:1, 2, 3, 4, 5, 6, 7, 8, ...",
    ]
    assert len(judge(read_calls(many), ["torch_npu"], on=["910"])) == 20


def test_the_whole_statement_is_shown(tmp_path: Path) -> None:
    program = tmp_path / "net.py"
    program.write_text("if x:\n    y = mul(\n        x,\n        scale,\n    )\n")
    file = written(tmp_path / "calls.jsonl", {**MUL, "where": [str(program), 3, "f", "net"]})
    assert any(line.endswith("net.py:3  y = mul( x, scale, )") for line in lines_of(file, "jax"))
    program.write_text("y = mul(\n")  # no Python any more
    other = written(tmp_path / "calls.jsonl", {**MUL, "where": [str(program), 1, "f", "net"]})
    assert any("net.py:1" in line for line in lines_of(other, "jax"))


def test_what_was_not_checked_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = {"op": "warp", "arguments": [HALF, SCALE], "result": "bfloat16"}
    file = written(tmp_path / "calls.jsonl", odd, {**odd, "op": "weft", "arguments": [HALF]})
    main(["port", str(file), "--to", "torch_npu,paddle"])
    short = capsys.readouterr().out
    assert "not checked: 2 calls of unknown operators or results; dtypes of operators of" in short
    main(["port", str(file), "--to", "torch_npu,paddle", "--explain-unjudged"])
    long = capsys.readouterr().out
    assert "not checked, unknown operators with several dtypes: warp (1)" in long
    assert long.count("not checked") > 2


PACKAGE = """
import paddle

class Layer:
    def __init__(self, **inner):
        self.__dict__.update(inner)

    def named_sublayers(self):
        for name, one in vars(self).items():
            yield name, one
            for rest, deeper in one.named_sublayers():
                yield name + "." + rest, deeper

    def forward(self, x, y):
        for one in vars(self).values():
            return one.forward(x, y)
        return paddle.add(x, y)
"""


def test_the_line_that_called_a_library_and_its_layer(frameworks: Path) -> None:
    library = frameworks / "site-packages"
    library.mkdir()
    (library / "nets.py").write_text(PACKAGE)
    program = (
        f"import sys\nsys.path.insert(0, {str(library)!r})\nimport nets, paddle\n"
        "model = nets.Layer(block=nets.Layer(attention=nets.Layer()))\n"
        "y = model.forward(paddle.ones([2]), paddle.ones([2], 'float64'))\n"
    )
    calls = recorded(frameworks, "paddle", program)
    (where,) = [one.where for one in calls.calls if one.operator == "add"]
    assert where is not None
    assert where.file.endswith("nets.py")
    assert where.by is not None
    assert where.by[1] == 5
    assert where.layer == "Layer.block.attention"
    (made, _) = [one.where for one in calls.calls if one.operator == "ones"]
    assert made is not None
    assert (made.by, made.layer) == (None, "")


def test_an_object_that_refuses_attributes_is_no_layer(frameworks: Path) -> None:
    library = frameworks / "site-packages"
    library.mkdir()
    odd = "class Odd:\n    def __getattr__(self, name):\n        raise RuntimeError(name)\n\n"
    odd += "    def add(self, x, y):\n        return paddle.add(x, y)\n"
    (library / "odd.py").write_text(f"import paddle\n\n{odd}")
    program = f"import sys\nsys.path.insert(0, {str(library)!r})\nimport odd, paddle\n"
    program += "odd.Odd().add(paddle.ones([2]), paddle.ones([2], 'float64'))\n"
    calls = recorded(frameworks, "paddle", program)
    assert calls.missed == 0
    (where,) = [one.where for one in calls.calls if one.operator == "add"]
    assert where is not None
    assert where.by is not None
