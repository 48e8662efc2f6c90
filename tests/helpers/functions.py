"""The functions of 7.2.8 and 7.2.10 to 7.2.12: where to try them, and how.

A million arguments are judged roughly, in twice the precision of the dtype; the worst of them, and
some chosen by hand, by mpmath.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.ulp import assert_within
from suanzi import _core
from suanzi.conformance.model.numbers import FORMATS
from suanzi.conformance.truth.functions import FUNCTIONS, INF, NAN, Function, Truth
from suanzi.tensors.exchange import from_numpy, numpy_dtype
from suanzi.validate.accuracy.errors import judged, settle
from suanzi.validate.accuracy.functions import FUNCTIONS as MEASURED

Array = np.ndarray[Any, Any]


_PI = math.pi
_BITS = {sz.float32: np.uint32, sz.float64: np.uint64}
_NUMPY = {sz.float32: np.float32, sz.float64: np.float64}
# Doubles are judged in 80 bits where the machine has them; elsewhere mpmath sees random ones.
_WIDE = {sz.float32: np.float64, sz.float64: np.longdouble}


def rough(name: str, x: Array) -> Array:
    """Return a function of an array, as NumPy has it; where it has none, as C has it."""
    if name == "rsqrt":
        return 1 / np.sqrt(x)
    own = getattr(np, name, None) or getattr(np, f"arc{name[1:]}", None)
    if own is None:
        own = np.vectorize(getattr(math, name), otypes=[x.dtype])
    made: Array = own(x)
    return made


def many(function: Function, dtype: sz.DType, count: int, seed: int) -> Array:
    """Return random arguments in the domain, of every magnitude, most where something happens."""
    rng = np.random.default_rng(seed)
    low, high = function.domain
    size = np.dtype(_BITS[dtype]).itemsize * 8
    anything = rng.integers(0, 2**size, count // 4, dtype=_BITS[dtype]).view(_NUMPY[dtype])
    magnitudes = np.exp2(rng.uniform(-30, 12, count // 4)) * rng.choice([-1.0, 1.0], count // 4)
    uniform = rng.uniform(max(low, -4), min(high, 4), count // 4)
    centres = np.array(function.near or (1,))
    spread = np.exp2(rng.uniform(-24, -1, count // 4)) * rng.choice([-1.0, 1.0], count // 4)
    around = rng.choice(centres, count // 4) * (1 + spread) * rng.choice([-1.0, 1.0], count // 4)
    finite = np.concatenate([magnitudes, uniform, around]).astype(_NUMPY[dtype])
    return np.concatenate([anything, finite])


def chosen(function: Function, dtype: sz.DType) -> Array:
    """Return the arguments that have been wrong somewhere before, in one library or another."""
    kind: Any = _NUMPY[dtype]
    info = np.finfo(kind)
    points = [0.0, INF, NAN, 1, 2, 0.5, 10, 1e5, 1e10, 1e22, 2.0**100, float(info.max)]
    points += [float(info.tiny), float(info.tiny) / 2, float(info.smallest_subnormal)]
    points += [float(info.smallest_subnormal) * 3, float(info.eps), float(info.tiny) * 1.5]
    points += [k * _PI / 2 for k in (*range(1, 30), 355, 710, 10**5, 10**9, 10**15)]
    points += [5.3e24, 6381956970095103 * 2.0**797]  # next to a multiple of pi/2
    points += [2.0**1000, 1.5e300] if dtype is sz.float64 else [2.0**127, 3e38]
    points += list(function.near)
    points += [
        p * (1 + s * 2.0**-k) for p in function.near for k in range(1, 50, 3) for s in (-1, 1)
    ]
    with np.errstate(over="ignore"):
        values = np.array(points + [-p for p in points]).astype(kind)
        beside = [np.nextafter(values, kind(to)) for to in (-INF, INF)]
    return np.concatenate([values, *beside])


def rough_errors(found: Array, truth: Array, dtype: sz.DType) -> Array:
    """Return errors in ULP, infinite where the kind or the sign is wrong; the truth is an array."""
    form, wide = FORMATS[dtype.name], truth.dtype.type
    least, most = 1 - form.bias, (form.largest >> form.mantissa) - form.bias
    overflow = np.ldexp(wide(1), most + 1)
    bounded = np.clip(truth, -overflow, overflow)
    exponent = np.frexp(np.where(np.isfinite(bounded), bounded, 1))[1] - 1
    exponent = np.where(bounded == 0, least, exponent)
    step = np.ldexp(wide(1), np.clip(exponent, least, most) - form.mantissa)
    value = np.clip(found.astype(wide), -overflow, overflow)
    both_nan = np.isnan(truth) & np.isnan(found)
    wrong = (np.isnan(truth) != np.isnan(found)) | (np.signbit(truth) != np.signbit(found))
    return np.where(both_nan, 0, np.where(wrong, INF, np.abs(value - bounded) / step))


@contextmanager
def at_level(name: str) -> Iterator[None]:
    """Use the kernels of one instruction-set level."""
    before = _core.level()
    _core.use_level(name)
    try:
        yield
    finally:
        _core.use_level(before)


def every_level() -> Iterator[str]:
    """Give each instruction-set level while it is in use."""
    for name in _core.levels():
        with at_level(name):
            yield name


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Use so many threads."""
    before = _core.get_num_threads()
    sz.set_num_threads(count)
    try:
        yield
    finally:
        sz.set_num_threads(before)


