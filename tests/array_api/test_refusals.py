"""Arguments that no function takes: a status, and never an error of Python's or of a library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz

xp: Any = sz.array_api
x, z, matrices = xp.ones((2, 3)), xp.ones((2, 3), dtype=xp.complex64), xp.ones((2, 3, 3))
endless = sz.expand(sz.tensor([1.0]), (2**40,))
several = np.array([0, 1])
inf, nan = float("inf"), float("nan")

# Found by random calls: each gave a TypeError, a ValueError, an OverflowError or a MemoryError.
REFUSED: dict[str, tuple[type[Exception], Callable[[], Any]]] = {
    "a shape that is a size": (sz.TypeMismatch, lambda: xp.broadcast_shapes((2,), 3)),
    "a size that is a word": (sz.InvalidArgument, lambda: xp.broadcast_shapes(("a",))),
    "axes that are one": (sz.TypeMismatch, lambda: xp.fft.fftn(z, axes=1)),
    "sizes that are one": (sz.TypeMismatch, lambda: xp.fft.rfftn(x, s=3, axes=(1,))),
    "axes that never end": (sz.TypeMismatch, lambda: xp.fft.irfftn(z, axes=endless)),
    "an infinite end": (sz.InvalidArgument, lambda: xp.arange(inf)),
    "a step that is NaN": (sz.InvalidArgument, lambda: xp.arange(0, 1, nan)),
    "steps beyond counting": (sz.AllocFailed, lambda: xp.arange(-1e308, 1e308, 1e-300)),
    "repeats beyond counting": (sz.AllocFailed, lambda: xp.repeat(x, 2**62)),
    "repeats of nothing": (sz.AllocFailed, lambda: xp.repeat(xp.ones((2, 0)), 2**62, axis=0)),
    "repeats of long rows": (sz.AllocFailed, lambda: xp.repeat(xp.ones((2, 80)), 2**62, axis=0)),
    "no arrays to stack": (sz.InvalidArgument, lambda: xp.stack(None)),
    "no arrays to join": (sz.InvalidArgument, lambda: xp.concat(None, axis=None)),
    "an array as a word": (sz.InvalidArgument, lambda: xp.meshgrid(x[0], indexing=several)),
    "frequencies beyond counting": (sz.AllocFailed, lambda: xp.fft.fftfreq(10**400)),
    "a size in an array": (sz.DimensionsMismatch, lambda: xp.reshape(x, np.array(7))),
    "axes of a size beyond counting": (
        sz.InvalidArgument, lambda: xp.tile(sz.empty((0, 2**62)), (7,))),
    "an axis that is there twice": (
        sz.InvalidArgument, lambda: xp.expand_dims(x, axis={0: 1, -4: 1})),
    "a norm of matrices without end": (
        sz.AllocFailed,
        lambda: xp.linalg.matrix_norm(sz.expand(sz.tensor([1.0]), (2**31, 2**31)), ord=2)),
    "copies that are several": (
        sz.InvalidArgument, lambda: xp.from_dlpack(x, copy=several)),
    "a copy of a new shape": (sz.InvalidArgument, lambda: xp.reshape(x, (6,), copy=several)),
    "a copy of an array": (sz.InvalidArgument, lambda: xp.asarray(x, copy=several)),
    "a copy of another dtype": (
        sz.InvalidArgument, lambda: xp.astype(x, xp.float32, copy=several)),
    "an initial sum": (
        sz.TypeMismatch, lambda: xp.cumulative_sum(x[0], include_initial=several)),
    "repetitions beyond counting": (sz.AllocFailed, lambda: xp.tile(x, (2**63,))),
    "a bool as a tolerance": (
        sz.TypeMismatch, lambda: xp.linalg.matrix_rank(matrices, rtol=xp.asarray(True))),
    "tolerances of others": (
        sz.DimensionsMismatch, lambda: xp.linalg.pinv(matrices, rtol=xp.ones((3,)))),
}  # fmt: skip
FLAGS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda flag: xp.sum(x, keepdims=flag),
    "std": lambda flag: xp.std(x, keepdims=flag),
    "all": lambda flag: xp.all(x, keepdims=flag),
    "argmax": lambda flag: xp.argmax(x, keepdims=flag),
    "count_nonzero": lambda flag: xp.count_nonzero(x, keepdims=flag),
    "vector_norm": lambda flag: xp.linalg.vector_norm(x, keepdims=flag),
    "sort": lambda flag: xp.sort(x, descending=flag),
    "isin": lambda flag: xp.isin(x, x, invert=flag),
    "svd": lambda flag: xp.linalg.svd(x, full_matrices=flag),
    "cholesky": lambda flag: xp.linalg.cholesky(xp.eye(3), upper=flag),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_status(name: str) -> None:
    error, call = REFUSED[name]
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error


@pytest.mark.parametrize("name", FLAGS)
def test_a_flag_that_is_neither_true_nor_false(name: str) -> None:
    with pytest.raises(sz.TypeMismatch, match="must be True or False"):
        FLAGS[name](several)
    FLAGS[name](np.bool_(True))


def test_what_others_have_as_integers() -> None:
    """An array of rank 0 is a size, and any sequence names new axes."""
    assert xp.reshape(x, np.array(6)).shape == (6,)
    assert x.reshape(np.array(-1)).shape == (6,)
    assert xp.expand_dims(x, axis=range(2)).shape == (1, 1, 2, 3)
    assert (xp.triu(x, k=10**400) == 0).numpy().all()
    assert (xp.triu(x, k=-(10**400)) == x).numpy().all()
    assert (xp.tril(x, k=2) == x).numpy().all()
    assert xp.einsum("ii->i", sz.zeros((0, 1))).shape == (0,)
