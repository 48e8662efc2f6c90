"""Calls that were kept, made again under other rules: which line departs, and how far."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suanzi.base.status import InvalidArgument
from suanzi.front.cli import main
from suanzi.port.replay import Replayed, replay
from suanzi.port.replay.computing import Own, made_of
from suanzi.port.replay.errors import compare
from suanzi.port.replay.kept import Value, read_kept
from suanzi.port.report import targets
from suanzi.promote.library import rule_set
from suanzi.recording.calls import Calls, from_records

HEAD = {"format": "suanzi-calls/1", "framework": "torch", "version": "0"}
HALF = np.array([1.0, 0.1, 300.0, -7.3], "float16")
WIDE = np.array(0.3, "float32")


class Program:
    """Writes what a recorder would of a program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines: list[dict[str, Any]] = []
        self.records: list[dict[str, Any]] = []
        self.content, self.names, self.made = b"", [], {}  # type: ignore[var-annotated]

    def tensor(self, array: Any, name: str = "") -> int:
        number = len(self.names)
        self.names.append(name or array.dtype.name)
        line = {"tensor": number, "dtype": self.names[-1], "shape": list(array.shape)}
        self.lines.append({**line, "at": len(self.content)})
        self.content += array.tobytes()
        return number

    def call(self, op: str, *args: Any, result: Any, name: str = "", **more: Any) -> int:
        """Add a call; tensors are given by their numbers in a tuple."""
        found = self.tensor(result, name)
        given = [{"tensor": x[0]} if isinstance(x, tuple) else x for x in args]
        operands = [
            {"dtype": self.names[x[0]], "zero_dim": not self.lines_of(x[0])["shape"],
             **({"from": self.made[x[0]]} if x[0] in self.made else {})} if isinstance(x, tuple)
            else {"number": type(x).__name__} if isinstance(x, int) else None for x in args
        ]  # fmt: skip
        at = len(self.records)
        where = ["p.py", at + 1]
        self.records.append(
            {"call": at, "op": op, "arguments": operands, "result": self.names[found],
             "where": where}
        )  # fmt: skip
        kept = {"call": at, "op": op, "way": None, "where": where, "args": given, "kwargs": {},
                "results": [found], "layer": f"Net.{op}"}  # fmt: skip
        self.lines.append({**kept, **more})
        self.made[found] = at
        return found

    def lines_of(self, number: int) -> dict[str, Any]:
        return next(one for one in self.lines if "op" not in one and one["tensor"] == number)

    def run(self, target: str, dropped: int = 0) -> Replayed:
        self.lines.append({"end": True, "dropped": dropped})
        (self.folder / "calls.jsonl").write_text("\n".join(map(json.dumps, self.lines)))
        (self.folder / "tensors.bin").write_bytes(self.content)
        self.lines.pop()
        return replay(self.calls(), read_kept(self.folder), targets([target])[0])

    def calls(self) -> Calls:
        return from_records([HEAD, *self.records, {"end": True, "raised": None}])


def scaled(folder: Path) -> Program:
    """A float16 tensor times a 0-d float32 number, then more: PyTorch stays in float16."""
    program = Program(folder)
    x, s = program.tensor(HALF), program.tensor(WIDE)
    product = (HALF.astype("float32") * WIDE).astype("float16")
    y = program.call("mul", (x,), (s,), result=product)
    z = program.call("mul", (y,), (y,), result=product * product)
    program.call("view", (z,), 2, 2, result=(product * product).reshape(2, 2))
    return program


def test_the_line_where_the_rules_differ_departs_and_the_rest_follows(tmp_path: Path) -> None:
    found = scaled(tmp_path).run("jax")
    first, second, third = found.lines
    assert (found.replayed, found.left, first.place) == (3, {}, "p.py:1")
    # Rounded to float16, what was computed in float32 and cast is the same by itself.
    assert (first.own, first.dtypes) == (0, "float32, was float16")
    assert second.own == 0
    assert second.chained == third.chained > 0
    assert 0.999 < second.cosine < 1
    layers = [one.where.layer for one in found.departing if one.where]
    assert layers == ["Net.mul", "Net.mul", "Net.view"]
    assert str(found).splitlines()[1] == "  first line that departs: p.py:1"
    assert (first.departs, second.departs) == (True, False)


