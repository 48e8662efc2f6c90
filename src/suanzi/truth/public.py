"""The truth of operators for anybody's arrays: correctly rounded answers, and bounds.

Small tensors are computed with all digits. Of large ones float64 decides first: where its error
cannot change the rounded answer, that is the answer. The elements that remain are computed again
with all digits, from the smallest part of the operands that gives them: the row of a softmax, the
row and the column of a product. Such a part is found by trying, and checked: the part must give
the same numbers as the whole.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from hashlib import blake2b
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from suanzi.base.hints import shown
from suanzi.base.status import InvalidArgument, StatusError
from suanzi.promote.engine import answer as promoted
from suanzi.promote.library import rule_set
from suanzi.standard import record
from suanzi.truth.bounds import Bound
from suanzi.truth.conversion import result_named
from suanzi.truth.define import Definition
from suanzi.truth.rounding import ROUNDED, round_exact, rounded, unit_of
from suanzi.truth.tracked import Tracked, arithmetic, tracked

SMALL = 6000
"""Elements of operands and results that are computed with all digits at once."""
_KEPT = 64
"""Answers that are remembered, by the content of the arguments."""
_PARTS = 27
"""How many ways of taking a part of the operands along an axis are tried."""

Arguments = dict[str, Any]
Array = NDArray[Any]
_remembered: dict[bytes, Any] = {}


def plain_function(key: str, definition: Definition) -> Callable[..., Any]:
    """Return an operator's truth as a function on arrays, with the definition's signature."""
    name = key.rpartition(":")[2]
    own = inspect.signature(definition)

    def truth(*args: Any, **kwargs: Any) -> Any:
        given = _bound_to(name, own, args, kwargs)
        with _worded(name, given):
            return _remember(key, given, lambda: _answer(key, definition, given))

    truth.__name__ = truth.__qualname__ = name
    truth.__module__ = "suanzi.truth"
    truth.__doc__ = (
        f"{inspect.getdoc(definition) or name}\n\n"
        "Arrays of NumPy, ml_dtypes, or anything with `__dlpack__` or `__array__`; the answer is a "
        "NumPy array, correctly rounded to the dtype of the float operands."
    )
    truth.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[p.replace(annotation=p.empty) for p in own.parameters.values()],
        return_annotation=own.empty,
    )
    return truth


def array_function(name: str, function: Definition) -> Callable[..., Any]:
    """Return a truth on NumPy arrays as a function on anybody's."""
    own = inspect.signature(function)

    @wraps(function)
    def truth(*args: Any, **kwargs: Any) -> Any:
        given = _bound_to(name, own, args, kwargs, "biufcV")
        with _worded(name, given):
            return _remember(name, given, lambda: function(**given))

    truth.__name__ = truth.__qualname__ = name
    truth.__module__ = "suanzi.truth"
    return truth


def bound_of(
    key: str, definition: Definition, args: Sequence[Any], kwargs: Arguments, accumulate: str | None
) -> Any:
    """Return the exact results of a call, and how far a right kernel may be off."""
    given = _bound_to(key.rpartition(":")[2], inspect.signature(definition), args, kwargs)
    whole = _is_whole(key, given)  # floats of integers are float32
    dtype = _named(key, given) or ("float32" if whole else _result_dtype(key, given))
    within = accumulate or ("float64" if dtype == "float64" else "float32")
    exact = _count(given) <= SMALL
    with arithmetic(within, exact) as now:
        made = definition(**(given if whole else _tracked(given)))
        each = [_bounded(one, dtype, now.unit) for one in _several(made)]
    return each[0] if not isinstance(made, tuple) else tuple(each)


