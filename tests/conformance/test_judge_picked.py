"""Many elements of few values are judged like all of them, one by one."""

from __future__ import annotations

import struct
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from suanzi.conformance.judging import answers
from suanzi.conformance.judging.judge import judge, lenient
from suanzi.conformance.model.case import Output
from suanzi.conformance.model.data import ordinary, units_of
from suanzi.conformance.model.expected import Cycle, Picked, joined
from suanzi.conformance.model.numbers import Real, real
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


@pytest.mark.parametrize("dtype", ["float32", "complex64", "bfloat16", "float8_e5m2"])
@pytest.mark.parametrize("last", ["right", "wrong", "infinite"])
def test_the_tail_of_many_different_results(
    monkeypatch: pytest.MonkeyPatch, dtype: str, last: str
) -> None:
    monkeypatch.setattr("suanzi.conformance.judging.judge.ENOUGH", 8)
    values = [1 + Fraction(i, 4096) for i in range(COUNT)]
    few = tuple((x, -x) if dtype == "complex64" else x for x in map(real, (1, 2, 3)))
    index = Cycle(3, COUNT)
    # Each result is another one, and within its bound.
    output = Output(
        dtype, (COUNT,), Picked(few, index), allowed=Picked((Fraction(1, 2),) * 3, index)
    )
    results = [
        units_of(dtype, ((real(x), real(-x)) if dtype == "complex64" else real(x),))[0]
        for x in (1 + i % 3 + values[i] / 4 - Fraction(1, 4) for i in range(COUNT))
    ]
    assert judge(Data(dtype, (COUNT,), b"".join(results)), output).problem is None
    if last == "right":
        return
    odd = real(100) if last == "wrong" else Real(False, None)
    results[-1] = units_of(dtype, ((real(1), odd) if dtype == "complex64" else odd,))[0]
    problem = judge(Data(dtype, (COUNT,), b"".join(results)), output).problem
    assert problem is not None
    assert problem.startswith(f"1 of {COUNT} elements: [{COUNT - 1}]")


def test_a_wrong_value_among_many_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suanzi.conformance.judging.judge.ENOUGH", 8)
    few = tuple(map(real, range(100)))
    output = Output("float32", (COUNT,), Picked(few, Cycle(100, COUNT)))
    found = answer("float32", output, {COUNT - 1: struct.pack("<f", 98)})
    problem = judge(found, output).problem
    assert problem is not None
    assert problem.startswith(f"1 of {COUNT} elements: [{COUNT - 1}]")


@pytest.mark.parametrize(("truth", "sign"), [(0, -0.0), (Fraction(1, 1 << 149), -0.0)])
def test_the_sign_of_a_late_zero(
    monkeypatch: pytest.MonkeyPatch, truth: int | Fraction, sign: float
) -> None:
    monkeypatch.setattr("suanzi.conformance.judging.judge.ENOUGH", 2)
    few = (*map(real, range(1, 5)), real(truth))
    output = Output("float32", (50,), Picked(few, Cycle(5, 50)), ulp=2)
    found = answer("float32", output, {49: struct.pack("<f", sign)})
    assert (judge(found, output).problem is None) == (judge(found, plain(output)).problem is None)
    assert judge(found, output).problem is not None


def test_results_at_the_very_bound() -> None:
    """The quick test rounds its bounds inwards: a third is no float."""
    test = answers.near("float64", (real(0),), (Fraction(1, 3),))
    third = 1 / 3
    assert Fraction(third) < Fraction(1, 3)
    assert test(0, struct.pack("<d", third))
    assert not test(0, struct.pack("<d", third + 2.0**-54))
    assert not test(0, struct.pack("<d", 2 / 3))


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
