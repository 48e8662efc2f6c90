"""Steps of optimizers under blame: right ones, and ones with faults; prints one JSON object."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from planted import Plant

import suanzi as sz

Tensor = torch.Tensor
ADAM = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.1}
FUSED: dict[str, dict[str, Any]] = {
    "plain": {}, "maximize": {"maximize": True}, "lr tensor": {"lr": torch.tensor(1e-3)},
    "decay": {"weight_decay": 0.1}, "amsgrad": {"amsgrad": True}, "nesterov": {"nesterov": True,
    "momentum": 0.9}, "momentum": {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1},
    "other betas": {"betas": (0.5, 0.99), "eps": 1e-4},
}  # fmt: skip
KNOWN = {
    "Adam": ("amsgrad", "other betas"), "AdamW": ("amsgrad", "other betas"),
    "SGD": ("nesterov", "momentum"), "Adagrad": (),
}  # fmt: skip
FOREACH = ("SGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adadelta", "Adagrad", "RMSprop",
           "ASGD", "Rprop", "Adafactor")  # fmt: skip


def parameters(dtype: torch.dtype, count: int = 3) -> list[torch.nn.Parameter]:
    """Return parameters of some sizes; their gradients span many magnitudes."""
    torch.manual_seed(0)
    made = [torch.nn.Parameter(torch.randn(7, 5 + 60 * i).to(dtype)) for i in range(count)]
    for one in made:
        scale = 10.0 ** torch.randint(-6, 1, one.shape)
        one.grad = (torch.randn(one.shape) * scale).to(dtype)
    return made


def step(name: str, dtype: torch.dtype, scaler: Any = None, steps: int = 3, **more: Any) -> Any:
    """Make some steps, and return the optimizer."""
    given = parameters(dtype)
    optimizer = getattr(torch.optim, name)(given, **more)
    grads = [p.grad.clone() for p in given if p.grad is not None]
    for i in range(steps):
        for p, g in zip(given, grads, strict=True):
            p.grad = g * (i + 1) if scaler is None else g * (i + 1) * scaler.get_scale()
        if scaler is None:
            optimizer.step()
            continue
        if i == 1:
            assert given[1].grad is not None
            given[1].grad[0, 0] = float("inf")
        scaler.scale(torch.ones(()))  # which begins to scale
        scaler.step(optimizer)
        scaler.update()
    return optimizer


def said(report: Any) -> Any:
    """Return what a report says that is not as it should be."""
    skipped = {**report.counted("no truth"), **report.unjudged()}
    inaccurate = sorted({site.operator for site in report.findings})
    return [report.answer, skipped, inaccurate]


def skips_blocks() -> bool:
    """Return whether fused steps of SGD in 16 bits leave whole registers as they were, on a CPU.

    They do in PyTorch before the fix of pytorch#191763, which is in none of 2.11, 2.12 and 2.13.
    """
    given = torch.nn.Parameter(torch.ones(64, dtype=torch.bfloat16))
    given.grad = torch.ones_like(given)
    torch.optim.SGD([given], lr=0.5, fused=True).step()
    return bool((given.detach() == 1).any())


def loses_epsilon() -> bool:
    """Return whether fused steps of Adagrad in float16 divide 0 by 0: they compute in float16."""
    given = torch.nn.Parameter(torch.ones(64, dtype=torch.float16))
    given.grad = torch.arange(64).to(given.dtype) * 1e-6
    torch.optim.Adagrad([given], lr=0.5, fused=True).step()
    return not bool(given.detach().isfinite().all())


def right() -> Iterator[tuple[str, Any]]:
    """Make all steps with PyTorch's own operators."""
    for name, kinds in KNOWN.items():
        for kind in ("plain", "maximize", "lr tensor", "decay", *kinds):
            for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
                with sz.blame(overhead=None) as report:
                    step(name, dtype, fused=True, **FUSED[kind])
                yield f"{name} {kind} {dtype}", said(report)
        for many in ({"fused": True}, {"foreach": True}):
            scaler = torch.amp.GradScaler("cpu", 1024.0, growth_interval=2)
            with sz.blame(overhead=None) as report:
                step(name, torch.float32, scaler, **many)
            yield f"{name} scaled {many}", said(report)
    for name in FOREACH:
        for dtype in (torch.float32, torch.bfloat16):
            with sz.blame(overhead=None) as report:
                step(name, dtype, foreach=True)
            yield f"{name} foreach {dtype}", said(report)


# ---- other kernels -------------------------------------------------------------------------------


