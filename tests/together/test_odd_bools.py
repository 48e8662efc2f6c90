"""Bools of foreign memory that are neither 0 nor 1: whatever is not 0 is true, to every operator.

Operators that compute read them so; those that only move elements keep the bytes as they are.
"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz
from helpers.every_operator import REGISTRY, function
from suanzi import _core
from suanzi.base.dtypes import DTYPES

BYTES = [0, 1, 2, 128, 255]
MODES = [mode.name for mode in sz.ReduceMode]
RULES = ["cann", "numpy", "lossless"]
RANDOM = {"rand_uniform", "rand_normal", "empty", "randperm"}


def odd(values: np.ndarray[Any, Any]) -> sz.Tensor:
    """Return a tensor of bools on bytes as they are."""
    memory = bytearray(values.astype(np.uint8).tobytes())
    return sz.wrap_tensor(values.shape, sz.bool, values=memory)


def plain(values: np.ndarray[Any, Any]) -> sz.Tensor:
    return sz.tensor(values != 0)


def seen(x: sz.Tensor, kind: str) -> sz.Tensor:
    """Return a view of one of several layouts."""
    if x.ndim == 0 or kind == "dense":
        return x
    if kind == "transposed":
        return sz.transpose(x, tuple(reversed(range(x.ndim))))
    steps = {"gaps": slice(None, None, 2), "reversed": slice(None, None, -1)}
    return x[..., steps[kind]]


LAYOUTS = ["dense", "transposed", "gaps", "reversed"]


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return shown(call())
    except sz.InternalError:
        raise
    except (sz.StatusError, TypeError) as error:
        return type(error), str(error)


def shown(found: Any) -> Any:
    """Return a result as something to compare, its bools by what they mean."""
    if isinstance(found, sz.SparseTensor):
        found = found.to_dense()
    if isinstance(found, list | tuple):
        return [shown(x) for x in found]
    if not isinstance(found, sz.Tensor):
        return found
    raw = bytes(_core.row_major_copy(found).storage)
    if found.dtype is sz.bool:
        raw = bytes(x != 0 for x in raw)
    return found.dtype, found.shape, raw


def same(call: Callable[..., Any], arrays: list[np.ndarray[Any, Any]], kind: str) -> None:
    a, b = ([seen(make(x), kind) for x in arrays] for make in (odd, plain))
    assert outcome(lambda: call(*a)) == outcome(lambda: call(*b))


def calls() -> dict[str, Callable[..., Any]]:
    """Return calls of operators with a tensor of bools."""
    x = sz.tensor([[1.5, -2, 0], [3, 4, 5]])
    found: dict[str, Callable[..., Any]] = {}
    for mode in MODES:
        found[f"reduce {mode}"] = lambda b, mode=mode: sz.reduce(b, mode)
        found[f"reduce {mode} rows"] = lambda b, mode=mode: sz.reduce(b, mode, axis=-1)
        found[f"reduce {mode} columns"] = lambda b, mode=mode: sz.reduce(b, mode, axis=0)
    for dt in DTYPES:
        found[f"cast to {dt}"] = lambda b, dt=dt: sz.cast(b, dt)
        found[f"saturating cast to {dt}"] = lambda b, dt=dt: sz.cast(b, dt, saturate=True)
        if dt.kind in ("bool", "int", "uint", "float", "complex"):
            found[f"with {dt}"] = lambda b, dt=dt: [with_others(b, dt, rules) for rules in RULES]
            found[f"copy to {dt}"] = lambda b, dt=dt: copied(b, dt)
    found |= {
        "where": lambda b: sz.where(b, 1, 2),
        "where of bools": lambda b: sz.where(b, b, sz.logical_not(b)),
        "masked_select": lambda b: sz.masked_select(b, b),
        "subscript": lambda b: sz.full("float32", "cpu", b.shape, 3)[b],
        "assignment": lambda b: assigned(b),
        "cumsum of a cast": lambda b: sz.cumsum(sz.cast(b, sz.int8), 0),
        "nonzero": lambda b: sz.nonzero(b),
        "nonzero as one": lambda b: sz.nonzero(b, False),
        "matmul as float": lambda b: sz.matmul(b, x, dtype=sz.float32),
        "dot as int32": lambda b: sz.dot(b[0], b[0], dtype=sz.int32),
        "tolist": lambda b: b.tolist(),
        "item": lambda b: [one.item() for one in b.reshape(-1)],
        "truth": lambda b: [bool(one) for one in b.reshape(-1)],
        "index": lambda b: [int(one) for one in b.reshape(-1)],
        "in": lambda b: [True in b.tolist(), sz.equal(b, True)],
        "repr": lambda b: [repr(b), str(b)],
        "html": lambda b: b._repr_html_(),
        "to_sparse": lambda b: sz.to_sparse(b),
        "pickle": lambda b: sz.reduce(pickle.loads(pickle.dumps(b))),
        "save": lambda b: sz.reduce(saved(b)),
        "numpy": lambda b: b.numpy().astype(np.int64).tolist(),
        "duplicate": lambda b: sz.duplicate(b),
        "sum of a copy": lambda b: sz.reduce(sz.contiguous(b)),
        "diag": lambda b: sz.diag(b),
        "pad": lambda b: sz.pad(b, (1, 1) * b.ndim),
        "concat": lambda b: sz.reduce(sz.concat([b, b], 0)),
        "stack": lambda b: sz.reduce(sz.stack([b, b], 0), axis=0),
        "gather": lambda b: sz.reduce(sz.gather(b, sz.tensor([0, 0]))),
        "scatter": lambda b: sz.reduce(sz.scatter(b, sz.tensor([0]), b[:1])),
        "roll": lambda b: sz.reduce(sz.roll(b, (1,), (0,))),
        "create_tensor": lambda b: sz.create_tensor(b.shape, values=b, dtype=sz.bool),
        "tensor": lambda b: sz.tensor(b.numpy()),
        "from_dlpack": lambda b: sz.reduce(sz.from_dlpack(b)),
        "reduce sparse": lambda b: sz.reduce(sz.to_sparse(b)),
        "sparse and": lambda b: sz.logical_and(sz.to_sparse(b), sz.to_sparse(b)),
        "linspace": lambda b: sz.linspace(b.reshape(-1)[0], 3, 4),
    }
    for op in REGISTRY.values():
        if op.key in RANDOM | {"destroy"}:
            continue
        given = [
            p
            for p in inspect.signature(op.function).parameters.values()
            if p.kind != p.KEYWORD_ONLY
        ]
        needed = max(sum(p.default is p.empty for p in given), 1)
        found[op.key] = lambda b, key=op.key, n=needed: function(key)(*[b] * n)
    return found


def with_others(b: sz.Tensor, dt: sz.DType, rules: str) -> list[Any]:
    other = sz.full(dt, "cpu", b.shape, 1)
    with sz.promotion(rules):
        return [
            outcome(lambda name=name: getattr(sz, name)(other, b))
            for name in ("add", "equal", "less", "logical_xor", "bitwise_and", "max", "div", "pow")
        ]


def copied(b: sz.Tensor, dt: sz.DType) -> sz.Tensor:
    made = _core.empty(b.shape, dt)
    _core.copy_into(made, b)
    return made


def assigned(b: sz.Tensor) -> sz.Tensor:
    made = sz.full("float32", "cpu", b.shape, 3)
    made[b] = 1
    made[...] += b
    return made


def saved(b: sz.Tensor) -> sz.Tensor:
    file = BytesIO()
    sz.save(file, b)
    file.seek(0)
    found: sz.Tensor = sz.load(file)
    return found


CALLS = calls()
shapes = st.sampled_from([(1,), (5,), (2, 3), (3, 2), (3, 3), (2, 3, 4), (40,), (20, 17), (2, 300)])


@pytest.mark.parametrize("name", CALLS)
@settings(max_examples=8)
@given(shape=shapes, kind=st.sampled_from(LAYOUTS), seed=st.integers(0, 2**32 - 1))
def test_what_is_not_0_is_true(name: str, shape: tuple[int, ...], kind: str, seed: int) -> None:
    values = np.random.default_rng(seed).choice(np.array(BYTES, np.uint8), shape)
    same(CALLS[name], [values], kind)


@pytest.mark.parametrize("level", _core.levels())
@pytest.mark.parametrize("mode", MODES)
def test_reductions_of_many(mode: str, level: str) -> None:
    values = np.random.default_rng(1).choice(np.array(BYTES[1:], np.uint8), (300, 1111))
    values[7, 1000] = 0
    best = _core.level()
    try:
        _core.use_level(level)
        for axis in (None, 0, 1):
            for kind in LAYOUTS:
                same(lambda b, axis=axis: sz.reduce(b, mode, axis=axis), [values], kind)
    finally:
        _core.use_level(best)


def test_the_example_of_the_report() -> None:
    b = sz.wrap_tensor((2,), sz.bool, values=bytearray([1, 2]))
    assert sz.reduce(b, "SUM").item() == 2
    assert sz.reduce(b, "PROD").item() == 1
    assert sz.reduce(b, "BAND").item() is True
    assert sz.reduce(b, "LXOR").item() is False
    assert b.tolist() == [True, True]