def compute(name: str, *arguments: Array) -> Array:
    """Return suanzi's results as an array."""
    return np.array(getattr(sz, name)(*(sz.tensor(x) for x in arguments)).numpy())


def check_accuracy(name: str, dtype: sz.DType, limit: float) -> float:
    """Raise if a result is more than `limit` ULP off on any level; return the largest error."""
    function = FUNCTIONS[name]
    picked = chosen(function, dtype)
    x = many(function, dtype, 80_000, seed=len(name))
    with np.errstate(all="ignore"):
        truth = rough(name, x.astype(_WIDE[dtype]))
    worst = 0.0
    done: set[tuple[str, str]] = set()
    truths: dict[str, Truth] = {}  # by the digits of an argument: -0 is not 0
    for level in every_level():
        found_all = compute(name, x)
        with np.errstate(all="ignore"):
            errors = rough_errors(found_all, truth, dtype)
        suspects = np.argsort(errors)[-40:]
        args = [*picked.tolist(), *x[suspects].tolist()]
        results = [*compute(name, picked).tolist(), *found_all[suspects].tolist()]
        # What another level answered was judged there.
        rows = {(a.hex(), r.hex()): (a, r) for a, r in zip(args, results, strict=True)}
        new = [(*rows[key], key[0]) for key in rows if key not in done]
        done |= rows.keys()
        truths |= {key: function(a) for a, _, key in new if key not in truths}
        what = f"{name} ({level})"
        off = assert_within(
            limit,
            [a for a, _, _ in new],
            [r for _, r, _ in new],
            [truths[key] for _, _, key in new],
            dtype,
            what,
        )
        worst = max(worst, off)
    return worst


