"""A release: cibuildwheel's settings and the workflow; .ci/wheel proves the rest."""

import re
import tomllib
from pathlib import Path

HOME = Path(__file__).parents[1]
PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))
WORKFLOW = HOME / ".github" / "workflows" / "wheels.yml"


def test_wheels_begin_with_the_oldest_python_allowed():
    least = int(PROJECT["project"]["requires-python"].removeprefix(">=3."))
    builds = PROJECT["tool"]["cibuildwheel"]["build"]
    assert builds == [f"cp3{minor}-*" for minor in range(least, least + len(builds))]
    assert len(builds) >= 4


def test_the_build_finds_the_python_that_the_project_allows():
    (least,) = re.findall(
        r"find_package\(Python ([\d.]+)", (HOME / "CMakeLists.txt").read_text("utf-8")
    )
    assert PROJECT["project"]["requires-python"] == f">={least}"


def test_every_wheel_checks_itself():
    assert PROJECT["tool"]["cibuildwheel"]["test-command"] == "suanzi check --quick"


def test_nothing_is_built_with_openmp():
    assert "openmp" not in (HOME / "CMakeLists.txt").read_text("utf-8").lower()


def test_actions_are_pinned_and_only_publishing_may_ask_for_a_token():
    text = WORKFLOW.read_text("utf-8")
    used = re.findall(r"uses: (\S+)", text)
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w./-]+@v\d+\.\d+\.\d+", action)] == []
    assert re.search(r"^permissions: \{\}$", text, re.M)
    before, publish = text.split("\n  publish:\n")
    assert "write" not in before
    assert re.findall(r"\w[\w-]*: write", publish) == ["id-token: write"]
    assert "startsWith(github.ref, 'refs/tags/v')" in publish
