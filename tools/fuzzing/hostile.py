"""Files that others made: each is read, or refused by a status, soon, within bounded memory.

A number is a valid file that was changed as `mutations` does it. Nothing that is read may be
executed, end the process, hang, take far more memory than the file, or raise another error.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

import suanzi as sz
from fuzzing import mutations
from fuzzing.judging import Finding
from fuzzing.processes import Place, Tell, Worker
from suanzi.conformance.check import check
from suanzi.conformance.reports import json as report_json
from suanzi.conformance.submission import submit, verify
from suanzi.port.replay.kept import read_kept
from suanzi.validate.blame.comparing import compare as compare_runs
from suanzi.validate.blame.runs import read_run

LATE = 20.0
"""Seconds that a file may take; a hundred times what it takes on a quiet machine."""
_ROOM = 512 << 20
"""Bytes that reading a small file may take."""
_LONGEST, _LONGEST_ANSWER = 20_000, 200_000
"""Characters of an error, and of an answer over MCP: what is wrong is not repeated whole."""
_TESTS = Path(__file__).parents[2] / "tests"
_MSPROBE = _TESTS / "data" / "msprobe" / "dump.json"


class Kind(NamedTuple):
    """A kind of file: its name, how a valid one is made, and how it is read."""

    file: str
    make: Callable[[Path], Any]
    read: Callable[[Path], Any]


def _tensors() -> dict[str, sz.Tensor]:
    return {
        "a": sz.tensor([[1.0, 2.0], [3.0, 4.0]]), "b": sz.tensor([True, False]),
        "c": sz.tensor(list(range(50)), sz.int8), "d": sz.tensor(7, sz.bfloat16),
    }  # fmt: skip


CALLS: list[Any] = [
    {"format": "suanzi-calls/1", "framework": "torch", "version": "2.13.0",
     "process": {"parent": None, "known": 0}},
    {"call": 0, "op": "ones", "arguments": [None], "named": {"dtype": None}, "result": "float16",
     "where": ["train.py", 3, "step", "__main__"], "forward": "train", "span": [3, 0, 3, 9]},
    {"call": 1, "op": "mul", "arguments": [{"dtype": "float16", "from": 0}, {"dtype": "int64"},
     {"number": "float"}], "result": "float16", "way": "in-place", "symbol": True,
     "where": ["train.py", 4, "step", "__main__"], "autocast": ["cuda", "float16"],
     "backward": True, "layer": "Net.a", "by": ["train.py", 9]},
    {"end": True, "raised": None, "counts": {"0": 3, "1": 7}, "numbers": {"1": [[0.5, 2.0]]},
     "missed": 0, "values": {"1": [[0.0, 1.0, 0, 0, 4, 0, 0]]}},
]  # fmt: skip
LOG = (
    "Operator: aten.mul.Tensor\ncnt: 3, ((T([4, 2], f16), 2.5), {})\n"
    "cnt: 1, ((T([4], i64), 3), {})\n"
)
_HEAD = {"format": "suanzi-blame-run/1", "samples": 4, "framework": "torch", "version": "2",
         "steps": 1}  # fmt: skip


def _lines(records: list[Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in records)


def _of_port(path: Path) -> None:
    """Read what `suanzi port` reads, as a user does."""
    _by_command("port", str(path), "--to", "cann,jax")


def _by_command(*words: str) -> None:
    """Run a command; it ends with a status, and without a traceback."""
    from suanzi.front.cli import main

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = main(list(words))
    if status not in (0, 1, 2) or "Traceback" in said.getvalue():
        raise RuntimeError(f"status {status}: {said.getvalue()[-300:]}")
    if status == 2:
        raise sz.InvalidArgument(said.getvalue()[-300:])


def _evidence(path: Path) -> None:
    with open(os.devnull, "w") as nothing, contextlib.redirect_stderr(nothing):
        submit(path, "suanzi", ops=["squeeze"], dtypes=["int8"], groups=["plain", "status"], jobs=1)


def _report(path: Path) -> None:
    """Write a report without what is the same in every one: a file is changed in one place."""
    run = check("suanzi", ops=["rint"], dtypes=["float32"], groups=["plain", "status"], jobs=1)
    report = report_json.to_data(run)
    report["interfaces"] = [one for one in report["interfaces"] if one["name"] == "rint"]
    mapping = report["subject"]["mapping"]
    report["subject"]["mapping"] = dict(list(mapping.items())[:3])
    report["results"] = report["results"][:6]
    path.write_text(json.dumps(report, allow_nan=False))


def _reports_compared(path: Path) -> None:
    """Compare a report with itself, without the command line, which takes ten times as long."""
    from suanzi.front.cli.check import compare

    with contextlib.redirect_stdout(io.StringIO()):
        compare(str(path), str(path))


def _run(path: Path) -> None:
    """Write a run as `suanzi blame --record` does."""
    tensor = {"dtype": "float32", "shape": [2], "hash": "0123", "rms": 1.0, "max": 2.0, "odd": 0,
              "values": [1.0, "nan"]}  # fmt: skip
    call = {"call": 0, "op": "aten.exp", "random": False, "layer": "a", "file": "t.py", "line": 3,
            "function": "f", "backward": False, "step": 0, "inputs": [tensor],
            "devices": ["cpu"], "outputs": [tensor],
            "judged": {"share": 0.5, "kind": "right", "words": ""}}  # fmt: skip
    records = [_HEAD, *({**call, "call": i} for i in range(5))]
    records += [{"module": "a", "step": 0, "outputs": [tensor]},
                {"end": True, "raised": None, "dropped": 0}]  # fmt: skip
    path.write_bytes(gzip.compress(_lines(records).encode(), 1))


def _compared(path: Path) -> None:
    """Compare a run with itself, as `suanzi blame --against` does."""
    run = read_run(path)
    compare_runs(run, run)


def _kept(path: Path) -> None:
    """Write what `suanzi port --replay` keeps."""
    path.mkdir()
    (path / "tensors.bin").write_bytes(np.arange(6, dtype="f4").tobytes())
    tensor = {"tensor": 0, "dtype": "float32", "shape": [2, 3], "at": 0}
    call = {"call": 0, "op": "exp", "way": None, "args": [{"tensor": 0}], "kwargs": {},
            "results": [0], "where": ["t.py", 3], "backward": False}  # fmt: skip
    (path / "calls.jsonl").write_text(_lines([tensor, call, {"end": True, "dropped": 0}]))


def _request(path: Path) -> None:
    arguments = {"operands": ["int32", "0d:bf16", 2.5], "rules": "torch,cann", "op": "add"}
    path.write_text(json.dumps({
        "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "explain", "arguments": arguments},
    }))  # fmt: skip


@cache
def _client(process: int) -> Any:
    """Return a client of a server that belongs to a process."""
    if str(_TESTS) not in sys.path:
        sys.path.insert(0, str(_TESTS))
    from helpers.mcp_client import Client

    limit = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit[1], limit[1]))  # which the server would inherit
    try:
        return Client()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limit)


def _answered(request: bytes) -> None:
    """Send a request: it has one answer, with its id, and what is no request has none."""
    line = request.replace(b"\n", b" ").replace(b"\r", b" ")
    try:
        given = json.loads(line.decode())
    except (ValueError, RecursionError):
        given = None
    there = given if isinstance(given, dict) else {"id": None, "method": ""}
    is_answer = "method" not in there and {"result", "error"} & there.keys()
    due = bool(line.strip()) and not is_answer and ("id" in there or "method" not in there)
    client = _client(os.getpid())
    found = [client.asked(line, LATE)] if due else []
    found += client.answers(b"", LATE) if due else client.answers(line, LATE)
    if len(found) != due:
        raise RuntimeError(f"{len(found)} answers to {line[:200]!r}")
    if not due or isinstance(found[0], list):
        return
    number = there.get("id")
    if type(number) in (int, str) and len(str(number)) < 300 and found[0]["id"] != number:
        raise RuntimeError(f"the answer has the id {found[0]['id']!r}, not {number!r}")
    if len(json.dumps(found)) > _LONGEST_ANSWER:
        raise RuntimeError(f"an answer of {len(json.dumps(found))} bytes")


KINDS: dict[str, Kind] = {
    "npy": Kind("x.npy", lambda p: sz.npy.save(p, _tensors()["a"]), sz.npy.load),
    "npz": Kind("x.npz", lambda p: sz.npy.save(p, _tensors()), sz.npy.load),
    "numpy": Kind("y.npy", lambda p: np.save(p, np.arange(6.0).reshape(2, 3).T), sz.npy.load),
    "safetensors": Kind(
        "x.safetensors", lambda p: sz.safetensors.save(p, _tensors()), sz.safetensors.load
    ),
    "sz": Kind("x.sz", lambda p: sz.save(p, _tensors()), sz.load),
    "calls": Kind("calls.jsonl", lambda p: p.write_text(_lines(CALLS)), _of_port),
    "log": Kind("log.txt", lambda p: p.write_text(LOG), _of_port),
    "msprobe": Kind("dump.json", lambda p: shutil.copy(_MSPROBE, p), _of_port),
    "run": Kind("run.gz", _run, _compared),
    "kept": Kind("kept", _kept, read_kept),
    "report": Kind("report.json", _report, report_json.read),
    "compare": Kind("r.json", _report, _reports_compared),
    "evidence": Kind("evidence", _evidence, lambda p: verify(p, jobs=1)),
    "mcp": Kind("request.json", _request, lambda p: _answered(p.read_bytes())),
}


class Hostile:
    """Files that were changed, read one after another."""

    counters = ("gives", *sorted(s.name for s in sz.Status), *(f"sz.{kind}" for kind in KINDS))
    room = _ROOM

    def __init__(self, seed: int, names: tuple[str, ...]) -> None:
        self.seed, self.names = seed, names
        mutations.bomb()  # once, before there are processes with a limit
        self.valid = Path(tempfile.mkdtemp(prefix="suanzi-hostile-"))
        for name in names:
            kind = KINDS[name]
            (self.valid / name).mkdir()
            kind.make(self.valid / name / kind.file)
            kind.read(self.valid / name / kind.file)

    def begin(self) -> None:
        """Give a process a folder of its own."""
        self.place = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=self.valid))
        os.chdir(self.place)

    def changed(self, index: int) -> tuple[Kind, Path]:
        """Write the file, or the folder, of a number, and return it."""
        random = Random(f"hostile {self.seed}/{index}")
        name = random.choice(self.names)
        kind = KINDS[name]
        path = self.place / kind.file
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        valid = self.valid / name / kind.file
        if valid.is_dir():
            shutil.copytree(valid, path)
            mutations.of_folder(random, path, mutations.of_name)
        else:
            mutations.put(path, mutations.of_name(random, valid))
        return kind, path

    def make(self, index: int, worker: Worker, tell: Tell) -> None:
        """Read the file of a number."""
        kind, path = self.changed(index)
        worker.count(f"sz.{next(name for name, one in KINDS.items() if one is kind)}")
        begun = time.monotonic()
        how, found = _outcome(kind, path)
        spent = time.monotonic() - begun
        if spent > LATE:
            found = Finding("late", f"{path.name}: {spent:.0f} s")
        elif (self.place / mutations.MARKER).exists():
            found = Finding("executed", f"{path.name} was executed")
            (self.place / mutations.MARKER).rmdir()
        if found is not None:
            tell(Place(index), found)
        else:
            worker.count(how)

    def explained(self, place: Place, found: Finding) -> str:
        """Write the file again and return its path."""
        self.place = self.valid / f"found-{place.index}"
        self.place.mkdir(exist_ok=True)
        _, path = self.changed(place.index)
        return f"# {path}"

    def summary(self, total: Counter[str]) -> str:
        """Return how often each outcome and each kind was seen."""
        return "\n".join(
            f"{n:12} {name.removeprefix('sz.')}" for name, n in total.most_common() if n
        )


def _outcome(kind: Kind, path: Path) -> tuple[str, Finding | None]:
    """Read a file: how that ended, and what must not be."""
    try:
        kind.read(path)
    except sz.StatusError as error:
        status = error.status
        if status is sz.Status.INTERNAL_ERROR or (status is sz.Status.ALLOC_FAILED):
            return "", Finding(status.name.lower(), f"{path.name}: {error}"[:400])
        if len(str(error)) > _LONGEST:
            return "", Finding("long", f"{path.name}: {len(str(error))} characters")
        return status.name, None
    except Exception as error:
        return "", Finding("foreign", f"{path.name}: {type(error).__name__}: {error}"[:400])
    return "gives", None
