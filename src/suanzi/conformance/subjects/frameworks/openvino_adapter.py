"""OpenVINO as a subject: every call is a graph of its own, compiled for the CPU, and run once.

An expression builds a graph of parameters, and `run` gives its outputs.
"""

import re

import numpy as np
import openvino as ov
from frameworks.common import GRADIENTS, Framework, count
from frameworks.openvino_graphs import GIVEN, laid, of_bits, parameter, run, tensor
from openvino import opset16 as o
from wire import Data, NoKernel, Unsupported

GRAPHS = {
    # 7.2.1 creation
    "zeros": "o.broadcast(number(0, dtype), row(shape))",
    "full": "o.broadcast(number(value, dtype), row(shape))",
    "rand_uniform": "uniform(dtype, shape, min, max, seed)",
    "multinomial": "drawn(input, num_samples, replacement, seed)",
    "range": "o.range(number(start, dtype), number(behind(start, limit, step, dtype), dtype), "
    "number(step, dtype), dtype.to_string())",
    "duplicate": "o.identity(input)",
    # 7.2.2 query
    "shape": "o.shape_of(input, 'i32')",
    "is_finite": "o.is_finite(input)",
    "is_inf": "o.is_inf(input)",
    "is_nan": "o.is_nan(input)",
    # 7.2.3 transformation
    "cast": "o.convert(input, type)",
    "reshape": "o.reshape(input, row(dims), False)",
    "expand_dims": "o.unsqueeze(input, axis)",
    "squeeze": "o.squeeze(input, row(axis)) if axis else o.squeeze(input)",
    "transpose": "o.transpose(input, row(inverse_order(perm) or range(rank(input))[::-1]))",
    "split": "(o.variadic_split(input, axis, row(split_sizes)) if split_sizes else "
    "o.split(input, axis, nsplit)).outputs()",
    "concat": "o.concat(alike(input_lists), axis)",
    "stack": "o.concat([o.unsqueeze(x, axis) for x in alike(input_lists)], axis)",
    "unstack": "[o.squeeze(x, row([axis])) for x in "
    "o.split(input, axis, num or shape_of(input)[axis]).outputs()]",
    "slice": "cut(input, begin, size, step)",
    "tile": "o.tile(input, row(repeats))",
    "pad": "padded(input, pairs(pad_width), pad_value, pad_mode)",
    "reverse": "flipped(input, axis)",
    "roll": "o.roll(input, row(shifts), row(axis)) if axis else "
    "o.reshape(o.roll(flat(input), row(shifts), row([0])), row(shape_of(input)), False)",
    "crop": "cut(input, offsets_of(offsets, shape), shape, [1] * len(shape))",
    "clip": "clipped(input, low, high)",
    "gather": "o.gather(input, index, 0) if rank(index) == 1 else o.gather_nd(input, index)",
    "scatter": "o.scatter_nd_update(input, o.unsqueeze(index, 1) if rank(index) == 1 else index, "
    "updates, 'none' if override else 'sum')",
    "expand": "o.broadcast(input, row(shape))",
    "flatten": "o.reshape(input, row(flattened(shape_of(input), start_axis, stop_axis)), False)",
    "flip": "flipped(input, axis)",
    "sign": "o.sign(input)",
    "where": "o.select(condition, *promoted(x, y))",
    "masked_select": "o.gather_nd(input, o.transpose("
    "o.non_zero(o.broadcast(mask, row(shape_of(input)))), row([1, 0])))",
    # 7.2.4 arithmetic
    "add": "o.add(*promoted(x, y))",
    "sub": "o.subtract(*promoted(x, y))",
    "mul": "o.multiply(*promoted(x, y))",
    "muladd": "o.add(*promoted(o.multiply(*promoted(x, y)), a))",
    "div": "o.divide(*promoted(x, y))",
    "floordiv": "o.floor(o.divide(*promoted(x, y)))",
    "true_divide": "o.divide(*promoted(x, y))",
    "mod": "o.floor_mod(*promoted(x, y))",
    "max": "o.maximum(*promoted(x, y))",
    "min": "o.minimum(*promoted(x, y))",
    "abs": "o.absolute(x)",
    "reciprocal": "o.divide(like(1, x), x)",
    # 7.2.5 comparison to 7.2.7 bitwise
    **{
        name: f"o.{name}(*promoted(x, y))"
        for name in (
            "equal not_equal greater greater_equal less less_equal bitwise_and bitwise_or "
            "bitwise_xor"
        ).split()
    },
    **{name: f"o.{name}(x, y)" for name in "logical_and logical_or logical_xor".split()},
    "logical_not": "o.logical_not(x)",
    "bitwise_not": "o.bitwise_not(x)",
    "bitwise_left_shift": "o.bitwise_left_shift(x, like(shift, x))",
    "bitwise_right_shift": "o.bitwise_right_shift(x, like(shift, x))",
    # 7.2.8 power
    "pow": "o.power(*promoted(x, e))",
    "sqrt": "o.sqrt(x)",
    "rsqrt": "o.divide(like(1, x), o.sqrt(x))",
    "square": "o.multiply(x, x)",
    # 7.2.9 rounding
    "floor": "o.floor(x)",
    "ceil": "o.ceiling(x)",
    "round": "o.round(x, 'half_to_even')",
    "rint": "rounded(x, mode)",
    # 7.2.10 trigonometric to 7.2.12 exponential
    **{
        name: f"o.{name}(x)"
        for name in "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log".split()
    },
    # 7.2.13 reduction
    "reduce": "reduced(input, mode, all_or(axis, input), keep_dims)",
    "cumsum": "running(input if dtype is None else o.convert(input, dtype), axis)",
    # 7.2.14 indexing
    "argmax": "extreme(input, axis, keepdim, dtype, 'max')",
    "argmin": "extreme(input, axis, keepdim, dtype, 'min')",
    "argsort": "tuple(o.topk(input, shape_of(input)[axis], axis, 'max' if descending else 'min', "
    "'value', 'i64', stable=True).outputs())",
    "topk": "tuple(o.topk(input, k, axis, 'max' if largest else 'min', "
    "'value' if sorted else 'none', 'i64', stable=sorted).outputs())",
    "nonzero": "nonzeros(input, as_tuple)",
    # 7.2.17 linear algebra
    "matmul": "o.matmul(*promoted(mat1, mat2), False, False)",
    "dot": "dot(*promoted(vec1, vec2))",
    "inverse": "o.inverse(mat)",
    "norm": "norm(input, normtype, list(axis or range(rank(input))), bool(axis), keep_dims)",
    "linear": "plus(o.matmul(x, weight, False, True), bias)",
    "bilinear": "plus(bilinear(x, y, weight), bias)",
    # 7.2.18 interpolation
    "interpolate": "interpolated(input, target_sizes(shape_of(input), size, scale_factor), mode)",
}
"""The standard's interfaces as graphs of OpenVINO."""

