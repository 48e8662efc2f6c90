"""What the benchmarks share: calls that take turns, a row per case, their command line.

    python benchmarks/<file>.py                          # everything, on one thread and on all
    python benchmarks/<file>.py small large              # some groups
    python benchmarks/<file>.py --threads 1 --cpu        # the processor's time: for a busy machine
    python benchmarks/<file>.py --seconds 0.05           # how long each call is tried, at most
    python benchmarks/<file>.py --cases 'f32|f64'        # those in which this is found
    python benchmarks/<file>.py --json rows.json         # what was measured, for a program

`all.py` runs all of them.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import os
import re
import threading
import time
import timeit
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import suanzi as sz

torch: Any = None
if importlib.util.find_spec("torch"):
    import torch

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""A function, what it is called with, and its keywords."""


Group = Callable[["Table", int], None]
"""Measures some cases with a number of threads."""

WITHOUT_ROWS = ("memory", "import")
"""Groups that print a line instead of rows, and have nothing for a file."""


class Table:
    """Prints a row per case, and keeps what was measured and what missed its target."""

    def __init__(
        self,
        peers: tuple[str, ...] = ("NumPy", "PyTorch"),
        seconds: float = float("inf"),
        clock: Callable[[], float] = time.perf_counter,
        cases: str = "",
    ) -> None:
        self.missed: list[str] = []
        self.rows: list[dict[str, Any]] = []
        self.group = ""
        self.peers = peers
        self.seconds = seconds
        self.clock = clock
        self.cases = re.compile(cases)

    def title(self, text: str, targets: str) -> None:
        """Start a group."""
        print(f"\n{text}; at least {targets}")
        peers = "".join(f"{peer:>12}" for peer in self.peers)
        print(f"  {'case':34}{'suanzi':>12}{peers}  ratios")

    def row(
        self,
        case: str,
        calls: dict[str, Call],
        *,
        numpy: float | None = None,
        scipy: float | None = None,
        torch: float | None = None,
        faster: float | None = None,
        moved: int = 0,
        copy: float = 0,
        against: str = "a copy",
        unit: float = 1e6,
        rounds: float = 0.4,
    ) -> None:
        """Measure and print a case; the keywords are the ratios asked for."""
        if not self.cases.search(case):
            return
        times = best(calls, min(rounds, self.seconds), self.clock)
        ours = times["suanzi"]
        ratios = {name: t / ours for name, t in times.items() if name != "suanzi"}
        least = min(ratios.values(), default=float("inf"))
        share = moved / ours / copy if copy else 0.0
        good = all(
            wanted is None or name not in ratios or ratios[name] >= wanted
            for name, wanted in (("NumPy", numpy), ("SciPy", scipy), ("PyTorch", torch))
        ) and (faster is None or least >= faster or share >= 0.9)
        cells = "".join(
            f"{times[n] * unit:12.2f}" if n in times else f"{'-':>12}"
            for n in ("suanzi", *self.peers)
        )
        shown = "  ".join(f"{n} {r:.2f}" for n, r in ratios.items())
        shown += f"  {share:.0%} of {against}" if copy else ""
        print(f"  {case:34}{cells}  {shown}{'' if good else '   below'}", flush=True)
        row: dict[str, Any] = {"group": self.group, "threads": sz.get_num_threads(), "case": case}
        row["ns"] = {name: round(t * 1e9, 1) for name, t in times.items()}
        if copy:
            row["share"] = round(share, 3)
        self.rows.append(row)
        if not good:
            self.missed.append(f"{case}: {shown}")

    def summary(self) -> None:
        """Print what missed its target."""
        print(f"\n{len(self.missed)} below what is asked for")
        for line in self.missed:
            print(f"  {line}")


def timer(call: Call, clock: Callable[[], float] = time.perf_counter) -> timeit.Timer:
    """Return a timer that calls a function as a user writes it, with nothing in between."""
    function, arguments, keywords = call
    names = {f"x{i}": x for i, x in enumerate(arguments)}
    written = ", ".join([*names, *(f"{k}={k}" for k in keywords)])
    scope = {"f": function, **names, **keywords}
    return timeit.Timer(f"f({written})", timer=clock, globals=scope)


def others_compute() -> bool:
    """Return whether a thread of this process besides this one has a processor, or wants one."""
    tasks = Path("/proc/self/task")
    if not tasks.exists():  # a system other than Linux
        used = time.process_time()
        time.sleep(0.02)
        return time.process_time() - used > 0.002
    for task in tasks.iterdir():
        if task.name != str(threading.get_native_id()):
            try:
                state = (task / "stat").read_bytes().rpartition(b") ")[2][:1]
            except OSError:  # it has ended
                continue
            if state == b"R":
                return True
    return False


