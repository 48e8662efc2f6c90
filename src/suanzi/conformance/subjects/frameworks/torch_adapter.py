"""PyTorch as a subject."""

import importlib
import os
import warnings

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # or its products vary from run to run

import torch
from frameworks import nn_torch
from frameworks.common import Framework, axes, named, spread, torch_like
from frameworks.nn_torch import (
    adamw_step,
    attention,
    averaged,
    batch_norm,
    causal,
    classes,
    cosine,
    delta_rule,
    gates,
    gradients,
    grouped,
    gumbel,
    labels,
    lengths,
    masked,
    permutation,
    pooled,
    quantised,
    rotated,
    scaled,
    shifted,
    spread_blocks,
    wide,
)
from wire import Data, Unsupported

warnings.simplefilter("ignore")
torch.set_num_threads(1)
torch.use_deterministic_algorithms(True, warn_only=True)

MAPPING = {
    **torch_like(
        "torch",
        "duplicate=clone size=numel expand_dims=unsqueeze concat=cat clip=clamp mod=remainder "
        "expand=broadcast_to equal=eq not_equal=ne greater=gt greater_equal=ge less=lt "
        "less_equal=le",
    ),
    # 7.2.1 creation
    "create_tensor": "filled(values, dtype, shape, device)",
    "wrap_tensor": "filled(values, dtype, shape, device, copy=None)",
    "zeros": "torch.zeros(shape, dtype=dtype, device=device.lower())",
    "full": "torch.full(shape, value, dtype=dtype, device=device.lower())",
    "empty": "torch.empty(shape, dtype=dtype, device=device.lower())",
    "rand_uniform": "uniform(generator(seed), dtype, shape, min, max)",
    "rand_normal": "torch.empty(shape, dtype=dtype).normal_(mean, std, generator=generator(seed))",
    "rand_bernoulli": "torch.bernoulli(input, generator=generator(seed))",
    "multinomial": "torch.multinomial(input, num_samples, replacement, generator=generator(seed))",
    "randperm": "torch.randperm(len, dtype=dtype, generator=generator(seed))",
    "range": "torch.range(start, limit, step, dtype=dtype, device=device.lower())",
    "linspace": "torch.linspace(start, stop, num, dtype=dtype, device=device.lower())",
    "create_sparse_tensor": "torch.sparse_coo_tensor(torch.asarray(indices).T, "
    "torch.asarray(values), shape, dtype=dtype, device=device.lower(), check_invariants=True)",
    # 7.2.2 query
    "shape": "torch.tensor(input.shape, dtype=torch.int32)",
    "rank": "input.dim()",
    # 7.2.3 transformation
    "cast": "input.to(type)",
    "squeeze": "torch.squeeze(input, tuple(axis)) if axis else torch.squeeze(input)",
    "transpose": "torch.permute(input, inverse_order(perm) or tuple(range(input.dim()))[::-1])",
    "split": "list(torch.split(input, split_sizes, axis) if split_sizes "
    "else torch.chunk(input, nsplit, axis))",
    "unstack": "list(torch.unbind(input, axis))",
    "slice_backward": "gradient(lambda x: x[boxes(begin, size, step)], input, grad_out)",
    "roll": "torch.roll(input, shifts, axis or None)",
    "clip_backward": "gradient(lambda x: torch.clamp(x, low, high), input, grad_out)",
    "scatter": "torch.index_put(input, coordinates(index), updates, accumulate=not override)",
    # 7.2.4 arithmetic
    "muladd": "torch.addcmul(a, x, y)",
    "div": "torch.div(x, y, rounding_mode='trunc' if whole(x, y) else None)",
    "trace": "torch.sum(torch.diagonal(x, offset, dim0, dim1), -1)",
    "trace_backward": "gradient(lambda x: torch.sum(torch.diagonal(x, offset, dim0, dim1), -1), "
    "zeros(input_shape, grad_y), grad_y)",
    # 7.2.5 comparison
    "allclose": "torch.tensor([torch.allclose(x, y, rtol, atol, equal_nan)])",
    # 7.2.13 reduction
    "reduce_bwd": "gradient(lambda x: reduced(x, mode, axes(axis), keep_dims), input, out_grad)",
    "cumsum": "summed(input, axis, dtype)",
    "cumsum_bwd": "gradient(lambda x: summed(x, axis), zeros(input_shape or out_grad.shape, "
    "out_grad), out_grad)",
    # 7.2.14 indexing
    "argmax": "torch.argmax(input, axis, keepdim).to(dtype)",
    "argmin": "torch.argmin(input, axis, keepdim).to(dtype)",
    "argsort": "tuple(torch.sort(input, stable=True, dim=axis, descending=descending))",
    "argsort_bwd": "gradient(lambda x: torch.gather(x, axis, indices), zeros(out_grad.shape, "
    "out_grad), out_grad)",
    "nonzero": "list(torch.nonzero(input, as_tuple=True)) if as_tuple else torch.nonzero(input)",
    # 7.2.16 signal
    "fft_c2c": "c2c(input, last(axes), norm_name(normalization, forward), forward)",
    "fft_c2c_backward": "gradient(lambda x: c2c(x, last(axes), norm_name(normalization, forward), "
    "forward), zeros(grad_out.shape, grad_out), grad_out)",
    "fft_r2c": "r2c(input, last(axes), norm_name(normalization, forward), forward, onesided)",
    "fft_r2c_backward": "gradient(lambda x: r2c(x, last(axes), norm_name(normalization, forward), "
    "forward, grad_out.shape[last(axes)[-1]] != x.shape[last(axes)[-1]]), input, grad_out)",
    "fft_c2r": "c2r(input, last(axes), norm_name(normalization, forward), forward, last_dim_size)",
    "fft_c2r_backward": "gradient(lambda x: c2r(x, last(axes), norm_name(normalization, forward), "
    "forward, grad_out.shape[last(axes)[-1]]), half(grad_out, last(axes)[-1]), grad_out)",
    # 7.2.17 linear algebra
    "dot_bwd1": "gradient(lambda x: dot(x, vec2), vec1, out_grad)",
    "dot_bwd2": "gradient(lambda x: dot(vec1, x), vec2, out_grad)",
    "cholesky": "torch.linalg.cholesky(mat, upper={'U': True, 'L': False}[upper])",
    "qr": "(None, torch.linalg.qr(mat, 'r').R) if mode == 'r' else tuple(torch.linalg.qr(mat, "
    "mode))",
    "solve": "torch.linalg.solve(mat.mH if adjoint else mat, rhs)",
    "lstsq": "lstsq(mat, rhs, torch.finfo(mat.dtype).eps if prec is None else prec)",
    "linear": "torch.nn.functional.linear(x, weight, bias)",
    "linear_bwd_in": "gradient(lambda x: torch.nn.functional.linear(x, weight), "
    "zeros((*out_grad.shape[:-1], weight.shape[-1]), weight), out_grad)",
    "linear_bwd_weight": "gradient(lambda x: torch.nn.functional.linear(input, x), "
    "zeros((out_grad.shape[-1], input.shape[-1]), input), out_grad)",
    "bilinear": "torch.nn.functional.bilinear(x, y, weight, bias)",
    "bilinear_bwd_in1": "gradient(lambda x: torch.nn.functional.bilinear(x, y, weight), "
    "zeros((*out_grad.shape[:-1], weight.shape[1]), y), out_grad)",
    "bilinear_bwd_in2": "gradient(lambda y: torch.nn.functional.bilinear(x, y, weight), "
    "zeros((*out_grad.shape[:-1], weight.shape[2]), x), out_grad)",
    "bilinear_bwd_weight": "gradient(lambda w: torch.nn.functional.bilinear(x, y, w), "
    "zeros((out_grad.shape[-1], x.shape[-1], y.shape[-1]), x), out_grad)",
    # 7.2.18 interpolation
    "interpolate": "torch.nn.functional.interpolate(input, size or None, None if size else "
    "scale_factor, mode, False if 'linear' in mode else None, None if size else True)",
    **nn_torch.MAPPING,
}
"""The standard's interfaces in PyTorch."""

