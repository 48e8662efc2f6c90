"""The methods that hands expect of a tensor, with NumPy's and the array API's meaning.

The last axis is -1, several axes are a tuple, none are all of them. The functions of `suanzi` keep
the standard's meaning, which now and then is another one.

>>> import suanzi as sz
>>> x = sz.tensor([[1, 2, 3], [4, 5, 6]], sz.int8)
>>> x.sum(), x.sum(axis=-1).dtype, x.mean(axis=0, keepdims=True).shape
(Tensor(21, dtype=int64), suanzi.int64, (1, 3))
>>> x.max(axis=1), x.argmax(), x.cumsum(-1)[0]
(Tensor([3, 6], dtype=int8), Tensor(5, dtype=int64), Tensor([1, 3, 6], dtype=int64))
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi._hints import shown
from suanzi.dtypes import DType, DTypeLike, float32, float64, int64, part, uint8, uint64
from suanzi.dtypes import dtype as dtype_of
from suanzi.registry import call
from suanzi.status import InvalidArgument, TypeMismatch
from suanzi.tensors.parts import converted, copy

if TYPE_CHECKING:
    from suanzi.tensors.tensor import Tensor

Axes = int | tuple[int, ...] | None


class Methods:
    """What of a tensor's methods is said by the functions of `suanzi`."""

    if TYPE_CHECKING:

        @property
        def dtype(self) -> DType: ...  # noqa: D102
        @property
        def shape(self) -> tuple[int, ...]: ...  # noqa: D102
        @property
        def ndim(self) -> int: ...  # noqa: D102
        @property
        def size(self) -> int: ...  # noqa: D102
        @property
        def T(self) -> Any: ...  # noqa: D102
        def reshape(self, *dims: Any) -> Tensor: ...  # noqa: D102
        def to_device(self, device: Any) -> Any: ...  # noqa: D102
        def __setitem__(self, key: Any, value: Any) -> None: ...

    # ---- along axes --------------------------------------------------------------------------

    def sum(
        self, axis: Axes = None, *, dtype: DTypeLike | None = None, keepdims: bool = False
    ) -> Tensor:
        """Return the sum; that of integers and bools is int64, or uint64, unless `dtype` is given.

        >>> import suanzi as sz
        >>> sz.tensor([100, 100], sz.int8).sum()
        Tensor(200, dtype=int64)
        """
        return _reduced(_summable(self, dtype), "SUM", axis, keepdims)

    def prod(
        self, axis: Axes = None, *, dtype: DTypeLike | None = None, keepdims: bool = False
    ) -> Tensor:
        """Return the product; that of integers and bools is int64, or uint64, or `dtype`."""
        return _reduced(_summable(self, dtype), "PROD", axis, keepdims)

    def mean(self, axis: Axes = None, *, keepdims: bool = False) -> Tensor:
        """Return the mean; that of integers and bools is float32."""
        return _reduced(self, "MEAN", axis, keepdims)

    def max(self, axis: Axes = None, *, keepdims: bool = False) -> Tensor:
        """Return the largest element; NaN where there is one."""
        return _reduced(self, "MAX", axis, keepdims)

    def min(self, axis: Axes = None, *, keepdims: bool = False) -> Tensor:
        """Return the smallest element; NaN where there is one."""
        return _reduced(self, "MIN", axis, keepdims)

    def any(self, axis: Axes = None, *, keepdims: bool = False) -> Tensor:
        """Return whether an element is not zero."""
        return _reduced(self, "LOR", axis, keepdims)

    def all(self, axis: Axes = None, *, keepdims: bool = False) -> Tensor:
        """Return whether no element is zero."""
        return _reduced(self, "LAND", axis, keepdims)

    def var(self, axis: Axes = None, *, correction: float = 0, keepdims: bool = False) -> Tensor:
        """Return the variance: the sum of squared distances from the mean by n - `correction`.

        It is computed in float32 at least, and rounded once.

        >>> import suanzi as sz
        >>> sz.tensor([1, 2, 3, 4], sz.bfloat16).var(), sz.tensor([1, 2, 3]).var(correction=1)
        (Tensor(1.25, dtype=bfloat16), Tensor(1, dtype=float32))
        """
        return _in_dtype(_variance(self, axis, correction, keepdims), _deviating(self.dtype))

    def std(self, axis: Axes = None, *, correction: float = 0, keepdims: bool = False) -> Tensor:
        """Return the square root of the variance, rounded once."""
        wide = _variance(self, axis, correction, keepdims)
        return _in_dtype(_computed("sqrt", wide.dtype, wide), _deviating(self.dtype))

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
        """Return the index of the largest element; without an axis, counted through all."""
        return _index(self, "argmax", axis, keepdims)

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
        """Return the index of the smallest element; without an axis, counted through all."""
        return _index(self, "argmin", axis, keepdims)

    def cumsum(self, axis: int | None = None, *, dtype: DTypeLike | None = None) -> Tensor:
        """Return the sums so far along an axis; without one, through all elements.

        Those of integers and bools are int64, or uint64, unless `dtype` is given.
        """
        wide = _summable(self, dtype)
        if axis is None:
            return call("cumsum", wide.reshape(-1), 0)  # type: ignore[no-any-return]
        return call("cumsum", wide, _counted(axis, self.ndim))  # type: ignore[no-any-return]

    def sort(self, axis: int = -1) -> None:
        """Put the elements in rising order along an axis, in place; a NaN counts as the largest.

        That is what NumPy's method does; :func:`suanzi.array_api.sort` makes a new tensor.

        >>> import suanzi as sz
        >>> x = sz.tensor([3, 1, 2], sz.int4)
        >>> x.sort()
        >>> x
        Tensor([1, 2, 3], dtype=int4)
        """
        self[...] = _sorted(self, _counted(axis, self.ndim))[0]

    def argsort(self, axis: int | None = -1) -> Tensor:
        """Return the indices that sort along an axis; without one, of all elements in one row.

        Equal elements keep their order.

        >>> import suanzi as sz
        >>> sz.tensor([3, 1, 2]).argsort()
        Tensor([1, 2, 0], dtype=int64)
        """
        if axis is None:
            return _sorted(self.reshape(-1), 0)[1]
        return _sorted(self, _counted(axis, self.ndim))[1]

    # ---- elements ----------------------------------------------------------------------------

    def clip(self, min: Any = None, max: Any = None) -> Tensor:
        """Return the elements, none below `min` or above `max`; as :func:`suanzi.clip`."""
        return call("clip", self, min, max)  # type: ignore[no-any-return]

    def abs(self) -> Tensor:
        """Return the magnitudes, as :func:`suanzi.abs`."""
        return call("abs", self)  # type: ignore[no-any-return]

    def conj(self) -> Tensor:
        """Return the conjugates, as :func:`suanzi.conj`; real numbers are their own."""
        return call("conj", self) if self.dtype.is_complex else self  # type: ignore[return-value]

    def round(self) -> Tensor:
        """Return the nearest whole numbers, of two the even one, as :func:`suanzi.round`."""
        return call("round", self)  # type: ignore[no-any-return]

    def exp(self) -> Tensor:
        """Return e to the power of each element, as :func:`suanzi.exp`."""
        return call("exp", self)  # type: ignore[no-any-return]

    def log(self) -> Tensor:
        """Return the natural logarithms, as :func:`suanzi.log`."""
        return call("log", self)  # type: ignore[no-any-return]

    def sqrt(self) -> Tensor:
        """Return the square roots, as :func:`suanzi.sqrt`."""
        return call("sqrt", self)  # type: ignore[no-any-return]

    def fill(self, value: Any) -> None:
        """Set every element to a number, as ``x[...] = value``."""
        self[...] = value

    def copy(self) -> Tensor:
        """Return a copy with memory of its own, in the same layout."""
        return copy(self)  # type: ignore[arg-type]

    def to(self, where: Any) -> Any:
        """Return the tensor in a dtype or on a device; itself if it is there.

        >>> import suanzi as sz
        >>> x = sz.tensor([1.5])
        >>> x.to(sz.float16).dtype, x.to("cpu") is x
        (suanzi.float16, True)
        """
        from suanzi.device import Device, DeviceType

        named = isinstance(where, str) and where.partition(":")[0].upper() in DeviceType.__members__
        if named or isinstance(where, Device | DeviceType):
            return self.to_device(where)
        target = dtype_of(where)
        return self if target is self.dtype else call("cast", self, target)

    # ---- shapes ------------------------------------------------------------------------------

    def flatten(self) -> Tensor:
        """Return a copy of the elements along one axis, row by row."""
        made = self.reshape(-1)
        return copy(made) if made.storage == _core.storage(self) else made

    def ravel(self) -> Tensor:
        """Return the elements along one axis, row by row; a view where there can be one."""
        return self.reshape(-1)

    def squeeze(self, axis: Axes = None) -> Tensor:
        """Return a view without axes of size 1: all of them, or those that are given.

        >>> import suanzi as sz
        >>> sz.zeros((1, 3, 1)).squeeze().shape, sz.zeros((1, 3, 1)).squeeze(-1).shape
        ((3,), (1, 3))
        """
        ones = tuple(i for i, n in enumerate(self.shape) if n == 1)
        axes = ones if axis is None else _several(axis, self.ndim)
        for one in axes:
            if isinstance(one, int) and 0 <= one < self.ndim and self.shape[one] != 1:
                raise InvalidArgument(
                    f"squeeze: axis {one} has size {self.shape[one]}; only axes of size 1 go."
                )
        if not axes:
            return self.reshape(self.shape)
        return call("squeeze", self, axes)  # type: ignore[no-any-return]

    def transpose(self, *axes: Any) -> Tensor:
        """Return a view with the axes in another order; without one, from the last to the first.

        >>> import suanzi as sz
        >>> sz.zeros((2, 3, 4)).transpose().shape, sz.zeros((2, 3, 4)).transpose(1, 0, -1).shape
        ((4, 3, 2), (3, 2, 4))
        """
        if not axes or axes == (None,):
            return self.T  # type: ignore[no-any-return]
        given = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
        order = _several(tuple(given), self.ndim)
        if set(order) == set(range(self.ndim)):  # the standard says where each axis goes
            order = tuple(order.index(i) for i in range(self.ndim))
        return call("transpose", self, order)  # type: ignore[no-any-return]

    def permute(self, *axes: Any) -> Tensor:
        """Return a view with the axes in another order, which must be given."""
        if not axes:
            raise TypeMismatch("permute: it takes the order of the axes, such as permute(1, 0).")
        return self.transpose(*axes)


