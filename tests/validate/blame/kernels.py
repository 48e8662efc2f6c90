"""Kernels that stand for PyTorch's, which judging itself calls: prints what is said of them."""

from __future__ import annotations

import json
from typing import Any

import torch
from torch.library import Library
from triton.runtime.jit import JITFunction

import suanzi as sz


def judged(operator: str, kernel: Any, call: Any) -> Any:
    """Return what is said of a call while another kernel stands for an operator."""
    library = Library("aten", "IMPL")
    library.impl(operator, kernel, "CPU", allow_override=True)
    with sz.blame(overhead=None) as report:
        call()
    library._destroy()
    data = report.to_dict()
    return [data["answer"], [s.operator for s in report.sites if s.judged], data["no_truth"],
            data["not_judged"]]  # fmt: skip


def launches(x: torch.Tensor) -> torch.Tensor:
    """Launch a kernel of Triton, as kernels of others do."""
    JITFunction.run(kernel)
    return torch.where(x < 0, -x, x)


def fails(*given: Any) -> Any:
    """Fail, as kernels do that lack a case."""
    raise ValueError("not this one")


class Kernel:
    """What a kernel of Triton is called on."""

    __name__ = "kernel"


kernel: Any = Kernel()


def main() -> None:
    """Print what is said of each."""
    JITFunction.run = lambda *given, **more: None
    x, w = torch.randn(40, 50), torch.randn(50)
    far = lambda x, *more: torch.tensor(1 << 60)  # noqa: E731

    def flat(x: torch.Tensor, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
        var, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
        rstd = 1 / (var + eps).sqrt()
        return (x - mean) * rstd, mean.reshape(-1), rstd.reshape(-1)

    rows = torch.randn(3, 5, 7)
    print(json.dumps({
        "launches": judged("abs", launches, lambda: x + 1),
        "an index that is none": judged("argmax", far, lambda: x * 2),
        "flat statistics": judged("native_layer_norm", flat, lambda: torch.layer_norm(rows, (7,))),
        "fails": judged("argmin", fails, lambda: torch.fmod(x, w)),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
