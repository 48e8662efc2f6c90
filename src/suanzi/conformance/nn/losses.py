"""Cases of losses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from suanzi.conformance.nn._calls import Call, Operand, declare

ALL = ("ordinary", "whole numbers", "many magnitudes", "constant", "outliers", "special values")
ONE = Operand((), 0.5, 2.0)


def labels(shape: tuple[int, ...], *numbers: int) -> Operand:
    """Return class numbers."""
    return Operand(shape, values=tuple(map(float, numbers)), dtype="int64")


def backward(calls: list[Call], x: str, reduces: tuple[int, ...] | None = None) -> list[Call]:
    """Return the calls of a backward operator: with a gradient of the loss."""
    made = []
    for call in calls:
        given: Operand = call.arguments[x]
        axis = call.arguments.get("axis", 1) % max(len(given.shape), 1)
        shape = given.shape if x == "x" and reduces is None else tuple(
            n for a, n in enumerate(given.shape) if a != (axis if len(given.shape) > 1 else 0)
        )  # fmt: skip
        whole = call.arguments.get("reduction", "mean") != "none"
        grad = ONE if whole else Operand(shape)
        made.append(replace(call, arguments={"out_grad": grad, **call.arguments}))
    return made


# ---- rows of classes -----------------------------------------------------------------------------

X = Operand((5, 7))
OF_5 = labels((5,), 0, 6, 3, -100, 2)
WEIGHT = Operand((7,), 0.25, 2.0)


def rows(x: str) -> list[Call]:
    """Return the calls that losses of classes share; x is the name of the rows."""
    return [
        Call("mean", {x: X, "target": OF_5}),
        Call("sum", {x: X, "target": OF_5, "reduction": "sum"}),
        Call("none", {x: X, "target": OF_5, "reduction": "none"}),
        Call("weights", {x: X, "target": OF_5, "weight": WEIGHT}),
        Call("another ignore_index", {x: X, "target": labels((5,), 0, 6, 3, 3, 2),
                                      "ignore_index": 3}, "plain", ("ordinary",)),
        Call("a row of rank 1", {x: Operand((4,)), "target": labels((), 2)}, "plain",
             ("ordinary",)),
        Call("images", {x: Operand((2, 3, 2, 2)), "target": labels((2, 2, 2), *([0, 1, 2, 1] * 2)),
                        "reduction": "none"}, "plain", ("ordinary",)),
        Call("the last axis", {x: Operand((2, 2, 3)), "target": labels((2, 2), 0, 1, 2, 1),
                               "axis": -1}, "plain", ("ordinary",)),
        *(Call(f"{n} classes", {x: Operand((2, n)), "target": labels((2,), 0, n - 1)}, "sizes",
               ("ordinary",), quick=n < 100) for n in (1, 33, 129)),
        Call("all ignored", {x: Operand((2, 3)), "target": labels((2,), -100, -100)}, "empty",
             ("ordinary",)),
        Call("no rows", {x: Operand((0, 3)), "target": labels((0,)), "reduction": "sum"}, "empty",
             ("ordinary",)),
    ]  # fmt: skip


P = Operand((5, 7), 0.0, 1.0)
EMPTY_MEAN = {"target": labels((2,), -100, -100), "empty_mean": 0.0}
SMOOTH: list[Call] = [
    Call("smoothing", {"logits": X, "target": OF_5, "label_smoothing": 0.125}),
    Call("smoothing and weights",
         {"logits": X, "target": OF_5, "weight": WEIGHT, "label_smoothing": 0.25}),
    Call("probabilities", {"logits": X, "target": P}),
    Call("probabilities, weights and smoothing",
         {"logits": X, "target": P, "weight": WEIGHT, "label_smoothing": 0.25,
          "reduction": "none"}),
]  # fmt: skip

NONE_OF = [
    Call("a mean of nothing that is 0", {x: Operand((2, 3)), **EMPTY_MEAN}, "empty", ("ordinary",))
    for x in ("logits", "x")
]
declare("nn:cross_entropy", [*rows("logits"), *SMOOTH, NONE_OF[0]], ALL)
declare("nn:cross_entropy_bwd", backward(rows("logits") + SMOOTH, "logits", (1,)), ALL)
declare("nn:nll_loss", [*rows("x"), NONE_OF[1]], ALL)
declare("nn:nll_loss_bwd", backward(rows("x"), "x", (1,)), ALL)

# ---- pairs ---------------------------------------------------------------------------------------


def pairs(
    low: float = -4.0, high: float = 4.0, least: float | None = None, **more: Any
) -> list[Call]:
    """Return the calls that losses of pairs share; the target is between `least` and high."""
    x, y = Operand((3, 5), low, high), Operand((3, 5), low if least is None else least, high)
    long, also = Operand((1500,), low, high), Operand((1500,), y.low, high)
    return [
        Call("mean", {"x": x, "target": y, **more}),
        Call("sum", {"x": x, "target": y, "reduction": "sum", **more}),
        Call("none", {"x": x, "target": y, "reduction": "none", **more}),
        Call("a block and a half", {"x": long, "target": also, **more}, "sizes", ("ordinary",),
             quick=False),
        Call("of rank 0", {"x": replace(x, shape=()), "target": replace(y, shape=()), **more},
             "plain", ("ordinary",)),
        Call("no elements", {"x": replace(x, shape=(0,)), "target": replace(y, shape=(0,)), **more},
             "empty", ("ordinary",)),
    ]  # fmt: skip


def named(parameter: str, *values: float) -> list[Call]:
    """Return calls with a parameter."""
    return [
        replace(pairs(**{parameter: value})[2], title=f"{parameter}={value}") for value in values
    ]


def both(name: str, calls: list[Call], classes: tuple[str, ...] = ALL) -> None:
    """Declare the cases of a loss and of its gradients."""
    declare(f"nn:{name}", calls, classes)
    declare(f"nn:{name}_bwd", backward(calls, "x"), classes)


both("mse_loss", pairs())
both("l1_loss", pairs())
both("smooth_l1_loss", pairs() + named("beta", 0.5, 0))
both("huber_loss", pairs() + named("delta", 2.5))
SHARE = Operand((3, 5), 0.0, 1.0)
LOGS = Operand((3, 5), -4.0, 0.0)
both(
    "kl_div",
    [
        *pairs(-4.0, 1.0, 0.0),
        Call("logarithms", {"x": LOGS, "target": LOGS, "log_target": True}),
        Call("batchmean", {"x": LOGS, "target": SHARE, "reduction": "batchmean"}),
    ],
)  # fmt: skip
UNIT = ("ordinary", "whole numbers", "constant")
WEIGHTS = Operand((5,), 0.25, 2.0)
both(
    "bce",
    [*pairs(0.0, 1.0), Call("weights", {"x": SHARE, "target": SHARE, "weight": WEIGHTS})],
    UNIT,
)
both(
    "bce_with_logits",
    [replace(c, arguments={**c.arguments, "target": replace(c.arguments["target"], low=0, high=1)})
     for c in pairs()]
    + [Call("weights", {"x": Operand((3, 5)), "target": SHARE, "weight": WEIGHTS}),
       Call("pos_weight", {"x": Operand((3, 5)), "target": SHARE, "pos_weight": WEIGHTS})],
    ("ordinary", "whole numbers", "constant", "outliers", "special values"),
)  # fmt: skip

# ---- alignments ----------------------------------------------------------------------------------

LOG_PROBS = Operand((4, 2, 3), -4.0, -0.125)
LENGTHS: dict[str, Any] = {
    "input_lengths": labels((2,), 4, 3),
    "target_lengths": labels((2,), 2, 1),
}
CTC = [
    Call("mean", {"log_probs": LOG_PROBS, "targets": labels((2, 2), 1, 2, 2, 0), **LENGTHS}),
    Call("none", {"log_probs": LOG_PROBS, "targets": labels((2, 2), 1, 1, 2, 0), **LENGTHS,
                  "reduction": "none"}),
    Call("sum of one after the other", {"log_probs": LOG_PROBS, "targets": labels((3,), 1, 2, 2),
                                        **LENGTHS, "reduction": "sum"}, "plain"),
    Call("another blank", {"log_probs": LOG_PROBS, "targets": labels((2, 2), 0, 1, 1, 0), **LENGTHS,
                           "blank": 2}, "plain"),
    Call("too long and empty labels",
         {"log_probs": LOG_PROBS, "targets": labels((2, 2), 1, 1, 2, 0), "reduction": "none",
          "input_lengths": labels((2,), 2, 4), "target_lengths": labels((2,), 2, 0)}, "special"),
    Call("too long and zero_infinity",
         {"log_probs": LOG_PROBS, "targets": labels((2, 2), 1, 1, 2, 0), "zero_infinity": True,
          "input_lengths": labels((2,), 2, 4), "target_lengths": labels((2,), 2, 0)}, "special"),
]  # fmt: skip
declare("nn:ctc_loss", CTC, ("ordinary", "whole numbers", "constant"))
GRADED = [
    replace(c, arguments={"out_grad": Operand((2,)) if c.arguments.get("reduction") == "none"
                          else ONE, **c.arguments})
    for c in CTC
]  # fmt: skip
declare("nn:ctc_loss_bwd", GRADED, ("ordinary", "whole numbers", "constant"))
