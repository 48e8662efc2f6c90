from __future__ import annotations

import array
import copy
import ctypes
import gc
import math
import mmap
import operator
import weakref
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import suanzi as sz
from suanzi import _core
from suanzi.dtypes import DTYPES
from suanzi.layout import min2maj_of
from suanzi.printing import THRESHOLD

PLAIN = [d for d in DTYPES if d.kind not in ("char", "quantized")]
NATIVE = [d for d in PLAIN if not hasattr(ml_dtypes, d.name) and d is not sz.complex32]


def quantised(scale: list[float], zero_point: int, axis: int = -1) -> sz.Tensor:
    x = sz.tensor([[1, 2, 3], [4, 5, 6]], sz.QT_CH_SYM_INT8 if axis >= 0 else sz.QT_ASYM_UINT8)
    _core.set_quantization(x, scale, zero_point, axis)
    return x


class TestAttributes:
    @pytest.mark.parametrize("dt", DTYPES, ids=str)
    def test_of_every_dtype(self, dt: sz.DType) -> None:
        x: sz.Tensor = _core.empty((2, 3), dt)
        assert x.dtype is dt
        assert (x.shape, x.ndim, x.size, x.strides, x.offset) == ((2, 3), 2, 6, (3, 1), 0)
        assert x.device == sz.Device("cpu")
        assert x.layout == sz.Layout(sz.LayoutType.DENSE, (1, 0))
        assert (x.scale, x.zero_point, x.channel_axis) == (None, None, None)
        assert x.storage.dtype is dt
        assert (x.storage.size, x.storage.nbytes) == (6, 6 * dt.itemsize)

    def test_of_a_number(self) -> None:
        x = sz.tensor(2.5)
        assert (x.shape, x.ndim, x.size, x.strides, x.layout.min2maj) == ((), 0, 1, (), ())

    @pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
    def test_of_nothing(self, shape: tuple[int, ...]) -> None:
        x = sz.tensor(np.empty(shape, np.int16))
        assert (x.shape, x.size, x.storage.nbytes) == (shape, 0, 0)
        assert x.layout.min2maj == tuple(range(len(shape) - 1, -1, -1))

    def test_of_a_view(self) -> None:
        x = sz.tensor([[1, 2, 3], [4, 5, 6]])
        y: sz.Tensor = _core.view(x, 1, (2, 2), (3, 1))
        assert (y.offset, y.strides, y.layout.min2maj) == (1, (3, 1), None)
        assert y.storage == x.storage
        assert hash(y.storage) == hash(x.storage)
        assert y.storage != sz.tensor(1).storage
        assert y.storage != 5
        assert y.tolist() == [[2, 3], [5, 6]]

    def test_cannot_be_set(self) -> None:
        x = sz.tensor([1])
        for name in ("dtype", "shape", "strides", "size", "storage", "scale", "color"):
            with pytest.raises(AttributeError):
                setattr(x, name, None)

    def test_quantisation(self) -> None:
        x = quantised([0.5], 7)
        assert (x.scale, x.zero_point, x.channel_axis) == ((0.5,), 7, None)
        y = quantised([0.5, 0.25], 0, 0)
        assert (y.scale, y.zero_point, y.channel_axis) == ((0.5, 0.25), 0, 0)

    @pytest.mark.parametrize("make", [sz.tensor, copy.copy, copy.deepcopy, _core.row_major_copy])
    def test_quantisation_is_copied(self, make: Callable[[Any], sz.Tensor]) -> None:
        for x in (quantised([0.5], 7), quantised([1, 2, 3], 0, 1)):
            y = make(x)
            assert y.dtype is x.dtype
            assert (y.scale, y.zero_point, y.channel_axis) == (
                x.scale,
                x.zero_point,
                x.channel_axis,
            )
            assert y.tolist() == x.tolist()

    def test_rows_of_a_quantised_tensor(self) -> None:
        # A row across the channels keeps them, one along them has its own.
        across = list(quantised([1, 2, 3], 0, 1))
        assert [(r.scale, r.channel_axis) for r in across] == [((1, 2, 3), 0)] * 2
        along = list(quantised([1, 2], 0, 0))
        assert [(r.scale, r.channel_axis) for r in along] == [((1,), None), ((2,), None)]

    def test_cannot_be_made_or_derived_from(self) -> None:
        with pytest.raises(TypeError):
            sz.Tensor()
        with pytest.raises(TypeError):
            object.__new__(sz.Tensor)
        with pytest.raises(TypeError):
            type("Mine", (sz.Tensor,), {})

    @pytest.mark.parametrize(
        ("shape", "strides", "order"),
        [
            ((2, 3), (3, 1), (1, 0)),
            ((2, 3), (1, 2), (0, 1)),
            ((2, 3), (-3, 1), None),
            ((2, 3), (0, 1), None),
            ((2, 3), (4, 1), None),
            ((2, 1, 3), (3, 77, 1), (2, 1, 0)),
            ((2, 3, 4), (4, 8, 1), (2, 0, 1)),
            ((1, 1), (5, -9), (1, 0)),
            ((), (), ()),
        ],
    )
    def test_min2maj(self, shape: Any, strides: Any, order: Any) -> None:
        assert min2maj_of(shape, strides) == order


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
        assert sz.tensor(data).shape == shape

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
            assert [sz.tensor(x).dtype.kind for x in (True, 1, 1.0, 1j, [])] == [
                "bool",
                "int",
                "float",
                "complex",
                "float",
            ]

    @pytest.mark.parametrize("data", [[[1], [2, 3]], [1, [2]], [[], [1]], [[[1]], [1]]])
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
        assert sz.tensor([1, -1.9, math.nan, math.inf, 2 + 1j], sz.int8).tolist() == [
            1,
            -1,
            0,
            127,
            2,
        ]

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


