"""GitHub's workflows: what they run exists, takes these arguments, and is what a person runs."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from suanzi.base.toml import tomllib
from suanzi.front.cli import app

HOME = Path(__file__).parents[2]
WORKFLOWS = sorted((HOME / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))
OTHERS = {"cd", "ls", "pip", "python"}
"""Programs that every runner has."""


def read(path: Path) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="PyYAML, which comes with Zensical")
    found = yaml.safe_load(path.read_text("utf-8"))
    return {"on" if key is True else key: value for key, value in found.items()}


def rows(matrix: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what each job of a matrix is given, without what `include` adds to a job."""
    axes = {name: values for name, values in matrix.items() if name not in ("include", "exclude")}
    product = [dict(zip(axes, row, strict=True)) for row in itertools.product(*axes.values())]
    return [row for row in product if row] + list(matrix.get("include", []))


def commands(path: Path) -> Iterator[list[str]]:
    """Yield the words of every command that a workflow runs, for each of its jobs."""
    for job in read(path)["jobs"].values():
        for given in rows(job.get("strategy", {}).get("matrix", {})) or [{}]:
            for step in job["steps"]:
                text = step.get("run", "")
                for name, value in given.items():
                    text = re.sub(rf"\$\{{\{{ *matrix\.{name} *\}}\}}", str(value), text)
                assert "${{" not in text, f"{path.name}: {text}"
                for line in re.split(r"\n|&&|;|\|", text):
                    if line.strip():
                        yield shlex.split(line)


def wrong(words: list[str]) -> str:
    """Return what is wrong with a command: a file that is missing, or an argument it refuses."""
    program, *arguments = words
    if program == "suanzi":
        try:
            app.parse_args(arguments, exit_on_error=False, print_error=False)
        except Exception as error:
            return f"{words}: {error}"
    elif program.startswith((".ci/", "tools/", "./")):
        return wrong_script(HOME / program, arguments)
    elif program not in OTHERS:
        return f"{words}: {program} is not known"
    for file in re.findall(r"(?<=-r )\S+", " ".join(words)):
        if not (HOME / file).is_file():
            return f"{words}: no file {file}"
    return ""


def wrong_script(script: Path, arguments: list[str]) -> str:
    if not script.is_file() or not os.access(script, os.X_OK):
        return f"{script}: not a program"
    text = script.read_text("utf-8")
    if arguments and not re.search(r"\$[@*#1]|\$\{[@*#1]|sys\.argv|argparse", text):
        return f"{script}: takes no arguments"
    unknown = [one for one in arguments if not re.search(rf"(?<![\w-]){re.escape(one)}\b", text)]
    return f"{script}: does not know {unknown}" if unknown else ""


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_runs_exists_and_takes_these_arguments(path: Path) -> None:
    assert [found for found in map(wrong, commands(path)) if found] == []


@pytest.mark.parametrize(
    "words",
    [".ci/nightly nothing", ".ci/run quickly", ".ci/missing", ".ci/throwing_new.cpp",
     "suanzi check --quickly", "pip install -r missing.txt", "suanzy check"],
)  # fmt: skip
def test_a_command_that_would_fail_is_seen(words: str) -> None:
    assert wrong(words.split())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_job_says_where_it_runs_and_for_how_long(path: Path) -> None:
    known = {"ubuntu-24.04", "ubuntu-24.04-arm", "macos-15"}
    for name, job in read(path)["jobs"].items():
        assert 0 < job["timeout-minutes"] <= 360, name
        given = rows(job.get("strategy", {}).get("matrix", {}))
        runners = {row["runner"] for row in given} or {job["runs-on"]}
        assert runners <= known, name
        for needed in job.get("needs", []):
            assert needed in read(path)["jobs"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_may_do_nothing_but_read(path: Path) -> None:
    text = path.read_text("utf-8")
    used = re.findall(r"uses: (\S+)", text)
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w./-]+@v\d+\.\d+\.\d+", action)] == []
    assert re.search(r"^permissions: \{\}$", text, re.M)
    assert "write" not in text.split("\n  publish:\n")[0]


def test_every_push_and_pull_request_is_tested_on_every_machine() -> None:
    (path,) = (path for path in WORKFLOWS if path.stem == "tests")
    found = read(path)
    assert {"push", "pull_request"} <= set(found["on"])
    assert found["on"]["pull_request"] is None
    assert found["on"]["push"] == {"branches": ["**"]}
    (job,) = found["jobs"].values()
    tags = sorted(PROJECT["tool"]["cibuildwheel"]["build"], key=lambda tag: int(tag[3:-2]))
    ends = [f"{tag[2]}.{tag[3:-2]}" for tag in (tags[0], tags[-1])]
    assert PROJECT["project"]["requires-python"] == f">={ends[0]}"
    runners = ("ubuntu-24.04", "ubuntu-24.04-arm", "macos-15")
    wanted = [{"runner": runner, "python": python} for runner in runners for python in ends]
    assert rows(job["strategy"]["matrix"]) == wanted
    assert list(commands(path)) == [[".ci/run"]] * len(wanted)
    assert {"python-version": "${{ matrix.python }}"} in [step.get("with") for step in job["steps"]]


def test_every_part_of_the_nightly_checks_has_a_job() -> None:
    (path,) = (path for path in WORKFLOWS if path.stem == "nightly")
    (parts,) = re.findall(r"^parts=\((.*)\)$", (HOME / ".ci" / "nightly").read_text("utf-8"), re.M)
    jobs = [words[1] for words in commands(path)]
    assert set(jobs) == set(parts.split())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actionlint_finds_nothing(path: Path) -> None:
    actionlint = shutil.which("actionlint")
    if actionlint is None:
        pytest.skip("actionlint is not installed")
    done = subprocess.run([actionlint, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
