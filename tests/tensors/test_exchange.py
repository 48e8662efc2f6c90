from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import suanzi as sz
from suanzi import _core
from suanzi.base.dtypes import DTYPES
from suanzi.tensors.exchange import from_numpy, numpy_dtype, to_numpy

# What NumPy and DLPack both have.
SHARED = [d for d in DTYPES if d.kind in ("bool", "int", "uint", "float", "complex")]
SHARED = [d for d in SHARED if d.bits >= 8 and not hasattr(ml_dtypes, d.name)]
SHARED = [d for d in SHARED if d is not sz.complex32]
FROM_ML_DTYPES = [d for d in DTYPES if hasattr(ml_dtypes, d.name)]
NOT_IN_DLPACK = [d for d in DTYPES if d.kind in ("char", "quantized") or d.bits < 8]
VIEWS = {
    "whole": np.s_[:],
    "sliced": np.s_[1:, ::2],
    "reversed": np.s_[::-1, ::-1],
    "backwards": np.s_[::-2, 3:0:-1],
    "row": np.s_[2],
    "element": np.s_[2, 3, ...],
    "empty": np.s_[:0],
}


def storages() -> int:
    gc.collect()
    return _core.pool_info()["storages"]


def capsule_name(capsule: object) -> str:
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return str(name(capsule).decode())


class Producer:
    """Somebody's array: gives a capsule, in the new or in the old way."""

    def __init__(self, capsule: object, old: bool = False) -> None:
        self.capsule = capsule
        self.old = old

    def __dlpack__(self, **arguments: Any) -> object:
        if self.old and arguments:
            raise TypeError("an old library knows no arguments")
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class TestDLPackWithNumPy:
    @pytest.mark.parametrize("dt", SHARED, ids=str)
    def test_to_numpy(self, dt: sz.DType) -> None:
        x = sz.tensor([[0, 1, 1], [1, 0, 0]], dt)
        array = np.from_dlpack(x)
        assert array.dtype == np.dtype(dt.name)
        assert array.tolist() == x.tolist()
        x.numpy()[1, 2] = 1
        assert array[1, 2] == 1
        if np.lib.NumpyVersion(np.__version__) < "2.2.5":
            return  # it is read-only there, whatever it comes from
        array[0, 0] = 1
        assert x.tolist()[0] == [1, 1, 1]

    @pytest.mark.parametrize("dt", SHARED, ids=str)
    def test_from_numpy(self, dt: sz.DType) -> None:
        array = np.array([[0, 1, 1], [1, 0, 0]], dt.name)
        x = sz.from_dlpack(array)
        assert x.dtype is dt
        assert x.tolist() == array.tolist()
        array[0, 0] = 1
        assert x.tolist()[0][0] == 1
        _core.copy_into(x, sz.tensor(0, dt))
        assert not array.any()

    @pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_views_both_ways(self, view: Any, order: Any) -> None:
        array = np.asarray(np.arange(20.0).reshape(4, 5), order=order)[view]
        x = sz.from_dlpack(array)
        assert x.shape == array.shape
        assert x.tolist() == array.tolist()
        assert (x + 1).tolist() == (array + 1).tolist()
        back = np.from_dlpack(x)
        assert back.tolist() == array.tolist()
        assert array.size == 0 or np.shares_memory(back, array)
        if array.size:
            assert back.ctypes.data == array.ctypes.data

    def test_memory_is_kept_alive(self) -> None:
        array = np.full(1000, 7.0)
        dead = weakref.ref(array)
        x = sz.from_dlpack(array)
        del array
        gc.collect()
        assert dead() is not None
        assert x.tolist() == [7.0] * 1000
        del x
        gc.collect()
        assert dead() is None

        before = storages()
        x = sz.tensor(np.full(1000, 7.0))
        other = np.from_dlpack(x)
        address = x.storage.data
        del x
        assert storages() == before + 1
        fresh = [sz.tensor(np.zeros(1000)) for _ in range(5)]
        assert (other == 7).all()
        assert address not in [f.storage.data for f in fresh]
        del other, fresh
        assert storages() == before

    def test_read_only(self) -> None:
        array = np.arange(3)
        array.flags.writeable = False
        x = sz.from_dlpack(array)
        assert x.storage.read_only
        with pytest.raises(ValueError, match="read-only"):
            _core.copy_into(x, 1)
        assert not x.numpy().flags.writeable
        with pytest.raises(TypeError):
            x.storage.memory[:] = bytes(24)
        # Read-only stays so, by every way on; a capsule of the old kind cannot say it.
        assert not np.from_dlpack(x).flags.writeable
        with pytest.raises(BufferError, match="read-only"):
            x.__dlpack__()
        assert (x + 1).tolist() == [1, 2, 3]
        copied = sz.from_dlpack(Producer(x.__dlpack__(copy=True)))
        assert not copied.storage.read_only
        view = next(iter(sz.from_dlpack(array.reshape(1, 3))))
        assert view.storage.read_only

    def test_with_itself(self) -> None:
        x = sz.tensor([1, 2])
        y = sz.from_dlpack(x)
        assert y.storage.data == x.storage.data

    def test_unaligned_memory(self) -> None:
        array = np.zeros(17, np.uint8)[1:].view(np.float64)
        with pytest.raises(BufferError, match="aligned"):
            sz.from_dlpack(array)
        # The parts of a complex number may lie anywhere a real number may.
        pairs = np.arange(9, dtype=np.float32)[1:].view(np.complex64)
        assert (sz.from_dlpack(pairs) * 1).tolist() == pairs.tolist()
        assert sz.where(sz.tensor(True), sz.from_dlpack(pairs[::-1]), 0).tolist() == (
            pairs[::-1].tolist()
        )

    @pytest.mark.parametrize("dt", [sz.bfloat16, sz.float8_e5m2, sz.complex32], ids=str)
    def test_dtypes_that_numpy_lacks(self, dt: sz.DType) -> None:
        before = storages()
        with pytest.raises((BufferError, RuntimeError), match="[Uu]nsupported dtype"):
            np.from_dlpack(sz.tensor([1.0], dt))
        assert storages() == before


