"""What a recorder sees of threads, processes and long chains, in a small framework of the tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.small_frameworks import frameworks, recorded
from suanzi.base.status import InvalidArgument
from suanzi.front.cli import main
from suanzi.port import Calls, judge, read_calls, run_program
from suanzi.recording.calls import from_records, read_processes

__all__ = ["frameworks"]  # a fixture

WORK = "def work():\n    paddle.ones([2], 'float16') + paddle.ones([], 'float64')\n"


def counted(found: Calls) -> dict[str, int]:
    """How often each operator was called."""
    counts: dict[str, int] = {}
    for call in found.calls:
        counts[call.operator] = counts.get(call.operator, 0) + call.count
    return counts


@pytest.mark.parametrize(
    "program",
    [
        "import threading\nt = threading.Thread(target=work)\nt.start(), t.join(), work()",
        "import os\nif os.fork() == 0:\n    work()\n    sys.exit()\nos.wait()\nwork()",
        "import os\nif os.fork() == 0:\n    work()\n    os._exit(0)\nos.wait()\nwork()",
        "import multiprocessing as mp\nmp = mp.get_context('fork')\n"
        "p = mp.Process(target=work)\np.start(), p.join(), work()",
        "import multiprocessing as mp\nmp = mp.get_context('spawn')\n"
        "if __name__ == '__main__':\n    p = mp.Process(target=work)\n"
        "    p.start(), p.join(), work()",
        "import subprocess\nprogram = open(__file__).read().split('import sub')[0] + 'work()'\n"
        "subprocess.run([sys.executable, '-c', program], check=True)\nwork()",
    ],
)  # fmt: skip
def test_every_thread_and_process_is_seen(frameworks: Path, program: str) -> None:
    found = recorded(frameworks, "paddle", f"import sys, paddle\n{WORK}{program}\n")
    assert counted(found) == {"ones": 4, "add": 2}
    assert found.raised is None
    assert [call.number for call in found.calls] == list(range(len(found.calls)))
    adds = [call for call in found.calls if call.operator == "add"]
    assert all(call.arguments[0].made_by is not None for call in adds)  # type: ignore[union-attr]


def test_a_forked_process_goes_on_from_what_its_parent_did(frameworks: Path) -> None:
    found = recorded(
        frameworks, "paddle",
        "import os, sys, paddle\n"
        "def step(x, k):\n"
        "    return x + k\n"
        "x = step(paddle.ones([2], 'float16'), 5)\n"
        "for child in range(2):\n"
        "    if os.fork() == 0:\n"
        "        step(paddle.ones([2], 'float16'), -child)\n"
        "        y = x.exp()\n"
        "        if child and os.fork() == 0:\n"
        "            y.exp()\n"
        "        sys.exit()\n"
        "    os.wait()\n",
    )  # fmt: skip
    assert counted(found) == {"ones": 3, "add": 3, "exp": 3}
    add, *exps = [call for call in found.calls if call.operator in ("add", "exp")]
    assert (add.count, add.arguments[1].least, add.arguments[1].greatest) == (3, -1, 5)  # type: ignore[union-attr]
    assert {call.arguments[0].made_by for call in exps} <= {add.number, exps[1].number}  # type: ignore[union-attr]


def test_a_module_is_run_as_python_runs_it(
    frameworks: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    package = frameworks / "mine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "train.py").write_text(f"import paddle, sys\n{WORK}work()\nprint(sys.argv[1:])\n")
    monkeypatch.chdir(frameworks)
    saved = frameworks / "calls.jsonl"
    arguments = ["-m", "mine.train", "--from", "paddle", "--to", "torch", "--save", str(saved)]
    assert main(["port", *arguments, "--", "--n", "3"]) == 0
    assert "['--n', '3']" in capfd.readouterr().err
    assert counted(read_calls(saved)) == {"ones": 2, "add": 1}
    assert main(["port", str(saved), "--to", "torch"]) == 0
    assert main(["port", str(saved), "--to", "torch", "--save", "again.jsonl"]) == 2
    assert "'calls.jsonl' is" not in capfd.readouterr().out
    with pytest.raises(InvalidArgument, match="-m needs the name of a module"):
        run_program("-m")


def test_where_nothing_is_seen_it_is_said(
    frameworks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = frameworks / "nothing.py"
    program.write_text("print('nothing')\n")
    assert main(["port", str(program), "--from", "paddle", "--to", "torch"]) == 2
    assert "no call of paddle was seen" in capsys.readouterr().out


def test_what_follows_is_carried_through_any_number_of_layers(frameworks: Path) -> None:
    """Something else happens in block 15 of 24 equal ones: what comes behind it is told apart."""
    found = recorded(
        frameworks, "paddle",
        "import paddle\n"
        "x = paddle.ones([2], 'float16')\n"
        "for k in range(24):\n"
        "    x = x.exp() + paddle.ones([2], 'float32' if k == 15 else 'float16')\n"
        "    if k == 15:\n"
        "        x.dtype = type(x.dtype)('float16')\n"
        "x.exp()\n",
    )  # fmt: skip
    assert counted(found)["exp"] == 25
    exps = [call for call in found.calls if call.operator == "exp"]
    assert [call.count for call in exps] == [16, 8, 1], "equal layers are one record"
    _, behind, last = exps
    fault = next(c for c in found.calls if c.number == behind.arguments[0].made_by)  # type: ignore[union-attr]
    assert (fault.operator, str(fault.result)) == ("add", "float32")
    assert last.arguments[0].made_by > behind.number  # type: ignore[union-attr, operator]


def test_a_training_loop_is_few_calls(frameworks: Path) -> None:
    found = recorded(
        frameworks, "paddle",
        "import paddle\n"
        "w, s = paddle.ones([2], 'float16'), paddle.ones([], 'float64')\n"
        "for k in range(200):\n"
        "    loss = (w + w).exp() + 0.5\n"
        "    w.add_(loss)\n",
    )  # fmt: skip
    assert counted(found)["exp"] == 200
    assert len(found.calls) < 16


def test_files_of_processes_that_were_killed(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    head = {"format": "suanzi-calls/1", "framework": "torch", "version": "2"}

    def lines(parent: str | None, known: int, *records: object) -> str:
        first = {**head, "process": {"parent": parent, "known": known}}
        return "".join(json.dumps(one) + "\n" for one in (first, *records))

    def call(number: int, made_by: int | None = None) -> dict[str, object]:
        x = {"dtype": "float16", **({} if made_by is None else {"from": made_by})}
        return {"call": number, "op": "exp", "arguments": [x], "result": "float16"}

    end = {"end": 1, "raised": None, "counts": {"0": 7}}
    path.write_text(lines(None, 0, call(0), call(1, 0), end))
    child = lines("calls.jsonl", 1, call(1, 0), call(2, 1))
    (tmp_path / "calls.jsonl.11").write_text(child + '{"call')
    (tmp_path / "calls.jsonl.12").write_text(lines("calls.jsonl.11", 2, call(2, 1)))
    found = from_records(read_processes(path))
    assert [c.count for c in found.calls] == [7, 1, 1, 1, 1]
    assert [c.arguments[0].made_by for c in found.calls] == [None, 0, 0, 2, 2]  # type: ignore[union-attr]
    assert not judge(found, ["jax"])
    (tmp_path / "calls.jsonl.13").write_text(lines(None, 0, call(0, 99)))
    with pytest.raises(InvalidArgument, match="is not a file of calls"):
        read_processes(path)


ENDS = {
    "os.kill(os.getpid(), 11)": "it ended with signal SIGSEGV",
    "os.kill(os.getpid(), 9)": "it ended with signal SIGKILL",
    "os.kill(os.getpid(), 15)": "it ended with signal SIGTERM",
    "os.kill(os.getpid(), 40)": "it ended with signal 40",
    "os.abort()": "it ended with signal SIGABRT",
    "os._exit(7)": "it ended with exit status 7",
    "os._exit(0)": "it ended without a message, with exit status 0",
    "atexit.register(os._exit, 9)": "it ended with exit status 9",
    "atexit.register(os.abort)": "it ended with signal SIGABRT",
    "sys.exit(5)": "it exited with status 5",
    "import ctypes; ctypes.string_at(0)": "it ended with signal SIGSEGV",
    "raise ValueError('no')": "ValueError: no",
    "": None,
}


@pytest.mark.parametrize("end", ENDS)
def test_how_a_program_ended_is_named(frameworks: Path, end: str) -> None:
    program = f"import atexit, os, resource, sys, paddle\n{WORK}work()\n"
    program += f"resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n{end}\n"
    found = recorded(frameworks, "paddle", program)
    assert found.raised == ENDS[end]
    assert counted(found) == {"ones": 2, "add": 1}


def test_what_it_says_of_the_end_reaches_the_terminal(
    frameworks: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = frameworks / "dies.py"
    program.write_text(f"import os, paddle\n{WORK}work()\nos.kill(os.getpid(), 9)\n")
    assert main(["port", str(program), "--from", "paddle", "--to", "numpy"]) in (1, 2)
    assert "signal SIGKILL" in capfd.readouterr().out


DESCRIPTORS = {
    "written": "for i in range(3, 20):\n    try: os.write(i, b'garbage\\n')\n    except OSError: 0",
    "all written": "for i in range(3, 1024):\n    try: os.write(i, b'{')\n    except OSError: 0",
    "closed": "os.closerange(3, 20)",
    "all closed": "os.closerange(3, 65536)",
    "others": "for i in range(3, 20): os.dup2(os.open('other', os.O_RDWR | os.O_CREAT), i)",
    "streams": "os.close(0), os.close(1), os.close(2)",
    "truncated": "for i in range(3, 20):\n    try: os.ftruncate(i, 0)\n    except OSError: 0",
    "elsewhere": "os.chdir('/')",
}


@pytest.mark.parametrize("name", DESCRIPTORS)
@pytest.mark.parametrize("forked", [False, True])
def test_a_recording_has_no_descriptor(
    frameworks: Path, name: str, forked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(frameworks)
    fork = "if os.fork() == 0:\n    work()\n    sys.exit()\nos.wait()\n" if forked else ""
    program = f"import os, sys, paddle\n{WORK}work()\n{DESCRIPTORS[name]}\nwork()\n{fork}"
    found = recorded(frameworks, "paddle", f"{program}paddle.ones([2, 2], 'float64').exp()\n")
    more = 1 if forked else 0
    assert counted(found) == {"ones": 5 + 2 * more, "add": 2 + more, "exp": 1}
    assert (found.raised, found.missed) == (None, 0)
    other = frameworks / "other"
    assert not other.exists() or not other.read_bytes()
