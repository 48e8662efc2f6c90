"""Definitions of the standard's operators over tracked numbers; integers and bool are NumPy's.

These have one result for their inputs; `WITHOUT` says why others have none, and what judges them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from suanzi.base.dtypes import dtype as dtype_named
from suanzi.truth import functions as f
from suanzi.truth import machine_numbers
from suanzi.truth import tracked as t
from suanzi.truth.axes import axes_of
from suanzi.truth.conversion import converted
from suanzi.truth.define import truth_of
from suanzi.truth.rounding import ROUNDED, rounded
from suanzi.truth.tracked import Tracked, tracked

_RANDOM = "its result is random"
_SEVERAL = "several results are right"
_ROUNDED = "its answer is known, suanzi.truth has it, but not how far a kernel may be off"
_NO_INPUTS = "it makes, frees or describes memory"
WITHOUT: dict[str, str] = {
    **dict.fromkeys(("rand_uniform", "rand_normal", "rand_bernoulli", "multinomial", "randperm"),
                    _RANDOM),
    **dict.fromkeys(("lu", "qr", "svd", "eig"), _SEVERAL),
    **dict.fromkeys(("create_tensor", "wrap_tensor", "empty", "create_sparse_tensor",
                     "create_quant_tensor", "destroy", "is_contiguous"), _NO_INPUTS),
}  # fmt: skip
"""Why an operator has no truth over inputs."""


def reason(name: str) -> str:
    """Return why an operator of the standard has no definition, and what judges it."""
    why = WITHOUT.get(name, _ROUNDED)
    return f"{why}; `suanzi check --op {name}` tests a backend with the kit's cases"


def _floats(*some: Any) -> bool:
    return any(isinstance(x, Tracked) for x in some)


def plain_value(x: Any) -> Any:
    """Return the values of tracked numbers, or of anything else as an array."""
    return x.value if isinstance(x, Tracked) else np.asarray(x)


# ---- element by element --------------------------------------------------------------------------


@truth_of("add")
def add(x: Any, y: Any) -> Any:
    """x + y."""
    return x + y


@truth_of("sub")
def sub(x: Any, y: Any) -> Any:
    """x - y."""
    return x - y


@truth_of("mul")
def mul(x: Any, y: Any) -> Any:
    """x * y."""
    return x * y


@truth_of("muladd")
def muladd(x: Any, y: Any, a: Any) -> Any:
    """x * y + a."""
    return x * y + a


@truth_of("div")
def div(x: Any, y: Any) -> Any:
    """x / y; integers towards zero."""
    if _floats(x, y):
        return tracked(x) / y
    with np.errstate(all="ignore"):  # the smallest number by -1 wraps
        down = np.floor_divide(x, y)  # of the smallest number there is no magnitude
        up = (np.mod(x, y) != 0) & ((np.asarray(x) < 0) != (np.asarray(y) < 0))
    return (down + up).astype(np.result_type(x, y))


@truth_of("true_divide")
def true_divide(x: Tracked, y: Tracked) -> Tracked:
    """x / y."""
    return tracked(x) / y


@truth_of("floordiv")
@np.errstate(all="ignore")  # the smallest number by -1 wraps
def floordiv(x: Any, y: Any) -> Any:
    """The floor of x / y; where the quotient is all but whole, its rounding decides."""
    if not _floats(x, y):
        return np.floor_divide(x, y)
    a, b = _plain(x), _plain(y)
    found = np.floor_divide(a, b)
    found = np.where((b == 0) | np.isinf(a), a / b, found)
    return Tracked(tracked(found).value, np.where(_nearly_whole(a, b), 1.0, 0.0))


@truth_of("mod")
def mod(x: Any, y: Any) -> Any:
    """x - floor(x / y) * y."""
    if not _floats(x, y):
        with np.errstate(all="ignore"):
            return np.mod(x, y)
    a, b = _plain(x), _plain(y)
    with np.errstate(all="ignore"):
        found = np.mod(a, b)
        near = np.where(_nearly_whole(a, b), np.abs(b), 0.0)
    return t._rounded(tracked(found).value, near)


def _plain(x: Any) -> Any:
    return machine_numbers.plain(plain_value(x))


def _nearly_whole(a: Any, b: Any) -> Any:
    with np.errstate(all="ignore"):
        quotient = a / b
        off = np.abs(quotient - np.rint(quotient))
        return (off <= 4 * t._now.unit * np.abs(quotient)) & (np.fmod(a, b) != 0)


@truth_of("max")
def maximum(x: Any, y: Any) -> Any:
    """The larger of two; NaN if one is."""
    return t.maximum(x, y) if _floats(x, y) else np.maximum(*machine_numbers.alike(x, y))


@truth_of("min")
def minimum(x: Any, y: Any) -> Any:
    """The smaller of two; NaN if one is."""
    return t.minimum(x, y) if _floats(x, y) else np.minimum(*machine_numbers.alike(x, y))


@truth_of("abs")
def absolute(x: Any) -> Any:
    """The magnitude."""
    return t.absolute(x) if _floats(x) else np.abs(x)


@truth_of("reciprocal")
def reciprocal(x: Tracked) -> Tracked:
    """1 / x."""
    return 1 / tracked(x)


@truth_of("square")
def square(x: Any) -> Tracked:
    """x * x; of integers, as of every function of real numbers, in floats."""
    return tracked(x) * tracked(x)


@truth_of("rsqrt")
def rsqrt(x: Tracked) -> Tracked:
    """1 / sqrt(x)."""
    return 1 / t.sqrt(x)


@truth_of("pow")
def power(x: Tracked, e: Any) -> Tracked:
    """x to the power of e."""
    return f.power(x, e)


def _declare(names: dict[str, Callable[[Any], Tracked]]) -> None:
    for name, function in names.items():
        truth_of(name)(_of_one(function, name))


def _of_one(function: Callable[..., Any], name: str) -> Callable[[Any], Any]:
    """Return a function of x alone."""

    def definition(x: Any) -> Any:
        return function(x)

    definition.__name__, definition.__doc__ = name, function.__doc__
    return definition


_declare({
    "sqrt": t.sqrt, "exp": t.exp, "log": t.log, "log1p": t.log1p, "tanh": t.tanh,
    "sin": f.sin, "cos": f.cos, "tan": f.tan, "asin": f.asin, "acos": f.acos, "atan": f.atan,
    "sinh": f.sinh, "cosh": f.cosh, "asinh": f.asinh, "acosh": f.acosh, "atanh": f.atanh,
    "expm1": f.expm1, "log2": f.log2, "log10": f.log10,
})  # fmt: skip


def _rounding(fast: Any) -> Callable[[Any], Tracked]:
    return lambda x: f.whole(x, fast)


_declare({
    "floor": _rounding(np.floor), "ceil": _rounding(np.ceil), "trunc": _rounding(np.trunc),
    "round": _rounding(np.rint),
})  # fmt: skip
_MODES = {"DOWNWARD": np.floor, "UPWARD": np.ceil, "TOWARDZERO": np.trunc, "TONEAREST": np.rint}


@truth_of("rint")
def rint(x: Tracked, mode: Any) -> Tracked:
    """A whole number near x, by a mode."""
    return f.whole(x, _MODES[_word(mode)])


def _word(mode: Any) -> str:
    return str(getattr(mode, "name", mode)).upper()


COMPARISONS: dict[str, Any] = {"equal": np.equal, "not_equal": np.not_equal, "greater": np.greater,
             "greater_equal": np.greater_equal, "less": np.less, "less_equal": np.less_equal,
             "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
             "bitwise_xor": np.bitwise_xor}  # fmt: skip
_LOGICAL: dict[str, Any] = {"logical_and": np.logical_and, "logical_or": np.logical_or,
            "logical_xor": np.logical_xor}  # fmt: skip


def _of_two(name: str, fast: Any, logical: bool) -> None:
    def definition(x: Any, y: Any) -> Any:
        a, b = plain_value(x), plain_value(y)
        if logical:
            a, b = a != 0, b != 0
        made = np.asarray(fast(a, b))
        return made.astype(bool) if made.dtype == object else made

    definition.__name__ = name
    truth_of(name)(definition)


for _name, _fast in COMPARISONS.items():
    _of_two(_name, _fast, False)
for _name, _fast in _LOGICAL.items():
    _of_two(_name, _fast, True)


@truth_of("logical_not")
def logical_not(x: Any) -> Any:
    """Whether x is 0."""
    return np.asarray(plain_value(x) == 0).astype(bool)


@truth_of("bitwise_not")
def bitwise_not(x: Any) -> Any:
    """The bits, each the other way."""
    return np.invert(x)


@truth_of("is_nan")
def is_nan(input: Any) -> Any:
    """Whether elements are NaN."""
    return np.isnan(_plain(input))


@truth_of("is_inf")
def is_inf(input: Any) -> Any:
    """Whether elements are infinite."""
    return np.isinf(_plain(input))


@truth_of("is_finite")
def is_finite(input: Any) -> Any:
    """Whether elements are numbers."""
    return np.isfinite(_plain(input))


@truth_of("sign")
def sign(input: Any) -> Any:
    """-1, 0 or 1; NaN of NaN."""
    return f.whole(input, np.sign) if _floats(input) else np.sign(input)


@truth_of("clip")
def clip(input: Any, low: Any = None, high: Any = None) -> Any:
    """Elements no less than low and no more than high."""
    low, high = (f.number(x) if isinstance(input, Tracked) else x for x in (low, high))
    found = input if low is None else maximum(input, low)
    return found if high is None else minimum(found, high)


@truth_of("clip_backward")
def clip_backward(grad_out: Any, low: Any, high: Any, input: Any) -> Any:
    """The gradient where the input is between low and high, and 0 elsewhere."""
    inside = (plain_value(input) >= plain_value(low)) & (plain_value(input) <= plain_value(high))
    return where(inside.astype(bool), grad_out, 0)


@truth_of("where")
def where(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y."""
    return t.where(condition, x, y) if _floats(x, y) else np.where(condition, x, y)


