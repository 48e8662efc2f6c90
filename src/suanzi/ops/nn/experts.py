"""Mixture of experts: which experts a token goes to, the tokens of each, and their products."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import prod
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import float64, int64, widened
from suanzi.base.hints import shown
from suanzi.base.status import DimensionsMismatch, InvalidArgument, TypeMismatch
from suanzi.ops.calling.arguments import tensor_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import flag_argument, integer_argument
from suanzi.ops.linear_algebra_products import product, swapped
from suanzi.ops.nn._arguments import dense, float_operand, float_operands, one_of
from suanzi.ops.nn.layers import outside
from suanzi.promote.registry import (
    ARITHMETIC,
    FLOATS,
    INTEGERS,
    REAL_FUNCTION,
    REGISTRY,
    Operator,
    call,
)
from suanzi.tensors.parts import converted, reshaped, zeros
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "grouped_matmul", "grouped_matmul_bwd", "moe_gating", "moe_gating_bwd", "moe_permutation",
]  # fmt: skip

_SCORES = ("softmax", "sigmoid")


# ---- gates ---------------------------------------------------------------------------------------


@operator("11.1", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def moe_gating(
    logits: TensorLike, k: int, scoring: str = "softmax", renormalize: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the weights of the k experts with the largest logits, and their indices as int64.

    Experts lie along the last axis. Of equal logits, the smaller index comes first. A weight is the
    softmax over all experts or the sigmoid; with `renormalize`, it is divided by the sum of the k.

    >>> weights, indices = sz.nn.moe_gating(sz.tensor([1.0, 3.0, 3.0]), 2, renormalize=True)
    >>> weights, indices
    (Tensor([0.5, 0.5], dtype=float32), Tensor([1, 2], dtype=int64))
    """
    op = REGISTRY["nn:moe_gating"]
    x = float_operand(op, "logits", logits)
    rows, chosen, indices, sigmoid, shares = _read_gates(op, x, k, scoring, renormalize)
    if not sigmoid and not shares:
        made = _picked(call("nn:softmax", rows), indices)
    else:
        made = call("nn:sigmoid", chosen) if sigmoid and not shares else chosen
        if shares:
            made = call("nn:softmax", call("nn:log_sigmoid", chosen) if sigmoid else chosen)
    shape = (*x.shape[:-1], indices.shape[1])
    return reshaped(converted(made, x.dtype), shape), reshaped(indices, shape)


@operator("11.1.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def moe_gating_bwd(
    out_grad: TensorLike,
    logits: TensorLike,
    k: int,
    scoring: str = "softmax",
    renormalize: bool = False,
) -> Tensor:
    """Return the gradient of the logits by that of the weights; the choice itself has none.

    >>> out_grad, logits = sz.tensor([1.0, 0.0]), sz.tensor([1.0, 3.0, 3.0])
    >>> sz.nn.moe_gating_bwd(out_grad, logits, 2, renormalize=True)
    Tensor([    0,  0.25, -0.25], dtype=float32)
    """
    op = REGISTRY["nn:moe_gating_bwd"]
    found = float_operands(op, {"out_grad": out_grad, "logits": logits})
    grad, x = found["out_grad"], found["logits"]
    rows, chosen, indices, sigmoid, shares = _read_gates(op, x, k, scoring, renormalize)
    shape = (*x.shape[:-1], indices.shape[1])
    if grad.shape != shape:
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {grad.shape}; for logits of shape {x.shape} and "
            f"k = {indices.shape[1]} it must be {shape}."
        )
    grad = reshaped(converted(grad, rows.dtype), indices.shape)
    if sigmoid and shares:
        grad = call("nn:softmax_bwd", grad, call("nn:log_sigmoid", chosen))
        grad = call("nn:log_sigmoid_bwd", grad, chosen)
    elif sigmoid:
        grad = call("nn:sigmoid_bwd", grad, chosen)
    elif shares:
        grad = call("nn:softmax_bwd", grad, chosen)
    made = zeros(rows.shape, rows.dtype)
    _core.scatter(reshaped(made, (made.size,)), 0, 1, _offsets(indices, rows.shape[1]),
                  dense(reshaped(grad, (grad.size,))), False)  # fmt: skip
    if not sigmoid and not shares:
        made = call("nn:softmax_bwd", made, rows)
    return reshaped(converted(made, x.dtype), x.shape)


