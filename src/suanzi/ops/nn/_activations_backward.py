"""The gradients of activations: out_grad, then the arguments of the function."""

from __future__ import annotations

from suanzi import _core
from suanzi.base.dtypes import widened
from suanzi.base.status import DimensionsMismatch
from suanzi.ops.calling.declare import operator
from suanzi.ops.nn._activations import (
    activation,
    check_shapes,
    divisor,
    halves,
    kernel_of,
    limits_of,
    number,
    spread_weight,
    two_gradients,
)
from suanzi.ops.nn._arguments import float_operands
from suanzi.promote.registry import ARITHMETIC, FLOATS, REGISTRY, call
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "celu_bwd", "elu_bwd", "erf_bwd", "erfc_bwd", "geglu_bwd", "gelu_bwd", "glu_bwd",
    "hardsigmoid_bwd", "hardswish_bwd", "hardtanh_bwd", "leaky_relu_bwd", "log_sigmoid_bwd",
    "mish_bwd", "prelu_bwd", "quick_gelu_bwd", "relu6_bwd", "relu_bwd", "relu_squared_bwd",
    "selu_bwd", "sigmoid_bwd", "silu_bwd", "softplus_bwd", "softsign_bwd", "swiglu_bwd",
]  # fmt: skip


@operator("1.1.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def relu_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of relu with respect to x.

    >>> sz.nn.relu_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0, 0, 1], dtype=float32)
    """
    return activation("relu_bwd", {"out_grad": out_grad, "x": x})


@operator("1.2.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def relu6_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of relu6 with respect to x.

    >>> sz.nn.relu6_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 2.0, 8.0]))
    Tensor([0, 1, 0], dtype=float32)
    """
    return activation("relu6_bwd", {"out_grad": out_grad, "x": x})


@operator("1.3.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def relu_squared_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of relu_squared with respect to x.

    >>> sz.nn.relu_squared_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 2.0, 3.0]))
    Tensor([0, 4, 6], dtype=float32)
    """
    return activation("relu_squared_bwd", {"out_grad": out_grad, "x": x})


@operator("1.4.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def leaky_relu_bwd(out_grad: TensorLike, x: TensorLike, negative_slope: float = 0.01) -> Tensor:
    """Return the gradient of leaky_relu with respect to x.

    >>> sz.nn.leaky_relu_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0.01, 0.01,    1], dtype=float32)
    """
    return activation(
        "leaky_relu_bwd",
        {"out_grad": out_grad, "x": x},
        number("leaky_relu_bwd", "negative_slope", negative_slope),
    )


@operator("1.5.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def elu_bwd(out_grad: TensorLike, x: TensorLike, alpha: float = 1.0) -> Tensor:
    """Return the gradient of elu with respect to x.

    >>> g = sz.tensor([1.0, 1.0, 1.0], sz.float16)
    >>> x = sz.tensor([-1.0, 0.0, 2.0], sz.float16)
    >>> sz.nn.elu_bwd(g, x)
    Tensor([0.368,     1,     1], dtype=float16)
    """
    return activation("elu_bwd", {"out_grad": out_grad, "x": x}, number("elu_bwd", "alpha", alpha))


@operator("1.6.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def selu_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of selu with respect to x.

    >>> g = sz.tensor([1.0, 1.0, 1.0], sz.float16)
    >>> x = sz.tensor([-1.0, 0.0, 2.0], sz.float16)
    >>> sz.nn.selu_bwd(g, x)
    Tensor([0.647, 1.758, 1.051], dtype=float16)
    """
    return activation("selu_bwd", {"out_grad": out_grad, "x": x})