def test_a_0d_tensor_of_a_number_is_a_number_in_jax(tmp_path: Path) -> None:
    program = Program(tmp_path)
    x, s = program.tensor(HALF), program.call("tensor", 3, result=WIDE)
    program.call("mul", (x,), (s,), result=HALF * np.float16(WIDE))
    assert not program.run("jax").departing
    assert program.run("cann").lines


def test_under_the_rules_of_the_program_nothing_departs(tmp_path: Path) -> None:
    for target in ("torch", "torch_npu"):
        found = scaled(tmp_path).run(target)
        assert not found.departing
        assert "no line departs" in str(found)


def test_what_is_refused_is_named_and_counts_as_it_was(tmp_path: Path) -> None:
    program = Program(tmp_path)
    x, m = program.tensor(np.array([1, 2])), program.tensor(np.array([True, False]))
    program.call("bitwise_and", (x,), (m,), result=np.array([1, 0]))
    found = program.run("paddle")
    (line,) = found.lines
    assert (line.departs, line.own) == (True, 0)
    assert "refused" in str(found)
    assert "first line that departs: p.py:1" in str(found)


def test_a_sum_wraps_where_the_target_keeps_the_dtype(tmp_path: Path) -> None:
    program = Program(tmp_path)
    x = program.tensor(np.array([200, 200], "uint8"))
    program.call("sum", (x,), result=np.array(400))
    (line,) = program.run("paddle").lines
    assert (line.dtypes, line.own) == ("uint8, was int64", 256)
    assert not program.run("mindspore").departing


def test_dtypes_that_the_target_lacks(tmp_path: Path) -> None:
    program = Program(tmp_path)
    x, y = program.tensor(np.array([2**33, 1])), program.tensor(np.array([1, 1]))
    program.call("add", (x,), (y,), result=np.array([2**33 + 1, 2]))
    (line,) = program.run("jax").lines
    assert line.departs
    assert line.chained >= 2**32
    numbers, other = Value("int64", np.array([2**33, 1])), Value("float16", HALF)
    given = made_of([numbers, 7, [other]], {"int64": "int32"}, Own(rule_set("torch")))
    assert (given[0].dtype, given[0].array.tolist(), given[1:]) == ("int32", [0, 1], [7, [other]])


def test_what_cannot_be_replayed_is_counted_and_named(tmp_path: Path) -> None:
    program = Program(tmp_path)
    x = program.tensor(HALF)
    program.call("special_bessel_j0", (x,), result=HALF)
    program.call("exp", (x,), result=HALF)  # it is not what exp gives
    program.call("randn", 4, result=HALF)
    program.call("mul", {"lost": "written in place"}, 2, result=HALF)
    program.call("exp", (x,), 7, 8, 9, result=HALF)
    found = program.run("jax", dropped=5)
    assert (found.replayed, found.given, sum(found.left.values())) == (0, 1, 4)
    said = str(found)
    for part in (
        "unknown operator special_bessel_j0 (1)", "exp is not reproduced by suanzi's operator (1)",
        "mul: written in place", "exp with other arguments", "not kept, 5 calls: --replay-bytes",
    ):  # fmt: skip
        assert part in said
    assert found.to_dict()["lines"] == []


def test_gradients_are_compared_only_where_the_target_runs_them(tmp_path: Path) -> None:
    program = Program(tmp_path)
    x = program.tensor(HALF)
    program.call("mul", (x,), 2, result=HALF * np.float16(2), backward=True)
    assert program.run("torch_npu").replayed == 1
    assert program.run("jax").replayed == 0


def test_bfloat16_is_read_and_rounded(tmp_path: Path) -> None:
    bits = np.array([0x3F80, 0x3DCD], "uint16")  # 1 and about 0.1
    program = Program(tmp_path)
    x = program.tensor(bits, "bfloat16")
    program.call("mul", (x,), 2, result=np.array([0x4000, 0x3E4D], "uint16"), name="bfloat16")
    found = program.run("cann")
    assert (found.replayed, found.noise) == (1, 0)


