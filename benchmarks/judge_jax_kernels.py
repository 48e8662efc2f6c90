"""JAX's own operators by the names of suanzi's, for `judge_frameworks.py`; JAX's Python runs it.

Parameters of the same meaning have suanzi's names. Nothing is computed here that JAX does not.
"""

# ruff: noqa: D103 - the names say it
import jax
import jax.numpy as jnp
from jax import lax, nn
from jax.scipy.special import logsumexp as _logsumexp

# ---- jax.nn --------------------------------------------------------------------------------------


def relu(x):
    return nn.relu(x)


def relu6(x):
    return nn.relu6(x)


def leaky_relu(x, negative_slope=0.01):
    return nn.leaky_relu(x, negative_slope)


def elu(x, alpha=1.0):
    return nn.elu(x, alpha)


def selu(x):
    return nn.selu(x)


def celu(x, alpha=1.0):
    return nn.celu(x, alpha)


def gelu(x, approximate="none"):
    return nn.gelu(x, approximate=approximate == "tanh")


def silu(x):
    return nn.silu(x)


def sigmoid(x):
    return nn.sigmoid(x)


def log_sigmoid(x):
    return nn.log_sigmoid(x)


def softplus(x):
    return nn.softplus(x)


def softsign(x):
    return nn.soft_sign(x)


def mish(x):
    return nn.mish(x)


def hardswish(x):
    return nn.hard_swish(x)


def hardsigmoid(x):
    return nn.hard_sigmoid(x)


def hardtanh(x):
    return nn.hard_tanh(x)


def glu(x, axis=-1):
    return nn.glu(x, axis)


def softmax(x, axis=-1):
    return nn.softmax(x, axis)


def log_softmax(x, axis=-1):
    return nn.log_softmax(x, axis)


def logsumexp(x, axis=-1, keep_dims=False):
    return _logsumexp(x, axis, keepdims=keep_dims)


def scaled_dot_product_attention(q, k, v, causal=False):
    heads = [jnp.swapaxes(x, -3, -2) for x in (q, k, v)]
    return jnp.swapaxes(nn.dot_product_attention(*heads, is_causal=causal), -3, -2)


# ---- jax.lax -------------------------------------------------------------------------------------


def erf(x):
    return lax.erf(x)


def erfc(x):
    return lax.erfc(x)


def rsqrt(x):
    return lax.rsqrt(x)


def _pair(value, count):
    return [value] * count if isinstance(value, int) else list(value)


def _conv(x, weight, bias, stride, padding, dilation, groups):
    n = x.ndim - 2
    sides = padding.upper() if isinstance(padding, str) else [(p, p) for p in _pair(padding, n)]
    made = lax.conv_general_dilated(
        x, weight, _pair(stride, n), sides, None, _pair(dilation, n), feature_group_count=groups
    )
    return made if bias is None else made + bias.reshape(-1, *[1] * n)


def conv1d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _conv(x, weight, bias, stride, padding, dilation, groups)


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _conv(x, weight, bias, stride, padding, dilation, groups)


def conv3d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _conv(x, weight, bias, stride, padding, dilation, groups)


def _max_pool(n, x, size, stride, padding, dilation):
    lead = x.ndim - n

    def line(value, one=1):
        return (one,) * lead + tuple(_pair(value, n))

    sides = [(p, p) for p in line(padding, 0)]
    steps = line(size if stride is None else stride)
    least = jnp.array(-jnp.inf, x.dtype)
    return lax.reduce_window(
        x, least, lax.max, line(size), steps, sides, window_dilation=line(dilation)
    )


def max_pool1d(x, kernel_size, stride=None, padding=0, dilation=1):
    return _max_pool(1, x, kernel_size, stride, padding, dilation)


def max_pool2d(x, kernel_size, stride=None, padding=0, dilation=1):
    return _max_pool(2, x, kernel_size, stride, padding, dilation)


# ---- jax.numpy: model operators ------------------------------------------------------------------


def linear(x, weight, bias=None):
    made = jnp.matmul(x, weight.T)
    return made if bias is None else made + bias


def embedding(weight, indices):
    return jnp.take(weight, indices, axis=0)


# ---- jax.numpy: the standard ---------------------------------------------------------------------


def _named(name, of):
    def one(x):
        return of(x)

    one.__name__ = one.__qualname__ = name
    globals()[name] = one


def _of_two(name, of):
    def two(x, y):
        return of(x, y)

    two.__name__ = two.__qualname__ = name
    globals()[name] = two


for _n, _f in {
    "abs": jnp.abs, "reciprocal": jnp.reciprocal, "square": jnp.square, "sqrt": jnp.sqrt,
    "floor": jnp.floor, "ceil": jnp.ceil, "trunc": jnp.trunc, "round": jnp.round, "sin": jnp.sin,
    "cos": jnp.cos, "tan": jnp.tan, "asin": jnp.arcsin, "acos": jnp.arccos, "atan": jnp.arctan,
    "sinh": jnp.sinh, "cosh": jnp.cosh, "tanh": jnp.tanh, "asinh": jnp.arcsinh,
    "acosh": jnp.arccosh, "atanh": jnp.arctanh, "exp": jnp.exp, "expm1": jnp.expm1,
    "log": jnp.log, "log1p": jnp.log1p, "log10": jnp.log10, "log2": jnp.log2,
    "logical_not": jnp.logical_not, "sign": jnp.sign, "is_nan": jnp.isnan, "is_inf": jnp.isinf,
    "is_finite": jnp.isfinite,
}.items():  # fmt: skip
    _named(_n, _f)
for _n, _f in {
    "add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "div": jnp.divide,
    "true_divide": jnp.true_divide, "floordiv": jnp.floor_divide, "mod": jnp.mod,
    "pow": jnp.power, "max": jnp.maximum, "min": jnp.minimum, "equal": jnp.equal,
    "not_equal": jnp.not_equal, "greater": jnp.greater, "greater_equal": jnp.greater_equal,
    "less": jnp.less, "less_equal": jnp.less_equal, "logical_and": jnp.logical_and,
    "logical_or": jnp.logical_or, "logical_xor": jnp.logical_xor, "matmul": jnp.matmul,
    "dot": jnp.dot,
}.items():  # fmt: skip
    _of_two(_n, _f)


def clip(input, low=None, high=None):
    return jnp.clip(input, low, high)


def where(condition, x, y):
    return jnp.where(condition, x, y)


_MODES = {"SUM": jnp.sum, "PROD": jnp.prod, "MAX": jnp.max, "MIN": jnp.min, "MEAN": jnp.mean}


def reduce(input, mode="SUM", axis=None, keep_dims=False):
    return _MODES[mode](input, axis=axis, keepdims=keep_dims)


def cumsum(input, axis=-1):
    return jnp.cumsum(input, None if axis == -1 else axis)


def argmax(input, axis=-1):
    return jnp.argmax(input, axis)


def argmin(input, axis=-1):
    return jnp.argmin(input, axis)


def trace(x):
    return jnp.trace(x)


def norm(input, normtype="inf", axis=()):
    order = {"inf": jnp.inf, "1": 1, "2": 2}[str(normtype)]
    flat = input if axis != () else input.reshape(-1)
    return jnp.linalg.norm(flat, order, axis if axis != () else None)


def flip(input, axis):
    return jnp.flip(input, axis)


def transpose(input):
    return jnp.transpose(input)


def roll(input, shifts, axis=()):
    return jnp.roll(input, shifts, axis)


def tile(input, repeats):
    return jnp.tile(input, repeats)


assert jax