def _bounded(made: Any, dtype: str, computed: float) -> Any:
    """Return a result with its bound, given the unit roundoff that it was computed with."""
    if not isinstance(made, Tracked):
        whole = np.asarray(made)
        plain = whole.astype(np.int16) if whole.dtype == bool else whole
        return Bound(whole.dtype.name, plain, np.zeros(whole.shape))
    value = made.plain
    # A result that is stored in fewer digits than it is computed in is rounded once more.
    unit = unit_of(dtype) if unit_of(dtype) > computed else 0.0
    least = ROUNDED[dtype].least / 2 if unit else 0.0
    with np.errstate(all="ignore"):
        stored = np.maximum(unit * (np.abs(value) + made.error), least)
    return Bound(dtype, value, np.where(np.isfinite(value), made.error + stored, made.error))


@contextmanager
def _worded(name: str, given: Arguments) -> Iterator[None]:
    """Say which operator does not take which arguments, where its definition raises."""
    try:
        yield
    except StatusError:
        raise
    except (ValueError, IndexError, TypeError, ArithmeticError) as error:
        said = ", ".join(
            f"{n} of shape {x.shape}" if isinstance(x, np.ndarray) else f"{n}={shown(x)}"
            for n, x in given.items()
        )
        why = str(error) or type(error).__name__
        raise InvalidArgument(f"truth.{name}: it does not take {said}: {why}.") from error


# ---- arguments -----------------------------------------------------------------------------------


def _bound_to(
    name: str, own: inspect.Signature, args: Sequence[Any], kwargs: Arguments, kinds: str = "biu"
) -> Arguments:
    try:
        found = own.bind(*args, **kwargs).arguments
    except TypeError as error:
        parameters = ", ".join(own.parameters)
        raise InvalidArgument(f"truth.{name}: {error}; it is {name}({parameters}).") from None
    return {parameter: _argument(name, parameter, x, kinds) for parameter, x in found.items()}


def _argument(name: str, parameter: str, x: Any, kinds: str) -> Any:
    """Return tensors as NumPy arrays, and anything else as it is."""
    if isinstance(x, np.ndarray | np.generic):
        found = np.asarray(x)
    elif isinstance(x, list | tuple) and any(_is_tensor(one) for one in x):
        return [_argument(name, parameter, one, kinds) for one in x]
    elif _is_tensor(x):
        found = _foreign(x)
    else:
        return x
    if found.dtype.kind in kinds or found.dtype.name in ROUNDED:
        return found
    raise InvalidArgument(
        f"truth.{name}: {parameter} is {found.dtype.name}; it must be integers, bool or one of "
        f"{', '.join(ROUNDED)}."
    )


def _is_tensor(x: Any) -> bool:
    return isinstance(x, np.ndarray) or hasattr(x, "__dlpack__") or hasattr(x, "__array__")


def _foreign(x: Any) -> Array:
    from suanzi.tensors.exchange import from_dlpack
    from suanzi.tensors.tensor import Tensor

    if isinstance(x, Tensor):
        return np.asarray(x.numpy())
    if hasattr(x, "__dlpack__"):
        if hasattr(x, "detach"):  # a tensor that is followed by autograd
            x = x.detach()
        return np.asarray(from_dlpack(x).numpy())
    return np.asarray(x)


@cache
def _float_parameters(key: str) -> frozenset[str]:
    """Return the operands that are floats, by the worked examples of the record."""
    from suanzi.standard import examples

    facts = record(key)
    if facts is None:
        return frozenset()
    found = (x for one in examples(facts.catalogue) if one.name == key
             for x in one.arguments.items())  # fmt: skip
    return frozenset(
        name for name, x in found if str(getattr(x, "dtype", "")).startswith(("FLOAT", "BFLOAT"))
    )


def _named(key: str, given: Arguments) -> str | None:
    """Return the dtype that a call names for its result; complex numbers have no truth here."""
    found = result_named(key, given)
    if found is not None and found.startswith("complex"):
        raise InvalidArgument(f"truth.{key}: dtype is {found}; it must be integers or floats.")
    return found


