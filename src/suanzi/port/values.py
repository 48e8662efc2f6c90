"""What the values that a recorder saw say: integers that do not fit, fixes, margins of float16.

Extremes are those of the calls and elements that were looked at: all of integers and of 0-d
tensors, a sample of others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isinf
from typing import Any

from suanzi.base.dtypes import DType, bfloat16, finfo, float16, float32, float64, iinfo
from suanzi.port.findings import Finding, Verdict
from suanzi.port.judged import Judged
from suanzi.port.layout import shortened, statement_at
from suanzi.port.tabulated import question
from suanzi.promote.engine import Answer
from suanzi.promote.fixes import Fix
from suanzi.promote.operands import Role
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import holds, number_loss, show
from suanzi.recording.calls import Call, Taken, Where
from suanzi.recording.seen import Seen

MARGIN = 8
"""Values of float16 are reported where they are less than this many times below its largest."""
SHARE = 0.01
"""So many of the nonzero values have to vanish, or to lose bits, to be reported."""
_LARGEST = float(finfo(float16).max)
_BOUNDS = {float(finfo(dt).max) for dt in (float16, bfloat16, float32, float64)}
"""The ends of dtypes: masks are made of them, not computed."""
_INFINITE = frozenset(
    "log log2 log10 log1p logit div truediv rtruediv rdiv true_divide reciprocal rsqrt pow rpow "
    "masked_fill fill full full_like tensor as_tensor where zeros empty new_full scalar_tensor tan "
    "atanh erfinv cdist lgamma digamma polygamma atan2 float_power xlogy special_xlogy".split()
)
"""Operators whose infinities say nothing about the range of a dtype."""
_DRAWN = ("random",)
"""Operators whose integers are drawn from all of a dtype: seeds."""
_MASK = 30000.0
"""What is computed from the end of a dtype is a mask as long as it is larger."""
_SHOWN = 8


def tensors_of(call: Call) -> Iterator[Taken]:
    """Yield the arguments of a call that are tensors."""
    for x in (*call.arguments, *(x for _, x in call.named)):
        for one in x if isinstance(x, tuple) else (x,):
            if one is not None and one.operand.dtype is not None:
                yield one


class TooSmall:
    """Finds integers of a program that a target's dtypes do not hold: JAX has no int64."""

    def __init__(self, target: RuleSet) -> None:
        self.target = target
        self.roots: dict[int, Finding] = {}
        self.saturated: set[int | None] = set()
        """Calls whose values come from floats that no integer dtype holds, such as infinity."""

    def judge(self, call: Call, found: Callable[[Call, Verdict], Finding]) -> None:
        """Report a call with such a value, or count it with the call that it came from."""
        verdict = None if call.operator in _DRAWN else self.verdict(call)
        if verdict is None:
            return
        if _saturates(call) or any(x.made_by in self.saturated for x in tensors_of(call)):
            self.saturated.add(call.number)
            return
        before = (self.roots.get(x.made_by) for x in tensors_of(call) if x.made_by is not None)
        root = next((one for one in before if one is not None), None)
        if root is None:
            root = found(call, verdict)
        else:
            root.followers.append(call)
        self.roots[call.number] = root

    def verdict(self, call: Call) -> Verdict | None:
        """Return what is said of a call; None where all its values fit."""
        some = [(x.operand.dtype, x.least, x.greatest) for x in tensors_of(call)]
        if call.seen is not None:
            some.append((call.result, call.seen.least, call.seen.greatest))
        for dt, *extremes in some:
            here = self.target.made.get(dt) if dt is not None else None
            if here is None or here.kind not in ("int", "uint"):
                continue
            for value in extremes:
                if value is None or value != int(value) or holds(here, int(value)):
                    continue
                text = f"{show(int(value))} of this program is out of range of {here}, as {dt} is"
                return Verdict("SZ006", None, None, f"{text} there", self.fix(), question(call))
        return None

    def fix(self) -> Fix | None:
        """Return how the target gets the dtype, where it can."""
        if self.target.name != "jax_x32":
            return None
        return Fix("enable the 64-bit types of JAX", 'jax.config.update("jax_enable_x64", True)')


