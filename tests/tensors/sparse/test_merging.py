"""Rows that the core merges, sorts, sums and fills, against dictionaries and plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import threads
from suanzi import _core

Entries = dict[tuple[int, ...], Any]
NAMES = ("int8", "float16", "float32", "float64", "complex128")  # one of each size


def rows(random: np.random.Generator, shape: tuple[int, int], fill: float) -> list[list[int]]:
    """Rising columns for each row; some rows are empty, some full."""
    made = []
    for _ in range(shape[0]):
        share = random.choice([0, fill, fill, fill, 1 if shape[1] < 100 else fill])
        made.append(np.flatnonzero(random.random(shape[1]) < share).tolist())
    return made


def parts(columns: list[list[int]]) -> tuple[sz.Tensor, sz.Tensor]:
    pointers = np.cumsum([0, *map(len, columns)])
    flat = [c for row in columns for c in row]
    return sz.tensor(pointers, sz.int64), sz.tensor(np.array(flat, np.int64))


def numbered(count: int, name: str) -> sz.Tensor:
    return sz.tensor(np.arange(count) % 100 + 1, sz.dtype(name))


SHAPES = [((0, 5), 0.5), ((7, 9), 0.4), ((1, 50), 0.5), ((300, 700), 0.6), ((3000, 9), 0.5)]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(("shape", "fill"), [*SHAPES, ((2, 90_000), 0.01), ((700, 40), 0.05)])
@pytest.mark.parametrize("name", NAMES)
def test_union(shape: tuple[int, int], fill: float, name: str, count: int) -> None:
    random = np.random.default_rng(5)
    a, b = rows(random, shape, fill), rows(random, shape, fill)
    of_a, of_b = parts(a), parts(b)
    x, y = numbered(of_a[1].size, name), numbered(of_b[1].size, "float32")
    with threads(count):
        pointers, columns, left, right, sides = _core.unite_rows(*of_a, x, *of_b, y)
    in_x, in_y = iter(x.numpy().tolist()), iter(y.numpy().tolist())
    expected: list[list[Any]] = [[], [], [], []]
    for one, other in zip(map(set, a), map(set, b), strict=True):
        for column in sorted(one | other):
            for target, value in zip(
                expected,
                (
                    column,
                    next(in_x) if column in one else 0,
                    next(in_y) if column in other else 0,
                    (column in one) + 2 * (column in other),
                ),
                strict=True,
            ):
                target.append(value)
    sizes = [len({*one, *other}) for one, other in zip(a, b, strict=True)]
    assert pointers.numpy().tolist() == np.cumsum([0, *sizes]).tolist()
    assert [t.numpy().tolist() for t in (columns, left, right, sides)] == expected
    assert (left.dtype, right.dtype) == (x.dtype, y.dtype)


@pytest.mark.parametrize("shape", [(7,), (1, 5), (300, 200), (4, 3, 5, 2)])
def test_coordinates_of_places_that_rise_and_that_do_not(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(8)
    places = random.integers(0, math.prod(shape), 50_000)
    for these in (places, np.sort(places), places[:1], places[:0]):
        got = _core.coordinates_of(sz.tensor(these, sz.int64), shape).numpy()
        assert got.tolist() == [list(axis) for axis in np.unravel_index(these, shape)]
    for bad in ((), (2, 0), (-1,)):
        with pytest.raises(ValueError, match="coordinates_of"):
            _core.coordinates_of(sz.tensor([0], sz.int64), bad)
    with pytest.raises(ValueError, match="coordinates_of"):
        _core.coordinates_of(sz.tensor([0.0]), (2,))


@pytest.mark.parametrize(("shape", "fill"), SHAPES)
def test_intersection(shape: tuple[int, int], fill: float) -> None:
    random = np.random.default_rng(6)
    a, b = rows(random, shape, fill), rows(random, shape, fill)
    of_a, of_b = parts(a), parts(b)
    pointers, in_a, in_b = _core.common_rows(*of_a, *of_b)
    both = [sorted({*one} & {*other}) for one, other in zip(a, b, strict=True)]
    flat = [c for row in both for c in row]
    assert pointers.numpy().tolist() == np.cumsum([0, *map(len, both)]).tolist()
    assert of_a[1].numpy()[in_a.numpy()].tolist() == flat
    assert of_b[1].numpy()[in_b.numpy()].tolist() == flat
    owner = np.repeat(np.arange(shape[0]), [len(row) for row in a])
    assert owner[in_a.numpy()].tolist() == [r for r, row in enumerate(both) for _ in row]


@pytest.mark.parametrize("highest", [0, 200, 70_000, 2**31 - 1])
@pytest.mark.parametrize("name", NAMES)
def test_sort_is_stable_in_rows_short_and_long(highest: int, name: str) -> None:
    random = np.random.default_rng(7)
    lengths = [0, 1, 2, 47, 48, 49, 1000, 0, 3, 40_000]
    columns = random.integers(0, highest, sum(lengths), np.int32, endpoint=True)
    values = numbered(len(columns), name)
    pointers = np.cumsum([0, *lengths])
    got = _core.sort_rows(sz.tensor(pointers, sz.int64), sz.tensor(columns), values)
    at = 0
    numbers = values.numpy().tolist()
    for length in lengths:
        row = sorted(range(at, at + length), key=lambda i: int(columns[i]))
        assert got[0].numpy()[at : at + length].tolist() == columns[row].tolist()
        assert got[1].numpy()[at : at + length].tolist() == [numbers[i] for i in row]
        at += length
    assert (got[0].dtype, got[1].dtype) == (sz.int64, values.dtype)


def test_sums_are_made_in_float64_and_keep_the_sign_of_a_zero() -> None:
    values = [1e8, 1, -1e8, -0.0, -0.0, -0.0, 0.0, math.inf, -math.inf]
    pointers = sz.tensor([0, 3, 4, 4, 6, 7, 9], sz.int64)
    got = _core.sum_rows(pointers, sz.tensor(values, sz.float32)).numpy()
    assert got.tolist()[:5] == [1, 0, 0, 0, 0]
    assert math.isnan(got[5])
    assert np.signbit(got[:5]).tolist() == [False, True, False, True, False]


def test_sums_by_columns() -> None:
    columns = sz.tensor([3, 0, 3, 3, 1], sz.int64)
    values = sz.tensor([1e8, -0.0, 1, -1e8, 2], sz.float32)
    assert _core.sum_columns(columns, values, 5).numpy().tolist() == [0, 2, 0, 1, 0]
    assert _core.sum_columns(columns[:0], values[:0], 0).size == 0
    for call in (
        lambda: _core.sum_columns(columns, values, 3),
        lambda: _core.sum_columns(columns, values, -1),
        lambda: _core.sum_columns(sz.tensor([-1], sz.int64), sz.tensor([1.0]), 3),
        lambda: _core.sum_columns(columns, values[:3], 5),
        lambda: _core.sum_columns(columns[::2], values[:3], 5),
        lambda: _core.sum_columns(columns, sz.cast(values, sz.float64), 5),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            call()


def test_sum_of_long_rows_is_the_exact_sum_rounded() -> None:
    random = np.random.default_rng(8)
    values = random.standard_normal((50, 3000)).astype(np.float32)
    x = sz.to_sparse(sz.tensor(values), "csr")
    for axis in (0, 1):
        lists = values.T if axis == 0 else values
        exact = [np.float32(math.fsum(line.tolist())) for line in lists]
        np.testing.assert_array_max_ulp(x.reduce("SUM", axis).to_dense().numpy(), exact, 1)


def test_negative_zeros_alone_in_an_axis_keep_their_sign() -> None:
    for layout in ("coo", "csr"):
        x = sz.to_sparse(sz.tensor([[-0.0, 0], [-0.0, -0.0]]), layout)
        for axis in (0, 1):
            got = x.reduce("SUM", axis).to_dense().numpy()
            assert np.signbit(got).tolist() == ([True, False] if axis == 0 else [False, True])


@pytest.mark.parametrize("name", NAMES)
def test_fill(name: str) -> None:
    random = np.random.default_rng(9)
    for shape, fill in SHAPES:
        columns = rows(random, shape, fill)
        places = parts(columns)
        values = numbered(places[1].size, name)
        target = _core.empty(shape, values.dtype)
        _core.fill_rows(target, *places, values)
        expected = np.zeros(shape)
        numbers = iter(values.numpy().tolist())
        for r, row in enumerate(columns):
            for c in row:
                expected[r, c] = np.real(next(numbers))
        assert (target.numpy() == expected).all()


LIST, TWO = sz.tensor([0, 1], sz.int64), sz.tensor([1.0, 2])
BAD: list[tuple[sz.Tensor, sz.Tensor]] = [
    (sz.tensor([0, 1], sz.int64), LIST),  # does not end at 2
    (sz.tensor([1, 2], sz.int64), LIST),
    (sz.tensor([0, 3, 2], sz.int64), LIST),
    (sz.tensor([0, -1, 2], sz.int64), LIST),
    (sz.tensor([0, 2], sz.int32), LIST),
    (sz.tensor([], sz.int64), LIST),
    (sz.tensor([[0, 2]], sz.int64), LIST),
    (sz.tensor([0, 2], sz.int64), sz.tensor([0, 1, 2, 3], sz.int64)[::2]),
]


@pytest.mark.parametrize("bad", BAD)
def test_places_that_cannot_be_are_refused(bad: tuple[sz.Tensor, sz.Tensor]) -> None:
    good = sz.tensor([0, 2], sz.int64), LIST
    narrow = bad[0], sz.tensor([0, 1], sz.int32)
    calls: list[Callable[[], Any]] = [
        lambda: _core.unite_rows(*bad, TWO, *good, TWO),
        lambda: _core.unite_rows(*good, TWO, *bad, TWO),
        lambda: _core.common_rows(*bad, *good),
        lambda: _core.common_rows(*good, *bad),
        lambda: _core.fill_rows(_core.empty((2, 2), sz.float32), *bad, TWO),
    ]
    if bad[1] is LIST:
        calls += [lambda: _core.sort_rows(*narrow, TWO), lambda: _core.sum_rows(bad[0], TWO)]
    for call in calls:
        with pytest.raises(ValueError, match=r"\w"):
            call()


def test_columns_outside_and_other_mistakes_are_refused() -> None:
    one = sz.tensor([0, 2], sz.int64)
    for columns in ([0, 4], [-1, 0]):
        with pytest.raises(ValueError, match="outside"):
            _core.fill_rows(_core.empty((4,), sz.float32), one, sz.tensor(columns, sz.int64), TWO)
    for call in (
        lambda: _core.fill_rows(_core.empty((4,), sz.float64), one, LIST, TWO),
        lambda: _core.fill_rows(TWO, one, LIST, TWO),
        lambda: _core.fill_rows(0, one, LIST, TWO),
        lambda: _core.unite_rows(one, LIST, sz.tensor([1.0]), one, LIST, TWO),
        lambda: _core.unite_rows(one, LIST, TWO, sz.tensor([0, 0, 2], sz.int64), LIST, TWO),
        lambda: _core.common_rows(one, LIST, sz.tensor([0, 0, 2], sz.int64), LIST),
        lambda: _core.common_rows(0, LIST, one, LIST),
        lambda: _core.sort_rows(one, LIST, TWO),
        lambda: _core.sum_rows(one, sz.tensor([1, 2])),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            call()


# ---- through the operators -----------------------------------------------------------------------


def entries(x: sz.SparseTensor) -> Entries:
    places = map(tuple, x.indices.numpy().tolist())
    return dict(zip(places, x.values.numpy().tolist(), strict=True))


@pytest.mark.parametrize("shape", [(2**40, 2**40), (2**31, 2**31), (3, 2**62), (5, 4, 3)])
def test_sums_and_products_where_places_are_far_apart(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(len(shape))
    one, other = (
        {tuple(int(random.choice([0, 1, n // 2, n - 1])) for n in shape): int(v) for v in values}
        for values in random.integers(1, 9, (2, 12))
    )
    x, y = (sz.create_sparse_tensor(shape, [*d], [*d.values()]) for d in (one, other))
    both = sorted({*one, *other})
    assert entries(x + y) == {p: one.get(p, 0) + other.get(p, 0) for p in both}
    assert list(entries(x + y)) == both
    assert entries(x * y) == {p: one[p] * other[p] for p in both if p in one and p in other}
    assert (x + y).is_coalesced
    assert (x * y).is_coalesced


@pytest.mark.parametrize("kinds", [("csr", "csr"), ("coo", "csr"), ("csr", "coo"), ("coo", "coo")])
@pytest.mark.parametrize("special", [math.inf, math.nan, None])
def test_products_store_nan_only_where_it_comes_from(kinds: Any, special: float | None) -> None:
    a = [[1, 0, -0.0], [-3, special or 2, 0]]
    b = [[2, 5, 1], [0, 0, -1]]
    x, y = (sz.to_sparse(sz.tensor(t, sz.float32), k) for t, k in zip((a, b), kinds, strict=True))
    for left, right in ((x, y), (y, x)):
        got = entries(left * right)
        assert got.pop((0, 0)) == 2
        assert math.copysign(1, got.pop((0, 2))) == -1
        if special is not None:
            assert math.isnan(got.pop((1, 1)))
        assert not got


def test_a_matrix_kept_for_products_serves_no_other_dtype() -> None:
    x = sz.to_sparse(sz.tensor([[0.1, 0], [0, 3]], sz.float32), "csr")
    ones = {name: sz.tensor([1, 1], sz.dtype(name)) for name in ("float32", "float64", "int8")}
    for name in ("float32", "float64", "float32", "int8", "float64"):
        got = x @ ones[name]
        assert got.dtype is (sz.float64 if name == "float64" else sz.float32)
        assert got.numpy().tolist() == [np.float32(0.1), 3]
    sz.destroy(x)
    with pytest.raises(sz.status.UninitializedObject):
        x @ ones["float32"]


def test_products_of_many_columns_are_in_order() -> None:
    random = np.random.default_rng(3)
    a, b = (random.integers(-9, 9, s) * (random.random(s) < 0.3) for s in ((40, 60), (60, 900)))
    x, y = (sz.to_sparse(sz.tensor(t, sz.int32), "csr") for t in (a, b))
    got = x @ y
    assert list(entries(got)) == sorted(entries(got))
    assert (got.to_dense().numpy() == a @ b).all()
