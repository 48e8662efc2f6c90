"""NumPy as a subject."""

import numpy as np
from frameworks.common import GRADIENTS, Framework, axes, count, named, norm_name, numpy_like
from wire import Data, Unsupported

np.seterr(all="ignore")

MAPPING = {
    **numpy_like("np"),
    # 7.2.1 creation
    "create_tensor": "filled(values, dtype, shape, device)",
    "wrap_tensor": "filled(values, dtype, shape, device, copy=None)",
    "zeros": "np.zeros(shape, dtype, device=device.lower())",
    "full": "np.full(shape, value, dtype, device=device.lower())",
    "empty": "np.empty(shape, dtype, device=device.lower())",
    "contiguous": "np.asarray(input, order='C')",
    "rand_uniform": "uniform(generator(seed), dtype, shape, min, max)",
    "rand_normal": "normal(generator(seed), dtype, shape, mean, std)",
    "rand_bernoulli": "np.asarray(generator(seed).binomial(1, input), input.dtype)",
    "multinomial": "draws(generator(seed), input, num_samples, replacement)",
    "randperm": "generator(seed).permutation(len).astype(dtype)",
    "linspace": "np.linspace(start, stop, num, dtype=dtype, device=device.lower())",
    # 7.2.2 query
    "is_contiguous": "input.flags.c_contiguous",
    # 7.2.3 transformation
    "split": "np.split(input, np.cumsum(split_sizes)[:-1] if split_sizes else nsplit, axis)",
    "pad": "padded(input, np.reshape(np.array(pad_width, int), (-1, 2)), pad_value, pad_mode)",
    "roll": "np.roll(input, shifts, axes(axis))",
    "scatter": "scattered(input, coordinates(index), updates, override)",
    "masked_select": "input[np.broadcast_to(mask, np.shape(input))]",
    # 7.2.4 arithmetic
    "div": "np.divide(x, y)",
    # 7.2.5 comparison
    "allclose": "np.array([np.allclose(x, y, rtol, atol, equal_nan)])",
    # 7.2.8 power
    "rsqrt": "1 / np.sqrt(x)",
    # 7.2.13 reduction
    "reduce": "REDUCTIONS[mode](input, axis=axes(axis), keepdims=keep_dims)",
    # 7.2.14 indexing
    "argmax": "np.asarray(np.argmax(input, axis, keepdims=keepdim), dtype)",
    "argmin": "np.asarray(np.argmin(input, axis, keepdims=keepdim), dtype)",
    "nonzero": "list(np.nonzero(input)) if as_tuple else np.argwhere(input)",
    # 7.2.15 complex
    "complex": "complex_of(real, imag)",
    # 7.2.17 linear algebra
    "cholesky": "np.linalg.cholesky(mat, upper={'U': True, 'L': False}[upper])",
    "linear": "plus(np.matmul(x, weight.T), bias)",
    "bilinear": "plus(np.einsum('...i,oij,...j->...o', x, weight, y), bias)",
}
"""The standard's interfaces in NumPy."""

MISSING = {
    "create_sparse_tensor": "NumPy has no sparse arrays",
    "create_quant_tensor": "NumPy has no quantised arrays",
    "destroy": "NumPy frees arrays by itself",
    "topk": "NumPy has no topk; argpartition leaves order and ties open",
    "lu": "NumPy has no LU decomposition; SciPy has",
    "interpolate": "NumPy interpolates along one axis only",
    **dict.fromkeys(GRADIENTS, "NumPy computes no gradients"),
}
"""What NumPy does not have, and why."""

ROUNDINGS = {
    "DOWNWARD": np.floor, "UPWARD": np.ceil, "TOWARDZERO": np.trunc, "TONEAREST": np.rint,
}  # fmt: skip

REDUCTIONS = {
    "SUM": np.sum, "PROD": np.prod, "MAX": np.max, "MIN": np.min, "MEAN": np.mean,
    "LAND": np.all, "LOR": np.any, "LXOR": np.logical_xor.reduce,
    "BAND": np.bitwise_and.reduce, "BOR": np.bitwise_or.reduce, "BXOR": np.bitwise_xor.reduce,
}  # fmt: skip


