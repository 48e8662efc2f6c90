"""The pytest plugin, run as a vendor runs it: in a suite of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from suanzi.conformance.check import export, filters

HERE = Path(__file__).parent
ONE_LINE = 'pytest_plugins = ["suanzi.conformance.plugin"]\n'


def run(folder: Path, *options: str) -> tuple[int, str]:
    """Run pytest in a folder."""
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-ra", "-q", "-p", "no:cacheprovider", "--rootdir",
         str(folder), *options],
        cwd=folder, capture_output=True, text=True, check=False,
        # A vendor may have any other plugins; loading those of this environment takes a while.
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200",
             "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def counts(text: str) -> dict[str, int]:
    """Return what pytest's summary counts; other plugins may write behind it."""
    summary = re.findall(r"^=* *(\d+ \w+(?:, \d+ \w+)*) in [\d.]+s", text, re.MULTILINE)[-1]
    return {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", summary)}


def test_one_line_is_a_suite(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(ONE_LINE)
    settings = "[pytest]\nsuanzi_backend = wrong_subjects:Bare\nsuanzi_dtype = float32\n"
    (tmp_path / "pytest.ini").write_text(settings)
    status, text = run(tmp_path, "--suanzi-op=add,mul", "--suanzi-group=plain,broadcast")
    assert status == 0, text
    assert counts(text)["passed"] > 1
    assert "failed" not in counts(text)
    assert "unsupported: it has no mul" in text


def test_outcomes(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(ONE_LINE)
    known = tmp_path / "known.toml"
    known.write_text(
        '[[deviation]]\nop = "mod"\nreason = "it is not written yet"\n'
        '[[deviation]]\nop = "add"\nreason = "it was wrong"\n'
    )
    status, text = run(
        tmp_path, "--suanzi-backend=wrong_subjects:Adapter", "--suanzi-op=add,mod,max,sub",
        "--suanzi-group=plain", "--suanzi-dtype=int8", f"--suanzi-deviations={known}",
        "--suanzi-timeout=5",
    )  # fmt: skip
    assert status == 1, text
    assert re.search(r"XFAIL .*mod/plain/int8.*it is not written yet", text)
    assert re.search(r"FAILED .*add/plain/int8.*", text)
    assert "passes, but is listed as a known deviation" in text
    assert "max/plain/int8" in text
    assert "crashed: the process ended with signal SIGKILL" in text
    assert "from wrong_subjects import Adapter" in text, "something to paste"


def test_no_file_is_needed_in_several_processes(tmp_path: Path) -> None:
    status, text = run(
        tmp_path, "-p", "suanzi.conformance.plugin", "--suanzi-backend=suanzi",
        "--suanzi-op=bitwise_not", "--suanzi-quick", "-p", "xdist", "-n", "2",
    )  # fmt: skip
    assert status == 0, text
    assert counts(text)["passed"] > 5


def test_without_a_subject_there_is_nothing_to_collect(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(ONE_LINE)
    assert run(tmp_path)[0] == pytest.ExitCode.NO_TESTS_COLLECTED
    status, text = run(tmp_path, "--pyargs", "suanzi.conformance.suite")
    assert status == 2
    assert "--suanzi-backend torch" in text


def test_beside_tests_of_its_own(tmp_path: Path) -> None:
    """All of them by default; one that is asked for by name is alone."""
    (tmp_path / "conftest.py").write_text(ONE_LINE)
    (tmp_path / "test_mine.py").write_text("def test_mine():\n    pass\n")
    settings = (
        "[pytest]\nsuanzi_backend = suanzi\nsuanzi_op = add\nsuanzi_dtype = int8\n"
        "suanzi_group = plain\n"
    )
    (tmp_path / "pytest.ini").write_text(settings)
    assert counts(run(tmp_path)[1])["passed"] > 2
    assert counts(run(tmp_path, "test_mine.py")[1])["passed"] == 1


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--suanzi-dtype=flot16", "Did you mean 'float16'"),
        ("--suanzi-cases=/nowhere", "manifest.json"),
        ("--suanzi-backend=no_such_module:Adapter", "no_such_module"),
    ],
)
def test_what_is_misspelled_is_no_suite_of_nothing(tmp_path: Path, option: str, words: str) -> None:
    """Tests that are not there would pass, and nobody would know."""
    (tmp_path / "conftest.py").write_text(ONE_LINE)
    status, text = run(
        tmp_path, "--suanzi-backend=suanzi", "--suanzi-op=add", "--suanzi-quick", option
    )
    assert status == 2, text
    assert words in text
    assert "Traceback" not in text
    assert len(text.splitlines()) < 12


def test_names_are_those_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(ONE_LINE)
    warnings = "filterwarnings =\n    error\n    ignore:Benchmarks are"  # pytest-benchmark's
    settings = f"[pytest]\n{warnings}\nsuanzi_backend = suanzi\n"
    (tmp_path / "pytest.ini").write_text(settings)
    status, text = run(
        tmp_path, "--suanzi-op=op_add,7.2.4.2", "--suanzi-dtype=f16", "--suanzi-group=plain", "-vv"
    )
    assert status == 0, text
    assert re.search(r"\[add/plain/float16/\S+\] PASSED", text)
    assert re.search(r"\[sub/plain/float16/\S+\] PASSED", text)
    status, text = run(tmp_path, "--suanzi-case=add/plain/int8/24-elements exp/special/float16/*")
    assert status == 0, text
    assert counts(text)["passed"] > 1


def test_frozen_cases_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(ONE_LINE)
    export(tmp_path / "cases", filters(ops=["add"], dtypes=["int8"], groups=["plain"]), "cann")
    options = ("--suanzi-backend=suanzi", f"--suanzi-cases={tmp_path / 'cases'}")
    status, text = run(tmp_path, *options)
    assert status == 0, text
    assert counts(text)["passed"] > 1
    with (tmp_path / "cases" / "add.jsonl").open("a") as file:
        file.write("\n")
    status, text = run(tmp_path, *options)
    assert status == 2
    assert "was changed after the export" in text


def test_without_a_test_that_asks_nothing_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import sys\ndef test_mine():\n    assert 'suanzi.conformance.cases' not in sys.modules\n"
    )
    assert run(tmp_path)[0] == 0
