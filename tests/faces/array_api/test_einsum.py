"""Sums of products by letters against NumPy in float64."""

from __future__ import annotations

import numpy as np
import pytest

import suanzi as sz
from helpers.arrays import EVERY, exact, made
from suanzi.base.status import DimensionsMismatch, InvalidArgument

xp = sz.array_api
CASES = {
    "ij,jk": ((2, 3), (3, 4)),
    "ij,kj->ik": ((2, 3), (4, 3)),
    "bij,bjk->bik": ((5, 2, 3), (5, 3, 4)),
    "ii": ((3, 3),),
    "ii->i": ((3, 3),),
    "iij->j": ((3, 3, 2),),
    "ij->ji": ((2, 3),),
    "ij->": ((2, 3),),
    "i,j,k->kji": ((2,), (3,), (4,)),
    "...ij,...j->...i": ((2, 3, 4), (4,)),
    "...ij,...jk": ((5, 1, 2, 3), (4, 3, 2)),
    "i...->...i": ((2, 3, 4),),
    "abc,acd,de->be": ((2, 3, 4), (2, 4, 5), (5, 6)),
    "i,i": ((4,), (4,)),
    "a,ab,abc->abc": ((2,), (2, 3), (2, 3, 4)),
    "ij,ij->": ((0, 3), (0, 3)),
    "ba": ((2, 3),),
}


@pytest.mark.parametrize("letters", CASES)
@pytest.mark.parametrize("dt", [d for d in EVERY if d is not sz.bool], ids=str)
def test_against_numpy(dt: sz.DType, letters: str) -> None:
    operands = [made(dt, shape, i, "strided") for i, shape in enumerate(CASES[letters])]
    true = np.einsum(letters, *(exact(x) for x in operands))
    got = xp.einsum(letters, *operands)
    assert got.dtype is dt
    # Sums of these numbers are exact in float32: one rounding is left.
    wanted = exact(sz.cast(sz.tensor(np.asarray(true)), dt))
    assert got.shape == true.shape
    assert np.array_equal(exact(got), wanted, equal_nan=dt.exponent_bits > 0)


def test_the_result_has_memory_of_its_own() -> None:
    x = sz.zeros((2, 3))
    xp.einsum("ij->ji", x)[...] = 1
    assert not x.any()


def test_dtypes_meet() -> None:
    x, y = sz.tensor([1, 2], sz.int8), sz.tensor([0.5, 1], sz.bfloat16)
    assert xp.einsum("i,i", x, y).dtype is sz.bfloat16
    assert xp.einsum("i,i", x, y).item() == 2.5


@pytest.mark.parametrize(
    ("letters", "words"),
    [
        ("ij,jk", "has 2 terms, and there are 1 operands"),
        ("i", "names 1 axes, and operand 0 has 2"),
        ("ij->k", "each letter may stand once after the arrow, and in a term"),
        ("ij->ii", "each letter may stand once after the arrow"),
        ("i1", "terms have letters"),
        ("...i->i", "what '...' stands for must be in the result"),
    ],
)
def test_refusals(letters: str, words: str) -> None:
    with pytest.raises((InvalidArgument, DimensionsMismatch), match=words.replace(".", r"\.")):
        xp.einsum(letters, sz.zeros((2, 3)))


def test_sizes_that_differ() -> None:
    with pytest.raises(DimensionsMismatch, match="einsum: 'j' has size 3 before, and 4"):
        xp.einsum("ij,jk", sz.zeros((2, 3)), sz.zeros((4, 5)))