class TestToPython:
    @pytest.mark.parametrize("dt", PLAIN, ids=str)
    def test_numpy_shares_memory(self, dt: sz.DType) -> None:
        if dt is sz.complex32 and not hasattr(ml_dtypes, "complex32"):
            pytest.skip("this ml_dtypes has no complex32")
        x = sz.tensor([[0, 1], [1, 0]], dt)
        a = x.numpy()
        assert a.dtype.itemsize == dt.itemsize
        a[0, 0] = 1
        assert x.tolist()[0] == [1, 1]

    def test_numpy_of_char_and_quantised(self) -> None:
        assert sz.tensor("ab").numpy().tolist() == [b"a", b"b"]
        with pytest.raises(BufferError, match="cast"):
            quantised([1], 0).numpy()
        with pytest.raises(BufferError, match="cast"):
            np.asarray(quantised([1], 0))

    @pytest.mark.skipif(hasattr(ml_dtypes, "complex32"), reason="this ml_dtypes has complex32")
    def test_numpy_of_complex32(self) -> None:
        with pytest.raises(BufferError, match="complex32"):
            sz.tensor([1j], sz.complex32).numpy()

    def test_numpy_outlives_the_tensor(self) -> None:
        x = sz.tensor([1.0] * 100)
        a = x.numpy()
        _core.destroy(x)
        others = [sz.tensor([7.0] * 100) for _ in range(10)]
        assert (a == 1).all()
        del x, others
        gc.collect()
        assert (a == 1).all()

    def test_array_protocol(self) -> None:
        x = sz.tensor([1.5, 2.5])
        assert np.shares_memory(np.asarray(x), x.numpy())
        assert not np.shares_memory(np.array(x), x.numpy())
        assert np.asarray(x, np.float64).dtype == np.float64
        assert np.shares_memory(np.asarray(x, np.float32), x.numpy())
        assert np.shares_memory(x.__array__(copy=False), x.numpy())
        assert not np.shares_memory(x.__array__(np.float32, copy=True), x.numpy())
        with pytest.raises(ValueError, match="copy"):
            x.__array__(np.int8, copy=False)

    @pytest.mark.parametrize("dt", DTYPES, ids=str)
    def test_item(self, dt: sz.DType) -> None:
        x: sz.Tensor = sz.tensor("A") if dt is sz.char else sz.tensor([[1]], dt)
        assert x.item() == (b"A" if dt is sz.char else 1)
        assert isinstance(x.item(), bool | int | float | complex | bytes)
        with pytest.raises(sz.InvalidArgument, match="2 elements"):
            _core.empty((2,), dt).item()
        with pytest.raises(sz.InvalidArgument):
            _core.empty((0,), dt).item()

    @pytest.mark.parametrize("dt", DTYPES, ids=str)
    def test_repr(self, dt: sz.DType) -> None:
        if dt is sz.char:
            assert repr(sz.tensor("a\0")) == "Tensor([b'a', b'\\x00'], dtype=char)".replace(
                "b'a'", "   b'a'"
            )
            return
        text = {"bool": "[False,  True]", "complex": "[0+0j, 1+0j]"}.get(dt.kind, "[0, 1]")
        assert repr(sz.tensor([0, 1], dt)) == f"Tensor({text}, dtype={dt})"
        assert repr(_core.empty((2, 0), dt)) == f"Tensor([], shape=(2, 0), dtype={dt})"

    @pytest.mark.parametrize(
        "dt", [d for d in PLAIN if d.kind == "float" and d.bits <= 16], ids=str
    )
    def test_repr_reads_back(self, dt: sz.DType) -> None:
        every = np.arange(2**dt.bits, dtype=f"u{dt.itemsize}")[:: 1 if dt.bits == 8 else 37]
        x = sz.tensor(every.view(getattr(ml_dtypes, dt.name, np.float16)))
        for one in list(x):
            value, text = one.item(), repr(one).removeprefix("Tensor(").split(",")[0]
            assert isinstance(value, float)
            again = sz.tensor(float(text), dt).item()
            assert again == value or (value != value and again != again)

    def test_repr_of_special_values(self) -> None:
        x = sz.tensor([math.inf, -math.inf, math.nan, -0.0, 1e-45, 0.1])
        assert repr(x) == "Tensor([  inf,  -inf,   nan,    -0, 1e-45,   0.1], dtype=float32)"
        assert repr(sz.tensor(complex(math.nan, -0.0))) == "Tensor(nan-0j, dtype=complex64)"

    @pytest.mark.parametrize("dt", DTYPES, ids=str)
    @pytest.mark.parametrize("shape", [(10**5,), (400, 400), (2,) * 20, (1,) * 63 + (10**5,)])
    def test_repr_of_large_tensors_is_short(self, dt: sz.DType, shape: tuple[int, ...]) -> None:
        x: sz.Tensor = _core.view(_core.empty((1,), dt), 0, shape, [0] * len(shape))
        text = repr(x)
        assert "..." in text
        assert len(text) < 60 * THRESHOLD
        assert text.endswith(f"dtype={dt})")

    def test_repr_reads_only_what_it_shows(self) -> None:
        x = _core.view(sz.tensor(1, sz.bfloat16), 0, (2**31, 2**31), (0, 0))
        assert repr(x).partition("dtype")[0].count("1") == 36

    def test_repr_shows_both_ends(self) -> None:
        text = repr(sz.tensor(np.arange(1001)))
        assert text == "Tensor([   0,    1,    2, ...,  998,  999, 1000], dtype=int64)"
        assert "..." not in repr(sz.tensor(np.arange(1000)))


