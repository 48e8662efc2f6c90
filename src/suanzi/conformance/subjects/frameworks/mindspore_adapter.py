"""MindSpore as a subject: on the CPU, one operator at a time, so that an error names its own."""

import os

os.environ.setdefault("GLOG_v", "4")

import mindspore as ms
import mindspore.numpy as mnp
import mindspore.scipy.linalg as linalg
import numpy as np
from frameworks.common import Framework, axes, count, named, norm_name, thinned, torch_like
from mindspore import mint, nn, ops
from wire import Data, Unsupported

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_device("CPU")
ms.runtime.launch_blocking()

MAPPING = {
    **torch_like("ops", "clip=clamp mod=remainder bitwise_not=invert"),
    # 7.2.1 creation
    "wrap_tensor": "filled(values, dtype, shape)",
    "zeros": "ops.zeros(tuple(shape), dtype)",
    "full": "ops.full(tuple(shape), value, dtype=dtype)",
    "empty": "mint.empty(tuple(shape), dtype=dtype, device=device.upper())",
    "rand_uniform": "uniform(dtype, tuple(shape), min, max, seed or None)",
    "rand_normal": "ops.randn(*shape, dtype=dtype, seed=seed or None) * std + mean",
    "rand_bernoulli": "ops.bernoulli(input, input, seed or None)",
    "multinomial": "ops.multinomial(input, num_samples, replacement, seed or None)",
    "randperm": "ops.randperm(len, seed or -1, dtype=dtype)",
    "range": "ops.arange(start, behind(start, limit, step, dtype), step, dtype=dtype)",
    "linspace": "ops.linspace(ms.Tensor(start, dtype), ms.Tensor(stop, dtype), num)",
    "create_sparse_tensor": "ms.COOTensor(ms.Tensor(indices), ms.Tensor(values, dtype), "
    "tuple(shape))",
    "duplicate": "input.copy()",
    # 7.2.2 query
    "shape": "ops.dyn_shape(input)",
    "rank": "ops.rank(input)",
    # 7.2.3 transformation
    "reshape": "ops.reshape(input, tuple(dims))",
    "transpose": "ops.transpose(input, tuple(inverse_order(perm) or range(input.ndim)[::-1]))",
    "split": "list(ops.split(input, split_sizes, axis) if split_sizes else "
    "mnp.split(input, nsplit, axis))",
    "unstack": "list(ops.unstack(input, axis))",
    "tile": "ops.tile(input, tuple(repeats))",
    "reverse": "ops.flip(input, tuple(axis))",
    "roll": "mnp.roll(input, tuple(shifts) if len(shifts) > 1 else shifts[0], axes(axis))",
    "crop": "ops.slice(input, tuple(offsets_of(offsets, shape)), tuple(shape))",
    "clip_backward": "gradient(lambda x: ops.clamp(x, low, high), grad_out, input)",
    "gather": "ops.gather(input, index, 0) if index.ndim == 1 else ops.gather_nd(input, index)",
    "scatter": "(ops.tensor_scatter_update if override else ops.tensor_scatter_add)"
    "(input, index.expand_dims(1) if index.ndim == 1 else index, updates)",
    "expand": "ops.broadcast_to(input, tuple(shape))",
    "flatten": "ops.flatten(input, start_dim=start_axis, end_dim=stop_axis)",
    "flip": "ops.flip(input, tuple(axis))",
    # 7.2.4 arithmetic
    "muladd": "ops.add(ops.mul(x, y), a)",
    "div": "ops.div(x, y, rounding_mode='trunc' if integers(x, y) else None)",
    "trace": "mnp.trace(x, offset, dim0, dim1)",
    "trace_backward": "gradient(lambda x: mnp.trace(x, offset, dim0, dim1), grad_y, "
    "ops.zeros(tuple(input_shape), grad_y.dtype))",
    # 7.2.5 comparison
    "allclose": "ms.Tensor([mint.allclose(x, y, rtol, atol, equal_nan)])",
    # 7.2.13 reduction
    "cumsum": "running(input, axis, dtype)",
    "cumsum_bwd": "gradient(lambda x: running(x, axis, None), out_grad, "
    "ops.zeros(tuple(input_shape or out_grad.shape), out_grad.dtype))",
    # 7.2.14 indexing
    "argmax": "ops.cast(ops.argmax(input, axis, keepdim), dtype)",
    "argmin": "ops.cast(ops.argmin(input, axis, keepdim), dtype)",
    "argsort": "tuple(ops.sort(input, axis, descending))",
    "argsort_bwd": "gradient(lambda x: ops.gather_d(x, axis, indices), out_grad, "
    "ops.zeros_like(out_grad))",
    "nonzero": "columns(ops.nonzero(input)) if as_tuple else ops.nonzero(input)",
    # 7.2.15 complex
    "complex": "ops.Complex()(real, imag)",
    # 7.2.17 linear algebra
    "dot": "mnp.dot(vec1, vec2)",
    "dot_bwd1": "gradient(lambda v: mnp.dot(v, vec2), out_grad, vec1)",
    "dot_bwd2": "gradient(lambda v: mnp.dot(vec1, v), out_grad, vec2)",
    "lu": "tuple(linalg.lu_factor(mat))",
    "cholesky": "ops.cholesky(mat, {'U': True, 'L': False}[upper])",
    "qr": "qr(mat, mode)",
    "solve": "as_given(ops.matrix_solve(mat, as_columns(mat, rhs), adjoint), rhs)",
    "lstsq": "as_given(ops.lstsq(mat, as_columns(mat, rhs)), rhs)",
    "inverse": "ops.inverse(mat)",
    "eig": "tuple(ops.eig(mat))",
    "linear": "ops.dense(x, weight, bias)",
    "linear_bwd_in": "gradient(lambda x: ops.dense(x, weight), out_grad, "
    "ops.zeros((*out_grad.shape[:-1], weight.shape[1]), out_grad.dtype))",
    "linear_bwd_weight": "gradient(lambda w: ops.dense(input, w), out_grad, "
    "ops.zeros((out_grad.shape[-1], input.shape[-1]), out_grad.dtype))",
    "bilinear": "ops.bidense(x, y, weight, bias)",
    "bilinear_bwd_in1": "gradient(lambda x: ops.bidense(x, y, weight), out_grad, "
    "ops.zeros((*y.shape[:-1], weight.shape[1]), y.dtype))",
    "bilinear_bwd_in2": "gradient(lambda y: ops.bidense(x, y, weight), out_grad, "
    "ops.zeros((*x.shape[:-1], weight.shape[2]), x.dtype))",
    "bilinear_bwd_weight": "gradient(lambda w: ops.bidense(x, y, w), out_grad, "
    "ops.zeros((out_grad.shape[-1], x.shape[-1], y.shape[-1]), x.dtype))",
    # 7.2.18 interpolation
    "interpolate": "ops.interpolate(input, tuple(target_sizes(input.shape, size, scale_factor)), "
    "mode=mode)",
}
"""The standard's interfaces in MindSpore."""

