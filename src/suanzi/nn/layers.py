"""Layers: products with weights."""

from __future__ import annotations

from suanzi.nn._arguments import float_operands
from suanzi.ops.linear_algebra_products import as_matrix, check_bias, product, swapped
from suanzi.registry import ARITHMETIC, FLOATS, REGISTRY, Operator
from suanzi.resolve.declare import operator
from suanzi.status import DimensionsMismatch
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = ["linear", "linear_bwd"]


@operator("4.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def linear(x: TensorLike, weight: TensorLike, bias: TensorLike | None = None) -> Tensor:
    """Return x W^T + b for inputs along the last axis of x and a weight of shape (out, in).

    The bias is added before the one rounding of narrow dtypes.

    >>> sz.nn.linear(sz.tensor([1.0, 2.0]), sz.tensor([[3.0, 4.0]]), sz.tensor([0.5]))
    Tensor([11.5], dtype=float32)
    """
    op = REGISTRY["nn:linear"]
    found = float_operands(op, {"x": x, "weight": weight, "bias": bias})
    _check_linear(op, found)
    return product(found["x"], found["weight"], found["x"].dtype, found.get("bias"), True)


@operator("4.1.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def linear_bwd(
    out_grad: TensorLike, x: TensorLike, weight: TensorLike, bias: TensorLike | None = None
) -> tuple[Tensor, ...]:
    """Return the gradients of x and weight, and of bias if it is given.

    >>> x, weight = sz.tensor([[1.0, 2.0]]), sz.tensor([[3.0, 4.0]])
    >>> sz.nn.linear_bwd(sz.tensor([[0.5]]), x, weight)
    (Tensor([[1.5,   2]], dtype=float32), Tensor([[0.5,   1]], dtype=float32))
    """
    op = REGISTRY["nn:linear_bwd"]
    found = float_operands(op, {"out_grad": out_grad, "x": x, "weight": weight, "bias": bias})
    _check_linear(op, found)
    gradient, source, matrix = found["out_grad"], found["x"], found["weight"]
    expected = (*source.shape[:-1], matrix.shape[0])
    if gradient.shape != expected:
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {gradient.shape}; for x of shape {source.shape} and "
            f"weight of shape {matrix.shape} it must be {expected}."
        )
    rows, dtype = as_matrix(gradient), gradient.dtype
    made = (
        product(gradient, matrix, dtype),
        product(swapped(rows, 0, 1), as_matrix(source), dtype),
    )
    return made if bias is None else (*made, rows.sum(0))


def _check_linear(op: Operator, found: dict[str, Tensor]) -> None:
    x, weight = found["x"], found["weight"]
    if x.ndim == 0 or weight.ndim != 2 or x.shape[-1] != weight.shape[1]:
        raise DimensionsMismatch(
            f"{op.title}: x has shape {x.shape} and weight has shape {weight.shape}; weight must "
            "have two axes, for outputs and inputs, and its second size must be the last of x."
        )
    check_bias(op, found, weight.shape[0])
