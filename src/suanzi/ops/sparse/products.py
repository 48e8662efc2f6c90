"""7.2.17.1: matrix products with sparse operands; SciPy multiplies.

An element that is not stored contributes nothing, not even the NaN of zero times infinity.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, DTypeLike, widened
from suanzi.base.layout import LayoutType
from suanzi.base.numpy import Array, np
from suanzi.base.status import DimensionsMismatch, TypeMismatch
from suanzi.ops.calling.arguments import real_argument
from suanzi.ops.linear_algebra_products import dtype_of
from suanzi.ops.sparse.elementwise import stand_in
from suanzi.promote.registry import NUMBERS, Operator
from suanzi.tensors.exchange import from_numpy
from suanzi.tensors.parts import converted
from suanzi.tensors.sparse import elements
from suanzi.tensors.sparse.tensor import SparseTensor
from suanzi.tensors.tensor import Tensor


def matmul(
    op: Operator, mat1: Any, mat2: Any, dtype: DTypeLike | None = None
) -> SparseTensor | Tensor:
    """Multiply matrices or vectors; with a dense one, the result is dense."""
    op = _of_numbers(op)
    operands = {"mat1": _operand(op, "mat1", mat1), "mat2": _operand(op, "mat2", mat2)}
    stand_ins = {name: stand_in(x) for name, x in operands.items()}
    promoted = dtype_of(op, stand_ins, dtype)
    x, y = operands.values()
    for name, one in operands.items():
        if one.ndim > 2:
            raise TypeMismatch(
                f"{op.title}: {name} has shape {one.shape}; with a sparse operand, it takes "
                "matrices and vectors. Reshape it, or make both dense, with to_dense()."
            )
    if not x.ndim or not y.ndim or x.shape[-1] != y.shape[0]:
        raise DimensionsMismatch(
            f"{op.title}: mat1 has shape {x.shape} and mat2 has shape {y.shape}; the last size of "
            "mat1 must be the first of mat2."
        )
    left, right = _matrix(x, promoted, x.ndim == 1), _matrix(y, promoted, False)
    product = left @ right
    shape = (*x.shape[:-1], *y.shape[1:])
    if not (isinstance(x, SparseTensor) and isinstance(y, SparseTensor)):
        return _dense(product, shape, promoted)
    kept_rows = x.kind is LayoutType.CSR and y.kind is LayoutType.CSR
    return _sparse(product, shape, promoted, kept_rows)


@cache
def _of_numbers(op: Operator) -> Operator:
    return replace(op, dtypes=tuple(d for d in op.dtypes if d in NUMBERS))


def _operand(op: Operator, name: str, x: Any) -> SparseTensor | Tensor:
    return x if isinstance(x, SparseTensor) else real_argument(op, name, x)


def _matrix(x: SparseTensor | Tensor, promoted: DType, is_row: bool) -> Any:
    """Return an operand in the dtype SciPy computes in: a sparse matrix, or a dense array."""
    computed = widened(promoted)
    if isinstance(x, Tensor):
        return converted(converted(x, promoted), computed).numpy()
    import scipy.sparse

    x = x.coalesce()
    if x.ndim == 1:
        rank_2 = (1, x.shape[0]) if is_row else (x.shape[0], 1)
        x = x.reshape(rank_2)
    x = x.to_csr()
    if x._matrix is not None and x.dtype is promoted and promoted is computed:
        return x._matrix
    values = converted(converted(x.values, promoted), computed)
    made = scipy.sparse.csr_array(x.shape, dtype=values.numpy().dtype)
    made.indptr, made.indices = x.narrow_places()
    made.data = values.numpy()
    made.has_canonical_format = True
    if values is x.values:
        x._matrix = made
    return made


def _dense(product: Array, shape: tuple[int, ...], promoted: DType) -> Tensor:
    array = np.asarray(np.reshape(product, shape), order="C")
    return converted(from_numpy(array), promoted)


def _sparse(product: Any, shape: tuple[int, ...], promoted: DType, keep_rows: bool) -> SparseTensor:
    pointers = product.indptr.astype(np.int64)
    if product.indices.dtype == np.int32:
        sources = (np.ascontiguousarray(a) for a in (pointers, product.indices, product.data))
        columns, sums = _core.sort_rows(*map(from_numpy, sources))
        places = pointers, elements.integers(columns)
    else:  # more than 2**31 columns or entries
        product.sort_indices()
        places = pointers, product.indices.astype(np.int64)
        sums = from_numpy(np.ascontiguousarray(product.data))
    values = converted(sums, promoted)
    made = SparseTensor(product.shape, LayoutType.CSR, places, values, True)
    if made.shape != shape:
        return made.reshape(shape)
    return made if keep_rows else made.to_coo()
