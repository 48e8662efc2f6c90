"""A subject in a process of its own: started, asked, and restarted after a crash or a hang."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from suanzi.base.decode import Malformed, decode
from suanzi.base.status import InvalidArgument
from suanzi.base.text import ending, printable
from suanzi.conformance.judging.verdict import Answer
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.members import members
from suanzi.conformance.running.defaults import completed, completed_steps
from suanzi.conformance.running.descendants import descendants, end_all
from suanzi.conformance.running.memory import hold, release
from suanzi.conformance.subjects import worker
from suanzi.conformance.subjects.wire import ITEMSIZE, Data, check_tensors, from_json, to_json
from suanzi.promote.library import registered, rule_set
from suanzi.promote.live import NotInstalled
from suanzi.standard.catalogues import STANDARD

_WORKER = Path(__file__).parents[1] / "subjects" / "worker.py"
_START_SECONDS = 120.0
"""How long a start may take, or as long as `timeout` if that is more: an emulated one is slow."""
_LONGEST_SECONDS = 1e6
"""No system waits for longer at once; infinity is as good."""
_EXIT_SECONDS = 10.0
"""How long to wait for the status of a process that ends by itself, on a busy machine."""
_LOOK_SECONDS = 0.5
"""How often to check that the process runs: others may hold its end of the pipe open."""
_WATCHED_BYTES = 2048
"""Inputs up to this size are looked at again after a call."""
_LONGEST_LINE = 1 << 30
"""The bytes of an answer, several times those of the largest tensors: no end fills memory."""
_ERRORS_KEPT = 1 << 20
"""How much of the error stream is kept: only its end is ever shown."""
_ERRORS_READ = 1 << 16
"""How far back it is read for the last message; AddressSanitizer's takes some pages."""


@dataclass(frozen=True)
class Backend:
    """Which subject, and how its process is started."""

    title: str
    """As it was named: torch, ./libvendor.so, package.module:Adapter."""
    adapter: str
    """The module and the class, for the worker."""
    python: str = sys.executable
    options: dict[str, Any] = field(default_factory=dict)
    command: str = "check"
    """Which command asks, for its errors."""


@dataclass(frozen=True)
class Facts:
    """A subject's description of itself."""

    name: str
    version: str
    rules: str
    statuses: bool
    mapping: dict[str, str]
    missing: dict[str, str]
    notes: list[str]
    python: str
    literals: dict[str, str] = field(default_factory=dict)
    """How its users write a tensor of a dtype, and the dtype; empty if unknown."""
    dtypes: list[str] | None = None
    """The dtypes that it has; None if it does not declare them."""
    device: str = ""
    """Where its tensors are made, if not on the CPU."""
    defaults: bool = False
    """Whether every argument is sent, with the standard's default where a case leaves it out."""
    files: dict[str, str] = field(default_factory=dict)
    """The SHA-256 of the files it consists of: library, adapter, or what was installed."""


NoAnswer = Literal["unsupported", "crashed", "hung", "skipped", "broken"]


