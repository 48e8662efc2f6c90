"""Sparse tensors as the arrays of SciPy and pydata/sparse, on the same memory where it fits."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from suanzi.base.dtypes import DType
from suanzi.base.layout import LayoutType
from suanzi.base.numpy import np
from suanzi.base.status import TypeMismatch

if TYPE_CHECKING:
    from suanzi.tensors.sparse.tensor import SparseTensor


def _is_plain(dt: DType) -> bool:
    """Return whether a dtype is NumPy's own."""
    return dt.kind == "bool" or (dt.bits >= 8 and hasattr(np, dt.name))


def _check_known(title: str, library: str, x: SparseTensor, known: bool) -> None:
    if known:
        return
    narrow = {"complex": "complex64", "float": "float32"}.get(x.dtype.kind, "int8")
    target = "uint8" if x.dtype.kind == "uint" else narrow
    raise TypeMismatch(
        f"{title}: {library} has no sparse {x.dtype}. Cast it first, with sz.cast(x, sz.{target})."
    )


def to_scipy(x: SparseTensor) -> Any:
    """Return a ``coo_array`` or ``csr_array`` of SciPy on the memory of a coalesced tensor."""
    import scipy
    import scipy.sparse

    # float16 is NumPy's own, but SciPy's sparse arrays do not compute with it.
    known = _is_plain(x.dtype) and x.dtype.name != "float16"
    _check_known("to_scipy", "SciPy", x, known)
    if not x.is_coalesced:
        x = copy(x)  # SciPy coalesces in place, which would leave the tensor half done
    values = x.values.numpy()
    # The constructors would copy the places to int32, if they fit; setting them does not.
    if x.kind is LayoutType.CSR:
        made = scipy.sparse.csr_array(x.shape, dtype=values.dtype)
        made.indptr, made.indices = x._alive()
        made.data = values
        made.has_canonical_format = x.is_coalesced
        return made
    try:
        made = scipy.sparse.coo_array(x.shape, dtype=values.dtype)
    except (ValueError, TypeError):
        raise TypeMismatch(
            f"to_scipy: SciPy {scipy.__version__} has no sparse array of shape {x.shape}. Use "
            "reshape to give it two axes, or SciPy 1.15 or later."
        ) from None
    if hasattr(made, "coords"):
        made.coords = tuple(x.coordinates)
    else:
        made.row, made.col = x.coordinates
    made.data = values
    made.has_canonical_format = x.is_coalesced
    return made


def to_pydata_sparse(x: SparseTensor) -> Any:
    """Return a ``COO`` of pydata/sparse with the values of a sparse tensor."""
    import sparse

    _check_known("to_pydata_sparse", "pydata/sparse", x, _is_plain(x.dtype))
    return sparse.COO(
        x.coordinates,
        x.values.numpy(),
        shape=x.shape,
        has_duplicates=not x.is_coalesced,
        sorted=x.is_coalesced,
        fill_value=0,
    )
