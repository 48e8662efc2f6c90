"""The namespace: every name of the standard, what it says of itself, and what a tensor says."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import suanzi as sz

xp = sz.array_api

# The names of version 2025.12, by chapter.
NAMES = """
e inf nan newaxis pi __array_api_version__ __array_namespace_info__
arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril
triu zeros zeros_like
astype can_cast finfo iinfo isdtype result_type
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert
bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1
floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log1p
log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply
negative nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh
square sqrt subtract tan tanh trunc
take take_along_axis
matmul matrix_transpose tensordot vecdot
broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis permute_dims repeat
reshape roll squeeze stack tile unstack
argmax argmin count_nonzero nonzero searchsorted where
isin unique_all unique_counts unique_inverse unique_values
argsort sort
cumulative_prod cumulative_sum max mean min prod std sum var
all any diff
""".split()
MORE = "float8_e4m3fn float8_e5m2 float16 bfloat16 complex32 int4 uint4 uint1".split()
LINALG = """cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm
    matrix_power matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot
    trace vecdot vector_norm""".split()
FFT = """fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift
    ifftshift""".split()


@pytest.mark.parametrize("name", [*NAMES, *MORE])
def test_a_name_is_there_and_public(name: str) -> None:
    assert hasattr(xp, name)
    assert name in xp.__all__


@pytest.mark.parametrize("name", LINALG)
def test_a_name_of_linalg(name: str) -> None:
    assert callable(getattr(xp.linalg, name))


@pytest.mark.parametrize("name", FFT)
def test_a_name_of_fft(name: str) -> None:
    assert callable(getattr(xp.fft, name))


def test_a_tensor_names_its_namespace() -> None:
    x = sz.tensor([1, 2])
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2025.12") is xp
    with pytest.raises(sz.InvalidArgument, match=r"api_version is '2019\.12'; available: 2021\.12"):
        x.__array_namespace__(api_version="2019.12")


def test_what_it_says_of_itself() -> None:
    info = xp.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert info.default_dtypes() == {
        "real floating": sz.float32, "complex floating": sz.complex64, "integral": sz.int64,
        "indexing": sz.int64,
    }  # fmt: skip
    assert set(info.more_dtypes()) == set(MORE)
    assert info.dtypes(kind=("bool", "complex floating")) == {
        "bool": sz.bool, "complex64": sz.complex64, "complex128": sz.complex128
    }  # fmt: skip
    assert info.capabilities()["boolean indexing"] is True


def test_limits() -> None:
    assert xp.finfo(sz.complex64).dtype is sz.float32
    assert xp.finfo(xp.ones(2, dtype=sz.bfloat16)).eps == 2.0**-7
    assert xp.iinfo(xp.ones(2, dtype=sz.int4)).max == 7
    with pytest.raises(sz.TypeMismatch, match="use finfo"):
        xp.iinfo(sz.float16)
    with pytest.raises(sz.TypeMismatch, match="use iinfo"):
        xp.finfo(sz.int8)


def test_matrices_transposed() -> None:
    x = xp.reshape(xp.arange(24), (2, 3, 4))
    assert np.array_equal(x.mT.numpy(), x.numpy().swapaxes(1, 2))
    with pytest.raises(sz.InvalidArgument, match="two axes"):
        _ = xp.arange(3).mT


def test_devices_and_streams() -> None:
    x = xp.ones(2)
    assert x.to_device("cpu", stream=None) is x
    with pytest.raises(sz.InvalidArgument, match="stream is 1"):
        x.to_device("cpu", stream=1)
    with pytest.raises(sz.InvalidArgument, match="zeros: no provider for npu is installed"):
        xp.zeros(2, device="npu")


# ---- symbols -------------------------------------------------------------------------------------


def test_symbols_mean_the_namespaces_functions_under_its_rules() -> None:
    x, y = sz.tensor([1, 2], sz.int8), sz.tensor([3, 4], sz.uint8)
    with sz.promotion("array_api"):
        assert (x + y).dtype is sz.int16
        assert (x / x).dtype is sz.float32
        assert (x**2).dtype is sz.int8
        assert (x << 9).tolist() == [0, 0]
    with sz.promotion("torch"):
        assert (x**2).dtype is not sz.int8
        assert xp.add(x, y).dtype is sz.int16  # whatever is in force


def test_in_place_under_its_rules() -> None:
    with sz.promotion("array_api"):
        x = sz.tensor([1, 2], sz.int8)
        same = x
        x += 1
        x **= 2
        assert same is x
        assert x.tolist() == [4, 9]


def test_a_default_of_the_process_holds_in_threads() -> None:
    found = []
    before = sz.set_promotion("array_api", everywhere=True)
    try:
        x = sz.tensor([2, 3], sz.int8)
        worker = threading.Thread(target=lambda: found.append((x**2).dtype))
        worker.start()
        worker.join()
    finally:
        sz.set_promotion(before, everywhere=True)
    assert found == [sz.int8]


def test_functions_ask_no_rules_in_force() -> None:
    found = []
    for rules in sz.rule_sets():
        with sz.promotion(rules):
            made = [
                xp.add(sz.tensor([1], sz.int8), sz.tensor([1], sz.bfloat16)),
                xp.asarray([1.5]), xp.asarray(1), xp.full(2, 1j), xp.arange(3),
                xp.concat([sz.tensor([1], sz.uint8), sz.tensor([1], sz.int8)]),
                xp.exp(sz.tensor([1], sz.int64)), xp.sum(sz.tensor([1], sz.int8)),
                xp.where(sz.tensor([True]), 1, sz.tensor([1.5], sz.float16)),
            ]  # fmt: skip
            found.append([x.dtype for x in made])
    assert all(one == found[0] for one in found)
    assert found[0] == [
        sz.bfloat16, sz.float32, sz.int64, sz.complex64, sz.int64, sz.int16, sz.float64, sz.int64,
        sz.float16,
    ]  # fmt: skip


def test_a_mask_with_an_axis_of_length_0_picks_nothing() -> None:
    x = xp.reshape(xp.arange(6), (2, 3))
    assert x[xp.zeros(0, dtype=xp.bool)].shape == (0, 3)
    assert x[xp.zeros((2, 0), dtype=xp.bool)].shape == (0,)
    with pytest.raises(sz.OutOfRange, match="a mask of shape"):
        _ = x[xp.zeros(1, dtype=xp.bool)]
