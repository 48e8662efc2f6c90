"""The adapter of docs/en/guides/conformance/python-backend.md as printed, and its commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest

from suanzi.conformance.reports import json as report_json

PAGE = (
    Path(__file__).parents[2] / "docs" / "en" / "guides" / "conformance" / "python-backend.md"
).read_text("utf-8")
BIN = Path(sys.executable).parent

CHIP = """
'''What somebody has made: an array of two dtypes, with two functions.'''
import numpy as np

__version__ = "0.1"


class Array:
    def __init__(self, x):
        self.x = np.asarray(x)

    def to_numpy(self):
        return self.x


array = Array


def _operand(x, other):
    return x.x if isinstance(x, Array) else x


def add(x, y):
    a, b = _operand(x, y), _operand(y, x)
    with np.errstate(all="ignore"):
        return Array(a + b)


def topk(input, k, axis=-1, largest=True, sorted=True):
    if not 0 < k <= input.x.shape[axis]:
        raise ValueError("too few, or too many")
    keys = input.x.astype(np.float64)
    nan = np.isnan(keys)  # above all numbers
    keys = np.where(nan, 0, -keys if largest else keys)
    order = np.lexsort((keys, ~nan if largest else nan), axis)
    places = np.take(order, range(k), axis=axis)
    return Array(np.take_along_axis(input.x, places, axis)), Array(places)
"""


def block(kind: str, name: str) -> str:
    """Return a block of the page that begins with the name of its file."""
    found = re.search(rf"```{kind}\n(# {re.escape(name)}\n.*?)```", PAGE, re.S)
    assert found, name
    return found[1]


def commands(word: str) -> list[str]:
    """Return the commands of the page that begin with a word."""
    found = re.findall(rf"^\$ ({word} .*)$", PAGE, re.M)
    return [command.partition("   #")[0] for command in found]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody's folder, and an interpreter of theirs that has NumPy and no suanzi."""
    home = tmp_path_factory.mktemp("home")
    (home / "chip.py").write_text(CHIP)
    for kind, name in (
        ("python", "chip_adapter.py"), ("python", "conftest.py"), ("toml", "pyproject.toml")
    ):  # fmt: skip
        (home / name).write_text(block(kind, name))
    (home / "known.toml").write_text('[[deviation]]\nop = "sub"\nreason = "next year"\n')
    venv.create(home / "envs" / "chip", with_pip=False, symlinks=True)
    (packages,) = (home / "envs" / "chip").glob("lib/python*/site-packages")
    numpy = Path(np.__file__).parent
    for found in (numpy, numpy.with_name("numpy.libs")):
        if found.exists():
            (packages / found.name).symlink_to(found)
    return home


def shell(folder: Path, command: str, **settings: str) -> subprocess.CompletedProcess[str]:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command, shell=True, cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "HOME": str(folder), "PATH": path, **settings},
    )  # fmt: skip


def suanzi(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the page with the program of this environment."""
    return shell(folder, command.replace("suanzi ", f"{sys.executable} -m suanzi ", 1))


def test_the_first_command(folder: Path) -> None:
    done = suanzi(folder, commands("suanzi check")[0])
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^add +(\d+)/\1 .* conforms$", done.stdout, re.M)
    assert "chip 0.1 (chip_adapter:Adapter), promotion by numpy" in done.stdout
    assert re.match(
        r"Conforms for (int32, float32|float32, int32) in", done.stdout.splitlines()[-1]
    )


def test_why_it_is_partly(folder: Path) -> None:
    """An adapter without columns cannot conform, and the report says why."""
    text = (folder / "chip_adapter.py").read_text()
    (folder / "rows_adapter.py").write_text(
        text.replace('("dense", "columns", "offset")', '("dense",)')
    )
    done = suanzi(folder, "suanzi check --backend rows_adapter:Adapter --op add --quick")
    assert done.returncode == 1
    assert re.search(r"^add +\d+/\d+ .* partly$", done.stdout, re.M)
    assert re.search(r"^  add: \d+ of \d+ required cases not answered \(the chip has no strides\)$",
                     done.stdout, re.M)  # fmt: skip
    assert done.stdout.splitlines()[-1].startswith("Does not conform: ")


def test_an_interpreter_without_suanzi(folder: Path) -> None:
    """The second command, of two interfaces and few cases, so that it takes no minutes."""
    without = shell(folder, "~/envs/chip/bin/python -c 'import numpy, suanzi'")
    assert "No module named 'suanzi'" in without.stderr
    few = "--op add,topk --group plain,strided --dtype int32,float32,float64"
    command = f"{commands('suanzi check')[1]} {few} --json chip.json"
    done = suanzi(folder, command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "chip_adapter:Adapter" in (folder / "chip.html").read_text("utf-8")
    found = report_json.read(folder / "chip.json")
    assert found.subject["interpreter"].endswith("envs/chip/bin/python")
    for op in ("add", "topk"):
        some = [r for r in found.results if r.op == op]
        assert sum(r.outcome == "passed" for r in some) > 10
        assert {r.problem for r in some if r.dtype == "float64"} == {"the chip has no float64"}
    reasons = {r.problem for r in found.results if r.group == "strided"}
    assert "the chip has no strides" in reasons


def test_what_it_does_not_have_is_told(folder: Path) -> None:
    done = suanzi(folder, "suanzi check --backend chip_adapter:Adapter --op exp --quick --json")
    results = json.loads(done.stdout)["results"]
    assert {r["outcome"] for r in results} <= {"unsupported", "skipped"}
    assert "the chip has no exp" in {r["problem"] for r in results}
    assert done.returncode == 1  # nothing passed


@pytest.mark.parametrize("command", commands("pytest"))
def test_in_a_suite_of_its_own(folder: Path, command: str) -> None:
    options = "-q -p no:cacheprovider --suanzi-op=add --suanzi-group=plain,status"
    run = command.replace("pytest", f"{sys.executable} -m pytest", 1)
    done = shell(folder, run, PYTEST_ADDOPTS=options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\d+ passed", done.stdout)


def test_every_option_is_there(folder: Path) -> None:
    help = shell(folder, f"{sys.executable} -m pytest -p suanzi.conformance.plugin --help").stdout
    for name in re.findall(r"^suanzi_(\w+) =", PAGE, re.M):
        assert f"--suanzi-{name}" in help
