"""Values that no error can show: an object without a repr, and integers of thousands of digits."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import numpy as np
import pytest

import suanzi as sz
import suanzi.nn
from suanzi.promote.registry import FUNCTIONS, REGISTRY


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("it cannot say what it is")


HUGE = 10**5000  # more digits than Python writes
VALUES: list[Any] = [Unspeakable(), HUGE, -HUGE, [Unspeakable()], [HUGE], (HUGE, 1), "x" * 10**4]
OTHERS: list[Any] = [
    sz.tensor([[4.0, 1.0], [1.0, 3.0]]),
    sz.tensor([[1, 0], [1, 1]]),
    sz.tensor([1.0, 2.0]),
    [sz.tensor([1.0, 2.0])],
    (0, 1),
    1,
]


@pytest.mark.parametrize("name", REGISTRY)
def test_every_parameter_of_every_operator(name: str) -> None:
    """Whatever the other arguments are, it is a result or a StatusError."""
    function = FUNCTIONS[name]
    parameters = inspect.signature(function).parameters.values()
    required = [p.name for p in parameters if p.default is p.empty]
    for parameter, value in itertools.product(parameters, VALUES):
        rest = [r for r in required if r != parameter.name]
        for first, second in itertools.product(OTHERS, OTHERS if len(rest) > 1 else OTHERS[:1]):
            arguments = dict.fromkeys(rest, second)
            arguments.update(dict.fromkeys(rest[:1], first))
            arguments[parameter.name] = value
            try:
                function(**arguments)
            except (sz.StatusError, MemoryError) as error:
                assert str(error)  # noqa: PT017


def test_the_identity_of_a_function_of_ones_own() -> None:
    for value in (*VALUES, "x", [0], float("nan"), 2**63, 1j, sz.float32):
        mode = sz.ReduceFunction(lambda a, b: a + b, identity=value)
        with pytest.raises(sz.InvalidArgument, match="the identity of a function of your own"):
            sz.reduce(sz.zeros((0,), sz.int64), mode)
        if not isinstance(value, str):
            with pytest.raises(sz.InvalidArgument, match=r"name is .*; it must be a str\.$"):
                sz.ReduceFunction(lambda a, b: a, name=value)
    for good in (-1, -1.0, np.int8(-1), np.array(-1), sz.tensor(-1)):
        mode = sz.ReduceFunction(lambda a, b: a + b, identity=good)
        assert sz.reduce(sz.zeros((0, 2), sz.int64), mode, 0).tolist() == [-1, -1]
