"""7.2.13.1: every status of reduce and reduce_bwd, modes of one's own, and the fast path."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.moves import laid_out, nothing_made, refused

X = sz.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def test_the_modes_are_those_of_the_standard() -> None:
    assert [m.name for m in sz.ReduceMode] == [
        *("SUM", "PROD", "MAX", "MIN", "MEAN", "LAND", "LOR", "LXOR", "BAND", "BOR", "BXOR"),
    ]
    assert [int(m) for m in sz.ReduceMode] == list(range(11))
    for mode in sz.ReduceMode:
        x = sz.tensor([3, 5, 6])
        by_member, by_name = sz.reduce(x, mode), sz.reduce(x, mode.name)
        assert by_member.tolist() == by_name.tolist() == sz.reduce(x, mode.name.title()).tolist()
        assert by_member.tolist() == x.reduce(mode).tolist()


def test_axes_in_every_form() -> None:
    assert sz.reduce(input=X, mode="max", axis=[0, -1], keep_dims=True).tolist() == [[6]]
    assert sz.reduce(X, "SUM", [0, 1], True).tolist() == [[21]]
    assert sz.reduce(X, "SUM", np.array([0, 1])).item() == 21
    assert sz.reduce(X, axis=np.int64(1)).tolist() == [6, 15]
    assert sz.reduce(X, axis=sz.tensor(1)).tolist() == [6, 15]
    assert sz.reduce(X, axis=(a for a in (0,))).tolist() == [5, 7, 9]
    assert sz.reduce(5).item() == 5
    assert sz.reduce(np.ones((2, 2), np.float16)).item() == 4


@pytest.mark.parametrize("name", ["reduce", "reduce_bwd"])
def test_wrong_arguments(name: str) -> None:
    first = (X,) if name == "reduce" else (sz.tensor(1.0), X)

    def wrong(error: type[sz.StatusError], *more: Any, match: str = "", **named: Any) -> None:
        refused(error, name, *first, *more, match=match, **named)

    for axis in ([0, 2], (0, 0), [1, -1], [0] * 100, iter(lambda: 0, 1), {1.5}):
        wrong(sz.InvalidArgument, "SUM", axis, match="axis")
    for mode in (0, 11, sz.PadMode.PAD_CONST):
        wrong(sz.InvalidArgument, mode, match="mode")
    for keep in (np.bool_(True), sz.tensor(True)):
        wrong(sz.InvalidArgument, keep_dims=keep, match="keep_dims")
    if name == "reduce":
        for dtype in (sz.int4, sz.uint4, sz.uint1, sz.char):
            refused(sz.TypeMismatch, name, laid_out((3,), dtype))
    else:
        refused(sz.InvalidArgument, name, sz.tensor(1.0), match="input")
        refused(sz.TypeMismatch, name, sz.tensor(True), X, match="out_grad")
        refused(sz.TypeMismatch, name, sz.tensor(1), X, "MEAN", match="out_grad is int64")
        for mode in ("LAND", "LOR", "LXOR"):
            refused(sz.InvalidArgument, name, sz.tensor(1.0), X, mode, match=mode)
        for mode in ("BAND", "BOR", "BXOR"):
            refused(sz.InvalidArgument, name, sz.tensor(1), sz.tensor([1]), mode, match=mode)
        refused(sz.TypeMismatch, name, sz.tensor(1.0), sz.tensor([1j]), "MAX", match="MAX")
        for shape in [(1,), (2,), (3,), (2, 1), (1, 1)]:
            refused(sz.InvalidArgument, name, sz.zeros(shape), X, match="shape")
        refused(
            sz.InvalidArgument, name, sz.zeros((2,)), X, "SUM", 1, keep_dims=True, match="shape"
        )


def test_the_way_out_of_a_wrong_dtype_is_one() -> None:
    for mode, dtype, way in (
        ("BAND", "float32", "sz.cast(input, sz.int64)"),
        ("MAX", "complex64", "sz.abs(input)"),
    ):
        x = sz.tensor([1, 0], dtype)
        refused(sz.TypeMismatch, "reduce", x, mode, match=way)
        sz.reduce(eval(way, {"sz": sz, "input": x}), mode)


# ---- modes of one's own -------------------------------------------------------------------------


def test_the_order_is_kept() -> None:
    first = sz.ReduceFunction(lambda a, b: a)
    last = sz.ReduceFunction(lambda a, b: b)
    for shape in [(1,), (2,), (7,), (3, 5), (2, 3, 4)]:
        x = sz.tensor(np.arange(math.prod(shape)).reshape(shape))
        for axis in (None, 0, -1, (0, -1) if len(shape) > 1 else 0):
            for layout in (None, range(len(shape))):
                y = sz.cast(x, sz.int64, layout=layout)
                assert sz.reduce(y, first, axis).tolist() == sz.reduce(x, "MIN", axis).tolist()
                assert sz.reduce(y, last, axis).tolist() == sz.reduce(x, "MAX", axis).tolist()


def test_the_order_of_the_axes_that_are_given_does_not_matter() -> None:
    x = sz.reshape(sz.range(0.0, 23.0, 1.0), (2, 3, 4))
    left = sz.ReduceFunction(lambda a, b: 2 * a + b)
    for axes in ((0, 1), (1, 2), (0, 2), (0, 1, 2)):
        there, back = (sz.reduce(x, left, order).tolist() for order in (axes, axes[::-1]))
        assert there == back
        g = sz.reduce(x, "SUM", axes)
        there, back = (sz.reduce_bwd(g, x, "PROD", order).tolist() for order in (axes, axes[::-1]))
        assert there == back


def test_a_function_that_does_not_commute() -> None:
    """Maps x -> a x + b, as complex numbers: (a, b) then (c, d) is (ca, cb + d)."""

    def then(f: sz.Tensor, g: sz.Tensor) -> sz.Tensor:
        one, two = f.numpy(), g.numpy()
        return sz.tensor(one.real * two.real + 1j * (two.real * one.imag + two.imag))

    maps = [(2, 1), (3, -1), (1, 5), (-1, 2), (2, 0), (1, 1), (3, 3)]
    x = sz.tensor([complex(*m) for m in maps], sz.complex128)
    a, b = 1, 0
    for c, d in maps:
        a, b = c * a, c * b + d
    found = sz.reduce(x, sz.ReduceFunction(then, identity=1, name="then"), keep_dims=True)
    assert found.tolist() == [complex(a, b)]


def test_identity_finish_and_backward() -> None:
    def backward(gradient: sz.Tensor, x: sz.Tensor, axes: tuple[int, ...]) -> sz.Tensor:
        assert gradient.shape == (2, 1)
        assert axes == (1,)
        return gradient * sz.cast(x, gradient.dtype)

    mean = sz.ReduceFunction(lambda a, b: a + b, 0, lambda total, n: total / max(n, 1), backward)
    assert sz.reduce(X, mean, 1).tolist() == [2, 5]
    assert sz.reduce(X, mean).shape == ()
    assert sz.reduce(sz.zeros((2, 0)), mean, 1, keep_dims=True).tolist() == [[0], [0]]
    assert sz.reduce_bwd(sz.tensor([1.0, 2.0]), X, mean, 1).tolist() == [[1, 2, 3], [8, 10, 12]]
    alone = sz.reduce(sz.tensor([7]), sz.ReduceFunction(lambda a, b: a), 0)
    assert alone.item() == 7
    without = sz.ReduceFunction(lambda a, b: a + b, name="my sum")
    refused(sz.InvalidArgument, "reduce", sz.zeros((0,)), without, match="my sum has no identity")
    refused(
        sz.InvalidArgument, "reduce_bwd", sz.tensor(1.0), X, without, match="my sum has no gradient"
    )
    one = sz.tensor([1.0])
    result = sz.reduce(one, without)
    one[0] = 5
    assert result.item() == 1  # not a view of the input


def test_functions_that_return_what_they_must_not() -> None:
    wrong: dict[Any, type[sz.StatusError]] = {
        (lambda a, b: None): sz.InvalidArgument,
        (lambda a, b: a.numpy()): sz.InvalidArgument,
        (lambda a, b: sz.tensor(1.0)): sz.InvalidArgument,
        (lambda a, b: sz.cast(a, sz.float16)): sz.TypeMismatch,
    }
    for combine, error in wrong.items():
        refused(error, "reduce", X, sz.ReduceFunction(combine), match="combine")
    finish = sz.ReduceFunction(lambda a, b: a, finish=lambda x, n: X)
    refused(sz.InvalidArgument, "reduce", X, finish, match="finish")
    backward = sz.ReduceFunction(lambda a, b: a, backward=lambda g, x, axes: g)
    refused(sz.InvalidArgument, "reduce_bwd", sz.tensor(1.0), X, backward, match="backward")
    for broken in (
        {"combine": None},
        {"combine": max, "finish": 3},
        {"combine": max, "backward": "x"},
    ):
        with nothing_made(), pytest.raises(sz.InvalidArgument, match="must be a function"):
            sz.ReduceFunction(**broken)
    with pytest.raises(ZeroDivisionError):
        sz.reduce(X, sz.ReduceFunction(lambda a, b: 1 / 0))


def test_sparse_tensors_share_the_modes() -> None:
    x = sz.create_sparse_tensor((2, 3), [[0, 1], [1, 2]], [5, -7])
    assert sz.reduce(x, sz.ReduceMode.SUM, 1).to_dense().tolist() == [5, -7]
    assert sz.reduce(x, "max", (1,), True).to_dense().tolist() == [[5], [0]]
    refused(sz.InvalidArgument, "reduce", x, sz.ReduceFunction(lambda a, b: a), match="sparse")
    refused(sz.InvalidArgument, "reduce", x, "SUM", 1, 2, match="keep_dims")
