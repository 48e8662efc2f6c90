"""bfloat16, float16, float8, complex32 and int4 stay what they are in every function.

What a function gives is said here for each kind by hand: `same`, the real part, bool, an index, the
dtype integers are summed in, or a float that integers become.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import suanzi as sz

xp = sz.array_api
FLOATS = [sz.bfloat16, sz.float16, sz.float8_e4m3fn, sz.float8_e5m2]
REALS = [*FLOATS, sz.int4, sz.uint4]
NUMBERS = [*REALS, sz.complex32]
FLOATING = [*FLOATS, sz.complex32]
WHOLE = [sz.int4, sz.uint4, sz.uint1]

Function = Callable[[Any], Any]


def same(dt: sz.DType) -> sz.DType:
    return dt


def part(dt: sz.DType) -> sz.DType:
    return sz.float16 if dt is sz.complex32 else dt


def bools(dt: sz.DType) -> sz.DType:
    return sz.bool


def indices(dt: sz.DType) -> sz.DType:
    return sz.int64


def sums(dt: sz.DType) -> sz.DType:
    return {"int": sz.int64, "uint": sz.uint64}.get(dt.kind, dt)


def floats(dt: sz.DType) -> sz.DType:
    return sz.float32 if dt.kind in ("int", "uint") else dt


def both(name: str) -> Function:
    return lambda x: getattr(xp, name)(x, x)


def one(name: str, **kwargs: Any) -> Function:
    return lambda x: getattr(xp, name)(x, **kwargs)


ZERO = lambda: xp.asarray([0, 1])  # noqa: E731
CASES: list[tuple[str, Function, Callable[[sz.DType], sz.DType], list[sz.DType]]] = [
    *((n, both(n), same, NUMBERS) for n in ("add", "subtract", "multiply", "pow")),
    *((n, both(n), same, REALS) for n in ("maximum", "minimum")),
    *((n, both(n), same, FLOATS) for n in (
        "floor_divide", "remainder", "atan2", "hypot", "copysign", "nextafter", "logaddexp")),
    ("divide", both("divide"), floats, NUMBERS),
    *((n, both(n), bools, NUMBERS) for n in (
        "equal", "not_equal", "logical_and", "logical_or", "logical_xor")),
    *((n, both(n), bools, REALS) for n in ("less", "less_equal", "greater", "greater_equal")),
    *((n, one(n), bools, NUMBERS) for n in ("isnan", "isinf", "isfinite", "logical_not")),
    ("signbit", one("signbit"), bools, FLOATS),
    *((n, both(n), same, WHOLE) for n in (
        "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift")),
    ("bitwise_invert", one("bitwise_invert"), same, WHOLE),
    *((n, one(n), floats, NUMBERS) for n in (
        "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log",
        "log1p", "log2", "log10", "sin", "sinh", "sqrt", "tan", "tanh", "reciprocal")),
    *((n, one(n), same, NUMBERS) for n in ("negative", "positive", "square", "sign", "conj")),
    *((n, one(n), same, REALS) for n in ("ceil", "floor", "round", "trunc")),
    *((n, one(n), part, NUMBERS) for n in ("abs", "real", "imag")),
    ("clip", one("clip", min=0, max=1), same, REALS),
    *((n, one(n), same, NUMBERS) for n in ("empty_like", "ones_like", "zeros_like")),
    ("full_like", one("full_like", fill_value=1), same, NUMBERS),
    ("asarray", one("asarray"), same, NUMBERS),
    *((n, lambda x, n=n: getattr(xp, n)(xp.reshape(x, (2, 2))), same, NUMBERS) for n in (
        "tril", "triu", "matrix_transpose")),
    ("meshgrid", one("meshgrid"), same, NUMBERS),
    ("arange", lambda x: xp.arange(2, dtype=x.dtype), same, REALS),
    ("linspace", lambda x: xp.linspace(0, 1, 2, dtype=x.dtype), same, FLOATING),
    ("eye", lambda x: xp.eye(2, dtype=x.dtype), same, NUMBERS),
    *((n, lambda x, n=n: getattr(xp, n)(2, dtype=x.dtype), same, NUMBERS) for n in (
        "zeros", "ones", "empty")),
    ("full", lambda x: xp.full(2, 1, dtype=x.dtype), same, NUMBERS),
    ("astype", lambda x: xp.astype(x, x.dtype), same, NUMBERS),
    ("concat", lambda x: xp.concat([x, x]), same, NUMBERS),
    ("stack", lambda x: xp.stack([x, x]), same, NUMBERS),
    ("broadcast_to", one("broadcast_to", shape=(2, 4)), same, NUMBERS),
    ("broadcast_arrays", both("broadcast_arrays"), same, NUMBERS),
    ("expand_dims", one("expand_dims", axis=0), same, NUMBERS),
    ("flip", one("flip"), same, NUMBERS),
    ("moveaxis", lambda x: xp.moveaxis(x, 0, 0), same, NUMBERS),
    ("permute_dims", one("permute_dims", axes=(0,)), same, NUMBERS),
    ("repeat", lambda x: xp.repeat(x, 2), same, NUMBERS),
    ("reshape", one("reshape", shape=(2, 2)), same, NUMBERS),
    ("roll", one("roll", shift=1), same, NUMBERS),
    ("squeeze", lambda x: xp.squeeze(x[None], axis=0), same, NUMBERS),
    ("tile", lambda x: xp.tile(x, (2,)), same, NUMBERS),
    ("unstack", one("unstack"), same, NUMBERS),
    ("take", lambda x: xp.take(x, ZERO()), same, NUMBERS),
    ("take_along_axis", lambda x: xp.take_along_axis(x, ZERO()), same, NUMBERS),
    ("where", lambda x: xp.where(x == x, x, x), same, NUMBERS),
    ("sort", one("sort"), same, REALS),
    ("argsort", one("argsort"), indices, REALS),
    ("argmax", one("argmax"), indices, REALS),
    ("argmin", one("argmin"), indices, REALS),
    ("count_nonzero", one("count_nonzero"), indices, NUMBERS),
    ("nonzero", one("nonzero"), indices, NUMBERS),
    ("searchsorted", both("searchsorted"), indices, REALS),
    ("isin", both("isin"), bools, REALS),
    ("unique_values", one("unique_values"), same, NUMBERS),
    ("unique_all", lambda x: xp.unique_all(x).values, same, NUMBERS),
    ("unique_counts", lambda x: xp.unique_counts(x).values, same, NUMBERS),
    ("unique_inverse", lambda x: xp.unique_inverse(x).values, same, NUMBERS),
    *((n, one(n), sums, NUMBERS) for n in ("sum", "prod")),
    *((n, one(n), sums, NUMBERS) for n in ("cumulative_sum", "cumulative_prod")),
    *((n, one(n), same, REALS) for n in ("max", "min")),
    ("mean", one("mean"), floats, NUMBERS),
    *((n, one(n), floats, REALS) for n in ("std", "var")),
    *((n, one(n), bools, NUMBERS) for n in ("all", "any")),
    ("diff", one("diff"), same, NUMBERS),
    *((n, both(n), same, NUMBERS) for n in ("matmul", "vecdot")),
    ("tensordot", lambda x: xp.tensordot(x, x, axes=1), same, NUMBERS),
]  # fmt: skip


def results(found: Any) -> list[sz.Tensor]:
    return list(found) if isinstance(found, tuple | list) else [found]


@pytest.mark.parametrize(
    ("function", "gives", "dt"),
    [
        pytest.param(function, gives, dt, id=f"{name}-{dt}")
        for name, function, gives, dtypes in CASES
        for dt in dtypes
    ],
)
def test_a_function_keeps_a_dtype(function: Function, gives: Any, dt: sz.DType) -> None:
    x = xp.asarray([0, 1, 1, 0], dtype=dt)
    for found in results(function(x)):
        assert found.dtype is gives(dt)


def test_every_function_is_tried() -> None:
    asked = {name for name, *_ in CASES}
    others = {"broadcast_shapes", "can_cast", "finfo", "from_dlpack", "iinfo", "isdtype",
              "result_type", "einsum"}  # fmt: skip
    functions = {
        name for name in xp.__all__
        if callable(getattr(xp, name)) and not name.startswith("_")
    }  # fmt: skip
    assert functions - others == asked


SQUARE = [[2, 1], [1, 2]]


@pytest.mark.parametrize("dt", FLOATING)
@pytest.mark.parametrize("name", ["cholesky", "inv", "pinv", "qr", "eigh", "matrix_power", "outer"])
def test_a_function_of_linalg_keeps_a_dtype(name: str, dt: sz.DType) -> None:
    x = xp.asarray(SQUARE, dtype=dt)
    given: tuple[Any, ...] = (x,)
    if name == "matrix_power":
        given = (x, 2)
    if name == "outer":
        given = (x[0], x[1])
    for found in results(getattr(xp.linalg, name)(*given)):
        assert found.dtype in (dt, part(dt))


@pytest.mark.parametrize("dt", FLOATING)
@pytest.mark.parametrize("name", ["det", "trace", "matrix_norm", "solve", "svdvals", "vector_norm"])
def test_a_number_of_linalg_keeps_a_dtype(name: str, dt: sz.DType) -> None:
    x = xp.asarray(SQUARE, dtype=dt)
    given = (x, x) if name == "solve" else (x,)
    assert getattr(xp.linalg, name)(*given).dtype in (dt, part(dt))
