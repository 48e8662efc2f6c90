"""Call: one recorded call of a program; and the files of recorded calls."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from suanzi.base.dtypes import DType, dtype
from suanzi.base.status import InvalidArgument, StatusError
from suanzi.base.text import ending
from suanzi.promote.operands import NUMBER_KINDS, Operand, Role
from suanzi.promote.rules import RuleSet
from suanzi.promote.writing import WAYS
from suanzi.recording.seen import Seen, joined_values, read_seen, with_values

FORMAT = "suanzi-calls/1"
_SILENT = "it ended without a message"
FORWARDS = ("", "train", "eval")
_Read = TypeVar("_Read")


@dataclass(frozen=True)
class Where:
    """A line of the program."""

    file: str
    line: int
    function: str = ""
    module: str = ""
    by: tuple[str, int] | None = None
    """The line of the program that called, where this one is of a library."""
    layer: str = ""
    """The path of the layer that was running, as the model names it."""


@dataclass(frozen=True)
class Taken:
    """An argument that is, or may be, an operand."""

    operand: Operand
    made_by: int | None = None
    """The number of the call that returned it; None for other tensors."""
    least: int | float | None = None
    """The least number that was given here, or value of the tensor, of all calls of a record."""
    greatest: int | float | None = None
    seen: Seen | None = None
    """What else was measured of a tensor."""


@dataclass(frozen=True)
class Call:
    """One call of an operator, or many that are alike."""

    number: int
    operator: str
    """As the framework calls it, without underscores."""
    arguments: tuple[Taken | tuple[Taken, ...] | None, ...]
    """By their places; a tuple is a list of tensors, None neither a tensor nor a number."""
    named: tuple[tuple[str, Taken | tuple[Taken, ...] | None], ...] = ()
    result: DType | None = None
    """The dtype of the first tensor that came out; None where suanzi has no such dtype."""
    zero_dim: bool = False
    """Whether it is a 0-d tensor."""
    way: str | None = None
    """How the result is written: one of ``promote.writing.WAYS``; None for a new tensor."""
    where: Where | None = None
    backward: bool = False
    count: int = 1
    symbol: bool | None = None
    """Whether ``**`` was written, not a function; None where that is not known or the same."""
    autocast: tuple[str, DType] | None = None
    """The device and the lower precision of autocast, where it was on."""
    seen: Seen | None = None
    """What was measured of the result."""
    span: tuple[int, ...] | None = None
    """Where its expression begins and ends: line and column in bytes, twice; None if unknown."""
    forward: str = ""
    """Whether a module's forward made it, under "eval" or "train"; empty: none, or not known."""

    def argument(self, name: str) -> Taken | tuple[Taken, ...] | None:
        """Return an argument that was given by its name."""
        return dict(self.named).get(name)


@dataclass(frozen=True)
class Calls:
    """The calls of a program in their order, and how it ended."""

    framework: str
    version: str
    calls: tuple[Call, ...]
    raised: str | None = None
    """What the program raised; the calls until then are kept."""
    missed: int = 0
    """Calls that the recorder could not note."""
    results: bool = True
    """Whether results were recorded; if not, they follow from the framework's rules."""
    rules: RuleSet | None = None
    """What the program was computed by, if not the rule set of the framework's name."""
    level: str = ""
    """The level of autocast that the targets use; empty: the usual one."""
    hashes: Mapping[str, Any] = field(default_factory=dict)
    """Those of the results of each line, if they were asked for."""


def read_calls(path: str | PathLike[str]) -> Calls:
    """Return the calls that a recorder wrote to a file."""
    return _reading(path, lambda: from_records(_records(path)))


def read_processes(path: str | PathLike[str], status: int | None = None) -> list[dict[str, Any]]:
    """Return the records of a program and of the processes it started, as those of one.

    Each process has a file of its own, next to that of the first: ``calls.jsonl.4711``. `status` is
    how the first one ended, if that is known: it may have had no time to write it down.
    """
    first = Path(path)
    files = [first, *sorted(first.parent.glob(f"{first.name}.*"))]
    found = _reading(path, lambda: _joined({file.name: _records(file) for file in files}))
    if status and found[-1]["raised"] in (None, _SILENT):
        found[-1]["raised"] = f"it ended with {ending(status)}"
    elif status == 0 and found[-1]["raised"] == _SILENT:
        found[-1]["raised"] = f"{_SILENT}, with {ending(status)}"
    return found