class TestPythonProtocols:
    def test_len_and_iter(self) -> None:
        x = sz.tensor([[1, 2], [3, 4]])
        assert len(x) == 2
        assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
        assert all(row.storage == x.storage for row in x)
        with pytest.raises(sz.TypeMismatch):
            len(sz.tensor(1))
        with pytest.raises(sz.TypeMismatch):
            iter(sz.tensor(1)).__next__()

    @pytest.mark.parametrize("shape", [(3, 0), (0, 3), (2, 0, 3), (0,)])
    def test_iter_over_nothing(self, shape: tuple[int, ...]) -> None:
        rows = list(sz.tensor(np.zeros(shape)))
        assert [row.shape for row in rows] == [shape[1:]] * shape[0]

    def test_in(self) -> None:
        assert 2 in sz.tensor([1, 2])
        assert 3 not in sz.tensor([1, 2])

    @pytest.mark.parametrize("dt", PLAIN, ids=str)
    def test_numbers(self, dt: sz.DType) -> None:
        one, zero = sz.tensor([[1]], dt), sz.tensor(0, dt)
        assert bool(one) is True
        assert bool(zero) is False
        assert complex(one) == 1
        if dt.kind == "complex":
            with pytest.raises(TypeError):
                float(one)
        else:
            assert int(one) == 1
            assert float(one) == 1.0
        if dt.kind in ("int", "uint", "bool"):
            assert operator.index(one) == 1
            assert "abc"[one] == "b"
        else:
            with pytest.raises(sz.TypeMismatch):
                operator.index(one)

    def test_only_one_element_is_a_number(self) -> None:
        for convert in (bool, int, float, complex):
            with pytest.raises(sz.InvalidArgument):
                convert(sz.tensor([1, 2]))
            with pytest.raises(sz.InvalidArgument):
                convert(sz.tensor([], sz.int8))
        with pytest.raises(sz.TypeMismatch):
            operator.index(sz.tensor([1, 2]))

    def test_text_is_no_number(self) -> None:
        for convert in (int, float, complex):
            with pytest.raises(sz.TypeMismatch):
                convert(sz.tensor("7"))

    @pytest.mark.parametrize("make", [copy.copy, copy.deepcopy])
    def test_copies(self, make: Callable[[Any], sz.Tensor]) -> None:
        base = sz.tensor(np.arange(24, dtype=np.int16).reshape(2, 3, 4))
        views = [
            base,
            _core.view(base, 0, (4, 3, 2), (1, 4, 12)),
            _core.view(base, 23, (24,), (-1,)),
            _core.view(base, 0, (3, 2), (2, 0)),
            _core.view(base, 5, (), ()),
            _core.view(base, 0, (0, 3), (1, 1)),
        ]
        for x in views:
            y = make(x)
            assert y.storage != x.storage
            assert (y.shape, y.dtype, y.tolist()) == (x.shape, x.dtype, x.tolist())
            if x.layout.min2maj is not None:
                assert y.layout == x.layout

    def test_deepcopy_of_a_list(self) -> None:
        x = sz.tensor([1])
        a, b = copy.deepcopy([x, x])
        assert a is b
        assert a is not x

    def test_hash_and_weakref(self) -> None:
        x, y = sz.tensor([1]), sz.tensor([1])
        assert len({x: 1, y: 2}) == 2
        assert hash(x) == hash(x)
        gone: list[object] = []
        reference = weakref.ref(x, gone.append)
        assert reference() is x
        del x
        assert reference() is None
        assert gone == [reference]

    def test_destroyed(self) -> None:
        x = sz.tensor([1.0])
        _core.destroy(x)
        assert repr(x) == "Tensor(destroyed)"
        uses: list[Callable[[], object]] = [
            lambda: x.shape,
            lambda: x.dtype,
            lambda: x.storage,
            lambda: x.layout,
            lambda: x + 1,
            lambda: 1 + x,
            lambda: -x,
            lambda: x == x,
            lambda: sz.muladd(1, x, 2),
            lambda: sz.cast(x, sz.int8),
            lambda: sz.tensor(x),
            lambda: x.numpy(),
            lambda: x.tolist(),
            lambda: len(x),
            lambda: bool(x),
            lambda: copy.copy(x),
            lambda: x.__dlpack__(),
            lambda: sz.from_dlpack(x),
            lambda: _core.destroy(x),
        ]
        for use in uses:
            with pytest.raises(sz.UninitializedObject):
                use()