def _saturates(call: Call) -> bool:
    """Tell whether a call casts floats that are beyond its integers, which is undefined in C."""
    dtypes = [x.operand.dtype for x in tensors_of(call)]
    if not dtypes or any(dt is None or dt.kind != "float" for dt in dtypes):
        return False
    if call.result is None or call.result.kind not in ("int", "uint") or call.seen is None:
        return False
    ends = iinfo(call.result)
    return call.seen.least == ends.min or call.seen.greatest in (ends.max, float(ends.max))


def with_own_values(verdict: Verdict, taken: Sequence[Taken]) -> Verdict:
    """Return a verdict whose fix says what the cast does to the values of this program."""
    fix, wanted = verdict.fix, verdict.source
    if fix is None or wanted is None or wanted.dtype is None or not fix.text.endswith(" too"):
        return verdict
    cast = [taken[i] for i in fix.operands if i < len(taken)]
    if not cast or any(one.least is None or one.greatest is None for one in cast):
        return verdict
    head = fix.text.rpartition("; ")[0]
    said = "; ".join(dict.fromkeys(_kept(one, wanted) for one in cast))
    return replace(verdict, fix=replace(fix, text=f"{head}; {said}"))


def _kept(one: Taken, wanted: Answer) -> str:
    """Say what a cast makes of the values of an operand."""
    assert wanted.dtype is not None
    assert one.least is not None
    assert one.greatest is not None
    lost = [x for x in (one.least, one.greatest) if number_loss(x, wanted.dtype) is not None]
    if one.least == one.greatest:
        if not lost:
            return f"{_short(one.least)}, its value in this program, is kept"
        gone = number_loss(one.least, wanted.dtype)
        assert gone is not None
        return f"{_short(one.least)}, its value in this program, becomes {_short(gone.becomes)}"
    out = [x for x in lost if _leaves(x, wanted.dtype)]
    if out:
        return f"{_short(out[-1])} of this program is out of range there, too"
    between = f"{_short(one.least)} to {_short(one.greatest)}"
    return f"its values in this program, {between}, are in range"


def _leaves(value: float, dt: DType) -> bool:
    gone = number_loss(value, dt)
    return gone is not None and gone.reason == "range"


