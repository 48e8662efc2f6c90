"""Paddle as a subject: on the CPU, in dynamic mode."""

import os
import warnings

os.environ.setdefault("GLOG_minloglevel", "3")
warnings.simplefilter("ignore")

import numpy as np  # noqa: E402
import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402
from frameworks.common import Framework, norm_name, thinned, torch_like  # noqa: E402
from wire import Data, Unsupported  # noqa: E402

DTYPES = {
    "bool": paddle.bool, "int8": paddle.int8, "int16": paddle.int16, "int32": paddle.int32,
    "int64": paddle.int64, "uint8": paddle.uint8, "float8_e4m3fn": paddle.float8_e4m3fn,
    "float8_e5m2": paddle.float8_e5m2, "float16": paddle.float16, "bfloat16": paddle.bfloat16,
    "float32": paddle.float32, "float64": paddle.float64, "complex64": paddle.complex64,
    "complex128": paddle.complex128,
}  # fmt: skip
# NumPy's dtype of the same bytes, for those that it does not have.
BYTES = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}

MAPPING = {
    **torch_like(
        "paddle",
        "duplicate=clone expand_dims=unsqueeze greater=greater_than less=less_than",
    ),
    "wrap_tensor": "wrapped(values, dtype, shape)",
    "zeros": "paddle.zeros(shape, dtype)",
    "full": "paddle.full(shape, value, dtype)",
    "empty": "paddle.empty(shape, dtype)",
    "rand_uniform": "uniform(dtype, shape, min, max, seed)",
    "rand_normal": "seeded(seed) or paddle.randn(shape, dtype) * std + mean",
    "rand_bernoulli": "seeded(seed) or paddle.bernoulli(input)",
    "multinomial": "seeded(seed) or paddle.multinomial(input, num_samples, replacement)",
    "randperm": "seeded(seed) or paddle.randperm(len, dtype)",
    "range": "paddle.range(start, limit, step, dtype)",
    "linspace": "paddle.linspace(start, stop, num, dtype)",
    "create_sparse_tensor": "paddle.sparse.sparse_coo_tensor(transposed(indices), values, "
    "shape, dtype)",
    "shape": "paddle.shape(input)",
    "size": "int(input.size)",
    "rank": "int(input.ndim)",
    "squeeze": "paddle.squeeze(input, axis)",
    "transpose": "paddle.transpose(input, inverse_order(perm) or list(range(input.ndim))[::-1])",
    "split": "paddle.split(input, split_sizes or nsplit, axis)",
    "unstack": "paddle.unstack(input, axis, num)",
    "roll": "paddle.roll(input, shifts, axes(axis))",
    "crop": "paddle.crop(input, shape, offsets_of(offsets, shape))",
    "clip_backward": "gradient(lambda x: paddle.clip(x, low, high), grad_out, input)",
    "gather": "paddle.gather(input, index) if index.ndim == 1 else paddle.gather_nd(input, index)",
    "scatter": "scattered(input, index, updates, override)",
    "meshgrid": "paddle.meshgrid(input)",
    "add": "x + y",
    "sub": "x - y",
    "mul": "x * y",
    "muladd": "x * y + a",
    "div": "paddle.divide(x, y, rounding_mode='trunc' if integers(x, y) else None)",
    "true_divide": "x / y",
    "trace_backward": "gradient(lambda x: paddle.trace(x, offset, dim0, dim1), grad_y, "
    "paddle.zeros(input_shape, grad_y.dtype))",
    "allclose": "paddle.allclose(x, y, rtol, atol, equal_nan).reshape([1])",
    "bitwise_left_shift": "paddle.bitwise_left_shift(x, amount(shift, x))",
    "bitwise_right_shift": "paddle.bitwise_right_shift(x, amount(shift, x))",
    "rint": "{'DOWNWARD': paddle.floor, 'UPWARD': paddle.ceil, 'TOWARDZERO': paddle.trunc, "
    "'TONEAREST': paddle.round}[mode](x)",
    "cumsum_bwd": "gradient(lambda x: paddle.cumsum(x, None if axis == -1 else axis), out_grad, "
    "paddle.zeros(input_shape or out_grad.shape, out_grad.dtype))",
    "argmax": "paddle.argmax(input, axis, keepdim, dtype)",
    "argmin": "paddle.argmin(input, axis, keepdim, dtype)",
    "argsort": "(paddle.sort(input, axis, descending, stable=True), "
    "paddle.argsort(input, axis, descending, stable=True))",
    "argsort_bwd": "gradient(lambda x: paddle.take_along_axis(x, indices, axis), out_grad, "
    "paddle.zeros_like(out_grad))",
    "nonzero": "nonzeros(input, as_tuple)",
    "dot_bwd1": "gradient(lambda v: dot(v, vec2), out_grad, vec1)",
    "dot_bwd2": "gradient(lambda v: dot(vec1, v), out_grad, vec2)",
    "cholesky": "paddle.linalg.cholesky(mat, {'U': True, 'L': False}[upper])",
    "lstsq": "as_given(paddle.linalg.lstsq(mat, as_columns(mat, rhs), prec, 'gelsd')[0], rhs)",
    "norm": "paddle.linalg.norm(input, normtype if normtype == 'fro' else float(normtype), "
    "axes(axis), keep_dims)",
    "linear": "F.linear(x, weight.T, bias)",
    "linear_bwd_in": "gradient(lambda x: F.linear(x, weight.T), out_grad, "
    "paddle.zeros(out_grad.shape[:-1] + weight.shape[1:], out_grad.dtype))",
    "linear_bwd_weight": "gradient(lambda w: F.linear(input, w.T), out_grad, "
    "paddle.zeros([out_grad.shape[-1], input.shape[-1]], out_grad.dtype))",
    "bilinear": "F.bilinear(x, y, weight, None if bias is None else bias.reshape([1, -1]))",
    "bilinear_bwd_in1": "gradient(lambda x: F.bilinear(x, y, weight), out_grad, "
    "paddle.zeros(y.shape[:-1] + [weight.shape[1]], y.dtype))",
    "bilinear_bwd_in2": "gradient(lambda y: F.bilinear(x, y, weight), out_grad, "
    "paddle.zeros(x.shape[:-1] + [weight.shape[2]], x.dtype))",
    "bilinear_bwd_weight": "gradient(lambda w: F.bilinear(x, y, w), out_grad, "
    "paddle.zeros([out_grad.shape[-1], x.shape[-1], y.shape[-1]], x.dtype))",
    "interpolate": "F.interpolate(input, target_sizes(input.shape, size, scale_factor), mode=mode, "
    "align_corners=False, data_format={3: 'NCW', 4: 'NCHW', 5: 'NCDHW'}[input.ndim])",
}

