"""The operands of pooling, checked, and what is computed of them."""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi.base.hints import shown
from suanzi.base.status import DimensionsMismatch, InvalidArgument
from suanzi.ops.calling.scalars import flag_argument, integer_argument
from suanzi.ops.nn._arguments import dense, float_operands
from suanzi.ops.nn._windows import per_axis
from suanzi.promote.registry import REGISTRY
from suanzi.tensors.parts import reshaped
from suanzi.tensors.tensor import Tensor

_LARGEST, _MEAN = 0, 1  # in native/ops/nn/pooling.cpp
_NAMES = ("kernel_size", "stride", "padding", "dilation")
_MOST = 2**31 - 1


class Pooling:
    """A tensor and the windows of its last axes, one to three of them."""

    counts_padding = False
    divisor = 0.0

    def __init__(self, name: str, x: Any, out_grad: Any = None) -> None:
        self.op = op = REGISTRY[f"nn:{name}"]
        self.axes = axes = int(name.removesuffix("_bwd")[-2])
        self.kind = _LARGEST if "max" in name else _MEAN
        found = float_operands(op, {"out_grad": out_grad, "x": x})
        given, self.out_grad = found["x"], found.get("out_grad")
        if given.ndim not in (axes + 1, axes + 2):
            raise DimensionsMismatch(
                f"{op.title}: x has rank {given.ndim}; it must be {axes + 1} or {axes + 2}: "
                f"channels and {axes} pooled axes, after a batch if there is one. Add axes with "
                "sz.expand_dims."
            )
        self.shape, self.sizes = given.shape, given.shape[-axes:]
        if 0 in self.sizes:
            raise InvalidArgument(
                f"{op.title}: x has shape {given.shape}; a pooled axis must have at least one "
                "element."
            )
        self.given = given

    @property
    def x(self) -> Tensor:
        """The tensor as the core takes it; a copy is made after the last check."""
        return self._planes(self.given)

    def _planes(self, x: Tensor) -> Tensor:
        """Return a tensor as (planes, depth, height, width), dense."""
        sizes = x.shape[-self.axes :]
        ones = (1,) * (3 - self.axes)
        return reshaped(dense(x), (math.prod(x.shape[: -self.axes]), *ones, *sizes))

    # ---- windows -------------------------------------------------------------------------------

    def _each(self, name: str, values: Any, least: int) -> tuple[int, ...]:
        """Return an integer for each pooled axis."""
        return per_axis(self.op, name, values, self.axes, least)

    def slide(
        self, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: Any
    ) -> Pooling:
        """Set the windows of a kernel that slides."""
        op, up = self.op, flag_argument(self.op, "ceil_mode", ceil_mode)
        kernels = self._each("kernel_size", kernel, 1)
        strides = kernels if stride is None else self._each("stride", stride, 1)
        paddings, dilations = self._each("padding", padding, 0), self._each("dilation", dilation, 1)
        if any(2 * p > k for p, k in zip(paddings, kernels, strict=True)):
            raise InvalidArgument(
                f"{op.title}: padding is {shown(padding)} and kernel_size {shown(kernel)}; the "
                "padding must be at most half of the kernel. Use sz.pad first for more."
            )
        each = zip(self.sizes, kernels, strides, paddings, dilations, strict=True)
        self.windows = [(k, s, p, d, _windows(n, k, s, p, d, up)) for n, k, s, p, d in each]
        if any(w[-1] < 1 for w in self.windows):
            raise InvalidArgument(
                f"{op.title}: kernel_size is {shown(kernel)}, which with its dilation is larger "
                f"than the pooled axes of x, {self.sizes}, with their padding."
            )
        return self

    def count(self, counts_padding: Any, divisor: Any) -> Pooling:
        """Set what a mean is divided by."""
        self.counts_padding = flag_argument(self.op, "count_include_pad", counts_padding)
        if divisor is not None:
            number = integer_argument(self.op, "divisor_override", divisor)
            if not number or abs(number) > _MOST:
                raise InvalidArgument(
                    f"{self.op.title}: divisor_override is {shown(number)}; it must not be 0, and "
                    "be less than 2**31."
                )
            self.divisor = float(number)
        return self

    def adapt(self, output_size: Any) -> Pooling:
        """Set windows that cover an axis evenly: as many as the output has elements."""
        given = (None,) * self.axes if output_size is None else output_size
        if isinstance(given, list | tuple) and len(given) == self.axes:
            output_size = [n if m is None else m for m, n in zip(given, self.sizes, strict=True)]
        sizes = self._each("output_size", output_size, 0)
        self.windows = [(0, 1, 0, 1, n) for n in sizes]
        return self

    # ---- results -------------------------------------------------------------------------------

    @property
    def _flat(self) -> list[int]:
        """The windows of three axes, as the core takes them."""
        one = (1, 1, 0, 1, 1)
        return [n for w in [one] * (3 - self.axes) + self.windows for n in w]

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        return (*self.shape[: -self.axes], *(w[-1] for w in self.windows))

    def pool(self) -> Tensor:
        """Return the largest elements, or the means, of all windows."""
        if self.kind == _MEAN and not self.windows[0][0]:
            return self._adaptive_mean()
        made = _core.nn_pool(self.x, self.kind, self._flat, self.counts_padding, self.divisor)
        return reshaped(made, self.output_shape)

    def _adaptive_mean(self) -> Tensor:
        """Return means as `sz.interpolate` with mode="area" does, whose windows are the same."""
        sizes = tuple(w[-1] for w in self.windows)
        if 0 in sizes:
            return _core.empty(self.output_shape, self.given.dtype)
        x, elements = self.x, math.prod(self.sizes)
        if max(sizes) == 1 and elements <= 4096:
            rows = reshaped(x, (x.shape[0], elements))
            return reshaped(_core.nn_plane_means(rows), self.output_shape)
        planes = reshaped(x, (1, x.shape[0], *self.sizes))
        return reshaped(_core.interpolate(planes, sizes, 2), self.output_shape)

    def with_positions(self) -> tuple[Tensor, Tensor]:
        """Return the largest elements, and their positions in the pooled axes, flattened."""
        made, positions = _core.nn_pool_positions(self.x, self._flat)
        return reshaped(made, self.output_shape), reshaped(positions, self.output_shape)

    def gradient(self) -> Tensor:
        """Return the gradient by x."""
        grad = self.out_grad
        assert grad is not None
        if grad.shape != self.output_shape:
            raise DimensionsMismatch(
                f"{self.op.title}: out_grad has shape {grad.shape}; it must be "
                f"{self.output_shape}, the shape of the result."
            )
        made = _core.nn_pool_bwd(
            self._planes(grad), self.x, self.kind, self._flat, self.counts_padding, self.divisor
        )
        return reshaped(made, self.shape)


def _windows(size: int, kernel: int, stride: int, padding: int, dilation: int, up: bool) -> int:
    """Return how many windows an axis has; with `up`, the last may end beyond the padding."""
    rest = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (-(-rest // stride) if up else rest // stride) + 1
    # A window must begin within the axis or the padding before it.
    return count - 1 if up and (count - 1) * stride >= size + padding else count