def _counted(axis: Any, ndim: int) -> Any:
    """Return an axis counted from the first; what is wrong as it came: the operator says so."""
    if isinstance(axis, bool) or not hasattr(axis, "__index__"):
        return axis
    number = index(axis)
    return number + ndim if -ndim <= number < 0 else number


def _several(axis: Any, ndim: int) -> tuple[Any, ...]:
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    return tuple(_counted(one, ndim) for one in axes)


def _reduced(x: Any, mode: str, axis: Axes, keepdims: bool) -> Tensor:
    if isinstance(axis, tuple | list) and not axis:
        # Nothing is combined: the elements, in the dtype of the result.
        axes: Any = (x.ndim,)
        x = x.reshape(*x.shape, 1)
        keepdims = False
    else:
        axes = None if axis is None else _several(axis, x.ndim)
    return call("reduce", x, mode, axes, keep_dims=keepdims)  # type: ignore[no-any-return]


def _summable(x: Any, dtype: DTypeLike | None) -> Tensor:
    """Return a tensor in the dtype its elements are added in, as the array API has it."""
    if dtype is not None:
        target = dtype_of(dtype)
        return x if target is x.dtype else call("cast", x, target)  # type: ignore[no-any-return]
    if x.dtype.kind in ("bool", "int", "uint"):
        return _in_dtype(x, uint64 if x.dtype.kind == "uint" else int64)
    return x  # type: ignore[no-any-return]


