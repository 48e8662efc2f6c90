"""From a wrong result to words: which elements, from which column on, in which precision."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suanzi.conformance.model.case import Case
from suanzi.conformance.model.numbers import FORMATS, PARTS
from suanzi.conformance.subjects.wire import Data
from suanzi.truth import definitions
from suanzi.truth.bounds import Bound
from suanzi.validate.judge.bounds import by_definition
from suanzi.validate.judge.filling import numbers_of
from suanzi.validate.judge.findings import Finding

Array = NDArray[np.float64]
_TILES = (1024, 512, 256, 128, 64, 32, 16, 8)
MANY = 8
"""Wrong elements whose errors show whether they are of rounding."""


@dataclass(frozen=True)
class Hypothesis:
    """A way to compute that is less accurate than the default, and how it is called."""

    words: str
    accumulate: str | None = None
    sums: str | None = None

    def bounds(self, case: Case) -> list[Bound]:
        """Return what a case would allow."""
        of = self.accumulate, self.sums
        return by_definition(case.op, case.dtype, case.arguments, *of)


SUMS = [Hypothesis(f"accumulation in {name}", None, name) for name in ("float16", "bfloat16")]
LOWER = [
    Hypothesis(f"a computation in {words}", name)
    for name, words in (
        ("tfloat32", "TF32 or float16"), ("float16", "float16"), ("bfloat16", "bfloat16"),
    )
]  # fmt: skip


@dataclass(frozen=True)
class Result:
    """A result of the right shape and dtype that is wrong."""

    case: Case
    bound: Bound
    found: Array
    earlier: Mapping[str, Array]
    """Results of earlier calls, by the ids of their cases."""

    @property
    def truth(self) -> Array:
        """The exact answer."""
        return self.bound.value

    @property
    def inputs(self) -> dict[str, Array]:
        """The operands of floats."""
        return {
            name: numbers_of(x)
            for name, x in self.case.arguments.items()
            if isinstance(x, Data) and x.dtype in FORMATS
        }


def diagnosed(result: Result) -> Finding:
    """Return what is wrong with a result."""
    wrong = result.bound.wrong(result.found)
    count = f"{int(wrong.sum())} of {wrong.size} elements"
    floats = PARTS.get(result.bound.dtype, result.bound.dtype) in FORMATS
    for look in (_moved, _special, _unwritten, _scaled, _lower) if floats else (_moved, _unwritten):
        said = look(result, wrong)
        if said is not None:
            return Finding(said[0], f"{said[1]} ({count} wrong)", result.case.id)
    return numbers(result)


def numbers(result: Result) -> Finding:
    """Return where a result is wrong, if nothing else is known of it."""
    wrong = result.bound.wrong(result.found)
    count = f"{int(wrong.sum())} of {wrong.size} elements"
    at = tuple(map(int, np.argwhere(wrong)[0]))
    words = f"{_place(at)}: {_number(result.found[at])}, not {_number(result.truth[at])}"
    edge = _edge(wrong)
    if edge is not None:
        return Finding("JD207", f"only columns {edge}; {words} ({count})", result.case.id)
    return Finding("JD404", f"{count} wrong, the first at {words}", result.case.id)


def _number(x: Any) -> str:
    """Return a float in nine digits, and an integer or a bool as it is."""
    return f"{x:.9g}" if isinstance(x, np.floating | float) else str(x)


def _place(at: Sequence[int]) -> str:
    names = {1: ("element",), 2: ("row", "column")}.get(len(at))
    if names:
        return ", ".join(f"{name} {i}" for name, i in zip(names, at, strict=True))
    return f"[{', '.join(map(str, at))}]"


def _moved(r: Result, wrong: NDArray[np.bool_]) -> tuple[str, str] | None:
    """Look for the answer, or something else that is known, at other positions."""
    truth, found = r.truth, r.found
    if not np.any(found) and np.any(truth):
        return "JD201", "every element is 0"
    constant = np.isnan(found).all() or (found == found.reshape(-1)[:1]).all()
    for name, before in r.earlier.items() if not constant else ():
        if before.shape == found.shape and np.array_equal(before, found, equal_nan=True):
            return "JD109", f"the result is that of an earlier call ({name}), cached by address"
    for name, x in r.inputs.items():
        if x.shape == found.shape and np.array_equal(x, found, equal_nan=True):
            return "JD204", f"the result is the input {name}"
    square = truth.ndim >= 2 and truth.shape[-1] == truth.shape[-2]
    if square and r.bound.accepts(found.swapaxes(-1, -2)):
        return "JD205", "the result is transposed"
    for axis in range(truth.ndim):
        for by in (1, -1):
            if truth.shape[axis] > 1 and r.bound.accepts(np.roll(found, -by, axis)):
                return "JD205", f"the result is shifted by {by} along axis {axis}"
    wide = truth.ndim and truth.shape[-1] > 2 and not (truth == truth[..., :1]).all()
    if wide and (found == found[..., :1]).all():
        return "JD206", "all elements of a row are equal"
    return None


def _special(r: Result, wrong: NDArray[np.bool_]) -> tuple[str, str] | None:
    truth, found = r.truth, r.found
    born = wrong & ~np.isfinite(found) & np.isfinite(truth)
    if born.any() and truth.ndim >= 2 and not np.isfinite(truth).all():
        clean = np.isfinite(truth).all(-1)
        for x in r.inputs.values():
            if x.shape[:-1] == truth.shape[:-1]:
                clean &= np.isfinite(x).all(-1)
        rows = np.nonzero((born.any(-1) & clean).reshape(-1))[0]
        sick = np.nonzero(~clean.reshape(-1))[0]
        if rows.size:
            return "JD302", f"a NaN or an infinity of row {sick[0]} reaches row {rows[0]}"
    if born.sum() * 2 >= wrong.sum() and _tail(born) is None and _blank_rows(r, wrong) is None:
        sizes = [abs(v) for x in r.inputs.values() for v in x.reshape(-1) if math.isfinite(v)]
        kind = "NaN" if np.isnan(found[born]).any() else "infinity"
        return "JD301", (
            f"{kind} where the answer is a number, with inputs up to {max(sizes, default=0):.4g}: "
            "an intermediate result leaves the range"
        )
    lost = wrong & ~np.isfinite(truth) & np.isfinite(found)
    if lost.any() and lost.sum() * 2 >= wrong.sum():
        at = tuple(map(int, np.argwhere(lost)[0]))
        return "JD303", f"{_place(at)} is {found[at]:.6g}, where the answer is {truth[at]}"
    return None


def _tail(wrong: NDArray[np.bool_]) -> int | None:
    """Return the column from which on most elements are wrong, and none before."""
    if not wrong.ndim or not wrong.any():
        return None
    rows = wrong.reshape(-1, wrong.shape[-1])
    start = int(np.argmax(rows.any(0)))
    return start if start and rows[:, start:].mean() > 0.6 else None


def _blank_rows(r: Result, wrong: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Return which rows have nothing in them, or what was in the memory before."""
    if wrong.ndim < 2:
        return None
    bad = wrong.reshape(-1, wrong.shape[-1]).mean(1) > 0.9
    blank = r.found.reshape(-1, wrong.shape[-1])[bad]
    clean = all(np.isfinite(x).all() for x in r.inputs.values())
    empty = not np.any(blank) or (clean and np.isnan(blank).all())
    return bad if 0 < bad.sum() < bad.size and empty else None


