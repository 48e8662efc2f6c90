"""7.2.3.1, .16, .16.4, .22, .23: cast, clip, sign and where, which compute with the elements."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, DTypeLike, char, float32, iinfo
from suanzi.base.dtypes import bool as bool_
from suanzi.base.layout import strides_of
from suanzi.base.shapes import broadcast_shapes
from suanzi.base.status import InvalidArgument, TypeMismatch
from suanzi.ops.calling.arguments import (
    as_operand,
    dtype_named,
    is_gradient,
    real_argument,
    real_values,
    shape_error,
    tensor_argument,
    without_scale,
)
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.elementwise import (
    check_dtype,
    check_shapes,
    plain_operand,
    promoted_dtype,
    run,
)
from suanzi.ops.calling.scalars import flag_argument
from suanzi.ops.creation_wanted import LayoutLike, layout_argument
from suanzi.ops.quantized import quantize_for
from suanzi.promote.registry import (
    ANY,
    ARITHMETIC,
    JOINING,
    NUMBERS,
    QUANTIZED,
    REALS,
    REGISTRY,
    SUBBYTE,
    Operator,
)
from suanzi.tensors.make import tensor
from suanzi.tensors.parts import with_quantization_of
from suanzi.tensors.tensor import Tensor, TensorLike

_NOT_TEXT = tuple(d for d in ANY if d.kind not in ("char", "quantized"))


@operator("7.2.3.1", dtypes=(*_NOT_TEXT, *QUANTIZED), fast=True)
def cast(
    input: TensorLike,
    type: DTypeLike = float32,
    *,
    saturate: bool = False,
    layout: LayoutLike = None,
) -> Tensor:
    """Return a copy in another dtype; each element is rounded once.

    To an integer, floats truncate towards zero, NaN gives 0 and what is out of range the nearest
    end of it; wider integers wrap. To float16, bfloat16 or float8, overflow gives infinity, or NaN
    where the format has none (the largest number under the rules of ``torch``); with `saturate`,
    the largest finite number. A complex number keeps its real part, and everything but zero is
    True, NaN among it. A quantised tensor converts as what it stands for; to become one, numbers
    get the scale that `quantize` finds for them.

    The copy keeps the layout of the input, or has the one that `layout` says: a
    :class:`suanzi.Layout`, or the axes, the one that varies fastest first.

    >>> sz.cast(sz.tensor([1.5, -1.5, 300, float("nan")]), sz.int8)
    Tensor([  1,  -1, 127,   0], dtype=int8)
    >>> sz.cast(sz.tensor([300, -1]), sz.uint8)
    Tensor([ 44, 255], dtype=uint8)
    >>> sz.cast(sz.tensor([1e6]), sz.float16, saturate=True)
    Tensor([65504], dtype=float16)
    """
    op = REGISTRY["cast"]
    input = tensor_argument(op, "input", input)
    target = dtype_named(op, type)
    if target is not input.dtype and char in (input.dtype, target):
        raise TypeMismatch(
            f"{op.title}: input is {input.dtype}, which does not convert to {target}; only numbers "
            "convert to numbers."
        )
    flag_argument(op, "saturate", saturate)
    order = None if layout is None else layout_argument(op, layout, input.ndim)
    quantized = "quantized" in (input.dtype.kind, target.kind)
    made: Tensor
    if target is not input.dtype and target.kind == "quantized":
        made = quantize_for(op, "input", input, target)
    elif target is not input.dtype and input.dtype.kind == "quantized":
        if input.zero_point is None:
            raise without_scale(op.title, "input", input)
        made = _core.dequantize(input, target, saturate)
    elif layout is None or quantized:
        made = _core.cast(input, target, saturate)
    else:
        return _laid_out(input, target, order, saturate)
    return made if layout is None else _laid_out(made, target, order, saturate)


def _laid_out(x: Tensor, target: DType, order: tuple[int, ...] | None, saturate: bool) -> Tensor:
    """Return a copy in a dtype and an order of axes, of which None is row-major."""
    made = _core.empty(x.shape, target)
    if order is not None:
        made = _core.view(made, 0, x.shape, strides_of(x.shape, order))
    _core.copy_into(made, x, saturate)
    return with_quantization_of(x, made) if target is x.dtype else made


@operator("7.2.3.16", dtypes=(*SUBBYTE, *REALS), promotes=ARITHMETIC)
def clip(input: TensorLike, low: Any = None, high: Any = None) -> Tensor:
    """Return the input limited to the range from `low` to `high`.

    The bounds are numbers, or tensors of the dtype of the input, which the result has; None is no
    bound. NaN stays, and where `low` is above `high` the result is `high`.

    >>> sz.clip(sz.tensor([-2, 0, 5]), low=-1, high=3)
    Tensor([-1,  0,  3], dtype=int64)
    """
    op = REGISTRY["clip"]
    result = real_argument(op, "input", input)
    check_dtype(op, {"input": result}, result.dtype)
    bounds = {"low": _bound(op, "low", low, result), "high": _bound(op, "high", high, result)}
    given = {"input": result, **{k: v for k, v in bounds.items() if v is not None}}
    if check_shapes(op, given) != result.shape:
        raise shape_error(op)(
            f"{op.title}: the bounds go beyond the input's shape {result.shape}, which the result "
            "has; repeat the input first, or make the bounds smaller."
        )
    if bounds["low"] is not None:
        result = _core.run_operator("max", [result, bounds["low"]], result.dtype)[0]
    if bounds["high"] is not None:
        result = _core.run_operator("min", [result, bounds["high"]], result.dtype)[0]
    return _core.cast(result, result.dtype, False) if result is input else result


@operator("7.2.3.16.4", dtypes=NUMBERS)
def clip_backward(grad_out: TensorLike, low: Any, high: Any, input: TensorLike) -> Tensor:
    """Return the gradient of `clip`: `grad_out` where the input is within the bounds, else 0.

    `input` is the input of `clip`, which the standard forgot; the bounds themselves are within.

    >>> g, x = sz.tensor([1.0] * 5), sz.tensor([-2.0, -1, 0, 1, 2])
    >>> sz.clip_backward(g, -1, 1, x)
    Tensor([0, 1, 1, 1, 0], dtype=float32)
    """
    op = REGISTRY["clip_backward"]
    gradient = real_argument(op, "grad_out", grad_out)
    x = real_argument(op, "input", input)
    check_dtype(op, {"grad_out": gradient}, gradient.dtype)
    check_dtype(replace(op, dtypes=REGISTRY["clip"].dtypes), {"input": x}, x.dtype)
    if not is_gradient(gradient.dtype, x.dtype):
        raise TypeMismatch(
            f"{op.title}: grad_out is {gradient.dtype} and input {x.dtype}; they must be the same. "
            f"Cast one, for example with sz.cast(grad_out, sz.{x.dtype})."
        )
    limits = {"low": _bound(op, "low", low, x), "high": _bound(op, "high", high, x)}
    shapes = [limit.shape for limit in limits.values() if isinstance(limit, Tensor)]
    if gradient.shape != x.shape or broadcast_shapes([x.shape, *shapes]) != x.shape:
        raise InvalidArgument(
            f"{op.title}: grad_out has shape {gradient.shape} and input {x.shape}; "
            "they must be equal, and bounds must not be larger."
        )
    inside: Any = tensor(True)
    for bound, limit, comparison in (
        (low, limits["low"], "greater_equal"),
        (high, limits["high"], "less_equal"),
    ):
        if limit is not None:
            within = _core.run_operator(comparison, [x, limit], x.dtype)[0]
            if not isinstance(limit, Tensor) and _is_beyond(comparison, bound, limit):
                within = tensor(False)
            inside = _core.run_operator("logical_and", [inside, within], bool_)[0]
    return _core.run_operator("where", [inside, gradient, 0], gradient.dtype)[0]


def _is_beyond(comparison: str, bound: Any, limit: Any) -> bool:
    """Return whether no integer of the input reaches a bound; `limit` is the nearest one."""
    if not isinstance(limit, int):
        return False
    return bool(bound > limit) if comparison == "greater_equal" else bool(bound < limit)


def _bound(op: Operator, name: str, bound: Any, x: Tensor) -> Any:
    """Return a bound as a value of the input's dtype, or None."""
    if bound is None:
        return None
    is_scalar = hasattr(bound, "dtype") and not isinstance(bound, Tensor) and hasattr(bound, "item")
    if is_scalar and getattr(bound, "ndim", None) == 0:
        bound = bound.item()  # a NumPy scalar is a number like any other
    value = real_values(op, name, as_operand(op, name, bound))
    if isinstance(value, Tensor):
        if value.dtype is not x.dtype:
            raise InvalidArgument(
                f"{op.title}: {name} is a tensor of {value.dtype}; it must be of the input's "
                f"dtype, {x.dtype}. Cast it with sz.cast({name}, sz.{x.dtype})."
            )
        return value
    whole = isinstance(value, int) or (
        isinstance(value, float) and (value.is_integer() or math.isinf(value))
    )
    if isinstance(value, complex) or (x.dtype.kind in ("int", "uint") and not whole):
        raise InvalidArgument(
            f"{op.title}: {name} is {value}, which is not a value of the input's dtype, {x.dtype}. "
            "Round it, or cast the input."
        )
    if x.dtype.kind in ("int", "uint"):
        limits = iinfo(x.dtype)
        return int(min(max(value, limits.min), limits.max))
    return plain_operand(op, name, value, x.dtype)


