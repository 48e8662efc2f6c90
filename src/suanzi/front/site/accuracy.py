"""The results of `suanzi accuracy` as the page has them: numbers of few digits, rows as lists."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from suanzi.validate.accuracy.report import Accuracy, read

TITLES = {"numpy": "NumPy", "torch": "PyTorch", "jax": "JAX", "paddle": "Paddle",
          "mindspore": "MindSpore", "openvino": "OpenVINO"}  # fmt: skip
_COLUMNS = (
    "function", "dtype", "arguments", "count", "worst", "worst_at", "worst_found", "mean",
    "not_correctly_rounded", "above_one", "histogram", "wrong_special", "wrong_special_at",
    "flushed", "out_of_order", "asymmetric", "curve", "missing",
)  # fmt: skip


SCHEMA = "suanzi-atlas/1"


def stored(report: Accuracy) -> dict[str, Any]:
    """Return what the page needs of a report; `tools/write_site_data.py` stores it."""
    return {"schema": SCHEMA, "columns": list(_COLUMNS)} | _subject(report.to_dict())


def accuracy(files: Iterable[Path], reports: Iterable[Path] = ()) -> dict[str, Any]:
    """Return what was measured of every backend; suanzi comes first.

    Files are those that were stored, reports those that `suanzi accuracy --json` wrote.
    """
    subjects = [_read(path) for path in files]
    subjects += [_subject(read(str(path)).to_dict()) for path in reports]
    subjects.sort(key=lambda one: (one["title"] != "suanzi", one["title"].lower()))
    counted: Counter[str] = Counter()
    for subject in subjects:  # a key is in the address of the page
        counted[subject["key"]] += 1
        if counted[subject["key"]] > 1:
            subject["key"] += f"-{counted[subject['key']]}"
    return {"columns": _COLUMNS, "subjects": subjects}


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    columns, schema = found.pop("columns"), found.pop("schema")
    if (schema, columns) != (SCHEMA, list(_COLUMNS)):
        raise ValueError(f"{path} is of an earlier version; write it with tools/write_site_data.py")
    return found


def _title(subject: dict[str, Any]) -> str:
    name = str(subject["name"])
    return TITLES.get(name, name)


def _subject(one: dict[str, Any]) -> dict[str, Any]:
    subject = one["subject"]
    words = ["suanzi", "accuracy", "--backend", str(subject["title"]).partition(" on ")[0]]
    for option in ("device", "level"):
        if subject.get(option):
            words += [f"--{option}", str(subject[option])]
    return {
        "key": "-".join(str(subject[x]) for x in ("name", "level", "device") if subject.get(x)),
        "title": _title(subject),
        "version": re.split("[+-]", str(subject["version"]))[0],
        "on": ", ".join(filter(None, (subject.get("device"), subject.get("level")))),
        "machine": subject.get("on") or one["machine"]["processor"],
        "measured": one["measured"],
        "command": one["settings"].get("command") or shlex.join(words),
        "edges": one["edges"],
        "rows": [_row(row) for row in one["rows"]],
    }


def _row(row: dict[str, Any]) -> list[Any]:
    """Return a row as a list, without what is zero or empty at its end."""
    given = row | {
        "curve": _curve(row),
        "histogram": _trimmed(row.get("histogram", [])),
        "missing": row.get("missing", "")[:60],
    }
    return _trimmed([_short(given.get(name, 0) or 0) for name in _COLUMNS])


def _curve(row: dict[str, Any]) -> list[Any]:
    """Return the worst error by length and condition, of what was measured by samples."""
    return [[one["length"], one["condition"], one["worst"]] for one in row.get("cases", [])]


def _trimmed(values: list[Any]) -> list[Any]:
    while values and values[-1] in (0, "", []):
        values = values[:-1]
    return values


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return [_short(one) for one in value]
    return float(f"{value:.8g}") if isinstance(value, float) else value
