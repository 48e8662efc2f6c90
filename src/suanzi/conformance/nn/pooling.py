"""Cases of pooling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from suanzi.conformance.nn._calls import Call, Operand, declare

SOME = ("ordinary", "whole numbers", "many magnitudes", "constant", "special values")
SHAPES = {1: (2, 2, 7), 2: (2, 2, 5, 6), 3: (1, 2, 4, 3, 5)}


def _outputs(n: int, k: int, s: int, p: int, d: int, up: bool) -> int:
    """How many windows an axis has, counted."""
    span, found, start = d * (k - 1) + 1, 0, -p
    while start + span <= n + p or (up and start < n and start + span < n + p + s):
        found, start = found + 1, start + s
    return found


def _with_gradient(call: Call, rank: int) -> Call:
    """Return the call of the backward operator."""
    given = dict(call.arguments)
    x = given["x"]
    sizes = x.shape[-rank:]

    def each(name: str, default: Any) -> list[int]:
        value = given.get(name, default)
        return [value] * rank if isinstance(value, int) else list(value)

    if "output_size" in given:
        out = [n if m is None else m for n, m in zip(sizes, each("output_size", 1), strict=True)]
    else:
        kernel = each("kernel_size", 1)
        each_axis = zip(sizes, kernel, each("stride", kernel), each("padding", 0),
                        each("dilation", 1), strict=True)  # fmt: skip
        out = [_outputs(*one, given.get("ceil_mode", False)) for one in each_axis]
    grad = Operand((*x.shape[:-rank], *out))
    return replace(call, arguments={"out_grad": grad, **given})


def _call(title: str, rank: int, group: str = "plain", shape: Any = None, **more: Any) -> Call:
    x = Operand(shape or SHAPES[rank])
    given = {"x": x, **more}
    if group == "plain":
        return Call(title, given)
    return Call(title, given, "plain" if group == "shaped" else group, ("ordinary",))


def _both(name: str, rank: int, calls: list[Call]) -> None:
    declare(f"nn:{name}{rank}d", calls, SOME)
    declare(f"nn:{name}{rank}d_bwd", [_with_gradient(c, rank) for c in calls], SOME)


for rank in (1, 2, 3):
    plain = SHAPES[rank]
    sliding = [
        _call("kernel 2", rank, kernel_size=2),
        _call("kernel 3, stride 2, padding 1", rank, kernel_size=3, stride=2, padding=1),
        _call("overlapping, a kernel for each axis", rank, "shaped",
              kernel_size=[2, 3, 1][:rank], stride=[1, 2, 1][:rank]),
        _call("ceil_mode", rank, "shaped", kernel_size=2, stride=2, ceil_mode=True),
        _call("ceil_mode and padding", rank, "shaped", kernel_size=3, stride=2, padding=1,
              ceil_mode=True),
        _call("no batch", rank, "shaped", plain[1:], kernel_size=2),
        _call("an empty batch", rank, "empty", (0, *plain[1:]), kernel_size=2),
        _call("no channels", rank, "empty", (1, 0, *plain[2:]), kernel_size=2),
    ]  # fmt: skip
    dilated = [
        _call("dilation", rank, "shaped", kernel_size=2, stride=1, padding=1, dilation=2),
        _call("a window of padding", rank, "shaped", (1, 1, *[1] * rank), kernel_size=2,
              stride=1, padding=1, dilation=2),
    ]  # fmt: skip
    counted = [
        _call("padding does not count", rank, "shaped", kernel_size=3, stride=2, padding=1,
              ceil_mode=True, count_include_pad=False),
        _call("divisor_override", rank, "shaped", kernel_size=2, divisor_override=3),
    ]  # fmt: skip
    even = [
        _call("one window", rank, output_size=1),
        _call("three windows", rank, output_size=3),
        _call("more windows than elements", rank, "shaped", output_size=[8, 2, 7][:rank]),
        _call("no batch", rank, "shaped", plain[1:], output_size=2),
        _call("no windows", rank, "empty", output_size=0),
    ]
    _both("max_pool", rank, sliding + dilated)
    _both("avg_pool", rank, sliding + counted)
    _both("adaptive_avg_pool", rank, even)
    _both("adaptive_max_pool", rank, even)