def _unwritten(r: Result, wrong: NDArray[np.bool_]) -> tuple[str, str] | None:
    start = _tail(wrong)
    if start is not None:
        blank = r.found[..., start:][wrong[..., start:]]
        stale = len(blank) > 3 and len(set(blank.tolist())) == 1
        if not np.any(blank) or np.isnan(blank).all() or stale:
            tile = next((t for t in _TILES if start % t == 0), None)
            edge = f", from column {start}, a multiple of {tile}, on" if tile else ""
            return "JD202", f"the last {wrong.shape[-1] - start} columns are not written{edge}"
    rows = _blank_rows(r, wrong)
    if rows is None:
        return None
    return "JD203", f"{int(rows.sum())} rows are not written, the first is row {np.argmax(rows)}"


def _edge(wrong: NDArray[np.bool_]) -> str | None:
    """Return the columns that are wrong, if they are few at the end, or from a tile's edge on."""
    if not wrong.ndim or wrong.shape[-1] < 16:
        return None
    rows = wrong.reshape(-1, wrong.shape[-1])
    columns = np.nonzero(rows.any(0))[0]
    first, last = int(columns[0]), int(columns[-1])
    few = last - first + 1 == len(columns) <= max(2, wrong.shape[-1] // 8)
    at_an_edge = last == wrong.shape[-1] - 1 or (first and first % 8 == 0 and len(columns) > 1)
    if not few or not at_an_edge or rows[:, columns].mean() < 0.5:
        return None
    return f"{first} to {last}" if len(columns) > 1 else str(first)


def _scaled(r: Result, wrong: NDArray[np.bool_]) -> tuple[str, str] | None:
    """Look for one factor, or one difference, between the result and the truth."""
    good = np.isfinite(r.found) & np.isfinite(r.truth) & (np.abs(r.truth) > 0)
    if good.sum() < 4 or wrong.mean() < 0.9:
        return None
    found, truth, allowed = r.found[good], r.truth[good], r.bound.error[good]
    with np.errstate(all="ignore"):
        ratio, share = found / truth, allowed / np.abs(truth)
        middle = float(np.median(ratio))
        if (
            abs(middle - 1) > max(1e-3, 16 * float(np.median(share)))
            and (np.abs(ratio - middle) <= (8 * share + 1e-9) * abs(middle)).all()
        ):
            return "JD402", f"every element is {middle:.6g} times the answer"
        off = found - truth
        step = float(np.median(off))
        clear = abs(step) > 16 * float(np.median(allowed))
        if clear and (np.abs(off - step) <= 8 * allowed + 1e-9 * abs(step)).all():
            side = "large" if step > 0 else "small"
            return "JD403", f"every element is {abs(step):.6g} too {side}"
    return None


def _lower(r: Result, wrong: NDArray[np.bool_]) -> tuple[str, str] | None:
    """Look for an arithmetic whose bound accepts the result.

    Errors of rounding have both signs; what is always too large, or too small, is another mistake.
    """
    with np.errstate(all="ignore"):
        signs = np.sign((r.found - r.truth) * np.sign(r.truth))[wrong]
        ordered = np.sign((r.found - r.truth)[wrong])[np.argsort(r.truth[wrong])]
    mixed = min((signs > 0).mean(), (signs < 0).mean()) > 0.1
    # Another formula is off by a smooth function: neighbours have errors of the same sign.
    turns = float((ordered[1:] != ordered[:-1]).mean()) if ordered.size > 1 else 0.0
    if r.case.op not in definitions() or wrong.sum() < MANY or not mixed or turns < 0.25:
        return None
    with np.errstate(all="ignore"):
        times = float(np.nanmax((np.abs(r.found - r.truth) / r.bound.error)[wrong]))
    for one in LOWER:
        same = [b for b in one.bounds(r.case) if b.value.shape == r.truth.shape]
        if same and same[0].accepts(r.found) and not same[0].accepts(np.zeros(r.found.shape)):
            return "JD401", (
                f"{times:.3g} times the bound of the declared accumulation: behaves like "
                f"{one.words}"
            )
    return None
