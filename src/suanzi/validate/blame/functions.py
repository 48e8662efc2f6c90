"""Paddle and MindSpore: the functions and methods that a program calls, as `suanzi port` sees them.

The table of names says which operator of PyTorch a function is, and that has the rule. Gradients
are computed behind the functions, and not seen.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from suanzi.promote.live import NotInstalled
from suanzi.recording.recorders import patching, recording
from suanzi.standard import other_names
from suanzi.validate.blame.host import Host, host
from suanzi.validate.blame.observing import Adapted, Observer
from suanzi.validate.blame.options import Options
from suanzi.validate.blame.report import Report
from suanzi.validate.blame.rules import RULES
from suanzi.validate.blame.sampling import Unjudged, is_float

_Names: Any = recording.Names
_Patches: Any = patching.Patches
_NOT_ELEMENTS = ("max", "min", "sum", "mean", "prod", "any", "all", "argmax", "argmin", "amax",
                 "amin", "logsumexp", "sort", "topk", "norm", "var", "std", "cumsum")  # fmt: skip
_VIEWS = frozenset(
    ["reshape", "view", "squeeze", "unsqueeze", "flatten", "detach", "expand", "getitem", "T",
     "transpose", "permute", "swapaxes", "t", "split", "chunk", "unbind", "expand_as",
     "broadcast_to", "slice", "index_select", "gather", "tile", "stack", "concat", "cat"]
)  # fmt: skip
"""What moves elements by arguments that frameworks write in other ways: it is not judged."""
_RANDOM = frozenset(["rand", "randn", "randint", "randperm", "uniform", "normal", "gaussian",
                     "bernoulli", "multinomial", "dropout"])  # fmt: skip


_PRIMITIVE = "primitive "


class Copying(_Patches):  # type: ignore[misc]
    """Patches that keep what a call writes to, as it was before."""

    def noting(self, original: Any, name: str, *more: Any, skip: int = 0) -> Any:
        """Return a function that notes another one; of an object that is called it is said so."""
        return super().noting(original, _PRIMITIVE * bool(skip) + name, *more, skip=skip)

    def as_it_is(self, args: Sequence[Any]) -> Sequence[Any]:
        """Return the arguments with the numbers of the first, as they are now."""
        self.here.silent = True
        try:
            return (self.notes.numbers(args[0]), *args[1:])
        except Exception:
            return args
        finally:
            self.here.silent = False


class Functions(Observer):
    """Sees the functions of a framework that are called: it is the notes of its patches."""

    module = ""
    recorder = ""
    noted = 0
    """How many calls were seen; the patches look whether it grows."""

    def __init__(self, options: Options, report: Report) -> None:
        if importlib.util.find_spec(self.module) is None:
            raise NotInstalled(f"blame: {self.module} is not installed here.")
        self.lib: Any = importlib.import_module(self.module)
        super().__init__(options, report, os.path.dirname(os.path.abspath(str(self.lib.__file__))))
        report.framework = f"{self.module} {self.lib.__version__}"
        self.meanings = other_names.by_name(self.module)

    def _hook(self) -> None:
        recorder: Any = importlib.import_module(f"suanzi.recording.recorders.{self.recorder}")
        patches = recorder.make_patches(self, _Names(self.module), Copying)
        patches.__enter__()
        self.undo.append(lambda: patches.__exit__())
        self._follow_layers(self._layer())
        self.report.notes["gradients are computed behind functions, and not seen"] = 1

    def _layer(self) -> Any:
        raise NotImplementedError

    def numbers(self, x: Any) -> Host:
        """Return the numbers of a tensor."""
        raise NotImplementedError

    def end(self) -> dict[str, Any]:
        """Return what the notes of a recorder have at the end: nothing."""
        return {}

    def note(
        self, name: str, way: str | None, args: Sequence[Any], kwargs: dict[str, Any], result: Any
    ) -> None:
        """Judge a call of a function that the patches saw."""
        self.noted += 1
        if self.is_busy:
            return
        try:
            self._note(name, args, kwargs, result)
        except Exception as error:
            self.fail(name, error)

    def _note(self, name: str, args: Sequence[Any], kwargs: dict[str, Any], result: Any) -> None:
        tensors = [x for x in (*args, *kwargs.values()) if self._is_tensor(x)]
        made = result if isinstance(result, list | tuple) else [result]
        if not any(map(self._is_tensor, made)):
            return
        is_primitive = name.startswith(_PRIMITIVE)
        name = name.removeprefix(_PRIMITIVE)
        known = self.meanings.get(name)
        torch_name = known.names.get("torch", (name,))[0] if known is not None else name

        def adapt() -> Adapted | None:
            given, words = ([self._value(x) for x in args],
                            {n: self._value(x) for n, x in kwargs.items()})  # fmt: skip
            first = next(x for x in made if self._is_tensor(x))
            if is_primitive and torch_name in _ADAPTERS:
                raise Unjudged("the attributes of a primitive are not seen")
            return adapted(name, torch_name, given, words, self._value(first), self.module)

        status = "views" if name in _VIEWS else "random" if name in _RANDOM else ""
        dtypes = [self._dtype(x) for x in tensors]
        self.see(name, status, dtypes, [tuple(x.shape) for x in tensors], adapt, 5)

    def _is_tensor(self, x: Any) -> bool:
        return isinstance(x, self.lib.Tensor | Host)

    def _dtype(self, x: Any) -> str:
        return str(x.dtype).rpartition(".")[2].lower()

    def _value(self, x: Any) -> Any:
        if isinstance(x, self.lib.Tensor):
            return self.numbers(x)
        return [self._value(one) for one in x] if isinstance(x, list | tuple) else x


class Paddle(Functions):
    """Paddle's functions, methods and ``paddle._C_ops``."""

    module, recorder = "paddle", "record_paddle"

    def _layer(self) -> Any:
        return self.lib.nn.Layer

    def numbers(self, x: Any) -> Host:
        """Return the numbers of a tensor."""
        dtype = self._dtype(x)
        wide = x.astype("float32") if dtype in ("bfloat16", "float8_e4m3fn") else x
        return host(np.asarray(wide.detach().numpy()), dtype)


