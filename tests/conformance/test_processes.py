"""A subject may crash, hang or shout: the run goes on, and the report says which call it was."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

import suanzi as sz
from helpers.kit import made
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.check import check
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.results import Run
from suanzi.conformance.running import pool, process
from suanzi.conformance.running.crashes import ENOUGH
from suanzi.conformance.running.memory import is_dumpable
from suanzi.conformance.running.process import Backend, Local, Subject, Unanswered
from suanzi.conformance.running.run import Job, run_case, run_job
from suanzi.conformance.subjects.suanzi_adapter import Adapter
from suanzi.conformance.subjects.wire import Data
from suanzi.promote.live import NotInstalled

HERE = str(Path(__file__).parent)
GROUPS = ["plain", "broadcast", "strided", "empty", "status", "example", "calls"]


def backend(name: str, monkeypatch: pytest.MonkeyPatch) -> Backend:
    monkeypatch.setenv("PYTHONPATH", HERE)
    return Backend(name, f"wrong_subjects:{name}")


def run(monkeypatch: pytest.MonkeyPatch, *ops: str, name: str = "Adapter", jobs: int = 1) -> Run:
    return check(backend(name, monkeypatch), only=two_of(ops), timeout=30, jobs=jobs)


def two_of(ops: Iterable[str]) -> list[str]:
    """Return patterns of two cases of each: every crash takes two processes."""
    return [f"{op}/plain/{'float32' if op == 'reciprocal' else 'int8'}/2by*" for op in ops]


ENDINGS = {"sub": "SIGSEGV", "div": "exit status 7", "max": "SIGKILL"}


@pytest.mark.parametrize(("jobs", "ends"), [(1, ["sub", "div", "max"]), (2, ["sub"])])
def test_what_ends_the_process_is_a_crash_and_the_run_goes_on(
    monkeypatch: pytest.MonkeyPatch, jobs: int, ends: list[str]
) -> None:
    found = run(monkeypatch, "add", *ends, "abs", jobs=jobs)
    of = {op: {r.outcome for r in some} for op, some in found.by_operator().items()}
    assert of == {"add": {"passed"}, **{op: {"crashed"} for op in ends}, "abs": {"passed"}}
    words = {r.op: str(r.problem) for r in found.results}
    assert all(ENDINGS[op] in words[op] for op in ends), words
    assert not found.conforms


@pytest.mark.parametrize("times", [1, 2])
def test_a_process_of_the_kit_that_is_killed_is_started_again(
    monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Somebody's kill -9, or the system's where memory is short: told like a crash."""
    killed: list[int] = []

    def kill(worker: pool.Worker, job: object, *more: object) -> None:
        give(worker, job, *more)  # type: ignore[arg-type]
        if len(killed) < times and getattr(job, "op", "") == "sub":
            killed.append(worker.process.pid or 0)
            os.kill(killed[-1], signal.SIGKILL)

    give = pool.Worker.give
    monkeypatch.setattr(pool.Worker, "give", kill)
    found = check("suanzi", ops=["add", "sub", "mul"], groups=["plain"], dtypes=["int8"], jobs=2)
    assert len(killed) == times
    wanted = Wanted(frozenset({"plain"}), frozenset({"int8"}))
    every = [case.id for op in ("add", "sub", "mul") for case in cases(op, wanted)]
    assert [r.id for r in found.results] == every
    crashed = [r for r in found.results if r.bad]
    assert [(r.op, r.outcome) for r in crashed] == [("sub", "crashed")]
    assert "ended with signal SIGKILL" in str(crashed[0].problem)
    assert not found.unfinished


def test_a_process_of_the_kit_that_never_gets_anywhere_ends_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def kill(worker: pool.Worker, job: object, *more: object) -> None:
        give(worker, job, *more)  # type: ignore[arg-type]
        os.kill(worker.process.pid or 0, signal.SIGKILL)

    give = pool.Worker.give
    monkeypatch.setattr(pool.Worker, "give", kill)
    with pytest.raises(sz.InternalError, match="signal SIGKILL again and again"):
        check("suanzi", ops=["add", "sub"], groups=["plain"], dtypes=["int8"], jobs=2)


def test_a_call_that_does_not_end_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = backend("Adapter", monkeypatch)
    found = check(wrong, only=two_of(["mul", "add"]), timeout=1.5, jobs=1)
    of = {op: {r.outcome for r in some} for op, some in found.by_operator().items()}
    assert of == {"add": {"passed"}, "mul": {"hung"}}
    assert "1.5 seconds" in str(next(r.problem for r in found.results if r.op == "mul"))


