# ruff: noqa: E501
"""The names of suanzi.interface; written by tools/write_names.py."""

from typing import Any

from suanzi.base.device import Device, DeviceType
from suanzi.base.layout import Layout, LayoutType
from suanzi.base.status import Status
from suanzi.faces.interface.calling import REQUIRED, Answer, last_error
from suanzi.faces.interface.printed import (
    STATUS_ALLOC_FAILED,
    STATUS_AXIS_ARGUMENT,
    STATUS_DIMENSIONS_MISMATCH,
    STATUS_INTERNAL_ERROR,
    STATUS_INVALID_ARGUMENT,
    STATUS_OUT_OF_RANGE,
    STATUS_SUCCESS,
    STATUS_TYPE_MISMATCH,
    STATUS_UNINITIALIZED_OBJECT,
    TransType,
    kBool,
    kChar,
    kComplex,
    kCPU,
    kCSR,
    kDense,
    kGPU,
    kInt,
    kReal,
    kUInt,
    op_ifft,
)
from suanzi.faces.interface.structures import DataType, Shape, StorageImpl, TensorImpl, TypeCode
from suanzi.ops import PadMode, ReduceMode, RoundMode
from suanzi.ops.libraries.fft import FFTNormMode

__all__ = [
    "STATUS_ALLOC_FAILED", "STATUS_AXIS_ARGUMENT", "STATUS_DIMENSIONS_MISMATCH",
    "STATUS_INTERNAL_ERROR", "STATUS_INVALID_ARGUMENT", "STATUS_OUT_OF_RANGE", "STATUS_SUCCESS",
    "STATUS_TYPE_MISMATCH", "STATUS_UNINITIALIZED_OBJECT", "Answer", "DataType", "Device",
    "DeviceType", "FFTNormMode", "Layout", "LayoutType", "PadMode", "ReduceMode", "RoundMode",
    "Shape", "Status", "StorageImpl", "TensorImpl", "TransType", "TypeCode", "kBool", "kCPU",
    "kCSR", "kChar", "kComplex", "kDense", "kGPU", "kInt", "kReal", "kUInt", "last_error", "op_abs",
    "op_acos", "op_acosh", "op_add", "op_allclose", "op_argmax", "op_argmin", "op_argsort",
    "op_argsort_bwd", "op_asin", "op_asinh", "op_atan", "op_atanh", "op_bilinear",
    "op_bilinear_bwd_in1", "op_bilinear_bwd_in2", "op_bilinear_bwd_weight", "op_bitwise_and",
    "op_bitwise_invert", "op_bitwise_left_shift", "op_bitwise_not", "op_bitwise_or",
    "op_bitwise_right_shift", "op_bitwise_xor", "op_cast", "op_ceil", "op_cholesky", "op_clip",
    "op_clip_backward", "op_complex", "op_concat", "op_conj", "op_contiguous", "op_cos", "op_cosh",
    "op_create_quant_tensor", "op_create_sparse_tensor", "op_create_tensor", "op_crop", "op_cumsum",
    "op_cumsum_bwd", "op_destroy", "op_diag", "op_div", "op_dot", "op_dot_bwd1", "op_dot_bwd2",
    "op_duplicate", "op_eig", "op_empty", "op_equal", "op_exp", "op_expand", "op_expand_dims",
    "op_expm1", "op_expml", "op_ffft_c2c", "op_fft_c2c", "op_fft_c2c_backward", "op_fft_c2r",
    "op_fft_c2r_backward", "op_fft_r2c", "op_fft_r2c_backward", "op_flatten", "op_flip", "op_floor",
    "op_floordiv", "op_full", "op_gather", "op_greater", "op_greater_equal", "op_has_inf",
    "op_has_nan", "op_ifft", "op_imag", "op_interpolate", "op_inverse", "op_is_contiguous",
    "op_is_finite", "op_is_inf", "op_is_nan", "op_isfinite", "op_less", "op_less_equal",
    "op_linear", "op_linear_bwd_in", "op_linear_bwd_weight", "op_linspace", "op_log", "op_log1p",
    "op_log2", "op_log10", "op_logical_and", "op_logical_not", "op_logical_or", "op_logical_xor",
    "op_loglp", "op_lstsq", "op_lu", "op_masked_select", "op_matmul", "op_max", "op_meshgrid",
    "op_min", "op_mod", "op_mul", "op_muladd", "op_multinomial", "op_nonzero", "op_norm",
    "op_not_equal", "op_pad", "op_pow", "op_qr", "op_rand_bernoulli", "op_rand_normal",
    "op_rand_uniform", "op_randperm", "op_range", "op_rank", "op_real", "op_reciprocal",
    "op_reduce", "op_reduce_bwd", "op_reshape", "op_reverse", "op_rint", "op_roll", "op_round",
    "op_rsqrt", "op_rsqrtn", "op_scatter", "op_shape", "op_sign", "op_sin", "op_sinh", "op_size",
    "op_slice", "op_slice_backward", "op_solve", "op_split", "op_sqrt", "op_square", "op_squeeze",
    "op_stack", "op_sub", "op_svd", "op_tan", "op_tanh", "op_tile", "op_topk", "op_trace",
    "op_trace_backward", "op_transpose", "op_true_divide", "op_trunc", "op_unstack", "op_where",
    "op_wrap_tensor", "op_zeros",
]  # fmt: skip