MISSING = {
    "create_quant_tensor": "MindSpore has no quantised tensors: scales are operands of operators",
    "destroy": "MindSpore frees tensors by itself",
}
"""What MindSpore does not have, and why."""

ROUNDINGS = {
    "DOWNWARD": ops.floor, "UPWARD": ops.ceil, "TOWARDZERO": ops.trunc, "TONEAREST": ops.round,
}  # fmt: skip

INTEGERS = (
    ms.int8, ms.int16, ms.int32, ms.int64, ms.uint8, ms.uint16, ms.uint32, ms.uint64,
)  # fmt: skip


def filled(values, dtype, shape):
    """Return a tensor of values; of any, if none are given."""
    if isinstance(values, list) and not values:
        return mint.empty(tuple(shape), dtype=dtype)
    return ms.Tensor(values, dtype).reshape(tuple(shape))


def gradient(function, grad_out, x):
    """Return the gradient of a function at x."""
    _, backward = ms.vjp(function, x)
    return backward(grad_out)[0]


def uniform(dtype, shape, low, high, seed):
    """Return uniform numbers, by default of the whole range of the dtype; integers to the limit."""
    kind = np.dtype(str(dtype).lower())
    if kind.kind not in "iuf":
        raise Unsupported(f"MindSpore draws no uniform numbers of {kind}")
    limits = np.iinfo(kind) if kind.kind in "iu" else np.finfo(kind)
    low, high = limits.min if low is None else low, limits.max if high is None else high
    if kind.kind in "iu":
        return ops.randint(int(low), int(high) + 1, shape, seed, dtype=dtype)
    return ops.uniform(shape, ms.Tensor(low, dtype), ms.Tensor(high, dtype), seed, dtype)


