"""Calls PyTorch's operators one by one under `sz.blame`, forward and backward, and writes JSON.

For other kernels that stand for those of PyTorch, as FlagGems' do: what a model does not call is
judged too. Wrong calls are saved; `--confirm` makes each again in float64 on the CPU, and with
PyTorch's own kernel on the device, and says how far both are off:

    python benchmarks/blame_kernels.py results.json --device cuda --kernels flag_gems --save calls
    python benchmarks/blame_kernels.py confirmed.json --device cuda --confirm calls/*.safetensors
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from blame_models import head, kept
from torch.nn import functional as F

from suanzi.tensors import safetensors
from suanzi.validate.blame import watch
from suanzi.validate.blame.options import options
from suanzi.validate.blame.report import Report
from suanzi.validate.blame.saved import _read

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
aten = torch.ops.aten


class Inputs:
    """Makes tensors of a dtype on a device, with gradients."""

    def __init__(self, device: str, dtype: torch.dtype) -> None:
        self.device, self.dtype = device, dtype
        self.generator = torch.Generator().manual_seed(0)

    def __call__(self, *shape: int) -> torch.Tensor:
        """Return normal numbers."""
        return self._leaf(torch.randn(*shape, generator=self.generator))

    def spread(self, *shape: int) -> torch.Tensor:
        """Return numbers of both signs and of sizes from 0.0001 to 10."""
        sizes = 10 ** (5 * torch.rand(*shape, generator=self.generator) - 4)
        return self._leaf(torch.randn(*shape, generator=self.generator) * sizes)

    def positive(self, *shape: int) -> torch.Tensor:
        """Return numbers above 0."""
        return self._leaf(10 ** (5 * torch.rand(*shape, generator=self.generator) - 4))

    def index(self, size: int, *shape: int) -> torch.Tensor:
        """Return indices of an axis."""
        return torch.randint(0, size, shape, generator=self.generator).to(self.device)

    def _leaf(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(self.device).to(self.dtype).requires_grad_()


Case = Callable[[Inputs], Any]
S = (37, 53)
CASES: dict[str, Case] = {
    "expm1": lambda x: torch.expm1(x.spread(*S)),
    "softplus": lambda x: F.softplus(x.spread(*S) * 2),
    "elu": lambda x: F.elu(x.spread(*S)),
    "lerp 0.3": lambda x: torch.lerp(x.spread(*S), x.spread(*S), 0.3),
    "lerp 0.9": lambda x: torch.lerp(x.spread(*S), x.spread(*S), 0.9),
    "lerp tensor": lambda x: torch.lerp(x.spread(*S), x.spread(*S), x.spread(*S)),
    "batch norm": lambda x: torch.native_batch_norm(
        x(5, 7, 9, 11), x(7), x(7), x(7).detach(), x(7).detach().abs(), True, 0.1, 1e-5)[0],
    "batch norm, large": lambda x: torch.native_batch_norm(
        x(33, 7, 45), x(7), x(7), None, None, True, 0.1, 1e-5)[0],
    "batch norm, not training": lambda x: torch.native_batch_norm(
        x(5, 7, 9, 11), x(7), x(7), x(7).detach(), x(7).detach().abs(), False, 0.1, 1e-5)[0],
    "layer norm": lambda x: F.layer_norm(x(*S), (53,), x(53), x(53)),
    "layer norm of three axes": lambda x: F.layer_norm(x(3, 5, 53), (53,), x(53), x(53)),
    "layer norm, 1000": lambda x: F.layer_norm(x(5, 1000), (1000,), x(1000), x(1000)),
    "layer norm, 5000": lambda x: F.layer_norm(x(3, 5000), (5000,), x(5000), x(5000)),
    "group norm": lambda x: F.group_norm(x(3, 12, 7, 5), 4, x(12), x(12)),
    "softmax": lambda x: torch.softmax(x.spread(*S), -1),
    "softmax, first axis": lambda x: torch.softmax(x.spread(*S), 0),
    "softmax, 5000": lambda x: torch.softmax(x.spread(3, 5000), -1),
    "log softmax": lambda x: torch.log_softmax(x.spread(*S), -1),
    "gelu": lambda x: F.gelu(x.spread(*S)),
    "gelu tanh": lambda x: F.gelu(x.spread(*S), approximate="tanh"),
    "silu": lambda x: F.silu(x.spread(*S)),
    "sigmoid": lambda x: torch.sigmoid(x.spread(*S) * 3),
    "tanh": lambda x: torch.tanh(x.spread(*S)),
    "log sigmoid": lambda x: F.logsigmoid(x.spread(*S) * 3),
    "hardsigmoid": lambda x: F.hardsigmoid(x.spread(*S)),
    "relu": lambda x: torch.relu(x.spread(*S)),
    "threshold": lambda x: F.threshold(x.spread(*S), 0.1, 20.0),
    "mul": lambda x: x.spread(*S) * x.spread(*S),
    "mul by a number": lambda x: x.spread(*S) * 0.1,
    "mul, broadcast": lambda x: x.spread(*S) * x.spread(37, 1),
    "mul, transposed": lambda x: x.spread(*S) * x.spread(53, 37).t(),
    "add": lambda x: torch.add(x.spread(*S), x.spread(*S), alpha=0.3),
    "sub": lambda x: x.spread(*S) - x.spread(53),
    "div": lambda x: x.spread(*S) / x.positive(*S),
    "div floor": lambda x: torch.div(x.spread(*S), x.positive(*S), rounding_mode="floor"),
    "div trunc": lambda x: torch.div(x.spread(*S), x.positive(*S), rounding_mode="trunc"),
    "remainder": lambda x: torch.remainder(x.spread(*S), x.positive(*S)),
    "addcmul": lambda x: torch.addcmul(x.spread(*S), x.spread(*S), x.spread(*S), value=0.3),
    "addcdiv": lambda x: torch.addcdiv(x.spread(*S), x.spread(*S), x.positive(*S), value=0.3),
    "exp": lambda x: torch.exp(x.spread(*S)),
    "log": lambda x: torch.log(x.positive(*S)),
    "sqrt": lambda x: torch.sqrt(x.positive(*S)),
    "rsqrt": lambda x: torch.rsqrt(x.positive(*S)),
    "reciprocal": lambda x: torch.reciprocal(x.spread(*S)),
    "pow 2": lambda x: x.spread(*S) ** 2,
    "pow 0.7": lambda x: x.positive(*S) ** 0.7,
    "pow tensor": lambda x: x.positive(*S) ** x.spread(*S),
    "sin": lambda x: torch.sin(x.spread(*S) * 10),
    "cos": lambda x: torch.cos(x.spread(*S) * 10),
    "tan": lambda x: torch.tan(x.spread(*S)),
    "atan": lambda x: torch.atan(x.spread(*S)),
    "acos": lambda x: torch.acos(x.spread(*S).clamp(-1, 1)),
    "cosh": lambda x: torch.cosh(x.spread(*S)),
    "log10": lambda x: torch.log10(x.positive(*S)),
    "exp2": lambda x: torch.exp2(x.spread(*S)),
    "erf": lambda x: torch.erf(x.spread(*S)),
    "asinh": lambda x: torch.ops.aten.asinh_(x.spread(*S).detach().clone()),
    "sinh": lambda x: torch.ops.aten.sinh_(x.spread(*S).detach().clone()),
    "log1p": lambda x: torch.ops.aten.log1p_(x.positive(*S).detach().clone()),
    "abs": lambda x: x.spread(*S).abs(),
    "neg": lambda x: -x.spread(*S),
    "clamp": lambda x: x.spread(*S).clamp(-0.1, 0.2),
    "maximum": lambda x: torch.maximum(x.spread(*S), x.spread(*S)),
    "where": lambda x: torch.where(x.spread(*S) > 0, x.spread(*S), x.spread(*S)),
    "round": lambda x: torch.round(x.spread(*S) * 4),
    "sum": lambda x: x.spread(*S).sum(),
    "sum along": lambda x: x.spread(5, 7, 300).sum(-1),
    "sum along the first": lambda x: x.spread(300, 7).sum(0),
    "mean": lambda x: x.spread(*S).mean(),
    "mean along": lambda x: x.spread(*S).mean(1),
    "prod": lambda x: x(3, 9).prod(1),
    "max": lambda x: x.spread(*S).max(1)[0],
    "amax": lambda x: x.spread(*S).amax(0),
    "min": lambda x: x.spread(*S).min(),
    "var": lambda x: (x(*S) + 100).var(1),
    "std": lambda x: x(*S).std(1),
    "var_mean": lambda x: torch.var_mean(x(*S), 1)[0],
    "norm": lambda x: torch.linalg.vector_norm(x.spread(*S), 2, 1),
    "norm 3": lambda x: torch.linalg.vector_norm(x.spread(*S), 3, 1),
    "cumsum": lambda x: x(5, 700).cumsum(-1),
    "cumsum, first axis": lambda x: x(70, 6).cumsum(0),
    "mm": lambda x: x(*S) @ x(53, 29),
    "mm, transposed": lambda x: x(53, 37).t() @ x(29, 53).t(),
    "mm of 1000": lambda x: x(33, 1000) @ x(1000, 17),
    "addmm": lambda x: F.linear(x(*S), x(29, 53), x(29)),
    "bmm": lambda x: x(3, 37, 53) @ x(3, 53, 29),
    "baddbmm": lambda x: torch.baddbmm(x(3, 37, 29), x(3, 37, 53), x(3, 53, 29), alpha=0.3),
    "mv": lambda x: torch.mv(x(*S), x(53)),
    "dot": lambda x: torch.dot(x(1000), x(1000)),
    "addmv": lambda x: torch.addmv(x(37), x(*S), x(53), beta=0.5, alpha=0.3),
    "embedding": lambda x: F.embedding(x.index(19, 5, 7), x(19, 8)),
    "embedding, padded": lambda x: F.embedding(x.index(19, 5, 7), x(19, 8), padding_idx=3),
    "cross entropy": lambda x: F.cross_entropy(x(37, 11), x.index(11, 37)),
    "cross entropy, weighted": lambda x: F.nll_loss(
        x(37, 11), x.index(11, 37), x.positive(11).detach(), ignore_index=4),
    "cross entropy of images": lambda x: F.nll_loss(x(3, 11, 5, 7), x.index(11, 3, 5, 7)),
    "mse": lambda x: F.mse_loss(x(*S), x(*S)),
    "gather": lambda x: torch.gather(x(*S), 1, x.index(53, 37, 9)),
    "index select": lambda x: torch.index_select(x(*S), 1, x.index(53, 9)),
    "masked fill": lambda x: x(*S).masked_fill(x(*S) > 0, -1e4),
    "tril": lambda x: torch.tril(x(*S), 3),
    "triu": lambda x: torch.triu(x(*S), -3),
    "cat": lambda x: torch.cat([x(*S), x(5, 53)], 0),
    "stack": lambda x: torch.stack([x(*S), x(*S)], 1),
    "repeat": lambda x: x(*S).repeat(2, 3),
    "flip": lambda x: x(*S).flip(1),
    "roll": lambda x: x(*S).roll(5, 1),
    "pad": lambda x: F.pad(x(*S), (2, 3, 1, 0), value=0.5),
    "max pool": lambda x: F.max_pool2d(x(3, 4, 13, 15), 3, 2, 1),
    "average pool": lambda x: F.avg_pool2d(x(3, 4, 13, 15), 3, 2, 1),
    "upsample": lambda x: F.interpolate(x(3, 4, 7, 5), scale_factor=2.0),
    "sort": lambda x: torch.sort(x(*S), 1)[0],
    "topk": lambda x: torch.topk(x(*S), 5, 1)[0],
    "dropout": lambda x: F.dropout(x(*S), 0.3),
    "glu": lambda x: F.glu(x(37, 54)),
    "celu": lambda x: F.celu(x.spread(*S)),
    "selu": lambda x: F.selu(x.spread(*S)),
    "logaddexp": lambda x: torch.logaddexp(x.spread(*S), x.spread(*S)),
    "atan2": lambda x: torch.atan2(x.spread(*S), x.spread(*S)),
    "conv2d": lambda x: F.conv2d(x(2, 6, 13, 11), x(8, 3, 3, 3), x(8), 2, 1, 1, 2),
    "rms norm": lambda x: F.rms_norm(x(*S), (53,), x(53)),
}  # fmt: skip


def run(case: Case, inputs: Inputs) -> None:
    """Make a call, and that of its gradient."""
    made = case(inputs)
    if made.requires_grad:
        gradient = torch.randn(made.shape, generator=inputs.generator)
        made.backward(gradient.to(made.device).to(made.dtype))


def sweep(asked: argparse.Namespace, found: dict[str, Any]) -> None:
    """Make all calls of a dtype, and write what is found as they are made."""
    number, count = map(int, asked.part.split("/"))
    for name, case in list(CASES.items())[number - 1 :: count]:
        stem = f"{''.join(c if c.isalnum() else '_' for c in name)}-{asked.dtype}.safetensors"
        path = None if asked.save is None else os.path.join(asked.save, stem)
        report, error = Report(), None
        torch.manual_seed(0)
        try:
            with watch(replace(options(overhead=None, save=path), saved=4), report):
                run(case, Inputs(asked.device, DTYPES[asked.dtype]))
        except Exception as problem:
            error = f"{type(problem).__name__}: {str(problem).strip()[:300]}"
        data = kept(report)
        found["runs"].append({"case": name, "dtype": asked.dtype, "error": error, **data})
        wrong = [f"{f['operator']} {f['kind']}" for f in data["findings"]]
        print(name, asked.dtype, report.answer, wrong, error or "", flush=True)
        with open(asked.path, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


# ---- confirming ----------------------------------------------------------------------------------


def wide(x: Any) -> Any:
    """Return an argument in float64."""
    if isinstance(x, torch.Tensor):
        return x.double() if x.is_floating_point() else x
    if isinstance(x, list):
        return [wide(one) for one in x]
    return torch.float64 if isinstance(x, torch.dtype) and x.is_floating_point else x


def called(func: Any, given: dict[str, Any]) -> list[Any]:
    """Make a call, and return its results, or what it wrote to."""
    written = [a.name for a in func._schema.arguments if a.alias_info and a.alias_info.is_write]
    with torch.no_grad():
        made = func(**given)
    several = list(made) if isinstance(made, list | tuple) else [made]
    return several if any(isinstance(x, torch.Tensor) for x in several) else [
        given[name] for name in written
    ]  # fmt: skip


def far(made: torch.Tensor, truth: torch.Tensor) -> dict[str, Any]:
    """Return how far a result is off: the largest error, and the largest share of an element."""
    made, truth = made.detach().cpu().double().reshape(-1), truth.reshape(-1).double()
    off = (made - truth).abs()
    off = torch.where(made.isnan() & truth.isnan() | (made == truth), 0.0, off)
    off = torch.where(off.isnan(), torch.inf, off)
    ratio = torch.where(off == 0, 0.0, off / truth.abs())
    at, also = int(off.argmax()), int(ratio.argmax())
    return {
        "off": float(off[at]), "largest": float(truth.abs().max()), "is": float(made[at]),
        "should_be": float(truth[at]), "element": at, "count": int((ratio > 1e-2).sum()),
        "of": truth.numel(), "ratio": float(ratio[also]),
        "ratio_is": float(made[also]), "ratio_should_be": float(truth[also]),
    }  # fmt: skip


def confirm(path: str, device: str) -> dict[str, Any]:
    """Return how far a saved call is off, and that of PyTorch's own kernel."""
    tensors, about = safetensors.load(path)
    said: dict[str, Any] = {"file": os.path.basename(path), "operator": about["operator"]}
    said["place"], said["words"] = json.loads(about["place"])[:3], about["words"]
    func, given = _read(torch, path, tensors, about, "cpu")
    saved = {n: torch.from_dlpack(x) for n, x in tensors.items() if n.startswith("result.")}
    said["arguments"] = {
        n: f"{str(x.dtype)[6:]} {tuple(x.shape)}" if isinstance(x, torch.Tensor) else str(x)[:80]
        for n, x in given.items()
    }
    truth = called(func, {n: wide(x) for n, x in given.items()})
    _, again = _read(torch, path, tensors, about, device)
    own = called(func, again)
    said["results"] = {}
    for i, one in enumerate(truth):
        if not isinstance(one, torch.Tensor) or f"result.{i}" not in saved or not one.numel():
            continue
        made = saved[f"result.{i}"]
        said["results"][i] = {
            "dtype": str(made.dtype)[6:], "shape": list(made.shape),
            "kernel": far(made, one) if made.shape == one.shape else "another shape",
            "pytorch": far(own[i], one), "pytorch_dtype": str(own[i].dtype)[6:],
        }  # fmt: skip
    return said


def main() -> None:
    """Run the cases, or confirm saved calls."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", choices=DTYPES, default="f32")
    parser.add_argument("--kernels", choices=["flag_gems"], help="switch these on")
    parser.add_argument("--save", help="a folder for calls that are wrong")
    parser.add_argument("--part", default="1/1", help="3/8 runs every eighth, from the third on")
    parser.add_argument("--confirm", nargs="*", help="saved calls")
    asked = parser.parse_args()
    found = head(asked.device, asked.kernels)
    if asked.confirm is None:
        return sweep(asked, found)
    for path in asked.confirm:
        try:
            found["runs"].append(confirm(path, asked.device))
        except Exception as error:
            words = f"{type(error).__name__}: {str(error)[:300]}"
            found["runs"].append({"file": os.path.basename(path), "error": words})
        print(found["runs"][-1], flush=True)
        with open(asked.path, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