def op_create_tensor(
    dtype: Any = "float32",
    device: Any = "cpu",
    shape: Any = REQUIRED,
    values: Any = REQUIRED,
    n_bytes: Any = None,
) -> Answer:
    """Return a new tensor with a copy of `values`; uninitialised if that is None or ()."""

def op_wrap_tensor(
    dtype: Any = "float32", device: Any = "cpu", shape: Any = REQUIRED, values: Any = ()
) -> Answer:
    """Return a tensor that shares the memory of `values` and keeps it alive."""

def op_zeros(dtype: Any = "float32", device: Any = "cpu", shape: Any = REQUIRED) -> Answer:
    """Return a new tensor of zeros."""

def op_full(dtype: Any = "float32", device: Any = "cpu", shape: Any = (), value: Any = 0) -> Answer:
    """Return a new tensor filled with `value`."""

def op_empty(dtype: Any = "float32", device: Any = "cpu", shape: Any = REQUIRED) -> Answer:
    """Return a new uninitialised tensor."""

def op_contiguous(input: Any = REQUIRED) -> Answer:
    """Return the input if it is contiguous in row-major order, else a contiguous copy."""

def op_rand_uniform(
    dtype: Any = "float32",
    device: Any = "cpu",
    shape: Any = REQUIRED,
    min: Any = None,
    max: Any = None,
    seed: Any = 0,
) -> Answer:
    """Return uniform random numbers from `min` to `max`, by default over the dtype's whole range."""

def op_rand_normal(
    dtype: Any = "float32",
    device: Any = "cpu",
    shape: Any = REQUIRED,
    mean: Any = 0,
    std: Any = 1,
    seed: Any = 0,
) -> Answer:
    """Return random numbers of the normal distribution."""

def op_rand_bernoulli(input: Any = REQUIRED, seed: Any = 0) -> Answer:
    """Return 1 with the probability given by each element of the input, else 0."""

def op_multinomial(
    input: Any = REQUIRED, num_samples: Any = 1, replacement: Any = True, seed: Any = 0
) -> Answer:
    """Return indices of the input, drawn with probabilities proportional to its elements."""

def op_randperm(
    dtype: Any = "float32", device: Any = "cpu", len: Any = REQUIRED, seed: Any = 0
) -> Answer:
    """Return the numbers from 0 to `len` - 1 in random order."""

