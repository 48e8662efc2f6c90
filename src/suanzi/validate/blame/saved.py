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

from suanzi.base.status import InvalidArgument
from suanzi.tensors import safetensors
from suanzi.tensors.exchange import from_dlpack
from suanzi.validate.blame.judging import Judged, judge
from suanzi.validate.blame.locations import NOWHERE, Place
from suanzi.validate.blame.operators import Operator
from suanzi.validate.blame.report import Report, Site
from suanzi.validate.blame.rules import pieces
from suanzi.validate.blame.sampling import Call, Unjudged, name_of
from suanzi.validate.blame.tensors import dispatch_of

FORMAT = "suanzi-blame-call/1"
_RESULT = "result"
_SAMPLES = 16
"""So many samples are judged: one call has the time for it."""


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

    if lists := func._schema.name.partition("::")[2].startswith(("_foreach_", "_fused_")):
        given = complete(given)
    arguments = {name: kept(name, x) for name, x in given.items()}
    for i, x in enumerate(() if lists else results):
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
    func, given = _read(torch, path, tensors, about, device)
    with torch.no_grad():
        return _made(torch, path, func, given, about)


def _read(
    torch: Any, path: Any, tensors: Mapping[str, Any], about: Mapping[str, str], device: str
) -> tuple[Any, dict[str, Any]]:
    """Return an operator and its arguments; what is no call of one is refused."""
    space, _, name = about.get("operator", "").partition("::")
    if space != "aten":
        raise InvalidArgument(f"blame: {path} has a call of {space}::{name}, not of aten.")
    packet = getattr(torch.ops.aten, name, None)
    func = getattr(packet, about.get("overload") or "default", None)
    if not hasattr(func, "_schema"):
        raise InvalidArgument(f"blame: {path} has a call of aten::{name}, which is not here.")
    try:
        moved = {name: _tensor(torch, x, device) for name, x in tensors.items()}
    except (RuntimeError, AssertionError) as error:
        raise InvalidArgument(
            f"blame: the device {device!r} cannot be used: {_first_line(error)}"
        ) from None

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

    try:
        return func, {name: read(x) for name, x in json.loads(about["arguments"]).items()}
    except (KeyError, ValueError, AttributeError, TypeError) as error:
        raise InvalidArgument(
            f"blame: {path} is damaged: its arguments cannot be read: {_first_line(error)}"
        ) from None


def _first_line(error: BaseException) -> str:
    """Return the first sentence of an error of PyTorch."""
    words = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {words[0][:200]}"


def _made(
    torch: Any, path: Any, func: Any, given: dict[str, Any], about: Mapping[str, str]
) -> Report:
    dispatch, operator = dispatch_of(torch), Operator(torch, func)
    if not operator.rule:
        raise InvalidArgument(f"blame: {operator.title} has no truth here.")
    before = {n: copied(torch, given[n]) for n in operator.written if given.get(n) is not None}
    try:
        made = func(**given)
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError) as error:
        raise InvalidArgument(
            f"blame: PyTorch does not make the call of {path}: {_first_line(error)}"
        ) from None
    results = list(made) if isinstance(made, list | tuple) else [made]
    if not any(isinstance(x, torch.Tensor) for x in results):
        results = [given[n] for n in operator.written]
    tensors = [x for x in given.values() if isinstance(x, torch.Tensor)]
    dtypes = dict.fromkeys(name_of(x.dtype) for x in tensors)
    site = Site(operator.name, _place(about), False, tuple(dtypes), "", calls=1)
    report = Report(f"torch {torch.__version__}", 1, [site])
    after = {n: given[n] for n in before}
    found: list[Judged] = []
    try:
        with dispatch._disable_current_modes():  # which may stand for the kernels of others
            for seed in range(_SAMPLES):
                rng = np.random.default_rng(seed)
                call = Call(torch, operator.name, {**given, **before}, results, rng, after)
                found += [judge(piece) for piece in pieces(call)]
    except Unjudged as why:
        site.unjudged[str(why)] += 1
    if found:
        site.judged = 1
        worst = max(found, key=lambda one: (one.share > 1 and not one.is_small, one.share))
        site.add(worst, 1, [list(map(int, x.shape)) for x in tensors])
    return report


def copied(torch: Any, x: Any) -> Any:
    """Return a copy of a tensor, or of those of a list."""
    return x.clone() if isinstance(x, torch.Tensor) else [one.clone() for one in x]


def complete(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments without the tensors of lists that were not copied before the call."""
    lists = [x for x in given.values() if isinstance(x, list | tuple)]
    lost = next((x for x in lists if any(one is None for one in x) and len(x) > 1), None)
    if lost is None:
        return dict(given)
    some = [i for i, one in enumerate(lost) if one is not None]
    return {
        name: [x[i] for i in some] if isinstance(x, list | tuple) and len(x) == len(lost) else x
        for name, x in given.items()
    }


def _place(about: Mapping[str, str]) -> Place:
    """Return where the call was made that was saved."""
    try:
        file, line, function, by, layer = json.loads(about["place"])
        return Place(str(file), int(line), str(function), by and (str(by[0]), int(by[1])), layer)
    except (KeyError, ValueError, TypeError):
        return NOWHERE


def _tensor(torch: Any, x: Any, device: str) -> Any:
    return torch.from_dlpack(x).clone().to(device)
