"""Activations: functions of each element, and products of an element with a gate.

Where a function has a limit at an infinity, that is its value there; NaN gives NaN.
"""

from __future__ import annotations

from suanzi import _core
from suanzi.ops.calling.declare import operator
from suanzi.ops.nn import _activations_backward
from suanzi.ops.nn._activations import (
    activation,
    divisor,
    halves,
    kernel_of,
    limits_of,
    number,
    spread_weight,
)
from suanzi.ops.nn._activations_backward import *  # noqa: F403
from suanzi.ops.nn._arguments import float_operand, float_operands
from suanzi.promote.registry import ARITHMETIC, FLOATS, REAL_FUNCTION, REGISTRY
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "celu", "elu", "erf", "erfc", "geglu", "gelu", "glu", "hardsigmoid", "hardswish",
    "hardtanh", "leaky_relu", "log_sigmoid", "mish", "prelu", "quick_gelu", "relu", "relu6",
    "relu_squared", "selu", "sigmoid", "silu", "softplus", "softsign", "swiglu",
]  # fmt: skip
__all__ += _activations_backward.__all__


@operator("1.1", dtypes=FLOATS, fast=True, ulp=0.5, promotes=REAL_FUNCTION, catalogue="nn")
def relu(x: TensorLike) -> Tensor:
    """Return the larger of x and 0.

    The gradient at 0 is 0.

    >>> sz.nn.relu(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0, 0, 2], dtype=float32)
    """
    return activation("relu", {"x": x})


@operator("1.2", dtypes=FLOATS, fast=True, ulp=0.5, promotes=REAL_FUNCTION, catalogue="nn")
def relu6(x: TensorLike) -> Tensor:
    """Return x between 0 and 6.

    The gradient at 0 and at 6 is 0.

    >>> sz.nn.relu6(sz.tensor([-1.0, 2.0, 8.0]))
    Tensor([0, 2, 6], dtype=float32)
    """
    return activation("relu6", {"x": x})


@operator("1.3", dtypes=FLOATS, fast=True, ulp=0.5, promotes=REAL_FUNCTION, catalogue="nn")
def relu_squared(x: TensorLike) -> Tensor:
    """Return the square of the larger of x and 0.

    >>> sz.nn.relu_squared(sz.tensor([-1.0, 2.0, 3.0]))
    Tensor([0, 4, 9], dtype=float32)
    """
    return activation("relu_squared", {"x": x})


@operator("1.4", dtypes=FLOATS, fast=True, ulp=1, promotes=REAL_FUNCTION, catalogue="nn")
def leaky_relu(x: TensorLike, negative_slope: float = 0.01) -> Tensor:
    """Return x above 0, and negative_slope * x elsewhere.

    The gradient at 0 is negative_slope.

    >>> sz.nn.leaky_relu(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([-0.01,     0,     2], dtype=float32)
    """
    return activation(
        "leaky_relu", {"x": x}, number("leaky_relu", "negative_slope", negative_slope)
    )


