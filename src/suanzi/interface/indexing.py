"""7.2.14, indexing, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_argmax(
    input: Any = REQUIRED,
    axis: Any = -1,
    keepdim: Any = False,
    dtype: Any = "int64",
) -> Answer:
    """Return where the largest element along an axis is; of several, the first.

    Clause 7.2.14.1, Table 117; returns (Status, indices).
    """
    return call("argmax", input=input, axis=axis, keepdim=keepdim, dtype=dtype)


def op_argmin(
    input: Any = REQUIRED,
    axis: Any = -1,
    keepdim: Any = False,
    dtype: Any = "int64",
) -> Answer:
    """Return where the least element along an axis is; of several, the first.

    Clause 7.2.14.2, Table 118; returns (Status, indices).
    """
    return call("argmin", input=input, axis=axis, keepdim=keepdim, dtype=dtype)


def op_argsort(input: Any = REQUIRED, axis: Any = -1, descending: Any = True) -> Answer:
    """Return the elements in order along an axis, and where each was, as int64.

    Clause 7.2.14.3, Table 119; returns (Status, output, indices).
    """
    return call("argsort", input=input, axis=axis, descending=descending)


def op_argsort_bwd(out_grad: Any = REQUIRED, indices: Any = REQUIRED, axis: Any = -1) -> Answer:
    """Return the gradient of what `argsort` was given, of that of its first result.

    Clause 7.2.14.3.4, Table 120; returns (Status, in_grad).
    """
    return call("argsort_bwd", out_grad=out_grad, indices=indices, axis=axis)


def op_topk(
    input: Any = REQUIRED,
    k: Any = REQUIRED,
    axis: Any = -1,
    largest: Any = True,
    sorted: Any = True,
) -> Answer:
    """Return the k largest elements along an axis, and where each was, as int64.

    Clause 7.2.14.4, Table 121; returns (Status, output, indices).
    """
    return call("topk", input=input, k=k, axis=axis, largest=largest, sorted=sorted)


def op_nonzero(input: Any = REQUIRED, as_tuple: Any = True) -> Answer:
    """Return where elements are not zero, in row-major order whatever the layout.

    Clause 7.2.14.5, Table 122; returns (Status, indices).
    """
    return call("nonzero", input=input, as_tuple=as_tuple)
