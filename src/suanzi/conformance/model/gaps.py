"""Calls whose results an erratum leaves open and that have no list of alternatives: tentative.

``errata.toml`` says of such an erratum, as ``tentative``, what it leaves open; the tables here say
which calls these are. A tentative case is run and reported, and counted neither for nor against a
backend, until the committee decides. Errata with alternatives are in ``cases/_readings_*.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from suanzi.conformance.model.numbers import PARTS
from suanzi.conformance.model.unusual import has_ties, is_whole, tensors
from suanzi.conformance.subjects.wire import ITEMSIZE, Data

if TYPE_CHECKING:
    from suanzi.conformance.model.case import Case

Arguments = Mapping[str, Any]
_NUMERIC = ("SUM", "PROD", "MAX", "MIN", "MEAN")
_LISTED_BY_MATMUL = frozenset({(1, 1), (2, 2), (1, 2), (2, 1)})


def _given(case: Case, name: str) -> Data | None:
    x = case.arguments.get(name)
    return x if isinstance(x, Data) else None


def _complex(case: Case) -> bool:
    return any(x.dtype in PARTS for _, x in tensors(case.arguments))


def _no_real_range(case: Case) -> bool:
    """Tell whether numbers of a dtype are drawn for which no distribution is defined."""
    dtype = str(case.arguments.get("dtype") or "float32").lower()
    return not dtype.startswith("float")


def _zero_divisor(case: Case) -> bool:
    y = _given(case, "y")
    if y is None:
        return case.arguments.get("y") == 0 and not isinstance(case.arguments.get("y"), float)
    size = ITEMSIZE[y.dtype]
    first = y.raw[: y.repeats]
    return is_whole(y.dtype) and any(
        not any(first[i : i + size]) for i in range(0, len(first), size)
    )


def _steps(case: Case) -> bool:
    return any(step != 1 for step in case.arguments.get("step") or ())


def _no_gradient(case: Case) -> bool:
    """Tell whether a mode has no derivative, or the elements do not say whose it is."""
    mode, x = case.arguments.get("mode", "SUM"), _given(case, "input")
    if x is None or mode not in _NUMERIC:
        return True
    if mode == "PROD":
        return x.dtype in PARTS
    return mode in ("MAX", "MIN") and _tied(case, x)


def _tied(case: Case, x: Data) -> bool:
    axis = case.arguments.get("axis")
    if isinstance(axis, list | tuple) and len(axis) == 1:
        return has_ties(x, axis[0])
    size = ITEMSIZE[x.dtype]
    each = [x.raw[i : i + size] for i in range(0, len(x.raw), size)]
    return len(set(each)) < len(each)


def _another_axis(case: Case) -> bool:
    axis, x = case.arguments.get("axis"), _given(case, "out_grad")
    return axis is not None and x is not None and axis not in (-1, len(x.shape) - 1)


def _ranks(case: Case, *names: str) -> tuple[int, ...]:
    found = [_given(case, name) for name in names]
    return tuple(len(x.shape) for x in found if x is not None)


def _unlisted_product(case: Case) -> bool:
    a, b = _ranks(case, "mat1", "mat2")
    return (a, b) not in _LISTED_BY_MATMUL and not (1 in (a, b) or min(a, b) > 2)


def _unlisted_inner(case: Case) -> bool:
    if case.op != "dot" and _complex(case):
        return True
    a, b = _ranks(case, "vec1", "vec2")
    return not (a == b == 2 or 0 in (a, b) or b == 1 or min(a, b) > 2)


def _new_points(case: Case) -> bool:
    """Tell whether the result depends on where new points lie: not where all elements are equal."""
    x = _given(case, "input")
    size = ITEMSIZE[x.dtype] if x is not None else 1
    return x is None or x.raw != x.raw[:size] * x.size


def _fraction_of_a_point(case: Case) -> bool:
    x, factor = _given(case, "input"), case.arguments.get("scale_factor")
    if x is None or not factor or case.arguments.get("size"):
        return False
    each = factor if isinstance(factor, list | tuple) else [factor]
    return any(not float(n * f).is_integer() for n, f in zip(x.shape[2:], each, strict=False))


def _same_axis_twice(case: Case) -> bool:
    axes = case.arguments.get("axis")
    return isinstance(axes, list | tuple) and len(set(axes)) < len(axes)


def _always(case: Case) -> bool:
    return True


def _with(name: str) -> Callable[[Case], bool]:
    return lambda case: case.arguments.get(name) is not None


Rule = tuple[str, tuple[str, ...], Callable[["Case"], bool]]
CALLS: tuple[Rule, ...] = (
    ("E29", ("rand_uniform", "rand_normal"), _no_real_range),
    ("E53", ("slice_backward",), _steps),
    ("E58", ("roll",), _same_axis_twice),
    ("E73", ("div", "floordiv", "mod"), _zero_divisor),
    ("E83", ("bitwise_left_shift", "bitwise_right_shift"), _always),
    ("E91", ("reduce",), lambda case: "mode" not in case.arguments),
    ("E93", ("reduce_bwd",), _no_gradient),
    ("E95", ("cumsum",), _with("dtype")),
    ("E96", ("cumsum_bwd",), _with("input_shape")),
    ("E100", ("argsort_bwd",), _another_axis),
    ("E112", ("fft_c2c_backward",), _always),
    ("E111", ("fft_r2c_backward",), _always),
    ("E113", ("fft_c2r_backward",), _always),
    ("E114", ("matmul",), _unlisted_product),
    ("E115", ("dot", "dot_bwd1", "dot_bwd2"), _unlisted_inner),
    ("E115", ("linear_bwd_in", "linear_bwd_weight", "bilinear_bwd_in1", "bilinear_bwd_in2",
              "bilinear_bwd_weight"), _complex),
    ("E119", ("qr",), lambda case: case.arguments.get("mode") == "r"),
    ("E122", ("solve",), lambda case: _ranks(case, "rhs") == (1,)),
    ("E134", ("interpolate",), _fraction_of_a_point),
    ("E133", ("interpolate",), _new_points),
)  # fmt: skip
"""An erratum, the interfaces, and which of their calls it leaves open; calls of the group status
for any dtype are below."""

SIGNATURES = {"clip_backward": "E60", "trace_backward": "E80"}
"""Interfaces that cannot be called as their tables say: all cases are tentative."""

OPEN: dict[str, str] = {
    "E22": "reshape/INVALID_ARGUMENT a length to be found out",
    "E23": "create_tensor/DIMENSIONS_MISMATCH, create_quant_tensor/DIMENSIONS_MISMATCH",
    "E64": "expand/INVALID_ARGUMENT a length to be found out",
    "E66": "flip/INVALID_ARGUMENT an axis twice, reverse/INVALID_ARGUMENT, "
    "reverse/INVALID_ARGUMENT an axis under two names",
    "E91": "reduce/INVALID_ARGUMENT an axis twice, reduce/INVALID_ARGUMENT no mode, "
    "reduce/INVALID_ARGUMENT one axis too far",
    "E93": "reduce_bwd/INVALID_ARGUMENT, reduce_bwd/INVALID_ARGUMENT truth has no gradient",
    "E111": "fft_r2c_backward/SUCCESS, fft_r2c_backward/INVALID_ARGUMENT neither half nor all",
    "E122": "solve/SUCCESS, solve/INVALID_ARGUMENT, inverse/INVALID_ARGUMENT",
    "E126": "norm/INVALID_ARGUMENT 2 of a matrix, norm/INVALID_ARGUMENT fro of one axis, "
    "norm/INVALID_ARGUMENT three axes, norm/INVALID_ARGUMENT an axis twice",
    "E132": "interpolate/DIMENSIONS_MISMATCH, interpolate/DIMENSIONS_MISMATCH linear of two axes",
    "E148": "multinomial/INVALID_ARGUMENT, multinomial/INVALID_ARGUMENT three axes, "
    "multinomial/INVALID_ARGUMENT more than there are without replacement, "
    "randperm/INVALID_ARGUMENT more than the dtype holds, "
    "range/INVALID_ARGUMENT a step away from the limit, concat/INVALID_ARGUMENT nothing, "
    "pad/INVALID_ARGUMENT a negative width, roll/INVALID_ARGUMENT two shifts without axes, "
    "gather/INVALID_ARGUMENT a negative index, "
    "gather/INVALID_ARGUMENT more coordinates than axes, "
    "gather/INVALID_ARGUMENT indices that are no integers, "
    "scatter/INVALID_ARGUMENT a negative index, "
    "masked_select/INVALID_ARGUMENT a mask of more axes, "
    "clip/INVALID_ARGUMENT, fft_c2c/INVALID_ARGUMENT an axis twice, "
    "fft_r2c/INVALID_ARGUMENT an axis twice, fft_c2r/INVALID_ARGUMENT an axis twice",
}  # fmt: skip
"""Refusals that no sentence requires, by erratum: interface and title of the case."""
_OPEN = {call: erratum for erratum, calls in OPEN.items() for call in calls.split(", ")}


def gap_of(case: Case) -> str | None:
    """Return the erratum that leaves the result of a call open, if there is one."""
    if case.op in SIGNATURES:
        return SIGNATURES[case.op]
    if case.group == "status" and case.dtype == "any":
        return _OPEN.get(f"{case.op}/{case.title}")
    for erratum, names, leaves_open in CALLS:
        if case.op in names and not case.steps and leaves_open(case):
            return erratum
    return None
