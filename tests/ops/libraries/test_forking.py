"""A fork while another thread imports: the child must not wait for locks that nobody holds."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from suanzi.base import forking

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

# Forks as soon as another thread is inside an import that `first` began; the child runs it, too.
PROGRAM = """
import os, sys, threading, time
import suanzi as sz
a = sz.zeros((300, 300))
def first():
    {}
loaded = set(sys.modules)
thread = threading.Thread(target=first)
thread.start()
while thread.is_alive() and set(sys.modules) == loaded:
    time.sleep(0.0005)
child = os.fork()
if child == 0:
    first()
    os._exit(7)
deadline = time.monotonic() + 60
while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
    time.sleep(0.01)
if ended == (0, 0):
    os.kill(child, 9)
    os.waitpid(child, 0)
thread.join()
print(os.waitstatus_to_exitcode(ended[1]) if ended[0] else "hung")
"""
FIRST = {
    "a product": "a @ a",
    "an inverse": "sz.inverse(a + sz.array_api.eye(300))",
    "numpy": "a.numpy()",
    "array_api": "sz.array_api.asarray([1.0])",
    "conformance": "sz.conformance.__name__",
    "sparse": "sz.to_sparse(a).to_scipy()",
}


@pytest.mark.parametrize("name", FIRST)
def test_the_child_of_a_fork_during_an_import_ends(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM.format(FIRST[name])],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert done.stdout == "7\n", done.stderr


def test_what_is_waited_for(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Imports that suanzi began in other threads, not those of others, nor of this thread."""
    inside, go_on = threading.Event(), threading.Event()

    def waiting() -> None:
        inside.set()
        go_on.wait(30)

    def is_waiting(name: str, importing: str) -> bool:
        """Tell whether a thread in a module `name` that imports another is waited for."""
        inside.clear()
        go_on.clear()
        code = compile("def _find_and_load(name):\n    waiting()", BOOTSTRAP, "exec")
        scope: dict[str, object] = {"waiting": waiting, "__name__": "importlib._bootstrap"}
        exec(code, scope)
        caller: dict[str, object] = {"find": scope["_find_and_load"], "__name__": name}
        exec(f"def begin():\n    find({importing!r})", caller)
        thread = threading.Thread(target=caller["begin"])  # type: ignore[arg-type]
        thread.start()
        inside.wait(30)
        before = time.monotonic()
        forking.wait_for_imports()
        waited = time.monotonic() - before >= 0.2
        go_on.set()
        thread.join()
        return waited

    monkeypatch.setattr(forking, "_LONGEST", 0.2)
    assert is_waiting("suanzi.ops", "scipy.linalg")
    assert is_waiting("__main__", "suanzi.ops.libraries.providers")
    assert not is_waiting("__main__", "scipy.linalg")
    assert not is_waiting("suanzi_of_others", "scipy.linalg")


BOOTSTRAP = "<frozen importlib._bootstrap>"