MISSING = {
    "create_quant_tensor": (
        "PyTorch makes quantised tensors from real numbers, not from the integers stored, and has "
        "none of 16 bits"
    ),
    "destroy": "PyTorch frees tensors by itself",
}
"""What PyTorch does not have, and why."""

ROUNDINGS = {
    "DOWNWARD": torch.floor, "UPWARD": torch.ceil, "TOWARDZERO": torch.trunc,
    "TONEAREST": torch.round,
}  # fmt: skip


def gradient(function, x, grad):
    """Return the gradient of a function at x, given that of its result."""
    x = x.detach().requires_grad_()
    return torch.autograd.grad(function(x), x, grad)[0]


def zeros(shape, like):
    """Return zeros of the dtype of another tensor: where the gradient does not depend on x."""
    return torch.zeros(tuple(shape), dtype=like.dtype, device=like.device)


def generator(seed):
    """Return random numbers; 0 is no seed."""
    random = torch.Generator(torch.get_default_device())
    if seed:
        random.manual_seed(seed)
    else:
        random.seed()
    return random


def filled(values, dtype, shape, device, copy=True):
    """Return a tensor of values; of any, if none are given."""
    if values is None:
        return torch.empty(shape, dtype=dtype, device=device.lower())
    values = torch.asarray(values, dtype=dtype, device=device.lower(), copy=copy)
    return values.reshape(shape) if values.numel() else torch.empty(shape, dtype=dtype)


