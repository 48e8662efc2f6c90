"""Convolutions of one, two and three axes, transposed ones, and their gradients.

A convolution here is a cross-correlation, as everywhere in deep learning: the kernel is not
flipped. The padding is zeros, which are multiplied as other elements are. Each result is summed
over channels, then over the kernel, in float32 (float64 of float64), and rounded once; the order
depends on the shapes alone. A transposed convolution is the gradient of a convolution's input.
"""

from __future__ import annotations

from collections.abc import Sequence

from suanzi.ops.calling.declare import operator
from suanzi.ops.nn._convolving import Gradients, convolve, convolve_bwd
from suanzi.promote.registry import ARITHMETIC, FLOATS
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "conv1d",
    "conv1d_bwd",
    "conv2d",
    "conv2d_bwd",
    "conv3d",
    "conv3d_bwd",
    "conv_transpose1d",
    "conv_transpose1d_bwd",
    "conv_transpose2d",
    "conv_transpose2d_bwd",
    "conv_transpose3d",
    "conv_transpose3d_bwd",
]

Each = int | Sequence[int]
Padding = int | Sequence[int] | str


@operator("5.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def conv1d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution along one axis, which is a cross-correlation.

    x is (batch, channels, width), or without the batch; weight is (outputs,
    channels / groups, kernel); bias has a number for each output. `padding` is how many zeros
    stand on both sides, "valid" (none), or "same" (the result is as large as x; the odd zero is at
    the end; only with a stride of 1).

    >>> x, weight = sz.tensor([[[1.0, 2, 3, 4]]]), sz.tensor([[[1.0, 0, -1]]])
    >>> sz.nn.conv1d(x, weight)
    Tensor([[[-2, -2]]], dtype=float32)
    >>> sz.nn.conv1d(x, weight, padding="same")
    Tensor([[[-2, -2, -2,  3]]], dtype=float32)
    """
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return convolve("conv1d", 1, {"x": x, "weight": weight, "bias": bias}, how)


@operator("5.2", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def conv1d_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: int = 1,
) -> Gradients:
    """Return the gradients of `conv1d`: of x, of weight, and of bias if it is given.

    >>> x, weight = sz.full(shape=(1, 1, 4), value=1), sz.full(shape=(1, 1, 2), value=1)
    >>> [y.shape for y in sz.nn.conv1d_bwd(sz.nn.conv1d(x, weight), x, weight)]
    [(1, 1, 4), (1, 1, 2)]
    """
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    tensors = {"x": x, "weight": weight, "bias": bias}
    return convolve_bwd("conv1d_bwd", 1, out_grad, tensors, how)


@operator("5.3", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def conv2d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution along two axes, which is a cross-correlation.

    x is (batch, channels, height, width), or without the batch; weight is (outputs,
    channels / groups, kernel); bias has a number for each output. `padding` is how many zeros
    stand on both sides, "valid" (none), or "same" (the result is as large as x; the odd zero is at
    the end; only with a stride of 1).

    >>> x, weight = sz.full(shape=(1, 1, 3, 3), value=1), sz.full(shape=(1, 1, 2, 2), value=1)
    >>> sz.nn.conv2d(x, weight, sz.tensor([0.5]))
    Tensor([[[[4.5, 4.5],
              [4.5, 4.5]]]], dtype=float32)
    >>> sz.nn.conv2d(x, weight, stride=2, padding=1).shape
    (1, 1, 2, 2)
    """
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return convolve("conv2d", 2, {"x": x, "weight": weight, "bias": bias}, how)


@operator("5.4", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def conv2d_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: int = 1,
) -> Gradients:
    """Return the gradients of `conv2d`: of x, of weight, and of bias if it is given.

    >>> x, weight = sz.full(shape=(1, 1, 3, 3), value=1), sz.full(shape=(1, 1, 2, 2), value=1)
    >>> [y.shape for y in sz.nn.conv2d_bwd(sz.nn.conv2d(x, weight), x, weight)]
    [(1, 1, 3, 3), (1, 1, 2, 2)]
    """
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    tensors = {"x": x, "weight": weight, "bias": bias}
    return convolve_bwd("conv2d_bwd", 2, out_grad, tensors, how)


@operator("5.5", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def conv3d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution along three axes, which is a cross-correlation.

    x is (batch, channels, depth, height, width), or without the batch; weight is (outputs,
    channels / groups, kernel); bias has a number for each output. `padding` is how many zeros
    stand on both sides, "valid" (none), or "same" (the result is as large as x; the odd zero is at
    the end; only with a stride of 1).

    >>> x, weight = sz.full(shape=(1, 1, 3, 3, 3), value=1), sz.full(shape=(2, 1, 2, 2, 2), value=1)
    >>> sz.nn.conv3d(x, weight, stride=2).shape
    (1, 2, 1, 1, 1)
    """
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return convolve("conv3d", 3, {"x": x, "weight": weight, "bias": bias}, how)


@operator("5.6", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def conv3d_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: int = 1,
) -> Gradients:
    """Return the gradients of `conv3d`: of x, of weight, and of bias if it is given.

    >>> x, weight = sz.full(shape=(1, 1, 3, 3, 3), value=1), sz.full(shape=(1, 1, 2, 2, 2), value=1)
    >>> [y.shape for y in sz.nn.conv3d_bwd(sz.nn.conv3d(x, weight), x, weight)]
    [(1, 1, 3, 3, 3), (1, 1, 2, 2, 2)]
    """
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    tensors = {"x": x, "weight": weight, "bias": bias}
    return convolve_bwd("conv3d_bwd", 3, out_grad, tensors, how)


@operator("5.7", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def conv_transpose1d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Each = 1,
    padding: Each = 0,
    output_padding: Each = 0,
    groups: int = 1,
    dilation: Each = 1,
) -> Tensor:
    """Return the transposed convolution along one axis: the gradient of the input of `conv1d`.

    weight is (channels, outputs / groups, kernel). `padding` takes away from both
    sides of the result, `output_padding` adds to its end.

    >>> sz.nn.conv_transpose1d(sz.tensor([[[1.0, 2]]]), sz.tensor([[[1.0, 10, 100]]]), stride=2)
    Tensor([[[  1,  10, 102,  20, 200]]], dtype=float32)
    """
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    how["output_padding"] = output_padding
    return convolve("conv_transpose1d", 1, {"x": x, "weight": weight, "bias": bias}, how)


@operator("5.8", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def conv_transpose1d_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Each = 1,
    padding: Each = 0,
    output_padding: Each = 0,
    groups: int = 1,
    dilation: Each = 1,
) -> Gradients:
    """Return the gradients of `conv_transpose1d`: of x, of weight, and of bias if it is given.

    >>> x, weight = sz.full(shape=(1, 1, 2), value=1), sz.full(shape=(1, 1, 2), value=1)
    >>> out_grad = sz.full(shape=(1, 1, 3), value=1)
    >>> [y.shape for y in sz.nn.conv_transpose1d_bwd(out_grad, x, weight)]
    [(1, 1, 2), (1, 1, 2)]
    """
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    how["output_padding"] = output_padding
    tensors = {"x": x, "weight": weight, "bias": bias}
    return convolve_bwd("conv_transpose1d_bwd", 1, out_grad, tensors, how)


@operator("5.9", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def conv_transpose2d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Each = 1,
    padding: Each = 0,
    output_padding: Each = 0,
    groups: int = 1,
    dilation: Each = 1,
) -> Tensor:
    """Return the transposed convolution along two axes: the gradient of the input of `conv2d`.

    weight is (channels, outputs / groups, kernel). `padding` takes away from both
    sides of the result, `output_padding` adds to its end.

    >>> x, weight = sz.full(shape=(1, 1, 2, 2), value=1), sz.full(shape=(1, 1, 2, 2), value=1)
    >>> sz.nn.conv_transpose2d(x, weight)
    Tensor([[[[1, 2, 1],
              [2, 4, 2],
              [1, 2, 1]]]], dtype=float32)
    """
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    how["output_padding"] = output_padding
    return convolve("conv_transpose2d", 2, {"x": x, "weight": weight, "bias": bias}, how)


@operator("5.10", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def conv_transpose2d_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Each = 1,
    padding: Each = 0,
    output_padding: Each = 0,
    groups: int = 1,
    dilation: Each = 1,
) -> Gradients:
    """Return the gradients of `conv_transpose2d`: of x, of weight, and of bias if it is given.

    >>> x, weight = sz.full(shape=(1, 1, 2, 2), value=1), sz.full(shape=(1, 1, 2, 2), value=1)
    >>> out_grad = sz.full(shape=(1, 1, 3, 3), value=1)
    >>> [y.shape for y in sz.nn.conv_transpose2d_bwd(out_grad, x, weight)]
    [(1, 1, 2, 2), (1, 1, 2, 2)]
    """
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    how["output_padding"] = output_padding
    tensors = {"x": x, "weight": weight, "bias": bias}
    return convolve_bwd("conv_transpose2d_bwd", 2, out_grad, tensors, how)


@operator("5.11", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def conv_transpose3d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Each = 1,
    padding: Each = 0,
    output_padding: Each = 0,
    groups: int = 1,
    dilation: Each = 1,
) -> Tensor:
    """Return the transposed convolution along three axes: the gradient of the input of `conv3d`.

    weight is (channels, outputs / groups, kernel). `padding` takes away from both
    sides of the result, `output_padding` adds to its end.

    >>> x, weight = sz.full(shape=(1, 1, 2, 2, 2), value=1), sz.full(shape=(1, 3, 2, 2, 2), value=1)
    >>> sz.nn.conv_transpose3d(x, weight, stride=2).shape
    (1, 3, 4, 4, 4)
    """
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    how["output_padding"] = output_padding
    return convolve("conv_transpose3d", 3, {"x": x, "weight": weight, "bias": bias}, how)


@operator("5.12", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def conv_transpose3d_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Each = 1,
    padding: Each = 0,
    output_padding: Each = 0,
    groups: int = 1,
    dilation: Each = 1,
) -> Gradients:
    """Return the gradients of `conv_transpose3d`: of x, of weight, and of bias if it is given.

    >>> x, weight = sz.full(shape=(1, 1, 2, 2, 2), value=1), sz.full(shape=(1, 1, 2, 2, 2), value=1)
    >>> out_grad = sz.full(shape=(1, 1, 3, 3, 3), value=1)
    >>> [y.shape for y in sz.nn.conv_transpose3d_bwd(out_grad, x, weight)]
    [(1, 1, 2, 2, 2), (1, 1, 2, 2, 2)]
    """
    how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    how["output_padding"] = output_padding
    tensors = {"x": x, "weight": weight, "bias": bias}
    return convolve_bwd("conv_transpose3d_bwd", 3, out_grad, tensors, how)
