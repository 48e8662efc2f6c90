"""The plugins that change how pytest works: one test loops over sets of parameters; rewriting."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from importlib.abc import Loader
from pathlib import Path

import pytest

from helpers import looping
from helpers.rewriting import rewrite

TESTS = Path(__file__).parents[1]
SUITE = """
import pytest

@pytest.mark.parametrize("n", range(60))
def test_some(n):
    assert n not in (2, 5), f"no {n} here"
    if n == 7:
        pytest.skip("not 7")

@pytest.mark.parametrize("n", range(4))
def test_raises(n):
    with pytest.raises(ValueError):
        if n != 3:
            raise ValueError

@pytest.mark.parametrize("n", range(3))
def test_with_a_fixture(n, tmp_path):
    pass

@pytest.mark.parametrize("n", range(3))
def test_some_expected(n):
    if n == 1:
        pytest.xfail("known")

class TestOfAClass:
    @pytest.mark.parametrize("n", "abc")
    def test_method(self, n):
        assert n
"""
SETS = 60 + 4 + 3 + 3 + 3


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Return a folder of tests with the plugin alone."""
    (tmp_path / "conftest.py").write_text("pytest_plugins = ['helpers.looping']\n")
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\npythonpath = {TESTS}\nfilterwarnings = error\n"
    )
    (tmp_path / "test_suite.py").write_text(SUITE)
    return tmp_path


def run(suite: Path, *options: str) -> str:
    """Return what pytest prints of the folder's tests, of which some fail."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:benchmark",
        *options,
    ]
    done = subprocess.run(command, cwd=suite, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_the_first_failure_does_not_hide_the_others(suite: Path) -> None:
    shown = run(suite, "-n", "0")
    assert "2 failed, 6 passed" in shown  # two tests of some, and each set with a fixture
    assert "AssertionError: [2] no 2 here" in shown
    assert shown.index("no 2 here") < shown.index("with the parameters [5]")
    assert "E   AssertionError: no 5 here" in shown
    assert "with the parameters [3]" in shown
    assert "DID NOT RAISE" in shown


def test_after_x_the_first_failure_is_the_last(suite: Path) -> None:
    shown = run(suite, "-n", "0", "-x")
    assert "no 2 here" in shown
    assert "no 5 here" not in shown


@pytest.mark.parametrize("options", [["--apart"], ["-k", "test_"], ["test_suite.py::test_some",
    "test_suite.py::test_raises", "test_suite.py::test_with_a_fixture",
    "test_suite.py::test_some_expected", "test_suite.py::TestOfAClass"]])  # fmt: skip
def test_each_set_is_a_test_with_apart(suite: Path, options: list[str]) -> None:
    shown = run(suite, "-n", "0", *options)
    counts = "3 failed, {} passed, 1 skipped, 1 xfailed".format
    if "--apart" in options:
        assert counts(SETS - 5) in shown
        assert "test_suite.py::test_some[5]" in shown
    else:  # neighbours that were selected are one test
        assert "2 failed, 6 passed" in shown


def test_one_set_is_selected_by_its_name(suite: Path) -> None:
    shown = run(suite, "-n", "0", "test_suite.py::test_some[5]", "-k", "5")
    assert "1 failed" in shown
    assert "test_suite.py::test_some[5]" in shown


@pytest.mark.parametrize("processes", "02")
def test_a_pytest_that_differs_is_left_as_it_is_with_one_warning(
    suite: Path, processes: str
) -> None:
    with (suite / "conftest.py").open("a") as file:
        file.write("from helpers import looping  # PYTEST_DONT_REWRITE\nlooping.CALLS = '_other'\n")
    shown = run(suite, "-n", processes, "-W", "ignore::pytest.PytestAssertRewriteWarning")
    assert f"3 failed, {SETS - 5} passed, 1 skipped, 1 xfailed" in shown
    assert shown.count("has no list `_other` of a Metafunc") == 1
    assert "tried with 8.0.0" in shown
    assert "Traceback" not in shown


def test_what_is_missing_is_named() -> None:
    assert looping.missing([]) == ""
    assert looping.missing(None) == "list `_calls` of a Metafunc"
    assert looping.missing([3.0]) == "`id`, `marks`, `params` of a call of a Metafunc"


def test_files_are_rewritten_and_not_executed(tmp_path: Path) -> None:
    paths = [tmp_path / "test_a.py", tmp_path / "test_b.py"]
    for path in paths:
        path.write_text("import pathlib\npathlib.Path('executed').touch()\nassert 1 == 2\n")
    (hook,) = [x for x in sys.meta_path if hasattr(x, "mark_rewrite")]
    assert isinstance(hook, Loader)
    assert rewrite(paths, hook) == paths
    for path in paths:
        kept = Path(importlib.util.cache_from_source(str(path))).parent
        assert [file for file in kept.glob(f"{path.stem}.*") if "pytest" in file.name]
    assert not Path("executed").exists()


def test_a_hook_that_differs_is_left(tmp_path: Path) -> None:
    class Other(Loader):
        def create_module(self, spec: object) -> None:
            return None

        def exec_module(self, module: object) -> None:
            raise AttributeError("another pytest")

    path = tmp_path / "test_a.py"
    path.write_text("import os\n")
    assert rewrite([path], Other()) == []


def test_every_slow_file_of_the_settings_exists(pytestconfig: pytest.Config) -> None:
    plugins = pytestconfig.pluginmanager.get_plugins()
    (settings,) = [x for x in plugins if getattr(x, "__file__", "") == str(TESTS / "conftest.py")]
    for folder, names in settings.SLOW.items():
        for name in names.split():
            assert (TESTS / folder / f"test_{name}.py").is_file(), f"{folder}/{name}"
