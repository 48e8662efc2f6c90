"""Numbers at the ends of a dtype's range, after the native table has kept an answer for others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz

DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
NUMBERS = [0, 1, -1, 126, 127, 128, 129, 255, 256, -127, -128, -129, 2**15 - 1, 2**15, -(2**15)]
NUMBERS += [-(2**15) - 1, 2**16, 2**31 - 1, 2**31, -(2**31) - 1, 2**32, 2**63 - 1, 2**63, 2**64]


def expected(name: str, number: int) -> Any:
    info = np.iinfo(name)
    return sz.dtype(name) if info.min <= number <= info.max else sz.TypeMismatch


def outcome(call: Any) -> Any:
    try:
        found = call()
    except sz.TypeMismatch:
        return sz.TypeMismatch
    return found.dtype if isinstance(found, sz.Tensor) else found


@pytest.mark.parametrize("filled", [1, 127, None])
@pytest.mark.parametrize("name", DTYPES)
def test_numpy_refuses_what_does_not_fit(name: str, filled: int | None) -> None:
    dt = sz.dtype(name)
    x, zero = sz.tensor([1], dt), sz.tensor(1, dt)
    with sz.promotion("numpy"):
        if filled is not None:  # the cells of this dtype with an int
            for one in (dt, x, zero):
                assert sz.result_type(one, filled) is sz.result_type(filled, one) is dt
            assert sz.add(x, filled).dtype is sz.mul(filled, zero).dtype is dt
        for number in NUMBERS:
            answer = expected(name, number)
            for one in (dt, x, zero, sz.ZeroDim(dt)):
                assert outcome(lambda one=one, n=number: sz.result_type(one, n)) is answer, number
                assert outcome(lambda one=one, n=number: sz.result_type(n, one)) is answer, number
            for one in (x, zero):
                assert outcome(lambda one=one, n=number: sz.add(one, n)) is answer, number
                assert outcome(lambda one=one, n=number: n * one) is answer, number
                assert outcome(lambda one=one, n=number: one - n) is answer, number


def test_every_answer_has_an_explanation() -> None:
    assert sz.explain(sz.int4, sz.int4, rules="flaggems", op="add").rounded is None
    # cann has no uint1, and says nothing about unequal dtypes in index_copy, but does in add
    refused = sz.explain(sz.uint1, sz.bfloat16, rules="cann", op="index_copy")
    assert sz.explain(sz.uint1, sz.bfloat16, rules="cann", op="add").fix is not None
    assert refused.refused
    assert refused.fix is not None
    assert "bfloat16" in refused.fix.text
