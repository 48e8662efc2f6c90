"""suanzi as a namespace of the Python array API standard, version 2025.12, on the same Tensor.

bfloat16, float16, float8, complex32, int4, uint4 and uint1 are dtypes like the others: every
function keeps them. Dtypes promote by the rule set `array_api`, whatever rule set is in force, and
so they do in ``x + y`` if this namespace made `x` or `y`.

>>> import suanzi as sz
>>> xp = sz.array_api
>>> x = xp.asarray([1, 2, 3], dtype=xp.bfloat16)
>>> xp.multiply(x, 2), x + xp.asarray([1], dtype=xp.int64)
(Tensor([2, 4, 6], dtype=bfloat16), Tensor([2, 3, 4], dtype=bfloat16))
"""

from suanzi.faces.array_api import fft, linalg
from suanzi.faces.array_api import others as _others  # noqa: F401 - what sparse tensors do
from suanzi.faces.array_api.constants import *
from suanzi.faces.array_api.creation_functions import *
from suanzi.faces.array_api.data_type_functions import *
from suanzi.faces.array_api.declare import *
from suanzi.faces.array_api.einsum import *
from suanzi.faces.array_api.elementwise_functions import *
from suanzi.faces.array_api.indexing_functions import *
from suanzi.faces.array_api.info import *
from suanzi.faces.array_api.linear_algebra_functions import *
from suanzi.faces.array_api.manipulation_functions import *
from suanzi.faces.array_api.searching_functions import *
from suanzi.faces.array_api.set_functions import *
from suanzi.faces.array_api.sorting_functions import *
from suanzi.faces.array_api.statistical_functions import *
from suanzi.faces.array_api.utility_functions import *
from suanzi.base.dtypes import (
    bfloat16, bool, complex32, complex64, complex128, float8_e4m3fn, float8_e5m2, float16, float32,
    float64, int4, int8, int16, int32, int64, uint1, uint4, uint8, uint16, uint32, uint64,
)  # fmt: skip

__all__ = [
    "__array_api_version__", "__array_namespace_info__", "abs", "acos", "acosh", "add", "all",
    "any", "arange", "argmax", "argmin", "argsort", "asarray", "asin", "asinh", "astype", "atan",
    "atan2", "atanh", "bfloat16", "bitwise_and", "bitwise_invert", "bitwise_left_shift",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bool", "broadcast_arrays",
    "broadcast_shapes", "broadcast_to", "can_cast", "ceil", "clip", "complex32", "complex64",
    "complex128", "concat", "conj", "copysign", "cos", "cosh", "count_nonzero", "cumulative_prod",
    "cumulative_sum", "diff", "divide", "e", "einsum", "empty", "empty_like", "equal", "exp",
    "expand_dims", "expm1", "eye", "fft", "finfo", "flip", "float8_e4m3fn", "float8_e5m2",
    "float16", "float32", "float64", "floor", "floor_divide", "from_dlpack", "full", "full_like",
    "greater", "greater_equal", "hypot", "iinfo", "imag", "inf", "int4", "int8", "int16", "int32",
    "int64", "isdtype", "isfinite", "isin", "isinf", "isnan", "less", "less_equal", "linalg",
    "linspace", "log", "log1p", "log2", "log10", "logaddexp", "logical_and", "logical_not",
    "logical_or", "logical_xor", "matmul", "matrix_transpose", "max", "maximum", "mean", "meshgrid",
    "min", "minimum", "moveaxis", "multiply", "nan", "negative", "newaxis", "nextafter", "nonzero",
    "not_equal", "ones", "ones_like", "permute_dims", "pi", "positive", "pow", "prod", "real",
    "reciprocal", "remainder", "repeat", "reshape", "result_type", "roll", "round", "searchsorted",
    "sign", "signbit", "sin", "sinh", "sort", "sqrt", "square", "squeeze", "stack", "std",
    "subtract", "sum", "take", "take_along_axis", "tan", "tanh", "tensordot", "tile", "tril",
    "triu", "trunc", "uint1", "uint4", "uint8", "uint16", "uint32", "uint64", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "unstack", "var", "vecdot", "where",
    "zeros", "zeros_like",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
