"""Layers: products with weights, tables of rows, and dropout."""

from __future__ import annotations

from typing import Any, NoReturn

from suanzi import _core
from suanzi.base.dtypes import DTypeLike, float32, int64
from suanzi.base.hints import shown
from suanzi.base.shapes import MAX_NDIM
from suanzi.base.status import DimensionsMismatch, InvalidArgument, OutOfRange, TypeMismatch
from suanzi.ops.calling.arguments import dtype_named, tensor_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import integer_argument
from suanzi.ops.linear_algebra_products import as_matrix, check_bias, product, swapped
from suanzi.ops.nn._arguments import dense, float_operand, float_operands, real_parameter
from suanzi.promote.registry import (
    ARITHMETIC,
    BOOL,
    FLOATS,
    INTEGERS,
    REAL_FUNCTION,
    REGISTRY,
    Operator,
    call,
)  # fmt: skip
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "dropout", "dropout_bwd", "embedding", "embedding_bwd", "linear", "linear_bwd", "one_hot",
]  # fmt: skip


@operator("4.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
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


# ---- tables --------------------------------------------------------------------------------------


@operator("4.2", dtypes=FLOATS, ulp=0.5, promotes=REAL_FUNCTION, catalogue="nn")
def embedding(weight: TensorLike, indices: Any, padding_idx: int | None = None) -> Tensor:
    """Return the rows of weight at indices, each from 0 to the number of rows - 1.

    padding_idx is a row whose gradient is 0; it does not change the result.

    >>> weight = sz.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    >>> sz.nn.embedding(weight, sz.tensor([2, 0]))
    Tensor([[4, 5],
            [0, 1]], dtype=float32)
    """
    op = REGISTRY["nn:embedding"]
    table = float_operand(op, "weight", weight)
    places = _indices(op, indices)
    _padding(op, table, padding_idx)
    made = _core.nn_embedding(dense(table), places)
    return made if isinstance(made, Tensor) else outside(op, _item(places, made), table.shape[0])


@operator("4.2.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def embedding_bwd(
    out_grad: TensorLike, weight: TensorLike, indices: Any, padding_idx: int | None = None
) -> Tensor:
    """Return the gradient of embedding with respect to weight: sums of rows of out_grad.

    >>> out_grad, weight = sz.tensor([[1.0], [2.0], [4.0]]), sz.zeros((4, 1))
    >>> sz.nn.embedding_bwd(out_grad, weight, sz.tensor([1, 1, 3]))
    Tensor([[0],
            [3],
            [0],
            [4]], dtype=float32)
    """
    op = REGISTRY["nn:embedding_bwd"]
    found = float_operands(op, {"out_grad": out_grad, "weight": weight})
    places, table = _indices(op, indices), found["weight"]
    padding = _padding(op, table, padding_idx)
    expected = (*places.shape, table.shape[1])
    if found["out_grad"].shape != expected:
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {found['out_grad'].shape}; for weight of shape "
            f"{table.shape} and indices of shape {places.shape} it must be {expected}."
        )
    made = _core.nn_embedding_bwd(dense(found["out_grad"]), places, table.shape[0], padding)
    return made if isinstance(made, Tensor) else outside(op, _item(places, made), table.shape[0])


@operator("4.3", dtypes=INTEGERS, catalogue="nn")
def one_hot(indices: Any, num_classes: int = -1, dtype: DTypeLike = int64) -> Tensor:
    """Return 1 at each index along a new last axis of num_classes, and 0 elsewhere.

    -1 makes num_classes one more than the largest index. An index outside is an error.

    >>> sz.nn.one_hot(sz.tensor([2, 0]), 3)
    Tensor([[0, 0, 1],
            [1, 0, 0]], dtype=int64)
    """
    op = REGISTRY["nn:one_hot"]
    places, target = _indices(op, indices), dtype_named(op, dtype)
    if target not in (*BOOL, *INTEGERS, *FLOATS):
        raise TypeMismatch(
            f"{op.title}: dtype is {target}; it must be bool, or of integers or real floats."
        )
    count = integer_argument(op, "num_classes", num_classes, -1)
    if count == -1:
        if not places.size:
            raise InvalidArgument(
                f"{op.title}: indices has shape {places.shape} and no elements, so that the number "
                "of classes does not follow from it. Give num_classes."
            )
        count = max(_extremes(places)[1] + 1, 0)
    line = call("range", 0, count - 1, 1, int64) if count else _core.empty((0,), int64)
    for value in _extremes(places):
        if not 0 <= value < count:
            outside(op, value, count)
    return converted(call("reshape", places, [*places.shape, 1]) == line, target)


def _extremes(places: Tensor) -> list[int]:
    found: list[Any] = [places.min().item(), places.max().item()] if places.size else []
    return found


