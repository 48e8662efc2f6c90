"""JAX: the primitives that a program evaluates, forward and backward, judged on their own inputs.

While a program is judged nothing is compiled: ``jax.jit`` runs what it is given, step by step.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from suanzi.promote.live import NotInstalled
from suanzi.recording.recorders import private_parts
from suanzi.validate.blame.host import Host, host
from suanzi.validate.blame.observing import Adapted, Observer
from suanzi.validate.blame.options import Options
from suanzi.validate.blame.report import Report
from suanzi.validate.blame.sampling import Unjudged

Adapter = Callable[[Sequence[Any], dict[str, Any], Host], Adapted]
_UNARY = {
    "neg": "neg", "abs": "abs", "sign": "sign", "exp": "exp", "log": "log", "log1p": "log1p",
    "expm1": "expm1", "tanh": "tanh", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin",
    "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh", "asinh": "asinh",
    "acosh": "acosh", "atanh": "atanh", "sqrt": "sqrt", "rsqrt": "rsqrt", "erf": "erf",
    "erfc": "erfc", "logistic": "sigmoid", "floor": "floor", "ceil": "ceil", "square": "square",
    "is_finite": "isfinite", "convert_element_type": "_to_copy", "copy": "clone",
    "copy_p": "clone", "not": "bitwise_not", "reduce_precision": "clone", "stop_gradient": "clone",
    "stage": "clone",
}  # fmt: skip
_BINARY = {
    "add": "add", "add_any": "add", "sub": "sub", "mul": "mul", "div": "div", "rem": "fmod",
    "pow": "pow", "max": "maximum", "min": "minimum", "eq": "eq", "ne": "ne", "gt": "gt",
    "ge": "ge", "lt": "lt", "le": "le", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor",
}  # fmt: skip
_REDUCED = {
    "reduce_sum": "sum", "reduce_max": "amax", "reduce_min": "amin", "reduce_prod": "prod",
    "reduce_and": "all", "reduce_or": "any",
}  # fmt: skip
_RANDOM = ("random_bits", "threefry2x32", "random_seed", "random_wrap", "random_unwrap",
           "random_fold_in", "random_split", "random_gamma", "rng_bit_generator")  # fmt: skip


class Jax(Observer):
    """Sees every primitive that is evaluated."""

    def __init__(self, options: Options, report: Report) -> None:
        if importlib.util.find_spec("jax") is None:
            raise NotInstalled("blame: jax is not installed here.")
        self.jax: Any = importlib.import_module("jax")
        super().__init__(options, report, os.path.dirname(os.path.abspath(str(self.jax.__file__))))
        report.framework = f"jax {self.jax.__version__}"

    def _hook(self) -> None:
        try:
            private_parts.need("jax._src.core.EvalTrace.process_primitive")
        except private_parts.Lacking as error:
            raise NotInstalled(f"blame: {error}") from None
        trace: Any = importlib.import_module("jax._src.core").EvalTrace
        original = trace.process_primitive

        def process_primitive(
            this: Any, primitive: Any, args: Any, params: Any, *more: Any, **words: Any
        ) -> Any:
            result = original(this, primitive, args, params, *more, **words)
            if not self.is_busy:
                self._seen(primitive.name, args, params, result)
            return result

        self._put(trace, "process_primitive", process_primitive)
        uncompiled = self.jax.disable_jit()
        uncompiled.__enter__()
        self.undo.append(lambda: uncompiled.__exit__(None, None, None))
        self.report.notes["what jax.jit compiles ran uncompiled, to be seen"] = 1

    def _seen(self, name: str, args: Sequence[Any], params: dict[str, Any], result: Any) -> None:
        arrays = [x for x in args if hasattr(x, "dtype") and hasattr(x, "shape")]
        status = "random" if name in _RANDOM else "" if arrays else "no tensors"

        def adapt() -> Adapted | None:
            several = isinstance(result, list | tuple)
            made = [_host(x) for x in (result if several else [result])]
            return adapted(name, [_host(x) for x in args], params, made[0])

        dtypes = [str(x.dtype) for x in arrays]
        self.see(name, status, dtypes, [tuple(x.shape) for x in arrays], adapt, 4)


def _host(x: Any) -> Any:
    if not hasattr(x, "dtype"):
        return x
    if str(x.dtype).startswith("key<"):
        raise Unjudged("random keys")
    return host(np.asarray(x), str(x.dtype))


def adapted(name: str, args: Sequence[Any], params: dict[str, Any], result: Host) -> Adapted | None:
    """Return a rule for a primitive with its arguments; None where there is none."""
    if name in _UNARY:
        return _UNARY[name], {"self": args[0]}, result
    if name in _BINARY:
        second = "exponent" if name == "pow" else "other"
        return _BINARY[name], {"self": args[0], second: args[1]}, result
    if name in _REDUCED:
        return _REDUCED[name], {"self": args[0], "dim": list(params["axes"])}, result
    adapter = _ADAPTERS.get(name)
    return None if adapter is None else adapter(args, params, result)


def _kept(x: Host, data: Any, result: Host) -> Adapted:
    """Elements that are moved: what they should be is computed here."""
    return "clone", {"self": Host(np.ascontiguousarray(data), x.dtype)}, result


def _round(args: Sequence[Any], params: dict[str, Any], result: Host) -> Adapted:
    if "AWAY" in str(params.get("rounding_method")):
        raise Unjudged("rounding away from zero")
    return "round", {"self": args[0]}, result


def _select(args: Sequence[Any], params: dict[str, Any], result: Host) -> Adapted:
    which, *cases = args
    if len(cases) != 2 or which.dtype != "bool":
        raise Unjudged("a choice of several")
    return "where", {"condition": which, "self": cases[1], "other": cases[0]}, result


def _clamp(args: Sequence[Any], params: dict[str, Any], result: Host) -> Adapted:
    low, x, high = args
    return "minimum", {"self": Host(np.maximum(x.data, low.data), x.dtype), "other": high}, result


def _broadcast(args: Sequence[Any], params: dict[str, Any], result: Host) -> Adapted:
    x, at = args[0], params["broadcast_dimensions"]
    shape = [1] * len(params["shape"])
    for axis, size in zip(at, x.shape, strict=True):
        shape[axis] = size
    return _kept(x, np.broadcast_to(x.data.reshape(shape), params["shape"]), result)


def _slice(args: Sequence[Any], params: dict[str, Any], result: Host) -> Adapted:
    steps = params["strides"] or (1,) * args[0].ndim
    bounds = zip(params["start_indices"], params["limit_indices"], steps, strict=True)
    return _kept(args[0], args[0].data[tuple(slice(*one) for one in bounds)], result)


def _pad(args: Sequence[Any], params: dict[str, Any], result: Host) -> Adapted:
    x, value = args
    config = params["padding_config"]
    if any(low < 0 or high < 0 or inner for low, high, inner in config):
        raise Unjudged("padding inside, or less than none")
    around = [(low, high) for low, high, _ in config]
    return _kept(x, np.pad(x.data, around, constant_values=value.data[()]), result)


def _iota(args: Sequence[Any], params: dict[str, Any], result: Host) -> Adapted:
    shape, axis = params["shape"], params["dimension"]
    row = np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
    data = np.broadcast_to(row, shape).astype(result.data.dtype)
    return _kept(Host(data, result.dtype), data, result)


def _pointed(rule: str) -> Adapter:
    def adapter(args: Sequence[Any], params: dict[str, Any], result: Host) -> Adapted:
        return rule, {"self": args[0], "dim": params["axes"][0]}, result

    return adapter


def _cumsum(args: Sequence[Any], params: dict[str, Any], result: Host) -> Adapted:
    axis, x, y = params["axis"], args[0], result
    if params["reverse"]:
        x, y = (Host(np.flip(one.data, axis), one.dtype) for one in (x, y))
    return "cumsum", {"self": x, "dim": axis}, y


def _dot(args: Sequence[Any], params: dict[str, Any], result: Host) -> Adapted:
    """A product with axes that are summed and axes of a batch, as one of matrices."""
    x, y = args[:2]
    (cx, cy), (bx, by) = params["dimension_numbers"]

    def turned(a: Host, summed: Sequence[int], batch: Sequence[int], last: bool) -> Host:
        rest = [i for i in range(a.ndim) if i not in (*summed, *batch)]
        order = [*batch, *rest, *summed] if last else [*batch, *summed, *rest]
        data = a.data.transpose(order)
        n, k = (int(np.prod([a.shape[i] for i in axes])) for axes in (batch, summed))
        shape = (n, -1, k) if last else (n, k, -1)
        free = int(np.prod([a.shape[i] for i in rest]))
        return Host(data.reshape([free if s == -1 else s for s in shape]), a.dtype)

    a, b = turned(x, cx, bx, True), turned(y, cy, by, False)
    made = Host(result.data.reshape(a.shape[0], a.shape[1], b.shape[2]), result.dtype)
    return "bmm", {"self": a, "mat2": b}, made


def _convolution(args: Sequence[Any], params: dict[str, Any], result: Host) -> Adapted:
    numbers = params["dimension_numbers"]
    if params["batch_group_count"] != 1 or any(d != 1 for d in params["lhs_dilation"]):
        raise Unjudged("a convolution as of a gradient")
    x = args[0].data.transpose(numbers.lhs_spec)
    weight = args[1].data.transpose(numbers.rhs_spec)
    made = result.data.transpose(numbers.out_spec)
    around = [(0, 0), (0, 0), *params["padding"]]
    if any(low < 0 or high < 0 for low, high in around):
        raise Unjudged("padding that is less than none")
    given = {
        "input": Host(np.pad(x, around), args[0].dtype), "weight": Host(weight, args[1].dtype),
        "stride": list(params["window_strides"]), "padding": [0] * (x.ndim - 2),
        "dilation": list(params["rhs_dilation"]), "groups": params["feature_group_count"],
    }  # fmt: skip
    return "convolution", given, Host(made, result.dtype)


_ADAPTERS: dict[str, Adapter] = {
    "round": _round,
    "integer_pow": lambda a, p, r: ("pow", {"self": a[0], "exponent": p["y"]}, r),
    "select_n": _select,
    "clamp": _clamp,
    "broadcast_in_dim": _broadcast,
    "reshape": lambda a, p, r: _kept(a[0], a[0].data.reshape(p["new_sizes"]), r),
    "transpose": lambda a, p, r: _kept(a[0], a[0].data.transpose(p["permutation"]), r),
    "squeeze": lambda a, p, r: _kept(a[0], a[0].data.squeeze(tuple(p["dimensions"])), r),
    "expand_dims": lambda a, p, r: _kept(a[0], a[0].data.reshape(r.shape), r),
    "rev": lambda a, p, r: _kept(a[0], np.flip(a[0].data, tuple(p["dimensions"])), r),
    "slice": _slice,
    "concatenate": lambda a, p, r: _kept(
        a[0], np.concatenate([x.data for x in a], p["dimension"]), r
    ),
    "pad": _pad,
    "iota": _iota,
    "argmax": _pointed("argmax"),
    "argmin": _pointed("argmin"),
    "cumsum": _cumsum,
    "dot_general": _dot,
    "conv_general_dilated": _convolution,
}
