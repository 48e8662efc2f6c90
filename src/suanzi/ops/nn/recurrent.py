"""Operators along time with a state: from what one call leaves, the next one continues."""

from __future__ import annotations

from typing import Any, Literal

from suanzi import _core
from suanzi.base.hints import shown
from suanzi.base.status import DimensionsMismatch
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import flag_argument
from suanzi.ops.nn._arguments import dense, float_operands, one_of
from suanzi.promote.registry import ARITHMETIC, FLOATS, REGISTRY, Operator
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = ["causal_conv1d", "causal_conv1d_bwd"]

Gate = Literal["silu"] | None
"""The activation of a result."""


@operator("12.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def causal_conv1d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    initial_state: TensorLike | None = None,
    *,
    activation: Gate = None,
    return_state: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return each channel of x (batch, channels, length) convolved with its own taps.

    weight is (channels, width): element t is the sum of weight[c, k] x[t - width + 1 + k], so it
    depends on no later one, plus the bias of the channel; `activation` "silu" is applied to it.
    Before the first element come those of `initial_state` (batch, channels, width - 1), or zeros.
    `return_state` gives the last width - 1 elements as well: from them the next call continues.

    >>> x, weight = sz.tensor([[[1.0, 2.0, 3.0]]]), sz.tensor([[10.0, 1.0]])
    >>> sz.nn.causal_conv1d(x, weight)
    Tensor([[[ 1, 12, 23]]], dtype=float32)
    >>> y, state = sz.nn.causal_conv1d(x[..., :2], weight, return_state=True)
    >>> sz.nn.causal_conv1d(x[..., 2:], weight, initial_state=state)
    Tensor([[[23]]], dtype=float32)
    """
    op = REGISTRY["nn:causal_conv1d"]
    found = _operands(op, {"x": x, "weight": weight, "bias": bias, "initial_state": initial_state})
    silu = _is_silu(op, activation)
    keeps = flag_argument(op, "return_state", return_state)
    x, weight, bias, state = _core_operands(found)
    y, last = _core.nn_causal_conv1d(x, weight, bias, state, silu, keeps)
    return y if last is None else (y, last)


@operator("12.1.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def causal_conv1d_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    initial_state: TensorLike | None = None,
    final_state_grad: TensorLike | None = None,
    *,
    activation: Gate = None,
) -> tuple[Tensor, ...]:
    """Return the gradients of x and weight, and of bias and initial_state if they are given.

    `final_state_grad` is the gradient of the final state, where that was used; 0 by default.

    >>> x, weight = sz.tensor([[[1.0, 2.0, 3.0]]]), sz.tensor([[10.0, 1.0]])
    >>> sz.nn.causal_conv1d_bwd(sz.tensor([[[0.0, 0.0, 1.0]]]), x, weight)
    (Tensor([[[ 0, 10,  1]]], dtype=float32), Tensor([[2, 3]], dtype=float32))
    """
    op = REGISTRY["nn:causal_conv1d_bwd"]
    given = {"out_grad": out_grad, "x": x, "weight": weight, "bias": bias}
    states = {"initial_state": initial_state, "final_state_grad": final_state_grad}
    found = _operands(op, {**given, **states})
    silu = _is_silu(op, activation)
    _check_shape(op, found, "out_grad", found["x"].shape, "that of the result")
    x, weight, bias, state = _core_operands(found)
    after = found.get("final_state_grad")
    made = _core.nn_causal_conv1d_bwd(
        dense(found["out_grad"]), x, weight, bias, state,
        None if after is None else dense(after), silu,
    )  # fmt: skip
    return tuple(one for one in made if one is not None)


def _core_operands(found: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    x, weight, bias, state = (
        None if (one := found.get(name)) is None else dense(one)
        for name in ("x", "weight", "bias", "initial_state")
    )
    assert x is not None
    assert weight is not None
    return x, weight, bias, state


def _is_silu(op: Operator, activation: Any) -> bool:
    return activation is not None and one_of(op, "activation", activation, ("silu",)) == 0


def _operands(op: Operator, given: dict[str, Any]) -> dict[str, Tensor]:
    """Return promoted operands whose shapes go together."""
    found = float_operands(op, given)
    x, weight = found["x"], found["weight"]
    if x.ndim != 3:
        raise DimensionsMismatch(
            f"{op.title}: x has shape {x.shape}; it must be (batch, channels, length). Add a batch "
            "with sz.expand_dims(x, 0)."
        )
    channels = x.shape[1]
    if weight.ndim != 2 or weight.shape[0] != channels or not weight.shape[1]:
        raise DimensionsMismatch(
            f"{op.title}: weight has shape {weight.shape}; it must be ({channels}, width), at "
            "least one tap for each channel of x. Of a weight (channels, 1, width) of conv1d, "
            "give weight[:, 0]."
        )
    state = (x.shape[0], channels, weight.shape[1] - 1)
    _check_shape(op, found, "bias", (channels,), "a number for each channel")
    for name in ("initial_state", "final_state_grad"):
        _check_shape(op, found, name, state, "(batch, channels, width - 1)")
    return found


def _check_shape(
    op: Operator, found: dict[str, Tensor], name: str, shape: tuple[int, ...], words: str
) -> None:
    if name in found and found[name].shape != shape:
        raise DimensionsMismatch(
            f"{op.title}: {name} has shape {shown(found[name].shape)}; it must be {shape}, {words}."
        )
