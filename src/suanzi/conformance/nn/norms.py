"""Cases of norms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from suanzi.conformance.nn._calls import Call, Operand, declare

ALL = ("ordinary", "whole numbers", "many magnitudes", "constant", "outliers", "special values")
FINITE = ("ordinary", "whole numbers", "outliers")
PLAIN = ("ordinary",)
SIZES = (1, 31, 33, 129)


def layers(*names: str, **more: Any) -> list[Call]:
    """Return calls of a norm over the last axes with weights of some names."""

    def call(shape: tuple[int, ...], count: int = 1, **of: Any) -> dict[str, Any]:
        return {"x": Operand(shape), "normalized_shape": list(shape[-count:]), **of}

    weights: dict[str, Any] = {name: Operand((7,)) for name in names}
    both: dict[str, Any] = {name: Operand((3, 4)) for name in names}
    return [
        Call("rows of 7", call((5, 7))),
        Call("weighted", call((5, 7), **weights)),
        Call("two axes", call((2, 3, 4), 2, **both), "plain", PLAIN),
        Call("with a large eps", call((2, 5), eps=0.5), "plain", PLAIN),
        *(Call(f"a row of {n}", call((2, n)), "sizes", PLAIN, quick=n < 100) for n in SIZES),
        Call("no elements", call((3, 0)), "empty", PLAIN),
        Call("no rows", call((0, 3)), "empty", PLAIN),
        *(Call(f"{name} of {value}", call((3, 7), **weights, **{name: value}), "plain", PLAIN)
          for name, value in more.items()),
    ]  # fmt: skip


def weighted(shape: tuple[int, ...], **more: Any) -> dict[str, Any]:
    """Return x of a shape, with weight and bias for each channel."""
    return {"x": Operand(shape), **more, **dict.fromkeys(("weight", "bias"), Operand(shape[1:2]))}


GROUPS = [
    Call("two groups", {"x": Operand((2, 4, 3)), "num_groups": 2}),
    Call("weighted", weighted((2, 6, 3), num_groups=3)),
    Call("without later axes", weighted((3, 6), num_groups=2), "plain", PLAIN),
    Call("one group", weighted((2, 3, 2, 3), num_groups=1, eps=0.25), "plain", PLAIN),
    Call("more than a vector", weighted((1, 2, 35), num_groups=1), "sizes", PLAIN, quick=False),
    Call("no rows", {"x": Operand((0, 4, 3)), "num_groups": 2}, "empty", PLAIN),
    Call("no elements", {"x": Operand((2, 4, 0)), "num_groups": 2}, "empty", PLAIN),
]
INSTANCES = [
    Call("by instance", {"x": Operand((2, 3, 5))}),
    Call("weighted", weighted((2, 2, 3, 3))),
    Call("more than a vector", weighted((2, 1, 35), eps=0.5), "sizes", PLAIN, quick=False),
    Call("no rows", {"x": Operand((0, 4, 3))}, "empty", PLAIN),
]


def running(shape: tuple[int, ...], **more: Any) -> dict[str, Any]:
    """Return x of a shape with running statistics."""
    mean, var = Operand(shape[1:2]), Operand(shape[1:2], 0.25, 4.0)
    return {"x": Operand(shape), "running_mean": mean, "running_var": var, **more}


BATCHES = [
    Call("by running statistics", running((4, 3))),
    Call("weighted", {**running((2, 3, 9)), **weighted((2, 3, 9))}, "plain", FINITE),
    Call("in training", running((5, 3), training=True)),
    Call("in training, weighted", {**weighted((2, 3, 9), training=True)}, "plain", FINITE),
    Call("more than a vector", {"x": Operand((3, 2, 35)), "training": True, "eps": 0.5}, "sizes",
         PLAIN, quick=False),
    Call("no rows", running((0, 3)), "empty", PLAIN),
]  # fmt: skip
UPDATES = [
    Call("half of the batch", running((4, 2), training=True, momentum=0.5), "plain", PLAIN),
    Call("not unbiased", running((4, 2), training=True, unbiased=False), "plain", PLAIN),
]
LENGTHS = [
    Call("rows of 7", {"x": Operand((5, 7))}),
    Call("columns", {"x": Operand((4, 3)), "axis": 0}, "plain", PLAIN),
    Call("axis in the middle", {"x": Operand((2, 4, 3))}, "plain", PLAIN),
    *(Call(f"p = {p}", {"x": Operand((3, 5)), "p": p}, "plain", FINITE)
      for p in (0.0, 1.0, float("inf"))),
    Call("shorter than eps", {"x": Operand((2, 3)), "eps": 100.0}, "plain", PLAIN),
    Call("a row of 35", {"x": Operand((2, 35))}, "sizes", PLAIN, quick=False),
    Call("no elements", {"x": Operand((3, 0))}, "empty", PLAIN),
    Call("no rows", {"x": Operand((0, 3))}, "empty", PLAIN),
]  # fmt: skip


def pairs(x: tuple[int, ...], y: tuple[int, ...], **more: Any) -> dict[str, Any]:
    """Return two operands by their shapes."""
    return {"x1": Operand(x), "x2": Operand(y), **more}


COSINES = [
    Call("rows of 7", pairs((5, 7), (5, 7))),
    Call("columns", pairs((4, 3), (4, 3), axis=0), "plain", PLAIN),
    Call("one with many", pairs((1, 5), (4, 5)), "broadcast", PLAIN),
    Call("shorter than eps", pairs((2, 3), (2, 3), eps=100.0), "plain", PLAIN),
    Call("shorter than eps together", pairs((2, 3), (2, 3), eps=100.0, joint=True), "plain", PLAIN),
    Call("together", pairs((2, 3), (2, 3), joint=True), "plain", PLAIN),
    Call("a row of 35", pairs((2, 35), (2, 35)), "sizes", PLAIN, quick=False),
    Call("no elements", pairs((3, 0), (3, 0)), "empty", PLAIN),
]


def back(calls: list[Call], reduces: bool = False) -> list[Call]:
    """Return the calls of a gradient: one of the result comes first.

    That of one element alone is rounding: it does not change, or hardly.
    """

    def with_gradient(call: Call) -> Call:
        given = call.arguments
        shape = (given["x"] if "x" in given else given["x2"]).shape
        axis = given.get("axis", 1) if reduces else None
        kept = tuple(n for a, n in enumerate(shape) if a != axis)
        return replace(call, arguments={"out_grad": Operand(kept), **given})

    return [with_gradient(call) for call in calls if call.title != "a row of 1"]


for name, calls in {
    "layer_norm": layers("weight", "bias"),
    "rms_norm": layers("weight", offset=1.0),
    "group_norm": GROUPS,
    "instance_norm": INSTANCES,
    "normalize": LENGTHS,
}.items():
    declare(f"nn:{name}", calls, ALL)
    declare(f"nn:{name}_bwd", back(calls), FINITE)
declare("nn:batch_norm", [*BATCHES, *UPDATES], ALL)
declare("nn:batch_norm_bwd", back(BATCHES), FINITE)
declare("nn:cosine_similarity", COSINES, ALL)
declare("nn:cosine_similarity_bwd", back(COSINES, reduces=True), FINITE)
