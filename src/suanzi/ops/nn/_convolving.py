"""What the convolutions share: their arguments, checked, and the calls of the core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from suanzi import _core
from suanzi.base.dtypes import widened
from suanzi.base.hints import shown
from suanzi.base.status import AllocFailed, DimensionsMismatch, InvalidArgument
from suanzi.ops.calling.scalars import check_alive, integer_argument
from suanzi.ops.nn._arguments import dense, float_operands
from suanzi.ops.nn._windows import per_axis, with_batch
from suanzi.promote.registry import REGISTRY, Operator
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor

Gradients = tuple[Tensor, ...]


class Motion(NamedTuple):
    """How a kernel moves, a number for each axis: `start` is the padding before it."""

    stride: tuple[int, ...]
    start: tuple[int, ...]
    dilation: tuple[int, ...]
    end: tuple[int, ...]
    """The padding behind; of a transposed convolution, less what is added to its output."""


class Operands(NamedTuple):
    """The tensors of a convolution, of one dtype, and how its kernel moves."""

    x: Tensor
    weight: Tensor
    bias: Tensor | None
    groups: int
    motion: Motion
    sizes: tuple[int, ...]
    """Of the axes of the result."""
    has_batch: bool

    @property
    def kernel(self) -> tuple[int, ...]:
        """The sizes of the kernel."""
        return self.weight.shape[2:]


# ---- arguments -----------------------------------------------------------------------------------


def _groups(op: Operator, groups: Any, x: Tensor, weight: Tensor, transposed: bool) -> int:
    """Return the number of groups, if both tensors can be divided into as many."""
    count = integer_argument(op, "groups", groups, 1)
    channels = x.shape[1]
    wanted = weight.shape[0] if transposed else weight.shape[1] * count
    if channels != wanted:
        rule = (
            "the first size of weight" if transposed else "the second size of weight times groups"
        )
        raise DimensionsMismatch(
            f"{op.title}: x has {channels} channels, weight has shape {weight.shape} and groups is "
            f"{shown(count)}; {rule}, {shown(wanted)}, must be the number of channels."
        )
    if weight.shape[0] % count:
        raise DimensionsMismatch(
            f"{op.title}: groups is {shown(count)} and weight has shape {weight.shape}; its first "
            "size must be a multiple of groups."
        )
    return count


def _bias(op: Operator, bias: Tensor | None, outputs: int) -> None:
    if bias is not None and bias.shape != (outputs,):
        raise DimensionsMismatch(
            f"{op.title}: bias has shape {bias.shape}; it must be ({outputs},), one number for "
            "each channel of the result."
        )


def _padding(
    op: Operator, padding: Any, stride: tuple[int, ...], reach: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the padding before and behind each axis; `reach` is the size of the kernel less 1."""
    check_alive(op, "padding", padding)
    if not isinstance(padding, str):
        each = per_axis(op, "padding", padding, len(stride), 0)
        return each, each
    if padding not in ("same", "valid"):
        raise InvalidArgument(
            f"{op.title}: padding is {shown(padding)}; it must be 'same', 'valid', an integer, or "
            "one for each axis."
        )
    if padding == "valid":
        return (0,) * len(stride), (0,) * len(stride)
    if any(s != 1 for s in stride):
        raise InvalidArgument(
            f"{op.title}: padding is 'same' and stride is {stride}; 'same' needs a stride of 1. "
            "Pad x with sz.pad, or give the padding as integers."
        )
    return tuple(r // 2 for r in reach), tuple(r - r // 2 for r in reach)


def _operands(
    op: Operator, axes: int, given: dict[str, Any], groups: Any, transposed: bool
) -> tuple[dict[str, Tensor], int, bool]:
    """Return tensors of one dtype that go together, the number of groups, and if x has a batch."""
    found = float_operands(op, given)
    found["x"], has_batch = with_batch(op, "x", found["x"], axes)
    weight = found["weight"]
    if weight.ndim != axes + 2:
        order = "(in, out / groups" if transposed else "(out, in / groups"
        raise DimensionsMismatch(
            f"{op.title}: weight has shape {weight.shape}; it must have {axes + 2} axes: {order}, "
            "then the kernel)."
        )
    if 0 in found["x"].shape[2:]:
        raise DimensionsMismatch(
            f"{op.title}: x has shape {found['x'].shape}, with no elements along an axis that the "
            "kernel moves along; each must have one at least. Pad x first."
        )
    if 0 in weight.shape[2:]:
        raise InvalidArgument(
            f"{op.title}: weight has shape {weight.shape}; a kernel must have one element at least."
        )
    count = _groups(op, groups, found["x"], weight, transposed)
    _bias(op, found.get("bias"), weight.shape[1] * count if transposed else weight.shape[0])
    return found, count, has_batch


def _forward(op: Operator, axes: int, given: dict[str, Any], how: dict[str, Any]) -> Operands:
    """Return the checked operands of a convolution."""
    found, groups, has_batch = _operands(op, axes, given, how["groups"], False)
    x, weight = found["x"], found["weight"]
    stride = per_axis(op, "stride", how["stride"], axes, 1)
    dilation = per_axis(op, "dilation", how["dilation"], axes, 1)
    reach = tuple(d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=True))
    before, behind = _padding(op, how["padding"], stride, reach)
    room = tuple(
        n + a + b - r for n, a, b, r in zip(x.shape[2:], before, behind, reach, strict=True)
    )
    if any(n < 1 for n in room):
        raise DimensionsMismatch(
            f"{op.title}: x has shape {x.shape}, the padding is {before} and the kernel covers "
            f"{tuple(r + 1 for r in reach)} elements; it must fit into x with its padding. Pad x, "
            "or choose a smaller dilation."
        )
    sizes = tuple((n - 1) // s + 1 for n, s in zip(room, stride, strict=True))
    motion = Motion(stride, before, dilation, behind)
    return Operands(x, weight, found.get("bias"), groups, motion, sizes, has_batch)


def _transposed(op: Operator, axes: int, given: dict[str, Any], how: dict[str, Any]) -> Operands:
    """Return the checked operands of a transposed convolution."""
    found, groups, has_batch = _operands(op, axes, given, how["groups"], True)
    x, weight = found["x"], found["weight"]
    stride = per_axis(op, "stride", how["stride"], axes, 1)
    dilation = per_axis(op, "dilation", how["dilation"], axes, 1)
    padding = per_axis(op, "padding", how["padding"], axes, 0)
    added = per_axis(op, "output_padding", how["output_padding"], axes, 0)
    if any(a >= max(s, d) for a, s, d in zip(added, stride, dilation, strict=True)):
        raise InvalidArgument(
            f"{op.title}: output_padding is {added}, stride {stride} and dilation {dilation}; it "
            "must be less than the larger of the two, for each axis."
        )
    sizes = tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + a + 1
        for n, s, p, d, k, a in zip(
            x.shape[2:], stride, padding, dilation, weight.shape[2:], added, strict=True
        )
    )
    if any(n < 1 for n in sizes):
        raise DimensionsMismatch(
            f"{op.title}: x has shape {x.shape} and the padding is {padding}, which gives a result "
            f"of sizes {sizes}; each must be 1 at least. Choose a smaller padding."
        )
    if any(n >= 2**63 for n in sizes):
        raise AllocFailed(f"not enough memory for sizes {sizes}; use a smaller x or stride.")
    motion = Motion(stride, padding, dilation, added)
    return Operands(x, weight, found.get("bias"), groups, motion, sizes, has_batch)


