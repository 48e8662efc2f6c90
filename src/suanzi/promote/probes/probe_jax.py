"""Asks JAX, with and without 64-bit types; the default is without."""

import warnings

from common import asked, device, emit, fail_if_missing, fail_without

fail_if_missing("jax")

import jax  # noqa: E402

if device():
    kind, _, number = device().partition(":")
    try:
        jax.config.update("jax_platforms", kind)
        jax.config.update("jax_default_device", jax.devices()[int(number or 0)])
    except Exception as error:
        fail_without("JAX", jax.__version__, error)
else:
    jax.config.update("jax_platforms", "cpu")

import jax.numpy as jnp  # noqa: E402

DTYPES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 bfloat16 float16 float32 float64 "
    "complex64 complex128"
).split()

warnings.simplefilter("ignore")  # that int64 is made as int32


def ask(rules, x64):
    jax.config.update("jax_enable_x64", x64)
    return asked(
        DTYPES,
        lambda name, ndim: jnp.ones((2,) * ndim, name),
        OPS,
        lambda result: result.dtype.name,
        rules=rules,
    )


def convolution(axes, transposed=False):
    more = [1] * axes
    convolve = jax.lax.conv_transpose if transposed else jax.lax.conv_general_dilated
    # The weights of conv_transpose are (space, in, out), those of the other (out, in, space).
    shape = [*more, 2, 1] if transposed else [1, 2, *more]
    given = [1, *more, 2] if transposed else [1, 2, *more]
    return lambda x, y: convolve(x.reshape(given), y.reshape(shape), more, "VALID")


# What a program says in their place; operands are vectors of two ones.
OF_MODELS = {
    "matmul": lambda x, y: jnp.matmul(x[None], y[:, None]),
    "dot": jnp.dot,
    "linear": lambda x, y: jnp.matmul(x[None], y[:, None]),
    "stack": lambda x, y: jnp.stack([x, y]),
    "where": lambda x, y: jnp.where(jnp.array([True, False]), x, y),
    **{"conv{}d".format(n): convolution(n) for n in (1, 2, 3)},
    **{"conv_transpose{}d".format(n): convolution(n, True) for n in (1, 2, 3)},
    "scaled_dot_product_attention": lambda x, y: jax.nn.dot_product_attention(
        *(z.reshape(1, 1, 1, 2) for z in (x, y, y))
    ),
    "addmm": lambda x, y: x[None, :1] + y[None] @ y[:, None],
    "baddbmm": lambda x, y: x[None, None, :1] + y[None, None] @ y[None, :, None],
    "scatter": lambda x, y: x.at[jnp.array([0, 1])].set(y),
    "scatter_add": lambda x, y: x.at[jnp.array([0, 1])].add(y),
    "index_add": lambda x, y: x.at[jnp.array([0, 1])].add(y),
    "index_copy": lambda x, y: x.at[jnp.array([0, 1])].set(y),
    "index_put": lambda x, y: x.at[jnp.array([0, 1])].set(y),
}

OPS = {
    None: lambda x, y: jnp.empty(0, jnp.result_type(x, y)),
    "true_divide": lambda x, y: jax.eval_shape(jnp.true_divide, x, y),
    "equal": lambda x, y: jax.eval_shape(jnp.equal, x, y),
    "bitwise_and": lambda x, y: jax.eval_shape(jnp.bitwise_and, x, y),
    "logical_and": lambda x, y: jax.eval_shape(jnp.logical_and, x, y),
    "max": lambda x, y: jax.eval_shape(jnp.maximum, x, y),
    "floordiv": lambda x, y: jax.eval_shape(jnp.floor_divide, x, y),
    "concat": lambda x, y: jax.eval_shape(lambda a, b: jnp.concatenate([a, b]), x, y),
    "sqrt": lambda x: jax.eval_shape(jnp.sqrt, x),
    **{
        op: lambda x, y, function=function: jax.eval_shape(function, x, y)
        for op, function in OF_MODELS.items()
    },
    "three": lambda *operands: jnp.empty(0, jnp.result_type(*operands)),
}

emit("jax", jax.__version__, ask("jax", True) + ask("jax_x32", False))
