"""promotion(..., on_loss=...): what operators say of values that promotion loses."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import suanzi as sz

INT, BF = sz.tensor([1, 257, 258], sz.int32), sz.tensor([1, 2, 3], sz.bfloat16)


def told(call: Callable[[], object]) -> list[sz.LossWarning]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    assert all(isinstance(one.message, sz.LossWarning) for one in found)
    assert all(one.filename == __file__ for one in found)
    return [one.message for one in found]  # type: ignore[misc]


def test_a_value_of_this_call() -> None:
    with sz.promotion("cann", on_loss="warn"):
        (one,) = told(lambda: INT + BF)
    assert (one.operator, one.rules, one.dtypes) == ("add", "cann", (sz.int32, sz.bfloat16))
    assert (one.dtype, one.value, one.becomes, one.own) == (sz.bfloat16, 257, 256.0, True)
    assert "x, int32, is converted to bfloat16 under cann: 257 becomes 256" in str(one)


def test_an_example_where_this_call_loses_nothing() -> None:
    with sz.promotion("cann", on_loss="warn"):
        (one,) = told(lambda: sz.tensor([1, 2, 3], sz.int32) * BF)
    assert (one.value, one.becomes, one.own) == (257, 256, False)
    assert "for example, 257 becomes 256" in str(one)


def test_what_loses_nothing_is_silent_every_time() -> None:
    f16, f32 = sz.tensor([1], sz.float16), sz.tensor([1], sz.float32)
    with sz.promotion("cann", on_loss="raise"):
        for _ in range(3):
            assert (f16 + f32).dtype is sz.float32
            assert (f32 * f32).dtype is sz.float32
            assert (f32 * 2).dtype is sz.float32
            assert (f16 + 0.5).dtype is sz.float16
    with sz.promotion("cann"):
        assert not told(lambda: INT + BF)


def test_every_call_is_told_and_every_operator() -> None:
    calls = {
        "symbol": lambda: INT * BF,
        "function": lambda: sz.sub(INT, BF),
        "comparison": lambda: INT < BF,
        "where": lambda: sz.where(INT > 1, INT, BF),
        "concat": lambda: sz.concat([INT, BF], axis=0),
        "matmul": lambda: sz.matmul(INT, BF),
        "division": lambda: INT / BF,
    }
    with sz.promotion("cann", on_loss="warn"):
        for _ in range(2):
            assert {name for name, call in calls.items() if told(call)} == set(calls)


def test_numbers() -> None:
    f16 = sz.tensor([1], sz.float16)
    with sz.promotion("torch", on_loss="warn"):
        (one,) = told(lambda: f16 * 2049.0)
        assert (one.value, one.becomes, one.own) == (2049.0, 2048, True)
        assert one.dtypes == (sz.float16, None)
        assert not told(lambda: f16 * 2.0)
        (again,) = told(lambda: f16 * 4097.0)
        assert again.value == 4097.0


def test_raise() -> None:
    with sz.promotion("cann", on_loss="raise"), pytest.raises(sz.TypeMismatch) as caught:
        sz.add(INT, BF)
    assert "257 becomes 256" in str(caught.value)
    assert "Cast it yourself" in str(caught.value)
    x = sz.tensor([1, 2, 3], sz.bfloat16)
    with sz.promotion("torch", on_loss="raise"), pytest.raises(sz.TypeMismatch):
        x += INT
    assert np.array_equal(x.numpy().astype(float), [1, 2, 3])


def test_blocks_inside_of_each_other() -> None:
    with sz.promotion("cann", on_loss="warn"):
        assert sz.get_promotion().on_loss == "warn"
        with sz.promotion("cann"):
            assert not told(lambda: INT + BF)
        assert told(lambda: INT + BF)
    assert sz.get_promotion() is sz.rule_set("cann")


def test_bad_words() -> None:
    with (
        pytest.raises(sz.InvalidArgument, match="Did you mean 'warn'"),
        sz.promotion(
            "cann",
            on_loss="wran",  # type: ignore[arg-type]
        ),
    ):
        pass
    with (
        pytest.raises(sz.InvalidArgument, match="promote by themselves"),
        sz.promotion("array_api", on_loss="warn"),
    ):
        pass


def test_values_that_are_nan_or_infinite() -> None:
    x = sz.tensor([np.nan, np.inf, 1.0], sz.float32)
    with sz.promotion("torch", on_loss="warn"):
        (one,) = told(lambda: sz.tensor([1], sz.int64) * x)
    assert one.dtypes[0] is sz.int64
    assert not one.own
