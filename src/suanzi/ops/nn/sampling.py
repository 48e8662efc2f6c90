"""Windows of images as columns and back, and channels that become pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from suanzi import _core
from suanzi.base.hints import shown
from suanzi.base.shapes import MAX_NDIM
from suanzi.base.status import AllocFailed, DimensionsMismatch
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import integer_argument
from suanzi.ops.nn._arguments import float_operand, float_operands
from suanzi.ops.nn._grids import grid_sample, grid_sample_bwd
from suanzi.ops.nn._windows import per_axis, with_batch
from suanzi.promote.registry import FLOATS, REAL_FUNCTION, REGISTRY, Operator
from suanzi.tensors.parts import permuted, reshaped
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "fold",
    "fold_bwd",
    "grid_sample",
    "grid_sample_bwd",
    "pixel_shuffle",
    "pixel_shuffle_bwd",
    "pixel_unshuffle",
    "pixel_unshuffle_bwd",
    "unfold",
    "unfold_bwd",
]

Each = int | Sequence[int]

# ---- windows as columns --------------------------------------------------------------------------


class _Windows(NamedTuple):
    """How a window moves over an image: a number for each of its two axes."""

    kernel: tuple[int, ...]
    dilation: tuple[int, ...]
    padding: tuple[int, ...]
    stride: tuple[int, ...]
    positions: tuple[int, ...]

    @property
    def taps(self) -> int:
        """The number of elements of a window."""
        return self.kernel[0] * self.kernel[1]


def _windows(op: Operator, sizes: tuple[int, ...], how: dict[str, Any]) -> _Windows:
    """Return how a window moves over an image of some sizes."""
    least = {"kernel_size": 1, "dilation": 1, "padding": 0, "stride": 1}
    kernel, dilation, padding, stride = (per_axis(op, n, how[n], 2, m) for n, m in least.items())
    covered = tuple(d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True))
    room = tuple(n + 2 * p - c for n, p, c in zip(sizes, padding, covered, strict=True))
    if any(n < 0 for n in room):
        raise DimensionsMismatch(
            f"{op.title}: the image is {sizes}, the padding {padding}, and a window covers "
            f"{covered} elements; it must fit into the image with its padding. Choose a smaller "
            "kernel_size or a larger padding."
        )
    positions = tuple(n // s + 1 for n, s in zip(room, stride, strict=True))
    return _Windows(kernel, dilation, padding, stride, positions)


def _unfolded(op: Operator, name: str, x: Tensor, how: dict[str, Any]) -> Tensor:
    """Return the windows of images as columns."""
    given, has_batch = with_batch(op, name, x, 2)
    windows = _windows(op, given.shape[2:], how)
    shape = (given.shape[1] * windows.taps, windows.positions[0] * windows.positions[1])
    if max(shape) >= 2**63:
        raise AllocFailed(f"not enough memory for columns of shape {shape}; use a smaller padding.")
    made = _core.nn_unfold(given, *windows)
    return made if has_batch else made.reshape(*made.shape[1:])


def _folded(
    op: Operator, name: str, x: Tensor, sizes: tuple[int, ...], how: dict[str, Any]
) -> Tensor:
    """Return images from the sums of columns."""
    windows = _windows(op, sizes, how)
    given, has_batch = with_batch(op, name, x, 1)
    count = windows.positions[0] * windows.positions[1]
    if given.shape[1] % windows.taps or given.shape[2] != count:
        raise DimensionsMismatch(
            f"{op.title}: {name} has shape {x.shape}; a window has {windows.taps} elements and "
            f"{count} positions in an image of {sizes}. The last size but one must be a multiple "
            "of the first number, and the last size the second."
        )
    made = _core.nn_fold(given, *windows, sizes)
    return made if has_batch else made.reshape(*made.shape[1:])


def _how(kernel_size: Each, dilation: Each, padding: Each, stride: Each) -> dict[str, Any]:
    return {
        "kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride,
    }  # fmt: skip


@operator("7.11", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def unfold(
    x: TensorLike, kernel_size: Each, dilation: Each = 1, padding: Each = 0, stride: Each = 1
) -> Tensor:
    """Return the windows of images as columns, zeros beyond the edges.

    x is (batch, channels, height, width), or without the batch; the result is (batch,
    channels * elements of a window, positions), both in row-major order.

    >>> x = sz.tensor([[[1.0, 2, 3], [4, 5, 6]]])
    >>> sz.nn.unfold(x, 2)
    Tensor([[1, 2],
            [2, 3],
            [4, 5],
            [5, 6]], dtype=float32)
    """
    op = REGISTRY["nn:unfold"]
    how = _how(kernel_size, dilation, padding, stride)
    return _unfolded(op, "x", float_operand(op, "x", x), how)


@operator("7.12", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def unfold_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    kernel_size: Each,
    dilation: Each = 1,
    padding: Each = 0,
    stride: Each = 1,
) -> Tensor:
    """Return the gradient of `unfold`: the columns added up where they came from.

    >>> x = sz.zeros(shape=(1, 2, 3))
    >>> sz.nn.unfold_bwd(sz.full(shape=(4, 2), value=1), x, 2)
    Tensor([[[1, 2, 1],
             [1, 2, 1]]], dtype=float32)
    """
    op = REGISTRY["nn:unfold_bwd"]
    found = float_operands(op, {"out_grad": out_grad, "x": x})
    with_batch(op, "x", found["x"], 2)
    how = _how(kernel_size, dilation, padding, stride)
    made = _folded(op, "out_grad", found["out_grad"], found["x"].shape[-2:], how)
    return _of_shape(op, made, found)


def _of_shape(op: Operator, made: Tensor, found: dict[str, Tensor]) -> Tensor:
    """Return a gradient that has the shape of x."""
    x, gradient = found["x"], found["out_grad"]
    if made.shape != x.shape:
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {gradient.shape}, which is not that of the result for "
            f"x of shape {x.shape}."
        )
    return made


@operator("7.13", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def fold(
    x: TensorLike,
    output_size: Each,
    kernel_size: Each,
    dilation: Each = 1,
    padding: Each = 0,
    stride: Each = 1,
) -> Tensor:
    """Return images from columns, each element the sum of those that `unfold` would make from it.

    x is (batch, channels * elements of a window, positions), or without the batch. Sums are in
    float32 (float64 of float64), a tap after the other, and rounded once.

    >>> sz.nn.fold(sz.full(shape=(4, 2), value=1), (2, 3), 2)
    Tensor([[[1, 2, 1],
             [1, 2, 1]]], dtype=float32)
    """
    op = REGISTRY["nn:fold"]
    given = float_operand(op, "x", x)
    sizes = per_axis(op, "output_size", output_size, 2, 1)
    return _folded(op, "x", given, sizes, _how(kernel_size, dilation, padding, stride))


@operator("7.14", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def fold_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    output_size: Each,
    kernel_size: Each,
    dilation: Each = 1,
    padding: Each = 0,
    stride: Each = 1,
) -> Tensor:
    """Return the gradient of `fold`: the windows of out_grad as columns.

    >>> sz.nn.fold_bwd(sz.tensor([[[1.0, 2, 3]]]), sz.zeros(shape=(2, 2)), (1, 3), (1, 2))
    Tensor([[1, 2],
            [2, 3]], dtype=float32)
    """
    op = REGISTRY["nn:fold_bwd"]
    found = float_operands(op, {"out_grad": out_grad, "x": x})
    sizes = per_axis(op, "output_size", output_size, 2, 1)
    if found["out_grad"].shape[-2:] != sizes:
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {found['out_grad'].shape}; its last sizes must be "
            f"output_size, {sizes}."
        )
    how = _how(kernel_size, dilation, padding, stride)
    return _of_shape(op, _unfolded(op, "out_grad", found["out_grad"], how), found)


# ---- channels and pixels -------------------------------------------------------------------------


def _shuffled(op: Operator, name: str, x: Tensor, factor: Any, factor_name: str) -> Tensor:
    """Return (..., c r r, h, w) as (..., c, h r, w r)."""
    r = _factor(op, name, x, factor, factor_name)
    if x.ndim < 3 or x.shape[-3] % (r * r):
        raise DimensionsMismatch(
            f"{op.title}: {name} has shape {x.shape} and {factor_name} is {shown(r)}; it must have "
            "three axes at least, and channels (the third from the end) a multiple of "
            f"{shown(r * r)}."
        )
    *lead, channels, high, wide = x.shape
    n = len(lead)
    apart = x.reshape(*lead, channels // (r * r), r, r, high, wide)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return _moved(apart, order, (*lead, channels // (r * r), high * r, wide * r))


def _unshuffled(op: Operator, name: str, x: Tensor, factor: Any, factor_name: str) -> Tensor:
    """Return (..., c, h r, w r) as (..., c r r, h, w)."""
    r = _factor(op, name, x, factor, factor_name)
    if x.ndim < 3 or x.shape[-2] % r or x.shape[-1] % r:
        raise DimensionsMismatch(
            f"{op.title}: {name} has shape {x.shape} and {factor_name} is {shown(r)}; it must have "
            "three axes at least, and height and width (the last two) must be multiples of "
            f"{shown(r)}."
        )
    *lead, channels, high, wide = x.shape
    n = len(lead)
    apart = x.reshape(*lead, channels, high // r, r, wide // r, r)
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return _moved(apart, order, (*lead, channels * r * r, high // r, wide // r))


def _factor(op: Operator, name: str, x: Tensor, factor: Any, factor_name: str) -> int:
    """Return the factor of pixels; two axes are added on the way."""
    if x.ndim > MAX_NDIM - 2:
        raise DimensionsMismatch(
            f"{op.title}: {name} has {x.ndim} axes; it must have at most {MAX_NDIM - 2}. Reshape "
            "it first."
        )
    return integer_argument(op, factor_name, factor, 1)


def _moved(x: Tensor, order: tuple[int, ...], shape: tuple[int, ...]) -> Tensor:
    """Return a tensor with its axes in another order, as memory of another shape."""
    return reshaped(_core.row_major_copy(permuted(x, order)), shape)


@operator("7.15", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def pixel_shuffle(x: TensorLike, upscale_factor: int) -> Tensor:
    """Return groups of channels as blocks of pixels: (..., c r r, h, w) as (..., c, h r, w r).

    Channel c r r + i r + j becomes row i and column j of each block, as ONNX's DepthToSpace has it
    in its mode CRD.

    >>> sz.nn.pixel_shuffle(sz.tensor([[[1.0]], [[2]], [[3]], [[4]]]), 2)
    Tensor([[[1, 2],
             [3, 4]]], dtype=float32)
    """
    op = REGISTRY["nn:pixel_shuffle"]
    return _shuffled(op, "x", float_operand(op, "x", x), upscale_factor, "upscale_factor")


@operator("7.16", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def pixel_shuffle_bwd(out_grad: TensorLike, x: TensorLike, upscale_factor: int) -> Tensor:
    """Return the gradient of `pixel_shuffle`, which is `pixel_unshuffle` of out_grad.

    >>> sz.nn.pixel_shuffle_bwd(sz.tensor([[[1.0, 2], [3, 4]]]), sz.zeros(shape=(4, 1, 1)), 2).shape
    (4, 1, 1)
    """
    op = REGISTRY["nn:pixel_shuffle_bwd"]
    found = float_operands(op, {"out_grad": out_grad, "x": x})
    made = _unshuffled(op, "out_grad", found["out_grad"], upscale_factor, "upscale_factor")
    return _of_shape(op, made, found)


@operator("7.17", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def pixel_unshuffle(x: TensorLike, downscale_factor: int) -> Tensor:
    """Return blocks of pixels as groups of channels: (..., c, h r, w r) as (..., c r r, h, w).

    >>> sz.nn.pixel_unshuffle(sz.tensor([[[1.0, 2], [3, 4]]]), 2).shape
    (4, 1, 1)
    """
    op = REGISTRY["nn:pixel_unshuffle"]
    return _unshuffled(op, "x", float_operand(op, "x", x), downscale_factor, "downscale_factor")


@operator("7.18", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def pixel_unshuffle_bwd(out_grad: TensorLike, x: TensorLike, downscale_factor: int) -> Tensor:
    """Return the gradient of `pixel_unshuffle`, which is `pixel_shuffle` of out_grad.

    >>> sz.nn.pixel_unshuffle_bwd(sz.zeros(shape=(4, 1, 1)), sz.zeros(shape=(1, 2, 2)), 2).shape
    (1, 2, 2)
    """
    op = REGISTRY["nn:pixel_unshuffle_bwd"]
    found = float_operands(op, {"out_grad": out_grad, "x": x})
    made = _shuffled(op, "out_grad", found["out_grad"], downscale_factor, "downscale_factor")
    return _of_shape(op, made, found)
