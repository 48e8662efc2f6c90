"""7.2.1: creation and destruction; random numbers are in :mod:`suanzi.ops.creation_random`.

The device is where the tensor comes to lie, and `layout` the order of its axes in memory: a
:class:`suanzi.Layout`, or the axes, the one that varies fastest first.
"""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi.base.device import CPU, DeviceLike
from suanzi.base.dtypes import DType, DTypeLike, char, float32
from suanzi.base.hints import shown
from suanzi.base.status import InvalidArgument, WrongObject
from suanzi.ops.calling.arguments import as_operand, tensor_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import integer_argument
from suanzi.ops.creation_values import copied, is_nothing, refuse_host_memory, shared, values_of
from suanzi.ops.creation_wanted import (
    LayoutLike,
    Scalar,
    count_argument,
    finite_argument,
    limits,
    line,
    real_scalar_argument,
    scalar_argument,
    wanted,
)
from suanzi.ops.quantized import stored_zero
from suanzi.promote.registry import ANY, BOOL, COMPLEX, FLOATS, INTEGERS, REGISTRY, SUBBYTE
from suanzi.tensors.parts import copy, with_quantization_of
from suanzi.tensors.tensor import Tensor, TensorLike

WHOLE_AND_FLOATING = (*INTEGERS, *SUBBYTE, *FLOATS, *COMPLEX)
VALUES = (*BOOL, *WHOLE_AND_FLOATING)
_STORED = (*VALUES, char)  # also text, as bytes


@operator("7.2.1.1", dtypes=_STORED)
def create_tensor(
    shape: Any,
    values: Any,
    dtype: DTypeLike = float32,
    device: DeviceLike = CPU,
    n_bytes: int | None = None,
    *,
    layout: LayoutLike = None,
) -> Tensor:
    """Return a new tensor with a copy of `values`; uninitialised if that is None or ().

    A tensor, an array or nested lists must have the shape, and tensors and arrays the dtype; the
    elements keep their indices whatever the layout. The bytes of any other buffer are read in the
    order of the layout, at most `n_bytes` of them: what is missing becomes 0, what is too much is
    left.

    >>> sz.create_tensor((2, 3), [[1, 2, 3], [4, 5, 6]])
    Tensor([[1, 2, 3],
            [4, 5, 6]], dtype=float32)
    >>> sz.create_tensor((2, 3), bytes([1, 2, 3, 4, 5]), sz.uint8, layout=(0, 1))
    Tensor([[1, 3, 5],
            [2, 4, 0]], dtype=uint8)
    """
    op = REGISTRY["create_tensor"]
    want = wanted(op, shape, dtype, device, layout)
    limit = 2**63 - 1 if n_bytes is None else integer_argument(op, "n_bytes", n_bytes)
    if limit < 0:
        raise InvalidArgument(f"{op.title}: n_bytes is {shown(limit)}; it must be at least 0.")
    limit = min(limit, 2**63 - 1)
    if is_nothing(values):
        return want.make(want.empty, values=None, n_bytes=n_bytes)
    source = values_of(want, values)
    return want.make(lambda: copied(want, source, limit), values=source, n_bytes=n_bytes)


@operator("7.2.1.2", dtypes=_STORED)
def wrap_tensor(
    shape: Any,
    dtype: DTypeLike = float32,
    device: DeviceLike = CPU,
    values: Any = (),
    *,
    layout: LayoutLike = None,
) -> Tensor:
    """Return a tensor that shares the memory of `values` and keeps it alive.

    A buffer must be aligned and large enough, and is read in the order of the layout. A tensor or
    an array of the shape keeps its own layout; one of another shape counts as a buffer if it is
    contiguous. Read-only memory makes a read-only tensor. Without values, it is as `empty`.

    >>> memory = bytearray(4)
    >>> x = sz.wrap_tensor((2, 2), sz.uint8, values=memory)
    >>> memory[1] = 7
    >>> x
    Tensor([[0, 7],
            [0, 0]], dtype=uint8)
    """
    op = REGISTRY["wrap_tensor"]
    want = wanted(op, shape, dtype, device, layout)
    if is_nothing(values):
        return want.make(want.empty, values=None)
    if want.provider is not None:  # which may know how to refer to memory of the host
        return want.make(lambda: refuse_host_memory(want), values=values)
    return shared(want, values, layout is not None)


