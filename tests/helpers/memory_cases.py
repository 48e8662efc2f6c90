"""A call of each operator with tensors of n x n elements, whose results take as much memory."""

from __future__ import annotations

import inspect
from typing import Any

import suanzi as sz
from helpers.standard_operators import REGISTRY

NOTHING_ALLOCATED = set(
    """wrap_tensor expand_dims squeeze transpose split unstack slice expand flip meshgrid real imag
    norm""".split()
)
"""Whose results are views, or a few numbers: no memory that could be missing."""


def places(n: int) -> sz.Tensor:
    """Return the indices of all elements of n x n."""
    axis = sz.range(0, n - 1, 1, sz.int64)
    return sz.stack([sz.reshape(grid, (n * n,)) for grid in sz.meshgrid([axis, axis])], 1)


def calls(n: int) -> dict[str, dict[str, Any]]:
    """Return the arguments by the name of the operator."""
    x = sz.full("float32", "cpu", (n, n), 0.5)
    i = sz.full("int32", "cpu", (n, n), 3)
    mask, row, order = x > 0.25, x[0], sz.randperm(n, sz.int64)
    z = sz.full("complex64", "cpu", (n, n), 1)
    found = {
        "create_tensor": {"shape": (n, n), "values": x},
        "zeros": {"shape": (n, n)},
        "full": {"shape": (n, n)},
        "empty": {"shape": (n, n)},
        "contiguous": {"input": x.T},
        "rand_uniform": {"shape": (n, n), "min": 0, "max": 1},
        "rand_normal": {"shape": (n, n)},
        "rand_bernoulli": {"input": x},
        "randperm": {"len": n * n},
        "multinomial": {"input": x, "num_samples": 2 * n},
        "range": {"start": 0, "limit": n * n, "step": 1},
        "linspace": {"start": 0, "stop": 1, "num": n * n},
        "duplicate": {"input": x},
        "diag": {"input": row},
        "cast": {"input": x, "type": "float64"},
        "reshape": {"input": x.T, "dims": (n * n,)},
        "concat": {"input_lists": [x, x], "axis": 0},
        "stack": {"input_lists": [x, x], "axis": 0},
        "slice_backward": {
            "grad_out": x,
            "input": x,
            "begin": (0, 0),
            "size": (n, n),
            "step": (1, 1),
        },
        "tile": {"input": x, "repeats": (1, 2)},
        "pad": {"input": x, "pad_width": (1, 1, 1, 1)},
        "roll": {"input": x, "shifts": (1,), "axis": (0,)},
        "clip": {"input": x, "low": 0, "high": 1},
        "clip_backward": {"grad_out": x, "low": 0, "high": 1, "input": x},
        "gather": {"input": x, "index": order},
        "scatter": {"input": x, "index": order, "updates": x},
        "flatten": {"input": x.T, "start_axis": 0, "stop_axis": 1},
        "sign": {"input": x},
        "where": {"condition": mask, "x": x, "y": x},
        "masked_select": {"input": x, "mask": mask},
        "muladd": {"x": x, "y": x, "a": x},
        "trace_backward": {"grad_y": row, "input_shape": (n, n, n)},
        "acosh": {"x": sz.full("float32", "cpu", (n, n), 2.0)},
        "rint": {"x": x, "mode": "TONEAREST"},
        "create_sparse_tensor": {
            "shape": (n, n),
            "indices": places(n),
            "values": sz.zeros((n * n,)),
        },
        "create_quant_tensor": {"shape": (n, n), "scale": 1.0},
        "reduce": {"input": sz.expand(x, (2, n, n)), "axis": (0,)},
        "reduce_bwd": {"out_grad": row, "input": x, "axis": (0,)},
        "cumsum": {"input": x, "axis": 0},
        "cumsum_bwd": {"out_grad": x, "axis": 0},
        "argmax": {"input": sz.expand(x, (2, n, n)), "axis": 0},
        "argmin": {"input": sz.expand(x, (2, n, n)), "axis": 0},
        "argsort": {"input": x},
        "topk": {"input": x, "k": n},
        "nonzero": {"input": x},
        "argsort_bwd": {"out_grad": x, "indices": sz.expand(order, (n, n))},
        "complex": {"real": x, "imag": x},
        "conj": {"input": z},
        "fft_c2c": {"input": z},
        "fft_c2c_backward": {"grad_out": z},
        "fft_r2c": {"input": x},
        "fft_r2c_backward": {"grad_out": z, "input": x},
        "fft_c2r": {"input": z, "last_dim_size": 2 * n - 2},
        "fft_c2r_backward": {"grad_out": x},
        "matmul": {"mat1": x[:, :2], "mat2": x[:2]},
        "dot": {"vec1": x[:, :2], "vec2": x[:2]},
        "linear": {"x": x[:, :2], "weight": x[:, :2]},
        "linear_bwd_in": {"out_grad": x[:, :2], "weight": x[:2]},
        "linear_bwd_weight": {"out_grad": x[:2], "input": x[:2]},
        "interpolate": {"input": sz.reshape(x, (1, 1, n, n)), "size": (n, n)},
        "lu": {"mat": x},
        "qr": {"mat": x},
        "svd": {"mat": x},
        "eig": {"mat": x},
        "inverse": {"mat": x},
        "cholesky": {"upper": "L", "mat": x},
        "solve": {"mat": x, "rhs": row, "adjoint": False},
        "lstsq": {"mat": x, "rhs": row},
    }
    for op in REGISTRY.values():
        if op.kernel and op.name not in found:
            parameters = inspect.signature(op.function).parameters.values()
            operand = i if all(d.kind != "float" for d in op.dtypes) else x
            found[op.name] = {p.name: operand for p in parameters if p.default is p.empty}
    return found


def regular(n: int) -> dict[str, dict[str, Any]]:
    """Return the same with matrices that have an inverse and a Cholesky factor."""
    found = calls(n)
    x = sz.full("float32", "cpu", (n, n), 0.5)
    one = sz.expand(sz.diag(sz.full("float32", "cpu", (n,), float(n))), (n, n)) + x
    for arguments in found.values():
        if "mat" in arguments:
            arguments["mat"] = one
    return found
