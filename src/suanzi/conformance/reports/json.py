"""A run as data: written with its counts and levels, and read back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from suanzi._core import VERSION
from suanzi.base.decode import Malformed, decode, schema_of
from suanzi.base.files import write_file
from suanzi.base.status import InvalidArgument
from suanzi.conformance.model.blocks import packed
from suanzi.conformance.model.members import long_title_of
from suanzi.conformance.model.reported import Block, Evidence, Settings, Subject
from suanzi.conformance.model.results import PACKED, Result, Run, by_basis, counts
from suanzi.conformance.reports.levels import levels, standings
from suanzi.conformance.reports.readings import followed

__all__ = ["read", "schema"]

MANY = 5000
"""Cases beyond which what passed, or has no answer, is written in blocks."""
LONGEST = 1 << 28
"""Bytes of a report; all cases of the kit are some ten millions."""
MOST = 1_000_000
"""Cases of a report; the kit has some 83,000."""
LONGEST_UNPACKED = 1 << 28
"""Characters of the cases that blocks stand for; all cases of the kit have some five millions."""
SCHEMA_FILE = Path(__file__).parent / "report.schema.json"


def to_data(run: Run) -> dict[str, Any]:
    """Return a run with its decision, counts, verdicts and levels, as `schema` describes.

    These are for readers of the report: `read` uses the results alone.
    """
    data = run.to_dict()
    results = data.pop("results")
    blocks = {}
    if len(results) > MANY:
        data["schema"] = PACKED
        told = [r.bad or r.unexpected or not r.id.startswith(f"{r.op}/{r.group}/{r.dtype}/")
                for r in run.results]  # fmt: skip
        some = [one for one, full in zip(results, told, strict=True) if not full]
        results = [one for one, full in zip(results, told, strict=True) if full]
        blocks = {"blocks": packed(some)}
        # Blocks have rounded measures: what follows from results follows from those that are read.
        run = Run.from_dict({**data, "results": results, **blocks})
    return {
        **data,
        "kit": {"name": "suanzi", "version": VERSION, "standard": long_title_of(run.catalogue)},
        "decision": run.decision.to_dict(),
        "conforms": run.conforms,
        "flawless": run.flawless,
        "counts": run.counts(),
        "bases": {name: counts(some) for name, some in by_basis(run.results).items()},
        "readings": [one.to_dict() for one in followed(run.results)],
        "levels": [level.to_dict() for level in levels(run)],
        "interfaces": [one.to_dict() for one in standings(run).values()],
        "results": results,
        **blocks,
    }


def to_json(run: Run) -> str:
    """Return a run as JSON, one result or block a line, so that a difference of two is readable."""
    data = to_data(run)
    lists = {name: data.pop(name) for name in ("results", "blocks") if name in data}
    text = json.dumps(_finite(data), indent=1, ensure_ascii=False, allow_nan=False)[:-2]
    for name, some in lists.items():
        space = (", ", ": ") if name == "results" else (",", ":")
        lines = ",\n  ".join(
            json.dumps(one, ensure_ascii=False, allow_nan=False, separators=space) for one in some
        )
        text += f',\n "{name}": [\n  {lines}\n ]'
    return text + "\n}\n"


def as_read(data: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return parts of a run's data as they are in the JSON of a report.

    One line of JSON for all of them: the indented one takes twenty times as long.
    """
    some = _finite({name: data[name] for name in names})
    found: dict[str, Any] = json.loads(json.dumps(some, allow_nan=False))
    return found


def _finite(x: Any) -> Any:
    """Return data with numbers that JSON does not have as strings, as in the results."""
    if isinstance(x, dict):
        return {name: _finite(value) for name, value in x.items()}
    if isinstance(x, list | tuple):
        return [_finite(value) for value in x]
    return repr(x) if isinstance(x, float) and not math.isfinite(x) else x


def write(run: Run, path: str | PathLike[str]) -> None:
    """Write a run as JSON."""
    write_file(path, to_json(run))


def read(path: str | PathLike[str]) -> Run:
    """Return the run of a file, or raise InvalidArgument if it is not a report."""
    try:
        with Path(path).open("rb") as file:
            raw = file.read(LONGEST + 1)
        if len(raw) > LONGEST:
            raise InvalidArgument(f"{str(path)!r} has more than {LONGEST} bytes, as no report has.")
        data = json.loads(raw.decode("utf-8"))
    except OSError as error:
        raise InvalidArgument(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"{str(path)!r} is not JSON: {error}.") from None
    try:
        return Run.from_dict(_checked(data))
    except InvalidArgument as error:
        raise InvalidArgument(f"{str(path)!r}: {error}") from None


def _checked(data: Any) -> Any:
    """Return the data of a report, whose blocks stand for no more cases than memory can hold."""
    if isinstance(data, dict) and "blocks" in data:
        try:
            blocks = decode(list[Block], data["blocks"], "blocks")
            if sum(len(one["titles"]) * len(one["dtypes"]) for one in blocks) > MOST:
                raise InvalidArgument(f"the report has more than {MOST} cases in blocks.")
            if sum(map(_unpacked_length, blocks)) > LONGEST_UNPACKED:
                raise InvalidArgument(
                    f"the cases in blocks have more than {LONGEST_UNPACKED} characters."
                )
        except (AttributeError, KeyError, TypeError, Malformed, RecursionError) as error:
            raise InvalidArgument(
                f"the report has blocks that cannot be read: {error!s:.400}."
            ) from None
    return data


def _unpacked_length(block: Any) -> int:
    """Return how many characters the cases of a block have that it writes once for several."""
    titles, dtypes = block["titles"], block["dtypes"]
    names = (len(block["op"]) + len(block["group"])) * len(titles) * len(dtypes)
    names += sum(map(len, titles)) * len(dtypes) + sum(map(len, dtypes)) * len(titles)
    shared = _texts(block.get("all", {}), len(titles)) * len(dtypes)
    return names + shared + sum(_texts(own, len(titles)) for own in dtypes.values())


def _texts(columns: Any, cases: int) -> int:
    said = [column for name, column in columns.items() if name != "bases"]
    return sum(
        sum(len(str(x)) for x in column) if isinstance(column, list) else len(str(column)) * cases
        for column in said
    )


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a report: what is read back, by its types, and what is written.

    >>> schema()["properties"]["schema"]["enum"][0]
    'suanzi-conformance/1'
    """
    found: dict[str, Any] = json.loads(SCHEMA_FILE.read_text("utf-8"))
    item = schema_of(Result)
    item["if"] = {"required": ["known"]}
    item["then"] = {"properties": {"outcome": {"not": {"const": "passed"}}}}
    block = schema_of(Block) | {"required": ["op", "group", "outcome", "titles", "dtypes"]}
    found["properties"] |= {
        "subject": schema_of(Subject),
        "settings": schema_of(Settings),
        "evidence": schema_of(Evidence),
        "results": {"type": "array", "items": item},
        "blocks": {"type": "array", "items": block},
    }
    return found


def schema_text() -> str:
    """Return the schema as its file has it: a line for each part."""
    found = schema()
    parts = []
    for name, value in found.items():
        text = json.dumps(value)
        if name in ("properties", "$defs"):
            lines = ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in value.items())
            text = f"{{\n{lines}\n  }}"
        parts.append(f"  {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":  # renew the parts of the file that follow from types
    SCHEMA_FILE.write_text(schema_text(), "utf-8")