MAPPING = {
    **{op: f"run({graph})" for op, graph in GRAPHS.items()},
    "create_tensor": "filled(values, dtype, shape)",
    "wrap_tensor": "filled(values, dtype, shape)",
    "empty": "ov.Tensor(dtype, ov.Shape(shape))",
    "size": "int(run(o.reduce_prod(o.shape_of(input), row([0]))))",
    "rank": "int(run(o.shape_of(o.shape_of(input)))[0])",
}
"""The standard's interfaces in OpenVINO."""

_FEW_MATRICES = "of linear algebra, OpenVINO has products, inverse and norms"
_NO_COMPLEX = "OpenVINO has no complex numbers: its DFT takes an axis of real and imaginary parts"
MISSING = {
    **dict.fromkeys(GRADIENTS, "OpenVINO computes no gradients"),
    "create_sparse_tensor": "OpenVINO has no sparse tensors",
    "create_quant_tensor": "OpenVINO has no quantised tensors: FakeQuantize has scales as inputs",
    "destroy": "OpenVINO frees tensors by itself",
    "contiguous": "the tensors of an OpenVINO graph are row-major: there is nothing to do",
    "is_contiguous": "the tensors of an OpenVINO graph are row-major: there is nothing to ask",
    "rand_normal": "OpenVINO has no normal random numbers",
    "rand_bernoulli": "OpenVINO has no Bernoulli distribution",
    "randperm": "OpenVINO has no random permutation",
    "linspace": "OpenVINO has no linspace",
    "diag": "OpenVINO has no diagonal matrix of a vector",
    "meshgrid": "OpenVINO has no meshgrid",
    "trace": "OpenVINO has no trace; its Einsum refuses an index twice in one operand",
    "allclose": "OpenVINO has no allclose",
    "trunc": "OpenVINO has no truncation of floats",
    "expm1": "OpenVINO has no expm1; exp(x) - 1 loses small x",
    "log1p": "OpenVINO has no log1p; log(1 + x) loses small x",
    "log10": "OpenVINO has the natural logarithm only",
    "log2": "OpenVINO has the natural logarithm only",
    **dict.fromkeys("complex conj imag real fft_c2c fft_r2c fft_c2r".split(), _NO_COMPLEX),
    **dict.fromkeys("lu cholesky qr svd solve lstsq eig".split(), _FEW_MATRICES),
}
"""What OpenVINO does not have, and why."""