MISSING = {
    "create_quant_tensor": "Paddle has no quantised tensors: scales are operands of its operators",
    "destroy": "Paddle frees a tensor when nobody has it any more",
}


def filled(values, dtype, shape):
    """Return a tensor of values; of any, if none are given."""
    if isinstance(values, list) and not values:
        return paddle.empty(shape, dtype)
    return paddle.to_tensor(values, dtype).reshape(shape)


def wrapped(values, dtype, shape):
    """Return a tensor on the memory of another; on new memory, if none is given."""
    if isinstance(values, list):
        return filled(values, dtype, shape)
    return values.view(dtype).reshape(shape)


def gradient(function, grad_out, x):
    """Return the gradient of a function at x."""
    x = x.detach()
    x.stop_gradient = False
    return paddle.grad(function(x), x, grad_out)[0]


def seeded(seed):
    """Set the seed; 0 leaves it to the system."""
    if seed:
        paddle.seed(seed)


def uniform(dtype, shape, low, high, seed):
    """Return uniform numbers, by default of the whole range of the dtype; integers to the limit."""
    seeded(seed)
    if dtype in (paddle.int8, paddle.int16, paddle.int32, paddle.int64, paddle.uint8):
        info = paddle.iinfo(dtype)
        least = info.min if low is None else low
        end = info.max if high is None else min(high + 1, info.max)
        return paddle.randint(least, end, shape, dtype)
    if dtype == paddle.bool or "complex" in str(dtype):
        raise Unsupported(f"Paddle draws no uniform numbers of {dtype}")
    info = paddle.finfo(dtype)
    return paddle.uniform(
        shape, dtype, info.min if low is None else low, info.max if high is None else high, seed
    )


def transposed(indices):
    """Return indices as Paddle has them: a row for each axis."""
    return paddle.transpose(paddle.to_tensor(indices), [1, 0])


