"""What is expected of the outputs of a call: the truth, and how far a result may be off.

Every output has a bound: floats and complex numbers one that follows from the arithmetic, integers
and bool one of 0. What a definition or the kit expects of a call is made into bounds here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suanzi.conformance.model.case import Check, Either, Expected, Output
from suanzi.conformance.model.expected import Cycle, Picked
from suanzi.conformance.model.numbers import FORMATS, NARROW, PARTS, Real
from suanzi.conformance.nn._calls import GRID, STORED
from suanzi.conformance.subjects.wire import Data
from suanzi.truth import definition
from suanzi.truth.bounds import Array, Bound
from suanzi.truth.conversion import result_named
from suanzi.truth.tracked import Tracked, arithmetic, tracked
from suanzi.validate.judge.filling import dtype_of, numbers_of

Property = Check | Either
"""What outputs satisfy that are not unique, as the kit has it."""
_SUBBYTE = {"int4": "int8", "uint4": "uint8", "uint1": "uint8"}
_WHOLE = ("abs", "norm")
"""Operators of complex numbers whose results are real."""


def spacing_at(dtype: str, size: Array) -> Array:
    """Return the distance of neighbours of a dtype at numbers of a size."""
    form = FORMATS[PARTS.get(dtype, dtype)]
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log2(np.maximum(size, 2.0 ** (1 - form.bias))))
    return np.asarray(2.0 ** (np.minimum(exponent, form.bias + 1) - form.mantissa))


def numbers_as(made: Data) -> NDArray[Any]:
    """Return the elements of an output as `Bound` has them.

    >>> numbers_as(Data("complex64", (1,), np.array([1 + 2j], np.complex64).tobytes())).tolist()
    [[1.0, 2.0]]
    """
    found = numbers_of(made)
    if made.dtype in PARTS:
        return np.stack([found.real, found.imag], -1)
    return _plain(found)


def _plain(x: NDArray[Any]) -> NDArray[Any]:
    """Return bool and integers of less than a byte as integers, which can be subtracted."""
    return x.astype(np.int16) if x.dtype == bool or x.dtype.name in _SUBBYTE else x


# ---- from a definition ---------------------------------------------------------------------------


def by_definition(
    op: str,
    dtype: str,
    arguments: Mapping[str, Any],
    accumulate: str | None = None,
    sums: str | None = None,
) -> list[Bound]:
    """Return what the definition of an operator gives, with the bound of an arithmetic.

    `sums` names the dtype of sums alone. Integers and bool are exact. Floats of the result are of
    `dtype`, but for those that have a dtype of their own, as scales and states.
    """
    named = result_named(op, arguments)
    dtype = named or dtype
    part = PARTS.get(dtype, dtype)
    name = accumulate or ("float64" if part == "float64" else "float32")
    with arithmetic(name, exact=part == "float64", sums=sums):
        made = definition(op)(**{n: argument(x) for n, x in arguments.items()})
        outputs = made if isinstance(made, tuple) else (made,)
    if part == "float64" and accumulate in (None, "float64") and _has_negative_zero(arguments):
        outputs = _with_signs(op, arguments, outputs)
    with arithmetic(name, exact=part == "float64", sums=sums):
        names = STORED[op](arguments) if op in STORED else [dtype] * len(outputs)
        found = [
            _narrowed(bound_as(one, of, op not in _WHOLE), {} if named else arguments, op)
            for one, of in zip(outputs, names, strict=True)
        ]
    return _odd_gradients(op, arguments, found)


def _has_negative_zero(arguments: Mapping[str, Any]) -> bool:
    given = [numbers_of(x) for x in arguments.values() if isinstance(x, Data)]
    return any(x.dtype == np.float64 and (np.signbit(x) & (x == 0)).any() for x in given)


def _with_signs(op: str, arguments: Mapping[str, Any], outputs: Sequence[Any]) -> tuple[Any, ...]:
    """Return outputs whose infinities have the signs that those of zeros give them.

    Numbers of all digits have one zero alone: float64 says what 1 / -0 is.
    """
    with arithmetic("float64", exact=False):
        made = definition(op)(**{n: argument(x) for n, x in arguments.items()})
    found = []
    for one, plain in zip(outputs, made if isinstance(made, tuple) else (made,), strict=True):
        if not isinstance(one, Tracked) or one.is_complex:
            found.append(one)
            continue
        exact = one.plain
        both = np.isinf(exact) & np.isinf(plain.value)
        found.append(Tracked(np.where(both, plain.value, one.value), one.error))
    return tuple(found)


def argument(x: Any) -> Any:
    """Return an argument as a definition takes it: floats that know their errors."""
    if isinstance(x, list) and x and isinstance(x[0], Data):
        return [argument(one) for one in x]
    if not isinstance(x, Data):
        return x
    found = numbers_of(x)
    if x.dtype in FORMATS or x.dtype in PARTS:
        return tracked(found)
    return found.astype(_SUBBYTE[x.dtype]) if x.dtype in _SUBBYTE else found


def _narrowed(bound: Bound, arguments: Mapping[str, Any], op: str) -> Bound:
    """Return integers that were computed in a byte in the bits of their operands."""
    every = [one for x in arguments.values() for one in (x if isinstance(x, list) else [x])]
    given = {x.dtype for x in every if isinstance(x, Data)} & {*_SUBBYTE}
    own = next((n for n in given if _SUBBYTE[n] == bound.dtype), None)
    if own is None or op == "cast":
        return bound
    return replace(bound, dtype=own, value=_plain(bound.value.astype(dtype_of(own))))


def bound_as(made: Any, dtype: str, whole: bool = False) -> Bound:
    """Return what a definition gave as a bound of results that are stored in a dtype.

    With `whole`, results of complex numbers are complex, even if there are none.
    """
    if not isinstance(made, Tracked):
        exact = np.asarray(made)
        return Bound(exact.dtype.name, _plain(exact), np.zeros(exact.shape))
    if dtype.endswith(GRID):
        return _on_grid(made, dtype.removesuffix(GRID))
    if made.is_complex or (dtype in PARTS and whole):
        return _of_parts(made, dtype)
    dtype = PARTS.get(dtype, dtype)
    if dtype not in FORMATS:  # floats of integers, as a mean
        dtype = "float32"
    truth, error = made.plain, made.error
    return _within(dtype, truth, error, np.abs(truth))


def _within(dtype: str, truth: Array, error: Array, size: Array) -> Bound:
    free = ~np.isfinite(error)
    allowed = np.where(free, 0.0, error)
    if PARTS.get(dtype, dtype) in NARROW:
        allowed = allowed + spacing_at(dtype, size + allowed) / 2
    if PARTS.get(dtype, dtype) == "float64":  # the truth is rounded here
        allowed = np.where(allowed > 0, allowed + spacing_at(dtype, size) / 2, 0.0)
    allowed = np.where(np.isfinite(truth), allowed, 0.0)
    return Bound(dtype, truth, np.where(free, np.inf, allowed))


def _of_parts(made: Tracked, dtype: str) -> Bound:
    """Return complex numbers by their parts, each as far off as the whole number may be."""
    whole = made.value.astype(np.complex128)
    each = np.stack([made.error, made.error], -1)
    size = np.abs(whole)
    truth = np.stack([whole.real, whole.imag], -1)
    name = dtype if dtype in PARTS else "complex64"
    return _within(name, truth, each, np.stack([size, size], -1))


def _on_grid(made: Tracked, dtype: str) -> Bound:
    """Return numbers that are stored exactly, or a step off where a rounding decides."""
    return Bound(dtype, made.plain, made.error)


def _odd_gradients(op: str, arguments: Mapping[str, Any], found: list[Bound]) -> list[Bound]:
    """Let gradients be what right kernels make of operands that are no numbers.

    A slope of 0 times a NaN or an infinity may be 0, by a selection, or NaN, by a product. Nothing
    is required where an input is NaN: every branch is as good. An activation's slope at an infinity
    may be NaN instead of its limit: x sigmoid(-x) is infinity times 0.
    """
    name = next((n for n in ("out_grad", "grad_out") if n in arguments), "")
    given = {n: x for n, x in arguments.items() if isinstance(x, Data) and x.dtype in FORMATS}
    if name not in given:
        return found
    pulled, first = ~np.isfinite(numbers_of(given[name])), given.pop(name)
    factors: list[Any] = [None] * len(found)
    if pulled.any():
        ones = Data(first.dtype, first.shape, np.ones(first.shape, dtype_of(first.dtype)).tobytes())
        with arithmetic("float32", exact=False):
            made = definition(op)(**{n: argument(x) for n, x in {**arguments, name: ones}.items()})
        factors = [x.value for x in (made if isinstance(made, tuple) else (made,))]
    elementwise = definition(op).__module__ == "suanzi.truth.nn.activations"
    return [
        _odd_gradient(bound, pulled, factor, [numbers_of(x) for x in given.values()], elementwise)
        for bound, factor in zip(found, factors, strict=True)
    ]


def _odd_gradient(
    bound: Bound, pulled: NDArray[np.bool_], factor: Any, given: list[Array], elementwise: bool
) -> Bound:
    error, nan, value = bound.error, np.zeros(bound.shape, bool), bound.value
    if factor is not None and bound.shape == pulled.shape:
        nan = pulled & (factor == 0)
        value = np.where(nan, 0.0, value)
    for x in given:
        if x.shape == bound.shape:
            error = np.where(np.isnan(x), np.inf, error)
            nan |= np.isinf(x) & elementwise
    return replace(bound, value=value, error=error, nan=nan if nan.any() else None)


# ---- from the kit --------------------------------------------------------------------------------


def bounds(expected: Expected) -> list[Bound] | None:
    """Return the outputs of the kit's expectation as bounds; None if it has other ones."""
    if not isinstance(expected, tuple):
        return None
    found: list[Bound] = []
    for one in expected:
        for each in one if isinstance(one, list) else [one]:
            made = _of_output(each)
            if made is None:
                return None
            found.append(made)
    return found