def eps(dtype):
    """Return the distance from 1 to the next number."""
    dtype = np.dtype(dtype)
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0


def generator(seed):
    """Return random numbers; 0 is no seed."""
    return np.random.default_rng(seed or None)


def filled(values, dtype, shape, device, copy=True):
    """Return an array of values; of any, if none are given."""
    if values is None or not np.size(values):
        return np.empty(shape, dtype, device=device.lower())
    return np.asarray(values, dtype, device=device.lower(), copy=copy).reshape(shape)


def numbers(start, limit, step, dtype):
    """Return numbers up to a limit, that one too, which NumPy leaves out."""
    if isinstance(start, int) and isinstance(limit, int) and isinstance(step, int):
        return np.arange(start, limit + (1 if step > 0 else -1), step, dtype)
    return (start + step * np.arange(count(start, limit, step, eps(dtype)))).astype(dtype)


def uniform(random, dtype, shape, low, high):
    """Return uniform numbers; NumPy draws them as float64 or as integers."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c" or dtype == np.float16:
        raise Unsupported(f"NumPy draws no uniform numbers of {dtype}")
    if dtype.kind == "b":
        return random.integers(0, 2, shape, np.uint8).astype(dtype)
    limits = np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)
    low, high = limits.min if low is None else low, limits.max if high is None else high
    if dtype.kind in "iu":
        return random.integers(low, high, shape, dtype, endpoint=True)
    return random.uniform(low, high, shape).astype(dtype)


def normal(random, dtype, shape, mean, std):
    """Return normal numbers; NumPy draws them as float64."""
    if np.dtype(dtype).kind != "f":
        raise Unsupported(f"NumPy draws no normal numbers of {np.dtype(dtype)}")
    return random.normal(mean, std, shape).astype(dtype)


def draws(random, weights, samples, replacement):
    """Return categories for each row of weights; NumPy has one row of probabilities."""
    if weights.ndim > 1:
        return np.stack([draws(random, row, samples, replacement) for row in weights])
    weights = weights.astype(np.float64)
    return random.choice(len(weights), samples, replacement, weights / weights.sum())


def padded(x, widths, value, mode):
    """Return an array with more around it."""
    if mode == "PAD_CONST":
        return np.pad(x, widths, "constant", constant_values=value)
    return np.pad(x, widths, {"PAD_PERIOD": "wrap", "PAD_MIRROR": "symmetric"}[mode])


def coordinates(index):
    """Return an index as NumPy takes it: the standard's last axis is that of the coordinates."""
    return index if index.ndim == 1 else tuple(np.moveaxis(index, -1, 0))


def scattered(x, at, updates, override):
    """Return a copy with updates in some places."""
    found = np.copy(x)
    if override:
        found[at] = updates
    else:
        np.add.at(found, at, updates)
    return found


def sort(x, axis, descending):
    """Return sorted values and their places; NumPy sorts upwards only."""
    if not descending:
        order = np.argsort(x, axis, stable=True)
    else:
        back = np.argsort(np.flip(x, axis), axis, stable=True)
        order = x.shape[axis] - 1 - np.flip(back, axis)
    return np.take_along_axis(x, order, axis), order


def no_half(x):
    """Return an array, of which the complex dtype exists."""
    if x.dtype == np.float16:
        raise Unsupported("NumPy has no complex32")
    return x


def complex_of(real, imag):
    """Return complex numbers; NumPy has no function for it, and 1j * imag makes NaN of infinity."""
    dtype = np.result_type(no_half(real), no_half(imag))
    real, imag = np.broadcast_arrays(real, imag)
    found = np.empty(real.shape, np.result_type(dtype, np.complex64))
    found.real, found.imag = real, imag
    return found


def c2c(x, axes, norm, forward):
    """Return a complex Fourier transform."""
    return (np.fft.fftn if forward else np.fft.ifftn)(x, axes=axes, norm=norm)


def r2c(x, axes, normalization, forward, onesided):
    """Return a Fourier transform of real numbers; NumPy's are forward."""
    transform = np.fft.rfftn if onesided else np.fft.fftn
    found = transform(x, axes=axes, norm=norm_name(normalization, True))
    return found if forward else np.conj(found)


