"""A run as data: written with its counts and levels, and read back."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

from suanzi import __version__
from suanzi.conformance.model.results import Run, by_basis, counts
from suanzi.conformance.reports.levels import levels, standings
from suanzi.conformance.reports.readings import followed
from suanzi.status import InvalidArgument

STANDARD = "T/AI 131.1-2025"


def to_data(run: Run) -> dict[str, Any]:
    """Return a run with what follows from it, as ``report.schema.json`` describes.

    What follows, the counts, verdicts and levels, is there for its readers: reading it back uses
    the results alone.
    """
    data = run.to_dict()
    results = data.pop("results")
    return {
        **data,
        "kit": {"name": "suanzi", "version": __version__, "standard": STANDARD},
        "conforms": run.conforms,
        "flawless": run.flawless,
        "counts": run.counts(),
        "bases": {name: counts(some) for name, some in by_basis(run.results).items()},
        "readings": [one.to_dict() for one in followed(run.results)],
        "levels": [level.to_dict() for level in levels(run)],
        "interfaces": [one.to_dict() for one in standings(run).values()],
        "results": results,
    }


def to_json(run: Run) -> str:
    """Return a run as JSON, one result a line, so that a difference of two is readable."""
    data = to_data(run)
    results = data.pop("results")
    head = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)
    lines = ",\n  ".join(json.dumps(r, ensure_ascii=False, allow_nan=False) for r in results)
    return f'{head[:-2]},\n "results": [\n  {lines}\n ]\n}}\n'


def write(run: Run, path: str | PathLike[str]) -> None:
    """Write a run as JSON."""
    # Half of a surrogate pair, which UTF-8 does not have, becomes what JSON writes for it.
    Path(path).write_bytes(to_json(run).encode("utf-8", "backslashreplace"))


def read(path: str | PathLike[str]) -> Run:
    """Return the run that a file holds."""
    try:
        data = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise InvalidArgument(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"{str(path)!r} is not JSON: {error}.") from None
    try:
        return Run.from_dict(data)
    except InvalidArgument as error:
        raise InvalidArgument(f"{str(path)!r}: {error}") from None


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a report.

    >>> schema()["properties"]["schema"]["const"]
    'suanzi-conformance/1'
    """
    file = Path(__file__).parent / "report.schema.json"
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found
