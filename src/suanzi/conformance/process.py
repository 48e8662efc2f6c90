"""A subject in a process of its own: started, asked, and started again after a crash or a hang."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from suanzi.conformance.answers import Answer
from suanzi.conformance.model import Case
from suanzi.conformance.subjects.wire import from_json, to_json
from suanzi.promote.live import NotInstalled
from suanzi.status import InternalError, InvalidArgument

_WORKER = Path(__file__).parent / "subjects" / "worker.py"
_START_SECONDS = 120.0


@dataclass(frozen=True)
class Backend:
    """Which subject, and how its process is started."""

    title: str
    """As it was asked for: torch, ./libvendor.so, package.module:Adapter."""
    adapter: str
    """The module and the class, for the worker."""
    python: str = sys.executable
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """What a subject says of itself."""

    name: str
    version: str
    rules: str
    statuses: bool
    mapping: dict[str, str]
    missing: dict[str, str]
    notes: list[str]
    python: str
    literals: dict[str, str] = field(default_factory=dict)
    """How its users write a tensor of a dtype, and the dtype; empty if that cannot be said."""


@dataclass(frozen=True)
class Unanswered:
    """What became of a call that has no answer."""

    outcome: Literal["unsupported", "crashed", "hung", "skipped", "broken"]
    words: str
    refused: bool = False
    """Whether it is unsupported for want of a kernel: right where the call must be refused."""


class Asked(Protocol):
    """Whatever answers calls."""

    backend: Backend
    facts: Facts

    def ask(self, case: Case) -> Answer | Unanswered:
        """Make a call."""
        ...


class Subject:
    """A subject that answers calls, in a process of its own."""

    def __init__(self, backend: Backend, timeout: float = 10.0) -> None:
        self.backend, self.timeout = backend, timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._asked = 0
        self._rest = b""
        try:
            self.facts = self._start()
        except BaseException:
            self._errors.close()
            raise

    def _start(self) -> Facts:
        command = [self.backend.python, str(_WORKER), self.backend.adapter]
        try:
            self._process = subprocess.Popen(
                [*command, json.dumps(self.backend.options)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
            )
        except OSError as error:
            raise InvalidArgument(
                f"check: {self.backend.python!r} cannot be run: {error.strerror}."
            ) from None
        self._rest = b""
        line = self._line(_START_SECONDS)
        said = json.loads(line) if line else {}
        if "hello" not in said:
            why = said.get("failed") or self._last_words() or "it says nothing"
            code = self._end()
            if code == 3:
                raise NotInstalled(
                    f"check: {self.backend.title} cannot be loaded by {self.backend.python}: "
                    f"{why}. Install it there, or name an interpreter that has it with --python."
                )
            raise InvalidArgument(f"check: {self.backend.title} cannot be started: {why}.")
        return Facts(**said["hello"])

    def ask(self, case: Case) -> Answer | Unanswered:
        """Make a call, and start again if that ends the process."""
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        self._asked += 1
        question = {"id": self._asked, **question_of(case, self.facts.rules)}
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
            line = self._line(self.timeout)
        except BrokenPipeError:
            line = b""
        if line is None:
            self._end()
            return Unanswered("hung", f"no answer within {self.timeout:g} seconds")
        if not line:
            return Unanswered("crashed", self._death())
        return read_answer(json.loads(line))

    def _line(self, seconds: float) -> bytes | None:
        """Return the next line of an answer; empty if the process ended, None if it is late."""
        import time

        assert self._process is not None
        assert self._process.stdout is not None
        until = time.monotonic() + seconds
        stream = self._process.stdout.fileno()
        while b"\n" not in self._rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([stream], [], [], left)[0]:
                return None
            more = os.read(stream, 1 << 20)
            if not more:
                return b""
            self._rest += more
        line, self._rest = self._rest.split(b"\n", 1)
        return line

    def _death(self) -> str:
        words = self._last_words()
        code = self._end()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        return f"the process ended with {how}" + (f": {words}" if words else "")

    def _last_words(self) -> str:
        """Return the last line that the subject wrote to its error stream."""
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 2000))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""

    def _end(self) -> int:
        """End the process, and return how it ended."""
        assert self._process is not None
        process, self._process = self._process, None
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        try:
            code = process.wait(0.5)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        self._errors.seek(0)
        self._errors.truncate()
        return code

    def kill(self) -> None:
        """End the process at once, whatever it is doing."""
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._end()
        self._errors.close()

    def __enter__(self) -> Subject:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def question_of(case: Case, rules: str) -> dict[str, Any]:
    """Return a call as it is said to a subject, under its own rule set if none is asked for."""
    return {
        "op": case.op,
        "rules": case.rules or rules,
        "arguments": {"dict": {name: to_json(value) for name, value in case.arguments.items()}},
    }


def read_answer(said: dict[str, Any]) -> Answer | Unanswered:
    """Return what a subject said."""
    if "unsupported" in said:
        return Unanswered("unsupported", said["unsupported"], said.get("refused", False))
    if "broken" in said:
        return Unanswered("broken", said["broken"])
    if "status" not in said:
        raise InternalError(f"check: an answer without a status: {said}.")
    return Answer(said["status"], from_json(said.get("outputs", [])), said.get("error", ""))
