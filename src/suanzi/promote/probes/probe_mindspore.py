"""Asks MindSpore, on the CPU, one operator at a time so that an error names its own."""

import os

from common import fail_if_missing, raising, run

os.environ.setdefault("GLOG_v", "4")
fail_if_missing("mindspore")

import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402
from mindspore import mint, ops  # noqa: E402

ms.set_context(mode=ms.PYNATIVE_MODE)
if hasattr(ms, "runtime") and hasattr(ms.runtime, "launch_blocking"):
    ms.runtime.launch_blocking()

DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128"
).split()
TYPES = {name: getattr(ms, "bool_" if name == "bool" else name) for name in DTYPES}
NAMES = {value: name for name, value in TYPES.items()}
NO_KERNEL = ("Unsupported data type", "KernelMod Init Failed", "unregistered")


def tensor(name, ndim):
    shape = (2,) * ndim
    if name.startswith("complex"):
        return ms.Tensor(np.ones(shape, name))
    return ms.Tensor(np.ones(shape, np.float32)).astype(TYPES[name])


def finished(function, marks=NO_KERNEL):
    def call(*operands):
        result = function(*operands)
        (result.astype(ms.float32) if result.dtype == ms.bfloat16 else result).asnumpy()
        return result

    return raising(call, *marks)


# Operands are vectors of two ones.
INDEX = ms.Tensor([0, 1], ms.int64)
OF_MODELS = {
    "matmul": lambda x, y: mint.matmul(x.reshape(1, 2), y.reshape(2, 1)),
    "dot": lambda x, y: ops.tensor_dot(x, y, 1),
    "linear": lambda x, y: ops.dense(x.reshape(1, 2), y.reshape(1, 2)),
    "stack": lambda x, y: ops.stack([x, y]),
    "where": lambda x, y: mint.where(ms.Tensor([True, False]), x, y),
    "conv1d": lambda x, y: ops.conv1d(x.reshape(1, 2, 1), y.reshape(1, 2, 1)),
    "conv2d": lambda x, y: ops.conv2d(x.reshape(1, 2, 1, 1), y.reshape(1, 2, 1, 1)),
    "conv3d": lambda x, y: ops.conv3d(x.reshape(1, 2, 1, 1, 1), y.reshape(1, 2, 1, 1, 1)),
    "baddbmm": lambda x, y: ops.baddbmm(
        x[:1].reshape(1, 1, 1), y.reshape(1, 1, 2), y.reshape(1, 2, 1)
    ),
    "lerp": lambda x, y: ops.lerp(x, y, 0.5),
    "scatter": lambda x, y: mint.scatter(x, 0, INDEX, y),
    "scatter_add": lambda x, y: mint.scatter_add(x, 0, INDEX, y),
    "masked_scatter": lambda x, y: x.masked_scatter(ms.Tensor([True, True]), y),
}

run(
    "mindspore",
    ms.__version__,
    DTYPES,
    tensor,
    {
        # concat of equal dtypes has its kernels.
        op: finished(function, NO_KERNEL if op != "concat" else NO_KERNEL[:1])
        for op, function in {
            None: lambda x, y: x + y,
            "true_divide": lambda x, y: x / y,
            "equal": lambda x, y: x == y,
            "bitwise_and": ops.bitwise_and,
            "logical_and": mint.logical_and,
            "max": mint.maximum,
            "floordiv": mint.floor_divide,
            "concat": lambda x, y: ops.concat((x, y)),
            "sqrt": mint.sqrt,
            **OF_MODELS,
        }.items()
    },
    lambda result: NAMES[result.dtype],
    # 2.10.0 crashes on float16 / 0-d bfloat16.
    zero_dim_ops=False,
)