def test_errors_and_nonsense_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(monkeypatch, "min", "reciprocal", "mod")
    assert {r.outcome for r in found.results} == {"failed"}
    words = {r.op: str(r.problem) for r in found.results}
    assert "the driver is gone" in words["min"]
    assert "object" in words["reciprocal"]
    assert "outputs" in words["mod"] or "is not a tensor" in words["mod"]


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("NotThere", NotInstalled, "No module named 'chip'"),
        ("Broken", sz.InvalidArgument, "the device is busy"),
        ("Dying", sz.InvalidArgument, "cannot be started"),
        ("Absent", sz.InvalidArgument, "Absent"),
    ],
)
def test_a_subject_that_cannot_be_started_says_why(
    monkeypatch: pytest.MonkeyPatch, name: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        Subject(backend(name, monkeypatch))


def test_a_start_has_its_limit_or_the_timeout_if_that_is_longer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slow = tmp_path / "slow"
    slow.write_text(f'#!/bin/sh\nsleep 1\nexec "{sys.executable}" "$@"\n')
    slow.chmod(0o755)
    adapter = Backend("x", "suanzi.conformance.subjects.suanzi_adapter:Adapter", python=str(slow))
    monkeypatch.setattr(process, "_START_SECONDS", 0.1)
    with pytest.raises(sz.InvalidArgument, match="says nothing within 0.2 s; --timeout allows"):
        Subject(adapter, 0.2)
    with Subject(adapter, 300) as started:
        assert started.facts.name == "suanzi"


def test_an_interpreter_that_is_none() -> None:
    with pytest.raises(sz.InvalidArgument, match="cannot be run"):
        Subject(Backend("x", "x:X", python="/no/such/python"))


def test_a_module_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotInstalled, match="no_such_module"):
        Subject(Backend("x", "no_such_module:X"))


def test_a_small_class_is_an_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    found = check(backend("Bare", monkeypatch), ops=["add", "sub"], groups=GROUPS, jobs=1)
    count = found.counts()
    assert count["passed"] > 5
    assert count["crashed"] == count["hung"] == 0
    assert {r.outcome for r in found.results if r.op == "sub"} <= {"unsupported", "skipped"}
    assert {r.outcome for r in found.results if r.op == "add" and r.dtype == "float32"
            and r.group == "plain"} == {"passed"}  # fmt: skip
    assert all(r.outcome == "unsupported" for r in found.results if r.dtype == "bfloat16")
    assert sum(count[o] for o in ("passed", "failed", "unsupported", "skipped")) == count["cases"]


def test_a_closed_subject_leaves_no_process() -> None:
    with Subject(Backend("suanzi", "suanzi_adapter:Adapter", sys.executable)) as subject:
        process = subject._process
        assert process is not None
        assert process.poll() is None
    assert process.poll() is not None


@pytest.mark.parametrize(
    "output",
    [
        Data("float32", (12,), b"123"),
        Data("str288", (1,), b"x"),
        Data("float32", (-1,), b""),
        Data("float32", (1 << 60,), b""),
        [Data("int8", (2,), b"1")],
    ],
)
@pytest.mark.parametrize("op", ["add", "qr", "rand_uniform", "shape", "split"])
def test_bytes_that_are_no_tensor_are_a_failure_and_no_end(op: str, output: object) -> None:
    class Garbled(Adapter):
        def call(self, op: str, arguments: object) -> object:
            return "SUCCESS", output

    subject = Local(Garbled())
    found = [run_case(subject, case) for case in made(op, Wanted(quick=True))[::5]]
    assert {r.outcome for r in found} <= {"failed", "skipped"}
    assert any("cannot be read" in str(r.problem) for r in found)


class Crashing(Local):
    """Crashes in every call, and says which there were."""

    def __init__(self, outcome: Literal["crashed", "hung"] = "crashed") -> None:
        super().__init__(Adapter())
        self.outcome, self.asked = outcome, list[Case]()

    def ask(self, case: Case) -> Unanswered:
        self.asked.append(case)
        return Unanswered(self.outcome, "the process ended with signal SIGSEGV: words of its own")


def test_after_ten_crashes_the_rest_of_a_group_is_not_tried_and_says_so() -> None:
    subject = Crashing()
    wanted = Wanted(frozenset({"plain", "special", "status"}))
    found = run_job(subject, Job("add", wanted))
    assert len(found) == len(cases("add", wanted))
    asked = Counter(case.group for case in subject.asked)
    assert asked["plain"] == asked["special"] == ENOUGH
    assert subject.asked[0].group == "status", "a crash elsewhere must not hide a status"
    rest = [r for r in found if r.outcome == "skipped" and r.group == "plain"]
    assert all("not tried after 10 calls of add in plain" in str(r.problem) for r in rest)
    run_job(subject, Job("sub", wanted))
    assert Counter(case.group for case in subject.asked)["plain"] == 2 * ENOUGH, "of another, too"


def test_crashes_of_all_groups_and_hangs_come_to_an_end() -> None:
    subject = Crashing()
    run_job(subject, Job("add", Wanted()))
    assert len(subject.asked) == 4 * ENOUGH
    hanging = Crashing("hung")
    found = run_job(hanging, Job("add", Wanted()))
    assert len(hanging.asked) == ENOUGH
    assert str(found[-1].problem) == "not tried after 10 calls of add that hung"


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is of Linux")
def test_the_memory_of_the_kit_is_closed_while_a_backend_runs() -> None:
    assert is_dumpable()
    own = Backend("suanzi", "suanzi_adapter:Adapter")
    with Subject(own), Subject(own) as second:
        assert not is_dumpable()
        second.close()
        second.close()
        assert not is_dumpable()
    assert is_dumpable()
    with pytest.raises(sz.InvalidArgument, match="cannot be run"):
        Subject(replace(own, python="/nowhere/python"))
    assert is_dumpable()
