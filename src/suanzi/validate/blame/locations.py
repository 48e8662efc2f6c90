"""Where in a program calls are made: the line, the layer, and for a gradient the line it is of."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, NamedTuple

from suanzi.recording.recorders import private_parts, recording

_installed: Any = recording.is_installed
_layer_path: Any = recording.layer_path
_SUANZI = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_KEPT = 1 << 18
"""How many calls are remembered for their gradients."""


class Place(NamedTuple):
    """A line of a program, or of a library that is not the framework."""

    file: str
    line: int
    function: str
    by: tuple[str, int] | None = None
    """The line of the program that called the library."""
    layer: str = ""

    def __str__(self) -> str:
        return f"{shortened(self.file)}:{self.line}" if self.line else "?"


NOWHERE = Place("?", 0, "")


def shortened(file: str) -> str:
    """Return a path from the current folder, or from that of packages, if that is shorter."""
    for mark in ("site-packages" + os.sep, "dist-packages" + os.sep):
        if mark in file:
            return file.rpartition(mark)[2]
    try:
        relative = os.path.relpath(file)
    except ValueError:
        return file
    return file if relative.startswith("..") or file.startswith("<") else relative


class Places(threading.local):
    """Where a thread is; `layers` are those whose forward runs, the outermost first."""

    def __init__(self, home: str) -> None:
        self.layers: list[Any] = []
        self.inside = 0
        """How many operators run, one in the other."""
        self.folders = (
            home, _SUANZI, os.path.dirname(os.path.abspath(os.__file__)) + os.sep
        )  # fmt: skip
        self.kinds: dict[str, int] = {}
        self.places: dict[Any, Place] = {}
        self.path: tuple[Any, Any, str] = None, None, ""

    def _kind(self, file: str) -> int:
        """Return 2 for a file of the program, 1 for one of a package, 0 for the framework's."""
        path = os.path.abspath(file)
        others = self.folders[: 2 if _installed(path) else 3]
        own = not (path.startswith(others) or file.startswith("<frozen"))
        kind = self.kinds[file] = (1 if _installed(file) else 2) if own else 0
        return kind

    def here(self, depth: int = 2) -> Place:
        """Return where the program is."""
        frame: Any = sys._getframe(depth)
        code: Any = None
        line, by, kinds = 0, None, self.kinds
        while frame is not None:
            now = frame.f_code
            kind = kinds.get(now.co_filename)
            if kind is None:
                kind = self._kind(now.co_filename)
            if kind:
                if code is None:
                    code, line = now, frame.f_lineno
                if kind == 2:
                    by = None if code is now else (now.co_filename, frame.f_lineno)
                    break
            frame = frame.f_back
        if code is None:
            return NOWHERE
        file, layer = code.co_filename, self.layer() if self.layers else ""
        by = None if by == (file, line) else by
        key = file, line, code.co_name, by, layer
        place = self.places.get(key)
        if place is None:
            if len(self.places) >= _KEPT:
                self.places.clear()
            name = getattr(code, "co_qualname", code.co_name)  # Python 3.10 has the second
            place = self.places[key] = Place(file, line, name, by, layer)
        return place

    def layer(self) -> str:
        """Return the path of the layer that runs; empty for the model itself and outside."""
        layers = self.layers
        if len(layers) < 2:
            return ""
        inner, model = layers[-1], layers[0]
        if self.path[0] is not inner or self.path[1] is not model:
            self.path = inner, model, str(_layer_path((inner, model)))
        return self.path[2]


class Gradients:
    """The lines of calls by the numbers of their nodes in the graph of gradients."""

    def __init__(self, torch: Any) -> None:
        self.next: Any = private_parts.take("torch.autograd._get_sequence_nr")
        self.node: Any = private_parts.take("torch._C._current_autograd_node")
        self.known: dict[int, Place] = {}

    def current(self) -> Any:
        """Return the node whose gradient is computed; None if it is not."""
        return None if self.node is None else self.node()

    def note(self, place: Place) -> None:
        """Remember where a call is made whose gradient may be computed later."""
        if self.next is None:
            return
        number = self.next() - 1
        if number not in self.known:
            if len(self.known) >= _KEPT:
                for old in list(self.known)[: _KEPT // 4]:
                    del self.known[old]
            self.known[number] = place

    def place(self, node: Any) -> Place | None:
        """Return where the call was made whose gradient is computed."""
        try:
            return self.known.get(node._sequence_nr())
        except (AttributeError, TypeError):
            return None
