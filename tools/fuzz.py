"""Random calls of every operator, in processes of their own: an answer or a status, never else.

Every operator, dtype, layout, rule set and form (Python's, its symbols, the standard's, sparse,
quantised), with arguments of every kind. Each answer is compared with itself (row-major copies,
other threads, other instruction-set levels, parts, the other form) and with NumPy, and now and then
cases of the kit are made of fresh values, whose truth is exact. A call is made of the seed and its
number alone, so that `--only NUMBER` makes it again. What is found is made as simple as it can be
and printed as Python to paste.

    python tools/fuzz.py --seconds 300 --processes 16
    python tools/fuzz.py --seed 7 --only 12345          # one call again, here
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
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # there is a process for each core

import suanzi as sz
from fuzzing.judging import Finding, verdict
from fuzzing.making import NAMES, call_of
from fuzzing.shrinking import as_python, in_child, shrunk

HANG = 60
"""Seconds after which a call counts as hanging."""
ROOM = 3 << 30
"""Bytes that a process may take beyond what it begins with."""
TRUTH_EVERY = 50
"""Calls between two rounds of exact truth."""
OUTCOMES = ("gives", *sorted(s.name for s in sz.Status), "TypeError", "truth")
_HEAD = struct.Struct("qd")  # the number of the call under way, and when it began


@dataclass
class Worker:
    """A process that makes calls, and what it says."""

    first: int
    step: int
    pid: int = 0
    pipe: int = -1
    shared: mmap.mmap = field(default_factory=lambda: mmap.mmap(-1, 4096))
    rest: bytes = b""

    def counts(self) -> list[int]:
        """Return how often each outcome was seen."""
        return list(struct.unpack_from(f"{len(OUTCOMES)}q", self.shared, _HEAD.size))

    def where(self) -> tuple[int, float]:
        """Return the number of the call under way and when it began."""
        index, began = _HEAD.unpack_from(self.shared, 0)
        return index, began


def main(words: list[str] | None = None) -> int:
    """Run until the time or the calls are used up; 1 if something was found."""
    args = _arguments(words)
    names = tuple(args.ops.split(",")) if args.ops else NAMES
    unknown = set(names) - set(NAMES)
    if unknown:
        sys.exit(f"no operator of this program: {', '.join(sorted(unknown))}")
    if args.only is not None:
        return _again(args.seed, args.only, names)
    run = Run(args, names)
    try:
        run.go()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    finally:
        run.end()
    return run.report()


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60, help="how long (default: 60)")
    parser.add_argument("--calls", type=int, default=1 << 62, help="how many calls at most")
    parser.add_argument("--processes", type=int, default=1, help="how many processes")
    parser.add_argument("--seed", type=int, default=0, help="other seeds make other calls")
    parser.add_argument("--ops", default="", help="operators, with commas between; all by default")
    parser.add_argument(
        "--only", type=int, help="make the call of this number again, and shrink it"
    )
    parser.add_argument("--findings", type=int, default=20, help="stop after so many")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    return parser.parse_args(words)


def _again(seed: int, index: int, names: tuple[str, ...]) -> int:
    call = call_of(seed, index, names)
    found = in_child(call, HANG)
    print(f"# call {index} of seed {seed}: {_said(found)}")
    if isinstance(found, Finding):
        call = shrunk(call, found.kind)
    print(as_python(call))
    return int(isinstance(found, Finding))


def _said(found: str | Finding) -> str:
    return f"{found.kind}: {found.said}" if isinstance(found, Finding) else found


# ---- the process that makes calls ----------------------------------------------------------------


def _work(worker: Worker, write: int, seed: int, names: tuple[str, ...], calls: int) -> None:
    from fuzzing import truth

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sz.set_num_threads(2)
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if _linux() else 0
    if pages:
        most = pages * resource.getpagesize() + ROOM
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    places = {name: _HEAD.size + 8 * i for i, name in enumerate(OUTCOMES)}

    def count(name: str, n: int = 1) -> None:
        (before,) = struct.unpack_from("q", worker.shared, places[name])
        struct.pack_into("q", worker.shared, places[name], before + n)

    def tell(index: int, found: Finding) -> None:
        line = json.dumps([index, found.kind, found.said]) + "\n"
        os.write(write, line.encode())

    index = worker.first
    while index < calls:
        _HEAD.pack_into(worker.shared, 0, index, time.time())
        if index % TRUTH_EVERY == TRUTH_EVERY - 1:
            n, wrong = truth.tried(seed, index, names)
            count("truth", n)
            for found in wrong:
                tell(index, found)
        else:
            said = verdict(call_of(seed, index, names))
            if isinstance(said, Finding):
                tell(index, said)
            else:
                count(said)
        index += worker.step
    _HEAD.pack_into(worker.shared, 0, index, time.time())


def _linux() -> bool:
    return sys.platform == "linux"


# ---- the process that watches -------------------------------------------------------------------


class Run:
    """All processes of a run, and what they found."""

    def __init__(self, args: argparse.Namespace, names: tuple[str, ...]) -> None:
        self.args, self.names = args, names
        self.workers: list[Worker] = []
        self.findings: list[tuple[int, Finding]] = []
        self.began = time.monotonic()
        self.ended = 0.0

    def go(self) -> None:
        """Start the processes and watch them until the end."""
        args = self.args
        self.workers = [Worker(i, args.processes) for i in range(args.processes)]
        for worker in self.workers:
            self._start(worker)
        shown = 0.0
        while any(worker.pid for worker in self.workers):
            time.sleep(0.05)
            for worker in self.workers:
                self._watch(worker)
            spent = time.monotonic() - self.began
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
            found.update(dict(zip(OUTCOMES, worker.counts(), strict=True)))
        found.update(f"finding: {f.kind}" for _, f in self.findings)
        return found

    def report(self) -> int:
        """Print what was seen; what was found as Python."""
        seen: set[tuple[str, str]] = set()
        for index, found in self.findings:
            print(f"\n# call {index} of seed {self.args.seed}: {_said(found)}")
            if found.kind == "truth":
                print(f"# suanzi check --case {found.said.split(': ')[0]}")
                continue
            call = call_of(self.args.seed, index, self.names)
            if (call.op, found.kind) in seen:
                print(f"# sz.{call.op} again")
                continue
            seen.add((call.op, found.kind))
            print(as_python(shrunk(call, found.kind)))
        total = self.total()
        calls = sum(total.values())
        print(
            f"\n{calls} calls in {self.ended:.0f} s ({calls / max(self.ended, 0.1):.0f} a second)"
        )
        for name, n in total.most_common():
            if n:
                print(f"{n:12} {name}")
        return int(bool(self.findings))

    def _progress(self, spent: float) -> str:
        total = self.total()
        calls = sum(total.values())
        given, found = total["gives"], len(self.findings)
        return f"{spent:6.0f} s {calls:12} calls {given:12} answers {found} found"

    def _start(self, worker: Worker) -> None:
        read, write = os.pipe()
        os.set_blocking(read, False)
        _HEAD.pack_into(worker.shared, 0, worker.first, time.time())
        pid = os.fork()
        if not pid:
            code = 1
            try:
                os.close(read)
                _work(worker, write, self.args.seed, self.names, self.args.calls)
                code = 0
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(write)
        worker.pid, worker.pipe = pid, read

    def _watch(self, worker: Worker) -> None:
        if not worker.pid:
            return
        self._read(worker)
        done, how = os.waitpid(worker.pid, os.WNOHANG)
        index, began = worker.where()
        if not done:
            if time.time() - began < HANG:
                return
            os.kill(worker.pid, signal.SIGKILL)
            os.waitpid(worker.pid, 0)
            found = Finding("hang", f"no answer after {HANG} seconds")
        else:
            code = os.waitstatus_to_exitcode(how)
            self._read(worker)
            if code == 0:
                worker.pid = 0
                os.close(worker.pipe)
                return
            said = signal.Signals(-code).name if code < 0 else f"exit {code}"
            found = Finding("crash", said)
        os.close(worker.pipe)
        self.findings.append((index, found))
        worker.first, worker.rest = index + worker.step, b""
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
            index, kind, said = json.loads(line)
            self.findings.append((index, Finding(kind, said)))


if __name__ == "__main__":
    sys.exit(main())
