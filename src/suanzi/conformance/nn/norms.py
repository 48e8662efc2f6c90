"""Cases of norms."""

from __future__ import annotations

from typing import Any

from suanzi.conformance.nn._calls import Call, Operand, declare

ALL = ("ordinary", "whole numbers", "many magnitudes", "constant", "outliers", "special values")
PLAIN = ("ordinary",)
SIZES = (1, 31, 33, 129)


def layers(*names: str, **more: Any) -> list[Call]:
    """Return calls of a norm over the last axes with weights of some names."""

    def call(shape: tuple[int, ...], count: int = 1, **of: Any) -> dict[str, Any]:
        last = shape[-count:]
        return {"x": Operand(shape), "normalized_shape": list(last), **of}

    weights = {name: Operand((7,)) for name in names}
    both = {name: Operand((3, 4)) for name in names}
    return [
        Call("rows of 7", call((5, 7))),
        Call("weighted", call((5, 7), **weights)),
        Call("two axes", call((2, 3, 4), 2, **both), "plain", PLAIN),
        Call("with a large eps", call((2, 5), eps=0.5), "plain", PLAIN),
        *(
            Call(f"a row of {n}", call((2, n)), "sizes", PLAIN, quick=n < 100)
            for n in SIZES
        ),
        Call("no elements", call((3, 0)), "empty", PLAIN),
        Call("no rows", call((0, 3)), "empty", PLAIN),
        *(Call(f"{name} of {value}", call((3, 7), **weights, **{name: value}), "plain", PLAIN)
          for name, value in more.items()),
    ]  # fmt: skip


declare("nn:layer_norm", layers("weight", "bias"), ALL)
declare("nn:rms_norm", layers("weight", offset=1.0), ALL)
