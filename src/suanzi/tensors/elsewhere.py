"""What tensors have in common whose elements are on a device, or on several machines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from suanzi.base.shapes import sizes_of
from suanzi.base.status import InvalidArgument, TypeMismatch
from suanzi.promote import registry
from suanzi.tensors.methods import Methods
from suanzi.tensors.symbols import Symbols

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Self

    from suanzi.base.dtypes import DType
    from suanzi.tensors.tensor import Tensor


class Elsewhere(Symbols, Methods):
    """A tensor that operators run on where it is, and that `to_host` fetches."""

    # NumPy must leave `array + tensor` to the tensor, which knows how to promote.
    __array_ufunc__ = None

    if TYPE_CHECKING:

        @property
        def dtype(self) -> DType:
            """The type of the elements."""

        @property
        def shape(self) -> tuple[int, ...]:
            """The number of elements along each axis."""

        def to_host(self) -> Tensor:
            """Return the elements as a tensor of the CPU."""

        def __getitem__(self, key: Any) -> Self: ...

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of the elements."""
        return self.size * self.dtype.itemsize

    # ---- to this machine -------------------------------------------------------------------------

    def numpy(self) -> np.ndarray[Any, Any]:
        """Return the elements as a NumPy array: all of them are fetched."""
        return self.to_host().numpy()

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers: all of them are fetched."""
        return self.to_host().tolist()

    def item(self) -> bool | int | float | complex | bytes:
        """Return the only element as a Python number."""
        if self.size != 1:
            raise InvalidArgument(
                f"item: the tensor has {self.size} elements, shape {self.shape}; it must have one."
            )
        return self.to_host().item()

    # ---- other forms of it -----------------------------------------------------------------------

    def reshape(self, *dims: int | Sequence[int]) -> Any:
        """Return the elements in another shape, row by row; one of the sizes may be -1."""
        return self._call("reshape", sizes_of(self.size, dims))

    @property
    def T(self) -> Self:
        """It with its axes in reverse order."""
        return self._call("transpose")

    @property
    def real(self) -> Self:
        """The real part."""
        return self._call("real")

    @property
    def imag(self) -> Self:
        """The imaginary part."""
        return self._call("imag")

    def reduce(
        self, mode: Any = "SUM", axis: int | Sequence[int] | None = None, keep_dims: bool = False
    ) -> Self:
        """Combine the elements along axes, as :func:`suanzi.reduce`."""
        return self._call("reduce", mode, axis, keep_dims=keep_dims)

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Self:
        made: Self = registry.call(name, self, *args, **kwargs)
        return made

    # ---- Python ----------------------------------------------------------------------------------

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeMismatch("len: a 0-d tensor has no length.")
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        if self.ndim == 0:
            raise TypeMismatch("a 0-d tensor cannot be iterated over.")
        return (self[i] for i in range(self.shape[0]))

    def __bool__(self) -> bool:
        return bool(self._only("bool"))

    def __int__(self) -> int:
        return int(self._only("int"))

    def __float__(self) -> float:
        return float(self._only("float"))

    def __complex__(self) -> complex:
        return complex(self._only("complex"))

    def _only(self, name: str) -> Any:
        if self.size != 1:
            raise InvalidArgument(
                f"{name}: the tensor has {self.size} elements, which are not one value."
            )
        return self.item()

    def _of_symbol(self, name: str, operands: tuple[Any, ...]) -> Any:
        return registry.call(name, *operands)
