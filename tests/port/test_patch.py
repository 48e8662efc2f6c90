"""Fixes written into the source: where, how, and only if running again proves them."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from suanzi.base.status import InvalidArgument
from suanzi.front.cli import main
from suanzi.port import judge
from suanzi.port.patch import Patch, make_patch
from suanzi.port.report import Report
from suanzi.recording.calls import Calls, from_records

HEAD = {"format": "suanzi-calls/1", "framework": "torch", "version": "0"}
F16, F32, Z32 = {"dtype": "float16"}, {"dtype": "float32"}, {"dtype": "float32", "zero_dim": True}


class Program:
    """A program of one file that is run by looking at its text."""

    def __init__(self, folder: Path, text: str) -> None:
        self.file = folder / "net.py"
        self.file.write_text(text, "utf-8")
        self.text = text
        self.calls: list[dict[str, Any]] = []
        self.printed = {"": b"7\n"}
        """What is printed where a text is in the program; the last that is."""
        self.changes: list[str] = []
        """Texts with which the results change."""
        self.cures: list[str] = []
        """Texts with which the findings are gone; by default any."""
        self.runs = 0

    def call(self, op: str, expression: str, *arguments: Any, result: str = "float16",
             **more: Any) -> Program:  # fmt: skip
        """Add a call that an expression of the program makes."""
        found = [
            node for node in ast.walk(ast.parse(self.text))
            if isinstance(node, ast.BinOp | ast.Call | ast.Compare | ast.AugAssign)
            and ast.get_source_segment(self.text, node) == expression
        ]  # fmt: skip
        span = [found[0].lineno, found[0].col_offset, found[0].end_lineno, found[0].end_col_offset]
        record = {
            "call": len(self.calls), "op": op, "arguments": arguments, "result": result,
            "where": [str(self.file), span[0]], "span": span,
        }  # fmt: skip
        self.calls.append({**record, **more})
        return self

    def recorded(self, text: str) -> Calls:
        is_same = text == self.text
        cured = any(part in text for part in self.cures) if self.cures else not is_same
        calls = [
            {**one, "arguments": [F16 if x else x for x in one["arguments"]]} if cured else one
            for one in self.calls
        ]
        first = ["1"] if is_same or not any(part in text for part in self.changes) else ["2"]
        hashes = {f"{one['where'][0]}:{one['where'][1]}": {"all": "".join(first), "first": first}
                  for one in self.calls}  # fmt: skip
        hashes["other.py:1"] = {"all": "9", "first": ["9"]}
        return from_records([HEAD, *calls, {"end": True, "raised": None, "hashes": hashes}])

    def run(self, texts: Mapping[str, str]) -> tuple[Calls, bytes]:
        self.runs += 1
        text = texts[str(self.file)]
        ast.parse(text)
        printed = [said for part, said in self.printed.items() if part in text][-1]
        return self.recorded(text), printed

    def patch(self, to: str = "jax") -> Patch:
        def judged(calls: Calls) -> Report:
            return judge(calls, [to])

        return make_patch(judged(self.recorded(self.text)), b"7\n", judged, self.run)


def lines(patch: Patch) -> list[str]:
    return [
        line[1:].strip() for line in patch.diff().splitlines()
        if line.startswith("+") and not line.startswith("+++")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "expression", "call", "fixed"),
    [
        ("y = x * s", "x * s", ("mul", F16, Z32), "y = x * s.to(x.dtype)"),
        ("y = s - x", "s - x", ("sub", Z32, F16), "y = s.to(x.dtype) - x"),
        ("y = (a + b) * x", "(a + b) * x", ("mul", Z32, F16), "y = (a + b).to(x.dtype) * x"),
        ("y = torch.mul(a + b, x)", "torch.mul(a + b, x)", ("mul", Z32, F16),
         "y = torch.mul((a + b).to(x.dtype), x)"),
        ("y = x.mul(a + b)", "x.mul(a + b)", ("mul", F16, Z32), "y = x.mul((a + b).to(x.dtype))"),
        ("y = x.exp() * s", "x.exp() * s", ("mul", F16, Z32),
         "y = x.exp() * s.to(torch.float16)"),
        ("y = é * self.s[0]", "é * self.s[0]", ("mul", F16, Z32),
         "y = é * self.s[0].to(é.dtype)"),
        ("y = torch.mul(x, s)", "torch.mul(x, s)", ("mul", F16, Z32),
         "y = torch.mul(x, s.to(x.dtype))"),
        ("y = x.mul(s)", "x.mul(s)", ("mul", F16, Z32), "y = x.mul(s.to(x.dtype))"),
        ("y = torch.where(c, x, s)", "torch.where(c, x, s)",
         ("where", {"dtype": "bool"}, F16, Z32), "y = torch.where(c, x, s.to(x.dtype))"),
        ("z.y[0] = f(x * s)  # scaled", "x * s", ("mul", F16, Z32),
         "z.y[0] = f(x * s.to(x.dtype))  # scaled"),
    ],
)  # fmt: skip
def test_an_operand_is_cast_where_it_stands(
    tmp_path: Path, line: str, expression: str, call: Any, fixed: str
) -> None:
    program = Program(tmp_path, f"import torch\n\n{line}\n").call(call[0], expression, *call[1:])
    patch = program.patch()
    assert lines(patch) == [fixed]
    assert (patch.left, program.runs) == ([], 1)
    assert program.file.read_text("utf-8") == program.text


def test_git_applies_the_patch_also_without_a_last_newline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "import torch\n\ny = (x *\n     s)"
    program = Program(tmp_path, text).call("mul", "x *\n     s", F16, Z32)
    (tmp_path / "out.diff").write_text(program.patch().diff(), "utf-8")
    subprocess.run(["git", "apply", "out.diff"], check=True, cwd=tmp_path)
    assert "s.to(x.dtype))" in program.file.read_text("utf-8")


def test_the_ends_of_lines_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = Program(tmp_path, "import torch\n\x0c\ny = x * s\n")
    program.call("mul", "x * s", F16, Z32)
    program.text = program.text.replace("\n", "\r\n")
    program.file.write_bytes(program.text.encode())
    (tmp_path / "out.diff").write_bytes(program.patch().diff().encode())
    subprocess.run(["git", "apply", "out.diff"], check=True, cwd=tmp_path)
    fixed = program.text.replace("x * s", "x * s.to(x.dtype)")
    assert program.file.read_bytes() == fixed.encode()


def test_what_changes_results_is_cast_back_instead(tmp_path: Path) -> None:
    program = Program(tmp_path, "import torch\ny = x * s\n").call("mul", "x * s", F16, Z32)
    program.changes = ["x * s.to(x.dtype)"]
    patch = program.patch()
    assert lines(patch) == ["y = (x.to(s.dtype) * s).to(x.dtype)"]
    program.changes = [".to("]
    patch = program.patch()
    assert patch.diff() == ""
    ((where, why),) = patch.left
    assert where.endswith("net.py:2")
    assert "with s.to(x.dtype) its results change" in why
    assert "not written, no fix was proven" in patch.summary("out.diff")


@pytest.mark.parametrize(
    ("plant", "why"),
    [
        ({"cures": ["never"]}, "the finding remains"),
        ({"printed": {"": b"7\n", ".to(": b"8\n"}}, "the program prints something else"),
    ],
)
def test_what_is_not_proven_is_left_out(tmp_path: Path, plant: Any, why: str) -> None:
    program = Program(tmp_path, "import torch\ny = x * s\n").call("mul", "x * s", F16, Z32)
    vars(program).update(plant)
    patch = program.patch()
    assert (patch.changes, patch.texts) == ([], {})
    assert why in patch.left[0][1]


@pytest.mark.parametrize(
    ("text", "expression", "more", "why"),
    [
        ("y = x * s", "x * s", {"span": None}, "before Python 3.11"),
        ("y = x * s", "x * s", {"span": [9, 0, 9, 1]}, "the expression that calls it"),
        ("y = x * s", "x * s", {"backward": True}, "it is in backward"),
        ("y = x * s", "x * s", {"where": ["/a/site-packages/b.py", 2]}, "a line of a library"),
        ("y = x * s", "x * s", {"where": ["cell", 2]}, "is no file of Python"),
        ("y = scaled(x, s)", "scaled(x, s)", {}, "it is called inside of scaled"),
        ("y = torch.mul(*xs)", "torch.mul(*xs)", {}, "arguments are not written in the line"),
        ("y = x() * s", "x() * s", {}, "does not import torch by its name"),
    ],
)
def test_what_cannot_be_written_is_named_with_its_reason(
    tmp_path: Path, text: str, expression: str, more: Any, why: str
) -> None:
    head = "import torch\n" if "x()" not in text else "from torch import nn\n"
    program = Program(tmp_path, head + text + "\n")
    patch = program.call("mul", expression, F16, Z32, **more).patch("cann")
    assert (patch.changes, program.runs) == ([], 0)
    assert why in patch.left[0][1]


def test_a_dtype_is_named_and_the_operand_of_a_sum_is_cast(tmp_path: Path) -> None:
    program = Program(tmp_path, "import torch\na = torch.full((2,), 7)\nb = u.sum()\n")
    program.cures = ["dtype=torch.int64"]
    program.call("full", "torch.full((2,), 7)", None, {"number": "int"}, result="int64")
    patch = program.patch("paddle")
    assert lines(patch) == ["a = torch.full((2,), 7, dtype=torch.int64)"]
    other = Program(tmp_path, "import torch\nb = u.sum()\n")
    other.call("sum", "u.sum()", {"dtype": "uint8"}, result="int64")
    assert lines(other.patch("paddle")) == ["b = u.to(torch.int64).sum()"]


def test_two_fixes_are_tried_alone_and_together(tmp_path: Path) -> None:
    program = Program(tmp_path, "import torch\ny = x * s\nz = y + t\n")
    program.cures = ["x * s.to(x.dtype)", "y + t.to(y.dtype)"]
    program.call("mul", "x * s", F16, Z32).call("add", "y + t", F16, Z32)
    assert lines(program.patch()) == ["y = x * s.to(x.dtype)", "z = y + t.to(y.dtype)"]
    assert program.runs == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("net.py --from paddle --patch out.diff", "--patch writes fixes of PyTorch programs"),
        ("{root}/examples/port/block.jsonl --patch out.diff", "--patch is for a program"),
    ],
)
def test_what_is_asked_for_is_checked(
    arguments: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Path(__file__).parents[2]
    assert main(["port", *arguments.format(root=root).split()]) == 2
    assert said in capsys.readouterr().err


def test_a_position_that_no_recorder_writes() -> None:
    record = {"call": 0, "op": "exp", "arguments": [F16], "result": "float16", "span": [1, 2]}
    with pytest.raises(InvalidArgument, match="span"):
        from_records([HEAD, record, {"end": True, "raised": None}])