def integers(x, y):
    """Tell whether integers are divided: none is a float, and not both are bool."""
    kinds = [str(v.dtype) if isinstance(v, paddle.Tensor) else type(v).__name__ for v in (x, y)]
    return all("int" in k or "bool" in k for k in kinds) and any("int" in k for k in kinds)


def amount(shift, x):
    """Return how far to shift, as a tensor of the dtype of x."""
    return shift if isinstance(shift, paddle.Tensor) else paddle.full([], shift, x.dtype)


def padded(x, widths, value, mode):
    """Pad; periodically, Paddle pads what has one axis for batches and one for channels."""
    flat = [n for pair in widths for n in pair]
    if mode == "PAD_CONST":
        return F.pad(x, flat, "constant", value)
    if mode == "PAD_MIRROR":
        raise Unsupported("Paddle mirrors without the edge ('reflect') only")
    if mode != "PAD_PERIOD":
        raise ValueError(f"there is no mode {mode}")
    if x.ndim not in (1, 2, 3):
        raise Unsupported("Paddle pads periodically along one to three axes")
    backwards = [n for pair in widths[::-1] for n in pair]
    layout = {1: "NCL", 2: "NCHW", 3: "NCDHW"}[x.ndim]
    found = F.pad(x.reshape([1, 1] + list(x.shape)), backwards, "circular", data_format=layout)
    return found.reshape(found.shape[2:])


def scattered(x, index, updates, override):
    """Scatter rows by a list of indices, or by coordinates, where Paddle adds only."""
    if index.ndim == 1:
        return paddle.scatter(x, index, updates, overwrite=override)
    if override:
        raise Unsupported("Paddle has no scatter by coordinates that overwrites")
    return paddle.scatter_nd_add(x, index, updates)


def reduced(x, mode, axis, keepdim):
    """Reduce by one of the modes that Paddle has."""
    by = {"SUM": paddle.sum, "PROD": paddle.prod, "MAX": paddle.amax, "MIN": paddle.amin,
          "MEAN": paddle.mean, "LAND": paddle.all, "LOR": paddle.any}  # fmt: skip
    if mode in ("LXOR", "BAND", "BOR", "BXOR"):
        raise Unsupported(f"Paddle has no reduction by {mode}")
    return by[mode](x, axis=axis, keepdim=keepdim)


def nonzeros(x, as_tuple):
    """Return indices as a list of rows, or as one tensor."""
    found = paddle.nonzero(x, as_tuple=as_tuple)
    return [one.reshape([-1]) for one in found] if as_tuple else found


def c2c(x, along, normalization, forward):
    """Transform complex numbers."""
    transform = paddle.fft.fftn if forward else paddle.fft.ifftn
    return transform(x, axes=along, norm=norm_name(normalization, forward))


def r2c(x, along, normalization, forward, onesided):
    """Transform real numbers; backwards it is ihfftn."""
    norm = norm_name(normalization, forward)
    if onesided:
        return (paddle.fft.rfftn if forward else paddle.fft.ihfftn)(x, axes=along, norm=norm)
    return (paddle.fft.fftn if forward else paddle.fft.ifftn)(x, axes=along, norm=norm)


def c2r(x, along, normalization, forward, last_dim_size):
    """Transform half a spectrum to real numbers; forwards it is hfftn."""
    sizes = [x.shape[axis] for axis in along[:-1]] + [last_dim_size]
    transform = paddle.fft.hfftn if forward else paddle.fft.irfftn
    return transform(x, s=sizes, axes=along, norm=norm_name(normalization, forward))


def half_spectrum(grad_out, axis):
    """Return zeros of the shape of half a spectrum."""
    shape = list(grad_out.shape)
    shape[axis] = shape[axis] // 2 + 1
    if grad_out.dtype not in (paddle.float32, paddle.float64):
        raise Unsupported(f"Paddle has no complex numbers of {grad_out.dtype}")
    kind = paddle.complex128 if grad_out.dtype == paddle.float64 else paddle.complex64
    return paddle.zeros(shape, kind)


def dot(x, y):
    """Multiply along the last axis of x and the last but one of y; two vectors with paddle.dot."""
    if x.ndim == 0 or y.ndim == 0:
        return paddle.multiply(x, y)
    if x.ndim == 1 and y.ndim == 1:
        return paddle.dot(x, y)
    return paddle.tensordot(x, y, axes=[[x.ndim - 1], [max(y.ndim - 2, 0)]])