class TestCapsules:
    @pytest.mark.parametrize("dt", [d for d in DTYPES if d not in NOT_IN_DLPACK], ids=str)
    @pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 7), (2, 0)])
    def test_round_trip(self, dt: sz.DType, version: tuple[int, int] | None) -> None:
        x = sz.tensor([[0, 1], [1, 1]], dt)
        capsule = x.__dlpack__(max_version=version)
        versioned = version is not None and version[0] >= 1
        assert capsule_name(capsule) == ("dltensor_versioned" if versioned else "dltensor")
        y = sz.from_dlpack(Producer(capsule))
        assert (y.dtype, y.shape, y.tolist()) == (x.dtype, x.shape, x.tolist())
        assert y.storage.data == x.storage.data

    @pytest.mark.parametrize("dt", NOT_IN_DLPACK, ids=str)
    def test_no_type_in_dlpack(self, dt: sz.DType) -> None:
        x = _core.empty((2,), dt)
        with pytest.raises(BufferError, match=f"{dt}.*cast"):
            x.__dlpack__()
        with pytest.raises(BufferError):
            np.from_dlpack(x)

    @pytest.mark.parametrize("versioned", [False, True])
    def test_dropped_unused(self, versioned: bool) -> None:
        before = storages()
        for _ in range(100):
            sz.tensor([1.0]).__dlpack__(max_version=(1, 0) if versioned else None)
        assert storages() == before

    @pytest.mark.parametrize("versioned", [False, True])
    def test_used_twice(self, versioned: bool) -> None:
        before = storages()
        producer = Producer(sz.tensor([1.0]).__dlpack__(max_version=(1, 0) if versioned else None))
        first = sz.from_dlpack(producer)
        for _ in range(3):
            with pytest.raises(BufferError, match="used"):
                sz.from_dlpack(producer)
        assert first.tolist() == [1.0]
        del first, producer
        assert storages() == before

    def test_old_libraries(self) -> None:
        x = sz.tensor([1.0, 2.0])
        assert sz.from_dlpack(Producer(x.__dlpack__(), old=True)).tolist() == [1.0, 2.0]

    @pytest.mark.parametrize("thing", [None, 5, "capsule", np.ones(1), sys])
    def test_not_a_capsule(self, thing: object) -> None:
        with pytest.raises(BufferError, match="capsule"):
            sz.from_dlpack(Producer(thing))

    def test_foreign_capsule(self) -> None:
        import datetime

        with pytest.raises(BufferError, match="capsule"):
            sz.from_dlpack(Producer(datetime.datetime_CAPI))  # type: ignore[attr-defined]

    @pytest.mark.parametrize("thing", [None, 5, [1], "x"])
    def test_without_the_protocol(self, thing: object) -> None:
        with pytest.raises(sz.TypeMismatch, match="__dlpack__"):
            sz.from_dlpack(thing)

    def test_device(self) -> None:
        x = sz.tensor([1])
        assert x.__dlpack_device__() == (1, 0)
        x.__dlpack__(dl_device=(1, 0))
        with pytest.raises(BufferError, match="CPU"):
            x.__dlpack__(dl_device=(2, 0))

    def test_another_device(self) -> None:
        capsule = sz.tensor([1.0]).__dlpack__(max_version=(1, 0))
        memory = ctypes.pythonapi.PyCapsule_GetPointer
        memory.restype, memory.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        pointer = memory(capsule, b"dltensor_versioned")
        # version, manager, deleter, flags, data, then the device
        device = ctypes.c_int32.from_address(pointer + 8 + 8 + 8 + 8 + 8)
        device.value = 2
        with pytest.raises(BufferError, match="device"):
            sz.from_dlpack(Producer(capsule))
        version = ctypes.c_uint32.from_address(pointer)
        device.value, version.value = 1, 9
        with pytest.raises(BufferError, match="version"):
            sz.from_dlpack(Producer(capsule))
        version.value = 1
        assert sz.from_dlpack(Producer(capsule)).tolist() == [1.0]

    def test_copy(self) -> None:
        x = sz.tensor([1, 2])
        y = sz.from_dlpack(Producer(x.__dlpack__(copy=True)))
        z = sz.from_dlpack(Producer(x.__dlpack__(copy=False)))
        assert y.storage.data != x.storage.data
        assert z.storage.data == x.storage.data

    def test_many_axes(self) -> None:
        x = _core.empty((1,) * 64, sz.int8)
        assert sz.from_dlpack(x).ndim == 64

    def test_tensor_copies_what_has_the_protocol(self) -> None:
        x = sz.tensor([1.0, 2.0], sz.bfloat16)
        y = sz.tensor(Producer(x.__dlpack__()))
        assert y.dtype is sz.bfloat16
        assert y.storage.data != x.storage.data
        assert sz.tensor(Producer(x.__dlpack__()), sz.int8).tolist() == [1, 2]