def error(a: Any, b: Any, dtype: str = "float32") -> Any:
    return compare(Value(dtype, np.array(a, dtype)), Value(dtype, np.array(b, dtype)))


def test_errors_in_units_in_the_last_place() -> None:
    step = float(np.spacing(np.float32(1)))
    found = error([1 + 3 * step, 1024], [1, 1024])
    assert (found.ulp, round(found.scaled * 1024, 6)) == (3, 3)
    assert error([1, np.nan], [1, np.nan]).ulp == 0
    assert error([1, np.inf], [1, 2]).ulp == float("inf")
    assert error([0, 1], [1, 0]).cosine == 0
    small = [Value("float8_e5m2", np.array([bits], "uint8")) for bits in (0x3C, 0x3D)]  # 1 and 1.25
    assert (small[1].numbers()[0], compare(small[1], small[0]).ulp) == (1.25, 1)
    assert error([1e-40], [0]).ulp == pytest.approx(1e-40 / 2.0**-149, rel=1e-3)
    wide = compare(Value("float32", np.array([1.0001], "float32")), Value("float16", HALF[:1]))
    assert (wide.ulp, wide.dtype, wide.wanted) == (0, "float32", "float16")
    assert compare(Value("float16", HALF), Value("float16", HALF[:2])).ulp == float("inf")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("net.py --from paddle --replay", "keeps the inputs of PyTorch programs"),
        ("net.py --replay --replay-bytes 0 --to jax", "--replay-bytes is 0"),
        ("net.py --to jax,paddle --python-to p", "--python-to runs one target"),
        ("net.py --to cann --python-to p", "is for one of numpy, torch, jax"),
        ("examples/port/block.jsonl --to jax --replay", "--replay is for a program that is run"),
    ],
)
def test_what_is_asked_for_is_checked_before_the_program_runs(
    arguments: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Path(__file__).parents[3]
    words = arguments.replace("examples/", f"{root}/examples/").split()
    assert main(["port", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_folder_that_no_recorder_wrote(tmp_path: Path) -> None:
    (tmp_path / "tensors.bin").write_bytes(b"1")
    for text in ("{", '{"tensor": 0, "dtype": "float32", "shape": [9], "at": 0}', '{"op": 1}'):
        (tmp_path / "calls.jsonl").write_text(text)
        with pytest.raises(InvalidArgument, match="cannot be read"):
            read_kept(tmp_path)


@pytest.mark.parametrize("name", ["calls.jsonl", "tensors.bin"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    (tmp_path / "calls.jsonl").touch()
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(InvalidArgument, match=f"'{name}' is a pipe or a device, not a file"):
        read_kept(tmp_path)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"shape": [2.0]}, "TypeError"),
        ({"shape": [1 << 70]}, "other bytes than its shape"),
        ({"shape": [-1]}, "other bytes than its shape"),
        ({"at": -4}, "other bytes than its shape"),
        ({"at": 1}, "other bytes than its shape"),
        ({"dtype": "float32" * 5000}, ""),
    ],
    ids=str,
)
def test_what_was_kept_and_changed(tmp_path: Path, changed: dict[str, Any], why: str) -> None:
    tensor = {"tensor": 0, "dtype": "float32", "shape": [1], "at": 0}
    (tmp_path / "tensors.bin").write_bytes(bytes(4))
    (tmp_path / "calls.jsonl").write_text(json.dumps(tensor))
    assert read_kept(tmp_path).values[0].array.tolist() == [0.0]
    (tmp_path / "calls.jsonl").write_text(json.dumps({**tensor, **changed}))
    if not why:  # a dtype of another machine is left out
        assert read_kept(tmp_path).values == {}
        return
    with pytest.raises(InvalidArgument, match=why):
        read_kept(tmp_path)


@pytest.mark.parametrize("lines", ["[" * 50_000, json.dumps({"op": "x", "call": "y" * 50_000})])
def test_what_was_kept_and_has_no_end(tmp_path: Path, lines: str) -> None:
    (tmp_path / "tensors.bin").write_bytes(b"")
    (tmp_path / "calls.jsonl").write_text(lines)
    with pytest.raises(InvalidArgument) as found:
        read_kept(tmp_path)
    assert len(str(found.value)) < 1000
