"""A double of a device that captures graphs: what blame does meanwhile, by PyTorch's profiler.

Prints one JSON object. The profiler sees every operator that is called, also those which no mode
is shown.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode

import suanzi as sz


class Graph:
    """A graph that captures nothing."""

    def capture_begin(self, fails: bool = False) -> None:
        """Begin."""
        if fails:
            raise RuntimeError("not now")

    def capture_end(self) -> None:
        """End."""

    def replay(self) -> None:
        """Do nothing."""


@contextmanager
def device(state: dict[str, bool]) -> Iterator[None]:
    """Have PyTorch say that there is a GPU, whose stream captures where `state` has it."""
    names = ("is_available", "is_initialized", "is_current_stream_capturing", "CUDAGraph")
    before = {name: getattr(torch.cuda, name) for name in names}
    vars(torch.cuda).update(
        is_available=lambda: False,  # else optimizers refuse a step that a graph captures
        is_initialized=lambda: state["initialized"],
        is_current_stream_capturing=lambda: state["capturing"],
        CUDAGraph=Graph,
    )
    try:
        yield
    finally:
        vars(torch.cuda).update(before)


def program(x: torch.Tensor) -> torch.Tensor:
    """Call what blame has most to do with: in place, out of place, in lists, with gradients."""
    layer = torch.nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(layer.parameters(), fused=True)
    y = layer(x.clone().mul_(2).exp()) + torch.zeros(4)
    y.square().sum().backward()
    optimizer.step()
    torch._foreach_mul_([p.detach() for p in layer.parameters()], 2.0)
    return y.detach()


class Idle(TorchDispatchMode):
    """Makes every call, and nothing else: a mode has each call counted again."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def operators(call: Callable[[], Any]) -> Counter[str]:
    """Count the operators that a call calls."""
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        call()
    return Counter({e.key: e.count for e in seen.key_averages() if e.key.startswith("aten::")})


def watched(path: str) -> Any:
    """Run the program plainly, while a graph is captured, and after that."""
    x = torch.arange(16.0).reshape(4, 4) / 10
    state = {"initialized": True, "capturing": True}
    with Idle():
        plain = operators(lambda: program(x))
    found: dict[str, Any] = {}
    with device(state):
        for name in ("overhead", "twice", "unusual", "record"):
            more: dict[str, Any] = {name: path if name == "record" else True}
            more = {"overhead": None} if name == "overhead" else more
            with sz.blame(**more) as report:
                seen = operators(lambda: program(x))
            counted = report.unjudged()
            found[name] = [seen == plain, report.judged, list(counted), report.answer]
        with sz.blame(overhead=None) as report:
            program(x)
            state["capturing"] = False
            seen = operators(lambda: program(x))
        found["after"] = [seen == plain, report.judged > 0, report.answer, str(report)]
    return found


def begun() -> Any:
    """Graphs that other threads capture, a capture that fails, replays; a device not in use."""
    state = {"initialized": False, "capturing": True}
    x = torch.ones(3)
    with device(state), sz.blame(overhead=None) as report:
        x.exp()
        graph = torch.cuda.CUDAGraph()
        thread = threading.Thread(target=graph.capture_begin)
        thread.start()
        thread.join()
        x.tanh()
        graph.capture_end()
        x.sin()
        try:
            graph.capture_begin(fails=True)
        except RuntimeError:
            x.cos()
        graph.replay()
        graph.replay()
    judged = sorted(site.operator for site in report.sites if site.judged)
    return [judged, dict(report.unjudged()), report.notes, Graph.replay.__qualname__]


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps({"watched": watched(sys.argv[1]), "begun": begun()}))
