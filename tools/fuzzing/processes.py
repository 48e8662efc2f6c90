"""Processes that make calls, each with a limit of memory, and the one that watches them.

What they make of a number is a gait's affair: one call that is compared with everything, or two
thousand calls as fast as they go.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import resource
import signal
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from fuzzing.judging import Finding

HANG = 60
"""Seconds after which a call counts as hanging, where no others are given."""
_HEAD = struct.Struct("qq")
"""The number under way, and which call of it."""
_LONGEST = 3000
"""Bytes of a line: less than a pipe writes at once."""


@dataclass(frozen=True)
class Place:
    """Where something was found: a number, and which of its calls."""

    index: int
    call: int = 0


Tell = Callable[[Place, Finding], None]


class Gait(Protocol):
    """How calls are made of a number."""

    counters: tuple[str, ...]
    """What is counted, by name; ``gives`` is among them."""
    room: int
    """Bytes that a process may take beyond what it begins with."""

    def begin(self) -> None:
        """Prepare a process that makes calls."""

    def make(self, index: int, worker: Worker, tell: Tell) -> None:
        """Make the calls of a number."""

    def explained(self, place: Place, found: Finding) -> str:
        """Return a finding as something to paste."""

    def summary(self, total: Counter[str]) -> str:
        """Return the counts as lines."""


@dataclass
class Worker:
    """A process that makes calls, and what it says."""

    first: int
    step: int
    counters: tuple[str, ...]
    pid: int = 0
    pipe: int = -1
    shared: mmap.mmap = field(default_factory=lambda: mmap.mmap(-1, 8192))
    rest: bytes = b""
    seen: tuple[Place, float] = (Place(-1), 0.0)

    def __post_init__(self) -> None:
        self.places = {name: _HEAD.size + 8 * i for i, name in enumerate(self.counters)}
        self.at = memoryview(self.shared).cast("q")

    def counts(self) -> list[int]:
        """Return how often each was counted."""
        return list(struct.unpack_from(f"{len(self.counters)}q", self.shared, _HEAD.size))

    def count(self, name: str, n: int = 1) -> None:
        """Count."""
        self.at[self.places[name] // 8] += n

    def where(self) -> Place:
        """Return the call under way."""
        return Place(self.at[0], self.at[1])

    def stands(self, now: float) -> float:
        """Return for how many seconds the call under way has been the same."""
        place = self.where()
        if place != self.seen[0]:
            self.seen = (place, now)
        return now - self.seen[1]


def limited(room: int) -> None:
    """Limit the memory of this process, and let the watching one answer to the keyboard.

    No room is no limit: a driver of a GPU reserves more addresses than there is memory.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # NumPy has 46 KB for each thread that prints a float, and glibc ends a process that has no
    # memory for what belongs to a thread, with 127. So this one has it before the limit.
    str(np.float64(0.5))
    # AddressSanitizer has a limit of its own, and dies where it gets no memory for itself.
    if room and sys.platform == "linux" and "libasan" not in os.environ.get("LD_PRELOAD", ""):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + room
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Run:
    """All processes of a run, and what they found."""

    def __init__(self, args: argparse.Namespace, gait: Gait) -> None:
        self.args, self.gait = args, gait
        self.workers: list[Worker] = []
        self.findings: list[tuple[Place, Finding]] = []
        self.began = time.monotonic()
        self.ended = 0.0

    def go(self) -> None:
        """Start the processes and watch them until the end."""
        args = self.args
        self.workers = [
            Worker(i, args.processes, self.gait.counters) for i in range(args.processes)
        ]
        for worker in self.workers:
            self._start(worker)
        shown, told = 0.0, 0
        while any(worker.pid for worker in self.workers):
            time.sleep(0.05)
            for worker in self.workers:
                self._watch(worker)
            spent = time.monotonic() - self.began
            for place, found in self.findings[told:]:
                print(said(args.seed, place, found), file=sys.stderr, flush=True)
            told = len(self.findings)
            if not args.quiet and spent - shown >= 5:
                shown = spent
                print(self._progress(spent), file=sys.stderr, flush=True)
            if spent > args.seconds or len(self.findings) >= args.findings:
                return

    def end(self) -> None:
        """End what still runs."""
        self.ended = time.monotonic() - self.began
        for worker in self.workers:
            self._read(worker)
            if worker.pid:
                os.kill(worker.pid, signal.SIGKILL)
                os.waitpid(worker.pid, 0)
                worker.pid = 0

    def total(self) -> Counter[str]:
        """Return how often each outcome was seen."""
        found: Counter[str] = Counter()
        for worker in self.workers:
            found.update(dict(zip(self.gait.counters, worker.counts(), strict=True)))
        found.update(f"finding: {f.kind}" for _, f in self.findings)
        return found

    def report(self) -> int:
        """Print what was found as Python, for two minutes at most, and what was counted."""
        end = time.monotonic() + 120
        for place, found in self.findings:
            print(f"\n# {said(self.args.seed, place, found)}", flush=True)
            if time.monotonic() < end:
                print(self.gait.explained(place, found), flush=True)
        total = self.total()
        calls = sum(n for name, n in total.items() if not name.startswith("sz."))
        rate = calls / max(self.ended, 0.1)
        print(f"\n{calls} calls in {self.ended:.0f} s ({rate:.0f} a second)")
        print(self.gait.summary(total))
        return int(bool(self.findings))

    def _progress(self, spent: float) -> str:
        total = self.total()
        calls = sum(n for name, n in total.items() if not name.startswith("sz."))
        given, found = total["gives"], len(self.findings)
        return f"{spent:6.0f} s {calls:12} calls {given:12} answers {found} found"

    def _start(self, worker: Worker) -> None:
        read, write = os.pipe()
        os.set_blocking(read, False)
        worker.at[0], worker.at[1] = worker.first, 0
        worker.seen = (Place(-1), 0.0)
        pid = os.fork()
        if not pid:
            code = 1
            try:
                os.close(read)
                self._work(worker, write)
                code = 0
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(write)
        worker.pid, worker.pipe = pid, read

    def _work(self, worker: Worker, write: int) -> None:
        def tell(place: Place, found: Finding) -> None:
            line = json.dumps([place.index, place.call, found.kind, found.said])
            os.write(write, line.encode()[:_LONGEST] + b"\n")

        limited(self.gait.room)
        self.gait.begin()
        for index in range(worker.first, self.args.calls, worker.step):
            worker.at[0], worker.at[1] = index, 0
            self.gait.make(index, worker, tell)

    def _watch(self, worker: Worker) -> None:
        if not worker.pid:
            return
        self._read(worker)
        done, how = os.waitpid(worker.pid, os.WNOHANG)
        place = worker.where()
        if not done:
            if worker.stands(time.monotonic()) < self.args.hang:
                return
            os.kill(worker.pid, signal.SIGKILL)
            os.waitpid(worker.pid, 0)
            found = Finding("hang", f"no answer after {self.args.hang:g} seconds")
        else:
            code = os.waitstatus_to_exitcode(how)
            self._read(worker)
            if code == 0:
                worker.pid = 0
                os.close(worker.pipe)
                return
            found = Finding("crash", signal.Signals(-code).name if code < 0 else f"exit {code}")
        os.close(worker.pipe)
        self.findings.append((place, found))
        worker.first, worker.rest = place.index + worker.step, b""
        self._start(worker)

    def _read(self, worker: Worker) -> None:
        if not worker.pid:
            return
        try:
            while some := os.read(worker.pipe, 1 << 16):
                worker.rest += some
        except BlockingIOError:
            pass
        *lines, worker.rest = worker.rest.split(b"\n")
        for line in lines:
            index, call, kind, words = json.loads(line)
            self.findings.append((Place(index, call), Finding(kind, words)))


def said(seed: int, place: Place, found: Finding) -> str:
    """Return a finding in one line."""
    call = f", {place.call} in it" if place.call else ""
    return f"call {place.index} of seed {seed}{call}: {found.kind}: {found.said}"
