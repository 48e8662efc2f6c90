"""7.2.3.2 to .6, .9 to .15, .19 to .21: every status; the fast path and Python say the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.moves import nothing_made, raw, refused
from helpers.standard_operators import REGISTRY
from suanzi.standard import interface

X = sz.tensor([[1, 2, 3], [4, 5, 6]])

# A call that succeeds: the tensor, and arguments by name. Lists of integers are "several".
GOOD: dict[str, dict[str, Any]] = {
    "reshape": {"dims": (3, 2)},
    "expand_dims": {"axis": 1},
    "squeeze": {"axis": (0, 1)},
    "transpose": {"perm": (1, 0)},
    "split": {"split_sizes": (1, 2), "nsplit": 2, "axis": 1},
    "unstack": {"axis": 1, "num": 3},
    "slice": {"begin": (0, 1), "size": (1, 2), "step": (1, 2)},
    "tile": {"repeats": (2, 1)},
    "pad": {"pad_width": (0, 1, 2, 0), "pad_value": 7, "pad_mode": 0},
    "reverse": {"axis": (0, 1)},
    "roll": {"shifts": (1, 2), "axis": (0, 1)},
    "crop": {"shape": (1, 2), "offsets": (1, 1)},
    "expand": {"shape": (4, 2, 3)},
    "flatten": {"start_axis": 0, "stop_axis": 1},
    "flip": {"axis": (0, 1)},
}
AXIS_ERROR = {
    "expand_dims": sz.OutOfRange,
    "squeeze": sz.OutOfRange,
    "split": sz.OutOfRange,
    "unstack": sz.OutOfRange,
    "reverse": sz.OutOfRange,
    "roll": sz.InvalidArgument,
    "flatten": sz.AxisArgument,
    "flip": sz.AxisArgument,
}


def outcome(call: Callable[[], Any]) -> Any:
    """Return what a call gives, or the error it raises and what that says."""
    try:
        made = call()
    except sz.StatusError as error:
        return type(error), str(error)
    parts = made if isinstance(made, list) else [made]
    return [(p.shape, p.strides, p.offset, np.array(raw(p)).tolist()) for p in parts]


def forms(value: Any) -> list[Any]:
    """Return a value in all the ways integers are given."""
    if isinstance(value, tuple):
        made = [value, list(value), np.array(value, int), sz.tensor(np.array(value, int))]
        made += [[np.int32(n) for n in value], tuple(sz.tensor(n) for n in value)]
        return [*made, np.array(value, np.int8)]
    return [value, np.int64(value), np.int8(value), sz.tensor(value), np.array(value)]


def test_every_one_is_tried() -> None:
    mine = {"concat", "stack", "gather", "scatter", "masked_select", "meshgrid", "slice_backward"}
    mine |= {"cast", "clip", "clip_backward", "sign", "where"}
    ours = {n for n, op in REGISTRY.items() if op.clause.startswith("7.2.3.")}
    assert set(GOOD) | mine == ours


@pytest.mark.parametrize("name", GOOD)
def test_short_cut_and_python_agree(name: str) -> None:
    function, more = getattr(sz, name), GOOD[name]
    expected = outcome(lambda: function(X, *more.values()))
    assert isinstance(expected, list)
    assert outcome(lambda: function(X, **more)) == expected
    assert outcome(lambda: function(input=X, **more)) == expected
    for parameter, value in more.items():
        for form in forms(value) if not parameter.startswith("pad_") else [value]:
            given = more | {parameter: form}
            assert outcome(lambda given=given: function(X, *given.values())) == expected, form
            assert outcome(lambda given=given: function(X, **given)) == expected, form


IA, DM, OR, AX = sz.InvalidArgument, sz.DimensionsMismatch, sz.OutOfRange, sz.AxisArgument
BIG, BIGGER = 2**63 - 1, 2**70
# By operator, the parameters that change and the error: their values.
WRONG: dict[tuple[str, str, type[sz.StatusError]], list[Any]] = {
    ("reshape", "dims", DM): [(5,), (), (0, 3), (2**32, 2**32), (2**62, 2**62, 6)],
    ("reshape", "dims", IA): [(-1, 2), (-2, -3), (2**63, 0), (6, *(1,) * 64)],
    ("squeeze", "axis", IA): [(0, 0), (0, -2)],
    ("transpose", "perm", IA): [
        *((0, 0), (0,), (0, 2), (1, -1), (0, 1, 2), (-3, 0), (BIGGER, 0)),
    ],
    ("split", "split_sizes", IA): [(1, 1), (0, 3), (-1, 4), (BIGGER, 3 - BIGGER)],
    ("split", "nsplit", IA): [3],
    ("split", "split_sizes nsplit", IA): [((), n) for n in (2, 0, -3, None, BIGGER)],
    ("unstack", "num", IA): [2, -1],
    ("slice", "begin", IA): [(0,)],
    ("slice", "size", IA): [(1, 1, 1)],
    ("slice", "step", IA): [(), (0, 1), (1, -1)],
    ("slice", "begin", OR): [(-1, 0), (3, 0), (BIG, 0)],
    ("slice", "size", OR): [(-1, 1), (1, 3), (BIG, 1)],
    ("slice", "step", OR): [(3, 1), (BIGGER, 1)],
    ("tile", "repeats", IA): [(1,), (1, -1), (1, 2**63)],
    ("pad", "pad_width", IA): [
        *((1, 1), ((1, 1),), (1, 1, 1, -1), ((1, 1), (1, 1, 1)), ((1, 1), 1)),
    ],
    ("reverse", "axis", IA): [(0, 0), (1, -1)],
    ("flip", "axis", IA): [(1, 1)],
    ("roll", "shifts", IA): [(1, 2, 3), ()],
    ("roll", "axis", IA): [(0,), ()],
    ("crop", "shape", IA): [(1,), (-1, 1), (BIG, 1)],
    ("crop", "offsets", IA): [(0, 0, 0), (-1, 0), (2, 0), 2],
    ("expand", "shape", IA): [(3,), (2, 4), (2, 1), (0, 3), (-1, 2, 3), ()],
    ("flatten", "start_axis stop_axis", AX): [(1, 0), (-1, -2)],
}


@pytest.mark.parametrize(("name", "parameters", "error"), WRONG)
def test_wrong_arguments(name: str, parameters: str, error: type[sz.StatusError]) -> None:
    keys = parameters.split()
    for value in WRONG[name, parameters, error]:
        more = GOOD[name] | dict(zip(keys, value if len(keys) > 1 else [value], strict=True))
        refused(error, name, X, *more.values())
        refused(error, name, X, **more)
        lists = {k: list(v) if isinstance(v, tuple) else v for k, v in more.items()}
        refused(error, name, X, *lists.values())


def test_the_statuses_are_those_of_the_clause() -> None:
    """What a clause does not list comes only from the general rule."""
    always = {sz.Status.UNINITIALIZED_OBJECT, sz.Status.ALLOC_FAILED, sz.Status.TYPE_MISMATCH}
    found = [(name, error) for name, _, error in WRONG] + list(AXIS_ERROR.items())
    for name, error in found:
        listed = set(interface(name).statuses)
        assert error.status in listed | always, name


def test_tensors_without_axes() -> None:
    x = sz.tensor(5)
    for name, error in AXIS_ERROR.items():
        if name not in ("expand_dims", "flatten", "split", "roll"):
            refused(error, name, x, 0)
    refused(sz.AxisArgument, "flatten", x, 0, 0)
    refused(sz.OutOfRange, "split", x, (1,))
    refused(sz.InvalidArgument, "roll", x, 1, 0)
    with nothing_made():
        for y in (sz.reshape(x, ()), sz.squeeze(x), sz.transpose(x), sz.flip(x, ()), x[...], x[()]):
            assert y.shape == ()
            assert y.storage == x.storage
        assert sz.slice(x, (), (), ()).shape == sz.crop(x, ()).shape == ()
        assert sz.expand(x, ()).item() == sz.tile(x, ()).item() == sz.pad(x, ()).item() == 5
    assert sz.roll(x, 3).item() == 5


def test_pad_of_an_empty_axis() -> None:
    empty = sz.reshape(sz.tensor([]), (0, 2))
    assert sz.pad(empty, (1, 1, 0, 0), 4).tolist() == [[4, 4], [4, 4]]
    for mode in ("PAD_PERIOD", "PAD_MIRROR"):
        refused(sz.InvalidArgument, "pad", empty, (1, 0, 0, 0), 0, mode, match="empty")
        assert sz.pad(empty, (0, 0, 3, 3), 0, mode).shape == (0, 8)


def test_parts_of_nothing() -> None:
    empty = sz.tensor([])
    assert [part.shape for part in sz.split(empty, [], 3)] == [(0,)] * 3
    for count in (0, -1, 2**31, 2**63, 10**400):
        refused(sz.InvalidArgument, "split", empty, [], count, match="nsplit")
    many = sz.expand(sz.tensor([1]), (2**40,))
    for call in (lambda: sz.split(many, [], 2**31), lambda: sz.split(empty, [], 2**30)):
        with pytest.raises(sz.AllocFailed, match=r"^split \(7\.2\.3\.6\)"):
            call()
    with pytest.raises(sz.AllocFailed, match=r"^unstack \(7\.2\.3\.9\)"):
        sz.unstack(many)


def test_bounds_that_do_not_go_with_the_input() -> None:
    x, bound = sz.tensor([1.0, 2.0]), sz.tensor([0.0, 1.0, 2.0])
    refused(sz.InvalidArgument, "clip_backward", x, bound, 1, x, match="bounds")
    refused(sz.InvalidArgument, "clip_backward", x, 0, bound, x, match="bounds")
    refused(sz.InvalidArgument, "clip_backward", x, sz.tensor([[0.0], [1.0]]), 1, x, match="bounds")
    refused(sz.InvalidArgument, "clip_backward", x[:1], 0, 1, x, match="grad_out")
