"""7.2.11: what is special to hyperbolic functions; test_functions.py has the rest."""

from __future__ import annotations

import numpy as np

import suanzi as sz
from helpers.functions import FUNCTIONS, compute
from helpers.ulp import assert_within


def test_overflow_comes_as_late_as_it_can() -> None:
    # log(2) more than exp has: exp(x) / 2 must not be computed by way of exp(x).
    assert np.isfinite(compute("cosh", np.array([710.4758600739439]))).all()
    assert np.isinf(compute("cosh", np.array([710.4758600739440]))).all()
    assert np.isfinite(compute("sinh", np.array([89.41598], np.float32))).all()
    assert np.isinf(compute("sinh", np.array([89.41600], np.float32))).all()


def test_large_arguments_of_the_inverses_do_not_overflow() -> None:
    for name in ("asinh", "acosh"):
        found = compute(name, np.array([1e300, 1.7e308]))
        truths = [FUNCTIONS[name](v) for v in (1e300, 1.7e308)]
        assert_within(3, [1e300, 1.7e308], found.tolist(), truths, sz.float64, name)


def test_what_is_exact() -> None:
    assert sz.tanh(sz.tensor([0.0])).tolist() == [0]
    assert sz.cosh(sz.tensor([0.0])).tolist() == [1]
    assert sz.acosh(sz.tensor([1.0])).tolist() == [0]
