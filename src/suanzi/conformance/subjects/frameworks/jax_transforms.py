"""JAX's Fourier transforms and linear algebra, with the arguments of the standard."""

import jax.numpy as jnp
from frameworks.common import axes, norm_name


def c2c(x, axes, norm, forward):
    """Return a complex Fourier transform."""
    return (jnp.fft.fftn if forward else jnp.fft.ifftn)(x, axes=axes, norm=norm)


def r2c(x, axes, normalization, forward, onesided):
    """Return a Fourier transform of real numbers; JAX's are forward."""
    transform = jnp.fft.rfftn if onesided else jnp.fft.fftn
    found = transform(x, axes=axes, norm=norm_name(normalization, True))
    return found if forward else jnp.conj(found)


def c2r(x, axes, normalization, forward, size):
    """Return a Fourier transform to real numbers; JAX's are backward."""
    sizes = [x.shape[a] for a in axes[:-1]] + [size]
    x = jnp.conj(x) if forward else x
    return jnp.fft.irfftn(x, sizes, axes, norm_name(normalization, False))


def half(grad, axis):
    """Return zeros as the input of a transform to real numbers has them."""
    shape = list(grad.shape)
    shape[axis] = shape[axis] // 2 + 1
    return jnp.zeros(shape, jnp.result_type(grad.dtype, jnp.complex64))


def adjoint_of(x):
    """Return the conjugate transpose of matrices."""
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def svd(x, reduced):
    """Return U, S as a matrix, and V, which JAX has as a row of numbers and as V^H."""
    u, s, vh = jnp.linalg.svd(x, full_matrices=not reduced)
    sigma = jnp.zeros((*x.shape[:-2], u.shape[-1], vh.shape[-2]), s.dtype)
    along = jnp.arange(s.shape[-1])
    return u, sigma.at[..., along, along].set(s), adjoint_of(vh)


def norm(x, order, axis, keep):
    """Return a norm: of two axes, one of matrices."""
    if axis and len(axis) > 1:
        return jnp.linalg.norm(x, order, tuple(axis), keep)
    return jnp.linalg.vector_norm(x, ord=order, axis=axes(axis), keepdims=keep)


def linear(x, weight, bias):
    """Return a linear map; JAX itself has no layers."""
    found = jnp.matmul(x, weight.T)
    return found if bias is None else found + bias


def bilinear(x, y, weight, bias):
    """Return a bilinear map; JAX itself has no layers."""
    found = jnp.einsum("...i,oij,...j->...o", x, weight, y)
    return found if bias is None else found + bias
