"""suanzi with one thing read otherwise, and whether the cases of the kit notice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.judging.verdict import Answer
from suanzi.conformance.model.case import GROUPS, Case
from suanzi.conformance.model.results import Result
from suanzi.conformance.running.process import Local, Unanswered
from suanzi.conformance.running.run import run_case
from suanzi.conformance.subjects.suanzi_adapter import Adapter
from suanzi.conformance.subjects.wire import Data
from suanzi.standard import interfaces

Arguments = dict[str, Any]
Right = Callable[[Arguments], tuple[Any, ...]]
Reading = Callable[[Right, Arguments], tuple[Any, ...]]
"""An answer to a call: made from the right answers, to these arguments or to others."""
Entry = tuple[str, str, Reading]
"""The interface, what is misread, and the misreading."""

OWN = frozenset(GROUPS) - {"example"}
"""The worked examples are the ones that everybody has seen."""
NUMBERS = "biufc"


class Misread(Adapter):
    """suanzi with one thing read otherwise."""

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self._reading = reading
        self.mistake: Exception | None = None
        """What went wrong in the misreading itself: it must not count as noticed."""
        self.changed = False
        """Whether an answer was another than the right one."""

    def call(self, op: str, arguments: Arguments) -> tuple[Any, ...]:
        right = super().call
        if any(isinstance(x, sz.SparseTensor) for x in arguments.values()):
            return right(op, arguments)  # readings are of arrays
        first: list[tuple[Any, ...]] = []

        def called(given: Arguments) -> tuple[Any, ...]:
            first.append(right(op, given))
            return first[-1]

        try:
            with np.errstate(all="ignore"):
                answer = self._reading(called, arguments)
        except Exception as mistake:
            self.mistake = mistake
            raise
        # A reading with nothing to say returns the objects of its first and only right answer.
        same = len(first) == 1 and [*map(id, first[0])] == [*map(id, answer)]
        self.changed |= not same
        return answer


def made(
    change: Callable[..., Any],
    kinds: str = NUMBERS,
    *,
    keep_dtype: bool = False,
    misfit: str | None = None,
    dtypes: Collection[str] | None = None,
) -> Reading:
    """Return a reading that makes other outputs; of the right ones and the arguments, as arrays.

    What has another dtype than NumPy's of these kinds is answered rightly, and so is what the
    change has nothing to say of, by None. Shapes that it cannot take are refused with the status
    `misfit`, if there is one. With `dtypes`, all tensors that are given must have one of those.
    """

    def reading(right: Right, arguments: Arguments) -> tuple[Any, ...]:
        status, *outputs = right(arguments)
        if status != "SUCCESS":
            return status, *outputs
        given = {name: plain(x) for name, x in arguments.items()}
        seen = [plain(x) for x in outputs]
        tensors = arrays(given.values())
        if dtypes is not None:
            fits = all(str(x.dtype) in dtypes for x in tensors)
        else:
            fits = all(x.dtype.kind in kinds for x in tensors) and all(
                x.dtype.isbuiltin == 1 for x in tensors + arrays(seen)
            )
        if not fits:
            return status, *outputs
        try:
            found = change(*seen, **given)
        except ValueError:
            if misfit is None:
                raise
            return misfit, "no"
        if found is None:
            return status, *outputs
        several = found if isinstance(found, tuple) else (found,)
        return status, *(back(x, y, keep_dtype) for x, y in zip(several, seen, strict=True))

    reading.dtypes = dtypes  # type: ignore[attr-defined]
    return reading


def asked(change: Callable[..., Arguments | None]) -> Reading:
    """Return a reading that takes other arguments for those that are given."""

    def reading(right: Right, arguments: Arguments) -> tuple[Any, ...]:
        answer = right(arguments)
        changed = change(**arguments) if answer[0] == "SUCCESS" else None
        return answer if changed is None else right({**arguments, **changed})

    return reading


def refused(when: Callable[..., bool], status: str = "INVALID_ARGUMENT") -> Reading:
    """Return a reading that refuses what is right."""

    def reading(right: Right, arguments: Arguments) -> tuple[Any, ...]:
        answer = right(arguments)
        if answer[0] != "SUCCESS":
            return answer
        given = {name: plain(x) for name, x in arguments.items()}
        return (status, "no") if when(**given) else answer

    return reading


def accepted(change: Callable[..., Any]) -> Reading:
    """Return a reading that answers, with what the change makes, what is to be refused.

    Where that is None or cannot be made, it refuses as it must.
    """

    def reading(right: Right, arguments: Arguments) -> tuple[Any, ...]:
        answer = right(arguments)
        if answer[0] in ("SUCCESS", "UNINITIALIZED_OBJECT"):
            return answer
        try:
            found = change(**arguments)
        except (sz.StatusError, TypeError, ValueError, IndexError, AttributeError):
            return answer
        return answer if found is None else ("SUCCESS", found)

    return reading


def instead(right_status: str, status: str, when: Callable[..., bool] | None = None) -> Reading:
    """Return a reading that has one status for another."""

    def reading(right: Right, arguments: Arguments) -> tuple[Any, ...]:
        answer = right(arguments)
        if answer[0] != right_status or (when is not None and not when(**arguments)):
            return answer
        return status, "no"

    return reading


def ruled(op: str, rules: str) -> Reading:
    """Return a reading that promotes by another rule set."""
    other = Adapter()
    other.use_rules(rules)
    return lambda right, arguments: other.call(op, arguments)


def is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray)


def arrays(some: Iterable[Any]) -> list[Any]:
    """Return the arrays among these, and in lists of them."""
    return [y for x in some for y in (x if isinstance(x, list) else [x]) if is_array(y)]


def plain(x: Any) -> Any:
    """Return tensors as arrays, and all else as it is."""
    if isinstance(x, list):
        return [plain(y) for y in x]
    if not isinstance(x, sz.Tensor):
        return x
    if str(x.dtype) == "char" or str(x.dtype).startswith("QT"):
        return np.zeros(x.shape, "V1")
    return np.asarray(x)


def back(x: Any, right: Any, keep_dtype: bool) -> Any:
    """Return an array as a tensor, of the right dtype unless another is what is wrong."""
    if isinstance(x, list):
        return [back(y, z, keep_dtype) for y, z in zip(x, right, strict=True)]
    if not isinstance(x, np.ndarray | np.generic):
        return x
    array = np.asarray(x)
    if not keep_dtype and is_array(right):
        array = array.astype(right.dtype)
    return Data(str(array.dtype), array.shape, np.ascontiguousarray(array).tobytes())


def one_by_one(input: Any, axes: Any, keep: bool) -> Any:
    """Return a sum that is rounded after each element, the first to the last."""
    rest = [a for a in range(input.ndim) if a % input.ndim not in {b % input.ndim for b in axes}]
    rows = np.transpose(input, [*rest, *(a % input.ndim for a in axes)])
    rows = rows.reshape(*(input.shape[a] for a in rest), -1)
    total = np.zeros(rows.shape[:-1], input.dtype)
    for i in range(rows.shape[-1]):
        total = (total + rows[..., i]).astype(input.dtype)
    return np.expand_dims(total, tuple(axes)) if keep else total


READINGS = frozenset({
    "add: shapes are an argument", "div: integers floor", "pow: equal shapes only",
    "rsqrt: 0 is refused", "round: half away from zero", "rint: half away from zero",
    "mod: sign of the dividend", "mod: sign of the dividend in floats", "asin: refused outside",
    "acos: refused outside", "log: refused at 0", "log1p: refused at -1", "log10: refused at 0",
    "muladd: INVALID_ARGUMENT for DIMENSIONS_MISMATCH",
    "logical_and: INVALID_ARGUMENT for DIMENSIONS_MISMATCH", "rand_normal: rounded to integers",
    "sign: of bool", "reduce: the mean of bool", "reduce: the largest complex number",
    "reduce: a negative axis is refused", "topk: all of an axis is refused",
    "cast: NaN is the lowest", "cast: infinity is the lowest", "cast: integers saturate",
    "cast: the largest for overflow", "lu: int32 pivots", "solve: as 7.2.17.7 has it",
    "eig: not normalised", "eig: real where it can be",
    *(f"{op}: DIMENSIONS_MISMATCH for INVALID_ARGUMENT" for op in (
        "concat", "diag", "dot_bwd1", "expand", "fft_c2r", "masked_select", "pad", "reshape",
        "split", "stack", "tile", "unstack", "where")),
    *(f"{op}: OUT_OF_RANGE for INVALID_ARGUMENT" for op in (
        "crop", "fft_c2c", "gather", "rand_uniform", "range", "scatter", "topk", "transpose")),
    *(f"{op}: TYPE_MISMATCH for INVALID_ARGUMENT" for op in (
        "interpolate", "inverse", "norm", "sign")),
    *(f"{op}: complex by real part" for op in ("floordiv", "less", "max")),
    "flatten: INVALID_ARGUMENT for AXIS_ARGUMENT", "flip: OUT_OF_RANGE for AXIS_ARGUMENT",
    "pad: mirrors without the edge", "allclose: no axes", "max: shapes are dimensions",
    "argsort: indices int32", "nonzero: coordinates in rows", "reduce: sums of bool are int32",
    "reduce: LAND keeps the dtype", "dot: shapes are dimensions", "fft_c2c: scaled by all elements",
    "fft_r2c: all of it by default",
})  # fmt: skip
"""What is no misreading: a reader of the standard can defend it, and `letter_subjects` does it."""


def table(entries: list[Entry]) -> Any:
    """Return a decorator that runs a test with each misreading, those of an interface in a row."""
    return pytest.mark.parametrize(
        ("op", "reading"),
        [
            pytest.param(op, reading, id=f"{op}: {how}")
            for op, how, reading in sorted(entries, key=lambda entry: entry[0])
            if f"{op}: {how}" not in READINGS
        ],
    )


def notices(
    op: str,
    reading: Reading,
    *,
    quick: bool,
    rules: str = "cann",
    groups: frozenset[str] = OWN,
    dtypes: Collection[str] | None = None,
) -> str | None:
    """Return the first case, of all dtypes or some, that a misreading fails, or mixes readings."""
    some = None if dtypes is None else frozenset(dtypes)
    subject = _Watched(Misread(reading))
    every: list[Case] = []
    # Most are found by the first group; large cases take long to make.
    for group in sorted(groups, key=lambda name: (name == "sizes", [*GROUPS].index(name))):
        for case in _cases(op, quick, rules, group, some):
            if (found := subject.judged(case)) is not None and found.outcome == "failed":
                return case.id
            every.append(case)
    # Right answers that were not judged so far follow readings of the standard, too.
    common: dict[str, set[str]] = {}
    for case in every:
        found = subject.judged(case, right_too=True) if case.disputed else None
        if found is not None and found.throughout and found.reading is not None:
            erratum, _, names = found.reading.partition(": ")
            followed = common.setdefault(erratum, set(names.split(" | ")))
            followed &= set(names.split(" | "))
            if not followed:
                return case.id
    return None


class _Right(BaseException):
    """The answer is the right one."""


class _Watched(Local):
    """A subject whose right answers need no judge: test_embedded.py judges them all."""

    adapter: Misread
    right_too = False

    def ask(self, case: Case) -> Answer | Unanswered:
        self.adapter.changed = False
        answer = super().ask(case)
        if not (self.adapter.changed or self.right_too):
            raise _Right
        return answer

    def judged(self, case: Case, *, right_too: bool = False) -> Result | None:
        self.right_too = right_too
        try:
            found = run_case(self, case)
        except _Right:
            found = None
        if self.adapter.mistake is not None:
            raise self.adapter.mistake
        return found


def always_notices(op: str, reading: Reading) -> bool:
    """Tell whether a quick run notices a misreading, and a full one, by the same kind of case.

    A full one is asked of every third interface: its cases are those of a quick one and more.
    """
    found = notices(op, reading, quick=True)
    if found is None or list(interfaces()).index(op) % 3:
        return found is not None
    group, dtype = found.split("/")[1:3]
    # What the cases of a dtype notice, all cases do; there are far fewer of them to make.
    of_dtype = None if dtype == "any" else dtype.split("-")
    return any(
        notices(op, reading, quick=False, groups=frozenset({group}), dtypes=dtypes)
        for dtypes in (of_dtype, None)
    )


@lru_cache(32)
def _cases(
    op: str, quick: bool, rules: str, group: str, dtypes: frozenset[str] | None
) -> list[Case]:
    found = cases(op, Wanted(frozenset({group}), dtypes, quick=quick, rules=rules))
    return [replace(case, expect=cache(case.expect)) for case in found]
