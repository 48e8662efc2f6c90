"""SciPy's sparse arrays and those of pydata/sparse, both ways, on the same memory where it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suanzi.dtypes import DType, dtype
from suanzi.dtypes import bool as bool_
from suanzi.layout import LayoutType
from suanzi.sparse.making import DTYPES, check_dtype, coo_from_parts, csr_from_parts
from suanzi.sparse.tensor import SparseTensor, copy
from suanzi.status import InvalidArgument, StatusError, TypeMismatch, UninitializedObject
from suanzi.tensors.exchange import from_numpy
from suanzi.tensors.tensor import Tensor, tensor

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


def _is_plain(dt: DType) -> bool:
    """Tell whether a dtype is NumPy's own."""
    return dt.kind == "bool" or (dt.bits >= 8 and hasattr(_numpy(), dt.name))


def _numpy() -> Any:
    import numpy as np

    return np


def _check_known(title: str, library: str, x: SparseTensor, known: bool) -> None:
    if known:
        return
    narrow = {"complex": "complex64", "float": "float32"}.get(x.dtype.kind, "int8")
    mend = "uint8" if x.dtype.kind == "uint" else narrow
    raise TypeMismatch(
        f"{title}: {library} has no sparse {x.dtype}. Cast it first, with sz.cast(x, sz.{mend})."
    )


# ---- SciPy --------------------------------------------------------------------------------------


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


def from_scipy(array: Any) -> SparseTensor:
    """Return a sparse array or matrix of SciPy as a sparse tensor.

    CSR stays CSR, all other formats become COO. The values are on the same memory, where the
    format has them in one piece; places become int64.

    >>> import scipy.sparse, suanzi as sz
    >>> sz.from_scipy(scipy.sparse.csr_array([[0, 1.5], [2, 0]]))
    SparseTensor({(0, 1): 1.5, (1, 0): 2}, shape=(2, 2), dtype=float64, layout=csr)
    """
    if array is None:
        raise UninitializedObject("from_scipy: array is None; it takes a sparse array of SciPy.")
    import numpy as np
    import scipy.sparse

    if not scipy.sparse.issparse(array):
        raise TypeMismatch(
            f"from_scipy: array is a {type(array).__name__}; it takes a sparse array or matrix of "
            "SciPy. Use sz.to_sparse for a dense one."
        )
    if array.format not in ("csr", "coo"):
        array = array.tocoo()
    shape = tuple(int(n) for n in array.shape)
    if array.format == "csr" and len(shape) == 2:
        count = int(array.indptr[-1])  # SciPy allows for room behind it
        values = _values("from_scipy", array.data[:count])
        return csr_from_parts("from_scipy", shape, array.indptr, array.indices[:count], values)
    array = array.tocoo()
    coordinates = array.coords if hasattr(array, "coords") else (array.row, array.col)
    values = _values("from_scipy", array.data)
    return coo_from_parts("from_scipy", shape, np.stack(coordinates), values)


def _values(title: str, data: Array) -> Tensor:
    """Return values on the memory of an array, if it can be used as it is."""
    try:
        dt = dtype(data.dtype)
    except StatusError:
        raise TypeMismatch(
            f"{title}: the array is of {data.dtype}, for which there is no dtype here. Convert it "
            "first, with astype."
        ) from None
    if dt not in DTYPES:
        check_dtype(title, "array", dt)
    # Any byte but 0 is true to NumPy; a copy makes it 1, as it is here.
    if dt is bool_ or not data.flags.c_contiguous or not data.flags.aligned:
        return tensor(data)
    return from_numpy(data) if data.dtype.isnative else tensor(data)


# ---- pydata/sparse ------------------------------------------------------------------------------


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


def from_pydata_sparse(array: Any) -> SparseTensor:
    """Return an array of pydata/sparse as a sparse tensor in COO; its fill value must be 0.

    The values, and the places if they are int64, are on the same memory.
    """
    if array is None:
        raise UninitializedObject("from_pydata_sparse: array is None; it takes a sparse.COO.")
    if not all(hasattr(array, name) for name in ("fill_value", "asformat", "shape", "nnz")):
        raise TypeMismatch(
            f"from_pydata_sparse: array is a {type(array).__name__}; it takes an array of "
            "pydata/sparse."
        )
    if not array.fill_value == 0:
        raise InvalidArgument(
            f"from_pydata_sparse: the fill value is {array.fill_value}; what is not stored is 0 "
            "here. Subtract the fill value first."
        )
    coo = array.asformat("coo")
    values = _values("from_pydata_sparse", coo.data)
    shape = tuple(int(n) for n in coo.shape)
    return coo_from_parts("from_pydata_sparse", shape, coo.coords, values)
