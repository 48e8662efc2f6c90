"""Two coalesced sparse tensors of one shape brought together: all their places, or the common ones.

CSR is merged row by row. COO is one row, whose columns are the places in the dense tensor.
"""

from __future__ import annotations

import math

from suanzi import _core
from suanzi.base.layout import LayoutType
from suanzi.base.numpy import Array, np
from suanzi.tensors.sparse import elements, structure
from suanzi.tensors.sparse.tensor import SparseTensor
from suanzi.tensors.tensor import Tensor

IN_BOTH = 3
"""What `united` says of a place that both tensors store; it is 1 of x alone, and 2 of y alone."""


def united(x: SparseTensor, y: SparseTensor) -> tuple[SparseTensor, Tensor, Array]:
    """Return all places with the values of x, those of y there, and which of the two store each.

    A tensor that does not store a place has a zero there.
    """
    rows_of_x, rows_of_y = _rows(x, y)
    pointers, columns, a, b, sides = _core.unite_rows(*rows_of_x, x.values, *rows_of_y, y.values)
    both_csr = x.kind is LayoutType.CSR and y.kind is LayoutType.CSR
    kind = LayoutType.CSR if both_csr else LayoutType.COO
    found, keys = elements.raw(sides), elements.integers(columns)
    if both_csr:
        places: tuple[Array, ...] = (elements.integers(pointers), keys)
    elif math.prod(x.shape) < 2**63:
        places = (structure.coordinates_of(x.shape, keys),)
    else:
        coordinates = np.empty((x.ndim, len(keys)), np.int64)
        coordinates[:, found & 1 != 0] = x.coordinates
        coordinates[:, found & 2 != 0] = y.coordinates
        places = (coordinates,)
    return SparseTensor(x.shape, kind, places, a, True), b, found


def common(x: SparseTensor, y: SparseTensor) -> tuple[SparseTensor, Tensor]:
    """Return the places that both store with the values of x, and those of y there."""
    rows_of_x, rows_of_y = _rows(x, y)
    pointers, *both = _core.common_rows(*rows_of_x, *rows_of_y)
    in_x, in_y = (elements.integers(places) for places in both)
    a, b = elements.take(x.values, in_x), elements.take(y.values, in_y)
    if x.kind is LayoutType.CSR and y.kind is LayoutType.CSR:
        places = (elements.integers(pointers), x.along(1)[in_x])
        return SparseTensor(x.shape, LayoutType.CSR, places, a, True), b
    coordinates = structure.picked(x.coordinates, in_x)
    return SparseTensor(x.shape, LayoutType.COO, (coordinates,), a, True), b


def _rows(x: SparseTensor, y: SparseTensor) -> list[tuple[Tensor, Tensor]]:
    """Return row pointers and columns of both."""
    if x.kind is LayoutType.CSR and y.kind is LayoutType.CSR:
        return [(one.row_pointers, one.columns) for one in (x, y)]
    keys = structure.keys_of(x.shape, x.coordinates, y.coordinates)
    return [elements.one_row(of_one) for of_one in keys]