class MindSpore(Functions):
    """MindSpore's functions, methods and primitives, in PyNative mode."""

    module, recorder = "mindspore", "record_mindspore"

    def _layer(self) -> Any:
        return self.lib.nn.Cell

    def numbers(self, x: Any) -> Host:
        """Return the numbers of a tensor."""
        dtype = self._dtype(x)
        wide = x.astype(self.lib.float32) if dtype == "bfloat16" else x
        return host(np.asarray(wide.asnumpy()), dtype)


OBSERVERS: dict[str, type[Functions]] = {"paddle": Paddle, "mindspore": MindSpore}


# ---- from functions to rules ---------------------------------------------------------------------


class Given:
    """The arguments of a function, by position or by any of the names that frameworks use."""

    ALSO: ClassVar[dict[str, tuple[str, ...]]] = {
        "x": ("input", "self"), "y": ("other",), "axis": ("dim", "axes"),
        "keepdim": ("keepdims", "keep_dims"), "epsilon": ("eps",), "bias": ("b",),
    }  # fmt: skip

    def __init__(self, args: Sequence[Any], kwargs: dict[str, Any], framework: str) -> None:
        self.args, self.kwargs, self.framework = args, kwargs, framework

    def get(self, position: int, name: str, default: Any = None) -> Any:
        """Return an argument, or something else if it was not given."""
        if position < len(self.args):
            return self.args[position]
        for one in (name, *self.ALSO.get(name, ())):
            if one in self.kwargs:
                return self.kwargs[one]
        return default


def adapted(
    name: str, torch_name: str, args: Sequence[Any], kwargs: dict[str, Any], result: Host,
    framework: str,
) -> Adapted | None:  # fmt: skip
    """Return a rule for a function with its arguments; None where there is none."""
    given = Given(args, kwargs, framework)
    if torch_name in _ADAPTERS:
        return _ADAPTERS[torch_name](given, result)
    if torch_name == "rsub":
        return "sub", {"self": given.get(1, "y"), "other": given.get(0, "x")}, result
    if name in other_names.SWAPPED:
        args = [*args[:2][::-1], *args[2:]]
    rule = RULES.get(torch_name)
    if rule is None or torch_name in _NOT_ELEMENTS:
        return None
    definition = inspect.getclosurevars(rule).nonlocals.get("definition")
    if definition is None:
        return None
    names = list(inspect.signature(definition).parameters)
    tensors = [x for x in args if not isinstance(x, str | list)]
    if kwargs or len(tensors) > len(names):
        kwargs = {k: v for k, v in kwargs.items() if v is not None and k not in ("name", "out")}
        if set(kwargs) - {"x", "y", "input", "other"} or len(tensors) > len(names):
            raise Unjudged("arguments of its own")
        tensors += list(kwargs.values())
    return torch_name, dict(zip(names, tensors, strict=False)), result


def _reduced(rule: str) -> Callable[[Given, Host], Adapted]:
    def adapter(given: Given, result: Host) -> Adapted:
        axis = given.get(1, "axis")
        axis = [axis] if isinstance(axis, int) else axis
        if axis is not None and not isinstance(axis, list | tuple):
            raise Unjudged("axes that are tensors")
        return rule, {"self": given.get(0, "x"), "dim": axis}, result

    return adapter


def _along(rule: str) -> Callable[[Given, Host], Adapted]:
    def adapter(given: Given, result: Host) -> Adapted:
        axis = given.get(1, "axis", -1)
        if not isinstance(axis, int):
            raise Unjudged("axes that are not numbers")
        return rule, {"self": given.get(0, "x"), "dim": axis}, result

    return adapter


