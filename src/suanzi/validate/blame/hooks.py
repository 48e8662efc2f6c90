"""What a watcher puts into PyTorch while it runs: threads, layers, compiled functions, forks."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any

from suanzi.recording.recorders import private_parts
from suanzi.validate.blame.capturing import Captures, replayed
from suanzi.validate.blame.locations import Places
from suanzi.validate.blame.report import Report

_COMPILED = "compiled functions ran uncompiled, to be seen"

UNWATCHED = "steps were not watched, to time the program or for want of time"


class Hooks:
    """Puts things into their places, and takes them out again; a watcher has these methods."""

    torch: Any
    report: Report
    places: Places
    captures: Captures
    step: int
    active: bool
    pid: int

    def __init__(self) -> None:
        self.undo: list[Callable[[], None]] = []
        self.follows_kernels = False

    def _hook(self) -> None:
        self._put(threading.Thread, "_bootstrap_inner", self._in_thread)
        self._put(self.torch.nn.Module, "__call__", self._in_module)
        self._run_eagerly()
        self._follow_kernels()
        self._follow_graphs()
        _follow_forks()
        _WATCHERS.add(self)

    def _unhook(self) -> None:
        while self.undo:
            self.undo.pop()()

    def _new_mode(self) -> Any:
        raise NotImplementedError

    def _new_step(self) -> None:
        raise NotImplementedError

    def _returned(self, module: Any, result: Any) -> None:
        """Take note of what a module returned."""

    def _put(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        before = vars(owner).get(name)
        setattr(owner, name, make(getattr(owner, name)))

        def back() -> None:
            if before is None:
                delattr(owner, name)
            else:
                setattr(owner, name, before)

        self.undo.append(back)

    def _in_thread(self, original: Any) -> Any:
        def _bootstrap_inner(thread: Any) -> None:
            if not self.active or self.pid != os.getpid():
                original(thread)
                return
            with self._new_mode():
                original(thread)

        return _bootstrap_inner

    def _in_module(self, original: Any) -> Any:
        """Return how a module is called: the layers whose forward runs are known."""

        def __call__(module: Any, *args: Any, **kwargs: Any) -> Any:
            layers = self.places.layers
            if not layers:
                self._new_step()
                self._follow_kernels()
            layers.append(module)
            try:
                result = original(module, *args, **kwargs)
                self._returned(module, result)
                return result
            finally:
                layers.pop()

        return __call__

    def _follow_kernels(self) -> None:
        """Note which kernels of Triton are launched, once it was imported."""
        if self.follows_kernels or "triton.runtime" not in sys.modules:
            return
        self.follows_kernels = True
        kernel = private_parts.take("triton.runtime.jit.JITFunction")
        if kernel is None:
            return

        def watched(original: Any) -> Any:
            def run(kernel: Any, *args: Any, **kwargs: Any) -> Any:
                if not kwargs.get("warmup", False):
                    self.launched(kernel)
                return original(kernel, *args, **kwargs)

            return run

        self._put(kernel, "run", watched)

    def _follow_graphs(self) -> None:
        """Know which graphs of a device are captured, by any thread, and count their replays."""
        for kind in self.captures.graphs:
            self._put(kind, "capture_begin", self.captures.began)
            self._put(kind, "capture_end", self.captures.ended)
            self._put(kind, "replay", lambda original: replayed(original, self.note))

    def launched(self, kernel: Any) -> None:
        """Note that a kernel of Triton runs."""

    def _run_eagerly(self) -> None:
        """Have compiled functions run as they are written: what is compiled calls nothing."""
        set_stance = getattr(getattr(self.torch, "compiler", None), "set_stance", None)
        compile_ = self.torch.compile
        eager = False

        def force() -> None:
            nonlocal eager
            self.report.notes.setdefault(_COMPILED, 0)
            if set_stance is not None and not eager:
                eager = True
                set_stance("force_eager")
                self.undo.append(lambda: set_stance("default"))

        def suanzi_compile(*args: Any, **kwargs: Any) -> Any:
            found = compile_(*args, **kwargs)
            force()
            return found

        if "torch._dynamo" in sys.modules:
            force()
            del self.report.notes[_COMPILED]
        self.torch.compile = suanzi_compile

        def back() -> None:
            self.torch.compile = compile_

        self.undo.append(back)

    def forked(self) -> None:
        """Note that a process was started that is not judged."""
        if self.active:
            self.note("forked processes are not judged")

    def note(self, words: str) -> None:
        """Count something that the report has to say."""
        self.report.notes[words] = self.report.notes.get(words, 0) + 1


_WATCHERS: weakref.WeakSet[Hooks] = weakref.WeakSet()


@cache
def _follow_forks() -> None:
    def forked() -> None:
        for watcher in list(_WATCHERS):
            watcher.forked()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_parent=forked)
