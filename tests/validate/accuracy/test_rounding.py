"""Functions of dtypes of 16 bits and fewer are correctly rounded, on every level.

Those of the standard are tried with all arguments in `together/test_functions.py`.
"""

from __future__ import annotations

import pytest

import suanzi as sz
from helpers.functions import check_narrow
from helpers.narrow_pairs import OPERATORS, wrong_pairs
from suanzi.validate.accuracy import FUNCTIONS

ACTIVATIONS = [name for name, f in FUNCTIONS.items() if f.key.startswith("nn:")]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str) -> None:
    for dtype in (sz.float16, sz.bfloat16, sz.float8_e4m3fn, sz.float8_e5m2):
        check_narrow(name, dtype)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("name", OPERATORS)
def test_pairs(name: str, dtype: str) -> None:
    """A share of all pairs: tools/prove_rounding.py tries the others."""
    assert not wrong_pairs(name, dtype, slice(5, None, 211))


def test_powers_next_to_the_middle_of_two_numbers() -> None:
    """In float64 alone, squares could be off by a unit, and then not be rounded to even."""
    for dtype, short in (("float16", 32), ("bfloat16", 8)):  # x of few bits, to the power of 2
        assert not wrong_pairs("pow", dtype, slice(0x4000, 1 << 31, short << 16))
        assert not wrong_pairs("pow", dtype, slice(3, None, 6_000_011))
