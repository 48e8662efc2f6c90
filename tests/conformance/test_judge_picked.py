"""Many elements of few values are judged like all of them, one by one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from suanzi.conformance.judging.judge import judge, lenient
from suanzi.conformance.model.case import Output
from suanzi.conformance.model.data import ordinary, units_of
from suanzi.conformance.model.expected import Cycle, Picked, joined
from suanzi.conformance.subjects.wire import Data, from_json, to_json

COUNT = 1000


def answer(dtype: str, output: Output, wrong: dict[int, bytes]) -> Data:
    """Return the right answer, with other bytes at some places."""
    assert isinstance(output.truth, Picked)
    units = units_of(dtype, output.truth.base)
    size = len(units[0])
    raw = bytearray(joined(units, output.truth.which))
    for at, other in wrong.items():
        raw[at * size : (at + 1) * size] = other
    return Data(dtype, output.shape, bytes(raw))


def plain(output: Output) -> Output:
    """Return the same with every element written out."""
    allowed = None if output.allowed is None else tuple(output.allowed)
    return replace(output, truth=tuple(output.truth), allowed=allowed)


@pytest.mark.parametrize("cycle", [True, False])
@pytest.mark.parametrize("dtype", ["int16", "float32", "float16", "complex64"])
@pytest.mark.parametrize("bound", ["exact", "ulp", "allowed"])
def test_as_one_by_one(dtype: str, bound: str, cycle: bool) -> None:
    few = tuple(ordinary(dtype, 13))
    random = Random(dtype)
    index = Cycle(13, COUNT) if cycle else [random.randrange(13) for _ in range(COUNT)]
    output = Output(dtype, (COUNT,), Picked(few, index), ulp=2 if bound == "ulp" else None)
    if bound == "allowed":
        output = replace(output, allowed=Picked((Fraction(1, 1000),) * 13, index))
    other = units_of(dtype, tuple(ordinary(dtype, 1, "other", 3, 3)))[0]
    nudged = bytes([units_of(dtype, few)[output.truth.which[500]][0] ^ 1])
    rest = units_of(dtype, few)[output.truth.which[500]][1:]
    for wrong in ({}, {999: other}, {0: other, 17: other, 500: other}, {500: nudged + rest}):
        found = answer(dtype, output, wrong)
        got, right = judge(found, output), judge(found, plain(output))
        # Of one value and one answer, the first place is told.
        assert (got.problem or "").split(";")[0][:40] == (right.problem or "").split(";")[0][:40]
        gently = judge(found, lenient(output)), judge(found, lenient(plain(output)))
        assert (gently[0].problem is None) == (gently[1].problem is None)


def test_a_tensor_that_repeats_is_sent_in_few_bytes() -> None:
    data = Data("int8", (100,), bytes(range(7)) * 14 + bytes(range(2)), repeats=7)
    said = to_json(data)
    assert len(said["tensor"]["raw"]) == 12
    assert from_json(said) == data
    assert from_json(said).repeats == 7


@pytest.mark.parametrize("count", [0, -1, 1 << 40])
def test_no_forged_length(count: int) -> None:
    with pytest.raises(ValueError, match="repeated"):
        from_json({"tensor": {"dtype": "int8", "shape": [1], "raw": "AA==", "repeats": count}})
