"""The accuracy of a backend: a table, and JSON with a versioned schema."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from suanzi._core import VERSION
from suanzi.base.lang import said, say
from suanzi.base.status import InvalidArgument
from suanzi.base.text import columns
from suanzi.conformance.subjects.tallies import EDGES
from suanzi.validate.accuracy.engine import Row
from suanzi.validate.accuracy.errors import At, Tally
from suanzi.validate.accuracy.functions import FUNCTIONS
from suanzi.validate.accuracy.samples import SAMPLED
from suanzi.validate.accuracy.text import at_text, cells, digits, hexadecimal

SCHEMA = "suanzi-accuracy/2"
_READ = ("suanzi-accuracy/1", SCHEMA)


@dataclass(frozen=True, repr=False)
class Accuracy:
    """What was measured of a backend."""

    subject: dict[str, str]
    rows: tuple[Row, ...]
    seconds: float
    settings: dict[str, Any] = field(default_factory=dict)
    """The seed, whether all float32 arguments were tried, the shard, the command."""
    machine: dict[str, str] = field(default_factory=lambda: machine())
    measured: str = field(default_factory=lambda: datetime.now(timezone.utc).date().isoformat())

    header = (
        "function", "dtype", "arguments", "worst ULP", "at", "mean", "> 0.5", "> 1", "special",
        "flushed", "order", "symmetry",
    )  # fmt: skip

    def __str__(self) -> str:
        measured = [row for row in self.rows if not row.missing]
        count = f"{len(measured)} functions and dtypes measured in {self.seconds:.0f} s"
        lines = [f"{say(self.title)}: {say(count)}"]
        if measured:
            lines += [
                "",
                columns([*said([self.header]), *said(map(cells, measured), names=(0, 1))]),
            ]
        lines += self._by_case(measured)
        missing: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            if row.missing:
                missing.setdefault((row.dtype, _reason(row)), []).append(row.name)
        if missing:
            lines += ["", say("not measured")]
            lines += [f"  {dtype}: {', '.join(names)}" + (f": {say(why)}" if why else "")
                      for (dtype, why), names in missing.items()]  # fmt: skip
        return "\n".join(lines)

    __repr__ = __str__

    @property
    def title(self) -> str:
        """The backend, its version, level, device and rounding."""
        about = self.subject
        level = f" at {about['level']}" if about.get("level") else ""
        device = f" on {about['device']}" if about.get("device") else ""
        rounding = f", {about['rounding']} rounding" if about.get("rounding") else ""
        return f"{about['name']} {about['version']}{level}{device}{rounding}"

    def _by_case(self, measured: Sequence[Row]) -> list[str]:
        some = [row for row in measured if row.tally.cases]
        if not some:
            return []
        head = ("function", "dtype", "length", "condition", "worst ULP", "mean")
        body = [
            (row.name, row.dtype, str(one["length"]), f"{one['condition']:g}",
             digits(one["worst"]), f"{one['mean']:.4f}")
            for row in some for one in row.tally.cases
        ]  # fmt: skip
        return ["", say("by length and condition"), columns([*said([head]), *body])]

    def to_dict(self) -> dict[str, Any]:
        """Return what was measured as plain data; numbers are hexadecimal where they are exact."""
        sampled = [SAMPLED[name] for name in dict.fromkeys(r.name for r in self.rows)
                   if name in SAMPLED]  # fmt: skip
        return {
            "schema": SCHEMA,
            "suanzi": VERSION,
            "subject": self.subject,
            "machine": self.machine,
            "measured": self.measured,
            "seconds": round(self.seconds, 1),
            "settings": self.settings,
            "edges": list(EDGES),
            "conditions": {one.name: one.condition for one in sampled},
            "rows": [_row(row) for row in self.rows],
        }

    def to_json(self) -> str:
        """Return the same as text, one row in a line."""
        data = self.to_dict()
        rows = ",\n  ".join(json.dumps(row) for row in data.pop("rows"))
        return f'{json.dumps(data, indent=1)[:-2]},\n "rows": [\n  {rows}\n ]\n}}\n'

    def to_html(self) -> str:
        """Return the report as a page that needs nothing else."""
        from suanzi.validate.accuracy.page import to_html

        return to_html(self)


def read(file: str) -> Accuracy:
    """Return a report that `suanzi accuracy --json` wrote."""
    try:
        data = json.loads(Path(file).read_text("utf-8"))
    except OSError as error:
        raise InvalidArgument(f"accuracy: {file!r} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise InvalidArgument(f"accuracy: {file!r} is not JSON: {error}.") from None
    return from_dict(data, file)


def is_report(data: Any) -> bool:
    """Tell whether data are of such a report, of any version."""
    return isinstance(data, dict) and str(data.get("schema", "")).startswith("suanzi-accuracy/")


def from_dict(data: Any, file: str) -> Accuracy:
    """Return a report that was plain data."""
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema not in _READ:
        raise InvalidArgument(
            f"accuracy: {file!r} is not a report of `suanzi accuracy --json`: its schema is "
            f"{schema!r}, not {' or '.join(map(repr, _READ))}."
        )
    try:
        return Accuracy(
            dict(data["subject"]), tuple(map(_read_row, data["rows"])), float(data["seconds"]),
            dict(data.get("settings", {})), dict(data["machine"]), str(data["measured"]),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidArgument(
            f"accuracy: {file!r} is not a whole report: {type(error).__name__}: {error}."
        ) from None


def _read_at(row: Mapping[str, Any], text: str) -> At | None:
    if not text:
        return None
    if row["arguments"] == "samples":
        return tuple(float(part.rpartition(" ")[2]) for part in text.split(", "))
    return tuple(map(float.fromhex, text.split(", ")))


def _reason(row: Row) -> str:
    """Return why a row is missing, without the function's name."""
    why = row.missing[:100]
    return "" if why.endswith(f" has no {row.name}") else why


