"""7.2.1, creation, in the standard's form; written by tools/write_names.py."""

from __future__ import annotations

from typing import Any

from suanzi.interface.calling import REQUIRED, Answer, call


def op_create_tensor(
    dtype: Any = "float32",
    device: Any = "cpu",
    shape: Any = REQUIRED,
    values: Any = REQUIRED,
    n_bytes: Any = None,
) -> Answer:
    """Return a new tensor with a copy of `values`, or not initialised if that is None or ().

    Clause 7.2.1.1, Table 3; returns (Status, output).
    """
    return call(
        "create_tensor", dtype=dtype, device=device, shape=shape, values=values, n_bytes=n_bytes
    )


def op_wrap_tensor(
    dtype: Any = "float32",
    device: Any = "cpu",
    shape: Any = REQUIRED,
    values: Any = (),
) -> Answer:
    """Return a tensor on the memory of `values`, which it keeps alive: writes show both ways.

    Clause 7.2.1.2, Table 4; returns (Status, output).
    """
    return call("wrap_tensor", dtype=dtype, device=device, shape=shape, values=values)


def op_zeros(dtype: Any = "float32", device: Any = "cpu", shape: Any = REQUIRED) -> Answer:
    """Return a new tensor of zeros.

    Clause 7.2.1.3, Table 5; returns (Status, output).
    """
    return call("zeros", dtype=dtype, device=device, shape=shape)


def op_full(dtype: Any = "float32", device: Any = "cpu", shape: Any = (), value: Any = 0) -> Answer:
    """Return a new tensor whose elements are all `value`.

    Clause 7.2.1.4, Table 6; returns (Status, output).
    """
    return call("full", dtype=dtype, device=device, shape=shape, value=value)


def op_empty(dtype: Any = "float32", device: Any = "cpu", shape: Any = REQUIRED) -> Answer:
    """Return a new tensor whose elements are not set.

    Clause 7.2.1.5, Table 7; returns (Status, output).
    """
    return call("empty", dtype=dtype, device=device, shape=shape)


def op_contiguous(input: Any = REQUIRED) -> Answer:
    """Return the input itself if it lies in row-major order without gaps, else a copy that does.

    Clause 7.2.1.6, Table 8; returns (Status, output).
    """
    return call("contiguous", input=input)


def op_rand_uniform(
    dtype: Any = "float32",
    device: Any = "cpu",
    shape: Any = REQUIRED,
    min: Any = None,
    max: Any = None,
    seed: Any = 0,
) -> Answer:
    """Return random numbers that are uniform between `min` and `max`.

    Clause 7.2.1.7, Table 9; returns (Status, output).
    """
    return call(
        "rand_uniform", dtype=dtype, device=device, shape=shape, min=min, max=max, seed=seed
    )


def op_rand_normal(
    dtype: Any = "float32",
    device: Any = "cpu",
    shape: Any = REQUIRED,
    mean: Any = 0,
    std: Any = 1,
    seed: Any = 0,
) -> Answer:
    """Return random numbers of the normal distribution.

    Clause 7.2.1.8, Table 10; returns (Status, output).
    """
    return call(
        "rand_normal", dtype=dtype, device=device, shape=shape, mean=mean, std=std, seed=seed
    )


def op_rand_bernoulli(input: Any = REQUIRED, seed: Any = 0) -> Answer:
    """Return 1 with the probability that each element of the input is, and else 0.

    Clause 7.2.1.9, Table 11; returns (Status, output).
    """
    return call("rand_bernoulli", input=input, seed=seed)


def op_multinomial(
    input: Any = REQUIRED,
    num_samples: Any = 1,
    replacement: Any = True,
    seed: Any = 0,
) -> Answer:
    """Return indices of the input, each drawn with the probability its element stands for.

    Clause 7.2.1.10, Table 12; returns (Status, output).
    """
    return call(
        "multinomial", input=input, num_samples=num_samples, replacement=replacement, seed=seed
    )


def op_randperm(
    dtype: Any = "float32",
    device: Any = "cpu",
    len: Any = REQUIRED,
    seed: Any = 0,
) -> Answer:
    """Return the numbers from 0 to `len` - 1 in random order.

    Clause 7.2.1.11, Table 13; returns (Status, output).
    """
    return call("randperm", dtype=dtype, device=device, len=len, seed=seed)


def op_range(
    dtype: Any = "float32",
    device: Any = "cpu",
    start: Any = REQUIRED,
    limit: Any = REQUIRED,
    step: Any = REQUIRED,
) -> Answer:
    """Return the numbers from `start` to `limit`, which is included, `step` apart.

    Clause 7.2.1.12, Table 14; returns (Status, output).
    """
    return call("range", dtype=dtype, device=device, start=start, limit=limit, step=step)


def op_linspace(
    dtype: Any = "float32",
    device: Any = "cpu",
    start: Any = REQUIRED,
    stop: Any = REQUIRED,
    num: Any = REQUIRED,
) -> Answer:
    """Return `num` numbers at equal distances from `start` to `stop`, both of them exact.

    Clause 7.2.1.13, Table 15; returns (Status, output).
    """
    return call("linspace", dtype=dtype, device=device, start=start, stop=stop, num=num)


def op_create_sparse_tensor(
    dtype: Any = "float32",
    device: Any = "cpu",
    shape: Any = REQUIRED,
    indices: Any = REQUIRED,
    values: Any = REQUIRED,
    nnzs: Any = None,
) -> Answer:
    """Return a sparse tensor of the elements `values`, [nnz], at `indices`, [nnz, ndim].

    Clause 7.2.1.14, Table 16; returns (Status, output).
    """
    return call(
        "create_sparse_tensor",
        dtype=dtype,
        device=device,
        shape=shape,
        indices=indices,
        values=values,
        nnzs=nnzs,
    )


def op_create_quant_tensor(
    dtype: Any = "QT_SYM_INT16",
    device: Any = "cpu",
    shape: Any = REQUIRED,
    values: Any = (),
    n_bytes: Any = None,
    scale: Any = REQUIRED,
    zero_point: Any = 0,
    channel_axis: Any = None,
) -> Answer:
    """Return a quantised tensor: integers that stand for (integer - zero_point) * scale.

    Clause 7.2.1.15, Table 17; returns (Status, output).
    """
    return call(
        "create_quant_tensor",
        dtype=dtype,
        device=device,
        shape=shape,
        values=values,
        n_bytes=n_bytes,
        scale=scale,
        zero_point=zero_point,
        channel_axis=channel_axis,
    )


def op_duplicate(input: Any = REQUIRED) -> Answer:
    """Return a copy with memory of its own that keeps dtype, layout and quantisation.

    Clause 7.2.1.16, Table 18; returns (Status, output).
    """
    return call("duplicate", input=input)


def op_diag(input: Any = REQUIRED) -> Answer:
    """Return the square matrix with the elements of a tensor of one axis on its diagonal.

    Clause 7.2.1.17, Table 19; returns (Status, output).
    """
    return call("diag", input=input)


def op_destroy(input: Any = REQUIRED) -> Answer:
    """Destroy a tensor: it cannot be used any more; memory lives while others share it.

    Clause 7.2.1.18, Table 20; returns (Status,).
    """
    return call("destroy", input=input)