def uniform(random, dtype, shape, low, high):
    """Return uniform numbers; for integers PyTorch has the upper end excluded."""
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, dtype=dtype, generator=random)
    if dtype.is_complex:
        raise Unsupported("PyTorch draws no uniform complex numbers")
    real = dtype.is_floating_point
    limits = torch.finfo(dtype) if real else torch.iinfo(dtype)
    low, high = limits.min if low is None else low, limits.max if high is None else high
    if real:
        return torch.empty(shape, dtype=dtype).uniform_(low, high, generator=random)
    return torch.randint(low, high + 1, shape, dtype=dtype, generator=random)


def padded(x, widths, value, mode):
    """Return a tensor with more around it; PyTorch counts axes from the last one."""
    flat = [n for pair in reversed(widths) for n in pair]
    if mode == "PAD_CONST":
        return torch.nn.functional.pad(x, flat, "constant", value)
    if mode == "PAD_MIRROR":
        raise Unsupported("PyTorch has no padding that mirrors the edge, too")
    # Other kinds of padding leave the first two axes alone.
    return torch.nn.functional.pad(x[None, None], flat, {"PAD_PERIOD": "circular"}[mode])[0, 0]


def coordinates(index):
    """Return an index as PyTorch takes it: the standard's last axis is that of the coordinates."""
    return (index,) if index.dim() == 1 else torch.unbind(index, -1)


def whole(*operands):
    """Tell whether all operands are integers."""
    return not any(
        x.is_floating_point() or x.is_complex() if isinstance(x, torch.Tensor)
        else isinstance(x, (float, complex)) for x in operands
    )  # fmt: skip


def reduced(x, mode, axes, keep):
    """Return a reduction."""
    if mode == "PROD":
        dims = sorted(a % max(x.dim(), 1) for a in (range(x.dim()) if axes is None else axes))
        if not dims:
            return torch.prod(x)
        for axis in reversed(dims):
            x = torch.prod(x, axis, keep)
        return x
    if mode in ("MAX", "MIN"):
        return (torch.amax if mode == "MAX" else torch.amin)(x, axes or (), keep)
    if mode in ("LXOR", "BAND", "BOR", "BXOR"):
        raise Unsupported(f"PyTorch has no reduction {mode}")
    functions = {"SUM": torch.sum, "MEAN": torch.mean, "LAND": torch.all, "LOR": torch.any}
    return functions[mode](x, dim=axes, keepdim=keep)


def summed(x, axis, dtype=None):
    """Return running sums; -1 stands for all elements in a row."""
    if axis == -1:
        return torch.cumsum(torch.flatten(x), 0, dtype=dtype)
    return torch.cumsum(x, axis, dtype=dtype)


