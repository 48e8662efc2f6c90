"""A subject that computes functions over many arguments, in a process of its own."""

from __future__ import annotations

import json
import select
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from suanzi.base.status import InvalidArgument
from suanzi.base.text import ending, printable
from suanzi.conformance.running.defaults import defaults
from suanzi.conformance.running.process import Backend
from suanzi.conformance.subjects import worker
from suanzi.conformance.subjects.more_functions import MORE
from suanzi.promote.live import NotInstalled
from suanzi.validate.accuracy.errors import Tally, form_of, tally_of
from suanzi.validate.accuracy.functions import Function
from suanzi.validate.accuracy.inputs import Bits, unsigned

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
        self._counts_here = False
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

    def call(
        self, key: str, operands: Mapping[str, Bits], dtype: str, given: Mapping[str, Any]
    ) -> Bits:
        """Return the bits of a call's result; raise NotMeasured if there is none."""
        files = {}
        for i, (name, bits) in enumerate(operands.items()):
            path = Path(self._place.name, f"x{i}")
            np.ascontiguousarray(bits.astype(unsigned(dtype), copy=False)).tofile(path)
            files[name] = [dtype, str(path), list(bits.shape)]
        result = Path(self._place.name, "y")
        question = {
            "op": key, "operands": files, "result": str(result),
            "more": self._completed(key, operands, given),
        }  # fmt: skip
        said = self._answer(question)
        if said["dtype"] != dtype:
            raise NotMeasured(f"the result is {said['dtype']}")
        return np.fromfile(result, unsigned(dtype))

    def results(self, f: Function, dtype: str, *bits: Bits) -> Bits:
        """Return what the subject computes; raise NotMeasured if it does not."""
        found = self.call(f.key, dict(zip(f.operands, bits, strict=True)), dtype, {})
        if found.size != bits[0].size:
            raise NotMeasured(f"{found.size} results for {bits[0].size} arguments")
        return found

    def on_device(self, f: Function, dtype: str, start: int, stop: int) -> Tally | None:
        """Return what was counted on a device, of a range of magnitudes; None if nothing counts."""
        if not self.facts.get("device") or dtype != "float32" or self._counts_here:
            return None
        question = {
            "op": f.key, "operand": f.operands[0], "function": f.name, "start": start,
            "stop": min(stop, 1 << 31), "form": form_of(dtype), "limits": f.limits,
            "zero": f.at_zero if start < 1 << 23 else None,  # where there are subnormal numbers
            "order": f.order, "symmetry": f.symmetry,
            "more": self._completed(f.key, f.operands[:1], {}),
        }  # fmt: skip
        said = self._answer(question, "counted", "elsewhere")
        if "elsewhere" in said:
            self._counts_here = True
            return None
        places = {int(i): tuple(map(float.fromhex, one)) for i, one in said["places"].items()}
        tally = tally_of(said["counted"], lambda i: places[i][:1], lambda i: places[i][1])
        tally.order, tally.asymmetric = said["order"], said["asymmetric"]
        return tally

    def _completed(
        self, key: str, operands: Iterable[str], given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the other arguments: frameworks get every one, others complete what is left."""
        more: Mapping[str, Any] = {}
        if self.facts.get("defaults") and not key.startswith(MORE):
            more = {n: v for n, v in defaults(key).items() if n not in operands}
        return {**more, **given}

    def _answer(self, question: dict[str, Any], *wanted: str) -> dict[str, Any]:
        said = self._asked(question)
        if said is None:
            raise NotMeasured(f"no answer within {self.timeout:g} s")
        if not said.keys() & set(wanted or ("dtype",)):
            raise NotMeasured(printable(str(said.get("missing") or said.get("refused"))))
        return said

    def _asked(self, question: dict[str, Any]) -> dict[str, Any] | None:
        if self._process.poll() is not None:
            self._start()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return {"refused": self._death()}
        said = self._line(self.timeout)
        if said is None:
            self._end()
        elif not said:
            return {"refused": self._death()}
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

    def _death(self) -> str:
        code, words = self._end(), self._last_words()
        return f"the process ended with {ending(code)}" + (f": {words}" if words else "")

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
        """End the process, and remove its files; again, it does nothing."""
        if not self._errors.closed:
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
