"""7.2.15: complex, conj, imag and real: parts are bits that move, and views on the same memory."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

import suanzi as sz
from helpers.functions import every_level, threads
from helpers.moves import laid_out, raw, tensors
from suanzi import _core
from suanzi.base.dtypes import DTYPES

MADE_OF = {sz.float16: sz.complex32, sz.float32: sz.complex64, sz.float64: sz.complex128}
COMPLEX = list(MADE_OF.values())
REAL = [d for d in DTYPES if d.kind not in ("complex", "char")]


def parts(x: sz.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of the real and of the imaginary parts."""
    bits = raw(x)
    half = x.dtype.itemsize // 2
    return bits[..., :half], bits[..., half:]


def test_a_number_takes_the_dtype_of_the_other_part() -> None:
    for dtype, expected in MADE_OF.items():
        x = sz.tensor([1, 2], dtype)
        for number in (0.5, 3, True, np.float64(2.5)):
            if isinstance(number, np.floating):
                continue
            made = sz.complex(x, number)
            assert made.dtype is expected
            assert made.tolist() == [complex(1, number), complex(2, number)]
            assert sz.complex(number, x).tolist() == [complex(number, 1), complex(number, 2)]
    assert sz.complex(1.5, 2.5).item() == 1.5 + 2.5j
    assert sz.complex(sz.tensor([1.0]), math.inf).imag.tolist() == [math.inf]
    assert sz.complex(np.array([1.0]), np.array([2.0])).dtype is sz.complex128


def test_quantised_parts_are_the_numbers_they_stand_for() -> None:
    x = sz.create_quant_tensor((2,), 0.5, sz.QT_SYM_INT8, values=[1, -3])
    assert sz.complex(x, x).tolist() == [0.5 + 0.5j, -1.5 - 1.5j]
    assert sz.conj(x) is x
    assert sz.real(x) is x
    shifted = sz.create_quant_tensor((2,), 0.5, sz.QT_ASYM_UINT8, zero_point=7, values=[1, 9])
    zero = sz.imag(shifted)
    assert (zero.dtype, zero.tolist()) == (sz.QT_ASYM_UINT8, [0, 0])
    assert shifted.tolist() == [-3, 1]
    with pytest.raises(sz.InvalidArgument, match="without a scale"):
        sz.imag(_core.empty((2,), sz.QT_SYM_INT8))


def test_conj_keeps_the_layout() -> None:
    x = laid_out((3, 4), sz.complex64, order=(0, 1))
    assert sz.conj(x).layout.min2maj == (0, 1)
    assert sz.complex(sz.real(x), sz.imag(x)).shape == (3, 4)


@settings(max_examples=100)
@given(tensors(dtypes=COMPLEX))
def test_parts_are_views_in_any_layout(x: sz.Tensor) -> None:
    part = next(p for p, c in MADE_OF.items() if c is x.dtype)
    for i, found in enumerate((sz.real(x), sz.imag(x))):
        assert (found.dtype, found.shape) == (part, x.shape)
        assert np.array_equal(raw(found), parts(x)[i])
        assert found.offset + found.size <= max(found.storage.size, 1) or x.size == 0
        assert found.storage.size == 2 * x.storage.size
    assert np.array_equal(raw(x.real), parts(x)[0])
    assert np.array_equal(raw(x.imag), parts(x)[1])


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_what_is_written_to_a_part_is_seen(dtype: sz.DType) -> None:
    x = sz.tensor([[1 + 2j, 3 + 4j], [5 + 6j, 7 + 8j]], dtype)
    sz.real(x)[0] = 9
    sz.imag(sz.transpose(x))[1] = sz.tensor([-1, -2], sz.real(x).dtype)
    assert x.tolist() == [[9 + 2j, 9 - 1j], [5 + 6j, 7 - 2j]]
    x[1, 1] = 0
    assert x.real.tolist() == [[9, 9], [5, 0]]
    # Parts that overlap, seen through storages of their own, are read before they are written.
    y = sz.tensor([1, 2, 3, 4], dtype)
    y.real[1:] = y.real[:-1]
    assert y.tolist() == [1, 1, 2, 3]
    y.imag[:] = y.real
    assert y.tolist() == [1 + 1j, 1 + 1j, 2 + 2j, 3 + 3j]


@pytest.mark.parametrize("dtype", COMPLEX)
def test_parts_can_be_set(dtype: sz.DType) -> None:
    x = sz.tensor([[1 + 2j, 3 + 4j]], dtype)
    x.real = sz.tensor([5, 6], sz.real(x).dtype)
    x.imag = -1
    assert x.tolist() == [[5 - 1j, 6 - 1j]]
    x.imag += 3
    assert x.tolist() == [[5 + 2j, 6 + 2j]]
    x[:, :1].real = 0
    assert x.tolist() == [[2j, 6 + 2j]]
    y = sz.tensor([1.0, 2.0])
    y.real = 3
    assert y.tolist() == [3, 3]
    with pytest.raises(sz.TypeMismatch, match="float32, which has no imaginary part"):
        y.imag = 1
    with pytest.raises(sz.StatusError):
        x.real = sz.tensor([1.0, 2.0, 3.0])
    assert x.tolist() == [[2j, 6 + 2j]]


def test_a_part_keeps_the_memory_and_neither_needs_the_other() -> None:
    before = _core.pool_info()["storages"]
    x = sz.tensor([1 + 2j, 3 + 4j])
    real, imag = x.real, sz.imag(x)
    sz.destroy(x)
    assert (real.tolist(), imag.tolist()) == ([1, 3], [2, 4])
    del x
    sz.destroy(real)
    assert imag.tolist() == [2, 4]
    again = imag[1:]
    del imag, real
    assert again.tolist() == [4]
    del again
    assert _core.pool_info()["storages"] <= before


def test_read_only_memory_stays_so() -> None:
    array = np.array([1 + 2j])
    array.flags.writeable = False
    x = sz.from_dlpack(array)
    with pytest.raises((sz.StatusError, ValueError)):
        x.real[0] = 5


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_a_real_tensor_is_itself(dtype: sz.DType) -> None:
    x = laid_out((2, 3), dtype, order=(0, 1))
    assert sz.real(x) is x
    assert sz.conj(x) is x
    assert x.real is x
    zero = sz.imag(x)
    assert (zero.dtype, zero.shape) == (dtype, (2, 3))
    assert zero.tolist() == [[0] * 3] * 2
    assert zero.storage != x.storage
    assert sz.imag(sz.expand(sz.tensor([1], sz.int8), (50000,))).numpy().any() == False  # noqa: E712


def test_large_ones_on_every_level_and_any_number_of_threads() -> None:
    n = 300001
    for dtype in MADE_OF:
        x, y = laid_out((n,), dtype, seed=1), laid_out((n,), dtype, seed=2)
        for _ in every_level():
            for count in (1, 3):
                with threads(count):
                    made = sz.complex(x, y)
                    turned = sz.conj(made)
                    mixed = sz.complex(x[::-1], sz.expand(y[:1], (n,)))
                assert np.array_equal(parts(made)[0], raw(x))
                assert np.array_equal(parts(made)[1], raw(y))
                assert np.array_equal(raw(sz.conj(turned)), raw(made))
                assert np.array_equal(parts(mixed)[0], raw(x)[::-1])
                assert np.all(parts(mixed)[1] == raw(y)[0])
