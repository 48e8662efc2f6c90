"""Asks NumPy."""

from common import fail_if_missing, run

fail_if_missing("numpy")

import numpy as np  # noqa: E402

DTYPES = (
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 "
    "complex64 complex128"
).split()

run(
    "numpy",
    np.__version__,
    DTYPES,
    lambda name, ndim: np.ones((2,) * ndim, name),
    {
        None: lambda x, y: np.asarray(x + y),
        "true_divide": np.true_divide,
        "equal": np.equal,
        "bitwise_and": np.bitwise_and,
        "logical_and": np.logical_and,
        "max": np.maximum,
        "floordiv": np.floor_divide,
        "concat": lambda x, y: np.concatenate([x, y]),
        "sqrt": np.sqrt,
        "matmul": lambda x, y: np.matmul(x[None], y[:, None]),
        "dot": np.dot,
        "stack": lambda x, y: np.stack([x, y]),
        "where": lambda x, y: np.where([True, False], x, y),
        "three": lambda *operands: np.empty(0, np.result_type(*operands)),
    },
    lambda result: result.dtype.name,
)