def _of_output(one: Any) -> Bound | None:
    if isinstance(one, bool | int):  # the answer to a query
        whole = np.array(one)
        return Bound(whole.dtype.name, _plain(whole), np.zeros(()))
    if not isinstance(one, Output) or one.scale is not None or one.sparse not in (None, "any"):
        return None
    if not isinstance(one.truth, Picked):
        return _with_free(_of_elements(one), one)
    # Many elements of few values: each value is looked at once.
    allowed = one.allowed.base if isinstance(one.allowed, Picked) else None
    few = replace(one, truth=one.truth.base, allowed=allowed, shape=(len(one.truth.base),), free=())
    bound, index = _of_elements(few), _indices(one.truth.which)
    shape = (*one.shape, *bound.value.shape[1:])
    value, error = (x[index].reshape(shape) for x in (bound.value, bound.error))
    return _with_free(replace(bound, value=value, error=error), one)


def _indices(which: Sequence[int]) -> NDArray[np.int64]:
    if isinstance(which, Cycle):
        return np.arange(which.size) % which.period
    return np.fromiter(which, np.int64, len(which))


def _with_free(bound: Bound, one: Output) -> Bound:
    """Return a bound with the elements of which the kit requires nothing."""
    if not one.free:
        return bound
    free = np.zeros((math.prod(one.shape), *bound.value.shape[len(one.shape) :]), bool)
    free[list(one.free)] = True
    return replace(bound, error=np.where(free.reshape(bound.value.shape), np.inf, bound.error))


