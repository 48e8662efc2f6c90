"""Cases of attention and rotary embeddings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from suanzi.conformance.nn._calls import Call, Operand, declare

ALL = ("ordinary", "whole numbers", "many magnitudes", "constant", "outliers", "special values")
Q, K, V = Operand((2, 5, 4)), Operand((2, 7, 4)), Operand((2, 7, 3))
ROWS = Operand((1, 3, 2))
PLAIN = ("ordinary",)


def attend(q: Any = Q, k: Any = K, v: Any = V, **more: Any) -> dict[str, Any]:
    """Return the arguments of attention."""
    return {"q": q, "k": k, "v": v, **more}


def some(*shape: int, every: int) -> Operand:
    """Return a mask that hides every so many keys."""
    count = 1
    for n in shape:
        count *= n
    return Operand(shape, values=tuple(i % every != 0 for i in range(count)), dtype="bool")


HIDDEN_ROW = Operand((5, 7), values=(0.0,) * 14 + (1.0,) * 21, dtype="bool")
NO_KEYS = attend(ROWS, Operand((1, 0, 2)), Operand((1, 0, 2)))
SPECIAL = ("ordinary", "special values")


def of(q: tuple[int, ...], k: tuple[int, ...], v: tuple[int, ...], **more: Any) -> dict[str, Any]:
    """Return the arguments of attention by shapes."""
    return attend(Operand(q), Operand(k), Operand(v), **more)


ATTENTION = [
    Call("two heads", attend()),
    Call("one head without an axis", of((3, 2), (4, 2), (4, 5)), "plain", PLAIN),
    Call("grouped queries", of((2, 4, 3, 2), (2, 2, 4, 2), (2, 2, 4, 2)), "broadcast", PLAIN),
    Call("a batch that is broadcast", of((2, 1, 3, 2), (1, 1, 4, 2), (1, 1, 4, 2)), "broadcast",
         PLAIN),
    Call("masked", attend(mask=some(5, 7, every=3)), "plain", SPECIAL),
    Call("masked by head", attend(mask=some(2, 1, 7, every=2)), "plain", PLAIN),
    Call("a float mask", attend(mask=Operand((5, 7))), "plain", SPECIAL),
    Call("rows without keys", attend(mask=HIDDEN_ROW), "plain", PLAIN),
    Call("rows without keys are NaN", attend(mask=HIDDEN_ROW, masked_rows="nan"), "plain", PLAIN),
    Call("causal", attend(causal=True), "plain", SPECIAL),
    Call("causal from the last key", attend(causal=True, align="bottom_right"), "plain", PLAIN),
    Call("more queries than keys",
         of((1, 6, 2), (1, 3, 2), (1, 3, 2), causal=True, align="bottom_right"), "plain", PLAIN),
    Call("a window", attend(window=[2, 1]), "plain", SPECIAL),
    Call("a causal window", attend(window=[2, -1], causal=True, align="bottom_right"), "plain",
         PLAIN),
    Call("scaled", attend(scale=0.75), "plain", PLAIN),
    Call("a soft cap", attend(softcap=2.5), "plain", ("ordinary", "outliers")),
    Call("a sink", attend(sink=Operand((2,))), "plain", PLAIN),
    Call("a sink alone", attend(sink=Operand((2,)), mask=HIDDEN_ROW), "plain", PLAIN),
    Call("many rows", of((1, 40, 2), (1, 9, 2), (1, 9, 2), causal=True), "sizes", PLAIN),
    Call("one query, several blocks of keys", of((1, 1, 2), (1, 270, 2), (1, 270, 1)), "sizes",
         PLAIN, quick=False),
    Call("several blocks of keys", of((1, 10, 1), (1, 300, 1), (1, 300, 1)), "sizes", PLAIN,
         quick=False),
    Call("no keys", NO_KEYS, "empty", PLAIN),
    Call("no keys, NaN", {**NO_KEYS, "masked_rows": "nan"}, "empty", PLAIN),
    Call("no queries", attend(Operand((1, 0, 2)), ROWS, ROWS), "empty", PLAIN),
    Call("no columns", attend(Operand((1, 3, 0)), Operand((1, 3, 0)), ROWS), "empty", PLAIN),
]  # fmt: skip

declare("nn:scaled_dot_product_attention", ATTENTION, ALL)


def _of_result(call: Call) -> Call:
    """Return a call of the gradients: that of the result has its shape."""
    q, k, v = (call.arguments[name].shape for name in ("q", "k", "v"))
    shape = (*np.broadcast_shapes(q[:-3], k[:-3]), *q[-3:-1], v[-1])
    finite = tuple(name for name in call.classes or ALL if name != "special values")
    return replace(call, arguments={"out_grad": Operand(shape), **call.arguments}, classes=finite)


declare("nn:scaled_dot_product_attention_bwd", [_of_result(call) for call in ATTENTION])


def _rotary(x: tuple[int, ...], table: tuple[int, ...], **more: Any) -> dict[str, Any]:
    return {"x": Operand(x), "cos": Operand(table, -1, 1), "sin": Operand(table, -1, 1), **more}


def _backward(x: tuple[int, ...], table: tuple[int, ...], **more: Any) -> dict[str, Any]:
    return {"out_grad": Operand(x), **_rotary(x, table, **more)}


for name, made in (("nn:rotary_embedding", _rotary), ("nn:rotary_embedding_bwd", _backward)):
    declare(
        name,
        [
            Call("halves", made((2, 3, 8), (3, 4))),
            Call("neighbours", made((2, 3, 8), (3, 4), interleaved=True)),
            Call("a part of the columns", made((2, 7), (2, 2)), "plain", PLAIN),
            Call("neighbours, a part", made((7,), (3,), interleaved=True), "plain", PLAIN),
            Call("one table for all", made((2, 3, 4), (1, 1, 2)), "broadcast", PLAIN),
            Call("more than a vector", made((3, 70), (3, 35)), "sizes", PLAIN, quick=False),
            Call("no pairs", made((2, 3), (2, 0)), "empty", PLAIN),
            Call("no rows", made((0, 4), (1, 2)), "empty", PLAIN),
        ],
        ALL,
    )
