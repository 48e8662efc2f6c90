"""What NumPy's functions do with tensors: `np.exp(x)`, `np.sum(x)`, `array + x`.

The functions listed here are computed by suanzi and return tensors. A ufunc with a symbol is that
symbol: ``np.add(x, y)`` is ``x + y``. The others are functions of the array API's namespace. Every
other function of NumPy, and these with other arguments (``out=``, ``where=``), gets ``x.numpy()``
and returns NumPy's arrays.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import dtype as dtype_of
from suanzi.base.status import TypeMismatch
from suanzi.tensors.make import tensor
from suanzi.tensors.tensor import Tensor

SYMBOLS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul,
    "divide": operator.truediv, "floor_divide": operator.floordiv, "remainder": operator.mod,
    "power": operator.pow, "matmul": operator.matmul, "bitwise_and": operator.and_,
    "bitwise_or": operator.or_, "bitwise_xor": operator.xor, "left_shift": operator.lshift,
    "right_shift": operator.rshift, "invert": operator.invert, "negative": operator.neg,
    "absolute": operator.abs, "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt,
    "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
}  # fmt: skip
"""Ufuncs of NumPy that are a symbol of Python."""

_IN_A_DTYPE = ("add", "subtract", "multiply", "divide", "matmul")
"""Those that are also taken with ``dtype=``, in which they compute; Dask's sums are of it."""

UFUNCS = {
    **{name: name for name in """
        exp expm1 log log1p log2 log10 sqrt square sin cos tan sinh cosh tanh sign floor ceil trunc
        isnan isinf isfinite maximum minimum logical_and logical_or logical_xor logical_not
        reciprocal hypot copysign nextafter signbit logaddexp positive""".split()},
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "arctan2": "atan2", "rint": "round", "conjugate": "conj",
}  # fmt: skip
"""Ufuncs of NumPy by the name of what they are in the namespace."""


class _Namespace:
    """The namespace, but results are its tensors only where an argument is one."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(import_module("suanzi.faces.array_api"), name)

        def call(*args: Any, **kwargs: Any) -> Any:
            made = function(*args, **kwargs)
            return made if _is_array_api(args) else _as_plain(made)

        return call


def _is_array_api(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return any(map(_is_array_api, x))
    return isinstance(x, Tensor) and x.is_array_api


def _as_plain(made: Any) -> Any:
    """Return tensors whose symbols follow the rule set in force, on the same memory."""
    if isinstance(made, list | tuple):
        return type(made)(map(_as_plain, made))
    if isinstance(made, Tensor):
        return _core.view(made, made.offset, made.shape, made.strides)
    return made


@cache
def _xp() -> Any:
    return _Namespace()


def _along(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        return getattr(_xp(), name)(a, axis=axis, keepdims=keepdims)

    return call


def _summed(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
        return getattr(_xp(), name)(a, axis=axis, dtype=dtype, keepdims=keepdims)

    return call


def _deviating(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
        return getattr(_xp(), name)(a, axis=axis, correction=ddof, keepdims=keepdims)

    return call


def _running(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, dtype: Any = None) -> Any:
        xp = _xp()
        flat = xp.reshape(a, (-1,)) if axis is None else a
        return getattr(xp, name)(flat, axis=0 if axis is None else axis, dtype=dtype)

    return call


def _sorted(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = -1) -> Any:
        xp = _xp()
        flat = xp.reshape(a, (-1,)) if axis is None else a
        return getattr(xp, name)(flat, axis=-1 if axis is None else axis)

    return call


def _like(name: str) -> Callable[..., Any]:
    def call(a: Any, dtype: Any = None) -> Any:
        return getattr(_xp(), name)(a, dtype=dtype)

    return call


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _along(name) for name in ("max", "min", "mean", "any", "all", "argmax", "argmin")},
    "amax": _along("max"),
    "amin": _along("min"),
    "count_nonzero": _along("count_nonzero"),
    "sum": _summed("sum"),
    "prod": _summed("prod"),
    "var": _deviating("var"),
    "std": _deviating("std"),
    "cumsum": _running("cumulative_sum"),
    "cumprod": _running("cumulative_prod"),
    "sort": _sorted("sort"),
    "argsort": _sorted("argsort"),
    "zeros_like": _like("zeros_like"),
    "ones_like": _like("ones_like"),
    "empty_like": _like("empty_like"),
    "full_like": lambda a, fill_value, dtype=None: _xp().full_like(a, fill_value, dtype=dtype),
    "concatenate": lambda arrays, axis=0: _xp().concat(_tensors(arrays), axis=axis),
    "stack": lambda arrays, axis=0: _xp().stack(_tensors(arrays), axis=axis),
    "where": lambda condition, x, y: _xp().where(condition, x, y),
    "clip": lambda a, a_min=None, a_max=None: _xp().clip(a, a_min, a_max),
    "reshape": lambda a, shape: _xp().reshape(a, shape if isinstance(shape, tuple) else (shape,)),
    "ravel": lambda a: _xp().reshape(a, (-1,)),
    "transpose": lambda a, axes=None: _xp().permute_dims(a, axes or tuple(range(a.ndim))[::-1]),
    "moveaxis": lambda a, source, destination: _xp().moveaxis(a, source, destination),
    "expand_dims": lambda a, axis: _xp().expand_dims(a, axis=axis),
    "squeeze": lambda a, axis=None: _xp().squeeze(
        a, axis=tuple(i for i, n in enumerate(a.shape) if n == 1) if axis is None else axis
    ),
    "flip": lambda m, axis=None: _xp().flip(m, axis=axis),
    "roll": lambda a, shift, axis=None: _xp().roll(a, shift, axis=axis),
    "tile": lambda A, reps: _xp().tile(A, reps if isinstance(reps, tuple) else (reps,)),
    "repeat": lambda a, repeats, axis=None: _xp().repeat(a, repeats, axis=axis),
    "broadcast_to": lambda array, shape: _xp().broadcast_to(array, shape),
    "tril": lambda m, k=0: _xp().tril(m, k=k),
    "triu": lambda m, k=0: _xp().triu(m, k=k),
    "real": lambda val: _xp().real(val),
    "imag": lambda val: _xp().imag(val),
    "round": lambda a: _xp().round(a),
    "nonzero": lambda a: _xp().nonzero(a),
    "diff": lambda a, n=1, axis=-1: _xp().diff(a, n=n, axis=axis),
    "tensordot": lambda a, b, axes=2: _xp().tensordot(a, b, axes=axes),
}
"""Functions of NumPy with the arguments they are taken with here."""


def apply_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute a ufunc of NumPy with a tensor among its operands."""
    name = ufunc.__name__
    if method == "__call__" and kwargs.keys() == {"dtype"} and name in _IN_A_DTYPE:
        inputs, kwargs = tuple(_in_dtype(_tensors(inputs), kwargs["dtype"])), {}
    if method == "__call__" and not kwargs:
        if name in SYMBOLS:
            return SYMBOLS[name](*_tensors(inputs))
        if name in UFUNCS:
            return getattr(_xp(), UFUNCS[name])(*_tensors(inputs))
    _refuse_output(name, kwargs)
    return getattr(ufunc, method)(*map(_as_numpy, inputs), **_as_numpy(kwargs))


