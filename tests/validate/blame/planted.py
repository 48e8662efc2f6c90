"""Plants faults in PyTorch's operators, runs three models under blame, and prints what it finds.

Runs in an interpreter that has torch and suanzi; prints one JSON object.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import torch
from models import STEPS
from torch.utils._python_dispatch import TorchDispatchMode

import suanzi as sz

Tensor = torch.Tensor
Fault = Callable[..., Any]


class Plant(TorchDispatchMode):
    """Gives the result of an operator to a function that spoils it."""

    def __init__(self, operator: str, fault: Fault) -> None:
        super().__init__()
        self.operator, self.fault = operator, fault

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name.partition("::")[2]
        if name != self.operator:
            return func(*args, **kwargs)
        return self.fault(func, *args, **kwargs)


def after(change: Callable[[Tensor], Tensor], which: int = 0) -> Fault:
    """Change one result of a call."""

    def fault(func: Any, *args: Any, **kwargs: Any) -> Any:
        made = func(*args, **kwargs)
        if isinstance(made, Tensor):
            return change(made)
        several = list(made)
        if several[which] is not None:
            several[which] = change(several[which])
        return tuple(several)

    return fault


def with_argument(index: int, change: Callable[[Any], Any]) -> Fault:
    """Change one argument of a call."""

    def fault(func: Any, *args: Any, **kwargs: Any) -> Any:
        given = list(args)
        if index < len(given):
            given[index] = change(given[index])
        return func(*given, **kwargs)

    return fault


def tail(count: int) -> Callable[[Tensor], Tensor]:
    """Leave the last elements unwritten."""

    def change(x: Tensor) -> Tensor:
        y = x.clone().contiguous()
        y.view(-1)[-count:] = 0
        return y

    return change


def digits(x: Tensor, bits: int) -> Tensor:
    """Round to so many bits, as TF32 (11) or bfloat16 (8)."""
    if not x.is_floating_point():
        return x
    m, e = torch.frexp(x)
    return torch.ldexp(torch.round(m * 2.0**bits) / 2.0**bits, e)


def low(bits: int) -> Fault:
    """Round the operands of a call."""

    def fault(func: Any, *args: Any, **kwargs: Any) -> Any:
        given = [digits(x, bits) if isinstance(x, Tensor) else x for x in args]
        return func(*given, **kwargs)

    return fault


def bfloat16_sum(func: Any, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Sum in bfloat16, one after the other."""
    dims = args[0] if args else list(range(x.ndim))
    dims = [d % x.ndim for d in (dims or range(x.ndim))]
    keep = bool(args[1]) if len(args) > 1 else False
    rest = [d for d in range(x.ndim) if d not in dims]
    flat = x.permute(*rest, *dims).reshape(*(x.shape[d] for d in rest), -1)
    total = torch.zeros(flat.shape[:-1], dtype=torch.bfloat16)
    for i in range(flat.shape[-1]):
        total = total + flat[..., i].bfloat16()
    if func._schema.name.endswith("mean"):
        total = total / flat.shape[-1]
    total = total.to(x.dtype)
    return total.reshape([1 if d in dims else n for d, n in enumerate(x.shape)]) if keep else total


