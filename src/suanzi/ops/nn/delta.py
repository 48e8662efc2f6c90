"""nn 12.2: the gated delta rule: linear attention whose state forgets and corrects itself."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from suanzi import _core
from suanzi.base.dtypes import float32, float64
from suanzi.base.hints import shown
from suanzi.base.status import DimensionsMismatch, TypeMismatch
from suanzi.ops.calling.arguments import real_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import flag_argument
from suanzi.ops.nn._arguments import dense, float_operands, real_parameter
from suanzi.promote.registry import ARITHMETIC, FLOATS, REGISTRY, Operator
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = ["gated_delta_rule", "gated_delta_rule_bwd"]


@operator("12.2", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def gated_delta_rule(
    q: TensorLike,
    k: TensorLike,
    v: TensorLike,
    g: TensorLike,
    beta: TensorLike,
    initial_state: TensorLike | None = None,
    *,
    scale: float | None = None,
    use_qk_l2norm: bool = False,
    return_state: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return what a state answers to q after each step: S^T (scale q).

    In each step the state S (dk, dv) of a head becomes exp(g) S + k u^T, where u is
    beta (v - exp(g) S^T k). q and k are (batch, time, key heads, dk), v (batch, time, heads, dv),
    g and beta (batch, time, heads); consecutive heads share one of q and k. `scale` is
    1 / sqrt(dk) by default. `use_qk_l2norm` first divides rows of q and k by
    sqrt(the sum of their squares + 1e-6). The state begins with `initial_state`
    (batch, heads, dk, dv), or zeros; `return_state` returns the last one as well. It is float32,
    and float64 where the result is; g and initial_state are converted to that.

    >>> q = sz.tensor([[[[1.0, 0.0]], [[1.0, 2.0]]]])
    >>> k = sz.tensor([[[[1.0, 0.0]], [[0.0, 1.0]]]])
    >>> v, g, beta = sz.tensor([[[[4.0]], [[8.0]]]]), sz.zeros((1, 2, 1)), sz.tensor([[[1], [1]]])
    >>> sz.nn.gated_delta_rule(q, k, v, g, beta, scale=1.0).reshape(2)
    Tensor([ 4, 20], dtype=float32)
    """
    op = REGISTRY["nn:gated_delta_rule"]
    found = _operands(op, {"q": q, "k": k, "v": v, "beta": beta}, g, initial_state)
    factor, normalizes = _options(op, found.keys, scale, use_qk_l2norm)
    keeps = flag_argument(op, "return_state", return_state)
    y, last = _core.nn_gated_delta_rule(*_core_operands(found), factor, normalizes, keeps)
    return y if last is None else (y, last)


@operator("12.2.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def gated_delta_rule_bwd(
    out_grad: TensorLike,
    q: TensorLike,
    k: TensorLike,
    v: TensorLike,
    g: TensorLike,
    beta: TensorLike,
    initial_state: TensorLike | None = None,
    final_state_grad: TensorLike | None = None,
    *,
    scale: float | None = None,
    use_qk_l2norm: bool = False,
) -> tuple[Tensor, ...]:
    """Return the gradients of q, k, v, g and beta, and of initial_state if it is given.

    `final_state_grad` is the gradient of the final state, where that was used; 0 by default.
    Those of g and of the states are of the dtype of the state.

    >>> one, g, beta = sz.tensor([[[[1.0]]]]), sz.zeros((1, 1, 1)), sz.tensor([[[1.0]]])
    >>> grads = sz.nn.gated_delta_rule_bwd(one, 3 * one, one, one, g, beta)
    >>> [x.item() for x in grads]
    [1.0, 3.0, 3.0, 0.0, 3.0]
    """
    op = REGISTRY["nn:gated_delta_rule_bwd"]
    given = {"out_grad": out_grad, "q": q, "k": k, "v": v, "beta": beta}
    found = _operands(op, given, g, initial_state, final_state_grad)
    factor, normalizes = _options(op, found.keys, scale, use_qk_l2norm)
    above, after = found.tensors["out_grad"], found.tensors.get("final_state_grad")
    made = _core.nn_gated_delta_rule_bwd(
        dense(above), *_core_operands(found), None if after is None else dense(after), factor,
        normalizes,
    )  # fmt: skip
    return tuple(one for one in made if one is not None)


class _Operands(NamedTuple):
    """Promoted operands whose shapes go together."""

    tensors: dict[str, Tensor]
    keys: tuple[int, ...]
    """The shape of k."""


def _core_operands(
    found: _Operands,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor | None]:
    """Return q, k, v, g, beta and the state as the core takes them."""
    x = found.tensors
    q, k, v = (_with_rows(x[name]) for name in "qkv")
    state = x.get("initial_state")
    return q, k, v, dense(x["g"]), dense(x["beta"]), None if state is None else dense(state)


def _with_rows(x: Tensor) -> Tensor:
    """Return a tensor whose last axis is dense; the others may have any strides."""
    return x if x.strides[-1] == 1 else dense(x)


def _options(op: Operator, keys: tuple[int, ...], scale: Any, norm: Any) -> tuple[float, bool]:
    normalizes = flag_argument(op, "use_qk_l2norm", norm)
    default = 1 / math.sqrt(keys[3]) if keys[3] else 1.0
    return default if scale is None else real_parameter(op, "scale", scale), normalizes


def _operands(
    op: Operator, given: dict[str, Any], g: Any, state: Any, after: Any = None
) -> _Operands:
    """Return promoted operands; g and states are of the dtype that the state is kept in."""
    found = float_operands(op, given)
    kept = float64 if found["v"].dtype is float64 else float32
    states = {"g": g, "initial_state": state, "final_state_grad": after}
    for name, x in states.items():
        if x is not None or name == "g":
            found[name] = converted(_real(op, name, x), kept)
    k, v = found["k"].shape, found["v"].shape
    if len(k) != 4:
        raise DimensionsMismatch(
            f"{op.title}: k has shape {shown(k)}; it must be (batch, time, key heads, dk). Of "
            "(batch, heads, time, dk), give sz.transpose(k, 1, 2)."
        )
    if len(v) != 4 or v[:2] != k[:2] or not _shares(v[2], k[2]):
        raise DimensionsMismatch(
            f"{op.title}: v has shape {shown(v)}; it must be ({k[0]}, {k[1]}, heads, dv), and "
            f"heads a multiple of the {k[2]} key heads of k."
        )
    shapes = {
        "q": (k, "that of k"),
        "g": (v[:3], "(batch, time, heads)"),
        "beta": (v[:3], "(batch, time, heads)"),
        "out_grad": (v, "that of the result"),
        "initial_state": ((k[0], v[2], k[3], v[3]), "(batch, heads, dk, dv)"),
        "final_state_grad": ((k[0], v[2], k[3], v[3]), "(batch, heads, dk, dv)"),
    }
    for name, (shape, words) in shapes.items():
        if name in found and found[name].shape != shape:
            raise DimensionsMismatch(
                f"{op.title}: {name} has shape {shown(found[name].shape)}; it must be {shape}, "
                f"{words}."
            )
    return _Operands(found, k)


def _real(op: Operator, name: str, x: Any) -> Tensor:
    found = real_argument(op, name, x)
    if found.dtype.kind == "complex":
        raise TypeMismatch(
            f"{op.title}: {name} is {found.dtype}, which is complex; it must be of real numbers. "
            f"Cast it with sz.cast({name}, sz.float32)."
        )
    return found


def _shares(heads: int, keys: int) -> bool:
    return heads % keys == 0 if keys else heads == 0
