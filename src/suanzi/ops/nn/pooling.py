"""Pooling: the largest elements and the means of windows of one to three axes.

x has a batch, channels and the pooled axes, or no batch. The three ranks of an operator are made of
one function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import flag_argument
from suanzi.ops.nn._pooling import Pooling
from suanzi.promote.registry import FLOATS, REAL_FUNCTION
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool1d_bwd",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool2d_bwd",
    "adaptive_avg_pool3d",
    "adaptive_avg_pool3d_bwd",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_bwd",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_bwd",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_bwd",
    "avg_pool1d",
    "avg_pool1d_bwd",
    "avg_pool2d",
    "avg_pool2d_bwd",
    "avg_pool3d",
    "avg_pool3d_bwd",
    "max_pool1d",
    "max_pool1d_bwd",
    "max_pool2d",
    "max_pool2d_bwd",
    "max_pool3d",
    "max_pool3d_bwd",
]

Sizes = int | Sequence[int]
F = TypeVar("F", bound=Callable[..., Any])


def _declared(clause: str, name: str, make: Callable[[str], F]) -> F:
    """Declare an operator of one rank; the names in its docstring become those of that rank."""
    function = make(name)
    rank = name.removesuffix("_bwd")[-2]
    words = inspect.cleandoc(function.__doc__ or "").replace("{n}", rank)
    words = words.replace("{forward}", name.removesuffix("_bwd"))
    if f".{name}(" not in words:
        words = words.partition("\n\n>>>")[0]  # the example is that of another operator
    function.__name__ = function.__qualname__ = name
    function.__doc__ = words
    return operator(clause, dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")(function)


def _max_pool(name: str) -> Callable[..., Tensor | tuple[Tensor, Tensor]]:
    def max_pool(
        x: TensorLike,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        *,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Return the largest element of each window over the last {n} axes.

        A kernel of `kernel_size` elements, `dilation` apart, moves by `stride`, which is
        kernel_size by default, over x and `padding` on both sides, which never is the largest. With
        `ceil_mode` a last window may end beyond the padding. A NaN is larger than all numbers.
        `return_indices` gives the positions of the largest elements as well, counted in the pooled
        axes of x; of equal ones, the first.

        >>> x = sz.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]])
        >>> sz.nn.max_pool2d(x, 2, 1)
        Tensor([[[5, 6]]], dtype=float32)
        """
        pooling = Pooling(name, x)
        pooling.slide(kernel_size, stride, padding, dilation, ceil_mode)
        if flag_argument(pooling.op, "return_indices", return_indices):
            return pooling.with_positions()
        return pooling.pool()

    return max_pool


def _max_pool_bwd(name: str) -> Callable[..., Tensor]:
    def max_pool_bwd(
        out_grad: TensorLike,
        x: TensorLike,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        *,
        ceil_mode: bool = False,
    ) -> Tensor:
        """Return the gradient of `max_pool{n}d` by x: the first largest element has all of it.

        >>> x = sz.tensor([[[1.0, 2.0], [4.0, 4.0]]])
        >>> sz.nn.max_pool2d_bwd(sz.tensor([[[3.0]]]), x, 2)
        Tensor([[[0, 0],
                 [3, 0]]], dtype=float32)
        """
        pooling = Pooling(name, x, out_grad)
        return pooling.slide(kernel_size, stride, padding, dilation, ceil_mode).gradient()

    return max_pool_bwd