@operator("1.7.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def celu_bwd(out_grad: TensorLike, x: TensorLike, alpha: float = 1.0) -> Tensor:
    """Return the gradient of celu with respect to x.

    >>> g = sz.tensor([1.0, 1.0, 1.0], sz.float16)
    >>> x = sz.tensor([-1.0, 0.0, 2.0], sz.float16)
    >>> sz.nn.celu_bwd(g, x)
    Tensor([0.368,     1,     1], dtype=float16)
    """
    return activation(
        "celu_bwd", {"out_grad": out_grad, "x": x}, divisor("celu_bwd", "alpha", alpha)
    )


@operator("1.8.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def gelu_bwd(out_grad: TensorLike, x: TensorLike, approximate: str = "none") -> Tensor:
    """Return the gradient of gelu with respect to x.

    >>> g = sz.tensor([1.0, 1.0, 1.0], sz.float16)
    >>> x = sz.tensor([-1.0, 0.0, 2.0], sz.float16)
    >>> sz.nn.gelu_bwd(g, x)
    Tensor([-0.0833,     0.5,   1.085], dtype=float16)
    """
    return activation(
        "gelu_bwd", {"out_grad": out_grad, "x": x}, kernel=kernel_of("gelu_bwd", approximate)
    )


@operator("1.9.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def quick_gelu_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of quick_gelu with respect to x.

    >>> g = sz.tensor([1.0, 1.0, 1.0], sz.float16)
    >>> x = sz.tensor([-1.0, 0.0, 2.0], sz.float16)
    >>> sz.nn.quick_gelu_bwd(g, x)
    Tensor([-0.0678,     0.5,   1.074], dtype=float16)
    """
    return activation("quick_gelu_bwd", {"out_grad": out_grad, "x": x})


@operator("1.10.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def silu_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of silu with respect to x.

    >>> g = sz.tensor([1.0, 1.0, 1.0], sz.float16)
    >>> x = sz.tensor([-1.0, 0.0, 2.0], sz.float16)
    >>> sz.nn.silu_bwd(g, x)
    Tensor([0.0723,    0.5,  1.091], dtype=float16)
    """
    return activation("silu_bwd", {"out_grad": out_grad, "x": x})


@operator("1.11.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def sigmoid_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of sigmoid with respect to x.

    >>> g = sz.tensor([1.0, 1.0, 1.0], sz.float16)
    >>> x = sz.tensor([-1.0, 0.0, 2.0], sz.float16)
    >>> sz.nn.sigmoid_bwd(g, x)
    Tensor([0.1967,   0.25,  0.105], dtype=float16)
    """
    return activation("sigmoid_bwd", {"out_grad": out_grad, "x": x})


@operator("1.12.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def log_sigmoid_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of log_sigmoid with respect to x.

    >>> g = sz.tensor([1.0, 1.0, 1.0], sz.float16)
    >>> x = sz.tensor([-1.0, 0.0, 2.0], sz.float16)
    >>> sz.nn.log_sigmoid_bwd(g, x)
    Tensor([ 0.731,    0.5, 0.1192], dtype=float16)
    """
    return activation("log_sigmoid_bwd", {"out_grad": out_grad, "x": x})


@operator("1.13.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def erf_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of erf with respect to x.

    >>> g = sz.tensor([1.0, 1.0, 1.0], sz.float16)
    >>> x = sz.tensor([-1.0, 0.0, 2.0], sz.float16)
    >>> sz.nn.erf_bwd(g, x)
    Tensor([  0.415,   1.128, 0.02066], dtype=float16)
    """
    return activation("erf_bwd", {"out_grad": out_grad, "x": x})


@operator("1.14.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def erfc_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of erfc with respect to x.

    >>> g = sz.tensor([1.0, 1.0, 1.0], sz.float16)
    >>> x = sz.tensor([0.0, 1.0, 5.0], sz.float16)
    >>> sz.nn.erfc_bwd(g, x)
    Tensor([-1.128, -0.415,     -0], dtype=float16)
    """
    return activation("erfc_bwd", {"out_grad": out_grad, "x": x})


@operator("1.15.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def softplus_bwd(
    out_grad: TensorLike, x: TensorLike, beta: float = 1.0, threshold: float = 20.0
) -> Tensor:
    """Return the gradient of softplus with respect to x.

    >>> g = sz.tensor([1.0, 1.0, 1.0], sz.float16)
    >>> x = sz.tensor([-1.0, 0.0, 2.0], sz.float16)
    >>> sz.nn.softplus_bwd(g, x)
    Tensor([0.269,   0.5, 0.881], dtype=float16)
    """
    return activation(
        "softplus_bwd",
        {"out_grad": out_grad, "x": x},
        divisor("softplus_bwd", "beta", beta),
        number("softplus_bwd", "threshold", threshold),
    )


@operator("1.16.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def softsign_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of softsign with respect to x.

    >>> g = sz.tensor([1.0, 1.0, 1.0], sz.float16)
    >>> x = sz.tensor([-1.0, 0.0, 2.0], sz.float16)
    >>> sz.nn.softsign_bwd(g, x)
    Tensor([  0.25,      1, 0.1111], dtype=float16)
    """
    return activation("softsign_bwd", {"out_grad": out_grad, "x": x})


@operator("1.17.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def mish_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of mish with respect to x.

    >>> g = sz.tensor([1.0, 1.0, 1.0], sz.float16)
    >>> x = sz.tensor([-1.0, 0.0, 2.0], sz.float16)
    >>> sz.nn.mish_bwd(g, x)
    Tensor([0.0592,    0.6,  1.069], dtype=float16)
    """
    return activation("mish_bwd", {"out_grad": out_grad, "x": x})


@operator("1.18.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def hardswish_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of hardswish with respect to x.

    >>> g = sz.tensor([1.0, 1.0, 1.0], sz.float16)
    >>> x = sz.tensor([-1.0, 0.0, 2.0], sz.float16)
    >>> sz.nn.hardswish_bwd(g, x)
    Tensor([0.1666,    0.5,  1.167], dtype=float16)
    """
    return activation("hardswish_bwd", {"out_grad": out_grad, "x": x})


@operator("1.19.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def hardsigmoid_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of hardsigmoid with respect to x.

    >>> g = sz.tensor([1.0, 1.0, 1.0], sz.float16)
    >>> x = sz.tensor([-1.0, 0.0, 2.0], sz.float16)
    >>> sz.nn.hardsigmoid_bwd(g, x)
    Tensor([0.1666, 0.1666, 0.1666], dtype=float16)
    """
    return activation("hardsigmoid_bwd", {"out_grad": out_grad, "x": x})


@operator("1.20.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def hardtanh_bwd(
    out_grad: TensorLike, x: TensorLike, min_val: float = -1.0, max_val: float = 1.0
) -> Tensor:
    """Return the gradient of hardtanh with respect to x.

    >>> sz.nn.hardtanh_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-2.0, 0.5, 2.0]))
    Tensor([0, 1, 0], dtype=float32)
    """
    return activation(
        "hardtanh_bwd", {"out_grad": out_grad, "x": x}, *limits_of("hardtanh_bwd", min_val, max_val)
    )


@operator("1.21.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def swiglu_bwd(out_grad: TensorLike, gate: TensorLike, up: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the gradients of swiglu with respect to gate and up.

    >>> sz.nn.swiglu_bwd(sz.tensor([1.0]), sz.tensor([0.0]), sz.tensor([3.0]))
    (Tensor([1.5], dtype=float32), Tensor([0], dtype=float32))
    """
    return two_gradients("swiglu_bwd", {"out_grad": out_grad, "gate": gate, "up": up})


@operator("1.22.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def geglu_bwd(
    out_grad: TensorLike, gate: TensorLike, up: TensorLike, approximate: str = "none"
) -> tuple[Tensor, Tensor]:
    """Return the gradients of geglu with respect to gate and up.

    >>> sz.nn.geglu_bwd(sz.tensor([1.0]), sz.tensor([0.0]), sz.tensor([3.0]))
    (Tensor([1.5], dtype=float32), Tensor([0], dtype=float32))
    """
    given = {"out_grad": out_grad, "gate": gate, "up": up}
    return two_gradients("geglu_bwd", given, kernel=kernel_of("geglu_bwd", approximate))


@operator("1.23.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def glu_bwd(out_grad: TensorLike, x: TensorLike, axis: int = -1) -> Tensor:
    """Return the gradient of glu with respect to x.

    >>> g = sz.tensor([1.0, 1.0], sz.float16)
    >>> x = sz.tensor([1.0, 2.0, 0.0, -1.0], sz.float16)
    >>> sz.nn.glu_bwd(g, x)
    Tensor([   0.5,  0.269,   0.25, 0.3933], dtype=float16)
    """
    op = REGISTRY["nn:glu_bwd"]
    found = float_operands(op, {"out_grad": out_grad, "x": x})
    first, second = halves(op, found["x"], axis)
    if found["out_grad"].shape != first.shape:
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {found['out_grad'].shape}; it must have that of the "
            f"result, {first.shape}."
        )
    parts = _core.nn_activation("glu_bwd", [found["out_grad"], first, second], ())
    return call("concat", list(parts), axis)  # type: ignore[no-any-return]


@operator("1.24.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def prelu_bwd(out_grad: TensorLike, x: TensorLike, weight: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the gradients of prelu with respect to x and weight.

    >>> sz.nn.prelu_bwd(sz.tensor([[1.0, 2.0]]), sz.tensor([[-1.0, 3.0]]), sz.tensor([0.5, 0.5]))
    (Tensor([[0.5,   2]], dtype=float32), Tensor([-1,  0], dtype=float32))
    """
    op = REGISTRY["nn:prelu_bwd"]
    found = float_operands(op, {"out_grad": out_grad, "x": x, "weight": weight})
    check_shapes(op, {name: found[name] for name in ("out_grad", "x")})
    wide = converted(found["x"], widened(found["x"].dtype))
    spread = spread_weight(op, found)
    x_grad, _ = _core.nn_activation("prelu_bwd", [found["out_grad"], found["x"], spread], ())
    grad = converted(found["out_grad"], wide.dtype)
    _, parts = _core.nn_activation("prelu_bwd", [grad, wide, converted(spread, wide.dtype)], ())
    axis = min(1, wide.ndim - 1)
    kept = () if found["weight"].size == 1 else (axis,)
    total = parts.sum(tuple(a for a in range(wide.ndim) if a not in kept))
    return x_grad, call("reshape", converted(total, x_grad.dtype), found["weight"].shape)
