"""Cases of the sizes at which kernels break: who has them, and what is true of few numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from suanzi.conformance.cases import Wanted, cases, operators
from suanzi.conformance.cases._matrices import Reflection
from suanzi.conformance.judging.checks import find
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import real
from suanzi.conformance.truth.signal import sequence, spectrum, transform

WITHOUT = set(
    "create_tensor wrap_tensor zeros full empty multinomial range linspace create_sparse_tensor "
    "create_quant_tensor diag destroy shape size rank is_contiguous allclose".split()
)
"""Interfaces without such cases: most of them have no loop over elements."""
FEW = Wanted(
    groups=frozenset({"sizes"}), dtypes=frozenset({"float32", "int32", "complex64"}), quick=True
)


def test_every_operator_has_cases_of_sizes() -> None:
    assert {op for op in operators() if not cases(op, FEW)} <= WITHOUT


@pytest.mark.parametrize("length", [1, 2, 6, 15, 17])
@pytest.mark.parametrize("forward", [True, False])
def test_the_spectrum_of_few_numbers_is_that_of_the_definition(length: int, forward: bool) -> None:
    period = max(p for p in range(1, length + 1) if length % p == 0 and p < max(length, 2))
    repeats = [complex(k + 1, 2 - k) for k in range(period)]
    impulses = {length - 1: 5 - 3j, length // 2: 2j}
    right = transform(sequence(length, repeats, impulses), [0], forward)
    found = spectrum(length, repeats, impulses, forward)
    for (a, b), (p, q) in zip(found.fractions(), right.fractions(), strict=True):
        assert max(abs(a - p), abs(b - q)) < Fraction(1, 2**120)


@pytest.mark.parametrize("n", [5, 16, 17])
def test_the_inverse_of_a_reflection(n: int) -> None:
    made = Reflection(n)
    rows, inverse = made.rows(), made.inverse()
    one = [[sum(a * b[j] for a, b in zip(row, inverse, strict=True)) for j in range(n)]
           for row in rows]  # fmt: skip
    assert one == [[int(i == j) for j in range(n)] for i in range(n)]
    x = list(range(n))
    assert made.times(x) == [sum(a * b for a, b in zip(row, x, strict=True)) for row in rows]


def test_random_numbers_that_begin_anew_are_seen() -> None:
    block = [real(Fraction(i * 37 % 64, 64)) for i in range(64)]
    facts = {"dtype": "float32", "shape": (128,), "low": [0], "high": [1], "open": False}
    twice = find("uniform")({}, [tensor("float32", block * 2, (128,))], facts)
    assert twice == "the numbers from index 64 repeat those from index 0"
    other = [real(Fraction(i * 41 % 64, 64)) for i in range(64)]
    assert find("uniform")({}, [tensor("float32", block + other, (128,))], facts) is None
