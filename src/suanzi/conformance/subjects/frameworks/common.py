"""What the adapters of frameworks share: tables of expressions, and the standard's conventions.

An adapter is a table with one expression for each interface, in terms of the standard's parameter
names. The expression is at once the documentation of the mapping, the call, and what a reader can
paste. It calls what a user of the framework would call, adapts conventions (the order of axes, the
names of modes, the position of a length), and never corrects a value, a dtype or an error.

The files here run in the interpreter of a framework: they import the framework, NumPy, and nothing
of suanzi; any Python from 3.9 on will do. A function that an expression uses stands at the top
level of the adapter or of this file and needs nothing but what stands there: so a reproduction can
carry its text along.
"""

import math
import os
import platform
import sys

from wire import Data, NoKernel, Unsuitable, Unsupported

LOST = 70
"""How a process ends whose device computes nothing more."""

GRADIENTS = (
    "slice_backward", "clip_backward", "trace_backward", "reduce_bwd", "cumsum_bwd", "argsort_bwd",
    "fft_c2c_backward", "fft_r2c_backward", "fft_c2r_backward", "dot_bwd1", "dot_bwd2",
    "linear_bwd_in", "linear_bwd_weight", "bilinear_bwd_in1", "bilinear_bwd_in2",
    "bilinear_bwd_weight",
)  # fmt: skip
"""The backward interfaces."""

SAME_ARGUMENTS = {
    "input": "duplicate diag is_finite is_inf is_nan size sign conj imag real",
    "input, axis": "expand_dims",
    "input, dims": "reshape",
    "input, repeats": "tile",
    "input, low, high": "clip",
    "input, shape": "expand",
    "input, mask": "masked_select",
    "input_lists, axis": "concat stack",
    "condition, x, y": "where",
    "mat1, mat2": "matmul",
    "x, offset, dim0, dim1": "trace",
    "x": "abs reciprocal logical_not bitwise_not sqrt rsqrt square floor ceil trunc round sin cos "
    "tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log log1p log10 log2",
    "x, y": "add sub mul floordiv true_divide mod max min equal not_equal greater greater_equal "
    "less less_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor",
    "x, e": "pow",
    "x, shift": "bitwise_left_shift bitwise_right_shift",
}
"""Interfaces that most frameworks have as a function of these arguments."""

COMMON_NAMES = (
    "is_finite=isfinite is_inf=isinf is_nan=isnan floordiv=floor_divide max=maximum min=minimum"
)
NUMPY_NAMES = (
    "duplicate=copy concat=concatenate expand=broadcast_to sub=subtract mul=multiply pow=power "
    "bitwise_left_shift=left_shift bitwise_right_shift=right_shift asin=arcsin acos=arccos "
    "atan=arctan asinh=arcsinh acosh=arccosh atanh=arctanh"
)
EXPRESSIONS = {
    "squeeze": "{m}.squeeze(input, axes(axis))",
    "slice": "input[boxes(begin, size, step)]",
    "pad": "padded(input, pairs(pad_width), pad_value, pad_mode)",
    "reverse": "{m}.flip(input, tuple(axis))",
    "crop": "input[boxes(offsets_of(offsets, shape), shape)]",
    "gather": "input[coordinates(index)]",
    "flip": "{m}.flip(input, tuple(axis))",
    "meshgrid": "list({m}.meshgrid(*input, indexing='ij'))",
    "rint": "ROUNDINGS[mode](x)",
    "reduce": "reduced(input, mode, axes(axis), keep_dims)",
    "cumsum": "{m}.cumsum(input, None if axis == -1 else axis, dtype)",
    "fft_c2c": "c2c(input, last(axes), norm_name(normalization, forward), forward)",
    "fft_c2r": "c2r(input, last(axes), normalization, forward, last_dim_size)",
    "qr": "(None, {m}.linalg.qr(mat, 'r')) if mode == 'r' else tuple({m}.linalg.qr(mat, mode))",
    "svd": "svd(mat, format)",
    "solve": "{m}.linalg.solve(adjoint_of(mat) if adjoint else mat, rhs)",
    "inverse": "{m}.linalg.inv(mat)",
    "eig": "tuple({m}.linalg.eig(mat))",
    "norm": "norm(input, normtype if normtype == 'fro' else float(normtype), axis, keep_dims)",
}
"""Expressions of most frameworks; {m} is the module."""
NUMPY_EXPRESSIONS = {
    "range": "numbers(start, limit, step, dtype)",
    "shape": "{m}.array({m}.shape(input), {m}.int32)",
    "rank": "{m}.ndim(input)",
    "cast": "input.astype(type)",
    "transpose": "{m}.transpose(input, inverse_order(perm))",
    "unstack": "list({m}.unstack(input, axis=axis))",
    "flatten": "{m}.reshape(input, flattened({m}.shape(input), start_axis, stop_axis))",
    "muladd": "{m}.add({m}.multiply(x, y), a)",
    "argsort": "sort(input, axis, descending)",
    "fft_r2c": "r2c(no_half(input), last(axes), normalization, forward, onesided)",
    "dot": "{m}.dot(vec1, vec2)",
    "lstsq": "{m}.linalg.lstsq(mat, rhs, eps(mat.dtype) if prec is None else prec)[0]",
}
"""Those of NumPy and JAX."""
TORCH_EXPRESSIONS = {
    "create_tensor": "filled(values, dtype, shape)",
    "contiguous": "input.contiguous()",
    "is_contiguous": "input.is_contiguous()",
    "cast": "{m}.cast(input, type)",
    "slice_backward": "gradient(lambda x: x[boxes(begin, size, step)], grad_out, input)",
    "reverse": "{m}.flip(input, axis)",
    "flatten": "{m}.flatten(input, start_axis, stop_axis)",
    "flip": "{m}.flip(input, axis)",
    "reduce_bwd": "gradient(lambda x: reduced(x, mode, axes(axis), keep_dims), out_grad, input)",
    "topk": "tuple({m}.topk(input, k, axis, largest, sorted))",
    "complex": "{m}.complex(real, imag)",
    "fft_c2c": "c2c(input, last(axes), normalization, forward)",
    "fft_c2c_backward": "gradient(lambda x: c2c(x, last(axes), normalization, forward), grad_out, "
    "{m}.zeros_like(grad_out))",
    "fft_r2c": "r2c(input, last(axes), normalization, forward, onesided)",
    "fft_r2c_backward": "gradient(lambda x: r2c(x, last(axes), normalization, forward, "
    "grad_out.shape[last(axes)[-1]] != x.shape[last(axes)[-1]]), grad_out, input)",
    "fft_c2r_backward": "gradient(lambda x: c2r(x, last(axes), normalization, forward, "
    "grad_out.shape[last(axes)[-1]]), grad_out, half_spectrum(grad_out, last(axes)[-1]))",
    "dot": "dot(vec1, vec2)",
    "lu": "lu(mat)",
}
"""Those of PyTorch, Paddle and MindSpore; each overrides some."""


