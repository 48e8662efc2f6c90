"""What quantised tensors carry along, how they print, and what the core lets be said of them."""

from __future__ import annotations

import copy
import io
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.quantised import DTYPES, NAMES, f32, integers_of
from suanzi import _core


def make(name: str, shape: tuple[int, ...] = (2, 3)) -> sz.Tensor:
    count = math.prod(shape)
    channels = shape[-1] if shape and "_CH_" in name else 1
    return sz.create_quant_tensor(
        shape,
        [0.5 * (i + 1) for i in range(channels)],
        name,
        values=np.arange(count, dtype=DTYPES[name][0]).reshape(shape),
        zero_point=3,
        channel_axis=len(shape) - 1 if channels > 1 else None,
    )


def same(x: sz.Tensor, y: sz.Tensor) -> None:
    assert (x.dtype, x.shape, x.scale) == (y.dtype, y.shape, y.scale)
    assert (x.zero_point, x.channel_axis) == (y.zero_point, y.channel_axis)
    assert integers_of(x) == integers_of(y)


def saved(x: sz.Tensor) -> sz.Tensor:
    file = io.BytesIO()
    sz.save(file, x)
    found = sz.load(file)
    assert isinstance(found, sz.Tensor)
    return found


WAYS = [
    copy.copy, copy.deepcopy, sz.tensor, _core.row_major_copy, saved,
    lambda x: pickle.loads(pickle.dumps(x)), lambda x: sz.cast(x, x.dtype),
    lambda x: _core.view(x, x.offset, x.shape, x.strides),
]  # fmt: skip


class TestCarried:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("way", WAYS)
    def test_copies(self, name: str, way: Callable[[sz.Tensor], sz.Tensor]) -> None:
        for shape in [(2, 3), (0, 3), (2, 0), (3,), ()]:
            x = make(name, shape)
            same(x, way(x))
        turned = sz.create_quant_tensor((2, 3), 0.5, name, values=bytes(range(6)), layout=(0, 1))
        same(turned, way(turned))

    def test_int_repr_shares_memory(self) -> None:
        x = make("QT_SYM_INT8")
        integers = x.int_repr()
        assert (integers.dtype, integers.strides) == (sz.int8, x.strides)
        integers.numpy()[0, 0] = 100
        assert x.tolist()[0][0] == 50
        address = x.storage.data
        del x
        assert integers.storage.data == address
        assert integers.tolist() == [[100, 1, 2], [3, 4, 5]]
        rows = list(make("QT_CH_SYM_INT8"))
        assert rows[1].int_repr().tolist() == [3, 4, 5]
        with pytest.raises(sz.TypeMismatch, match="int8"):
            sz.tensor([1], sz.int8).int_repr()

    def test_rows(self) -> None:
        x = sz.create_quant_tensor((2, 3, 2), [1, 2, 4], sz.QT_CH_SYM_INT8, values=bytes(range(12)))
        rows = list(x)
        assert [(r.scale, r.channel_axis) for r in rows] == [((1, 2, 4), 0)] * 2
        assert [r.tolist() for r in rows] == x.tolist()
        assert [s.tolist() for r in rows for s in r] == [s for r in x.tolist() for s in r]

    def test_a_view_of_others_does_not_keep_channels(self) -> None:
        x = make("QT_CH_SYM_INT8", (3, 3))
        turned = _core.view(x, 0, (3, 3), (1, 3))
        assert turned.scale is None
        with pytest.raises(sz.InvalidArgument, match="scale"):
            turned + 1

    def test_numbers(self) -> None:
        x = make("QT_ASYM_UINT8")
        assert x.tolist() == [[-1.5, -1, -0.5], [0, 0.5, 1]]
        one = sz.create_quant_tensor((1,), 0.1, sz.QT_SYM_INT8, values=[3])
        assert one.item() == float(Fraction(f32(0.1)) * 3)
        assert (float(one), int(one), bool(one)) == (one.item(), 0, True)
        assert f"{one:.2f}" == "0.30"
        assert not sz.create_quant_tensor((), 1, sz.QT_ASYM_INT8, values=5, zero_point=5)
        with pytest.raises(sz.TypeMismatch):
            range(one)  # type: ignore[arg-type, call-overload]

    @pytest.mark.parametrize("name", NAMES)
    def test_other_libraries(self, name: str) -> None:
        x = make(name)
        for call in (x.numpy, x.__dlpack__, lambda: np.asarray(x)):
            with pytest.raises(BufferError, match="int_repr"):
                call()


