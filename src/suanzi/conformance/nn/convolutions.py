"""Cases of convolutions, transposed ones, and their gradients.

Padding is multiplied as other zeros are by some frameworks and left out by others: infinite
weights are tested without padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from suanzi.conformance.nn._calls import Call, Operand, declare

Shape = tuple[int, ...]
PADDED = ("ordinary", "whole numbers", "many magnitudes", "outliers")
ALL = (*PADDED, "special values")


def _forward_calls(n: int) -> Iterator[tuple[str, Shape, Shape, dict[str, Any], str, Any, bool]]:
    """Yield title, shapes of x and weight, parameters, group, classes, whether it has a bias."""
    wide: Shape = ((9,), (5, 6), (3, 4, 4))[n - 1]
    kernel: Shape = ((3,), (3, 2), (2, 3, 2))[n - 1]
    small: Shape = (4, 3, 3)[:n]
    yield "bias", (1, 2, *wide), (3, 2, *kernel), {}, "plain", ALL, True
    moved = {"stride": 2, "padding": 1, "dilation": 2}
    yield (
        "stride, padding, dilation",
        (2, 2, *wide),
        (2, 2, *(2,) * n),
        moved,
        "plain",
        PADDED,
        True,
    )
    grouped = {"groups": 2, "padding": 1}
    yield "groups", (1, 4, *small), (6, 2, *(3,) * n), grouped, "plain", ("ordinary",), True
    depthwise = {"groups": 3, "padding": 1}
    yield "depthwise", (2, 3, *small), (3, 1, *(3,) * n), depthwise, "plain", PADDED[:2], False
    yield "one tap", (2, 5, *small), (3, 5, *(1,) * n), {}, "plain", ("ordinary",), False
    yield "no batch axis", (2, *small), (2, 2, *(2,) * n), {}, "plain", ("ordinary",), True
    yield "no images", (0, 2, *small), (2, 2, *(2,) * n), {}, "empty", ("ordinary",), True


def _sizes(x: Shape, weight: Shape, how: dict[str, Any]) -> list[int]:
    """The sizes of a convolution's result; padding is a number."""
    n = len(weight) - 2
    s, p, d = (how.get(name, default) for name, default in
               (("stride", 1), ("padding", 0), ("dilation", 1)))  # fmt: skip
    pairs = zip(x[-n:], weight[2:], strict=True)
    return [(size + 2 * p - d * (k - 1) - 1) // s + 1 for size, k in pairs]


def _transposed_sizes(x: Shape, weight: Shape, how: dict[str, Any]) -> list[int]:
    n = len(weight) - 2
    s, p, d = (how.get(name, default) for name, default in
               (("stride", 1), ("padding", 0), ("dilation", 1)))  # fmt: skip
    added = how.get("output_padding", 0)
    pairs = zip(x[-n:], weight[2:], strict=True)
    return [(size - 1) * s - 2 * p + d * (k - 1) + added + 1 for size, k in pairs]


def _transposed_calls(n: int) -> Iterator[tuple[str, Shape, Shape, dict[str, Any], str, Any, bool]]:
    small: Shape = ((5,), (3, 4), (2, 3, 2))[n - 1]
    kernel: Shape = ((3,), (3, 2), (2, 2, 2))[n - 1]
    yield "bias", (1, 2, *small), (2, 3, *kernel), {}, "plain", ALL, True
    moved = {"stride": 3, "padding": 1, "output_padding": 1}
    yield "stride, padding", (2, 2, *small), (2, 2, *(3,) * n), moved, "plain", PADDED, True
    gaps = {"stride": 3, "dilation": 2}
    yield "gaps between taps", (1, 2, *small), (2, 2, *(2,) * n), gaps, "plain", ("ordinary",), True
    grouped = {"groups": 2, "stride": 2}
    yield "groups", (1, 4, *small), (4, 3, *(2,) * n), grouped, "plain", ("ordinary",), False
    yield "no batch axis", (2, *small), (2, 2, *(2,) * n), {}, "plain", ("ordinary",), True
    yield "no images", (0, 2, *small), (2, 2, *(2,) * n), {}, "empty", ("ordinary",), True


def _declare(n: int, transposed: bool) -> None:
    name = f"nn:conv_transpose{n}d" if transposed else f"nn:conv{n}d"
    forward, backward = [], []
    for title, x, weight, how, group, classes, has_bias in (
        _transposed_calls(n) if transposed else _forward_calls(n)
    ):
        groups = how.get("groups", 1)
        outputs = weight[1] * groups if transposed else weight[0]
        tensors: dict[str, Any] = {"x": Operand(x), "weight": Operand(weight)}
        biased = {**tensors, "bias": Operand((outputs,))}
        forward.append(Call(title, {**(biased if has_bias else tensors), **how}, group, classes))
        sizes = (_transposed_sizes if transposed else _sizes)(x, weight, how)
        result = (*x[: len(x) - n - 1], outputs, *sizes)
        gradient = {"out_grad": Operand(result), **biased, **how}
        few = tuple(c for c in classes if c != "special values")[:2]
        backward.append(Call(title, gradient, group, few))
    if not transposed:
        x, weight = (2, *(4,) * n), (2, 2, *(2,) * n)
        same = {"x": Operand(x), "weight": Operand(weight), "padding": "same"}
        forward.append(Call("as large as x", same, classes=("ordinary",)))
    declare(name, forward)
    declare(f"{name}_bwd", backward)


for _axes in (1, 2, 3):
    _declare(_axes, False)
    _declare(_axes, True)
