"""Calls that other tools wrote: exported PyTorch programs (`.pt2`) and msprobe's dump.json.

    {"data": {"Tensor.__mul__.0.forward": {"input_args": [{"type": "torch.Tensor",
     "dtype": "torch.float16", "shape": [2]}, {"type": "float", "value": 0.5}],
     "input_kwargs": {}, "output": [...]}}}

An exported program is read where torch is. Of a dump the forward calls are read, with the lines of
stack.json: gradients are dumped without operators. Functions that are not PyTorch's own
(``NPU.npu_rotary_mul``) are unknown operators; modules are no calls.
"""

from __future__ import annotations

import json
import re
import tempfile
from importlib import import_module
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

from suanzi.base.dtypes import DType
from suanzi.base.status import InvalidArgument
from suanzi.port.operators import plain_name
from suanzi.promote.live import run_script
from suanzi.promote.operands import NUMBER_KINDS, Operand, Role
from suanzi.recording import recorders
from suanzi.recording.calls import Call, Calls, Taken, Where, from_records, known_dtype, read_calls

_WRITER = recorders.HOME / "export_torch.py"


def read_exported(program: str | PathLike[str] | Any, python: str | None = None) -> Calls:
    """Return the calls of an exported program: a `.pt2` file or an ExportedProgram.

    A file is read by `python`, an interpreter that has torch, this one by default; suanzi need not
    be installed there. An object is read here. Nothing of the program is run.
    """
    if hasattr(program, "graph_module"):
        return from_records(
            import_module("suanzi.recording.recorders.export_torch").records(program)
        )
    path = str(program)
    if not Path(path).is_file():
        raise InvalidArgument(f"port: the file {path!r} does not exist.")
    with tempfile.TemporaryDirectory(prefix="suanzi-port-") as folder:
        calls = Path(folder) / "calls.jsonl"
        done = run_script("port", "torch", _WRITER, str(calls), path, python=python)
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
            raise InvalidArgument(f"{path!r} is not an exported program: {said[-1]}")
        return read_calls(calls)


_NAME = re.compile(r"(?:Tensor|Torch|Functional|Aten|VF)\.(\w+)\.\d+\.forward$")
_FOREIGN = re.compile(r"(?!Module\.)(\w+\..+)\.\d+\.forward$")
_FRAME = re.compile(r"\s*File (.+?), line (\d+), in (\S+?),")


def read_msprobe(path: str | PathLike[str]) -> Calls:
    """Return the calls of a dump.json, with the lines of the stack.json in the same folder."""
    try:
        dump = json.loads(Path(path).read_text("utf-8"))
        data, framework = dump["data"], str(dump.get("framework") or "pytorch")
        stacks = _stacks(Path(path).with_name("stack.json"))
        calls: list[Call] = []
        for name, one in data.items():
            match = _NAME.match(name) or _FOREIGN.match(name)
            if match is not None:
                calls.append(_call(len(calls), match[1], one, stacks.get(name)))
    except OSError as error:
        raise InvalidArgument(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidArgument(f"{str(path)!r} is not a dump of msprobe: {error!r:.400}.") from None
    if framework != "pytorch":
        raise InvalidArgument(
            f"{str(path)!r} is a dump of {framework!r}: those of PyTorch are read."
        )
    if data and not calls:
        raise InvalidArgument(
            f"{str(path)!r} has none of the forward calls of a program: msprobe dumps them "
            "at the levels L1 and mix."
        )
    return Calls("torch", "dumped by msprobe", tuple(calls))


def _call(number: int, name: str, one: dict[str, Any], where: Where | None) -> Call:
    operator, way = plain_name(name)
    arguments = tuple(_argument(x) for x in one["input_args"])
    named = tuple((key, _argument(x)) for key, x in one["input_kwargs"].items() if x is not None)
    outputs = [x for x in one["output"] if isinstance(x, dict) and "dtype" in x]
    if any(key == "out" for key, _ in named):
        way = "out"
    return Call(
        number, operator, arguments, named, _dtype(outputs[0]) if outputs else None,
        bool(outputs) and not outputs[0]["shape"], way, where,
    )  # fmt: skip


def _argument(x: Any) -> Taken | tuple[Taken, ...] | None:
    if isinstance(x, list):
        found = [_argument(one) for one in x]
        return tuple(one for one in found if isinstance(one, Taken)) or None
    if not isinstance(x, dict):
        return None
    if "dtype" in x and "shape" in x:
        dt = _dtype(x)
        role = Role.TENSOR if x["shape"] else Role.ZERO_DIM
        return None if dt is None else Taken(Operand(role, dt), None, *_extremes(x))
    if x.get("type") in NUMBER_KINDS:
        value = x.get("value")
        some = value if isinstance(value, bool | int | float) else None
        return Taken(Operand(Role.NUMBER, kind=x["type"]), None, some, some)
    return None


def _extremes(x: dict[str, Any]) -> tuple[int | float | None, int | float | None]:
    """Return Min and Max, where both are finite numbers."""
    least, greatest = x.get("Min"), x.get("Max")
    for one in (least, greatest):
        if isinstance(one, bool) or not isinstance(one, int | float) or not isfinite(one):
            return None, None
    return least, greatest


def _dtype(x: dict[str, Any]) -> DType | None:
    return known_dtype(str(x["dtype"]).removeprefix("torch."))


def _stacks(path: Path) -> dict[str, Where]:
    """Return the line of the program that made each call; none where there is no such file."""
    if not path.exists():
        return {}
    found: dict[str, Where] = {}
    for name, frames in json.loads(path.read_text("utf-8")).items():
        # Later versions give each stack once, with the names of its calls before it.
        names = [name]
        if len(frames) == 2 and isinstance(frames[0], list):
            names, frames = frames
        for frame in frames:
            match = _FRAME.match(str(frame))
            if match is not None and "site-packages" not in match[1]:
                found |= dict.fromkeys(names, Where(match[1], int(match[2]), match[3]))
                break
    return found
