"""Rules of distances between rows, and of counts of elements."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from suanzi.truth import tracked as t
from suanzi.truth.rounding import unit_of
from suanzi.truth.tracked import Tracked, tracked
from suanzi.validate.blame.elements import rule
from suanzi.validate.blame.products import stored
from suanzi.validate.blame.reductions import reduced_norm
from suanzi.validate.blame.sampling import (
    LONGEST,
    TERMS,
    Array,
    Call,
    Part,
    Piece,
    Unjudged,
    name_of,
)

_BY_PRODUCT = 25
"""With more rows distances are computed by a product of matrices, unless `compute_mode` is 2."""


def _rows(call: Call, x: Any, batch: Any, row: Array) -> Array:
    """Return rows of a matrix, or of matrices of a batch."""
    at = (*(i for i in batch), row)
    columns = np.arange(x.shape[-1])
    whole = np.broadcast_arrays(*(i[:, None] for i in at), columns[None])
    return call.take(x, tuple(whole))


def _apart(x: Tracked, y: Tracked, p: float) -> Tracked:
    d = x - y
    if p == 0:
        return tracked((d.value != 0).sum(-1).astype(np.float64))
    return reduced_norm(d, p)


def _by_product(x: Tracked, y: Tracked) -> Tracked:
    """sqrt(|x|**2 + |y|**2 - 2 x y), where little may be left of equal rows."""
    squares = (x * x).sum(-1) + (y * y).sum(-1)
    return t.sqrt(t.maximum(squares - (x * y).sum(-1) * 2, 0))


@rule("_euclidean_dist", "_cdist_forward")
def distances(call: Call) -> Iterator[Piece]:
    """The distance of each row of one matrix to each of another."""
    x, y = call["x1"], call["x2"]
    p, mode = float(call.get("p", 2)), call.get("compute_mode")
    length = x.shape[-1]
    if length > LONGEST:
        raise Unjudged(f"rows of more than {LONGEST} elements")
    at = call.elements(call.out, max(8, min(128, TERMS // max(length, 1))))
    *batch, i, j = at
    arguments = {"x": _rows(call, x, batch, i), "y": _rows(call, y, batch, j)}
    large = mode == 1 or (mode in (None, 0) and max(x.shape[-2], y.shape[-2]) > _BY_PRODUCT)
    product = call.name == "_euclidean_dist" or (p == 2 and large)

    def definition(x: Tracked, y: Tracked) -> Tracked:
        found = _apart(x, y, p)
        return t.either(found, _by_product(x, y)) if product else found

    dtype = name_of(call.out.dtype)

    def between(x: Tracked, y: Tracked) -> Tracked:
        squares = stored((x * x).sum(-1), dtype) + stored((y * y).sum(-1), dtype)
        return t.sqrt(t.maximum(stored(squares - (x * y).sum(-1) * 2, dtype), 0))

    part = call.part(call.out, at)
    yield Piece(
        definition, arguments, [part], within=call.within, between=between if product else None
    )


@rule("_cdist_backward")
def distances_backward(call: Call) -> Iterator[Piece]:
    """The gradient of the rows of the first matrix: a sum over those of the second."""
    x, y, found = (call[n] for n in ("x1", "x2", "cdist"))
    g = call.get("grad_output", call.get("grad"))  # PyTorch had the other name until 2.13
    p, many = float(call["p"]), y.shape[-2]
    if p not in (1, 2):
        raise Unjudged(f"a norm of order {p}")
    if many > LONGEST:
        raise Unjudged(f"sums of more than {LONGEST} terms")
    at = call.elements(call.out, max(8, min(128, TERMS // max(many, 1))))
    *batch, i, column = at
    j = np.arange(many)

    def each(x: Any, *at: Array) -> Array:
        return call.take(x, tuple(np.broadcast_arrays(*(b[:, None] for b in batch), *at)))

    arguments = {
        "x": call.take(x, at)[:, None], "y": each(y, j[None], column[:, None]),
        "g": each(g, i[:, None], j[None]), "r": each(found, i[:, None], j[None]),
    }  # fmt: skip

    def definition(x: Tracked, y: Tracked, g: Tracked, r: Tracked) -> Tracked:
        d = x - y
        if p == 1:
            slope = tracked(np.sign(d.plain))
        else:
            same = np.asarray(r.value == 0, bool)
            slope = t.where(same, 0, d / t.where(same, 1, r))
        return (g * slope).sum(-1)

    yield Piece(definition, arguments, [call.part(call.out, at)], within=call.within)


# ---- counts --------------------------------------------------------------------------------------


@rule("histc")
def histogram(call: Call) -> Iterator[Piece]:
    """How many elements are in each bin; what is next to an edge may be in either.

    Edges are numbers of the dtype of the elements, or are not rounded.
    """
    x, bins = call.numbers(call["self"]).ravel(), int(call["bins"])
    if x.size > LONGEST:
        raise Unjudged(f"rows of more than {LONGEST} elements")
    low, high = float(call.get("min", 0)), float(call.get("max", 0))
    if low == high and x.size:
        low, high = float(x.min()), float(x.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise Unjudged("a range without ends")
    if low == high:
        low, high = low - 1, high + 1
    inside = x[(x >= low) & (x <= high)]
    at = (inside - low) / (high - low) * bins
    off = 8 * unit_of(name_of(call["self"].dtype)) * (
        np.abs(inside) + abs(low) + abs(high)
    ) / (high - low) * bins  # fmt: skip
    bin_of = np.clip(np.floor(at).astype(np.int64), 0, bins - 1)
    count = np.bincount(bin_of, minlength=bins).astype(np.float64)
    unsure = np.zeros(bins)
    near = np.abs(at - np.rint(at)) <= off
    edges = np.rint(at[near]).astype(np.int64)
    for side in (edges - 1, edges):
        np.add.at(unsure, np.clip(side, 0, bins - 1), 1)
    places = call.along(bins, 256)
    part = call.part(call.out, (places,))

    def definition(count: Any) -> Any:
        return (
            Tracked(tracked(count).value, unsure[places]) if isinstance(count, Tracked) else count
        )

    yield Piece(definition, {"count": count[places]}, [part])


@rule("bincount")
def bincount(call: Call) -> Iterator[Piece]:
    """How many elements are each of the first integers."""
    x = call.numbers(call["self"])
    if call.get("weights") is not None:
        raise Unjudged("weights")
    if x.size > LONGEST:
        raise Unjudged(f"rows of more than {LONGEST} elements")
    counts = np.bincount(x, minlength=int(call.get("minlength", 0)))
    size = Part(np.array([call.out.numel()]), "int64", lambda k: "the number of elements")
    yield Piece(lambda x: x, {"x": np.array([counts.size])}, [size], True)
    if counts.size == call.out.numel():
        at = (call.along(counts.size, 256),)
        yield Piece(lambda x: x, {"x": counts[at]}, [call.part(call.out, at)], True)
