"""Activations: functions of each element, and products of an element with a gate.

Where a function has a limit at an infinity, that is its value there; NaN gives NaN. A gradient
takes the gradient of the result first, then the arguments of the function.
"""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi._hints import shown
from suanzi.dtypes import widened
from suanzi.nn._arguments import axis_argument, float_operand, float_operands, real_parameter
from suanzi.registry import ARITHMETIC, FLOATS, REAL_FUNCTION, REGISTRY, Operator, call
from suanzi.resolve.declare import operator
from suanzi.status import DimensionsMismatch, InvalidArgument
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "celu", "celu_bwd", "elu", "elu_bwd", "erf", "erf_bwd", "erfc", "erfc_bwd", "geglu",
    "geglu_bwd", "gelu", "gelu_bwd", "glu", "glu_bwd", "hardsigmoid", "hardsigmoid_bwd",
    "hardswish", "hardswish_bwd", "hardtanh", "hardtanh_bwd", "leaky_relu", "leaky_relu_bwd",
    "log_sigmoid", "log_sigmoid_bwd", "mish", "mish_bwd", "prelu", "prelu_bwd", "quick_gelu",
    "quick_gelu_bwd", "relu", "relu6", "relu6_bwd", "relu_bwd", "relu_squared",
    "relu_squared_bwd", "selu", "selu_bwd", "sigmoid", "sigmoid_bwd", "silu", "silu_bwd",
    "softplus", "softplus_bwd", "softsign", "softsign_bwd", "swiglu", "swiglu_bwd",
]  # fmt: skip


def _of(name: str, given: dict[str, Any], *parameters: float, kernel: str = "") -> Tensor:
    """Return an activation, or a gradient, of tensors of one shape."""
    op = REGISTRY[f"nn:{name}"]
    found = float_operands(op, given)
    _check_shapes(op, found)
    return _core.nn_activation(kernel or name, list(found.values()), parameters)  # type: ignore[no-any-return]


def _both(name: str, given: dict[str, Any], kernel: str = "") -> tuple[Tensor, Tensor]:
    """Return two gradients."""
    made: Any = _of(name, given, kernel=kernel)
    return made  # type: ignore[no-any-return]


def _check_shapes(op: Operator, found: dict[str, Tensor]) -> None:
    first = next(iter(found.values()))
    if any(x.shape != first.shape for x in found.values()):
        came = " and ".join(f"{name} has shape {x.shape}" for name, x in found.items())
        raise DimensionsMismatch(
            f"{op.title}: {came}; they must be equal. Repeat one with sz.expand first."
        )


def _number(name: str, parameter: str, x: Any) -> float:
    return real_parameter(REGISTRY[f"nn:{name}"], parameter, x)


def _not_0(name: str, parameter: str, x: Any) -> float:
    """Return a number that divides."""
    number = _number(name, parameter, x)
    if number == 0 or not math.isfinite(number):
        title = REGISTRY[f"nn:{name}"].title
        raise InvalidArgument(f"{title}: {parameter} is {shown(x)}; it must be finite and not 0.")
    return number


def _kernel(name: str, approximate: Any) -> str:
    """Return the kernel of a function with the normal distribution, or its approximation."""
    if not isinstance(approximate, str) or approximate not in ("none", "tanh"):
        raise InvalidArgument(
            f"{REGISTRY[f'nn:{name}'].title}: approximate is {shown(approximate)}; it must be "
            '"none", the error function, or "tanh".'
        )
    stem, _, end = name.partition("_")
    return name if approximate == "none" else "_".join(filter(None, (stem, "tanh", end)))


@operator("1.1", dtypes=FLOATS, fast=True, ulp=0.5, promotes=REAL_FUNCTION, catalogue="nn")
def relu(x: TensorLike) -> Tensor:
    """Return the larger of x and 0.

    The gradient at 0 is 0.

    >>> sz.nn.relu(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0, 0, 2], dtype=float32)
    """
    return _of("relu", {"x": x})


