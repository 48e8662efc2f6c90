"""7.2.1: what its interfaces share: their arguments, and where the new tensor comes to lie."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from suanzi import _core
from suanzi.base.device import Device, DeviceProvider, create, provider_of, upload
from suanzi.base.dtypes import DType, DTypeLike, dtype, finfo, iinfo
from suanzi.base.hints import shown
from suanzi.base.layout import Layout, LayoutType, strides_of
from suanzi.base.numpy import Array
from suanzi.base.shapes import bounded
from suanzi.base.status import InvalidArgument, StatusError, TypeMismatch, UninitializedObject
from suanzi.ops.calling.arguments import Number, dtype_error, in_name_of, real_values
from suanzi.ops.calling.elementwise import plain_operand
from suanzi.ops.calling.scalars import (
    Titled,
    check_alive,
    integer_argument,
    shape_argument,
    title_of,
)
from suanzi.promote.registry import Operator
from suanzi.tensors.exchange import from_numpy
from suanzi.tensors.make import tensor
from suanzi.tensors.parts import is_destroyed
from suanzi.tensors.tensor import Tensor

LayoutLike: TypeAlias = "Layout | Sequence[int] | None"
"""A layout, or its `min2maj`: the axes of the tensor, the one that varies fastest first."""

Scalar: TypeAlias = Any
"""A generic scalar of clause 5.7: a Python or NumPy number, or a 0-d tensor."""


class Wanted(NamedTuple):
    """The requested tensor: the parameters that all creation interfaces share."""

    op: Operator
    dtype: DType
    shape: tuple[int, ...]
    min2maj: tuple[int, ...] | None
    """The order of axes, None for row-major."""
    device: Device
    provider: DeviceProvider | None

    def make(self, compute: Callable[[], Tensor], **arguments: Any) -> Tensor:
        """Return the tensor on its device: the provider's own, or what `compute` gives, uploaded.

        `arguments` are what a provider needs to know in addition to the dtype, shape and layout.
        """
        if self.provider is None:
            return compute()
        told = {"dtype": self.dtype, "shape": self.shape, "min2maj": self.min2maj, **arguments}
        try:
            made: Any = create(self.op.name, self.device, self.provider, told)
            if made is NotImplemented:
                made = upload(compute(), self.device, self.provider)
        except StatusError as error:
            raise titled(self.op, error) from error
        there: Tensor = made
        return there

    def empty(self) -> Tensor:
        """Return a new tensor on the host whose elements are not set."""
        return self.laid(_core.empty(self.shape, self.dtype))

    def laid(self, block: Tensor) -> Tensor:
        """Return the memory of a new row-major tensor in the requested order of axes."""
        if self.min2maj is None:
            return block
        return _core.view(block, 0, self.shape, strides_of(self.shape, self.min2maj))

    def copied(self, source: Tensor) -> Tensor:
        """Return a row-major tensor with every element at its index in the requested layout."""
        if self.min2maj is None:
            return source
        made = self.empty()
        _core.copy_into(made, source)
        return made


def wanted(
    op: Operator, shape: Any, dtype: DTypeLike, device: Any, layout: LayoutLike = None
) -> Wanted:
    """Return the requested tensor, checked."""
    dims = shape_argument(op, "shape", (shape,) if type(shape) is int else shape)
    chosen = dtype_argument(op, dtype)
    order = layout_argument(op, layout, len(dims))
    try:
        place = Device(device)
        provider = provider_of(place)
    except StatusError as error:
        raise titled(op, error) from None
    return Wanted(op, chosen, dims, order, place, provider)


def titled(op: Operator, error: StatusError) -> StatusError:
    """Return an error in the name of an operator."""
    text = str(error)
    if text.startswith(op.title):
        return error
    for other in ("tensor: ", "Device: "):
        text = text.removeprefix(other)
    return error.__class__(f"{op.title}: {text}")


def dtype_argument(op: Operator, x: DTypeLike) -> DType:
    """Return the dtype of a new tensor, one that the interface takes."""
    hint = ""
    if op.name == "full" and isinstance(x, tuple | list):  # whose shape comes third
        hint = f" A shape is given by name: sz.full(shape={shown(x)})."
    try:
        found = dtype(x)
    except StatusError as error:
        kind = dtype_error(op) if isinstance(error, TypeMismatch) else error.__class__
        raise in_name_of(op, error, kind, hint) from None
    if found not in op.dtypes:
        if found.kind == "quantized":
            hint = " sz.create_quant_tensor makes quantised tensors."
        raise dtype_error(op)(
            f"{op.title}: dtype is {found}; it takes {op.dtypes_in_words()}.{hint}"
        )
    return found


def layout_argument(op: Operator, layout: LayoutLike, ndim: int) -> tuple[int, ...] | None:
    """Return the order of axes of a dense layout, the fastest first; None for row-major."""
    if layout is None:
        return None
    check_alive(op, "layout", layout)
    order: Any = layout
    if isinstance(layout, Layout):
        if layout == Layout(LayoutType.DENSE, None):  # which leaves the order open
            return None
        order = layout.min2maj if layout.type is LayoutType.DENSE else None
    try:
        found = tuple(integer_argument(op, "layout", axis) for axis in bounded(order, ndim))
    except (TypeError, InvalidArgument):
        found = (-1,)
    if sorted(found) != list(range(ndim)):
        raise InvalidArgument(
            f"{op.title}: layout is {shown(layout)}; it must be a dense Layout, or the numbers "
            f"0 to {ndim - 1} of the axes, each once, the one that varies fastest first."
            if ndim
            else f"{op.title}: layout is {shown(layout)}; a tensor without axes has the layout ()."
        )
    return None if found == tuple(range(ndim - 1, -1, -1)) else found


def number_argument(op: Titled, name: str, x: Scalar) -> Number:
    """Return a generic scalar as a Python number."""
    if isinstance(x, Tensor):
        if is_destroyed(x):
            raise UninitializedObject(f"{title_of(op)}: {name} is a tensor that was destroyed.")
        real = real_values(op, name, x)
        found = real.item() if isinstance(real, Tensor) and real.ndim == 0 else None
    elif hasattr(x, "dtype") and getattr(x, "ndim", None) == 0:
        try:
            found = tensor(x).item()  # a NumPy scalar, or a 0-d array
        except (StatusError, BufferError):
            found = None
    else:
        kinds: tuple[Any, ...] = (bool, int, float, complex)
        found = next((kind(x) for kind in kinds if isinstance(x, kind)), None)
    if found is None or isinstance(found, bytes):
        raise InvalidArgument(
            f"{title_of(op)}: {name} is {shown(x)}; it must be a number: Python's, NumPy's or a "
            "0-d tensor."
        )
    return found


def scalar_argument(op: Titled, name: str, x: Scalar, dt: DType) -> Number:
    """Return a generic scalar that a dtype has a value for; only floats are still to be rounded."""
    if dt.kind == "char" and isinstance(x, bytes) and len(x) == 1:
        return x[0]
    found = number_argument(op, name, x)
    if isinstance(found, complex) and dt.kind != "complex":
        raise InvalidArgument(
            f"{title_of(op)}: {name} is {found}, which is complex, and the dtype is {dt}. Give a "
            "real number, or a complex dtype."
        )
    if dt.exponent_bits:
        return found if isinstance(found, complex) else plain_operand(op, name, found, dt)
    assert not isinstance(found, complex)
    if isinstance(found, float) and not found.is_integer():
        raise InvalidArgument(
            f"{title_of(op)}: {name} is {found}, which is not a whole number, and the dtype is "
            f"{dt}. Round it, or choose a floating-point dtype."
        )
    low, high = (0, 1) if dt.kind == "bool" else (iinfo(dt).min, iinfo(dt).max)
    if not low <= found <= high:
        raise InvalidArgument(
            f"{title_of(op)}: {name} is {shown(found)}, outside the range of {dt} ({low} to "
            f"{high}). Choose a "
            "wider dtype."
        )
    return bool(found) if dt.kind == "bool" else int(found)


def finite_argument(op: Operator, name: str, x: Scalar, dt: DType) -> complex:
    """Return a generic scalar for a floating-point dtype in double precision; it is finite."""
    found = scalar_argument(op, name, x, dt)
    try:
        double = found if isinstance(found, complex) else float(found)
    except OverflowError:
        double = math.inf
    if not (math.isfinite(double.real) and math.isfinite(double.imag)):
        raise InvalidArgument(f"{op.title}: {name} is {shown(x)}; it must be finite.")
    return double


def real_scalar_argument(op: Operator, name: str, x: Scalar, dt: DType) -> float:
    """Return a finite scalar that is real, whatever the dtype."""
    found = finite_argument(op, name, x, dt)
    if found.imag:
        raise InvalidArgument(f"{op.title}: {name} is {found}; it must be real.")
    return found.real


@cache
def limits(dt: DType) -> finfo:
    """Return the limits of a floating-point dtype, remembered."""
    return finfo(dt)


def count_argument(op: Operator, name: str, x: Any) -> int:
    """Return a number of elements, from 1 up."""
    found = integer_argument(op, name, x)
    if found < 1:
        raise InvalidArgument(f"{op.title}: {name} is {shown(found)}; it must be at least 1.")
    return found


def line(count: int, dt: DType) -> Tensor:
    """Return a new tensor with one axis; a count beyond every shape is AllocFailed."""
    if count >= 2**63:
        from suanzi.base.status import AllocFailed

        raise AllocFailed(f"not enough memory for 2**63 or more elements of {dt}; use fewer.")
    return _core.empty((count,), dt)


def put(made: Tensor, start: int, values: Array) -> None:
    """Write a block of elements, converted and rounded once, into a row-major tensor."""
    block = _core.view(made, start, (len(values),), (1,))
    _core.copy_into(block, from_numpy(values))
