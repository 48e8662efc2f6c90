"""The rule set `array_api`: the standard's tables, JAX's table, and the dtypes that join them."""

from __future__ import annotations

import itertools

import pytest

import suanzi as sz

xp = sz.array_api
WIDTHS = (8, 16, 32, 64)
MORE = [sz.float8_e4m3fn, sz.float8_e5m2, sz.float16, sz.bfloat16, sz.complex32]


def promoted(a: sz.DType, b: sz.DType) -> sz.DType:
    found = sz.promote_types(a, b, rules="array_api")
    assert sz.promote_types(b, a, rules="array_api") is found
    return found


def test_integers_as_the_standard_has_them() -> None:
    for m, n in itertools.product(WIDTHS, WIDTHS):
        assert promoted(sz.dtype(f"int{m}"), sz.dtype(f"int{n}")).name == f"int{max(m, n)}"
        assert promoted(sz.dtype(f"uint{m}"), sz.dtype(f"uint{n}")).name == f"uint{max(m, n)}"
        if m < 64:  # uint64 with a signed integer is left open
            mixed = promoted(sz.dtype(f"uint{m}"), sz.dtype(f"int{n}"))
            assert mixed.name == f"int{max(2 * m, n)}"


def test_floats_as_the_standard_has_them() -> None:
    assert promoted(sz.float32, sz.float64) is sz.float64
    assert promoted(sz.float32, sz.complex64) is sz.complex64
    assert promoted(sz.float32, sz.complex128) is sz.complex128
    assert promoted(sz.float64, sz.complex64) is sz.complex128


def test_it_is_jaxs_table_where_jax_has_one() -> None:
    jax = sz.rule_set("jax")
    for a, b in itertools.product(jax.dtypes, jax.dtypes):
        assert promoted(a, b) is sz.promote_types(a, b, rules="jax")


def test_more_dtypes_take_part() -> None:
    assert promoted(sz.float8_e4m3fn, sz.float8_e5m2) is sz.float16
    for narrow in (sz.float8_e4m3fn, sz.float8_e5m2):
        for wide in (sz.float16, sz.bfloat16, sz.float32, sz.complex32):
            assert promoted(narrow, wide) is wide
    assert promoted(sz.bfloat16, sz.float16) is sz.float32
    assert promoted(sz.bfloat16, sz.complex32) is sz.complex64
    assert promoted(sz.float32, sz.complex32) is sz.complex64
    for dt, whole in itertools.product(MORE, (sz.bool, sz.int4, sz.uint8, sz.int64)):
        assert promoted(dt, whole) is dt
    assert promoted(sz.int4, sz.uint4) is sz.int8
    assert promoted(sz.int4, sz.uint8) is sz.int16
    assert promoted(sz.uint1, sz.int4) is sz.int4


@pytest.mark.parametrize("dt", [*sz.rule_set("array_api").dtypes])
def test_python_numbers_keep_the_dtype_of_their_kind(dt: sz.DType) -> None:
    x = xp.ones(2, dtype=dt)
    if dt.kind in ("int", "uint", "float", "complex"):
        assert xp.add(x, 1).dtype is dt
        assert xp.result_type(x, 1) is dt
    if dt.kind in ("float", "complex"):
        assert xp.add(x, 0.5).dtype is dt
        widened = xp.add(x, 1j).dtype
        assert widened.kind == "complex"
        assert dt.kind == "complex" or widened.bits >= 2 * dt.bits
    assert xp.equal(x, True).dtype is sz.bool


def test_an_int_that_does_not_fit_is_refused() -> None:
    for dt, fits, beyond in (
        (sz.int4, (-8, 7), (-9, 8)),
        (sz.uint1, (0, 1), (-1, 2)),
        (sz.int8, (-128, 127), (-129, 128, 2**70)),
        (sz.uint64, (0, 2**63, 2**64 - 1), (-1, 2**64)),
        (sz.int64, (-(2**63), 2**63 - 1), (2**63,)),
    ):
        x = xp.zeros(2, dtype=dt)
        for _ in range(2):  # as it is asked first, and as it is remembered
            for value in fits:
                assert xp.add(x, value).tolist() == [value] * 2
                assert xp.result_type(dt, value) is dt
            for value in beyond:
                with pytest.raises(sz.TypeMismatch, match="does not hold"):
                    xp.add(x, value)
                with pytest.raises(sz.TypeMismatch):
                    xp.result_type(dt, value)


def test_integers_are_compared_exactly() -> None:
    x = xp.asarray([2**63 + 1], dtype=xp.uint64)
    assert xp.greater(x, xp.asarray([2**63 - 1])).tolist() == [True]
    assert xp.equal(x, -1).tolist() == [False]
    assert xp.less(xp.asarray([5], dtype=xp.int8), 300).tolist() == [True]