@operator("1.5", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """Return x above 0, and alpha * (exp(x) - 1) elsewhere.

    >>> sz.nn.elu(sz.tensor([-1.0, 0.0, 2.0], sz.float16))
    Tensor([-0.6323,       0,       2], dtype=float16)
    """
    return activation("elu", {"x": x}, number("elu", "alpha", alpha))


@operator("1.6", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def selu(x: TensorLike) -> Tensor:
    """Return elu by constants that keep mean 0 and variance 1 from layer to layer.

    It is 1.0507009873554805 * elu(x, 1.6732632423543772).

    >>> sz.nn.selu(sz.tensor([-1.0, 0.0, 2.0], sz.float16))
    Tensor([-1.111,      0,  2.102], dtype=float16)
    """
    return activation("selu", {"x": x})


@operator("1.7", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def celu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """Return x above 0, and alpha * (exp(x / alpha) - 1) elsewhere.

    >>> sz.nn.celu(sz.tensor([-1.0, 0.0, 2.0], sz.float16))
    Tensor([-0.6323,       0,       2], dtype=float16)
    """
    return activation("celu", {"x": x}, divisor("celu", "alpha", alpha))


@operator("1.8", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def gelu(x: TensorLike, approximate: str = "none") -> Tensor:
    """Return x times the probability that a normal variable is below x.

    With approximate = "tanh", the probability is (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) /
    2.

    >>> sz.nn.gelu(sz.tensor([-1.0, 0.0, 2.0], sz.float16))
    Tensor([-0.1587,       0,   1.954], dtype=float16)
    """
    return activation("gelu", {"x": x}, kernel=kernel_of("gelu", approximate))


@operator("1.9", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def quick_gelu(x: TensorLike) -> Tensor:
    """Return x * sigmoid(1.702 * x), an approximation of gelu.

    >>> sz.nn.quick_gelu(sz.tensor([-1.0, 0.0, 2.0], sz.float16))
    Tensor([-0.1542,       0,   1.936], dtype=float16)
    """
    return activation("quick_gelu", {"x": x})


@operator("1.10", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def silu(x: TensorLike) -> Tensor:
    """Return x * sigmoid(x), also called swish.

    >>> sz.nn.silu(sz.tensor([-1.0, 0.0, 2.0], sz.float16))
    Tensor([-0.269,      0,  1.762], dtype=float16)
    """
    return activation("silu", {"x": x})


@operator("1.11", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def sigmoid(x: TensorLike) -> Tensor:
    """Return 1 / (1 + exp(-x)).

    >>> sz.nn.sigmoid(sz.tensor([-1.0, 0.0, 2.0], sz.float16))
    Tensor([0.269,   0.5, 0.881], dtype=float16)
    """
    return activation("sigmoid", {"x": x})


@operator("1.12", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def log_sigmoid(x: TensorLike) -> Tensor:
    """Return the logarithm of sigmoid(x), without overflow.

    >>> sz.nn.log_sigmoid(sz.tensor([-1.0, 0.0, 2.0], sz.float16))
    Tensor([ -1.313, -0.6934,  -0.127], dtype=float16)
    """
    return activation("log_sigmoid", {"x": x})


@operator("1.13", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def erf(x: TensorLike) -> Tensor:
    """Return the error function of x.

    >>> sz.nn.erf(sz.tensor([-1.0, 0.0, 2.0], sz.float16))
    Tensor([-0.843,      0,  0.995], dtype=float16)
    """
    return activation("erf", {"x": x})


@operator("1.14", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def erfc(x: TensorLike) -> Tensor:
    """Return 1 - erf(x), accurate where it is small.

    >>> sz.nn.erfc(sz.tensor([0.0, 1.0, 5.0], sz.float16))
    Tensor([     1, 0.1573,      0], dtype=float16)
    """
    return activation("erfc", {"x": x})


@operator("1.15", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def softplus(x: TensorLike, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Return log(1 + exp(beta * x)) / beta, and x where beta * x > threshold.

    >>> sz.nn.softplus(sz.tensor([-1.0, 0.0, 2.0], sz.float16))
    Tensor([0.3132, 0.6934,  2.127], dtype=float16)
    """
    return activation(
        "softplus",
        {"x": x},
        divisor("softplus", "beta", beta),
        number("softplus", "threshold", threshold),
    )


@operator("1.16", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def softsign(x: TensorLike) -> Tensor:
    """Return x / (1 + abs(x)).

    >>> sz.nn.softsign(sz.tensor([-1.0, 0.0, 2.0], sz.float16))
    Tensor([  -0.5,      0, 0.6665], dtype=float16)
    """
    return activation("softsign", {"x": x})


@operator("1.17", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def mish(x: TensorLike) -> Tensor:
    """Return x * tanh(softplus(x)).

    >>> sz.nn.mish(sz.tensor([-1.0, 0.0, 2.0], sz.float16))
    Tensor([-0.3035,       0,   1.944], dtype=float16)
    """
    return activation("mish", {"x": x})


@operator("1.18", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def hardswish(x: TensorLike) -> Tensor:
    """Return x * relu6(x + 3) / 6, a piecewise approximation of silu.

    The gradient at -3 is 0, at 3 it is 1.

    >>> sz.nn.hardswish(sz.tensor([-1.0, 0.0, 2.0], sz.float16))
    Tensor([-0.3333,       0,   1.667], dtype=float16)
    """
    return activation("hardswish", {"x": x})


@operator("1.19", dtypes=FLOATS, fast=True, ulp=1, promotes=REAL_FUNCTION, catalogue="nn")
def hardsigmoid(x: TensorLike) -> Tensor:
    """Return relu6(x + 3) / 6, a piecewise approximation of sigmoid.

    The gradient at -3 and at 3 is 0. ONNX's default is another: clip(0.2 * x + 0.5, 0, 1).

    >>> sz.nn.hardsigmoid(sz.tensor([-1.0, 0.0, 2.0], sz.float16))
    Tensor([0.3333,    0.5, 0.8335], dtype=float16)
    """
    return activation("hardsigmoid", {"x": x})


@operator("1.20", dtypes=FLOATS, fast=True, ulp=0.5, promotes=REAL_FUNCTION, catalogue="nn")
def hardtanh(x: TensorLike, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Return x between min_val and max_val.

    The gradient at both is 0.

    >>> sz.nn.hardtanh(sz.tensor([-2.0, 0.5, 2.0]))
    Tensor([ -1, 0.5,   1], dtype=float32)
    """
    return activation("hardtanh", {"x": x}, *limits_of("hardtanh", min_val, max_val))


@operator("1.21", dtypes=FLOATS, fast=True, ulp=2, promotes=ARITHMETIC, catalogue="nn")
def swiglu(gate: TensorLike, up: TensorLike) -> Tensor:
    """Return silu(gate) * up, for tensors of one shape.

    >>> g = sz.tensor([-1.0, 0.0, 2.0], sz.float16)
    >>> x = sz.tensor([1.0, 2.0, 3.0], sz.float16)
    >>> sz.nn.swiglu(g, x)
    Tensor([-0.269,      0,  5.285], dtype=float16)
    """
    return activation("swiglu", {"gate": gate, "up": up})


@operator("1.22", dtypes=FLOATS, fast=True, ulp=2, promotes=ARITHMETIC, catalogue="nn")
def geglu(gate: TensorLike, up: TensorLike, approximate: str = "none") -> Tensor:
    """Return gelu(gate, approximate) * up, for tensors of one shape.

    >>> sz.nn.geglu(sz.tensor([-1.0, 0.0, 2.0], sz.float16), sz.tensor([1.0, 2.0, 3.0], sz.float16))
    Tensor([-0.1587,       0,   5.863], dtype=float16)
    """
    return activation("geglu", {"gate": gate, "up": up}, kernel=kernel_of("geglu", approximate))


@operator("1.23", dtypes=FLOATS, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def glu(x: TensorLike, axis: int = -1) -> Tensor:
    """Return the first half of x along an axis times the sigmoid of the second.

    >>> sz.nn.glu(sz.tensor([1.0, 2.0, 0.0, -1.0], sz.float16))
    Tensor([  0.5, 0.538], dtype=float16)
    """
    op = REGISTRY["nn:glu"]
    given = float_operand(op, "x", x)
    return _core.nn_activation("glu", halves(op, given, axis), ())  # type: ignore[no-any-return]


@operator("1.24", dtypes=FLOATS, ulp=0.5, promotes=ARITHMETIC, catalogue="nn")
def prelu(x: TensorLike, weight: TensorLike) -> Tensor:
    """Return x above 0, and weight * x elsewhere.

    weight has one element, or one for each of the elements along axis 1 of x (axis 0, if x has one
    axis).

    >>> sz.nn.prelu(sz.tensor([[-1.0, -1.0]]), sz.tensor([0.25, 0.5]))
    Tensor([[-0.25,  -0.5]], dtype=float32)
    """
    op = REGISTRY["nn:prelu"]
    found = float_operands(op, {"x": x, "weight": weight})
    spread = spread_weight(op, found)
    return _core.nn_activation("prelu", [found["x"], spread], ())  # type: ignore[no-any-return]
