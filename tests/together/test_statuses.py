"""Every status the exact operators can return, and what its message says."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import suanzi as sz
from helpers.standard_operators import REGISTRY
from suanzi.standard import interface

CATEGORIES = ("7.2.4.", "7.2.5.", "7.2.6.", "7.2.7.", "7.2.9.")
MINE = ("sign", "where", "clip", "clip_backward")
EXACT = sorted(n for n, op in REGISTRY.items() if op.clause.startswith(CATEGORIES) or n in MINE)


def _arguments(name: str) -> dict[str, Any]:
    """A call that succeeds."""
    x = sz.tensor([[1, 2], [3, 4]])
    made: dict[str, Any] = {}
    for parameter in inspect.signature(REGISTRY[name].function).parameters.values():
        if parameter.default is not inspect.Parameter.empty:
            continue
        made[parameter.name] = x
    special = {
        "trace_backward": {"grad_y": sz.tensor(1.0), "input_shape": (2, 2)},
        "clip_backward": {"low": 0, "high": 2},
        "rint": {"mode": "UPWARD"},
        "where": {"condition": sz.tensor([True, False])},
    }
    return made | special.get(name, {})


def _call(name: str, arguments: dict[str, Any]) -> Any:
    return getattr(sz, name)(*arguments.values())


def _tensors(name: str) -> list[str]:
    return [k for k, v in _arguments(name).items() if isinstance(v, sz.Tensor)]


BROADCASTING = [n for n in EXACT if len(_tensors(n)) > 1 and n != "clip_backward"]


def _raised(name: str, arguments: dict[str, Any]) -> sz.StatusError:
    with pytest.raises(sz.StatusError) as e:
        _call(name, arguments)
    return e.value


def _check_message(error: sz.StatusError, name: str, *parts: str) -> None:
    text = str(error)
    assert text.startswith(f"{name} ({interface(name).clause}): "), text
    for part in parts:
        assert part in text, text
    assert text.endswith("."), text


@pytest.mark.parametrize("name", BROADCASTING)
def test_shapes_that_do_not_go_together(name: str) -> None:
    """INVALID_ARGUMENT where the clause lists it, else the code made for it."""
    arguments = _arguments(name)
    first = next(iter(arguments))
    bad = sz.tensor([True] * 3) if first == "condition" else sz.tensor([1, 2, 3])
    error = _raised(name, arguments | {first: bad})
    listed = interface(name).statuses
    wanted = "INVALID_ARGUMENT" if sz.Status.INVALID_ARGUMENT in listed else "DIMENSIONS_MISMATCH"
    assert error.status.name == wanted
    _check_message(error, name, f"{first} has shape (3,)", "(2, 2)", "Reshape")


@pytest.mark.parametrize("name", sorted(set(BROADCASTING) - {"where"}))
def test_dtypes_the_rule_set_refuses(name: str) -> None:
    arguments = _arguments(name)
    last = list(arguments)[-1]
    refused = arguments | {last: sz.tensor([1, 2], sz.uint64)}
    error = _raised(name, refused)  # cann has no dtype for int64 and uint64
    assert error.status is sz.Status.TYPE_MISMATCH
    _check_message(error, name, "int64", "uint64", "under cann", "Cast")
    if name == "true_divide":  # takes any two dtypes there
        return
    with sz.promotion("strict"):
        error = _raised(name, arguments | {last: sz.tensor([1, 2], sz.int32)})
        assert error.status is sz.Status.TYPE_MISMATCH
        _check_message(error, name, "int64", "int32", "strict")


@pytest.mark.parametrize("name", EXACT)
def test_dtypes_an_operator_does_not_take(name: str) -> None:
    op = REGISTRY[name]
    wrong = next((d for d in (sz.bool, sz.complex64, sz.int4) if d not in op.dtypes), None)
    if wrong is None or (wrong is sz.bool and name in ("true_divide", "floor", "ceil")):
        wrong = sz.char
    if wrong is sz.bool and name in ("trunc", "round", "rint"):
        wrong = sz.complex64
    text = sz.tensor("ab")
    arguments = _arguments(name)
    for argument in _tensors(name):
        if argument in ("condition",) or (name == "clip_backward" and argument == "input"):
            continue
        arguments[argument] = text if wrong is sz.char else sz.tensor([[1, 0], [0, 1]], wrong)
    if name == "trace_backward":
        arguments["grad_y"] = sz.tensor(True)
    error = _raised(name, arguments)
    listed = interface(name).statuses
    assert error.status in (sz.Status.TYPE_MISMATCH, sz.Status.INVALID_ARGUMENT)
    if sz.Status.TYPE_MISMATCH in listed:
        assert error.status is sz.Status.TYPE_MISMATCH
    # clip_backward keeps its good input.
    argument = _tensors(name)[0 if name == "clip_backward" else -1]
    _check_message(error, name, str(arguments[argument].dtype))