def numpy_like(module):
    """Return the expressions that a framework shares with NumPy, such as np.add(x, y)."""
    return _shared(module, NUMPY_NAMES, NUMPY_EXPRESSIONS)


def torch_like(module, names):
    """Return the expressions that a framework shares with PyTorch, but for the names given.

    >>> torch_like("torch", "equal=eq less=lt")["equal"]
    'torch.eq(x, y)'
    """
    return _shared(module, names, TORCH_EXPRESSIONS)


def _shared(module, names, expressions):
    names = dict(pair.split("=") for pair in f"{COMMON_NAMES} {names}".split())
    shared = {**EXPRESSIONS, **expressions}
    return {
        **{op: text.replace("{m}", module) for op, text in shared.items()},
        **{
            op: f"{module}.{names.get(op, op)}({arguments})"
            for arguments, ops in SAME_ARGUMENTS.items()
            for op in ops.split()
        },
    }


def model_table(functions):
    """Return expressions of model operators and of their gradients, from those of the forward ones.

    >>> model_table({"relu": ("x", "nn.relu(x)")})["nn:relu_bwd"]
    'gradients(lambda x: nn.relu(x), out_grad, x)'
    """
    found = {}
    for name, (operands, text) in functions.items():
        given = ", ".join(operands.split())
        found[f"nn:{name}"] = text
        found[f"nn:{name}_bwd"] = f"gradients(lambda {given}: {text}, out_grad, {given})"
    return found


