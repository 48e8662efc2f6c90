"""Odd programs and options: judged, or reported as not judged; nothing of a program changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.validate.blame.test_planted import python_of_torch, run

from suanzi.front.cli import main
from suanzi.validate.blame.runs import read_run


def test_odd_programs() -> None:
    found = run("odd.py")
    assert found["signs"][0] == "right"
    assert {"clone", "exp"} <= set(found["signs"][1])
    assert found["float8"] == ["right", "right", "right", "wrong"]
    assert found["nested"] == [True, "not judged"]
    answer, notes, unjudged, is_judged = found["traced"]
    assert (answer, notes, is_judged) == ("right", {}, True)
    assert "tensors without elements" in unjudged
    assert found["again"] == [True, "right", {}, [["_fused_adamw", 1]]]
    assert found["memory"] == [1, "right", [True, True, False, False, True]]  # the result alone
    assert found["itself"] == ["right", ["_foreach_mul"]]
    is_off, by_fft, farther = found["tiles"]
    assert is_off
    assert by_fft == ["right", [["inaccurate", True]]]
    assert farther == ["wrong", [["wrong", False]]]
    assert found["older_names"] == [True, False]

    note = "steps were not watched, to time the program or for want of time"
    assert found["unwatched"] == [[1], {note: 6}, [1, 0, 0, 0, 0, 0], {}, True, {}, 0, True]


THREAD = """
import threading, time
import torch
def late():
    time.sleep(0.3)
    torch.ones(3).tanh()
threading.Thread(target=late).start()
"""


def test_threads_that_a_program_leaves_are_waited_for(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(THREAD)
    assert main(["blame", str(program), "--python", python_of_torch(), "--json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert data["judged"] == 2


POOL = """
import sys
from concurrent.futures import ThreadPoolExecutor
import torch
def late():
    time.sleep(0.3)
    torch.ones(3).tanh()
sys.modules["a_library"] = pool = ThreadPoolExecutor(2)
assert float(pool.submit(torch.ones, 3).result().sum()) == 3
import time
pool.submit(late)
sys.exit(0)
"""


def test_pools_of_threads_that_a_program_leaves_are_ended(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(POOL)
    assert main(["blame", str(program), "--python", python_of_torch(), "--json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert data["judged"] == 4


def test_a_process_that_is_killed_is_reported(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    assert main(["blame", str(program), "--python", python_of_torch()]) == 2
    error = capfd.readouterr().err
    assert "SIGSEGV ended" in error
    assert "program.py" in error.partition("SIGSEGV")[0]  # by faulthandler


SCATTERS = """
import os, torch
for number in range(3, 1024):
    try:
        os.write(number, b"garbage")
    except OSError:
        continue
torch.ones(3).tanh()
os.closerange(3, 4096)
os.chdir("/")
torch.ones(3).exp()
"""


def test_a_report_and_a_run_have_no_descriptor(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.write_text(SCATTERS)
    monkeypatch.chdir(tmp_path)
    given = ["blame", "program.py", "--python", python_of_torch(), "--json", "--record", "run.gz"]
    assert main(given) == 0
    assert json.loads(capfd.readouterr().out)["judged"] == 4
    run = read_run(str(tmp_path / "run.gz"))
    assert [call["op"].rpartition(".")[2] for call in run.calls] == ["ones", "tanh", "ones", "exp"]


def test_a_page_that_cannot_be_written_is_refused_before_the_program_runs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text("print('it runs')")
    assert main(["blame", str(program), "--html", str(tmp_path / "no" / "x.html")]) == 2
    out, error = capfd.readouterr()
    assert "does not exist" in error
    assert "it runs" not in out + error