class Other:
    """An object that answers operators itself."""

    def __radd__(self, other: object) -> str:
        return "radd"

    def __add__(self, other: object) -> str:
        return "add"

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class TestOperators:
    def test_leave_foreign_objects_alone(self) -> None:
        x = sz.tensor([1.0])
        assert x + Other() == "radd"
        assert Other() + x == "add"
        assert (x == Other()) is True
        assert (x == "text") is False
        assert (x != None) is True  # noqa: E711
        for other in ("text", None, [1], (1,), object(), Fraction(1, 2)):
            assert x.__add__(other) is NotImplemented
            with pytest.raises(TypeError):
                x + other
            with pytest.raises(TypeError):
                x < other  # noqa: B015
        with pytest.raises(TypeError):
            pow(x, 2, 3)  # type: ignore[misc]

    @pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"])
    def test_with_numpy_both_ways(self, name: str) -> None:
        function = getattr(operator, name)
        data = np.array([[1.0, 2], [3, 4]], np.float32)
        x = sz.tensor([2.0, 3.0])
        for found, expected in (
            (function(x, data), function(x.numpy(), data)),
            (function(data, x), function(data, x.numpy())),
            (function(x, data.T), function(x.numpy(), data.T)),
        ):
            assert isinstance(found, sz.Tensor)
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)

    def test_numpy_scalars_are_0d_tensors(self) -> None:
        for found in (sz.tensor([1.0]) + np.float64(0.5), np.float64(0.5) + sz.tensor([1.0])):
            assert isinstance(found, sz.Tensor)
            assert found.tolist() == [1.5]
            assert found.dtype is sz.result_type(sz.float32, sz.ZeroDim(sz.float64))

    def test_numpy_functions_refuse_tensors(self) -> None:
        with pytest.raises(TypeError):
            np.add(np.ones(1), sz.tensor([1.0]))

    def test_in_place_makes_a_new_tensor(self) -> None:
        x = y = sz.tensor([1])
        x += 1
        assert (x.tolist(), y.tolist()) == ([2], [1])

    def test_positive_is_the_tensor(self) -> None:
        x = sz.tensor([1])
        assert +x is x

    def test_devices(self) -> None:
        assert sz.Device("npu:3") == sz.Device("NPU", 3)
        for bad in ("cpu:²", "cpu:-1", "cpu:x", "abacus"):
            with pytest.raises(sz.InvalidArgument):
                sz.Device(bad)