@operator("7.2.3.22", dtypes=REALS, kernel="sign")
def sign(input: TensorLike) -> Tensor:
    """Return 1, 0 or -1 for elements above, at or below zero; NaN for NaN.

    >>> sz.sign(sz.tensor([-2.5, 0, 7]))
    Tensor([-1,  0,  1], dtype=float32)
    """


@operator("7.2.3.23", dtypes=_NOT_TEXT, kernel="where", own_body=True, promotes=JOINING)
def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor:
    """Return x where the condition is true, and y elsewhere; all three are broadcast.

    >>> sz.where(sz.tensor([True, False]), sz.tensor([1, 2]), 0.5)
    Tensor([  1, 0.5], dtype=float32)
    """
    op = REGISTRY["where"]
    test = as_operand(op, "condition", condition)
    test = test if isinstance(test, Tensor) else tensor(test)
    if test.dtype is not bool_:
        raise InvalidArgument(
            f"{op.title}: condition is {test.dtype}; it must be bool. Compare it with something, "
            "such as sz.not_equal(condition, 0)."
        )
    operands = {"x": as_operand(op, "x", x), "y": as_operand(op, "y", y)}
    operands = {name: real_values(op, name, v) for name, v in operands.items()}
    promoted = promoted_dtype(op, operands)
    check_shapes(op, {"condition": test, **operands})
    return run(op, operands, promoted, test)