@operator("1.1.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def relu_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of relu with respect to x.

    >>> sz.nn.relu_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0, 0, 1], dtype=float32)
    """
    return _of("relu_bwd", {"out_grad": out_grad, "x": x})


@operator("1.2", dtypes=FLOATS, fast=True, ulp=0.5, promotes=REAL_FUNCTION, catalogue="nn")
def relu6(x: TensorLike) -> Tensor:
    """Return x between 0 and 6.

    The gradient at 0 and at 6 is 0.

    >>> sz.nn.relu6(sz.tensor([-1.0, 2.0, 8.0]))
    Tensor([0, 2, 6], dtype=float32)
    """
    return _of("relu6", {"x": x})


@operator("1.2.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def relu6_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of relu6 with respect to x.

    >>> sz.nn.relu6_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 2.0, 8.0]))
    Tensor([0, 1, 0], dtype=float32)
    """
    return _of("relu6_bwd", {"out_grad": out_grad, "x": x})


@operator("1.3", dtypes=FLOATS, fast=True, ulp=0.5, promotes=REAL_FUNCTION, catalogue="nn")
def relu_squared(x: TensorLike) -> Tensor:
    """Return the square of the larger of x and 0.

    >>> sz.nn.relu_squared(sz.tensor([-1.0, 2.0, 3.0]))
    Tensor([0, 4, 9], dtype=float32)
    """
    return _of("relu_squared", {"x": x})


