"""A release: cibuildwheel's settings and the workflow; .ci/wheel proves the rest."""

import importlib.metadata
import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

import suanzi
from suanzi.base.toml import tomllib

HOME = Path(__file__).parents[2]
PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))
WORKFLOW = HOME / ".github" / "workflows" / "wheels.yml"
PINS = HOME / ".github" / "build-requirements.txt"
NOTICES = HOME / "licences"


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


def test_the_core_has_the_version_of_the_project_even_if_it_was_built_by_hand():
    assert suanzi.__version__ == PROJECT["project"]["version"]


def test_every_wheel_checks_itself():
    assert PROJECT["tool"]["cibuildwheel"]["test-command"] == "suanzi check --quick"


def test_nothing_is_built_with_openmp():
    assert "openmp" not in (HOME / "CMakeLists.txt").read_text("utf-8").lower()


def test_only_publishing_may_ask_for_a_token():
    before, publish = WORKFLOW.read_text("utf-8").split("\n  publish:\n")
    assert "write" not in before
    assert re.findall(r"\w[\w-]*: write", publish) == ["id-token: write"]
    assert "startsWith(github.ref, 'refs/tags/v')" in publish


def pinned() -> dict[str, list[str]]:
    """Every package of the pins with its hashes."""
    entries = re.findall(
        r"^([a-z-]+)==([\d.]+)(?: ; [^\\\n]*)? \\\n((?: +--hash=.*\n)+)",
        PINS.read_text("utf-8"),
        re.M,
    )
    return {name: re.findall(r"--hash=sha256:([0-9a-f]{64})\b", rest) for name, _, rest in entries}


def test_a_release_is_built_with_pinned_files_alone():
    settings = PROJECT["tool"]["cibuildwheel"]
    install = "pip install --require-hashes --no-deps -r"
    assert settings["before-build"] == f"{install} {{project}}/{PINS.relative_to(HOME)}"
    assert "--no-isolation" in settings["build-frontend"]["args"]
    assert f"{install} {PINS.relative_to(HOME)}" in WORKFLOW.read_text("utf-8")


def test_every_pin_has_its_hashes_and_nothing_that_builds_is_missing():
    found = pinned()
    assert len(found) == PINS.read_text("utf-8").count("==")
    assert all(found.values())
    building = {re.split(r"[><=]", one)[0] for one in PROJECT["build-system"]["requires"]}
    assert building | {"build", "cmake", "ninja"} <= set(found)


def bill() -> dict[str, Any]:
    """The bill of materials of what would be built here."""
    pytest.importorskip("nanobind")
    pythran = importlib.util.find_spec("pythran")
    if pythran is None or not pythran.submodule_search_locations:
        pytest.skip("no pythran, and so no xsimd")
    import write_sbom

    return write_sbom.bill("1.2.3", Path(pythran.submodule_search_locations[0]))


def test_the_bill_of_materials_names_what_is_compiled_in():
    said = bill()
    assert (said["bomFormat"], said["specVersion"]) == ("CycloneDX", "1.6")
    assert said["metadata"]["component"]["purl"] == "pkg:pypi/suanzi@1.2.3"
    parts = {part["name"]: part for part in said["components"]}
    assert sorted(parts) == sorted(file.stem for file in NOTICES.glob("*.txt"))
    assert parts["nanobind"]["version"] == importlib.metadata.version("nanobind")
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", part["version"]) for part in parts.values())
    ids = {one["license"]["id"] for part in parts.values() for one in part["licenses"]}
    assert {"Apache-2.0", *ids} == set(PROJECT["project"]["license"].split(" AND "))
    assert json.dumps(said) == json.dumps(bill())


def test_the_notices_are_those_of_the_sources():
    assert PROJECT["project"]["license-files"] == ["LICENSE", "licences/*.txt"]
    nanobind = pytest.importorskip("nanobind")
    files = importlib.metadata.files("nanobind") or []
    (theirs,) = (file for file in files if file.name == "LICENSE")
    assert theirs.read_text() == (NOTICES / "nanobind.txt").read_text("utf-8")
    header = Path(nanobind.__file__).parent / "ext/robin_map/include/tsl/robin_map.h"
    head = header.read_text("utf-8").split("*/")[0]
    plain = "\n".join(line.strip(" /*") for line in head.splitlines())
    assert plain.split() == (NOTICES / "robin-map.txt").read_text("utf-8").split()


def words(head: str) -> str:
    """The words of a comment, without what frames them."""
    return " ".join(head.replace("*", " ").split())


def test_the_notice_of_xsimd_names_all_whose_code_is_compiled_in():
    pythran = importlib.util.find_spec("pythran")
    if pythran is None or not pythran.submodule_search_locations:
        pytest.skip("no pythran, and so no xsimd")
    folder = Path(pythran.submodule_search_locations[0]) / "xsimd"
    notice = words((NOTICES / "xsimd.txt").read_text("utf-8"))
    head = words((folder / "xsimd.hpp").read_text("utf-8")).partition(" Distributed")[0]
    owners = head.split("Copyright (c) ")[1:]
    assert len(owners) == 3
    for owner in owners:  # its LICENSE, which pythran leaves out, gives the years, too
        assert re.search(rf"Copyright \(c\) \d{{4}}, {owner.strip()}", notice), owner
    functions = (folder / "arch/common/xsimd_common_math.hpp").read_text("utf-8")
    (sun,) = re.findall(r"origin: FreeBSD.*?={9,}(.*?)={9,}", functions, re.S)
    assert words(sun) in notice