def lu(mat):
    """Factor; Paddle counts the rows from 1."""
    packed, pivots = paddle.linalg.lu(mat)
    return packed, pivots - 1


def svd(mat, short):
    """Return U, the matrix of singular values, and V, where Paddle has a vector and V^H."""
    u, s, vh = paddle.linalg.svd(mat, full_matrices=not short)
    rows, columns = u.shape[-1], vh.shape[-2]
    few = min(rows, columns)
    matrix = paddle.zeros(s.shape[:-1] + [rows, columns], s.dtype)
    matrix[..., range(few), range(few)] = s
    return u, matrix, adjoint_of(vh)


def as_columns(mat, rhs):
    """Return right-hand sides as a matrix: Paddle has no single ones."""
    return rhs.unsqueeze(-1) if rhs.ndim < mat.ndim else rhs


def as_given(x, rhs):
    """Return solutions as the right-hand sides were given."""
    return x.squeeze(-1) if rhs.ndim < x.ndim else x


def adjoint_of(mat):
    """Return the conjugate of the transposed matrix."""
    order = list(range(mat.ndim))
    order[-2:] = order[:-3:-1]
    turned = paddle.transpose(mat, order)
    return paddle.conj(turned) if paddle.is_complex(turned) else turned


def laid(x, layout):
    """Return a tensor with the same elements that is a view with another memory layout."""
    raw = x.numpy()
    if layout == "columns":
        return paddle.transpose(of_array(raw.T, x), list(range(raw.ndim))[::-1])
    if layout == "gaps":
        wide, every = np.ones([2 * n for n in raw.shape], raw.dtype), slice(None, None, 2)
        wide[(every,) * raw.ndim] = raw
        return of_array(wide, x)[(every,) * raw.ndim]
    if layout == "reversed":
        back = (slice(None, None, -1),) * raw.ndim
        return of_array(raw[back], x)[back]
    if layout == "offset":
        wide = np.concatenate([np.ones(3, raw.dtype), raw.reshape(-1)])
        return of_array(wide, x)[3:].reshape(raw.shape)
    if layout == "repeated":
        thin = of_array(thinned(raw), x)
        # Its own expand copies.
        steps = [s if n == m else 0 for s, n, m in zip(thin.strides, thin.shape, raw.shape)]
        return paddle.as_strided(thin, list(raw.shape), steps) if raw.size else x
    raise Unsupported(f"Paddle's adapter has no layout {layout}")


def of_array(array, x):
    """Return an array as a tensor of the dtype of x; NumPy has some dtypes as integers only."""
    return paddle.to_tensor(np.array(array, order="C")).view(x.dtype)


class Adapter(Framework):
    """Paddle."""

    name, title, version, rules = "paddle", "Paddle", paddle.__version__, "paddle"
    dtypes, mapping, missing, names = DTYPES, MAPPING, MISSING, globals()
    literal = "paddle.to_tensor({values}, {dtype}).reshape({shape})"
    spelled = "'{dtype}'"
    no_kernel = ("is not registered", "kernel_factory", "Only support x and y have the same dtype")
    notes = [
        "Paddle has no status codes: whatever it raises counts as a refusal.",
        "It runs on the CPU, in dynamic mode; gradients come from paddle.grad.",
        "paddle.scatter(overwrite=False) sets the rows to zero before it adds (E62).",
    ]

    def transposed(self, x, axes):
        """Return a view with these axes."""
        return paddle.transpose(x, axes)

    def dense(self, data, dtype):
        """Return a tensor."""
        raw = np.frombuffer(data.raw, BYTES.get(data.dtype, data.dtype)).reshape(data.shape)
        x = paddle.to_tensor(raw.copy()).view(dtype)
        return x if data.layout == "dense" else laid(x, data.layout)

    def sparse(self, data):
        """Return a sparse tensor."""
        plain = Data(data.dtype, data.shape, data.raw)
        return self.dense(plain, self.dtype(data.dtype)).to_sparse_coo(len(data.shape))

    def read(self, x):
        """Return a tensor as data."""
        kind = None
        if x.is_sparse():
            x, kind = x.to_dense(), "COO"
        name = str(x.dtype).rpartition(".")[2]
        found = Data(name, tuple(x.shape), np.ascontiguousarray(x.numpy()).tobytes(), sparse=kind)
        return found
