"""How far a part of a call is off, as a multiple of what a right kernel may be off."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suanzi.truth.bounds import Bound
from suanzi.truth.public import SMALL
from suanzi.truth.rounding import ROUNDED, rounded
from suanzi.truth.tracked import Tracked, arithmetic, tracked
from suanzi.validate.blame.sampling import Part, Piece, is_float
from suanzi.validate.judge.bounds import bound_as, spacing_at

Array = NDArray[Any]
Kind = Literal["wrong", "differs", "born", "inaccurate"]
KINDS: dict[Kind, str] = {
    "wrong": "is wrong",
    "differs": "gives another result for the same inputs",
    "born": "makes a NaN or an infinity of finite inputs, as it should",
    "inaccurate": "is a little beyond the bound",
}
"""The kinds of findings in the order of the report; only the first two are errors."""
SMALL_ERROR, SMALL_SHARE = 3.0, 2.0
"""So many units in the last place, or times the bound, are an inaccuracy, not a mistake.

A result that is rounded once more on the way is so far off; a wrong operator is much farther.
"""
_ROUNDED_BEFORE = "the kernel rounds to float32 on the way"
_LOWER = {
    "tfloat32": "TF32 or float16", "float16": "float16", "bfloat16": "bfloat16",
}  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """What is known of some elements of one result."""

    share: float
    """The largest error as a multiple of its bound."""
    ulps: float
    """The largest error beyond a bound, in units in the last place of the exact result."""
    wrong: int
    size: int
    words: str = ""
    """What is wrong."""
    born: bool = False
    """Whether a NaN or an infinity is wrong."""
    rounded: bool = False
    """Whether one rounding more on the way explains it."""
    exact: bool = False
    """Whether nothing may be off."""

    @property
    def is_small(self) -> bool:
        """Whether what is beyond the bound is an inaccuracy, not a mistake."""
        near = self.ulps <= SMALL_ERROR or self.share <= SMALL_SHARE
        return (self.rounded or (near and not self.exact)) and not self.born


def judge(piece: Piece) -> Judged:
    """Return how far the results of a piece are off; the worst of them, if there are several.

    Numbers that are arguments may have been rounded to the dtype of the computation, to that of
    the result, or not at all: what fits best counts. What is off by float64 is computed again with
    all digits, where that is possible.
    """
    best: Judged | None = None
    for given in _arguments(piece):
        found = _worst(piece, given)
        if best is None or found.share < best.share:
            best = found
        if best.share <= 1:
            break
    assert best is not None
    if best.share > 1 and piece.exact and not best.born and is_float(piece.parts[0].dtype):
        twice = replace(piece, definition=partial(_through_float32, piece.definition))
        if min(_worst(twice, given).share for given in _arguments(piece)) <= 1:
            return replace(best, rounded=True, words=f"{best.words}; {_ROUNDED_BEFORE}")
    if best.share > 1 and piece.between is not None and not best.born:
        looser = replace(piece, definition=piece.between, between=None)
        if judge(looser).share <= 1:
            return replace(best, rounded=True, words=f"{best.words}; {piece.between_is}")
    return best


def _through_float32(definition: Callable[..., Any], **given: Any) -> Any:
    """Return what is computed once it is rounded to float32, as casts of float64 go there."""
    made = definition(**given)
    several = made if isinstance(made, tuple) else (made,)
    values = [x.value if isinstance(x, Tracked) else np.asarray(x) for x in several]
    return tuple(rounded(x.astype(np.float64), "float32") for x in values)


def _arguments(piece: Piece) -> Iterator[dict[str, Any]]:
    """Give the arguments, with numbers rounded in all the ways that are right."""
    if piece.ways:
        yield from ({**piece.arguments, **more} for more in piece.ways)
        return
    if not piece.numbers:
        yield piece.arguments
        return
    for dtype in dict.fromkeys([piece.within, piece.parts[0].dtype, "float64"]):
        if dtype in ROUNDED:
            numbers = {
                name: float(rounded(np.array(x), dtype)) for name, x in piece.numbers.items()
            }
            yield {**piece.arguments, **numbers}


def _worst(piece: Piece, given: dict[str, Any]) -> Judged:
    found = _compared(piece, given, False)
    count = sum(x.size for x in given.values() if isinstance(x, np.ndarray))
    if found.share > 1 and count <= SMALL // 4 and piece.within == "float64":
        found = _compared(piece, given, True)
    return found


def _compared(piece: Piece, given: dict[str, Any], exact: bool) -> Judged:
    bounds = _bounds(piece, given, piece.within, exact)
    each = [
        _judged(piece, given, part, bound, i)
        for i, (part, bound) in enumerate(zip(piece.parts, bounds, strict=True))
    ]
    return max(each, key=lambda one: (one.share > 1 and not one.is_small, one.share))


def _bounds(piece: Piece, given: dict[str, Any], within: str, exact: bool) -> list[Bound]:
    with np.errstate(all="ignore"), arithmetic(within, exact):
        made = piece.definition(**{name: _argument(x) for name, x in given.items()})
        several = made if isinstance(made, tuple) else (made,)
        return [_bound(piece, one, part) for one, part in zip(several, piece.parts, strict=True)]


def _argument(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.dtype.kind == "f":
        return tracked(x)
    return x


def _bound(piece: Piece, made: Any, part: Part) -> Bound:
    shape = np.shape(part.found)
    if not is_float(part.dtype):
        return _whole(made, part, shape)
    if not isinstance(made, Tracked):
        made = tracked(np.asarray(made, np.float64))
    if made.shape != shape:
        made = Tracked(np.broadcast_to(made.value, shape), np.broadcast_to(made.error, shape))
    if not piece.exact:
        return bound_as(made, part.dtype)
    value = made.plain
    truth = rounded(value, part.dtype)
    if part.dtype.startswith("float8"):  # what is too large may also become the largest number
        most = np.copysign(ROUNDED[part.dtype].largest, value)
        over = np.isfinite(value) & ~np.isfinite(truth)
        truth = np.where(over & (np.asarray(part.found) == most), most, truth)
    return Bound(part.dtype, truth, np.zeros(shape))


def _whole(made: Any, part: Part, shape: tuple[int, ...]) -> Bound:
    """Return integers or bool as a bound; what an integer cannot hold is not required."""
    value = made.plain if isinstance(made, Tracked) else np.asarray(made)
    value = np.broadcast_to(value, shape)
    if part.dtype == "bool":
        return Bound("bool", (value != 0).astype(np.float64), np.zeros(shape))
    error = np.zeros(shape)
    if value.dtype.kind == "f":
        limits = np.iinfo(part.dtype)
        free = ~((value >= limits.min) & (value <= limits.max))
        error = np.where(free, np.inf, 0.0)
        value = np.where(free, 0, np.trunc(value)).astype(np.int64)
    return Bound(part.dtype, value.astype(part.dtype).astype(np.float64), error)


def _judged(piece: Piece, given: dict[str, Any], part: Part, bound: Bound, which: int) -> Judged:
    found = np.asarray(part.found).astype(np.float64)
    if not found.size:
        return Judged(0.0, 0.0, 0, 0)
    errors = _pardoned(given, bound, found, bound.errors(found))
    with np.errstate(all="ignore"):
        shares = np.where(errors == 0, 0.0, errors / bound.error)
    wrong = np.asarray(shares > 1 + 1e-9)
    share = float(shares.max())
    if not wrong.any():
        return Judged(share, 0.0, 0, found.size)
    with np.errstate(all="ignore"):
        size = np.where(np.isfinite(bound.value), np.abs(bound.value), 0.0)
        unit = spacing_at(part.dtype, size) if is_float(part.dtype) else np.ones(found.shape)
        ulps = float((errors / unit)[wrong].max())
    born = bool((wrong & ~np.isfinite(found) & np.isfinite(bound.value)).any())
    words = _words(piece, given, part, bound, found, wrong, shares, which)
    count = int(wrong.sum())
    return Judged(share, ulps, count, found.size, words, born, exact=piece.exact)


def _pardoned(given: dict[str, Any], bound: Bound, found: Array, errors: Array) -> Array:
    """Require nothing of a NaN or an infinity that another one among the operands explains."""
    odd = ~np.isfinite(found) | ~np.isfinite(bound.value)
    if not (odd & (errors > 0)).any():
        return errors
    reach = np.zeros(found.shape, bool)
    for x in given.values():
        if not isinstance(x, np.ndarray) or x.dtype.kind != "f" or np.isfinite(x).all():
            continue
        strange = ~np.isfinite(x)
        if x.shape == found.shape and x.ndim == 1:
            reach |= strange
        elif x.ndim and found.ndim and x.shape[0] == found.shape[0]:
            row = strange.reshape(x.shape[0], -1).any(1)
            reach |= row.reshape(-1, *(1,) * (found.ndim - 1))
        else:
            reach |= True
    return np.where(odd & reach, 0.0, errors)


# ---- words ---------------------------------------------------------------------------------------


def _words(
    piece: Piece, given: dict[str, Any], part: Part, bound: Bound, found: Array, wrong: Array,
    shares: Array, which: int,
) -> str:  # fmt: skip
    """Say what is wrong: which element, and what all that are wrong have in common."""
    flat, truth, bad = found.ravel(), bound.value.ravel(), wrong.ravel()
    ranked = np.where(np.isnan(shares.ravel()), np.inf, np.where(bad, shares.ravel(), -1))
    worst = int(np.argmax(ranked))
    said = f"{part.label(worst)} is {flat[worst]:.9g}, not {truth[worst]:.9g}"
    count = f"{int(bad.sum())} of {bad.size} sampled elements"
    more = _pattern(flat, truth, bad, part) or _lower(piece, given, found, which)
    return f"{said} ({count}{'; ' + more if more else ''})"


def _pattern(found: Array, truth: Array, bad: Array, part: Part) -> str:
    wrong = np.flatnonzero(bad)
    blank = found[wrong]
    good = np.flatnonzero(~bad)
    if not found.any() and truth.any():
        return "every element is 0"
    first = part.label(int(wrong[0]))
    if wrong.size > 2 and good.size and wrong[0] > good[-1]:
        return f"all from {first} on, {'which are 0' if not blank.any() else 'none before'}"
    if wrong.size > 2 and (blank == blank[0]).all():
        return f"all of them are {blank[0]:.6g}"
    if wrong.size > 3 and bad.mean() > 0.9:
        with np.errstate(all="ignore"):
            ratio, off = found[wrong] / truth[wrong], found[wrong] - truth[wrong]
        for values, words in ((ratio, "{:.6g} times the answer"), (off, "off by {:.6g}")):
            middle = float(np.median(values))
            if math.isfinite(middle) and np.ptp(values) <= 1e-3 * abs(middle):
                return words.format(middle)
    return ""


def _lower(piece: Piece, given: dict[str, Any], found: Array, which: int) -> str:
    """Look for an arithmetic whose bound accepts the result."""
    if piece.exact or piece.within != "float32" or not is_float(piece.parts[which].dtype):
        return ""
    for name, words in _LOWER.items():
        try:
            bound = _bounds(piece, given, name, False)[which]
        except (ValueError, ArithmeticError):
            continue
        if bound.accepts(found) and not bound.accepts(np.zeros(found.shape)):
            return f"as far off as a computation in {words} may be"
    return ""
