"""Set functions: the elements that are there, each once, and whether an element is among others.

Values come in rising order. Each NaN is one of its own, -0 and 0 are the same.

>>> xp.unique_counts(xp.asarray([2, 1, 2], dtype=xp.bfloat16))
unique_counts_result(values=Tensor([1, 2], dtype=bfloat16), counts=Tensor([1, 2], dtype=int64))
"""

from __future__ import annotations

from typing import Any, NamedTuple

from suanzi import _core
from suanzi.base.dtypes import bool as bool_
from suanzi.base.dtypes import iinfo, int64
from suanzi.base.status import TypeMismatch
from suanzi.faces.array_api.along import computed, dense, flat, in_bytes, with_number
from suanzi.faces.array_api.arguments import array_argument, promoted
from suanzi.faces.array_api.declare import function
from suanzi.faces.array_api.searching_functions import searchsorted
from suanzi.faces.array_api.sorting_functions import ordered, sort
from suanzi.ops.calling.scalars import flag_argument
from suanzi.ops.reduction_modes import ReduceMode
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

_MIN, _MAX = int(ReduceMode.MIN), int(ReduceMode.MAX)
_MANY = 1 << 10
"""The number of elements to look up from which on a table of the others is faster."""

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


class unique_all_result(NamedTuple):
    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class unique_counts_result(NamedTuple):
    values: Tensor
    counts: Tensor


class unique_inverse_result(NamedTuple):
    values: Tensor
    inverse_indices: Tensor


@function
def unique_all(x: Tensor, /) -> unique_all_result:
    """Return the unique elements, their first indices, the inverse indices and the counts."""
    found = _Groups("unique_all", x)
    return unique_all_result(found.values(), found.indices(), found.inverse(), found.counts())


@function
def unique_counts(x: Tensor, /) -> unique_counts_result:
    """Return the unique elements and their counts."""
    found = _Groups("unique_counts", x, with_places=False)
    return unique_counts_result(found.values(), found.counts())


@function
def unique_inverse(x: Tensor, /) -> unique_inverse_result:
    """Return the unique elements, and the indices of these that rebuild `x`."""
    found = _Groups("unique_inverse", x)
    return unique_inverse_result(found.values(), found.inverse())


@function
def unique_values(x: Tensor, /) -> Tensor:
    """Return the unique elements."""
    return _Groups("unique_values", x, with_places=False).values()


@function
def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Tensor:
    """Return whether each element of `x1` is in `x2`; one of them may be a number.

    >>> xp.isin(xp.asarray([1, 2, 3]), xp.asarray([3, 1]))
    Tensor([ True, False,  True], dtype=bool)
    """
    if not isinstance(x1, Tensor) and not isinstance(x2, Tensor):
        raise TypeMismatch("isin: x1 and x2 are both numbers; one of them must be a Tensor.")
    x1 = with_number("isin", getattr(x2, "dtype", bool_), x1)
    x2 = with_number("isin", getattr(x1, "dtype", bool_), x2)
    x1, x2 = array_argument("isin", "x1", x1), array_argument("isin", "x2", x2)
    found = _among(x1, x2)
    if not flag_argument("isin", "invert", invert):
        return found
    return computed("equal", found, _core.full((), bool_, False))


def _among(x1: Tensor, x2: Tensor) -> Tensor:
    if not x1.size or not x2.size:
        return _core.full(x1.shape, bool_, False)
    dt = promoted("isin", x1.dtype, x2.dtype)
    integers = {x1.dtype.kind, x2.dtype.kind} == {"int", "uint"}
    if integers and dt.kind == "float":
        # No integer dtype holds both; what does not change in the other's may be among them.
        there = converted(x1, x2.dtype)
        same = _core.run_exact_compare(0, [x1, there])
        return computed("bitwise_and", same, _among(there, x2))
    if dt.kind in ("int", "uint") and dt.bits >= 8 and x1.size > _MANY:
        found = _in_table(converted(x1, dt), converted(x2, dt))
        if found is not None:
            return found
    values = _Groups("isin", converted(x2, dt), with_places=False).values()
    wanted = converted(x1, dt)
    if dt.kind == "complex":
        return _complex_among(wanted, values)
    at = searchsorted(values, wanted)
    last = _core.full((), int64, values.size - 1)
    nearest = _core.gather(values, 0, 1, computed("min", at, last))
    return computed("equal", in_bytes(nearest), in_bytes(wanted))


def _in_table(x1: Tensor, x2: Tensor) -> Tensor | None:
    """Look integers up in a table of those between the least and the largest; None: too many."""
    if x1.dtype.bits < 64:  # in which differences of all its numbers fit
        x1, x2 = converted(x1, int64), converted(x2, int64)
    low, high = (int(_core.reduce(flat(x2), mode, (0,), False)) for mode in (_MIN, _MAX))
    if high - low >= 4 * (x1.size + x2.size):
        return None
    # The neighbours of both ends, where there are numbers, stand for all that are outside.
    limits = iinfo(x1.dtype)
    first, last = max(low - 1, limits.min), min(high + 1, limits.max)
    table = _core.full((last - first + 1,), bool_, False)
    own = converted(computed("sub", dense(flat(x2)), first), int64)
    _core.scatter(table, 0, 1, own, _core.full(own.shape, bool_, True), False)
    near = computed("min", computed("max", x1, first), last)
    return _core.gather(table, 0, 1, dense(converted(computed("sub", near, first), int64)))


def _complex_among(wanted: Tensor, values: Tensor) -> Tensor:
    """Sort both together: an element is among others if its group has one of them."""
    flat = wanted.reshape(-1)
    both = _core.join([values, flat], 0, values.dtype, False)
    inverse = _Groups("isin", both).inverse()
    known = _core.full((both.size,), bool_, False)
    n = values.size
    _core.scatter(known, 0, 1, inverse[:n], _core.full((n,), bool_, True), False)
    return _core.gather(known, 0, 1, inverse[n:]).reshape(wanted.shape)


class _Groups:
    """The elements of a tensor in order, and where those that are equal begin."""

    def __init__(self, function: str, x: Any, with_places: bool = True) -> None:
        self.x = array_argument(function, "x", x)
        if with_places:
            self.sorted, self.places = ordered(flat(self.x), 0, False)
        else:
            self.sorted = sort(flat(self.x))
        n = self.x.size
        self.begins = _core.full((n,), bool_, True)
        if n > 1:
            plain = in_bytes(self.sorted)
            self.begins[1:] = computed("not_equal", plain[1:], plain[:-1])

    def values(self) -> Tensor:
        return _core.masked_select(self.sorted, self.begins)

    def indices(self) -> Tensor:
        return _core.masked_select(self.places, self.begins)

    def counts(self) -> Tensor:
        end = _core.full((1,), int64, self.x.size)
        bounds = _core.join([_core.mask_indices(self.begins), end], 0, int64, False)
        return computed("sub", bounds[1:], bounds[:-1])

    def inverse(self) -> Tensor:
        made = _core.empty((self.x.size,), int64)
        if self.x.size:
            groups = _core.cumulative_sum(converted(self.begins, int64), 0, False)
            groups = computed("sub", groups, _core.full((), int64, 1))
            _core.scatter(made, 0, 1, self.places, groups, False)
        return made.reshape(self.x.shape)
