"""Tensors made of Python numbers, arrays and buffers."""

from __future__ import annotations

import array
import ctypes
import math
import mmap
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import suanzi as sz
from suanzi.base.dtypes import DTYPES

PLAIN = [d for d in DTYPES if d.kind not in ("char", "quantized")]
NATIVE = [d for d in PLAIN if d.name in np.sctypeDict and not hasattr(ml_dtypes, d.name)]


class TestFromPython:
    @pytest.mark.parametrize(
        ("data", "shape"),
        [
            (1, ()),
            ([], (0,)),
            ([[], []], (2, 0)),
            ([[1, 2], (3, 4)], (2, 2)),
            (((1,),), (1, 1)),
            ([[[True]]], (1, 1, 1)),
        ],
    )
    def test_shape(self, data: Any, shape: tuple[int, ...]) -> None:
        x = sz.tensor(data)
        assert x.shape == shape
        assert x.tolist() == np.array(data).tolist()

    @pytest.mark.parametrize(
        ("rules", "dtypes"),
        [
            ("cann", "bool int64 float32 complex64"),
            ("torch", "bool int64 float32 complex64"),
            ("numpy", "bool int64 float64 complex128"),
            ("jax", "bool int64 float64 complex128"),
        ],
    )
    def test_default_dtypes(self, rules: str, dtypes: str) -> None:
        with sz.promotion(rules):
            found = [sz.tensor(x).dtype.name for x in (True, 1, 1.0, 1j)]
            mixed = [sz.tensor([True, x]).dtype.name for x in (True, 1, 1.0, 1j)]
        assert found == mixed == dtypes.split()

    @pytest.mark.parametrize("rules", sz.rule_sets())
    def test_every_rule_set_has_a_default(self, rules: str) -> None:
        with sz.promotion(rules):
            found = [sz.tensor(x).dtype.kind for x in (True, 1, 1.0, 1j, [])]
            assert found == ["bool", "int", "float", "complex", "float"]

    @pytest.mark.parametrize("data", [[[1], [2, 3]], [1, [2]], [[1], 2], [[], [1]], [[[1]], [1]]])
    def test_ragged(self, data: Any) -> None:
        with pytest.raises(sz.InvalidArgument, match="unequal length"):
            sz.tensor(data)

    @pytest.mark.parametrize("data", [None, object(), "x y".split(), [None], {1}, Fraction(1, 2)])
    def test_not_numbers(self, data: Any) -> None:
        with pytest.raises(sz.TypeMismatch):
            sz.tensor(data)

    def test_depth(self) -> None:
        nested: Any = 1
        for _ in range(64):
            nested = [nested]
        assert sz.tensor(nested).shape == (1,) * 64
        with pytest.raises(sz.InvalidArgument, match="64"):
            sz.tensor([nested])
        endless: list[Any] = []
        endless.append(endless)
        with pytest.raises(sz.InvalidArgument, match="64"):
            sz.tensor(endless)

    @pytest.mark.parametrize(
        "dt", [d for d in DTYPES if d.kind in ("int", "uint", "quantized")], ids=str
    )
    def test_range_of_integers(self, dt: sz.DType) -> None:
        limits = sz.iinfo(dt)
        assert sz.tensor([limits.min, limits.max], dt).tolist() == [limits.min, limits.max]
        for bad in (limits.min - 1, limits.max + 1, 10**40, -(10**40)):
            for data in (bad, [0, bad], [0.5, bad]):
                with pytest.raises(sz.InvalidArgument, match="does not fit"):
                    sz.tensor(data, dt)

    def test_integers_without_a_dtype(self) -> None:
        with pytest.raises(sz.InvalidArgument, match="int64"):
            sz.tensor(2**63)
        assert sz.tensor(2**64 - 1, sz.uint64).item() == 2**64 - 1

    @pytest.mark.parametrize("dt", [d for d in PLAIN if d.kind in ("float", "complex")], ids=str)
    @pytest.mark.parametrize("value", [2**53 + 1, 2**60 + 2**36 + 1, 2**64 + 2**40 + 1, 2**1100])
    def test_integers_are_rounded_once(self, dt: sz.DType, value: int) -> None:
        # Beside a float, and alone, an integer gives the same element.
        part = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
        expected = _nearest(value, sz.finfo(part.get(dt.name, dt.name)))
        for data in ([value], [value, 0.5], [value, 0.5j]):
            if dt.kind == "complex" or 0.5j not in data:
                found = sz.tensor(data, dt).tolist()[0]
                assert found == expected or (math.isnan(expected) and found != found)
            found = sz.tensor([-value], dt).tolist()[0]
            assert found == -expected or (math.isnan(expected) and found != found)

    def test_integers_beside_floats(self) -> None:
        assert sz.tensor([2**62 + 1, 0.5], sz.int64).tolist() == [2**62 + 1, 0]
        assert sz.tensor([1, -1.9, math.nan, math.inf], sz.int8).tolist() == [1, -1, 0, 127]
        assert sz.tensor([True, 2.5]).tolist() == [1, 2.5]
        with pytest.raises(sz.InvalidArgument, match="-1 does not fit uint8"):
            sz.tensor([True, -1], sz.uint8)

    @pytest.mark.parametrize(
        "dt", [sz.int8, sz.uint64, sz.float16, sz.bfloat16, sz.float64], ids=str
    )
    def test_complex_numbers_are_no_real_ones(self, dt: sz.DType) -> None:
        for data in (1j, [1j], [1, 2 + 0j], [[0.5], [1j]]):
            with pytest.raises(sz.TypeMismatch, match="real parts"):
                sz.tensor(data, dt)

    def test_to_bool(self) -> None:
        for data in ([2**70, 0], [2, 0], [0.5, 0.0], [2**70, 0.0], [1j, 0]):
            assert sz.tensor(data, sz.bool).tolist() == [True, False]

    def test_text(self) -> None:
        assert sz.tensor("abc").tolist() == [b"a", b"b", b"c"]
        assert sz.tensor("算").shape == (3,)
        assert sz.tensor(b"\0a").tolist() == [b"\0", b"a"]
        assert sz.tensor(bytearray(b"x")).dtype is sz.char
        assert sz.tensor("").shape == (0,)
        with pytest.raises(sz.TypeMismatch, match="char"):
            sz.tensor("abc", sz.int8)

    def test_numbers_of_other_types(self) -> None:
        mixed = [np.float32(1.5), sz.tensor(2), np.array(3), True]
        assert sz.tensor(mixed).tolist() == [1.5, 2, 3, 1]
        assert sz.tensor(sz.Status.OUT_OF_RANGE).item() == 6
        assert sz.tensor(np.float16(0.5)).dtype is sz.float16

    @pytest.mark.parametrize("dt", PLAIN, ids=str)
    def test_list_and_back(self, dt: sz.DType) -> None:
        data = [[0, 1], [1, 0]]
        assert sz.tensor(data, dt).tolist() == data
        assert sz.tensor(data, dt.name).dtype is dt

    def test_bad_dtype(self) -> None:
        with pytest.raises(sz.InvalidArgument):
            sz.tensor(1, "float17")