ATTRIBUTES = {}
"""Those of ConvertPromoteTypes-14, by the rule set of the call."""


def promoted(x, y):
    """Return operands of one dtype: the same ones, or by ConvertPromoteTypes-14."""
    nodes = isinstance(x, ov.Node) and isinstance(y, ov.Node)
    if nodes and x.get_output_element_type(0) == y.get_output_element_type(0):
        return x, y
    return o.convert_promote_types(x, y, **ATTRIBUTES).outputs()


def alike(nodes):
    """Return nodes of one dtype: ConvertPromoteTypes-14 has two inputs."""
    return list(promoted(*nodes)) if len(nodes) == 2 else nodes


def shape_of(x):
    """Return the shape of a node."""
    return list(x.output(0).shape)


def rank(x):
    """Return the number of axes of a node."""
    return len(x.output(0).shape)


def row(numbers):
    """Return numbers as OpenVINO takes shapes and axes; a list without any would be float64."""
    return o.constant(np.array(list(numbers), np.int64))


def flat(x):
    """Return a node with one axis."""
    return o.reshape(x, row([-1]), False)


def number(value, dtype):
    """Return a constant without axes."""
    return o.constant(value, dtype)


def like(value, x):
    """Return a number as a constant of the dtype of x; a tensor, as it is."""
    return value if isinstance(value, ov.Node) else o.constant(value, x.get_output_element_type(0))


def filled(values, dtype, shape):
    """Return a tensor of values; of any, if none are given."""
    if isinstance(values, list) and not values:
        return ov.Tensor(dtype, ov.Shape(shape))
    node = values if isinstance(values, ov.Node) else o.constant(np.array(values), dtype)
    return run(o.reshape(o.convert(node, dtype), row(shape), False))


def uniform(dtype, shape, low, high, seed):
    """Return uniform numbers, by default of the whole range of the dtype."""
    kind = dtype.to_dtype()
    if kind.kind not in "iuf":
        raise Unsupported(f"OpenVINO draws no uniform numbers of {kind}")
    limits = np.iinfo(kind) if kind.kind in "iu" else np.finfo(kind)
    low, high = limits.min if low is None else low, limits.max if high is None else high
    if kind.kind in "iu" and high < limits.max:
        high += 1  # the upper limit is not among the numbers
    return o.random_uniform(
        row(shape), number(low, dtype), number(high, dtype), dtype.to_string(), seed
    )


def drawn(x, samples, replacement, seed):
    """Return categories for each row; OpenVINO takes a matrix."""
    rows = x if rank(x) == 2 else o.unsqueeze(x, 0)
    found = o.multinomial(rows, row([samples]), "i64", replacement, False, seed)
    return found if rank(x) == 2 else o.squeeze(found, row([0]))


def behind(start, limit, step, dtype):
    """Return an end for range, which excludes it, so that the limit is included."""
    n = count(start, limit, step, 1e-6 if dtype.is_real() else 0.0)
    final = start + step * (n - 1)
    return final + step / 2 if dtype.is_real() else final + (1 if step > 0 else -1)


def cut(x, begin, size, step):
    """Return a slice; the size is that before steps are taken."""
    end = [b + n for b, n in zip(begin, size)]
    return o.slice(x, row(begin), row(end), row(step)) if begin else o.identity(x)


def flipped(x, axis):
    """Return a tensor backwards along some axes: a slice with negative steps."""
    ends = [-(2**31)] * len(axis)
    return o.slice(x, row([-1] * len(axis)), row(ends), row([-1] * len(axis)), row(axis))


