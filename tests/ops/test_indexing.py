"""7.2.14.1, .2, .5: argmax, argmin and nonzero against plain Python, any dtype and layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz
from helpers.functions import each_level, threads
from helpers.moves import laid_out, layouts, nothing_made, tensors
from helpers.orders import FLOATS, REAL, rows_along
from suanzi import _core
from suanzi.conformance.truth.indexing_order import first_best

COUNTED = [d for d in sz.dtypes.DTYPES if d.kind not in ("char", "quantized")]


def check_best(x: sz.Tensor, axis: int) -> None:
    rows = [row for _, row in rows_along(x, axis)]
    for name, least in (("argmax", False), ("argmin", True)):
        found = getattr(sz, name)(x, axis)
        assert found.dtype is sz.int64
        assert found.shape == x.shape[:axis] + x.shape[axis + 1 :]
        kept = getattr(sz, name)(x, axis=axis - x.ndim, keepdim=True, dtype=sz.int32)
        assert kept.dtype is sz.int32
        assert kept.shape == (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        assert kept.numpy().ravel().tolist() == found.numpy().ravel().tolist()
        expected = [first_best(row, least) for row in rows]
        assert found.numpy().ravel().tolist() == expected, (name, x, axis)


@pytest.mark.parametrize("name", ["int64", "uint64"])
def test_the_first_of_equal_long_integers(name: str) -> None:
    rng = np.random.default_rng(3)
    ends = np.iinfo(name)
    for n in [*range(1, 70), 500, 40_000]:
        few = np.array([ends.min, 0, 1, ends.max], name)[rng.integers(0, 4, (3, n))]
        for x in (few, np.sort(few, 1), np.sort(few, 1)[:, ::-1], few[:, :1].repeat(n, 1)):
            for ours, numpys in ((sz.argmax, np.argmax), (sz.argmin, np.argmin)):
                assert ours(sz.tensor(x.copy()), 1).numpy().tolist() == numpys(x, 1).tolist()


@settings(max_examples=150)
@given(tensors(min_dims=1, max_dims=4, min_side=1, dtypes=REAL), st.data())
def test_any_bits_in_any_layout(x: sz.Tensor, data: st.DataObject) -> None:
    check_best(x, data.draw(st.integers(0, x.ndim - 1)))


@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize("length", [7, 8, 64, 300, 1025])
def test_rows_and_columns_of_any_length(dtype: sz.DType, length: int) -> None:
    """Longer than what one block holds, and, of bytes, than one of them counts."""
    wide = laid_out((length, 37), dtype, seed=length)
    if dtype.kind == "float":  # random bytes of narrow floats have a NaN in every row
        wide = sz.where(sz.is_nan(wide), sz.tensor(0, dtype), wide)
    for x in (wide, sz.transpose(wide), wide[::-1], sz.transpose(wide[:, 3:24])):
        check_best(x, 0)


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_ties_are_the_first_anywhere(dtype: sz.DType) -> None:
    best = 1
    for where in ([0, 999], [5, 6], [700, 701, 999], [999]):
        values = np.zeros(1000)
        values[where] = best
        x = sz.cast(sz.tensor(values), dtype)
        assert sz.argmax(x).item() == where[0]
        assert sz.argmin(x).item() == (0 if where[0] else 1)
        both = sz.stack([x, x], 1)
        assert sz.argmax(both, 0).tolist() == [where[0]] * 2


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_nan_of_either_sign_wins_and_zeros_are_equal(dtype: sz.DType, sign: int) -> None:
    for length, place in ((3, 1), (50, 49), (3000, 2999), (3000, 20)):
        values = np.full(length, 5.0)
        values[place:] = sign * np.nan
        if dtype.name != "float8_e4m3fn":
            values[0] = np.inf
        x = sz.cast(sz.tensor(values), dtype)
        assert sz.argmax(x).item() == sz.argmin(x).item() == place
        columns = sz.stack([x] * 20, 1)
        assert sz.argmax(columns, 0).tolist() == sz.argmin(columns, 0).tolist() == [place] * 20
    zeros = sz.cast(sz.tensor([-0.0, 0.0] * 40), dtype)
    for x in (zeros, sz.reshape(sz.tile(zeros, (20,)), (20, 80))):
        assert not np.any(sz.argmax(x).numpy())
        assert not np.any(sz.argmin(x).numpy())
    other = sz.cast(sz.tensor([0.0, -0.0] * 40), dtype)
    assert sz.argmax(other).item() == sz.argmin(other).item() == 0


def test_no_level_and_no_number_of_threads_changes_a_result() -> None:
    random = np.random.default_rng(3)
    for dtype in REAL:
        x = sz.cast(
            sz.tensor(random.integers(0, 2, (400, 700)) * random.normal(0, 40, (400, 700))), dtype
        )
        flat = sz.reshape(x, (280000,))
        results = set()
        with each_level() as levels:
            for level in levels:
                _core.use_level(level)
                for count in (1, 2, 5):
                    with threads(count):
                        found = [sz.argmax(flat), sz.argmin(flat), sz.argmax(x, 0), sz.argmin(x, 1)]
                        found += sz.nonzero(x)
                    results.add(b"".join(f.numpy().tobytes() for f in found))
        assert len(results) == 1, dtype


def test_what_repeats_is_not_gone_through() -> None:
    """2**40 elements are one; and of so many, int32 counts none."""
    x = sz.expand(sz.tensor([7.0]), (2**40,))
    assert sz.argmax(x).item() == 0
    with pytest.raises(sz.OutOfRange, match="too large for int32"):
        sz.argmax(x, dtype="int32")
    assert sz.argmin(sz.expand(sz.tensor([7.0]), (2**31,)), dtype=sz.int32).item() == 0


@pytest.mark.parametrize(
    "wanted", [sz.int32, "int32", "s32", "int64", sz.int64, np.int32, np.dtype("int64")]
)
def test_the_dtype_by_its_names(wanted: Any) -> None:
    found = sz.argmax(sz.tensor([1, 5, 2]), dtype=wanted)
    assert found.item() == 1
    assert found.dtype is sz.dtype(wanted)


def test_numbers_arrays_and_axes_of_other_types() -> None:
    assert sz.argmax(np.array([[1.0, 3.0], [4.0, 2.0]]), np.int64(0)).tolist() == [1, 0]
    assert sz.argmin(sz.tensor([3, 1]), sz.tensor(0)).item() == 1
    assert sz.argmax(sz.zeros((0, 3)), 1).shape == (0,)
    assert sz.argmax(sz.zeros((0, 3)), 1, True).shape == (0, 1)


def test_quantised_tensors_are_the_numbers_they_stand_for() -> None:
    plain = sz.create_quant_tensor(
        (4,), 0.5, sz.QT_ASYM_UINT8, zero_point=10, values=[10, 3, 200, 200]
    )
    assert sz.argmax(plain).item() == 2
    assert sz.argmin(plain).item() == 1
    assert [i.tolist() for i in sz.nonzero(plain)] == [[1, 2, 3]]
    channels = sz.create_quant_tensor(
        (2, 2), [1.0, 0.01], sz.QT_CH_SYM_INT8, values=[[3, 100], [2, 120]], channel_axis=0
    )
    assert sz.argmax(channels, 0).tolist() == [0, 0]  # 3 and 100 against 0.02 and 1.2
    assert sz.argmax(channels, 1).tolist() == [1, 1]


# ---- nonzero -------------------------------------------------------------------------------------


def places(x: sz.Tensor) -> list[tuple[int, ...]]:
    """Where elements are not zero, in row-major order."""
    return [i for i in np.ndindex(x.shape) if x[i].item() != 0]


@settings(max_examples=150)
@given(st.data())
def test_nonzero_of_any_bits_in_any_layout(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    x = data.draw(layouts(shape, COUNTED))
    zeroed = sz.where(
        sz.tensor(np.random.default_rng(1).random(shape) < 0.5), x, sz.tensor(0, x.dtype)
    )
    for y in (x, zeroed, sz.transpose(zeroed)):
        expected = places(y)
        if not expected:
            with pytest.raises(sz.OutOfRange, match="no nonzero elements"):
                sz.nonzero(y)
            continue
        rows = sz.nonzero(y, False)
        assert rows.dtype is sz.int64
        assert [tuple(r) for r in rows.tolist()] == expected
        columns = sz.nonzero(y)
        assert isinstance(columns, tuple)
        assert [c.tolist() for c in columns] == [list(c) for c in zip(*expected, strict=True)]
        assert all(c.dtype is sz.int64 and c.ndim == 1 for c in columns)


@pytest.mark.parametrize("dtype", [sz.int4, sz.uint4, sz.uint1])
def test_the_rest_of_a_byte_has_no_say(dtype: sz.DType) -> None:
    x = sz.tensor([0] * 256, dtype)
    x.storage.memory[:] = bytes(range(256))
    expected = [i for i in range(256) if x[i].item() != 0]
    assert sz.nonzero(x)[0].tolist() == expected
    truth = [i in expected for i in range(256)]
    assert sz.logical_or(x, x).tolist() == truth
    assert sz.logical_not(x).tolist() == [not one for one in truth]
    assert sz.cast(x, sz.bool).tolist() == truth


@pytest.mark.parametrize("share", [0.001, 0.5, 1.0])
@pytest.mark.parametrize("shape", [(100003,), (317, 400), (5, 100, 301), (70000, 1), (3, 1, 40000)])
def test_nonzero_of_many(shape: tuple[int, ...], share: float) -> None:
    array = np.random.default_rng(5).random(shape) < share
    for dtype in (sz.bool, sz.float32, sz.complex128):
        x = sz.cast(sz.tensor(array), dtype)
        for count in (1, 3):
            with threads(count):
                assert np.array_equal(sz.nonzero(x, False).numpy(), np.argwhere(array))
                found = sz.nonzero(sz.transpose(x))
        assert all(
            np.array_equal(a.numpy(), b) for a, b in zip(found, np.nonzero(array.T), strict=True)
        )


def test_a_mask_gives_what_masked_select_picks() -> None:
    x = laid_out((40, 50), sz.int32, order=(0, 1), seed=4)
    mask = sz.greater(x, 0)
    assert x[sz.nonzero(mask)].tolist() == sz.masked_select(x, mask).tolist()


def test_nothing_is_kept() -> None:
    x = laid_out((30, 40), sz.float32, order=(0, 1))
    with nothing_made():
        for axis in (0, 1):
            sz.argmax(x[::2], axis), sz.argsort(x[::2], axis), sz.topk(x, 3, axis)
        sz.nonzero(x)
