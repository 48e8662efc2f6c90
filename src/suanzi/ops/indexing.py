"""7.2.14: where elements are: the largest, the least, in order, and those that are not zero."""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, DTypeLike, int32, int64, uint64, widened
from suanzi.base.hints import shown
from suanzi.base.status import (
    DimensionsMismatch,
    InvalidArgument,
    OutOfRange,
    StatusError,
    TypeMismatch,
)
from suanzi.ops.calling.arguments import dtype_named, real_argument, tensor_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.elementwise import check_dtype
from suanzi.ops.calling.scalars import axis_argument, flag_argument, integer_argument
from suanzi.promote.registry import BOOL, INTEGERS, NUMBERS, REALS, REGISTRY, SUBBYTE, Operator
from suanzi.tensors.tensor import Tensor, TensorLike

_ORDERED = (*SUBBYTE, *REALS)


@operator("7.2.14.1", dtypes=_ORDERED, fast=True)
def argmax(
    input: TensorLike, axis: int = -1, keepdim: bool = False, dtype: DTypeLike = int64
) -> Tensor:
    """Return the index of the largest element along an axis; of several, the first.

    A NaN counts as the largest. With `keepdim`, the axis stays, with size 1; `dtype` is int64 or
    int32.

    >>> x = sz.tensor([[5, 8, 9, 5], [0, 7, 1, 7]])
    >>> sz.argmax(x)
    Tensor([2, 1], dtype=int64)
    >>> sz.argmax(x, axis=0, keepdim=True, dtype="int32")
    Tensor([[0, 0, 0, 1]], dtype=int32)
    """
    return _find(REGISTRY["argmax"], input, axis, keepdim, dtype)


@operator("7.2.14.2", dtypes=_ORDERED, fast=True)
def argmin(
    input: TensorLike, axis: int = -1, keepdim: bool = False, dtype: DTypeLike = int64
) -> Tensor:
    """Return the index of the smallest element along an axis; of several, the first.

    A NaN is found first here, too, as NumPy and PyTorch have it. With `keepdim`, the axis stays,
    with size 1; `dtype` is int64 or int32.

    >>> sz.argmin(sz.tensor([[5, 8, 9, 5], [0, 7, 1, 7]]))
    Tensor([0, 0], dtype=int64)
    >>> sz.argmin(sz.tensor([3, float("nan"), 1]))
    Tensor(1, dtype=int64)
    """
    return _find(REGISTRY["argmin"], input, axis, keepdim, dtype)


@operator("7.2.14.3", dtypes=_ORDERED, fast=True)
def argsort(input: TensorLike, axis: int = -1, descending: bool = True) -> tuple[Tensor, Tensor]:
    """Return the elements sorted along an axis, and their indices as int64.

    The order is from the largest down unless `descending` is false. Equal elements keep their
    order either way; a NaN counts as the largest, and -0 equals 0.

    >>> values, indices = sz.argsort(sz.tensor([5, 8, 9, 5]))
    >>> values
    Tensor([9, 8, 5, 5], dtype=int64)
    >>> indices
    Tensor([2, 1, 0, 3], dtype=int64)
    """
    op = REGISTRY["argsort"]
    x = _ordered_argument(op, input)
    where = axis_argument(op, "axis", axis, x.ndim, OutOfRange)
    falling = flag_argument(op, "descending", descending)
    return _in_order(op, x, where, falling, x.shape[where])


@operator("7.2.14.3.4", dtypes=_ORDERED, fast=True)
def argsort_bwd(out_grad: TensorLike, indices: TensorLike, axis: int = -1) -> Tensor:
    """Return the gradient of the input of `argsort`, given that of its first result.

    Each element goes back to where it came from: `indices` is the second result, and `axis` the
    same. Indices that are not each of 0, 1, 2, ... once along the axis are an error.

    >>> values, indices = sz.argsort(sz.tensor([5.0, 8.0, 9.0]))
    >>> sz.argsort_bwd(sz.tensor([0.1, 0.2, 0.3]), indices)
    Tensor([0.3, 0.2, 0.1], dtype=float32)
    """
    op = REGISTRY["argsort_bwd"]
    gradient = _ordered_argument(op, out_grad, "out_grad")
    places = tensor_argument(op, "indices", indices)
    if places.dtype not in INTEGERS:
        raise TypeMismatch(
            f"{op.title}: indices is {places.dtype}; it must be of integers. Give the second "
            "result of sz.argsort, or cast with sz.cast(indices, sz.int64)."
        )
    if places.shape != gradient.shape:
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {gradient.shape} and indices {places.shape}; they "
            "must be the same. Give the second result of sz.argsort."
        )
    where = axis_argument(op, "axis", axis, gradient.ndim, OutOfRange)
    plain = real_argument(op, "out_grad", gradient)
    found = _core.unsort(plain, _core.cast(places, int64, False), where)
    if isinstance(found, tuple):
        raise bad_index(op, found, places.dtype, where, gradient.shape[where])
    return found