def wait_for_quiet(most: float = 0.5) -> None:
    """Wait until no other thread of this process computes, or for so many seconds.

    Those of PyTorch and of OpenBLAS wait busily for more work, for 10 to 150 ms, and would take the
    processors from who comes next. The processor's time of the process says nothing of it: the
    system adds up that of other threads every few milliseconds.
    """
    end = time.perf_counter() + most
    while others_compute() and time.perf_counter() < end:
        time.sleep(0.001)


def best(
    calls: dict[str, Call], seconds: float, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Return the best time of each call in seconds; they take turns.

    On several threads each turn begins with a call that is not counted: those of the library that
    is measured are awake then, and those of the others asleep. A peer that takes more than a
    second, and five times as long as suanzi, is called once.
    """
    shared = sz.get_num_threads() > 1 and len(calls) > 1
    turn = 2e-3 if shared else 2e-4
    found = dict.fromkeys(calls, float("inf"))
    timers = {name: timer(call, clock) for name, call in calls.items()}
    for name, one in list(timers.items()):
        found[name] = one.timeit(1)
        if name != "suanzi" and found[name] > max(1, 5 * found.get("suanzi", float("inf"))):
            del timers[name]  # a peer without a kernel of its own: once is enough
            continue
        found[name] = max(one.timeit(1), 1e-9)
    least = 3 if sum(found[name] for name in timers) > 0.2 else 5
    end, rounds = time.perf_counter() + seconds * len(timers), 0
    while rounds < least or time.perf_counter() < end:
        rounds += 1
        for name, one in timers.items():
            if shared:
                wait_for_quiet()
            if shared and found[name] < turn:
                one.timeit(1)
            count = max(1, int(turn / found[name]))
            time_taken = one.timeit(count) / count
            if time_taken > 0:  # the processor's clock stands still now and then
                found[name] = min(found[name], time_taken)
    return found


@functools.lru_cache(maxsize=4)
def make(dtype: str, n: int, low: float = 1, high: float = 100) -> sz.Tensor:
    """Return a tensor of numbers in a range."""
    rng = np.random.default_rng(n)
    values = rng.uniform(low, high, n)
    return sz.cast(sz.tensor(values), sz.dtype(dtype))


def array(x: sz.Tensor) -> Any:
    """Return the elements as an array of NumPy's own memory."""
    return x.numpy().copy()


def tensor(x: sz.Tensor) -> Any:
    """Return the elements as a PyTorch tensor of its own memory."""
    return torch.from_dlpack(x).clone()


def settings(which: str) -> Iterator[int]:
    """Set and yield the numbers of threads to measure with: 1, all, both, or a number."""
    every = os.cpu_count() or 1
    for count in {"all": [every], "both": [1, every]}.get(which) or [int(which)]:
        sz.set_num_threads(count)
        if torch is not None:
            torch.set_num_threads(count)
        yield count


def header() -> str:
    """Return what is compared, in words."""
    peer = f"PyTorch {torch.__version__}" if torch is not None else "no PyTorch (install torch)"
    return f"suanzi {sz.__version__} ({sz._core.level()}), NumPy {np.__version__}, {peer}"


def command_line(doc: str | None, groups: Mapping[str, Any]) -> argparse.ArgumentParser:
    """Return what reads the command line that all benchmarks share."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("groups", nargs="*", metavar="group", help=f"of {', '.join(groups)}")
    parser.add_argument("--without", action="append", default=[], metavar="group")
    parser.add_argument("--threads", default="both", help="1, all, both (the default) or a number")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of a call, at most")
    parser.add_argument("--cpu", action="store_true", help="measure the processor's time")
    parser.add_argument("--cases", default="", help="a regular expression that is found in each")
    parser.add_argument("--json", type=Path, help="write the rows to a file")
    return parser


def main(
    doc: str | None,
    groups: Mapping[str, Group],
    *,
    once: tuple[str, ...] = ("small", *WITHOUT_ROWS),
    peers: tuple[str, ...] = ("NumPy", "PyTorch"),
) -> None:
    """Measure the groups that are asked for.

    Those of `once` use no threads: the first number of them will do, and for a file only one.
    """
    parser = command_line(doc, groups)
    chosen = parser.parse_args()
    unknown = {*chosen.groups, *chosen.without} - set(groups)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: there are {', '.join(groups)}")
    clock = time.process_time if chosen.cpu else time.perf_counter
    table = Table(peers, chosen.seconds, clock, chosen.cases)
    print(header())
    wanted = set(chosen.groups or groups) - {*chosen.without, *(WITHOUT_ROWS * bool(chosen.json))}
    first = True
    for count in settings(chosen.threads):
        print(f"\n==== {count} thread{'s' * (count > 1)} ====")
        for name, group in groups.items():
            again = not first or (count > 1 and chosen.json)
            if name in wanted and not (again and name in once):
                table.group = name
                group(table, count)
        first = False
    table.summary()
    if chosen.json:
        chosen.json.write_text(json.dumps(table.rows), "utf-8")