@truth_of("cast")
def cast(input: Any, type: Any = "float32", saturate: bool = False, layout: Any = None) -> Any:
    """Elements in another dtype of floats, rounded correctly."""
    name = str(getattr(type, "name", type)).lower()
    if name not in ROUNDED or np.iscomplexobj(plain_value(input)):
        raise ValueError(f"a cast to {name} has no definition here; to floats it has")
    given = _plain(input)
    found, most = rounded(given, name), ROUNDED[name].largest
    if saturate and name not in ("float32", "float64"):
        found = np.where(np.isnan(given), found, np.where(
            np.isfinite(found), found, np.copysign(most, given)))  # fmt: skip
    return tracked(found)


# ---- along axes ----------------------------------------------------------------------------------

Axis = int | Sequence[int] | None


def _axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    if axis is None or (isinstance(axis, list | tuple) and not axis):
        return tuple(range(ndim))
    return tuple(axes_of(axis, ndim))


@truth_of("reduce")
def reduce(input: Any, mode: Any = "SUM", axis: Axis = None, keep_dims: bool = False) -> Any:
    """The elements along axes as one: SUM, PROD, MAX, MIN, MEAN, LAND, LOR, LXOR."""
    word, axes = _word(mode), _axes(axis, np.ndim(plain_value(input)))
    if word in ("LAND", "LOR", "LXOR"):
        given = np.asarray(plain_value(input) != 0).astype(bool)
        fast: Any = {"LAND": np.logical_and, "LOR": np.logical_or, "LXOR": np.logical_xor}[word]
        for a in axes:
            given = fast.reduce(given, axis=a, keepdims=True)
        return given if keep_dims else np.squeeze(given, axes)
    if not _floats(input):
        return _whole_reduced(input, word, axes, keep_dims)
    if word == "SUM":
        return input.sum(axes, keep_dims)
    if word == "MEAN":
        return input.mean(axes, keep_dims)
    if word == "PROD":
        found = f.product(input._along(axes), -1)
        return input._kept(found, axes, keep_dims)
    return input.max(axes, keep_dims) if word == "MAX" else -((-input).max(axes, keep_dims))


