"""Which reader a file is for, by how its name ends; what none reads is a program to run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from suanzi.base.status import InvalidArgument
from suanzi.port.findings import Fingerprint
from suanzi.port.models.graph import Graph, judge_graph
from suanzi.port.models.onnx_model import fix_onnx, read_onnx
from suanzi.port.models.openvino_ir import read_openvino
from suanzi.port.readers.dumps import read_exported, read_msprobe
from suanzi.port.readers.logs import MARK, from_configs, from_log, read_text
from suanzi.port.report import Report, judge
from suanzi.promote.rules import RuleSet
from suanzi.recording.calls import Calls, read_calls


def read_log(path: str) -> Calls:
    """Return the calls of a text log, of PyTorch or of Paddle."""
    text = read_text(path)
    read = from_configs if text.lstrip().startswith(MARK) else from_log
    return read(text, path)


READERS: dict[str, Callable[[str], Calls | Graph]] = {
    ".jsonl": read_calls,
    ".txt": read_log,
    ".json": read_msprobe,
    ".onnx": read_onnx,
    ".xml": read_openvino,
}
"""Readers that need no interpreter but this one."""


def read_file(path: str, python: str | None = None) -> Calls | Graph | None:
    """Return the calls or the graph of a file that is no program; None for one that is to be run.

    `python` is the interpreter that has the framework of an exported program.
    """
    ending = Path(path).suffix.lower()
    if ending == ".pt2":
        return read_exported(path, python)
    return READERS[ending](path) if ending in READERS else None


def judge_file(
    read: Calls | Graph,
    to: Sequence[RuleSet],
    baseline: Counter[Fingerprint] | None = None,
    on: Sequence[str] = (),
) -> Report:
    """Return what changes of what was read."""
    if isinstance(read, Graph):
        return judge_graph(read, to, baseline, on)
    return judge(read, to, baseline, on)


def fix_file(path: str, out: str) -> str:
    """Write a model with the Casts that it lacks, and return what was done in a sentence."""
    if not path.lower().endswith(".onnx"):
        raise InvalidArgument(f"port: --fix writes ONNX models, and {path!r} is none.")
    added, left = fix_onnx(path, out)
    said = f"{out}: {added or 'no'} Cast{'s' * (added != 1)} put in"
    if left:
        names = ", ".join(one.place.removeprefix(f"{out} ") for one in left[:5])
        return f"{said}; no type holds the values of what is left: {names}"
    return f"{said}; it passes ONNX's checker"