# ---- calls of the core ---------------------------------------------------------------------------


def _run(
    x: Tensor, weight: Tensor, bias: Tensor | None, o: Operands, sizes: tuple[int, ...], back: bool
) -> Tensor:
    """Convolve by the motion of some operands; `back` is the transposed way."""
    wide = None if bias is None else _core.row_major_copy(converted(bias, widened(bias.dtype)))
    m, kernels = o.motion, dense(weight)
    return _core.nn_convolve(x, kernels, wide, m.stride, m.start, m.dilation, sizes, o.groups, back)


def _result(o: Operands, transposed: bool) -> Tensor:
    made = _run(o.x, o.weight, o.bias, o, o.sizes, transposed)
    return made if o.has_batch else made.reshape(*made.shape[1:])


def _gradients(op: Operator, gradient: Tensor, o: Operands, transposed: bool) -> Gradients:
    """Return the gradients of x, of the weight and, if there is one, of the bias."""
    outputs = o.weight.shape[1] * o.groups if transposed else o.weight.shape[0]
    shape = (o.x.shape[0], outputs, *o.sizes)
    if gradient.shape != (shape if o.has_batch else shape[1:]):
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {gradient.shape}; it must be that of the result, "
            f"{shape if o.has_batch else shape[1:]}."
        )
    given = gradient if o.has_batch else gradient.reshape(*shape)
    x_grad = _run(given, o.weight, None, o, o.x.shape[2:], not transposed)
    # What moves over the other: of a transposed convolution, x over the gradient.
    moved, over = (given, o.x) if transposed else (o.x, given)
    m = o.motion
    weight_grad = _core.nn_convolve_weights(
        moved, over, m.stride, m.start, m.dilation, o.kernel, o.groups
    )
    made = [x_grad if o.has_batch else x_grad.reshape(*o.x.shape[1:]), weight_grad]
    if o.bias is not None:
        made.append(_sum_of_channels(given))
    return tuple(made)


def _sum_of_channels(gradient: Tensor) -> Tensor:
    axes = (0, *range(2, gradient.ndim))
    wide = converted(gradient, widened(gradient.dtype))
    return converted(wide.sum(axes), gradient.dtype)


def convolve(name: str, axes: int, tensors: dict[str, Any], how: dict[str, Any]) -> Tensor:
    """Return the convolution, or the transposed one, of an operator of some axes."""
    op = REGISTRY[f"nn:{name}"]
    read, transposed = _kind_of(op)
    return _result(read(op, axes, tensors, how), transposed)


def convolve_bwd(
    name: str, axes: int, gradient: Any, tensors: dict[str, Any], how: dict[str, Any]
) -> Gradients:
    """Return the gradients of the tensors that are given."""
    op = REGISTRY[f"nn:{name}"]
    read, transposed = _kind_of(op)
    found: dict[str, Any] = {**float_operands(op, {"out_grad": gradient, **tensors})}
    of = found.pop("out_grad")
    return _gradients(op, of, read(op, axes, found, how), transposed)


def _kind_of(op: Operator) -> tuple[Callable[..., Operands], bool]:
    """Return what reads the operands of an operator, and whether it is transposed."""
    transposed = op.name.startswith("conv_transpose")
    return (_transposed if transposed else _forward), transposed
