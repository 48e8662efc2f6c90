"""grid_sample: images at the positions of a grid, and the gradients."""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import widened
from suanzi.base.status import DimensionsMismatch, InvalidArgument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import flag_argument
from suanzi.ops.nn._arguments import dense, float_operands, one_of
from suanzi.promote.registry import ARITHMETIC, FLOATS, REGISTRY
from suanzi.tensors.parts import converted, reshaped
from suanzi.tensors.tensor import Tensor, TensorLike

_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


@operator("7.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def grid_sample(
    x: TensorLike,
    grid: TensorLike,
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Tensor:
    """Return an image sampled at the positions of a grid.

    x is (batch, channels, height, width), or has a depth before the height. The last axis of `grid`
    has a position: along the width, the height and the depth, each from -1 to 1. These are the
    outer edges of the first and the last element, or their centres with `align_corners`. "bilinear"
    mixes the two elements next to the position along each axis, "nearest" takes one (of two equally
    near, the even one), "bicubic" (two axes) mixes four. Beyond the image there are zeros, the
    elements of its border, or its reflection. An element without weight has no effect; a position
    that is NaN gives NaN.

    >>> x = sz.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> sz.nn.grid_sample(x, sz.tensor([[[[0.0, 0.0], [0.5, -0.5]]]]))
    Tensor([[[[2.5,   2]]]], dtype=float32)
    """
    given = _Grid("grid_sample", x, grid, mode, padding_mode, align_corners)
    made = _core.nn_grid_sample(given.x, given.grid, *given.how)
    return converted(reshaped(made, given.shape), given.dtype)


@operator("7.2", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def grid_sample_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    grid: TensorLike,
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the gradients of `grid_sample` by x and by the grid.

    At an element itself, the derivative by the grid is that towards the next element.

    >>> x, grid = sz.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), sz.tensor([[[[0.0, 0.0]]]])
    >>> sz.nn.grid_sample_bwd(sz.tensor([[[[4.0]]]]), x, grid)[1]
    Tensor([[[[4, 8]]]], dtype=float32)
    """
    given = _Grid("grid_sample_bwd", x, grid, mode, padding_mode, align_corners, out_grad)
    by_x, by_grid = _core.nn_grid_sample_bwd(given.out_grad, given.x, given.grid, *given.how)
    return (
        converted(reshaped(by_x, given.x_shape), given.dtype),
        converted(reshaped(by_grid, given.grid_shape), given.dtype),
    )


class _Grid:
    """The operands, checked: an image of five axes, and a grid of three, in a computed dtype."""

    def __init__(
        self, name: str, x: Any, grid: Any, mode: Any, padding: Any, align: Any,
        out_grad: Any = None,
    ) -> None:  # fmt: skip
        op = REGISTRY[f"nn:{name}"]
        found = float_operands(op, {"out_grad": out_grad, "x": x, "grid": grid})
        given, positions = found["x"], found["grid"]
        self.dtype, self.x_shape, self.grid_shape = given.dtype, given.shape, positions.shape
        axes = given.ndim - 2
        if axes not in (2, 3):
            raise DimensionsMismatch(
                f"{op.title}: x has rank {given.ndim}; it must be 4 or 5: batch, channels, and two "
                "or three axes to sample."
            )
        batch = given.shape[0]
        if positions.ndim != axes + 2 or positions.shape[-1] != axes or positions.shape[0] != batch:
            raise DimensionsMismatch(
                f"{op.title}: grid has shape {positions.shape}; it must be ({batch}, "
                f"{'..., ' * axes}{axes}): a position of {axes} numbers for each element of the "
                "result."
            )
        if 0 in given.shape[2:]:
            raise InvalidArgument(
                f"{op.title}: x has shape {given.shape}; a sampled axis must have at least one "
                "element."
            )
        kind = one_of(op, "mode", mode, _MODES)
        if kind == 2 and axes == 3:
            raise InvalidArgument(
                f'{op.title}: mode is "bicubic", which takes x of rank 4, and x has rank 5. Use '
                '"bilinear".'
            )
        side = one_of(op, "padding_mode", padding, _PADDINGS)
        self.how = (kind, side, flag_argument(op, "align_corners", align))
        self.shape = (*given.shape[:2], *positions.shape[1:-1])
        count = math.prod(positions.shape[1:-1])
        sizes = given.shape[2:] if axes == 3 else (1, *given.shape[2:])
        self.x = _computed(given, (*given.shape[:2], *sizes))
        self.grid = _computed(positions, (batch, count, axes))
        if "out_grad" in found:
            grad = found["out_grad"]
            if grad.shape != self.shape:
                raise DimensionsMismatch(
                    f"{op.title}: out_grad has shape {grad.shape}; it must be {self.shape}, the "
                    "shape of the result."
                )
            self.out_grad = _computed(grad, (*given.shape[:2], count))


def _computed(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return a dense tensor of float32 or float64 in a shape."""
    return reshaped(dense(converted(x, widened(x.dtype))), shape)
