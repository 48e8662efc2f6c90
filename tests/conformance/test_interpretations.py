"""Vendors who read one clause otherwise: what the text allows passes, what it excludes fails.

Each adapter is suanzi with one change. It is run over the cases of the interfaces concerned, few of
each kind; tentative cases and those of quality break no level, as with ``--normative``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers import kit
from helpers.misreadings import Misread, Reading, accepted, asked, instead, made, refused, ruled
from suanzi.conformance.cases import Wanted
from suanzi.conformance.running.process import Local
from suanzi.conformance.running.run import run_case
from suanzi.conformance.subjects.suanzi_adapter import Adapter

FEW = Wanted(
    frozenset({"plain", "strided", "status", "example"}),
    frozenset({"any", "bool", "int32", "float32", "complex64", "float32-int32"}),
    quick=True,
)
IA, DM, TM, OR = "INVALID_ARGUMENT", "DIMENSIONS_MISMATCH", "TYPE_MISMATCH", "OUT_OF_RANGE"
LOGICAL = ("LAND", "LOR", "LXOR", "BAND", "BOR", "BXOR")
WHOLE = "iu"
Vendor = tuple[str, str, Reading | type[Adapter], str]
"""A name, the interfaces, how it differs, and why the text allows it or not."""


class Int64ShapeOfSparse(Adapter):
    """Shapes are of INT64, those of sparse tensors as well."""

    changed = True
    mistake = None

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        status, *outputs = super().call(op, arguments)
        return status, *(sz.cast(x, "int64") if status == "SUCCESS" else x for x in outputs)


class NoSparse(Adapter):
    """Sparse tensors have interfaces of their own."""

    changed = True
    mistake = None

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        if any(isinstance(x, sz.SparseTensor) for x in arguments.values()):
            return TM, "call the interface for sparse tensors"
        return super().call(op, arguments)


def same_shape(*tensors: Any) -> bool:
    return all(isinstance(x, sz.Tensor) and x.shape == tensors[0].shape for x in tensors)


def no_order(**given: Any) -> Any:
    some = [x for x in given.values() if isinstance(x, sz.Tensor) and x.dtype.kind == "complex"]
    return some[0] if some else None


def memory_order(output: Any, input: Any, dims: Any, **_: Any) -> Any:
    if input.flags.c_contiguous or not input.flags.f_contiguous:
        return None
    return input.ravel(order="F").reshape(dims)


def wide(output: Any, input: Any, mode: str = "SUM", **_: Any) -> Any:
    if mode not in ("SUM", "PROD") or input.dtype.kind not in WHOLE:
        return None
    return output.astype("uint64" if input.dtype.kind == "u" else "int64")


def whole_mean(output: Any, input: Any, mode: str = "SUM", **_: Any) -> Any:
    whole = mode == "MEAN" and input.dtype.kind in WHOLE
    return np.trunc(output).astype(input.dtype) if whole else None


def wide_mean(output: Any, input: Any, mode: str = "SUM", axis: Any = None,
              keep_dims: bool = False, **_: Any) -> Any:  # fmt: skip
    if mode != "MEAN" or input.dtype.kind not in WHOLE:
        return None
    return np.asarray(np.mean(input, tuple(axis) if axis else None, "float64", keepdims=keep_dims))


def first_of_equals(grad: Any, out_grad: Any, input: Any, mode: str = "SUM", axis: Any = None,
                    **_: Any) -> Any:  # fmt: skip
    if mode not in ("MAX", "MIN") or not axis or len(axis) != 1 or out_grad.ndim == input.ndim:
        return None
    best = (np.argmax if mode == "MAX" else np.argmin)(input, axis=axis[0])
    found = np.zeros_like(grad)
    places, given = np.expand_dims(best, axis[0]), np.expand_dims(out_grad, axis[0])
    np.put_along_axis(found, places, given, axis[0])
    return found


def last_of_equals(output: Any, input: Any, axis: int = -1, keepdim: bool = False, **_: Any) -> Any:
    found = input.shape[axis] - 1 - np.argmax(np.flip(input, axis), axis=axis)
    return (np.expand_dims(found, axis) if keepdim else found).astype(output.dtype)


def open_range(output: Any, start: Any, limit: Any, step: Any, **_: Any) -> Any:
    near = output.size and abs(complex(output[-1]) - complex(limit)) < abs(step) / 2
    return output[:-1] if near else None


def flat_until(output: Any, input: Any, start_axis: int, stop_axis: int, **_: Any) -> Any:
    if not 0 <= start_axis < stop_axis:
        return None
    return input.reshape((*input.shape[:start_axis], -1, *input.shape[stop_axis:]))


def reflect(output: Any, input: Any, pad_width: Any, pad_mode: str = "PAD_CONST", **_: Any) -> Any:
    if pad_mode != "PAD_MIRROR" or min(input.shape, default=0) < 2:
        return None
    return np.pad(input, np.asarray(pad_width).reshape(-1, 2), mode="reflect")


def numbers_refused(right: Any, arguments: dict[str, Any]) -> tuple[Any, ...]:
    plain = any(isinstance(x, bool | int | float | complex) for x in arguments.values())
    return (TM, "no tensor") if plain else right(arguments)


def indices_of_32_bits(right: Any, arguments: dict[str, Any]) -> tuple[Any, ...]:
    status, *outputs = right(arguments)
    if status != "SUCCESS":
        return status, *outputs
    each = outputs[0] if isinstance(outputs[0], list | tuple) else [outputs[0]]
    found = [sz.cast(x, "int32") for x in each]
    return status, found if isinstance(outputs[0], list | tuple) else found[0]


def half_away(y: Any, x: Any, **_: Any) -> Any:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def of_the_dividend(z: Any, x: Any, y: Any) -> Any:
    return np.fmod(x, y)


def direction(perm: Any) -> Any:
    return [int(i) for i in np.argsort(perm)] if len(perm) > 2 and min(perm) >= 0 else perm


ALLOWED: list[Vendor] = [
    ("DivShape", "div mod max min", instead(IA, DM, lambda x, y: not same_shape(x, y)),
     "5.5 prefers the more specific status; these clauses tie none to shapes"),
    ("FlipTwice", "flip", instead(IA, "AXIS_ARGUMENT", lambda input, axis: len(axis) == 2),
     "7.2.3.21.3 has this status for an axis that is not valid"),
    ("LogicalGradient", "reduce_bwd", accepted(
        lambda input, mode="SUM", **_: sz.zeros(input.shape) if mode in LOGICAL else None),
     "Table 114 lists the logical and bitwise modes"),
    ("MemoryOrderReshape", "reshape", made(memory_order),
     "7.2.3.2.1: a copy reads and writes in the order of each layout"),
    ("RealOnly", "add mul true_divide equal cumsum", refused(
        lambda **given: any(getattr(x, "dtype", np.dtype("f4")).kind == "c"
                            for x in given.values()), TM),
     "Tables 55 to 79 say floating-point; 6.2 has real and complex apart"),
    ("ComplexSin", "sin exp tanh", accepted(no_order), "Tables 95 to 112: an input *may* be real"),
    ("OrderedComplex", "max greater reduce", accepted(no_order), "Tables 63 and 71: it may be"),
    ("DivZero", "div floordiv mod", accepted(
        lambda x, y: sz.zeros(x.shape, x.dtype) if same_shape(x, y) else None),
     "7.2.4.5, 7.2.4.6 and 7.2.4.8 do not mention a zero divisor"),
    ("WideSums", "reduce", made(wide, keep_dtype=True), "no clause has the dtype of a sum"),
    ("IntegerMean", "reduce", made(whole_mean, keep_dtype=True), "nor that of a mean"),
    ("WideMean", "reduce", made(wide_mean, keep_dtype=True), "nor that of a mean"),
    ("Quotient64", "true_divide", made(
        lambda z, x, y: x / y if x.dtype.kind in WHOLE and y.all() else None, keep_dtype=True),
     "7.2.4.7 says floating-point, and no width"),
    ("Nonzero32", "nonzero", indices_of_32_bits, "Table 122 has no dtype for indices"),
    ("Indices32", "argsort topk", made(
        lambda output, indices, **_: (output, indices.astype("int32")), keep_dtype=True),
     "Tables 119 and 121 have no dtype for indices"),
    ("AllcloseScalar", "allclose", made(lambda z, **_: z.reshape(())),
     "Table 75: a bool; the shape [1] is in the appendix alone"),
    ("ShiftOne", "bitwise_left_shift bitwise_right_shift", asked(lambda x, **_: {"shift": 1}),
     "Tables 84 and 85 have no parameter for it"),
    ("JaxGradients", "fft_c2c_backward dot_bwd1 dot_bwd2", made(lambda g, **_: np.conj(g), "c"),
     "no clause says what the gradient of a complex number is"),
    ("MaxPicksFirst", "reduce_bwd", made(first_of_equals), "no clause says whose gradient it is"),
    ("MinusOne", "reshape", accepted(
        lambda input, dims: input.reshape(dims) if list(dims).count(-1) == 1 else None),
     "5.2.2 lets a library add; no sentence excludes it"),
    ("SpectralNorm", "norm", accepted(
        lambda input, normtype="inf", axis=(), **_: sz.zeros(()) if normtype == "2" else None),
     "5.2.2; the list of norms does not exclude others"),
    ("PythonIndices", "gather", accepted(
        lambda input, index: input if int(np.asarray(index).min()) < 0 else None),
     "7.2.3.17 does not mention negative indices"),
    ("RolledTwice", "roll", refused(lambda input, shifts, axis=(), **_: len({*axis}) < len(axis)),
     "7.2.3.14 does not say what shifts of the same axis do"),
    ("ThreeAxesOfWeights", "multinomial", accepted(
        lambda input, **_: sz.zeros(input.shape, "int64") if input.ndim == 3 else None),
     "Table 12: a tensor"),
    ("Rank4Linear", "interpolate", accepted(
        lambda input, size=None, mode="nearest", **_: sz.zeros((1, 1, 8, 8))
        if mode == "linear" else None), "7.2.18 does not tie a mode to a rank"),
    ("EmptyRange", "range", accepted(
        lambda step, **_: sz.zeros((0,)) if step < 0 else None),
     "7.2.1.12 does not exclude a step away from the limit"),
    ("SingularSolve", "solve inverse", accepted(
        lambda mat, **_: sz.zeros(mat.shape) if not np.ptp(np.asarray(mat)) else None),
     "7.2.17.7 and 7.2.17.9 do not mention singular matrices"),
    ("TypeMismatchCast", "cast", instead(IA, TM), "7.2.3.1.3: types that are not compatible"),
    ("SparseInt64Shape", "shape", Int64ShapeOfSparse, "Table 21: integers; 5.6 leaves sparse open"),
    ("SparseElsewhere", "add abs shape", NoSparse, "5.6: operations may have other interfaces"),
    ("LastOfEquals", "argmax", made(last_of_equals, "iuf"), "7.2.14.1 does not say which"),
    ("OpenRange", "range", made(open_range), "only an example of the appendix has the limit"),
    ("SingleFlatten", "flatten", made(flat_until), "Table 49 does not say if the end is included"),
    ("Reflect", "pad", made(reflect), "Table 40 says mirrored; the edge is in the appendix alone"),
    ("NegativeAxesRefused", "flip squeeze reduce", refused(
        lambda axis=None, **_: any(a < 0 for a in axis or ()), OR), "5.1: indices count from 0"),
    ("HalfAway", "round", made(half_away, "f"), "7.2.9.4 names schoolbook rounding"),
    ("SignOfTheDividend", "mod", made(
        lambda z, x, y: of_the_dividend(z, x, y) if y.all() else None), "7.2.4.8: the remainder"),
]  # fmt: skip

EXCLUDED: list[Vendor] = [
    ("LapackPivots", "lu", made(lambda lu, ipiv, **_: (lu, ipiv + 1)), "5.1: counting begins at 0"),
    ("OneBasedArgmax", "argmax", made(lambda y, **_: y + 1, "iuf"), "5.1: counting begins at 0"),
    ("NumPyTranspose", "transpose", asked(
        lambda input, perm=(), **_: {"perm": direction(perm)}),
     "7.2.3.5.1: axis i of the input becomes axis perm[i]"),
    ("Ascending", "argsort", asked(
        lambda input, descending=None, **_: {"descending": False} if descending is None else None),
     "Table 119: descending by default"),
    ("LastAxisCumsum", "cumsum", asked(
        lambda input, axis=-1, **_: {"axis": input.ndim - 1} if axis == -1 else None),
     "Table 115: -1 is all elements in a row"),
    ("KeptAxes", "reduce", asked(
        lambda input, keep_dims=None, **_: {"keep_dims": True} if keep_dims is None else None),
     "Table 113: axes are not kept by default"),
    ("OutOfRangeReshape", "reshape", instead(DM, IA), "7.2.3.2.3 names the status"),
]  # fmt: skip


def broken(ops: str, reading: Reading | type[Adapter], wanted: Wanted = FEW) -> list[str]:
    """Return the required cases that an adapter fails; it must differ somewhere."""
    subject: Any = reading() if isinstance(reading, type) else Misread(reading)
    local = Local(subject)
    found = []
    for op in ops.split():
        results = [run_case(local, case) for case in kit.made(op, wanted) if not case.steps]
        found += [f"{r.id}: {r.problem}" for r in results if r.breaks]
    assert subject.mistake is None, subject.mistake
    assert subject.changed, "it answers nothing otherwise"
    return found


def _each(vendors: list[Vendor]) -> Any:
    return pytest.mark.parametrize(
        ("ops", "reading", "why"),
        [pytest.param(ops, reading, why, id=name) for name, ops, reading, why in vendors],
    )


@_each(ALLOWED)
def test_what_the_text_allows_breaks_nothing(ops: str, reading: Reading, why: str) -> None:
    assert broken(ops, reading) == [], why


@_each(EXCLUDED)
def test_what_the_text_excludes_is_noticed(ops: str, reading: Reading, why: str) -> None:
    assert broken(ops, reading), why


def test_a_chip_may_take_tensors_alone() -> None:
    """Table 55 has two tensors."""
    groups = frozenset({"broadcast", "promotion", "special"})
    assert broken("add", numbers_refused, replace(FEW, groups=groups)) == []


@pytest.mark.parametrize("rules", ["cann", "torch", "numpy"])
def test_unequal_dtypes_may_be_promoted_by_any_rules(rules: str) -> None:
    """E10: the second operand need only be compatible, and no clause names a rule set."""
    strict = replace(FEW, groups=frozenset({"promotion"}), rules="strict", dtypes=None)
    assert broken("add", ruled("add", rules), strict) == []


def test_there_are_as_many_as_were_tried() -> None:
    assert len(ALLOWED) + len(EXCLUDED) + 2 >= 42
