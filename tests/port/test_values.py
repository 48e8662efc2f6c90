"""Values of tensors: what a recorder measures, and what findings say of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suanzi.base.status import InvalidArgument
from suanzi.front.cli import main
from suanzi.port import judge
from suanzi.recording.calls import Calls, from_records, read_processes
from suanzi.recording.recorders import values

HEAD = {"format": "suanzi-calls/1", "framework": "torch", "version": "0"}
NOTHING = [0, 0, 0, 0]


def measured(least: float | None, greatest: float | None, odd: int = 0, *counts: int) -> list[Any]:
    return [least, greatest, odd, *(counts or NOTHING)]


def tensor(dtype: str, made_by: int | None = None, zero_dim: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {"dtype": dtype, "zero_dim": zero_dim}
    return found if made_by is None else {**found, "from": made_by}


def program(*calls: tuple[str, list[Any], str, list[Any]]) -> Calls:
    """Calls, each of another line: operator, arguments, dtype of the result, measured values."""
    records = [
        {"call": i, "op": op, "arguments": args, "result": result, "where": ["p.py", i + 1]}
        for i, (op, args, result, _) in enumerate(calls)
    ]
    found = {str(i): seen for i, (*_, seen) in enumerate(calls)}
    return from_records([HEAD, *records, {"end": True, "raised": None, "values": found}])


def test_an_integer_that_jax_has_no_dtype_for_is_found_where_it_comes_from() -> None:
    big = measured(2**33, 2**33)
    calls = program(
        ("tensor", [None], "int64", [big]),
        ("add", [tensor("int64", 0), {"number": "int"}], "int64", [big, big]),
        ("relu", [tensor("int64", 1)], "int64", [big, big]),
        ("mul", [tensor("int64"), tensor("int64")], "int64", [measured(1, 9), big, big]),
        ("add", [tensor("int64"), tensor("int64")], "int64", [measured(1, 2**31 - 1)] * 3),
    )
    first, other = judge(calls, ["jax"])
    assert (first.code, first.call.operator) == ("SZ006", "tensor")
    assert first.verdict.text == (
        "2**33 of this program is out of range of int32, as int64 is there"
    )
    assert [call.operator for call in first.followers] == ["add", "relu"]
    assert 'jax.config.update("jax_enable_x64", True)' in first.lines()[-1]
    assert (other.call.where.line, other.verdict.question) == (4, "mul(int64, int64)")  # type: ignore[union-attr]
    assert not judge(calls, ["jax_x64", "paddle"])


def test_infinity_cast_to_an_integer_is_no_value_of_the_program() -> None:
    """T5 casts log(0) to int64, and replaces what comes out."""
    end = measured(-(2**63), 15)
    cast = ("long", [tensor("float32")], "int64", [measured(0, 9), end])
    masked = ("minimum", [tensor("int64", 0), tensor("int64")], "int64", [end, None, end])
    assert not judge(program(cast, masked), ["jax"])
    large = ("long", [tensor("float32")], "int64", [measured(0, 2**40), measured(0, 2**40)])
    assert [one.code for one in judge(program(large), ["jax"])] == ["SZ006"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.125, "0.125, its value in this program, is kept"),
        (0.3, "0.3, its value in this program, becomes 0.300049"),
        (1e5, "100000, its value in this program, becomes inf"),
    ],
)
def test_a_fix_speaks_of_the_value_of_the_program(value: float, said: str) -> None:
    operands = [tensor("float16"), tensor("float32", zero_dim=True)]
    seen = [measured(0, 1), measured(value, value), measured(0, 1)]
    (found,) = judge(program(("mul", operands, "float16", seen)), ["cann"])
    assert found.verdict.fix is not None
    assert found.verdict.fix.text.endswith(f"as in torch; {said}")


def test_a_fix_of_a_tensor_speaks_of_its_range() -> None:
    operands = [tensor("int64"), tensor("float32")]
    for greatest, said in ((9, "its values in this program, -3 to 9, are in range"), (None, "too")):
        seen = [None if greatest is None else measured(-3, greatest), measured(0, 1), None]
        calls = program(("mul", operands, "float32", seen))
        (found,) = judge(calls, ["paddle"])
        assert found.verdict.fix is not None
        assert found.verdict.fix.text.endswith(said)


def close(*calls: tuple[str, list[Any], str, list[Any]], **more: Any) -> list[str]:
    return [one.text for one in judge(program(*calls), ["torch_npu"], **more).close()]


def test_what_is_near_the_end_of_float16() -> None:
    half = [tensor("float16"), tensor("float16")]
    assert close(("mul", half, "float16", [measured(0, 9), None, measured(-41000, 5)])) == [
        "largest value seen 41000: 1.6 times below float16's largest"
    ]
    assert not close(("mul", half, "float16", [None, None, measured(-8000, 8000)]))
    assert not close(("mul", half, "bfloat16", [None, None, measured(-41000, 5)]))
    # The end of the dtype itself is a mask.
    assert not close(("add", half, "float16", [None, None, measured(-65504, 5)]))


def test_an_overflow_is_found_where_it_happens() -> None:
    half = [tensor("float16"), {"number": "float"}]
    fine, over = measured(0, 9), measured(0, 9, values.INF)
    assert close(("mul", half, "float16", [fine, over])) == ["overflows to inf"]
    assert not close(("mul", half, "float16", [over, over]))
    assert not close(("log", half[:1], "float16", [fine, over]))
    numbers = {"number": "float"}
    filled = program(("clamp", [tensor("float16"), numbers], "float16", [fine, over]))
    assert filled.calls[0].seen is not None
    assert filled.calls[0].seen.has_inf


def test_which_part_of_the_values_vanishes_in_float16() -> None:
    wide = [tensor("float32")]
    seen = [measured(0, 2, 0, 10, 8, 2, 4), measured(0, 2)]
    said = "of the nonzero values seen, 25 % become 0 and 50 % subnormal"
    assert close(("half", wide, "float16", seen)) == [said]
    assert not close(("exp", wide, "float32", seen))
    assert close(("half", wide, "float16", [measured(0, 1e5), measured(0, 2, values.INF)])) == [
        "100000 becomes inf in float16"
    ]
    brain = ("mul", [tensor("bfloat16"), tensor("bfloat16")], "bfloat16", [*seen, seen[0]])
    assert not close(brain)
    assert close(brain, on=["910"]) == [f"in float16, {said}"]


def test_the_report_lists_the_lines(capsys: pytest.CaptureFixture[str]) -> None:
    half = [tensor("float16"), tensor("float16")]
    call = ("mul", half, "float16", [None, None, measured(-41000, 5)])
    report = judge(program(*[call] * 10), ["torch_npu"])
    assert "p.py:1: largest value seen 41000: 1.6 times below float16's largest" in str(report)
    assert "and 2 more lines (--json lists them)" in str(report)
    data = report.to_dict()["float16"]
    assert (len(data), data[0]["line"], round(data[0]["margin"], 1)) == (10, 1, 1.6)


class Schedule:
    """Notes what is measured, of tensors of NumPy."""

    def __init__(self, mode: str) -> None:
        self.seen: list[int] = []
        self.kept: Any = None

        def read(x: Any) -> Any:
            self.seen.append(x.ndim)
            return x

        found = values.of_numpy(mode, np.ndarray, lambda x: x.dtype.name, read)
        assert found is not None
        self.values = found

    def call(self, times: int, *args: Any) -> list[Any]:
        for n in range(1, times + 1):
            self.kept = self.values.see(self.kept, n, args, {}, args[0])
        found: list[Any] = self.kept["seen"]
        return found


def test_integers_and_0d_are_measured_always_and_others_ever_more_rarely() -> None:
    ramp = np.arange(4, dtype="float32")
    assert len((schedule := Schedule("sampled")).call(100, ramp) and schedule.seen) == 2 * 4
    schedule = Schedule("sampled")
    schedule.call(100, ramp, np.array(0.5, "float32"))
    assert schedule.seen.count(0) == 100
    schedule = Schedule("all")
    schedule.call(100, ramp)
    assert len(schedule.seen) == 200
    assert values.of_torch("none") is None


def test_what_is_measured() -> None:
    tiny = np.array([0, 1e-9, 1e-5, -3, np.inf, np.nan], "float32")
    found = Schedule("all").call(1, tiny, np.array([2**40, -1]), np.array([True]), np.float64([[]]))
    assert found[0] == [-3.0, float(np.float32(1e-5)), 5, 4, 3, 1, 1]
    assert found[1:] == [[-1, 2**40, 0, *NOTHING], None, None, found[0]]
    few = values.spaced(np.zeros((300, 7, 300)), 1000)
    assert 100 < few.size <= 1000
    assert values.of_number(float("-inf"))[:3] == [None, None, values.MINUS_INF]
    assert values.joined([1, 2, 0, *NOTHING], [None, None, 4, 1, 1, 0, 0]) == [1, 2, 4, 1, 1, 0, 0]


def test_the_values_of_processes_are_joined(tmp_path: Path) -> None:
    call = {"call": 0, "op": "exp", "arguments": [tensor("float16")], "result": "float16"}
    for name, low, high in (("calls.jsonl", 0, 1), ("calls.jsonl.7", -5, 0.5)):
        end = {"end": True, "raised": None, "values": {"0": [measured(low, high)] * 2}}
        more = {"process": {"parent": "calls.jsonl", "known": 1}} if name.endswith("7") else {}
        records = [{**HEAD, **more}, *([] if more else [call]), end]
        (tmp_path / name).write_text("".join(json.dumps(one) + "\n" for one in records))
    (found,) = from_records(read_processes(tmp_path / "calls.jsonl")).calls
    assert found.seen is not None
    assert (found.seen.least, found.seen.greatest) == (-5, 1)


@pytest.mark.parametrize(
    "seen", [[1, 2], ["1", 2, 0, *NOTHING], [1, float("inf"), 0, *NOTHING], [1, 2, 0, 0, 0, 0, -1]]
)
def test_values_that_no_recorder_writes_are_refused(seen: Any) -> None:
    with pytest.raises(InvalidArgument, match="values"):
        program(("exp", [tensor("float16")], "float16", [None, seen]))


def test_a_word_that_is_no_kind_of_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["port", "model.py", "--values", "some"]) == 2
    assert "use none, sampled, all" in capsys.readouterr().err
