"""A call with its inputs in a file, to be made again on any device: safetensors with words.

Tensors have the names of the operator's arguments, `indices.0` for those of lists; what is no
tensor is JSON. Nothing in a file is executed but the operator of PyTorch that it names.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from suanzi import safetensors
from suanzi.blaming.judging import judge
from suanzi.blaming.places import NOWHERE, Place
from suanzi.blaming.report import Report, Site
from suanzi.blaming.rules import RULES, pieces
from suanzi.blaming.sampling import Call, Unjudged, name_of
from suanzi.status import InvalidArgument
from suanzi.tensors.exchange import from_dlpack

FORMAT = "suanzi-blame-call/1"
_RESULT = "result"


def save_call(
    path: str, func: Any, given: Mapping[str, Any], results: Sequence[Any], site: Site, words: str
) -> None:
    """Write a call, its inputs and what it returned to a file."""
    torch: Any = importlib.import_module("torch")
    tensors: dict[str, Any] = {}

    def kept(name: str, x: Any) -> Any:
        if isinstance(x, torch.Tensor):
            tensors[name] = from_dlpack(x.detach().cpu().contiguous())
            return {"tensor": name}
        if isinstance(x, list | tuple):
            return [kept(f"{name}.{i}", one) for i, one in enumerate(x)]
        if isinstance(x, torch.dtype | torch.device | torch.layout | torch.memory_format):
            return {"torch": str(x)}
        if (isinstance(x, float) and x != x) or x in (float("inf"), float("-inf")):
            return {"float": str(x)}
        return x

    arguments = {name: kept(name, x) for name, x in given.items()}
    for i, x in enumerate(results):
        kept(f"{_RESULT}.{i}", x)
    about = {
        "format": FORMAT, "operator": func._schema.name, "overload": func._overloadname,
        "arguments": json.dumps(arguments), "place": json.dumps(site.place), "words": words,
    }  # fmt: skip
    safetensors.save(path, tensors, about)


def replay(path: str | PathLike[str], device: str = "cpu") -> Report:
    """Make a call again that was saved, judge it, and return the report."""
    torch: Any = importlib.import_module("torch")
    tensors, about = safetensors.load(path)
    if about.get("format") != FORMAT:
        raise InvalidArgument(f"blame: {path} has no call that `suanzi blame --save` wrote.")
    moved = {name: _tensor(torch, x, device) for name, x in tensors.items()}

    def read(x: Any) -> Any:
        if isinstance(x, list):
            return [read(one) for one in x]
        if not isinstance(x, dict):
            return x
        if "tensor" in x:
            return moved[x["tensor"]]
        if "float" in x:
            return float(x["float"])
        word = str(x["torch"])
        is_device = not word.startswith("torch.")
        return device if is_device else getattr(torch, word.removeprefix("torch."))

    given = {name: read(x) for name, x in json.loads(about["arguments"]).items()}
    space, _, name = about["operator"].partition("::")
    if space != "aten":
        raise InvalidArgument(f"blame: {path} has a call of {about['operator']}, not of aten.")
    func = getattr(getattr(torch.ops.aten, name), about["overload"] or "default")
    with torch.no_grad():
        return _made(torch, func, given, about)


def _made(torch: Any, func: Any, given: dict[str, Any], about: Mapping[str, str]) -> Report:
    schema = func._schema
    written = [a.name for a in schema.arguments if a.alias_info and a.alias_info.is_write]
    before = {n: given[n].clone() for n in written if isinstance(given.get(n), torch.Tensor)}
    made = func(**given)
    results = list(made) if isinstance(made, list | tuple) else [made]
    name = schema.name.partition("::")[2]
    base = name[:-1] if name.endswith("_") and not name.endswith("__") else name
    dtypes = dict.fromkeys(name_of(x.dtype) for x in given.values() if isinstance(x, torch.Tensor))
    site = Site(base, _place(about), False, tuple(dtypes), "")
    site.calls = 1
    report = Report(f"torch {torch.__version__}", 1, [site])
    if base not in RULES:
        raise InvalidArgument(f"blame: {base} has no truth here.")
    call = Call(torch, base, {**given, **before}, results, np.random.default_rng(0))
    try:
        for piece in pieces(call):
            site.judged = 1
            shapes = [list(map(int, x.shape)) for x in given.values()
                      if isinstance(x, torch.Tensor)]  # fmt: skip
            site.add(judge(piece), 1, shapes)
    except Unjudged as why:
        site.unjudged[str(why)] += 1
    return report


def _place(about: Mapping[str, str]) -> Place:
    """Return where the call was made that was saved."""
    try:
        file, line, function, by, layer = json.loads(about["place"])
        return Place(str(file), int(line), str(function), by and (str(by[0]), int(by[1])), layer)
    except (KeyError, ValueError, TypeError):
        return NOWHERE


def _tensor(torch: Any, x: Any, device: str) -> Any:
    return torch.from_dlpack(x).clone().to(device)