@operator("7.2.1.3", dtypes=_STORED, fast=True)
def zeros(
    shape: Any, dtype: DTypeLike = float32, device: DeviceLike = CPU, *, layout: LayoutLike = None
) -> Tensor:
    """Return a new tensor of zeros.

    >>> sz.zeros((2, 3), sz.int8)
    Tensor([[0, 0, 0],
            [0, 0, 0]], dtype=int8)
    """
    want = wanted(REGISTRY["zeros"], shape, dtype, device, layout)
    return want.make(lambda: want.laid(_core.full(want.shape, want.dtype, 0)))


@operator("7.2.1.4", dtypes=VALUES, fast=True)
def full(
    dtype: DTypeLike = float32,
    device: DeviceLike = CPU,
    shape: Any = (),
    value: Scalar = 0,
    *,
    layout: LayoutLike = None,
) -> Tensor:
    """Return a new tensor filled with `value`.

    >>> sz.full(shape=(2, 3), value=1.5)
    Tensor([[1.5, 1.5, 1.5],
            [1.5, 1.5, 1.5]], dtype=float32)
    """
    op = REGISTRY["full"]
    want = wanted(op, shape, dtype, device, layout)
    number = scalar_argument(op, "value", value, want.dtype)
    return want.make(lambda: want.laid(_core.full(want.shape, want.dtype, number)), value=number)


@operator("7.2.1.5", dtypes=_STORED, fast=True)
def empty(
    shape: Any, dtype: DTypeLike = float32, device: DeviceLike = CPU, *, layout: LayoutLike = None
) -> Tensor:
    """Return a new uninitialised tensor.

    >>> sz.empty((2, 3), sz.bfloat16, layout=(0, 1)).strides
    (1, 2)
    """
    want = wanted(REGISTRY["empty"], shape, dtype, device, layout)
    return want.make(want.empty)


@operator("7.2.1.6", dtypes=ANY, fast=True)
def contiguous(input: TensorLike) -> Tensor:
    """Return the input if it is contiguous in row-major order, else a contiguous copy.

    >>> x = sz.tensor([1, 2, 3])
    >>> sz.contiguous(x) is x
    True
    """
    x = tensor_argument(REGISTRY["contiguous"], "input", input)
    return x if _core.is_row_major(x) else _core.row_major_copy(x)


@operator("7.2.1.12", dtypes=WHOLE_AND_FLOATING)
def range(
    start: Scalar, limit: Scalar, step: Scalar, dtype: DTypeLike = float32, device: DeviceLike = CPU
) -> Tensor:
    """Return the numbers from `start` to `limit`, which is included, in steps of `step`.

    A limit that is missed by no more than rounding counts as reached. Integers are exact.

    >>> sz.range(5, 3, -0.5)
    Tensor([  5, 4.5,   4, 3.5,   3], dtype=float32)
    """
    op = REGISTRY["range"]
    want = wanted(op, (), dtype, device)
    dt, given = want.dtype, {"start": start, "limit": limit, "step": step}
    check: Any = real_scalar_argument if dt.exponent_bits else scalar_argument
    given = {name: check(op, name, x, dt) for name, x in given.items()}
    first, last, by = given.values()
    if by == 0 or (last - first) * (1 if by > 0 else -1) < 0:
        raise InvalidArgument(
            f"{op.title}: step {by} does not lead from {first} to {last}; it must not be 0, and "
            "must point from start to limit."
        )
    # Where the difference of the ends is no number, that of their halves is.
    doubled = bool(dt.exponent_bits) and math.isinf(last - first)
    if doubled:
        first, last, by = first / 2, last / 2, by / 2
    count = _count_of_floats(first, last, by, dt) if dt.exponent_bits else (last - first) // by + 1
    count = int(count)
    want = want._replace(shape=(count,))

    def compute() -> Tensor:
        made = line(count, dt)
        _core.fill_sequence(made, 0, count, first, by, 0, doubled)
        return made

    return want.make(compute, **given)


