"""sz.record: programs written in suanzi, recorded and held against other rule sets."""

from __future__ import annotations

import threading

import pytest

import suanzi as sz

BF = sz.tensor([1, 2], sz.bfloat16)
SCALE = sz.tensor(0.5)


def test_calls_are_recorded_with_their_lines() -> None:
    with sz.promotion("torch"), sz.record() as calls:
        for k in range(5):
            y = BF * SCALE + k
        z = y < 3.0
        sz.concat([y, y], axis=0)
    assert z.dtype is sz.bool
    found = [(c.operator, c.result, c.count) for c in calls.calls]
    assert found == [
        ("mul", sz.bfloat16, 5), ("add", sz.bfloat16, 5), ("less", sz.bool, 1),
        ("concat", sz.bfloat16, 1),
    ]  # fmt: skip
    mul, add, less, concat = calls.calls
    assert add.arguments[0].made_by == mul.number
    assert (add.arguments[1].least, add.arguments[1].greatest) == (0, 4)
    assert [one.made_by for one in concat.arguments[0]] == [add.number] * 2
    assert {c.where.file for c in calls.calls} == {__file__}
    assert less.where.line == mul.where.line + 1
    assert calls.rules.name == "torch"


def test_what_other_rules_make_of_it() -> None:
    with sz.promotion("torch"), sz.record() as calls:
        y = BF * SCALE
        y + BF
    report = sz.port.judge(calls, ["jax_x64", "paddle"])
    assert [(f.code, f.rules, f.verdict.question) for f in report] == [
        ("SZ005", "jax", "mul(bfloat16, 0-d float32)")
    ]
    assert [c.operator for c in report.findings[0].followers] == ["add"]
    assert not sz.port.judge(calls, ["torch"])


def test_what_is_written_in_place() -> None:
    x, y = sz.tensor([1, 2], sz.float16), sz.tensor([1, 2], sz.int64)
    with sz.promotion("torch"), sz.record() as calls:
        x += SCALE
        z = x + y
        k = 2.0
        k += x
        x += y
        x = x + y
    found = [(c.operator, c.way, c.result) for c in calls.calls]
    assert found == [
        ("add", "in-place", sz.float16), ("add", None, sz.float16), ("add", None, sz.float16),
        ("add", "in-place", sz.float16), ("add", None, sz.float16),
    ]  # fmt: skip
    assert z.dtype is k.dtype
    assert calls.calls[1].arguments[0].made_by == 0, "x is what was written into it"
    assert calls.calls[4].arguments[0].made_by == 3
    # JAX makes another tensor of it, which is wider; CANN writes, as PyTorch does.
    assert [(f.code, f.rules) for f in sz.port.judge(calls, ["jax_x32", "cann"])] == [
        ("SZ007", "jax_x32")
    ]
    with pytest.raises(sz.TypeMismatch), sz.record() as calls:
        x += sz.tensor([1.0, 2.0])
    assert [(c.way, c.result) for c in calls.calls] == [(None, sz.float32)]


def test_the_rules_in_force_stay_and_return() -> None:
    before = sz.get_promotion()
    with sz.record() as calls:
        assert sz.get_promotion().name == "cann"
        assert (BF * SCALE).dtype is sz.float32
        with sz.promotion("torch"):
            assert (BF * SCALE).dtype is sz.bfloat16
            assert (BF * SCALE).dtype is sz.bfloat16
    assert sz.get_promotion() is before
    assert [(c.result, c.count) for c in calls.calls] == [
        (sz.float32, 1), (sz.bfloat16, 1), (sz.bfloat16, 1),
    ]  # fmt: skip
    BF * SCALE
    assert len(calls.calls) == 3


def test_what_goes_round_in_a_loop_is_few_calls() -> None:
    x = BF
    with sz.record() as calls:
        for k in range(100):
            x = x * BF + k
    assert len(calls.calls) <= 16
    assert sum(c.count for c in calls.calls) == 200
    assert max(c.arguments[1].greatest for c in calls.calls if c.operator == "add") == 99


def test_other_threads_are_not_recorded() -> None:
    with sz.record() as calls:
        other = threading.Thread(target=lambda: BF + BF)
        other.start()
        other.join()
    assert calls.calls == ()


def test_an_error_keeps_what_was_called() -> None:
    with pytest.raises(ZeroDivisionError), sz.record() as calls:  # noqa: PT012
        BF + BF
        raise ZeroDivisionError("no")
    assert [c.operator for c in calls.calls] == ["add"]
    assert calls.raised == "ZeroDivisionError: no"


def test_blocks_inside_of_each_other_and_composites() -> None:
    w = sz.tensor([[1, 2], [3, 4]], sz.bfloat16)
    with sz.record() as outer:
        sz.linear(w, w)
        with sz.record() as inner:
            BF + 1
        BF - BF
    assert [c.operator for c in inner.calls] == ["add"]
    assert [c.operator for c in outer.calls] == ["linear", "sub"]
