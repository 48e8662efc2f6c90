"""NumPy's functions on tensors: those listed give tensors, all others NumPy's arrays."""

from __future__ import annotations

import numpy as np
import pytest

import suanzi as sz
from suanzi.faces.array_api.numpy_functions import FUNCTIONS, SYMBOLS, UFUNCS

VALUES = [[0.5, 2.0, 1.0], [3.0, 0.25, 1.5]]


@pytest.mark.parametrize("name", sorted({*SYMBOLS, *UFUNCS}))
def test_a_ufunc(name: str) -> None:
    ufunc = getattr(np, name)
    whole = name in (
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "left_shift",
        "right_shift",
        "invert",
    )
    if name == "matmul":
        values = np.asarray([[1.0, 2], [3, 4]])
    elif whole:
        values = np.asarray([1, 2, 3])
    else:
        values = np.asarray(VALUES, np.float32)
    if name in ("arcsin", "arccos", "arctanh"):
        values = values / np.float32(4)
    if name == "arccosh":
        values = values + np.float32(1)
    x = sz.tensor(values)
    found, wanted = ufunc(*[x] * ufunc.nin), ufunc(*[values] * ufunc.nin)
    assert isinstance(found, sz.Tensor)
    assert np.allclose(found.numpy(), wanted, rtol=1e-6)
    if ufunc.nin == 2:  # with an array on either side
        assert np.allclose(ufunc(values, x).numpy(), wanted, rtol=1e-6)
        assert np.allclose(ufunc(x, values).numpy(), wanted, rtol=1e-6)


ARGUMENTS = {
    "full_like": (7,), "where": (1.0, 2.0), "clip": (0.5, 1.5), "reshape": ((3, 2),),
    "moveaxis": (0, 1), "expand_dims": (0,), "roll": (1,), "tile": (2,), "repeat": (2,),
    "broadcast_to": ((4, 2, 3),),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function(name: str) -> None:
    function = getattr(np, name)
    values = np.asarray(VALUES)
    x = sz.tensor(VALUES, sz.float64)
    if name in ("concatenate", "stack"):
        found, wanted = function([x, values]), function([values, values])
    elif name == "tensordot":
        found, wanted = function(x, x.mT, 1), function(values, values.T, 1)
    elif name == "where":
        found, wanted = function(x > 1, x, 0), function(values > 1, values, 0)
    else:
        more = ARGUMENTS.get(name, ())
        found, wanted = function(x, *more), function(values, *more)
    for one, other in zip(
        found if isinstance(found, tuple) else (found,),
        wanted if isinstance(found, tuple) else (wanted,),
        strict=True,
    ):
        assert isinstance(one, sz.Tensor)
        assert one.shape == np.shape(other)
        if name != "empty_like":
            assert np.allclose(one.numpy(), other)


def test_bfloat16_stays() -> None:
    x = sz.tensor(VALUES, sz.bfloat16)
    assert np.exp(x).dtype is sz.bfloat16
    assert np.sum(x, axis=0, keepdims=True).dtype is sz.bfloat16
    assert np.concatenate([x, x]).dtype is sz.bfloat16
    assert np.max(x).item() == 3


def test_other_functions_and_arguments_are_numpys() -> None:
    x = sz.tensor(VALUES)
    assert isinstance(np.median(x), np.floating)
    assert isinstance(np.histogram(x)[0], np.ndarray)
    out = np.empty((2, 3), np.float32)
    assert np.exp(x, out=out) is out
    assert isinstance(np.sum(x, where=x.numpy() > 1), np.floating)
    assert isinstance(np.add.reduce(x), np.ndarray)
    assert np.allclose(x, np.asarray(VALUES))
    assert np.shape(x) == (2, 3)
    assert np.ndim(x) == 2
    with pytest.raises(sz.TypeMismatch, match=r"np\.exp: out is a Tensor"):
        np.exp(x, out=x)


def test_symbols_between_arrays_and_tensors_follow_the_rules_in_force() -> None:
    array, x = np.ones(2, np.int32), sz.tensor([1, 2], sz.float16)
    assert (array + x).dtype is (x + sz.tensor(array)).dtype
    with sz.promotion("numpy"):
        assert (array + x).dtype is sz.float64
    assert (np.float32(2) * x).tolist() == [2, 4]
    floats = np.ones(2, np.float32)
    floats += x
    assert floats.tolist() == [2, 3]
