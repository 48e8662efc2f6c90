"""suanzi: the AI operator-interface standard T/AI 131.1-2025, executable.

>>> import suanzi as sz
>>> sz.promote_types(sz.int32, sz.bfloat16, rules="cann")
suanzi.bfloat16
>>> sz.explain(sz.int32, sz.bfloat16, rules="cann").counter_example
257
"""

from typing import TYPE_CHECKING

from suanzi._core import VERSION as __version__
from suanzi._core import Storage, get_num_threads, set_num_threads
from suanzi.base import forking as _forking  # noqa: F401 - a fork waits for imports
from suanzi.base import forking as _forking_  # noqa: F401 - a fork waits for imports
from suanzi.base import public_paths as _public_paths  # noqa: F401 - before they are used
from suanzi.base.device import (
    Device,
    DeviceProvider,
    DeviceTensor,
    DeviceType,
    devices,
    register_device,
    synchronize,
)
from suanzi.base.dtypes import *
from suanzi.base.layout import Layout, LayoutType
from suanzi.base.status import *
from suanzi.faces import loading as _loading  # noqa: F401 - how lower layers load the array API
from suanzi.faces.rules import *
from suanzi.ops import *
from suanzi.ops import subscripts as _subscripts  # noqa: F401 - what x[key] does
from suanzi.ops.calling.differences import DifferenceWarning, difference_warnings
from suanzi.ops.calling.domains import domain_errors
from suanzi.ops.calling.recording import record
from suanzi.ops.calling.rounding import get_rounding, rounding, set_rounding
from suanzi.ops.libraries.config import show_config
from suanzi.ops.libraries.fft import FFTNormMode
from suanzi.ops.libraries.providers import get_provider, set_provider
from suanzi.ops.openvino import convert_promote_types
from suanzi.ops.quantized import dequantize, quantize
from suanzi.ops.reduction_modes import ReduceFunction
from suanzi.ops.sparse import dispatch as _dispatch  # noqa: F401 - what operators do there
from suanzi.tensors import in_place as _in_place  # noqa: F401 - what x += y refuses
from suanzi.tensors.exchange import from_dlpack
from suanzi.tensors.make import tensor
from suanzi.tensors.print_options import get_printoptions, printoptions, set_printoptions
from suanzi.tensors.saving import load, save
from suanzi.tensors.sparse.making import from_pydata_sparse, from_scipy, to_sparse
from suanzi.tensors.sparse.tensor import SparseTensor
from suanzi.tensors.tensor import Tensor

# Written by tools/write_names.py.
__all__ = [
    "QT_ASYM_INT8", "QT_ASYM_INT16", "QT_ASYM_UINT8", "QT_ASYM_UINT16", "QT_CH_SYM_INT8",
    "QT_CH_SYM_INT16", "QT_SYM_INT8", "QT_SYM_INT16", "AllocFailed", "AxisArgument", "DType",
    "Device", "DeviceProvider", "DeviceTensor", "DeviceType", "DifferenceWarning",
    "DimensionsMismatch", "DivisionByZero", "FFTNormMode", "InternalError", "InvalidArgument",
    "Layout", "LayoutType", "LossWarning", "Number", "OperatorClass", "OutOfRange", "PadMode",
    "ReduceFunction", "ReduceMode", "RoundMode", "RuleSet", "SparseTensor", "Status", "StatusError",
    "Storage", "Tensor", "TypeCode", "TypeMismatch", "UninitializedObject", "WrongObject",
    "ZeroDim", "__version__", "acos", "acosh", "add", "allclose", "argmax", "argmin", "argsort",
    "argsort_bwd", "asin", "asinh", "atan", "atanh", "bfloat16", "bilinear", "bilinear_bwd_in1",
    "bilinear_bwd_in2", "bilinear_bwd_weight", "bitwise_and", "bitwise_left_shift", "bitwise_not",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "cast", "ceil", "char", "cholesky", "clip",
    "clip_backward", "complex32", "complex64", "complex128", "concat", "conj", "contiguous",
    "convert_promote_types", "cos", "cosh", "create_quant_tensor", "create_sparse_tensor",
    "create_tensor", "crop", "cumsum", "cumsum_bwd", "dequantize", "destroy", "devices", "diag",
    "diff", "difference_warnings", "div", "domain_errors", "dot", "dot_bwd1", "dot_bwd2", "dtype",
    "duplicate", "eig", "empty", "equal", "exp", "expand", "expand_dims", "explain", "explain_all",
    "expm1", "fft_c2c", "fft_c2c_backward", "fft_c2r", "fft_c2r_backward", "fft_r2c",
    "fft_r2c_backward", "finfo", "flatten", "flip", "float8_e4m3fn", "float8_e5m2", "float16",
    "float32", "float64", "floor", "floordiv", "from_dlpack", "from_pydata_sparse", "from_scipy",
    "full", "gather", "get_num_threads", "get_printoptions", "get_promotion", "get_provider",
    "get_rounding", "greater", "greater_equal", "iinfo", "imag", "int4", "int8", "int16", "int32",
    "int64", "interpolate", "inverse", "is_contiguous", "is_finite", "is_inf", "is_nan", "isdtype",
    "laws", "less", "less_equal", "linear", "linear_bwd_in", "linear_bwd_weight", "linspace",
    "load", "log", "log1p", "log2", "log10", "logical_and", "logical_not", "logical_or",
    "logical_xor", "lstsq", "lu", "masked_select", "matmul", "meshgrid", "mod", "mul", "muladd",
    "multinomial", "nonzero", "norm", "not_equal", "openvino_rules", "pad", "printoptions",
    "promote_types", "promotion", "qr", "quantize", "rand_bernoulli", "rand_normal", "rand_uniform",
    "randperm", "rank", "real", "reciprocal", "record", "reduce", "reduce_bwd", "register_device",
    "register_rules", "reshape", "result_type", "reverse", "rint", "roll", "rounding", "rsqrt",
    "rule_set", "rule_sets", "save", "scatter", "set_num_threads", "set_printoptions",
    "set_promotion", "set_provider", "set_rounding", "shape", "show_config", "sign", "sin", "sinh",
    "size", "slice_backward", "solve", "split", "sqrt", "square", "squeeze", "stack", "sub", "svd",
    "synchronize", "table", "tan", "tanh", "tensor", "tile", "to_sparse", "topk", "trace",
    "trace_backward", "transpose", "true_divide", "trunc", "uint1", "uint4", "uint8", "uint16",
    "uint32", "uint64", "unstack", "where", "wrap_tensor", "zeros",
]  # fmt: skip


if TYPE_CHECKING:  # what is loaded on first use; a misspelt name is an error
    from suanzi import conformance as conformance
    from suanzi import port as port
    from suanzi import truth as truth
    from suanzi.faces import array_api as array_api
    from suanzi.faces import interface as interface
    from suanzi.faces import rules as rules
    from suanzi.ops import nn as nn
    from suanzi.promote import mindspore as mindspore
    from suanzi.tensors import npy as npy
    from suanzi.tensors import safetensors as safetensors
    from suanzi.validate.judge import assert_right as assert_right
    from suanzi.validate.judge import judge as judge
    from suanzi.validate.judge.testing import judged as judged
else:

    def __getattr__(name: str) -> object:
        from suanzi.front.attributes import find

        return find(name, __dir__)


def __dir__() -> list[str]:
    from suanzi.front.attributes import shown

    return shown(globals())
