"""quantize and dequantize, against fractions."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suanzi as sz
from helpers.moves import nothing_made
from helpers.quantised import ASYMMETRIC, DTYPES, NAMES, f32, integer_of, integers_of
from suanzi import _core

FLOATS = ["float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64"]
INTEGERS = [f"{u}int{8 << i}" for u in ("", "u") for i in range(4)]
REAL = [*FLOATS, *INTEGERS, "bool", "int4", "uint4", "uint1"]
CHANNEL_WISE = ["QT_CH_SYM_INT8", "QT_CH_SYM_INT16"]
SCALES = [0.1, 1.0, 0.25, 3.0, 2.0**-149, 1e-38, 3.4e38, 2.0**127]


def floats_of(x: sz.Tensor) -> list[float]:
    """Return the elements in row-major order; integers below 2**53 are exact."""
    return [float(v) for v in np.array(_core.cast(x, sz.float64, False).numpy()).ravel()]


def scales_of(q: sz.Tensor) -> list[float]:
    """Return the scale of each element, in row-major order."""
    shape = [1] * q.ndim
    if q.channel_axis is not None:
        shape[q.channel_axis] = -1
    found: list[float] = np.broadcast_to(np.array(q.scale).reshape(shape), q.shape).ravel().tolist()
    return found


def check(x: sz.Tensor, q: sz.Tensor, down: bool) -> None:
    """Hold a quantised tensor against what it was made of."""
    name, values = q.dtype.name, floats_of(x)
    assert q.shape == x.shape
    assert q.scale is not None
    assert q.zero_point is not None
    scales = scales_of(q)
    wanted = [
        integer_of(v, name, s, q.zero_point, down) for v, s in zip(values, scales, strict=True)
    ]
    assert integers_of(q) == wanted
    exact = [
        Fraction(i - q.zero_point) * Fraction(s)
        for i, s in zip(integers_of(q), scales, strict=True)
    ]
    real = sz.dequantize(q, sz.float64)
    assert [Fraction(v) for v in floats_of(real)] == exact
    with np.errstate(over="ignore"):
        assert floats_of(sz.dequantize(q)) == [float(np.float32(float(e))) for e in exact]


def spread(scale: float, zero_point: int, name: str, kind: str) -> list[float]:
    """Numbers at whole and half steps, next to them, beyond the range, and special ones."""
    _, least, largest, _ = DTYPES[name]
    found = [0.0, -0.0, 5e-324, -5e-324, 1e-45, -1e-45, math.inf, -math.inf, 1e308, -1e308]
    ends = [least - zero_point, largest - zero_point]
    steps = [0, 0.5, 1, 1.5, 2, 2.5, 3.5, 100, 101.5, *ends]
    steps += [e + d for e in ends for d in (-1.5, -1, -0.5, 0.5, 1, 7)]
    for step in {*steps, *(-s for s in steps)}:
        at = step * scale
        if not math.isfinite(at):
            continue
        if kind == "float32":
            with np.errstate(over="ignore"):
                one = np.float32(at)
                beside = [np.nextafter(one, np.float32(d)) for d in (-np.inf, np.inf)]
                found += [float(v) for v in (one, *beside)]
        else:
            found += [at, math.nextafter(at, math.inf), math.nextafter(at, -math.inf)]
    return found


class TestExact:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("kind", ["float32", "float64"])
    @pytest.mark.parametrize("rounding", ["nearest", "floor"])
    def test_given_scales(self, name: str, kind: str, rounding: Any) -> None:
        _, least, largest, symmetric = DTYPES[name]
        for scale in SCALES:
            s = f32(scale)
            for zero_point in [0] if symmetric else [0, least, largest, 7, 2**22 + 1, -(2**28)]:
                values = np.array([*spread(s, zero_point, name, kind), math.nan], np.float64)
                with np.errstate(over="ignore"):
                    x = sz.tensor(values.astype(kind))
                q = sz.quantize(x, name, scale=scale, zero_point=zero_point, rounding=rounding)
                assert (q.scale, q.zero_point) == ((s,), zero_point)
                check(x, q, rounding == "floor")

    @given(
        st.floats(2.0**-149, 2.0**127, width=32),
        st.lists(st.integers(-70_000, 70_000), min_size=1, max_size=20),
        st.sampled_from(NAMES),
        st.sampled_from(["nearest", "floor"]),
        st.sampled_from(["float32", "float64"]),
    )
    def test_next_to_half_steps(
        self, scale: float, halves: list[int], name: str, rounding: Any, kind: Any
    ) -> None:
        with np.errstate(over="ignore"):
            at = (np.array(halves) * (scale / 2)).astype(kind)
            beside = [np.nextafter(at, np.array(d, kind)) for d in (-np.inf, np.inf)]
        x = sz.tensor(np.stack([at, *beside]))
        down = rounding == "floor"
        check(x, sz.quantize(x, name, scale=scale, zero_point=0, rounding=rounding), down)
        if name in CHANNEL_WISE:
            scales = [f32(scale * (i + 1) / 3) or scale for i in range(len(halves))]
            if max(scales) < math.inf:
                check(x, sz.quantize(x, name, scale=scales, rounding=rounding), down)

    @pytest.mark.parametrize("source", REAL)
    @pytest.mark.parametrize("name", ["QT_SYM_INT8", "QT_ASYM_UINT16", "QT_CH_SYM_INT16"])
    def test_every_real_dtype(self, source: str, name: str) -> None:
        rng = np.random.default_rng(len(source))
        raw = sz.tensor(rng.normal(0, 40, (3, 5)))
        x = sz.cast(raw, source)
        for scale in (0.3, 1.0):
            q = sz.quantize(x, name, scale=scale, zero_point=0)
            check(x, q, name in ASYMMETRIC)
        check(x, sz.quantize(x, name, limited=True), name in ASYMMETRIC)

    def test_the_rule_of_rounding(self) -> None:
        x = sz.tensor([-1.5, -0.5, 0.5, 1.5, 2.5, 1.9])
        for name in NAMES:
            q = sz.quantize(x, name, scale=1, zero_point=2)
            shift = 0 if DTYPES[name][3] else 2
            rule = [-2, 0, 0, 2, 2, 2] if DTYPES[name][3] else [-2, -1, 0, 1, 2, 1]
            assert integers_of(q) == [max(DTYPES[name][1], r + shift) for r in rule]

    @pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 2047, 2049, 70_001])
    @pytest.mark.parametrize("name", ["QT_SYM_INT8", "QT_ASYM_INT16"])
    def test_sizes(self, n: int, name: str) -> None:
        """Chunks, blocks and threads do not show."""
        values = np.random.default_rng(n).normal(0, 1, n).astype(np.float32)
        q = sz.quantize(sz.tensor(values), name, scale=0.03, zero_point=0, rounding="nearest")
        wanted = np.rint(values.astype(np.float64) / f32(0.03))  # exact: no quotient is near a tie
        assert integers_of(q) == np.clip(wanted, *DTYPES[name][1:3]).astype(int).tolist()
        assert q.int_repr().dtype.name == DTYPES[name][0]
        wide = sz.tensor(values.astype(np.float64))
        again = sz.quantize(wide, name, scale=0.03, zero_point=0, rounding="nearest")
        assert integers_of(again) == integers_of(q)

    @pytest.mark.parametrize("level", _core.levels())
    def test_levels(self, level: str) -> None:
        before = _core.level()
        _core.use_level(level)
        try:
            for kind, rounding in itertools.product(["float32", "float64"], ["nearest", "floor"]):
                self.test_given_scales("QT_ASYM_UINT8", kind, rounding)
                self.test_given_scales("QT_SYM_INT16", kind, rounding)
            TestDerived().test_bounds_of_random_data("QT_CH_SYM_INT8")
        finally:
            _core.use_level(before)


LAYOUTS = [
    lambda a: a,
    lambda a: np.asfortranarray(a),
    lambda a: a.transpose(1, 2, 0),
    lambda a: a[::-1, :, ::2],
    lambda a: a[:, ::-1][:, :2],
    lambda a: np.broadcast_to(a[:1], a.shape),
    lambda a: np.broadcast_to(a[:, :1, :1], a.shape),
    lambda a: np.broadcast_to(a[0, 0, 0], a.shape),
    lambda a: a[:0],
    lambda a: a[:, :0],
    lambda a: a[:, :1],
]


@pytest.mark.parametrize("make", LAYOUTS)
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("kind", ["float32", "float64", "bfloat16", "int32"])
def test_channels_in_every_layout(make: Callable[[Any], Any], axis: int, kind: str) -> None:
    base = np.random.default_rng(3).normal(0, 30, (3, 4, 6))
    x = sz.from_dlpack(make(base))
    if kind != "float64":
        x = sz.cast(x, kind)
    for name in ("QT_CH_SYM_INT8", "QT_CH_SYM_INT16"):
        q = sz.quantize(x, name, channel_axis=axis)
        assert q.channel_axis == axis % 3
        assert len(q.scale or ()) == x.shape[axis]
        if x.layout.min2maj is not None and x.size:
            assert q.layout == x.layout
        check(x, q, False)
        magnitudes = np.abs(np.array(floats_of(x)).reshape(x.shape)).max(
            axis=tuple(a for a in range(3) if a != axis % 3), initial=0
        )
        nearest = [f32(m / DTYPES[name][2]) if m else 1.0 for m in magnitudes.tolist()]
        assert list(q.scale or ()) == nearest
        scales = [0.1 * (i + 1) for i in range(x.shape[axis])]
        given_ = sz.quantize(x, name, scale=scales, channel_axis=axis, rounding="floor")
        check(x, given_, True)


def test_many_channels() -> None:
    x = sz.tensor(np.arange(-6000.0, 6000.0).reshape(2, 3, 2000))
    for axis in range(3):
        check(x, sz.quantize(x, sz.QT_CH_SYM_INT16, channel_axis=axis), False)


finite = st.floats(allow_nan=False, allow_infinity=False, width=32)
moderate = st.floats(-1e6, 1e6, width=32)


class TestDerived:
    @pytest.mark.parametrize("name", NAMES)
    @given(values=st.one_of(st.lists(finite, max_size=8), st.lists(moderate, max_size=8)))
    def test_bounds(self, name: str, values: list[float]) -> None:
        """Half a step for nearest, less than a step for floor: no number is out of range."""
        x = sz.tensor(values, sz.float32)
        self._check_bounds(x, name)

    @pytest.mark.parametrize("name", sorted(ASYMMETRIC))
    @given(
        values=st.lists(st.floats(-1e30, 1e30), min_size=2, max_size=6),
        steps=st.lists(st.integers(0, 131_070), max_size=4),
    )
    def test_equations_of_float64(self, name: str, values: list[float], steps: list[int]) -> None:
        """Elements that lie a whole number of half steps above the least, or next to that."""
        x = sz.tensor(values, sz.float64)
        scales = sz.quantize(x, name).scale
        assert scales is not None
        low, high = min(values), max(values)
        at = [min(low + s * scales[0] / 2, high) for s in steps]
        beside = [min(max(math.nextafter(v, d), low), high) for v in at for d in (-1e40, 1e40)]
        for rounding in ("nearest", "floor"):
            self._check_equations(sz.tensor([*values, *at, *beside]), name, rounding)

    @pytest.mark.parametrize("name", NAMES)
    def test_bounds_of_random_data(self, name: str) -> None:
        rng = np.random.default_rng(5)
        for low, high in [
            (-1, 1),
            (0, 1),
            (-3, -1),
            (5, 6),
            (-1e-3, 1e3),
            (-1e30, 1e38),
            (0, 1e-44),
        ]:
            for n in (1, 2, 9):
                x = sz.tensor(rng.uniform(low, high, (n, 3)).astype(np.float32))
                self._check_bounds(x, name)

    def _check_bounds(self, x: sz.Tensor, name: str) -> None:
        for rounding in ("nearest", "floor"):
            if name in ASYMMETRIC:
                self._check_equations(x, name, rounding)
            q = sz.quantize(x, name, rounding=rounding, limited=True)  # type: ignore[arg-type]
            check(x, q, rounding == "floor")
            back = floats_of(sz.dequantize(q, sz.float64))
            for v, r, s in zip(floats_of(x), back, scales_of(q), strict=True):
                error, step = abs(Fraction(v) - Fraction(r)), Fraction(s)
                assert error <= step / 2 if rounding == "nearest" else error < step
            scale = q.scale[0] if q.scale else 1
            zeros = sz.quantize(sz.tensor([0.0] * 3), name, scale=scale, zero_point=q.zero_point)
            assert zeros.tolist() == [0.0] * 3

    def _check_equations(self, x: sz.Tensor, name: str, rounding: Any) -> None:
        """(3) to the last level, and (6) to one step."""
        _, least, largest, _ = DTYPES[name]
        q, values = sz.quantize(x, name, rounding=rounding), floats_of(x)
        if len(set(values)) < 2:
            return
        assert q.scale is not None
        assert q.zero_point is not None
        a, s = Fraction(min(values)), Fraction(q.scale[0])
        if abs(-a / s) > 2**28 - 2**16:  # no zero point reaches so far
            return
        whole = math.floor if rounding == "floor" else round
        levels = [least + whole((Fraction(v) - a) / s) for v in values]
        assert integers_of(q) == [min(level, largest) for level in levels]
        if s > Fraction(2) ** -126:
            assert {least, largest} <= set(integers_of(q))
        assert q.zero_point == least + whole(-a / s)
        step = s if s > Fraction(2) ** -126 else 2 * s  # of which few scales have all bits
        back = floats_of(sz.dequantize(q, sz.float64))
        assert all(
            abs(Fraction(v) - Fraction(r)) <= step for v, r in zip(values, back, strict=True)
        )

    @pytest.mark.parametrize("name", NAMES)
    def test_range_that_rounds_badly(self, name: str) -> None:
        """Zero points near a half, and scales that float32 rounds down or has few bits for."""
        n = DTYPES[name][2] - DTYPES[name][1]
        for k in range(n // 2 - 3, n // 2 + 4):
            for d in (0.499, 0.4999, 0.5, 0.5001, 0.501):
                for unit in (1.0, 1 / 3, 0.7, 1e-44, 2.3e-43):
                    low, high = -(k + d) * unit, (n - k - d) * unit
                    self._check_bounds(sz.tensor([low, high], sz.float32), name)

    def test_formulas(self) -> None:
        """Equations (2), (4), (5) with the levels of E36 and the zero point of E38."""
        x = sz.tensor([-1.0, 0.25, 2.0])
        for name in NAMES:
            _, least, largest, symmetric = DTYPES[name]
            bits = 8 if name.endswith("8") else 16
            q = sz.quantize(x, name)
            if name.startswith("QT_CH"):
                assert q.scale == (f32(1 / largest), f32(0.25 / largest), f32(2 / largest))
                assert integers_of(q) == [-largest, largest, largest]
            elif symmetric:
                assert (q.scale, q.zero_point) == ((f32(2 / (2 ** (bits - 1) - 1)),), 0)
                assert integers_of(q)[2] == largest
            else:
                step = f32(3 / (2**bits - 1))
                assert q.scale in ((step,), (float(np.nextafter(np.float32(step), np.float32(0))),))
                assert integers_of(q)[0::2] == [least, largest]
                assert q.zero_point == math.floor(1 / Fraction(q.scale[0])) + least
                limited = sz.quantize(x, name, limited=True)
                assert limited.scale == (step,)
                assert limited.zero_point == round(Fraction(1) / Fraction(step)) + least

    @pytest.mark.parametrize("name", ASYMMETRIC)
    def test_numbers_that_leave_0_out(self, name: str) -> None:
        """Every level is used, and the zero point is none of them; views and files keep it."""
        _, least, largest, _ = DTYPES[name]
        for low, high in ((1000.0, 1001.0), (-7.5, -7.0), (3.0, 4.0)):
            x = sz.tensor(np.linspace(low, high, 2 * (largest - least) + 3))
            q = sz.quantize(x, name)
            assert q.zero_point is not None
            assert set(integers_of(q)) == set(range(least, largest + 1))
            assert not least <= q.zero_point <= largest
            back = floats_of(sz.dequantize(q, sz.float64))
            assert max(abs(v - r) for v, r in zip(floats_of(x), back, strict=True)) < 2 / (
                largest - least
            )
            assert pickle.loads(pickle.dumps(q)).tolist() == q.tolist()
            assert q[:3].zero_point == q.zero_point
            nearest = low if low > 0 else high
            assert abs(float(sz.pad(q[:2], (1, 0))[0].item()) - nearest) < 0.01
            assert sz.cast(x, name).tolist() == q.tolist()
        far = sz.quantize(sz.tensor([1e9, 1e9 + 64], sz.float64), name)  # beyond any zero point
        assert least <= (far.zero_point or 0) <= largest

    @pytest.mark.parametrize("name", NAMES)
    def test_nothing_to_derive_from(self, name: str) -> None:
        for shape in [(0,), (0, 3), (3, 0), ()]:
            x = sz.tensor(np.zeros(shape))
            q = sz.quantize(x, name)
            assert q.shape == shape
            assert set(q.scale or ()) <= {1.0}
            assert q.tolist() == x.tolist()
        zero = sz.quantize(sz.tensor([0.0, -0.0]), name)
        assert set(zero.scale or ()) == {1.0}
        assert zero.zero_point == (0 if DTYPES[name][3] else DTYPES[name][1])

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("value", [3.0, -3.0, 1e-45, -3e38])
    def test_constants(self, name: str, value: float) -> None:
        self._check_bounds(sz.tensor([[value] * 2] * 2, sz.float32), name)

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
    def test_not_finite(self, name: str, value: float) -> None:
        for dt in (sz.float32, sz.float64, sz.bfloat16):
            for n, at in ((1, 0), (100, 99), (100, 0)):  # in vectors, and behind the last of them
                row = [1.0] * n
                row[at] = value
                x = sz.tensor([[0.5] * n, row], dt)
                refused = pytest.raises(sz.InvalidArgument, match=r"quantize .*not finite.*\.$")
                with nothing_made(), refused:
                    sz.quantize(x, name)
                assert sz.quantize(x, name, scale=1, zero_point=0).shape == x.shape

    def test_beyond_float32(self) -> None:
        for name in NAMES:
            with pytest.raises(sz.InvalidArgument, match="float32"):
                sz.quantize(sz.tensor([1e300, -1e300], sz.float64), name)
            with pytest.raises(sz.InvalidArgument, match="float32"):
                sz.quantize(sz.tensor([1.7e308, -1.7e308], sz.float64), name)
            tiny = sz.quantize(sz.tensor([1e-300], sz.float64), name)
            assert tiny.scale == (2.0**-149,)

    @pytest.mark.parametrize("name", ASYMMETRIC)
    def test_one_of_two_given(self, name: str) -> None:
        _, least, largest, _ = DTYPES[name]
        x = sz.tensor([-10.0, 30.0])
        q = sz.quantize(x, name, scale=0.5)
        assert (q.scale, q.zero_point) == ((0.5,), min(20 + least, largest))
        q = sz.quantize(x, name, zero_point=least + 100)
        assert q.scale == (f32(max(10 / 100, 30 / (largest - least - 100))),)
        assert q.zero_point == least + 100
        # Nothing negative can be stored; what is positive has all the integers.
        q = sz.quantize(x, name, zero_point=least)
        assert (q.scale, q.tolist()[0]) == ((f32(30 / (largest - least)),), 0)
        assert sz.quantize(sz.tensor([-1.0]), name, zero_point=least).scale == (1,)
        assert sz.quantize(sz.tensor([0.0]), name, zero_point=largest).scale == (1,)


class TestRefusals:
    def test_quantize(self) -> None:
        x = sz.tensor([[1.0, 2.0], [3.0, 4.0]])
        with nothing_made():
            for arguments, error in [
                ({"dtype": sz.int8}, sz.TypeMismatch),
                ({"dtype": "nonsense"}, sz.InvalidArgument),  # as in cast
                ({"dtype": None}, sz.TypeMismatch),
                ({"x": None}, sz.UninitializedObject),
                ({"x": "text"}, sz.TypeMismatch),
                ({"x": object()}, sz.TypeMismatch),
                ({"rounding": "up"}, sz.InvalidArgument),
                ({"rounding": 1}, sz.InvalidArgument),
                ({"channel_axis": 0}, sz.InvalidArgument),
                ({"dtype": sz.QT_CH_SYM_INT8, "channel_axis": 2}, sz.InvalidArgument),
                ({"dtype": sz.QT_CH_SYM_INT8, "channel_axis": -3}, sz.InvalidArgument),
                ({"dtype": sz.QT_CH_SYM_INT8, "channel_axis": 1.0}, sz.InvalidArgument),
                ({"dtype": sz.QT_CH_SYM_INT8, "channel_axis": True}, sz.InvalidArgument),
                ({"dtype": sz.QT_CH_SYM_INT8, "x": 1.0, "channel_axis": 0}, sz.InvalidArgument),
                ({"dtype": sz.QT_CH_SYM_INT8, "scale": [1, 2, 3]}, sz.InvalidArgument),
                ({"scale": [1, 2]}, sz.InvalidArgument),
                ({"zero_point": 2**28 + 1, "dtype": sz.QT_ASYM_UINT8}, sz.InvalidArgument),
                ({"zero_point": -(2**28) - 1, "dtype": sz.QT_ASYM_UINT8}, sz.InvalidArgument),
                ({"zero_point": 0.0}, sz.InvalidArgument),
            ]:
                call: dict[str, Any] = {"x": x, "dtype": sz.QT_SYM_INT8, **arguments}
                with pytest.raises(error, match=r"^quantize \(7.2.1.15.4\): .*\.$"):
                    sz.quantize(**call)
        for bad in (sz.tensor([1j]), sz.tensor("text")):
            with pytest.raises(sz.TypeMismatch):
                sz.quantize(bad, sz.QT_SYM_INT8)

    def test_no_memory(self) -> None:
        x = _core.view(sz.tensor([1.0]), 0, (0, 2**40), (1, 1))
        with pytest.raises(sz.AllocFailed, match=r"quantize .* scales\.$"):
            sz.quantize(x, sz.QT_CH_SYM_INT8)
        assert sz.quantize(x, sz.QT_CH_SYM_INT8, scale=1).shape == (0, 2**40)

    def test_dequantize(self) -> None:
        q = sz.quantize(sz.tensor([1.0]), sz.QT_SYM_INT8)
        for dt in (sz.int8, sz.QT_SYM_INT8, sz.complex64, sz.bool):
            with pytest.raises(sz.TypeMismatch, match="cast"):
                sz.dequantize(q, dt)
        with pytest.raises(sz.TypeMismatch, match="quantised"):
            sz.dequantize(sz.tensor([1.0]))
        with pytest.raises(sz.UninitializedObject):
            sz.dequantize(None)  # type: ignore[arg-type]
        with pytest.raises(sz.InvalidArgument, match="without a scale"):
            sz.dequantize(sz.tensor([1], sz.QT_SYM_INT8))
        with pytest.raises(sz.InvalidArgument, match="without a scale"):
            sz.quantize(sz.tensor([1], sz.QT_SYM_INT8), sz.QT_SYM_INT8)
        with pytest.raises(sz.InvalidArgument):
            sz.dequantize(q, "nonsense")

    @pytest.mark.parametrize("call", [sz.dequantize, lambda x: sz.quantize(x, "QT_SYM_INT8")])
    def test_destroyed(self, call: Callable[[sz.Tensor], sz.Tensor]) -> None:
        q = sz.quantize(sz.tensor([1.0]), sz.QT_SYM_INT8)
        _core.destroy(q)
        with pytest.raises(sz.UninitializedObject):
            call(q)
        with pytest.raises(sz.UninitializedObject):
            q.int_repr()
