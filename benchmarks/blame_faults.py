"""Plants the faults of the tests in operators of public models, and says whether blame names them.

A fault is planted in a model of transformers, torchvision or diffusers that calls its operator, in
one training step; it is named if the first three lines of the report have the operator and a line
that called it:

    python benchmarks/blame_faults.py faults.json --only llama,tv_resnet18
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from blame_models import MODELS, versions

from suanzi.validate.blame import blame

sys.path.append(str(Path(__file__).parents[1] / "tests" / "validate" / "blame"))
from planted import FAULTS, Plant  # type: ignore[import-not-found]

NAMES = ("llama", "bert", "t5", "vit", "tv_resnet18", "convnext", "unet", "autoencoder")


class Seen(Plant):  # type: ignore[misc]
    """Plants a fault, and counts the calls whose results it changes."""

    changed = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func._schema.name.partition("::")[2] == self.operator and self.operator[-1] != "_":
            right = func(*args, **(kwargs or {}))
            made = super().__torch_dispatch__(func, types, args, kwargs)
            both = zip(
                *(x if isinstance(x, tuple | list) else [x] for x in (right, made)), strict=False
            )
            self.changed += any(
                isinstance(x, torch.Tensor) and not torch.equal(x, y) for x, y in both
            )
            return made
        self.changed += func._schema.name.partition("::")[2] == self.operator
        return super().__torch_dispatch__(func, types, args, kwargs)


def step(name: str) -> Any:
    """Return a function that makes a training step of a model."""
    torch.manual_seed(0)
    model, loss = MODELS[name]()
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, foreach=False)

    def run() -> None:
        loss(model, "cpu").backward()
        optimizer.step()

    return run


def plant(fault: str, model: str) -> dict[str, Any]:
    """Return what is said of a fault in a model."""
    _, operator, _, spoil = FAULTS[fault]
    run = step(model)
    said: dict[str, Any] = {"fault": fault, "model": model, "operator": operator}
    try:
        with Seen(operator, spoil) as seen, blame(overhead=None) as report:
            run()
    except Exception as error:
        return {**said, "error": f"{type(error).__name__}: {str(error)[:200]}"}
    first = str(report).splitlines()[:3]
    name = operator.removesuffix("_")
    lines = [s for s in report.findings if s.operator == name and s.wrong]
    named = any(f"{s.place.file.rpartition('/')[2]}:{s.place.line}" in "".join(first)
                for s in lines)  # fmt: skip
    return {**said, "changed": seen.changed, "named": named and "WRONG" in first[0], "first": first,
            "wrong": dict(Counter(s.operator for s in report.findings if s.wrong))}  # fmt: skip


def main() -> None:
    """Plant every fault in one model that calls its operator."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path")
    parser.add_argument("--only", default=",".join(NAMES))
    asked = parser.parse_args()
    calls: dict[str, set[str]] = {}
    for name in asked.only.split(","):
        with blame(ops="_softmax") as report:
            step(name)()
        calls[name] = {s.operator for s in report.sites}
        print(name, len(calls[name]), flush=True)
    found: dict[str, Any] = {"torch": torch.__version__, "libraries": versions(), "faults": []}
    turns: Counter[str] = Counter()
    for fault, (_, operator, *_) in FAULTS.items():
        models = [m for m in calls if operator.removesuffix("_") in calls[m]]
        for model in sorted(models, key=turns.__getitem__):
            said = plant(fault, model)
            print(fault, model, said.get("named"), said.get("changed"), said.get("error", ""),
                  flush=True)  # fmt: skip
            if said.get("changed"):
                turns[model] += 1
                found["faults"].append(said)
                break
        else:
            print(fault, "is in none of the models")
        with open(asked.path, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
    named = sum(one["named"] for one in found["faults"])
    print(f"{named} of {len(found['faults'])} named")


if __name__ == "__main__":
    main()