def _indices(op: Operator, indices: Any) -> Tensor:
    found = tensor_argument(op, "indices", indices)
    if found.dtype not in INTEGERS:
        raise TypeMismatch(
            f"{op.title}: indices is {found.dtype}; it must be of integers. Cast it with "
            "sz.cast(indices, sz.int64)."
        )
    if found.ndim == MAX_NDIM:
        raise DimensionsMismatch(
            f"{op.title}: indices has {found.ndim} axes; it must have at most {MAX_NDIM - 1}, as "
            "the result has one more. Reshape it first."
        )
    return dense(converted(found, int64))


def _padding(op: Operator, table: Tensor, padding_idx: int | None) -> int:
    """Return the row that has no gradient, -1 for none, of a table of two axes."""
    if table.ndim != 2:
        raise DimensionsMismatch(
            f"{op.title}: weight has shape {table.shape}; it must have two axes, rows and columns."
        )
    if padding_idx is None:
        return -1
    rows, number = table.shape[0], integer_argument(op, "padding_idx", padding_idx)
    if not -rows <= number < rows:
        raise OutOfRange(
            f"{op.title}: padding_idx is {shown(number)}; it must be from {-rows} to {rows - 1}."
        )
    return number % rows


def _item(places: Tensor, position: int) -> int:
    return int(call("reshape", places, [places.size])[position].item())


def outside(op: Operator, value: int, count: int, what: str = "rows") -> NoReturn:
    """Raise for an index that is not below a count."""
    allowed = f"from 0 to {count - 1}" if count else f"none: there are no {what}"
    raise OutOfRange(f"{op.title}: indices contains {value}; an index must be {allowed}.")


# ---- dropout -------------------------------------------------------------------------------------


@operator("4.4", dtypes=FLOATS, ulp=1, promotes=REAL_FUNCTION, catalogue="nn")
def dropout(
    x: TensorLike, p: float = 0.5, mask: TensorLike | None = None, seed: int | None = None
) -> Tensor:
    """Return x / (1 - p) where the mask is true, and 0 elsewhere.

    Without a mask, a seed gives one, whose elements are false with probability p: the same mask on
    every machine, for any layout and number of threads. The seed 0 is the system's entropy.

    >>> sz.nn.dropout(sz.tensor([1.0, 2.0, 3.0]), 0.5, sz.tensor([True, False, True]))
    Tensor([2, 0, 6], dtype=float32)
    """
    return _dropped(REGISTRY["nn:dropout"], "x", {"x": x}, p, mask, seed)


@operator("4.4.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def dropout_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    p: float = 0.5,
    mask: TensorLike | None = None,
    seed: int | None = None,
) -> Tensor:
    """Return the gradient of dropout with respect to x: out_grad, dropped alike.

    >>> x, mask = sz.tensor([1.0, 2.0, 3.0]), sz.tensor([True, False, True])
    >>> sz.nn.dropout_bwd(sz.tensor([1.0, 1.0, 1.0]), x, 0.5, mask)
    Tensor([2, 0, 2], dtype=float32)
    """
    given = {"out_grad": out_grad, "x": x}
    return _dropped(REGISTRY["nn:dropout_bwd"], "out_grad", given, p, mask, seed)


def _dropped(
    op: Operator, dropped: str, given: dict[str, Any], p: Any, mask: Any, seed: Any
) -> Tensor:
    found = float_operands(op, given)
    shape = next(iter(found.values())).shape
    kept = 1 - real_parameter(op, "p", p)
    if not 0 <= kept <= 1:
        raise InvalidArgument(f"{op.title}: p is {shown(p)}; it must be from 0 to 1.")
    if (mask is None) == (seed is None):
        received = "neither" if mask is None else "both"
        raise InvalidArgument(f"{op.title}: it takes a mask or a seed, and received {received}.")
    if mask is None:
        chances = call("expand", _core.full([1] * len(shape), float32, kept), list(shape))
        keeps = call("rand_bernoulli", chances, integer_argument(op, "seed", seed))
    else:
        keeps = tensor_argument(op, "mask", mask)
        if keeps.dtype.kind != "bool":
            raise TypeMismatch(
                f"{op.title}: mask is {keeps.dtype}; it must be bool, true for what is kept. "
                "Compare it with 0."
            )
    if any(x.shape != shape for x in (*found.values(), keeps)):
        came = " and ".join(f"{n} has shape {x.shape}" for n, x in {**found, "mask": keeps}.items())
        raise DimensionsMismatch(f"{op.title}: {came}; they must be equal.")
    x = found[dropped]
    scale = 1 / kept if kept else 0.0
    made: Tensor = _core.nn_activation("dropout", [x, converted(keeps, x.dtype)], [scale])
    return made
