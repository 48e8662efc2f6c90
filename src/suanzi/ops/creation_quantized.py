"""7.2.1.15: creating quantised tensors of integers that are there already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suanzi import _core
from suanzi.base.device import CPU, DeviceLike
from suanzi.base.dtypes import QT_SYM_INT16, DType, DTypeLike, stored_dtype
from suanzi.base.hints import shown
from suanzi.base.status import DimensionsMismatch, InvalidArgument, StatusError, UninitializedObject
from suanzi.ops.calling.arguments import tensor_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import integer_argument
from suanzi.ops.creation_wanted import LayoutLike, wanted
from suanzi.ops.quantized import channel_axis_argument, scale_argument, zero_point_argument
from suanzi.promote.registry import QUANTIZED, REGISTRY, Operator
from suanzi.tensors.make import tensor
from suanzi.tensors.tensor import Tensor


@operator("7.2.1.15", dtypes=QUANTIZED)
def create_quant_tensor(
    shape: Sequence[int],
    scale: Any,
    dtype: DTypeLike = QT_SYM_INT16,
    device: DeviceLike = CPU,
    values: Any = (),
    n_bytes: int | None = None,
    zero_point: int = 0,
    channel_axis: int | None = None,
    *,
    layout: LayoutLike = None,
) -> Tensor:
    """Return a quantised tensor: integers that stand for (integer - zero_point) * scale.

    `values` are these integers: bytes in the order of memory, of which those missing are 0 and
    those too many left out; or a tensor or an array of the shape, in the integer dtype that is
    stored or in `dtype`; or lists. Without, they are not set.

    `scale` is one number, or for a channel-wise dtype one for each index along `channel_axis`:
    axis 1, or 0 of a vector. Of a symmetric dtype the zero point is 0, whatever is given.
    `n_bytes` follows from `values`; if it is less, the elements behind are 0. `layout` is the order
    of axes in memory, from the fastest.

    >>> sz.create_quant_tensor((2, 3), 0.25, sz.QT_SYM_INT8, values=[[1, 2, 3], [4, 5, 6]])
    Tensor([[0.25,  0.5, 0.75],
            [   1, 1.25,  1.5]], dtype=QT_SYM_INT8, scale=0.25, zero_point=0)
    """
    op = REGISTRY["create_quant_tensor"]
    want = wanted(op, shape, dtype, device, layout)
    axis = channel_axis_argument(op, channel_axis, want.dtype, want.shape)
    scales, axis = scale_argument(op, scale, want.dtype, want.shape, axis)
    offset = zero_point_argument(op, zero_point, want.dtype)
    source = _source(op, values, want.dtype, want.shape)
    limit = _byte_count(op, n_bytes, source, want.dtype)

    def compute() -> Tensor:
        made = want.empty()
        _fill(made, source, limit)
        _core.set_quantization(made, scales, offset, axis)
        return made

    told = {"scale": scales, "zero_point": offset, "channel_axis": axis}
    return want.make(compute, values=source, n_bytes=n_bytes, **told)


# ---- values -------------------------------------------------------------------------------------


def _source(
    op: Operator, values: Any, dt: DType, dims: tuple[int, ...]
) -> Tensor | memoryview | None:
    """Return the integers to start with: a tensor of the shape, bytes, or nothing."""
    if values is None or (isinstance(values, list | tuple) and not len(values)):
        return None
    if isinstance(values, bytes | bytearray | memoryview):
        raw = memoryview(values)
        if raw.format in ("B", "b", "c") and raw.ndim == 1:
            if not raw.contiguous:
                raw = memoryview(raw.tobytes())
            return raw.cast("B") if raw.nbytes else None
    is_tensor = isinstance(values, Tensor)
    if isinstance(values, list | tuple | range | int) and not isinstance(values, bool):
        found = _integers(op, values, dt)
    else:
        try:
            found = tensor_argument(op, "values", values) if is_tensor else tensor(values)
        except UninitializedObject:
            raise
        except (TypeError, ValueError, BufferError) as error:
            raise _wrong_values(op, type(values).__name__, dt) from error
        if found.dtype not in (dt, stored_dtype(dt)):
            raise _wrong_values(op, f"of {found.dtype}", dt)
    if found.shape != dims:
        raise DimensionsMismatch(
            f"{op.title}: values have shape {found.shape}; the shape must be {dims}."
        )
    return found


def _wrong_values(op: Operator, came: str, dt: DType) -> InvalidArgument:
    return InvalidArgument(
        f"{op.title}: values are {came}; for {dt} they are {stored_dtype(dt)}, already quantised, "
        "or bytes. Use sz.quantize for real numbers."
    )


def _integers(op: Operator, values: Any, dt: DType) -> Tensor:
    """Return Python integers, which must fit, as a tensor."""
    try:
        found = tensor(values)
        fits = found.size == 0 or found.dtype.kind in ("int", "uint")
        if not fits:
            raise _wrong_values(op, f"of {found.dtype}", dt)
        return tensor(values, dt)
    except StatusError as error:
        if isinstance(error, InvalidArgument) and str(error).startswith(op.title):
            raise
        problem = str(error).removeprefix("tensor: ")
        raise InvalidArgument(f"{op.title}: values: {problem}") from None


def _byte_count(op: Operator, n_bytes: Any, source: Tensor | memoryview | None, dt: DType) -> int:
    """Return how many bytes are copied; -1 for all there are."""
    if n_bytes is None:
        return -1
    count = integer_argument(op, "n_bytes", n_bytes)
    there = 0
    if source is not None:
        there = source.size * dt.itemsize if isinstance(source, Tensor) else source.nbytes
    if not 0 <= count <= there:
        raise InvalidArgument(
            f"{op.title}: n_bytes is {shown(count)}; values have {there} bytes. Leave it out."
        )
    return count if source is not None else -1


def _fill(made: Tensor, source: Tensor | memoryview | None, limit: int) -> None:
    memory = made.storage.memory
    if isinstance(source, Tensor):
        _core.copy_into(made, source)
    elif source is not None:
        kept = source[: len(memory) if limit < 0 else min(limit, len(memory))]
        memory[: len(kept)] = kept
        limit = len(kept)
    if limit >= 0:
        memory[limit:] = bytes(max(len(memory) - limit, 0))