def c2c(x, axes, norm, forward):
    """Return a complex Fourier transform."""
    return (torch.fft.fftn if forward else torch.fft.ifftn)(x, dim=axes, norm=norm)


def r2c(x, axes, norm, forward, onesided):
    """Return a Fourier transform of real numbers."""
    if not onesided:
        return c2c(x, axes, norm, forward)
    return (torch.fft.rfftn if forward else torch.fft.ihfftn)(x, dim=axes, norm=norm)


def c2r(x, axes, norm, forward, size):
    """Return a Fourier transform to real numbers."""
    sizes = [x.shape[a] for a in axes[:-1]] + [size]
    return (torch.fft.hfftn if forward else torch.fft.irfftn)(x, sizes, axes, norm)


def half(grad, axis):
    """Return zeros as the input of a transform to real numbers has them."""
    shape = list(grad.shape)
    shape[axis] = shape[axis] // 2 + 1
    return torch.zeros(shape, dtype=grad.dtype.to_complex(), device=grad.device)


def dot(x, y):
    """Return a product as NumPy's dot has it; PyTorch's own takes two rows only."""
    if x.dim() == y.dim() == 1:
        return torch.dot(x, y)
    if not x.dim() or not y.dim():
        return torch.mul(x, y)
    return torch.matmul(x, y) if y.dim() == 1 else torch.tensordot(x, y, ([-1], [-2]))


def lu(x):
    """Return a packed LU decomposition; PyTorch counts rows from 1."""
    found, pivots = torch.linalg.lu_factor(x)
    return found, pivots - 1


def svd(x, reduced):
    """Return U, S as a matrix, and V, which PyTorch has as a row of numbers and as V^H."""
    u, s, vh = torch.linalg.svd(x, full_matrices=not reduced)
    sigma = zeros((*x.shape[:-2], u.shape[-1], vh.shape[-2]), s)
    torch.diagonal(sigma, dim1=-2, dim2=-1).copy_(s)
    return u, sigma, vh.mH


def lstsq(x, rhs, prec):
    """Return a least-squares solution; PyTorch takes no single row on the right."""
    if rhs.dim() == 1:
        return lstsq(x, rhs[:, None], prec)[:, 0]
    # The driver that cuts at singular values; the default one does at other numbers.
    driver = "gels" if x.is_cuda else "gelsd"  # CUDA has no other
    return torch.linalg.lstsq(x, rhs, rcond=prec, driver=driver).solution


def norm(x, order, axis, keep):
    """Return a norm: of two axes, one of matrices."""
    if axis and len(axis) > 1:
        return torch.linalg.matrix_norm(x, order, tuple(axis), keep)
    return torch.linalg.vector_norm(x, order, axes(axis), keep)


def laid(x, layout):
    """Return a tensor with the same elements in another memory layout."""
    if layout == "columns":
        view = torch.empty(x.shape[::-1], dtype=x.dtype).permute(tuple(range(x.dim()))[::-1])
    elif layout == "gaps":
        wide = torch.ones([2 * n for n in x.shape]).to(x.dtype)
        view = wide[tuple(slice(None, None, 2) for _ in x.shape)]
    elif layout == "offset":
        view = torch.ones(x.numel() + 3).to(x.dtype)[3:].reshape(x.shape)
    elif layout == "repeated":
        view = x
        for axis, n in enumerate(x.shape):
            first = view.narrow(axis, 0, min(n, 1))
            view = first if _bytes(first.expand(view.shape)) == _bytes(view) else view
        return view.clone().expand(x.shape)
    else:
        raise Unsupported(f"PyTorch has no tensors that lie {layout} in memory")
    view.copy_(x)
    return view


EXTENSIONS = {"npu": "torch_npu", "mlu": "torch_mlu", "musa": "torch_musa"}
"""The packages that bring a device of another vendor."""


def described(device):
    """Return a device with the chip, its driver and the version of CUDA, where they are known."""
    if not device.startswith("cuda"):
        return device
    facts = [torch.cuda.get_device_name(device), f"CUDA {torch.version.cuda}"]
    try:
        with open("/proc/driver/nvidia/version") as file:
            facts.append("driver " + file.readline().split("  ")[1].split()[0])
    except (OSError, IndexError):
        pass
    return f"{device} ({', '.join(facts)})"


