"""Sparse tensors made of dense ones, of parts that are checked, and of the arrays of others."""

from __future__ import annotations

import copyreg
from collections.abc import Sequence
from typing import Any

from suanzi.base.dtypes import DType, dtype, int64
from suanzi.base.dtypes import bool as bool_
from suanzi.base.hints import shown
from suanzi.base.layout import Layout, LayoutType
from suanzi.base.numpy import Array, np
from suanzi.base.shapes import is_shape
from suanzi.base.status import InvalidArgument, StatusError, TypeMismatch, UninitializedObject
from suanzi.promote.registry import BOOL, NUMBERS, SUBBYTE
from suanzi.tensors.exchange import from_numpy
from suanzi.tensors.make import tensor
from suanzi.tensors.parts import is_destroyed
from suanzi.tensors.sparse import elements, structure
from suanzi.tensors.sparse.tensor import SparseTensor
from suanzi.tensors.tensor import Tensor

DTYPES = (*BOOL, *SUBBYTE, *NUMBERS)
"""What a sparse tensor can hold: numbers, of which zero is one. Text and quantised integers, whose
zero is not the number zero, are not among them."""

_LAYOUTS = {"coo": LayoutType.COO, "csr": LayoutType.CSR}


def layout_argument(title: str, layout: Any, ndim: int) -> LayoutType:
    """Return the layout that a name or a Layout means, for a number of axes."""
    found = layout.type if isinstance(layout, Layout) else layout
    found = _LAYOUTS.get(found.lower()) if isinstance(found, str) else found
    if not isinstance(found, LayoutType) or found is LayoutType.DENSE:
        raise InvalidArgument(f"{title}: layout is {shown(layout)}; it is 'coo' or 'csr'.")
    if found is LayoutType.CSR and ndim != 2:
        raise InvalidArgument(
            f"{title}: layout is 'csr', which has two axes, and the shape has {ndim}. Use 'coo'."
        )
    return found


def to_sparse(x: Any, layout: Any = "coo") -> SparseTensor:
    """Return a dense tensor as a sparse one, `layout` "coo" or, with two axes, "csr".

    Every element with a bit set is stored, -0.0 among them, so that `to_dense` gives back the
    same bits.

    >>> sz.to_sparse(sz.tensor([[0, 1.5], [0, 0]], sz.bfloat16))
    SparseTensor({(0, 1): 1.5}, shape=(2, 2), dtype=bfloat16, layout=coo)
    """
    if x is None:
        raise UninitializedObject("to_sparse: x is None; it takes a Tensor.")
    if isinstance(x, SparseTensor):
        kind = layout_argument("to_sparse", layout, x.ndim)
        return x.to_csr() if kind is LayoutType.CSR else x.to_coo()
    if isinstance(x, Tensor) and is_destroyed(x):
        raise UninitializedObject("to_sparse: x is a tensor that was destroyed.")
    dense = x if isinstance(x, Tensor) else tensor(x)
    kind = layout_argument("to_sparse", layout, dense.ndim)
    check_dtype("to_sparse", "x", dense.dtype)
    return from_dense(dense, kind)


def from_dense(x: Tensor, kind: LayoutType = LayoutType.COO) -> SparseTensor:
    """Return the elements with a bit set."""
    x = elements.row_major(x)
    places = np.flatnonzero(elements.has_bits(x))
    values = elements.take(x, places)
    coordinates = structure.coordinates_of(x.shape, places)
    if kind is LayoutType.COO:
        return SparseTensor(x.shape, kind, (coordinates,), values, True)
    pointers = structure.pointers_of(coordinates[0], x.shape[0])
    return SparseTensor(x.shape, kind, (pointers, coordinates[1]), values, True)


def check_dtype(title: str, name: str, dt: DType) -> None:
    """Raise TypeMismatch for text and quantised integers."""
    if dt in DTYPES:
        return
    fix = "" if dt.kind == "char" else f" Cast it first, with sz.cast({name}, sz.float32)."
    raise TypeMismatch(f"{title}: {name} is {dt}; a sparse tensor holds numbers.{fix}")


# ---- parts --------------------------------------------------------------------------------------


