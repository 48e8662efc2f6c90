"""Steps of optimizers as functions: parameters and moments go in, and new ones come out."""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi.base.hints import shown
from suanzi.base.status import DimensionsMismatch, InvalidArgument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import flag_argument, integer_argument
from suanzi.ops.nn._arguments import dense, float_operands
from suanzi.ops.nn._norms import eps_argument, finite_argument
from suanzi.promote.registry import ARITHMETIC, FLOATS, REGISTRY, Operator
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = ["adamw"]


@operator("13.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def adamw(
    param: TensorLike,
    grad: TensorLike,
    exp_avg: TensorLike,
    exp_avg_sq: TensorLike,
    step: int,
    lr: float = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 1e-2,
    *,
    max_exp_avg_sq: TensorLike | None = None,
    maximize: bool = False,
) -> tuple[Tensor, ...]:
    """Return a parameter after a step of AdamW, and its two moments.

    `step` counts from 1. With a = exp_avg + (1 - beta1) (grad - exp_avg) and
    v = beta2 exp_avg_sq + (1 - beta2) grad**2, the parameter becomes
    (1 - lr weight_decay) param - lr / (1 - beta1**step) a / (sqrt(v / (1 - beta2**step)) + eps).
    With `max_exp_avg_sq` (AMSGrad) the larger of it and v stands for v in that, and is returned as
    well. `maximize` takes -grad. No argument is changed.

    >>> x, g, zero = sz.tensor([2.0]), sz.tensor([4.0]), sz.tensor([0.0])
    >>> sz.nn.adamw(x, g, zero, zero, 1, lr=0.5, beta1=0.5, beta2=0.75, weight_decay=0.5)
    (Tensor([1], dtype=float32), Tensor([2], dtype=float32), Tensor([4], dtype=float32))
    """
    op = REGISTRY["nn:adamw"]
    given = {"param": param, "grad": grad, "exp_avg": exp_avg, "exp_avg_sq": exp_avg_sq}
    found = float_operands(op, {**given, "max_exp_avg_sq": max_exp_avg_sq})
    shape = found["param"].shape
    for name, x in found.items():
        if x.shape != shape:
            raise DimensionsMismatch(
                f"{op.title}: {name} has shape {x.shape} and param {shape}; they must be equal."
            )
    values = _values(op, step, lr, beta1, beta2, weight_decay)
    values.append(eps_argument(op, eps))
    flag = flag_argument(op, "maximize", maximize)
    return tuple(_core.nn_adamw([dense(x) for x in found.values()], values, flag))


def _values(
    op: Operator, step: Any, lr: Any, beta1: Any, beta2: Any, weight_decay: Any
) -> list[float]:
    """Return what the core multiplies and divides by, but for eps."""
    count = min(integer_argument(op, "step", step, 1), 2**63)  # no power changes after it
    rate = finite_argument(op, "lr", lr)
    decay = finite_argument(op, "weight_decay", weight_decay)
    first, second = finite_argument(op, "beta1", beta1), finite_argument(op, "beta2", beta2)
    for name, x, given in (("lr", rate, lr), ("weight_decay", decay, weight_decay)):
        if x < 0:
            raise InvalidArgument(f"{op.title}: {name} is {shown(given)}; it must be at least 0.")
    for name, x, given in (("beta1", first, beta1), ("beta2", second, beta2)):
        if not 0 <= x < 1:
            raise InvalidArgument(
                f"{op.title}: {name} is {shown(given)}; it must be at least 0 and below 1."
            )
    root = math.sqrt(_correction(second, count))
    rest = [1 - first, first, second, 1 - second]
    return [1 - rate * decay, *rest, rate / _correction(first, count), root]


def _correction(beta: float, step: int) -> float:
    """Return 1 - beta**step; near 1 the difference would lose digits of it."""
    return 1 - beta**step if beta < 0.5 else -math.expm1(step * math.log1p(beta - 1))