class Stale:
    """Returns the result of the call before, if it has the shape."""

    def __init__(self) -> None:
        self.last: dict[Any, Tensor] = {}

    def __call__(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        made = func(*args, **kwargs)
        old = self.last.get(made.shape)
        self.last[made.shape] = made.clone()
        return made if old is None else old


def twice_biased(func: Any, bias: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Add the bias twice."""
    return func(bias, *args, **kwargs) + bias


def other_axis(func: Any, x: Tensor, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Normalise along another axis."""
    _, mean, rstd = func(x, shape, weight, bias, eps)
    d = x - x.mean(-2, keepdim=True)
    wrong = d / (d.square().mean(-2, keepdim=True) + eps).sqrt()
    return wrong * weight + bias, mean, rstd


def one_wrong_row(x: Tensor) -> Tensor:
    """Spoil the last row."""
    y = x.clone()
    y[-1] = y[-1] * 1.01
    return y


def shifted(x: Tensor) -> Tensor:
    """Shift along the last axis."""
    return x.roll(1, -1)


def no_subnormals(x: Tensor) -> Tensor:
    """Flush numbers below 1e-3 to 0, as float16's subnormals of 1e-5 are."""
    return torch.where(x.abs() < 1e-3, 0.0, x)


def nan_at_end(x: Tensor) -> Tensor:
    """Put a NaN at the end."""
    y = x.clone().contiguous()
    y.view(-1)[-1] = float("nan")
    return y


def times(factor: float) -> Callable[[Tensor], Tensor]:
    """Multiply by a factor."""
    return lambda x: x * factor


def plus(number: float) -> Callable[[Tensor], Tensor]:
    """Add a number."""
    return lambda x: x + number


FAULTS: dict[str, tuple[str, str, str, Fault]] = {
    # name: model, operator of PyTorch, part of the line that makes the call, fault
    "layer norm: another epsilon": ("transformer", "native_layer_norm", "self.first(x)",
        with_argument(4, lambda eps: 1e-3)),
    "layer norm: another axis": ("transformer", "native_layer_norm", "self.first(x)", other_axis),
    "layer norm: unwritten tail": ("transformer", "native_layer_norm", "self.first(x)",
        after(tail(5))),
    "layer norm: TF32": ("transformer", "native_layer_norm", "self.first(x)", low(11)),
    "layer norm: gradient without its mean": ("transformer", "native_layer_norm_backward",
        "self.second(x)", after(times(1.05))),
    "layer norm: gradient of the bias in bfloat16": ("transformer", "native_layer_norm_backward",
        "self.second(x)", after(lambda x: digits(x, 8), 2)),
    "linear: bias twice": ("transformer", "addmm", "self.qkv", twice_biased),
    "linear: no bias": ("transformer", "addmm", "self.qkv", with_argument(0, lambda b: b * 0)),
    "linear: TF32": ("transformer", "addmm", "self.qkv", low(11)),
    "linear: without the last terms": ("transformer", "addmm", "self.qkv",
        with_argument(1, lambda x: torch.cat([x[:, :-1], 0 * x[:, -1:]], 1))),
    "linear: strides are ignored": ("transformer", "addmm", "self.qkv",
        with_argument(2, lambda w: w.t().reshape(-1).view(w.shape))),
    "linear: bfloat16": ("transformer", "addmm", "self.qkv", low(8)),
    "linear: last row": ("transformer", "addmm", "self.qkv", after(one_wrong_row)),
    "matmul: stale buffer": ("transformer", "bmm", "@", Stale()),
    "matmul: TF32": ("transformer", "bmm", "@", low(11)),
    "matmul: transposed": ("transformer", "mm", "self.head(x)", after(shifted)),
    "softmax: without the maximum of another row": ("transformer", "_softmax", "softmax(-1)",
        after(times(1.001))),
    "softmax: bfloat16": ("transformer", "_softmax", "softmax(-1)",
        after(lambda x: digits(x, 8))),
    "softmax: gradient without its sum": ("transformer", "_softmax_backward_data", "softmax(-1)",
        lambda func, g, y, dim, dtype: g * y),
    "gelu: tanh instead of erf": ("transformer", "gelu", "F.gelu",
        lambda func, x, **kwargs: func(x, approximate="tanh")),
    "gelu: gradient of relu": ("transformer", "gelu_backward", "F.gelu",
        lambda func, g, x, **kwargs: g * (x > 0)),
    "embedding: neighbour's row": ("transformer", "embedding", "self.table(tokens)",
        with_argument(1, lambda i: (i + 1) % 50)),
    "embedding: gradient of the last index only": ("transformer", "embedding_dense_backward",
        "self.table(tokens)", after(lambda x: x.clamp(-1e-4, 1e-4))),
    "masked_fill: 0 instead of -inf": ("transformer", "masked_fill", "masked_fill",
        with_argument(2, lambda v: -1e4)),
    "add: subtracts": ("transformer", "add", "", lambda func, x, y, **kw: x - y),
    "mul: bfloat16": ("transformer", "mul", "F.gelu(self.gate(h)) * self.up(h)", low(8)),
    "cross entropy: mean of another count": ("transformer", "nll_loss_forward", "cross_entropy",
        after(times(34 / 32))),
    "log softmax: float16 sum": ("transformer", "_log_softmax", "cross_entropy",
        after(lambda x: x + 2e-4)),
    "sum: bfloat16": ("transformer", "sum", "", bfloat16_sum),
    "div: reciprocal of 8 bits": ("transformer", "div", "scores = q @ k", low(8)),
    "clone: unwritten tail": ("transformer", "clone", "", after(tail(7))),
    "convolution: TF32": ("resnet", "convolution", "conv", low(11)),
    "convolution: border": ("resnet", "convolution", "conv",
        after(lambda x: torch.cat([x[..., :-1], x[..., -1:] * 0.9], -1))),
    "convolution: another dilation": ("resnet", "convolution", "self.stem(x)",
        lambda func, x, w, b, s, p, d, *rest: func(x, w.flip(-1), b, s, p, d, *rest)),
    "convolution: bias twice": ("resnet", "convolution", "self.stem(x)",
        with_argument(2, lambda b: None if b is None else 2 * b)),
    "convolution: gradient of the input": ("resnet", "convolution_backward", "conv",
        after(times(1.01), 0)),
    "convolution: gradient of the weight in bfloat16": ("resnet", "convolution_backward", "conv",
        after(lambda x: digits(x, 8), 1)),
    "batch norm: another epsilon": ("resnet", "native_batch_norm", "bn",
        with_argument(7, lambda eps: 1e-2)),
    "batch norm: biased running variance": ("resnet", "native_batch_norm", "bn",
        with_argument(6, lambda m: 0.2)),
    "batch norm: gradient without its mean": ("resnet", "native_batch_norm_backward", "bn",
        after(plus(1e-3))),
    "max pool: average": ("resnet", "max_pool2d_with_indices", "F.max_pool2d",
        after(times(0.99))),
    "max pool: gradient at other positions": ("resnet", "max_pool2d_with_indices_backward",
        "F.max_pool2d", after(shifted)),
    "relu: keeps what is negative": ("resnet", "relu", "F.relu",
        after(lambda x: torch.where(x == 0, -0.01, x))),
    "relu: flushes small numbers": ("resnet", "relu", "F.relu", after(no_subnormals)),
    "mean: bfloat16": ("resnet", "mean", "x.mean((2, 3))", bfloat16_sum),
    "SGD: another learning rate": ("resnet", "add_", "", lambda func, x, y, **kw:
        func(x, y, **{**kw, "alpha": kw.get("alpha", 1) * (1.5 if x.is_floating_point() else 1)})),
    "group norm: one group": ("unet", "native_group_norm", "norm",
        lambda func, x, w, b, n, c, s, g, eps: (func(x, w, b, n, c, s, 1, eps)[0],
                                                *func(x, w, b, n, c, s, g, eps)[1:])),
    "group norm: another epsilon": ("unet", "native_group_norm", "norm",
        with_argument(7, lambda eps: 1e-2)),
    "group norm: gradient": ("unet", "native_group_norm_backward", "norm", after(times(1.02))),
    "silu: of the tanh": ("unet", "silu", "F.silu", after(times(0.999))),
    "sin: of an angle in bfloat16": ("unet", "sin", "angles.sin()", low(8)),
    "cat: another order": ("unet", "cat", "torch.cat", lambda func, tensors, *more:
        func(list(tensors)[::-1], *more)),
    "upsample: shifted": ("unet", "upsample_nearest2d", "F.interpolate", after(shifted)),
    "average pool: counts another number": ("unet", "avg_pool2d", "F.avg_pool2d",
        after(times(4 / 3))),
    "pad: of ones": ("unet", "constant_pad_nd", "F.pad", lambda func, x, pad, *value:
        func(x, pad, 1.0)),
    "mse loss: sum": ("unet", "mse_loss", "F.mse_loss", after(times(1.001))),
    "add: NaN at the end": ("unet", "add", "", after(nan_at_end)),
}  # fmt: skip


def run(name: str) -> dict[str, Any]:
    """Run a model with a fault, and return the report as text and data."""
    model, operator, _, fault = FAULTS[name]
    with Plant(operator, fault), sz.blame(overhead=None) as report:
        STEPS[model]()
    return {"text": str(report), "findings": report.to_dict()["findings"]}


def main() -> None:
    """Print what is found of all faults, and of none."""
    torch.set_num_threads(1)
    found: dict[str, Any] = {"plain": {}, "faults": {}}
    for model, step in STEPS.items():
        before = step()
        with sz.blame(overhead=None) as report:
            now = step()
        found["plain"][model] = {
            "text": str(report), "same": bool(torch.equal(before, now)), "answer": report.answer,
            "data": report.to_dict(),
        }  # fmt: skip
    names = sys.argv[1:] or list(FAULTS)
    for name in names:
        found["faults"][name] = run(name)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
