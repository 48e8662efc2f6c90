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
    "causal_conv1d": (
        "x weight bias initial_state",
        "causal(x, weight, bias, initial_state, activation, return_state)"),
    "embedding": ("weight", "rows(weight, indices, padding_idx)"),
    "moe_gating": ("logits", "gates(logits, k, scoring, renormalize)[0]"),
    "grouped_matmul": ("x weight", "jax.lax.ragged_dot(x, weight, group_sizes.astype('int32'))"),
    "scaled_dot_product_attention": (
        "q k v", "attention(q, k, v, mask, causal, scale, softcap, window, sink, masked_rows, "
        "align)"),
}  # fmt: skip
"""What a function is called with, and the operands whose gradients its backward operator gives."""

MAPPING = model_table(FUNCTIONS)
MAPPING["nn:one_hot"] = "one_hot(indices, num_classes, dtype)"
MAPPING["nn:moe_gating"] = "gates(logits, k, scoring, renormalize)"
MAPPING["nn:dynamic_quantize"] = "quantised(x, block_size, dtype)"
MAPPING["nn:scaled_linear"] = "scaled(x, weight, x_scale, weight_scale, bias, block_size, dtype)"
MAPPING["nn:moe_permutation"] = "permutation(indices, num_experts)"
MAPPING["nn:causal_conv1d_bwd"] = (
    "gradients(lambda x, weight, bias, initial_state: causal(x, weight, bias, initial_state, "
    "activation, final_state_grad is not None), out_grad if final_state_grad is None else "
    "(out_grad, final_state_grad), x, weight, bias, initial_state)"
)
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
MISSING |= {
    f"nn:gated_delta_rule{end}": "JAX has no gated delta rule; users write a scan"
    for end in ("", "_bwd")
}
MISSING["nn:adamw"] = "JAX has no optimizers; Optax has"
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


def gates(logits, k, scoring, renormalize):
    """Return the weights of the chosen experts and these, as routers of models compute them."""
    scores = jax.nn.softmax(logits, -1) if scoring == "softmax" else jax.nn.sigmoid(logits)
    weights, indices = jax.lax.top_k(scores, k)
    if renormalize:
        weights = weights / weights.sum(-1, keepdims=True)
    return weights, indices.astype("int64")


def permutation(indices, num_experts):
    """Return the order of tokens by expert and back, as users write it."""
    flat = indices.ravel().astype("int64")
    order = jnp.argsort(flat, stable=True)
    counts = jnp.bincount(flat, length=num_experts)
    return counts, order, jnp.argsort(order).reshape(indices.shape)


def spread_blocks(scale, block_size, shape):
    """Return the scale of each element, from those of rows or blocks."""
    if block_size is None:
        return jnp.broadcast_to(scale, shape)
    rows, columns = (1, *block_size)[-2:]
    if rows > 1:
        scale = jnp.repeat(scale, rows, -2)[..., : shape[-2], :]
    return jnp.broadcast_to(jnp.repeat(scale, columns, -1)[..., : shape[-1]], shape)


def quantised(x, block_size, dtype):
    """Return rows or blocks divided by their scales, as users write it."""
    limit = 127.0 if dtype == np.int8 else float(jnp.finfo(dtype).max)
    size = jnp.abs(x).astype("float32")
    if block_size is None:
        largest = jnp.max(size, -1, keepdims=True, initial=0.0)
    else:
        rows, columns = (1, *block_size)[-2:]
        around = [(0, 0)] * (x.ndim - 1) + [(0, -x.shape[-1] % columns)]
        if rows > 1:
            around[-2] = (0, -x.shape[-2] % rows)
        size = jnp.pad(size, around)
        count = size.shape[-1] // columns
        largest = jnp.max(size.reshape(*size.shape[:-1], count, columns), -1)
        if rows > 1:
            down = largest.shape[-2] // rows
            largest = jnp.max(largest.reshape(*largest.shape[:-2], down, rows, count), -2)
    scale = jnp.maximum(largest / limit, 2.0**-126)
    y = jnp.clip(x.astype("float32") / spread_blocks(scale, block_size, x.shape), -limit, limit)
    return (jnp.round(y) if dtype == np.int8 else y).astype(dtype), scale


def scaled(x, weight, x_scale, weight_scale, bias, block_size, dtype):
    """Return a linear layer of quantised numbers, as users write it."""
    if block_size is None:
        kind = "int32" if x.dtype == np.int8 else "float32"
        y = jnp.matmul(x, weight.T, preferred_element_type=kind).astype("float32")
        y = y * x_scale * jnp.broadcast_to(weight_scale, (weight.shape[0], 1))[:, 0]
    else:
        wide = x.astype("float32") * spread_blocks(x_scale, block_size[-1:], x.shape)
        matrix = weight.astype("float32") * spread_blocks(weight_scale, block_size, weight.shape)
        y = jnp.matmul(wide, matrix.T)
    return (y if bias is None else y + bias).astype(dtype)


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


def causal(x, weight, bias, initial_state, activation, return_state):
    """Return a causal convolution by channel as JAX's users write it, and its last columns."""
    past = jnp.zeros((*x.shape[:2], weight.shape[1] - 1), x.dtype)
    seen = jnp.concatenate([past if initial_state is None else initial_state, x], -1)
    y = convolved(seen, weight[:, None], bias, 1, 0, 1, x.shape[1])
    y = y if activation is None else jax.nn.silu(y)
    return (y, seen[..., x.shape[-1] :]) if return_state else y