def _of_elements(one: Output) -> Bound:
    if PARTS.get(one.dtype, one.dtype) not in FORMATS:
        values = [int(x.value) if isinstance(x, Real) else x for x in one.truth]
        kind = np.uint64 if one.dtype == "uint64" else np.int64
        allowed = np.array([float(x) for x in one.allowed or ()] or [0.0] * len(values))
        truth = np.array(values, kind).reshape(one.shape)
        return Bound(one.dtype, truth, allowed.reshape(one.shape))
    pairs = [x if isinstance(x, tuple) else (x,) for x in one.truth]
    numbers = np.array([[_float(x) for x in pair] for pair in pairs], np.float64)
    numbers = numbers.reshape(len(pairs), 2 if one.dtype in PARTS else 1)
    shape = (*one.shape, 2) if one.dtype in PARTS else tuple(one.shape)
    return Bound(one.dtype, numbers.reshape(shape), _allowed(one, numbers).reshape(shape))


def _float(x: Any) -> float:
    if isinstance(x, int):
        return float(x)
    if x.is_nan:
        return math.nan
    try:
        size = math.inf if x.size is None else float(x.size)
    except OverflowError:
        size = math.inf
    return -size if x.negative else size


def _allowed(one: Output, truth: Array) -> Array:
    """Return the errors that the kit allows; those of both parts of a complex number are one."""
    if one.allowed is not None:
        each = np.array([float(x) for x in one.allowed], np.float64).reshape(-1, 1)
        return np.broadcast_to(each, truth.shape).copy()
    with np.errstate(all="ignore"):
        size = np.where(np.isfinite(truth), np.abs(truth), 0.0).max(-1, initial=0.0, keepdims=True)
        unit = np.broadcast_to(spacing_at(one.dtype, size), truth.shape)
    return np.where(np.isfinite(truth), unit * (0.5 if one.ulp is None else one.ulp), 0.0)


def requires_nothing(bounds: Sequence[Bound]) -> int | None:
    """Return the first output of which nothing is required; None if something is of each."""
    return next((i for i, one in enumerate(bounds) if not one.requires), None)
