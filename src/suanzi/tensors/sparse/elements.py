"""The values of sparse tensors as bits, which NumPy can move whatever the dtype."""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, complex64, complex128, float32, float64, int64, widened
from suanzi.base.dtypes import bool as bool_
from suanzi.base.numpy import Array, np
from suanzi.tensors.exchange import from_numpy
from suanzi.tensors.parts import readable
from suanzi.tensors.tensor import Tensor


def row_major(x: Tensor) -> Tensor:
    """Return a tensor as one gap-free block in row-major order: itself, if it is one."""
    return x if _core.has_dense_rows(x, 0) else _core.row_major_copy(x)


def raw(x: Tensor) -> Array:
    """Return the elements of a row-major tensor on its memory: unsigned integers of their bits.

    complex128, for which there is no integer, stays as it is.
    """
    unit = np.dtype(np.complex128 if x.dtype is complex128 else f"u{x.dtype.itemsize}")
    if x.size == 0:
        return np.empty(0, unit)
    return np.frombuffer(x.storage.memory, unit, x.size, x.offset * unit.itemsize)


def integers(x: Tensor) -> Array:
    """Return a row-major list of int64 as an array on its memory; faster than `numpy()`."""
    return raw(x).view(np.int64)


def listed(places: Array) -> Tensor:
    """Return a list of int64 as a tensor, on its memory if that is one piece."""
    places = np.ascontiguousarray(places)
    count = len(places)
    address = places.__array_interface__["data"][0]
    read_only = not places.flags.writeable
    return _core.wrap_memory(address, count, int64, (count,), [1], 0, read_only, places)


def one_row(keys: Array) -> tuple[Tensor, Tensor]:
    """Return integers as the columns of the only row there is."""
    return listed(np.array([0, len(keys)], np.int64)), listed(keys)


def has_bits(x: Tensor) -> Array:
    """Return which elements of a row-major tensor have any bit set; -0.0 has one."""
    found = raw(x)
    if x.dtype is complex128:
        found = found.view("u8").reshape(-1, 2).max(axis=1, initial=0)
    return found.astype("?")


def is_nonzero(x: Tensor) -> Array:
    """Return which elements differ from zero by value, in row-major order; NaN does."""
    return readable(x).reshape(-1).astype("?")


def zeros(count: int, dt: DType) -> Tensor:
    """Return a tensor of zeros with one axis."""
    made = _core.empty((count,), dt)
    raw(made)[:] = 0
    return made


def take(x: Tensor, places: Array) -> Tensor:
    """Return the elements at places of a row-major tensor, counted through it."""
    made = _core.empty((len(places),), x.dtype)
    if len(places):
        # Every place is within; "clip" only spares NumPy a buffer.
        raw(x).take(places, out=raw(made), mode="clip")
    return made


def joined(x: Tensor, y: Tensor) -> Tensor:
    """Return the elements of x and then those of y."""
    made = _core.empty((x.size + y.size,), x.dtype)
    target = raw(made)
    target[: x.size] = raw(x)
    target[x.size :] = raw(y)
    return made


def run(kernel: str, x: Any, y: Any, dt: DType) -> Tensor:
    """Compute a kernel of two operands in a dtype."""
    return _core.run_operator(kernel, [x, y], dt)[0]


def sum_runs(values: Tensor, starts: Array) -> Tensor:
    """Return the sum of each run of elements, rounded once; bools are joined by "or".

    An element that is alone keeps its bits.
    """
    result = take(values, starts)
    open_runs, lengths, places = _open_runs(starts, values.size)
    if not len(open_runs):
        return result
    put_sums(result, open_runs, take(values, places), lengths.cumsum() - lengths)
    return result


def put_sums(target: Tensor, which: Array, values: Tensor, starts: Array) -> None:
    """Write the sum of each run of values to one of the elements of a tensor."""
    if values.dtype is bool_:
        total = combine_runs("logical_or", values, starts)
    else:
        total = add_runs("add", _core.cast(values, widened(values.dtype), False), starts)
    raw(target)[which] = raw(_core.cast(total, values.dtype, False))


def add_runs(kernel: str, values: Tensor, starts: Array) -> Tensor:
    """Add up each run of elements: float32 in float64, integers exactly, float64 pairwise."""
    if values.dtype in (float64, complex128) or not values.size:
        return combine_runs(kernel, values, starts)
    exact = {float32: float64, complex64: complex128}.get(values.dtype, values.dtype)
    numbers = _core.cast(values, exact, False).numpy()
    with np.errstate(all="ignore"):
        total = np.add.reduceat(numbers, starts, dtype=numbers.dtype)
    return _core.cast(from_numpy(total), values.dtype, False)


def combine_runs(kernel: str, values: Tensor, starts: Array) -> Tensor:
    """Combine each run of elements to one, pairwise; `starts` says where the runs begin."""
    result = take(values, starts)
    open_runs, lengths, places = _open_runs(starts, values.size)
    if not len(open_runs):
        return result
    values = take(values, places)
    while True:
        lasts = np.cumsum(lengths)
        # The places within each run that are even, and whether a partner follows.
        halves = (lengths + 1) // 2
        within = _spans(np.zeros(len(halves), np.int64), halves) * 2
        left = within + np.repeat(lasts - lengths, halves)
        paired = left + 1 < np.repeat(lasts, halves)
        first = left[paired]
        both = run(kernel, take(values, first), take(values, first + 1), values.dtype)
        values = take(values, left)
        raw(values)[paired] = raw(both)
        lengths = halves
        if values.size == len(lengths):
            raw(result)[open_runs] = raw(values)
            return result


def _open_runs(starts: Array, count: int) -> tuple[Array, Array, Array]:
    """Return the runs of more than one element: which, how long, and where their elements are."""
    lengths = np.diff(starts, append=count)
    found = np.flatnonzero(lengths > 1)
    return found, lengths[found], _spans(starts[found], lengths[found])


def _spans(starts: Array, lengths: Array) -> Array:
    """Return start, start + 1, ... for each length, one after the other."""
    before = np.cumsum(lengths) - lengths
    spans = np.arange(int(lengths.sum()), dtype=np.int64)
    spans += np.repeat(starts - before, lengths)
    return spans
