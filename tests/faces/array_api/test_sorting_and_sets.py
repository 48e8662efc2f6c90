"""Order, sets, searches and picks against NumPy, in every dtype and layout."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.arrays import EVERY, exact, made
from suanzi import _core
from suanzi.base.status import DimensionsMismatch, InvalidArgument, OutOfRange, TypeMismatch

xp = sz.array_api
REAL = tuple(dt for dt in EVERY if dt.kind != "complex")
COMPLEX = tuple(dt for dt in EVERY if dt.kind == "complex")
LAYOUTS = ("rows", "transposed", "strided")
NAN = float("nan")


def same(x: sz.Tensor, a: Any) -> bool:
    found = exact(x)
    return found.shape == np.shape(a) and np.array_equal(
        found, a, equal_nan=found.dtype.kind in "fc"
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dt", EVERY, ids=str)
def test_sort(dt: sz.DType, layout: str) -> None:
    x = made(dt, (3, 8, 2), layout=layout)
    a = exact(x)
    for axis in (0, 1, -1):
        assert xp.sort(x, axis=axis).dtype is dt
        assert same(xp.sort(x, axis=axis), np.sort(a, axis))
        assert same(xp.argsort(x, axis=axis), np.argsort(a, axis, kind="stable"))
        # Falling, equal elements keep their order, too: the stable order of the flipped, flipped.
        turned = np.flip(a, axis)
        falling = a.shape[axis] - 1 - np.flip(np.argsort(turned, axis, kind="stable"), axis)
        assert same(xp.argsort(x, axis=axis, descending=True), falling)
        assert same(xp.sort(x, axis=axis, descending=True), np.flip(np.sort(a, axis), axis))


SORTED = ("i1", "u2", "i4", "u8", "f2", "f4", "f8")


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("kind", SORTED)
def test_sort_in_every_way(kind: str, descending: bool) -> None:
    """By ranks, in columns, by digits, by comparisons: the bits that a stable sort has.

    The wide keys differ in few bits, in their first alone, in their last alone, and in all. Zeros
    have both signs, NaNs all kinds of bits.
    """
    rng = np.random.default_rng(3)
    bits = np.dtype(f"u{kind[1]}")
    for shape in [(3,), (70,), (70, 10), (33, 64), (3, 65), (2, 300), (20_000,), (40_000,)]:
        size = int(np.prod(shape))
        drawn = rng.integers(0, 2 ** (8 * bits.itemsize), size, dtype=bits)
        masks = [0, 3, 2**40 - 1, 2**64 - 2**24, 2**64 - 2**60 + 2**9, 2**64 - 1]
        for mask in masks:
            some = drawn & bits.type(mask & (2 ** (8 * bits.itemsize) - 1))
            some[::7] &= bits.type(1 << (8 * bits.itemsize - 1))
            x = sz.tensor(some.view(kind).reshape(shape))
            last = x.ndim - 1
            places = _in_order(some.view(kind).reshape(shape), descending)
            expected = np.take_along_axis(some.reshape(shape), places, last)
            for longest in (2**32 - 1, 1):
                found = _core.sort_values(x, last, descending, longest)
                assert np.array_equal(found.numpy().view(bits), expected)
        turned = xp.permute_dims(x, tuple(range(x.ndim))[::-1])
        found = xp.sort(turned, axis=0, descending=descending)
        assert np.array_equal(found.numpy().view(bits), expected.T)


def _in_order(x: np.ndarray[Any, Any], descending: bool) -> np.ndarray[Any, Any]:
    """Return where elements are in order: NaNs are the largest, equal ones as they come."""
    if not descending:
        return np.argsort(x, kind="stable")
    return x.shape[-1] - 1 - np.argsort(x[..., ::-1], kind="stable")[..., ::-1]


@pytest.mark.parametrize("dt", COMPLEX, ids=str)
def test_complex_numbers_with_nan_sort_as_numpys(dt: sz.DType) -> None:
    parts = [-1.0, 0.0, 2.0, NAN]
    a = np.array([complex(re, im) for re, im in itertools.product(parts, parts)] * 2)
    a = np.random.default_rng(0).permutation(a)
    x = sz.cast(sz.tensor(a), dt)
    got, true = exact(xp.sort(x)), np.sort(a)
    assert np.array_equal(got.real, true.real, equal_nan=True)
    assert np.array_equal(got.imag, true.imag, equal_nan=True)


@pytest.mark.parametrize("dt", EVERY, ids=str)
def test_unique(dt: sz.DType) -> None:
    x = made(dt, (4, 6), layout="strided")
    a = exact(x)
    values, indices, inverse, counts = xp.unique_all(x)
    true = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
    assert values.dtype is dt
    assert same(values, true[0])
    assert same(indices, true[1])
    assert same(counts, true[3])
    assert same(inverse, true[2].reshape(a.shape))
    assert same(xp.unique_values(x), true[0])
    assert same(xp.unique_counts(x).counts, true[3])
    assert same(xp.unique_inverse(x).inverse_indices, true[2].reshape(a.shape))


def test_unique_of_nan_and_zeros() -> None:
    x = sz.tensor([0.0, NAN, -0.0, NAN, 1.0], sz.float16)
    found = xp.unique_all(x)
    assert found.counts.tolist() == [2, 1, 1, 1]
    assert found.indices.tolist() == [0, 4, 1, 3]
    assert found.inverse_indices.tolist() == [0, 2, 0, 3, 1]
    y = sz.tensor([complex(NAN, 0), complex(NAN, 0), 1j], sz.complex64)
    assert xp.unique_counts(y).counts.tolist() == [1, 1, 1]


@pytest.mark.parametrize("dt", EVERY, ids=str)
def test_isin(dt: sz.DType) -> None:
    x, y = made(dt, (4, 6), 1, "transposed"), made(dt, (5,), 2)
    assert same(xp.isin(x, y), np.isin(exact(x), exact(y)))
    assert same(xp.isin(x, y, invert=True), np.isin(exact(x), exact(y), invert=True))
    assert same(xp.isin(x, y[:0]), np.zeros((4, 6), bool))


def test_isin_of_numbers_and_of_integers_without_a_common_dtype() -> None:
    x = sz.tensor([1, -1, 2**63 - 1], sz.int64)
    y = sz.tensor([2**64 - 1, 2**63 - 1, 1], sz.uint64)
    assert xp.isin(x, y).tolist() == [True, False, True]
    assert xp.isin(y, x).tolist() == [False, True, True]
    assert xp.isin(x, -1).tolist() == [False, True, False]
    assert xp.isin(1, x).item() is True
    assert xp.isin(sz.tensor([NAN]), sz.tensor([NAN])).tolist() == [False]
    with pytest.raises(TypeMismatch, match="isin: x1 and x2 are both numbers"):
        xp.isin(1, 2)


@pytest.mark.parametrize("name", ["int64", "uint64", "int16"])
def test_isin_at_the_ends_of_integers(name: str) -> None:
    limits = np.iinfo(name)
    rng = np.random.default_rng(0)
    for low in (limits.min, limits.max - 40):
        own = np.array([low, low + 3, low + 40], name)
        a = rng.choice(
            np.array([low, low + 1, low + 3, low + 40, limits.min, limits.max, 7], name), 3000
        )
        assert same(xp.isin(sz.tensor(a), sz.tensor(own)), np.isin(a, own))


@pytest.mark.parametrize("dt", REAL, ids=str)
def test_searchsorted(dt: sz.DType) -> None:
    x, keys = made(dt, (40,), 3), made(dt, (3, 5), 4, "strided")
    a = exact(x)
    for side in ("left", "right"):
        true = np.searchsorted(np.sort(a), exact(keys), side)  # type: ignore[call-overload]
        assert same(xp.searchsorted(xp.sort(x), keys, side=side), true)
        assert same(xp.searchsorted(x, keys, side=side, sorter=xp.argsort(x)), true)
        assert same(xp.searchsorted(xp.sort(x)[::-1][::-1], keys, side=side), true)
        assert same(xp.searchsorted(x[:0], keys, side=side), np.zeros((3, 5)))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 1000])
def test_searchsorted_at_every_place(n: int) -> None:
    a = np.repeat(np.arange(n) * 2.0, 2)
    keys = np.concatenate([a, a - 1, a + 1, [np.inf, -np.inf, NAN]])
    with_nan = np.concatenate([a, [NAN, NAN]])
    for row, side in itertools.product((a, with_nan), ("left", "right")):
        true = np.searchsorted(row, keys, side)  # type: ignore[call-overload]
        assert same(xp.searchsorted(sz.tensor(row), sz.tensor(keys), side=side), true)


def test_searchsorted_of_keys_that_rise_by_any_step() -> None:
    row = np.arange(200.0)
    for step in range(1, 40):
        keys = np.arange(-3.0, 203, step)
        found = xp.searchsorted(sz.tensor(row), sz.tensor(keys), side="right")
        assert same(found, np.searchsorted(row, keys, "right"))


def test_searchsorted_of_a_number_and_refusals() -> None:
    x = sz.tensor([1, 2, 3], sz.int8)
    assert xp.searchsorted(x, 2).item() == 1
    assert xp.searchsorted(x, 2.5).item() == 2
    with pytest.raises(DimensionsMismatch, match="searchsorted: x1 has shape"):
        xp.searchsorted(x.reshape(1, 3), x)
    with pytest.raises(InvalidArgument, match="searchsorted: side is 'middle'"):
        xp.searchsorted(x, x, side="middle")
    with pytest.raises(OutOfRange, match="searchsorted: sorter contains 3"):
        xp.searchsorted(x, x, sorter=sz.tensor([0, 1, 3]))
    with pytest.raises(DimensionsMismatch, match="searchsorted: sorter has shape"):
        xp.searchsorted(x, x, sorter=sz.tensor([0, 1]))


@pytest.mark.parametrize("dt", EVERY, ids=str)
def test_where_elements_are(dt: sz.DType) -> None:
    x = made(dt, (3, 4, 2), 5, "strided")
    a = exact(x)
    for axis, keepdims in itertools.product((None, 0, -1, (0, 2)), (False, True)):
        kept: Any = {"axis": axis, "keepdims": keepdims}
        assert same(xp.count_nonzero(x, **kept), np.count_nonzero(a, **kept))
        assert same(xp.any(x, **kept), a.any(**kept))
        assert same(xp.all(x, **kept), a.all(**kept))
        if dt.kind != "complex" and not isinstance(axis, tuple):
            assert same(xp.argmax(x, **kept), a.argmax(**kept))
            assert same(xp.argmin(x, **kept), a.argmin(**kept))
    for found, true in zip(xp.nonzero(x), np.nonzero(a), strict=True):
        assert same(found, true)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_of_nothing(shape: tuple[int, ...]) -> None:
    x = sz.cast(sz.zeros(shape), sz.bfloat16)
    assert [i.shape for i in xp.nonzero(x)] == [(0,)] * len(shape)
    assert xp.sort(x).shape == xp.argsort(x).shape == shape
    assert xp.unique_all(x).values.shape == (0,)
    assert xp.unique_inverse(x).inverse_indices.shape == shape
    assert xp.all(x).item() is True
    assert xp.any(x).item() is False
    assert xp.count_nonzero(x, axis=-1).shape == shape[:-1]
    with pytest.raises(InvalidArgument, match="argmax: x has shape"):
        xp.argmax(x)


@pytest.mark.parametrize("where", [0, 70000, 10**6 - 1])
def test_any_and_all_stop_early_and_miss_nothing(where: int) -> None:
    x = sz.zeros((1000, 1000), sz.bool)
    assert xp.any(x).item() is False
    x.reshape(-1)[where] = True
    assert xp.any(x).item() is True
    assert xp.any(x, keepdims=True).shape == (1, 1)
    assert xp.all(xp.equal(x, False)).item() is False


@pytest.mark.parametrize("dt", EVERY, ids=str)
def test_take_along_axis(dt: sz.DType) -> None:
    x = made(dt, (3, 4, 2), 6, "transposed")
    a = exact(x)
    rng = np.random.default_rng(0)
    for axis in (0, 1, -1):
        shape = list(a.shape)
        shape[axis] = 5
        index = rng.integers(-a.shape[axis], a.shape[axis], shape)
        for kind in (sz.int8, sz.int64):
            got = xp.take_along_axis(x, sz.tensor(index, kind), axis=axis)
            assert got.dtype is dt
            assert same(got, np.take_along_axis(a, index, axis))
    one = sz.tensor([[[1], [0], [2], [-1]]])  # broadcast along the first axis
    assert same(
        xp.take_along_axis(x[:, :, :], one % 2, axis=2),
        np.take_along_axis(a, np.broadcast_to(one.numpy() % 2, (3, 4, 1)), 2),
    )
    with pytest.raises(OutOfRange, match="take_along_axis: indices contains 9"):
        xp.take_along_axis(x, sz.tensor([[[9]]]))
    with pytest.raises(DimensionsMismatch, match="take_along_axis: x has shape"):
        xp.take_along_axis(x, sz.tensor([0]))


@pytest.mark.parametrize("dt", EVERY, ids=str)
def test_repeat(dt: sz.DType) -> None:
    x = made(dt, (3, 4, 2), 7, "strided")
    a = exact(x)
    rng = np.random.default_rng(0)
    for axis in (0, 1, -1, None):
        n = a.size if axis is None else a.shape[axis]
        for counts in (2, 0, rng.integers(0, 3, n), np.zeros(n, int), np.array([2])):
            repeats = counts if isinstance(counts, int) else sz.tensor(counts)
            for laid_out in (x, sz.contiguous(x)):
                got = xp.repeat(laid_out, repeats, axis=axis)
                assert got.dtype is dt
                assert same(got, np.repeat(a, counts, axis))
    wide = made(dt, (3, 70), 7)  # whose rows are copied as a whole
    assert same(xp.repeat(wide, 2, axis=0), np.repeat(exact(wide), 2, 0))
    assert same(xp.repeat(wide.T, 0, axis=1), np.repeat(exact(wide.T), 0, 1))
    with pytest.raises(InvalidArgument, match="repeat: repeats contains -1"):
        xp.repeat(x, sz.tensor([1, -1, 0]), axis=0)
    with pytest.raises(DimensionsMismatch, match="repeat: repeats has shape"):
        xp.repeat(x, sz.tensor([1, 1]), axis=0)


@pytest.mark.parametrize("dt", [d for d in EVERY if d is not sz.bool], ids=str)
def test_diff(dt: sz.DType) -> None:
    x, more = made(dt, (3, 5), 8), made(dt, (3, 1), 9)
    wide = np.diff(exact(x), prepend=exact(more), append=exact(more))
    got = xp.diff(x, prepend=more, append=more)
    assert got.dtype is dt
    assert exact(got).tolist() == exact(sz.cast(sz.tensor(wide), dt)).tolist()
    assert xp.diff(x, axis=0, n=2).shape == (1, 5)
    assert xp.diff(x, n=0).shape == (3, 5)
    with pytest.raises(DimensionsMismatch, match="diff: prepend has shape"):
        xp.diff(x, prepend=more[:2])
    assert xp.diff(x, n=6).shape == (3, 0)  # as NumPy's
    assert xp.diff(x[:0], axis=0).shape == (0, 5)