class Framework:
    """An adapter that is a table of expressions; a subclass for each framework sets these:

    name, version, rules, mapping, missing, notes: its description of itself
    title     the framework's name as it writes it
    dtypes    its dtypes, by the standard's names
    literal   how its users write a tensor, with {values}, {dtype} as below, and {shape}
    spelled   how they write a dtype, with {dtype} for its name; `spellings` has those that differ
    bits      how they write a tensor from bytes, with {hex}, {dtype} and {shape}, for the dtypes
              of `by_bits`, which no literal can express
    names     what the expressions can use in addition to this file: the globals of the adapter
    no_kernel parts of error messages that mean: no kernel for this dtype, which is not a refusal
    lost      parts of error messages after which nothing more is computed in this process

    On a device, `placed` makes it the one on which tensors are made, `device` is its name, and
    `placing` is the line that a reproduction needs for it.
    """

    statuses = False
    defaults = True  # the kit completes the arguments of every call
    name = title = version = rules = literal = spelled = bits = ""
    by_bits: tuple = ()
    dtypes: dict = {}
    spellings: dict = {}
    mapping: dict = {}
    missing: dict = {}
    notes: list = []
    names: dict = {}
    no_kernel: tuple = ()
    lost: tuple = ()
    device = placing = ""

    def __init__(self, device=""):
        if device:
            self.notes = [*self.notes, *self.placed(device)]
            self.device = device
        self._code = {op: compile(text, f"<{op}>", "eval") for op, text in self.mapping.items()}

    @property
    def literals(self):
        """Return how a reproduction writes tensors: a template for each dtype."""
        found = {}
        for name in self.dtypes:
            dtype = self.spellings.get(name, self.spelled.replace("{dtype}", name))
            form = self.bits if name in self.by_bits else self.literal
            found[name] = form.replace("{dtype}", dtype)
            found[f"dtype {name}"] = dtype
        if self.device:
            found["placing"], found["device cpu"] = self.placing, repr(self.device)
        return found

    def without(self, device, error):
        """Return the error that says that a device was looked for and does not exist."""
        words = str(error).strip().partition("\n")[0].partition(". ")[0]
        return Unsuitable(f"{self.title} {self.version} has no device {device!r} here: {words}")

    def placed(self, device):
        """Make all tensors on a device from now on, and return notes about it."""
        raise Unsuitable(f"{self.title} is tested on the CPU alone, not on {device!r}")

    def dtype(self, name):
        """Return the framework's dtype of a name; a name that the standard has not, as it is."""
        known = name if name.startswith("QT_") else name.lower()
        if known in self.dtypes:
            return self.dtypes[known]
        if known in STANDARD_NAMES:
            raise Unsupported(f"{self.title} has no {known}")
        return name

    def create(self, data: Data):
        """Return a tensor that lies in memory as the data say."""
        if data.layout == "destroyed":
            raise Unsupported(f"{self.title} has no destroyed tensors: it frees them by itself")
        if data.sparse is not None:
            if data.sparse != "COO":
                raise Unsupported(f"{self.title} is tried with no {data.sparse}")
            return self.sparse(data)
        if data.scale is not None:
            return self.quantized(data)
        if data.min2maj is not None:
            return self.ordered(data)
        return self.dense(data, self.dtype(data.dtype))

    def ordered(self, data):
        """Return a tensor whose axes lie in memory in the order the data say, the fastest first."""
        slow_first = data.min2maj[::-1]
        steps = [1] * len(data.shape)
        for axis in reversed(range(len(data.shape) - 1)):
            steps[axis] = steps[axis + 1] * data.shape[axis + 1]
        size = len(data.raw) // max(data.size, 1)
        places = [0]
        for axis in slow_first:
            places = [p + i * steps[axis] for p in places for i in range(data.shape[axis])]
        raw = b"".join(data.raw[p * size : (p + 1) * size] for p in places)
        lying = Data(data.dtype, tuple(data.shape[axis] for axis in slow_first), raw)
        axes = [slow_first.index(axis) for axis in range(len(data.shape))]
        return self.transposed(self.dense(lying, self.dtype(data.dtype)), axes)

    def transposed(self, x, axes):
        """Return a view with these axes."""
        raise Unsupported(f"{self.title} takes tensors that are row-major")

    def sparse(self, data):
        """Return a sparse tensor."""
        raise Unsupported(f"{self.title} has no sparse tensors")

    def quantized(self, data):
        """Return a quantised tensor."""
        raise Unsupported(f"{self.title} has no quantised tensors")

    def dense(self, data, dtype):
        """Return a tensor of a dtype that the framework has."""
        raise NotImplementedError

    def read(self, x) -> Data:
        """Return a tensor as data."""
        raise NotImplementedError

    def call(self, op, arguments):
        """Evaluate the expression of an interface."""
        if op not in self._code:
            raise Unsupported(self.missing.get(op, f"{self.title} has no {op}"))
        bound = dict(arguments)
        for name in ("dtype", "type"):
            if isinstance(bound.get(name), str):
                bound[name] = self.dtype(bound[name])
        if self.device and str(bound.get("device")).lower() == "cpu":
            bound["device"] = self.device  # the standard's default: here, what is tested
        try:
            return self.settled(self.evaluated(op, bound))
        except Unsupported:
            raise
        except Exception as error:
            words = f"{type(error).__name__}: {error}"
            if any(part in words for part in self.lost):
                sys.stderr.write(in_a_row(words)[:400] + "\n")
                sys.stderr.flush()
                os._exit(LOST)  # the kit starts another process
            if any(part in words for part in self.no_kernel):
                raise NoKernel(in_a_row(words)[:200]) from None
            raise

    def evaluated(self, op, bound):
        """Return what the expression of an interface gives for arguments."""
        return eval(self._code[op], {**globals(), **self.names, **bound})

    def settled(self, found):
        """Return outputs as the worker takes them, all of them computed."""
        return found

    def status(self, error):
        """Frameworks have no status codes: an error is a refusal, and no more."""
        return None


