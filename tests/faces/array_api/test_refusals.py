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
    "indices of columns beyond counting": (
        sz.InvalidArgument,
        lambda: xp.take_along_axis(xp.ones((0, 2**62)), sz.zeros((2, 1), sz.int8), axis=0),
    ),
    "columns beyond counting": (
        sz.InvalidArgument,
        lambda: xp.take_along_axis(xp.ones((2**62, 1, 0)), sz.zeros((1, 2, 4), sz.int8), axis=2),
    ),
    "a shape that is a size": (sz.TypeMismatch, lambda: xp.broadcast_shapes((2,), 3)),
    "a size that is a word": (sz.TypeMismatch, lambda: xp.broadcast_shapes(("a",))),
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
        sz.TypeMismatch, lambda: xp.from_dlpack(x, copy=several)),
    "a copy of a new shape": (sz.TypeMismatch, lambda: xp.reshape(x, (6,), copy=several)),
    "a copy of an array": (sz.TypeMismatch, lambda: xp.asarray(x, copy=several)),
    "a copy of another dtype": (
        sz.TypeMismatch, lambda: xp.astype(x, xp.float32, copy=several)),
    "an initial sum": (
        sz.TypeMismatch, lambda: xp.cumulative_sum(x[0], include_initial=several)),
    "repetitions beyond counting": (sz.AllocFailed, lambda: xp.tile(x, (2**63,))),
    "a bool as a tolerance": (
        sz.TypeMismatch, lambda: xp.linalg.matrix_rank(matrices, rtol=xp.asarray(True))),
    "tolerances of others": (
        sz.DimensionsMismatch, lambda: xp.linalg.pinv(matrices, rtol=xp.ones((3,)))),
    "ends that no float has": (sz.InvalidArgument, lambda: xp.linspace(0, 10**400, 3)),
    "ends of integers that no float has": (
        sz.InvalidArgument, lambda: xp.linspace(-(10**5000), 0, 3, dtype=xp.int8)),
    "a start that no float has": (
        sz.InvalidArgument, lambda: xp.arange(10**400, 10**400 + 2, dtype=xp.float32)),
    "steps from beyond what is written": (sz.AllocFailed, lambda: xp.arange(10**5000, 1.5)),
    "integers beyond what is written": (
        sz.InvalidArgument, lambda: xp.arange(10**5000, 10**5000 + 1)),
    "fewer than none": (sz.InvalidArgument, lambda: xp.linspace(0, 1, -(10**5000))),
    "a tolerance that no float has": (
        sz.InvalidArgument, lambda: xp.linalg.matrix_rank(matrices, rtol=10**400)),
    "a tolerance of inverses that no float has": (
        sz.InvalidArgument, lambda: xp.linalg.pinv(matrices, rtol=10**400)),
    "an order that no float has": (
        sz.InvalidArgument, lambda: xp.linalg.vector_norm(x, ord=-(10**400))),
    "an order of nothing that no float has": (
        sz.InvalidArgument, lambda: xp.linalg.vector_norm(xp.ones((0,)), ord=10**400)),
    "a correction that no float has": (
        sz.InvalidArgument, lambda: xp.var(x, correction=-(10**400))),
    "a distance that no float has": (sz.InvalidArgument, lambda: xp.fft.fftfreq(5, d=10**400)),
    "a transform beyond counting": (
        sz.AllocFailed, lambda: xp.fft.fft(xp.ones((0, 0), dtype=xp.complex64), n=10**400)),
    "a transform back beyond counting": (
        sz.AllocFailed, lambda: xp.fft.irfft(xp.ones((0, 0), dtype=xp.complex64), n=2**63)),
    "a half beyond counting": (sz.AllocFailed, lambda: xp.fft.rfft(xp.ones((0, 0)), n=2**63)),
    "a transform of less than nothing": (
        sz.InvalidArgument, lambda: xp.fft.rfft(x, n=-(10**5000))),
    "a view beyond counting": (
        sz.InvalidArgument, lambda: xp.broadcast_to(xp.ones(()), (2**31, 2**31, 2))),
    "a shape in common beyond counting": (
        sz.InvalidArgument,
        lambda: xp.broadcast_arrays(xp.ones((2**20, 1)), sz.expand(x[0, :1], (2**43,)))),
    "repeats beyond what is written": (sz.AllocFailed, lambda: xp.repeat(x, 10**5000)),
    "axes beyond what is written": (
        sz.InvalidArgument, lambda: xp.tensordot(x, x, axes=10**5000)),
}  # fmt: skip
FLAGS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda flag: xp.sum(x, keepdims=flag),
    "std": lambda flag: xp.std(x, keepdims=flag),
    "all": lambda flag: xp.all(x, keepdims=flag),
    "all, until one decides": lambda flag: xp.all(xp.ones((3, 3463)), keepdims=flag),
    "any of nothing": lambda flag: xp.any(xp.ones((0, 2)), keepdims=flag),
    "sum of nothing": lambda flag: xp.sum(xp.ones((0, 2)), keepdims=flag),
    "sort of nothing": lambda flag: xp.sort(xp.ones((0, 2)), descending=flag),
    "linspace": lambda flag: xp.linspace(0, 1, 3, endpoint=flag),
    "cumulative_prod": lambda flag: xp.cumulative_prod(x[0], include_initial=flag),
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
    function = name.partition(" ")[0].rstrip(",")
    for what in (several, np.zeros(0)):
        with pytest.raises(sz.TypeMismatch, match=rf"^{function}\b.*: .* must be True or False"):
            FLAGS[name](what)
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


