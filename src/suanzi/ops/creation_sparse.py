"""7.2.1.14: sparse tensors of coordinates and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suanzi.base.device import CPU, DeviceLike
from suanzi.base.dtypes import DType, DTypeLike, float32, int64
from suanzi.base.layout import Layout, LayoutType
from suanzi.base.numpy import Array, np
from suanzi.base.status import InvalidArgument, StatusError, TypeMismatch, UninitializedObject
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import integer_argument
from suanzi.ops.creation_wanted import wanted
from suanzi.promote.registry import BOOL, NUMBERS, REGISTRY, SUBBYTE, Operator
from suanzi.tensors.make import kind_of, tensor
from suanzi.tensors.parts import is_destroyed
from suanzi.tensors.tensor import Tensor

if TYPE_CHECKING:
    from suanzi.tensors.sparse.tensor import SparseTensor


@operator("7.2.1.14", dtypes=(*BOOL, *SUBBYTE, *NUMBERS))
def create_sparse_tensor(
    shape: Any,
    indices: Any,
    values: Any,
    dtype: DTypeLike = float32,
    device: DeviceLike = CPU,
    nnzs: int | None = None,
    *,
    layout: str | LayoutType | Layout = "coo",
) -> SparseTensor:
    """Return a sparse tensor of the elements `values`, [nnz], at `indices`, [nnz, ndim].

    Indices are integers and count from 0, in any order; elements of equal indices add up. All
    others are zero. `layout` is "coo" or, for two axes, "csr", which is coalesced.

    >>> sz.create_sparse_tensor((2, 3), [[0, 2], [1, 0]], [5, 7])
    SparseTensor({(0, 2): 5, (1, 0): 7}, shape=(2, 3), dtype=float32, layout=coo)
    >>> sz.create_sparse_tensor((4,), [[1], [1]], [5, 7], dtype=sz.int8).to_dense()
    Tensor([ 0, 12,  0,  0], dtype=int8)
    """
    from suanzi.tensors.sparse.making import coo_from_parts, layout_argument

    op = REGISTRY["create_sparse_tensor"]
    for name, given in (("shape", shape), ("indices", indices), ("values", values)):
        if given is None or (isinstance(given, Tensor) and is_destroyed(given)):
            came = "None" if given is None else "a tensor that was destroyed"
            raise UninitializedObject(f"{op.title}: {name} is {came}.")
    want = wanted(op, shape, dtype, device)
    dims = want.shape
    kind = layout_argument(op.title, layout, len(dims))
    if want.provider is not None:
        raise InvalidArgument(
            f"{op.title}: device is {want.device}; sparse tensors are on the CPU."
        )
    places = _indices(op, indices, len(dims))
    stored = _converted(op, "values", values, want.dtype)
    if stored.ndim != 1 or stored.size != len(places):
        raise InvalidArgument(
            f"{op.title}: values have shape {stored.shape}, and there are {len(places)} indices; "
            f"they must have shape ({len(places)},)."
        )
    if nnzs is not None and integer_argument(op, "nnzs", nnzs) != len(places):
        raise InvalidArgument(
            f"{op.title}: nnzs is {nnzs}, and there are {len(places)} indices and values. Leave "
            "it out."
        )
    made = coo_from_parts(op.title, dims, places.T, stored)
    return made.to_csr() if kind is LayoutType.CSR else made


def _converted(op: Operator, name: str, given: Any, target: DType | None) -> Tensor:
    """Return an argument as a tensor of its own."""
    came = getattr(getattr(given, "dtype", None), "kind", "")  # of NumPy, "c" is complex
    try:
        is_complex = came in ("complex", "c") or (not came and kind_of(given) == "complex")
        if is_complex and target is not None and target.kind != "complex":
            raise TypeMismatch(
                f"they are complex, and dtype is {target}. Give their real parts, or a complex "
                "dtype."
            )
        return tensor(given, target)
    except (StatusError, BufferError, TypeError, ValueError) as error:
        if isinstance(error, MemoryError):
            raise
        problem = str(error).removeprefix("tensor: ")
        raise InvalidArgument(f"{op.title}: {name}: {problem}") from None


def _indices(op: Operator, given: Any, ndim: int) -> Array:
    """Return indices as an array [nnz, ndim] of integers, not yet checked against the shape."""
    found = _converted(op, "indices", given, None)
    # An empty list has no dtype of its own, and no second axis.
    is_empty = isinstance(given, list | tuple) and not found.size
    if is_empty and found.shape in ((0,), (len(given), ndim)):
        return np.empty((found.shape[0], ndim), np.int64)
    if found.dtype.kind not in ("int", "uint"):
        raise InvalidArgument(
            f"{op.title}: indices are {found.dtype}; they must be integers. Cast them with "
            "sz.cast(indices, sz.int64)."
        )
    if found.ndim != 2 or found.shape[1] != ndim:
        raise InvalidArgument(
            f"{op.title}: indices have shape {found.shape}; for {ndim} axes it must be "
            f"(nnz, {ndim})."
        )
    return found.numpy() if found.dtype.bits >= 8 else tensor(found, int64).numpy()
