"""--watch: what failed runs again when the file changes; a broken file, and Ctrl-C, are no end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue

import pytest

from suanzi.front.cli import main

CHIP = """
import numpy as np
from suanzi.conformance import Data

class Adapter:
    name = "chip"
    rules = "strict"
    missing = {}
    def create(self, data):
        return np.frombuffer(data.raw, data.dtype).reshape(data.shape)
    def read(self, x):
        return Data(str(x.dtype), x.shape, x.tobytes())
    def call(self, op, arguments):
        return {CALL}
"""
RIGHT = 'arguments["x"] + arguments["y"]'
WRONG = 'arguments["x"] - arguments["y"]'


class Watched:
    """The command, and what it prints."""

    def __init__(self, folder: Path, *more: str) -> None:
        command = [
            sys.executable, "-m", "suanzi", "check", "--backend", "chip:Adapter", "--watch",
            "--op", "add", "--dtype", "int32", "--group", "plain,special", *more,
        ]  # fmt: skip
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"}, start_new_session=True,
        )  # fmt: skip
        self.lines: Queue[str] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def until(self, words: str) -> str:
        said = ""
        while words not in said:
            try:
                said += self.lines.get(timeout=120)
            except Empty:
                raise AssertionError(f"no {words!r} in {said!r}") from None
        return said


def write(folder: Path, call: str) -> None:
    (folder / "chip.py").write_text(CHIP.replace("{CALL}", call), "utf-8")


def test_what_failed_runs_again(tmp_path: Path) -> None:
    write(tmp_path, WRONG)
    watched = Watched(tmp_path)
    try:
        said = watched.until("Ctrl-C ends this.")
        assert "add(" in said
        assert "failed: a change reruns them. Watching chip.py" in said
        write(tmp_path, "syntax error")
        assert "Waiting for the next change" in watched.until("Ctrl-C ends this.")
        write(tmp_path, RIGHT)
        said = watched.until("Ctrl-C ends this.")
        assert "All failed cases pass now: the next change reruns everything" in said
        assert "only cases add/plain/int32/" in said
        write(tmp_path, RIGHT + "  ")
        said = watched.until("Ctrl-C ends this.")
        assert "No failures: a change reruns everything" in said
        assert "only cases" not in said
        watched.process.send_signal(signal.SIGINT)
        assert watched.process.wait(30) == 0
    finally:
        watched.end()


def test_only_a_file_of_ones_own_can_be_watched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--backend", "numpy", "--watch"]) == 2
    assert "numpy has no file to watch" in capsys.readouterr().err
    assert main(["check", "--backend", "no_such:Adapter", "--watch"]) == 2
    assert "cannot find the file of module 'no_such'" in capsys.readouterr().err
