"""The methods of a tensor, with the meaning that they have in NumPy and the array API.

Those along axes call the functions of :mod:`suanzi.array_api`: an axis may be negative, several
axes are a tuple, and None is all of them. The functions of `suanzi` itself follow T/AI 131.1, where
some meanings differ. The result for a tensor that `suanzi.array_api` made is one of its tensors.

>>> x = sz.tensor([[1, 2, 3], [4, 5, 6]], sz.int8)
>>> x.sum(), x.sum(axis=-1).dtype, x.mean(axis=0, keepdims=True).shape
(Tensor(21, dtype=int64), suanzi.int64, (1, 3))
>>> x.max(axis=1), x.argmax(), x.cumsum(-1)[0]
(Tensor([3, 6], dtype=int8), Tensor(5, dtype=int64), Tensor([1, 3, 6], dtype=int64))
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, Any, TypedDict

from suanzi import _core
from suanzi.base.dtypes import DTYPES, DType, DTypeLike, float32
from suanzi.base.dtypes import dtype as dtype_of
from suanzi.base.status import InvalidArgument, TypeMismatch
from suanzi.promote import registry
from suanzi.promote.registry import namespace_function
from suanzi.tensors.parts import copy

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from suanzi.tensors.tensor import Tensor

    class Keep(TypedDict, total=False):
        """The other spellings of `keepdims`: PyTorch's, and the standard's."""

        keepdim: bool
        keep_dims: bool


Axes = int | tuple[int, ...] | None
_like = _core.as_array_api
_QUANTIZED = frozenset(dt for dt in DTYPES if dt.kind == "quantized")


class Methods:
    """The methods of a tensor that call functions of `suanzi` and `suanzi.array_api`."""

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
        self, axis: Axes = None, *, dtype: DTypeLike | None = None,
        keepdims: bool = False, **same: Unpack[Keep],
    ) -> Tensor:  # fmt: skip
        """Return the sum; that of integers and bools is int64, or uint64, unless `dtype` is given.

        >>> sz.tensor([100, 100], sz.int8).sum()
        Tensor(200, dtype=int64)
        """
        keep = _kept(keepdims, same)
        return _like(_of(self, "sum")(self, axis=axis, dtype=dtype, keepdims=keep), self)

    def prod(
        self, axis: Axes = None, *, dtype: DTypeLike | None = None,
        keepdims: bool = False, **same: Unpack[Keep],
    ) -> Tensor:  # fmt: skip
        """Return the product; that of integers and bools is int64, or uint64, or `dtype`."""
        keep = _kept(keepdims, same)
        return _like(_of(self, "prod")(self, axis=axis, dtype=dtype, keepdims=keep), self)

    def mean(self, axis: Axes = None, *, keepdims: bool = False, **same: Unpack[Keep]) -> Tensor:
        """Return the mean; that of integers and bools is float32."""
        return _like(_of(self, "mean")(self, axis=axis, keepdims=_kept(keepdims, same)), self)

    def max(self, axis: Axes = None, *, keepdims: bool = False, **same: Unpack[Keep]) -> Tensor:
        """Return the largest element; NaN where there is one."""
        return _like(_of(self, "max")(self, axis=axis, keepdims=_kept(keepdims, same)), self)

    def min(self, axis: Axes = None, *, keepdims: bool = False, **same: Unpack[Keep]) -> Tensor:
        """Return the smallest element; NaN where there is one."""
        return _like(_of(self, "min")(self, axis=axis, keepdims=_kept(keepdims, same)), self)

    def any(self, axis: Axes = None, *, keepdims: bool = False, **same: Unpack[Keep]) -> Tensor:
        """Return whether an element is not zero."""
        return _like(_of(self, "any")(self, axis=axis, keepdims=_kept(keepdims, same)), self)

    def all(self, axis: Axes = None, *, keepdims: bool = False, **same: Unpack[Keep]) -> Tensor:
        """Return whether no element is zero."""
        return _like(_of(self, "all")(self, axis=axis, keepdims=_kept(keepdims, same)), self)

    def var(
        self, axis: Axes = None, *, correction: float = 0,
        keepdims: bool = False, **same: Unpack[Keep],
    ) -> Tensor:  # fmt: skip
        """Return the variance: the sum of squared distances from the mean by n - `correction`.

        It is computed in float32 at least, and rounded once.

        >>> sz.tensor([1, 2, 3, 4], sz.bfloat16).var(), sz.tensor([1, 2, 3]).var(correction=1)
        (Tensor(1.25, dtype=bfloat16), Tensor(1, dtype=float32))
        """
        keep = _kept(keepdims, same)
        return _like(_of(self, "var")(self, axis=axis, correction=correction, keepdims=keep), self)

    def std(
        self, axis: Axes = None, *, correction: float = 0,
        keepdims: bool = False, **same: Unpack[Keep],
    ) -> Tensor:  # fmt: skip
        """Return the square root of the variance, rounded once."""
        keep = _kept(keepdims, same)
        return _like(_of(self, "std")(self, axis=axis, correction=correction, keepdims=keep), self)

    def argmax(
        self, axis: int | None = None, *, keepdims: bool = False, **same: Unpack[Keep]
    ) -> Tensor:
        """Return the index of the largest element; without an axis, in row-major order."""
        return _like(_of(self, "argmax")(self, axis=axis, keepdims=_kept(keepdims, same)), self)

    def argmin(
        self, axis: int | None = None, *, keepdims: bool = False, **same: Unpack[Keep]
    ) -> Tensor:
        """Return the index of the smallest element; without an axis, in row-major order."""
        return _like(_of(self, "argmin")(self, axis=axis, keepdims=_kept(keepdims, same)), self)

    def cumsum(self, axis: int | None = None, *, dtype: DTypeLike | None = None) -> Tensor:
        """Return the cumulative sums along an axis; without one, of all elements in one row.

        Those of integers and bools are int64, or uint64, unless `dtype` is given.
        """
        row = self.reshape(-1) if axis is None else self
        made = _of(row, "cumulative_sum")(row, axis=0 if axis is None else axis, dtype=dtype)
        return _like(made, self)

    def sort(self, axis: int = -1) -> None:
        """Sort the elements along an axis, in place; a NaN counts as the largest.

        That is what NumPy's method does; :func:`suanzi.array_api.sort` makes a new tensor.

        >>> x = sz.tensor([3, 1, 2], sz.int4)
        >>> x.sort()
        >>> x
        Tensor([1, 2, 3], dtype=int4)
        """
        self[...] = _of(self, "sort")(self, axis=axis)

    def argsort(self, axis: int | None = -1) -> Tensor:
        """Return the indices that sort along an axis; without one, of all elements in one row.

        Equal elements keep their order.

        >>> sz.tensor([3, 1, 2]).argsort()
        Tensor([1, 2, 0], dtype=int64)
        """
        row = self.reshape(-1) if axis is None else self
        return _like(_of(row, "argsort")(row, axis=-1 if axis is None else axis), self)

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

    def copy(self) -> Self:
        """Return a copy with memory of its own, in the same layout."""
        whole: Any = self
        own: Any = copy(whole)
        made: Self = _like(own, whole)
        return made

    def to(self, where: Any) -> Any:
        """Return the tensor in a dtype or on a device; itself if it has it already.

        >>> x = sz.tensor([1.5])
        >>> x.to(sz.float16).dtype, x.to("cpu") is x
        (suanzi.float16, True)
        """
        from suanzi.base.device import Device, DeviceType, is_name

        if isinstance(where, Device | DeviceType) or (isinstance(where, str) and is_name(where)):
            return self.to_device(where)
        target = dtype_of(where)
        return self if target is self.dtype else call("cast", self, target)

    # ---- shapes ------------------------------------------------------------------------------

    def flatten(self) -> Self:
        """Return a copy of the elements along one axis, row by row."""
        rows: Any = self.reshape(-1)
        made: Self = rows.copy() if rows.storage == _core.storage(self) else rows
        return made

    def ravel(self) -> Tensor:
        """Return the elements along one axis, row by row; a view where there can be one."""
        return self.reshape(-1)

    def squeeze(self, axis: Axes = None) -> Tensor:
        """Return a view without axes of size 1: all of them, or those that are given.

        >>> sz.zeros((1, 3, 1)).squeeze().shape, sz.zeros((1, 3, 1)).squeeze(-1).shape
        ((3,), (1, 3))
        """
        ones = tuple(i for i, n in enumerate(self.shape) if n == 1)
        axes = ones if axis is None else several(axis, self.ndim)
        for one in axes:
            if isinstance(one, int) and 0 <= one < self.ndim and self.shape[one] != 1:
                raise InvalidArgument(
                    f"squeeze: axis {one} has size {self.shape[one]}; only axes of size 1 can be "
                    "removed."
                )
        if not axes:
            return self.reshape(self.shape)
        return call("squeeze", self, axes)  # type: ignore[no-any-return]

    def transpose(self, *axes: Any) -> Tensor:
        """Return a view with the axes in another order; without one, from the last to the first.

        >>> sz.zeros((2, 3, 4)).transpose().shape, sz.zeros((2, 3, 4)).transpose(1, 0, -1).shape
        ((4, 3, 2), (3, 2, 4))
        """
        if not axes or axes == (None,):
            return self.T  # type: ignore[no-any-return]
        given = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
        order = several(tuple(given), self.ndim)
        if set(order) == set(range(self.ndim)):  # the standard says where each axis goes
            order = tuple(order.index(i) for i in range(self.ndim))
        made: Any = _core.try_view("transpose", self, order)
        if made is None:
            return call("transpose", self, order)  # type: ignore[no-any-return]
        return _like(made, self)  # type: ignore[no-any-return]

    def permute(self, *axes: Any) -> Tensor:
        """Return a view with the axes in another order, which must be given."""
        if not axes:
            raise TypeMismatch("permute: it takes the order of the axes, such as permute(1, 0).")
        return self.transpose(*axes)


def _of(x: Any, name: str) -> Callable[..., Tensor]:
    """Return what computes a method: a function of the array API's namespace.

    A quantised tensor is what it stands for.
    """
    if x.dtype in _QUANTIZED:
        real = registry.call("cast", x, float32)
        return lambda x, **kwargs: _of(real, name)(real, **kwargs)
    function = namespace_function(name)
    if not hasattr(x, "__suanzi_operator__"):
        return function.function
    own = registry.FUNCTIONS[function.key]
    return (
        own
        if not hasattr(x, "is_array_api")
        else lambda *args, **kwargs: _marked(own(*args, **kwargs), x)
    )


def _marked(made: Any, x: Any) -> Any:
    """Return a tensor of a device, of the array API's namespace if another is."""
    made.is_array_api = x.is_array_api
    return made


def call(name: str, x: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call an operator on a tensor; if the array API's namespace made that, also the result."""
    made = registry.FUNCTIONS[name](x, *args, **kwargs)
    if not getattr(x, "is_array_api", False):  # no tensor of blocks is
        return made
    return _marked(made, x) if hasattr(x, "__suanzi_operator__") else _core.as_array_api(made, x)


def _kept(keepdims: bool, same: Any) -> bool:
    """Return `keepdims`, or what its other spellings say."""
    if not same:
        return keepdims
    for name in same:
        if name not in ("keepdim", "keep_dims"):
            raise TypeError(f"{name!r} is not an argument; did you mean keepdims?")
    return keepdims or any(same.values())


def counted(axis: Any, ndim: int) -> Any:
    """Return an axis counted from the first; the operator reports a wrong one."""
    if isinstance(axis, bool) or not hasattr(axis, "__index__"):
        return axis
    number = index(axis)
    return number + ndim if -ndim <= number < 0 else number


def several(axis: Any, ndim: int) -> tuple[Any, ...]:
    """Return one axis or several, each counted from the first."""
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    return tuple(counted(one, ndim) for one in axes)
