"""What is made once for all processes of a test run."""

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")


def once(folders: pytest.TempPathFactory, name: str, make: Callable[[Path], T]) -> T:
    """Return what `make` gives for a folder: the first process calls it, the others wait.

    The result is pickled; files that it made in the folder stay until the end of the run.
    """
    root = folders.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    folder = root / f"once-{name}"
    with open(root / f"once-{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "result.pickle"
        if not done.exists():
            folder.mkdir(exist_ok=True)
            done.write_bytes(pickle.dumps(make(folder)))
        found: T = pickle.loads(done.read_bytes())
    return found