def _result_dtype(key: str, given: Arguments) -> str:
    """Return the dtype of the float operands, promoted together by the rule set of PyTorch."""
    for name in _float_parameters(key) & given.keys():
        x = given[name]
        if isinstance(x, np.ndarray) and x.dtype.kind in "biu":
            raise InvalidArgument(
                f"truth.{key.rpartition(':')[2]}: {name} is {x.dtype.name}; convert it to floats, "
                f"for example with {name}.astype(numpy.float32)."
            )
    floats = dict.fromkeys(x.dtype.name for x in _arrays(given) if x.dtype.name in ROUNDED)
    if not floats:
        raise InvalidArgument(
            f"truth.{key.rpartition(':')[2]}: no argument is an array of floats; give NumPy arrays "
            f"({', '.join(shown(type(x).__name__) for x in given.values()) or 'none'} received)."
        )
    if len(floats) == 1:
        return next(iter(floats))
    found = promoted(list(floats), rule_set("torch")).dtype
    if found is None:
        raise InvalidArgument(f"truth: {' and '.join(floats)} have no common dtype; convert one.")
    return found.name


def _arrays(given: Mapping[str, Any]) -> Iterator[Array]:
    for x in given.values():
        yield from (one for one in (x if isinstance(x, list) else [x])
                    if isinstance(one, np.ndarray))  # fmt: skip


def _count(given: Mapping[str, Any]) -> int:
    return sum(x.size for x in _arrays(given))


def _tracked(given: Mapping[str, Any]) -> Arguments:
    def one(x: Any) -> Any:
        if isinstance(x, list):
            return [one(y) for y in x]
        if not isinstance(x, np.ndarray):
            return x
        if x.dtype.kind in "biu":
            return x.astype(bool if x.dtype.kind == "b" else np.int64)
        return tracked(x.astype(np.float64))

    return {name: one(x) for name, x in given.items()}


def _several(made: Any) -> tuple[Any, ...]:
    return made if isinstance(made, tuple) else (made,)


# ---- answers -------------------------------------------------------------------------------------


def _remember(key: str, given: Arguments, compute: Callable[[], Any]) -> Any:
    """Return what was computed for the same content before, or compute it."""
    content = blake2b(key.encode())
    for name, x in given.items():
        for one in x if isinstance(x, list) else [x]:
            said = f"{one.dtype}{one.shape}" if isinstance(one, np.ndarray) else repr(one)
            content.update(f"|{name}:{said}|".encode())
            if isinstance(one, np.ndarray):
                content.update(np.ascontiguousarray(one).tobytes())
    digest = content.digest()
    if digest not in _remembered:
        while len(_remembered) >= _KEPT:
            del _remembered[next(iter(_remembered))]
        _remembered[digest] = compute()
    found = _remembered[digest]
    return tuple(x.copy() for x in found) if isinstance(found, tuple) else found.copy()


def _answer(key: str, definition: Definition, given: Arguments) -> Any:
    named = _named(key, given)
    if _is_whole(key, given):
        return _exact_answer(definition, given, named or "float32")
    dtype = named or _result_dtype(key, given)
    if _count(given) <= SMALL:
        with arithmetic("float64"):
            made = definition(**_tracked(given))
        found = [_exactly(x, dtype) for x in _several(made)]
    else:
        with arithmetic("float64", exact=False):
            made = definition(**_tracked(given))
        whole = _Whole(definition, given, _several(made))
        found = [_decided(whole, i, dtype) for i in range(len(whole.outputs))]
    return tuple(found) if isinstance(made, tuple) else found[0]


def _is_whole(key: str, given: Arguments) -> bool:
    """Tell whether a call of the standard's has no floats: integers and bool stay what they are."""
    return ":" not in key and not any(x.dtype.name in ROUNDED for x in _arrays(given))


def _exact_answer(definition: Definition, given: Arguments, dtype: str) -> Any:
    """Return the answer for integers and bool; floats of them are of a dtype."""
    with arithmetic("float64"):
        made = definition(**given)
        found = tuple(_exactly(x, dtype) for x in _several(made))
    return found if isinstance(made, tuple) else found[0]


