"""A kernel in a process of its own: from a file, a C library or a command."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from suanzi.base.status import InvalidArgument
from suanzi.conformance.running.backends import LIBRARIES, backend
from suanzi.conformance.running.process import Backend, Subject
from suanzi.tensors.exchange import available_memory
from suanzi.validate.judge.arguments import Request
from suanzi.validate.judge.engine import judge_request
from suanzi.validate.judge.verdict import Verdict

ADAPTER = "kernel_adapter:Adapter"
_MEMORY, _PER_ELEMENT, _OF_THE_FREE = 1 << 33, 256, 0.8
"""Bytes that a kernel may use: so many, more for large shapes, never more than most of the free."""
COMPILING = 4.0
"""How many times the usual limit a call has that may compile or tune itself."""


def kernel_backend(
    kernel: str,
    *,
    command: str | None = None,
    framework: str | None = None,
    device: str | None = None,
    python: str | None = None,
) -> Backend:
    """Return how the process of a kernel is started: ``FILE::NAME``, a C library or a command."""
    if bool(kernel) == bool(command):
        raise InvalidArgument("judge: give a kernel, FILE::NAME, or a --command, and not both.")
    if kernel.lower().endswith(LIBRARIES):
        if not Path(kernel).is_file():
            raise InvalidArgument(f"judge: the library {kernel!r} does not exist.")
        return backend(kernel, python)
    options: dict[str, Any] = {"framework": framework, "device": device}
    if command is not None:
        if "{output}" not in command:
            raise InvalidArgument("judge: --command must have {inputs} and {output} in it.")
        options |= {"command": command}
    else:
        file, mark, name = kernel.rpartition("::")
        if not mark or not name:
            raise InvalidArgument(
                f"judge: {kernel!r} is not FILE::NAME, as kernels.py::my_softmax, nor a C library."
            )
        if not Path(file).is_file():
            what = "is a folder" if Path(file).is_dir() else "does not exist"
            raise InvalidArgument(f"judge: the file {file!r} {what}; give FILE::NAME.")
        options |= {"file": str(Path(file).absolute()), "function": name}
    title = kernel or "the command"
    return Backend(title, ADAPTER, python or sys.executable, options, "judge")


def judge_in_child(
    kernel: Backend,
    title: str,
    wanted: Request,
    *,
    timeout: float = 30.0,
    seconds: float | None = None,
    started: Callable[[Subject], Any] | None = None,
    progress: Callable[[Any], Any] | None = None,
) -> Verdict:
    """Judge a kernel in its own process; `started` gets that process, to end it from elsewhere.

    A call has `timeout` seconds, four times as many if its dtypes and shapes are new: a compiler
    may be at work. No more cases are put after `seconds`.
    """
    for name, given in (("timeout", timeout), ("time for all cases", seconds)):
        if given is not None and not (math.isfinite(given) and given > 0):
            raise InvalidArgument(f"judge: the {name} is {given:g}; give seconds, more than 0.")
    if kernel.adapter == ADAPTER:
        kernel.options.update(gradients=wanted.gradients, memory=_memory(kernel, wanted))
    subject = Subject(kernel, timeout, later=True, compiling=COMPILING)
    with subject:
        if started is not None:
            started(subject)
        subject.greet()
        return judge_request(subject, title, wanted, seconds=seconds, progress=progress)


def _memory(kernel: Backend, wanted: Request) -> int | None:
    """Return how many bytes a kernel may use; no limit where a device's driver reserves more."""
    if not (kernel.options["device"] or "cpu").startswith("cpu"):
        return None
    shapes = [
        s
        for one in wanted.shapes or ()
        for s in (one.values() if isinstance(one, Mapping) else [one])
    ]
    elements = sum(map(math.prod, shapes))
    return int(min(max(_MEMORY, _PER_ELEMENT * elements), _OF_THE_FREE * available_memory()))