def test_what_looks_beyond_range_and_is_not() -> None:
    """A step that is never made, repeats of nothing, a NaN between ends, orders of NumPy."""
    assert xp.arange(0, 1, 10**400, dtype=xp.float32).tolist() == [0.0]
    assert xp.repeat(xp.ones((0, 2)), 10**400).shape == (0,)
    assert xp.repeat(xp.ones((0, 2)), 2**63, axis=0).shape == (0, 2)
    assert xp.arange(0, 3, 1.0, dtype=xp.bool).tolist() == [False, True, True]
    assert np.isnan(xp.linspace(0, nan, 3).numpy()).any()
    assert float(xp.linalg.vector_norm(xp.ones((8,)), ord=np.float64(3))) == 2.0
    assert xp.linspace(1e308 + 1e308j, -1e308 - 1e308j, 3, dtype=xp.complex128)[1] == 0


def test_errno_that_others_left() -> None:
    """Python's `abs` of a complex NaN raised whatever the call before it had left in errno."""
    with pytest.raises(OverflowError):
        abs(complex(1.5e308, 1.5e308))
    assert xp.linspace(0, nan, 4, dtype=xp.int4).shape == (4,)


@pytest.mark.parametrize("count", [2**33, 2**34])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("matmul", xp.matmul),
        ("vecdot", xp.vecdot),
        ("tensordot", lambda x, y: xp.tensordot(x, y, axes=1)),
        ("einsum", lambda x, y: xp.einsum("i,i", x, y)),
    ],
)
def test_products_of_endless_repetitions(name: str, function: Any, count: int) -> None:
    """What the core says of them, and who was called: memory is not what they lack."""
    endless = xp.broadcast_to(xp.ones(1), (count,))
    with pytest.raises(sz.AllocFailed, match=rf"^{name}: the axis .* 2\^33 times or more; "):
        function(endless, endless)


@pytest.mark.parametrize("function", [xp.concat, xp.stack])
def test_nothing_to_join_along_a_sparse_axis(function: Any) -> None:
    axis = sz.to_sparse(sz.tensor([[1.0, 0.0], [0.0, 2.0]]))
    with pytest.raises(sz.InvalidArgument, match="is empty"):
        function([], axis=axis)
    for arrays in (np.ones((2, 3)), [1, 2]):
        with pytest.raises(sz.StatusError):
            function(arrays, axis=axis)
