"""The structures of A.1 say of a tensor what is so."""

from __future__ import annotations

import pytest

import suanzi as sz
from suanzi.base.dtypes import DTYPES
from suanzi.faces import interface


def test_codes_and_bits_tell_every_dtype() -> None:
    found = {dtype: interface.DataType.of(dtype) for dtype in DTYPES}
    assert len(set(found.values())) == len(DTYPES)
    assert all(data_type.dtype is dtype for dtype, data_type in found.items())
    printed = ["kChar", "kBool", "kInt", "kUInt", "kReal", "kComplex"]
    assert [code.name for code in interface.TypeCode][:6] == printed
    assert found[sz.complex128] == interface.DataType(interface.TypeCode.kComplex, 128)
    for code, size in ((4, 17), (99, 8), ("kReal", 32)):
        with pytest.raises(sz.InvalidArgument, match="DataType"):
            interface.DataType(code, size)  # type: ignore[arg-type]


def test_shapes() -> None:
    assert interface.Shape([2, 3]).dims == (2, 3)
    assert interface.Shape(()).ndim == 0
    assert interface.Shape(()).layout.min2maj == ()
    x = sz.tensor([[1, 2, 3], [4, 5, 6]])
    assert interface.Shape.of(x) == interface.Shape((2, 3))
    assert interface.Shape.of(x.T).layout.min2maj == (0, 1)
    assert interface.Shape.of(x[:, ::2]).layout.min2maj is None
    with pytest.raises(sz.InvalidArgument, match="integers"):
        interface.Shape((2.5,))  # type: ignore[arg-type]


def test_tensors_and_what_they_share() -> None:
    x = sz.tensor([[1, 2, 3], [4, 5, 6]], sz.int16)
    whole, row = interface.TensorImpl.of(x), interface.TensorImpl.of(x[1])
    assert (whole.size, whole.offset, row.size, row.offset) == (6, 0, 3, 3)
    assert whole.storage == row.storage
    assert whole.storage.size == 6
    assert whole.storage.device == sz.Device("cpu")
    assert whole.scale is None
    assert interface.TensorImpl.of(sz.duplicate(x)).storage.data != whole.storage.data
    assert interface.TensorImpl.of(sz.zeros((0, 3))).size == 0
    assert interface.TensorImpl.of(sz.tensor(1.0)).size == 1


def test_quantised_and_sparse() -> None:
    q = interface.TensorImpl.of(sz.quantize(sz.tensor([0.0, 1.0]), sz.QT_ASYM_UINT8))
    assert q.scale is not None
    assert len(q.scale) == 1
    assert isinstance(q.zero_point, int)
    assert q.storage.dtype.code == interface.TypeCode.kAsymmetricUInt
    channels = sz.quantize(sz.tensor([[1.0, 2.0], [3.0, 4.0]]), sz.QT_CH_SYM_INT8, channel_axis=0)
    assert len(interface.TensorImpl.of(channels).scale or ()) == 2
    sparse = interface.TensorImpl.of(sz.to_sparse(sz.tensor([[0.0, 2.0], [0.0, 0.0]])))
    assert (sparse.size, sparse.storage.size) == (4, 1)
    assert sparse.shape.layout.type is interface.LayoutType.COO
