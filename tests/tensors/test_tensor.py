"""What a tensor says of itself, and how it goes with Python."""

from __future__ import annotations

import copy
import gc
import operator
import weakref
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import suanzi as sz
from suanzi import _core
from suanzi.base.dtypes import DTYPES
from suanzi.base.layout import min2maj_of

PLAIN = [d for d in DTYPES if d.kind not in ("char", "quantized")]


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

    def test_numpy_of_char(self) -> None:
        assert sz.tensor("ab").numpy().tolist() == [b"a", b"b"]

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


class TestPythonProtocols:
    @pytest.mark.parametrize("shape", [(3, 0), (0, 3), (2, 0, 3), (0,)])
    def test_iter_over_nothing(self, shape: tuple[int, ...]) -> None:
        rows = list(sz.tensor(np.zeros(shape)))
        assert [row.shape for row in rows] == [shape[1:]] * shape[0]

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

    def test_numpys_add_is_the_symbol(self) -> None:
        found = np.add(np.ones(1, np.int32), sz.tensor([1.0], sz.bfloat16))
        assert isinstance(found, sz.Tensor)
        assert found.dtype is sz.bfloat16

    def test_positive_is_a_tensor_of_its_own(self) -> None:
        x = sz.tensor([1], sz.bfloat16)
        y = +x
        y += 1
        assert (x.tolist(), y.tolist(), y.dtype) == ([1], [2], sz.bfloat16)

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

    def test_casts_to_what_it_stands_for(self) -> None:
        x = quantised([0.5], 2)
        assert sz.cast(x, sz.float32).tolist() == [[-0.5, 0, 0.5], [1, 1.5, 2]]
        assert sz.cast(x, sz.int8).tolist() == [[0, 0, 0], [1, 1, 2]]

    def test_does_not_convert(self) -> None:
        for call in (
            lambda: sz.tensor(quantised([1], 0), sz.float32),
            lambda: sz.tensor(sz.tensor("a"), sz.int8),
            lambda: sz.convert_promote_types(quantised([1], 0), sz.tensor([1.0])),
        ):
            with pytest.raises(sz.TypeMismatch):
                call()


class TestMoreOfPython:
    def test_divmod(self) -> None:
        whole, rest = divmod(sz.tensor([7, -7]), 2)
        assert (whole.tolist(), rest.tolist()) == ([3, -4], [1, 1])
        whole, rest = divmod(7, sz.tensor([2, -2]))
        assert (whole.tolist(), rest.tolist()) == ([3, -4], [1, -1])

    def test_round(self) -> None:
        assert round(sz.tensor([0.5, 1.5, -2.5])).tolist() == [0, 2, -2]
        with pytest.raises(sz.TypeMismatch, match="ndigits"):
            round(sz.tensor([0.5]), 1)  # type: ignore[call-overload]

    def test_format(self) -> None:
        assert f"{sz.tensor(1.5):.3f} {sz.tensor([2])}" == "1.500 Tensor([2], dtype=int64)"
        with pytest.raises(sz.InvalidArgument):
            f"{sz.tensor([1, 2]):.3f}"

    def test_storage_that_was_never_made(self) -> None:
        with pytest.raises(BufferError, match="never made"):
            memoryview(sz.Storage.__new__(sz.Storage))
        assert sz.tensor([1]).storage.device == sz.Device("cpu")
