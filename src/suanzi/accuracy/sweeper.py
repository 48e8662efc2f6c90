"""A subject that computes functions over many arguments, in a process of its own."""

from __future__ import annotations

import json
import select
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suanzi._text import printable
from suanzi.accuracy.functions import Function
from suanzi.accuracy.inputs import Bits, unsigned, values
from suanzi.conformance.running.defaults import defaults
from suanzi.conformance.running.process import Backend
from suanzi.conformance.subjects import worker
from suanzi.promote.live import NotInstalled
from suanzi.standard import interface
from suanzi.status import InvalidArgument

_SCRIPT = Path(worker.__file__).with_name("sweep.py")
_START_SECONDS = 120.0


class NotMeasured(Exception):
    """The subject does not have the function in this dtype, or does not answer."""


class Sweeper:
    """A process of a subject, started at once."""

    def __init__(self, backend: Backend, timeout: float = 120.0) -> None:
        self.backend, self.timeout = backend, timeout
        self._place = tempfile.TemporaryDirectory(prefix="suanzi-accuracy-", dir=_memory())
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._start()
        except BaseException:
            self._forget()
            raise

    def _start(self) -> None:
        words = [self.backend.python, str(_SCRIPT), self.backend.adapter,
                 json.dumps(self.backend.options)]  # fmt: skip
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
            )
        except OSError as error:
            raise InvalidArgument(
                f"accuracy: {self.backend.python!r} cannot be run: {error.strerror}."
            ) from None
        said = self._line(_START_SECONDS) or {}
        if "hello" in said:
            self.facts: dict[str, Any] = said["hello"]
            return
        why = printable(str(said.get("failed") or self._last_words() or "it says nothing"))
        code = self._end()
        who = f"accuracy: {self.backend.title}"
        if code == worker.NOT_INSTALLED:
            raise NotInstalled(
                f"{who} cannot be loaded by {self.backend.python}: {why.rstrip('.')}. "
                "Install it there, or name an interpreter that has it with --python."
            )
        raise InvalidArgument(f"{who} cannot be started: {why.rstrip('.')}.")

    def results(self, f: Function, dtype: str, bits: Bits) -> NDArray[np.float64]:
        """Return what the subject computes, as float64; raise NotMeasured if it does not."""
        given, result = Path(self._place.name, "x"), Path(self._place.name, "y")
        bits.astype(unsigned(dtype)).tofile(given)
        operand = interface(f.key).parameters[0].name
        # Frameworks get every argument; others complete what is left out.
        more = {n: v for n, v in defaults(f.key).items() if n != operand}
        question = {
            "op": f.key, "operands": {operand: [dtype, str(given)]}, "result": str(result),
            "more": more if self.facts.get("defaults") else {},
        }  # fmt: skip
        said = self._asked(question)
        if said is None:
            raise NotMeasured(f"no answer within {self.timeout:g} s")
        if "dtype" not in said:
            raise NotMeasured(printable(str(said.get("missing") or said.get("refused"))))
        if said["dtype"] != dtype:
            raise NotMeasured(f"the result is {said['dtype']}")
        found = np.fromfile(result, unsigned(dtype))
        if found.size != bits.size:
            raise NotMeasured(f"{found.size} results for {bits.size} arguments")
        return values(found.astype(np.uint64), dtype)

    def _asked(self, question: dict[str, Any]) -> dict[str, Any] | None:
        if self._process.poll() is not None:
            self._start()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return {"refused": f"the process ended: {self._last_words()}"}
        said = self._line(self.timeout)
        if said is None:
            self._end()
        elif not said:
            self._end()
            return {"refused": f"the process ended: {self._last_words()}"}
        return said

    def _line(self, seconds: float) -> dict[str, Any] | None:
        """Return an answer; empty if the process ended, None if it is late."""
        stream = self._process.stdout
        assert stream is not None
        until = time.monotonic() + seconds
        while not select.select([stream], [], [], min(0.5, max(0.0, until - time.monotonic())))[0]:
            if time.monotonic() > until:
                return None
            if self._process.poll() is not None:
                break
        line = stream.readline()
        try:
            found: dict[str, Any] = json.loads(line) if line else {}
        except ValueError:
            return {}
        return found

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def _end(self) -> int:
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(BrokenPipeError):
                if stream is not None:
                    stream.close()
        try:
            return self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def close(self) -> None:
        """End the process, and remove its files."""
        self._end()
        self._forget()

    def _forget(self) -> None:
        self._errors.close()
        self._place.cleanup()

    def __enter__(self) -> Sweeper:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _memory() -> str | None:
    """Return a folder in memory, where there is one."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None
