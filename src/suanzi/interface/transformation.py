"""7.2.3, transformation, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_cast(input: Any = REQUIRED, type: Any = "float32") -> Answer:
    """Return a copy in another dtype; each element is rounded once.

    Clause 7.2.3.1, Table 28; returns (Status, output).
    """
    return call("cast", input=input, type=type)


def op_reshape(input: Any = REQUIRED, dims: Any = REQUIRED, ndim: Any = None) -> Answer:
    """Return the elements, in row-major order, in another shape.

    Clause 7.2.3.2, Table 29; returns (Status, output).
    """
    return call("reshape", input=input, dims=dims, ndim=ndim)


def op_expand_dims(input: Any = REQUIRED, axis: Any = 0) -> Answer:
    """Return a view with a new axis of size 1 at `axis`.

    Clause 7.2.3.3, Table 30; returns (Status, output).
    """
    return call("expand_dims", input=input, axis=axis)


def op_squeeze(input: Any = REQUIRED, axis: Any = (), num_axis: Any = None) -> Answer:
    """Return a view without the axes of size 1: all such, or those of them in `axis`.

    Clause 7.2.3.4, Table 31; returns (Status, output).
    """
    return call("squeeze", input=input, axis=axis, num_axis=num_axis)


def op_transpose(input: Any = REQUIRED, perm: Any = (), perm_len: Any = None) -> Answer:
    """Return a view with the axes in another order, without `perm` in reverse.

    Clause 7.2.3.5, Table 32; returns (Status, output).
    """
    return call("transpose", input=input, perm=perm, perm_len=perm_len)


def op_split(
    input: Any = REQUIRED,
    split_sizes: Any = REQUIRED,
    nsplit: Any = None,
    axis: Any = 0,
) -> Answer:
    """Return views on parts of an axis, one after the other, of given sizes.

    Clause 7.2.3.6, Table 33; returns (Status, output_lists).
    """
    return call("split", input=input, split_sizes=split_sizes, nsplit=nsplit, axis=axis)


def op_concat(input_lists: Any = REQUIRED, len: Any = None, axis: Any = REQUIRED) -> Answer:
    """Return tensors one behind the other along an axis, in the dtype they are promoted to.

    Clause 7.2.3.7, Table 34; returns (Status, output).
    """
    return call("concat", input_lists=input_lists, len=len, axis=axis)


def op_stack(input_lists: Any = REQUIRED, len: Any = None, axis: Any = REQUIRED) -> Answer:
    """Return tensors of one shape along a new axis, in the dtype they are promoted to.

    Clause 7.2.3.8, Table 35; returns (Status, output).
    """
    return call("stack", input_lists=input_lists, len=len, axis=axis)


def op_unstack(input: Any = REQUIRED, axis: Any = 0, num: Any = None) -> Answer:
    """Return a view for each index of an axis, without that axis.

    Clause 7.2.3.9, Table 36; returns (Status, output_lists).
    """
    return call("unstack", input=input, axis=axis, num=num)


def op_slice(
    input: Any = REQUIRED,
    begin: Any = REQUIRED,
    size: Any = REQUIRED,
    step: Any = REQUIRED,
) -> Answer:
    """Return a view on part of each axis: every `step`-th of the `size` indices from `begin` on.

    Clause 7.2.3.10, Table 37; returns (Status, output).
    """
    return call("slice", input=input, begin=begin, size=size, step=step)


def op_slice_backward(
    grad_out: Any = REQUIRED,
    input: Any = None,
    begin: Any = None,
    size: Any = None,
    step: Any = None,
) -> Answer:
    """Return the gradient of `slice`: `grad_out` where it took elements from, and 0 elsewhere.

    Clause 7.2.3.10.4, Table 38; returns (Status, grad_in).
    """
    return call("slice_backward", grad_out=grad_out, input=input, begin=begin, size=size, step=step)


def op_tile(input: Any = REQUIRED, repeats: Any = REQUIRED) -> Answer:
    """Return the input repeated along each axis, as often as `repeats` says for it.

    Clause 7.2.3.11, Table 39; returns (Status, output).
    """
    return call("tile", input=input, repeats=repeats)


def op_pad(
    input: Any = REQUIRED,
    pad_width: Any = REQUIRED,
    pad_value: Any = 0,
    pad_mode: Any = "PAD_CONST",
) -> Answer:
    """Return the input with padding before and after it along each axis.

    Clause 7.2.3.12, Table 40; returns (Status, output).
    """
    return call("pad", input=input, pad_width=pad_width, pad_value=pad_value, pad_mode=pad_mode)


def op_reverse(input: Any = REQUIRED, axis: Any = REQUIRED, axis_len: Any = None) -> Answer:
    """Return a view with the order along one or several axes reversed; the same as `flip`.

    Clause 7.2.3.13, Table 41; returns (Status, output).
    """
    return call("reverse", input=input, axis=axis, axis_len=axis_len)


def op_roll(
    input: Any = REQUIRED,
    shifts_len: Any = None,
    shifts: Any = REQUIRED,
    axis: Any = (),
) -> Answer:
    """Return the input shifted along axes; what leaves an axis at its end comes in at its start.

    Clause 7.2.3.14, Table 42; returns (Status, output).
    """
    return call("roll", input=input, shifts_len=shifts_len, shifts=shifts, axis=axis)


def op_crop(input: Any = REQUIRED, shape: Any = REQUIRED, offsets: Any = 0) -> Answer:
    """Return a view on a block of the input of a given shape, which begins at `offsets`.

    Clause 7.2.3.15, Table 43; returns (Status, output).
    """
    return call("crop", input=input, shape=shape, offsets=offsets)


def op_clip(input: Any = REQUIRED, low: Any = None, high: Any = None) -> Answer:
    """Return the input with elements below `low` made `low`, and those above `high` made `high`.

    Clause 7.2.3.16, Table 44; returns (Status, output).
    """
    return call("clip", input=input, low=low, high=high)


def op_clip_backward(
    grad_out: Any = REQUIRED,
    low: Any = REQUIRED,
    high: Any = REQUIRED,
    input: Any = REQUIRED,
) -> Answer:
    """Return the gradient of `clip`: `grad_out` where the input is within the bounds, else 0.

    Clause 7.2.3.16.4, Table 45; returns (Status, grad_in).
    """
    return call("clip_backward", grad_out=grad_out, low=low, high=high, input=input)


def op_gather(input: Any = REQUIRED, index: Any = REQUIRED) -> Answer:
    """Return what indices point to, put together.

    Clause 7.2.3.17, Table 46; returns (Status, output).
    """
    return call("gather", input=input, index=index)


def op_scatter(
    input: Any = REQUIRED,
    index: Any = REQUIRED,
    updates: Any = REQUIRED,
    override: Any = True,
) -> Answer:
    """Return the input with `updates` written to where indices point, as `gather` has them.

    Clause 7.2.3.18, Table 47; returns (Status, output).
    """
    return call("scatter", input=input, index=index, updates=updates, override=override)


def op_expand(input: Any = REQUIRED, shape: Any = REQUIRED) -> Answer:
    """Return a view repeated to a shape: along axes of size 1, and along new ones in front.

    Clause 7.2.3.19, Table 48; returns (Status, output).
    """
    return call("expand", input=input, shape=shape)


def op_flatten(
    input: Any = REQUIRED,
    start_axis: Any = REQUIRED,
    stop_axis: Any = REQUIRED,
) -> Answer:
    """Return the input with the axes from `start_axis` to `stop_axis`, both included, made one.

    Clause 7.2.3.20, Table 49; returns (Status, output).
    """
    return call("flatten", input=input, start_axis=start_axis, stop_axis=stop_axis)


def op_flip(input: Any = REQUIRED, axis: Any = REQUIRED) -> Answer:
    """Return a view with the order along one or several axes reversed.

    Clause 7.2.3.21, Table 50; returns (Status, output).
    """
    return call("flip", input=input, axis=axis)


def op_sign(input: Any = REQUIRED) -> Answer:
    """Return 1, 0 or -1 as each element is above, at or below zero; NaN stays.

    Clause 7.2.3.22, Table 51; returns (Status, output).
    """
    return call("sign", input=input)


def op_where(condition: Any = REQUIRED, x: Any = REQUIRED, y: Any = REQUIRED) -> Answer:
    """Return x where the condition is true, and y elsewhere; all three are broadcast.

    Clause 7.2.3.23, Table 52; returns (Status, output).
    """
    return call("where", condition=condition, x=x, y=y)


def op_meshgrid(input: Any = REQUIRED) -> Answer:
    """Return the coordinates of a grid: k tensors of rank 1 repeated to k tensors of rank k.

    Clause 7.2.3.24, Table 53; returns (Status, output).
    """
    return call("meshgrid", input=input)


def op_masked_select(input: Any = REQUIRED, mask: Any = REQUIRED) -> Answer:
    """Return the elements where a mask is true, in row-major order, as a tensor of rank 1.

    Clause 7.2.3.25, Table 54; returns (Status, output).
    """
    return call("masked_select", input=input, mask=mask)
