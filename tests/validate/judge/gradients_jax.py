"""Kernels of JAX with gradients, right and wrong; JAX's Python runs it."""

import jax
import jax.numpy as jnp


def softmax(x):
    wide = jnp.exp(x - jax.lax.stop_gradient(x.max(-1, keepdims=True)))
    return wide / wide.sum(-1, keepdims=True)


def detached(x):
    return softmax(jax.lax.stop_gradient(x))


@jax.custom_vjp
def by_hand(x):
    return softmax(x)


def _forward(x):
    y = softmax(x)
    return y, y


def _backward(y, g):
    return (y * g,)


by_hand.defvjp(_forward, _backward)
