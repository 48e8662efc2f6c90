"""7.2.13.1.4: the gradients of the modes of `reduce` that have one."""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, complex64, complex128, float32, float64
from suanzi.base.dtypes import bool as bool_
from suanzi.base.status import InvalidArgument, TypeMismatch
from suanzi.ops.calling.arguments import is_gradient
from suanzi.ops.calling.elementwise import promote
from suanzi.ops.reduction_modes import ReduceMode, result_dtype
from suanzi.ops.transformation_views import reshape
from suanzi.promote.registry import REGISTRY, Operator
from suanzi.tensors.make import tensor
from suanzi.tensors.parts import converted, permuted
from suanzi.tensors.tensor import Tensor

_WITH_GRADIENT = (
    ReduceMode.SUM, ReduceMode.MEAN, ReduceMode.PROD, ReduceMode.MAX, ReduceMode.MIN,
)  # fmt: skip


def _check_gradient(op: Operator, mode: ReduceMode, gradient: Tensor, x: Tensor) -> None:
    """Raise TypeMismatch unless a gradient has the dtype of what was reduced (7.2.13.1.5).

    Where the gradient of integers is divided, it is of any floats.
    """
    whole = x.dtype.kind not in ("float", "complex")
    divided = mode in (ReduceMode.MEAN, ReduceMode.MAX, ReduceMode.MIN)
    made = result_dtype(mode, x.dtype)
    if is_gradient(gradient.dtype, made) or (whole and divided):
        return
    raise TypeMismatch(
        f"{op.title}: out_grad is {gradient.dtype} and input {x.dtype}, whose {mode.name} is "
        f"{made}. Cast it, for example with sz.cast(out_grad, sz.{made})."
    )


def gradient_of(
    op: Operator, mode: ReduceMode, gradient: Tensor, x: Tensor, axes: list[int]
) -> Tensor:
    """Return the gradient of the input, from that of the result with its axes kept."""
    if mode in _WITH_GRADIENT:
        _check_gradient(op, mode, gradient, x)
    if mode is ReduceMode.SUM:
        return _repeated(gradient, x.shape)
    if mode is ReduceMode.MEAN:
        _check_division(op, mode, gradient)
        count = math.prod(x.shape[a] for a in axes)
        return _repeated(_shared(gradient, count) if count else gradient, x.shape)
    if mode is ReduceMode.PROD:
        return _of_product(gradient, x, axes)
    if mode in (ReduceMode.MAX, ReduceMode.MIN):
        _check_division(op, mode, gradient)
        return _of_extreme(mode, gradient, x, axes)
    raise InvalidArgument(
        f"{op.title}: mode is {mode.name}, which has no gradient; SUM, PROD, MAX, MIN and MEAN "
        "have one."
    )


def _check_division(op: Operator, mode: ReduceMode, gradient: Tensor) -> None:
    if gradient.dtype.kind not in ("float", "complex"):
        raise TypeMismatch(
            f"{op.title}: out_grad is {gradient.dtype}, and the gradient of {mode.name} divides. "
            "Cast it first, for example with sz.cast(out_grad, sz.float32)."
        )


def _run(kernel: str, operands: list[Any], dt: DType) -> Tensor:
    return _core.run_operator(kernel, operands, dt)[0]


def _wide(dt: DType) -> DType:
    """Return the dtype that is computed in, so that the result is rounded once."""
    if dt.kind == "float":
        return float32 if dt.bits < 32 else float64
    if dt.kind == "complex":
        return complex64 if dt.bits < 64 else complex128
    return dt


def _repeated(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return a tensor with axes of size 1 repeated to a shape."""
    made = _core.empty(shape, x.dtype)
    _core.copy_into(made, x)
    return made


def _shared(gradient: Tensor, count: Any) -> Tensor:
    """Return a gradient divided, whose number of parts may be beyond its dtype."""
    # As many as 2**24 are exact in float32.
    if gradient.dtype.kind != "complex":
        quotient = _run("div", [converted(gradient, float64), count], float64)
        return converted(quotient, gradient.dtype)
    # Part by part, as in the forward: of a complex quotient, an infinite part spoils the other.
    wide = converted(gradient, complex128)
    parts = [_run("div", [_core.part_view(wide, i), count], float64) for i in (False, True)]
    return converted(_core.make_complex(*parts), gradient.dtype)


def _of_extreme(mode: ReduceMode, gradient: Tensor, x: Tensor, axes: list[int]) -> Tensor:
    """Return the gradient of the largest, or the smallest: those that are it share it."""
    if x.size == 0:
        return _repeated(gradient, x.shape)
    extreme = _core.reduce(x, int(mode), axes, True)
    chosen = _run("equal", [x, extreme], x.dtype)
    if x.dtype.kind == "float":
        both = [_run("not_equal", [one, one], x.dtype) for one in (x, extreme)]
        chosen = _run("logical_or", [chosen, _run("logical_and", both, bool_)], bool_)
    count = _core.reduce(chosen, int(ReduceMode.SUM), axes, True)
    share = _shared(gradient, converted(count, float64))
    return _run("where", [chosen, share, 0], gradient.dtype)


def _of_product(gradient: Tensor, x: Tensor, axes: list[int]) -> Tensor:
    """Return the gradient of a product: for each element the product of the others."""
    promoted = promote(REGISTRY["mul"], {"out_grad": gradient, "input": x}).dtype
    assert promoted is not None
    wide = _wide(promoted)
    kept = [a for a in range(x.ndim) if a not in axes]
    order = [*axes, *kept]
    rest = tuple(x.shape[a] for a in kept)
    count = math.prod(x.shape[a] for a in axes)
    rows = reshape(converted(permuted(x, order), wide), (count, *rest))
    others = _products_of_others(rows)
    others = _core.conjugate(others) if wide.kind == "complex" else others
    flat = reshape(converted(gradient, wide), (1, *rest))
    found = converted(_run("mul", [others, flat], wide), gradient.dtype)
    back = reshape(found, tuple(x.shape[a] for a in order))
    strides = [back.strides[order.index(a)] for a in range(x.ndim)]
    return _core.row_major_copy(_core.view(back, back.offset, x.shape, strides))


def _products_of_others(rows: Tensor) -> Tensor:
    """Return, for each row, the product of all others.

    The product of all other pairs is found in the same way; for each of a pair, the other of the
    two is missing from it.
    """
    made = _core.empty(rows.shape, rows.dtype)
    n = len(rows)
    if n < 2:
        _core.copy_into(made, tensor(1, rows.dtype))
        return made
    left, right = rows[0 : n - n % 2 : 2], rows[1::2]
    pairs = _core.empty(((n + 1) // 2, *rows.shape[1:]), rows.dtype)
    _core.copy_into(pairs[: n // 2], _run("mul", [left, right], rows.dtype))
    if n % 2:
        _core.copy_into(pairs[n // 2 :], rows[n - 1 :])
    others = _products_of_others(pairs)
    _core.copy_into(made[0 : n - n % 2 : 2], _run("mul", [others[: n // 2], right], rows.dtype))
    _core.copy_into(made[1::2], _run("mul", [others[: n // 2], left], rows.dtype))
    if n % 2:
        _core.copy_into(made[n - 1 :], others[n // 2 :])
    return made
