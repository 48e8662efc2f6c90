"""The accuracy of a backend: a table, and JSON with a versioned schema."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from suanzi import __version__
from suanzi._text import columns
from suanzi.accuracy.engine import Row, Task, measure, tasks
from suanzi.accuracy.errors import EDGES
from suanzi.accuracy.functions import FUNCTIONS, function
from suanzi.accuracy.inputs import WIDTHS
from suanzi.accuracy.sweeper import Sweeper
from suanzi.conformance.check import cores
from suanzi.conformance.running.backends import backend as named
from suanzi.conformance.running.process import Backend
from suanzi.dtypes import dtype as dtype_of
from suanzi.status import InvalidArgument

SCHEMA = "suanzi-accuracy/1"
DTYPES = ("float16", "bfloat16", "float32")
"""Measured by default."""


@dataclass(frozen=True, repr=False)
class Accuracy:
    """What was measured of a backend."""

    subject: dict[str, str]
    rows: tuple[Row, ...]
    seconds: float

    header = (
        "function", "dtype", "arguments", "worst ULP", "at", "mean", "> 0.5", "> 1", "special",
        "flushed", "order", "symmetry",
    )  # fmt: skip

    def __str__(self) -> str:
        who = f"{self.subject['title']} {self.subject['version']}"
        measured = [row for row in self.rows if not row.missing]
        lines = [f"{who}: {len(measured)} functions and dtypes measured in {self.seconds:.0f} s"]
        if measured:
            lines += ["", columns([self.header, *map(_cells, measured)])]
        missing = [row for row in self.rows if row.missing]
        if missing:
            lines += ["", "not measured"]
            lines += [f"  {r.function.name} {r.dtype}: {r.missing[:100]}" for r in missing]
        return "\n".join(lines)

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Return what was measured as plain data; numbers are hexadecimal where they are exact."""
        return {
            "schema": SCHEMA,
            "suanzi": __version__,
            "subject": self.subject,
            "machine": {"processor": _processor(), "system": platform.platform()},
            "measured": datetime.now(timezone.utc).date().isoformat(),
            "seconds": round(self.seconds, 1),
            "edges": list(EDGES),
            "rows": [_row(row) for row in self.rows],
        }

    def to_json(self) -> str:
        """Return the same as text, one row in a line."""
        data = self.to_dict()
        rows = ",\n  ".join(json.dumps(row) for row in data.pop("rows"))
        return f'{json.dumps(data, indent=1)[:-2]},\n "rows": [\n  {rows}\n ]\n}}\n'


def accuracy(
    backend: str | Backend = "suanzi",
    *,
    functions: Iterable[str] = (),
    dtypes: Iterable[str] = (),
    exhaustive: bool = False,
    python: str | None = None,
    device: str | None = None,
    level: str | None = None,
    jobs: int | None = None,
    seed: int = 0,
    timeout: float = 120.0,
    progress: Callable[[int, int, str], None] | None = None,
) -> Accuracy:
    """Measure how accurate the functions of a backend are.

    Every argument of dtypes of 16 bits and fewer is tried; of float32 every one with `exhaustive`,
    else all exponents and the neighbours of hard points and of the worst that was found; of float64
    likewise. `level` is an instruction set of suanzi's own: baseline, avx2, avx512, neon.

    >>> found = accuracy(functions=["square"], dtypes=["float8_e5m2"], jobs=1)
    >>> found.rows[0].tally.worst, found.rows[0].tally.wrong
    (0.5, 0)
    """
    begun = time.monotonic()
    chosen = [function(name) for name in functions] or list(FUNCTIONS.values())
    kinds = [_dtype(name) for name in dtypes] or list(DTYPES)
    jobs = cores() if jobs is None else jobs
    for name, number in (("jobs", jobs), ("timeout", timeout)):
        if not number > 0:
            raise InvalidArgument(
                f"accuracy: {name} is {number!r}; it must be a number above zero."
            )
    subject = backend if isinstance(backend, Backend) else _subject(backend, python, device, level)
    work = list(tasks(chosen, kinds, exhaustive, parts=16 * jobs))
    done = 0

    def report(task: Task) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, len(work), f"{task.function.name} {task.dtype}")

    with Sweeper(subject, timeout) as first:
        facts = first.facts
    rows = measure(lambda: Sweeper(subject, timeout), work, jobs, seed, report)
    about = {name: str(facts.get(name, "")) for name in ("name", "version", "device")}
    more = {"level": level} if level else {}
    notes = " ".join(note for note in facts.get("notes", ()) if note.startswith("On "))
    about |= {"title": subject.title, "on": notes} | more
    return Accuracy(about, tuple(rows), time.monotonic() - begun)