def coo_from_parts(title: str, shape: Sequence[int], places: Array, values: Tensor) -> SparseTensor:
    """Return a COO tensor of coordinates, [ndim, nnz], that are checked."""
    _check_shape(title, shape)
    if places.ndim != 2 or places.shape != (len(shape), values.size) or values.ndim != 1:
        raise InvalidArgument(
            f"{title}: indices have shape {places.shape[::-1]} and values {values.shape}; for "
            f"{len(shape)} axes they must be (nnz, {len(shape)}) and (nnz,)."
        )
    for axis, (size, numbers) in enumerate(zip(shape, places, strict=True)):
        if not len(numbers):
            continue
        low, high = int(numbers.min()), int(numbers.max())
        if low < 0 or high >= size:
            came = low if low < 0 else high
            raise InvalidArgument(
                f"{title}: indices contain {came} for axis {axis}, which has {size} elements; they "
                "count from 0" + (f" to {size - 1}." if size else ", and there are none.")
            )
    return SparseTensor(shape, LayoutType.COO, (_int64(places),), elements.row_major(values))


def csr_from_parts(
    title: str, shape: Sequence[int], pointers: Array, columns: Array, values: Tensor
) -> SparseTensor:
    """Return a CSR tensor of row pointers and columns that are checked."""
    _check_shape(title, shape)
    if len(shape) != 2 or pointers.shape != (shape[0] + 1,) or columns.shape != values.shape:
        raise InvalidArgument(
            f"{title}: of shape {tuple(shape)}, with row pointers {pointers.shape}, columns "
            f"{columns.shape} and values {values.shape}, no CSR tensor can be made."
        )
    rising = pointers[0] == 0 and pointers[-1] == values.size
    if not rising or bool((pointers[1:] < pointers[:-1]).any()):
        raise InvalidArgument(f"{title}: the row pointers do not rise from 0 to {values.size}.")
    if values.size and (int(columns.min()) < 0 or int(columns.max()) >= shape[1]):
        raise InvalidArgument(f"{title}: the columns are not from 0 to {shape[1] - 1}.")
    places = (_int64(pointers), _int64(columns))
    return SparseTensor(shape, LayoutType.CSR, places, elements.row_major(values))


def _check_shape(title: str, shape: Sequence[int]) -> None:
    if not is_shape(shape):
        raise InvalidArgument(f"{title}: {tuple(shape)} is not a shape.")


def _int64(array: Array) -> Array:
    return np.ascontiguousarray(array, np.int64)


def to_tensors(x: SparseTensor) -> tuple[str, tuple[int, ...], tuple[Tensor, ...]]:
    """Take a sparse tensor apart: layout, shape, and its arrays, the values last."""
    places = tuple(from_numpy(array) for array in x._alive())
    return x.layout.type.name.lower(), x.shape, (*places, x.values)


def from_tensors(layout: str, shape: tuple[int, ...], parts: Sequence[Tensor]) -> SparseTensor:
    """Put a sparse tensor together from its parts, which are checked."""
    title = "a sparse tensor"
    *places, values = parts
    if layout not in _LAYOUTS or len(places) != (1 if layout == "coo" else 2):
        raise InvalidArgument(f"{title}: {layout!r} with {len(places)} arrays is not known.")
    check_dtype(title, "values", values.dtype)
    if any(part.dtype is not int64 for part in places):
        raise InvalidArgument(f"{title}: indices must be int64.")
    arrays = [part.numpy() for part in places]
    if layout == "csr":
        return csr_from_parts(title, shape, arrays[0], arrays[1], values)
    return coo_from_parts(title, shape, arrays[0], values)


copyreg.pickle(SparseTensor, lambda x: (from_tensors, to_tensors(x)))


# ---- the sparse arrays of others ----------------------------------------------------------------


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


def _values(title: str, data: Array) -> Tensor:
    """Return values on the memory of an array, if it can be used as it is."""
    try:
        dt = dtype(data.dtype)
    except StatusError:
        raise TypeMismatch(
            f"{title}: the array is of {data.dtype}, for which suanzi has no dtype. Convert it "
            "first, with astype."
        ) from None
    if dt not in DTYPES:
        check_dtype(title, "array", dt)
    # Any byte but 0 is true to NumPy; a copy makes it 1, as it is here.
    if dt is bool_ or not data.flags.c_contiguous or not data.flags.aligned:
        return tensor(data)
    return from_numpy(data) if data.dtype.isnative else tensor(data)
