"""The files of the standard: each is what its name says, and is read as it is written."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from suanzi import standard
from suanzi.base.toml import tomllib
from suanzi.standard import FORMS, examples, interfaces, valid_call
from suanzi.standard.prototypes import prototype
from suanzi.standard.records import _parsed as read_records
from suanzi.standard.records import categories

FOLDER = Path(standard.__file__).parent
CATEGORIES = """creation query transformation arithmetic comparison logical bitwise power rounding
    trigonometric hyperbolic exponential reduction indexing complex signal linear_algebra
    interpolation""".split()
FILES = [FOLDER / f"7.2.{n}-{name}.toml" for n, name in enumerate(CATEGORIES, 1)]


def records(file: Path) -> list[dict[str, Any]]:
    """All of a file at once, examples among the facts."""
    return list(tomllib.loads(file.read_text("utf-8"))["interface"])


def number(clause: str) -> list[int]:
    return [int(part) for part in clause.split(".")]


def test_each_category_has_its_file() -> None:
    assert set(FOLDER.glob("*.toml")) == {*FILES, FOLDER / "errata.toml", FOLDER / "titles.toml"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_has_the_interfaces_of_its_category(file: Path) -> None:
    clause, _, category = file.stem.partition("-")
    names = [one["name"] for one in records(file)]
    assert names == [name for name, one in interfaces().items() if one.category_clause == clause]
    assert {interfaces()[name].category for name in names} == {category.replace("_", " ")}
    head = file.read_text("utf-8").splitlines()[0]
    assert head.startswith(f"# {clause} and A{clause.removeprefix('7')}, ")


def test_interfaces_and_tables_are_in_order() -> None:
    every = list(interfaces().values())
    assert every == sorted(every, key=lambda one: number(one.clause))
    assert every == sorted(every, key=lambda one: one.table)


@pytest.mark.parametrize("n", range(18))
def test_what_is_read_in_parts_is_the_whole(n: int) -> None:
    category, whole = categories()[n], records(FILES[n])
    assert category.name == CATEGORIES[n].replace("_", " ")
    examples = [{"name": one["name"], **entry} for one in whole for entry in one.pop("example")]
    assert category.facts == whole
    assert repr(list(category.examples())) == repr(examples)  # of which some have NaNs


def test_a_prototype_is_called_as_its_interface() -> None:
    for category in categories():
        for facts in category.facts:
            assert facts["prototype"].startswith(f"op_{facts['name']}(")
            assert facts["prototype"].endswith(")")


def test_the_page_beside_the_files_explains_their_fields() -> None:
    page = (FOLDER / "README.md").read_text("utf-8")
    facts, rest = page.partition("\n## Forms")[::2]
    forms, examples = rest.partition("\n## Prototypes")[::2]
    whole = [one for file in FILES for one in records(file)]
    entries = [entry for one in whole for entry in one.pop("example")]
    for said, used in ((facts, whole), (examples, entries)):
        assert set(re.findall(r"^\| `(\w+)` ", said, re.M)) == {k for one in used for k in one}
    assert tuple(re.findall(r"^\| `(\w+)` ", forms, re.M)) == FORMS
    assert {one["form"] for one in whole} == set(FORMS)
    checks = {entry["check"] for entry in entries if "check" in entry}
    assert set(re.findall(r'^\| `"(\w+)"` ', examples, re.M)) == checks


def test_every_interface_has_a_valid_call() -> None:
    for name, facts in interfaces().items():
        given = valid_call(name)
        needed = {p.name for p in facts.parameters if p.required and not p.derived}
        assert needed <= set(given) <= {p.name for p in facts.parameters}, name
        calls = [repr(e.arguments) for e in examples() if e.name == name and not e.status]
        assert repr(given) in calls, name  # by text: some have NaNs


def test_operands_are_the_tensors_of_the_prototype() -> None:
    for name, facts in interfaces().items():
        items = prototype(name).parameters
        assert facts.operands == tuple(i.name for i in items if i.base == "Tensor"), name


def test_what_was_parsed_is_kept_until_the_text_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "kept"))
    file = str(tmp_path / "1-some.toml")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert read_records("x = 1", file) == {"x": 1}
    assert not (tmp_path / "kept").exists()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert read_records("x = 1", file) == {"x": 1}
    (kept,) = (tmp_path / "kept").rglob("*.records")
    with monkeypatch.context() as patched:
        patched.setattr("suanzi.standard.records.tomllib.loads", None)
        assert read_records("x = 1", file) == {"x": 1}
    assert read_records("x = 2", file) == {"x": 2}
    for damaged in (b"", kept.read_bytes()[:-1], kept.read_bytes()[:12] + b"?"):
        kept.write_bytes(damaged)
        assert read_records("x = 2", file) == {"x": 2}
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]
