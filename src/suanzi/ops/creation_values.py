"""7.2.1.1 and .2: the values new tensors are made of: tensors, arrays, lists, buffers."""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType
from suanzi.base.layout import min2maj_of, strides_of
from suanzi.base.numpy import np
from suanzi.base.status import (
    DimensionsMismatch,
    InvalidArgument,
    StatusError,
    TypeMismatch,
    UninitializedObject,
)
from suanzi.ops.calling.arguments import dtype_error
from suanzi.ops.creation_wanted import Wanted
from suanzi.promote.registry import BOOL, SUBBYTE, Operator
from suanzi.tensors.exchange import from_dlpack, from_numpy
from suanzi.tensors.make import kind_of, tensor
from suanzi.tensors.parts import is_destroyed
from suanzi.tensors.tensor import Tensor

_FITTED = (*BOOL, *SUBBYTE)  # dtypes that fill less than their byte


def is_nothing(values: Any) -> bool:
    """Return whether values leave a tensor uninitialised."""
    return values is None or (isinstance(values, tuple | list) and not values)


def values_of(want: Wanted, values: Any) -> Any:
    """Return values as a tensor of the requested shape and dtype, or as the bytes of a buffer."""
    op = want.op
    if not _is_array(values) and not isinstance(
        values, int | float | complex | list | tuple | range
    ):
        return _bytes_of(op, values)
    try:
        if isinstance(values, Tensor):
            found = _alive(op, values)
        elif want.dtype.kind != "complex" and kind_of(values) == "complex":
            raise TypeMismatch(
                f"they are complex, and dtype is {want.dtype}. Give their real parts, or a complex "
                "dtype."
            )
        else:
            found = tensor(values, None if _is_array(values) else want.dtype)
    except (InvalidArgument, TypeMismatch, BufferError) as error:
        kind = dtype_error(op) if _is_array(values) else error.__class__
        problem = str(error).removeprefix("tensor: ").rstrip(".")
        raise kind(f"{op.title}: values: {problem}.") from None
    if found.shape != want.shape:
        raise DimensionsMismatch(
            f"{op.title}: values has shape {found.shape}, and shape is {want.shape}; they must be "
            "equal. Only the bytes of a buffer may be fewer or more."
        )
    if found.dtype is not want.dtype:
        raise TypeMismatch(
            f"{op.title}: values is {found.dtype}, and dtype is {want.dtype}; they must be equal. "
            f"Cast it with sz.cast(values, sz.{want.dtype}){_or_take(op, found.dtype)}."
        )
    return found


def _or_take(op: Operator, dt: DType) -> str:
    """Return the advice to ask for the dtype that is there, if the interface has it."""
    return f", or give dtype=sz.{dt}" if dt in op.dtypes else ""


def _alive(op: Operator, values: Tensor) -> Tensor:
    """Return a tensor that was not destroyed."""
    if is_destroyed(values):
        raise UninitializedObject(f"{op.title}: values is a tensor that was destroyed.")
    return values


def _is_array(values: Any) -> bool:
    """Return whether values have a dtype and a shape of their own."""
    return (
        isinstance(values, Tensor)
        or hasattr(values, "__array_interface__")
        or hasattr(values, "__dlpack__")
    )


def _bytes_of(op: Operator, values: Any) -> memoryview:
    try:
        return memoryview(values)
    except (TypeError, ValueError, BufferError):
        raise TypeMismatch(
            f"{op.title}: values is a {type(values).__name__}; it takes a Tensor, an array, or "
            "anything with a buffer, such as bytes."
        ) from None


def copied(want: Wanted, source: Any, limit: int) -> Tensor:
    """Return a new tensor with the elements of a tensor, or bytes; what is beyond a limit is 0."""
    if isinstance(source, Tensor):
        made = want.copied(source) if want.min2maj else _core.row_major_copy(source)
        if limit >= made.size * want.dtype.itemsize and want.dtype not in _FITTED:
            return made
        source = made.storage.memory
    raw = source if source.c_contiguous else source.tobytes()
    return want.laid(_core.from_bytes(raw, limit, want.shape, want.dtype))