class TestPrinting:
    def test_one_scale(self) -> None:
        x = sz.create_quant_tensor((3,), 0.25, sz.QT_SYM_INT8, values=[1, 2, 3])
        assert repr(x) == "Tensor([0.25,  0.5, 0.75], dtype=QT_SYM_INT8, scale=0.25, zero_point=0)"
        x = sz.create_quant_tensor((2,), 0.1, sz.QT_ASYM_UINT8, values=[0, 9], zero_point=3)
        assert repr(x) == "Tensor([-0.3,  0.6], dtype=QT_ASYM_UINT8, scale=0.1, zero_point=3)"

    def test_channels(self) -> None:
        x = sz.create_quant_tensor((1, 2), [0.5, 0.1], sz.QT_CH_SYM_INT8, values=[[3, 3]])
        assert repr(x) == (
            "Tensor([[1.5, 0.3]],\n"
            "       dtype=QT_CH_SYM_INT8, scale=[0.5, 0.1], zero_point=0, channel_axis=1)"
        )

    def test_empty_and_0d_and_without_a_scale(self) -> None:
        x = sz.create_quant_tensor((0,), 0.5, sz.QT_SYM_INT16)
        assert repr(x) == "Tensor([], shape=(0,), dtype=QT_SYM_INT16, scale=0.5, zero_point=0)"
        x = sz.create_quant_tensor((), 0.5, sz.QT_SYM_INT16, values=5)
        assert repr(x) == "Tensor(2.5, dtype=QT_SYM_INT16, scale=0.5, zero_point=0)"
        assert repr(sz.tensor([1], sz.QT_SYM_INT8)) == "Tensor([1], dtype=QT_SYM_INT8)"

    @pytest.mark.parametrize("axis", [0, 1])
    def test_large(self, axis: int) -> None:
        shape = (50, 40)
        scales = [float(i + 1) for i in range(shape[axis])]
        values = np.ones(shape, np.int8)
        x = sz.create_quant_tensor(
            shape, scales, sz.QT_CH_SYM_INT8, values=values, channel_axis=axis
        )
        text = repr(x)
        last = shape[axis]
        assert f"scale=[1, 2, 3, ..., {last - 2}, {last - 1}, {last}]" in text
        rows = text.splitlines()
        assert len(rows) == 7 + 2  # what it is has lines of its own
        first = rows[0].removeprefix("Tensor([[").rstrip("],").replace("...,", "")
        along = [1, 2, 3, last - 2, last - 1, last]
        assert [int(number) for number in first.split(",")] == (along if axis else [1] * 6)


class TestCore:
    def test_set_quantization_refuses_what_does_not_fit(self) -> None:
        def refuses(x: sz.Tensor, *arguments: Any) -> None:
            before = (x.scale, x.zero_point, x.channel_axis)
            with pytest.raises(sz.InvalidArgument):
                _core.set_quantization(x, *arguments)
            assert (x.scale, x.zero_point, x.channel_axis) == before

        x, unsigned = make("QT_CH_SYM_INT8"), make("QT_ASYM_UINT8")
        refuses(sz.tensor([1]), [1.0], 0, -1)
        for scale in ([], [1.0, 2.0], [0.0], [-1.0], [math.nan], [math.inf], [1e39], [1e-46]):
            refuses(unsigned, scale, 0, -1)
        refuses(x, [1.0] * 3, 0, 0)
        refuses(x, [1.0] * 3, 0, 2)
        refuses(x, [1.0] * 3, 0, -2)
        refuses(x, [1.0, 0.0, 1.0], 0, 1)
        refuses(x, [1.0], 1, -1)
        refuses(unsigned, [1.0], 2**28 + 1, -1)
        refuses(unsigned, [1.0], -(2**28) - 1, -1)
        refuses(make("QT_ASYM_INT8"), [1.0], 2**28 + 1, -1)
        refuses(make("QT_SYM_INT16"), [1.0], -1, -1)

    def test_the_others_refuse_what_python_does_not_let_through(self) -> None:
        x = sz.tensor([1.0, 2.0])
        for arguments in (
            (x, sz.int8, [1.0], 0, -1, False),
            (x, sz.QT_SYM_INT8, [1.0], 1, -1, False),
            (x, sz.QT_SYM_INT8, [1.0], 0, 1, False),
            (x, sz.QT_SYM_INT8, [0.0], 0, -1, False),
            (x, sz.QT_SYM_INT8, [1.0] * 3, 0, 0, False),
            (sz.tensor([1j]), sz.QT_SYM_INT8, [1.0], 0, -1, False),
            (make("QT_SYM_INT8"), sz.QT_SYM_INT8, [1.0], 0, -1, False),
            (5, sz.QT_SYM_INT8, [1.0], 0, -1, False),
        ):
            with pytest.raises((TypeError, ValueError)):
                _core.quantize(*arguments)
        for bad in (5, sz.tensor([1]), sz.tensor([1], sz.QT_SYM_INT8)):
            with pytest.raises(sz.InvalidArgument):
                _core.dequantize(bad, sz.float32, False)
        for bad, axis in ((5, -1), (sz.tensor([1j]), -1), (x, 1), (x, -2)):
            with pytest.raises((TypeError, ValueError)):
                _core.value_range(bad, axis)
