"""Norms: the elements of a layer, a group or a batch with mean 0 and variance 1, or of length 1.

The mean comes first and the squares of what differs from it after; both add up in float64. Floats
narrower than float32 are computed in float32, and every result is rounded once. The variance is the
mean of the squares, not divided by n - 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import flag_argument
from suanzi.ops.nn._norms import (
    EACH_CHANNEL,
    Cosines,
    Gradients,
    Layers,
    Lengths,
    Pieces,
    eps_argument,
    finite_argument,
)
from suanzi.promote.registry import ARITHMETIC, FLOATS, REAL_FUNCTION, REGISTRY
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "batch_norm",
    "batch_norm_bwd",
    "cosine_similarity",
    "cosine_similarity_bwd",
    "group_norm",
    "group_norm_bwd",
    "instance_norm",
    "instance_norm_bwd",
    "layer_norm",
    "layer_norm_bwd",
    "normalize",
    "normalize_bwd",
    "rms_norm",
    "rms_norm_bwd",
]

# ---- over the last axes --------------------------------------------------------------------------


@operator("3.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def layer_norm(
    x: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return (x - mean) / sqrt(variance + eps) * weight + bias over the last axes.

    `normalized_shape` has the sizes of these axes, and weight and bias have that shape.

    >>> sz.nn.layer_norm(sz.tensor([[1.0, 3.0]]), 2, eps=0)
    Tensor([[-1,  1]], dtype=float32)
    """
    op = REGISTRY["nn:layer_norm"]
    return Layers(op, {"x": x, "weight": weight, "bias": bias}, normalized_shape, eps).forward()


@operator("3.1.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def layer_norm_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-5,
) -> Gradients:
    """Return the gradients of layer_norm: of x, and of weight and bias if they are given.

    >>> x, g = sz.tensor([[1.0, 3.0, 1.0, 3.0]]), sz.tensor([[1.0, 0.0, 0.0, 0.0]])
    >>> sz.nn.layer_norm_bwd(g, x, 4, eps=0)
    Tensor([[ 0.5,    0, -0.5,    0]], dtype=float32)
    """
    op = REGISTRY["nn:layer_norm_bwd"]
    given = {"out_grad": out_grad, "x": x, "weight": weight, "bias": bias}
    return Layers(op, given, normalized_shape, eps).backward()


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
    shift = finite_argument(op, "offset", offset)
    return Layers(op, {"x": x, "weight": weight}, normalized_shape, eps, False, shift).forward()


@operator("3.2.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def rms_norm_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    eps: float = 1e-5,
    *,
    offset: float = 0.0,
) -> Gradients:
    """Return the gradients of rms_norm: of x, and of weight if it is given.

    >>> x, g = sz.tensor([[1.0, 1.0]]), sz.tensor([[1.0, 0.0]])
    >>> sz.nn.rms_norm_bwd(g, x, 2, eps=0)
    Tensor([[ 0.5, -0.5]], dtype=float32)
    """
    op = REGISTRY["nn:rms_norm_bwd"]
    shift = finite_argument(op, "offset", offset)
    given = {"out_grad": out_grad, "x": x, "weight": weight}
    return Layers(op, given, normalized_shape, eps, False, shift).backward()


# ---- over channels -------------------------------------------------------------------------------