def refuse_host_memory(want: Wanted) -> Tensor:
    """Raise for memory of the host that a tensor on another device is to refer to."""
    raise InvalidArgument(
        f"{want.op.title}: the memory of values is on the cpu, and device is {want.device}. Copy "
        "it with sz.create_tensor."
    )


def shared(want: Wanted, values: Any, has_layout: bool) -> Tensor:
    """Return a tensor on the memory of a tensor, an array or a buffer."""
    order = want.min2maj or tuple(range(len(want.shape) - 1, -1, -1))
    if not _is_array(values):
        return _on_buffer(want, _bytes_of(want.op, values), order)
    op, found = want.op, _tensor_on(want, values)
    if found.dtype is not want.dtype:
        raise dtype_error(op)(
            f"{op.title}: values is {found.dtype}, and dtype is {want.dtype}; the memory is "
            f"shared unchanged. Cast it first{_or_take(op, found.dtype)}."
        )
    strides = found.strides
    if found.shape == want.shape:
        if has_layout and not _lies_in(found, order):
            raise InvalidArgument(
                f"{op.title}: values has the layout {min2maj_of(found.shape, found.strides)}, and "
                f"layout is {order}; the memory is shared unchanged. Leave layout out, or copy it "
                "with sz.create_tensor."
            )
    elif _core.is_row_major(found) and found.size >= math.prod(want.shape):
        strides = strides_of(want.shape, order)
    else:
        raise InvalidArgument(
            f"{op.title}: values has shape {found.shape}, and shape is {want.shape}; they must be "
            "equal, or values contiguous and large enough."
        )
    return _core.view(found, found.offset, want.shape, strides)


def _lies_in(x: Tensor, order: tuple[int, ...]) -> bool:
    wanted = strides_of(x.shape, order)
    return (
        all(
            have == want or size == 1
            for have, want, size in zip(x.strides, wanted, x.shape, strict=True)
        )
        or 0 in x.shape
    )


def _tensor_on(want: Wanted, values: Any) -> Tensor:
    """Return a tensor on the memory of a tensor or an array."""
    op = want.op
    if isinstance(values, Tensor):
        return _alive(op, values)
    try:
        if not hasattr(values, "__array_interface__"):
            return from_dlpack(values)
        if isinstance(values, np.ma.MaskedArray):
            raise BufferError("a masked array hides elements")
        array = np.asarray(values)
        # NumPy makes a copy of scalars, to which nothing refers.
        if not np.may_share_memory(array, values):
            raise BufferError(f"a {type(values).__name__} has no memory to share")
        return from_numpy(array)
    except StatusError as error:
        raise dtype_error(op)(f"{op.title}: values: {error}") from None
    except (BufferError, TypeError, ValueError) as error:
        raise InvalidArgument(
            f"{op.title}: values: {str(error).rstrip('.')}. Copy it with sz.create_tensor."
        ) from None


def _on_buffer(want: Wanted, view: memoryview, order: tuple[int, ...]) -> Tensor:
    op, size = want.op, want.dtype.itemsize
    needed = math.prod(want.shape) * size
    if not view.c_contiguous:
        raise InvalidArgument(
            f"{op.title}: the bytes of values are not contiguous. Copy them with sz.create_tensor."
        )
    address, there, read_only = _core.memory_of(view)
    if there < needed:
        raise InvalidArgument(
            f"{op.title}: values has {there} bytes, and shape {want.shape} of {want.dtype} needs "
            f"{needed}. Give a larger buffer, or a smaller shape."
        )
    part = size // 2 if want.dtype.kind == "complex" else size
    if needed and address % part:
        raise InvalidArgument(
            f"{op.title}: values begins at an address that is not a multiple of {part}, which "
            f"{want.dtype} requires. Align it, or copy it with sz.create_tensor."
        )
    return _core.wrap_memory(
        address,
        there // size,
        want.dtype,
        want.shape,
        strides_of(want.shape, order),
        0,
        read_only,
        view,
    )
