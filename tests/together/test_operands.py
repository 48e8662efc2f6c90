"""What every operator does with its operands: dtypes it does not take, memory, arrays of NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.every_operator import REGISTRY, function
from helpers.functions import same_bits
from helpers.moves import nothing_made, raw
from helpers.valid_calls import kinds, valid
from suanzi import _core
from suanzi.base.dtypes import DTYPES
from suanzi.standard import interface

TAKING = [n for n in REGISTRY if {"tensor", "tensors"} & {*kinds(n).values()} and n != "destroy"]
SHARING = {"contiguous", "conj", "imag", "real", "meshgrid"}
"""Operators besides those of views whose results may be the memory of an operand."""
RANDOM = {"rand_bernoulli", "multinomial"}


def operands(given: dict[str, Any]) -> Iterator[sz.Tensor]:
    for value in given.values():
        yield from (x for x in (value if isinstance(value, list | tuple) else [value])
                    if isinstance(x, sz.Tensor))  # fmt: skip


def results(found: Any) -> list[sz.Tensor]:
    several = found if isinstance(found, list | tuple) else [found]
    return [x for x in several if isinstance(x, sz.Tensor)]


def of_dtype(x: sz.Tensor, dtype: sz.DType) -> sz.Tensor:
    if dtype is sz.char:
        return sz.zeros(x.shape, dtype)
    made: sz.Tensor = _core.cast(sz.zeros(x.shape, sz.int8), dtype, False)
    return made


def refused_dtype(name: str, given: dict[str, Any], dtype: sz.DType) -> None:
    """A call is refused for a dtype, with the status of the clause or promotion's, by name."""
    listed = interface(name).statuses
    has_own = sz.Status.TYPE_MISMATCH in listed or sz.Status.INVALID_ARGUMENT not in listed
    kind, text = None, "it was not refused"
    with nothing_made():
        try:
            function(name)(**given)
        except sz.StatusError as error:
            kind, text = error.status, str(error)
    promoting = "common dtype" in text or "is refused under" in text
    expected = sz.Status.TYPE_MISMATCH if has_own else sz.Status.INVALID_ARGUMENT
    assert kind is expected or (promoting and kind is sz.Status.TYPE_MISMATCH), text
    assert text.startswith(f"{REGISTRY[name].title}: "), text
    assert str(dtype) in text, text
    assert text.endswith("."), text


@pytest.mark.parametrize("name", TAKING)
def test_dtypes_that_are_not_taken(name: str) -> None:
    """Under `strict`, which promotes nothing; under `cann`, integers may become floats."""
    op = REGISTRY[name]
    others = [d for d in DTYPES if d not in op.dtypes and d.kind != "quantized"]
    if name in ("where", "gather", "scatter", "masked_select", "argsort_bwd"):
        others = [d for d in others if d is sz.char]  # their masks and indices have other dtypes
    for dtype in others:
        given = valid(name)
        for key, kind in kinds(name).items():
            if kind == "tensor" and key in given and key != "condition":
                given[key] = of_dtype(given[key], dtype)
            elif kind == "tensors":
                given[key] = [of_dtype(x, dtype) for x in given[key]]
        if name not in ("true_divide", "reciprocal") or dtype is sz.char:  # which take integers
            with sz.promotion("strict"):
                refused_dtype(name, given, dtype)
        if dtype.kind not in ("bool", "int", "uint"):
            refused_dtype(name, given, dtype)


CREATING = [n for n in REGISTRY if "dtype" in kinds(n) and interface(n).form == "creation"]


@pytest.mark.parametrize("name", CREATING)
def test_dtypes_that_are_not_made(name: str) -> None:
    for dtype in DTYPES:
        if dtype not in REGISTRY[name].dtypes:
            refused_dtype(name, valid(name) | {"dtype": dtype}, dtype)


@pytest.mark.parametrize("name", TAKING)
def test_operands_stay_and_results_have_memory_of_their_own_or_share_it(name: str) -> None:
    given = valid(name)
    mine = list(operands(given))
    before = [(x.storage, np.array(raw(x))) for x in mine]
    found = results(function(name)(**given))
    for x, (storage, bits) in zip(mine, before, strict=True):
        assert x.storage == storage
        assert np.array_equal(raw(x), bits)
    shared = [any(y.storage == x.storage for x in mine) for y in found]
    if interface(name).form == "view":
        assert found
        assert all(shared)
    elif name not in SHARING:
        assert not any(shared)
        assert not any(y.storage.read_only for y in found)
    if interface(name).form == "copy" and name not in SHARING | {"duplicate"}:
        assert all(y.layout.min2maj == tuple(range(y.ndim))[::-1] for y in found)


@pytest.mark.parametrize("name", sorted({*TAKING} - RANDOM - {"is_contiguous"}))
def test_arrays_of_numpy_are_tensors(name: str) -> None:
    given = valid(name)
    arrays = {k: v.numpy() if isinstance(v, sz.Tensor) else v for k, v in given.items()}
    one, other = (results(function(name)(**each)) for each in (given, arrays))
    for x, y in zip(one, other, strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        assert same_bits(np.array(x.numpy()), np.array(y.numpy()))