def _whole_reduced(x: Any, word: str, axes: tuple[int, ...], keep_dims: bool) -> Any:
    if word == "MEAN":
        return tracked(x.astype(np.float64)).mean(axes, keep_dims)
    fast: Any = {"SUM": np.add, "PROD": np.multiply, "MAX": np.maximum, "MIN": np.minimum,
                 "BAND": np.bitwise_and, "BOR": np.bitwise_or, "BXOR": np.bitwise_xor,
                 }[word]  # fmt: skip
    summed = word in ("SUM", "PROD")
    dtype = {"dtype": np.int64 if x.dtype == bool else x.dtype} if summed else {}
    return fast.reduce(x, axis=axes, keepdims=keep_dims, **dtype)


@truth_of("cumsum")
def cumsum(input: Any, axis: int = -1, dtype: Any = None) -> Any:
    """The sums of the first elements along an axis; of all elements in order for axis -1."""
    given = converted(input, dtype)
    x = given.reshape(-1) if axis == -1 else given
    return f.cumulative(x, axis) if _floats(x) else np.cumsum(x, axis, dtype=x.dtype)


def _index_type(dtype: Any) -> np.dtype[Any]:
    name = dtype_named(dtype).name
    if name not in ("int64", "int32"):
        raise ValueError(f"the dtype is {name}; indices are int64 or int32")
    return np.dtype(name)


@truth_of("argmax")
def argmax(input: Any, axis: int = -1, keepdim: bool = False, dtype: Any = "int64") -> Any:
    """Where the largest element is, the first of equal ones."""
    found = np.argmax(_plain(input) if _floats(input) else input, axis).astype(_index_type(dtype))
    return np.expand_dims(found, axis) if keepdim else found


@truth_of("argmin")
def argmin(input: Any, axis: int = -1, keepdim: bool = False, dtype: Any = "int64") -> Any:
    """Where the smallest element is, the first of equal ones."""
    found = np.argmin(_plain(input) if _floats(input) else input, axis).astype(_index_type(dtype))
    return np.expand_dims(found, axis) if keepdim else found


