"""What Triton kernels of Liger-Kernel and FlagGems give, next to PyTorch in float64; no suanzi.

    python benchmarks/judge_triton_by_hand.py            # on a GPU

It is read next to results/judge-triton.json: who doubts a refusal sees here a result and the number
it should be, with the error in units of the last place (0.5 is the best that rounding can do).
"""

# ruff: noqa: D103 - the names say it
import math
import sys

import judge_triton_kernels as kernels
import torch
import torch.nn.functional as F

NAN, INF = math.nan, math.inf
G = {"device": "cuda"}


def units(made, right):
    """Return the largest error in units of the last place of the result, and where it is."""
    info = torch.finfo(made.dtype)
    size = right.abs().clamp(min=info.tiny).clamp(max=info.max)
    unit = 2.0 ** torch.floor(torch.log2(size)) * info.eps
    off = (made.double() - right).abs() / unit
    off = torch.where(torch.isfinite(off), off, 0 * off.nan_to_num(0, 0, 0))
    at = int(off.argmax())
    return float(off.flatten()[at]), float(made.flatten()[at]), float(right.flatten()[at])


def say(name, words):
    print(f"{name}: {words}", flush=True)


def unary(name, right, low=-4.0, high=4.0, special=()):
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        x = torch.linspace(low, high, 20001, **G).to(dtype)
        try:
            off, made, due = units(getattr(kernels, name)(x), right(x.double()))
            say(name, f"{dtype}: {off:.2f} units: {made!r}, not {due!r}")
        except Exception as error:
            say(name, f"{dtype}: {type(error).__name__}: {str(error)[:150]}")
    if special:
        x = torch.tensor(special, **G)
        made = getattr(kernels, name)(x).tolist()
        say(name, f"of {x.tolist()}: {made}, not {right(x.double()).tolist()}")


def rows(name, right, extra=lambda n, dtype: (), gradient=False, scale=1.0):
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        torch.manual_seed(1)
        x = (torch.randn(64, 1000, **G) * scale).to(dtype).requires_grad_(gradient)
        more = [t.to(dtype) for t in extra(1000, dtype)]
        wide = x.detach().double().requires_grad_(gradient)
        made = getattr(kernels, name)(x, *more)
        due = right(wide, *[t.double() for t in more])
        if gradient:
            g = torch.randn(made.shape, **G).to(dtype)
            made = torch.autograd.grad(made, x, g)[0]
            due = torch.autograd.grad(due, wide, g.double())[0]
        off, got, want = units(made.detach(), due.detach())
        what = " gradient" * gradient
        say(name, f"{dtype}{what}: {off:.2f} units: {got!r}, not {want!r}")


def weights(n, dtype):
    return torch.rand(n, **G) + 0.5, torch.randn(n, **G)


def weight(n, dtype):
    return (torch.rand(n, **G) + 0.5,)


def other(n, dtype):
    return (torch.randn(64, n, **G),)


def rms(x, w):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w


def cancels(x):
    return torch.where(x > 0, x, torch.expm1(x))