@operator("3.3", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def group_norm(
    x: TensorLike,
    num_groups: int,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return x (batch, channels, ...) normalised over groups of channels and all later axes.

    weight and bias have a number for each channel.

    >>> sz.nn.group_norm(sz.tensor([[1.0, 3.0, 5.0, 5.0]]), 2, eps=1.0)
    Tensor([[-0.70710677,  0.70710677,           0,           0]], dtype=float32)
    """
    op = REGISTRY["nn:group_norm"]
    return Pieces(op, {"x": x, "weight": weight, "bias": bias}, eps, num_groups).forward()


@operator("3.3.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def group_norm_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    num_groups: int,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-5,
) -> Gradients:
    """Return the gradients of group_norm: of x, and of weight and bias if they are given.

    >>> x, g = sz.tensor([[1.0, 3.0, 1.0, 3.0]]), sz.tensor([[1.0, 0.0, 0.0, 0.0]])
    >>> sz.nn.group_norm_bwd(g, x, 1, eps=0)
    Tensor([[ 0.5,    0, -0.5,    0]], dtype=float32)
    """
    op = REGISTRY["nn:group_norm_bwd"]
    given = {"out_grad": out_grad, "x": x, "weight": weight, "bias": bias}
    return Pieces(op, given, eps, num_groups).backward()


@operator("3.4", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def instance_norm(
    x: TensorLike,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return x (batch, channels, ...) normalised over the axes after the channels.

    It is group_norm with a group for each channel.

    >>> sz.nn.instance_norm(sz.tensor([[[1.0, 3.0], [5.0, 9.0]]]), eps=0)
    Tensor([[[-1,  1],
             [-1,  1]]], dtype=float32)
    """
    op = REGISTRY["nn:instance_norm"]
    return Pieces(op, {"x": x, "weight": weight, "bias": bias}, eps, EACH_CHANNEL).forward()


@operator("3.4.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def instance_norm_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-5,
) -> Gradients:
    """Return the gradients of instance_norm: of x, and of weight and bias if they are given.

    >>> x, g = sz.tensor([[[1.0, 3.0, 1.0, 3.0]]]), sz.tensor([[[1.0, 0.0, 0.0, 0.0]]])
    >>> sz.nn.instance_norm_bwd(g, x, eps=0)
    Tensor([[[ 0.5,    0, -0.5,    0]]], dtype=float32)
    """
    op = REGISTRY["nn:instance_norm_bwd"]
    given = {"out_grad": out_grad, "x": x, "weight": weight, "bias": bias}
    return Pieces(op, given, eps, EACH_CHANNEL).backward()


@operator("3.5", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def batch_norm(
    x: TensorLike,
    running_mean: TensorLike | None = None,
    running_var: TensorLike | None = None,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    *,
    unbiased: bool = True,
) -> Tensor | tuple[Tensor, Tensor, Tensor]:
    """Return x (batch, channels, ...) normalised by channel, over the batch and all later axes.

    By default the running statistics are used, and y is returned. In `training` the batch's own
    are used, and y, the new running mean and the new running variance are returned: new =
    (1 - momentum) old + momentum batch, or the batch's where there is no old one. The batch's
    variance enters the running one divided by n - 1, unless `unbiased` is False. No argument is
    changed.

    >>> x = sz.tensor([[1.0], [3.0]])
    >>> sz.nn.batch_norm(x, training=True, momentum=0.5, eps=0)
    (Tensor([[-1],
            [ 1]], dtype=float32), Tensor([2], dtype=float32), Tensor([2], dtype=float32))
    """
    op = REGISTRY["nn:batch_norm"]
    given = {"x": x, "weight": weight, "bias": bias}
    old = {"running_mean": running_mean, "running_var": running_var}
    pieces = Pieces(op, {**given, **old}, eps, EACH_CHANNEL, by_channel=True)
    if not flag_argument(op, "training", training):
        return pieces.with_running().forward()
    share = finite_argument(op, "momentum", momentum)
    return pieces.in_training(share, flag_argument(op, "unbiased", unbiased))


@operator("3.5.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def batch_norm_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    running_mean: TensorLike | None = None,
    running_var: TensorLike | None = None,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    training: bool = False,
    eps: float = 1e-5,
) -> Gradients:
    """Return the gradients of batch_norm: of x, and of weight and bias if they are given.

    The running statistics are constants, and have none.

    >>> x, mean, var = sz.tensor([[1.0], [3.0]]), sz.tensor([2.0]), sz.tensor([4.0])
    >>> sz.nn.batch_norm_bwd(x, x, mean, var, eps=0)
    Tensor([[0.5],
            [1.5]], dtype=float32)
    """
    op = REGISTRY["nn:batch_norm_bwd"]
    given = {"out_grad": out_grad, "x": x, "weight": weight, "bias": bias}
    old = {"running_mean": running_mean, "running_var": running_var}
    pieces = Pieces(op, {**given, **old}, eps, EACH_CHANNEL, by_channel=True)
    if not flag_argument(op, "training", training):
        pieces = pieces.with_running()
    return pieces.backward()


# ---- lengths and angles --------------------------------------------------------------------------


@operator("3.6", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def normalize(x: TensorLike, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Tensor:
    """Return x divided by its length along an axis, which counts as `eps` at least.

    The length of order p is (sum |x|**p)**(1/p), the largest magnitude for infinity, and the
    number of elements that are not 0 for 0.

    >>> sz.nn.normalize(sz.tensor([[3.0, 4.0], [0.0, 0.0]]))
    Tensor([[0.6, 0.8],
            [  0,   0]], dtype=float32)
    """
    op = REGISTRY["nn:normalize"]
    return Lengths(op, {"x": x}, p, axis, eps).forward()


@operator("3.6.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def normalize_bwd(
    out_grad: TensorLike, x: TensorLike, p: float = 2.0, axis: int = 1, eps: float = 1e-12
) -> Tensor:
    """Return the gradient of normalize; a length below `eps` is a constant.

    For p = infinity the elements of the largest magnitude share it.

    >>> sz.nn.normalize_bwd(sz.tensor([[1.0, 1.0]]), sz.tensor([[2.0, 0.0]]))
    Tensor([[  0, 0.5]], dtype=float32)
    """
    op = REGISTRY["nn:normalize_bwd"]
    return Lengths(op, {"out_grad": out_grad, "x": x}, p, axis, eps).backward()


@operator("3.7", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def cosine_similarity(
    x1: TensorLike, x2: TensorLike, axis: int = 1, eps: float = 1e-8, *, joint: bool = False
) -> Tensor:
    """Return the cosine of the angle between two tensors along an axis, which are broadcast.

    The sum of x1 x2 is divided by both lengths, each of which counts as `eps` at least; if `joint`,
    their product does.

    >>> sz.nn.cosine_similarity(sz.tensor([[3.0, 4.0]]), sz.tensor([[4.0, 3.0]]))
    Tensor([0.96], dtype=float32)
    """
    op = REGISTRY["nn:cosine_similarity"]
    together = flag_argument(op, "joint", joint)
    return Cosines(op, {"x1": x1, "x2": x2}, axis, eps_argument(op, eps), together).forward()


@operator("3.7.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def cosine_similarity_bwd(
    out_grad: TensorLike,
    x1: TensorLike,
    x2: TensorLike,
    axis: int = 1,
    eps: float = 1e-8,
    *,
    joint: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the gradients of cosine_similarity: of x1 and of x2.

    >>> g, x, y = sz.tensor([1.0]), sz.tensor([[2.0, 0.0]]), sz.tensor([[0.0, 1.0]])
    >>> sz.nn.cosine_similarity_bwd(g, x, y)
    (Tensor([[  0, 0.5]], dtype=float32), Tensor([[1, 0]], dtype=float32))
    """
    op = REGISTRY["nn:cosine_similarity_bwd"]
    together = flag_argument(op, "joint", joint)
    given = {"out_grad": out_grad, "x1": x1, "x2": x2}
    return Cosines(op, given, axis, eps_argument(op, eps), together).backward()
