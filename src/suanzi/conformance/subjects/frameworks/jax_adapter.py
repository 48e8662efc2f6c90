"""JAX as a subject."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # of a GPU that processes share

import jax
import jax.numpy as jnp
import numpy as np
from frameworks import nn_jax
from frameworks.common import GRADIENTS, Framework, count, kept_at, named, numpy_like
from frameworks.jax_lowering import Programs, share_contexts
from frameworks.jax_random import draws, key, normal, uniform
from frameworks.jax_transforms import adjoint_of, bilinear, c2c, c2r, half, linear, norm, r2c, svd
from frameworks.nn_jax import (
    affine,
    attention,
    causal,
    convolved,
    gates,
    gradients,
    one_hot,
    permutation,
    quantised,
    rotated,
    rows,
    scaled,
    softplus,
    spread_blocks,
)
from jax.experimental import sparse
from wire import Data, Unsupported

# Conventions are adapted by NumPy where JAX would compile a program for every shape and dtype of
# them; the call itself is JAX's.

jax.config.update("jax_enable_x64", True)
if not jax.config.jax_compilation_cache_dir:
    # Compiling takes nearly all of a run's time, so compiled programs are kept.
    jax.config.update("jax_compilation_cache_dir", kept_at(f"jax-{jax.__version__}"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)

MAPPING = {
    **numpy_like("jnp"),
    # 7.2.1 creation
    "create_tensor": "filled(values, dtype, shape, on(device))",
    "wrap_tensor": "filled(values, dtype, shape, on(device))",
    "zeros": "jnp.zeros(shape, dtype, device=on(device))",
    "full": "jnp.full(shape, value, dtype, device=on(device))",
    "empty": "jnp.empty(shape, dtype, device=on(device))",
    "rand_uniform": "uniform(key(seed), dtype, shape, min, max)",
    "rand_normal": "normal(key(seed), dtype, tuple(shape), mean, std)",
    "rand_bernoulli": "np.asarray(jax.random.bernoulli(key(seed), input)).astype(input.dtype)",
    "multinomial": "draws(key(seed), input, num_samples, replacement)",
    "randperm": "np.asarray(jax.random.permutation(key(seed), len)).astype(dtype)",
    "linspace": "jnp.linspace(start, stop, num, dtype=dtype, device=on(device))",
    "create_sparse_tensor": "sparse.BCOO((jnp.asarray(values, dtype), jnp.asarray(indices)), "
    "shape=tuple(shape))",
    # 7.2.3 transformation
    "split": "jnp.split(input, np.cumsum(split_sizes)[:-1] if split_sizes else nsplit, axis)",
    "slice_backward": "pulled_back(lambda x: x[boxes(begin, size, step)], input, grad_out)",
    "pad": "padded(input, np.reshape(np.array(pad_width, int), (-1, 2)), pad_value, pad_mode)",
    "roll": "jnp.roll(input, shifts if axis else shifts[0], axes(axis))",
    "clip_backward": "gradient(lambda x: jnp.clip(x, low, high), input, grad_out)",
    "scatter": "input.at[coordinates(index)].set(updates) if override "
    "else input.at[coordinates(index)].add(updates)",
    "masked_select": "selected(input, mask)",
    # 7.2.4 arithmetic
    "div": "quotient(x, y)",
    "trace_backward": "pulled_back(lambda x: jnp.trace(x, offset, dim0, dim1), "
    "zeros(input_shape, grad_y), grad_y)",
    # 7.2.5 comparison
    "allclose": "jnp.reshape(jnp.allclose(x, y, rtol, atol, equal_nan), (1,))",
    # 7.2.8 power
    "rsqrt": "jax.lax.rsqrt(x)",
    # 7.2.13 reduction
    "reduce_bwd": "gradient(lambda x: reduced(x, mode, axes(axis), keep_dims), input, out_grad)",
    "cumsum_bwd": "pulled_back(lambda x: jnp.cumsum(x, None if axis == -1 else axis), "
    "zeros(input_shape or out_grad.shape, out_grad), out_grad)",
    # 7.2.14 indexing
    "argmax": "jnp.argmax(input, axis, keepdims=keepdim).astype(dtype)",
    "argmin": "jnp.argmin(input, axis, keepdims=keepdim).astype(dtype)",
    "argsort_bwd": "pulled_back(lambda x: jnp.take_along_axis(x, indices, axis), "
    "zeros(out_grad.shape, out_grad), out_grad)",
    "topk": "top(input, k, axis, largest)",
    "nonzero": "places(input, as_tuple)",
    # 7.2.15 complex
    "complex": "jax.lax.complex(no_half(real), no_half(imag))",
    # 7.2.16 signal
    "fft_c2c_backward": "gradient(lambda x: c2c(x, last(axes), norm_name(normalization, forward), "
    "forward), zeros(grad_out.shape, grad_out), grad_out)",
    "fft_r2c_backward": "gradient(lambda x: r2c(x, last(axes), normalization, forward, "
    "grad_out.shape[last(axes)[-1]] != x.shape[last(axes)[-1]]), input, grad_out)",
    "fft_c2r_backward": "gradient(lambda x: c2r(x, last(axes), normalization, forward, "
    "grad_out.shape[last(axes)[-1]]), half(grad_out, last(axes)[-1]), grad_out)",
    # 7.2.17 linear algebra
    "dot_bwd1": "gradient(lambda x: jnp.dot(x, vec2), vec1, out_grad)",
    "dot_bwd2": "gradient(lambda x: jnp.dot(vec1, x), vec2, out_grad)",
    "lu": "tuple(jax.lax.linalg.lu(mat))[:2]",
    "cholesky": "jnp.linalg.cholesky(mat, upper={'U': True, 'L': False}[upper], "
    "symmetrize_input=False)",
    "linear": "linear(x, weight, bias)",
    "linear_bwd_in": "gradient(lambda x: linear(x, weight, None), "
    "zeros((*out_grad.shape[:-1], weight.shape[-1]), weight), out_grad)",
    "linear_bwd_weight": "gradient(lambda w: linear(input, w, None), "
    "zeros((out_grad.shape[-1], input.shape[-1]), input), out_grad)",
    "bilinear": "bilinear(x, y, weight, bias)",
    "bilinear_bwd_in1": "gradient(lambda x: bilinear(x, y, weight, None), "
    "zeros((*out_grad.shape[:-1], weight.shape[1]), y), out_grad)",
    "bilinear_bwd_in2": "gradient(lambda y: bilinear(x, y, weight, None), "
    "zeros((*out_grad.shape[:-1], weight.shape[2]), x), out_grad)",
    "bilinear_bwd_weight": "gradient(lambda w: bilinear(x, y, w, None), "
    "zeros((out_grad.shape[-1], x.shape[-1], y.shape[-1]), x), out_grad)",
    # 7.2.18 interpolation
    "interpolate": "resized(input, target_sizes(input.shape, size, scale_factor), mode)",
    **nn_jax.MAPPING,
}
"""The standard's interfaces in JAX."""

