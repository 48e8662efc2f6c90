"""Readings of interfaces of whole tensors: axes, indices, dtypes of results, transforms."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from suanzi.base.status import Status
from suanzi.conformance.cases import reading
from suanzi.conformance.cases._readings import either, names_of, one_output
from suanzi.conformance.judging.checks.factors import root
from suanzi.conformance.model.case import Case, Check, Expected, Refused
from suanzi.conformance.model.numbers import PARTS, Real, Value, real
from suanzi.conformance.subjects.wire import Data
from suanzi.standard import interfaces

_TM, _IA = Status.TYPE_MISMATCH, Status.INVALID_ARGUMENT
_OR, _AX = Status.OUT_OF_RANGE, Status.AXIS_ARGUMENT
_AXES = ("axis", "axes", "dim0", "dim1", "start_axis", "stop_axis")
_EXPLAINED = ("argmax", "argmin", "argsort", "argsort_bwd", "topk", "cumsum", "cumsum_bwd")
"""Whose clauses say what a negative axis is."""


# ---- E14: negative axes -------------------------------------------------------------------------


@reading(*(name for name in interfaces() if name not in _EXPLAINED))
def negative_axes(case: Case, expected: Expected) -> Expected:
    """Counted from the end, or refused, since axes count from 0."""
    if not any(axis < 0 for axis in _axes_of(case)):
        return expected
    refused = Refused(_OR, others=(_IA, _AX))
    if isinstance(expected, Refused):
        twice = expected.status is _IA and _IA in case.interface.statuses
        return either("E14", expected, refused) if twice else expected
    assert isinstance(expected, tuple | Check)
    return either("E14", expected, refused)


def _axes_of(case: Case) -> list[int]:
    given = [case.arguments[name] for name in _AXES if name in case.arguments]
    each = [one for x in given for one in (x if isinstance(x, list | tuple) else [x])]
    return [axis for axis in each if isinstance(axis, int)]


# ---- indices ------------------------------------------------------------------------------------


@reading("gather", "scatter")
def indices_of_high_rank(case: Case, expected: Expected) -> Expected:
    """An index of more axes than the input: coordinates all the same, or refused."""
    x, index = case.arguments["input"], case.arguments["index"]
    if not isinstance(expected, tuple) or not isinstance(index, Data):
        return expected
    if not isinstance(x, Data) or len(index.shape) <= len(x.shape):
        return expected
    return either("E61", expected, Refused(_IA))


@reading("topk")
def all_of_them(case: Case, expected: Expected) -> Expected:
    """k = the size of the axis: all of them, or refused."""
    x, k = case.arguments["input"], case.arguments.get("k")
    if isinstance(expected, Refused) or not isinstance(x, Data) or not x.shape:
        return expected
    if k != x.shape[case.arguments.get("axis", -1)]:
        return expected
    assert isinstance(expected, tuple | Check)
    return either("E101", expected, Refused(_IA))


# ---- dtypes that differ -------------------------------------------------------------------------


@reading("concat", "stack", "where", "matmul", "dot")
def mixed_dtypes(case: Case, expected: Expected) -> Expected:
    """Where no status for dtypes is listed: a refusal by any status, or some promotion."""
    if case.group != "promotion" or not isinstance(expected, Refused):
        return expected
    every = tuple(s for s in Status if s not in (Status.SUCCESS, expected.status))
    return either("E50", Refused(expected.status, others=every), Check("succeeds", {}))


# ---- dtypes of results --------------------------------------------------------------------------


@reading("shape")
def integers_of_a_shape(case: Case, expected: Expected) -> Expected:
    """Any integer dtype."""
    made = one_output(expected)
    if made is None:
        return expected
    return either("E43", *((replace(made, dtype=name),) for name in names_of("E43")))


@reading("multinomial")
def dtypes_of_samples(case: Case, expected: Expected) -> Expected:
    """int64, int32, or the dtype of the weights."""
    if not isinstance(expected, Check) or "dtype" not in expected.facts:
        return expected
    own = case.arguments["input"].dtype
    dtypes = (expected.facts["dtype"], "int32", own)
    return either("E31", *(replace(expected, facts={**expected.facts, "dtype": d}) for d in dtypes))


@reading("rand_normal")
def normal_integers(case: Case, expected: Expected) -> Expected:
    """Refused, or rounded."""
    dtype = str(case.arguments.get("dtype", "float32"))
    if not isinstance(expected, Refused) or not dtype.startswith(("int", "uint")):
        return expected
    made = Check("has_shape", {"dtype": dtype, "shape": tuple(case.arguments["shape"])})
    return either("E29", Refused(_IA, others=(_TM,)), (made,))


# ---- Fourier transforms -------------------------------------------------------------------------


@reading(*(name for name in interfaces() if name.startswith("fft_")))
def scales(case: Case, expected: Expected) -> Expected:
    """Divided by the lengths that are transformed, or by the number of elements of the input."""
    made, mode = one_output(expected), case.arguments.get("normalization", "none")
    if made is None or mode == "none" or made.allowed is None:
        return expected
    few, all_ = _counts(case)
    if few == all_ or not few or not all_:
        return expected
    ratio = Fraction(few, all_)
    if mode == "by_sqrt_n":
        ratio = root(ratio)
    other = replace(
        made,
        truth=tuple(_times(x, ratio) for x in made.truth),
        allowed=tuple(2 * ratio * x for x in made.allowed),
    )
    return either("E107", (made,), (other,), throughout=True)


def _counts(case: Case) -> tuple[int, int]:
    """Return the product of the lengths that are transformed, and the number of all elements."""
    given = case.arguments
    x = given["input"] if case.op != "fft_r2c_backward" and "input" in given else given["grad_out"]
    if case.op == "fft_r2c_backward":
        x = given["input"]
    shape = list(x.shape)
    axes = [a % len(shape) for a in given.get("axes") or [-1]]
    lengths, last = [shape[a] for a in axes], axes[-1]
    if case.op == "fft_c2r":
        lengths[-1] = given["last_dim_size"]
    if case.op == "fft_c2r_backward":
        shape[last] = shape[last] // 2 + 1
    return math.prod(lengths), math.prod(shape)


def _times(x: Value, ratio: Fraction) -> Value:
    if isinstance(x, tuple):
        return _part(x[0], ratio), _part(x[1], ratio)
    assert isinstance(x, Real)
    return _part(x, ratio)


def _part(x: Real, ratio: Fraction) -> Real:
    return x if x.size is None else real(x.value * ratio)


# ---- linear algebra -----------------------------------------------------------------------------


@reading("solve")
def adjoints(case: Case, expected: Expected) -> Expected:
    """As the parameter is named, or as the text has it, the other way round."""
    if not isinstance(expected, Check) or expected.name != "solutions":
        return expected
    if _is_its_own_adjoint(case.arguments["mat"]):
        return expected
    ways = (case.arguments["adjoint"], not case.arguments["adjoint"])
    both = (replace(expected, facts={**expected.facts, "adjoint": way}) for way in ways)
    return either("E121", *both, throughout=True)


def _is_its_own_adjoint(mat: Data) -> bool:
    return mat.shape[-2:] == (1, 1) and mat.dtype not in PARTS


@reading("svd")
def shapes_of_s(case: Case, expected: Expected) -> Expected:
    """Of the reduced form: k by k, which multiplies, or that of the matrix, as the table has it."""
    if not isinstance(expected, Check) or expected.name != "svd_factors":
        return expected
    n, m = case.arguments["mat"].shape[-2:]
    if n == m or not case.arguments.get("format", True):
        return expected
    whole = replace(expected, facts={**expected.facts, "whole": True})
    return either("E120", expected, whole, throughout=True)


@reading("eig")
def eigenvectors(case: Case, expected: Expected) -> Expected:
    """Of length 1 and complex; of any length; real where the eigenvalues are."""
    if not isinstance(expected, Check) or "dtype" not in expected.facts:
        return expected
    free = {**expected.facts, "lengths": True}
    part = PARTS.get(expected.facts["dtype"])
    is_real = case.arguments["mat"].dtype not in PARTS and part is not None
    others: tuple[Any, ...] = (
        replace(expected, facts=free),
        replace(expected, facts={**free, "dtype": part}) if is_real else None,
    )
    return either("E125", expected, *others)
