"""Operands of every kind for every model operator: an answer or a status, and never a crash."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.conformance.cases.catalogues import valid
from suanzi.conformance.model.members import members
from suanzi.conformance.subjects.suanzi_adapter import create, function_of
from suanzi.conformance.subjects.wire import Data
from suanzi.promote.registry import REGISTRY
from suanzi.standard import record
from suanzi.standard.catalogues import catalogue

catalogue("nn").load()
OPS = list(members("nn"))
RANDOM = {"nn:dropout", "nn:gumbel_softmax"}
BY_LAYOUT = {"nn:softmax", "nn:log_softmax"}
"""Which add up rows that lie side by side in another order, as their page says."""


def arguments(op: str) -> dict[str, Any]:
    return {n: create(x) if isinstance(x, Data) else x for n, x in valid(op).items()}


def floats(op: str) -> list[str]:
    return [n for n, x in valid(op).items() if isinstance(x, Data) and x.dtype == "float32"]


def values(found: Any) -> list[np.ndarray[Any, Any]]:
    some = found if isinstance(found, list | tuple) else [found]
    some = [x.to_dense() if isinstance(x, sz.SparseTensor) else x for x in some]
    return [np.asarray(x, np.float64) for x in some if isinstance(x, sz.Tensor)]


@pytest.mark.parametrize("op", OPS)
def test_sparse_operands_are_computed_or_refused(op: str) -> None:
    given = arguments(op)
    want = values(function_of(op)(**given)[1:])
    for name in floats(op):
        if not given[name].ndim:
            continue
        status, *found = function_of(op)(**{**given, name: sz.to_sparse(given[name])})
        if status is sz.Status.SUCCESS:
            if op not in RANDOM:
                for a, b in zip(values(found), want, strict=True):
                    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-30)
        else:
            assert status is sz.Status.TYPE_MISMATCH, name
            assert "to_dense()" in str(sz.interface.last_error())


@pytest.mark.parametrize("op", OPS)
def test_operands_that_are_destroyed_or_missing(op: str) -> None:
    optional = {p.name for p in members("nn")[op].parameters if not p.required}
    for name, x in valid(op).items():
        if not isinstance(x, Data):
            continue
        gone = create(x)
        sz.destroy(gone)
        for wrong in (gone, None):
            if wrong is None and name in optional:
                continue
            status, *found = function_of(op)(**{**arguments(op), name: wrong})
            assert status is sz.Status.UNINITIALIZED_OBJECT, (name, wrong)
            assert all(one is None for one in found)
            assert name in str(sz.interface.last_error())


@pytest.mark.parametrize("op", OPS)
def test_quantised_operands_count_as_their_numbers(op: str) -> None:
    """A quantised operand is what it stands for, or it is refused."""
    given = arguments(op)
    for name in floats(op):
        quantised = sz.quantize(given[name], sz.QT_SYM_INT16)
        meant = sz.dequantize(quantised) if hasattr(sz, "dequantize") else None
        status, *found = function_of(op)(**{**given, name: quantised})
        if status is not sz.Status.SUCCESS:
            assert status in (sz.Status.TYPE_MISMATCH, sz.Status.INVALID_ARGUMENT), name
        elif meant is not None and op not in RANDOM:
            want = values(function_of(op)(**{**given, name: meant})[1:])
            for a, b in zip(values(found), want, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("op", OPS)
def test_complex_numbers_and_words_are_refused(op: str) -> None:
    for name in floats(op):
        given = arguments(op)
        spectrum = sz.cast(given[name], sz.complex64)
        assert function_of(op)(**{**given, name: spectrum})[0] is sz.Status.TYPE_MISMATCH
        assert function_of(op)(**{**given, name: "words"})[0] is not sz.Status.SUCCESS
        with pytest.raises((sz.StatusError, TypeError)):
            REGISTRY[op].function(**{**given, name: object()})


def drawn(op: str, seed: int, sizes: dict[int, int]) -> dict[str, Any]:
    """Return a valid call with random floats, in which axes of some sizes have others."""
    rng, given = np.random.default_rng(seed), {}
    for name, x in valid(op).items():
        if isinstance(x, Data) and x.dtype == "float32":
            shape = tuple(sizes.get(n, n) for n in x.shape)
            x = replace(x, shape=shape, raw=rng.random(shape, np.float32).tobytes())
        given[name] = x
    return given


def sums_by_layout(op: str) -> bool:
    """Whether the order of its sums follows the layout, as its page says."""
    facts = record(op)
    is_product = facts is None or facts.form == "matrix"
    return op in BY_LAYOUT or (is_product and not op.startswith("nn:conv"))


@pytest.mark.parametrize("op", [op for op in OPS if op not in RANDOM and not sums_by_layout(op)])
def test_bits_do_not_depend_on_the_layout(op: str) -> None:
    """Columns, reversed, with gaps: of one operand at a time, and of all."""
    compared = 0
    for seed in range(8):
        sizes = {n: n + seed % 4 * 3 for n in (2, 3)}  # of an axis or of all of its size
        for given in (drawn(op, seed, {}), drawn(op, seed, sizes)):
            status, *want = function_of(op)(**{n: created(x) for n, x in given.items()})
            if status is not sz.Status.SUCCESS:
                continue
            tensors = [n for n, x in given.items() if isinstance(x, Data)]
            for layout in ("columns", "reversed", "gaps"):
                for moved in (*([n] for n in tensors), tensors):
                    args = {n: created(x, layout if n in moved else "") for n, x in given.items()}
                    status, *found = function_of(op)(**args)
                    assert status is sz.Status.SUCCESS, (layout, moved)
                    for a, b in zip(values(want), values(found), strict=True):
                        assert a.tobytes() == b.tobytes(), (seed, layout, moved)
                        compared += 1
    assert compared


def created(x: Any, layout: str = "") -> Any:
    if not isinstance(x, Data):
        return x
    return create(replace(x, layout=layout) if layout and x.layout == "dense" else x)