MISSING = {
    "contiguous": "JAX shows no layout of its arrays",
    "is_contiguous": "JAX shows no layout of its arrays",
    "create_quant_tensor": "JAX has no quantised arrays",
    "destroy": "JAX frees arrays by itself",
    **nn_jax.MISSING,
}
"""What JAX does not have, and why."""

WHOLE = frozenset(GRADIENTS) - {"fft_c2c_backward", "fft_r2c_backward", "fft_c2r_backward"}
WHOLE |= {"div", "gather", "topk", *nn_jax.MAPPING}
"""Interfaces of many steps that are one program; of transforms the steps are few, and shared."""

ROUNDINGS = {
    "DOWNWARD": jnp.floor, "UPWARD": jnp.ceil, "TOWARDZERO": jnp.trunc, "TONEAREST": jnp.rint,
}  # fmt: skip


def on(device):
    """Return a device."""
    kind, _, number = device.lower().partition(":")
    return jax.devices(kind)[int(number or 0)]


def eps(dtype):
    """Return the distance from 1 to the next number."""
    return float(jnp.finfo(dtype).eps) if jnp.issubdtype(dtype, jnp.inexact) else 0.0


def gradient(function, x, grad):
    """Return the gradient of a function at x; JAX's of complex numbers are conjugates of others."""
    return conjugate(pulled_back(function, x, conjugate(grad)))


def pulled_back(function, x, grad):
    """Return the gradient of what adds and moves: of that JAX's is not another one's conjugate."""
    _, backward = jax.vjp(function, x)
    found = backward(grad)[0]
    if found.dtype == jax.dtypes.float0:
        raise Unsupported("JAX has no gradients of integers")
    return found


