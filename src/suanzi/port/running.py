"""Records a program: in another process (`run_program`), or a block of this one (`trace`)."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

from suanzi.base.files import write_file
from suanzi.base.hints import nearest
from suanzi.base.status import InvalidArgument
from suanzi.base.text import ending
from suanzi.port.operators import FRAMEWORKS
from suanzi.port.report import Report, judge, targets
from suanzi.port.support import check_chips
from suanzi.promote.live import NotInstalled
from suanzi.promote.rules import RuleSet
from suanzi.recording import recorders
from suanzi.recording.calls import Calls, from_records, read_processes
from suanzi.recording.recorders import private_parts, processes
from suanzi.recording.recorders.values import MODES

_NOT_INSTALLED = 3
_SECONDS_TO_END = 3.0


def run_program(
    program: str,
    arguments: Sequence[str] = (),
    *,
    framework: str = "torch",
    python: str | None = None,
    stdout: Any = None,
    stderr: Any = None,
    save: str | PathLike[str] | None = None,
    values: str = "sampled",
    replay: tuple[str | PathLike[str], int] | None = None,
    hashes: bool = False,
    texts: Mapping[str, str] | None = None,
) -> Calls:
    """Run a program under the recorder of its framework and return the calls it made.

    They are those of all its threads and of the processes it starts. The program ``-m`` runs a
    module, the first of the arguments. `python` is the interpreter that has the framework, this one
    by default; suanzi need not be installed there. What the program prints goes to `stdout` and
    `stderr`. What it did before it failed is kept. `save` is a file that the calls are written to,
    which `read_calls` reads. `values` says which values of tensors are measured: "none", "sampled"
    or "all". `replay` is a folder for what calls are given and return, and how many bytes of it are
    kept. With `hashes`, random numbers are seeded, and the results of each line are noted as
    hashes. `texts` are other contents of files of the program, which are not written.
    """
    recorder = check_framework(framework)
    options: dict[str, Any] = {"values": check_values(values)}
    if replay is not None:
        options["replay"] = {"folder": os.path.abspath(replay[0]), "bytes": replay[1]}
    options["hashes"] = hashes
    if program == "-m" and not arguments:
        raise InvalidArgument("port: -m needs the name of a module.")
    if program != "-m" and not Path(program).is_file():
        raise InvalidArgument(f"port: the program {program!r} does not exist.")
    interpreter = python or sys.executable
    with tempfile.TemporaryDirectory(prefix="suanzi-port-") as folder:
        path = Path(folder) / "calls.jsonl"
        options["texts"] = _written(texts or {}, Path(folder))
        command = [interpreter, str(recorder), str(path), program, *arguments]
        try:
            status = _run(command, stdout, stderr, options)
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
                f"port: {interpreter!r} ended with {ending(status)} before the program did "
                "anything."
            )
        records = read_processes(path, status)
        if save is not None:
            write_file(save, "".join(json.dumps(one) + "\n" for one in records))
        return from_records(records)


def _written(texts: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Write texts to files of a folder, and return them by those whose place they take."""
    found = {}
    for i, (file, text) in enumerate(texts.items()):
        other = folder / f"text-{i}.py"
        other.write_bytes(text.encode())
        found[os.path.abspath(file)] = str(other)
    return found


def _run(command: Sequence[str], stdout: Any, stderr: Any, options: dict[str, Any]) -> int:
    """Run a command; Ctrl-C ends it, and its recorder has the time to write down how it ended."""
    environment = os.environ | {processes.OPTIONS: json.dumps(options)}
    if options["hashes"]:
        environment.setdefault("PYTHONHASHSEED", "0")
    with subprocess.Popen(command, stdout=stdout, stderr=stderr, env=environment) as process:
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
    return recorders.HOME / f"record_{framework}.py"


def check_values(mode: str) -> str:
    """Return which values are measured; raise for a word that is none of them."""
    if mode not in MODES:
        raise InvalidArgument(
            f"port: --values cannot be {mode!r}; use {', '.join(MODES)}.{nearest(mode, MODES)}"
        )
    return mode


@contextmanager
def trace(
    *to: str | RuleSet, framework: str = "torch", on: Iterable[str] = (), values: str = "sampled"
) -> Iterator[Report]:
    """Record what the block calls, and fill the report when it ends, by an error too.

        with sz.port.trace("cann", "paddle") as report:
            model(x)
        print(report)

    Each of `to` is a rule set or its name. From PyTorch, ``"jax"`` is JAX as it comes, without
    64-bit types, and ``"openvino"`` what its PyTorch frontend makes of a program. `on` are the
    chips whose operators have to take the dtypes: ``on=["910b"]``. `values` says which values of
    tensors are measured: "none", "sampled" or "all". What is recorded of MindSpore
    calls ``mindspore.runtime.launch_blocking()``, so that an error comes up in its own line;
    MindSpore has nothing that undoes it, and its operators wait for the device until the process
    ends.
    """
    asked = targets(to, framework)
    chips = check_chips(on, asked)
    recorder_file = _load(framework)
    records: list[dict[str, Any]] = [recorder_file.header()]
    options = {**processes.DEFAULTS, "values": check_values(values)}
    try:
        recorder = recorder_file.make_recorder(records.append, options)
    except private_parts.Lacking as error:
        raise NotInstalled(f"port.trace: {error}") from None
    report, raised = Report(), None
    try:
        with recorder:
            yield report
    except BaseException as error:
        raised = f"{type(error).__name__}: {error}"
        raise
    finally:
        records.append({"end": True, "raised": raised, **recorder.end()})
        found = judge(from_records(records), asked, on=chips)
        report.calls, report.judged = found.calls, found.judged


def _load(framework: str) -> ModuleType:
    """Return the recorder module; it imports nothing of suanzi, and is loaded when it is used."""
    check_framework(framework)
    if importlib.util.find_spec(framework) is None:
        raise NotInstalled(f"port.trace: {framework} is not installed here.")
    return importlib.import_module(f"suanzi.recording.recorders.record_{framework}")
