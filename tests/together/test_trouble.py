"""Zero divisors and bad shifts, wherever they are: in the first block, in the last, or between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import at_level, threads
from suanzi import _core

INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
SIZES = [5_000, 300_000]
BAD_SHIFT = 2  # native/kernels/kernels.h


def strided(x: np.ndarray[Any, Any]) -> sz.Tensor:
    """Return the elements two apart."""
    wide = np.ones(2 * x.size, x.dtype)
    wide[::2] = x
    return sz.tensor(wide)[::2]


def reversed_(x: np.ndarray[Any, Any]) -> sz.Tensor:
    return sz.tensor(np.ascontiguousarray(x[::-1]))[::-1]


def columns(x: np.ndarray[Any, Any]) -> sz.Tensor:
    """Return the elements as a matrix whose rows lie across memory."""
    return sz.transpose(sz.tensor(np.ascontiguousarray(x.reshape(-1, 50).T)), (1, 0))


LAYOUTS: dict[str, Callable[..., sz.Tensor]] = {
    "dense": sz.tensor,
    "strided": strided,
    "reversed": reversed_,
    "columns": columns,
}


def places(n: int) -> list[int]:
    return [0, 1, n // 3, n // 2, n - 2, n - 1]


@pytest.fixture(params=[1, 3])
def machine(request: pytest.FixtureRequest) -> Any:
    with threads(request.param):
        yield


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "dtypes", [(d, d) for d in INTEGERS] + [("int32", "int8"), ("int8", "int64")]
)
def test_one_zero_divisor(dtypes: tuple[str, str], layout: str, n: int, machine: None) -> None:
    dividend, divisor = np.full(n, 7, dtypes[0]), np.full(n, 3, dtypes[1])
    x = LAYOUTS[layout](dividend)
    with at_level(_core.level()):
        for level in _core.levels() if n < 10_000 else [_core.level()]:
            _core.use_level(level)
            for name in ("floordiv", "mod"):
                function = getattr(sz, name)
                assert function(x, LAYOUTS[layout](divisor)).reshape(n)[n // 2].item() in (2, 1)
                for at in places(n):
                    changed = divisor.copy()
                    changed[at] = 0
                    with pytest.raises(sz.DivisionByZero):
                        function(x, LAYOUTS[layout](changed))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "dtypes", [(d, d) for d in INTEGERS] + [("int32", "int8"), ("int8", "int64")]
)
def test_one_bad_shift(dtypes: tuple[str, str], layout: str, n: int, machine: None) -> None:
    x, shift = LAYOUTS[layout](np.ones(n, dtypes[0])), np.full(n, 2, dtypes[1])
    bad = [np.iinfo(dtypes[0]).bits] + [-1] * dtypes[1].startswith("int")
    for name in ("bitwise_left_shift", "bitwise_right_shift"):
        function = getattr(sz, name)
        function(x, LAYOUTS[layout](shift))
        for at in places(n):
            for value in bad:
                changed = shift.copy()
                changed[at] = value
                y = LAYOUTS[layout](changed)
                with pytest.raises(sz.InvalidArgument, match="it must be from 0 to"):
                    function(x, y)
                # Python looks at the shifts by itself, so that the loop's word is asked for, too.
                assert _core.run_operator(name, [x, y], x.dtype)[1] == BAD_SHIFT