def same_bits(a: Array, b: Array) -> bool:
    """Tell whether two arrays hold the same bits, or NaN in the same places."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    part = {"complex32": np.float16, "complex64": np.float32, "complex128": np.float64}
    kind = np.dtype(part.get(a.dtype.name, a.dtype))
    x, y = (np.ascontiguousarray(v).reshape(-1).view(kind) for v in (a, b))
    raw = f"u{kind.itemsize}"
    with np.errstate(invalid="ignore"):  # signalling NaN
        return bool(np.all((x.view(raw) == y.view(raw)) | ((x != x) & (y != y))))


def check_narrow(name: str, dtype: sz.DType) -> None:
    """Raise unless a function of every value of a narrow dtype is correctly rounded.

    Looked up, which a call of all of them is, and computed, as a few are.
    """
    bits = np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}")
    x = sz.tensor(bits.view(numpy_dtype(dtype)))
    function, measured = getattr(sz, name, None) or getattr(sz.nn, name), MEASURED[name]
    for level in every_level():
        found = function(x)
        assert found.dtype is dtype
        tally = judged(measured, dtype.name, (_plain(x),), _plain(found))
        settle(measured, dtype.name, tally)
        assert (tally.wrong, tally.special, tally.flushed) == (0, 0, 0), (name, level, tally)
        part = slice(7, None, 1021)
        one_by_one = [function(x[i]).numpy() for i in range(len(bits))[part]]
        assert same_bits(np.array(one_by_one), found.numpy()[part]), (name, level)


def _plain(x: sz.Tensor) -> Array:
    with np.errstate(invalid="ignore"):  # signalling NaN
        made: Array = x.numpy().astype(np.float64)
    return made


def check_same_everywhere(name: str, dtype: sz.DType) -> None:
    """Raise unless a result is the same for any number of threads, beside any neighbours."""
    x = many(FUNCTIONS[name], dtype, 150_000, seed=7)[: 150_000 - 13]
    shuffled = np.random.default_rng(8).permutation(x.size)
    for level in every_level():
        with threads(1):
            one = compute(name, x)
        for count in (2, 3):
            with threads(count):
                assert same_bits(compute(name, x), one), (name, level, count)
        assert same_bits(compute(name, x[shuffled]), one[shuffled]), (name, level)
        alone = np.concatenate([compute(name, x[i : i + 1]) for i in range(0, x.size, 1499)])
        assert same_bits(alone, one[::1499]), (name, level)
        # Every other element, read with a stride.
        strided = getattr(sz, name)(from_numpy(x[::2])).numpy()
        assert same_bits(np.array(strided), one[::2]), (name, level)


def check_special(name: str) -> None:
    """Raise unless zeros, infinities, NaN and what is outside the domain give what they must."""
    function = FUNCTIONS[name]
    outside = [v for end in function.domain for v in (end * 2, end * 1.001, -1e30) if end]
    points = [float(k) for k in function.special] + [NAN, -NAN, INF, -INF, *outside]
    for dtype in (sz.float64, sz.float32, sz.float16, sz.bfloat16):
        for level in every_level():
            found = getattr(sz, name)(sz.tensor(points, dtype)).tolist()
            for x, y in zip(points, found, strict=True):
                rounded = sz.tensor(x, dtype).item()
                truth = function(float(rounded))
                if not isinstance(truth, float):
                    continue
                what = f"{name}({x!r}) in {dtype} ({level}) is {y!r}, not {truth!r}"
                assert math.isnan(y) if math.isnan(truth) else repr(y) == repr(truth), what


def check_promotion(name: str) -> None:
    """Raise unless integers and bool become the rule set's float, and complex is refused."""
    function, one = getattr(sz, name), FUNCTIONS[name](1.0)
    for dtype in (sz.bool, sz.int8, sz.uint16, sz.int32, sz.int64, sz.uint64):
        found = function(sz.tensor([1, 1], dtype))
        assert found.dtype is sz.float32, (name, dtype)
        if isinstance(one, float) or one < 1e300:
            assert_within(3, [1], [found.tolist()[0]], [one], sz.float32, name)
    assert function(1).dtype is sz.float32  # a Python number is a 0-d tensor
    assert function(1).shape == ()
    with sz.promotion("strict"), pytest.raises(sz.TypeMismatch):
        function(sz.tensor([1], sz.int32))
    with pytest.raises(sz.TypeMismatch, match=rf"{name} \(7\.2\.\d+\.\d+\).*complex64") as caught:
        function(sz.tensor([1j]))
    assert caught.value.status is sz.Status.TYPE_MISMATCH
    assert isinstance(caught.value, TypeError)
    assert "floating-point real numbers" in str(caught.value)
    assert "sz.cast(x, sz.float32)" in str(caught.value)
    with pytest.raises(sz.TypeMismatch, match="it takes a Tensor"):
        function("1")
    gone = sz.tensor([1.0])
    _core.destroy(gone)
    with pytest.raises(sz.UninitializedObject, match=f"{name} .*destroyed"):
        function(gone)