def op_range(
    dtype: Any = "float32",
    device: Any = "cpu",
    start: Any = REQUIRED,
    limit: Any = REQUIRED,
    step: Any = REQUIRED,
) -> Answer:
    """Return the numbers from `start` to `limit`, which is included, in steps of `step`."""

def op_linspace(
    dtype: Any = "float32",
    device: Any = "cpu",
    start: Any = REQUIRED,
    stop: Any = REQUIRED,
    num: Any = REQUIRED,
) -> Answer:
    """Return `num` evenly spaced numbers from `start` to `stop`; both ends are exact."""

def op_create_sparse_tensor(
    dtype: Any = "float32",
    device: Any = "cpu",
    shape: Any = REQUIRED,
    indices: Any = REQUIRED,
    values: Any = REQUIRED,
    nnzs: Any = None,
) -> Answer:
    """Return a sparse tensor of the elements `values`, [nnz], at `indices`, [nnz, ndim]."""

def op_create_quant_tensor(
    dtype: Any = "QT_SYM_INT16",
    device: Any = "cpu",
    shape: Any = REQUIRED,
    values: Any = (),
    n_bytes: Any = None,
    scale: Any = REQUIRED,
    zero_point: Any = 0,
    channel_axis: Any = None,
) -> Answer:
    """Return a quantised tensor: integers that stand for (integer - zero_point) * scale."""

def op_duplicate(input: Any = REQUIRED) -> Answer:
    """Return a copy with its own memory and the same dtype, layout and quantisation."""

def op_diag(input: Any = REQUIRED) -> Answer:
    """Return the square matrix with a vector on its diagonal."""

def op_destroy(input: Any = REQUIRED) -> Answer:
    """Destroy a tensor: it can no longer be used. Memory that others share remains."""

def op_shape(input: Any = REQUIRED) -> Answer:
    """Return the shape as an int32 vector; `input.shape` is the same as a tuple."""

def op_is_finite(input: Any = REQUIRED) -> Answer:
    """Return whether each element is finite; a complex one is if both parts are."""

op_isfinite = op_is_finite

def op_is_inf(input: Any = REQUIRED) -> Answer:
    """Return whether each element is infinite; a complex one is if either part is."""

op_has_inf = op_is_inf

def op_is_nan(input: Any = REQUIRED) -> Answer:
    """Return whether each element is NaN; a complex one is if either part is."""

op_has_nan = op_is_nan

def op_size(input: Any = REQUIRED) -> Answer:
    """Return the number of elements."""

def op_rank(input: Any = REQUIRED) -> Answer:
    """Return the number of axes."""

def op_is_contiguous(input: Any = REQUIRED) -> Answer:
    """Return whether the elements are contiguous in row-major order."""

def op_cast(input: Any = REQUIRED, type: Any = "float32") -> Answer:
    """Return a copy in another dtype; each element is rounded once."""

def op_reshape(input: Any = REQUIRED, dims: Any = REQUIRED, ndim: Any = None) -> Answer:
    """Return the elements, in row-major order, in another shape."""

def op_expand_dims(input: Any = REQUIRED, axis: Any = 0) -> Answer:
    """Return a view with a new axis of size 1 at `axis`."""

def op_squeeze(input: Any = REQUIRED, axis: Any = (), num_axis: Any = None) -> Answer:
    """Return a view without axes of size 1: all of them, or those in `axis`."""

def op_transpose(input: Any = REQUIRED, perm: Any = (), perm_len: Any = None) -> Answer:
    """Return a view in which axis i of the input is axis ``perm[i]``; NumPy's perm is the inverse."""

def op_split(
    input: Any = REQUIRED, split_sizes: Any = REQUIRED, nsplit: Any = None, axis: Any = 0
) -> Answer:
    """Return views of consecutive parts of an axis, of given sizes."""

def op_concat(input_lists: Any = REQUIRED, len: Any = None, axis: Any = REQUIRED) -> Answer:
    """Return tensors joined along an axis, in the dtype they promote to."""

