"""Norms: the elements of a layer, a group or a batch with mean 0 and variance 1, or of length 1.

The mean comes first and the squares of what differs from it after; both add up in float64. Floats
narrower than float32 are computed in float32, and every result is rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod
from typing import Any

from suanzi import _core
from suanzi._hints import shown
from suanzi.nn._arguments import float_operands
from suanzi.nn.softmaxes import computed_dtype
from suanzi.ops.creation_wanted import number_argument
from suanzi.registry import ARITHMETIC, FLOATS, REGISTRY, Operator
from suanzi.resolve.declare import operator
from suanzi.resolve.scalars import is_several, shape_argument
from suanzi.status import DimensionsMismatch, InvalidArgument
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = ["layer_norm", "rms_norm"]


@operator("3.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def layer_norm(
    x: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return (x - mean) / sqrt(variance + eps) * weight + bias over the last axes.

    `normalized_shape` has the sizes of these axes, and weight and bias have that shape. The
    variance is the mean of the squares, not divided by n - 1.

    >>> sz.nn.layer_norm(sz.tensor([[1.0, 2.0, 3.0]]), 3)
    Tensor([[-1.2247357,          0,  1.2247357]], dtype=float32)
    """
    op = REGISTRY["nn:layer_norm"]
    found, shape = _layers(op, x, normalized_shape, {"weight": weight, "bias": bias})
    return _normalized(found, shape, True, _eps(op, eps), 0.0)


@operator("3.2", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def rms_norm(
    x: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    eps: float = 1e-5,
    *,
    offset: float = 0.0,
) -> Tensor:
    """Return x / sqrt(mean(x**2) + eps) * (weight + offset) over the last axes.

    `normalized_shape` has the sizes of these axes, and weight has that shape. An offset of 1 is
    for weights that are stored as their difference from 1.

    >>> sz.nn.rms_norm(sz.tensor([[1.0, 7.0]]), 2, eps=0)
    Tensor([[0.2, 1.4]], dtype=float32)
    """
    op = REGISTRY["nn:rms_norm"]
    found, shape = _layers(op, x, normalized_shape, {"weight": weight})
    return _normalized(found, shape, False, _eps(op, eps), _finite(op, "offset", offset))


# ---- arguments -----------------------------------------------------------------------------------


def _layers(
    op: Operator, x: Any, normalized_shape: Any, weights: dict[str, Any]
) -> tuple[dict[str, Tensor], tuple[int, ...]]:
    """Return the operands, promoted and checked, and the sizes of the last axes."""
    found = float_operands(op, {"x": x, **weights})
    one = not is_several(op, "normalized_shape", normalized_shape)
    shape = shape_argument(op, "normalized_shape", (normalized_shape,) if one else normalized_shape)
    given = found["x"].shape
    if not shape or given[-len(shape) :] != shape:
        raise DimensionsMismatch(
            f"{op.title}: normalized_shape is {shown(normalized_shape)}, and x has shape {given}; "
            "it must be the sizes of the last axes of x, at least one."
        )
    for name in weights:
        if name in found and found[name].shape != shape:
            raise DimensionsMismatch(
                f"{op.title}: {name} has shape {found[name].shape}; it must be normalized_shape, "
                f"{shape}."
            )
    return found, shape


def _normalized(
    found: dict[str, Tensor], shape: tuple[int, ...], centred: bool, eps: float, offset: float
) -> Tensor:
    x = found["x"]
    if not x.size:
        return _core.empty(x.shape, x.dtype)
    weights = (_dense(found.get("weight")), _dense(found.get("bias")))
    made = _core.nn_layer_norm(_dense(x), weights, prod(shape), centred, eps, offset)
    return converted(made, x.dtype)


def _dense(x: Tensor | None) -> Any:
    """Return a tensor as the core reads it: dense, in row-major order."""
    if x is None:
        return None
    x = converted(x, computed_dtype(x.dtype))
    return x if _core.is_row_major(x) else _core.row_major_copy(x)


def _eps(op: Operator, eps: Any) -> float:
    found = _finite(op, "eps", eps)
    if found < 0:
        raise InvalidArgument(f"{op.title}: eps is {shown(eps)}; it must be at least 0.")
    return found


def _finite(op: Operator, name: str, x: Any) -> float:
    number = number_argument(op, name, x)
    if isinstance(number, complex) or not isfinite(number):
        raise InvalidArgument(f"{op.title}: {name} is {shown(x)}; it must be a finite real number.")
    return float(number)