class TestQuantised:
    """Operators compute with what quantised tensors stand for: (integer - zero point) * scale."""

    def test_real_values(self) -> None:
        x = quantised([0.5], 2)
        real = (np.array([[1, 2, 3], [4, 5, 6]]) - 2) * 0.5
        assert (x + 1).tolist() == (real + 1).tolist()
        assert (1 - x).tolist() == (1 - real).tolist()
        assert sz.muladd(x, x, x).tolist() == (real * real + real).tolist()
        assert (x == 0).tolist() == (real == 0).tolist()
        assert sz.logical_not(x).tolist() == (real == 0).tolist()
        assert sz.where(x > 0, x, sz.tensor(9.0)).tolist() == np.where(real > 0, real, 9).tolist()
        assert (x + x).dtype is sz.float32
        with sz.promotion("lossless"):
            assert (x + x).dtype is sz.float64
        assert sz.allclose(x, sz.tensor(real))

    def test_channels(self) -> None:
        x = quantised([1, 2, 4], 0, 1)
        assert (x + 0).tolist() == [[1, 4, 12], [4, 10, 24]]
        y = quantised([1, 2], 0, 0)
        assert (y + 0).tolist() == [[1, 2, 3], [8, 10, 12]]
        # The same integers, other numbers.
        assert (x == y).tolist() == [[True, False, False], [False, True, False]]

    def test_without_a_scale(self) -> None:
        x = sz.tensor([1], sz.QT_SYM_INT8)
        with pytest.raises(sz.InvalidArgument, match="scale"):
            x + 1
        with pytest.raises(sz.InvalidArgument, match="scale"):
            sz.where(sz.tensor(True), x, x)

    def test_does_not_convert(self) -> None:
        for call in (
            lambda: sz.tensor(quantised([1], 0), sz.float32),
            lambda: sz.cast(quantised([1], 0), sz.float32),
            lambda: sz.tensor(sz.tensor("a"), sz.int8),
            lambda: sz.convert_promote_types(quantised([1], 0), sz.tensor([1.0])),
        ):
            with pytest.raises(sz.TypeMismatch):
                call()
