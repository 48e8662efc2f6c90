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


def test_inverses_where_their_steps_change() -> None:
    """Next to 0 and 1, between slices of the logarithm, and where squares are too large."""
    powers = np.ldexp(1.0, np.arange(-60, 61, 3))
    edges = {
        "asinh": np.concatenate(
            [powers, powers * 1.37, [5e-324, 2.0**-26.5, 0.031, 2.0**60 * 1.1]]
        ),
        "acosh": np.concatenate([1 + powers, 1 + powers * 1.37, 1 + np.arange(1, 9) * 2.0**-52]),
        "atanh": np.concatenate(
            [
                powers[powers < 1],
                1 - powers[(powers < 1) & (powers > 2.0**-53)],
                [1 / 3, 0.6, 7 / 9],
            ]
        ),
        "log1p": np.concatenate(
            [powers, powers * 1.37, -powers[powers < 1], [-0.04, -1 + 2.0**-53]]
        ),
    }
    for name, given in edges.items():
        # log1p too has numbers beside it: a result is the same in any lane.
        found = compute(name, given)
        assert_within(
            1.6,
            given.tolist(),
            found.tolist(),
            [FUNCTIONS[name](v) for v in given.tolist()],
            sz.float64,
            name,
        )
        again = compute(name, np.concatenate([[1.0], given]))[1:]
        assert again.tobytes() == found.tobytes()


def test_inverses_keep_the_sign_of_zero_and_know_their_ends() -> None:
    zeros = np.array([0.0, -0.0])
    for name in ("asinh", "atanh", "log1p"):
        assert compute(name, zeros).tobytes() == zeros.tobytes()
    ends = np.array([np.inf, -np.inf, np.nan])
    assert str(compute("asinh", ends).tolist()) == "[inf, -inf, nan]"
    assert str(compute("log1p", np.array([np.inf, -1.0])).tolist()) == "[inf, -inf]"
    assert str(compute("atanh", np.array([1.0, -1.0])).tolist()) == "[inf, -inf]"
    assert str(compute("acosh", np.array([1.0, np.inf])).tolist()) == "[0.0, inf]"
