"""7.2.14.1, .2, .5: argmax, argmin and nonzero against plain Python, any dtype and layout."""

from __future__ import annotations

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import every_level, threads
from helpers.moves import laid_out, nothing_made
from helpers.orders import FLOATS, REAL


@pytest.mark.parametrize("name", ["int64", "uint64"])
def test_the_first_of_equal_long_integers(name: str) -> None:
    rng = np.random.default_rng(3)
    ends = np.iinfo(name)
    for n in [*range(1, 70), 500, 40_000]:
        few = np.array([ends.min, 0, 1, ends.max], name)[rng.integers(0, 4, (3, n))]
        for x in (few, np.sort(few, 1), np.sort(few, 1)[:, ::-1], few[:, :1].repeat(n, 1)):
            for ours, numpys in ((sz.argmax, np.argmax), (sz.argmin, np.argmin)):
                assert ours(sz.tensor(x.copy()), 1).numpy().tolist() == numpys(x, 1).tolist()


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_rows_and_columns_of_any_length(dtype: sz.DType) -> None:
    """Longer than what one block holds, and, of bytes, than one of them counts."""
    for length in (7, 8, 64, 300, 1025):
        wide = laid_out((length, 37), dtype, seed=length)
        if dtype.kind == "float":  # random bytes of narrow floats have a NaN in every row
            wide = sz.where(sz.is_nan(wide), sz.tensor(0, dtype), wide)
        for x in (wide, sz.transpose(wide), wide[::-1], sz.transpose(wide[:, 3:24])):
            values = x.numpy() if dtype.bits == 64 else sz.cast(x, sz.float64).numpy()
            assert sz.argmax(x, 0).tolist() == np.argmax(values, 0).tolist()
            assert sz.argmin(x, 0).tolist() == np.argmin(values, 0).tolist()


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
        for _ in every_level():
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


def test_numbers_arrays_and_axes_of_other_types() -> None:
    assert sz.argmax(np.array([[1.0, 3.0], [4.0, 2.0]]), np.int64(0)).tolist() == [1, 0]
    assert sz.argmin(sz.tensor([3, 1]), sz.tensor(0)).item() == 1
    assert sz.argmax(sz.zeros((0, 3)), 1).shape == (0,)
    assert sz.argmax(sz.zeros((0, 3)), 1, True).shape == (0, 1)


# ---- nonzero -------------------------------------------------------------------------------------


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


def test_nothing_is_kept() -> None:
    x = laid_out((30, 40), sz.float32, order=(0, 1))
    with nothing_made():
        for axis in (0, 1):
            sz.argmax(x[::2], axis), sz.argsort(x[::2], axis), sz.topk(x, 3, axis)
        sz.nonzero(x)
