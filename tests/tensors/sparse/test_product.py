"""7.2.17.1: matrix products of sparse tensors against Python's integers and fractions."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.sparse_cases import make, numbers, same

NAMES = """int8 uint8 int16 uint16 int32 uint32 int64 uint64 float8_e4m3fn float8_e5m2 float16
    bfloat16 float32 float64 complex32 complex64 complex128""".split()
SHAPES = [
    ((3, 4), (4, 2)), ((3, 4), (4,)), ((4,), (4, 2)), ((4,), (4,)), ((0, 4), (4, 2)),
    ((3, 0), (0, 2)), ((3, 4), (4, 0)), ((1, 1), (1, 1)), ((0,), (0,)), ((5, 6), (6, 5)),
]  # fmt: skip


def exact(x: sz.Tensor, y: sz.Tensor, dtype: str) -> sz.Tensor:
    """The product in Python's numbers, rounded or wrapped once."""
    kind = complex if "complex" in dtype else float if "float" in dtype else int
    a, b = (np.array([kind(v) for v in t.numpy().reshape(-1)], object).reshape(t.shape)
            for t in (x, y))  # fmt: skip
    shape = (*x.shape[:-1], *y.shape[1:])
    rows = a.reshape(math.prod(a.shape[:-1]), a.shape[-1])
    columns = b.reshape(b.shape[0], math.prod(b.shape[1:]))
    flat = [
        sum((p * q for p, q in zip(rows[i], columns[:, j], strict=True)), kind(0))
        for i in range(math.prod(x.shape[:-1]))
        for j in range(columns.shape[1])
    ]
    if kind is int:
        bits = sz.iinfo(sz.dtype(dtype)).bits
        flat = [v % 2**bits for v in flat]
        flat = [v - 2**bits if dtype[0] == "i" and v >= 2 ** (bits - 1) else v for v in flat]
    made = sz.tensor(flat, sz.dtype(dtype))
    return sz.tensor(np.asarray(made.numpy()).reshape(shape))


@pytest.mark.parametrize("name", NAMES)
def test_products(name: str) -> None:
    """Values are small, so that sums are exact, but integers wrap."""
    random = Random(name)
    whole = not name.startswith(("int", "uint"))
    for left, right in SHAPES:
        layout = [random.choice(["coo", "csr"] if len(s) == 2 else ["coo"]) for s in (left, right)]
        x = make(random, left, name, layout[0], whole=whole)
        y = make(random, right, name, layout[1], whole=whole)
        dense_x = sz.tensor(numbers(random, name, math.prod(left), whole).reshape(left))
        dense_y = sz.tensor(numbers(random, name, math.prod(right), whole).reshape(right))
        both = x @ y
        assert isinstance(both, sz.SparseTensor)
        same(both.to_dense(), exact(x.to_dense(), y.to_dense(), name), signs=False)
        assert both.is_coalesced
        for got, expected in (
            (x @ dense_y, exact(x.to_dense(), dense_y, name)),
            (dense_x @ y, exact(dense_x, y.to_dense(), name)),
            (x @ dense_y.numpy(), exact(x.to_dense(), dense_y, name)),
        ):
            assert isinstance(got, sz.Tensor)
            same(got, expected, signs=False)
            assert got.layout.min2maj == tuple(range(got.ndim - 1, -1, -1))


def test_narrow_floats_are_rounded_once() -> None:
    ones = np.ones((1, 4096))
    for dtype in (sz.float16, sz.bfloat16):
        x = sz.to_sparse(sz.tensor(ones, dtype), "csr")
        y = sz.tensor(ones[0], dtype)
        assert (x @ y).tolist() == [4096]
        assert (x @ sz.to_sparse(y)).to_dense().tolist() == [4096]


def test_layouts() -> None:
    coo = sz.create_sparse_tensor((2, 2), [[0, 1]], [1])
    csr = coo.to_csr()
    for a in (coo, csr):
        for b in (coo, csr):
            kind = sz.LayoutType.CSR if a is csr and b is csr else sz.LayoutType.COO
            assert (a @ b).layout.type is kind


def test_promotion() -> None:
    x = sz.create_sparse_tensor((1, 2), [[0, 0], [0, 1]], [2049, 1], sz.int32)
    y = sz.tensor([1, 0.5], sz.float16)
    got = x @ y
    # Each operand is converted first: 2049 is 2048 in float16.
    assert (got.dtype, got.tolist()) == (sz.float16, [2048])
    with sz.promotion("numpy"):
        assert ((x @ y).dtype, (x @ y).tolist()) == (sz.float64, [2049.5])
    with sz.promotion("strict"), pytest.raises(sz.InvalidArgument, match=r"matmul \(7\.2\.17\.1\)"):
        x @ y
    flags = sz.to_sparse(sz.tensor([[True]]))
    with pytest.raises(sz.InvalidArgument, match="mat1 is bool"):
        flags @ flags


def test_what_is_not_stored_contributes_nothing() -> None:
    """Not even the NaN of zero times infinity, as the page on sparse tensors says."""
    x = sz.create_sparse_tensor((2, 2), [[0, 0]], [2])
    assert (x @ sz.tensor([1, math.inf])).tolist() == [2, 0]
    assert str((x @ sz.tensor([math.nan, 1])).tolist()) == "[nan, 0.0]"


def test_what_is_refused() -> None:
    x = sz.create_sparse_tensor((2, 3), [[0, 1]], [1])
    point: Any = sz.create_sparse_tensor((), [], [])
    for wrong in (sz.tensor([1.0, 2]), x, point, 2.0, sz.tensor(1.0), np.ones((2, 3))):
        with pytest.raises(sz.DimensionsMismatch, match=r"^matmul \(7\.2\.17\.1\): .*\.$"):
            x @ wrong
    with pytest.raises(sz.TypeMismatch, match=r"to_dense\(\)"):
        x @ sz.tensor(np.ones((2, 3, 1)))
    with pytest.raises(sz.TypeMismatch, match=r"to_dense\(\)"):
        x.reshape((1, 2, 3)) @ sz.tensor([1.0, 2, 3])
    with pytest.raises(sz.UninitializedObject, match="mat2 is None"):
        x.__suanzi_operator__("matmul", (x, None), {})
    with pytest.raises(TypeError):
        x @ None


def test_a_product_leaves_the_operand_as_it_is() -> None:
    x = sz.create_sparse_tensor((2, 2), [[1, 1], [0, 0], [1, 1]], [1, 2, 3])
    for _ in range(2):
        assert (x @ sz.tensor([1.0, 10])).tolist() == [2, 40]
    assert x.indices.tolist() == [[1, 1], [0, 0], [1, 1]]
    y = x.to_csr()
    for _ in range(2):
        assert (y @ sz.tensor([1.0, 10])).tolist() == [2, 40]
    assert y.columns.dtype is sz.int64