# ---- products ------------------------------------------------------------------------------------


@truth_of("matmul")
def matmul(mat1: Any, mat2: Any, dtype: Any = None) -> Any:
    """The product of matrices."""
    mat1, mat2 = converted(mat1, dtype), converted(mat2, dtype)
    if not _floats(mat1, mat2):
        return np.matmul(mat1, mat2)
    a, b = tracked(mat1), tracked(mat2)
    one, two = a.ndim == 1, b.ndim == 1
    made = (a.reshape(1, -1) if one else a) @ (b.reshape(-1, 1) if two else b)
    if one and two:
        return made[..., 0, 0]
    return made[..., 0, :] if one else made[..., :, 0] if two else made


@truth_of("dot")
def dot(vec1: Any, vec2: Any, dtype: Any = None) -> Any:
    """The sums of products along the last axis of the first and the last but one of the second."""
    vec1, vec2 = converted(vec1, dtype), converted(vec2, dtype)
    if not _floats(vec1, vec2):
        return np.dot(vec1, vec2)
    a, b = tracked(vec1), tracked(vec2)
    if not a.ndim or not b.ndim:
        return a * b
    n, behind = a.shape[-1], b.shape[-1:] if b.ndim > 1 else ()
    axis = max(b.ndim - 2, 0)
    order = [axis, *(k for k in range(b.ndim) if k != axis)]
    shape = (*a.shape[:-1], *b.shape[:axis], *behind)
    if not n or not b.value.size:
        return tracked(np.zeros(shape))
    return (a.reshape(-1, n) @ b.transpose(*order).reshape(n, -1)).reshape(*shape)


@truth_of("trace")
def trace(x: Any, offset: int = 0, dim0: int = 0, dim1: int = 1) -> Any:
    """The sum of a diagonal."""
    if not _floats(x):
        return np.trace(x, offset, dim0, dim1, dtype=x.dtype)
    of = (offset, dim0, dim1)
    return Tracked(np.diagonal(x.value, *of), np.diagonal(x.error, *of)).sum(-1)


@truth_of("norm")
def norm(input: Tracked, normtype: Any = "inf", axis: Any = (), keep_dims: bool = False) -> Tracked:
    """The norm of vectors along an axis, of matrices along two, or of all elements."""
    sizes = t.absolute(input)
    two = isinstance(axis, list | tuple) and len(axis) == 2
    axes = _axes(axis, input.ndim)
    if str(normtype) in ("fro", "2") and (not two or str(normtype) == "fro"):
        return t.sqrt((sizes * sizes).sum(axes, keep_dims))
    if two:
        added = axes[0] if str(normtype) == "1" else axes[1]
        found = sizes.sum(added, True).max(axes[1] if added == axes[0] else axes[0], True)
        return found if keep_dims else found.max(axes)
    if str(normtype) == "inf":
        return sizes.max(axes, keep_dims)
    if float(normtype) == 1:
        return sizes.sum(axes, keep_dims)
    order = float(normtype)
    if order <= 0:
        raise ValueError(f"a norm of type {normtype} has no definition here")
    return f.power(f.power(sizes, order).sum(axes, keep_dims), 1 / tracked(order))


# ---- moving --------------------------------------------------------------------------------------


def _moved(x: Any, move: Callable[[Any], Any]) -> Any:
    if not _floats(x):
        return move(x)
    return Tracked(np.asarray(move(x.value), x.value.dtype), np.asarray(move(x.error)))


@truth_of("duplicate", "contiguous")
def duplicate(input: Any) -> Any:
    """The same elements."""
    return input


@truth_of("transpose")
def transpose(input: Any, perm: Sequence[int] = ()) -> Any:
    """The axes in another order: axis i becomes axis perm[i]; without one, the other way round."""
    order = tuple(np.argsort(perm)) if perm else None
    return _moved(input, lambda x: np.transpose(x, order))


@truth_of("reshape")
def reshape(input: Any, dims: Sequence[int]) -> Any:
    """The same elements in another shape."""
    return _moved(input, lambda x: np.reshape(x, tuple(dims)))


@truth_of("flip")
def flip(input: Any, axis: Any) -> Any:
    """The elements of axes the other way round."""
    return _moved(input, lambda x: np.flip(x, axis if isinstance(axis, int) else tuple(axis)))


@truth_of("tile")
def tile(input: Any, repeats: Sequence[int]) -> Any:
    """The tensor several times along each axis."""
    return _moved(input, lambda x: np.tile(x, tuple(repeats)))


@truth_of("concat")
def concat(input_lists: Sequence[Any], axis: int) -> Any:
    """Tensors one after the other along an axis."""
    if _floats(*input_lists):
        return t.concatenate([tracked(x) for x in input_lists], axis)
    return np.concatenate(input_lists, axis)
