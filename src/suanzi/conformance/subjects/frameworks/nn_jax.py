"""The model operators in JAX: an expression each, with the operands that have gradients.

JAX has activations, softmaxes, convolutions and attention; layers and losses are other packages'.
"""

import jax
import jax.numpy as jnp
import numpy as np
from frameworks.common import model_table
from wire import Unsupported

_SAME = {
    "x": "relu relu6 selu silu sigmoid log_sigmoid mish hard_sigmoid",
    "x, negative_slope": "leaky_relu",
    "x, alpha": "elu celu",
    "x, axis": "glu softmax log_softmax",
}
"""Functions of jax.nn under the same name, by their arguments."""
_NAMES = {"hard_sigmoid": "hardsigmoid"}

FUNCTIONS = {
    **{_NAMES.get(name, name): ("x", f"jax.nn.{name}({given})")
       for given, names in _SAME.items() for name in names.split()},
    "relu_squared": ("x", "jnp.square(jax.nn.relu(x))"),
    "gelu": ("x", "jax.nn.gelu(x, approximate=approximate == 'tanh')"),
    "quick_gelu": ("x", "x * jax.nn.sigmoid(1.702 * x)"),
    "erf": ("x", "jax.lax.erf(x)"),
    "erfc": ("x", "jax.lax.erfc(x)"),
    "softplus": ("x", "softplus(x, beta, threshold)"),
    "softsign": ("x", "jax.nn.soft_sign(x)"),
    "hardswish": ("x", "jax.nn.hard_swish(x)"),
    "hardtanh": ("x", "jnp.clip(x, min_val, max_val)"),
    "swiglu": ("gate up", "jax.nn.silu(gate) * up"),
    "geglu": ("gate up", "jax.nn.gelu(gate, approximate=approximate == 'tanh') * up"),
    "logsumexp": ("x", "jax.nn.logsumexp(x, axis, keepdims=keep_dims)"),
    "linear": ("x weight bias", "affine(x, weight, bias)"),
    **{f"conv{n}d": ("x weight bias",
                     "convolved(x, weight, bias, stride, padding, dilation, groups)")
       for n in (1, 2, 3)},
    "scaled_dot_product_attention": (
        "q k v", "attention(q, k, v, mask, causal, scale, softcap, window, sink, masked_rows, "
        "align)"),
}  # fmt: skip
"""What a function is called with, and the operands whose gradients its backward operator gives."""

MAPPING = model_table(FUNCTIONS)
NO_LAYERS = "JAX has no such layer or loss; Flax and Optax have"


def gradients(function, grad, *operands):
    """Return the gradients of a function of operands; of those that are there."""
    where = [i for i, x in enumerate(operands) if x is not None]

    def of_some(*some):
        given = list(operands)
        for i, x in zip(where, some):
            given[i] = x
        return function(*given)

    found = jax.vjp(of_some, *(operands[i] for i in where))[1](grad)
    return found[0] if len(found) == 1 else tuple(found)


def softplus(x, beta, threshold):
    """Return log(1 + exp(beta x)) / beta; JAX has it for a beta of one."""
    if beta != 1:
        raise Unsupported("JAX's softplus has no beta")
    return jax.nn.softplus(x)


def affine(x, weight, bias):
    """Return a layer as JAX's users write it."""
    y = jnp.matmul(x, weight.T)
    return y if bias is None else y + bias


def convolved(x, weight, bias, stride, padding, dilation, groups):
    """Return a convolution; JAX takes a pair of paddings for each axis."""
    n = weight.ndim - 2

    def each(value):
        return [value] * n if isinstance(value, int) else list(value)

    batched = x if x.ndim == weight.ndim else x[None]
    around = padding.upper() if isinstance(padding, str) else [(p, p) for p in each(padding)]
    y = jax.lax.conv_general_dilated(
        batched, weight, each(stride), around, rhs_dilation=each(dilation),
        feature_group_count=groups,
    )  # fmt: skip
    if bias is not None:
        y = y + jnp.reshape(bias, (-1, *[1] * n))
    return y if x.ndim == weight.ndim else y[0]


def attention(q, k, v, mask, causal, scale, softcap, window, sink, masked_rows, align):
    """Return attention; JAX's has heads after positions, and neither soft caps nor sinks."""
    if softcap is not None or sink is not None or window is not None or align != "top_left":
        raise Unsupported("JAX's attention has no softcap, sink or other alignment")
    if q.ndim not in (3, 4):
        raise Unsupported("JAX's attention takes three or four axes")
    if v.shape[-1] != q.shape[-1]:
        raise Unsupported("JAX's attention takes values as wide as keys")
    if mask is not None and mask.ndim != 4:
        mask = jnp.broadcast_to(mask, (1,) * (4 - mask.ndim) + mask.shape)
    swapped = [jnp.swapaxes(x if x.ndim == 4 else x[:, None], -2, -3) for x in (q, k, v)]
    boolean = mask is not None and mask.dtype == np.bool_
    y = jax.nn.dot_product_attention(
        *swapped, bias=None if boolean else mask, mask=mask if boolean else None, scale=scale,
        is_causal=causal,
    )  # fmt: skip
    y = jnp.swapaxes(y, -2, -3)
    return y if q.ndim == 4 else y[:, 0]
