"""What activations and their gradients share: their arguments, and the call of the kernel."""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi.base.hints import shown
from suanzi.base.status import DimensionsMismatch, InvalidArgument
from suanzi.ops.nn._arguments import axis_argument, float_operands, real_parameter
from suanzi.promote.registry import REGISTRY, Operator, call
from suanzi.tensors.tensor import Tensor


def activation(name: str, given: dict[str, Any], *parameters: float, kernel: str = "") -> Tensor:
    """Return an activation, or a gradient, of tensors of one shape."""
    op = REGISTRY[f"nn:{name}"]
    found = float_operands(op, given)
    check_shapes(op, found)
    made: Tensor = _core.nn_activation(kernel or name, list(found.values()), parameters)
    return made


def two_gradients(name: str, given: dict[str, Any], kernel: str = "") -> tuple[Tensor, Tensor]:
    """Return two gradients."""
    made: Any = activation(name, given, kernel=kernel)
    return made  # type: ignore[no-any-return]


def check_shapes(op: Operator, found: dict[str, Tensor]) -> None:
    """Raise unless all tensors have one shape."""
    first = next(iter(found.values()))
    if any(x.shape != first.shape for x in found.values()):
        came = " and ".join(f"{name} has shape {x.shape}" for name, x in found.items())
        raise DimensionsMismatch(
            f"{op.title}: {came}; they must be equal. Repeat one with sz.expand first."
        )


def number(name: str, parameter: str, x: Any) -> float:
    """Return a parameter as a real number."""
    return real_parameter(REGISTRY[f"nn:{name}"], parameter, x)


def divisor(name: str, parameter: str, x: Any) -> float:
    """Return a number that divides."""
    found = number(name, parameter, x)
    if found == 0 or not math.isfinite(found):
        title = REGISTRY[f"nn:{name}"].title
        raise InvalidArgument(f"{title}: {parameter} is {shown(x)}; it must be finite and not 0.")
    return found


def kernel_of(name: str, approximate: Any) -> str:
    """Return the kernel of a function with the normal distribution, or its approximation."""
    if not isinstance(approximate, str) or approximate not in ("none", "tanh"):
        raise InvalidArgument(
            f"{REGISTRY[f'nn:{name}'].title}: approximate is {shown(approximate)}; it must be "
            '"none", the error function, or "tanh".'
        )
    stem, _, end = name.partition("_")
    return name if approximate == "none" else "_".join(filter(None, (stem, "tanh", end)))


def limits_of(name: str, min_val: Any, max_val: Any) -> tuple[float, float]:
    """Return the limits of hardtanh, in order."""
    low, high = number(name, "min_val", min_val), number(name, "max_val", max_val)
    if not low <= high:
        raise InvalidArgument(
            f"{REGISTRY[f'nn:{name}'].title}: min_val is {shown(min_val)} and max_val is "
            f"{shown(max_val)}; min_val must not be above max_val."
        )
    return low, high


def halves(op: Operator, x: Tensor, axis: Any) -> list[Tensor]:
    """Return the halves of a tensor along an axis, as views."""
    along = axis_argument(op, axis, x.ndim)
    size = x.shape[along]
    if size % 2:
        raise DimensionsMismatch(
            f"{op.title}: x has shape {x.shape}, and its size along axis {along} is {size}; it "
            "must be even."
        )
    before = (slice(None),) * along
    return [x[(*before, slice(0, size // 2))], x[(*before, slice(size // 2, size))]]


def spread_weight(op: Operator, found: dict[str, Tensor]) -> Tensor:
    """Return the weights of prelu as they are repeated along x."""
    x, weight = found["x"], found["weight"]
    axis = min(1, x.ndim - 1)
    channels = x.shape[axis] if x.ndim else 1
    if weight.ndim > 1 or weight.size not in (1, channels):
        raise DimensionsMismatch(
            f"{op.title}: weight has shape {weight.shape} and x has shape {x.shape}; weight must "
            f"have one element, or {channels}: one for each along axis {max(axis, 0)} of x."
        )
    shape = [1] * x.ndim
    if x.ndim:
        shape[axis] = weight.size
    return call("reshape", weight, shape)  # type: ignore[no-any-return]