def bad_index(
    op: Operator, found: tuple[int, bool], came: DType, axis: int, size: int
) -> StatusError:
    """Return the error for an index that is out of range or repeated."""
    index, twice = found
    if twice:
        return InvalidArgument(
            f"{op.title}: indices contains {index} twice along axis {axis}; it must contain each "
            f"of 0 to {size - 1} once. Give the second result of sz.argsort."
        )
    index = index % 2**64 if came is uint64 else index
    return OutOfRange(
        f"{op.title}: indices contains {index} along axis {axis}, "
        f"which has size {size}; indices are from 0 to {size - 1}."
    )


@operator("7.2.14.4", dtypes=_ORDERED, fast=True)
def topk(
    input: TensorLike, k: int, axis: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """Return the k largest elements along an axis, and their indices as int64.

    Without `largest`, they are the k least. They come as `argsort` has them, from the best on: of
    equal elements the first ones, and a NaN counts as the largest. Without `sorted`, any order
    would do; it is the same one.

    >>> values, indices = sz.topk(sz.tensor([[5, 8, 9, 5], [0, 7, 1, 7]]), 2)
    >>> values
    Tensor([[9, 8],
            [7, 7]], dtype=int64)
    >>> indices
    Tensor([[2, 1],
            [1, 3]], dtype=int64)
    """
    op = REGISTRY["topk"]
    x = _ordered_argument(op, input)
    where = axis_argument(op, "axis", axis, x.ndim)
    count = integer_argument(op, "k", k)
    size = x.shape[where]
    if not 1 <= count <= size:
        raise InvalidArgument(
            f"{op.title}: k is {shown(count)}; along axis {where}, which has size {size}, it is "
            f"from 1 to {size}."
            if size
            else f"{op.title}: axis {where} has size 0, and k is at least 1."
        )
    falling = flag_argument(op, "largest", largest)
    flag_argument(op, "sorted", sorted)
    return _in_order(op, x, where, falling, count)


@operator("7.2.14.5", dtypes=(*BOOL, *SUBBYTE, *NUMBERS), fast=True)
def nonzero(input: TensorLike, as_tuple: bool = True) -> tuple[Tensor, ...] | Tensor:
    """Return the indices of nonzero elements, in row-major order for every layout.

    The coordinates are a tensor of int64 for each axis; without `as_tuple` they are the rows of
    one. NaN is not zero. If every element is zero, there is nothing to return: an error.

    >>> x = sz.tensor([[1, 0, 0], [0, 2, 3]])
    >>> sz.nonzero(x)
    (Tensor([0, 1, 1], dtype=int64), Tensor([0, 1, 2], dtype=int64))
    >>> sz.nonzero(x, as_tuple=False)
    Tensor([[0, 0],
            [1, 1],
            [1, 2]], dtype=int64)
    """
    op = REGISTRY["nonzero"]
    x = _ordered_argument(op, input)
    if x.ndim == 0:
        raise InvalidArgument(
            f"{op.title}: input has no axes, and so no coordinates. Give it one with "
            "sz.reshape(input, (1,))."
        )
    in_tuple = flag_argument(op, "as_tuple", as_tuple)
    found: tuple[Tensor, ...] | Tensor | None = _core.nonzero(
        real_argument(op, "input", x), in_tuple
    )
    if found is None:
        raise OutOfRange(f"{op.title}: input, of shape {x.shape}, has no nonzero elements.")
    return found


# ---- what they share -----------------------------------------------------------------------------


def _ordered_argument(op: Operator, input: Any, name: str = "input") -> Tensor:
    """Return an argument as a tensor of a dtype the operator takes, or a quantised one."""
    x = tensor_argument(op, name, input)
    if x.dtype.kind != "quantized":
        check_dtype(op, {name: x}, x.dtype)
    return x


def _in_bytes(x: Tensor) -> Tensor:
    """Return integers of less than a byte, of which the rest may be anything, as whole bytes."""
    return _core.cast(x, widened(x.dtype), False) if x.dtype in SUBBYTE else x


def _find(op: Operator, input: Any, axis: Any, keepdim: Any, wanted: Any) -> Tensor:
    x = _ordered_argument(op, input)
    where = axis_argument(op, "axis", axis, x.ndim, OutOfRange)
    kept = flag_argument(op, "keepdim", keepdim)
    made_of = dtype_named(op, wanted)
    if made_of not in (int32, int64):
        raise TypeMismatch(f"{op.title}: dtype is {made_of}; it must be int32 or int64.")
    size = x.shape[where]
    if size == 0:
        raise InvalidArgument(
            f"{op.title}: axis {where} of shape {x.shape} is empty, so {op.name} is undefined. "
            "Choose another axis."
        )
    if made_of is int32 and size > 2**31:
        raise OutOfRange(
            f"{op.title}: axis {where} has size {size}, too large for int32. Use dtype=sz.int64."
        )
    plain = _in_bytes(real_argument(op, "input", x))
    return _core.find_best(plain, where, kept, made_of is int64, op.name == "argmin")


def _in_order(
    op: Operator, x: Tensor, axis: int, descending: bool, count: int
) -> tuple[Tensor, Tensor]:
    plain = real_argument(op, "input", x)
    values, places = _core.order(_in_bytes(plain), axis, descending, count)
    return _core.cast(values, x.dtype, False) if x.dtype in SUBBYTE else values, places