def _row(row: Row) -> dict[str, Any]:
    about = {"function": row.name, "dtype": row.dtype, "arguments": row.coverage}
    if row.missing:
        return about | {"missing": row.missing}
    tally = row.tally
    found: dict[str, Any] = {
        "count": tally.count, "worst": tally.worst, "worst_at": at_text(row, tally.worst_at),
        "worst_found": hexadecimal(tally.worst_found), "mean": _short(tally.mean()),
        "not_correctly_rounded": tally.wrong, "above_one": tally.above_one,
        "histogram": tally.histogram, "wrong_special": tally.special,
        "wrong_special_at": at_text(row, tally.special_at), "flushed": tally.flushed,
        "out_of_order": tally.order, "asymmetric": tally.asymmetric,
    }  # fmt: skip
    if tally.undecided:
        found["undecided"] = tally.undecided
    if tally.cases:
        found["cases"] = [
            {**one, "worst": _short(one["worst"]), "mean": _short(one["mean"])}
            for one in tally.cases
        ]
    return about | found


def _short(x: float) -> float:
    """Return a number with six digits, which are enough of what depends on samples."""
    return float(f"{x:.6g}")


def _read_row(data: Mapping[str, Any]) -> Row:
    name = str(data["function"])
    if name not in FUNCTIONS and name not in SAMPLED:
        raise ValueError(f"unknown function {name!r}")
    row = Row(name, str(data["dtype"]), data["arguments"], missing=str(data.get("missing", "")))
    if row.missing:
        return row
    row.tally = Tally(
        count=int(data["count"]), worst=float(data["worst"]),
        worst_at=_read_at(data, data["worst_at"]),
        worst_found=float.fromhex(data["worst_found"]) if data["worst_found"] else 0.0,
        total=float(data["mean"]) * int(data["count"]), wrong=int(data["not_correctly_rounded"]),
        above_one=int(data["above_one"]), histogram=[int(n) for n in data["histogram"]],
        special=int(data["wrong_special"]), special_at=_read_at(data, data["wrong_special_at"]),
        flushed=int(data["flushed"]), order=int(data["out_of_order"]),
        asymmetric=int(data["asymmetric"]), undecided=int(data.get("undecided", 0)),
        cases=[dict(one) for one in data.get("cases", ())],
    )  # fmt: skip
    if len(row.tally.histogram) != len(EDGES) + 1:
        raise ValueError(f"a histogram of {len(row.tally.histogram)} counts")
    return row


def machine() -> dict[str, str]:
    """Return the processor and the system of this machine."""
    return {"processor": _processor(), "system": platform.platform()}


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
