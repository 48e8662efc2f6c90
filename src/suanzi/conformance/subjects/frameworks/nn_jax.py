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
    "rotary_embedding": ("x", "rotated(x, cos, sin, interleaved)"),
    "embedding": ("weight", "rows(weight, indices, padding_idx)"),
    "scaled_dot_product_attention": (
        "q k v", "attention(q, k, v, mask, causal, scale, softcap, window, sink, masked_rows, "
        "align)"),
}  # fmt: skip
"""What a function is called with, and the operands whose gradients its backward operator gives."""

MAPPING = model_table(FUNCTIONS)
MAPPING["nn:one_hot"] = "one_hot(indices, num_classes, dtype)"
_ABSENT = """
prelu layer_norm rms_norm group_norm instance_norm batch_norm normalize cosine_similarity dropout
conv_transpose1d conv_transpose2d conv_transpose3d max_pool1d max_pool2d max_pool3d avg_pool1d
avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d unfold fold pixel_shuffle
pixel_unshuffle cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss kl_div bce
bce_with_logits ctc_loss grid_sample gumbel_softmax
"""
MISSING = {
    f"nn:{name}{end}": "JAX has no such layer or loss; Flax and Optax have"
    for name in _ABSENT.split()
    for end in ("", "_bwd")
}
"""What JAX itself does not have."""


def gradients(function, grad, *operands):
    """Return the gradients of a function of operands; of those that are there."""
    where = [i for i, x in enumerate(operands) if x is not None]

    def of_some(*some):
        given = list(operands)
        for i, x in zip(where, some):
            given[i] = x
        return function(*given)

    found = jax.vjp(of_some, *(operands[i] for i in where))[1](grad)
    if any(x.dtype == jax.dtypes.float0 for x in found):
        raise Unsupported("JAX has no gradients of integers")
    return found[0] if len(found) == 1 else tuple(found)


def softplus(x, beta, threshold):
    """Return log(1 + exp(beta x)) / beta; JAX has it for a beta of one."""
    if beta != 1:
        raise Unsupported("JAX's softplus has no beta")
    return jax.nn.softplus(x)


def rows(weight, indices, padding_idx):
    """Return rows of a table; JAX has no row without a gradient."""
    if padding_idx is not None:
        raise Unsupported("JAX's take has no padding_idx")
    return jnp.take(weight, indices, 0)


def one_hot(indices, num_classes, dtype):
    """Return indices as rows of zeros and a one; JAX takes the number of classes."""
    if num_classes < 0:
        raise Unsupported("JAX's one_hot takes the number of classes")
    return jax.nn.one_hot(indices, num_classes, dtype=dtype)


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


def rotated(x, cos, sin, interleaved):
    """Return a rotary embedding as model files write it."""
    pairs = cos.shape[-1]
    part, rest = x[..., : 2 * pairs], x[..., 2 * pairs :]
    a, b = (part[..., ::2], part[..., 1::2]) if interleaved else jnp.split(part, 2, -1)
    both = a * cos - b * sin, b * cos + a * sin
    if interleaved:
        found = jnp.stack(both, -1)
        found = found.reshape(*found.shape[:-2], -1)
    else:
        found = jnp.concatenate(both, -1)
    return jnp.concatenate([found, rest], -1)