def conjugate(x):
    """Return the conjugate; of real numbers it would be a program that does nothing."""
    return jnp.conj(x) if jnp.iscomplexobj(x) else x


def zeros(shape, like):
    """Return zeros of the dtype of another array: where the gradient does not depend on x."""
    return jax.device_put(np.zeros(tuple(shape), like.dtype))


def filled(values, dtype, shape, device):
    """Return an array of values; of any, if none are given."""
    if values is None or not np.size(values):
        return jnp.empty(shape, dtype, device=device)
    return jnp.array(values, dtype, device=device).reshape(shape)


def numbers(start, limit, step, dtype):
    """Return numbers up to a limit, that one too, which JAX leaves out."""
    if isinstance(start, int) and isinstance(limit, int) and isinstance(step, int):
        return jnp.arange(start, limit + (1 if step > 0 else -1), step, dtype)
    return (start + step * jnp.arange(count(start, limit, step, eps(dtype)))).astype(dtype)


def no_half(x):
    """Return an array, of which the complex dtype exists."""
    if x.dtype in (jnp.float16, jnp.bfloat16):
        raise Unsupported("JAX has no complex32")
    return x


def padded(x, widths, value, mode):
    """Return an array with more around it."""
    if mode == "PAD_CONST":
        return jnp.pad(x, widths, "constant", constant_values=value)
    return jnp.pad(x, widths, {"PAD_PERIOD": "wrap", "PAD_MIRROR": "symmetric"}[mode])


def coordinates(index):
    """Return an index as JAX takes it: the standard's last axis is that of the coordinates."""
    if index.ndim == 1:
        return index
    return tuple(jnp.moveaxis(index, -1, 0))


def selected(x, mask):
    """Return what a mask selects; the places of it, JAX must know to compile it as one."""
    mask = np.broadcast_to(mask, jnp.shape(x))
    if mask.dtype != np.bool_ or not mask.ndim:
        return x[mask]
    return taken(x, np.nonzero(mask))


@jax.jit
def taken(x, index):
    """Return elements."""
    return x[index]


def places(x, apart):
    """Return where elements are not zero; how many are, JAX must know to compile it as one."""
    mask = x if x.dtype == jnp.bool_ else x != 0
    function = jax.jit(jnp.nonzero if apart else jnp.argwhere, static_argnames="size")
    found = function(mask, size=np.count_nonzero(mask))
    return list(found) if apart else found


def quotient(x, y):
    """Return a quotient: lax.div cuts those of integers, and takes equal dtypes and shapes."""
    dtype = jnp.result_type(x, y)
    if not jnp.issubdtype(dtype, jnp.integer):
        return jnp.divide(x, y)
    return jax.lax.div(*(jnp.asarray(a, dtype) for a in jnp.broadcast_arrays(x, y)))


def reduced(x, mode, along, keep):
    """Return a reduction."""
    bitwise = {"BAND": jax.lax.reduce_and, "BOR": jax.lax.reduce_or, "BXOR": jax.lax.reduce_xor}
    if mode in bitwise or mode == "LXOR":
        function, x = (bitwise["BXOR"], x != 0) if mode == "LXOR" else (bitwise[mode], x)
        dims = tuple(range(x.ndim)) if along is None else tuple(a % x.ndim for a in along)
        found = function(x, dims)
        return jnp.expand_dims(found, dims) if keep else found
    functions = {
        "SUM": jnp.sum, "PROD": jnp.prod, "MAX": jnp.max, "MIN": jnp.min, "MEAN": jnp.mean,
        "LAND": jnp.all, "LOR": jnp.any,
    }  # fmt: skip
    return functions[mode](x, axis=along, keepdims=keep)


def sort(x, axis, descending):
    """Return sorted values and their places."""
    order = jnp.argsort(x, axis, stable=True, descending=descending)
    return jnp.take_along_axis(x, order, axis), order


def top(x, k, axis, largest):
    """Return the k largest values and their places."""
    if not largest:
        raise Unsupported("JAX has no top_k of the smallest values")
    values, places = jax.lax.top_k(jnp.moveaxis(x, axis, -1), k)
    return jnp.moveaxis(values, -1, axis), jnp.moveaxis(places, -1, axis)


