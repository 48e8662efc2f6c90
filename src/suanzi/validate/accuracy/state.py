"""A file of what was measured so far: a run that was interrupted continues from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from suanzi.base.status import InvalidArgument
from suanzi.validate.accuracy.errors import Tally

SCHEMA = "suanzi-accuracy-state/1"


class State:
    """Tasks that are done, by their keys, in memory and in a file; without a file, in memory."""

    def __init__(self, file: str | None, about: Mapping[str, Any]) -> None:
        self.done: dict[str, Tally] = {}
        self._stream: TextIO | None = None
        if file is None:
            return
        path = Path(file)
        try:
            whole = self._read(path, about) if path.exists() and path.stat().st_size else 0
            self._stream = path.open("r+" if path.exists() else "w", encoding="utf-8")
            self._stream.seek(whole)
            self._stream.truncate()
        except OSError as error:
            raise InvalidArgument(
                f"accuracy: --resume {file!r} cannot be used: {error.strerror}."
            ) from None
        if not whole:
            self._write({"schema": SCHEMA, **about})

    def _read(self, path: Path, about: Mapping[str, Any]) -> int:
        """Read a file, and return how many bytes of it are whole lines."""
        first, *rest = path.read_bytes().splitlines(keepends=True)
        try:
            head = json.loads(first)
        except ValueError:
            head = None
        if not isinstance(head, dict) or head.get("schema") != SCHEMA:
            raise InvalidArgument(
                f"accuracy: {str(path)!r} is not a file of --resume; name a new one."
            )
        for name, value in about.items():
            if head.get(name) != value:
                raise InvalidArgument(
                    f"accuracy: {str(path)!r} is of a run whose {name} is {head.get(name)!r}; "
                    f"now it is {value!r}. Name another file."
                )
        whole = len(first)
        for line in rest:
            try:
                one = json.loads(line) if line.endswith(b"\n") else {}
                self.done[one["task"]] = Tally.from_dict(one["tally"])
            except (ValueError, KeyError, TypeError):
                break  # of a run that was killed while it wrote
            whole += len(line)
        return whole

    def add(self, task: str, tally: Tally) -> None:
        """Remember what was found of a task."""
        self.done[task] = tally
        self._write({"task": task, "tally": tally.to_dict()})

    def _write(self, data: Mapping[str, Any]) -> None:
        if self._stream is not None:
            self._stream.write(json.dumps(data) + "\n")
            self._stream.flush()

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()
