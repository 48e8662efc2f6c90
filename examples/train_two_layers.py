"""A two-layer network trained by the backward operators, in float32 and in bfloat16.

A backward operator takes the gradient of a result and the inputs of the forward operator, and
returns the gradients of those inputs; the program calls them in reverse order. The network learns
which of three rings around the origin a point lies in.

    python examples/train_two_layers.py
"""

from __future__ import annotations

import suanzi as sz

Weights = dict[str, sz.Tensor]


def make(dtype: sz.DType, hidden: int = 32, classes: int = 3) -> Weights:
    """Return random weights, the same for every dtype."""
    first = sz.rand_normal((hidden, 2), sz.float32, std=1.0, seed=1)
    second = sz.rand_normal((classes, hidden), sz.float32, std=hidden**-0.5, seed=2)
    return {
        "first": sz.cast(first, dtype),
        "first_bias": sz.zeros((hidden,), dtype),
        "second": sz.cast(second, dtype),
        "second_bias": sz.zeros((classes,), dtype),
    }


def rings(count: int = 192, seed: int = 3) -> tuple[sz.Tensor, sz.Tensor]:
    """Return points (count, 2), and the ring that each lies in."""
    points = sz.rand_uniform((count, 2), sz.float32, min=-2.0, max=2.0, seed=seed)
    distance = sz.sqrt(sz.reduce(points * points, "SUM", 1))
    ring = sz.cast(distance > 0.9, sz.int64) + sz.cast(distance > 1.6, sz.int64)
    return points, ring


def forward(weights: Weights, x: sz.Tensor) -> tuple[sz.Tensor, sz.Tensor, sz.Tensor]:
    """Return what the first layer gives, its activation, and the logits."""
    before = sz.nn.linear(x, weights["first"], weights["first_bias"])
    hidden = sz.nn.gelu(before)
    return before, hidden, sz.nn.linear(hidden, weights["second"], weights["second_bias"])


def step(weights: Weights, x: sz.Tensor, ring: sz.Tensor, rate: float) -> float:
    """Go one step down the gradient, and return the loss before it."""
    before, hidden, logits = forward(weights, x)
    loss = sz.nn.cross_entropy(logits, ring)
    one = sz.full(logits.dtype, "cpu", (), 1)
    logits_grad = sz.nn.cross_entropy_bwd(one, logits, ring)
    hidden_grad, second, second_bias = sz.nn.linear_bwd(
        logits_grad, hidden, weights["second"], weights["second_bias"]
    )
    before_grad = sz.nn.gelu_bwd(hidden_grad, before)
    _, first, first_bias = sz.nn.linear_bwd(before_grad, x, weights["first"], weights["first_bias"])
    gradients = (first, first_bias, second, second_bias)
    for name, gradient in zip(weights, gradients, strict=True):
        weights[name] = weights[name] - rate * gradient
    return float(loss.item())


def train(dtype: sz.DType, steps: int = 400, rate: float = 0.5) -> tuple[list[float], float]:
    """Return the losses of a training, and how many points are classified right at its end."""
    weights, (points, ring) = make(dtype), rings()
    x = sz.cast(points, dtype)
    losses = [step(weights, x, ring, rate) for _ in range(steps)]
    right = sz.argmax(forward(weights, x)[2], 1) == ring
    return losses, float(sz.reduce(sz.cast(right, sz.float32), "MEAN").item())


def main() -> None:
    """Train in float32 and in bfloat16."""
    for dtype in (sz.float32, sz.bfloat16):
        losses, right = train(dtype)
        shown = " ".join(f"{loss:.3f}" for loss in losses[:: len(losses) // 8])
        print(f"{dtype!s:9} loss {shown}; {right:.0%} of the points are classified right")


if __name__ == "__main__":
    main()
