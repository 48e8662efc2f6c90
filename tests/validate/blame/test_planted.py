"""Faults in PyTorch's operators, and programs that are hard to watch, with the live PyTorch.

PyTorch is in this interpreter, or in that which SUANZI_PYTHON_TORCH names.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import suanzi as sz
from suanzi import _core
from suanzi.front.agents.schemas import schema
from suanzi.front.cli import main
from suanzi.tensors import safetensors
from suanzi.validate.blame.report import read

HERE = Path(__file__).parent
SOURCE = HERE.parents[2] / "src"
RUN = """
import runpy, sys
source, packages, core, file, *sys.argv[1:] = sys.argv[1:]
sys.path[:0] = [source, file.rpartition("/")[0]]
sys.path.append(packages)
sys.path.insert(0, source + "/suanzi/blaming")
import child
sys.meta_path.append(child.Core(core))
del sys.path[0], sys.modules["child"]
runpy.run_path(file, run_name="__main__")
"""


@cache
def python_of_torch() -> str:
    found = os.environ.get("SUANZI_PYTHON_TORCH", sys.executable)
    if subprocess.run([found, "-c", "import torch"], capture_output=True).returncode:
        pytest.skip("torch is not installed here; SUANZI_PYTHON_TORCH may name where it is")
    return found


def command_of(file: str, *arguments: str, python: str | None = None) -> list[str]:
    packages = sysconfig.get_paths()["purelib"]
    return [
        python or python_of_torch(),
        "-c",
        RUN,
        str(SOURCE),
        packages,
        str(_core.__file__),
        str(HERE / file),
        *arguments,
    ]


def run(file: str, *arguments: str) -> Any:
    """Return what a script of this folder prints as JSON."""
    command = command_of(file, *arguments)
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@cache
def planted() -> Any:
    return run("planted.py")


def faults() -> list[tuple[str, str, str]]:
    """Return the names of faults, their operators and parts of their lines, from the script."""
    import ast

    tree = ast.parse((HERE / "planted.py").read_text())
    table = next(n.value for n in tree.body if isinstance(n, ast.AnnAssign)
                 and getattr(n.target, "id", "") == "FAULTS")  # fmt: skip
    assert isinstance(table, ast.Dict)
    found = []
    for key, value in zip(table.keys, table.values, strict=True):
        assert isinstance(key, ast.Constant)
        assert isinstance(value, ast.Tuple)
        _, operator, line = (ast.literal_eval(one) for one in value.elts[:3])
        found.append((str(key.value), operator, line))
    return found


def test_there_are_faults_enough() -> None:
    assert len(faults()) >= 30


@pytest.mark.parametrize(("name", "operator", "line"), faults(), ids=[f[0] for f in faults()])
def test_a_planted_fault_is_named_first(name: str, operator: str, line: str) -> None:
    found = planted()["faults"][name]
    first = found["findings"][0]
    operator = operator.removesuffix("_")
    assert (first["operator"], first["kind"]) == (operator, "wrong"), found["text"]
    lines = (HERE / "models.py").read_text().splitlines()
    sites = [one for one in found["findings"] if one["operator"] == operator]
    named = [lines[one["line"] - 1] for one in sites if one["file"].endswith("models.py")]
    assert any(line in text for text in named), named
    top = found["text"].splitlines()[:3]
    assert any(text.startswith(f"  {operator}  ") and f":{first['line']}" in text for text in top)


@pytest.mark.parametrize("name", [fault[0] for fault in faults()])
def test_nothing_else_is_blamed(name: str) -> None:
    found = planted()["faults"][name]["findings"]
    wrong = {one["operator"] for one in found if one["kind"] == "wrong"}
    assert wrong == {found[0]["operator"]}


@pytest.mark.parametrize("model", ["transformer", "resnet", "unet"])
def test_right_operators_are_right_and_bits_stay(model: str) -> None:
    found = planted()["plain"][model]
    assert (found["answer"], found["same"]) == ("right", True), found["text"]
    assert found["data"]["no_truth"] == {}
    assert found["data"]["not_judged"] == {}
    assert found["data"]["notes"] == {}
    jsonschema.validate(found["data"], schema("blame"))
    again = read(found["data"])
    assert str(again).splitlines()[:-1] == found["text"].splitlines()[:-1]


_HARD: list[Any] = []


def hard(folder: Path) -> Any:
    """Return what robust.py prints, which is run once."""
    if not _HARD:
        _HARD.append(run("robust.py", str(folder / "bad-call.safetensors")))
    return _HARD[0]


def test_programs_that_are_hard_to_watch(tmp_path: Path) -> None:
    found = hard(tmp_path)
    assert found["raises"][:2] == ["right", True]
    assert "mat1 and mat2" in found["raises"][2]
    assert found["raises"][3]
    assert found["forks"] == [0, True, ["forked processes are not judged"]]
    assert {"add", "exp"} <= set(found["compiles"][0])
    assert found["compiles"][1] == ["compiled functions ran uncompiled, to be seen"]
    assert "exp" in found["threads"]
    assert found["subclasses"] == [True, ["exp"]]
    right, why = found["kinds"]
    assert right
    kinds = ("sparse_coo", "quantised", "nested", "meta", "complex numbers", "empty tensors")
    assert [kind for kind in kinds if not any(one.startswith(kind) for one in why)] == []
    answer, judged, notes, unjudged = found["writes"]
    assert (answer, notes, unjudged) == ("right", {}, {})
    assert {"mul", "add", "fill", "clamp", "copy", "masked_fill"} <= set(judged)
    assert found["wrong_in_place"][:2] == ["wrong", "mul"]
    assert "[3, 5] is 5" in found["wrong_in_place"][2]
    assert found["born"] == ["right", [["div", "born", "NaN"]]]
    assert found["differs"] == ["wrong", "differs", "right"]
    assert found["chosen"] == [["addmm"], 2, True, ["exp"]]
    assert found["saves"] == [
        "wrong",
        "bad-call-0.safetensors",
        "right",
        1,
        "wrong",
        *[["right", "wrong"]] * 4,
    ]
    assert found["limits"] == [50, True, 1, ["copies that need more memory than allowed"]]
    assert found["workers"] == [True, ["mul"], ["forked processes are not judged"]]
    assert found["hooks"] == ["right", ["addmm", "sinh", "tanh", "tanh_backward"]]
    lists = ("_fused_adamw", "_foreach_addcdiv")
    assert found["optimizers"] == [[True, "right", {}, name] for name in lists]
    assert found["shared_memory"] == ["right", ["addmm", "mul"]]
    assert found["conversions"] == [
        "float16 and float32 give float32",
        "int64 becomes float16, which does not have all of its values",
    ]
    assert found["stored_before_bias"] == [["inaccurate"], ["wrong"]]
    assert found["scripts"] == ["right", ["exp", "mul"]]
    gradients = [["wrong", f"result {i}"] for i in range(3)]
    assert found["shared_heads"] == [["right", {}], *gradients]
    nothing, *faults = found["lowest"]
    assert nothing == ["right", [], ""]
    assert faults == [["wrong", [name], name] for *_, name in faults]
    assert set(map(str, found["gradients"].values())) == {"['right', {}, {}]"}


def test_two_processes_that_compute_together(tmp_path: Path) -> None:
    commands = [command_of("two.py", str(tmp_path / "gloo"), str(rank)) for rank in range(2)]
    both = [subprocess.Popen(c, stdout=subprocess.PIPE, text=True) for c in commands]
    for process in both:
        right, answer, judged, listed = json.loads(process.communicate(timeout=300)[0])
        assert (right, answer) == (True, "right")
        assert {"exp", "mul", "sqrt"} <= set(judged)
        assert any("allreduce" in name for name in listed)


def test_two_runs_are_compared(tmp_path: Path) -> None:
    found = hard(tmp_path)["compared"]
    same, here, longer, other, there, dropped, texts, data = found
    assert same == ["the same", None, [None, None], [], {}, {}]
    assert here == ["explained", "gelu", ["wrong", "right"], ["Sequential.1"], {}, {}]
    assert longer[4] == {}
    assert longer[5].keys() == {"relu", "threshold_backward"}
    assert other[0] == "other programs"
    assert there == ["explained", "gelu", ["right", "wrong"], ["Sequential.1"], {}, {}]
    assert dropped
    assert "explained by gelu  " in texts[0]
    assert "here it is WRONG (" in texts[0]
    assert "in the recorded run within the bound" in texts[0]
    assert "layers that differ, in their order: Sequential.1 " in texts[0]
    assert "these are other programs" in texts[1]
    assert "calls were not recorded" in texts[2]
    jsonschema.validate(data, schema("blame"))
    assert "explained by gelu" in read(data).to_html()


PROGRAM = """
import sys
import torch
x = torch.full((3,), -1.0)
print("given", sys.argv[1:])
y = x.sqrt()
raise SystemExit(int(sys.argv[1]))
"""


def test_the_command_runs_a_program(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program, page = tmp_path / "program.py", tmp_path / "page.html"
    program.write_text(PROGRAM)
    words = [
        "blame",
        str(program),
        "--python",
        python_of_torch(),
        "--html",
        str(page),
        "--json",
        "--",
        "0",
    ]
    assert main(words) == 0
    printed = capfd.readouterr()
    data = json.loads(printed.out)
    jsonschema.validate(data, schema("blame"))
    assert "given ['0']" in printed.err
    (finding,) = data["findings"]
    assert (finding["operator"], finding["kind"], finding["line"]) == ("sqrt", "born", 6)
    assert "NaN born of finite inputs" in page.read_text()
    assert main([*words[:-1], "5"]) == 2
    assert json.loads(capfd.readouterr().out)["raised"] == "it exited with status 5"


INTERRUPTED = """
import os, signal
import torch
torch.ones(3).exp()
os.kill(os.getpid(), signal.SIGINT)
torch.ones(3).exp()
"""


def test_what_is_interrupted_is_reported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program, recorded = tmp_path / "program.py", tmp_path / "run.sz"
    program.write_text(INTERRUPTED)
    words = [
        "blame",
        str(program),
        "--python",
        python_of_torch(),
        "--record",
        str(recorded),
        "--json",
    ]
    assert main(words) == 2
    data = json.loads(capfd.readouterr().out)
    assert (data["raised"], data["judged"]) == ("interrupted", 2)
    lines = gzip.decompress(recorded.read_bytes()).splitlines()
    for line in lines:
        jsonschema.validate(json.loads(line), schema("blame-run"))
    assert json.loads(lines[-1])["raised"] == "KeyboardInterrupt"
    assert len(lines) > 2


def test_saved_calls_that_are_damaged_are_refused_in_a_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    python, saved = python_of_torch(), tmp_path / "saved.safetensors"
    about = {"format": "suanzi-blame-call/1", "operator": "aten::exp", "overload": ""}
    evil = json.dumps({"filename": str(tmp_path / "evil"), "shared": True, "size": 4})
    for more, said in (
        ({}, "is damaged: its arguments cannot be read"),
        ({"arguments": '{"self": {"tensor": "y"}}'}, "is damaged: its arguments cannot be read"),
        ({"arguments": '{"self": []}'}, "PyTorch does not make the call of"),
        ({"operator": "aten::from_file", "arguments": evil}, "from_file has no truth here"),
        ({"operator": "aten::nothing"}, "which is not here"),
        ({"operator": "os::system"}, "not of aten"),
    ):
        safetensors.save(saved, {"x": sz.full(shape=(3,), value=1.0)}, {**about, **more})
        assert main(["blame", "--replay", str(saved), "--python", python]) == 2
        (line,) = capfd.readouterr().err.splitlines()
        assert said in line
    assert not (tmp_path / "evil").exists()


def test_what_cannot_be_written_is_said_before_the_program_runs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text("print('it runs')")
    for option in ("--save", "--record"):
        words = ["blame", str(program), "--python", python_of_torch()]
        assert main([*words, option, str(tmp_path / "no" / "x.sz")]) == 2
        (line,) = capfd.readouterr().err.splitlines()
        assert "does not exist" in line or "cannot be written" in line