def _nearest(value: int, info: Any) -> float:
    """The nearest number of a format, ties to even, by integer arithmetic."""
    digits = info.dtype.mantissa_bits + 1
    shift = value.bit_length() - digits
    low = value >> shift
    twice = (value - (low << shift)) * 2
    rounded = (low + (twice > 1 << shift or (twice == 1 << shift and low & 1))) << shift
    if rounded > int(info.max):
        return math.inf if info.dtype.has_infinity else math.nan
    return float(rounded)


class TestFromArrays:
    @pytest.mark.parametrize("dt", NATIVE, ids=str)
    def test_every_dtype(self, dt: sz.DType) -> None:
        data = np.arange(6).reshape(2, 3).astype(dt.name)
        x = sz.tensor(data)
        assert x.dtype is dt
        np.testing.assert_array_equal(x.numpy(), data)
        assert not np.shares_memory(x.numpy(), data)

    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("picked", [np.s_[:], np.s_[::2], np.s_[::-1, 1:], np.s_[..., ::-2]])
    def test_orders_and_views(self, order: Any, picked: Any) -> None:
        data = np.asarray(np.arange(24).reshape(2, 3, 4), order=order)[picked]
        for kind in ("int32", ">i4", "complex64", ">f8"):
            x = sz.tensor(data.astype(kind))
            np.testing.assert_array_equal(x.numpy(), data)
            assert x.numpy().flags.writeable

    def test_order_is_kept(self) -> None:
        assert sz.tensor(np.zeros((2, 3, 4), order="F")).layout.min2maj == (0, 1, 2)

    @pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0), (2, 2)])
    def test_byte_swapped(self, shape: tuple[int, ...]) -> None:
        data = np.full(shape, 1.5, ">f4")
        x = sz.tensor(data)
        assert x.dtype is sz.float32
        assert x.shape == shape
        np.testing.assert_array_equal(x.numpy(), data)

    @pytest.mark.parametrize("kind", ["i2", "f4", "f8", "c8", "c16"])
    @pytest.mark.parametrize("start", [1, 2, 4, 8])
    def test_unaligned(self, kind: str, start: int) -> None:
        memory = np.zeros(100, np.uint8)
        data = memory[start : start + 80].view(kind)
        data[:] = np.arange(len(data))
        x = sz.tensor(data)
        np.testing.assert_array_equal((x + 1).numpy(), data + 1)
        # Also as an operand, and with a stride.
        np.testing.assert_array_equal(sz.add(data[::2], x.numpy()[::2]).numpy(), 2 * data[::2])

    def test_read_only(self) -> None:
        data = np.arange(3)
        data.flags.writeable = False
        x = sz.tensor(data)
        assert not x.storage.read_only
        assert (x + data).tolist() == [0, 2, 4]

    @pytest.mark.parametrize(
        "data",
        [
            np.array([1, None]),
            np.array(["a"]),
            np.zeros(2, [("a", "f4")]),
            np.zeros(2, "V3"),
            np.array([b"abc"]),
            np.zeros(1, "M8[s]"),
            np.zeros(1, "m8[s]"),
            np.zeros(1, np.longdouble),
            np.zeros(1, np.clongdouble),
        ],
        ids=lambda a: a.dtype.str,
    )
    def test_dtypes_that_are_not_here(self, data: Any) -> None:
        with pytest.raises(sz.StatusError):
            sz.tensor(data)
        with pytest.raises(sz.StatusError):
            sz.tensor([1]) + data

    def test_broadcast_array(self) -> None:
        data = np.broadcast_to(np.arange(3), (4, 3))
        assert sz.tensor(data).tolist() == data.tolist()

    def test_converts_and_rounds_once(self) -> None:
        # Through float32 this would be a tie, and fall to the even neighbour.
        value = 1 + 2**-11 + 2**-40
        assert sz.tensor(np.array([value]), sz.float16).tolist() == [1 + 2**-10]

    @pytest.mark.parametrize(
        ("data", "dt"),
        [
            (array.array("h", [1, 2, 3]), "int16"),
            (array.array("d", [1, 2, 3]), "float64"),
            (memoryview(b"\1\2\3"), "uint8"),
            (memoryview(array.array("f", [1, 9, 2, 9, 3]))[::2], "float32"),
            ((ctypes.c_int32 * 3)(1, 2, 3), "int32"),
        ],
        ids=["h", "d", "bytes", "strided", "ctypes"],
    )
    def test_buffers(self, data: Any, dt: str) -> None:
        x = sz.tensor(data)
        assert (x.dtype.name, x.tolist()) == (dt, [1, 2, 3])

    def test_mapped_memory(self) -> None:
        with mmap.mmap(-1, 4) as memory:
            memory[:] = b"\0\1\2\3"
            assert sz.tensor(memory).tolist() == [0, 1, 2, 3]

    def test_array_interface(self) -> None:
        source = np.arange(4, dtype=np.uint16)
        other = SimpleNamespace(__array_interface__=source.__array_interface__, keep=source)
        assert sz.tensor(other).tolist() == [0, 1, 2, 3]
        assert sz.tensor(other, sz.bfloat16).dtype is sz.bfloat16

    def test_tensors(self) -> None:
        x = sz.tensor([1.5, 2.5])
        y = sz.tensor(x)
        assert y.storage != x.storage
        assert sz.tensor(x, sz.int8).tolist() == [1, 2]


def test_char_holds_a_byte() -> None:
    assert sz.tensor([97], sz.char).tolist() == [b"a"]
    with pytest.raises(sz.InvalidArgument, match="300 does not fit char"):
        sz.tensor([300], sz.char)


def test_masked_arrays_are_refused() -> None:
    with pytest.raises(sz.TypeMismatch, match="masked"):
        sz.tensor(np.ma.array([1, 2], mask=[False, True]))
