"""The definitions of the standard's operators, against the exact answers of the kit's cases.

The kit has its own truths, of rationals and mpmath, element by element: the two share no code.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi import truth
from suanzi.base.status import InvalidArgument, StatusError
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.subjects.wire import Data
from suanzi.promote.registry import function
from suanzi.standard import interfaces
from suanzi.truth import definitions
from suanzi.truth.standard import reason
from suanzi.validate.judge.cases import bounds, by_definition, is_plain
from suanzi.validate.judge.given import EXPECTED

OPERATORS = sorted(key for key in definitions() if ":" not in key)
GROUPS = frozenset({"plain", "broadcast", "special", "empty"})
_MOST = 12


def comparable(op: str) -> list[Case]:
    names = {*inspect.signature(definitions()[op]).parameters}
    wanted = Wanted(groups=GROUPS, dtypes=frozenset({"float32", "float64", "int32", "bool"}))
    found = []
    for case in cases(op, wanted):
        given = {n: x for n, x in case.arguments.items() if x is not None}
        whole = sum(x.size for x in given.values() if isinstance(x, Data))
        if is_plain(case) and {*given} <= names and whole < 200:
            found.append(case)
    return found[:: max(1, len(found) // _MOST)]


@pytest.mark.parametrize("op", OPERATORS)
def test_a_definition_gives_what_the_kit_expects(op: str) -> None:
    compared = 0
    for case in comparable(op):
        expected = case.expect()
        if not isinstance(expected, tuple) or not all(isinstance(x, Output) for x in expected):
            continue
        given = {n: x for n, x in case.arguments.items() if x is not None}
        try:
            found = by_definition(op, case.dtype, given)
        except ValueError as error:
            if "has no definition here" not in str(error):
                raise
            continue  # a cast to integers, a norm of another order
        assert found is not None
        compared += 1
        for made, due in zip(found, expected, strict=True):
            right = as_numbers(due)
            assert made.shape == tuple(due.shape), case.id
            with np.errstate(all="ignore"):
                near = np.abs(made.value - right) <= 1e-13 * np.abs(right) + made.error
            same = (made.value == right) | (np.isnan(made.value) & np.isnan(right))
            assert (near | same | made.free).all(), f"{case.id}: {made.value} {right}"
    assert compared >= (1 if op == "cast" else 3) or compared_with_the_core(op) >= 3


def compared_with_the_core(op: str) -> int:
    """Compare with suanzi's own operator where the kit expects more than one tensor."""
    compared = 0
    for case in comparable(op):
        given = {n: x for n, x in case.arguments.items() if x is not None}
        arrays = {n: as_arrays(x) for n, x in given.items()}
        try:
            core = function(op)(**{n: as_tensors(x) for n, x in arrays.items()})
        except StatusError:
            continue
        made = getattr(truth, op)(**arrays)
        for one, right in zip(several(made), several(core), strict=True):
            assert np.array_equal(one, np.asarray(right.numpy()), equal_nan=True), case.id
        compared += 1
    return compared


def as_arrays(x: Any) -> Any:
    if isinstance(x, list) and x and isinstance(x[0], Data):
        return [as_arrays(one) for one in x]
    return np.frombuffer(x.raw, x.dtype).reshape(x.shape) if isinstance(x, Data) else x


def as_tensors(x: Any) -> Any:
    if isinstance(x, list) and x and isinstance(x[0], np.ndarray):
        return [as_tensors(one) for one in x]
    return sz.tensor(x) if isinstance(x, np.ndarray) else x


def several(x: Any) -> list[Any]:
    return [*x] if isinstance(x, tuple | list) else [x]


def as_numbers(due: Output) -> Any:
    made = bounds((due,))
    if made is not None:
        return made[0].value
    return np.array([float(x) for x in due.truth]).reshape(due.shape)  # type: ignore[arg-type]


def test_most_operators_of_the_standard_have_a_truth() -> None:
    assert len(OPERATORS) >= 110
    without = [name for name in interfaces() if name not in definitions() and name != "linear"]
    assert all("suanzi check --op" in reason(name) for name in without)


@pytest.mark.parametrize(("op", "words"), [("svd", "several results are right"),
                                           ("rand_uniform", "its result is random")])  # fmt: skip
def test_what_has_no_truth_says_why(op: str, words: str) -> None:
    x = np.ones((2, 2), np.float32)
    if op not in EXPECTED:
        with pytest.raises(InvalidArgument, match=words):
            sz.assert_right(op, x, x)
    with pytest.raises(AttributeError, match=words):
        getattr(truth, op)


def test_results_are_judged_by_their_inputs() -> None:
    x = np.linspace(-3, 3, 600, dtype=np.float32).reshape(3, 200)
    y = np.ascontiguousarray(x.T)
    sz.assert_right("matmul", (x, y), x @ y)
    sz.assert_right("reduce", x, x.sum(-1), axis=-1)
    sz.assert_right("greater", (x, x[::-1].copy()), x > x[::-1])
    sz.assert_right("argmax", x, x.argmax(-1))
    whole = np.array([2**31 - 1, 5], np.int32)
    sz.assert_right("add", (whole, np.ones_like(whole)), whole + np.ones_like(whole))
    assert truth.add(whole, np.ones_like(whole)).tolist() == [-(2**31), 6]
    assert math.isclose(truth.bound("exp", x).value[0, 0], math.exp(-3))
    low = (x.astype(np.float16) @ y.astype(np.float16)).astype(np.float32)
    for op, inputs, output in (
        ("matmul", (x, y), low),
        ("reduce", x, x.sum()[None]),
        ("greater", (x, x[::-1].copy()), x >= x[::-1]),
        ("argmax", x, x.argmin(-1)),
        ("add", (whole, whole), whole),
    ):
        with pytest.raises(AssertionError):
            sz.assert_right(op, inputs, output)
