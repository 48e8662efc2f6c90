"""A small program with gradients, which shows what being watched costs beyond what is timed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ROUNDS = 4
"""How often it is run: the fastest counts."""


def program(torch: Any) -> Callable[[], None]:
    """Return a step of a program: some 50 calls of common operators on the CPU, none random."""

    def numbers(*shape: int, grad: bool = False) -> Any:
        x = torch.ones(shape, dtype=torch.float32, device="cpu")
        return x.requires_grad_(grad)

    f = torch.nn.functional
    with torch.inference_mode(False), torch.enable_grad():
        x = numbers(2, 8, 16)
        weights = [numbers(16, grad=True), numbers(16, grad=True), numbers(16, 16, grad=True)]

    def step() -> None:
        with torch.inference_mode(False), torch.enable_grad():
            y = f.layer_norm(x, (16,), weights[0], weights[1])
            for _ in range(2):
                z = f.linear(y, weights[2], weights[1]).view(2, 8, 4, 4).transpose(1, 2)
                z = torch.softmax(z @ z.transpose(2, 3) * 0.5, -1) @ z
                y = y + f.gelu(z.transpose(1, 2).reshape(2, 8, 16))
            gradients = torch.autograd.grad(y.square().mean(), weights)
        gradients = torch._foreach_mul(gradients, 0.5)
        torch._foreach_add_(gradients, gradients, alpha=0.1)

    return step


def hidden_cost(torch: Any, watched: Callable[[Callable[[], None]], tuple[float, int]],
                clock: Callable[[], float]) -> float:  # fmt: skip
    """Return the seconds by which a call that is watched takes longer in the program's own time.

    `watched(step)` runs a step under a watcher and returns what it takes for the program's time,
    and how many calls there were.
    """
    step = program(torch)
    plain = found = float("inf")
    calls = 1
    for _ in range(ROUNDS):
        start = clock()
        step()
        plain = min(plain, clock() - start)
    for _ in range(ROUNDS):
        seconds, calls = watched(step)
        found = min(found, seconds)
    return max(found - plain, 0.0) / max(calls, 1)
