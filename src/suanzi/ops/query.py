"""7.2.2: query: what a tensor is, and which of its elements are numbers of a kind."""

from __future__ import annotations

from suanzi import _core
from suanzi.base.dtypes import int32
from suanzi.base.status import InvalidArgument
from suanzi.ops.calling.arguments import real_argument, tensor_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.elementwise import check_dtype
from suanzi.promote.registry import ANY, BOOL, NUMBERS, REGISTRY, SUBBYTE, Operator
from suanzi.tensors.make import tensor
from suanzi.tensors.tensor import Tensor, TensorLike

_CHECKED = (*BOOL, *SUBBYTE, *NUMBERS)


@operator("7.2.2.1", dtypes=ANY)
def shape(input: TensorLike) -> Tensor:
    """Return the shape as an int32 vector; `input.shape` is the same as a tuple.

    >>> sz.shape(sz.tensor([[1, 2, 3], [4, 5, 6]]))
    Tensor([2, 3], dtype=int32)
    """
    op = REGISTRY["shape"]
    return shape_tensor(op, tensor_argument(op, "input", input).shape)


def shape_tensor(op: Operator, dims: tuple[int, ...]) -> Tensor:
    """Return a shape, of a dense or a sparse tensor, as a tensor."""
    if any(n >= 2**31 for n in dims):
        raise InvalidArgument(
            f"{op.title}: input has shape {dims}, beyond the range of int32. Use input.shape."
        )
    return tensor(dims, int32)


@operator("7.2.2.2", dtypes=_CHECKED, kernel="is_finite", own_body=True)
def is_finite(input: TensorLike) -> Tensor:
    """Return whether each element is finite; a complex one is if both parts are.

    >>> sz.is_finite(sz.tensor([1, float("inf"), float("nan")]))
    Tensor([ True, False, False], dtype=bool)
    """
    return _ask(REGISTRY["is_finite"], input)


@operator("7.2.2.3", dtypes=_CHECKED, kernel="is_inf", own_body=True)
def is_inf(input: TensorLike) -> Tensor:
    """Return whether each element is infinite; a complex one is if either part is.

    >>> sz.is_inf(sz.tensor([1, -float("inf"), float("nan")]))
    Tensor([False,  True, False], dtype=bool)
    """
    return _ask(REGISTRY["is_inf"], input)


@operator("7.2.2.4", dtypes=_CHECKED, kernel="is_nan", own_body=True)
def is_nan(input: TensorLike) -> Tensor:
    """Return whether each element is NaN; a complex one is if either part is.

    >>> sz.is_nan(sz.tensor([1, float("inf"), float("nan")]))
    Tensor([False, False,  True], dtype=bool)
    """
    return _ask(REGISTRY["is_nan"], input)


def _ask(op: Operator, input: TensorLike) -> Tensor:
    x = real_argument(op, "input", input)
    check_dtype(op, {"input": x}, x.dtype)
    return _core.run_operator(op.name, [x], x.dtype)[0]


@operator("7.2.2.5", dtypes=ANY)
def size(input: TensorLike) -> int:
    """Return the number of elements.

    >>> sz.size(sz.tensor([4, 5, 6]))
    3
    """
    return tensor_argument(REGISTRY["size"], "input", input).size


@operator("7.2.2.6", dtypes=ANY)
def rank(input: TensorLike) -> int:
    """Return the number of axes.

    >>> sz.rank(sz.tensor([[1, 2], [3, 4]]))
    2
    """
    return tensor_argument(REGISTRY["rank"], "input", input).ndim


@operator("7.2.2.7", dtypes=ANY)
def is_contiguous(input: TensorLike) -> bool:
    """Return whether the elements are contiguous in row-major order.

    >>> sz.is_contiguous(sz.zeros((2, 3))), sz.is_contiguous(sz.zeros((2, 3), layout=(0, 1)))
    (True, False)
    """
    return _core.is_row_major(tensor_argument(REGISTRY["is_contiguous"], "input", input))