STANDARD_NAMES = frozenset(
    "bool int4 uint4 uint1 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3fn "
    "float8_e5m2 float16 bfloat16 float32 float64 complex32 complex64 complex128 char "
    "QT_SYM_INT8 QT_SYM_INT16 QT_CH_SYM_INT8 QT_CH_SYM_INT16 QT_ASYM_INT8 QT_ASYM_INT16 "
    "QT_ASYM_UINT8 QT_ASYM_UINT16".split()
)


def named(values, *names):
    """Return a framework's dtypes by the standard's names, of those names that it has."""
    return {name: getattr(values, name) for name in names if hasattr(values, name)}


def kept_at(name):
    """Return the folder in which a framework may keep what it compiles for this machine."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "suanzi", f"{name}-{platform.node()}")


def in_a_row(words):
    """Return an error's words without the lines and rules that it is drawn with.

    >>> in_a_row("TypeError: \\n-----\\n- Kernel select failed:\\n-----\\n")
    'TypeError: Kernel select failed:'
    """
    return " ".join(word for word in words.split() if word.strip("-"))


def spread(shape, size, places, values):
    """Return all elements as bytes, `size` for each: values in their places, zeros elsewhere."""
    found = bytearray(size * math.prod(shape))
    for i, place in enumerate(places):
        at = 0
        for n, coordinate in zip(shape, place):
            at = at * n + coordinate
        found[size * at : size * (at + 1)] = values[size * i : size * (i + 1)]
    return bytes(found)


# Conventions of the standard in those of all frameworks.


def axes(axis):
    """Return axes as a tuple; None, for all of them, if there are none."""
    return tuple(axis) if axis else None


def inverse_order(perm):
    """Return the source of each axis: the standard gives the destination of each."""
    places = [p + len(perm) if p < 0 else p for p in perm]
    return [places.index(i) for i in range(len(perm))] if perm else None


def thinned(array):
    """Return an array with every axis of equal elements reduced to one element."""
    for axis in range(array.ndim):
        rows = array.swapaxes(0, axis)
        if len(rows) and all(row.tobytes() == rows[0].tobytes() for row in rows):
            array = rows[:1].swapaxes(0, axis)
    return array


def boxes(begin, size, step=None):
    """Return slices; the size is that before steps are taken."""
    steps = [1] * len(begin) if step is None else step
    return tuple(slice(b, b + n, s) for b, n, s in zip(begin, size, steps))


def offsets_of(offsets, shape):
    """Return one offset for each axis."""
    return list(offsets) if isinstance(offsets, (list, tuple)) else [offsets] * len(shape)


def pairs(pad_width):
    """Return widths as pairs; the standard also has them in one row."""
    if pad_width and isinstance(pad_width[0], (list, tuple)):
        return [tuple(pair) for pair in pad_width]
    return list(zip(pad_width[::2], pad_width[1::2]))


def flattened(shape, start, stop):
    """Return the shape after the axes from start to stop, that one too, became one."""
    n, shape = len(shape), tuple(shape)
    shape[start], shape[stop]
    first, last = start % n, stop % n
    if first > last:
        raise IndexError(f"axis {start} comes after axis {stop}")
    return shape[:first] + (math.prod(shape[first : last + 1]),) + shape[last + 1 :]


def count(start, limit, step, eps):
    """Return how many numbers there are from a start to a limit, that one too."""
    steps = (limit - start) / step
    if steps < 0:
        raise ValueError("the step leads away from the limit")
    return math.floor(steps + eps * max(1.0, abs(steps))) + 1


def last(axes):
    """Return the axes of a Fourier transform: the last one if none are given."""
    return [-1] if axes is None else list(axes)


def norm_name(normalization, forward):
    """Return NumPy's name of a scaling, which depends on the direction."""
    scaled = {"none": False, "by_n": True}.get(normalization)
    if scaled is None:
        return {"by_sqrt_n": "ortho"}[normalization]
    return "forward" if scaled == forward else "backward"


def target_sizes(shape, size, scale_factor):
    """Return the sizes of the axes behind the first two after an interpolation."""
    if size:
        return list(size)
    inner = shape[2:]
    factors = (
        scale_factor if isinstance(scale_factor, (list, tuple)) else [scale_factor] * len(inner)
    )
    return [math.floor(n * f) for n, f in zip(inner, factors)]
