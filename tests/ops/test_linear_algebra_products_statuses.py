"""7.2.17.1, .2, .12, .13: statuses of products and gradients; nothing is made on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.moves import refused
from suanzi import _core
from suanzi.base.status import WrongObject
from suanzi.standard import interface

# The axes of each operand; those of one letter have one size.
AXES = {
    "matmul": "mk kn", "dot": "mk kn", "dot_bwd1": "mn mk kn", "dot_bwd2": "mn mk kn",
    "linear": "nk ok o", "linear_bwd_in": "no ok", "linear_bwd_weight": "no nk",
    "bilinear": "ni nj oij o", "bilinear_bwd_in1": "no nj oij", "bilinear_bwd_in2": "no ni oij",
    "bilinear_bwd_weight": "no ni nj",
}  # fmt: skip
SIZES = dict(zip("mnkoij", (2, 4, 3, 5, 3, 6), strict=True))


def operands(name: str) -> dict[str, str]:
    return dict(zip(interface(name).operands, AXES[name].split(), strict=True))


def good(name: str) -> dict[str, sz.Tensor]:
    return {key: sz.zeros([SIZES[a] for a in axes]) for key, axes in operands(name).items()}


@pytest.mark.parametrize("name", AXES)
def test_shapes(name: str) -> None:
    """An axis of another size is refused where another operand has it, too."""
    error = sz.InvalidArgument if name.startswith("dot") else sz.DimensionsMismatch
    arguments, mine = good(name), operands(name)
    for key, axes in mine.items():
        bad: list[tuple[int, ...]] = [] if name == "dot" else [()]
        if key in ("weight", "bias"):
            bad += [arguments[key].shape[1:], (1, *arguments[key].shape)]
        for at, letter in enumerate(axes):
            longer = [n + (i == at) for i, n in enumerate(arguments[key].shape)]
            if any(letter in other for k, other in mine.items() if k != key):
                bad.append(tuple(longer))
            else:
                getattr(sz, name)(**arguments | {key: sz.zeros(longer)})
        for shape in bad:
            refused(error, name, **arguments | {key: sz.zeros(shape)})
    if name != "dot" and not name.startswith("dot_bwd"):
        refused(error, name, **arguments | {key: 2.5})


def test_batches_that_do_not_go_together() -> None:
    x, y = sz.zeros((2, 3, 4)), sz.zeros((3, 4, 5))
    for part in ("(2,)", "(3,)"):
        refused(sz.DimensionsMismatch, "matmul", x, y, match=part)


@pytest.mark.parametrize("name", ["matmul", "dot", "linear"])
def test_the_dtype_asked_for(name: str) -> None:
    wrong = sz.TypeMismatch if name == "linear" else sz.InvalidArgument
    arguments = good(name)
    for dt in (sz.int32, sz.bool, sz.char, sz.QT_SYM_INT8, sz.int4):
        refused(wrong, name, **arguments, dtype=dt)
    complexes = {key: sz.cast(x, sz.complex64) for key, x in arguments.items()}
    for part in ("complex64", "float64"):
        refused(wrong, name, **complexes, dtype=sz.float64, match=part)
    first = next(iter(arguments))
    text: Any = {first: _core.empty((1,), sz.char)}
    refused(wrong, name, **arguments | text, dtype=sz.float32)


def test_numbers_and_the_dtype_asked_for() -> None:
    x = sz.tensor([1])
    refused(sz.InvalidArgument, "dot", x, 2.5, dtype=sz.int32)
    refused(sz.InvalidArgument, "dot", x, 2j, dtype=sz.float32)
    refused(sz.InvalidArgument, "dot", x, 2**70)
    found = sz.linear(sz.tensor([[True, False]]), sz.tensor([[True, True]]))
    assert (found.dtype, found.tolist()) == (sz.float32, [[1]])


def test_dtypes_without_a_common_one() -> None:
    x, y = sz.zeros((2, 2), sz.int8), sz.zeros((2, 2), sz.uint16)
    for name in ("matmul", "dot"):
        refused(sz.TypeMismatch, name, x, y)
    assert sz.matmul(x, y, dtype=sz.int32).dtype is sz.int32
    with sz.promotion("strict"):
        refused(WrongObject, "matmul", x, sz.cast(y, sz.int16))
        refused(sz.TypeMismatch, "linear", x, x)
        assert sz.linear(x, x, dtype=sz.float32).dtype is sz.float32


def test_too_many_axes() -> None:
    refused(sz.InvalidArgument, "dot", sz.zeros((1,) * 40), sz.zeros((1,) * 30))
    assert sz.matmul(sz.zeros((1,) * 64), sz.zeros((1,) * 64)).ndim == 64


def test_sparse_operands() -> None:
    x = sz.to_sparse(sz.tensor([[1.0, 0.0], [0.0, 2.0]]))
    dense = sz.tensor([[3.0, 4.0], [5.0, 6.0]])
    assert sz.matmul(x, dense).tolist() == (x @ dense).tolist() == [[3, 4], [10, 12]]
    assert (dense @ x).tolist() == [[3, 8], [5, 12]]
    wide = sz.matmul(x, dense, dtype=sz.float64)
    assert (wide.dtype, wide.tolist()) == (sz.float64, [[3, 4], [10, 12]])
    for name in ("dot", "linear"):
        refused(sz.TypeMismatch, name, x, dense, match="to_dense()")


def test_python_symbol() -> None:
    x = sz.tensor([[1, 2], [3, 4]])
    assert (x @ x).tolist() == [[7, 10], [15, 22]]
    assert (x @ np.array([1, 2])).tolist() == [5, 11]
    assert (np.array([[1, 0], [0, 1]]) @ x).tolist() == x.tolist()
    y = x
    y @= x
    assert y.tolist() == [[7, 10], [15, 22]]
    with pytest.raises(TypeError):
        x @ "text"
    with pytest.raises(TypeError):
        x @ [[1, 2], [3, 4]]
    with pytest.raises(sz.DimensionsMismatch):
        x @ 2
