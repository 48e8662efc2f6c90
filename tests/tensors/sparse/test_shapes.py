"""transpose, reshape and their like on sparse tensors, against NumPy on dense arrays."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.sparse_cases import SHAPES, make, same


def call(x: sz.SparseTensor, name: str, *args: Any, **kwargs: Any) -> sz.SparseTensor:
    made: sz.SparseTensor = x.__suanzi_operator__(name, (x, *args), kwargs)
    return made


def check(got: sz.SparseTensor, x: sz.SparseTensor, expected: Any) -> None:
    same(got.to_dense(), sz.tensor(expected))
    csr = x.layout.type is sz.LayoutType.CSR and got.ndim == 2
    assert got.layout.type is (sz.LayoutType.CSR if csr else sz.LayoutType.COO)


def cases() -> list[sz.SparseTensor]:
    random = Random(3)
    found = [make(random, shape, "int16") for shape in SHAPES for _ in range(3)]
    return found + [make(random, s, "bfloat16", "csr", whole=True) for s in SHAPES if len(s) == 2]


def test_transpose_moves_axis_i_to_place_perm_i() -> None:
    """The inverse of NumPy's: only cycles of three tell the difference."""
    x = make(Random(1), (2, 3, 4), "float32", whole=True)
    assert x.transpose((1, 2, 0)).shape == (4, 2, 3)
    for perm in permutations(range(3)):
        check(x.transpose(perm), x, x.to_dense().numpy().transpose(np.argsort(perm)))
    for x in cases():
        check(x.transpose(), x, x.to_dense().numpy().transpose())
        check(x.transpose().transpose(), x, x.to_dense().numpy())
        check(call(x, "transpose", perm=None), x, x.to_dense().numpy().T)


def test_reshape() -> None:
    for x in cases():
        dense = x.to_dense().numpy()
        for shape in ((x.size,), (1, x.size, 1), x.shape[::-1], (1,) * 3 + x.shape):
            check(x.reshape(shape), x, dense.reshape(shape))
        check(call(x, "reshape", dims=[x.size, 1]), x, dense.reshape(-1, 1))


def test_expand_dims_squeeze_and_flatten() -> None:
    for x in cases():
        dense = x.to_dense().numpy()
        check(call(x, "squeeze"), x, np.squeeze(dense))
        for axis in range(-x.ndim - 1, x.ndim + 1):
            check(call(x, "expand_dims", axis), x, np.expand_dims(dense, axis))
        for start in range(x.ndim):
            for stop in range(start, x.ndim):
                middle = int(np.prod(x.shape[start : stop + 1]))
                shape = (*x.shape[:start], middle, *x.shape[stop + 1 :])
                check(call(x, "flatten", start, stop), x, dense.reshape(shape))
    x = make(Random(1), (1, 2, 1, 3), "int8")
    assert call(x, "squeeze", (0,)).shape == (2, 1, 3)
    assert call(x, "squeeze", [-2, 1]).shape == (1, 2, 3)  # axis 1 is larger, and stays
    assert call(x, "squeeze", 0).shape == (2, 1, 3)


@pytest.mark.parametrize(
    ("name", "args", "error"),
    [
        ("transpose", [(0, 0)], sz.InvalidArgument),
        ("transpose", [(0,)], sz.InvalidArgument),
        ("transpose", [(0, 2)], sz.InvalidArgument),
        ("transpose", ["ab"], sz.InvalidArgument),
        ("reshape", [(2, 2)], sz.DimensionsMismatch),
        ("reshape", [(-1, 6)], sz.InvalidArgument),
        ("reshape", [6], sz.InvalidArgument),
        ("expand_dims", [3], sz.OutOfRange),
        ("expand_dims", [-4], sz.OutOfRange),
        ("expand_dims", [1.5], sz.InvalidArgument),
        ("squeeze", [(2,)], sz.OutOfRange),
        ("squeeze", [(0, 0)], sz.InvalidArgument),
        ("flatten", [1, 0], sz.AxisArgument),
        ("flatten", [0, 2], sz.AxisArgument),
    ],
)
def test_what_is_refused(name: str, args: list[Any], error: type[sz.StatusError]) -> None:
    x = sz.create_sparse_tensor((2, 3), [[0, 1]], [1])
    with pytest.raises(error, match=rf"^{name} \(7\.2\.3\.\d+\): .*\.$"):
        call(x, name, *args)