def padded(x, widths, value, mode):
    """Return a tensor with more around it."""
    if mode == "PAD_PERIOD":
        raise Unsupported("OpenVINO pads by a constant, the edge, reflect and symmetric")
    before, after = row(w[0] for w in widths), row(w[1] for w in widths)
    how = {"PAD_CONST": "constant", "PAD_MIRROR": "symmetric"}[mode]
    return o.pad(x, before, after, how, like(value, x) if how == "constant" else None)


def clipped(x, low, high):
    """Return a tensor between two bounds; OpenVINO's clamp takes two numbers."""
    if isinstance(low, (int, float)) and isinstance(high, (int, float)):
        return o.clamp(x, low, high)
    above = x if low is None else o.maximum(x, like(low, x))
    return o.identity(above) if high is None else o.minimum(above, like(high, x))


def rounded(x, mode):
    """Return integers, rounded one way."""
    if mode == "TOWARDZERO":
        raise Unsupported(MISSING["trunc"])
    return {"DOWNWARD": o.floor, "UPWARD": o.ceiling, "TONEAREST": o.round}[mode](x)


def all_or(axis, x):
    """Return axes; all of them if none are given."""
    return list(axis) if axis else list(range(rank(x)))


def reduced(x, mode, axis, keep):
    """Reduce by one of the modes that OpenVINO has."""
    by = {
        "SUM": o.reduce_sum, "PROD": o.reduce_prod, "MAX": o.reduce_max, "MIN": o.reduce_min,
        "MEAN": o.reduce_mean, "LAND": o.reduce_logical_and, "LOR": o.reduce_logical_or,
    }  # fmt: skip
    if mode in ("LXOR", "BAND", "BOR", "BXOR"):
        raise Unsupported(f"OpenVINO has no reduction by {mode}")
    return by[mode](x, row(axis), keep)


def running(x, axis):
    """Return running sums; -1 is along all elements in a row."""
    return o.cum_sum(flat(x), 0) if axis == -1 else o.cum_sum(x, axis)


def extreme(x, axis, keep, dtype, mode):
    """Return the places of the largest or the smallest elements: the indices of TopK for k = 1."""
    found = o.topk(x, 1, axis, mode, "value", dtype.to_string(), stable=True).output(1)
    return found if keep else o.squeeze(found, row([axis]))


def nonzeros(x, as_tuple):
    """Return indices as a list of rows, or as one tensor with a row for each element."""
    found = o.non_zero(x)
    if not as_tuple:
        return o.transpose(found, row([1, 0]))
    return [o.gather(found, i, 0) for i in range(rank(x))]


def dot(x, y):
    """Multiply along the last axis of x and the last but one of y."""
    if rank(x) == 0 or rank(y) == 0:
        return o.multiply(x, y)
    if rank(x) <= 2 and rank(y) <= 2:
        return o.matmul(x, y, False, False)
    left, right = "abcdefg"[: rank(x) - 1], "hijklm"[: max(rank(y) - 1, 0)]
    second = right[:-1] + "z" + right[-1:]
    return o.einsum([x, y], f"{left}z,{second}->{left}{right}")


def norm(x, kind, axis, given, keep):
    """Return a norm: of two axes, one of matrices."""
    if given and len(axis) == 2 and kind in ("1", "inf"):
        inner, outer = axis if kind == "1" else axis[::-1]
        sums = o.reduce_l1(x, row([inner]), True)
        largest = o.reduce_max(sums, row([outer]), True)
        return largest if keep else o.squeeze(largest, row(axis))
    if kind == "inf":
        return o.reduce_max(o.absolute(x), row(axis), keep)
    if kind in ("1", "2", "fro") and (kind == "fro") == (given and len(axis) == 2):
        return (o.reduce_l1 if kind == "1" else o.reduce_l2)(x, row(axis), keep)
    raise Unsupported(f"OpenVINO has no norm {kind} of {len(axis)} axes")


def bilinear(x, y, weight):
    """Return products with two vectors; an ellipsis for several axes makes Einsum fail, or err."""
    more = "abcdefgh"[: rank(x) - 1]
    return o.einsum([x, weight, y], f"{more}i,oij,{more}j->{more}o")


def plus(x, bias):
    """Return a sum, if there is something to add."""
    return x if bias is None else o.add(x, bias)