def _product(a: Host, b: Host, result: Host, bias: Host | None = None) -> Adapted:
    """A product of matrices of equal batches, or of one matrix."""
    if a.ndim < 2 or b.ndim < 2:
        raise Unjudged("products of vectors")
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if b.ndim == 2:
        flat = [Host(x.data.reshape(-1, x.shape[-1]), x.dtype) for x in (a, result)]
        if bias is not None:
            return "addmm", {"self": bias, "mat1": flat[0], "mat2": b}, flat[1]
        return "mm", {"self": flat[0], "mat2": b}, flat[1]

    def whole(x: Host) -> Host:
        data = np.broadcast_to(x.data, (*batch, *x.shape[-2:]))
        return Host(data.reshape(-1, *x.shape[-2:]), x.dtype)

    return "bmm", {"self": whole(a), "mat2": whole(b)}, whole(result)


def _matmul(given: Given, result: Host) -> Adapted:
    a, b = given.get(0, "x"), given.get(1, "y")
    if given.get(2, "transpose_x", False):
        a = a.transpose(-1, -2)
    if given.get(3, "transpose_y", False):
        b = b.transpose(-1, -2)
    return _product(a, b, result)


def _linear(given: Given, result: Host) -> Adapted:
    x, weight, bias = given.get(0, "x"), given.get(1, "weight"), given.get(2, "bias")
    # Paddle has a weight of inputs by outputs, the others of outputs by inputs.
    return _product(x, weight if given.framework == "paddle" else weight.transpose(0, 1), result,
                    bias)  # fmt: skip


def _layer_norm(given: Given, result: Host) -> Adapted:
    x, shape = given.get(0, "x"), given.get(1, "normalized_shape")
    weight, bias, eps = given.get(2, "weight"), given.get(3, "bias"), given.get(4, "epsilon", 1e-5)
    if isinstance(shape, Host) or shape is None:  # Paddle's kernel: weight, bias, epsilon, axis
        weight, bias, eps, axis = given.args[1:5]
        shape = x.shape[axis:]
        weight, bias = (None if w is None else w.reshape(*shape) for w in (weight, bias))
    shape = [shape] if isinstance(shape, int) else list(shape)
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    mean = x.data.mean(axes, keepdims=True)
    var = ((x.data - mean) ** 2).mean(axes, keepdims=True)
    wide = "float64" if x.dtype == "float64" else "float32"
    statistics = [Host(mean, wide), Host(1 / np.sqrt(var + eps), wide)]
    arguments = {"input": x, "normalized_shape": shape, "weight": weight, "bias": bias,
                 "eps": float(eps)}  # fmt: skip
    return "native_layer_norm", arguments, [result, *statistics]


def _gelu(given: Given, result: Host) -> Adapted:
    how = given.get(1, "approximate", "none")
    how = {True: "tanh", False: "none"}.get(how, how)
    return "gelu", {"self": given.get(0, "x"), "approximate": how}, result


def _conv2d(given: Given, result: Host) -> Adapted:
    x, weight, bias = given.get(0, "x"), given.get(1, "weight"), given.get(2, "bias")
    stride, padding, dilation, groups = (
        given.get(i, name, default)
        for i, (name, default) in enumerate(
            (("stride", 1), ("padding", 0), ("dilation", 1), ("groups", 1)), 3
        )
    )
    layout = given.get(7, "data_format", "NCHW")
    if isinstance(bias, list):  # Paddle's kernel, without a bias
        stride, padding, how, dilation, groups, layout = given.args[2:8]
        bias, padding = None, padding if how == "EXPLICIT" else how
    if isinstance(padding, str) or layout != "NCHW":
        raise Unjudged("a convolution whose padding or layout has a name")
    arguments = {"input": x, "weight": weight, "bias": bias, "stride": stride, "padding": padding,
                 "dilation": dilation, "groups": groups}  # fmt: skip
    return "convolution", arguments, result


def _embedding(given: Given, result: Host) -> Adapted:
    x, weight = given.get(0, "x"), given.get(1, "weight")
    if is_float(x.dtype):
        x, weight = weight, x
    return "embedding", {"weight": weight, "indices": x, "padding_idx": -1}, result


def _cast(given: Given, result: Host) -> Adapted:
    return "_to_copy", {"self": given.get(0, "x")}, result


def _scale(given: Given, result: Host) -> Adapted:
    x, factor, bias = given.get(0, "x"), given.get(1, "scale", 1.0), given.get(2, "bias", 0.0)
    if bias or isinstance(factor, Host):
        raise Unjudged("a scale with a bias")
    return "mul", {"self": x, "other": float(factor)}, result


_ADAPTERS: dict[str, Callable[[Given, Host], Adapted]] = {
    "matmul": _matmul, "mm": _matmul, "bmm": _matmul, "linear": _linear,
    "softmax": _along("_softmax"), "log_softmax": _along("_log_softmax"),
    "cumsum": _along("cumsum"), "sum": _reduced("sum"), "mean": _reduced("mean"),
    "amax": _reduced("amax"), "amin": _reduced("amin"), "max": _reduced("amax"),
    "min": _reduced("amin"), "prod": _reduced("prod"), "logsumexp": _reduced("logsumexp"),
    "layer_norm": _layer_norm, "gelu": _gelu, "conv2d": _conv2d, "embedding": _embedding,
    "to": _cast, "scale": _scale,
}  # fmt: skip
