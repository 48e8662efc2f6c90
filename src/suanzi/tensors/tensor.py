"""Tensor: elements of one dtype in a shape, over memory that views can share.

The type itself, its memory and Python's operators are native; the methods here are what Python
adds.

>>> x = sz.tensor([[1, 2], [3, 4]], sz.float16)
>>> x + 1
Tensor([[2, 3],
        [4, 5]], dtype=float16)
>>> x.shape, x.dtype, x.layout.min2maj, x.device
((2, 2), suanzi.float16, (1, 0), Device('cpu'))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from operator import index, mul
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

from suanzi import _core
from suanzi.base.device import Device, DeviceLike
from suanzi.base.dtypes import DTypeLike
from suanzi.base.dtypes import dtype as dtype_of
from suanzi.base.hints import shown
from suanzi.base.layout import Layout, LayoutType, min2maj_of
from suanzi.base.numpy import Array, np
from suanzi.base.shapes import sizes_of
from suanzi.base.status import InvalidArgument, StatusError, TypeMismatch, UninitializedObject
from suanzi.promote.registry import LOADERS
from suanzi.tensors.exchange import check_room, to_dlpack, to_numpy
from suanzi.tensors.methods import Methods, call
from suanzi.tensors.parts import from_parts, int_repr, is_destroyed, readable, to_parts

if TYPE_CHECKING:
    from suanzi.ops.reduction_modes import ReduceFunction, ReduceMode


@_core.make_tensor_type
class Tensor(Methods):
    """Elements of one dtype in a shape. Make one with :func:`tensor`.

    >>> sz.tensor([1, 2], sz.int8) + sz.tensor([0.5], sz.float16)
    Tensor([1.5, 2.5], dtype=float16)
    """

    if TYPE_CHECKING:
        strides: tuple[int, ...]
        offset: int
        scale: tuple[float, ...] | None
        zero_point: int | None
        channel_axis: int | None
        is_array_api: bool

        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __rand__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __ror__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __rxor__(self, other: Any) -> Tensor: ...
        def __lshift__(self, other: Any) -> Tensor: ...
        def __rlshift__(self, other: Any) -> Tensor: ...
        def __rshift__(self, other: Any) -> Tensor: ...
        def __rrshift__(self, other: Any) -> Tensor: ...
        def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __pos__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __hash__(self) -> int: ...
        def __getitem__(self, key: Any) -> Tensor: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...

    @property
    def storage(self) -> _core.Storage:
        """The memory, which views share: two tensors on one storage have equal storages."""
        return _core.storage(self)

    @property
    def device(self) -> Device:
        """The device the memory is on."""
        found: Device = self.storage.device
        return found

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return :mod:`suanzi.array_api`, the namespace of the Python array API standard."""
        namespace = LOADERS["array_api"]()
        if api_version not in (None, *namespace.declare.VERSIONS):
            raise InvalidArgument(
                f"__array_namespace__: api_version is {shown(api_version)}; available: "
                f"{', '.join(namespace.declare.VERSIONS)}."
            )
        return namespace

    @property
    def mT(self) -> Tensor:
        """Matrices transposed: a view with the last two axes in each other's place."""
        if self.ndim < 2:
            raise InvalidArgument(f"mT: the tensor has shape {self.shape}; it needs two axes.")
        return self.transpose(*range(self.ndim - 2), self.ndim - 1, self.ndim - 2)

    def to_device(self, device: DeviceLike, /, *, stream: object = None) -> Any:
        """Return the tensor on a device: itself if it is there, else a copy of the provider's own.

        A stream is the array API's, and no device here has one: it must be None.

        >>> x = sz.tensor([1, 2])
        >>> x.to_device("cpu") is x
        True
        """
        from suanzi.base.device import provider_of, upload

        if is_destroyed(self):
            raise UninitializedObject("to_device: the tensor was destroyed.")
        if stream is not None:
            raise InvalidArgument(f"to_device: stream is {shown(stream)}; it must be None.")
        try:
            place = Device(device)
            provider = provider_of(place)
            return self if provider is None else upload(self, place, provider)
        except StatusError as error:
            raise error.__class__(f"to_device: {error}") from error

    @property
    def layout(self) -> Layout:
        """The order of the axes in memory."""
        return Layout(LayoutType.DENSE, min2maj_of(self.shape, self.strides))

    @property
    def real(self) -> Tensor:
        """The real part, as :func:`suanzi.real`: a view, or the tensor itself if it is real."""
        return call("real", self)  # type: ignore[no-any-return]

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Tensor:
        """The imaginary part, as :func:`suanzi.imag`: a view, or zeros if the tensor is real."""
        return call("imag", self)  # type: ignore[no-any-return]

    @imag.setter
    def imag(self, value: Any) -> None:
        if self.dtype.kind != "complex":
            raise TypeMismatch(
                f"imag: the tensor is {self.dtype}, which has no imaginary part to set. Cast it "
                "first, for example with sz.cast(x, sz.complex64)."
            )
        self.imag[...] = value

    def reshape(self, *dims: int | Sequence[int]) -> Tensor:
        """Return the elements in another shape, as :func:`suanzi.reshape`.

        One of the sizes may be -1: it is what the others leave.

        >>> sz.tensor([1, 2, 3, 4, 5, 6]).reshape(2, -1).shape
        (2, 3)
        """
        return call("reshape", self, sizes_of(self.size, dims))  # type: ignore[no-any-return]

    def reduce(
        self,
        mode: ReduceMode | ReduceFunction | str = "SUM",
        axis: int | Sequence[int] | None = None,
        keep_dims: bool = False,
    ) -> Tensor:
        """Combine the elements along axes, as :func:`suanzi.reduce`.

        >>> sz.tensor([[1, 2], [3, 4]]).reduce("MAX", axis=1)
        Tensor([2, 4], dtype=int64)
        """
        return call("reduce", self, mode, axis, keep_dims=keep_dims)  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        """The bytes of the elements, without those that a view passes over.

        >>> sz.zeros((3, 4), sz.bfloat16).nbytes
        24
        """
        return self.size * self.dtype.itemsize

    def astype(self, dtype: DTypeLike, /, *, copy: bool = True) -> Tensor:
        """Return the elements in another dtype, as :func:`suanzi.cast`.

        Without `copy`, a tensor that has the dtype is returned as it is.

        >>> sz.tensor([1.5, -1.5]).astype(sz.int8)
        Tensor([ 1, -1], dtype=int8)
        """
        target = dtype_of(dtype)
        if not copy and target is self.dtype:
            return self
        return call("cast", self, target)  # type: ignore[no-any-return]

    def numpy(self) -> Array:
        """Return a NumPy array on the same memory.

        bfloat16, float8, int4, uint4, uint1 and complex32 come as dtypes of ml_dtypes.

        >>> x = sz.tensor([1, 2], sz.bfloat16)
        >>> x.numpy()
        array([1, 2], dtype=bfloat16)
        """
        return to_numpy(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"an array of {dtype} needs a copy of {self.dtype} elements")
            return array.astype(dtype)
        return array.copy() if copy else array

    # Dask asks which of two chunks says how they are multiplied; NumPy's own is 0.
    __array_priority__ = 1.0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Do what a ufunc of NumPy asks, ``array + tensor`` among them."""
        return LOADERS["array_api.numpy_functions"]().apply_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, func: Any, types: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Do what a function of NumPy asks, such as ``np.sum``."""
        return LOADERS["array_api.numpy_functions"]().apply_function(func, args, kwargs)

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        return to_dlpack(self, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def item(self) -> bool | int | float | complex | bytes:
        """Return the only element as a Python number.

        >>> sz.tensor([0.5], sz.float8_e5m2).item()
        0.5
        """
        if self.size != 1:
            raise InvalidArgument(
                f"item: the tensor has {self.size} elements, shape {self.shape}; it must have one."
            )
        found = self.tolist()
        while isinstance(found, list):
            found = found[0]
        return found  # type: ignore[no-any-return]

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers.

        Those of a quantised tensor are what it stands for, exactly.

        >>> sz.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        lists = max(accumulate(self.shape[:-1], mul), default=1)  # of one depth, perhaps all empty
        check_room(64 * lists + 8 * self.size, f"lists of shape {self.shape}")
        exact = self
        if self.zero_point is not None:  # cheaper to ask for than scales
            from suanzi.base.dtypes import float64

            exact = _core.dequantize(self, float64, False)
        found = _core.to_lists(exact)
        return readable(self).tolist() if found is None else found

    def int_repr(self) -> Tensor:
        """Return the integers that a quantised tensor stores, on the same memory.

        >>> sz.create_quant_tensor((2,), 0.5, sz.QT_SYM_INT8, values=[1, -1]).int_repr()
        Tensor([ 1, -1], dtype=int8)
        """
        return int_repr(self)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeMismatch("len: a 0-d tensor has no length.")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if self.ndim == 0:
            raise TypeMismatch("a 0-d tensor cannot be iterated over.")
        return (self[i] for i in range(self.shape[0]))

    def __reversed__(self) -> Iterator[Tensor]:
        if self.ndim == 0:
            raise TypeMismatch("a 0-d tensor cannot be iterated over.")
        return iter(self[::-1])

    def __contains__(self, value: Any) -> bool:
        found = self == value
        return isinstance(found, Tensor) and bool(_core.mask_indices(found).size)

    def __bool__(self) -> bool:
        if self.size != 1:
            raise InvalidArgument(
                f"bool: the truth of a tensor with {self.size} elements is not one value."
            )
        return bool(self.item())

    def __int__(self) -> int:
        return int(self._number())  # type: ignore[arg-type]

    def __float__(self) -> float:
        return float(self._number())  # type: ignore[arg-type]

    def __complex__(self) -> complex:
        return complex(self._number())

    def _number(self) -> bool | int | float | complex:
        value = self.item()
        if isinstance(value, bytes):
            raise TypeMismatch("a tensor of char holds text, which is not a number.")
        return value

    def __index__(self) -> int:
        if self.dtype.kind not in ("int", "uint", "bool") or self.size != 1:
            raise TypeMismatch(
                f"an index is one integer, not a tensor of {self.dtype} with shape {self.shape}."
            )
        return int(self)

    def __repr__(self) -> str:
        from suanzi.tensors.printing import describe

        try:
            return describe(self)
        except UninitializedObject:
            return "Tensor(destroyed)"

    def _repr_html_(self) -> str | None:
        from suanzi.tensors.html import tensor_page

        try:
            return tensor_page(self)
        except UninitializedObject:
            return None  # the text says so

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else str(self)

    def __divmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return other // self, other % self

    def __round__(self, ndigits: None = None) -> Tensor:
        if ndigits is not None:
            raise TypeMismatch("round: a tensor is rounded to whole numbers; leave ndigits out.")
        return call("round", self)  # type: ignore[no-any-return]

    def __copy__(self) -> Tensor:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Tensor:
        return self.copy()

    def __reduce_ex__(
        self, protocol: SupportsIndex, /
    ) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
        return from_parts, to_parts(self, index(protocol))


TensorLike: TypeAlias = "Tensor | bool | int | float | complex | np.generic | Array"
"""What operators take as an operand."""
