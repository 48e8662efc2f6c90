"""What sharing a loop among threads costs: 7.2.4.1 of small, medium and large tensors.

    python benchmarks/threads.py            # 1, 2, 4, ... threads, against PyTorch if it is there
    python benchmarks/threads.py --busy     # while every core has other work

The first table calls again and again, so that threads are still awake; the second waits between
calls until they sleep. Times are in microseconds of the clock, the middle of many; a loop is worth
sharing where a column is below the first one. The columns of PyTorch begin with t.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from measuring import torch

import suanzi as sz

SIZES = (1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 22, 1 << 24)
PAUSE = 0.003


def counts() -> list[int]:
    """Return 1, 2, 4, ... and the number of cores."""
    every = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return sorted({*(2**i for i in range(every.bit_length()) if 2**i <= every), every})


def middle(call: Callable[[], Any], pause: float) -> float:
    """Return the median time of a call in microseconds."""
    for _ in range(20):
        call()
    found, end = [], time.perf_counter() + 0.25
    while len(found) < 20 or (time.perf_counter() < end and len(found) < 2000):
        if pause:
            time.sleep(pause)
        begin = time.perf_counter()
        call()
        found.append(time.perf_counter() - begin)
    return statistics.median(found) * 1e6


def table(title: str, pause: float) -> None:
    """Print the times of x + y by size and number of threads."""
    threads = counts()
    peers = [f"t{n}" for n in threads] if torch is not None else []
    print(f"\n{title}\n{'float32 elements':>16}", *(f"{n:>9}" for n in [*threads, *peers]))
    for size in SIZES:
        x, y = np.ones(size, np.float32), np.ones(size, np.float32)
        ours, times = (sz.tensor(x), sz.tensor(y)), []
        for count in threads:
            sz.set_num_threads(count)
            times.append(middle(lambda ours=ours: sz.add(*ours), pause))
        if torch is not None:
            theirs = (torch.from_numpy(x), torch.from_numpy(y))
            for count in threads:
                torch.set_num_threads(count)
                times.append(middle(lambda theirs=theirs: torch.add(*theirs), pause))
        print(f"{size:16}", *(f"{t:9.1f}" for t in times), flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--busy", action="store_true", help="while every core has other work")
    others: list[subprocess.Popen[bytes]] = []
    if parser.parse_args().busy:
        work = [sys.executable, "-c", "while True: pass"]
        others = [subprocess.Popen(work) for _ in range(counts()[-1])]
    try:
        table("call after call", 0)
        table("after a pause", PAUSE)
    finally:
        for other in others:
            other.kill()


if __name__ == "__main__":
    main()