def _read_gates(
    op: Operator, x: Tensor, k: Any, scoring: Any, renormalize: Any
) -> tuple[Tensor, Tensor, Tensor, bool, bool]:
    """Return the logits as wide rows, the k largest of each, their indices, and the options.

    Rows are dense: the softmax of rows that lie side by side adds up in another order.
    """
    count = integer_argument(op, "k", k)
    sigmoid = one_of(op, "scoring", scoring, _SCORES) == 1
    shares = flag_argument(op, "renormalize", renormalize)
    if not x.ndim:
        raise DimensionsMismatch(
            f"{op.title}: logits has rank 0; its last axis must be that of the experts."
        )
    experts = x.shape[-1]
    if not 1 <= count <= experts:
        allowed = f"from 1 to {experts}, the number of experts" if experts else "none: no experts"
        raise InvalidArgument(f"{op.title}: k is {shown(count)}; it must be {allowed}.")
    rows = dense(reshaped(x, (prod(x.shape[:-1]), experts)))
    chosen, indices = call("topk", rows, count)
    wide = widened(x.dtype)
    return converted(rows, wide), converted(chosen, wide), indices, sigmoid, shares


def _offsets(indices: Tensor, columns: int) -> Tensor:
    """Return the positions of the elements that the indices of rows stand for."""
    rows = indices.shape[0]
    if not indices.size:
        return reshaped(indices, (0,))
    starts = reshaped(call("range", 0, (rows - 1) * columns, columns, int64), (rows, 1))
    return reshaped(_core.run_operator("add", [indices, starts], int64)[0], (indices.size,))


def _picked(rows: Tensor, indices: Tensor) -> Tensor:
    flat = reshaped(dense(rows), (rows.size,))
    return reshaped(_core.gather(flat, 0, 1, _offsets(indices, rows.shape[1])), indices.shape)


# ---- the tokens of each expert -------------------------------------------------------------------