def elements():
    unary("gems_exp", torch.exp, -80, 80)
    unary("gems_tanh", torch.tanh, special=[1e-40, 1e-3])
    unary("gems_rsqrt", torch.rsqrt, 0.01, 9, special=[1e-40, 1e-3])
    unary("gems_erf", torch.erf)
    unary("gems_gelu", F.gelu, special=[NAN, INF, -INF])
    unary("gems_gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), special=[NAN, INF, -INF])
    unary("gems_silu", F.silu, special=[NAN, INF, -INF])
    unary("gems_sigmoid", torch.sigmoid, special=[NAN, INF, -INF])
    unary("gems_relu", F.relu, special=[NAN, 1.0])
    unary("gems_hardsigmoid", F.hardsigmoid, special=[NAN, -2.9999998, 1.0])
    unary("gems_log_sigmoid", F.logsigmoid, special=[26.0, 100.0, -100.0])
    unary("gems_elu", cancels, special=[-1e-7, -1e-3])
    unary("gems_celu", cancels, special=[-1e-7, -1e-3])
    unary("gems_softplus", F.softplus, special=[-26.0, 19.0, 30.0])
    unary("liger_relu_squared", lambda x: F.relu(x) ** 2, special=[NAN, 2.0])


def shapes():
    a, b = torch.randn(3, 1, **G), torch.randn(1, 4, **G)
    for name in ("gems_add", "gems_mul"):
        say(name, f"(3, 1) and (1, 4) give the shape {tuple(getattr(kernels, name)(a, b).shape)}")
    x = torch.randn(6, 8, **G)
    made = kernels.gems_group_norm(x, torch.ones(8, **G), torch.zeros(8, **G), 4)
    off, got, want = units(made, F.group_norm(x.double(), 4))
    say("gems_group_norm", f"of 2 axes: {off:.3g} units: {got!r}, not {want!r}")
    x = torch.tensor([[1.0, NAN, 2.0], [1.0, 2.0, 3.0]], **G)
    say("gems_log_softmax", f"a row with NaN: {kernels.gems_log_softmax(x)[0].tolist()}")
    x = torch.randn(2, 4, 8, **G).half()
    x[0, 0, 0] = 4000
    args = torch.ones(4, **G).half(), torch.zeros(4, **G).half(), 2
    off, got, want = units(kernels.liger_group_norm(x, *args), F.group_norm(x.double(), 2))
    say("liger_group_norm", f"float16 with 4000 in it: {off:.3g} units: {got!r}, not {want!r}")
    x = torch.log_softmax(torch.randn(4, 9, **G), -1).half()
    t = torch.softmax(torch.randn(4, 9, **G), -1).half()
    say("liger_kl_div", f"of float16: {kernels.liger_kl_div(x, t).dtype}")
    for name in ("liger_swiglu", "liger_geglu"):
        u, v = (torch.randn(4, 9, **G, requires_grad=True) for _ in range(2))
        before = u.detach().clone()
        getattr(kernels, name)(u, v).sum().backward()
        say(name, f"its input is the same after backward: {bool((u == before).all())}")


def reductions():
    rows("liger_softmax", lambda x: torch.softmax(x, -1))
    rows("liger_softmax", lambda x: torch.softmax(x, -1), gradient=True)
    rows("gems_softmax", lambda x: torch.softmax(x, -1))
    rows("gems_log_softmax", lambda x: torch.log_softmax(x, -1))
    for name in ("liger_layer_norm", "gems_layer_norm"):
        rows(name, lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b), weights)
    for name in ("liger_rms_norm", "gems_rms_norm"):
        rows(name, rms, weight)
        rows(name, rms, weight, gradient=True)
    rows("liger_rms_norm_gemma", lambda x, w: rms(x, w + 1), weight)
    for name in ("liger_swiglu", "gems_silu_and_mul"):
        rows(name, lambda x, y: F.silu(x) * y, other)
    rows("liger_geglu", lambda x, y: F.gelu(x, approximate="tanh") * y, other)
    rows("gems_gelu_and_mul", lambda x, y: F.gelu(x) * y, other)
    rows("gems_mse_loss", F.mse_loss, other)
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        x, t = torch.randn(64, 1000, **G).to(dtype), torch.arange(64, **G)
        for name in ("liger_cross_entropy", "gems_cross_entropy"):
            off, got, want = units(getattr(kernels, name)(x, t), F.cross_entropy(x.double(), t))
            say(name, f"{dtype}: {off:.2f} units: {got!r}, not {want!r}")


def ignored():
    """Call cross entropy with a target that counts for nothing; it may lose the device."""
    x, t = torch.randn(5, 7, **G), torch.tensor([1, -100, 2, 0, 3], **G)
    for name in ("liger_cross_entropy", "gems_cross_entropy"):
        got = float(getattr(kernels, name)(x, t))
        torch.cuda.synchronize()
        say(name, f"with a target of -100: {got!r}, not {float(F.cross_entropy(x.double(), t))!r}")


if __name__ == "__main__":
    for part in (elements, shapes, reductions, ignored):
        try:
            part()
        except Exception as error:
            say(part.__name__, f"{type(error).__name__}: {str(error)[:300]}")
    sys.stdout.flush()
