"""Asks Triton's frontend which types it computes in; no GPU is needed, nothing is compiled."""

from common import fail_if_missing, run

fail_if_missing("triton")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton._C.libtriton import ir  # noqa: E402
from triton.language.semantic import TritonSemantic  # noqa: E402

TYPES = {
    "bool": tl.int1, "uint8": tl.uint8, "uint16": tl.uint16, "uint32": tl.uint32,
    "uint64": tl.uint64, "int8": tl.int8, "int16": tl.int16, "int32": tl.int32, "int64": tl.int64,
    "float8_e4m3fn": tl.float8e4nv, "float8_e5m2": tl.float8e5, "float16": tl.float16,
    "bfloat16": tl.bfloat16, "float32": tl.float32, "float64": tl.float64,
}  # fmt: skip
NAMES = {str(kind): name for name, kind in TYPES.items()}

context = ir.context()
ir.load_dialects(context)
builder = ir.builder(context)
module = builder.create_module()
semantic = TritonSemantic(builder)
function = builder.get_or_insert_function(
    module,
    "asked",
    tl.function_type([], []).to_ir(builder) if False else builder.get_function_ty([], []),
    "public",
    False,
)
builder.set_insertion_point_to_start(function.add_entry_block())


def tensor(name, ndim):
    """A block of two elements, or a single value, of a dtype."""
    one = semantic.full([2] if ndim else [], 1, tl.float32 if "float" in name else tl.int32)
    return semantic.cast(one, TYPES[name])


def where(x, y):
    return semantic.where(semantic.full([2], 1, tl.int1), x, y)


run(
    "triton",
    triton.__version__,
    list(TYPES),
    tensor,
    {
        None: lambda x, y: semantic.add(x, y, False),
        "true_divide": semantic.truediv,
        "equal": semantic.equal,
        "bitwise_and": semantic.and_,
        "logical_and": semantic.logical_and,
        "max": lambda x, y: semantic.maximum(x, y, tl.PropagateNan.NONE),
        "floordiv": semantic.floordiv,
        "concat": where,
        "sqrt": lambda x: tl.math.sqrt(x, _semantic=semantic),
    },
    lambda result: NAMES[str(result.dtype)],
)
