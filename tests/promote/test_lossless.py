"""lossless: never a value lost, never a refusal where a dtype would do, by exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz

NUMERIC = sz.rule_set("lossless").dtypes
RANK = {"bool": 0, "int": 1, "uint": 1, "float": 2, "complex": 3}


def fits(value: Fraction, dt: sz.DType) -> bool:
    """Whether a dtype holds a finite value: written apart from suanzi.promote.values."""
    if dt.kind in ("bool", "int", "uint"):
        info = sz.iinfo(dt)
        return value.denominator == 1 and info.min <= value <= info.max
    if value == 0:
        return True
    bits = dt.mantissa_bits
    bias = 2 ** (dt.exponent_bits - 1) - 1
    largest = Fraction(448) if dt is sz.float8_e4m3fn else (2 - Fraction(1, 2**bits)) * 2**bias
    # The spacing of the format at this magnitude divides a value it holds.
    exponent = max(math.frexp(float(value))[1] - 1, 1 - bias)
    spacing = Fraction(2) ** (exponent - bits)
    return abs(value) <= largest and (value / spacing).denominator == 1


@st.composite
def value_of(draw: st.DrawFn, dt: sz.DType) -> Fraction:
    if dt.kind in ("bool", "int", "uint"):
        info = sz.iinfo(dt)
        edges = [v for k in range(65) for v in (2**k - 1, 2**k, 2**k + 1)]
        near = st.sampled_from([v for v in edges if info.min <= v <= info.max])
        return Fraction(draw(near | st.integers(info.min, info.max)))
    bits = dt.mantissa_bits
    bias = 2 ** (dt.exponent_bits - 1) - 1
    significand = draw(st.integers(-(2 ** (bits + 1)) + 1, 2 ** (bits + 1) - 1))
    exponent = draw(st.integers(1 - bias - bits, bias - bits))
    value = Fraction(significand) * Fraction(2) ** exponent
    return value if fits(value, dt) else Fraction(0)


@settings(max_examples=100)
@given(data=st.data(), a=st.sampled_from(NUMERIC), b=st.sampled_from(NUMERIC))
def test_no_value_is_lost(data: st.DataObject, a: sz.DType, b: sz.DType) -> None:
    found = sz.explain(a, b, rules="lossless").dtype
    if found is None:
        return
    for dt in (a, b):
        assert fits(data.draw(value_of(dt)), found)


def holds_all(outer: sz.DType, inner: sz.DType) -> bool:
    """Whether `outer` holds every value of `inner`, on the values where formats can differ."""
    if inner.kind == "complex" and outer.kind != "complex":
        return False
    if not inner.exponent_bits:
        info = sz.iinfo(inner)
        edges = {info.min, info.max} | {2**k + d for k in range(65) for d in (-1, 0, 1)}
        return all(fits(Fraction(v), outer) for v in edges if info.min <= v <= info.max)
    info = sz.finfo(inner)
    if not outer.exponent_bits:
        return False
    edges = [info.max, info.smallest_subnormal, info.smallest_normal, 1 + info.eps,
             info.smallest_normal * (1 + info.eps)]  # fmt: skip
    return all(fits(Fraction(v), outer) for v in edges)


def test_the_smallest_dtype_and_a_refusal_only_where_none_does() -> None:
    for a, b in combinations_with_replacement(NUMERIC, 2):
        lowest = max(RANK[a.kind], RANK[b.kind])
        would_do = [
            d for d in NUMERIC if RANK[d.kind] >= lowest and holds_all(d, a) and holds_all(d, b)
        ]
        found = sz.explain(a, b, rules="lossless").dtype
        if found is None:
            assert not would_do, (a, b)
        else:
            assert found in would_do, (a, b)
            assert found.bits == min(d.bits for d in would_do) or a is b, (a, b)


@given(operands=st.lists(st.sampled_from(NUMERIC), min_size=2, max_size=5))
def test_several_operands_at_once(operands: list[sz.DType]) -> None:
    found = sz.explain(*operands, rules="lossless").dtype
    lowest = max(RANK[d.kind] for d in operands)
    would_do = [
        d for d in NUMERIC if RANK[d.kind] >= lowest and all(holds_all(d, o) for o in operands)
    ]
    if found is None:
        assert not would_do
    else:
        assert found in would_do
        assert len(set(operands)) == 1 or found.bits == min(d.bits for d in would_do)


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ((sz.int8, 100), sz.int8),
        ((sz.int8, 300), sz.int16),
        ((sz.int8, 300, 70000), sz.int32),
        ((sz.uint8, -1), sz.int16),
        ((sz.int8, 2.0), sz.float16),
        ((sz.float16, 0.5), sz.float16),
        ((sz.float16, 0.1), sz.float64),
        ((sz.float16, 2049), sz.float32),
        ((sz.float8_e4m3fn, 17, 2**20), sz.bfloat16),
        ((sz.int8, 1j), sz.complex32),
        ((sz.int64, 0.5), None),
        ((sz.int8, 2**70), sz.bfloat16),
        ((sz.float64, 10**400), None),
        ((sz.int8, sz.Number(int)), None),
        ((sz.int8, sz.Number(float)), sz.float64),
        ((sz.int8, sz.Number(bool)), sz.int8),
        ((sz.float16, sz.Number(complex)), sz.complex128),
        ((1, 2.5), sz.float64),
        ((2**63,), sz.uint64),
        ((2**70,), sz.bfloat16),
        ((10**400,), None),
        ((3,), sz.int64),
    ],
    ids=str,
)
def test_numbers_by_value(operands: tuple[object, ...], expected: sz.DType | None) -> None:
    for order in permutations(operands):
        assert sz.explain(*order, rules="lossless").dtype is expected


def test_comparison_needs_no_common_dtype() -> None:
    for a, b in ((sz.int64, sz.uint64), (sz.int64, sz.float64)):
        assert sz.explain(a, b, rules="lossless").refused
        found = sz.explain(a, b, rules="lossless", op="==")
        assert (found.dtype, found.layer, found.exact) == (sz.bool, "exact comparison", True)
    assert sz.explain(sz.int64, sz.complex128, rules="lossless", op="==").refused
    assert sz.explain(sz.int8, sz.int16, rules="lossless", op="==").dtype is sz.int16


def test_integers_in_real_functions() -> None:
    found = {
        d.name: sz.explain(d, rules="lossless", op="exp").dtype
        for d in (sz.bool, sz.int8, sz.uint16, sz.int32, sz.int64)
    }
    assert list(found.values()) == [sz.float32, sz.float32, sz.float32, sz.float64, None]