@dataclass(frozen=True)
class Unanswered:
    """What became of a call that has no answer."""

    outcome: NoAnswer
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

    def __init__(
        self,
        backend: Backend,
        timeout: float = 10.0,
        *,
        later: bool = False,
        compiling: float = 1.0,
    ) -> None:
        """Start the process; with `later`, `greet` waits for it, and there is time meanwhile.

        The first call of dtypes and shapes, which may compile, gets `compiling` times the timeout.
        """
        self.backend, self.timeout = backend, min(timeout, _LONGEST_SECONDS)
        self.compiling = compiling
        self._compiled: set[Any] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._asked = 0
        self._rest = bytearray()
        self.since: list[str] = []
        """The cases that this process, or the last one, has run since its start."""
        hold()
        try:
            self._launch()
        except BaseException:
            self.close()
            raise
        if not later:
            self.greet()

    def greet(self) -> Facts:
        """Wait for the process, and return its description of itself."""
        try:
            self.facts = self._greeting()
        except BaseException:
            self.kill()
            self.close()
            raise
        return self.facts

    def _start(self) -> Facts:
        self._launch()
        return self._greeting()

    def _launch(self) -> None:
        command = [self.backend.python, str(_WORKER), self.backend.adapter]
        try:
            self._process = subprocess.Popen(
                [*command, json.dumps(self.backend.options)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,  # so that what it starts itself can be ended with it
            )
        except OSError as error:
            raise InvalidArgument(
                f"{self.backend.command}: {self.backend.python!r} cannot be run: {error.strerror}."
            ) from None
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        self._rest.clear()
        self._compiled.clear()
        self.since.clear()

    def _greeting(self) -> Facts:
        limit = max(_START_SECONDS, self.timeout)
        line = self._line(limit)
        said = _read_json(line or b"")
        who = f"{self.backend.command}: {self.backend.title}"
        if "hello" not in said:
            words = said.get("failed") or said.get("broken") or self._last_words()
            late = f" within {limit:g} s; --timeout allows more" if line is None else ""
            why = printable(str(words or f"it says nothing{late}")).rstrip(".")
            code = (
                None if self._process is None else self._end(0.5 if line is None else _EXIT_SECONDS)
            )
            if code == 3:
                raise NotInstalled(
                    f"{who} cannot be loaded by {self.backend.python}: {why}. "
                    f"Install it there, or name an interpreter that has it with --python."
                )
            if not line and line is not None and not words:
                why = f"its process ended with {ending(code or 0)} before it was ready"
            raise InvalidArgument(f"{who} cannot be started: {why}.")
        try:
            return _facts(said["hello"])
        except Malformed as error:
            self._end()
            raise InvalidArgument(
                f"{who} cannot be started: its description of itself is "
                f"wrong: {printable(str(error))}."
            ) from None

    def ask(self, case: Case) -> Answer | Unanswered:
        """Make a call, and start again if that ends the process."""
        if self._process is None:
            try:
                self._start()
            except (InvalidArgument, NotInstalled) as error:
                return Unanswered("crashed", f"after a crash or a hang before: {error}")
        self._asked += 1
        self.since.append(case.id)
        question = {"id": self._asked, **question_of(case, self.facts)}
        limit = self._limit(case)
        until = time.monotonic() + limit
        said: dict[str, Any] | None = {}
        if self._write(json.dumps(question).encode() + b"\n", until):
            said = self._said(until)
        if said is None:
            self._end()
            self.compiling = 1.0  # what is late after all that time will be late again
            return Unanswered("hung", f"no answer within {limit:g} seconds")
        if not said:
            return Unanswered("crashed", self._death())
        if os.fstat(self._errors.fileno()).st_size > _ERRORS_KEPT:
            self._forget_errors()
        return read_answer(said)

    def _limit(self, case: Case) -> float:
        """Return how long a call may take, in seconds."""
        tensors = [x for x in case.arguments.values() if isinstance(x, Data)]
        kind = (case.op, *((x.dtype, x.shape) for x in tensors))
        if self.compiling == 1.0 or kind in self._compiled:
            return self.timeout
        self._compiled.add(kind)
        return min(self.timeout * self.compiling, _LONGEST_SECONDS)

    def restart(self) -> None:
        """End the process; the next call starts another one."""
        if self._process is not None:
            self._end()

    def _said(self, until: float) -> dict[str, Any] | None:
        """Return the answer to the last question; empty if the process ended, None if late."""
        while line := self._line(until - time.monotonic()):
            said = _read_json(line)
            # A repeated or late answer belongs to another question.
            if said.get("id", self._asked) == self._asked:
                return said
        return None if line is None else {}

    def _write(self, text: bytes, until: float) -> bool:
        """Ask, and tell whether all of it was taken: a process that ended, or stopped, does not."""
        assert self._process is not None
        assert self._process.stdin is not None
        stream, left = self._process.stdin.fileno(), memoryview(text)
        try:
            while left:
                if not select.select([], [stream], [], max(0.0, until - time.monotonic()))[1]:
                    return True  # it will be late with the answer, too
                left = left[os.write(stream, left) :]
        except BrokenPipeError:
            return False
        return True

    def _line(self, seconds: float) -> bytes | None:
        """Return the next line of an answer; empty if the process ended, None if it is late.

        A process whose line has no end is ended, and the line says so.
        """
        assert self._process is not None
        assert self._process.stdout is not None
        until = time.monotonic() + seconds
        stream = self._process.stdout.fileno()
        seen = 0
        while (end := self._rest.find(b"\n", seen)) < 0:
            seen = len(self._rest)
            left = max(0.0, until - time.monotonic())
            gone = self._process.poll() is not None
            if select.select([stream], [], [], 0.0 if gone else min(left, _LOOK_SECONDS))[0]:
                more = os.read(stream, 1 << 20)
                if not more:
                    return b""
                self._rest += more
                if len(self._rest) > _LONGEST_LINE:
                    self._end()
                    return b'{"broken": "an answer of more than %d bytes"}' % _LONGEST_LINE
            elif gone:
                return b""
            elif left == 0.0:
                return None
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line

    def _death(self) -> str:
        words = self._last_words()
        code = self._end(_EXIT_SECONDS)
        return f"the process ended with {ending(code)}" + (f": {words}" if words else "")

    def _last_words(self) -> str:
        """Return the last line that the subject wrote to its error stream, or a sanitizer's sum."""
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - _ERRORS_READ))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        # A sanitizer prints a summary, and then more about itself.
        summary = (line for line in reversed(lines) if line.startswith("SUMMARY: "))
        last = next(summary, lines[-1] if lines else "")
        return last.removeprefix("SUMMARY: ").strip()

    def _end(self, seconds: float = 0.5) -> int:
        """End the process, after so many seconds by force, and return how it ended."""
        assert self._process is not None
        process, self._process = self._process, None
        below = descendants(process.pid)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        _kill_group(process.pid)
        end_all(below)
        self._forget_errors()
        return code

    def _forget_errors(self) -> None:
        self._errors.seek(0)
        self._errors.truncate()

    def kill(self) -> None:
        """End the process at once, whatever it is doing, and what it started."""
        if self._process is not None:
            below = descendants(self._process.pid)
            _kill_group(self._process.pid)
            self._process.kill()
            end_all(below)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._end()
        if not self._errors.closed:
            self._errors.close()
            release()

    def __enter__(self) -> Subject:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _kill_group(leader: int) -> None:
    """End what a subject has started, and left behind."""
    with suppress(OSError):
        os.killpg(leader, signal.SIGKILL)


