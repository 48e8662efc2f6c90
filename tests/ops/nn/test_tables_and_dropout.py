"""nn 4.2 to 4.4: embedding, one_hot, dropout: threads, layouts, sums of many rows, seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import at_level, threads
from helpers.normal import exact
from suanzi import _core
from suanzi.base.status import DimensionsMismatch, InvalidArgument, OutOfRange, TypeMismatch
from suanzi.tensors.parts import permuted

Array = np.ndarray[Any, Any]
FLOATS = ["float8_e5m2", "float16", "bfloat16", "float32", "float64"]


def made(dtype: str, *shape: int) -> sz.Tensor:
    x = np.random.default_rng(list(shape)).standard_normal(shape)
    return sz.cast(sz.tensor(x), dtype)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("dtype", FLOATS)
def test_embedding_is_rows_and_its_gradient_their_sums(dtype: str, count: int) -> None:
    rows, columns = 40, 1029  # more columns than are added at once
    table, numbers = made(dtype, rows, columns), np.random.default_rng(1).integers(0, 30, (9, 31))
    out_grad = made(dtype, 9, 31, columns)
    with threads(count):
        found = sz.nn.embedding(table, sz.tensor(numbers))
        grad = sz.nn.embedding_bwd(out_grad, table, sz.tensor(numbers), padding_idx=-40 + 3)
    assert np.array_equal(exact(found), exact(table)[numbers])
    sums = np.zeros((rows, columns))
    np.add.at(sums, numbers, exact(out_grad))
    sums[3] = 0
    true = exact(sz.cast(sz.tensor(sums), dtype))
    assert (exact(grad)[30:] == 0).all()
    if dtype == "float64":
        assert np.allclose(exact(grad), true, rtol=1e-12, atol=1e-13)
    else:  # float64 sums differ by their order, which rarely shows after rounding
        assert np.isclose(exact(grad), true, rtol=1e-7).mean() > 0.999


def test_embedding_layouts_and_dtypes_of_indices() -> None:
    table, numbers = made("float32", 6, 5), np.array([[5, 0, 3], [1, 1, 2]])
    expected = np.asarray(table)[numbers]
    turned = permuted(sz.tensor(np.asarray(table).T.copy()), (1, 0))
    for kind in ("int8", "uint8", "int32", "uint64"):
        assert np.array_equal(sz.nn.embedding(turned, sz.cast(sz.tensor(numbers), kind)), expected)
    backward = permuted(sz.tensor(numbers.T.copy()), (1, 0))[::-1]
    assert np.array_equal(sz.nn.embedding(table, backward), expected[::-1])
    assert sz.nn.embedding(table, sz.tensor(2)).shape == (5,)
    assert sz.nn.embedding(table, sz.zeros((0, 2), sz.int64)).shape == (0, 2, 5)


@pytest.mark.parametrize("dtype", [*FLOATS, "bool", "int8", "uint64"])
def test_one_hot(dtype: str) -> None:
    numbers = np.array([[2, 0], [1, 2]])
    found = sz.nn.one_hot(sz.tensor(numbers), 4, getattr(sz, dtype))
    assert found.dtype.name == dtype
    assert np.array_equal(exact(found), np.eye(4)[numbers])
    assert sz.nn.one_hot(sz.tensor(numbers)).shape == (2, 2, 3)


@pytest.mark.parametrize("level", _core.levels())
@pytest.mark.parametrize("dtype", FLOATS)
def test_dropout_by_a_mask(level: str, dtype: str) -> None:
    x, mask = made(dtype, 71, 33), np.random.default_rng(2).random((71, 33)) < 0.7
    with at_level(level):
        found = sz.nn.dropout(x, 0.3, sz.tensor(mask))
        again = sz.nn.dropout_bwd(x, x, 0.3, sz.tensor(mask))
    true = np.where(mask, exact(x) / (1 - 0.3), 0)
    unit = {"float64": 2**-52, "float32": 2**-23}.get(dtype, 0)
    near = np.abs(exact(found) - true) <= unit * np.abs(true)
    assert (near if unit else exact(found) == exact(sz.cast(sz.tensor(true), dtype))).all()
    assert np.array_equal(exact(again), exact(found))


def test_dropout_by_a_seed_is_the_same_everywhere() -> None:
    x = sz.tensor(np.ones((300, 400), np.float32))
    with threads(1):
        found = np.asarray(sz.nn.dropout(x, 0.25, seed=7))
    with threads(2):
        turned = permuted(sz.tensor(np.ones((400, 300), np.float32)), (1, 0))
        assert np.array_equal(sz.nn.dropout(turned, 0.25, seed=7), found)
    assert set(np.unique(found)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs((found > 0).mean() - 0.75) < 0.01
    assert np.array_equal(sz.nn.dropout_bwd(x, x, 0.25, seed=7), found)
    assert not np.array_equal(sz.nn.dropout(x, 0.25, seed=8), found)
    assert np.array_equal(sz.nn.dropout(x, 0.0, seed=7), x)
    assert not np.asarray(sz.nn.dropout(x, 1.0, seed=7)).any()


def test_what_is_dropped_is_0_whatever_it_was() -> None:
    x, mask = sz.tensor([np.inf, np.nan, np.inf]), sz.tensor([False, False, True])
    assert np.array_equal(sz.nn.dropout(x, 0.5, mask), [0, 0, np.inf])


T = sz.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
AT = sz.tensor([2, 0])


@pytest.mark.parametrize(
    ("call", "status", "message"),
    [
        (lambda: sz.nn.embedding(T, sz.tensor([2, 3])), OutOfRange, "indices contains 3; an index"),
        (lambda: sz.nn.embedding(T, sz.tensor([-1])), OutOfRange, "from 0 to 2"),
        (lambda: sz.nn.embedding(T, T), TypeMismatch, "indices is float32"),
        (lambda: sz.nn.embedding(T[0], AT), DimensionsMismatch, "two axes"),
        (lambda: sz.nn.embedding(T, AT, 3), OutOfRange, "padding_idx is 3; it must be from -3"),
        (lambda: sz.nn.embedding_bwd(T, T, AT), DimensionsMismatch, "it must be (2, 2)"),
        (lambda: sz.nn.embedding_bwd(T[:2], T, sz.tensor([0, 9])), OutOfRange, "contains 9"),
        (lambda: sz.nn.one_hot(AT, 2), OutOfRange, "indices contains 2"),
        (lambda: sz.nn.one_hot(AT, -2), InvalidArgument, "num_classes is -2"),
        (lambda: sz.nn.one_hot(sz.zeros((0,), sz.int64)), InvalidArgument, "Give num_classes"),
        (lambda: sz.nn.one_hot(AT, 3, sz.complex64), TypeMismatch, "dtype is complex64"),
        (lambda: sz.nn.dropout(T), InvalidArgument, "a mask or a seed, and received neither"),
        (lambda: sz.nn.dropout(T, 1.5, seed=1), InvalidArgument, "p is 1.5; it must be"),
        (lambda: sz.nn.dropout(T, 0.5, T), TypeMismatch, "mask is float32"),
        (lambda: sz.nn.dropout(T, 0.5, T[0] > 0), DimensionsMismatch, "mask has shape (2,)"),
    ],
)  # fmt: skip
def test_errors_name_the_argument_and_what_is_allowed(
    call: Callable[[], Any], status: type[Exception], message: str
) -> None:
    with pytest.raises(status, match="nn") as raised:
        call()
    assert message in str(raised.value)
