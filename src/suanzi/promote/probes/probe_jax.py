"""Asks JAX, with and without 64-bit types; the default is without."""

import warnings

from common import asked, emit, fail_if_missing

fail_if_missing("jax")

import jax  # noqa: E402

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
    "three": lambda *operands: jnp.empty(0, jnp.result_type(*operands)),
}

emit("jax", jax.__version__, ask("jax", True) + ask("jax_x32", False))
