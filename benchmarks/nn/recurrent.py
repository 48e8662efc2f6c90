"""Causal convolutions, gated delta rules of Qwen3-Next and Mamba, AdamW at the sizes of layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import suanzi as sz

try:
    import torch
    from torch.nn import functional
except ImportError:  # the rows of suanzi alone
    torch = None  # type: ignore[assignment]

try:
    from transformers.models.qwen3_next import modeling_qwen3_next as reference
except ImportError:
    reference = None

Row = tuple[str, Callable[[], Any], Callable[[], Any] | None]
CAUSAL = [
    # name, batch, channels, length
    ("Qwen3-Next, 1", 1, 8192, 1),
    ("Qwen3-Next, 128", 1, 8192, 128),
    ("Qwen3-Next, 2048", 1, 8192, 2048),
    ("Mamba 130M, 8 of 512", 8, 1536, 512),
]
DELTA = [("Qwen3-Next, 1", 1), ("Qwen3-Next, 128", 128), ("Qwen3-Next, 2048", 2048)]
"""Steps of 16 heads of keys and 32 of values, of 128 columns each."""
PARAMETERS = [("GPT-2 768 x 3072", (768, 3072)), ("Llama 7B 4096 x 4096", (4096, 4096))]


def both(*shape: int, dtype: str) -> tuple[Any, Any]:
    """Return random numbers as a tensor of suanzi and one of PyTorch."""
    x = np.random.default_rng(len(shape)).standard_normal(shape, np.float32)
    ours = sz.cast(sz.tensor(x), dtype)
    return ours, None if torch is None else torch.from_numpy(x).to(getattr(torch, dtype))


def composed(x: Any, weight: Any, bias: Any, state: Any) -> Any:
    """Return what model files write, with the state for the next call."""
    seen = torch.cat([state, x], -1)
    y = functional.conv1d(seen, weight[:, None], bias, groups=x.shape[1])
    return functional.silu(y), seen[..., -state.shape[-1] :].clone()


def backward(grad: Any, x: Any, weight: Any, bias: Any) -> Any:
    """Return PyTorch's gradients of x, weight and bias."""
    seen = functional.pad(x, (weight.shape[1] - 1, 0))
    y = functional.silu(functional.conv1d(seen, weight[:, None], bias, groups=x.shape[1]))
    return torch.autograd.grad(y, (x, weight, bias), grad)


def causal_rows(dtype: str) -> Iterator[Row]:
    """Give convolutions, and their gradients where there is more than one element."""
    for name, batch, channels, length in CAUSAL:
        x, tx = both(batch, channels, length, dtype=dtype)
        w, tw = both(channels, 4, dtype=dtype)
        b, tb = both(channels, dtype=dtype)
        s, ts = both(batch, channels, 3, dtype=dtype)
        yield (
            f"causal_conv1d {name} {dtype}",
            lambda a=(x, w, b, s): sz.nn.causal_conv1d(*a, activation="silu", return_state=True),
            torch and (lambda a=(tx, tw, tb, ts): composed(*a)),
        )
        if length == 1:
            continue
        given = [t.clone().requires_grad_() for t in (tx, tw, tb)] if torch else []
        yield (
            f"causal_conv1d_bwd {name} {dtype}",
            lambda a=(x, x, w, b): sz.nn.causal_conv1d_bwd(*a, activation="silu"),
            torch and (lambda g=tx, a=given: backward(g, *a)),
        )


def delta_operands(time: int, dtype: str) -> tuple[list[Any], list[Any]]:
    """Return q, k, v, g, beta and a state as tensors of suanzi and of PyTorch."""
    random = np.random.default_rng(time)
    shapes = [(1, time, 16, 128)] * 2 + [(1, time, 32, 128)]
    rows = [both(*shape, dtype=dtype) for shape in shapes]
    decays, betas = random.random((2, 1, time, 32), np.float32)
    kept = {"decays": (-decays, "float32"), "betas": (betas, dtype)}
    for x, of in kept.values():
        theirs = None if torch is None else torch.from_numpy(x).to(getattr(torch, of))
        rows.append((sz.cast(sz.tensor(x), of), theirs))
    rows.append(both(1, 32, 128, 128, dtype="float32"))
    return [x for x, _ in rows], [x for _, x in rows]


def delta_rows(dtype: str) -> Iterator[Row]:
    """Give gated delta rules, and their gradients where there is more than one step."""
    for name, time in DELTA:
        ours, theirs = delta_operands(time, dtype)
        for kind in ("recurrent", "chunk"):
            function = reference and getattr(reference, f"torch_{kind}_gated_delta_rule")
            yield (
                f"gated_delta_rule {name} {dtype}, Transformers' {kind}",
                lambda a=ours: sz.nn.gated_delta_rule(*a, use_qk_l2norm=True, return_state=True),
                reference
                and (
                    lambda f=function, a=theirs: f(
                        *a[:5], initial_state=a[5], output_final_state=True,
                        use_qk_l2norm_in_kernel=True,
                    )
                ),
            )  # fmt: skip
        if time == 1:
            continue
        grad, their_grad = both(1, time, 32, 128, dtype=dtype)
        yield (
            f"gated_delta_rule_bwd {name} {dtype}, Transformers' chunk",
            lambda g=grad, a=ours: sz.nn.gated_delta_rule_bwd(g, *a, use_qk_l2norm=True),
            reference and (lambda g=their_grad, a=theirs: delta_backward(g, a)),
        )


def delta_backward(grad: Any, operands: list[Any]) -> Any:
    """Return PyTorch's gradients of all operands, with what they need of the forward pass."""
    given = [x.clone().requires_grad_() for x in operands]
    y, _ = reference.torch_chunk_gated_delta_rule(
        *given[:5], initial_state=given[5], output_final_state=True, use_qk_l2norm_in_kernel=True
    )
    return torch.autograd.grad(y, given, grad)


def optimizer(param: Any, grad: Any, **how: Any) -> Callable[[], Any]:
    """Return a step of PyTorch's AdamW, in place."""
    one = torch.nn.Parameter(param.clone())
    one.grad = grad
    return torch.optim.AdamW([one], lr=1e-5, **how).step  # type: ignore[no-any-return]


def rows() -> Iterator[Row]:
    """Give a name, suanzi's call and PyTorch's."""
    for dtype in ("bfloat16", "float32"):
        yield from causal_rows(dtype)
        yield from delta_rows(dtype)
        for name, shape in PARAMETERS:
            p, tp = both(*shape, dtype=dtype)
            m, v = sz.zeros(shape, dtype), sz.zeros(shape, dtype)
            for kind in ("fused", "foreach"):
                yield (
                    f"adamw {name} {dtype}, PyTorch's {kind}",
                    lambda a=(p, p, m, v): sz.nn.adamw(*a, 3, 1e-5),
                    torch and optimizer(tp, tp, **{kind: True}),
                )