def op_stack(input_lists: Any = REQUIRED, len: Any = None, axis: Any = REQUIRED) -> Answer:
    """Return tensors of one shape joined along a new axis, in the dtype they promote to."""

def op_unstack(input: Any = REQUIRED, axis: Any = 0, num: Any = None) -> Answer:
    """Return the views at each index of an axis, without that axis."""

def op_slice(
    input: Any = REQUIRED, begin: Any = REQUIRED, size: Any = REQUIRED, step: Any = REQUIRED
) -> Answer:
    """Return a view of part of each axis: every `step`-th of the `size` indices from `begin` on."""

def op_slice_backward(
    grad_out: Any = REQUIRED,
    input: Any = None,
    begin: Any = None,
    size: Any = None,
    step: Any = None,
) -> Answer:
    """Return the gradient of `slice`: `grad_out` where it took elements from, and 0 elsewhere."""

def op_tile(input: Any = REQUIRED, repeats: Any = REQUIRED) -> Answer:
    """Return the input repeated along each axis as often as `repeats` gives."""

def op_pad(
    input: Any = REQUIRED,
    pad_width: Any = REQUIRED,
    pad_value: Any = 0,
    pad_mode: Any = "PAD_CONST",
) -> Answer:
    """Return the input with padding before and after it along each axis."""

def op_reverse(input: Any = REQUIRED, axis: Any = REQUIRED, axis_len: Any = None) -> Answer:
    """Return a view with the order along one or several axes reversed; the same as `flip`."""

def op_roll(
    input: Any = REQUIRED, shifts_len: Any = None, shifts: Any = REQUIRED, axis: Any = ()
) -> Answer:
    """Return the input shifted along axes; elements shifted out at the end reappear at the start."""

def op_crop(input: Any = REQUIRED, shape: Any = REQUIRED, offsets: Any = 0) -> Answer:
    """Return a view of a block of the input with a given shape, beginning at `offsets`."""

def op_clip(input: Any = REQUIRED, low: Any = None, high: Any = None) -> Answer:
    """Return the input limited to the range from `low` to `high`."""

def op_clip_backward(
    grad_out: Any = REQUIRED, low: Any = REQUIRED, high: Any = REQUIRED, input: Any = REQUIRED
) -> Answer:
    """Return the gradient of `clip`: `grad_out` where the input is within the bounds, else 0."""

def op_gather(input: Any = REQUIRED, index: Any = REQUIRED) -> Answer:
    """Return the elements or rows at indices."""

def op_scatter(
    input: Any = REQUIRED, index: Any = REQUIRED, updates: Any = REQUIRED, override: Any = True
) -> Answer:
    """Return the input with `updates` written at indices, as in `gather`."""

def op_expand(input: Any = REQUIRED, shape: Any = REQUIRED) -> Answer:
    """Return a view broadcast to a shape: along axes of size 1, and along new axes in front."""

def op_flatten(
    input: Any = REQUIRED, start_axis: Any = REQUIRED, stop_axis: Any = REQUIRED
) -> Answer:
    """Return the input with the axes from `start_axis` to `stop_axis`, inclusive, merged into one."""

def op_flip(input: Any = REQUIRED, axis: Any = REQUIRED) -> Answer:
    """Return a view with the order along one or several axes reversed."""

def op_sign(input: Any = REQUIRED) -> Answer:
    """Return 1, 0 or -1 for elements above, at or below zero; NaN for NaN."""