@operator("11.2", dtypes=INTEGERS, catalogue="nn")
def moe_permutation(indices: Any, num_experts: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return how tokens are put in the order of their experts, and back; none is dropped.

    indices has the expert of each token, of any shape. `counts` says how many each expert has;
    `order`, the row-major position in indices of what comes first, second, ...; `positions`, where
    each element of indices comes. Those of one expert keep their order.

    >>> counts, order, positions = sz.nn.moe_permutation(sz.tensor([[2, 0], [0, 2]]), 3)
    >>> counts, order
    (Tensor([2, 0, 2], dtype=int64), Tensor([1, 2, 0, 3], dtype=int64))
    >>> positions
    Tensor([[2, 0],
            [1, 3]], dtype=int64)
    """
    op = REGISTRY["nn:moe_permutation"]
    given = tensor_argument(op, "indices", indices)
    if given.dtype not in INTEGERS:
        raise TypeMismatch(
            f"{op.title}: indices is {given.dtype}; it must be of integers. Cast it with "
            "sz.cast(indices, sz.int64)."
        )
    places = dense(converted(given, int64))
    experts = integer_argument(op, "num_experts", num_experts, 0)
    made = _core.nn_expert_order(places, min(experts, 2**62))  # more have no memory either
    if isinstance(made, tuple):
        return made
    flat = reshaped(places, (places.size,))
    wrong: Any = flat[made].item()
    return outside(op, wrong, experts, "experts")


# ---- products ------------------------------------------------------------------------------------


@operator("11.3", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def grouped_matmul(x: TensorLike, weight: TensorLike, group_sizes: Any) -> Tensor:
    """Return the rows of x, sorted by group, each times the matrix of its group.

    The first group_sizes[0] rows of x are multiplied by weight[0], the next by weight[1], and so
    on. The weight has shape (groups, inputs, outputs). A group may have no rows.

    >>> weight = sz.tensor([[[1.0], [0.0]], [[0.0], [1.0]]])
    >>> sz.nn.grouped_matmul(sz.tensor([[1.0, 2.0], [3.0, 4.0]]), weight, [0, 2])
    Tensor([[2],
            [4]], dtype=float32)
    """
    op = REGISTRY["nn:grouped_matmul"]
    found = float_operands(op, {"x": x, "weight": weight})
    rows, matrices = found["x"], found["weight"]
    groups = _groups(op, found, group_sizes)
    made = _core.empty((rows.shape[0], matrices.shape[2]), rows.dtype)
    for group, start, end in _many_rows(rows, matrices, groups, made):
        if start < end:
            _core.copy_into(made[start:end], _product(rows[start:end], matrices[group]))
    return made


@operator("11.3.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def grouped_matmul_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    weight: TensorLike,
    group_sizes: Any,
) -> tuple[Tensor, Tensor]:
    """Return the gradients of x and weight; that of a matrix whose group has no rows is 0.

    >>> x, weight = sz.tensor([[1.0, 2.0]]), sz.tensor([[[3.0], [4.0]], [[5.0], [6.0]]])
    >>> x_grad, weight_grad = sz.nn.grouped_matmul_bwd(sz.tensor([[0.5]]), x, weight, [1, 0])
    >>> x_grad, weight_grad.reshape(2, 2)
    (Tensor([[1.5,   2]], dtype=float32), Tensor([[0.5,   1],
            [  0,   0]], dtype=float32))
    """
    op = REGISTRY["nn:grouped_matmul_bwd"]
    found = float_operands(op, {"out_grad": out_grad, "x": x, "weight": weight})
    grad, rows, matrices = found["out_grad"], found["x"], found["weight"]
    groups = _groups(op, found, group_sizes)
    shape = (rows.shape[0], matrices.shape[2])
    if grad.shape != shape:
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {grad.shape}; for x of shape {rows.shape} and "
            f"weight of shape {matrices.shape} it must be {shape}."
        )
    x_grad, weight_grad = _core.empty(rows.shape, rows.dtype), zeros(matrices.shape, rows.dtype)
    for group, start, end in groups:
        if start == end:
            continue
        some, given = grad[start:end], rows[start:end]
        back = swapped(matrices[group], 0, 1)
        _core.copy_into(x_grad[start:end], _product(some, back))
        _core.copy_into(weight_grad[group], product(swapped(given, 0, 1), some, rows.dtype))
    return x_grad, weight_grad


_TILE, _LARGE = 16, 2**15
"""Rows of a tile, and the multiplications from which the core takes kernels of tiles."""

_FEW = 16
"""Rows that are multiplied by a matrix as it lies."""


def _many_rows(
    x: Tensor, weight: Tensor, groups: list[tuple[int, int, int]], made: Tensor
) -> list[tuple[int, int, int]]:
    """Compute the groups that have few rows, where there are kernels for it; return the others."""
    inputs, outputs = weight.shape[1:]
    few = [group for group in groups if group[1] < group[2] <= group[1] + _FEW]
    if not few or outputs < _TILE or inputs * outputs * _TILE <= _LARGE:
        return groups
    if not _core.nn_few_rows(dense(x), weight, few, made):
        return groups
    return [group for group in groups if group[2] > group[1] + _FEW]


def _product(rows: Tensor, matrix: Tensor) -> Tensor:
    """Return a product; few rows are some of more, so that they have the bits of many."""
    count, (inputs, outputs) = rows.shape[0], matrix.shape
    size = inputs * outputs
    least = _TILE if rows.dtype is float64 else max(2, _LARGE // max(size, 1) + 1)
    if count >= least or outputs < _TILE or size * _TILE <= _LARGE:
        return product(rows, matrix, rows.dtype)
    more = zeros((least, inputs), rows.dtype)
    _core.copy_into(more[:count], rows)
    return product(more, matrix, rows.dtype)[:count]


def _groups(op: Operator, found: dict[str, Tensor], group_sizes: Any) -> list[tuple[int, int, int]]:
    """Return each group, and where its rows begin and end."""
    x, weight = found["x"], found["weight"]
    if x.ndim != 2 or weight.ndim != 3 or x.shape[1] != weight.shape[1]:
        raise DimensionsMismatch(
            f"{op.title}: x has shape {x.shape} and weight has shape {weight.shape}; they must be "
            "(rows, inputs) and (groups, inputs, outputs)."
        )
    sizes = _sizes(op, group_sizes)
    check_groups(op, sizes, x.shape[0], weight.shape[0])
    ends = accumulate(sizes)
    return [(i, end - size, end) for i, (size, end) in enumerate(zip(sizes, ends, strict=True))]


def _sizes(op: Operator, group_sizes: Any) -> list[int]:
    """Return the numbers of rows as integers."""
    if isinstance(group_sizes, list | tuple):
        return [integer_argument(op, "group_sizes", n) for n in group_sizes]
    given = tensor_argument(op, "group_sizes", group_sizes)
    if given.dtype not in INTEGERS:
        raise TypeMismatch(
            f"{op.title}: group_sizes is {given.dtype}; it must be of integers. Cast it with "
            "sz.cast(group_sizes, sz.int64)."
        )
    if given.ndim != 1:
        raise DimensionsMismatch(
            f"{op.title}: group_sizes has shape {given.shape}; it must have one axis, of groups."
        )
    found: list[Any] = given.tolist()
    return found


def check_groups(op: Operator, sizes: Sequence[int], rows: int, groups: int) -> None:
    """Raise unless there is a number of rows for each group, and their sum is that of all rows."""
    if len(sizes) != groups:
        raise DimensionsMismatch(
            f"{op.title}: group_sizes has {len(sizes)} numbers and weight {groups} matrices; there "
            "must be as many."
        )
    if any(n < 0 for n in sizes):
        raise InvalidArgument(
            f"{op.title}: group_sizes contains {shown(min(sizes))}; it must be 0 or more."
        )
    if sum(sizes) != rows:
        raise InvalidArgument(
            f"{op.title}: the sum of group_sizes is {shown(sum(sizes))}, and x has {rows} rows; "
            "they must be equal. No row is left out."
        )