class Adapter(Framework):
    """PyTorch."""

    name, title, version, rules = "torch", "PyTorch", torch.__version__, "torch"
    mapping, missing, names = MAPPING, MISSING, globals()
    dtypes = named(
        torch,
        *("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3fn float8_e5m2 "
        "float16 bfloat16 float32 float64 complex32 complex64 complex128").split(),
    )  # fmt: skip
    literal, spelled = "torch.tensor({values}, dtype={dtype})", "torch.{dtype}"
    bits = "torch.frombuffer(bytearray.fromhex({hex}), dtype={dtype}).reshape({shape})"
    by_bits = ("complex32", "uint64")
    no_kernel = (
        "not implemented for", "NotImplementedError", "can require gradients",
        "Low precision dtypes not supported", "doesn't support tensors of type",
        "but found ComplexHalf",  # pocketfft's message; MKL's differed
        "powers of two when computing in half precision",
        "Unsupported dtype", "does not support automatic differentiation",
        "Unknown Complex ScalarType", "Promotion for Float8 Types is not supported",
        "both grad_output and output are required to have the same dtype",
    )  # fmt: skip
    notes = [
        "PyTorch has no status codes: whatever it raises counts as a refusal.",
        "With deterministic algorithms; on the CPU, on one thread.",
        "Gradients come from torch.autograd.",
        "Sparse tensors are made with check_invariants=True: without it, indices out of range are "
        "taken, and to_dense() writes outside of its memory.",
    ]

    lost = ("CUDA error", "device-side assert", "NPU error", "XPU error")

    def placed(self, device):
        """Make all tensors on a device from now on, and return notes about it."""
        kind = device.partition(":")[0]
        try:
            if kind in EXTENSIONS:
                importlib.import_module(EXTENSIONS[kind])
            torch.set_default_device(device)
            torch.zeros(1).cpu()
        except Exception as error:
            raise self.without(device, error) from None
        self.placing = f"torch.set_default_device({device!r})"
        self.bits = f"{self.bits}.to({device!r})"
        return [f"On {described(device)}; tensors are made there and read back."]

    def settled(self, found):
        """Return outputs once they are computed: an error belongs to the call that made it."""
        if self.device and not self.device.startswith("cpu"):
            torch.accelerator.synchronize()
        return found

    def transposed(self, x, axes):
        """Return a view with these axes."""
        return x.permute(axes)

    def dense(self, data, dtype):
        """Return a tensor."""
        if not data.raw:
            return torch.empty(data.shape, dtype=dtype)
        x = torch.frombuffer(bytearray(data.raw), dtype=torch.uint8).clone()
        x = x.view(dtype).reshape(data.shape).to(torch.get_default_device())
        return x if data.layout == "dense" else laid(x, data.layout)

    def sparse(self, data):
        """Return a sparse tensor."""
        return self.dense(
            Data(data.dtype, data.shape, data.raw), self.dtype(data.dtype)
        ).to_sparse()

    def read(self, x):
        """Return a tensor as data."""
        if not isinstance(x, torch.Tensor):
            raise TypeError(f"PyTorch gave a {type(x).__name__}")
        name = str(x.dtype).partition(".")[2]
        if x.is_sparse:
            return Data(name, tuple(x.shape), self._dense_bytes(x), sparse="COO")
        return Data(name, tuple(x.shape), _bytes(x))

    def _dense_bytes(self, x):
        """Return all elements of a sparse tensor; to_dense adds, which changes NaN and infinity."""
        places = x._indices().T.tolist()
        if len({tuple(place) for place in places}) < len(places):
            try:
                return _bytes(x.to_dense())
            except NotImplementedError as error:
                raise Unsupported(str(error).splitlines()[0]) from None
        return spread(x.shape, x.dtype.itemsize, places, _bytes(x._values()))


def _bytes(x):
    """Return the elements in row-major order."""
    if not x.numel():
        return b""
    plain = x.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    return plain.reshape(-1).cpu().view(torch.uint8).numpy().tobytes()