def in_float32(change: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    """Return a kernel of Adam that computes all in float32, as that of CUDA does.

    `change` puts a fault into it, by names of its numbers.
    """

    def kernel(func: Any, self: Any, grads: Any, means: Any, squares: Any, most: Any, steps: Any,
               **w: Any) -> None:  # fmt: skip
        f = np.float32
        is_adamw = "adamw" in func._schema.name
        for p, g, m, v, n in zip(self, grads, means, squares, steps, strict=True):
            lr, b1, b2, eps, decay = (
                f(float(w[k])) for k in ("lr", "beta1", "beta2", "eps", "weight_decay")
            )
            p_, g_, m_, v_ = (x.detach().float().numpy() for x in (p, g, m, v))
            now: dict[str, Any] = {"power1": b1 ** f(float(n)), "power2": b2 ** f(float(n)),
                                   "inside": f(0), "times": 1, "late": f(0)}  # fmt: skip
            if change is not None:
                change(now)
            for _ in range(now["times"]):
                g_ = g_ if is_adamw else g_ + p_ * decay
                p_ = p_ - lr * decay * p_ if is_adamw else p_
            m_ = b1 * m_ + (f(1) - b1) * g_
            v_ = b2 * v_ + (f(1) - b2) * (g_ * g_)
            root = np.sqrt(f(1) - now["power2"])
            below = np.sqrt(v_ + now["inside"] * eps) / root + (f(1) - now["inside"]) * eps
            size = lr / (f(1) - now["power1"])
            p_ = p_ - size * m_ / below - now["late"] * lr * p_
            for x, made in ((p, p_), (m, m_), (v, v_)):
                x.detach().copy_(torch.from_numpy(made))

    return kernel


FAULTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no correction of the mean": lambda n: n.update(power1=np.float32(0)),
    "no correction of the squares": lambda n: n.update(power2=np.float32(0)),
    "corrections of the next step": lambda n: n.update(
        power1=n["power1"] * np.float32(0.9), power2=n["power2"] * np.float32(0.999)
    ),
    "epsilon inside of the root": lambda n: n.update(inside=np.float32(1)),
    "decay applied twice": lambda n: n.update(times=2),
    "no decay": lambda n: n.update(times=0),
    "another decay at the end": lambda n: n.update(late=np.float32(0.01)),
}


def others() -> Iterator[tuple[str, Any]]:
    """Make steps with a kernel in float32, right and with faults."""
    for name in ("Adam", "AdamW"):
        operator = f"_fused_{name.lower()}_"
        for fault, change in {"": None, **FAULTS}.items():
            with Plant(operator, in_float32(change)), sz.blame(overhead=None) as report:
                step(name, torch.float32, steps=2, fused=True, **ADAM)
            found = [site.operator for site in report.findings if site.kind == "wrong"]
            yield f"{name} {fault}", [report.answer, found]


def sgd(**change: Any) -> Any:
    """Return a kernel of gradient descent with other arguments."""
    return lambda func, *args, **kwargs: func(*args, **{**kwargs, **change})


def third(func: Any, tensors: Any, *args: Any, **kwargs: Any) -> None:
    """Leave out a gradient that is scaled."""
    func(tensors[:-1], *args, **kwargs)


def faults() -> Iterator[tuple[str, Any]]:
    """Plant faults into other steps."""
    more = FUSED["momentum"]
    for name, kernel, options in (
        ("_fused_sgd_", sgd(nesterov=True), more), ("_fused_sgd_", sgd(dampening=0.0), more),
        ("_fused_sgd_", sgd(weight_decay=0.0), more), ("_fused_sgd_", sgd(maximize=True), more),
        ("_fused_sgd_", sgd(grad_scale=None), more), ("_fused_sgd_", sgd(found_inf=None), more),
        ("_amp_foreach_non_finite_check_and_unscale_", third, {"fused": False, "foreach": True}),
        ("_amp_update_scale_", lambda func, *args: func(*args[:3], 3.0, *args[4:]), more),
    ):  # fmt: skip
        scaler = torch.amp.GradScaler("cpu", 1024.0, growth_interval=1)
        with Plant(name, kernel), sz.blame(overhead=None) as report:
            step("SGD", torch.float32, scaler, **{"fused": True, **options})
        yield name, [site.operator for site in report.findings if site.kind == "wrong"]


if __name__ == "__main__":
    torch.set_num_threads(1)
    found = {"right": dict(right()), "others": dict(others()), "faults": list(faults())}
    print(json.dumps({**found, "skips blocks": skips_blocks(), "loses epsilon": loses_epsilon()}))
