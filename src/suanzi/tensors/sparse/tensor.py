"""SparseTensor: values and their places, as COO of any rank or as CSR of rank 2.

>>> x = sz.create_sparse_tensor((2, 3), [[0, 1], [1, 2]], [5, 7])
>>> x * 2
SparseTensor({(0, 1): 10, (1, 2): 14}, shape=(2, 3), dtype=float32, layout=coo)
>>> x.to_dense()
Tensor([[0, 5, 0],
        [0, 0, 7]], dtype=float32)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi.base.device import CPU, Device
from suanzi.base.dtypes import DType
from suanzi.base.layout import Layout, LayoutType
from suanzi.base.numpy import Array, np
from suanzi.base.shapes import sizes_of
from suanzi.base.status import AllocFailed, InvalidArgument, TypeMismatch, UninitializedObject
from suanzi.tensors.exchange import from_numpy
from suanzi.tensors.parts import copy as copy_of
from suanzi.tensors.sparse import elements, structure
from suanzi.tensors.symbols import Symbols

if TYPE_CHECKING:
    from suanzi._core import Storage
    from suanzi.tensors.tensor import Tensor


class SparseTensor(Symbols):
    """Elements of one dtype in a shape, of which only some are stored; the others are zero.

    Make one with :func:`suanzi.create_sparse_tensor`, :func:`suanzi.to_sparse`,
    :func:`suanzi.from_scipy` or :func:`suanzi.from_pydata_sparse`.

    >>> x = sz.to_sparse(sz.tensor([[0, 2], [3, 0]], sz.int8), "csr")
    >>> x.nnz, x.row_pointers, x.columns, x.values
    (2, Tensor([0, 1, 2], dtype=int64), Tensor([1, 0], dtype=int64), Tensor([2, 3], dtype=int8))
    """

    # NumPy must leave `array + sparse` to the sparse tensor, which knows how to promote.
    __array_ufunc__ = None

    def __init__(
        self,
        shape: Sequence[int],
        layout: LayoutType,
        places: tuple[Array, ...],
        values: Tensor,
        coalesced: bool | None = None,
    ) -> None:
        """Keep what is known to be right: of COO the coordinates, of CSR pointers and columns."""
        self._shape = tuple(shape)
        self._type = layout
        self._places: tuple[Array, ...] | None = places
        self._values = values
        self._coalesced = coalesced
        self._narrow: tuple[Array, Array] | None = None
        self._matrix: Any = None  # SciPy's, on the same values, kept for products

    # ---- what it is ------------------------------------------------------------------------------

    def _alive(self) -> tuple[Array, ...]:
        if self._places is None:
            raise UninitializedObject("the sparse tensor was destroyed.")
        return self._places

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements along each axis."""
        self._alive()
        return self._shape

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self.values.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements, zeros among them."""
        return math.prod(self.shape)

    @property
    def nnz(self) -> int:
        """The number of elements that are stored; zeros and duplicates among them count."""
        return self.values.shape[0]

    @property
    def layout(self) -> Layout:
        """The format, COO or CSR; the order of axes is that of the dense tensor it makes."""
        return Layout(self.kind, tuple(range(self.ndim - 1, -1, -1)))

    @property
    def kind(self) -> LayoutType:
        """The type of the layout alone."""
        self._alive()
        return self._type

    @property
    def device(self) -> Device:
        """The device the memory is on."""
        self._alive()
        return CPU

    @property
    def storage(self) -> Storage:
        """The memory of the values."""
        return self.values.storage

    @property
    def values(self) -> Tensor:
        """The stored elements, [nnz]."""
        self._alive()
        return self._values

    @property
    def indices(self) -> Tensor:
        """The coordinates of the stored elements: int64, [nnz, ndim], zero-based."""
        return from_numpy(self.coordinates.T)

    @property
    def coordinates(self) -> Array:
        """The coordinates as a NumPy array with one row per axis, [ndim, nnz]."""
        if self.kind is LayoutType.COO:
            return self._alive()[0]
        return np.stack([self.along(0), self.along(1)])

    def along(self, axis: int) -> Array:
        """Return the coordinates along one axis."""
        places = self._alive()
        if self.kind is LayoutType.CSR:
            return places[1] if axis else structure.rows_of(places[0])
        found: Array = places[0][axis]
        return found

    @property
    def row_pointers(self) -> Tensor:
        """Of CSR, where each row begins in `columns` and `values`, and where the last one ends."""
        return elements.listed(self._csr("row pointers")[0])

    @property
    def columns(self) -> Tensor:
        """Of CSR, the column of each stored element."""
        return elements.listed(self._csr("columns")[1])

    def _csr(self, wanted: str) -> tuple[Array, ...]:
        if self.kind is not LayoutType.CSR:
            raise TypeMismatch(f"a COO tensor has no {wanted}; use to_csr() first.")
        return self._alive()

    @property
    def is_coalesced(self) -> bool:
        """Whether the elements are in row-major order, each of them once."""
        if self._coalesced is None:
            (keys,) = structure.keys_of(self.shape, self.coordinates)
            self._coalesced = structure.is_increasing(keys)
        return self._coalesced

    # ---- other forms of it -----------------------------------------------------------------------

    def with_values(self, values: Tensor) -> SparseTensor:
        """Return other values in the same places, which are shared."""
        values = elements.row_major(values)  # an operator may return a view
        made = SparseTensor(self.shape, self.kind, self._alive(), values, self._coalesced)
        made._narrow = self._narrow
        return made

    def narrow_places(self) -> tuple[Array, Array]:
        """Return row pointers and columns as SciPy is fastest with them, and keep them."""
        if self._narrow is None:
            pointers, columns = self._csr("row pointers")
            unit = np.int32 if max(*self.shape, self.nnz) < 2**31 else np.int64
            self._narrow = pointers.astype(unit, copy=False), columns.astype(unit, copy=False)
        return self._narrow

    def coalesce(self) -> SparseTensor:
        """Return it with its elements in row-major order and duplicates added up.

        Sums are rounded once, those of float16 and narrower are made in float32; of bools, True
        wins. A tensor that is coalesced already is returned as it is.

        >>> sz.create_sparse_tensor((4,), [[3], [0], [3]], [1, 2, 4]).coalesce()
        SparseTensor({0: 2, 3: 5}, shape=(4,), dtype=float32, layout=coo)
        """
        if self._coalesced:
            return self
        coordinates = self.coordinates
        (keys,) = structure.keys_of(self.shape, coordinates)
        if self._coalesced is None:
            self._coalesced = structure.is_increasing(keys)
        if self._coalesced:
            return self
        keys, order = structure.in_order(keys)
        values = elements.take(self.values, order)
        starts = structure.starts_of_runs(keys)
        if len(starts) < len(keys):
            values = elements.sum_runs(values, starts)
            keys, order = keys[starts], order[starts]
        if self.size < 2**63:
            places = structure.coordinates_of(self.shape, keys)
        else:
            places = structure.picked(coordinates, order)
        made = SparseTensor(self.shape, LayoutType.COO, (places,), values, True)
        return made.to_csr() if self.kind is LayoutType.CSR else made

    def to_coo(self) -> SparseTensor:
        """Return it as COO; the values are shared."""
        if self.kind is LayoutType.COO:
            return self
        return SparseTensor(
            self.shape, LayoutType.COO, (self.coordinates,), self.values, self._coalesced
        )

    def to_csr(self) -> SparseTensor:
        """Return it as CSR, coalesced; it must have two axes.

        >>> sz.create_sparse_tensor((3, 2), [[2, 1], [0, 0]], [1, 2]).to_csr().row_pointers
        Tensor([0, 1, 1, 2], dtype=int64)
        """
        if self.kind is LayoutType.CSR:
            return self
        if self.ndim != 2:
            raise InvalidArgument(
                f"to_csr: the tensor has {self.ndim} axes; CSR has two. Use reshape first."
            )
        if not self._coalesced and self.nnz and max(self.nnz, self.shape[1]) < 2**31:
            return self._rows_in_order()
        sorted_ = self.coalesce()
        rows, columns = sorted_.coordinates
        pointers = structure.pointers_of(rows, self.shape[0])
        return SparseTensor(self.shape, LayoutType.CSR, (pointers, columns), sorted_.values, True)

    def _rows_in_order(self) -> SparseTensor:
        """Return COO of two axes as CSR, by counting: cheaper than sorting all of it."""
        structure.check_pointers(self.shape[0])
        rows, columns = map(elements.listed, self.coordinates)
        found = _core.rows_in_order(rows, columns, self.values, self.shape[0])
        if found is None:  # in order already, and each once
            self._coalesced = True
            return self.to_csr()
        pointers, columns, values, repeated = found
        if repeated is not None:
            which, starts, together = repeated
            elements.put_sums(values, elements.integers(which), together, elements.integers(starts))
        places = elements.integers(pointers), elements.integers(columns)
        return SparseTensor(self.shape, LayoutType.CSR, places, values, True)

    def to_dense(self) -> Tensor:
        """Return it as a tensor; duplicates add up."""
        x = self.coalesce()
        try:
            made = _core.empty(x.shape, x.dtype)
        except AllocFailed as error:
            raise AllocFailed(f"to_dense: {error}") from None
        if x.kind is LayoutType.CSR:
            rows = x.row_pointers, x.columns
        else:
            rows = elements.one_row(structure.keys_of(x.shape, x.coordinates)[0])
        _core.fill_rows(made, *rows, x.values)
        return made

    def to_scipy(self) -> Any:
        """Return SciPy's ``coo_array`` or ``csr_array``: of a coalesced tensor on its memory."""
        from suanzi.tensors.sparse.exchange import to_scipy

        return to_scipy(self)

    def to_pydata_sparse(self) -> Any:
        """Return a ``COO`` of pydata/sparse; the values are shared."""
        from suanzi.tensors.sparse.exchange import to_pydata_sparse

        return to_pydata_sparse(self)

    # ---- operators as methods --------------------------------------------------------------------

    def transpose(self, perm: Sequence[int] = ()) -> SparseTensor:
        """Return it with axis i moved to place perm[i]; without `perm`, axes are reversed."""
        return self._call("transpose", perm)

    @property
    def T(self) -> SparseTensor:
        """It with its axes in reverse order."""
        return self.transpose()

    def reshape(self, *dims: int | Sequence[int]) -> SparseTensor:
        """Return it in another shape, its elements in row-major order; one size may be -1.

        >>> sz.create_sparse_tensor((2, 3), [[1, 0]], [5]).reshape(3, -1)
        SparseTensor({(1, 1): 5}, shape=(3, 2), dtype=float32, layout=coo)
        """
        return self._call("reshape", sizes_of(self.size, dims))

    def reduce(
        self, mode: Any = "SUM", axis: int | Sequence[int] | None = None, keep_dims: bool = False
    ) -> SparseTensor:
        """Combine the elements along axes, zeros among them; without `axis`, along all.

        `mode` is SUM, PROD, MAX, MIN, MEAN, LAND, LOR, LXOR, BAND, BOR or BXOR.

        >>> x = sz.create_sparse_tensor((2, 3), [[0, 1], [1, 2]], [5, -7])
        >>> x.reduce("MAX", axis=1)
        SparseTensor({0: 5}, shape=(2,), dtype=float32, layout=coo)
        >>> x.reduce("SUM").item()
        -2.0
        """
        return self._call("reduce", mode, axis, keep_dims=keep_dims)

    def _call(self, name: str, *args: Any, **kwargs: Any) -> SparseTensor:
        made: SparseTensor = self.__suanzi_operator__(name, (self, *args), kwargs)
        return made

    def __suanzi_operator__(self, name: str, args: Any, kwargs: Any) -> Any:
        return _forms(name, args, kwargs)

    def item(self) -> bool | int | float | complex | bytes:
        """Return the only element, stored or not, as a Python number."""
        if self.size != 1:
            raise InvalidArgument(
                f"item: the tensor has {self.size} elements, shape {self.shape}; it must have one."
            )
        return self.to_dense().item()

    # ---- Python ----------------------------------------------------------------------------------

    def __repr__(self) -> str:
        from suanzi.tensors.sparse.printing import describe_sparse

        try:
            return describe_sparse(self)
        except UninitializedObject:  # of the values alone, too
            return "SparseTensor(destroyed)"

    def _repr_html_(self) -> str | None:
        from suanzi.tensors.sparse.printing import sparse_page

        try:
            return sparse_page(self)
        except UninitializedObject:
            return None  # the text says so

    def place(self, i: int) -> tuple[int, ...]:
        """Return the coordinates of one stored element, without making those of all."""
        if self.kind is LayoutType.COO:
            return tuple(self._alive()[0][:, i].tolist())
        pointers, columns = self._alive()
        return int(pointers.searchsorted(i, side="right")) - 1, int(columns[i])

    def __copy__(self) -> SparseTensor:
        return copy(self)

    def __deepcopy__(self, memo: object) -> SparseTensor:
        return copy(self)

    def __getitem__(self, key: object) -> Tensor:
        self._alive()
        raise TypeMismatch(
            "x[key]: a sparse tensor has no elements by index. Make it dense first, with "
            "to_dense(), or use to_scipy()."
        )

    def __bool__(self) -> bool:
        if self.size != 1:
            raise InvalidArgument(
                f"bool: the truth of a tensor with {self.size} elements is not one value."
            )
        return bool(self.item())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        raise TypeMismatch(
            "NumPy has no sparse arrays; use to_dense() for all elements, or to_scipy()."
        )

    def __neg__(self) -> Any:
        return self._of_symbol("negative", (self,))

    def _of_symbol(self, name: str, operands: tuple[Any, ...]) -> Any:
        return self.__suanzi_operator__(name, operands, {})


_forms: Callable[[str, tuple[Any, ...], dict[str, Any]], Any]


def declare_forms(call: Callable[[str, tuple[Any, ...], dict[str, Any]], Any]) -> None:
    """Say what computes an operator, by name, of which an argument is sparse."""
    global _forms
    _forms = call


def copy(x: SparseTensor) -> SparseTensor:
    """Return a copy with memory of its own."""
    places = tuple(array.copy() for array in x._alive())
    return SparseTensor(x.shape, x.layout.type, places, copy_of(x.values), x._coalesced)


def destroy(x: SparseTensor) -> None:
    """Let go of the memory; the tensor cannot be used any more."""
    x._alive()
    x._places = x._narrow = x._matrix = None
    del x._values
