"""Runs a program under `suanzi blame` in another process, and reads its report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from suanzi import _core
from suanzi.base.status import InvalidArgument
from suanzi.base.text import ending
from suanzi.promote.live import NotInstalled
from suanzi.validate.blame.child import CANNOT_IMPORT, NOT_INSTALLED, REQUEST
from suanzi.validate.blame.report import Report, read
from suanzi.validate.blame.runs import read_run

_SECONDS_TO_END = 10.0
_STANDARD_ERROR = 2
"""Where the program's own output goes: standard output has the report."""


def run_program(
    program: str,
    arguments: Sequence[str] = (),
    *,
    python: str | None = None,
    options: Mapping[str, Any] | None = None,
    progress: bool = False,
) -> Report:
    """Run a program in an interpreter that has its framework, and return what was found.

    The program ``-m`` runs a module, the first of the arguments. suanzi need not be installed in
    that interpreter, if it is of the same version of Python as this one.
    """
    if program == "-m" and not arguments:
        raise InvalidArgument("blame: -m needs the name of a module.")
    if program != "-m" and not Path(program).is_file():
        raise InvalidArgument(f"blame: the program {program!r} does not exist.")
    against = (options or {}).get("against")
    if against is not None:
        read_run(against)  # whatever is wrong with it is reported before the program runs
    asked = {"program": program, "arguments": list(arguments), "options": dict(options or {}),
             "progress": progress, "replay": None, "device": "cpu"}  # fmt: skip
    return _asked(asked, python)


def replay_file(path: str, *, device: str = "cpu", python: str | None = None) -> Report:
    """Make a call again that was saved, in an interpreter that has torch."""
    if not Path(path).is_file():
        raise InvalidArgument(f"blame: the file {path!r} does not exist.")
    return _asked({"replay": path, "device": device}, python)


def _asked(asked: dict[str, Any], python: str | None) -> Report:
    interpreter = python or sys.executable
    framework = asked.get("options", {}).get("framework", "torch")
    here = Path(__file__).parent
    own = sysconfig.get_paths()
    paths = [str(here.parents[1]), *dict.fromkeys([own["purelib"], own["platlib"]])]
    with tempfile.TemporaryDirectory(prefix="suanzi-blame-") as folder:
        output = Path(folder) / "report.json"
        request = {**asked, "paths": paths, "output": str(output)}
        request["core"] = _core.__file__, sys.implementation.cache_tag
        environment = os.environ | {REQUEST: json.dumps(request)}
        command = [interpreter, str(here / "child.py")]
        try:
            status = _run(command, environment)
        except OSError as error:
            raise InvalidArgument(
                f"blame: {interpreter!r} cannot be run: {error.strerror}."
            ) from None
        if output.exists():
            found = json.loads(output.read_text("utf-8"))
            if "refused" in found:
                raise InvalidArgument(found["refused"])
            return read(found)
    if status == NOT_INSTALLED:
        raise NotInstalled(
            f"blame: {framework} is not installed for {interpreter}; name an interpreter that "
            "has it with --python."
        )
    if status == CANNOT_IMPORT:
        raise InvalidArgument(
            f"blame: {interpreter} cannot import suanzi, which is made for Python "
            f"{sys.version_info.major}.{sys.version_info.minor} here; install it there: "
            f"{interpreter} -m pip install suanzi."
        )
    if status < 0:
        name = ending(status).removeprefix("signal ")
        raise InvalidArgument(f"blame: {name} ended {interpreter!r}; there is no report.")
    raise InvalidArgument(f"blame: {interpreter!r} ended with {ending(status)} without a report.")


def _run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command; Ctrl-C ends the program, and its report has the time to be written."""
    with subprocess.Popen(command, stdout=_STANDARD_ERROR, env=environment) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            try:
                return process.wait(_SECONDS_TO_END)
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                process.send_signal(signal.SIGTERM)
                return process.wait()
