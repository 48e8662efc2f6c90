"""Zeros keep the signs that C gives them, at every instruction-set level and in every lane.

A minus that is 0 - x makes 0 of 0: xsimd's was so with AVX-512, and nowhere else.
"""

from __future__ import annotations

import cmath
import itertools
import math

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import every_level
from suanzi.faces import array_api as xp

ODD = "sin tan asin atan sinh tanh asinh atanh expm1 log1p sqrt trunc floor ceil round".split()
"""Functions of which zero is a fixed point, with its sign."""
COUNT = 67  # whole vectors, and a rest


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_real_functions(dtype: str) -> None:
    zeros = sz.cast(sz.tensor([0.0, -0.0] * COUNT), sz.dtype(dtype))
    expected = np.array([False, True] * COUNT)

    def signs(x: sz.Tensor) -> np.ndarray:
        wide = sz.cast(x, sz.float64).numpy()
        assert not wide.any()
        return np.signbit(wide)

    for level in every_level():
        for name in ODD:
            assert (signs(getattr(xp, name)(zeros)) == expected).all(), (level, name)
        assert (signs(-zeros) == ~expected).all(), level
        assert (signs(abs(zeros)) == 0).all(), level
        one = xp.ones_like(zeros)
        assert (signs(zeros * one) == expected).all(), level
        assert (signs(zeros * -one) == ~expected).all(), level
        assert (signs(zeros / -one) == ~expected).all(), level
        assert (signs(xp.atan2(zeros, one)) == expected).all(), level
        assert (signs(xp.copysign(one - one, zeros)) == expected).all(), level


PARTS = [0.0, -0.0, 0.5, -0.5, 2.0, -2.0]
COMPLEX = "exp sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh sqrt".split()


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_complex_functions(dtype: str) -> None:
    """Held to Python's, which are C's Annex G: zeros are theirs, and so is the side of a cut."""
    points = [complex(a, b) for a, b in itertools.product(PARTS, PARTS)]
    x = sz.tensor(np.array(points * 3, dtype))

    for level in every_level():
        for name in COMPLEX:
            for z, w in zip(points * 3, getattr(xp, name)(x).numpy().tolist(), strict=True):
                wanted = getattr(cmath, name)(z)
                for a, b in ((w.real, wanted.real), (w.imag, wanted.imag)):
                    assert (a == 0) == (b == 0), (level, name, z, w, wanted)
                    signs = math.copysign(1, a), math.copysign(1, b)
                    assert signs[0] == signs[1], (level, name, z, w, wanted)
