"""A small classifier in bfloat16, forward and backward, with the standard's operators only.

Two layers tell the two arms of a spiral apart. Weights, activations and gradients are bfloat16;
`linear` and `reduce` accumulate in float32 and round once, so that training goes as in float32.

    python examples/bf16_model.py
"""

from __future__ import annotations

from dataclasses import dataclass

import suanzi as sz


@dataclass
class Model:
    """Weights and biases of two layers."""

    first: sz.Tensor
    first_bias: sz.Tensor
    second: sz.Tensor
    second_bias: sz.Tensor


def make_model(dtype: sz.DType, hidden: int = 32) -> Model:
    """Return a model with random weights, the same for every dtype."""
    first = sz.rand_normal((hidden, 2), sz.float32, std=1.0, seed=1)
    second = sz.rand_normal((2, hidden), sz.float32, std=0.25, seed=2)
    zeros = [sz.zeros((n,), dtype) for n in (hidden, 2)]
    return Model(sz.cast(first, dtype), zeros[0], sz.cast(second, dtype), zeros[1])


def spiral(dtype: sz.DType, n: int = 128) -> tuple[sz.Tensor, sz.Tensor]:
    """Return points [2n, 2] on two arms and, one-hot, which arm each is on."""
    turn = sz.linspace(0.25, 3.0, n)
    arm = sz.stack([turn * sz.cos(2 * turn), turn * sz.sin(2 * turn)], axis=1)
    points = sz.concat([arm, -1 * arm], axis=0)
    first = sz.stack([sz.full(sz.float32, "cpu", (n,), 1), sz.zeros((n,))], axis=1)
    return sz.cast(points, dtype), sz.cast(sz.concat([first, sz.flip(first, (1,))], axis=0), dtype)


def step(model: Model, x: sz.Tensor, wanted: sz.Tensor, rate: float) -> float:
    """Go one step down the gradient, and return the loss before it."""
    # forward
    before = sz.linear(x, model.first, model.first_bias)
    hidden = sz.max(before, 0)
    logits = sz.linear(hidden, model.second, model.second_bias)
    shifted = logits - sz.reduce(logits, "MAX", 1, keep_dims=True)
    total = sz.reduce(sz.exp(shifted), "SUM", 1, keep_dims=True)
    loss = sz.reduce(sz.reduce(wanted * (sz.log(total) - shifted), "SUM", 1), "MEAN")
    # backward: the gradient of the loss by the logits is softmax minus what is wanted
    g_logits = (sz.exp(shifted) / total - wanted) / x.shape[0]
    g_hidden = sz.linear_bwd_in(g_logits, model.second)
    g_before = sz.where(before > 0, g_hidden, sz.zeros(g_hidden.shape, g_hidden.dtype))
    model.second = model.second - rate * sz.linear_bwd_weight(g_logits, hidden)
    model.second_bias = model.second_bias - rate * sz.reduce(g_logits, "SUM", 0)
    model.first = model.first - rate * sz.linear_bwd_weight(g_before, x)
    model.first_bias = model.first_bias - rate * sz.reduce(g_before, "SUM", 0)
    return float(loss.item())


def accuracy(model: Model, x: sz.Tensor, wanted: sz.Tensor) -> float:
    """Return how many points are on the arm the model says."""
    hidden = sz.max(sz.linear(x, model.first, model.first_bias), 0)
    logits = sz.linear(hidden, model.second, model.second_bias)
    right = sz.argmax(logits, 1) == sz.argmax(wanted, 1)
    return float(sz.reduce(sz.cast(right, sz.float32), "MEAN").item())


def train(dtype: sz.DType, steps: int = 300, rate: float = 0.5) -> tuple[list[float], float]:
    """Return the losses of a training, and the accuracy at its end."""
    model = make_model(dtype)
    x, wanted = spiral(dtype)
    losses = [step(model, x, wanted, rate) for _ in range(steps)]
    return losses, accuracy(model, x, wanted)


def main() -> None:
    """Train in float32 and in bfloat16."""
    for dtype in (sz.float32, sz.bfloat16):
        losses, right = train(dtype)
        shown = " ".join(f"{loss:.3f}" for loss in losses[:: len(losses) // 6])
        print(f"{dtype!s:9} loss {shown}; {right:.1%} of the points are classified correctly")


if __name__ == "__main__":
    main()