class TestMlDtypes:
    @pytest.mark.parametrize("dt", FROM_ML_DTYPES, ids=str)
    def test_both_ways(self, dt: sz.DType) -> None:
        kind = getattr(ml_dtypes, dt.name)
        array = np.array([[0, 1, 1], [1, 0, 0]]).astype(kind)
        x = sz.tensor(array)
        assert x.dtype is dt
        assert x.numpy().dtype == kind
        assert x.numpy().tobytes() == array.tobytes()
        assert sz.tensor(array[::-1, ::2]).tolist() == x.numpy()[::-1, ::2].astype(complex).tolist()
        assert sz.tensor(array[0, 0]).shape == ()

    def test_a_matrix_of_another_order_and_a_single_element(self) -> None:
        x = sz.tensor([[1, 2], [3, 4]], sz.bfloat16).T
        assert x.numpy().astype(float).tolist() == [[1, 3], [2, 4]]
        assert x.numpy().strides == (2, 4)
        assert x[1, 0].numpy().astype(float) == 2

    @pytest.mark.parametrize("dt", [d for d in FROM_ML_DTYPES if d.bits <= 16], ids=str)
    def test_every_pattern_means_the_same(self, dt: sz.DType) -> None:
        if dt.kind == "complex":
            pytest.skip("pairs are covered by their parts")
        kind = np.dtype(getattr(ml_dtypes, dt.name))
        count = 2**dt.bits
        if dt.kind == "float":
            array = np.arange(count, dtype=f"u{kind.itemsize}").view(kind)
        else:
            array = np.arange(int(sz.iinfo(dt).min), int(sz.iinfo(dt).max) + 1).astype(kind)
        with np.errstate(invalid="ignore"):
            expected = array.astype(float)
        np.testing.assert_array_equal(np.array(sz.tensor(array).tolist(), float), expected)
        np.testing.assert_array_equal(np.array(from_numpy(array).tolist(), float), expected)

    def test_int4_both_ways(self) -> None:
        # ml_dtypes stores -1 as 0x0F, suanzi as 0xFF; each reads the other's.
        values = list(range(-8, 8))
        x = sz.tensor(values, sz.int4)
        theirs = np.array(values).astype(ml_dtypes.int4)
        assert x.numpy().astype(int).tolist() == values
        assert (x.numpy() == theirs).all()
        x.numpy()[:] = theirs
        assert x.tolist() == values
        assert sz.equal(x, sz.tensor(values, sz.int4)).tolist() == [True] * 16
        assert sz.less(x, sz.tensor(0, sz.int4)).tolist() == [v < 0 for v in values]
        assert sz.clip(x, -2, 2).tolist() == [min(max(v, -2), 2) for v in values]
        assert sz.cast(x, sz.float16).tolist() == values
        assert sz.where(sz.tensor(True), x, sz.tensor(0, sz.int4)).tolist() == values

    def test_bool_of_any_byte(self) -> None:
        x = sz.tensor(np.array([0, 1, 2, 255], np.uint8).view(bool))
        assert bytes(x.storage) == b"\0\1\1\1"
        assert (x == True).tolist() == [False, True, True, True]  # noqa: E712

    def test_the_same_memory(self) -> None:
        array = np.zeros(3, ml_dtypes.bfloat16)
        x = from_numpy(array)
        array[1] = 2
        assert x.tolist() == [0, 2, 0]
        assert to_numpy(x).ctypes.data == array.ctypes.data

    def test_others_are_refused(self) -> None:
        with pytest.raises(sz.StatusError):
            sz.tensor(np.zeros(2, ml_dtypes.float8_e3m4))

    def test_numpy_dtype(self) -> None:
        for dt in DTYPES:
            if dt.kind == "quantized":
                with pytest.raises(BufferError, match="cast"):
                    numpy_dtype(dt)
            elif dt not in (sz.uint1, sz.complex32) or hasattr(ml_dtypes, dt.name):
                assert numpy_dtype(dt).itemsize == dt.itemsize


