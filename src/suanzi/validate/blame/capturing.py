"""Graphs of a device that are captured: nothing but the program may run there meanwhile.

What runs while a stream is captured becomes part of the graph, or makes the capture fail: a copy
to this machine's memory, a sum, even memory that is allocated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CAPTURED = "captured in a CUDA graph"
"""Why a call is not judged."""
REPLAYED = "replays of CUDA graphs were not seen"
_DEVICES = ("cuda", "npu", "musa", "xpu")


class Captures:
    """Knows whether a graph is captured, on this thread's stream or by any other thread."""

    def __init__(self, torch: Any) -> None:
        modules: list[Any] = [getattr(torch, name, None) for name in _DEVICES]
        self.devices = [m for m in modules if hasattr(m, "is_current_stream_capturing")]
        self.graphs = [m.CUDAGraph for m in modules if hasattr(m, "CUDAGraph")]
        self.open = 0
        """How many graphs are captured now."""

    def now(self) -> bool:
        """Tell whether a graph is captured."""
        if self.open > 0:
            return True
        for module in self.devices:
            if module.is_initialized() and module.is_current_stream_capturing():
                return True
        return False

    def began(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Return how a capture begins, so that it is known."""

        def capture_begin(graph: Any, *args: Any, **kwargs: Any) -> Any:
            self.open += 1
            try:
                return original(graph, *args, **kwargs)
            except BaseException:
                self.open -= 1
                raise

        return capture_begin

    def ended(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Return how a capture ends, so that it is known."""

        def capture_end(graph: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return original(graph, *args, **kwargs)
            finally:
                self.open = max(self.open - 1, 0)

        return capture_end


def replayed(original: Callable[..., Any], note: Callable[[str], None]) -> Callable[..., Any]:
    """Return how a graph is replayed, so that it is counted."""

    def replay(graph: Any, *args: Any, **kwargs: Any) -> Any:
        note(REPLAYED)
        return original(graph, *args, **kwargs)

    return replay
