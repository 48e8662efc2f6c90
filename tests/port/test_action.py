"""The GitHub action and the hook of pre-commit: their commands, run with values filled in."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from suanzi.port import judge, read_calls

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
ROOT = Path(__file__).parents[2]
BLOCK = "examples/port/block.jsonl"
SUANZI = shutil.which("suanzi", path=str(Path(sys.executable).parent))


@pytest.fixture
def action() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    return found


def step(action: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [one for one in action["runs"]["steps"] if one["name"] == name]
    assert isinstance(found, dict)
    return found


def perform(
    one: dict[str, Any], folder: Path, action: dict[str, Any], **given: str
) -> subprocess.CompletedProcess[str]:
    """Run a step as a runner does: expressions filled in, bash that stops at errors."""
    values = {name: about.get("default", "") for name, about in action["inputs"].items()} | given

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: values[found[1]], text)

    env = {name: filled(text) for name, text in one["env"].items()}
    env |= {name: str(folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", one["run"]], cwd=ROOT, text=True,
        env={**os.environ, "RUNNER_TEMP": str(folder), **env}, capture_output=True, check=False,
    )  # fmt: skip


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """A folder where suanzi is installed as the action installs it."""
    if SUANZI is None:
        pytest.skip("suanzi is not next to this Python")
    (tmp_path / "suanzi" / "bin").mkdir(parents=True)
    (tmp_path / "suanzi" / "bin" / "suanzi").symlink_to(SUANZI)
    return tmp_path


def test_findings_are_reported_and_uploaded(action: dict[str, Any], runner: Path) -> None:
    sarif, html = runner / "a b.sarif", runner / "page.html"
    done = perform(
        step(action, "Compare"), runner, action,
        program=BLOCK, to="cann,jax", sarif=str(sarif), html=str(html), arguments="",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "examples/port/block.py:22" in done.stdout
    assert "SZ005" in (runner / "GITHUB_STEP_SUMMARY").read_text()
    assert (runner / "GITHUB_OUTPUT").read_text().splitlines() == ["status=1", f"sarif={sarif}"]
    assert json.loads(sarif.read_text())["version"] == "2.1.0"
    assert html.read_text().startswith("<!DOCTYPE html>")


def test_a_baseline_of_all_findings_passes(action: dict[str, Any], runner: Path) -> None:
    known = runner / "known.json"
    known.write_text(json.dumps(judge(read_calls(ROOT / BLOCK), ["jax"]).to_dict()))
    compare = step(action, "Compare")
    sarif = str(runner / "s.sarif")
    given = {"program": BLOCK, "to": "jax", "sarif": sarif, "baseline": str(known)}
    assert perform(compare, runner, action, **given).returncode == 0
    assert "status=0" in (runner / "GITHUB_OUTPUT").read_text()


def test_bad_usage_uploads_nothing(action: dict[str, Any], runner: Path) -> None:
    given = {"program": "nowhere.py; exit 0", "arguments": "--steps 2", "to": "$(touch bad)"}
    sarif = runner / "s.sarif"
    sarif.write_text("of a run before")
    done = perform(step(action, "Compare"), runner, action, sarif=str(sarif), **given)
    assert done.returncode == 0
    assert (runner / "GITHUB_OUTPUT").read_text() == "status=2\n"
    assert not (ROOT / "bad").exists()


def test_its_last_step_has_the_status(action: dict[str, Any], tmp_path: Path) -> None:
    last = action["runs"]["steps"][-1]
    for status in (1, 2):
        one = {**last, "env": {"STATUS": str(status)}}
        assert perform(one, tmp_path, action).returncode == status
    assert last["if"] == "steps.port.outputs.status != '0'"


def test_what_users_give_reaches_the_shell_in_variables_only(action: dict[str, Any]) -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    assert set(re.findall(r"inputs\.(\w+)", text)) == set(action["inputs"])
    assert all("${{" not in one.get("run", "") for one in action["runs"]["steps"])
    options = set(re.findall(r"(--[a-z]+) ", step(action, "Compare")["run"]))
    assert options == {"--from", "--python", "--sarif", "--to", "--on", "--baseline", "--html"}


def test_the_hook_of_pre_commit() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert (hook["id"], hook["pass_filenames"]) == ("suanzi-port", False)
    if SUANZI is None:
        pytest.skip("suanzi is not next to this Python")
    env = {**os.environ, "PATH": f"{Path(SUANZI).parent}{os.pathsep}{os.environ['PATH']}"}
    command = [*shlex.split(hook["entry"]), BLOCK, "--to", "jax"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, check=False)
    assert (done.returncode, b"block.py:22" in done.stdout) == (1, True)