def _subject(title: str, python: str | None, device: str | None, level: str | None) -> Backend:
    subject = named(title, python, device)
    if subject.title == "suanzi":
        options = {"level": level} if level else {}
        return Backend("suanzi", "plain_adapter:Adapter", subject.python, options)
    if level is not None:
        raise InvalidArgument(f"accuracy: --level is for suanzi, not for {title}.")
    if not subject.adapter.startswith("frameworks.") and subject.title.startswith("suanzi"):
        raise InvalidArgument(f"accuracy: {subject.title} is not measured; use suanzi.")
    return subject


def _dtype(name: str) -> str:
    found = dtype_of(name).name
    if found not in WIDTHS:
        raise InvalidArgument(
            f"accuracy: functions of {found} are not measured; dtypes: {', '.join(WIDTHS)}."
        )
    return found


def _cells(row: Row) -> tuple[str, ...]:
    tally = row.tally
    return (
        row.function.name, row.dtype, "all" if row.coverage == "all" else "search",
        _rounded_up(tally.worst), _hex(tally.worst_at), f"{tally.mean():.4f}",
        _share(tally.wrong, tally.count), _share(tally.above_one, tally.count),
        *(str(n) if n else "-" for n in (tally.special, tally.flushed, tally.order,
                                         tally.asymmetric)),
    )  # fmt: skip


def _rounded_up(worst: float) -> str:
    """Return an error with digits enough to tell a wrong rounding: 0.50003, 0.974, 12.3.

    >>> _rounded_up(0.500031), _rounded_up(0.5), _rounded_up(0.97441), _rounded_up(123.456)
    ('0.50003', '0.5', '0.974', '123')
    """
    return f"{worst:.5g}" if 0.5 < worst < 0.501 else f"{worst:.3g}"


def _share(part: int, whole: int) -> str:
    """Return a share in per cent; a few of many as a count.

    >>> _share(0, 10), _share(3, 65536), _share(100, 1000)
    ('-', '3', '10.0 %')
    """
    if not part:
        return "-"
    return str(part) if part < 1000 and part < whole / 50 else f"{100 * part / whole:.1f} %"


def _hex(x: float | None) -> str:
    if x is None:
        return ""
    head, mark, exponent = x.hex().partition("p")
    if not mark:
        return head
    return f"{head.rstrip('0').rstrip('.') if '.' in head else head}p{exponent}"


def _row(row: Row) -> dict[str, Any]:
    about = {"function": row.function.name, "dtype": row.dtype, "arguments": row.coverage}
    if row.missing:
        return about | {"missing": row.missing}
    tally = row.tally
    found = {
        "count": tally.count, "worst": tally.worst, "worst_at": _hex(tally.worst_at),
        "worst_found": _hex(tally.worst_found), "mean": tally.mean(),
        "not_correctly_rounded": tally.wrong, "above_one": tally.above_one,
        "histogram": tally.histogram, "wrong_special": tally.special,
        "wrong_special_at": _hex(tally.special_at), "flushed": tally.flushed,
        "out_of_order": tally.order, "asymmetric": tally.asymmetric,
    }  # fmt: skip
    return about | found


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
