"""Asks Paddle."""

import os

from common import fail_if_missing, raising, run

fail_if_missing("paddle")
os.environ.setdefault("GLOG_minloglevel", "3")

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402

DTYPES = (
    "uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128 bool bfloat16"
).split()

NO_KERNEL = "kernel_factory"


def shaped(x, *shape):
    return paddle.reshape(x, shape)


# Operands are vectors of two ones.
INDEX = paddle.to_tensor([0, 1])
OF_MODELS = {
    "matmul": lambda x, y: paddle.matmul(shaped(x, 1, 2), shaped(y, 2, 1)),
    "dot": paddle.dot,
    "linear": lambda x, y: F.linear(shaped(x, 1, 2), shaped(y, 2, 1)),
    "bilinear": lambda x, y: F.bilinear(
        shaped(x, 1, 2), shaped(x, 1, 2), paddle.stack([y, y]).reshape([1, 2, 2])
    ),
    "stack": lambda x, y: paddle.stack([x, y]),
    "where": lambda x, y: paddle.where(paddle.to_tensor([True, False]), x, y),
    "conv1d": lambda x, y: F.conv1d(shaped(x, 1, 2, 1), shaped(y, 1, 2, 1)),
    "conv2d": lambda x, y: F.conv2d(shaped(x, 1, 2, 1, 1), shaped(y, 1, 2, 1, 1)),
    "conv3d": lambda x, y: F.conv3d(shaped(x, 1, 2, 1, 1, 1), shaped(y, 1, 2, 1, 1, 1)),
    "conv_transpose1d": lambda x, y: F.conv1d_transpose(shaped(x, 1, 2, 1), shaped(y, 2, 1, 1)),
    "conv_transpose2d": lambda x, y: F.conv2d_transpose(
        shaped(x, 1, 2, 1, 1), shaped(y, 2, 1, 1, 1)
    ),
    "conv_transpose3d": lambda x, y: F.conv3d_transpose(
        shaped(x, 1, 2, 1, 1, 1), shaped(y, 2, 1, 1, 1, 1)
    ),
    "scaled_dot_product_attention": lambda x, y: F.scaled_dot_product_attention(
        shaped(x, 1, 1, 1, 2), shaped(y, 1, 1, 1, 2), shaped(y, 1, 1, 1, 2)
    ),
    "addmm": lambda x, y: paddle.addmm(shaped(x[:1], 1, 1), shaped(y, 1, 2), shaped(y, 2, 1)),
    "baddbmm": lambda x, y: paddle.baddbmm(
        shaped(x[:1], 1, 1, 1), shaped(y, 1, 1, 2), shaped(y, 1, 2, 1)
    ),
    "lerp": lambda x, y: paddle.lerp(x, y, 0.5),
    "scatter": lambda x, y: paddle.put_along_axis(x, INDEX, y, 0),
    "scatter_add": lambda x, y: paddle.put_along_axis(x, INDEX, y, 0, reduce="add"),
    "index_add": lambda x, y: paddle.index_add(x, INDEX, 0, y),
    "index_put": lambda x, y: paddle.index_put(x, (INDEX,), y),
    "masked_scatter": lambda x, y: paddle.masked_scatter(x, paddle.to_tensor([True, True]), y),
}

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
        **{op: raising(function, NO_KERNEL) for op, function in OF_MODELS.items()},
    },
    lambda result: str(result.dtype).rpartition(".")[2],
)
