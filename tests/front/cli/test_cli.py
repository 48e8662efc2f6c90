"""The command line: what it prints, as text and as data, and its exit status."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import suanzi as sz
from helpers.numpys import needs_numpy_2
from suanzi import _core
from suanzi.front.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def data(capsys: pytest.CaptureFixture[str], *arguments: str) -> object:
    _, out, err = run(capsys, *arguments, "--json")
    assert not err
    return json.loads(out)


def test_config(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "config")
    assert (status, err) == (0, "")
    assert out.splitlines()[0].startswith("suanzi ")
    found = data(capsys, "config")
    assert isinstance(found, dict)
    assert found["blas"]["provider"] in out


def test_promote(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "promote", "i32", "bf16")
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "int32, bfloat16"
    assert "cann   bfloat16  257 becomes 256  table: row s32, column bf16" in out


def test_promote_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "promote", "i32", "bf16", "--rules", "all")
    assert status == 0
    for name in sz.rule_sets():
        assert f"  {name} " in out


def test_promote_several_with_an_operator(capsys: pytest.CaptureFixture[str]) -> None:
    rules = "paddle,paddle_compare_fix"
    status, out, _ = run(capsys, "promote", "i32", "f32", "--rules", rules, "--op", "==")
    assert status == 0
    assert "equal(int32, float32)" in out
    found = data(capsys, "promote", "i32", "f32", "--rules", rules, "--op", "==")
    assert [entry["dtype"] for entry in found] == [None, "float32"]


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        (("i8", "0d:i64"), "int8"),
        (("i8", "2.5"), "float32"),
        (("i8", "-3"), "int8"),
        (("i8", "1j"), "complex64"),
        (("bool", "true"), "bool"),
        (("i8", "py:float"), "float32"),
        (("0d:i8", "py:int"), "int8"),
        (("f16", "bf16", "c32"), "complex64"),
        (("i8", "nan"), "float32"),
    ],
)
def test_operands(
    capsys: pytest.CaptureFixture[str], operands: tuple[str, ...], expected: str
) -> None:
    (found,) = data(capsys, "promote", *operands, "--rules", "torch")
    assert found["dtype"] == expected


def test_a_refusal_is_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("promote", "explain"):
        status, out, _ = run(capsys, command, "u16", "f32")
        assert status == 1
        assert "refused" in out
        assert run(capsys, command, "u16", "f32", "--json")[0] == 1


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "explain", "i32", "bf16", "--rules", "torch")
    assert status == 0
    assert out == str(sz.explain("i32", "bf16", rules="torch")) + "\n"
    assert data(capsys, "explain", "i32", "bf16")["fix"]["code"] == "aclnnCast(x, ACL_DOUBLE)"


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "table", "paddle_table")
    assert status == 0
    assert "i1  i2  i1  i2  i4  i8  f2  f4  f8  c4  c8  i1  bf" in out
    assert len(data(capsys, "table", "cann")["tensors"]) == 16


def test_diff(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "diff", "cann", "torch")
    assert status == 1
    assert "tensor, tensor  136       1       12" in out
    assert run(capsys, "diff", "cann", "cann")[0] == 0
    assert data(capsys, "diff", "cann", "torch")["compared"]["tensor, number"] == 64


def test_laws(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "laws", "cann")
    assert status == 0
    assert "4 give two dtypes" in out
    _, every, _ = run(capsys, "laws", "cann", "--all")
    assert every.count("complex32, float16), bfloat16") == 1
    assert "lossy (16)" in every
    assert len(data(capsys, "laws", "numpy")["not_associative"]) == 28


def test_diff_of_some_dtypes(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "diff", "torch", "cann", "--dtype", "bf16,f32,i64", "--json")
    assert (status, len(json.loads(out)["differences"])) == (1, 1)
    assert run(capsys, "diff", "torch", "cann", "--dtype", "f32,i64")[0] == 0
    assert run(capsys, "diff", "torch", "cann", "--dtype", ",")[0] == 2


def test_explain_like_the_framework_a_program_comes_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = "explain bf16 0d:f32 --op mul --rules cann --like torch".split()
    status, out, _ = run(capsys, *asked)
    assert status == 1
    assert "aclnnCast(x, ACL_BF16)" in out
    assert json.loads(run(capsys, *asked, "--json")[1])["like"]["dtype"] == "bfloat16"
    assert run(capsys, "explain", "bf16", "f32", "--rules", "cann", "--like", "torch")[0] == 0


def test_rules(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "rules")
    assert [line.split()[0] for line in out.splitlines()[1:]] == list(sz.rule_sets())
    _, one, _ = run(capsys, "rules", "paddle")
    assert "any operator: float+float, complex+any; bitwise: equal dtypes only" in one
    assert data(capsys, "rules", "openvino+unsafe")["name"] == "openvino+unsafe"
    assert len(data(capsys, "rules")) == len(sz.rule_sets())


def test_dtypes(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "dtypes")
    assert len(out.splitlines()) == 31
    assert "ACL_INT64, s64, i8 (paddle), i8 (jax)" in out
    assert data(capsys, "dtypes")[0]["names"]["openvino"] == "boolean"


@needs_numpy_2
def test_live(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "live", "numpy")
    assert status == 0
    assert "0 drift" in out
    status, out, _ = run(capsys, "live", "numpy", "--rules", "jax")
    assert status == 1
    assert data(capsys, "live", "numpy")["drift"] == []


def test_a_table_of_the_user(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "chip.txt"
    file.write_text("name chip\ntitle My chip\n[tensors]\n i8 f16\ni8 i8 f16\nf16 f16 f16\n")
    name = str(file)
    assert "chip   float16" in run(capsys, "promote", "i8", "f16", "--rules", f"cann, {name}")[1]
    assert "chip, My chip" in run(capsys, "explain", "i8", "f16", "--rules", name)[1]
    assert "My chip" in run(capsys, "table", name)[1]
    assert "My chip" in run(capsys, "laws", name)[1]
    assert "chip and cann" in run(capsys, "diff", name, "cann")[1]
    assert "My chip" in run(capsys, "rules", name)[1]
    assert "drift" in run(capsys, "live", "numpy", "--rules", name)[1]
    status, _, err = run(capsys, "table", str(tmp_path / "none.txt"))
    assert (status, "cannot be read" in err) == (2, True)


def test_demo(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "demo")
    assert status == 0
    assert "257 becomes 256" in out
    assert "SZ002 paddle: mul(float16, int32)" in out
    assert "3 of 5 cases pass" in out
    assert re.findall(r"^(\d)\. ", out, re.M) == list("1234")
    assert len(data(capsys, "demo")) == len(sz.rule_sets())


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("promot", "i8"), 'Did you mean "promote"'),
        (("promote", "i8", "flot16"), "Did you mean 'float16'"),
        (("promote", "i8", "f16", "--rules", "trch"), "Did you mean 'torch'"),
        (("promote", "i8", "f16", "--rules", "cann,trch"), "Did you mean 'torch'"),
        (("promote", "i8", "f16", "--op", "ad"), "Did you mean 'add'"),
        (("promote", "i8", "f16", "--opp", "add"), "Did you mean --op"),
        (("promote",), "no operand given"),
        (("explain", "0d:f17"), "Did you mean 'f16'"),
        (("explain", "i8", "--rules", "all"), "suanzi promote"),
        (("explain", "i8", "9" * 5000), "too long to be read"),
        (("explain", "py:str"), "is not a Python number"),
        (("table", "canm"), "Did you mean 'cann'"),
        (("diff", "cann"), "--b"),
        (("laws", "cann", "torch"), "torch"),
        (("rules", "nunpy"), "Did you mean 'numpy'"),
        (("op", "flordiv"), "Did you mean 'floordiv'"),
        (("op", "op_loglq"), "Did you mean 'op_loglp'"),
        (("op", "7.2.4"), "suanzi ops --category 7.2.4"),
        (("op",), "--name"),
        (("ops", "--category", "arithmetics"), "Did you mean 'arithmetic'"),
        (("operators",), "ops"),
        (("live", "trch"), "Did you mean 'torch'"),
        (("live", "numpy", "--python", "/no/such"), "cannot be run"),
    ],
    ids=" ".join,
)
def test_bad_usage_is_status_2_with_a_hint(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], hint: str
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("suanzi: ")
    # Older versions of cyclopts quote what they suggest.
    assert hint.replace('"', "") in err.replace('"', "")
    assert len(err.splitlines()) == 1


def test_short_names_that_a_document_reads_otherwise(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, err = run(capsys, "promote", "i8", "f16", "--rules", "paddle")
    assert err == ("note: i8 is read as int8; in the table of paddle it stands for int64\n")
    assert run(capsys, "promote", "0d:i8", "f16", "--rules", "paddle")[2] == err
    assert run(capsys, "promote", "i8", "f16", "--rules", "cann")[2] == ""
    assert "8 bits" not in run(capsys, "promote", "f8", "f16")[1]
    assert "f8e4m3" in run(capsys, "promote", "f8", "f16")[2]


@pytest.mark.parametrize(
    "command", "promote explain table diff laws rules dtypes ops op live demo".split()
)
def test_every_command_has_help_with_an_example(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    status, out, _ = run(capsys, command, "--help")
    assert status == 0
    assert f"suanzi {command}" in out.partition("Usage:")[2].partition("\n")[2] or command == "demo"


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert "promote" in run(capsys)[1]
    assert "suanzi promote i32 bf16" in run(capsys, "--help")[1]
    version, _, level = run(capsys, "--version")[1].strip().partition(" ")
    assert version == sz.__version__
    assert level == f"(level {_core.level()} of {', '.join(_core.levels())})"


def command() -> list[str]:
    return [sys.executable, "-m", "suanzi"]


def test_the_installed_command() -> None:
    script = Path(sys.executable).parent / "suanzi"
    found = subprocess.run([script, "promote", "u16", "f32"], capture_output=True, text=True)
    assert found.returncode == 1
    assert "refused" in found.stdout
    assert "\x1b[" not in found.stdout


def test_a_reader_that_stops_early() -> None:
    shell = " ".join([*command(), "diff", "cann", "torch"]) + " | head -1"
    found = subprocess.run(shell, shell=True, capture_output=True, text=True)
    assert found.stdout == "cann and torch, over 16 common dtypes\n"
    assert found.stderr == ""


COMMANDS = (
    "promote i32 bf16 --rules all",
    "explain u16 f32",
    "table paddle",
    "diff cann torch",
    "laws cann",
    "rules",
    "rules cann",
    "dtypes",
    "ops --category power",
    "op add",
    "live numpy --rules jax",
    "demo",
)
ALL_OF_THEM = f"""
from suanzi.cli import main
for command in {COMMANDS}:
    main(command.split())
    print("END OF A COMMAND", flush=True)
"""


@cache
def in_a_terminal() -> dict[str, str]:
    """Return what commands print in a terminal wide enough for every line; one program runs all."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "400"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-c", ALL_OF_THEM], stdout=follower, stderr=follower, env=environment
    )
    os.close(follower)
    text = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    process.wait()
    os.close(leader)
    printed = text.decode().split("END OF A COMMAND")
    return dict(zip(COMMANDS, printed[:-1], strict=True))


@pytest.mark.parametrize("arguments", COMMANDS)
def test_colour_where_a_person_looks(capsys: pytest.CaptureFixture[str], arguments: str) -> None:
    """In a terminal: coloured, and every word of the plain text is there."""
    coloured = in_a_terminal()[arguments]
    assert "\x1b[" in coloured
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", coloured)
    _, piped, _ = run(capsys, *arguments.split())
    assert not set(piped.split()) - set(plain.split())
