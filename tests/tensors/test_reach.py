"""What hands of other libraries reach for: dtypes that NumPy understands, pickles, iteration."""

import pickle

import ml_dtypes
import numpy as np
import pytest

import suanzi as sz
from suanzi.base.dtypes import DTYPES

IN_NUMPY = [dt for dt in DTYPES if dt.kind not in ("quantized", "char")]


@pytest.mark.parametrize("dt", IN_NUMPY, ids=str)
def test_numpy_takes_a_dtype_for_its_own(dt):
    if dt in (sz.uint1, sz.complex32) and not hasattr(ml_dtypes, dt.name):
        pytest.skip("ml_dtypes does not have it")
    assert np.dtype(dt).name == dt.name
    assert np.zeros(2, dt).dtype == sz.zeros((2,), dt).numpy().dtype
    assert dt == np.dtype(dt)
    assert np.dtype(dt) == dt
    assert (dt != np.dtype(dt)) is False


def test_numpy_refuses_what_it_does_not_have():
    with pytest.raises(TypeError):
        np.dtype(sz.QT_SYM_INT8)
    assert not hasattr(sz.QT_SYM_INT8, "dtype")
    assert np.dtype(sz.char) == np.dtype("S1")


def test_dtypes_equal_their_names_and_nothing_else():
    for dt in DTYPES:
        assert dt == dt.name
        assert dt.name == dt
        assert [other for other in DTYPES if other == dt.name] == [dt]
        assert dt != "no dtype"
        assert dt not in (None, 3, "float", (), sz.tensor([1]), object())
        assert hash(dt) == hash(sz.dtype(dt.name))
    assert sz.float64 == float  # noqa: E721
    assert sz.float32 != float  # noqa: E721
    assert sz.bfloat16 == ml_dtypes.bfloat16
    assert sz.float16 == np.float16
    with pytest.raises(TypeError):
        sz.float16 < sz.float32  # noqa: B015


def test_what_a_dtype_is():
    assert [dt.name for dt in DTYPES if dt.is_complex] == ["complex32", "complex64", "complex128"]
    for dt in DTYPES:
        assert dt.is_floating_point == sz.isdtype(dt, "real floating")
        if not dt.exponent_bits:
            assert dt.is_signed == (sz.iinfo(dt).min < 0)
        else:
            assert dt.is_signed


def views():
    x = sz.tensor([[1, 2, 3], [4, 5, 6]], sz.bfloat16)
    quantised = sz.create_quant_tensor((2,), 0.5, sz.QT_SYM_INT8, values=[1, -1])
    return [
        x,
        x.T,
        x[:, ::2],
        x[1],
        sz.tensor(3.5),
        sz.zeros((0, 3), sz.int4),
        quantised,
        sz.tensor([1 + 2j], sz.complex32),
        sz.tensor("abc"),
        sz.tensor([True, False]),
    ]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_every_protocol(protocol):
    for x in views():
        y = pickle.loads(pickle.dumps(x, protocol))
        assert (y.dtype, y.shape, y.scale, y.tolist()) == (x.dtype, x.shape, x.scale, x.tolist())
        assert y.storage != x.storage
        if not x.size or sz.is_contiguous(x):
            assert y.layout == x.layout
        y[...] = y  # can be written to


def test_a_pickle_out_of_band_hands_the_memory_over():
    x = sz.range(1, 1000, 1, sz.float32)
    buffers = []
    small = pickle.dumps(x, 5, buffer_callback=buffers.append)
    assert len(small) < 200
    y = pickle.loads(small, buffers=buffers)
    assert y.tolist() == x.tolist()
    y[0] = 7
    assert x[0].item() == 7  # one memory, as with NumPy
    frozen = bytes(buffers[0].raw())
    before = frozen[:1] + frozen[1:]
    copied = pickle.loads(small, buffers=[frozen])  # which cannot be written to: copied
    copied[0] = 8
    assert (x[0].item(), frozen) == (7, before)
    shifted = memoryview(bytearray(4001))[1:]  # no place for a float32
    shifted[:] = buffers[0].raw()
    assert pickle.loads(small, buffers=[shifted]).tolist() == x.tolist()
    with pytest.raises(sz.InvalidArgument, match="bytes are not the elements"):
        pickle.loads(small, buffers=[b"123"])


def test_iter_of_a_number_raises_at_once():
    with pytest.raises(TypeError, match="0-d"):
        iter(sz.tensor(1))
    assert [x.item() for x in sz.tensor([1, 2])] == [1, 2]


def test_bytes_and_astype():
    x = sz.zeros((3, 4), sz.bfloat16)
    assert (x.nbytes, x[:, ::2].nbytes, sz.zeros((5,), sz.complex128).nbytes) == (24, 12, 80)
    assert x.astype("f32").dtype is sz.float32
    assert x.astype(sz.bfloat16) is not x
    assert x.astype(sz.bfloat16, copy=False) is x
    assert sz.tensor([300]).astype(np.int8).tolist() == [44]


def test_what_pytorch_would_not_lend_is_copied():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    parameter = torch.nn.Parameter(torch.ones(2, dtype=torch.bfloat16))
    assert sz.tensor(parameter).dtype is sz.bfloat16
    assert sz.tensor(torch.tensor([1 + 2j]).conj()).tolist() == [1 - 2j]
    assert sz.bfloat16 == torch.bfloat16
    assert torch.float32 == sz.float32