def interpolated(x, sizes, mode):
    """Return a tensor of other sizes."""
    if mode == "area":
        raise Unsupported("OpenVINO does not interpolate by areas")
    where = row(range(2, rank(x)))
    if mode == "nearest":
        return o.interpolate(
            x, row(sizes), "nearest", "sizes", coordinate_transformation_mode="asymmetric",
            nearest_mode="floor", axes=where,
        )  # fmt: skip
    if {"linear": 3, "bilinear": 4, "trilinear": 5}[mode] != rank(x):
        raise Unsupported(f"OpenVINO interpolates along all axes: {mode} is a matter of the rank")
    return o.interpolate(x, row(sizes), "linear_onnx", "sizes", axes=where)


class Adapter(Framework):
    """OpenVINO."""

    name, title, version, rules = "openvino", "OpenVINO", ov.__version__, "openvino"
    mapping, missing, names = MAPPING, MISSING, globals()
    dtypes = {
        "bool": ov.Type.boolean, "int8": ov.Type.i8, "int16": ov.Type.i16, "int32": ov.Type.i32,
        "int64": ov.Type.i64, "uint8": ov.Type.u8, "uint16": ov.Type.u16, "uint32": ov.Type.u32,
        "uint64": ov.Type.u64, "float8_e4m3fn": ov.Type.f8e4m3, "float8_e5m2": ov.Type.f8e5m2,
        "float16": ov.Type.f16, "bfloat16": ov.Type.bf16, "float32": ov.Type.f32,
        "float64": ov.Type.f64,
    }  # fmt: skip
    literal, bits = "tensor({values}, {dtype}, {shape})", "of_bits({hex}, {dtype}, {shape})"
    by_bits = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
    spellings = {name: f"ov.Type.{kind.to_string()}" for name, kind in dtypes.items()}
    no_kernel = (
        "does not support inputs with element type", "is not supported", "not supported yet",
        "unsupported src_prc", "Unsupported", "unsupported", "Not Implemented", "is unsupported",
        "not implemented", "must be a floating point",
        "must have boolean element type", "does not support input with", "must be integer number",
        "must be numeric",
    )  # fmt: skip
    notes = [
        "OpenVINO has no status codes: whatever it raises counts as a refusal.",
        "Each call is a graph of an operator or a few (opset16), compiled for one CPU thread.",
        "INFERENCE_PRECISION_HINT is dynamic and EXECUTION_MODE_HINT ACCURACY: by default the CPU "
        "computes float32 as bfloat16 where the machine has instructions for it.",
        "Operands of two dtypes go through ConvertPromoteTypes-14, as the rules say.",
    ]

    def use_rules(self, rules):
        """Set the attributes of ConvertPromoteTypes-14 after the name of a rule set."""
        ATTRIBUTES.clear()
        if rules.startswith("openvino"):
            parts = rules.split("+")
            ATTRIBUTES["promote_unsafe"] = "unsafe" in parts
            ATTRIBUTES["pytorch_scalar_promotion"] = "scalar" in parts
            ATTRIBUTES["u64_integer_promotion_target"] = "i64" if "u64=i64" in parts else "f32"

    def dense(self, data, dtype):
        """Return a parameter."""
        made = parameter(np.frombuffer(data.raw, np.uint8), dtype, data.shape)
        return made if data.layout == "dense" else laid(made, data.layout)

    def call(self, op, arguments):
        """Build the graph of an interface, compile it, and run it."""
        try:
            return super().call(op, arguments)
        except NoKernel as error:
            raise NoKernel(said(error.__context__)) from None
        except Unsupported:
            raise
        except Exception as error:
            raise type(error)(said(error)) from None

    def read(self, x):
        """Return an array, or a tensor of a dtype that NumPy does not have, as data.

        A parameter has the value that it was given: a graph cannot write it.
        """
        if isinstance(x, ov.Node):
            x = GIVEN[x.get_friendly_name()]
        if isinstance(x, np.ndarray):
            return Data(x.dtype.name, x.shape, np.ascontiguousarray(x).tobytes())
        kinds = {kind.to_string(): name for name, kind in self.dtypes.items()}
        raw = np.ascontiguousarray(x.data).tobytes()
        return Data(kinds[x.element_type.to_string()], tuple(x.shape), raw)


def said(error):
    """Return the words of an error without the places in OpenVINO's sources and in the graph."""
    lines = [line.strip() for line in str(error).splitlines()]
    kept = [line for line in lines if line and not line.startswith(("Exception from", "Check '"))]
    return re.sub(r"While validating node .*? with friendly_name '\w+': ?", "", " ".join(kept))[
        :300
    ]
