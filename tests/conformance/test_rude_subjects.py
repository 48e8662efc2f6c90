"""A subject may read, fork, shout, close its streams: each call has one outcome, its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import suanzi as sz
from helpers.kit import made, some
from suanzi.conformance.cases import Wanted
from suanzi.conformance.judging.verdict import Answer
from suanzi.conformance.model.case import Case
from suanzi.conformance.running import process
from suanzi.conformance.running.process import Backend, Local, Subject, Unanswered
from suanzi.conformance.running.run import run_case
from suanzi.conformance.subjects import worker
from suanzi.conformance.subjects.suanzi_adapter import Adapter

HERE = str(Path(__file__).parent)


@pytest.fixture(autouse=True)
def _rude_subjects_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", HERE)


def subject(name: str, timeout: float = 20.0) -> Subject:
    return Subject(Backend(name, f"rude_subjects:{name}"), timeout)


def call() -> Case:
    return some("add", "plain", "int8")[0]


def said(name: str, timeout: float = 20.0) -> Answer | Unanswered:
    with subject(name, timeout) as one:
        return one.ask(call())


@pytest.mark.parametrize(
    "name", ["Reads", "Forks", "Shouts", "Scatters", "Moves", "Chatters", "Whole", "Odd"]
)
def test_what_does_no_harm_is_answered(name: str) -> None:
    with subject(name) as one:
        first, second = one.ask(call()), one.ask(call())
    for answer in (first, second):
        assert isinstance(answer, Answer), answer
        assert answer.status == "SUCCESS"


def test_the_error_stream_of_a_subject_that_shouts_is_not_kept() -> None:
    with subject("Shouts") as one:
        for _ in range(3):
            one.ask(call())
        assert os.fstat(one._errors.fileno()).st_size <= process._ERRORS_KEPT


def test_an_answer_to_another_question_is_none() -> None:
    answer = said("AnswersTwice")
    assert isinstance(answer, Answer)
    assert answer.status is None
    assert "the right one" in answer.words


def test_a_crash_is_no_hang_though_a_child_lives_on() -> None:
    begun = time.monotonic()
    answer = said("LeavesAChild", timeout=60)
    assert isinstance(answer, Unanswered)
    assert (answer.outcome, "exit status 5" in answer.words) == ("crashed", True)
    assert time.monotonic() - begun < 50


def test_what_a_subject_starts_ends_with_it(tmp_path: Path) -> None:
    os.environ["RUDE_PID"] = str(tmp_path / "pid")
    try:
        said("StartsAnother")
    finally:
        del os.environ["RUDE_PID"]
    assert _ends(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("StatusRaises", "status: KeyError"),
        ("StatusIsNoName", "status: 7, which is no name"),
        ("ReadsAnArray", "read: TypeError: ndarray is no Data"),
        ("ReadsNoName", "read: TypeError: the dtype"),
        ("GivesAGenerator", "read: "),
        ("WritesGarbage", "no answer, but b'garbage'"),
    ],
)
def test_an_adapter_that_is_wrong_is_told_how(name: str, words: str) -> None:
    answer = said(name)
    assert isinstance(answer, Unanswered)
    assert answer.outcome == "broken"
    assert words in answer.words


_TENSOR = '{"tensor": {"dtype": "int8", "shape": [1], "raw": "AA==", %s}}'


@pytest.mark.parametrize("answer", ["DEEP", '{"status": "SUCCESS", "outputs": DEEP}'])
def test_an_answer_without_end_is_broken(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUDE_ANSWER", answer)
    found = said("Answers")
    assert isinstance(found, Unanswered)
    assert found.outcome == "broken"


@pytest.mark.parametrize(
    "answer",
    [
        '{"status": "SUCCESS", "outputs": 5}',
        '{"status": "SUCCESS", "outputs": {"dict": 5}}',
        '{"status": "SUCCESS", "outputs": [{"tensor": 5}]}',
        '{"status": "SUCCESS", "outputs": [{"complex": []}]}',
        '{"status": "SUCCESS", "outputs": [{"float": "1e999999999"}, {"float": {}}]}',
        *(
            '{"status": "SUCCESS", "outputs": [%s]}' % (_TENSOR % more)
            for more in (
                '"shape": [1.0]', '"shape": [true]', '"raw": 5', '"dtype": ["int8"]',
                '"scale": "many"', '"scale": 5', '"zero_point": "z"', '"layout": 5',
                '"sparse": {"a": 1}', '"more": 5',
            )
        ),
        '{"status": 7, "outputs": []}',
        '{"status": "REFUSED", "error": {"a": 1}}',
    ],
)  # fmt: skip
def test_an_answer_of_the_wrong_kind_is_broken(answer: str) -> None:
    found = process.read_answer(process._read_json(answer.encode()))
    assert isinstance(found, Unanswered)
    assert found.outcome == "broken"


@pytest.mark.parametrize(
    "outputs", ['[{"dict": {}}]', "[null]", "[[[[]]]]", '["text"]', '[{"dict": {"a": []}}]']
)
@pytest.mark.parametrize("op", ["add", "lu", "rand_uniform", "shape", "eig", "argsort"])
def test_whatever_is_read_is_judged(op: str, outputs: str) -> None:
    class Says(Local):
        def ask(self, case: Case) -> Answer | Unanswered:
            some = ", ".join([outputs[1:-1]] * len(case.interface.outputs))
            return process.read_answer({"status": "SUCCESS", "outputs": json.loads(f"[{some}]")})

    groups = frozenset({"plain", "example", "status"})
    for case in made(op, Wanted(groups))[::20]:
        if case.skip is None and case.title != "SUCCESS":
            assert run_case(Says(Adapter()), case).outcome == "failed"


@pytest.mark.parametrize(
    "hello", ["5", "{}", '{"name": 5}', "DEEP", '{"name": "x", "missing": [], "notes": 5}']
)
def test_whatever_a_subject_says_of_itself(hello: str, tmp_path: Path) -> None:
    deep = "[" * 200_000 + "]" * 200_000
    answer = f'{{"hello": {hello}}}'.replace("DEEP", deep)
    (tmp_path / "python").write_text(f"#!/bin/sh\ncat <<'END'\n{answer}\nEND\n")
    (tmp_path / "python").chmod(0o755)
    with pytest.raises(sz.InvalidArgument, match="cannot be started"):
        Subject(Backend("odd", "odd:Adapter", str(tmp_path / "python")))


def test_what_an_adapter_raises_while_it_starts_moves_no_cursor() -> None:
    with pytest.raises(sz.InvalidArgument, match="all passed") as error:
        subject("StartsWithEscapes")
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("HasNothing", "the adapter has no create, read, call"),
        ("ListsWhatIsMissing", "`missing` is a list, not a dict"),
    ],
)
def test_an_adapter_that_is_none_is_told_at_the_start(name: str, words: str) -> None:
    with pytest.raises(sz.InvalidArgument, match=words):
        subject(name)


def test_without_status_there_is_none() -> None:
    answer = said("HasNoStatus")
    assert isinstance(answer, Answer)
    assert (answer.status, answer.words) == (None, "ValueError: no")


def test_a_limit_may_be_none() -> None:
    assert isinstance(said("Whole", timeout=float("inf")), Answer)


def test_words_have_an_end() -> None:
    answer = said("SaysTooMuch")
    assert isinstance(answer, Answer)
    assert len(answer.words) < 3000


def test_a_subject_that_cannot_start_again_does_not_end_the_run(tmp_path: Path) -> None:
    os.environ["RUDE_ONCE"] = str(tmp_path / "once")
    try:
        with subject("StartsOnce") as one:
            first, second = one.ask(call()), one.ask(call())
    finally:
        del os.environ["RUDE_ONCE"]
    assert isinstance(first, Unanswered)
    assert "SIGABRT" in first.words
    assert isinstance(second, Unanswered)
    assert second.outcome == "crashed"
    assert "the device is gone" in second.words


def test_a_stopped_process_does_not_hold_up_a_large_question() -> None:
    with subject("Whole", timeout=0.5) as one:
        assert one._process is not None
        os.kill(one._process.pid, signal.SIGSTOP)
        large = sz.conformance.Data("int8", (1 << 20,), bytes(1 << 20))
        case = Case("abs", "plain", "int8", "large", {"x": large}, lambda: ())
        answer = one.ask(case)
    assert isinstance(answer, Unanswered)
    assert answer.outcome == "hung"


def test_a_line_without_end_fills_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an interpreter that is none, as it greets and as it answers; the next call starts anew."""
    monkeypatch.setattr(process, "_LONGEST_LINE", 1 << 21)
    endless, hello = tmp_path / "endless", tmp_path / "hello"
    endless.write_text("#!/bin/sh\nexec tr '\\0' x < /dev/zero\n")
    greeting = json.dumps({"hello": worker.facts(Adapter())})
    hello.write_text(f"#!/bin/sh\necho '{greeting}'\nread question\nexec {endless}\n")
    for script in (endless, hello):
        script.chmod(0o755)
    with pytest.raises(sz.InvalidArgument, match="an answer of more than 2097152 bytes"):
        Subject(Backend("endless", "adapter", python=str(endless)))
    with Subject(Backend("hello", "adapter", python=str(hello))) as one:
        for _ in range(2):
            answer = one.ask(call())
            assert isinstance(answer, Unanswered)
            assert (answer.outcome, answer.words) == (
                "broken",
                "an answer of more than 2097152 bytes",
            )


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell a process")
@pytest.mark.parametrize("jobs", [1, 2])
def test_nobody_outlives_a_run_that_is_killed(tmp_path: Path, jobs: int) -> None:
    """A call that never ends, in a process whose parent is killed: nobody would end it."""
    command = [
        sys.executable, "-m", "suanzi", "check", "--backend", "rude_subjects:NeverEnds",
        "--op", "add,sub", "--dtype", "int8", "--group", "plain", "--jobs", str(jobs),
        "--timeout", "3000",
    ]  # fmt: skip
    settings = {**os.environ, "RUDE_PID": str(tmp_path / "pid")}
    with subprocess.Popen(command, env=settings, cwd=tmp_path) as run:
        until = time.monotonic() + 120
        while not (tmp_path / "pid").exists() and time.monotonic() < until:
            time.sleep(0.1)
        left = _descendants(run.pid)
        assert left
        run.kill()
    assert all(_ends(pid) for pid in left)


def _descendants(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            found += [int(stat.parent.name), *_descendants(int(stat.parent.name))]
    return found


def _ends(pid: int) -> bool:
    """Wait until a process is gone, or dead and not yet buried."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False
