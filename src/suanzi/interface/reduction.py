"""7.2.13, reduction, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_reduce(
    input: Any = REQUIRED,
    mode: Any = "SUM",
    axis: Any = None,
    axis_len: Any = None,
    keep_dims: Any = False,
) -> Answer:
    """Combine the elements along axes; without `axis`, along all.

    Clause 7.2.13.1, Table 113; returns (Status, output).
    """
    return call("reduce", input=input, mode=mode, axis=axis, axis_len=axis_len, keep_dims=keep_dims)


def op_reduce_bwd(
    out_grad: Any = REQUIRED,
    input: Any = None,
    mode: Any = "SUM",
    axis: Any = None,
    axis_len: Any = None,
    keep_dims: Any = False,
) -> Answer:
    """Return the gradient of the input of `reduce`, in the dtype of `out_grad`.

    Clause 7.2.13.1.4, Table 114; returns (Status, in_grad).
    """
    return call(
        "reduce_bwd",
        out_grad=out_grad,
        input=input,
        mode=mode,
        axis=axis,
        axis_len=axis_len,
        keep_dims=keep_dims,
    )


def op_cumsum(input: Any = REQUIRED, axis: Any = -1, dtype: Any = None) -> Answer:
    """Return the sums of all elements up to each, along an axis.

    Clause 7.2.13.2, Table 115; returns (Status, output).
    """
    return call("cumsum", input=input, axis=axis, dtype=dtype)


def op_cumsum_bwd(out_grad: Any = REQUIRED, axis: Any = -1, input_shape: Any = None) -> Answer:
    """Return the gradient of the input of `cumsum`: the sums from the last element down to each.

    Clause 7.2.13.2.4, Table 116; returns (Status, in_grad).
    """
    return call("cumsum_bwd", out_grad=out_grad, axis=axis, input_shape=input_shape)