def _short(x: object) -> str:
    return f"{float(x):.6g}" if not isinstance(x, int) else show(x)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Close:
    """A line whose values are near the ends of float16, or beyond."""

    where: Where
    operator: str
    text: str
    margin: float
    """How many times the largest value fits below float16's largest; 0 where it does not."""
    lost: float
    """The share of the nonzero values that become zero or subnormal in float16."""

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain data."""
        return {
            "file": self.where.file, "line": self.where.line, "operator": self.operator,
            "text": self.text, "margin": None if isinf(self.margin) else self.margin,
            "lost": self.lost,
        }  # fmt: skip

    def __str__(self) -> str:
        place = f"{shortened(self.where.file)}:{self.where.line}"
        source = statement_at(self.where)
        return f"{place}  {source}: {self.text}" if source else f"{place}: {self.text}"


def close_lines(calls: Iterable[Call], judged: Sequence[Judged]) -> list[Close]:
    """Return the lines whose float16 values are close to overflow, or lose what was not zero.

    Those are lines that compute in float16, narrow to it, and, where a target lacks bfloat16 on a
    chip that was named, those that compute in bfloat16.
    """
    instead = _lacks_bfloat16(judged)
    made = {call.number: call for call in calls}
    found: dict[tuple[str, int, str], Close] = {}
    masks: set[int | None] = set()
    for call in made.values():
        if _is_mask(call, masks):
            masks.add(call.number)
            continue
        one = _close(call, made, instead)
        if one is None:
            continue
        key = one.where.file, one.where.line, one.operator
        if key not in found or (one.margin, -one.lost) < (found[key].margin, -found[key].lost):
            found[key] = one
    return sorted(found.values(), key=lambda one: (one.margin, -one.lost))


def _lacks_bfloat16(judged: Sequence[Judged]) -> bool:
    return any(
        one.code == "SZ004" and "bfloat16" in one.verdict.about
        for j in judged
        for one in j.findings
    )


def _is_mask(call: Call, masks: set[int | None]) -> bool:
    """Tell whether the largest values of a result are the end of a dtype, or come from there."""
    if call.seen is None or call.seen.magnitude < _MASK:
        return False
    given = [one for one in tensors_of(call) if one.seen is not None]
    return call.seen.magnitude in _BOUNDS or any(
        one.made_by in masks or (one.seen is not None and one.seen.magnitude in _BOUNDS)
        for one in given
    )


def _close(call: Call, made: Mapping[int, Call], instead: bool) -> Close | None:
    if call.where is None:
        return None
    narrow = (float16, bfloat16) if instead else (float16,)
    values = [one for one in tensors_of(call) if one.seen is not None]
    said: list[str] = []
    margin, lost = inf, 0.0
    if call.result in narrow and call.seen is not None:
        margin, said = _overflow(call, call.seen, values)
    for one in values:
        dt = one.operand.dtype
        assert one.seen is not None
        is_narrowed = call.result is float16 and dt in (bfloat16, float32, float64)
        if one.operand.role is not Role.TENSOR and len(values) > 1:
            continue
        if is_narrowed and one.seen.magnitude > _LARGEST:
            margin, said = 0.0, [f"{_short(one.seen.magnitude)} becomes inf in float16"]
        if is_narrowed or (instead and dt is bfloat16 and one.made_by not in made):
            lost = max(lost, _share(one.seen, said))
    if instead and call.result is bfloat16 and call.seen is not None:
        lost = max(lost, _share(call.seen, said))
    if not said:
        return None
    text = "; ".join(dict.fromkeys(said))
    if call.result is not float16:
        text = f"in float16, {text}"
    return Close(call.where, call.operator, text, margin, lost)


def _overflow(call: Call, seen: Seen, operands: list[Taken]) -> tuple[float, list[str]]:
    """Return the margin of a result in float16, and what is said of it."""
    numbers = [x for x in call.arguments if isinstance(x, Taken) and x.operand.dtype is None]
    given = [x.least for x in numbers] + [x.greatest for x in numbers]
    is_odd = any(x is not None and (x != x or isinf(x)) for x in given)
    is_odd |= any(
        one.seen is not None and (one.seen.has_inf or one.seen.has_nan) for one in operands
    )
    if seen.has_inf and operands and not is_odd and call.operator not in _INFINITE:
        return 0.0, ["overflows to inf"]
    largest = seen.magnitude
    if largest > _LARGEST:
        return 0.0, [f"{_short(largest)} becomes inf"]
    if largest * MARGIN <= _LARGEST:
        return inf, []
    margin = _LARGEST / largest
    return margin, [
        f"largest value seen {_short(largest)}: {margin:.1f} times below float16's largest"
    ]


def _share(seen: Seen, said: list[str]) -> float:
    """Return which part of the nonzero values float16 loses; say it where it matters."""
    if not seen.nonzero:
        return 0.0
    zeroed, subnormal = seen.zeroed / seen.nonzero, seen.subnormal / seen.nonzero
    if zeroed + subnormal < SHARE:
        return 0.0
    parts = [f"{100 * zeroed:.2g} % become 0"] * bool(zeroed)
    parts += [f"{100 * subnormal:.2g} % subnormal"] * bool(subnormal)
    said.append(f"of the nonzero values seen, {' and '.join(parts)}")
    return zeroed + subnormal


def notes_of(lines: Sequence[Close]) -> list[str]:
    """Return the lines of a report about float16."""
    if not lines:
        return []
    more = len(lines) - _SHOWN
    said = ["values of this program in float16:", *(f"  {one}" for one in lines[:_SHOWN])]
    return said + ([f"  and {more} more lines (--json lists them)"] if more > 0 else [])
