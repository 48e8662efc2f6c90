"""The operators, each file named by its category of the standard.

This file is written by tools/write_names.py.
"""

from suanzi.ops.arithmetic import (
    abs, add, div, floordiv, max, min, mod, mul, muladd, reciprocal, sub, trace, trace_backward,
    true_divide,
)  # fmt: skip
from suanzi.ops.bitwise import (
    bitwise_and, bitwise_left_shift, bitwise_not, bitwise_or, bitwise_right_shift, bitwise_xor,
)  # fmt: skip
from suanzi.ops.comparison import (
    allclose, equal, greater, greater_equal, less, less_equal, not_equal,
)  # fmt: skip
from suanzi.ops.complex import complex, conj, imag, real
from suanzi.ops.creation import (
    contiguous, create_tensor, destroy, diag, duplicate, empty, full, linspace, range, wrap_tensor,
    zeros,
)  # fmt: skip
from suanzi.ops.creation_quantized import create_quant_tensor
from suanzi.ops.creation_random import (
    multinomial, rand_bernoulli, rand_normal, rand_uniform, randperm,
)  # fmt: skip
from suanzi.ops.creation_sparse import create_sparse_tensor
from suanzi.ops.exponential import exp, expm1, log, log1p, log2, log10
from suanzi.ops.hyperbolic import acosh, asinh, atanh, cosh, sinh, tanh
from suanzi.ops.indexing import argmax, argmin, argsort, argsort_bwd, nonzero, topk
from suanzi.ops.interpolation import interpolate
from suanzi.ops.linear_algebra_decompositions import cholesky, eig, lu, qr, svd
from suanzi.ops.linear_algebra_least_squares import lstsq
from suanzi.ops.linear_algebra_norm import norm
from suanzi.ops.linear_algebra_products import bilinear, dot, linear, matmul
from suanzi.ops.linear_algebra_products_backward import (
    bilinear_bwd_in1, bilinear_bwd_in2, bilinear_bwd_weight, dot_bwd1, dot_bwd2, linear_bwd_in,
    linear_bwd_weight,
)  # fmt: skip
from suanzi.ops.linear_algebra_solving import inverse, solve
from suanzi.ops.logical import logical_and, logical_not, logical_or, logical_xor
from suanzi.ops.power import pow, rsqrt, sqrt, square
from suanzi.ops.query import is_contiguous, is_finite, is_inf, is_nan, rank, shape, size
from suanzi.ops.reduction import cumsum, cumsum_bwd, reduce, reduce_bwd
from suanzi.ops.reduction_modes import ReduceMode
from suanzi.ops.rounding import RoundMode, ceil, floor, rint, round, trunc
from suanzi.ops.signal import (
    fft_c2c, fft_c2c_backward, fft_c2r, fft_c2r_backward, fft_r2c, fft_r2c_backward,
)  # fmt: skip
from suanzi.ops.transformation import cast, clip, clip_backward, sign, where
from suanzi.ops.transformation_joining import PadMode, concat, pad, roll, stack, tile
from suanzi.ops.transformation_selecting import gather, masked_select, scatter
from suanzi.ops.transformation_views import (
    crop, expand, expand_dims, flatten, flip, meshgrid, reshape, reverse, slice, slice_backward,
    split, squeeze, transpose, unstack,
)  # fmt: skip
from suanzi.ops.trigonometric import acos, asin, atan, cos, sin, tan

__all__ = [
    "PadMode", "ReduceMode", "RoundMode", "abs", "acos", "acosh", "add", "allclose", "argmax",
    "argmin", "argsort", "argsort_bwd", "asin", "asinh", "atan", "atanh", "bilinear",
    "bilinear_bwd_in1", "bilinear_bwd_in2", "bilinear_bwd_weight", "bitwise_and",
    "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "cast",
    "ceil", "cholesky", "clip", "clip_backward", "complex", "concat", "conj", "contiguous", "cos",
    "cosh", "create_quant_tensor", "create_sparse_tensor", "create_tensor", "crop", "cumsum",
    "cumsum_bwd", "destroy", "diag", "div", "dot", "dot_bwd1", "dot_bwd2", "duplicate", "eig",
    "empty", "equal", "exp", "expand", "expand_dims", "expm1", "fft_c2c", "fft_c2c_backward",
    "fft_c2r", "fft_c2r_backward", "fft_r2c", "fft_r2c_backward", "flatten", "flip", "floor",
    "floordiv", "full", "gather", "greater", "greater_equal", "imag", "interpolate", "inverse",
    "is_contiguous", "is_finite", "is_inf", "is_nan", "less", "less_equal", "linear",
    "linear_bwd_in", "linear_bwd_weight", "linspace", "log", "log1p", "log2", "log10",
    "logical_and", "logical_not", "logical_or", "logical_xor", "lstsq", "lu", "masked_select",
    "matmul", "max", "meshgrid", "min", "mod", "mul", "muladd", "multinomial", "nonzero", "norm",
    "not_equal", "pad", "pow", "qr", "rand_bernoulli", "rand_normal", "rand_uniform", "randperm",
    "range", "rank", "real", "reciprocal", "reduce", "reduce_bwd", "reshape", "reverse", "rint",
    "roll", "round", "rsqrt", "scatter", "shape", "sign", "sin", "sinh", "size", "slice",
    "slice_backward", "solve", "split", "sqrt", "square", "squeeze", "stack", "sub", "svd", "tan",
    "tanh", "tile", "topk", "trace", "trace_backward", "transpose", "true_divide", "trunc",
    "unstack", "where", "wrap_tensor", "zeros",
]  # fmt: skip