_TOLERANCE = 2.0**-7
"""How far of a step a limit may be missed at most; the format of the dtype may allow less."""


def _count_of_floats(first: float, last: float, by: float, dt: DType) -> int:
    steps = (last - first) / by if by else math.inf  # a step may be too small to be halved
    if math.isinf(steps):
        return 2**63
    # The tolerance grows with the count, but never to where a number beyond the limit gets in.
    return math.floor(steps + min(limits(dt).eps * max(1.0, steps), _TOLERANCE)) + 1


@operator("7.2.1.13", dtypes=(*FLOATS, *COMPLEX))
def linspace(
    start: Scalar, stop: Scalar, num: int, dtype: DTypeLike = float32, device: DeviceLike = CPU
) -> Tensor:
    """Return `num` evenly spaced numbers from `start` to `stop`; both ends are exact.

    >>> sz.linspace(0, 10, 5)
    Tensor([  0, 2.5,   5, 7.5,  10], dtype=float32)
    """
    op = REGISTRY["linspace"]
    want = wanted(op, (), dtype, device)
    first = finite_argument(op, "start", start, want.dtype)
    last = finite_argument(op, "stop", stop, want.dtype)
    count = count_argument(op, "num", num)
    want = want._replace(shape=(count,))
    difference = last - first
    doubled = not (math.isfinite(difference.real) and math.isfinite(difference.imag))
    begin, end = (first / 2, last / 2) if doubled else (first, last)

    def compute() -> Tensor:
        made = line(count, want.dtype)
        gaps, middle = count - 1, (count + 1) // 2
        step = (end - begin) / max(gaps, 1)
        # From the nearer end, so that both are exact; also if one is a negative zero.
        exactly = complex(-0.0, -0.0)
        _core.fill_sequence(made, 0, middle, begin, step, 0, doubled)
        _core.fill_sequence(made, middle, count, end, step, gaps, doubled)
        _core.fill_sequence(made, 0, 1, begin, exactly, 0, doubled)
        _core.fill_sequence(made, max(gaps, 1), count, end, exactly, gaps, doubled)
        return made

    return want.make(compute, start=first, stop=last, num=count)


@operator("7.2.1.16", dtypes=ANY)
def duplicate(input: TensorLike) -> Tensor:
    """Return a copy with its own memory and the same dtype, layout and quantisation.

    >>> sz.duplicate(sz.tensor([1, 2, 3]))
    Tensor([1, 2, 3], dtype=int64)
    """
    return copy(tensor_argument(REGISTRY["duplicate"], "input", input))


@operator("7.2.1.17", dtypes=ANY)
def diag(input: TensorLike) -> Tensor:
    """Return the square matrix with a vector on its diagonal.

    >>> sz.diag(sz.tensor([1, 2]))
    Tensor([[1, 0],
            [0, 2]], dtype=int64)
    """
    op = REGISTRY["diag"]
    x = tensor_argument(op, "input", input)
    if x.ndim != 1:
        raise InvalidArgument(f"{op.title}: input has shape {x.shape}; it must have one axis.")
    nothing = stored_zero(x) if x.zero_point else 0
    made = _core.full((x.size, x.size), x.dtype, nothing)
    _core.copy_into(_core.view(made, 0, (x.size,), (x.size + 1,)), x)
    return with_quantization_of(x, made)


@operator("7.2.1.18", dtypes=ANY)
def destroy(input: Tensor) -> None:
    """Destroy a tensor: it can no longer be used. Memory that others share remains.

    >>> x = sz.tensor([1, 2])
    >>> sz.destroy(x)
    >>> x
    Tensor(destroyed)
    """
    op = REGISTRY["destroy"]
    if not isinstance(as_operand(op, "input", input), Tensor) or not isinstance(input, Tensor):
        raise WrongObject(f"{op.title}: input is a {type(input).__name__}; it must be a Tensor.")
    _core.destroy(input)