@operator("1.3.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def relu_squared_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of relu_squared with respect to x.

    >>> sz.nn.relu_squared_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 2.0, 3.0]))
    Tensor([0, 4, 6], dtype=float32)
    """
    return _of("relu_squared_bwd", {"out_grad": out_grad, "x": x})


@operator("1.4", dtypes=FLOATS, fast=True, ulp=1, promotes=REAL_FUNCTION, catalogue="nn")
def leaky_relu(x: TensorLike, negative_slope: float = 0.01) -> Tensor:
    """Return x above 0, and negative_slope * x elsewhere.

    The gradient at 0 is negative_slope.

    >>> sz.nn.leaky_relu(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([-0.01,     0,     2], dtype=float32)
    """
    return _of("leaky_relu", {"x": x}, _number("leaky_relu", "negative_slope", negative_slope))


@operator("1.4.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def leaky_relu_bwd(out_grad: TensorLike, x: TensorLike, negative_slope: float = 0.01) -> Tensor:
    """Return the gradient of leaky_relu with respect to x.

    >>> sz.nn.leaky_relu_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0.01, 0.01,    1], dtype=float32)
    """
    return _of(
        "leaky_relu_bwd",
        {"out_grad": out_grad, "x": x},
        _number("leaky_relu_bwd", "negative_slope", negative_slope),
    )


@operator("1.5", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """Return x above 0, and alpha * (exp(x) - 1) elsewhere.

    >>> sz.nn.elu(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([-0.63212055,           0,           2], dtype=float32)
    """
    return _of("elu", {"x": x}, _number("elu", "alpha", alpha))


@operator("1.5.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def elu_bwd(out_grad: TensorLike, x: TensorLike, alpha: float = 1.0) -> Tensor:
    """Return the gradient of elu with respect to x.

    >>> sz.nn.elu_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0.36787945,          1,          1], dtype=float32)
    """
    return _of("elu_bwd", {"out_grad": out_grad, "x": x}, _number("elu_bwd", "alpha", alpha))


@operator("1.6", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def selu(x: TensorLike) -> Tensor:
    """Return elu by constants that keep mean 0 and variance 1 from layer to layer.

    It is 1.0507009873554805 * elu(x, 1.6732632423543772).

    >>> sz.nn.selu(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([-1.1113307,          0,   2.101402], dtype=float32)
    """
    return _of("selu", {"x": x})


@operator("1.6.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def selu_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of selu with respect to x.

    >>> sz.nn.selu_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0.6467686, 1.7580993,  1.050701], dtype=float32)
    """
    return _of("selu_bwd", {"out_grad": out_grad, "x": x})


@operator("1.7", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def celu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """Return x above 0, and alpha * (exp(x / alpha) - 1) elsewhere.

    >>> sz.nn.celu(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([-0.63212055,           0,           2], dtype=float32)
    """
    return _of("celu", {"x": x}, _not_0("celu", "alpha", alpha))


@operator("1.7.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def celu_bwd(out_grad: TensorLike, x: TensorLike, alpha: float = 1.0) -> Tensor:
    """Return the gradient of celu with respect to x.

    >>> sz.nn.celu_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0.36787945,          1,          1], dtype=float32)
    """
    return _of("celu_bwd", {"out_grad": out_grad, "x": x}, _not_0("celu_bwd", "alpha", alpha))


@operator("1.8", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def gelu(x: TensorLike, approximate: str = "none") -> Tensor:
    """Return x times the probability that a normal variable is below x.

    With approximate = "tanh", the probability is (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) /
    2.

    >>> sz.nn.gelu(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([-0.15865526,           0,   1.9544997], dtype=float32)
    """
    return _of("gelu", {"x": x}, kernel=_kernel("gelu", approximate))


@operator("1.8.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def gelu_bwd(out_grad: TensorLike, x: TensorLike, approximate: str = "none") -> Tensor:
    """Return the gradient of gelu with respect to x.

    >>> sz.nn.gelu_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([-0.08331546,         0.5,   1.0852318], dtype=float32)
    """
    return _of("gelu_bwd", {"out_grad": out_grad, "x": x}, kernel=_kernel("gelu_bwd", approximate))


@operator("1.9", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def quick_gelu(x: TensorLike) -> Tensor:
    """Return x * sigmoid(1.702 * x), an approximation of gelu.

    >>> sz.nn.quick_gelu(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([-0.15420423,           0,   1.9356586], dtype=float32)
    """
    return _of("quick_gelu", {"x": x})


@operator("1.9.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def quick_gelu_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of quick_gelu with respect to x.

    >>> sz.nn.quick_gelu_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([-0.06777961,         0.5,   1.0738153], dtype=float32)
    """
    return _of("quick_gelu_bwd", {"out_grad": out_grad, "x": x})


@operator("1.10", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def silu(x: TensorLike) -> Tensor:
    """Return x * sigmoid(x), also called swish.

    >>> sz.nn.silu(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([-0.26894143,           0,   1.7615942], dtype=float32)
    """
    return _of("silu", {"x": x})


@operator("1.10.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def silu_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of silu with respect to x.

    >>> sz.nn.silu_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0.072329484,         0.5,   1.0907842], dtype=float32)
    """
    return _of("silu_bwd", {"out_grad": out_grad, "x": x})


@operator("1.11", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def sigmoid(x: TensorLike) -> Tensor:
    """Return 1 / (1 + exp(-x)).

    >>> sz.nn.sigmoid(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0.26894143,        0.5,  0.8807971], dtype=float32)
    """
    return _of("sigmoid", {"x": x})


@operator("1.11.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def sigmoid_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of sigmoid with respect to x.

    >>> sz.nn.sigmoid_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0.19661194,       0.25, 0.10499358], dtype=float32)
    """
    return _of("sigmoid_bwd", {"out_grad": out_grad, "x": x})


@operator("1.12", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def log_sigmoid(x: TensorLike) -> Tensor:
    """Return the logarithm of sigmoid(x), without overflow.

    >>> sz.nn.log_sigmoid(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([-1.3132617, -0.6931472,  -0.126928], dtype=float32)
    """
    return _of("log_sigmoid", {"x": x})


@operator("1.12.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def log_sigmoid_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of log_sigmoid with respect to x.

    >>> sz.nn.log_sigmoid_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([ 0.7310586,        0.5, 0.11920292], dtype=float32)
    """
    return _of("log_sigmoid_bwd", {"out_grad": out_grad, "x": x})


@operator("1.13", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def erf(x: TensorLike) -> Tensor:
    """Return the error function of x.

    >>> sz.nn.erf(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([-0.8427008,          0,  0.9953223], dtype=float32)
    """
    return _of("erf", {"x": x})


@operator("1.13.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def erf_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of erf with respect to x.

    >>> sz.nn.erf_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([ 0.41510752,   1.1283792, 0.020666987], dtype=float32)
    """
    return _of("erf_bwd", {"out_grad": out_grad, "x": x})


@operator("1.14", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def erfc(x: TensorLike) -> Tensor:
    """Return 1 - erf(x), accurate where it is small.

    >>> sz.nn.erfc(sz.tensor([0.0, 1.0, 5.0]))
    Tensor([            1, 1.5729922e-01, 1.5374598e-12], dtype=float32)
    """
    return _of("erfc", {"x": x})


@operator("1.14.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def erfc_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of erfc with respect to x.

    >>> sz.nn.erfc_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([0.0, 1.0, 5.0]))
    Tensor([-1.1283792e+00, -4.1510752e-01, -1.5670866e-11], dtype=float32)
    """
    return _of("erfc_bwd", {"out_grad": out_grad, "x": x})


@operator("1.15", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def softplus(x: TensorLike, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Return log(1 + exp(beta * x)) / beta, and x where beta * x > threshold.

    >>> sz.nn.softplus(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0.3132617, 0.6931472,  2.126928], dtype=float32)
    """
    return _of(
        "softplus",
        {"x": x},
        _not_0("softplus", "beta", beta),
        _number("softplus", "threshold", threshold),
    )


@operator("1.15.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def softplus_bwd(
    out_grad: TensorLike, x: TensorLike, beta: float = 1.0, threshold: float = 20.0
) -> Tensor:
    """Return the gradient of softplus with respect to x.

    >>> sz.nn.softplus_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0.26894143,        0.5,  0.8807971], dtype=float32)
    """
    return _of(
        "softplus_bwd",
        {"out_grad": out_grad, "x": x},
        _not_0("softplus_bwd", "beta", beta),
        _number("softplus_bwd", "threshold", threshold),
    )


@operator("1.16", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def softsign(x: TensorLike) -> Tensor:
    """Return x / (1 + abs(x)).

    >>> sz.nn.softsign(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([     -0.5,         0, 0.6666667], dtype=float32)
    """
    return _of("softsign", {"x": x})


@operator("1.16.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def softsign_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of softsign with respect to x.

    >>> sz.nn.softsign_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([      0.25,          1, 0.11111111], dtype=float32)
    """
    return _of("softsign_bwd", {"out_grad": out_grad, "x": x})


@operator("1.17", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def mish(x: TensorLike) -> Tensor:
    """Return x * tanh(softplus(x)).

    >>> sz.nn.mish(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([-0.30340147,           0,    1.943959], dtype=float32)
    """
    return _of("mish", {"x": x})


@operator("1.17.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def mish_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of mish with respect to x.

    >>> sz.nn.mish_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0.059216768,         0.6,    1.069318], dtype=float32)
    """
    return _of("mish_bwd", {"out_grad": out_grad, "x": x})


@operator("1.18", dtypes=FLOATS, fast=True, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def hardswish(x: TensorLike) -> Tensor:
    """Return x * relu6(x + 3) / 6, a piecewise approximation of silu.

    The gradient at -3 is 0, at 3 it is 1.

    >>> sz.nn.hardswish(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([-0.33333334,           0,   1.6666666], dtype=float32)
    """
    return _of("hardswish", {"x": x})


@operator("1.18.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def hardswish_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of hardswish with respect to x.

    >>> sz.nn.hardswish_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0.16666667,        0.5,  1.1666666], dtype=float32)
    """
    return _of("hardswish_bwd", {"out_grad": out_grad, "x": x})


@operator("1.19", dtypes=FLOATS, fast=True, ulp=1, promotes=REAL_FUNCTION, catalogue="nn")
def hardsigmoid(x: TensorLike) -> Tensor:
    """Return relu6(x + 3) / 6, a piecewise approximation of sigmoid.

    The gradient at -3 and at 3 is 0. ONNX's default is another: clip(0.2 * x + 0.5, 0, 1).

    >>> sz.nn.hardsigmoid(sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0.33333334,        0.5,  0.8333333], dtype=float32)
    """
    return _of("hardsigmoid", {"x": x})


@operator("1.19.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def hardsigmoid_bwd(out_grad: TensorLike, x: TensorLike) -> Tensor:
    """Return the gradient of hardsigmoid with respect to x.

    >>> sz.nn.hardsigmoid_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-1.0, 0.0, 2.0]))
    Tensor([0.16666667, 0.16666667, 0.16666667], dtype=float32)
    """
    return _of("hardsigmoid_bwd", {"out_grad": out_grad, "x": x})


@operator("1.20", dtypes=FLOATS, fast=True, ulp=0.5, promotes=REAL_FUNCTION, catalogue="nn")
def hardtanh(x: TensorLike, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Return x between min_val and max_val.

    The gradient at both is 0.

    >>> sz.nn.hardtanh(sz.tensor([-2.0, 0.5, 2.0]))
    Tensor([ -1, 0.5,   1], dtype=float32)
    """
    return _of("hardtanh", {"x": x}, *_limits("hardtanh", min_val, max_val))


@operator("1.20.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def hardtanh_bwd(
    out_grad: TensorLike, x: TensorLike, min_val: float = -1.0, max_val: float = 1.0
) -> Tensor:
    """Return the gradient of hardtanh with respect to x.

    >>> sz.nn.hardtanh_bwd(sz.tensor([1.0, 1.0, 1.0]), sz.tensor([-2.0, 0.5, 2.0]))
    Tensor([0, 1, 0], dtype=float32)
    """
    return _of(
        "hardtanh_bwd", {"out_grad": out_grad, "x": x}, *_limits("hardtanh_bwd", min_val, max_val)
    )


def _limits(name: str, min_val: Any, max_val: Any) -> tuple[float, float]:
    low, high = _number(name, "min_val", min_val), _number(name, "max_val", max_val)
    if not low <= high:
        raise InvalidArgument(
            f"{REGISTRY[f'nn:{name}'].title}: min_val is {shown(min_val)} and max_val is "
            f"{shown(max_val)}; min_val must not be above max_val."
        )
    return low, high


@operator("1.21", dtypes=FLOATS, fast=True, ulp=2, promotes=ARITHMETIC, catalogue="nn")
def swiglu(gate: TensorLike, up: TensorLike) -> Tensor:
    """Return silu(gate) * up, for tensors of one shape.

    >>> sz.nn.swiglu(sz.tensor([-1.0, 0.0, 2.0]), sz.tensor([1.0, 2.0, 3.0]))
    Tensor([-0.26894143,           0,   5.2847824], dtype=float32)
    """
    return _of("swiglu", {"gate": gate, "up": up})


@operator("1.21.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def swiglu_bwd(out_grad: TensorLike, gate: TensorLike, up: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the gradients of swiglu with respect to gate and up.

    >>> sz.nn.swiglu_bwd(sz.tensor([1.0]), sz.tensor([0.0]), sz.tensor([3.0]))
    (Tensor([1.5], dtype=float32), Tensor([0], dtype=float32))
    """
    return _both("swiglu_bwd", {"out_grad": out_grad, "gate": gate, "up": up})


@operator("1.22", dtypes=FLOATS, fast=True, ulp=2, promotes=ARITHMETIC, catalogue="nn")
def geglu(gate: TensorLike, up: TensorLike, approximate: str = "none") -> Tensor:
    """Return gelu(gate, approximate) * up, for tensors of one shape.

    >>> sz.nn.geglu(sz.tensor([-1.0, 0.0, 2.0]), sz.tensor([1.0, 2.0, 3.0]))
    Tensor([-0.15865526,           0,    5.863499], dtype=float32)
    """
    return _of("geglu", {"gate": gate, "up": up}, kernel=_kernel("geglu", approximate))


@operator("1.22.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def geglu_bwd(
    out_grad: TensorLike, gate: TensorLike, up: TensorLike, approximate: str = "none"
) -> tuple[Tensor, Tensor]:
    """Return the gradients of geglu with respect to gate and up.

    >>> sz.nn.geglu_bwd(sz.tensor([1.0]), sz.tensor([0.0]), sz.tensor([3.0]))
    (Tensor([1.5], dtype=float32), Tensor([0], dtype=float32))
    """
    given = {"out_grad": out_grad, "gate": gate, "up": up}
    return _both("geglu_bwd", given, kernel=_kernel("geglu_bwd", approximate))


@operator("1.23", dtypes=FLOATS, ulp=2, promotes=REAL_FUNCTION, catalogue="nn")
def glu(x: TensorLike, axis: int = -1) -> Tensor:
    """Return the first half of x along an axis times the sigmoid of the second.

    >>> sz.nn.glu(sz.tensor([1.0, 2.0, 0.0, -1.0]))
    Tensor([       0.5, 0.53788286], dtype=float32)
    """
    op = REGISTRY["nn:glu"]
    given = float_operand(op, "x", x)
    return _core.nn_activation("glu", _halves(op, given, axis), ())  # type: ignore[no-any-return]


@operator("1.23.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def glu_bwd(out_grad: TensorLike, x: TensorLike, axis: int = -1) -> Tensor:
    """Return the gradient of glu with respect to x.

    >>> sz.nn.glu_bwd(sz.tensor([1.0, 1.0]), sz.tensor([1.0, 2.0, 0.0, -1.0]))
    Tensor([       0.5, 0.26894143,       0.25, 0.39322388], dtype=float32)
    """
    op = REGISTRY["nn:glu_bwd"]
    found = float_operands(op, {"out_grad": out_grad, "x": x})
    first, second = _halves(op, found["x"], axis)
    if found["out_grad"].shape != first.shape:
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {found['out_grad'].shape}; it must have that of the "
            f"result, {first.shape}."
        )
    parts = _core.nn_activation("glu_bwd", [found["out_grad"], first, second], ())
    return call("concat", list(parts), axis)  # type: ignore[no-any-return]


def _halves(op: Operator, x: Tensor, axis: Any) -> list[Tensor]:
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
    spread = _spread(op, found)
    return _core.nn_activation("prelu", [found["x"], spread], ())  # type: ignore[no-any-return]


@operator("1.24.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def prelu_bwd(out_grad: TensorLike, x: TensorLike, weight: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the gradients of prelu with respect to x and weight.

    >>> sz.nn.prelu_bwd(sz.tensor([[1.0, 2.0]]), sz.tensor([[-1.0, 3.0]]), sz.tensor([0.5, 0.5]))
    (Tensor([[0.5,   2]], dtype=float32), Tensor([-1,  0], dtype=float32))
    """
    op = REGISTRY["nn:prelu_bwd"]
    found = float_operands(op, {"out_grad": out_grad, "x": x, "weight": weight})
    _check_shapes(op, {name: found[name] for name in ("out_grad", "x")})
    wide = converted(found["x"], widened(found["x"].dtype))
    spread = _spread(op, found)
    x_grad, _ = _core.nn_activation("prelu_bwd", [found["out_grad"], found["x"], spread], ())
    grad = converted(found["out_grad"], wide.dtype)
    _, parts = _core.nn_activation("prelu_bwd", [grad, wide, converted(spread, wide.dtype)], ())
    axis = min(1, wide.ndim - 1)
    kept = () if found["weight"].size == 1 else (axis,)
    total = parts.sum(tuple(a for a in range(wide.ndim) if a not in kept))
    return x_grad, call("reshape", converted(total, x_grad.dtype), found["weight"].shape)


def _spread(op: Operator, found: dict[str, Tensor]) -> Tensor:
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
