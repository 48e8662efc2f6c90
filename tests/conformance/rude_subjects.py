"""Subjects with bad manners, that add and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

# The worker's own module: suanzi and NumPy would be most of the time that a start takes.
from wire import Data  # type: ignore[import-not-found]


class Bytes:
    """A tensor of int8."""

    def __init__(self, shape: tuple[int, ...], raw: bytes) -> None:
        self.dtype, self.shape, self.raw = "int8", shape, raw


class Whole:
    """The well-mannered one."""

    name = "rude"

    def create(self, data: Any) -> Any:
        return Bytes(data.shape, data.raw)

    def read(self, x: Any) -> Any:
        return Data(x.dtype, x.shape, x.raw)

    def call(self, op: str, arguments: dict[str, Any]) -> Any:
        self.misbehave()
        x, y = arguments["x"], arguments["y"]
        sums = bytes((a + b) % 256 for a, b in zip(x.raw, y.raw, strict=True))
        return Bytes(x.shape, sums)

    def status(self, error: Exception) -> Any:
        return None

    def misbehave(self) -> None:
        pass


class Reads(Whole):
    def misbehave(self) -> None:
        assert os.read(0, 10) == b""
        assert sys.stdin.readline() == ""


class Forks(Whole):
    def misbehave(self) -> None:
        os.fork()


class Shouts(Whole):
    def misbehave(self) -> None:
        print("x" * 2_000_000)
        print("x" * 2_000_000, file=sys.stderr)


class Scatters(Whole):
    """Writes to descriptors that it takes for its own, and closes them."""

    def misbehave(self) -> None:
        for number in range(3, 20):
            try:
                os.write(number, b"garbage\n")
            except OSError:
                continue
        os.closerange(3, 20)


class Moves(Whole):
    def misbehave(self) -> None:
        os.chdir("/")


class Chatters(Whole):
    def __init__(self) -> None:
        print('{"hello": {}}', flush=True)


class Odd(Whole):
    name = 7  # type: ignore[assignment]
    mapping = {"add": print}  # noqa: RUF012

    def read(self, x: Any) -> Any:
        import numpy as np

        return Data(x.dtype, [np.int64(n) for n in x.shape], memoryview(x.raw))


class LeavesAChild(Whole):
    def misbehave(self) -> None:
        if os.fork() == 0:
            time.sleep(100)
        os._exit(5)


class StartsAnother(Whole):
    def misbehave(self) -> None:
        other = subprocess.Popen(["sleep", "100"])
        Path(os.environ["RUDE_PID"]).write_text(str(other.pid))


class NeverEnds(Whole):
    def misbehave(self) -> None:
        Path(os.environ["RUDE_PID"]).touch()
        while True:
            pass


class StartsOnce(Whole):
    def __init__(self) -> None:
        if os.path.exists(os.environ["RUDE_ONCE"]):
            raise RuntimeError("the device is gone")
        Path(os.environ["RUDE_ONCE"]).touch()

    def misbehave(self) -> None:
        os.abort()


class Refuses(Whole):
    def misbehave(self) -> None:
        raise ValueError("no")


class StatusRaises(Refuses):
    def status(self, error: Exception) -> Any:
        raise KeyError("which")


class StatusIsNoName(Refuses):
    def status(self, error: Exception) -> Any:
        return 7


class HasNoStatus(Refuses):
    status = None  # type: ignore[assignment]


class SaysTooMuch(Whole):
    def misbehave(self) -> None:
        raise ValueError("w" * 10_000_000)


class ReadsAnArray(Whole):
    def read(self, x: Any) -> Any:
        import numpy as np

        return np.frombuffer(x.raw, x.dtype)


class ReadsNoName(Whole):
    def read(self, x: Any) -> Any:
        return Data(type, x.shape, x.raw)


class GivesAGenerator(Whole):
    def call(self, op: str, arguments: dict[str, Any]) -> Any:
        return (x for x in arguments.values())


class HasNothing:
    name = "nothing"


class ListsWhatIsMissing(Whole):
    missing = ["add"]  # noqa: RUF012


def _to_the_kit(text: bytes) -> None:
    """Write where only answers are to stand."""
    for stream in map(int, os.listdir("/proc/self/fd")):
        try:
            found = os.readlink(f"/proc/self/fd/{stream}")
        except OSError:
            continue
        if found.startswith("pipe:"):
            try:
                os.write(stream, text)
            except OSError:  # the end that is read
                continue


class WritesGarbage(Whole):
    def misbehave(self) -> None:
        _to_the_kit(b"garbage\n")


class AnswersTwice(Whole):
    def misbehave(self) -> None:
        _to_the_kit(json.dumps({"id": 0, "status": "SUCCESS", "outputs": []}).encode() + b"\n")
        raise ValueError("the right one")


class Answers(Whole):
    """Says what the environment has, in the place of an answer."""

    def misbehave(self) -> None:
        said = os.environ["RUDE_ANSWER"]
        deep = "[" * 200_000 + "]" * 200_000
        _to_the_kit(said.replace("DEEP", deep).encode() + b"\n")
        time.sleep(100)


class StartsWithEscapes(Whole):
    def __init__(self) -> None:
        raise RuntimeError("\x1b[2J\x1b]0;title\x07all passed\nsuanzi: 0 failed\u202e")
