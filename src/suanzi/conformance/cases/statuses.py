"""Every status of every clause: a valid call of each interface, and changes that make it invalid.

The tables have a name, then arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._readings import either
from suanzi.conformance.model.case import Case, Check, Expected, Output, Outputs, Refused
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import NAN
from suanzi.conformance.model.numbers import real as number
from suanzi.conformance.subjects.wire import Data
from suanzi.promote.registry import REGISTRY
from suanzi.standard import interfaces

Arguments = dict[str, Any]


def real() -> Data:
    """Return six numbers from 0 to 1."""
    return tensor("float32", [0.5, 0.25, 1.0, 0.125, 0.75, 0.5], (2, 3))


def whole() -> Data:
    """Return six integers."""
    return tensor("int32", [1, 2, 3, 4, 5, 6], (2, 3))


def truth() -> Data:
    """Return a mask."""
    return tensor("bool", [1, 0, 1, 0, 1, 1], (2, 3))


def square() -> Data:
    """Return a matrix that is positive definite."""
    return tensor("float32", [4.0, 1.0, 1.0, 3.0], (2, 2))


def signal(columns: int = 3) -> Data:
    """Return complex numbers."""
    rows = [[1 + 2j, 0.5j, -1], [2, 1j, 3 - 1j]]
    kept = [complex(x) for row in rows for x in row[:columns]]
    return tensor("complex64", [(number(x.real), number(x.imag)) for x in kept], (2, columns))


def ones(*shape: int) -> Data:
    """Return ones."""
    count = 1
    for n in shape:
        count *= n
    return tensor("float32", [1.0] * count, shape)


def _whole(*shape: int) -> Data:
    """Return ones that are integers."""
    some = ones(*shape)
    return tensor("int32", [1] * some.size, shape)


def floats(*values: float) -> Data:
    """Return a row of numbers."""
    return tensor("float32", list(values))


def places(*values: int) -> Data:
    """Return a row of indices."""
    return tensor("int64", list(values))


def text() -> Data:
    """Return characters, which nothing computes with."""
    return tensor("char", list(b"text"))


# ---- what the names of the parameters say --------------------------------------------------------

_USUAL = frozenset({"x", "y", "a", "e", "input", "mat"})
"""Names of parameters that take any tensor of a dtype that the interface takes."""
_TM, _DM, _IA = Status.TYPE_MISMATCH, Status.DIMENSIONS_MISMATCH, Status.INVALID_ARGUMENT
_OR, _AX = Status.OUT_OF_RANGE, Status.AXIS_ARGUMENT


_PROMOTING = frozenset({"arithmetic", "comparison", "logical", "power", "linear algebra"})
_MIXED = frozenset(
    op for op, facts in interfaces().items()
    if _TM in facts.statuses and len(facts.operands) > 1 and facts.category in _PROMOTING
)  # fmt: skip
"""Interfaces with a status for different dtypes: by E10 they may promote them instead."""
DISPUTED = _MIXED | {
    op for op, facts in interfaces().items() if _TM in facts.statuses and facts.form == "matrix"
}
"""Interfaces whose TYPE_MISMATCH is one of two interpretations: by E87 real functions may also take
integers."""


def _required(op: str) -> list[str]:
    return [p.name for p in interfaces()[op].parameters if p.required and not p.derived]


def _usual(op: str) -> Arguments:
    dtypes = dtypes_of(op)
    numbers = real if "float32" in dtypes else whole if "int32" in dtypes else signal
    return {name: square() if name == "mat" else numbers() for name in _required(op)}


def _of_another_dtype(op: str) -> Data:
    """Return a tensor of a dtype that the clause does not take: one of the standard if possible.

    Integers are no such dtypes, as a rule set may promote them, and bool is one of a lone operand.
    """
    there = {"FC": signal, "FR": real}
    said = {"FP": ("FR", "FC"), "ns": tuple(there)}
    listed = {kind for word in interfaces()[op].dtypes.split() for kind in said.get(word, (word,))}
    for kind, make in there.items():
        if kind not in listed and make().dtype not in dtypes_of(op):
            return make()
    lone = len(_required(op)) == 1
    return truth() if lone and "I" in listed and "B" not in listed else text()


def _usual_change(op: str, status: Status) -> Callable[[], Arguments] | None:
    names = _required(op)
    if not names or names[0] not in _USUAL:
        return None
    if status is _TM and op in _MIXED:
        return lambda: {names[1]: whole()}
    if status is _TM:
        return lambda: {names[0]: _of_another_dtype(op)}
    if status is not _IA:
        return None
    if REGISTRY[op].domain is not None:
        return lambda: {"x": floats(-7.0)}
    by_names: dict[tuple[str, ...], Callable[[], Arguments]] = {
        ("x", "y"): lambda: {"y": ones(7)}, ("input",): lambda: {"input": "no tensor"},
        ("mat",): lambda: {"mat": ones(7)},
    }  # fmt: skip
    return by_names.get(tuple(names))


# ---- the tables ----------------------------------------------------------------------------------

VALID: dict[str, Callable[[], Arguments]] = {
    **{op: partial(_usual, op) for op in interfaces() if _USUAL.issuperset(_required(op))},
    "create_tensor": lambda: {"shape": (2,), "values": [1.0, 2.0]},
    "wrap_tensor": lambda: {"shape": (2, 3), "values": real()},
    "zeros": lambda: {"shape": (2,)},
    "full": lambda: {"shape": (2,), "value": 3},
    "empty": lambda: {"shape": (2,)},
    "rand_uniform": lambda: {"shape": (2,), "min": 0, "max": 1},
    "rand_normal": lambda: {"shape": (2,)},
    "randperm": lambda: {"len": 4},
    "range": lambda: {"start": 0, "limit": 3, "step": 1},
    "linspace": lambda: {"start": 0, "stop": 1, "num": 3},
    "create_sparse_tensor": lambda: {"shape": (2, 3), "indices": [[0, 1]], "values": [1.0]},
    "create_quant_tensor": lambda: {"shape": (2,), "values": [1, 2], "scale": 0.5},
    "diag": lambda: {"input": floats(0.5, 0.25, 1.0)},
    "cast": lambda: {"input": real(), "type": "int8"},
    "reshape": lambda: {"input": real(), "dims": (3, 2)},
    "expand_dims": lambda: {"input": real(), "axis": 1},
    "squeeze": lambda: {"input": ones(1, 3)},
    "transpose": lambda: {"input": real(), "perm": (1, 0)},
    "split": lambda: {"input": real(), "split_sizes": (1, 2), "axis": 1},
    "concat": lambda: {"input_lists": [real(), real()], "axis": 0},
    "stack": lambda: {"input_lists": [real(), real()], "axis": 0},
    "unstack": lambda: {"input": real(), "axis": 0},
    "slice": lambda: {"input": real(), "begin": (0, 0), "size": (1, 2), "step": (1, 1)},
    "slice_backward": lambda: {
        "grad_out": ones(1, 2), "input": real(), "begin": (0, 0), "size": (1, 2), "step": (1, 1)},
    "tile": lambda: {"input": real(), "repeats": (2, 1)},
    "pad": lambda: {"input": real(), "pad_width": (1, 0, 0, 1)},
    "reverse": lambda: {"input": real(), "axis": (1,)},
    "roll": lambda: {"input": real(), "shifts": (1,), "axis": (1,)},
    "crop": lambda: {"input": real(), "shape": (1, 2), "offsets": (1, 0)},
    "clip": lambda: {"input": real(), "low": 0.2, "high": 0.6},
    "clip_backward": lambda: {"grad_out": real(), "low": 0.2, "high": 0.6, "input": real()},
    "gather": lambda: {"input": real(), "index": places(1, 0)},
    "scatter": lambda: {"input": real(), "index": places(1), "updates": ones(1, 3)},
    "expand": lambda: {"input": real(), "shape": (4, 2, 3)},
    "flatten": lambda: {"input": real(), "start_axis": 0, "stop_axis": 1},
    "flip": lambda: {"input": real(), "axis": (0,)},
    "where": lambda: {"condition": truth(), "x": real(), "y": real()},
    "meshgrid": lambda: {"input": [ones(2), ones(3)]},
    "masked_select": lambda: {"input": real(), "mask": truth()},
    "trace_backward": lambda: {"grad_y": ones(), "input_shape": (2, 3)},
    "rint": lambda: {"x": real(), "mode": "TONEAREST"},
    "acosh": lambda: {"x": ones(3)},
    "atanh": lambda: {"x": floats(0.5, 0.25)},
    "reduce": lambda: {"input": real(), "mode": "SUM", "axis": (0,)},
    "reduce_bwd": lambda: {"out_grad": ones(3), "input": real(), "axis": (0,)},
    "cumsum": lambda: {"input": real(), "axis": 1},
    "cumsum_bwd": lambda: {"out_grad": real(), "axis": 1},
    "argsort_bwd": lambda: {
        "out_grad": real(), "indices": tensor("int64", [0, 1, 2, 2, 1, 0], (2, 3))},
    "topk": lambda: {"input": real(), "k": 2},
    "complex": lambda: {"real": real(), "imag": real()},
    **dict.fromkeys(("conj", "imag", "real"), lambda: {"input": signal()}),
    "fft_c2c_backward": lambda: {"grad_out": signal()},
    "fft_r2c": lambda: {"input": real()},
    "fft_r2c_backward": lambda: {"grad_out": signal(2), "input": real()},
    "fft_c2r": lambda: {"input": signal(), "last_dim_size": 4},
    "fft_c2r_backward": lambda: {"grad_out": real()},
    "matmul": lambda: {"mat1": real(), "mat2": ones(3, 2)},
    "dot": lambda: {"vec1": ones(3), "vec2": ones(3)},
    **dict.fromkeys(
        ("dot_bwd1", "dot_bwd2"),
        lambda: {"out_grad": ones(), "vec1": ones(3), "vec2": ones(3)},
    ),
    "cholesky": lambda: {"upper": "L", "mat": square()},
    "solve": lambda: {"mat": square(), "rhs": ones(2), "adjoint": False},
    "lstsq": lambda: {"mat": square(), "rhs": ones(2)},
    "linear": lambda: {"x": real(), "weight": ones(4, 3), "bias": ones(4)},
    "linear_bwd_in": lambda: {"out_grad": ones(2, 4), "weight": ones(4, 3)},
    "linear_bwd_weight": lambda: {"out_grad": ones(2, 4), "input": real()},
    "bilinear": lambda: {"x": real(), "y": ones(2, 4), "weight": ones(5, 3, 4), "bias": ones(5)},
    "bilinear_bwd_in1": lambda: {
        "out_grad": ones(2, 5), "y": ones(2, 4), "weight": ones(5, 3, 4)},
    "bilinear_bwd_in2": lambda: {"out_grad": ones(2, 5), "x": real(), "weight": ones(5, 3, 4)},
    "bilinear_bwd_weight": lambda: {"out_grad": ones(2, 5), "x": real(), "y": ones(2, 4)},
    "interpolate": lambda: {"input": ones(1, 1, 4), "size": (8,)},
}  # fmt: skip

CHANGES: dict[tuple[str, Status], Callable[[], Arguments]] = {
    **{(op, status): change
       for op in interfaces() for status in interfaces()[op].statuses
       if (change := _usual_change(op, status)) is not None},
    ("create_tensor", _TM): lambda: {"values": tensor("int32", [1, 2])},
    ("create_tensor", _DM): lambda: {"values": [1.0, 2.0, 3.0]},
    **dict.fromkeys(
        [(name, _IA) for name in
         "create_tensor wrap_tensor zeros full empty rand_uniform rand_normal".split()],
        lambda: {"shape": (-1,)},
    ),
    ("split", _IA): lambda: {"input": "no tensor"},
    ("rand_bernoulli", _IA): lambda: {"input": floats(2.0)},
    ("multinomial", _IA): lambda: {"num_samples": 0},
    ("randperm", _IA): lambda: {"len": 0},
    ("range", _IA): lambda: {"step": 0},
    ("linspace", _IA): lambda: {"num": 0},
    ("create_sparse_tensor", _IA): lambda: {"indices": [[0, 7]]},
    ("create_quant_tensor", _DM): lambda: {"values": [1, 2, 3]},
    ("create_quant_tensor", _IA): lambda: {"scale": -1},
    ("diag", _IA): lambda: {"input": real()},
    ("cast", _IA): lambda: {"type": "no dtype"},
    ("reshape", _DM): lambda: {"dims": (4, 2)},
    ("reshape", _IA): lambda: {"dims": (-3, -2)},
    ("transpose", _TM): lambda: {"input": "no tensor"},
    ("transpose", _IA): lambda: {"perm": (0, 0)},
    ("expand_dims", _OR): lambda: {"axis": 9},
    ("squeeze", _OR): lambda: {"axis": (9,)},
    ("split", _OR): lambda: {"axis": 9},
    ("concat", _IA): lambda: {"input_lists": [real(), ones(3, 7)]},
    ("concat", _OR): lambda: {"axis": 9},
    ("stack", _IA): lambda: {"input_lists": [real(), ones(3, 7)]},
    ("stack", _OR): lambda: {"axis": 9},
    ("unstack", _OR): lambda: {"axis": 9},
    ("slice", _IA): lambda: {"step": (0, 1)},
    ("slice", _OR): lambda: {"begin": (9, 0)},
    ("slice_backward", _IA): lambda: {"step": (0, 1)},
    ("slice_backward", _OR): lambda: {"begin": (9, 0)},
    ("tile", _IA): lambda: {"repeats": (-1, 1)},
    ("pad", _IA): lambda: {"pad_mode": "no mode"},
    ("reverse", _IA): lambda: {"axis": (0, 0)},
    ("reverse", _OR): lambda: {"axis": (9,)},
    ("roll", _IA): lambda: {"axis": (9,)},
    ("crop", _IA): lambda: {"shape": (9, 2)},
    ("clip", _IA): lambda: {"low": ones(7)},
    ("clip_backward", _IA): lambda: {"grad_out": ones(7)},
    ("gather", _IA): lambda: {"index": places(9)},
    ("scatter", _IA): lambda: {"index": places(9)},
    ("expand", _IA): lambda: {"shape": (7,)},
    ("flatten", _IA): lambda: {"start_axis": "no axis"},
    ("flatten", _AX): lambda: {"stop_axis": 9},
    ("flip", _IA): lambda: {"axis": "no axis"},
    ("flip", _AX): lambda: {"axis": (9,)},
    ("where", _IA): lambda: {"x": ones(7)},
    ("meshgrid", _IA): lambda: {"input": [real()]},
    ("masked_select", _IA): lambda: {"mask": tensor("bool", [1] * 7)},
    ("trace", _IA): lambda: {"dim0": 1},
    ("trace_backward", _IA): lambda: {"input_shape": (3,)},
    ("reduce", _TM): lambda: {"mode": "BAND"},
    ("reduce", _IA): lambda: {"axis": (9,)},
    ("reduce_bwd", _TM): lambda: {"out_grad": tensor("int32", [1, 1, 1])},
    ("reduce_bwd", _IA): lambda: {"mode": "LAND"},
    ("cumsum", _TM): lambda: {"input": truth()},
    ("cumsum", _IA): lambda: {"axis": "no axis"},
    ("cumsum", _OR): lambda: {"axis": 9},
    ("cumsum_bwd", _TM): lambda: {"out_grad": truth()},
    ("cumsum_bwd", _IA): lambda: {"axis": 9},
    **dict.fromkeys(
        [(name, _OR) for name in "argmax argmin argsort argsort_bwd".split()], lambda: {"axis": 9}
    ),
    ("topk", _IA): lambda: {"k": 9},
    ("nonzero", _IA): lambda: {"input": ones()},
    ("nonzero", _OR): lambda: {"input": floats(0.0, 0.0, 0.0)},
    ("complex", _TM): lambda: {"real": whole()},
    ("fft_c2c", _TM): lambda: {"input": real()},
    ("fft_c2c_backward", _TM): lambda: {"grad_out": real()},
    ("fft_r2c", _TM): lambda: {"input": signal()},
    ("fft_r2c_backward", _TM): lambda: {"grad_out": ones(2, 2)},
    ("fft_c2r", _TM): lambda: {"input": real()},
    ("fft_c2r_backward", _TM): lambda: {"grad_out": signal()},
    **dict.fromkeys(
        [(f"fft_{kind}{side}", _IA)
         for kind in ("c2c", "r2c", "c2r") for side in ("", "_backward")],
        lambda: {"axes": (9,)},
    ),
    ("matmul", _DM): lambda: {"mat2": ones(7)},
    ("matmul", _IA): lambda: {"mat2": "no tensor"},
    ("dot", _IA): lambda: {"vec2": ones(7)},
    ("dot_bwd1", _IA): lambda: {"out_grad": ones(7)},
    ("dot_bwd2", _IA): lambda: {"out_grad": ones(7)},
    ("inverse", _IA): lambda: {"mat": ones(2, 2)},
    ("cholesky", _IA): lambda: {"upper": "X"},
    ("solve", _IA): lambda: {"mat": ones(2, 2)},
    ("lstsq", _IA): lambda: {"rhs": ones(7)},
    ("norm", _IA): lambda: {"normtype": "no norm"},
    **dict.fromkeys([("linear", _TM), ("linear_bwd_in", _TM)], lambda: {"weight": _whole(4, 3)}),
    **dict.fromkeys(
        [(name, _TM) for name in ("bilinear", "bilinear_bwd_in1", "bilinear_bwd_in2")],
        lambda: {"weight": _whole(5, 3, 4)},
    ),
    ("linear_bwd_weight", _TM): lambda: {"out_grad": _whole(2, 4)},
    ("bilinear_bwd_weight", _TM): lambda: {"out_grad": _whole(2, 5)},
    ("inverse", _TM): lambda: {"mat": tensor("int32", [4, 1, 1, 3], (2, 2))},
    ("norm", _TM): lambda: {"input": whole()},
    **dict.fromkeys(
        [(name, _DM) for name in
         "linear linear_bwd_in bilinear bilinear_bwd_in1 bilinear_bwd_in2".split()],
        lambda: {"weight": ones(7)},
    ),
    ("linear_bwd_weight", _DM): lambda: {"out_grad": ones(7)},
    ("bilinear_bwd_weight", _DM): lambda: {"out_grad": ones(7)},
    ("interpolate", _DM): lambda: {"mode": "bilinear"},
}  # fmt: skip

NEVER = {
    (op, _IA): "it takes one tensor, and every number is valid"
    for op in interfaces()
    if _IA in interfaces()[op].statuses and (op, _IA) not in CHANGES and _required(op) == ["x"]
}
"""Statuses that a clause lists and nothing here can produce, and why."""

_OF_ARGUMENTS = (_TM, _DM, _IA, _OR)
"""The statuses of Table 1 that say something of arguments."""
_TIED = frozenset(
    "true_divide/INVALID_ARGUMENT, allclose/INVALID_ARGUMENT, roll/INVALID_ARGUMENT, "
    "trace/INVALID_ARGUMENT one axis, trace/INVALID_ARGUMENT one axis too far, "
    "cumsum_bwd/INVALID_ARGUMENT, linspace/INVALID_ARGUMENT, "
    "linspace/INVALID_ARGUMENT a negative number".split(", ")
)
"""The calls for which a clause names INVALID_ARGUMENT; elsewhere it is for all other arguments."""
_UNTIED = frozenset({"transpose/TYPE_MISMATCH", "cumsum/OUT_OF_RANGE an axis from the end"})
"""Calls with another status that the clause does not tie to them."""
_TABLES_ONLY = frozenset({"reduce", "cumsum", "cumsum_bwd"}) | {
    op for op, facts in interfaces().items()
    if facts.form == "elementwise" and op not in ("cast", "complex", "conj", "imag", "real")
}  # fmt: skip
"""Interfaces whose dtypes are those that a table says an input *may* have: E146. The clauses of the
others, 7.2.3.1 and 7.2.15, name TYPE_MISMATCH for a dtype that cannot be converted."""


def refused(op: str, title: str, status: Status, instead: Outputs | None = None) -> Expected:
    """Return a refusal: by the status that the clause ties to the call, or else by any fitting one.

    A more specific status than a listed one is right as well, as 5.5 prefers it.
    """
    name = f"{op}/{title}"
    if status is _AX:
        return either("E07", Refused(status), Refused(_OR, others=(_IA, _DM)))
    if status is _TM and op in _TABLES_ONLY:
        taken = Check("succeeds" if op == "reduce" else "taken", {})
        return either("E146", Refused(status, instead), taken)
    tied = name in _TIED if status is _IA else name not in _UNTIED and "from the end" not in title
    if tied or status not in _OF_ARGUMENTS:
        return Refused(status, instead)
    others = [s for s in (*_OF_ARGUMENTS, _AX) if s in interfaces()[op].statuses or s is not _AX]
    return Refused(status, instead, tuple(s for s in others if s is not status))


_HUGE = 1 << 50
"""More elements than any machine has memory for."""

TOO_LARGE: dict[str, Callable[[], Arguments]] = {
    **dict.fromkeys(
        "zeros full empty rand_uniform rand_normal".split(), lambda: {"shape": (_HUGE,)}
    ),
    "create_quant_tensor": lambda: {"shape": (_HUGE,), "values": None},
    "multinomial": lambda: {"num_samples": _HUGE},
    "randperm": lambda: {"dtype": "int64", "len": _HUGE},
    "range": lambda: {"dtype": "int64", "start": 0, "limit": _HUGE, "step": 1},
    "linspace": lambda: {"num": _HUGE},
    "tile": lambda: {"repeats": (_HUGE, 1)},
    "pad": lambda: {"pad_width": (_HUGE, 0, 0, 0)},
    "interpolate": lambda: {"size": (_HUGE,)},
}
"""Arguments that need more memory than any machine has."""

_UNTRIED = {
    Status.ALLOC_FAILED: "its output is as large as its input: only a memory limit provokes it",
    Status.INTERNAL_ERROR: "only an internal failure of the backend provokes it, no argument does",
}


@cases_of(*interfaces())
def statuses(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give a call for each status of the clause; one that cannot be provoked is skipped."""
    if not wanted.wants("status", "any"):
        return
    for status in interfaces()[op].statuses:
        if status is Status.UNINITIALIZED_OBJECT:
            continue  # below: every clause, whether it lists it or not
        yield _case(op, status)
    for name, value in VALID[op]().items():
        if isinstance(value, Data):
            given = {**VALID[op](), name: replace(value, layout="destroyed")}
            yield Case(
                op, "status", "any", f"UNINITIALIZED_OBJECT {name}", given,
                lambda: Refused(Status.UNINITIALIZED_OBJECT),
            )  # fmt: skip


def _case(op: str, status: Status) -> Case:
    changed = CHANGES.get((op, status))
    if status is Status.ALLOC_FAILED:
        changed = TOO_LARGE.get(op)
    given = {**VALID[op](), **(changed() if changed else {})}
    if status is Status.SUCCESS:
        return Case(op, "status", "any", status.name, given, lambda: Check("succeeds", {}))
    skip = None if changed else NEVER.get((op, status)) or _UNTRIED[status]
    instead: Outputs | None = None
    more = given.get("x") in (signal(), real()) or truth() in given.values()
    if status is _TM and more:
        # A backend without status codes may take more dtypes than the clause.
        instead = tuple(Check("succeeds", {}) for _ in interfaces()[op].outputs)
    if status is Status.INVALID_ARGUMENT and REGISTRY[op].domain is not None:
        instead = (Output("float32", (1,), (NAN,)),)
    expected = refused(op, status.name, status, instead)
    if status is _TM and op in DISPUTED:
        taken = Check("succeeds", {})
        expected = either("E10" if op in _MIXED else "E87", Refused(status), taken)
    return Case(op, "status", "any", status.name, given, lambda: expected, skip=skip)