def _read_json(line: bytes) -> dict[str, Any]:
    """Return a line of JSON as data; another line is reported as a broken answer."""
    try:
        said = json.loads(line) if line else {}
    except (ValueError, RecursionError):
        said = None
    return said if isinstance(said, dict) else {"broken": f"no answer, but {line[:100]!r}"}


def _facts(said: Any) -> Facts:
    """Return a backend's description of itself, or raise Malformed."""
    found = decode(Facts, said)
    if not set(found.dtypes or ()) <= set(ITEMSIZE):
        raise Malformed(f"dtypes is {found.dtypes!r}, not names of dtypes"[:200])
    return found


def question_of(case: Case, facts: Facts) -> dict[str, Any]:
    """Return a call as it is sent to a backend, under its own rule set unless the case has one."""
    chosen = case.rules or facts.rules
    steps, arguments = case.steps, case.arguments
    if facts.defaults:
        steps = completed_steps(steps)
        arguments = arguments if steps else completed(case.op, arguments)
    more: dict[str, Any] = {"steps": to_json(steps)} if steps else {}
    if _is_watched(case):
        more["watch"] = True
    if chosen in registered:
        more["rules_text"] = rule_set(chosen).text
    return {
        **more,
        "op": case.op,
        "rules": chosen,
        "arguments": {"dict": {name: to_json(value) for name, value in arguments.items()}},
    }


def _is_watched(case: Case) -> bool:
    """Tell whether inputs are looked at after the call: no call may change them but the last."""
    tensors = [x for x in case.arguments.values() if isinstance(x, Data)]
    return (
        case.group == "plain"
        and case.op != "destroy"
        and all(x.layout == "dense" and x.scale is None and x.sparse is None for x in tensors)
        and sum(len(x.raw) for x in tensors) < _WATCHED_BYTES
    )


def read_answer(said: dict[str, Any]) -> Answer | Unanswered:
    """Return the answer of a subject, or why it is none."""
    if "unsupported" in said:
        outcome: Literal["unsupported", "skipped"]
        outcome = "skipped" if said.get("unsaid") is True else "unsupported"
        return Unanswered(outcome, str(said["unsupported"]), said.get("refused") is True)
    if "broken" in said:
        return Unanswered("broken", str(said["broken"]))
    try:
        status, words = said["status"], said.get("error", "")
        if not isinstance(status, str | None) or not isinstance(words, str):
            raise TypeError(f"the status {status!r}, with the words {words!r}")
        outputs = from_json(said.get("outputs", []))
        if not isinstance(outputs, list):
            raise TypeError(f"outputs that are a {type(outputs).__name__}, not a list")
        check_tensors(outputs)
        return Answer(status, outputs, words)
    except Exception as error:  # a subject may send anything at all, nested without end
        return Unanswered("broken", f"an answer that cannot be read: {error!r}"[:2000])


class Local:
    """A backend that is called here, through the same messages as one in another process."""

    def __init__(self, adapter: Any) -> None:
        self.adapter = adapter
        self.facts = Facts(**worker.facts(adapter))
        module = type(adapter).__module__.removeprefix("suanzi.conformance.subjects.")
        self.backend = Backend(self.facts.name, f"{module}:{type(adapter).__name__}")

    def ask(self, case: Case) -> Answer | Unanswered:
        """Make a call."""
        return read_answer(worker.answer(self.adapter, question_of(case, self.facts)))


UNDECLARED = "the adapter does not declare it"


def unclaimed(facts: Facts, of: str = STANDARD) -> dict[str, str]:
    """Return the interfaces of a catalogue that a backend does not claim, each with the reason.

    An adapter declares what its `mapping` has, if it has one; without one, all but its `missing`.

    >>> some = {"add": "chip.add"}, {"sub": "no sub"}
    >>> facts = Facts("chip", "1", "strict", False, *some, notes=[], python="3.12")
    >>> found = unclaimed(facts)
    >>> found["sub"], found["mul"], "add" in found
    ('no sub', 'the adapter does not declare it', False)
    """
    ops = members(of)
    undeclared = {op: UNDECLARED for op in ops if op not in facts.mapping}
    found = {**(undeclared if facts.mapping else {}), **facts.missing}
    return {op: found[op] for op in ops if op in found}
