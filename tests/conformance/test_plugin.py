"""The pytest plugin, run as a vendor runs it: in a suite of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ONE_LINE = "from suanzi.conformance.suite import test_conformance\n"


def run(folder: Path, *options: str) -> tuple[int, str]:
    """Run pytest in a folder; the plugin loads by itself where suanzi was installed with it."""
    known = entry_points(group="pytest11", name="suanzi")
    plugin = [] if known else ["-p", "suanzi.conformance.plugin"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-ra", "-q", "-p", "no:cacheprovider", "--rootdir",
         str(folder), *plugin, *options],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(HERE), "COLUMNS": "200"},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def counts(text: str) -> dict[str, int]:
    last = text.strip().splitlines()[-1]
    return {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", last)}


def test_one_line_is_a_suite(tmp_path: Path) -> None:
    (tmp_path / "test_chip.py").write_text(ONE_LINE)
    settings = "[pytest]\nsuanzi_backend = wrong_subjects:Bare\nsuanzi_dtype = float32\n"
    (tmp_path / "pytest.ini").write_text(settings)
    status, text = run(tmp_path, "--suanzi-op=add", "--suanzi-group=plain,broadcast")
    assert status == 0, text
    assert counts(text)["passed"] > 1
    assert "failed" not in counts(text)


def test_a_case_is_a_test_with_a_name(tmp_path: Path) -> None:
    (tmp_path / "test_chip.py").write_text(ONE_LINE)
    status, text = run(
        tmp_path, "--suanzi-backend=suanzi", "--suanzi-op=exp", "--suanzi-group=special", "-vv",
        "-k", "float32",
    )  # fmt: skip
    assert status == 0, text
    assert re.search(r"test_chip\.py::test_conformance\[exp/special/float32/\S+\] PASSED", text)


def test_outcomes(tmp_path: Path) -> None:
    (tmp_path / "test_chip.py").write_text(ONE_LINE)
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
    assert "a deviation says that it fails" in text
    assert "max/plain/int8" in text
    assert "crashed: the process ended with signal SIGKILL" in text
    assert "suanzi check" in text or "import suanzi" in text


def test_what_a_subject_does_not_have_is_skipped_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "test_chip.py").write_text(ONE_LINE)
    status, text = run(
        tmp_path, "--suanzi-backend=wrong_subjects:Bare", "--suanzi-op=mul", "--suanzi-group=plain",
    )  # fmt: skip
    assert status == 0, text
    assert "unsupported: it has no" in text
    assert "passed" not in counts(text)


def test_dtypes_and_groups_are_named_as_for_the_command(tmp_path: Path) -> None:
    (tmp_path / "test_chip.py").write_text(ONE_LINE)
    given = ("--suanzi-backend=suanzi", "--suanzi-op=op_add", "--suanzi-dtype=f16")
    status, text = run(tmp_path, *given, "--suanzi-group=plain")
    assert status == 0, text
    assert counts(text)["passed"] == 2
    status, text = run(tmp_path, *given, "--suanzi-group=plane")
    assert status != 0
    assert "Did you mean 'plain'" in text


def test_no_file_is_needed(tmp_path: Path) -> None:
    status, text = run(
        tmp_path, "--pyargs", "suanzi.conformance.suite", "--suanzi-backend=suanzi",
        "--suanzi-op=bitwise_not", "--suanzi-quick",
    )  # fmt: skip
    assert status == 0, text
    assert counts(text)["passed"] > 5


def test_a_subject_must_be_named(tmp_path: Path) -> None:
    (tmp_path / "test_chip.py").write_text(ONE_LINE)
    status, text = run(tmp_path)
    assert status != 0
    assert "--suanzi-backend torch" in text


def test_without_a_test_that_asks_nothing_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import sys\ndef test_mine():\n    assert 'suanzi.conformance.cases' not in sys.modules\n"
    )
    assert run(tmp_path)[0] == 0


@pytest.mark.skipif(
    not entry_points(group="pytest11", name="suanzi"), reason="this environment is older"
)
def test_the_plugin_is_registered() -> None:
    (found,) = entry_points(group="pytest11", name="suanzi")
    assert found.value == "suanzi.conformance.plugin"