def c2r(x, axes, normalization, forward, size):
    """Return a Fourier transform to real numbers; NumPy's are backward."""
    sizes = [x.shape[a] for a in axes[:-1]] + [size]
    x = np.conj(x) if forward else x
    return np.fft.irfftn(x, sizes, axes, norm_name(normalization, False))


def adjoint_of(x):
    """Return the conjugate transpose of matrices."""
    return np.conj(np.swapaxes(x, -1, -2))


def svd(x, reduced):
    """Return U, S as a matrix, and V, which NumPy has as a row of numbers and as V^H."""
    u, s, vh = np.linalg.svd(x, full_matrices=not reduced)
    sigma = np.zeros((*x.shape[:-2], u.shape[-1], vh.shape[-2]), s.dtype)
    np.einsum("...ii->...i", sigma[..., : s.shape[-1], : s.shape[-1]])[...] = s
    return u, sigma, adjoint_of(vh)


def norm(x, order, axis, keep):
    """Return a norm: of two axes, one of matrices."""
    if axis and len(axis) > 1:
        if len(axis) > 2:
            raise ValueError("a norm has one axis or two")
        return np.linalg.norm(x, order, tuple(axis), keep)
    return np.linalg.vector_norm(x, ord=order, axis=axes(axis), keepdims=keep)


def plus(x, bias):
    """Return a sum, if there is something to add."""
    return x if bias is None else x + bias


def laid(x, layout):
    """Return an array with the same elements in another memory layout."""
    if layout == "columns":
        return np.asfortranarray(x)
    if layout == "gaps":
        wide = np.ones([2 * n for n in x.shape], x.dtype)
        view = wide[tuple(slice(None, None, 2) for _ in x.shape)]
    elif layout == "reversed":
        view = np.ones(x.shape, x.dtype)[tuple(slice(None, None, -1) for _ in x.shape)]
    elif layout == "offset":
        view = np.ones(x.size + 3, x.dtype)[3:].reshape(x.shape)
    elif layout == "repeated":
        few = x
        for axis in range(x.ndim):
            first = few.take([0], axis) if few.size else few
            few = (
                first
                if first.tobytes() * few.shape[axis] == np.moveaxis(few, axis, 0).tobytes()
                else few
            )
        return np.broadcast_to(few, x.shape)
    else:
        raise Unsupported(f"NumPy's adapter has no layout {layout}")
    view[...] = x
    return view


class Adapter(Framework):
    """NumPy."""

    name, title, version, rules = "numpy", "NumPy", np.__version__, "numpy"
    mapping, missing, names = MAPPING, MISSING, globals()
    dtypes = {
        "bool": np.bool_,
        **named(np, "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        **named(np, "float16", "float32", "float64", "complex64", "complex128"),
    }
    literal, spelled, spellings = "np.array({values}, {dtype})", "np.{dtype}", {"bool": "np.bool_"}
    no_kernel = ("is unsupported in linalg",)
    notes = [
        "NumPy has no status codes: whatever it raises counts as a refusal.",
        "Random numbers come from numpy.random.default_rng; seed 0 takes none.",
    ]

    def transposed(self, x, axes):
        """Return a view with these axes."""
        return x.transpose(axes)

    def dense(self, data, dtype):
        """Return an array."""
        x = np.frombuffer(data.raw, np.dtype(dtype).newbyteorder("<")).astype(dtype)
        x = x.reshape(data.shape)
        return x if data.layout == "dense" else laid(x, data.layout)

    def read(self, x):
        """Return an array as data."""
        x = np.asarray(x)
        if x.dtype.name not in self.dtypes:
            raise TypeError(f"NumPy gave an array of {x.dtype.name}")
        plain = np.ascontiguousarray(x, x.dtype.newbyteorder("<"))
        return Data(x.dtype.name, x.shape, plain.tobytes())

    def settled(self, found):
        """Return NumPy's scalars as arrays of no axes: Python takes some of them for its own."""
        if type(found) in (list, tuple):
            return type(found)(self.settled(x) for x in found)
        return np.asarray(found) if isinstance(found, np.generic) else found
