"""gumbel_softmax: samples of classes that have a gradient."""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.base.dtypes import int64, widened
from suanzi.base.hints import shown
from suanzi.base.status import DimensionsMismatch, InvalidArgument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import flag_argument, integer_argument
from suanzi.ops.nn._arguments import axis_argument, float_operands, real_parameter
from suanzi.promote.registry import ARITHMETIC, FLOATS, REGISTRY, Operator, call
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = ["gumbel_softmax", "gumbel_softmax_bwd"]


@operator("2.4", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def gumbel_softmax(
    x: TensorLike,
    tau: float = 1.0,
    hard: bool = False,
    axis: int = -1,
    noise: TensorLike | None = None,
    seed: int | None = None,
) -> Tensor:
    """Return softmax((x + noise) / tau) along an axis.

    Without noise, a seed gives it: -log(-log(u)) for uniform u, which makes the largest element a
    sample of softmax(x). With `hard`, the result is 1 at the largest element and 0 elsewhere.

    >>> sz.nn.gumbel_softmax(sz.tensor([0.0, 1.0]), noise=sz.tensor([1.0, 0.0]))
    Tensor([0.5, 0.5], dtype=float32)
    """
    op = REGISTRY["nn:gumbel_softmax"]
    found, z, along, _ = _read(op, {"x": x, "noise": noise}, tau, axis, seed)
    made = call("nn:softmax", z, along)
    if flag_argument(op, "hard", hard):
        made = _largest(made, along)
    return converted(made, found["x"].dtype)


@operator("2.4.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def gumbel_softmax_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    tau: float = 1.0,
    hard: bool = False,
    axis: int = -1,
    noise: TensorLike | None = None,
    seed: int | None = None,
) -> Tensor:
    """Return the gradient of gumbel_softmax with respect to x; with `hard`, as if it were soft.

    >>> noise = sz.tensor([1.0, 0.0])
    >>> sz.nn.gumbel_softmax_bwd(sz.tensor([1.0, 0.0]), sz.tensor([0.0, 1.0]), noise=noise)
    Tensor([ 0.25, -0.25], dtype=float32)
    """
    op = REGISTRY["nn:gumbel_softmax_bwd"]
    flag_argument(op, "hard", hard)
    given = {"out_grad": out_grad, "x": x, "noise": noise}
    found, z, along, scale = _read(op, given, tau, axis, seed)
    made = call("nn:softmax_bwd", converted(found["out_grad"], z.dtype), z, along)
    return converted(made / scale, found["x"].dtype)


def _read(
    op: Operator, given: dict[str, Any], tau: Any, axis: Any, seed: Any
) -> tuple[dict[str, Tensor], Tensor, int, float]:
    """Return the tensors, what softmax is taken of, its axis, and tau."""
    if (given["noise"] is None) == (seed is None):
        received = "neither" if seed is None else "both"
        raise InvalidArgument(f"{op.title}: it takes noise or a seed, and received {received}.")
    found = float_operands(op, given)
    x, scale = found["x"], real_parameter(op, "tau", tau)
    if not scale > 0:
        raise InvalidArgument(f"{op.title}: tau is {shown(tau)}; it must be above 0.")
    along = axis_argument(op, axis, x.ndim)
    if any(one.shape != x.shape for one in found.values()):
        came = " and ".join(f"{name} has shape {one.shape}" for name, one in found.items())
        raise DimensionsMismatch(f"{op.title}: {came}; they must be equal.")
    wide = widened(x.dtype)
    if "noise" in found:
        noise = converted(found["noise"], wide)
    else:
        number = integer_argument(op, "seed", seed)
        uniform = call("rand_uniform", list(x.shape), wide, "cpu", 2.0**-25, 1.0, number)
        noise = -call("log", -call("log", uniform))
    return found, (converted(x, wide) + noise) / scale, along, scale


def _largest(y: Tensor, axis: int) -> Tensor:
    """Return 1 at the largest element along an axis, the first of several, and 0 elsewhere."""
    count = y.shape[axis]
    if not y.size:
        return y
    shape = [count if a == axis else 1 for a in range(y.ndim)]
    line = call("reshape", call("range", 0, count - 1, 1, int64), shape)
    return converted(line == converted(_core.find_best(y, axis, True, True, False), int64), y.dtype)