class TestFromNumpy:
    @pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
    def test_shares_memory(self, view: Any) -> None:
        array = np.arange(20, dtype=np.int32).reshape(4, 5)[view]
        x = from_numpy(array)
        assert x.tolist() == array.tolist()
        assert array.size == 0 or np.shares_memory(x.numpy(), array)

    def test_refuses_what_it_cannot_share(self) -> None:
        for array in (np.zeros(2, ">f4"), np.zeros(9, np.uint8)[1:].view(np.float64)):
            with pytest.raises(BufferError, match="aligned"):
                from_numpy(array)

    def test_broadcast(self) -> None:
        array = np.broadcast_to(np.arange(3), (2, 3))
        x = from_numpy(array)
        assert x.strides == (0, 1)
        assert x.storage.size == 3
        assert x.storage.read_only
        assert (x + x).tolist() == (array * 2).tolist()


def test_a_copy_of_dlpack_memory() -> None:
    a = np.arange(3)
    t = sz.from_dlpack(a, copy=True)
    a[0] = 9
    assert t.tolist() == [0, 1, 2]


class _Forged(ctypes.Structure):
    """A DLManagedTensor of int64 on the CPU, as a program with a fault may hand it over."""

    _fields_ = (
        *(("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32)),
        *(("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)),
        *(("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)),
        *(("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)),
    )


@pytest.mark.parametrize(
    ("null", "strides", "message"),
    [
        (True, (2, 1), "NULL"),
        (False, (2**62, -(2**62)), "outside the address space"),
        (False, (2**61, 1), "outside the address space"),
    ],
)
def test_forged_memory(null: bool, strides: tuple[int, int], message: str) -> None:
    memory, extents = (ctypes.c_int64 * 4)(), (ctypes.c_int64 * 4)(2, 2, *strides)
    data = None if null else ctypes.addressof(memory)
    at = ctypes.addressof(extents)
    forged = _Forged(data, (1, 0), 2, 0, 64, 1, at, at + 16, 0, None, None)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p),
    )
    capsule = new(ctypes.addressof(forged), b"dltensor", None)
    with pytest.raises(BufferError, match=message):
        sz.from_dlpack(Producer(capsule, old=True))
