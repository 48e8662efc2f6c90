"""7.2.3.1, .16, .22, .23: sign, where, clip and its backward; cast as the others rely on it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import suanzi as sz
from helpers.checking import check, pack
from suanzi.conformance.model.numbers import (
    COMPLEX,
    INTEGERS,
    REALS,
    limits,
    real,
)

INF, NAN = float("inf"), float("nan")


# ---- where ---------------------------------------------------------------------------------------


def test_where_promotes_and_broadcasts_all_three() -> None:
    condition = sz.tensor([[True], [False]])
    got = sz.where(condition, sz.tensor([2049, 1], sz.int32), sz.tensor([0.5, 1.5], sz.float16))
    check(got, "float16", [real(v) for v in (2048, 1, 0.5, 1.5)], (2, 2))
    check(sz.where(True, 1, 2.5), "float32", [real(1)], ())  # type: ignore[arg-type]
    got = sz.where(sz.tensor([True, False]), 2**70, sz.tensor([1.0, 2.0]))  # type: ignore[arg-type]
    check(got, "float32", [real(2**70), real(2)])
    check(sz.where(sz.tensor([], sz.bool), pack("int8", []), 1), "int8", [])  # type: ignore[arg-type]
    refused = pytest.raises(sz.InvalidArgument, match=r"^where \(7\.2\.3\.23\): ")
    with refused as caught, sz.promotion("strict"):  # 7.2.3.23 lists no status for dtypes
        sz.where(condition, sz.tensor([1]), sz.tensor([1.0]))
    assert isinstance(caught.value, TypeError)


def test_where_refuses() -> None:
    x = sz.tensor([1, 2])
    with pytest.raises(sz.InvalidArgument, match=r"condition is int64; it must be bool.*not_equal"):
        sz.where(x, x, x)
    with pytest.raises(
        sz.InvalidArgument, match=r"^where \(7\.2\.3\.23\): condition has shape \(3,"
    ):
        sz.where(sz.tensor([True] * 3), x, x)
    with pytest.raises(sz.InvalidArgument, match=r"^where \(7\.2\.3\.23\): .*char"):
        sz.where(sz.tensor([True] * 2), sz.tensor("ab"), sz.tensor("cd"))


# ---- clip ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REALS)
def test_clip_with_other_numbers_and_without(name: str) -> None:
    dt = sz.dtype(name)
    x = sz.tensor([0, 1, 2, 3, 96], dt)
    assert sz.clip(x, 1.0, True).tolist() == [1] * 5
    assert sz.clip(x).storage != x.storage  # a result is never the input itself


@pytest.mark.parametrize("name", INTEGERS)
def test_clip_with_numbers_beyond_the_dtype(name: str) -> None:
    low, high = limits(name)
    x = pack(name, [low, 0, high])
    check(sz.clip(x, -(10**30), 10**30), name, [low, 0, high])
    check(sz.clip(x, high + 5), name, [high] * 3)
    check(sz.clip(x, high=low - 5), name, [low] * 3)


def test_infinite_bounds_and_numpy_scalars() -> None:
    x = sz.tensor([-5, 0, 5], sz.int8)
    assert sz.clip(x, -INF, INF).tolist() == [-5, 0, 5]
    assert sz.clip(x, INF).tolist() == [127] * 3
    assert sz.clip(x, np.int64(-1), np.float32(3)).tolist() == [-1, 0, 3]


def test_clip_refuses() -> None:
    x = sz.tensor([1, 2, 3])
    for bound, why in [
        (0.5, r"low is 0\.5, which is not a value of the input's dtype, int64"),
        (math.nan, "low is nan"),
        (1j, "low is 1j"),
        (sz.tensor([1.0]), r"low is a tensor of float32.*sz\.cast\(low, sz\.int64\)"),
        (sz.tensor([1, 2]), r"low has shape \(2,\)"),
    ]:
        with pytest.raises(sz.InvalidArgument, match=rf"^clip \(7\.2\.3\.16\): .*{why}"):
            sz.clip(x, bound)
    for name in ("bool", *COMPLEX):
        with pytest.raises(sz.InvalidArgument, match=rf"^clip \(7\.2\.3\.16\): input is {name}"):
            sz.clip(sz.tensor([1], sz.dtype(name)), 0, 1)
    with pytest.raises(sz.InvalidArgument, match=r"^clip \(7\.2\.3\.16\): low is a str"):
        sz.clip(x, "1")


@pytest.mark.parametrize("name", INTEGERS)
def test_clip_backward_with_bounds_beyond_the_dtype(name: str) -> None:
    low, high = limits(name)
    x, g = pack(name, [low, 0, high]), pack(name, [1, 1, 1])
    assert sz.clip_backward(g, high + 1, high + 2, x).tolist() == [0, 0, 0]
    assert sz.clip_backward(g, low - 2, low - 1, x).tolist() == [0, 0, 0]
    assert sz.clip_backward(g, low - 2, high + 2, x).tolist() == [1, 1, 1]
    assert sz.clip_backward(g, float(2**70), None, x).tolist() == [0, 0, 0]


def test_clip_backward_refuses() -> None:
    g, x = sz.tensor([1.0, 1.0]), sz.tensor([1.0, 2.0])
    for dt in (sz.float64, sz.float16, sz.int32):
        with pytest.raises(sz.TypeMismatch, match=r"^clip_backward \(7\.2\.3\.16\.4\): grad_out"):
            sz.clip_backward(g, 0, 1, sz.cast(x, dt))
    for arguments in ((g, 0, 1, sz.tensor([1.0])), (g, sz.tensor([[1.0], [2.0]]), 1, x)):
        with pytest.raises(
            sz.InvalidArgument, match=r"^clip_backward \(7\.2\.3\.16\.4\): grad_out"
        ):
            sz.clip_backward(*arguments)
    with pytest.raises(sz.InvalidArgument, match=r"^clip_backward.*: grad_out is bool"):
        sz.clip_backward(sz.tensor([True, True]), 0, 1, x)
    with pytest.raises(sz.InvalidArgument, match=r"^clip_backward.*: input is bool"):
        sz.clip_backward(g, 0, 1, sz.tensor([True, True]))


def test_bounds_do_not_widen_the_input() -> None:
    with pytest.raises(sz.InvalidArgument, match=r"clip \(7\.2\.3\.16\): the bounds go beyond"):
        sz.clip(sz.tensor([1, 2]), sz.tensor([[0, 0], [1, 1]]), None)
    kept = sz.clip(sz.tensor([[1, 2], [3, 4]]), sz.tensor([2, 2]), sz.tensor([[3], [3]]))
    assert kept.tolist() == [[2, 2], [3, 3]]
