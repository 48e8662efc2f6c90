"""Runs a program in another process, in any interpreter that has its framework, and records it."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from suanzi._hints import nearest
from suanzi.port.calls import Calls, read_calls
from suanzi.port.operators import FRAMEWORKS
from suanzi.promote.live import NotInstalled
from suanzi.status import InvalidArgument

_NOT_INSTALLED = 3
_SECONDS_TO_END = 3.0


def run_program(
    program: str,
    arguments: Sequence[str] = (),
    *,
    framework: str = "torch",
    python: str | None = None,
    stdout: Any = None,
) -> Calls:
    """Run a program under the recorder of its framework and return the calls it made.

    `python` is the interpreter that has the framework, this one by default; suanzi need not be
    installed there. What the program prints goes to `stdout`. What it did before it failed is kept.
    """
    recorder = check_framework(framework)
    if not Path(program).is_file():
        raise InvalidArgument(f"port: the program {program!r} does not exist.")
    interpreter = python or sys.executable
    with tempfile.TemporaryDirectory(prefix="suanzi-port-") as folder:
        path = Path(folder) / "calls.jsonl"
        command = [interpreter, str(recorder), str(path), program, *arguments]
        try:
            status = _run(command, stdout)
        except OSError as error:
            raise InvalidArgument(
                f"port: {interpreter!r} cannot be run: {error.strerror}."
            ) from None
        if status == _NOT_INSTALLED and not path.exists():
            raise NotInstalled(
                f"port: {framework} is not installed for {interpreter}; name an interpreter that "
                "has it with --python."
            )
        if not path.exists() or not path.stat().st_size:
            raise InvalidArgument(
                f"port: {interpreter!r} ended with status {status} before the program did anything."
            )
        return read_calls(path)


def _run(command: Sequence[str], stdout: Any) -> int:
    """Run a command; Ctrl-C ends it, and its recorder has the time to write down how it ended."""
    with subprocess.Popen(command, stdout=stdout) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            for signal_again in (False, True):
                try:
                    # A terminal signals both processes; a program may have signalled one.
                    if signal_again:
                        process.send_signal(signal.SIGINT)
                    return process.wait(_SECONDS_TO_END)
                except (subprocess.TimeoutExpired, KeyboardInterrupt):
                    continue
            process.kill()
            return process.wait()


def check_framework(framework: str) -> Path:
    """Return the recorder of a framework; raise where there is none."""
    if framework not in FRAMEWORKS:
        raise InvalidArgument(
            f"port: programs of {framework!r} cannot be recorded; use "
            f"{', '.join(FRAMEWORKS)}.{nearest(framework, FRAMEWORKS)}"
        )
    return Path(__file__).parent / "recorders" / f"record_{framework}.py"
