"""Cases of windows as columns and back, and of channels that become pixels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from suanzi.conformance.nn._calls import Call, Operand, declare

Shape = tuple[int, ...]
SOME = ("ordinary", "many magnitudes", "special values")

# Title, the shape of images, that of their columns, parameters.
WINDOWS: list[tuple[str, Shape, Shape, Mapping[str, Any]]] = [
    ("windows that overlap", (2, 2, 4, 5), (2, 12, 9), {"kernel_size": [2, 3]}),
    ("stride, padding, dilation", (1, 2, 5, 6), (1, 8, 18),
     {"kernel_size": 2, "dilation": 2, "padding": 1, "stride": [2, 1]}),
    ("patches", (2, 1, 4, 6), (2, 4, 6), {"kernel_size": 2, "stride": 2}),
    ("gaps between windows", (1, 1, 7, 7), (1, 4, 4), {"kernel_size": 2, "stride": 4}),
    ("no batch axis", (2, 3, 3), (8, 4), {"kernel_size": 2}),
    ("no images", (0, 2, 3, 3), (0, 8, 4), {"kernel_size": 2}),
]  # fmt: skip


def _group(shape: Shape) -> str:
    return "plain" if 0 not in shape else "empty"


def _size(image: Shape) -> dict[str, Any]:
    return {"output_size": list(image[-2:])}


declare("nn:unfold", [
    Call(title, {"x": Operand(image), **how}, _group(image), SOME)
    for title, image, _, how in WINDOWS
])  # fmt: skip
declare("nn:unfold_bwd", [
    Call(title, {"out_grad": Operand(columns), "x": Operand(image), **how}, _group(image))
    for title, image, columns, how in WINDOWS
])  # fmt: skip
declare("nn:fold", [
    Call(title, {"x": Operand(columns), **_size(image), **how}, _group(image), SOME)
    for title, image, columns, how in WINDOWS
])  # fmt: skip
declare("nn:fold_bwd", [
    Call(title, {"out_grad": Operand(image), "x": Operand(columns), **_size(image), **how},
         _group(image))
    for title, image, columns, how in WINDOWS
])  # fmt: skip

# The shape with more channels, that with more pixels, and the factor.
PIXELS: list[tuple[str, Shape, Shape, int]] = [
    ("blocks of four", (2, 8, 2, 3), (2, 2, 4, 6), 2),
    ("blocks of nine", (9, 2, 1), (1, 6, 3), 3),
    ("factor 1", (1, 2, 2, 2), (1, 2, 2, 2), 1),
    ("two batch axes", (2, 1, 4, 1, 2), (2, 1, 1, 2, 4), 2),
    ("no rows", (1, 4, 0, 2), (1, 1, 0, 4), 2),
]
for _name, _factor, _swap in (
    ("nn:pixel_shuffle", "upscale_factor", False),
    ("nn:pixel_unshuffle", "downscale_factor", True),
):
    _pairs = [
        (title, *((pixels, channels) if _swap else (channels, pixels)), r)
        for title, channels, pixels, r in PIXELS
    ]
    declare(_name, [
        Call(title, {"x": Operand(x), _factor: r}, _group(x), SOME) for title, x, _, r in _pairs
    ])  # fmt: skip
    declare(f"{_name}_bwd", [
        Call(title, {"out_grad": Operand(y), "x": Operand(x), _factor: r}, _group(x))
        for title, x, y, r in _pairs
    ])  # fmt: skip

# ---- positions of a grid -------------------------------------------------------------------------

IMAGE, GRID = Operand((2, 2, 3, 4)), Operand((2, 2, 3, 2), -1.5, 1.5)
SPACE, PLACES = Operand((1, 2, 2, 3, 2)), Operand((1, 1, 2, 2, 3), -1.5, 1.5)


def _grids() -> list[Call]:
    found = []
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (False, True):
                how = {"mode": mode, "padding_mode": padding, "align_corners": align}
                title = f"{mode}, {padding}" + (", align_corners" if align else "")
                found.append(Call(title, {"x": IMAGE, "grid": GRID, **how}, "plain", ("ordinary",)))
                if mode != "bicubic":
                    found.append(
                        Call(
                            f"{title}, three axes",
                            {"x": SPACE, "grid": PLACES, **how},
                            "plain",
                            ("ordinary",),
                            quick=False,
                        )
                    )
    found.append(
        Call(
            "one element",
            {"x": Operand((1, 1, 1, 1)), "grid": Operand((1, 2, 2, 2))},
            "plain",
            ("ordinary",),
        )
    )
    found.append(
        Call(
            "no positions",
            {"x": Operand((1, 1, 2, 2)), "grid": Operand((1, 0, 2, 2))},
            "empty",
            ("ordinary",),
        )
    )
    return found  # fmt: skip


declare("nn:grid_sample", _grids(), ("ordinary",))
declare(
    "nn:grid_sample_bwd",
    [
        replace(c, arguments={"out_grad": Operand(
            (*c.arguments["x"].shape[:2], *c.arguments["grid"].shape[1:-1])), **c.arguments})
        for c in _grids()
    ],
    ("ordinary",),
)  # fmt: skip
