"""OpenVINO is compared with what it would convert: what forward calls under eval."""

from __future__ import annotations

import pytest

from suanzi.base.dtypes import float16
from suanzi.base.status import InvalidArgument
from suanzi.port import Call, Calls, Report, judge
from suanzi.promote.operands import Operand, Role
from suanzi.recording.calls import Taken, Where, from_records

SCALE, NUMBER = Operand(Role.ZERO_DIM, float16), Operand(Role.NUMBER, kind="float")


def report(*forwards: str, to: str = "openvino", backward: bool = False) -> Report:
    """What is found of a program whose lines all have the call that OpenVINO computes wider."""
    calls = tuple(
        Call(
            i, "mul", (Taken(SCALE), Taken(NUMBER)), result=float16, where=Where("net.py", i),
            forward=forward, backward=backward, count=2,
        )
        for i, forward in enumerate(forwards)
    )  # fmt: skip
    return judge(Calls("torch", "2", calls), [to])


def lines(found: Report) -> list[int]:
    return [one.call.where.line for one in found if one.call.where is not None]


def test_only_what_forward_calls_under_eval() -> None:
    found = report("", "train", "eval")
    assert lines(found) == [2]
    note = "openvino+torch converts what forward calls under eval: 4 other calls are not compared"
    assert note in str(found)
    assert found.to_dict()["left_out"] == {"openvino+torch": 4}
    assert lines(report("", "train", "eval", to="torch_npu")) == []
    assert report("", "eval", to="jax").to_dict()["left_out"] == {"jax_x32": 0}


def test_training_where_nothing_ran_under_eval() -> None:
    found = report("", "train")
    assert lines(found) == [1]
    note = (
        "no module ran under eval: openvino+torch is compared with what forward called in "
        "training; 2 other calls are not compared"
    )
    assert note in str(found)


def test_everything_where_no_module_is_known() -> None:
    found = report("", "")
    assert lines(found) == [0, 1]
    assert "eval" not in str(found)
    assert "eval" not in str(report("eval", "eval")), "nothing was left out"


def test_what_forward_calls_again_in_backward_is_no_forward() -> None:
    """As a checkpoint does."""
    assert not report("eval", backward=True)


def test_what_was_not_checked_is_said_of_all_calls() -> None:
    def unknown(number: int, forward: str) -> Call:
        given = (Taken(Operand(Role.TENSOR, float16)), Taken(NUMBER))
        return Call(number, "nobody_knows", given, forward=forward)

    calls = Calls("torch", "2", (unknown(0, ""), unknown(1, "eval")))
    for to in (["openvino", "jax"], ["jax", "openvino"]):
        assert judge(calls, to).to_dict()["unknown"] == {"nobody_knows": 2}


def test_a_record_of_others_is_checked() -> None:
    head = {"format": "suanzi-calls/1", "framework": "torch", "version": "2"}
    call = {"call": 0, "op": "mul", "arguments": [], "result": "float16", "forward": ["eval"]}
    with pytest.raises(InvalidArgument, match="forward"):
        from_records([head, call, {"end": True, "raised": None}])
