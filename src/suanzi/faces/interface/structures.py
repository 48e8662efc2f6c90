"""The structures of A.1, as views of a tensor: fields, names and numbers as they are printed there.

They are made on request and copy nothing but numbers; `of` takes a tensor, dense or
sparse. Where a function of the standard takes one, give it: a `DataType` for a dtype, a `Shape`,
with its layout, for a shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from operator import index
from typing import Any

from suanzi.base.device import Device
from suanzi.base.dtypes import DTYPES, DType
from suanzi.base.dtypes import bool as bool_
from suanzi.base.layout import Layout, LayoutType
from suanzi.base.status import InvalidArgument
from suanzi.tensors.sparse.tensor import SparseTensor
from suanzi.tensors.tensor import Tensor


class TypeCode(IntEnum):
    """The type codes: the six of A.1, and ours, which it leaves open.

    Quantised dtypes, bfloat16 and the two of float8 have codes of their own: width and kind alone
    would not tell them from others.
    """

    kChar = 0
    kBool = 1
    kInt = 2
    kUInt = 3
    kReal = 4
    kComplex = 5
    kSymmetricInt = 6
    kAsymmetricUInt = 7
    kAsymmetricInt = 8
    kChannelSymmetricInt = 9
    kBFloat = 10
    kFloat8E4M3FN = 11
    kFloat8E5M2 = 12


@dataclass(frozen=True)
class DataType:
    """A type code and a number of bits; a complex number counts both of its parts.

    >>> DataType.of(sz.complex64)
    DataType(code=<TypeCode.kComplex: 5>, size=64)
    >>> DataType(4, 16).dtype
    suanzi.float16
    """

    code: TypeCode
    size: int

    def __post_init__(self) -> None:
        """Check that there is such a dtype; a bool is of 1 bit where one counts what it needs."""
        if (self.code, self.size) == (TypeCode.kBool, 1):
            object.__setattr__(self, "size", bool_.size)
        found = next((d for d in DTYPES if (d.code, d.size) == (self.code, self.size)), None)
        if found is None:
            known = sorted({d.size for d in DTYPES if d.code == self.code})
            raise InvalidArgument(
                f"DataType: there is no dtype of code {self.code!r} with {self.size!r} bits; "
                + (
                    f"this code has {', '.join(map(str, known))}."
                    if known
                    else "codes are 0 to 12."
                )
            )
        object.__setattr__(self, "code", TypeCode(self.code))

    @classmethod
    def of(cls, x: DType | Tensor | SparseTensor) -> DataType:
        """Return that of a dtype or a tensor."""
        dtype = x if isinstance(x, DType) else x.dtype
        return cls(TypeCode(dtype.code), dtype.size)

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return next(d for d in DTYPES if (d.code, d.size) == (self.code, self.size))


@dataclass(frozen=True)
class Shape:
    """Sizes and layout; the layout is part of it.

    >>> Shape((2, 3))
    Shape(dims=(2, 3), layout=Layout(type=<LayoutType.DENSE: 0>, min2maj=(1, 0)))
    >>> Shape((2, 3)).ndim
    2
    """

    dims: Sequence[int]
    layout: Layout = field(default=None)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Make the sizes a tuple of integers, and the layout row-major where there is none."""
        try:
            dims = tuple(index(n) for n in self.dims)
        except TypeError:
            raise InvalidArgument(f"Shape: dims is {self.dims!r}; they must be integers.") from None
        object.__setattr__(self, "dims", dims)
        if self.layout is None:
            order = tuple(range(len(dims) - 1, -1, -1))
            object.__setattr__(self, "layout", Layout(LayoutType.DENSE, order))

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.dims)

    @classmethod
    def of(cls, x: Tensor | SparseTensor) -> Shape:
        """Return that of a tensor; `min2maj` is None for a view with gaps, which A.1 cannot say."""
        return cls(x.shape, x.layout)


@dataclass(frozen=True)
class StorageImpl:
    """The memory of a tensor: its dtype, its device, how many elements, and where they begin."""

    dtype: DataType
    device: Device
    size: int
    """In elements."""
    data: int
    """The address of the first."""

    @classmethod
    def of(cls, x: Tensor | SparseTensor) -> StorageImpl:
        """Return that of a tensor; of a sparse one, of the elements it stores."""
        held = x.values if isinstance(x, SparseTensor) else x
        storage = held.storage
        return cls(DataType.of(held.dtype), storage.device, storage.size, storage.data)


@dataclass(frozen=True)
class TensorImpl:
    """A tensor as A.1 has it.

    >>> impl = TensorImpl.of(sz.tensor([[1, 2, 3], [4, 5, 6]], sz.int16)[1:])
    >>> impl.size, impl.offset, impl.shape.dims, impl.storage.size, impl.storage.dtype.size
    (3, 3, (1, 3), 6, 16)
    """

    size: int
    offset: int
    """In elements, from the first of the storage."""
    shape: Shape
    scale: tuple[float, ...] | None
    zero_point: int | None
    storage: StorageImpl

    @classmethod
    def of(cls, x: Tensor | SparseTensor) -> TensorImpl:
        """Return that of a tensor."""
        plain: Any = x if isinstance(x, Tensor) else None
        return cls(
            x.size,
            plain.offset if plain is not None else 0,
            Shape.of(x),
            None if plain is None else plain.scale,
            None if plain is None else plain.zero_point,
            StorageImpl.of(x),
        )