def apply_function(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Compute a function of NumPy with tensors among its arguments."""
    name = getattr(function, "__name__", "")
    if name in FUNCTIONS and getattr(function, "__module__", "") == "numpy":
        try:
            bound = _signature(name).bind(*args, **kwargs)
        except TypeError:  # an argument that is not listed
            bound = None
        if bound is not None:
            return FUNCTIONS[name](*_tensors(bound.args), **bound.kwargs)
    _refuse_output(name, kwargs)
    return function(*map(_as_numpy, args), **_as_numpy(kwargs))


@cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(FUNCTIONS[name])


def _tensors(given: Iterable[Any]) -> list[Any]:
    """Return NumPy's arrays and scalars as tensors; Python's numbers stay."""
    return [
        x if isinstance(x, Tensor) or not hasattr(x, "__array_interface__") else tensor(x)
        for x in given
    ]


def _in_dtype(given: Iterable[Any], dtype: Any) -> list[Any]:
    """Return tensors in a dtype, all others as they are."""
    target = None if dtype is None else dtype_of(dtype)
    return [x.astype(target) if target and isinstance(x, Tensor) else x for x in given]


def _as_numpy(x: Any) -> Any:
    """Return tensors, also those in lists and dictionaries, as NumPy's arrays."""
    if isinstance(x, Tensor):
        return x.numpy()
    if type(x) in (list, tuple):
        return type(x)(map(_as_numpy, x))
    if isinstance(x, Mapping):
        return {key: _as_numpy(value) for key, value in x.items()}
    return x


def _refuse_output(name: str, kwargs: Mapping[str, Any]) -> None:
    out = kwargs.get("out")
    if any(isinstance(x, Tensor) for x in (out if isinstance(out, tuple) else (out,))):
        raise TypeMismatch(
            f"np.{name}: out is a Tensor, and NumPy writes into its own arrays; give out.numpy(), "
            "which is on the same memory."
        )
