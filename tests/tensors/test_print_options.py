"""Print options: what each does, where it holds, and what it must not be."""

from __future__ import annotations

import asyncio
import contextvars
import math
import sys
import threading
from typing import Any

import numpy as np
import pytest

import suanzi as sz

DEFAULTS = {
    "precision": None,
    "threshold": 1000,
    "edgeitems": 3,
    "linewidth": 88,
    "suppress": False,
}


def printed(x: Any, **options: Any) -> str:
    with sz.printoptions(**options):
        return repr(x).removeprefix("Tensor(").partition(", dtype")[0]


def test_defaults_and_what_is_returned() -> None:
    assert sz.get_printoptions() == DEFAULTS
    with sz.printoptions(precision=2, linewidth=np.int64(40)) as options:
        assert options == {**DEFAULTS, "precision": 2, "linewidth": 40}
        assert sz.get_printoptions() == options
        before = sz.set_printoptions(suppress=True)
        assert before == options
        assert sz.get_printoptions() == {**options, "suppress": True}
        with sz.printoptions():
            assert sz.get_printoptions() == {**options, "suppress": True}
    assert sz.get_printoptions() == DEFAULTS
    sz.get_printoptions()["precision"] = 7
    assert sz.get_printoptions() == DEFAULTS


def test_an_error_within_the_block_restores_them() -> None:
    with pytest.raises(KeyError), sz.printoptions(precision=1):
        raise KeyError
    assert sz.get_printoptions() == DEFAULTS


@pytest.mark.parametrize(
    ("values", "options", "expected"),
    [
        ([2 / 3, 0.5, 100], {"precision": 3}, "[0.667,   0.5,   100]"),
        ([2 / 3, 0.05], {"precision": 0}, "[1, 0]"),
        ([0.1], {"precision": 17}, "[0.1]"),
        ([2 / 3 * 1e-9, 0.125], {"precision": 1}, "[6.7e-10, 1.2e-01]"),
        ([9.96e-9], {"precision": 1}, "[1e-08]"),
        ([1e-9, 0.5], {"suppress": True}, "[  0, 0.5]"),
        ([1 / 3 * 1e-3], {"suppress": True}, "[0.00033333]"),
        ([1e-9, 0.5], {"suppress": True, "precision": 10}, "[0.000000001,         0.5]"),
        ([1e20, 0.5], {"suppress": True}, "[100000002004087734272,                   0.5]"),
        ([math.inf, -1e-9, math.nan], {"suppress": True}, "[inf,  -0, nan]"),
        (1 / 3, {"precision": 2}, "0.33"),
        ([1 / 3 + 2j / 3], {"precision": 2}, "[0.33+0.67j]"),
        ([1, 2], {"precision": 0}, "[1, 2]"),
        (range(9), {"threshold": 8}, "[0, 1, 2, ..., 6, 7, 8]"),
        (range(9), {"threshold": 9}, "[0, 1, 2, 3, 4, 5, 6, 7, 8]"),
        (range(9), {"threshold": 0, "edgeitems": 1}, "[0, ..., 8]"),
        (range(9), {"threshold": 0, "edgeitems": 5}, "[0, 1, 2, 3, 4, 5, 6, 7, 8]"),
        (range(9), {"linewidth": 1}, "[0,\n        1,\n        2,\n        3,\n        4,\n"
         "        5,\n        6,\n        7,\n        8],\n       dtype=int64)"),
        (range(9), {"linewidth": 20}, "[0, 1, 2, 3,\n        4, 5, 6, 7,\n        8],\n"
         "       dtype=int64)"),
    ],
)  # fmt: skip
def test_what_they_do(values: Any, options: dict[str, Any], expected: str) -> None:
    data = list(values) if isinstance(values, range) else values
    assert printed(sz.tensor(data), **options) == expected


def test_precision_rounds_the_exact_value() -> None:
    """Not the shortest digits: 0.15 in float32 lies above 0.15, in float64 below."""
    assert printed(sz.tensor([0.15]), precision=1) == "[0.2]"
    assert printed(sz.tensor([0.15], sz.float64), precision=1) == "[0.1]"


def test_everything_is_printed_where_it_is_wanted() -> None:
    with sz.printoptions(threshold=sys.maxsize):
        assert "..." not in repr(sz.tensor(np.arange(5000)))


def test_they_hold_for_scales_and_sparse_tensors() -> None:
    sparse = sz.to_sparse(sz.tensor([1 / 3] * 9))
    with sz.printoptions(precision=2, edgeitems=1):
        assert "0: 0.33, ..., 8: 0.33" in repr(sparse)
        q = sz.create_quant_tensor((3,), [1 / 3] * 3, sz.QT_CH_SYM_INT8, values=[1, 1, 1])
        assert "0.33, 0.33, 0.33" in repr(q)
        assert "scale=[0.33333334, ..., 0.33333334]" in repr(q)  # a fact, not an element


def test_each_thread_has_its_own() -> None:
    seen: dict[str, Any] = {}

    def look(name: str) -> None:
        seen[name] = sz.get_printoptions()["precision"]
        sz.set_printoptions(precision=9)

    with sz.printoptions(precision=2):
        other = threading.Thread(target=look, args=("new",))
        other.start()
        other.join()
        context = contextvars.copy_context()
        copy = threading.Thread(target=context.run, args=(look, "copy"))
        copy.start()
        copy.join()
        assert seen == {"new": None, "copy": 2}
        assert sz.get_printoptions()["precision"] == 2


def test_each_task_has_its_own() -> None:
    async def show(precision: int) -> str:
        with sz.printoptions(precision=precision):
            await asyncio.sleep(0)
            return repr(sz.tensor(1 / 3))

    async def both() -> list[str]:
        return list(await asyncio.gather(show(1), show(3)))

    assert asyncio.run(both()) == ["Tensor(0.3, dtype=float32)", "Tensor(0.333, dtype=float32)"]


@pytest.mark.parametrize("change", [sz.set_printoptions, sz.printoptions])
@pytest.mark.parametrize("name", ["precision", "threshold", "edgeitems", "linewidth"])
@pytest.mark.parametrize("value", [-1, True, 2.5, "3", math.nan, math.inf, [], ...], ids=repr)
def test_what_is_no_count(change: Any, name: str, value: Any) -> None:
    said = rf"printoptions: {name} is .* must be an integer"
    with pytest.raises(sz.InvalidArgument, match=said), change(**{name: value}):
        pass  # pragma: no cover
    assert sz.get_printoptions() == DEFAULTS


@pytest.mark.parametrize(
    ("name", "value"),
    [("edgeitems", 0), ("linewidth", 0), ("threshold", None), ("suppress", 1), ("suppress", None)],
)
def test_other_wrong_values(name: str, value: Any) -> None:
    with pytest.raises(sz.InvalidArgument, match=f"printoptions: {name} is {value}"):
        sz.set_printoptions(**{name: value})
    assert sz.get_printoptions() == DEFAULTS


def test_wrong_options_change_nothing() -> None:
    with pytest.raises(sz.InvalidArgument):
        sz.set_printoptions(precision=3, threshold=-1)
    with pytest.raises(TypeError):
        sz.set_printoptions(precison=3)  # type: ignore[call-arg]
    assert sz.get_printoptions() == DEFAULTS


def test_a_huge_precision_is_as_good_as_none() -> None:
    x = sz.tensor([1 / 3, 1e-40])
    assert printed(x, precision=10**30) == printed(x)
