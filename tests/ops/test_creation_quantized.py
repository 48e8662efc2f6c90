"""7.2.1.15: create_quant_tensor; cast; and what the other operators make of quantised tensors."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.exact import bits_of, encode, is_nan
from helpers.moves import nothing_made
from helpers.quantised import DTYPES, NAMES, SYMMETRIC, f32
from suanzi import _core

SIX = [[1, 2, 3], [4, 5, 6]]


def create(name: str = "QT_SYM_INT8", **arguments: Any) -> sz.Tensor:
    given: dict[str, Any] = {"shape": (2, 3), "scale": 0.25, "dtype": name, "values": SIX}
    return sz.create_quant_tensor(**given | arguments)


WRONG: dict[str, list[Any]] = {
    "scale": [0, -1, math.nan, math.inf, -math.inf, 1e39, 1e-46, True, None, "1", b"1", [], [1, 2],
              [[1.0]], {1.0}, {}, object(), 1j, [None], [True], [1j], 10**400, np.array([[1.0]]),
              sz.tensor([1j]), sz.tensor("a"), np.array(["a"])],
    "zero_point": [0.0, 1.5, None, True, "1", math.nan, [1]],
    "shape": [None, -5, (2, -3), (2.0, 3), "ab", (True, 3), (2**63, 1), (1,) * 65],
    "dtype": [sz.int8, sz.float32, None, "nonsense", 5, object()],
    "device": ["gpu", "abacus", sz.Device("cpu", 1), None, 5],
    "values": [[[1.5] * 3] * 2, [[True] * 3] * 2, "abcdef", {1: 2}, object(), 1.5, [[1j] * 3] * 2,
               [[128, 0, 0], [0, 0, 0]], [[1, 2], [3]], [[None] * 3] * 2, [["a"] * 3] * 2,
               np.array(SIX), np.array(SIX, np.uint8), np.array(SIX, np.float32), sz.tensor(SIX),
               sz.tensor(SIX, sz.QT_ASYM_INT8), np.array(SIX, object), True],
    "layout": [(0,), (0, 0), (0, 2), (1, 0, 2), 5, "ab", (0.0, 1), (True, 0), (-1, 0),
               sz.Layout(sz.LayoutType.CSR, None), sz.Layout(sz.LayoutType.DENSE, (0,))],
    "n_bytes": [-1, 7, 6.0, True, "6", 10**30],
}  # fmt: skip
WRONG_CHANNELS: list[tuple[str, Any]] = [
    *(("scale", s) for s in ([1, 2], [1] * 4, [1, 0, 1], [1, math.nan, 1], [])),
    *(("channel_axis", a) for a in (2, -3, 1.0, True, "1", 10**30)),
]


class TestCreate:
    def test_defaults(self) -> None:
        x = sz.create_quant_tensor((2, 3), 0.5)
        assert (x.dtype, x.shape, x.zero_point) == (sz.QT_SYM_INT16, (2, 3), 0)
        assert (x.channel_axis, x.device) == (None, sz.Device("cpu"))

    @pytest.mark.parametrize("name", NAMES)
    def test_kinds_of_values(self, name: str) -> None:
        stored = DTYPES[name][0]
        array = np.array(SIX, stored)
        as_quantised = create(name)
        for values in (
            SIX,
            tuple(map(tuple, SIX)),
            [np.array(r, stored).tolist() for r in SIX],
            [[np.int64(v) for v in r] for r in SIX],
            array,
            np.asfortranarray(array),
            array[::-1][::-1],
            sz.tensor(array),
            sz.from_dlpack(array.T.copy().T),
            as_quantised,
            array.tobytes(),
            bytearray(array.tobytes()),
            memoryview(array.tobytes()),
            memoryview(array),
        ):
            x = create(name, values=values)
            assert x.int_repr().tolist() == SIX
            assert x.int_repr().dtype.name == stored
        x = create(name, values=as_quantised)
        assert x.storage != as_quantised.storage

    @pytest.mark.parametrize("name", NAMES)
    def test_bytes_are_in_the_order_of_memory(self, name: str) -> None:
        stored = DTYPES[name][0]
        raw = np.arange(1, 7).astype(stored).tobytes()
        for layout in ((1, 0), (0, 1), [0, 1], sz.Layout(sz.LayoutType.DENSE, (0, 1)),
                       sz.Layout(sz.LayoutType.DENSE, None)):  # fmt: skip
            order = layout.min2maj if isinstance(layout, sz.Layout) else layout
            x = create(name, values=raw, layout=layout)
            columns = order is not None and tuple(order) == (0, 1)
            assert x.layout.min2maj == ((0, 1) if columns else (1, 0))
            assert x.int_repr().tolist() == ([[1, 3, 5], [2, 4, 6]] if columns else SIX)
            # Lists and arrays are in the order of their indices.
            assert create(name, layout=layout).int_repr().tolist() == SIX
            array = np.array(SIX, stored)
            assert create(name, values=array, layout=layout).int_repr().tolist() == SIX

    def test_short_and_long_bytes(self) -> None:
        assert create(values=b"\x01\x02").int_repr().tolist() == [[1, 2, 0], [0, 0, 0]]
        assert create(values=bytes(range(1, 100))).int_repr().tolist() == SIX
        assert create(values=bytes([1, 2, 3]), n_bytes=2).int_repr().tolist() == [
            [1, 2, 0],
            [0] * 3,
        ]
        half = create("QT_SYM_INT16", values=b"\x01\x00\x02").int_repr().tolist()
        assert half == [[1, 2, 0], [0, 0, 0]]
        assert create(n_bytes=4).int_repr().tolist() == [[1, 2, 3], [4, 0, 0]]
        assert create(n_bytes=0).int_repr().tolist() == [[0] * 3] * 2

    def test_empty_values(self) -> None:
        for values in ((), [], None, b"", bytearray()):
            assert create(values=values).shape == (2, 3)
        assert create(shape=(2, 0), values=[[], []]).tolist() == [[], []]
        assert create(shape=(0,), values=b"abc").tolist() == []
        assert create(shape=(), values=7).tolist() == 1.75
        assert create(shape=(), values=np.int8(7)).tolist() == 1.75

    def test_range_of_lists(self) -> None:
        for name in NAMES:
            stored = DTYPES[name][0]
            limits = np.iinfo(stored)
            x = create(name, shape=(2,), values=[int(limits.min), int(limits.max)])
            assert x.int_repr().tolist() == [limits.min, limits.max]
            for bad in (int(limits.min) - 1, int(limits.max) + 1, 2**70, -(2**70)):
                with pytest.raises(sz.InvalidArgument, match="fit"):
                    create(name, shape=(1,), values=[bad])

    @pytest.mark.parametrize(
        "scale",
        [0.5, 1, np.float32(0.5), np.float64(2), [0.5], (0.5,), np.array([0.5]), np.array(0.5),
         sz.tensor([0.5]), sz.tensor(0.5), sz.tensor([0.5], sz.bfloat16), Fraction(1, 2),
         range(1, 2)],
    )  # fmt: skip
    def test_kinds_of_scales(self, scale: Any) -> None:
        for name in NAMES:
            x = create(name, scale=scale)
            assert x.scale in ((0.5,), (1.0,), (2.0,))
            assert x.channel_axis is None

    def test_extreme_scales(self) -> None:
        for scale in (2.0**-149, 1e-40, 3.4028234663852886e38, 7.1e-46):
            assert create(scale=scale).scale == (f32(scale),)
        assert create(scale=0.1).scale == (f32(0.1),)

    def test_zero_points(self) -> None:
        for name in NAMES:
            stored, symmetric = DTYPES[name][0], name in SYMMETRIC
            limits = np.iinfo(stored)
            # One that is not stored is that of numbers among which 0 is not.
            beyond = (int(limits.min) - 1, int(limits.max) + 1, 2**28, -(2**28))
            for zero_point in (int(limits.min), int(limits.max), 3, np.int16(4), *beyond):
                x = create(name, zero_point=zero_point)
                assert x.zero_point == (0 if symmetric else zero_point)
            if symmetric:
                assert create(name, zero_point=10**30).zero_point == 0
                continue
            for bad in (-(2**28) - 1, 2**28 + 1, 10**30):
                with pytest.raises(sz.InvalidArgument, match="zero_point"):
                    create(name, zero_point=bad)

    def test_channels(self) -> None:
        for name in ("QT_CH_SYM_INT8", "QT_CH_SYM_INT16"):
            x = create(name, scale=[1, 2, 4])
            assert (x.scale, x.channel_axis) == ((1, 2, 4), 1)
            assert x.tolist() == [[1, 4, 12], [4, 10, 24]]
            for axis in (0, -2):
                y = create(name, scale=[1, 2], channel_axis=axis)
                assert (y.channel_axis, y.tolist()) == (0, [[1, 2, 3], [8, 10, 12]])
            vector = create(name, shape=(2,), scale=[1, 2], values=[3, 3])
            assert (vector.channel_axis, vector.tolist()) == (0, [3, 6])
            assert create(name, shape=(), scale=2, values=3).tolist() == 6
            assert create(name, shape=(2, 0), scale=[], values=()).scale == ()
            image = create(name, shape=(1, 2, 1, 2), scale=[1, 2], values=[[[[1, 1]], [[1, 1]]]])
            assert image.tolist() == [[[[1, 1]], [[2, 2]]]]
            one = create(name, shape=(2, 1), scale=3, values=[[1], [2]])
            assert one.channel_axis == 1

    @pytest.mark.parametrize(
        "wrong",
        [{key: value} for key, values in WRONG.items() for value in values]
        + [{key: value, "dtype": "QT_CH_SYM_INT8"} for key, value in WRONG_CHANNELS]
        + [{"zero_point": z, "dtype": "QT_ASYM_UINT8"} for z in WRONG["zero_point"]]
        + [{"shape": (), "channel_axis": 0, "dtype": "QT_CH_SYM_INT8", "values": 1}]
        + [{"n_bytes": 3, "values": ()}],
    )
    def test_invalid_arguments(self, wrong: dict[str, Any]) -> None:
        with nothing_made():
            with pytest.raises(
                sz.InvalidArgument, match=r"^create_quant_tensor \(7.2.1.15\): "
            ) as e:
                create(**wrong)
            assert str(e.value).endswith(".")
            assert e.value.status is sz.Status.INVALID_ARGUMENT
            del e  # its traceback keeps what was looked at

    @pytest.mark.parametrize("name", NAMES)
    def test_dimensions_mismatch(self, name: str) -> None:
        stored = DTYPES[name][0]
        for values in ([1] * 6, [[1, 2]] * 3, [[[1, 2, 3]]] * 2, 5, [[1, 2, 3]], [[]]):
            for given in (values, np.array(values, stored), sz.tensor(values, name)):
                with pytest.raises(
                    sz.DimensionsMismatch, match=r"create_quant_tensor.*\(2, 3\)\.$"
                ):
                    create(name, values=given)

    def test_destroyed_values(self) -> None:
        gone = sz.tensor(SIX, sz.int8)
        _core.destroy(gone)
        for wrong in ({"values": gone}, {"scale": gone}):
            with pytest.raises(sz.UninitializedObject, match="create_quant_tensor"):
                create(**wrong)


# ---- cast ----------------------------------------------------------------------------------------

TARGETS = [
    "bool", "int4", "uint4", "uint1", "int8", "uint8", "int16", "uint16", "int32", "uint32",
    "int64", "uint64", "float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("target", TARGETS)
def test_cast_rounds_the_exact_value_once(name: str, target: str) -> None:
    stored, symmetric = DTYPES[name][0], name in SYMMETRIC
    limits = np.iinfo(stored)
    rng = np.random.default_rng(7)
    integers = [limits.min, limits.max, 0, 1, 2, *rng.integers(limits.min, limits.max, 90)]
    values = np.array(integers, stored)
    for scale in (0.1, 1.0, 2.0**-149, 1e-7, 0.37, 3e38, 1.1e34, 2.0**-20):
        zero_point = 0 if symmetric else 3
        x = sz.create_quant_tensor(values.shape, scale, name, values=values, zero_point=zero_point)
        exact = [Fraction(int(i) - zero_point) * Fraction(f32(scale)) for i in values]
        wanted = [encode(e, target) for e in exact]
        found = [None if is_nan(b, target) else b for b in bits_of(sz.cast(x, target))]
        assert found == wanted
    saturated = sz.cast(x, target, saturate=True)
    assert saturated.dtype.name == target


@pytest.mark.parametrize("name", NAMES)
class TestCastToQuantised:
    def test_derives_as_quantize_does(self, name: str) -> None:
        data = sz.tensor(np.random.default_rng(1).normal(0, 5, (4, 3)))
        for source in (*TARGETS, "complex64"):
            x = sz.cast(data, source)
            real = sz.cast(x, sz.float32) if source == "complex64" else x
            found, wanted = sz.cast(x, name), sz.quantize(real, name)
            assert (found.dtype.name, found.scale) == (name, wanted.scale)
            assert (found.zero_point, found.channel_axis) == (
                wanted.zero_point,
                wanted.channel_axis,
            )
            assert found.int_repr().tolist() == wanted.int_repr().tolist()

    def test_from_every_other(self, name: str) -> None:
        for other in NAMES:
            x = create(other, zero_point=0 if other in SYMMETRIC else 2)
            found = sz.cast(x, name)
            if name == other:
                assert (found.scale, found.zero_point) == (x.scale, x.zero_point)
                assert found.int_repr().tolist() == x.int_repr().tolist()
                assert found.storage != x.storage
                continue
            assert found.dtype.name == name
            wanted = sz.quantize(sz.tensor(x.tolist(), sz.float64), name)
            assert (found.scale, found.zero_point) == (wanted.scale, wanted.zero_point)
            assert found.int_repr().tolist() == wanted.int_repr().tolist()

    def test_refusals(self, name: str) -> None:
        with nothing_made():
            with pytest.raises(sz.InvalidArgument, match=r"cast \(7.2.3.1\): input .*finite"):
                sz.cast(sz.tensor([math.nan]), name)
            with pytest.raises(sz.TypeMismatch, match="char"):
                sz.cast(sz.tensor("text"), name)
            with pytest.raises(sz.TypeMismatch, match="char"):
                sz.cast(create(name), sz.char)
            with pytest.raises(sz.InvalidArgument, match="saturate"):
                sz.cast(sz.tensor([1.0]), name, saturate=1)  # type: ignore[arg-type]
            other = next(n for n in NAMES if n != name)
            for target in (sz.float32, other):
                with pytest.raises(sz.InvalidArgument, match="without a scale"):
                    sz.cast(sz.tensor([1], name), target)

    def test_without_a_scale_it_still_copies(self, name: str) -> None:
        assert sz.cast(sz.tensor([1], name), name).int_repr().tolist() == [1]


# ---- the other operators -------------------------------------------------------------------------

RULES = ["cann", "mindspore", "paddle", "torch", "numpy", "jax", "openvino", "strict", "lossless"]


def real(x: sz.Tensor, kind: str) -> sz.Tensor:
    """What a quantised tensor stands for, by way of Python's numbers, which hold it exactly."""
    return sz.tensor(x.tolist(), kind)


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("name", NAMES)
def test_arithmetic_under_every_rule_set(rules: str, name: str) -> None:
    channels = "_CH_" in name
    x = create(
        name, scale=[0.1, 0.2, 0.3] if channels else 0.1, zero_point=0 if name in SYMMETRIC else 2
    )
    kind = "float64" if rules == "lossless" else "float32"
    others: list[Any] = [
        2, 2.5, True, sz.tensor([1, 2, 3], sz.int8), sz.tensor([[1.5], [2.5]], sz.float16),
        sz.tensor(3.0, sz.float64), create("QT_ASYM_UINT8", zero_point=1), x,
    ]  # fmt: skip
    with sz.promotion(rules):
        for other, (left, right) in itertools.product(others, [(0, 1), (1, 0)]):
            quantised, plain = [x, other], [real(x, kind), other]
            if isinstance(other, sz.Tensor) and other.scale is not None:
                plain[1] = real(other, kind)
            for op in (sz.add, sz.sub, sz.mul, sz.true_divide, sz.max, sz.less, sz.equal, sz.mod):
                try:
                    wanted = op(plain[left], plain[right])
                except sz.StatusError as error:
                    with pytest.raises(type(error)):
                        op(quantised[left], quantised[right])
                    continue
                found = op(quantised[left], quantised[right])
                assert found.dtype is wanted.dtype
                assert repr(found.tolist()) == repr(wanted.tolist())  # NaN, too
        for symbol in (lambda v: -v, abs, lambda v: v + v, lambda v: v - v, lambda v: v == v):
            assert symbol(x).tolist() == symbol(real(x, kind)).tolist()


def test_comparison_by_value() -> None:
    """Equal numbers under other scales are equal; equal integers may not be."""
    x = create(scale=0.5, values=[[2, 4, 6], [8, 10, 12]])
    y = create("QT_ASYM_UINT8", scale=0.25, zero_point=1, values=[[5, 9, 13], [17, 21, 24]])
    for rules in ("cann", "lossless"):
        with sz.promotion(rules):
            assert (x == y).tolist() == [[True] * 3, [True, True, False]]
            assert (x > y).tolist() == [[False] * 3, [False, False, True]]
    tenth = create(shape=(1,), scale=0.1, values=[3])
    with sz.promotion("lossless"):
        assert (tenth == 0.3).tolist() == [False]
        assert (tenth == float(Fraction(f32(0.1)) * 3)).tolist() == [True]
