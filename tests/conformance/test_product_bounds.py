"""7.2.17.1, .2, .12, .13: no honest order of summation breaks the bounds, and mistakes do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.conformance.cases.linear_algebra_products import long_sums, small
from suanzi.conformance.judging.judge import judge
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.subjects.suanzi_adapter import create, read

Array = np.ndarray[Any, Any]
FLOATS = ["float32", "float64", "float16", "bfloat16"]
COMPUTED = {"float64": np.float64}


def long(dtype: str) -> Case:
    return long_sums("matmul", dtype, ("mat1", "mat2"), ((2, 600), (600, 2)))


def short(dtype: str) -> Case:
    return small("matmul", "plain", dtype, ("mat1", "mat2"), ((4, 4), (4, 4)))


def operands(case: Case) -> list[Array]:
    """Return the operands in what they are summed in, which holds them exactly."""
    kind = COMPUTED.get(case.dtype, np.float32)
    wide = sz.float64 if kind is np.float64 else sz.float32
    return [sz.cast(create(x), wide).numpy().astype(kind) for x in case.arguments.values()]


def problem(case: Case, answer: Array) -> str | None:
    """Return what the judge says of an answer, rounded once to the dtype of the case."""
    wanted = case.expect()
    assert isinstance(wanted, tuple)
    assert isinstance(wanted[0], Output)
    return judge(read(sz.cast(sz.tensor(answer), sz.dtype(case.dtype))), wanted[0]).problem


def added(a: Array, b: Array, order: Callable[[int], list[int]], bits: int | None = None) -> Array:
    """Return a product whose sums are made one term after the other, in an order."""
    total = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for k in order(a.shape[1]):
        total = total + a[:, k : k + 1] * b[k : k + 1]
        if bits is not None:
            total = cut(total, bits)
    return total


def cut(x: Array, bits: int) -> Array:
    """Return numbers rounded to a mantissa of so many bits."""
    size, power = np.frexp(x)
    return np.ldexp(np.round(np.ldexp(size, bits + 1)), power - bits - 1).astype(x.dtype)


def in_blocks(a: Array, b: Array) -> Array:
    parts = [added(a[:, i : i + 32], b[i : i + 32], forwards) for i in range(0, a.shape[1], 32)]
    return np.sum(parts, axis=0, dtype=a.dtype)


def forwards(n: int) -> list[int]:
    return list(range(n))


def largest_last(n: int) -> list[int]:
    return list(range(n))[::-1]


def shuffled(n: int) -> list[int]:
    return np.random.default_rng(n).permutation(n).tolist()


@pytest.mark.parametrize("dtype", FLOATS)
def test_no_order_of_summation_breaks_the_bound(dtype: str) -> None:
    for case in (short(dtype), long(dtype)):
        a, b = operands(case)
        for order in (forwards, largest_last, shuffled):
            assert problem(case, added(a, b, order)) is None
        assert problem(case, in_blocks(a, b)) is None
        assert problem(case, a @ b) is None
        assert problem(case, (a.astype(np.longdouble) @ b).astype(np.float64)) is None


@pytest.mark.parametrize("dtype", FLOATS)
def test_mistakes_are_found(dtype: str) -> None:
    case = short(dtype)
    a, b = operands(case)
    for wrong in (b @ a, a.T @ b, a @ b.T, (a @ b).T, a[:, 1:] @ b[1:], a @ np.abs(b), a * b):
        assert problem(case, wrong) is not None
    case = long(dtype)
    a, b = operands(case)
    assert problem(case, a[:, 1:] @ b[1:]) is not None or dtype == "bfloat16"
    assert problem(case, a[:, 8:] @ b[8:]) is not None
    factor = 1.01 if dtype == "bfloat16" else 1.001  # which bfloat16 has no number for
    assert problem(case, factor * (a @ b)) is not None


@pytest.mark.parametrize(("dtype", "bits"), [("bfloat16", 7), ("float16", 10), ("float32", 10),
                                             ("float32", 16), ("float64", 23)])  # fmt: skip
def test_a_narrow_accumulator_is_found(dtype: str, bits: int) -> None:
    """Sums of 600 kept in the dtype itself, or in TensorFloat-32, or float32 for float64."""
    case = long(dtype)
    assert problem(case, added(*operands(case), forwards, bits)) is not None


@pytest.mark.parametrize("bits", [7, 10])
def test_operands_rounded_to_fewer_bits_are_found(bits: int) -> None:
    """In long sums they cancel; in short ones they do not."""
    case = short("float32")
    a, b = operands(case)
    assert problem(case, cut(a, bits) @ cut(b, bits)) is not None


def test_complex_numbers_are_not_conjugated() -> None:
    case = small("matmul", "plain", "complex64", ("mat1", "mat2"), ((4, 4), (4, 4)))
    a, b = (create(x).numpy() for x in case.arguments.values())
    assert problem(case, a @ b) is None
    for wrong in (a @ b.conj(), a.conj() @ b, (a @ b).conj(), a.real @ b):
        assert problem(case, wrong.astype(np.complex64)) is not None


def test_integers_are_exact() -> None:
    case = small("matmul", "plain", "int16", ("mat1", "mat2"), ((4, 4), (4, 4)))
    a, b = (create(x).numpy() for x in case.arguments.values())
    assert problem(case, a @ b) is None
    wrong = a @ b
    wrong[2, 3] ^= 1
    assert problem(case, wrong) is not None
    saturated = np.clip(a.astype(np.int64) @ b.astype(np.int64), -(2**15), 2**15 - 1)
    assert problem(case, saturated.astype(np.int16)) is not None
