"""The data of cases: special values stay what they are, in both parts of complex numbers."""

from __future__ import annotations

import numpy as np
import pytest

from suanzi.conformance.nn._calls import Operand
from suanzi.validate.judge.filling import filled, numbers_of, of_parts


@pytest.mark.parametrize("dtype", ["complex32", "complex64", "complex128"])
def test_an_infinite_part_leaves_the_other_alone(dtype: str) -> None:
    given = numbers_of(filled(dtype, Operand((13, 7)), "special values", "seed"))
    # Each part is drawn by itself: one that is no number says nothing of the other one.
    assert (np.isfinite(given.real) & np.isinf(given.imag)).any()
    assert (np.isinf(given.real) & np.isfinite(given.imag)).any()


def test_complex_numbers_of_parts_without_arithmetic() -> None:
    real = np.array([np.inf, 0.0, -0.0, np.nan, -np.inf])
    imag = np.array([0.0, -np.inf, -0.0, 1.0, np.inf])
    made = of_parts(real, imag)
    np.testing.assert_array_equal(made.real, real)
    np.testing.assert_array_equal(made.imag, imag)
    assert np.signbit(made.real[2])
    assert np.signbit(made.imag[2])
