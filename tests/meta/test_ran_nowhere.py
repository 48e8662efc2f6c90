"""Tests that run in no environment are found: the tool, and the record that it reads."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ran_nowhere import is_excused, ran_nowhere, shown

TESTS = Path(__file__).parents[1]
SUITE = {
    "test_some.py": """
import pytest

@pytest.mark.parametrize("n", range(5))
def test_looped(n):
    if n in (1, 3):
        pytest.skip(f"needs a GPU: {n}" if n == 1 else "nobody has it")

@pytest.mark.parametrize("n", range(3))
def test_with_a_fixture(n, tmp_path):
    if n == 2:
        pytest.skip("not here")

@pytest.mark.skipif(True, reason="never")
@pytest.mark.parametrize("n", ["a", "b"])
def test_marked(n):
    pass

@pytest.mark.parametrize("n", range(4))
def test_fails(n):
    assert n < 2

def test_alone():
    pass
""",
    "test_whole.py": "import pytest\npytest.skip('no framework', allow_module_level=True)\n",
}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Return a folder of tests with the settings of these."""
    shutil.copy(TESTS / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {TESTS}\n")
    for name, text in SUITE.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("more", [["-n", "0"], ["-n", "2"], ["-n", "0", "--apart"]])
def test_a_record_has_each_set_of_parameters(suite: Path, more: list[str]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *more, "."]
    command += ["--record", "out/record.json"]
    done = subprocess.run(command, cwd=suite, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    record = json.loads((suite / "out" / "record.json").read_text())
    of = {test.partition("::")[2]: outcome for test, (outcome, _) in record.items()}
    some = {"test_looped[0]": "passed", "test_looped[1]": "skipped", "test_looped[4]": "passed",
            "test_with_a_fixture[1]": "passed", "test_with_a_fixture[2]": "skipped",
            "test_marked[a]": "skipped", "test_marked[b]": "skipped", "test_alone": "passed",
            "test_fails[1]": "passed", "test_fails[2]": "failed"}  # fmt: skip
    assert some.items() <= of.items()
    assert not [test for test in of if " to " in test]
    assert record["test_some.py::test_looped[3]"] == ["skipped", "nobody has it"]
    left = ran_nowhere([record], SUITE)
    assert [test.removeprefix("test_some.py::test_") for test in left] == [
        "looped[1]", "looped[3]", "marked[a]", "marked[b]", "with_a_fixture[2]", "test_whole.py",
    ]  # fmt: skip


def test_what_ran_in_one_environment_is_not_listed() -> None:
    alone = {"a.py::one": ("passed", ""), "a.py::two": ("skipped", "needs torch"),
             "b.py": ("skipped", "needs torch"), "c.py": ("skipped", "needs jax")}  # fmt: skip
    torch = {"a.py::one": ("skipped", "torch is here"), "a.py::two": ("failed", ""),
             "b.py::one": ("passed", ""), "b.py::two": ("skipped", "needs a GPU: x")}  # fmt: skip
    assert ran_nowhere([alone, torch], ["a.py", "b.py", "c.py", "d.py"]) == {
        "b.py::two": "needs a GPU: x", "c.py": "needs jax", "d.py": "no environment collects it",
    }  # fmt: skip
    assert ran_nowhere([torch], ["a.py", "b.py"]) == {
        "a.py::one": "torch is here", "b.py::two": "needs a GPU: x"}  # fmt: skip


def test_only_what_needs_an_accelerator_or_is_named_is_excused() -> None:
    assert is_excused("needs an NPU: CANN", [])
    assert is_excused("flaggems is not installed", ["flaggems"])
    assert not is_excused("TRITON_INTERPRET=1 runs kernels without a GPU", ["flaggems"])
    assert shown("ran nowhere", {"x": "why", "y": "why"}) == [
        "ran nowhere: 2", "  why", "    x", "    y"]  # fmt: skip
