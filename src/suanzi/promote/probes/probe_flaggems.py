"""Asks FlagGems, on the device it runs on; each case compiles a kernel, so only some are asked."""

import itertools

from common import NUMBERS, asked_of, emit, fail_if_missing, fail_without

fail_if_missing("flag_gems")

import torch  # noqa: E402

try:
    import flag_gems
except RuntimeError as error:  # it looks for its device when it is imported
    fail_without("flag_gems", "", error)

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()
ZEROS = ["0d:" + name for name in DTYPES]
PYTHON = ["py:bool", "py:int", "py:float"]
SOME = [
    ("int32", "float16"), ("int64", "bfloat16"), ("float16", "bfloat16"), ("uint8", "int8"),
    ("bool", "float16"), ("bool", "int32"), ("int32", "0d:float64"), ("bfloat16", "0d:float64"),
    ("float16", "0d:int64"),
]  # fmt: skip
OPS = {
    None: torch.add,
    "mul": torch.mul,
    "true_divide": torch.true_divide,
    "equal": torch.eq,
    "max": torch.maximum,
    "floordiv": torch.floor_divide,
}


def cases():
    for operands in itertools.chain(
        itertools.product(DTYPES, DTYPES),
        itertools.product(DTYPES, ZEROS),
        itertools.product(ZEROS, PYTHON),
    ):
        yield None, operands
    for op in (None, "mul", "true_divide", "equal"):
        for operands in itertools.product(DTYPES, PYTHON):
            yield op, operands
    for op in OPS:
        for operands in SOME:
            if op and not (op in ("max", "floordiv") and "bool" in operands):
                yield op, operands


def operand(text):
    if text.startswith("py:"):
        return NUMBERS[text[3:]]
    shape = () if text.startswith("0d:") else (2,)
    return torch.ones(shape, dtype=getattr(torch, text.split(":")[-1]), device=flag_gems.device)


def with_gems(op):
    def call(*operands):
        with flag_gems.use_gems():
            return op(*operands)

    return call


emit(
    "flaggems",
    getattr(flag_gems, "__version__", "of unknown version"),
    asked_of(
        cases(),
        operand,
        {op: with_gems(f) for op, f in OPS.items()},
        lambda result: str(result.dtype).replace("torch.", ""),
    ),
)