def behind(start, limit, step, dtype):
    """Return an end for arange, which excludes it, so that the limit is included."""
    n = count(start, limit, step, 0.0 if dtype in INTEGERS else 1e-6)
    final = start + step * (n - 1)
    return final + (1 if step > 0 else -1) if dtype in INTEGERS else final + step / 2


def integers(x, y):
    """Tell whether integers are divided: none is a float, and not both are bool."""
    kinds = [v.dtype if isinstance(v, ms.Tensor) else type(v) for v in (x, y)]
    return all(k in (*INTEGERS, ms.bool_, int, bool) for k in kinds) and any(
        k in (*INTEGERS, int) for k in kinds
    )


def padded(x, widths, value, mode):
    """Return a tensor with more around it; MindSpore's pad begins with the last axis."""
    backwards = [n for pair in widths[::-1] for n in pair]
    if mode == "PAD_CONST":
        return ops.pad(x, backwards, "constant", value)
    if mode == "PAD_MIRROR":
        return nn.Pad(tuple(widths), "SYMMETRIC")(x)
    if mode != "PAD_PERIOD":
        raise ValueError(f"there is no mode {mode}")
    if x.ndim not in (1, 2, 3):
        raise Unsupported("MindSpore pads periodically along one to three axes")
    found = ops.pad(x.reshape((1, 1, *x.shape)), backwards, "circular")
    return found.reshape(found.shape[2:])


def reduced(x, mode, axis, keep):
    """Reduce by one of the modes that MindSpore has."""
    if mode == "SUM":
        return ops.sum(x, axis, keep)
    if mode == "PROD":
        return ops.prod(x, axis, keep)
    if mode in ("MAX", "MIN"):
        return (ops.amax if mode == "MAX" else ops.amin)(x, axis, keep)
    if mode == "MEAN":
        return ops.mean(x, axis, keep)
    if mode in ("LAND", "LOR"):
        return (ops.all if mode == "LAND" else ops.any)(x, axis, keep)
    raise Unsupported(f"MindSpore has no reduction by {mode}")


def running(x, axis, dtype):
    """Return running sums; -1 is along all elements in a row."""
    return ops.cumsum(x.reshape(-1), 0, dtype) if axis == -1 else ops.cumsum(x, axis, dtype)


def columns(found):
    """Return the columns of a matrix, one tensor each."""
    return [found[:, i] for i in range(found.shape[1])]


def c2c(x, axes, normalization, forward):
    """Return a complex Fourier transform."""
    return (ops.fftn if forward else ops.ifftn)(x, None, axes, norm_name(normalization, forward))


def r2c(x, axes, normalization, forward, onesided):
    """Return a Fourier transform of real numbers; backwards it is ihfftn."""
    if onesided:
        transform = ops.rfftn if forward else ops.ihfftn
    else:
        transform = ops.fftn if forward else ops.ifftn
    return transform(x, None, axes, norm_name(normalization, forward))


def c2r(x, axes, normalization, forward, size):
    """Return a Fourier transform to real numbers; forwards it is hfftn."""
    sizes = [x.shape[a] for a in axes[:-1]] + [size]
    return (ops.hfftn if forward else ops.irfftn)(x, sizes, axes, norm_name(normalization, forward))


def half_spectrum(x, axis):
    """Return zeros of the shape of half a spectrum."""
    shape = list(x.shape)
    shape[axis] = shape[axis] // 2 + 1
    return ops.zeros(tuple(shape), ms.complex128 if x.dtype == ms.float64 else ms.complex64)


def qr(mat, mode):
    """Return Q and R; MindSpore has no mode without Q."""
    q, r = ops.qr(mat, "reduced" if mode == "r" else mode)
    return (None, r) if mode == "r" else (q, r)


def svd(mat, reduced):
    """Return U, S as a matrix, and V; MindSpore has S as a row of numbers."""
    s, u, v = ops.svd(mat, full_matrices=not reduced)
    rows, columns = u.shape[-1], v.shape[-1]
    across = ops.expand_dims(s, -1 if s.shape[-1] == rows else -2)
    return u, ops.eye(rows, columns, s.dtype) * across, v


def as_columns(mat, rhs):
    """Return right-hand sides as a matrix: MindSpore has no single ones."""
    return ops.expand_dims(rhs, -1) if rhs.ndim < mat.ndim else rhs


def as_given(x, rhs):
    """Return solutions as the right-hand sides were given."""
    return ops.squeeze(x, -1) if rhs.ndim < x.ndim else x


