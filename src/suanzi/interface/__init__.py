"""The standard's own form: the functions and structures of Appendix A.

Each function has its C name and its parameters in the standard's order, all by keyword;
it returns a status and the outputs, and raises nothing that a status can say.

>>> import suanzi as sz
>>> from suanzi import interface
>>> interface.op_add(x=sz.tensor([1, 2]), y=sz.tensor([3, 4]))
(<Status.SUCCESS: 0>, Tensor([4, 6], dtype=int64))
>>> interface.op_sqrt(sz.tensor([-1.0]))
(<Status.INVALID_ARGUMENT: 4>, None)
>>> print(interface.last_error())
sqrt (7.2.8.2): x holds -1, and its domain is x >= 0. Mend it, for example with \
sz.clip, or let the result be NaN, with sz.domain_errors(False).

This file and those of the categories are written by tools/write_names.py.
"""

from __future__ import annotations

from suanzi.device import Device, DeviceType
from suanzi.interface.arithmetic import (
    op_abs,
    op_add,
    op_div,
    op_floordiv,
    op_max,
    op_min,
    op_mod,
    op_mul,
    op_muladd,
    op_reciprocal,
    op_sub,
    op_trace,
    op_trace_backward,
    op_true_divide,
)
from suanzi.interface.bitwise import (
    op_bitwise_and,
    op_bitwise_invert,
    op_bitwise_left_shift,
    op_bitwise_not,
    op_bitwise_or,
    op_bitwise_right_shift,
    op_bitwise_xor,
)
from suanzi.interface.calling import Answer, last_error
from suanzi.interface.comparison import (
    op_allclose,
    op_equal,
    op_greater,
    op_greater_equal,
    op_less,
    op_less_equal,
    op_not_equal,
)
from suanzi.interface.complex import op_complex, op_conj, op_imag, op_real
from suanzi.interface.creation import (
    op_contiguous,
    op_create_quant_tensor,
    op_create_sparse_tensor,
    op_create_tensor,
    op_destroy,
    op_diag,
    op_duplicate,
    op_empty,
    op_full,
    op_linspace,
    op_multinomial,
    op_rand_bernoulli,
    op_rand_normal,
    op_rand_uniform,
    op_randperm,
    op_range,
    op_wrap_tensor,
    op_zeros,
)
from suanzi.interface.exponential import (
    op_exp,
    op_expm1,
    op_expml,
    op_log,
    op_log1p,
    op_log2,
    op_log10,
    op_loglp,
)
from suanzi.interface.hyperbolic import op_acosh, op_asinh, op_atanh, op_cosh, op_sinh, op_tanh
from suanzi.interface.indexing import (
    op_argmax,
    op_argmin,
    op_argsort,
    op_argsort_bwd,
    op_nonzero,
    op_topk,
)
from suanzi.interface.interpolation import op_interpolate
from suanzi.interface.linear_algebra import (
    op_bilinear,
    op_bilinear_bwd_in1,
    op_bilinear_bwd_in2,
    op_bilinear_bwd_weight,
    op_cholesky,
    op_dot,
    op_dot_bwd1,
    op_dot_bwd2,
    op_eig,
    op_inverse,
    op_linear,
    op_linear_bwd_in,
    op_linear_bwd_weight,
    op_lstsq,
    op_lu,
    op_matmul,
    op_norm,
    op_qr,
    op_solve,
    op_svd,
)
from suanzi.interface.logical import op_logical_and, op_logical_not, op_logical_or, op_logical_xor
from suanzi.interface.power import op_pow, op_rsqrt, op_rsqrtn, op_sqrt, op_square
from suanzi.interface.printed import (
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
from suanzi.interface.query import (
    op_has_inf,
    op_has_nan,
    op_is_contiguous,
    op_is_finite,
    op_is_inf,
    op_is_nan,
    op_isfinite,
    op_rank,
    op_shape,
    op_size,
)
from suanzi.interface.reduction import op_cumsum, op_cumsum_bwd, op_reduce, op_reduce_bwd
from suanzi.interface.rounding import op_ceil, op_floor, op_rint, op_round, op_trunc
from suanzi.interface.signal import (
    op_ffft_c2c,
    op_fft_c2c,
    op_fft_c2c_backward,
    op_fft_c2r,
    op_fft_c2r_backward,
    op_fft_r2c,
    op_fft_r2c_backward,
)
from suanzi.interface.structures import DataType, Shape, StorageImpl, TensorImpl, TypeCode
from suanzi.interface.transformation import (
    op_cast,
    op_clip,
    op_clip_backward,
    op_concat,
    op_crop,
    op_expand,
    op_expand_dims,
    op_flatten,
    op_flip,
    op_gather,
    op_masked_select,
    op_meshgrid,
    op_pad,
    op_reshape,
    op_reverse,
    op_roll,
    op_scatter,
    op_sign,
    op_slice,
    op_slice_backward,
    op_split,
    op_squeeze,
    op_stack,
    op_tile,
    op_transpose,
    op_unstack,
    op_where,
)
from suanzi.interface.trigonometric import op_acos, op_asin, op_atan, op_cos, op_sin, op_tan
from suanzi.layout import Layout, LayoutType
from suanzi.libraries.fft import FFTNormMode
from suanzi.ops import PadMode, ReduceMode, RoundMode
from suanzi.status import Status

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
