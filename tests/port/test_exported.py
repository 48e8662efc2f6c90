"""Exported programs: what the writer makes of a graph, without torch; and with it, where it is."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from suanzi.front.cli import main
from suanzi.port import judge
from suanzi.port.readers.dumps import read_exported
from suanzi.recording.calls import Calls


class Tensor:
    """As much of a fake tensor as the writer looks at."""

    def __init__(self, dtype: str, ndim: int = 1) -> None:
        self.dtype, self.ndim = f"torch.{dtype}", ndim


class Node:
    """As much of a node of torch.fx as the writer looks at."""

    def __init__(self, op: str, target: Any, args: tuple[Any, ...], val: Any, **more: Any) -> None:
        self.op, self.target, self.args, self.kwargs = op, target, args, more.pop("kwargs", {})
        self.users = more.pop("users", {1: None})
        self.meta = {"val": val, **more}


def placeholder(dtype: str, ndim: int = 1) -> Node:
    return Node("placeholder", "x", (), Tensor(dtype, ndim))


def operator(name: str) -> Any:
    return SimpleNamespace(overloadpacket=SimpleNamespace(__name__=name))


def called(name: str, *args: Any, out: Any, **more: Any) -> Node:
    return Node("call_function", operator(name), args, out, **more)


def exported(monkeypatch: pytest.MonkeyPatch, *nodes: Node, **inner: Any) -> Calls:
    torch = ModuleType("torch")
    torch.Tensor, torch.__version__ = Tensor, "2.99"  # type: ignore[attr-defined]
    torch.__file__ = "/env/site-packages/torch/__init__.py"
    monkeypatch.setitem(sys.modules, "torch", torch)
    module = SimpleNamespace(graph=SimpleNamespace(nodes=nodes), **inner)
    return read_exported(SimpleNamespace(graph_module=module))


TRACE = """  File "/home/me/net.py", line 7, in forward
    y = self.fc(x) * s
  File "/env/site-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias)
"""


def test_a_graph_becomes_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    x, s = placeholder("bfloat16", 2), placeholder("float32", 0)
    mul = called("mul", x, s, out=Tensor("bfloat16", 2), stack_trace=TRACE)
    checked = called("_assert_tensor_metadata", mul, out=None, users={})
    chunk = called("chunk", mul, 2, out=(Tensor("bfloat16"), Tensor("bfloat16")))
    part = Node(
        "call_function", SimpleNamespace(__name__="getitem"), (chunk, 0), Tensor("bfloat16")
    )
    sub = called("sub", 1, part, out=Tensor("bfloat16"))
    add = called("add_", sub, 2.5, out=Tensor("bfloat16"), kwargs={"alpha": 2})
    cat = called("cat", [add, x], out=Tensor("bfloat16"))
    lost = called("mystery", x, out=None)
    calls = exported(monkeypatch, x, s, mul, checked, chunk, part, sub, add, cat, lost)
    assert [(c.operator, c.way) for c in calls.calls] == [
        ("mul", None), ("chunk", None), ("sub", None), ("add", "in-place method"), ("cat", None),
    ]  # fmt: skip
    assert (calls.version, calls.missed, calls.raised) == ("2.99", 1, None)
    first, _, third, fourth, last = calls.calls
    assert first.where is not None
    assert (first.where.file, first.where.line) == ("/home/me/net.py", 7)
    number, tensor = third.arguments
    assert (number.least, tensor.made_by) == (1, 1), "what is taken out of a tuple was made by it"
    assert fourth.arguments[1].greatest == 2.5
    assert [one.made_by for one in last.arguments[0]] == [3, None]
    (found,) = judge(calls, ["jax_x64"]).findings
    assert (found.code, found.place) == ("SZ005", "/home/me/net.py:7")
    assert [c.operator for c in found.followers] == ["chunk", "sub", "add", "cat"]


def test_graphs_inside_are_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    x, s = placeholder("float16"), placeholder("float32", 0)
    inner = SimpleNamespace(
        graph=SimpleNamespace(nodes=[called("mul", x, s, out=Tensor("float16"))])
    )
    reference = Node("get_attr", "true_graph_0", (), None)
    cond = called("cond", x, reference, out=(Tensor("float16"),))
    calls = exported(monkeypatch, x, reference, cond, true_graph_0=inner)
    assert [c.operator for c in calls.calls] == ["mul"]


def test_what_is_no_exported_program_is_refused_in_a_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["port", str(tmp_path / "no.pt2")]) == 2
    assert "does not exist" in capsys.readouterr().err
    empty = tmp_path / "empty.pt2"
    empty.write_bytes(b"")
    assert main(["port", str(empty), "--python", str(tmp_path / "none")]) == 2
    assert "cannot be run" in capsys.readouterr().err
    assert main(["port", str(empty)]) == 2
    said = capsys.readouterr().err
    assert "is not an exported program" in said or "torch is not installed" in said


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_a_program_that_torch_exports(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    class Net(torch.nn.Module):  # type: ignore[name-defined, misc]
        def forward(self, x: Any, s: Any) -> Any:
            return torch.expm1((x * s).double()), 1 - x

    given = torch.ones(2, 3, dtype=torch.bfloat16), torch.tensor(0.5)
    program = torch.export.export(Net(), given)
    torch.export.save(program, tmp_path / "net.pt2")
    for one in (program, program.run_decompositions(), tmp_path / "net.pt2"):
        report = judge(read_exported(one), ["cann"])
        # What is refused comes first, though the other call does.
        assert [f.code for f in report] == ["SZ004", "SZ005"]
        assert [f.call.operator for f in report] == ["expm1", "mul"]
        assert all(f.call.where and f.call.where.file == __file__ for f in report)