def _records(path: str | PathLike[str]) -> list[Any]:
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if line.strip()]
    if len(lines) > 1 and not lines[-1].endswith("\n"):
        lines.pop()  # the program was killed while it was written
    return [json.loads(line) for line in lines]


def _joined(files: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return the records of several processes with other numbers: those of one that was forked
    begin with the calls that it had from its parent."""
    (first, main), *_ = files.items()
    found, end = [main[0]], {"end": True, "raised": _SILENT}
    counts: Counter[str] = Counter()
    extremes: dict[str, list[Any]] = {}
    values: dict[str, list[Any]] = {}
    numbers: dict[str, list[int]] = {}
    calls = 0

    def add(name: str) -> list[int]:
        """Add the records of a file and return the numbers that its calls have now."""
        nonlocal calls
        if name in numbers:
            return numbers[name]
        head, *rest = files[name] or [{}]
        process = head.get("process") or {}
        parent, known = process.get("parent"), process.get("known", 0)
        now = numbers[name] = []
        now += (add(parent) if parent in files else [])[:known]
        inherited = len(now)
        last: dict[str, Any] = {}
        for record in rest:
            if "end" in record:
                last = record
                continue
            now.append(calls)
            calls += 1
            found.append({**_renumbered(record, now), "call": now[-1]})
        said = last.get("counts", {})
        for i, number in enumerate(now):
            counts[str(number)] += said.get(str(i), 1 if last or i >= inherited else 0)
            pairs = last.get("numbers", {}).get(str(i), ())
            old = extremes.setdefault(str(number), list(pairs))
            extremes[str(number)] = [_both(a, b) for a, b in zip(old, pairs, strict=False)] or old
            seen = last.get("values", {}).get(str(i), ())
            values[str(number)] = joined_values(values.get(str(number), ()), seen)
        if name == first and last:
            end.update(last)
        elif last.get("missed"):
            end["missed"] = end.get("missed", 0) + last["missed"]
        return now

    for name in files:
        add(name)
    return [*found, {**end, "counts": dict(counts), "numbers": extremes, "values": values}]


def _renumbered(x: Any, now: list[int]) -> Any:
    """Return a record with the numbers that the calls before it have now."""
    if isinstance(x, dict):
        return {k: now[v] if k == "from" else _renumbered(v, now) for k, v in x.items()}
    return [_renumbered(one, now) for one in x] if isinstance(x, list) else x


def _both(a: Any, b: Any) -> Any:
    """Return the range of two ranges of numbers; None was not a number that has one."""
    if a is None or b is None or None in (*a, *b):
        return a if b is None else b
    return [min(a[0], b[0]), max(a[1], b[1])]


def _reading(path: str | PathLike[str], read: Callable[[], _Read]) -> _Read:
    """Read a file of calls; raise one error for all that can be wrong with it."""
    try:
        return read()
    except OSError as error:
        raise InvalidArgument(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidArgument(f"{str(path)!r} is not a file of calls: {error!s:.400}.") from None
    except InvalidArgument as error:
        raise InvalidArgument(f"{str(path)!r} is not a file of calls: {error}") from None


def from_records(records: Iterable[Any]) -> Calls:
    """Return the calls of the records that a recorder made: a head, calls, an end."""
    head, *rest = records or [None]
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise InvalidArgument(f"it does not begin with {FORMAT!r}, as a recorder writes it.")
    raised: str | None = _SILENT
    calls: list[Call] = []
    end: dict[str, Any] = {}
    try:
        values: dict[str, Any] = next(
            (one["values"] for one in rest if "values" in one and "end" in one), {}
        )
        for record in rest:
            if "end" in record:
                end, raised = record, record["raised"]
            else:
                calls.append(_call(with_values(record, values.get(str(record["call"]), ()))))
                _check("call", calls[-1].number == len(calls) - 1)
        counts, numbers = end.get("counts", {}), end.get("numbers", {})
        framework, version = str(head["framework"]), str(head["version"])
        missed = end.get("missed", 0)
        _check("raised", raised is None or isinstance(raised, str))
        _check("missed", _is_count(missed))
        _check("counts", all(map(_is_count, counts.values())))
        for call in calls:
            pairs = list(numbers.get(str(call.number), ()))
            calls[call.number] = replace(
                call,
                count=counts.get(str(call.number), 1),
                arguments=tuple(_ranged(x, pairs) for x in call.arguments),
                named=tuple((name, _ranged(x, pairs)) for name, x in call.named),
            )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InvalidArgument(f"a record cannot be read: {error!r:.400}.") from None
    return Calls(framework, version, tuple(calls), raised, missed, hashes=end.get("hashes", {}))


def _check(what: str, is_right: bool) -> None:
    """Raise unless a part of a record is what a recorder writes: files come from others, too."""
    if not is_right:
        raise ValueError(f"its {what!r} is not what a recorder writes")


def _is_count(x: Any) -> bool:
    return type(x) is int and 0 <= x < 1 << 63


def _call(record: dict[str, Any]) -> Call:
    way = record.get("way")
    if way is not None and way not in WAYS:
        raise ValueError(f"{way!r} is none of {', '.join(WAYS)}")
    where = record.get("where")
    _check("op", isinstance(record["op"], str))
    _check("symbol", record.get("symbol") in (None, True, False))
    _check("forward", record.get("forward", "") in FORWARDS)
    _check("call", _is_count(record["call"]))
    _check(
        "where", where is None or (isinstance(where[0], str) and all(map(_is_count, where[1:2])))
    )
    return Call(
        number=record["call"],
        operator=record["op"],
        arguments=tuple(_taken(x) for x in record["arguments"]),
        named=tuple((name, _taken(x)) for name, x in record.get("named", {}).items()),
        result=known_dtype(record["result"]),
        zero_dim=bool(record.get("zero_dim")),
        way=way,
        where=None if where is None else _where(where, record),
        backward=bool(record.get("backward")),
        forward=record.get("forward", ""),
        symbol=record.get("symbol"),
        autocast=_autocast(record.get("autocast")),
        seen=read_seen(record.get("values")),
        span=_span(record.get("span")),
    )


def _where(where: list[Any], record: dict[str, Any]) -> Where:
    by, layer = record.get("by"), record.get("layer", "")
    _check("by", by is None or (isinstance(by[0], str) and _is_count(by[1])))
    _check("layer", isinstance(layer, str))
    file, line, *names = where[:4]
    function, module = [*names, "", ""][:2]
    return Where(file, line, function, module, None if by is None else (by[0], by[1]), layer)


def _span(x: Any) -> tuple[int, ...] | None:
    _check("span", x is None or (len(x) == 4 and all(map(_is_count, x))))
    return None if x is None else tuple(x)


def _autocast(x: Any) -> tuple[str, DType] | None:
    """Return what a record says of autocast: the device and the dtype."""
    if x is None:
        return None
    device, name = x
    _check("autocast", isinstance(device, str) and isinstance(name, str))
    lower = known_dtype(name)
    return None if lower is None else (device, lower)


def _taken(x: Any) -> Taken | tuple[Taken, ...] | None:
    if x is None:
        return None
    if isinstance(x, list):
        found = tuple(_taken(one) for one in x)
        return tuple(one for one in found if isinstance(one, Taken))
    if "number" in x:
        if x["number"] not in NUMBER_KINDS:
            raise ValueError(f"{x['number']!r} is not a Python number")
        return Taken(Operand(Role.NUMBER, kind=x["number"]))
    dt = known_dtype(x["dtype"])
    if dt is None:
        return None
    role = Role.ZERO_DIM if x.get("zero_dim") else Role.TENSOR
    _check("from", x.get("from") is None or _is_count(x["from"]))
    seen = read_seen(x.get("values"))
    extremes = (None, None) if seen is None else (seen.least, seen.greatest)
    return Taken(Operand(role, dt), x.get("from"), *extremes, seen)


def _ranged(x: Any, pairs: list[list[Any]]) -> Any:
    """Give a number what was seen of it; the pairs are in the order of the arguments."""
    if isinstance(x, Taken) and x.operand.role is Role.NUMBER and pairs:
        least, greatest = pairs.pop(0)
        _check("numbers", all(x is None or isinstance(x, int | float) for x in (least, greatest)))
        return replace(x, least=least, greatest=greatest)
    return x


def known_dtype(name: str) -> DType | None:
    """Return the dtype of a name; None for one that suanzi does not have."""
    try:
        return dtype(name)
    except StatusError:
        return None
