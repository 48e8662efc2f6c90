"""trace: the calls of a block of this process, judged when it ends."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from suanzi.port.calls import from_records
from suanzi.port.lacking import check_chips
from suanzi.port.report import Report, judge, targets
from suanzi.port.running import check_framework
from suanzi.promote.live import NotInstalled
from suanzi.promote.rules import RuleSet


@contextmanager
def trace(*to: str | RuleSet, framework: str = "torch", on: Iterable[str] = ()) -> Iterator[Report]:
    """Record what the block calls, and fill the report when it ends, by an error too.

        with sz.port.trace("cann", "paddle") as report:
            model(x)
        print(report)

    Each of `to` is a rule set or its name. From PyTorch, ``"jax"`` is JAX as it comes, without
    64-bit types, and ``"openvino"`` what its PyTorch frontend makes of a program. `on` are the
    chips whose operators have to take the dtypes: ``on=["910b"]``. What is recorded of MindSpore
    calls ``mindspore.runtime.launch_blocking()``, so that an error comes up in its own line;
    MindSpore has nothing that undoes it, and its operators wait for the device until the process
    ends.
    """
    asked = targets(to, framework)
    chips = check_chips(on, asked)
    recorder_file = _load(framework)
    records: list[dict[str, Any]] = [recorder_file.header()]
    recorder = recorder_file.make_recorder(records.append)
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
    """Return the recorder, which imports nothing of suanzi and is loaded when it is asked for."""
    check_framework(framework)
    if importlib.util.find_spec(framework) is None:
        raise NotInstalled(f"port.trace: {framework} is not installed here.")
    return importlib.import_module(f"suanzi.port.recorders.record_{framework}")