def _exactly(made: Any, dtype: str) -> Array:
    if not isinstance(made, Tracked):
        return np.asarray(made)
    flat = [round_exact(x, dtype) for x in made.value.ravel()]
    return np.array(flat, np.float64).reshape(made.shape).astype(_numpy_dtype(dtype))


def _numpy_dtype(dtype: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, dtype, dtype))


class _Whole(NamedTuple):
    """A call whose results are float64, with bounds of their errors."""

    definition: Definition
    given: Arguments
    outputs: tuple[Any, ...]


def _decided(whole: _Whole, which: int, dtype: str) -> Array:
    """Return an output rounded to its dtype; where float64 leaves that open, from exact parts."""
    made = whole.outputs[which]
    if not isinstance(made, Tracked):
        return np.asarray(made)
    with np.errstate(all="ignore"):
        slack = 2 * made.error + np.abs(made.value) * 2.0**-52
        low, high = rounded(made.value - slack, dtype), rounded(made.value + slack, dtype)
    found = rounded(made.value, dtype)
    numbers = np.isfinite(made.value)
    open_ = numbers & ((low != high) | ~np.isfinite(slack))
    while open_.any():
        index = tuple(int(i) for i in np.argwhere(open_)[0])
        given, region = _part(whole, which, index)
        with arithmetic("float64"):
            exact = _several(whole.definition(**_tracked(given)))[which]
        flat = [round_exact(x, dtype) for x in exact.value.ravel()]
        found[region] = np.array(flat, np.float64).reshape(exact.shape)
        open_[region] = False
    return found.astype(_numpy_dtype(dtype))


def _part(whole: _Whole, which: int, index: tuple[int, ...]) -> tuple[Arguments, tuple[slice, ...]]:
    """Return the smallest part of the operands that gives an element, and what else it gives."""
    given, shape = whole.given, whole.outputs[which].shape
    region = [slice(0, n) for n in shape]
    for axis, n in enumerate(shape):
        if n < 2:
            continue
        tried = [*region]
        tried[axis] = slice(index[axis], index[axis] + 1)
        for part in itertools.islice(_cuts(given, n, index[axis], axis, len(shape)), _PARTS):
            if _gives(whole, which, part, tuple(tried)):
                given, region = part, tried
                break
    return given, tuple(region)


def _cuts(given: Arguments, n: int, at: int, axis: int, ndim: int) -> Iterator[Arguments]:
    """Give the operands with one position of an axis of n: the same one first, others, or none."""
    names = [name for name, x in given.items() if isinstance(x, np.ndarray)]
    choices = []
    for name in names:
        x = given[name]
        own = axis - ndim + x.ndim  # as broadcasting aligns axes
        fitting = [k for k in range(x.ndim) if x.shape[k] == n]
        fitting.sort(key=lambda k: (k != own, k != axis))
        choices.append([*fitting, None])
    for chosen in itertools.product(*choices):
        if all(k is None for k in chosen):
            continue
        cut = {name: given[name] if k is None else np.take(given[name], [at], axis=k)
               for name, k in zip(names, chosen, strict=True)}  # fmt: skip
        yield {**given, **cut}


def _gives(whole: _Whole, which: int, part: Arguments, region: tuple[slice, ...]) -> bool:
    """Tell whether a part of the operands gives a part of the result, to float64's accuracy."""
    made = whole.outputs[which]
    try:
        with arithmetic("float64", exact=False):
            found = _several(whole.definition(**_tracked(part)))[which]
    except Exception:  # the part is not a call of the operator
        return False
    value, error = made.value[region], made.error[region]
    if found.shape != value.shape:
        return False
    with np.errstate(all="ignore"):
        near = np.abs(found.value - value) <= 2 * (found.error + error) + 2.0**-1000
    same = (found.value == value) | (np.isnan(found.value) & np.isnan(value))
    return bool((near | same).all())
