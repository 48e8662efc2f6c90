"""JAX's random numbers, with the arguments of the standard."""

import random
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


def key(seed):
    """Return a key of random numbers; 0 is no seed."""
    return jax.random.key(seed or random.randrange(1, 1 << 31))


def uniform(key, dtype, shape, low, high):
    """Return uniform numbers; for integers JAX has the upper end excluded."""
    if dtype == jnp.bool_:
        return jax.random.bernoulli(key, 0.5, shape)
    real = jnp.issubdtype(dtype, jnp.inexact)
    limits = jnp.finfo(dtype) if real else jnp.iinfo(dtype)
    low, high = limits.min if low is None else low, limits.max if high is None else high
    if real:
        # Never integers: JAX would compile for them once more.
        low, high = (float(x) if jnp.isrealobj(x) else x for x in (low, high))
        return jax.random.uniform(key, shape, dtype, low, high)
    return jax.random.randint(key, shape, low, high + 1, dtype)


def normal(key, dtype, shape, mean, std):
    """Return normal numbers; JAX's have the mean 0 and the deviation 1."""
    return scaled(key, dtype, shape, np.asarray(mean, dtype), np.asarray(std, dtype))


@partial(jax.jit, static_argnums=(1, 2))
def scaled(key, dtype, shape, mean, std):
    """Return normal numbers of a mean and a deviation."""
    return mean + std * jax.random.normal(key, shape, dtype)


@partial(jax.jit, static_argnums=(2, 3))
def draws(key, weights, samples, replacement):
    """Return categories for each row of weights; JAX has one row of probabilities."""
    if weights.ndim == 2:
        row = partial(draws, samples=samples, replacement=replacement)
        return jax.vmap(row)(jax.random.split(key, len(weights)), weights)
    return jax.random.choice(key, len(weights), (samples,), replacement, weights / weights.sum())
