"""Operators under limits of memory: `limited_call.py "cold", "warm" or "full" n rooms names`.

Each call, with each room of so many MiB beyond what the process has, is made in a child of a fork,
so that all begin with the same memory. A line for each: the name, the room, and an outcome or what
ended the child. Warm, the operators were called before, with smaller tensors; full, too, and the
room is what the process has given back of all its memory, with nothing left but that.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

SECONDS = 20  # a call that takes so long hangs


def wait_for_threads() -> None:
    """Wait until the threads that a fork has started have begun, and sleep.

    SciPy 1.18 starts those of its transforms anew in every child. One that begins where there is no
    memory for its thread-local data is ended by glibc, with 127 and the process: not by a call.
    """
    end, still = time.monotonic() + SECONDS, 0
    while still < 3 and time.monotonic() < end:
        states = [
            (task / "stat").read_text().rpartition(")")[2].split()[0]
            for task in Path("/proc/self/task").iterdir()
            if task.name != str(os.getpid())
        ]
        still = still + 1 if set(states) <= {"S"} else 0
        time.sleep(0.001)


def fill(room: float) -> None:
    """Take all memory that the limit leaves; give some back to malloc, and none to the system."""
    libc = ctypes.CDLL(None)
    libc.mallopt(-3, 2**30)  # M_MMAP_THRESHOLD: what is freed stays in the heap
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    taken = []
    for size in (2**22, 2**20, 2**17, 2**15, 2**13):
        while place := libc.malloc(size):
            taken.append((size, place))
    for size, place in taken:
        if room > 0:
            libc.free(place)
            room -= size / 2**20


def outcome(name: str, arguments: dict[str, Any], room: float, full: bool = False) -> str:
    """Return what a call gives with so little room, seen from a child."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        said = "an end without a word"
        try:
            import suanzi as sz
            from suanzi.promote.registry import function

            if full:
                wait_for_threads()
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            used = pages * resource.getpagesize()
            limit = used + int(room * 2**20) + full * 2**18
            resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
            if full:
                fill(room)
            try:
                function(name)(**arguments)
                said = "gives"
            except sz.AllocFailed:
                said = "no memory"
            except sz.StatusError as error:
                said = error.status.name
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, said.encode())
        if os.environ.get(
            "SUANZI_COUNTS_LINES"
        ):  # which are written where a process ends by itself
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            sys.exit()
        os._exit(0)
    os.close(write)
    end = time.monotonic() + SECONDS
    while (done := os.waitpid(child, os.WNOHANG))[0] == 0:
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(read)
            return "hangs"
        time.sleep(0.002)
    said = os.read(read, 4000).decode()
    os.close(read)
    code = os.waitstatus_to_exitcode(done[1])
    return f"dies: {code}" if code else said


def main() -> None:
    """Try the rooms and operators that were given."""
    temperature, n, rooms, names = sys.argv[1:]
    from helpers.memory_cases import regular
    from helpers.model_memory_cases import model_calls
    from suanzi.promote.registry import function

    def made(size: int) -> dict[str, dict[str, Any]]:
        return {**regular(size), **model_calls(size)}

    if temperature != "cold":
        # Products of 3 x 3 matrices need no BLAS, and those of 70 x 70 load it.
        for smaller in (3, 70)[: 1 + (int(n) > 70)]:
            before = made(smaller)
            for name in names.split(","):
                function(name)(**before[name])
    else:
        # NumPy is loaded by any of them, and is not suanzi's to load.
        import numpy  # noqa: F401
    arguments = made(int(n))
    for name in names.split(","):
        for room in rooms.split(","):
            said = outcome(name, arguments[name], float(room), temperature == "full")
            print(name, room, said.replace("\n", " "), sep="\t", flush=True)


if __name__ == "__main__":
    main()
