"""Files that commands write: refused before a run if they cannot be written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from suanzi.base.status import InvalidArgument


def one_json(command: str, json: Sequence[str] | None) -> str | None:
    """Return the file of --json; None if the report is not written to a file."""
    if json is not None and len(json) > 1:
        raise InvalidArgument(f"{command}: --json takes one file, not {len(json)}.")
    return json[0] if json else None


def check_paths(command: str, wanted: Sequence[tuple[str, str | None]]) -> dict[str, Path]:
    """Return the files of options that name one; refuse what cannot be written, or is given twice.

    >>> check_paths("check", [("--json", None)])
    {}
    """
    found: dict[str, Path] = {}
    taken: dict[Path, str] = {}
    for option, name in wanted:
        if name is None:
            continue
        path = Path(name)
        if path.is_dir() or not os.access(path.parent, os.W_OK):
            raise InvalidArgument(f"{command}: {name!r} cannot be written.")
        other = taken.setdefault(path.resolve(), option)
        # A pipe or a device, such as /dev/null, takes more than one.
        if other != option and (path.is_file() or not path.exists()):
            raise InvalidArgument(
                f"{command}: {other} and {option} are both {name!r}; give each its own file."
            )
        found[option] = path
    return found