def norm(x, order, axis, keep):
    """Return a norm: of two axes, one of matrices."""
    if axis and len(axis) > 1:
        return ops.matrix_norm(x, order, tuple(axis), keep)
    return ops.vector_norm(x, order, axes(axis), keep)


def laid(x, layout):
    """Return a tensor with the same elements that is a view with another memory layout."""
    raw = x.asnumpy()
    if layout == "columns":
        return ops.transpose(of_array(raw.T, x), tuple(range(raw.ndim))[::-1])
    if layout == "gaps":
        wide, every = np.ones([2 * n for n in raw.shape], raw.dtype), slice(None, None, 2)
        wide[(every,) * raw.ndim] = raw
        return of_array(wide, x)[(every,) * raw.ndim] if raw.ndim else x
    if layout == "offset":
        wide = np.concatenate([np.ones(3, raw.dtype), raw.reshape(-1)])
        return of_array(wide, x)[3:].reshape(raw.shape)
    if layout == "repeated":
        return mint.broadcast_to(of_array(thinned(raw), x), raw.shape)
    raise Unsupported(f"MindSpore has no {layout} tensors: a stride is never negative")


def of_array(array, x):
    """Return an array as a tensor of the dtype of x; bfloat16 is given by its bits."""
    array = np.array(array, order="C")
    if x.dtype == ms.bfloat16:
        return ms.Tensor(array.view(np.int16)).view(ms.bfloat16)
    return ms.Tensor(array)


class Adapter(Framework):
    """MindSpore."""

    name, title, version, rules = "mindspore", "MindSpore", ms.__version__, "mindspore"
    mapping, missing, names = MAPPING, MISSING, globals()
    dtypes = {
        "bool": ms.bool_,
        **named(ms, "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        **named(ms, "float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
    }
    literal = "ms.Tensor({values}, {dtype}).reshape({shape})"
    spelled, spellings = "ms.{dtype}", {"bool": "ms.bool_"}
    no_kernel = (
        "unregistered", "Unsupported data type", "KernelMod Init Failed", "unsupported data type",
        "Unsupported op", "not support", "doesn't support", "Not support", "Kernel select failed",
        "must be a type of {", "the type of input must be in {", "should be one of [",
        "must be in (float",
        "'dtype' must be a",
    )  # fmt: skip
    notes = [
        "MindSpore has no status codes: whatever it raises counts as a refusal.",
        "It runs on the CPU in PYNATIVE mode with launch_blocking, one operator at a time.",
        "The functions are those of mindspore.ops: mindspore.mint has few kernels for the CPU.",
        "float8_e4m3fn and float8_e5m2 are there, but no operator for the CPU takes them.",
    ]

    def transposed(self, x, axes):
        """Return a view with these axes."""
        return ops.transpose(x, tuple(axes))

    def dense(self, data, dtype):
        """Return a tensor."""
        if data.dtype == "bfloat16":
            x = ms.Tensor(np.frombuffer(data.raw, "int16").reshape(data.shape)).view(dtype)
        else:
            x = ms.Tensor(np.frombuffer(data.raw, data.dtype).reshape(data.shape).copy())
        try:
            return x if data.layout == "dense" else laid(x, data.layout)
        except (TypeError, RuntimeError) as error:
            words = str(error).strip().splitlines()[0]
            raise Unsupported(f"MindSpore has no such view of {data.dtype}: {words}") from None

    def sparse(self, data):
        """Return a sparse tensor."""
        dense = np.frombuffer(data.raw, data.dtype).reshape(data.shape)
        where = np.argwhere(dense)
        return ms.COOTensor(ms.Tensor(where), ms.Tensor(dense[tuple(where.T)]), data.shape)

    def read(self, x):
        """Return a tensor as data."""
        kind = None
        if isinstance(x, ms.COOTensor):
            try:
                x, kind = x.to_dense(), "COO"
            except TypeError:
                raise Unsupported(f"MindSpore makes no sparse {x.dtype} dense") from None
        shape, values = tuple(x.shape), np.ascontiguousarray(x.asnumpy())
        return Data(str(x.dtype).lower(), shape, values.tobytes(), sparse=kind)

    def settled(self, found):
        """Wait for the outputs, so that an error belongs to this call."""
        for x in found if type(found) in (list, tuple) else (found,):
            if isinstance(x, ms.Tensor):
                x.asnumpy()
        return found