def _avg_pool(name: str) -> Callable[..., Tensor]:
    def avg_pool(
        x: TensorLike,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        *,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        """Return the mean of each window over the last {n} axes.

        Windows are those of `max_pool{n}d`; padding has zeros, which count in the divisor unless
        `count_include_pad` is False. What `ceil_mode` adds beyond the padding never counts.
        `divisor_override` is the divisor of all windows instead.

        >>> x = sz.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]])
        >>> sz.nn.avg_pool2d(x, 2, 1)
        Tensor([[[3, 4]]], dtype=float32)
        """
        pooling = Pooling(name, x).slide(kernel_size, stride, padding, 1, ceil_mode)
        return pooling.count(count_include_pad, divisor_override).pool()

    return avg_pool


def _avg_pool_bwd(name: str) -> Callable[..., Tensor]:
    def avg_pool_bwd(
        out_grad: TensorLike,
        x: TensorLike,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        *,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        """Return the gradient of `avg_pool{n}d` by x, of which only the shape and dtype count.

        >>> x = sz.tensor([[[1.0, 2.0], [4.0, 4.0]]])
        >>> sz.nn.avg_pool2d_bwd(sz.tensor([[[4.0]]]), x, 2)
        Tensor([[[1, 1],
                 [1, 1]]], dtype=float32)
        """
        pooling = Pooling(name, x, out_grad).slide(kernel_size, stride, padding, 1, ceil_mode)
        return pooling.count(count_include_pad, divisor_override).gradient()

    return avg_pool_bwd


def _adaptive_avg_pool(name: str) -> Callable[..., Tensor]:
    def adaptive_avg_pool(x: TensorLike, output_size: Sizes) -> Tensor:
        """Return the means of windows that cover the last {n} axes evenly.

        Of n elements and m windows, window i has those from i n / m, rounded down, up to
        (i + 1) n / m, rounded up. `output_size` has m for each axis, or one for all; None is n.

        >>> x = sz.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]])
        >>> sz.nn.adaptive_avg_pool2d(x, (1, 2))
        Tensor([[[3, 4]]], dtype=float32)
        """
        return Pooling(name, x).adapt(output_size).pool()

    return adaptive_avg_pool


def _adaptive_max_pool(name: str) -> Callable[..., Tensor | tuple[Tensor, Tensor]]:
    def adaptive_max_pool(
        x: TensorLike, output_size: Sizes, *, return_indices: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Return the largest elements of windows that cover the last {n} axes evenly.

        The windows are those of `adaptive_avg_pool{n}d`; NaN, ties and indices as in
        `max_pool{n}d`.

        >>> x = sz.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]])
        >>> sz.nn.adaptive_max_pool2d(x, (1, 2))
        Tensor([[[5, 6]]], dtype=float32)
        """
        pooling = Pooling(name, x).adapt(output_size)
        if flag_argument(pooling.op, "return_indices", return_indices):
            return pooling.with_positions()
        return pooling.pool()

    return adaptive_max_pool


def _adaptive_pool_bwd(name: str) -> Callable[..., Tensor]:
    def adaptive_pool_bwd(out_grad: TensorLike, x: TensorLike, output_size: Sizes) -> Tensor:
        """Return the gradient of `{forward}` by x.

        >>> x = sz.tensor([[[1.0, 2.0], [4.0, 4.0]]])
        >>> sz.nn.adaptive_avg_pool2d_bwd(sz.tensor([[[4.0]]]), x, 1)
        Tensor([[[1, 1],
                 [1, 1]]], dtype=float32)
        """
        return Pooling(name, x, out_grad).adapt(output_size).gradient()

    return adaptive_pool_bwd


max_pool1d = _declared("6.1", "max_pool1d", _max_pool)
max_pool1d_bwd = _declared("6.2", "max_pool1d_bwd", _max_pool_bwd)
max_pool2d = _declared("6.3", "max_pool2d", _max_pool)
max_pool2d_bwd = _declared("6.4", "max_pool2d_bwd", _max_pool_bwd)
max_pool3d = _declared("6.5", "max_pool3d", _max_pool)
max_pool3d_bwd = _declared("6.6", "max_pool3d_bwd", _max_pool_bwd)
avg_pool1d = _declared("6.7", "avg_pool1d", _avg_pool)
avg_pool1d_bwd = _declared("6.8", "avg_pool1d_bwd", _avg_pool_bwd)
avg_pool2d = _declared("6.9", "avg_pool2d", _avg_pool)
avg_pool2d_bwd = _declared("6.10", "avg_pool2d_bwd", _avg_pool_bwd)
avg_pool3d = _declared("6.11", "avg_pool3d", _avg_pool)
avg_pool3d_bwd = _declared("6.12", "avg_pool3d_bwd", _avg_pool_bwd)
adaptive_avg_pool1d = _declared("6.13", "adaptive_avg_pool1d", _adaptive_avg_pool)
adaptive_avg_pool1d_bwd = _declared("6.14", "adaptive_avg_pool1d_bwd", _adaptive_pool_bwd)
adaptive_avg_pool2d = _declared("6.15", "adaptive_avg_pool2d", _adaptive_avg_pool)
adaptive_avg_pool2d_bwd = _declared("6.16", "adaptive_avg_pool2d_bwd", _adaptive_pool_bwd)
adaptive_avg_pool3d = _declared("6.17", "adaptive_avg_pool3d", _adaptive_avg_pool)
adaptive_avg_pool3d_bwd = _declared("6.18", "adaptive_avg_pool3d_bwd", _adaptive_pool_bwd)
adaptive_max_pool1d = _declared("6.19", "adaptive_max_pool1d", _adaptive_max_pool)
adaptive_max_pool1d_bwd = _declared("6.20", "adaptive_max_pool1d_bwd", _adaptive_pool_bwd)
adaptive_max_pool2d = _declared("6.21", "adaptive_max_pool2d", _adaptive_max_pool)
adaptive_max_pool2d_bwd = _declared("6.22", "adaptive_max_pool2d_bwd", _adaptive_pool_bwd)
adaptive_max_pool3d = _declared("6.23", "adaptive_max_pool3d", _adaptive_max_pool)
adaptive_max_pool3d_bwd = _declared("6.24", "adaptive_max_pool3d_bwd", _adaptive_pool_bwd)
