"""Exported PyTorch programs: `.pt2` files, read where torch is, and ExportedProgram objects."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

from suanzi.port.calls import Calls, from_records, read_calls
from suanzi.promote.live import NotInstalled
from suanzi.status import InvalidArgument

_NOT_INSTALLED, _NOT_EXPORTED = 3, 4
_WRITER = Path(__file__).parent.parent / "recorders" / "export_torch.py"


def read_exported(program: str | PathLike[str] | Any, python: str | None = None) -> Calls:
    """Return the calls of an exported program: a `.pt2` file or an ExportedProgram.

    A file is read by `python`, an interpreter that has torch, this one by default; suanzi need not
    be installed there. An object is read here. Nothing of the program is run.
    """
    if hasattr(program, "graph_module"):
        return from_records(_writer().records(program))
    path, interpreter = str(program), python or sys.executable
    if not Path(path).is_file():
        raise InvalidArgument(f"port: the file {path!r} does not exist.")
    with tempfile.TemporaryDirectory(prefix="suanzi-port-") as folder:
        calls = Path(folder) / "calls.jsonl"
        command = [interpreter, str(_WRITER), str(calls), path]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise InvalidArgument(
                f"port: {interpreter!r} cannot be run: {error.strerror}."
            ) from None
        if done.returncode == _NOT_INSTALLED:
            raise NotInstalled(
                f"port: torch is not installed for {interpreter}; name an interpreter that has it "
                "with --python."
            )
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
            raise InvalidArgument(f"{path!r} is not an exported program: {said[-1]}")
        return read_calls(calls)


def _writer() -> ModuleType:
    """Return the writer, which is a file of its own and no part of the package."""
    spec = importlib.util.spec_from_file_location("suanzi_export_torch", _WRITER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
