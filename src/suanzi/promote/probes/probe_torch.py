"""Asks PyTorch."""

from common import fail_if_missing, raising, run

fail_if_missing("torch")

import warnings  # noqa: E402

import torch  # noqa: E402

warnings.simplefilter("ignore")

DTYPES = (
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex32 complex64 complex128"
).split()

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
}

run(
    "torch",
    torch.__version__,
    DTYPES,
    lambda name, ndim: torch.ones((2,) * ndim).to(getattr(torch, name)),
    {op: raising(f, "not implemented for") if op != "bitwise_and" else f for op, f in OPS.items()},
    lambda result: str(result.dtype).replace("torch.", ""),
)
