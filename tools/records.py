"""Results of measurements as files: JSON with one record a line, numbers of eight digits.

``benchmarks/results`` has those of benchmarks, a file each: :func:`read` and :func:`write` name
them without their folder. The data of the explorer are written in the same form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[1] / "benchmarks" / "results"
DIGITS = 8


def names() -> list[str]:
    """Return what there are results of."""
    return sorted(file.stem for file in HOME.glob("*.json"))


def read(name: str | PathLike[str]) -> dict[str, Any]:
    """Return results by their name, or those of a file."""
    found: dict[str, Any] = json.loads(_file(name).read_text("utf-8"))
    return found


def write(name: str | PathLike[str], data: dict[str, Any]) -> None:
    """Write results."""
    file = _file(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text(data), "utf-8")


def _file(name: str | PathLike[str]) -> Path:
    return HOME / f"{name}.json" if isinstance(name, str) else Path(name)


def text(data: dict[str, Any]) -> str:
    """Return data as JSON: a line for each record of a list or of a mapping of records.

    >>> print(text({"unit": "us", "rows": [{"add": 1.23456789}, {"mul": 361567.0}]}), end="")
    {
    "unit": "us",
    "rows": [
    {"add": 1.2345679},
    {"mul": 361567}
    ]
    }
    """
    parts = (f"{json.dumps(key)}: {_value(value)}" for key, value in short(data).items())
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _value(value: Any) -> str:
    inside = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(inside, list) or not any(isinstance(one, dict | list) for one in inside):
        return _line(value)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n" + ",\n".join(_records(value)) + f"\n{closing}"


def _records(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{_line(key)}: {_line(record)}" for key, record in value.items())
    else:
        yield from map(_line, value)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def short(value: Any) -> Any:
    """Return data whose floating-point numbers have few digits, and no fraction if it is zero."""
    if isinstance(value, dict):
        return {key: short(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [short(one) for one in value]
    if isinstance(value, float):
        rounded = float(f"{value:.{DIGITS}g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 1 << 53 else rounded
    return value
