"""Asks PyTorch."""

from common import device, fail_if_missing, fail_without, raising, run

fail_if_missing("torch")

import warnings  # noqa: E402

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

warnings.simplefilter("ignore")

DTYPES = (
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex32 complex64 complex128"
).split()

if device():
    try:
        torch.set_default_device(device())
        torch.zeros(1).cpu()
    except Exception as error:
        fail_without("PyTorch", torch.__version__, error)

INDEX = torch.tensor([0, 1])
OPS = {
    None: lambda x, y: torch.empty(0, dtype=torch.result_type(x, y)),
    "true_divide": torch.true_divide,
    "equal": torch.eq,
    "bitwise_and": torch.bitwise_and,
    "logical_and": torch.logical_and,
    "max": torch.maximum,
    "floordiv": torch.floor_divide,
    "concat": lambda x, y: torch.cat([x, y]),
    "sqrt": torch.sqrt,
    # Operands are vectors of two ones.
    "matmul": lambda x, y: torch.matmul(x[None], y[:, None]),
    "dot": torch.dot,
    "linear": lambda x, y: F.linear(x[None], y[None]),
    "bilinear": lambda x, y: F.bilinear(x[None], x[None], y[None, None].expand(1, 2, 2)),
    "stack": lambda x, y: torch.stack([x, y]),
    "where": lambda x, y: torch.where(torch.tensor([True, False]), x, y),
    "conv1d": lambda x, y: F.conv1d(x[None, :, None], y[None, :, None]),
    "conv2d": lambda x, y: F.conv2d(x[None, :, None, None], y[None, :, None, None]),
    "conv3d": lambda x, y: F.conv3d(x[None, :, None, None, None], y[None, :, None, None, None]),
    "conv_transpose1d": lambda x, y: F.conv_transpose1d(x[None, :, None], y[:, None, None]),
    "conv_transpose2d": lambda x, y: F.conv_transpose2d(
        x[None, :, None, None], y[:, None, None, None]
    ),
    "conv_transpose3d": lambda x, y: F.conv_transpose3d(
        x[None, :, None, None, None], y[:, None, None, None, None]
    ),
    "scaled_dot_product_attention": lambda x, y: F.scaled_dot_product_attention(
        x[None, None], y[None, None], y[None, None]
    ),
    "addmm": lambda x, y: torch.addmm(x[None, :1], y[None], y[:, None]),
    "baddbmm": lambda x, y: torch.baddbmm(x[None, None, :1], y[None, None], y[None, :, None]),
    "lerp": lambda x, y: torch.lerp(x, y, 0.5),
    "scatter": lambda x, y: x.scatter(0, INDEX, y),
    "scatter_add": lambda x, y: x.scatter_add(0, INDEX, y),
    "index_add": lambda x, y: x.index_add(0, INDEX, y),
    "index_copy": lambda x, y: x.index_copy(0, INDEX, y),
    "index_put": lambda x, y: x.index_put((INDEX,), y),
    "masked_scatter": lambda x, y: x.masked_scatter(torch.tensor([True, True]), y),
}

# Of floats there are no bits by definition; CUDA lacks kernels for unsigned integers.
LACKING = {"bitwise_and": "not implemented for 'UInt"}

run(
    "torch",
    torch.__version__,
    DTYPES,
    lambda name, ndim: torch.ones((2,) * ndim).to(getattr(torch, name)),
    {op: raising(f, LACKING.get(op, "not implemented for")) for op, f in OPS.items()},
    lambda result: str(result.dtype).replace("torch.", ""),
)