def _in_dtype(x: Any, dt: DType) -> Tensor:
    """Return a tensor in a dtype, of whatever device."""
    if hasattr(x, "__suanzi_operator__"):
        return x if x.dtype is dt else call("cast", x, dt)  # type: ignore[no-any-return]
    return converted(x, dt)


def _computed(name: str, dt: DType, *operands: Any) -> Tensor:
    """Compute in a dtype that operands have already, on their device."""
    if hasattr(operands[0], "__suanzi_operator__"):
        return call(name, *operands)  # type: ignore[no-any-return]
    return _core.run_operator(name, list(operands), dt)[0]  # type: ignore[no-any-return]


def _index(x: Any, operator: str, axis: int | None, keepdims: bool) -> Tensor:
    if axis is None:
        found: Tensor = call(operator, x.reshape(-1), 0)
        return found.reshape((1,) * x.ndim) if keepdims else found
    return call(operator, x, _counted(axis, x.ndim), keepdim=keepdims)  # type: ignore[no-any-return]


def _sorted(x: Any, axis: Any) -> tuple[Tensor, Tensor]:
    """Return the elements in rising order, and where they were; bool is sorted as 0 and 1."""
    plain = _in_dtype(x, uint8) if x.dtype.kind == "bool" else x
    values, places = call("argsort", plain, axis, False)
    return _in_dtype(values, x.dtype), places


def _deviating(dt: DType) -> DType:
    """Return the dtype of a variance: real, and floating-point."""
    return part(dt) if dt.exponent_bits else float32


def _variance(x: Any, axis: Axes, correction: float, keepdims: bool) -> Tensor:
    if isinstance(correction, bool) or not isinstance(correction, int | float):
        raise TypeMismatch(f"var: correction is {shown(correction)}; it must be a real number.")
    if x.dtype.kind == "quantized":
        x = call("cast", x, float32)  # what it stands for, not what it stores
    dt = _deviating(x.dtype)
    wide = dt if dt.bits >= 32 and x.dtype.exponent_bits else float32
    if x.dtype.kind in ("int", "uint") and x.dtype.bits > 16:
        wide = float64  # float32 does not have these integers
    parts = [x.real, x.imag] if x.dtype.is_complex else [x]
    total = None
    for one in parts:
        values = _in_dtype(one, wide)
        apart = _computed("sub", wide, values, _reduced(values, "MEAN", axis, True))
        found = _reduced(_computed("square", wide, apart), "SUM", axis, keepdims)
        total = found if total is None else _computed("add", wide, total, found)
    count = x.size // max(total.size, 1) if total is not None else 0
    divisor = max(float(count) - correction, 0.0)
    return _computed("div", wide, total, divisor)