def resized(x, sizes, mode):
    """Return an array sampled at other sizes."""
    if mode == "area":
        raise Unsupported("JAX has no interpolation by area")
    method = {"linear": "linear", "bilinear": "linear", "trilinear": "linear"}.get(mode, mode)
    return jax.image.resize(x, (*x.shape[:2], *sizes), method, antialias=False)


class Adapter(Framework):
    """JAX."""

    name, title, version, rules = "jax", "JAX", jax.__version__, "jax"
    mapping, missing, names = MAPPING, MISSING, globals()
    dtypes = {
        "bool": jnp.bool_,
        **named(
            jnp,
            *("int4 uint4 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3fn "
            "float8_e5m2 float16 bfloat16 float32 float64 complex64 complex128").split(),
        ),
    }  # fmt: skip
    literal, spelled = "jnp.array({values}, {dtype})", "jnp.{dtype}"
    spellings = {"bool": "jnp.bool_"}
    no_kernel = (
        "NotImplementedError",
        "Unsupported dtype",
        "does not accept dtype",
        "dtype argument to `uniform` must be a float dtype",
        "unexpected JAX type (e.g. shape/dtype) for argument to VJP function",
    )
    notes = [
        "JAX has no status codes: whatever it raises counts as a refusal.",
        "With jax_enable_x64: without it there are no 64-bit dtypes.",
        "Gradients come from jax.vjp, conjugated before and after where a function does more than "
        "add and move: JAX has the conjugate of the gradient that others call by that name.",
        "JAX arrays have no strides.",
    ]

    lost = ("CUDA_ERROR", "CUDNN_STATUS_EXECUTION_FAILED", "illegal memory access")

    def __init__(self, device=""):
        super().__init__(device)
        share_contexts()
        self._programs = Programs(super().evaluated)

    def placed(self, device):
        """Make all arrays on a device from now on, and return notes about it."""
        kind, _, number = device.partition(":")
        try:
            jax.config.update("jax_platforms", f"{kind},cpu")
            chosen = jax.devices(kind)[int(number or 0)]
            jax.config.update("jax_default_device", chosen)
            jnp.zeros(1).block_until_ready()
        except Exception as error:
            raise self.without(device, error) from None
        self.placing = (
            f'jax.config.update("jax_platforms", "{kind},cpu")\n'
            f'jax.config.update("jax_default_device", jax.devices({kind!r})[{number or 0}])'
        )
        return [f"On {device} ({chosen.device_kind}); arrays are made there and read back."]

    def evaluated(self, op, bound):
        """Return what an expression gives; of many steps, as one program."""
        if op in WHOLE and not any(isinstance(x, sparse.BCOO) for x in bound.values()):
            return self._programs.of(op, bound)
        return super().evaluated(op, bound)

    def dense(self, data, dtype):
        """Return an array."""
        if data.layout != "dense":
            raise Unsupported(f"JAX has no arrays that lie {data.layout} in memory")
        return jnp.asarray(self.plain(data, dtype), dtype)

    def plain(self, data, dtype):
        """Return an array of NumPy's."""
        stored = {"int4": np.int8, "uint4": np.uint8}.get(data.dtype, dtype)
        x = np.frombuffer(data.raw, stored).reshape(data.shape)
        return x.astype(dtype) if stored is not dtype else x

    def sparse(self, data):
        """Return a sparse array."""
        dense = self.plain(data, self.dtype(data.dtype))
        places = np.argwhere(dense != 0)
        parts = jax.device_put(dense[tuple(places.T)]), jax.device_put(places.astype(np.int32))
        return sparse.BCOO(parts, shape=data.shape, indices_sorted=True, unique_indices=True)

    def read(self, x):
        """Return an array as data."""
        if isinstance(x, sparse.BCOO):
            if x.dtype == np.bool_:
                raise Unsupported("JAX makes no sparse array of bool dense")
            dense = self.read(jax.jit(sparse.BCOO.todense)(x))
            return Data(dense.dtype, dense.shape, dense.raw, sparse="COO")
        x = np.asarray(x)
        name = x.dtype.name
        if name not in self.dtypes:
            raise TypeError(f"JAX gave an array of {name}")
        stored = {"int4": np.int8, "uint4": np.uint8}.get(name)
        plain = x if stored is None else x.astype(stored)
        return Data(name, x.shape, plain.tobytes())

    def settled(self, found):
        """Return outputs once they are computed: an error belongs to the call that made it."""
        return jax.block_until_ready(found)
