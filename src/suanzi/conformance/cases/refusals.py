"""Further invalid calls: the conditions of each status, one by one.

The table has the name, what is wrong, the status, and what to change in the valid call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases.statuses import (
    VALID,
    Arguments,
    floats,
    ones,
    places,
    real,
    refused,
    signal,
    truth,
    whole,
)
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import NAN
from suanzi.conformance.model.operators import BINARY
from suanzi.standard import interfaces

_TM, _DM, _IA = Status.TYPE_MISMATCH, Status.DIMENSIONS_MISMATCH, Status.INVALID_ARGUMENT
_OR, _AX = Status.OUT_OF_RANGE, Status.AXIS_ARGUMENT
Row = tuple[str, str, Status, Callable[[], Arguments]]


def _seven(op: str) -> Arguments:
    return {"y": ones(7) if "float32" in dtypes_of(op) else tensor("int32", [1] * 7)}


_STRETCHED = [op for op in BINARY if _IA not in interfaces()[op].statuses]
"""Whose clause has no status of its own for shapes that do not go together."""
_ORDERED = [op for op in BINARY if "float32" in dtypes_of(op) and "complex64" not in dtypes_of(op)]

ROWS: list[Row] = [
    *((op, "shapes that do not go together", _DM, partial(_seven, op)) for op in _STRETCHED),
    ("muladd", "shapes that do not go together", _DM, lambda: {"a": ones(7)}),
    ("pow", "shapes that do not go together", _DM, lambda: {"e": ones(7)}),
    *((op, "complex numbers have no order", _TM, lambda: {"x": signal(), "y": signal()})
      for op in _ORDERED),
    ("abs", "bool", _TM, lambda: {"x": truth()}),
    ("sign", "bool", _IA, lambda: {"input": truth()}),
    ("sign", "complex numbers", _IA, lambda: {"input": signal()}),
    # ---- creation
    ("wrap_tensor", "fewer elements than the shape has", _IA, lambda: {"shape": (4, 4)}),
    ("rand_uniform", "more than the maximum at least", _IA, lambda: {"min": 2, "max": 1}),
    ("rand_normal", "a negative deviation", _IA, lambda: {"std": -1}),
    ("rand_normal", "integers", _IA, lambda: {"dtype": "int32"}),
    ("rand_bernoulli", "a negative probability", _IA, lambda: {"input": floats(0.5, -0.5)}),
    ("rand_bernoulli", "a probability that is none", _IA,
     lambda: {"input": tensor("float32", [NAN])}),
    ("multinomial", "a negative weight", _IA, lambda: {"input": floats(0.5, -0.5, 1.0)}),
    ("multinomial", "a weight that is none", _IA, lambda: {"input": tensor("float32", [NAN])}),
    ("multinomial", "weights that are all zero", _IA, lambda: {"input": floats(0.0, 0.0)}),
    ("multinomial", "more than there are without replacement", _IA,
     lambda: {"input": floats(0.5, 0.0, 1.0), "num_samples": 3, "replacement": False}),
    ("multinomial", "three axes", _IA, lambda: {"input": ones(2, 2, 2)}),
    ("randperm", "more than the dtype holds", _IA, lambda: {"dtype": "int8", "len": 200}),
    ("randperm", "a negative length", _IA, lambda: {"len": -1}),
    ("range", "a step away from the limit", _IA, lambda: {"step": -1}),
    ("linspace", "a negative number", _IA, lambda: {"num": -1}),
    ("create_sparse_tensor", "a negative index", _IA, lambda: {"indices": [[0, -1]]}),
    ("create_sparse_tensor", "a row that is not there", _IA, lambda: {"indices": [[2, 0]]}),
    ("create_quant_tensor", "a scale of zero", _IA, lambda: {"scale": 0}),
    ("diag", "no axis", _IA, lambda: {"input": ones()}),
    # ---- transformation
    ("reshape", "a length to be found out", _IA, lambda: {"dims": (-1, 2)}),
    ("reshape", "fewer elements", _DM, lambda: {"dims": (5,)}),
    ("expand_dims", "one axis too far", _OR, lambda: {"axis": 3}),
    ("expand_dims", "one axis too far from the end", _OR, lambda: {"axis": -4}),
    ("squeeze", "one axis too far", _OR, lambda: {"axis": (2,)}),
    ("squeeze", "one axis too far from the end", _OR, lambda: {"axis": (-3,)}),
    ("transpose", "too few axes", _IA, lambda: {"perm": (0,)}),
    ("transpose", "one axis too far", _IA, lambda: {"perm": (0, 2)}),
    ("split", "sizes that are too small", _IA, lambda: {"split_sizes": (1, 1)}),
    ("split", "sizes that are too large", _IA, lambda: {"split_sizes": (2, 2)}),
    ("split", "a size of zero", _IA, lambda: {"split_sizes": (0, 3)}),
    ("split", "parts that cannot be equal", _IA, lambda: {"split_sizes": (), "nsplit": 2}),
    ("split", "one axis too far from the end", _OR, lambda: {"axis": -3}),
    ("concat", "other ranks", _IA, lambda: {"input_lists": [real(), ones(3)]}),
    ("concat", "one axis too far", _OR, lambda: {"axis": 2}),
    ("concat", "nothing", _IA, lambda: {"input_lists": []}),
    ("stack", "shapes that go together", _IA, lambda: {"input_lists": [real(), ones(1, 3)]}),
    ("stack", "one axis too far", _OR, lambda: {"axis": 3}),
    ("unstack", "another number", _IA, lambda: {"num": 3}),
    ("slice", "a negative begin", _OR, lambda: {"begin": (-1, 0)}),
    ("slice", "past the end", _OR, lambda: {"begin": (0, 2)}),
    ("slice", "a step beyond the axis", _OR, lambda: {"step": (3, 1)}),
    ("slice_backward", "a gradient of another shape", _IA, lambda: {"grad_out": ones(2, 2)}),
    ("tile", "too few repeats", _IA, lambda: {"repeats": (2,)}),
    ("tile", "too many repeats", _IA, lambda: {"repeats": (2, 1, 1)}),
    ("pad", "a negative width", _IA, lambda: {"pad_width": (-1, 0, 0, 0)}),
    ("pad", "too few widths", _IA, lambda: {"pad_width": (1, 1)}),
    *(("pad", f"{words} of nothing", _IA, lambda mode=mode: {
        "input": ones(2, 0), "pad_width": (0, 0, 1, 0), "pad_mode": mode})
      for words, mode in (("periods", "PAD_PERIOD"), ("mirrors", "PAD_MIRROR"))),
    ("reverse", "one axis too far from the end", _OR, lambda: {"axis": (-3,)}),
    ("reverse", "an axis under two names", _IA, lambda: {"axis": (1, -1)}),
    ("flip", "an axis twice", _IA, lambda: {"axis": (0, 0)}),
    ("flip", "one axis too far from the end", _AX, lambda: {"axis": (-3,)}),
    ("roll", "fewer axes than shifts", _IA, lambda: {"shifts": (1, 1)}),
    ("roll", "two shifts without axes", _IA, lambda: {"shifts": (1, 1), "axis": ()}),
    ("crop", "a negative offset", _IA, lambda: {"offsets": (-1, 0)}),
    ("crop", "past the end", _IA, lambda: {"offsets": (1, 2)}),
    ("crop", "a negative length", _IA, lambda: {"shape": (-1, 2)}),
    ("gather", "a negative index", _IA, lambda: {"index": places(-1)}),
    ("gather", "more coordinates than axes", _IA,
     lambda: {"index": tensor("int64", [0, 0, 0], (1, 3))}),
    ("gather", "a coordinate too large", _IA,
     lambda: {"index": tensor("int64", [0, 3], (1, 2))}),
    ("gather", "indices that are no integers", _IA, lambda: {"index": floats(0.0)}),
    ("scatter", "a negative index", _IA, lambda: {"index": places(-1)}),
    ("scatter", "updates of another shape", _IA, lambda: {"updates": ones(1, 2)}),
    ("scatter", "one update for two rows", _IA, lambda: {"index": places(0, 1)}),
    ("expand", "an axis that has become shorter", _IA, lambda: {"shape": (2, 1)}),
    ("expand", "fewer axes", _IA, lambda: {"shape": (3,)}),
    ("expand", "a length to be found out", _IA, lambda: {"shape": (2, -1)}),
    ("flatten", "axes in the other order", _AX, lambda: {"start_axis": 1, "stop_axis": 0}),
    ("flatten", "one axis too far from the end", _AX, lambda: {"start_axis": -3}),
    ("where", "a condition of integers", _IA, lambda: {"condition": whole()}),
    ("masked_select", "a mask of integers", _IA, lambda: {"mask": whole()}),
    ("masked_select", "a mask of more axes", _IA,
     lambda: {"mask": tensor("bool", [1] * 12, (2, 2, 3))}),
    # ---- sums and indices
    ("trace", "one axis", _IA, lambda: {"x": ones(3)}),
    ("trace", "one axis too far", _IA, lambda: {"dim1": 2}),
    ("trace_backward", "a gradient of another shape", _IA, lambda: {"grad_y": ones(2)}),
    ("reduce", "an axis twice", _IA, lambda: {"axis": (0, 0)}),
    ("reduce", "one axis too far", _IA, lambda: {"axis": (2,)}),
    ("reduce", "one axis too far from the end", _IA, lambda: {"axis": (-3,)}),
    ("reduce", "no mode", _IA, lambda: {"mode": "MEDIAN"}),
    *(("reduce", f"{mode} of complex numbers", _TM, lambda mode=mode: {
        "input": signal(), "mode": mode}) for mode in ("MAX", "MIN")),
    *(("reduce", f"{mode} of nothing", _IA, lambda mode=mode: {
        "input": ones(0, 3), "mode": mode}) for mode in ("MAX", "MIN")),
    ("reduce_bwd", "a gradient of another shape", _IA, lambda: {"out_grad": ones(2)}),
    ("reduce_bwd", "truth has no gradient", _IA, lambda: {"mode": "LXOR"}),
    ("cumsum", "an axis from the end", _OR, lambda: {"axis": -2}),
    ("cumsum", "one axis too far", _OR, lambda: {"axis": 2}),
    ("cumsum_bwd", "an axis from the end", _IA, lambda: {"axis": -2}),
    *((op, f"one axis too far{words}", _OR, lambda axis=axis: {"axis": axis})
      for op in ("argmax", "argmin", "argsort")
      for words, axis in (("", 2), (" from the end", -3))),
    ("topk", "none", _IA, lambda: {"k": 0}),
    ("topk", "a negative number", _IA, lambda: {"k": -1}),
    ("topk", "one more than there are", _IA, lambda: {"k": 4}),
    ("topk", "one axis too far", _IA, lambda: {"axis": 2}),
    # ---- Fourier transforms
    *((f"fft_{kind}", "an axis twice", _IA, lambda: {"axes": (1, 1)})
      for kind in ("c2c", "r2c", "c2r")),
    *(("fft_c2r", f"{size} of 3", _IA, lambda size=size: {"last_dim_size": size})
      for size in (0, 3, 6)),
    ("fft_r2c_backward", "neither half nor all", _IA,
     lambda: {"grad_out": signal(2), "input": ones(2, 4)}),
    # ---- linear algebra
    ("matmul", "no axes", _DM, lambda: {"mat2": ones()}),
    ("matmul", "batches that do not go together", _DM,
     lambda: {"mat1": ones(2, 2, 3), "mat2": ones(4, 3, 2)}),
    ("dot", "the last axis of both", _IA, lambda: {"vec1": ones(2, 3), "vec2": ones(2, 3)}),
    *((op, "not square", _IA, lambda: {"mat": real()})
      for op in ("inverse", "eig", "cholesky", "solve")),
    ("cholesky", "not positive definite", _IA,
     lambda: {"mat": tensor("float32", [1.0, 2.0, 2.0, 1.0], (2, 2))}),
    ("qr", "no mode", _IA, lambda: {"mode": "full"}),
    ("solve", "a right side of another length", _IA, lambda: {"rhs": ones(3)}),
    ("norm", "fro of one axis", _IA, lambda: {"normtype": "fro", "axis": (0,)}),
    ("norm", "2 of a matrix", _IA, lambda: {"normtype": "2", "axis": (0, 1)}),
    ("norm", "three axes", _IA,
     lambda: {"input": ones(2, 2, 2), "normtype": "1", "axis": (0, 1, 2)}),
    ("norm", "a negative power", _IA, lambda: {"normtype": "-1"}),
    ("norm", "an axis twice", _IA, lambda: {"normtype": "1", "axis": (1, 1)}),
    ("norm", "one axis too far", _IA, lambda: {"axis": (2,)}),
    ("linear", "a weight of one axis", _DM, lambda: {"weight": ones(3), "bias": ones(1)}),
    ("linear", "a weight turned round", _DM, lambda: {"weight": ones(3, 4)}),
    ("linear", "a bias of another length", _DM, lambda: {"bias": ones(3)}),
    ("linear_bwd_in", "a weight turned round", _DM, lambda: {"weight": ones(3, 4)}),
    ("linear_bwd_weight", "another number of rows", _DM, lambda: {"out_grad": ones(3, 4)}),
    ("bilinear", "operands turned round", _DM, lambda: {"x": ones(2, 4), "y": ones(2, 3)}),
    ("bilinear", "another number of rows", _DM, lambda: {"y": ones(3, 4)}),
    ("bilinear", "a bias of another length", _DM, lambda: {"bias": ones(3)}),
    ("interpolate", "no size", _IA, lambda: {"size": None}),
    ("interpolate", "a size of zero", _IA, lambda: {"size": (0,)}),
    ("interpolate", "no mode", _IA, lambda: {"mode": "cubic"}),
    ("interpolate", "linear of two axes", _DM,
     lambda: {"input": ones(1, 1, 4, 4), "size": (8, 8), "mode": "linear"}),
]  # fmt: skip


@cases_of(*interfaces())
def refusals(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give the conditions under which a call must be refused, each with its status."""
    if not wanted.wants("status", "any"):
        return
    for name, title, status, changes in ROWS:
        if name == op:
            given = {k: v for k, v in {**VALID[op](), **changes()}.items() if v is not None}
            yield _refused(op, f"{status.name} {title}", given, status)


def _refused(op: str, title: str, given: Arguments, status: Status) -> Case:
    return Case(op, "status", "any", title, given, lambda: refused(op, title, status))
