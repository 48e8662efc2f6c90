"""Asks Paddle."""

import os

from common import fail_if_missing, raising, run

fail_if_missing("paddle")
os.environ.setdefault("GLOG_minloglevel", "3")

import paddle  # noqa: E402

DTYPES = (
    "uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128 bool bfloat16"
).split()

NO_KERNEL = "kernel_factory"

run(
    "paddle",
    paddle.__version__,
    DTYPES,
    lambda name, ndim: paddle.ones([2] * ndim, dtype="float32").astype(name),
    {
        None: raising(lambda x, y: x + y, NO_KERNEL),
        "true_divide": raising(lambda x, y: x / y, NO_KERNEL),
        "equal": raising(lambda x, y: x == y, NO_KERNEL),
        "bitwise_and": paddle.bitwise_and,
        "logical_and": raising(paddle.logical_and, NO_KERNEL),
        "max": raising(paddle.maximum, NO_KERNEL),
        "floordiv": raising(paddle.floor_divide, NO_KERNEL),
        "concat": raising(lambda x, y: paddle.concat([x, y]), NO_KERNEL),
        "sqrt": raising(paddle.sqrt, NO_KERNEL),
    },
    lambda result: str(result.dtype).rpartition(".")[2],
)