def op_where(condition: Any = REQUIRED, x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x where the condition is true, and y elsewhere; all three are broadcast."""

def op_meshgrid(input: Any = REQUIRED) -> Answer:
    """Return coordinate tensors of a grid: k vectors become k tensors of rank k."""

def op_masked_select(input: Any = REQUIRED, mask: Any = REQUIRED) -> Answer:
    """Return the elements where a mask is true as a vector, in row-major order."""

def op_add(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x + y, element by element."""

def op_sub(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x - y, element by element."""

def op_mul(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x * y, element by element."""

def op_muladd(x: Any = REQUIRED, y: Any = REQUIRED, a: Any = REQUIRED) -> Answer:
    """Return x * y + a, element by element; the product and the sum are each rounded."""

def op_div(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x / y: integers round towards zero, floats follow IEEE 754."""

def op_floordiv(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return the floor of x / y."""

def op_true_divide(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x / y in floating-point for all dtypes."""

def op_mod(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return the remainder of x / y with the sign of y: x = floordiv(x, y) * y + mod(x, y)."""

def op_max(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return the larger of x and y, element by element; NaN wins."""

def op_min(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return the smaller of x and y, element by element; NaN wins."""

def op_abs(x: Any = REQUIRED) -> Answer:
    """Return the magnitude of x; that of a complex tensor is real."""

def op_reciprocal(x: Any = REQUIRED) -> Answer:
    """Return 1 / x in floating-point."""

def op_trace(x: Any = REQUIRED, offset: Any = 0, dim0: Any = 0, dim1: Any = 1) -> Answer:
    """Return the sum along the diagonal of two axes."""

def op_trace_backward(
    grad_y: Any = REQUIRED,
    offset: Any = 0,
    dim0: Any = 0,
    dim1: Any = 1,
    input_shape: Any = REQUIRED,
) -> Answer:
    """Return the gradient of `trace`: `grad_y` along the diagonal of a tensor of zeros."""

def op_equal(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether x equals y, element by element."""

def op_not_equal(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether x differs from y, element by element."""

def op_greater(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether x is greater than y, element by element."""

def op_greater_equal(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether x is at least y, element by element."""

def op_less(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether x is less than y, element by element."""

def op_less_equal(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether x is at most y, element by element."""

def op_allclose(
    x: Any = REQUIRED,
    y: Any = REQUIRED,
    rtol: Any = 1e-05,
    atol: Any = 1e-08,
    equal_nan: Any = False,
) -> Answer:
    """Return whether every element of x is close to that of y: |x - y| <= atol + rtol |y|."""

def op_logical_and(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether both are true, element by element."""

def op_logical_or(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether at least one is true, element by element."""

def op_logical_not(x: Any = REQUIRED) -> Answer:
    """Return whether x is false, element by element."""

def op_logical_xor(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return whether exactly one is true, element by element."""

def op_bitwise_and(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x & y, bit by bit."""

def op_bitwise_or(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x | y, bit by bit."""

def op_bitwise_xor(x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x ^ y, bit by bit."""

def op_bitwise_not(x: Any = REQUIRED) -> Answer:
    """Return x with every bit inverted."""

op_bitwise_invert = op_bitwise_not

def op_bitwise_left_shift(x: Any = REQUIRED, shift: Any = 1) -> Answer:
    """Return x with its bits shifted left by `shift`; bits shifted out are lost."""

def op_bitwise_right_shift(x: Any = REQUIRED, shift: Any = 1) -> Answer:
    """Return x with its bits shifted right by `shift`; a signed integer keeps its sign."""

def op_pow(x: Any = REQUIRED, e: Any = REQUIRED) -> Answer:
    """Return x to the power e, element by element."""

def op_sqrt(x: Any = REQUIRED) -> Answer:
    """Return the square root of x; NaN below zero."""

def op_rsqrt(x: Any = REQUIRED) -> Answer:
    """Return 1 / sqrt(x); infinity at zero, with its sign, and NaN below."""

op_rsqrtn = op_rsqrt

def op_square(x: Any = REQUIRED) -> Answer:
    """Return x * x."""

def op_floor(x: Any = REQUIRED) -> Answer:
    """Return the largest whole number not above x."""

def op_ceil(x: Any = REQUIRED) -> Answer:
    """Return the smallest whole number not below x."""

def op_trunc(x: Any = REQUIRED) -> Answer:
    """Return x without its fraction."""

def op_round(x: Any = REQUIRED) -> Answer:
    """Return the nearest whole number, ties to even."""

def op_rint(x: Any = REQUIRED, mode: Any = REQUIRED) -> Answer:
    """Return x rounded to a whole number in one of four modes."""

def op_sin(x: Any = REQUIRED) -> Answer:
    """Return the sine of x, an angle in radians."""

def op_cos(x: Any = REQUIRED) -> Answer:
    """Return the cosine of x, an angle in radians."""

def op_tan(x: Any = REQUIRED) -> Answer:
    """Return the tangent of x, an angle in radians."""

def op_asin(x: Any = REQUIRED) -> Answer:
    """Return the angle between -pi/2 and pi/2 whose sine is x; NaN outside [-1, 1]."""

def op_acos(x: Any = REQUIRED) -> Answer:
    """Return the angle between 0 and pi whose cosine is x; NaN outside [-1, 1]."""

def op_atan(x: Any = REQUIRED) -> Answer:
    """Return the angle between -pi/2 and pi/2 whose tangent is x."""

def op_sinh(x: Any = REQUIRED) -> Answer:
    """Return the hyperbolic sine of x."""

def op_cosh(x: Any = REQUIRED) -> Answer:
    """Return the hyperbolic cosine of x."""

def op_tanh(x: Any = REQUIRED) -> Answer:
    """Return the hyperbolic tangent of x."""

def op_asinh(x: Any = REQUIRED) -> Answer:
    """Return the number whose hyperbolic sine is x."""

def op_acosh(x: Any = REQUIRED) -> Answer:
    """Return the nonnegative number whose hyperbolic cosine is x; NaN below 1."""

def op_atanh(x: Any = REQUIRED) -> Answer:
    """Return the number whose hyperbolic tangent is x; infinite at -1 and 1, NaN outside."""

def op_exp(x: Any = REQUIRED) -> Answer:
    """Return e to the power x."""

def op_expm1(x: Any = REQUIRED) -> Answer:
    """Return exp(x) - 1, accurate near zero."""

op_expml = op_expm1

def op_log(x: Any = REQUIRED) -> Answer:
    """Return the natural logarithm of x; minus infinity at zero, NaN below."""

def op_log1p(x: Any = REQUIRED) -> Answer:
    """Return log(1 + x), accurate near zero; minus infinity at -1, NaN below."""

op_loglp = op_log1p

def op_log10(x: Any = REQUIRED) -> Answer:
    """Return the logarithm of x to base 10."""

def op_log2(x: Any = REQUIRED) -> Answer:
    """Return the logarithm of x to base 2."""

def op_reduce(
    input: Any = REQUIRED,
    mode: Any = "SUM",
    axis: Any = None,
    axis_len: Any = None,
    keep_dims: Any = False,
) -> Answer:
    """Combine the elements along axes; without `axis`, along all."""

def op_reduce_bwd(
    out_grad: Any = REQUIRED,
    input: Any = None,
    mode: Any = "SUM",
    axis: Any = None,
    axis_len: Any = None,
    keep_dims: Any = False,
) -> Answer:
    """Return the gradient of the input of `reduce`, in the dtype of `out_grad`."""

def op_cumsum(input: Any = REQUIRED, axis: Any = -1, dtype: Any = None) -> Answer:
    """Return the cumulative sum along an axis; axis=-1 (the default) flattens the input first."""

def op_cumsum_bwd(out_grad: Any = REQUIRED, axis: Any = -1, input_shape: Any = None) -> Answer:
    """Return the gradient of the input of `cumsum`: the sums from the last element down to each."""

def op_argmax(
    input: Any = REQUIRED, axis: Any = -1, keepdim: Any = False, dtype: Any = "int64"
) -> Answer:
    """Return the index of the largest element along an axis; of several, the first."""

def op_argmin(
    input: Any = REQUIRED, axis: Any = -1, keepdim: Any = False, dtype: Any = "int64"
) -> Answer:
    """Return the index of the smallest element along an axis; of several, the first."""

def op_argsort(input: Any = REQUIRED, axis: Any = -1, descending: Any = True) -> Answer:
    """Return the elements sorted along an axis, and their indices as int64."""

def op_argsort_bwd(out_grad: Any = REQUIRED, indices: Any = REQUIRED, axis: Any = -1) -> Answer:
    """Return the gradient of the input of `argsort`, given that of its first result."""

def op_topk(
    input: Any = REQUIRED,
    k: Any = REQUIRED,
    axis: Any = -1,
    largest: Any = True,
    sorted: Any = True,
) -> Answer:
    """Return the k largest elements along an axis, and their indices as int64."""

def op_nonzero(input: Any = REQUIRED, as_tuple: Any = True) -> Answer:
    """Return the indices of nonzero elements, in row-major order for every layout."""

def op_complex(real: Any = REQUIRED, imag: Any = REQUIRED) -> Answer:
    """Return complex numbers with the given real and imaginary parts, which are broadcast."""

def op_conj(input: Any = REQUIRED) -> Answer:
    """Return the complex conjugate; a real tensor is returned unchanged."""

def op_imag(input: Any = REQUIRED) -> Answer:
    """Return the imaginary part: a view; for a real tensor, new zeros."""

def op_real(input: Any = REQUIRED) -> Answer:
    """Return the real part: a view; a real tensor is returned unchanged."""

def op_fft_c2c(
    input: Any = REQUIRED,
    axes: Any = None,
    axes_len: Any = None,
    normalization: Any = "none",
    forward: Any = True,
) -> Answer:
    """Return the Fourier transform of complex numbers, with the same shape and dtype."""

op_ffft_c2c = op_fft_c2c

def op_fft_c2c_backward(
    grad_out: Any = REQUIRED,
    axes: Any = None,
    axes_len: Any = None,
    normalization: Any = "none",
    forward: Any = True,
) -> Answer:
    """Return the gradient of `fft_c2c`: the transform of `grad_out` in the other direction."""

def op_fft_r2c(
    input: Any = REQUIRED,
    axes: Any = None,
    axes_len: Any = None,
    normalization: Any = "none",
    forward: Any = True,
    onesided: Any = True,
) -> Answer:
    """Return the Fourier transform of real numbers, in the complex dtype of their precision."""

def op_fft_r2c_backward(
    grad_out: Any = REQUIRED,
    input: Any = REQUIRED,
    axes: Any = None,
    axes_len: Any = None,
    normalization: Any = "none",
    forward: Any = True,
) -> Answer:
    """Return the gradient of `fft_r2c`, real and of the shape of `input`."""

def op_fft_c2r(
    input: Any = REQUIRED,
    axes: Any = None,
    axes_len: Any = None,
    normalization: Any = "none",
    forward: Any = True,
    last_dim_size: Any = REQUIRED,
) -> Answer:
    """Return the real Fourier transform of half of a spectrum; the other half is its conjugate."""

def op_fft_c2r_backward(
    grad_out: Any = REQUIRED,
    axes: Any = None,
    axes_len: Any = None,
    normalization: Any = "none",
    forward: Any = True,
) -> Answer:
    """Return the gradient of `fft_c2r`, complex, with L // 2 + 1 elements for L of `grad_out`."""

def op_matmul(mat1: Any = REQUIRED, mat2: Any = REQUIRED) -> Answer:
    """Return the product of matrices, vectors, or batches of matrices."""

def op_dot(vec1: Any = REQUIRED, vec2: Any = REQUIRED) -> Answer:
    """Return the inner product along the last axis of vec1 and the last but one of vec2."""

def op_dot_bwd1(out_grad: Any = REQUIRED, vec1: Any = REQUIRED, vec2: Any = REQUIRED) -> Answer:
    """Return the gradient of vec1, the first operand of `dot`, in its shape and dtype."""

def op_dot_bwd2(out_grad: Any = REQUIRED, vec1: Any = REQUIRED, vec2: Any = REQUIRED) -> Answer:
    """Return the gradient of vec2, the second operand of `dot`, in its shape and dtype."""

def op_lu(mat: Any = REQUIRED) -> Answer:
    """Return the factors of mat = P L U in one matrix, and the row swaps of P."""

def op_cholesky(upper: Any = REQUIRED, mat: Any = REQUIRED) -> Answer:
    """Return the triangular factor of a positive definite matrix."""

def op_qr(mat: Any = REQUIRED, mode: Any = "reduced") -> Answer:
    """Return Q and R of mat = Q R: Q has orthonormal columns, R is upper triangular."""

def op_svd(mat: Any = REQUIRED, format: Any = True) -> Answer:
    """Return U, S and V of mat = U S V^H: orthonormal columns, S diagonal and descending."""

def op_solve(mat: Any = REQUIRED, rhs: Any = REQUIRED, adjoint: Any = REQUIRED) -> Answer:
    """Solve mat x = rhs for x, or mat^H x = rhs with `adjoint`."""

def op_lstsq(mat: Any = REQUIRED, rhs: Any = REQUIRED, prec: Any = None) -> Answer:
    """Return the shortest x that minimises the 2-norm of rhs - mat x."""

def op_inverse(mat: Any = REQUIRED) -> Answer:
    """Return the inverse of a square matrix; a singular one is refused, as by `solve`."""

def op_eig(mat: Any = REQUIRED) -> Answer:
    """Return the eigenvalues w and the eigenvectors, the columns of v: mat v = v w."""

def op_norm(
    input: Any = REQUIRED,
    normtype: Any = "inf",
    axis: Any = (),
    axis_len: Any = None,
    keep_dims: Any = False,
) -> Answer:
    """Return norms of vectors along one axis, of matrices along two, or of all elements."""

def op_linear(x: Any = REQUIRED, weight: Any = REQUIRED, bias: Any = None) -> Answer:
    """Return x W^T + b for inputs along the last axis of x and a weight of shape (out, in)."""

def op_linear_bwd_in(out_grad: Any = REQUIRED, weight: Any = REQUIRED) -> Answer:
    """Return the gradient of the input of `linear`, in the dtype the arguments are promoted to."""

def op_linear_bwd_weight(out_grad: Any = REQUIRED, input: Any = REQUIRED) -> Answer:
    """Return the gradient of the weight of `linear`, in the dtype the arguments are promoted to."""

def op_bilinear(
    x: Any = REQUIRED, y: Any = REQUIRED, weight: Any = REQUIRED, bias: Any = None
) -> Answer:
    """Return x A_o y^T + b_o for each matrix A_o of the weight, of shape (out, in1, in2)."""

def op_bilinear_bwd_in1(
    out_grad: Any = REQUIRED, y: Any = REQUIRED, weight: Any = REQUIRED
) -> Answer:
    """Return the gradient of x, the first input of `bilinear`."""

def op_bilinear_bwd_in2(
    out_grad: Any = REQUIRED, x: Any = REQUIRED, weight: Any = REQUIRED
) -> Answer:
    """Return the gradient of y, the second input of `bilinear`."""

def op_bilinear_bwd_weight(
    out_grad: Any = REQUIRED, x: Any = REQUIRED, y: Any = REQUIRED
) -> Answer:
    """Return the gradient of the weight of `bilinear`, in the dtype the arguments are promoted to."""

def op_interpolate(
    input: Any = REQUIRED, size: Any = None, scale_factor: Any = None, mode: Any = "nearest"
) -> Answer:
    """Return the input resampled to other sizes of its axes, from the third on."""
