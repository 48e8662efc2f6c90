"""Comparisons under `lossless`: exact between real dtypes, and with Python ints of any size.

Also NumPy's, which are exact between integers.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import suanzi as sz
from helpers.exact import FLOATS, INTEGERS, ITEMSIZE, Real, decode, encode, tensor_of
from helpers.functions import every_level

REAL = ["bool", *INTEGERS, *FLOATS]
COMPARISONS: dict[str, Callable[[Real, Real], bool]] = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "less": operator.lt,
    "less_equal": operator.le,
}


def takes(name: str, dtype: str) -> bool:
    return dtype != "bool" or name in ("equal", "not_equal")


def values(dtype: str) -> list[int]:
    """Return bit patterns around 0, the powers of two where other dtypes end, and the ends."""
    rng = random.Random(dtype)
    if dtype == "bool":
        return [0, 1]
    if ITEMSIZE[dtype] == 1 and dtype in FLOATS:
        return [*range(0, 256, 5), 1, 0x7E, 0x7F, 0x80, 0xFE]
    if dtype in INTEGERS:
        width, signed = INTEGERS[dtype]
        low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
        near = [
            s * 2**k + d
            for k in (0, 3, 7, 24, 31, 53, 62, 63, 64)
            for s in (1, -1)
            for d in (-1, 0, 1)
        ]
        chosen = [v for v in near if low <= v <= high] + [low, high]
        chosen += [rng.randint(low, high) for _ in range(4)]
        return [v % 2 ** max(width, 8) for v in chosen]
    sign, top = 1 << (8 * ITEMSIZE[dtype] - 1), FLOATS[dtype].largest
    found = {0, sign, 1, sign | 1, top, sign | top, top + 1, top + 2, sign | (top + 1)}
    for k in (0, 3, 7, 24, 31, 53, 62, 63, 64):
        bits = encode(2**k, dtype)
        assert bits is not None
        found |= {b | s for b in (bits - 1, bits, bits + 1) for s in (0, sign)}
    return sorted(found | {rng.randrange(2 * sign) for _ in range(4)})


@pytest.mark.parametrize("a", REAL)
def test_every_pair_of_dtypes_is_compared_by_value(a: str) -> None:
    for b in REAL:
        pairs = list(product(values(a), values(b)))
        x = tensor_of([p for p, _ in pairs], a)
        y = tensor_of([q for _, q in pairs], b)
        exact = [(decode(p, a), decode(q, b)) for p, q in pairs]
        for name, compare in COMPARISONS.items():
            if not (takes(name, a) and takes(name, b)):
                continue
            with sz.promotion("lossless"):
                found = getattr(sz, name)(x, y)
            assert found.dtype is sz.bool
            expected = [compare(p, q) for p, q in exact]
            wrong = [
                (p, q)
                for (p, q), f, e in zip(exact, found.tolist(), expected, strict=True)
                if f != e
            ]
            assert not wrong, (name, a, b, wrong[:3])


@pytest.mark.parametrize("dtype", [d for d in REAL if d != "bool"])
def test_python_ints_of_any_size(dtype: str) -> None:
    numbers = [s * 2**k + d for k in (7, 53, 63, 64, 1024) for s in (1, -1) for d in (-1, 0, 1)]
    numbers += [10**400, -(10**400), 2**1024 - 2**970, 2**1024 - 2**971, 0]
    bits = values(dtype)
    exact = [decode(b, dtype) for b in bits]
    x = tensor_of(bits, dtype)
    with sz.promotion("lossless"):
        for number in numbers:
            for name, compare in COMPARISONS.items():
                expected = [compare(v, number) for v in exact]
                assert getattr(sz, name)(x, number).tolist() == expected, (name, number)
                mirrored = [compare(number, v) for v in exact]
                assert getattr(sz, name)(number, x).tolist() == mirrored, (name, number)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int8", "float32", "float64", "bfloat16"])
def test_python_floats(dtype: str) -> None:
    numbers = [
        0.0,
        -0.0,
        0.5,
        2.0**53,
        2.0**63,
        -(2.0**63),
        2.0**64,
        1e300,
        math.inf,
        -math.inf,
        math.nan,
    ]
    bits = values(dtype)
    exact = [decode(b, dtype) for b in bits]
    x = tensor_of(bits, dtype)
    with sz.promotion("lossless"):
        for number in numbers:
            value = Fraction(number) if math.isfinite(number) else number
            for name, compare in COMPARISONS.items():
                expected = [compare(v, value) for v in exact]
                assert getattr(sz, name)(x, number).tolist() == expected, (name, number)


def test_by_hand() -> None:
    big, huge = sz.tensor([2**63 - 1], sz.int64), sz.tensor([2**63], sz.uint64)
    double = sz.tensor([2.0**63], sz.float64)
    with sz.promotion("lossless"):
        assert (big < huge).tolist() == [True]
        assert (big == double).tolist() == [False]
        assert (huge == double).tolist() == [True]
        assert (sz.tensor([-1], sz.int8) < sz.tensor([2**64 - 1], sz.uint64)).tolist() == [True]
        assert (sz.tensor([2**53 + 1], sz.int64) > 2.0**53).tolist() == [True]
        assert (sz.tensor([0.1], sz.float32) == sz.tensor([0.1], sz.float64)).tolist() == [False]
        assert (big < 2**63).tolist() == [True]
        assert (big < 2**70).tolist() == [True]
        # Arithmetic still needs a dtype that holds both.
        with pytest.raises(sz.TypeMismatch):
            big + huge
    # Under the default rule set both become one dtype first, and 2**53 + 1 is lost.
    assert (sz.tensor([2**53 + 1], sz.int64) == sz.tensor([2.0**53], sz.float64)).tolist() == [True]


def test_shapes_and_long_arrays() -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(-(2**63), 2**63 - 1, 5003)
    b = a.astype(np.uint64)
    b[::3] += np.uint64(1)
    c = a.astype(np.float64)
    whole = [int(v) for v in a]
    with sz.promotion("lossless"):
        for _ in every_level():
            for size in (0, 1, 1023, 1024, 1025, 5003):
                x, y, z = (sz.tensor(v[:size]) for v in (a, b, c))
                with_unsigned = [v < int(w) for v, w in zip(whole, b[:size], strict=False)]
                assert sz.less(x, y).tolist() == with_unsigned
                assert sz.greater(y, x).tolist() == with_unsigned
                with_double = [
                    v == Fraction(w) for v, w in zip(whole, c[:size].tolist(), strict=False)
                ]
                assert sz.equal(x, z).tolist() == with_double
                assert sz.equal(z, x).tolist() == with_double
            column, row = sz.tensor(a[:3].reshape(3, 1)), sz.tensor(b[:4])
            assert sz.less(column, row).tolist() == [
                [int(p) < int(q) for q in b[:4]] for p in a[:3]
            ]
            one = sz.tensor(2**63, sz.uint64)
            assert sz.less(sz.tensor(a), one).tolist() == [True] * a.size
            assert sz.less(one, sz.tensor(a)).tolist() == [False] * a.size


def test_shapes_that_do_not_go_together_are_refused() -> None:
    x, y = sz.tensor([1, 2], sz.int64), sz.tensor([1, 2, 3], sz.uint64)
    with (
        sz.promotion("lossless"),
        pytest.raises(sz.DimensionsMismatch, match=r"less \(7\.2\.5\.5\)"),
    ):
        sz.less(x, y)


def test_complex_is_compared_for_equality_only() -> None:
    x, y = sz.tensor([1 + 0j, 1 + 1j], sz.complex64), sz.tensor([1, 1], sz.int8)
    with sz.promotion("lossless"):
        assert sz.equal(x, y).tolist() == [True, False]
        with pytest.raises(sz.TypeMismatch, match="less"):
            sz.less(x, y)


def test_numpy_compares_integers_exactly_and_floats_in_double() -> None:
    a, b = sz.tensor([2**63 - 1, -1], sz.int64), sz.tensor([2**63, 2**64 - 1], sz.uint64)
    with sz.promotion("numpy"):
        assert sz.less(a, b).tolist() == [True, True]
        assert sz.equal(b, a).tolist() == [False, False]
        assert sz.less(a, 2**80).tolist() == [True, True]
        # As NumPy does: int64 with float64 is compared as float64.
        assert sz.equal(a, sz.tensor([2.0**63, -1.0], sz.float64)).tolist() == [True, True]
