"""Element-wise functions of real numbers that the standard lacks, or has another result for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import suanzi as sz
from helpers.complex_numbers import errors
from helpers.functions import every_level, same_bits, threads
from suanzi.base.dtypes import iinfo
from suanzi.faces import array_api
from suanzi.faces.array_api.declare import FLOATS, WHOLE
from suanzi.tensors.exchange import from_numpy, numpy_dtype

INF, NAN = math.inf, math.nan
NARROW = [d for d in FLOATS if d.itemsize < 4]
WIDE = {sz.float32: np.float32, sz.float64: np.float64}

Array = np.ndarray[Any, Any]


def log_of_sum(x: Any, y: Any) -> Any:
    """Return log(exp(x) + exp(y)) in mpmath, whatever their sizes are."""
    high, low = (x, y) if x > y else (y, x)
    return high + mpmath.log1p(mpmath.exp(low - high))


# The truth, and how many ULP float64 may be off; float32 is computed in float64 and rounded.
PAIRS: dict[str, tuple[Callable[[Any, Any], Any], float]] = {
    "atan2": (mpmath.atan2, 2.5),
    "hypot": (mpmath.hypot, 1.5),
    "logaddexp": (log_of_sum, 4),
}


def pairs(count: int, seed: int, dtype: sz.DType) -> tuple[Array, Array]:
    """Return pairs of numbers of like and of unlike sizes, up to the ends of the range."""
    rng = np.random.default_rng(seed)
    n, top = count // 3, 120 if dtype is sz.float32 else 1015
    x = rng.uniform(-3, 3, n), rng.uniform(-3, 3, n)
    sizes = np.exp2(rng.uniform(-top, top, n))
    like = sizes, sizes * rng.uniform(0.2, 5, n)
    unlike = np.exp2(rng.uniform(-30, 30, (2, n)))
    kind = WIDE[dtype]
    signs = rng.choice([-1.0, 1.0], (2, 3 * n))
    made = [np.concatenate([x[i], like[i], unlike[i]]) * signs[i] for i in (0, 1)]
    return made[0].astype(kind), made[1].astype(kind)


@pytest.mark.parametrize("dtype", WIDE, ids=str)
@pytest.mark.parametrize("name", PAIRS)
def test_pairs_are_within_their_bounds(name: str, dtype: sz.DType) -> None:
    truth, limit = PAIRS[name]
    x, y = pairs(900, 4, dtype)
    if name == "logaddexp":  # where the larger is next to -log(2), the result goes through 0
        far = (np.abs(x) < 600) & (np.abs(y) < 600) & (np.maximum(x, y) > 0)
        x, y = x[far], y[far]
    for level in every_level():
        found = getattr(array_api, name)(sz.tensor(x), sz.tensor(y)).tolist()
        for a, b, w in zip(x.tolist(), y.tolist(), found, strict=True):
            with mpmath.workprec(200):
                wanted = truth(mpmath.mpf(a), mpmath.mpf(b))
                error = errors(w, wanted, dtype.name)
            assert error <= (0.51 if dtype is sz.float32 else limit), (name, level, a, b, w)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1e308, -1.7e308, INF, -INF, NAN, 3.5]


@pytest.mark.parametrize("name", ["atan2", "hypot", "copysign"])
def test_special_pairs_are_those_of_c(name: str) -> None:
    given = list(itertools.product(SPECIAL, SPECIAL))
    x, y = (sz.tensor([p[i] for p in given], sz.float64) for i in (0, 1))
    found = getattr(array_api, name)(x, y).tolist()
    for (a, b), w in zip(given, found, strict=True):
        wanted = getattr(math, name)(a, b)
        assert math.isnan(w) == math.isnan(wanted), (a, b, w)
        if not math.isnan(w):
            assert math.copysign(1, w) == math.copysign(1, wanted), (a, b, w)
            assert w == wanted or math.isclose(w, wanted, rel_tol=1e-15), (a, b, w)


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [(INF, INF, INF), (-INF, -INF, -INF), (INF, -INF, INF), (NAN, INF, NAN), (3.0, -INF, 3.0)],
)
def test_logaddexp_of_infinities(a: float, b: float, wanted: float) -> None:
    for x, y in ((a, b), (b, a)):
        found = array_api.logaddexp(sz.tensor([x]), sz.tensor([y])).item()
        assert found == wanted or (math.isnan(found) and math.isnan(wanted))


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("name", [*PAIRS, "copysign", "floor_divide"])
def test_narrow_pairs_are_float64_rounded_once(name: str, dtype: sz.DType) -> None:
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2 ** (8 * dtype.itemsize), (2, 4000)).astype(f"u{dtype.itemsize}")
    x, y = (sz.tensor(b.view(numpy_dtype(dtype))) for b in bits)
    function = getattr(array_api, name)
    for _ in every_level():
        found = function(x, y)
        assert found.dtype is dtype
        once = sz.cast(function(sz.cast(x, sz.float64), sz.cast(y, sz.float64)), dtype)
        assert same_bits(found.numpy(), once.numpy())


# ---- neighbours and signs ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_neighbours_in_a_narrow_dtype(dtype: sz.DType) -> None:
    """Every number against the sorted list of all of them."""
    kind = numpy_dtype(dtype)
    values = np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}").view(kind)
    with np.errstate(invalid="ignore"):  # signalling NaN
        numbers = values[~np.isnan(values.astype(np.float64))]
    order = np.unique(numbers.astype(np.float64))  # with one zero
    rng = np.random.default_rng(2)
    x = numbers if numbers.size < 1000 else rng.choice(numbers, 3000)
    y = rng.choice(numbers, x.size)
    found = array_api.nextafter(sz.tensor(x), sz.tensor(y))
    assert found.dtype is dtype
    a, b, w = (v.astype(np.float64) for v in (x, y, found.numpy()))
    at = np.searchsorted(order, a)
    wanted = np.where(a == b, b, order[np.clip(at + np.sign(b - a), 0, order.size - 1).astype(int)])
    with np.errstate(invalid="ignore"):
        assert np.array_equal(w, np.where(np.isinf(a) & (a == b), a, wanted))
    nan = array_api.nextafter(sz.tensor(x), sz.tensor([NAN], dtype)).numpy()
    assert np.isnan(nan.astype(np.float64)).all()


@pytest.mark.parametrize("dtype", WIDE, ids=str)
def test_neighbours_are_those_of_c(dtype: sz.DType) -> None:
    tiny = float(np.finfo(WIDE[dtype]).smallest_subnormal)
    points = [0.0, -0.0, tiny, -tiny, 1.0, -1.0, float(np.finfo(WIDE[dtype]).max), INF, -INF, NAN]
    x, y = (np.array(v, WIDE[dtype]) for v in zip(*itertools.product(points, points), strict=True))
    found = array_api.nextafter(sz.tensor(x), sz.tensor(y)).numpy()
    with np.errstate(all="ignore"):
        assert same_bits(found, np.nextafter(x, y))
    one = array_api.nextafter(sz.tensor(x), sz.tensor(INF, dtype)).numpy()
    with np.errstate(all="ignore"):
        assert same_bits(one, np.nextafter(x, WIDE[dtype](INF)))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_sign_bits(dtype: sz.DType) -> None:
    size = min(8 * dtype.itemsize, 16)
    bits = np.arange(2**size, dtype=np.uint64) << np.uint64(8 * dtype.itemsize - size)
    x = sz.tensor(bits.astype(f"u{dtype.itemsize}").view(numpy_dtype(dtype)))
    found = array_api.signbit(x)
    assert found.dtype is sz.bool
    assert np.array_equal(found.numpy(), np.arange(2**size) >= 2 ** (size - 1))
    minus = array_api.copysign(x, sz.tensor(-1.0, dtype))
    assert array_api.signbit(minus).numpy().all()


# ---- integers ------------------------------------------------------------------------------------


def wrapped(value: int, dtype: sz.DType) -> int:
    """Return an integer modulo the width of a dtype."""
    info = iinfo(dtype)
    return (value - info.min) % 2**info.bits + info.min


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_integer_powers_and_squares_wrap(dtype: sz.DType) -> None:
    info = iinfo(dtype)
    rng = np.random.default_rng(6)
    x = [
        info.min,
        info.max,
        0,
        1,
        *rng.integers(max(info.min, -99), min(info.max, 99) + 1, 40).tolist(),
    ]
    y = rng.integers(0, min(info.max, 130) + 1, len(x)).tolist()
    found = array_api.pow(sz.tensor(x, dtype), sz.tensor(y, dtype))
    assert found.dtype is dtype
    assert found.tolist() == [wrapped(a**b, dtype) for a, b in zip(x, y, strict=True)]
    assert array_api.square(sz.tensor(x, dtype)).tolist() == [wrapped(a * a, dtype) for a in x]
    if info.min < 0:
        with pytest.raises(sz.InvalidArgument, match=r"pow .*x2 contains a number below 0.*cast"):
            array_api.pow(sz.tensor(x, dtype), sz.tensor(-1, dtype))


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_long_shifts_leave_nothing_or_the_sign(dtype: sz.DType) -> None:
    info = iinfo(dtype)
    x = sorted({info.min, info.min // 3, -1 if info.min else 1, 0, 1, info.max // 3, info.max})
    for amount in sorted(
        {0, 1, info.bits - 1, info.bits, info.bits + 1, 2 * info.bits, 63, 64, 100}
    ):
        if amount > info.max:
            continue
        shift = sz.tensor([amount] * len(x), dtype)
        left = array_api.bitwise_left_shift(sz.tensor(x, dtype), shift)
        assert left.tolist() == [wrapped(a << amount, dtype) for a in x], amount
        right = array_api.bitwise_right_shift(sz.tensor(x, dtype), shift)
        assert right.tolist() == [a >> amount for a in x], amount
    if info.min < 0:
        for function in (array_api.bitwise_left_shift, array_api.bitwise_right_shift):
            with pytest.raises(sz.InvalidArgument, match="below 0"):
                function(sz.tensor(x, dtype), sz.tensor(-1, dtype))


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round"])
def test_integers_are_whole_already(name: str) -> None:
    for dtype in WHOLE:
        x = sz.tensor([0, 1, iinfo(dtype).max, iinfo(dtype).min], dtype)
        found = getattr(array_api, name)(x)
        assert found.dtype is dtype
        assert found.tolist() == x.tolist()


# ---- quotients and bounds ------------------------------------------------------------------------


def test_quotients_by_infinity_are_zeros() -> None:
    for a, b in itertools.product([1.5, -1.5, 0.0, -0.0], [INF, -INF]):
        for dtype in FLOATS:
            if dtype is sz.float8_e4m3fn:
                continue  # without infinities
            found = array_api.floor_divide(sz.tensor([a], dtype), sz.tensor([b], dtype)).item()
            assert found == 0
            assert math.copysign(1, found) == math.copysign(1, a) * math.copysign(1, b)
    assert math.isnan(array_api.floor_divide(sz.tensor([INF]), sz.tensor([INF])).item())
    assert array_api.floor_divide(sz.tensor([INF]), sz.tensor([-2.0])).item() == -INF
    assert array_api.floor_divide(sz.tensor([-7.0]), sz.tensor([2.0])).item() == -4
    x = sz.tensor([1.0, -1.0])
    assert sz.floordiv(x, sz.tensor([-INF, INF])).tolist() == [-1, -1]  # the standard's


@pytest.mark.parametrize(
    "dtype", [sz.int8, sz.uint16, sz.float32, sz.bfloat16, sz.float8_e5m2], ids=str
)
def test_clip_is_the_smaller_of_the_larger(dtype: sz.DType) -> None:
    rng = np.random.default_rng(7)
    low, high = (0, 100) if dtype.kind == "uint" else (-100, 100)
    x, a, b = (sz.cast(sz.tensor(rng.integers(low, high, (7, 300))), dtype) for _ in range(3))
    found = array_api.clip(x, a, b)
    wanted = array_api.minimum(array_api.maximum(x, a), b)
    assert found.dtype is dtype
    assert same_bits(found.numpy(), wanted.numpy())
    row = array_api.clip(x, a[0], 3)
    assert same_bits(row.numpy(), array_api.clip(array_api.clip(x, a[0]), None, 3).numpy())
    if dtype.kind == "float":
        nan = sz.tensor(NAN, dtype)
        for bounds in ((nan, 5), (-5, nan)):
            assert np.isnan(array_api.clip(x, *bounds).numpy().astype(np.float64)).all()


# ---- how they lie --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*PAIRS, "copysign", "nextafter", "floor_divide", "pow"])
def test_layouts_threads_and_neighbours_change_nothing(name: str) -> None:
    x, y = (v[:20_000] for v in pairs(21_000, 8, sz.float64))
    x, y = (np.abs(v) for v in (x, y)) if name == "pow" else (x, y)
    function = getattr(array_api, name)
    for _ in every_level():
        with threads(1):
            one = function(sz.tensor(x), sz.tensor(y)).numpy()
        with threads(3):
            assert same_bits(function(sz.tensor(x), sz.tensor(y)).numpy(), one)
        strided = function(from_numpy(x[1::3]), from_numpy(y[1::3])).numpy()
        assert same_bits(np.array(strided), one[1::3])
        for i in (0, 77, 19_999):
            left = function(sz.tensor(x[i]), sz.tensor(y)).numpy()
            assert same_bits(left[i], one[i])
            right = function(sz.tensor(x), sz.tensor(y[i])).numpy()
            assert same_bits(right[i], one[i])
        grid = function(sz.tensor(x[:50, None]), sz.tensor(y[None, :70])).numpy()
        assert same_bits(np.diagonal(grid).copy(), one[:50])
    assert function(sz.tensor(x[:0]), sz.tensor(y[:1])).shape == (0,)
