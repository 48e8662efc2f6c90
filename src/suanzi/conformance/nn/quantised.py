"""Cases of quantised rows and blocks, and of their products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suanzi.conformance.nn._calls import GRID, STORED, Call, Operand, declare

ALL = ("ordinary", "whole numbers", "many magnitudes", "constant", "outliers", "special values")
PLAIN = ("ordinary",)
SPECIAL = ("ordinary", "special values")
FLOAT8 = ("float8_e4m3fn", "float8_e5m2")


def _named(arguments: Mapping[str, Any], default: str) -> str:
    return str(arguments.get("dtype") or default).lower()


def _of_quotients(arguments: Mapping[str, Any]) -> Sequence[str]:
    return (_named(arguments, "int8") + GRID, "float32")


def _of_product(arguments: Mapping[str, Any]) -> Sequence[str]:
    return (_named(arguments, "float32"),)


STORED["nn:dynamic_quantize"] = _of_quotients
STORED["nn:scaled_linear"] = _of_product


def _quantise(*shape: int, **more: Any) -> dict[str, Any]:
    return {"x": Operand(shape), **more}


declare(
    "nn:dynamic_quantize",
    [
        Call("rows", _quantise(5, 7)),
        *(Call(f"rows to {name}", _quantise(4, 9, dtype=name), classes=SPECIAL) for name in FLOAT8),
        Call("a vector", _quantise(6), classes=PLAIN),
        Call("columns", _quantise(3, 10, block_size=[4]), classes=SPECIAL),
        Call("columns of three axes", _quantise(2, 3, 5, block_size=[2], dtype="float8_e4m3fn"),
             classes=PLAIN),
        Call("blocks", _quantise(5, 7, block_size=[2, 3]), classes=SPECIAL),
        Call("blocks to float8", _quantise(2, 5, 7, block_size=[3, 4], dtype="float8_e5m2"),
             classes=SPECIAL),
        Call("more than a buffer", _quantise(2, 1100), "sizes", PLAIN, quick=False),
        Call("no rows", _quantise(0, 3), "empty", PLAIN),
        Call("no columns", _quantise(2, 0), "empty", PLAIN),
        Call("no columns of blocks", _quantise(2, 0, block_size=[4]), "empty", PLAIN),
        Call("no blocks", _quantise(0, 3, block_size=[2, 2]), "empty", PLAIN),
    ],
    ALL,
)  # fmt: skip


def _scale(*shape: int) -> Operand:
    return Operand(shape, 0.01, 2.0, dtype="float32")


def _layer(
    x: tuple[int, ...], outputs: int, block: Sequence[int] = (), bias: bool = False, **more: Any
) -> dict[str, Any]:
    """Return quantised operands with their scales."""
    rows, columns = (1, *block)[-2:] if block else (1, 0)
    across = -(-x[-1] // columns) if columns else 1
    made = {
        "x": Operand(x, -100, 100),
        "weight": Operand((outputs, x[-1]), -100, 100),
        "x_scale": _scale(*x[:-1], across),
        "weight_scale": _scale(-(-outputs // rows), across),
        **({"bias": Operand((outputs,), dtype="float32")} if bias else {}),
        **({"block_size": list(block)} if block else {}),
    }
    return made | more


declare(
    "nn:scaled_linear",
    [
        Call("rows and channels", _layer((3, 5), 4)),
        Call("with a bias", _layer((3, 6), 4, bias=True), classes=SPECIAL),
        Call("blocks", _layer((3, 10), 5, (2, 4)), classes=SPECIAL),
        Call("groups of columns", _layer((3, 10), 5, (4,), bias=True), classes=PLAIN),
        *(Call(f"to {name}", _layer((2, 6), 3, (2, 4), True, dtype=name), classes=PLAIN)
          for name in ("bfloat16", "float16", "float64")),
        Call("a batch of rows", _layer((2, 2, 3), 2), classes=PLAIN),
        Call("one row", _layer((7,), 3), classes=PLAIN),
        Call("a scale for all", _layer((3, 5), 4, x_scale=_scale(), weight_scale=_scale(1, 1)),
             "broadcast", PLAIN),
        Call("both kinds of float8", _layer((3, 5), 4) | {
            "weight": Operand((4, 5), dtype="float8_e5m2")}, classes=PLAIN,
            dtypes=("float8_e4m3fn",)),
        Call("more than a tile", _layer((18, 20), 17, (4, 8)), "sizes", PLAIN, quick=False),
        Call("no rows", _layer((0, 3), 2), "empty", PLAIN),
        Call("no inputs", _layer((2, 0), 3, bias=True), "empty", PLAIN),
        Call("no outputs", _layer((2, 3), 0), "empty", PLAIN),
    ],
    ALL,
)  # fmt: skip
