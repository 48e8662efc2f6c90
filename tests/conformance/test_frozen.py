"""Cases written to files and read back: the same calls and truth, under hashes."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz
from suanzi.conformance.cases import Wanted, cases, frozen
from suanzi.conformance.check import check
from suanzi.conformance.model.case import GROUPS as EVERY
from suanzi.conformance.model.case import Check, Output, Refused
from suanzi.conformance.model.numbers import Real
from suanzi.conformance.running.process import Local
from suanzi.conformance.running.run import Job, run_job
from suanzi.conformance.subjects.suanzi_adapter import Adapter
from suanzi.standard import interfaces

SOME = ["add", "sqrt", "matmul", "cast", "reduce", "topk", "shape", "destroy", "rand_uniform"]
GROUPS = frozenset({"plain", "strided", "special", "status", "promotion", "example"})


@pytest.mark.parametrize("op", list(interfaces()))
def test_a_case_comes_back_as_it_was(op: str) -> None:
    """Every fifth case, of every third group: which, follows from the interface."""
    turn = list(interfaces()).index(op) % 3
    some = frozenset(list(EVERY)[turn::3])
    for case in cases(op, Wanted(some, quick=True))[turn::5]:
        case = replace(case, expect=cache(case.expect))
        line = frozen.line_of(case)
        again = frozen.case_of(line)
        assert (again.id, again.rules, again.skip) == (case.id, case.rules, case.skip)
        assert frozen.line_of(again) == line
        if case.skip is None:
            assert again.expect() == case.expect()


sizes = st.fractions(min_value=0) | st.integers(0, 2**80).map(Fraction)
reals = st.builds(Real, st.booleans(), sizes) | st.sampled_from(
    [Real(False, None), Real(True, None), Real(False, None, is_nan=True)]
)
values = reals | st.integers() | st.tuples(reals, reals)


@settings(max_examples=100)
@given(values, st.integers(-1100, 1100))
def test_numbers_are_exact(x: Any, exponent: int) -> None:
    assert frozen.from_data(json.loads(json.dumps(frozen.to_data(x)))) == x
    power = Fraction(2) ** exponent
    for y in (power, 3 * power, 1 - power):
        assert frozen.from_data(frozen.to_data(y)) == y


def test_everything_that_is_expected() -> None:
    output = Output("float32", (2,), (Real(True, Fraction(0)), Real(False, Fraction(1, 3))), ulp=2)
    for x in (
        (output,),
        ([output, output], 3, True),
        Refused(sz.Status.INVALID_ARGUMENT),
        Refused(sz.Status.INVALID_ARGUMENT, instead=(output,)),
        Check("one_of", {"allowed": (0, 1), "dtype": "float32", 3: [None, 2.5, 1j]}),
        Output("int8", (0,), (), allowed=(Fraction(1, 7),), scale=(0.5,), zero_point=3),
    ):
        assert frozen.from_data(json.loads(json.dumps(frozen.to_data(x)))) == x
    with pytest.raises(TypeError, match="cannot be written"):
        frozen.to_data(object())


@pytest.fixture(scope="module")
def folder_of_cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frozen") / "cases"
    exported(folder)
    return folder


def exported(folder: Path) -> dict[str, Any]:
    wanted = Wanted(GROUPS, quick=True)
    return frozen.export(folder, ((op, cases(op, wanted)) for op in SOME), {"seed": 0})


def test_a_folder_has_a_manifest_that_is_the_same_every_time(
    folder_of_cases: Path, tmp_path: Path
) -> None:
    again = exported(tmp_path / "b")
    assert again == frozen.manifest_of(folder_of_cases)
    assert again["cases"] == sum(len(frozen.read(folder_of_cases, op)) for op in SOME)
    assert frozen.read(folder_of_cases, "sub") == []


def test_frozen_cases_are_run(folder_of_cases: Path) -> None:
    run = check(folder=str(folder_of_cases), jobs=1)
    assert run.counts()["cases"] == frozen.manifest_of(folder_of_cases)["cases"]
    assert run.conforms


@pytest.mark.parametrize("what", ["file", "manifest", "format", "missing file", "no folder"])
def test_files_that_were_changed_are_refused(
    folder_of_cases: Path, tmp_path: Path, what: str
) -> None:
    folder = tmp_path / "cases"
    shutil.copytree(folder_of_cases, folder)
    manifest = folder / frozen.MANIFEST
    facts = json.loads(manifest.read_text())
    if what == "file":
        text = (folder / "add.jsonl").read_text()
        (folder / "add.jsonl").write_text(text.replace("plain", "plane", 1))
    elif what == "manifest":
        facts["sha256"] = "0" * 64
        manifest.write_text(json.dumps(facts))
    elif what == "format":
        manifest.write_text(json.dumps(facts | {"format": "suanzi-cases/9"}))
    elif what == "missing file":
        (folder / "add.jsonl").unlink()
    else:
        folder = tmp_path / "nowhere"
    with pytest.raises(sz.InvalidArgument, match=r"check: .*\.$"):
        frozen.manifest_of(folder)


def test_a_folder_that_has_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(sz.InvalidArgument, match="not an empty folder"):
        exported(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def forged(folder: Path, line: str | None = None, **manifest: Any) -> Path:
    """Write a folder whose hashes are right, with a line or facts of somebody else's."""
    made = frozen.export(
        folder, [("add", cases("add", Wanted(frozenset({"plain"}), frozenset({"int8"})))[:1])]
    )
    if line is not None:
        text = line.encode() + b"\n"
        (folder / "add.jsonl").write_bytes(text)
        made["files"]["add.jsonl"]["sha256"] = hashlib.sha256(text).hexdigest()
        made["sha256"] = frozen.digest(made["files"])
    (folder / frozen.MANIFEST).write_text(json.dumps(made | manifest))
    return folder


def changed(folder: Path, **facts: Any) -> str:
    line = (forged(folder) / "add.jsonl").read_text()
    return json.dumps(json.loads(line) | facts)


DEEP: Any = []
for _ in range(600):
    DEEP = [DEEP]
OUTPUT = {"dtype": "int8", "shape": {"tuple": [1]}, "truth": {"tuple": [5]}}


@pytest.mark.parametrize(
    "facts",
    [
        {"op": "sub"}, {"op": 5}, {"group": "other"}, {"group": []}, {"dtype": None}, {"title": {}},
        {"rules": 5}, {"skip": []}, {"arguments": 5}, {"arguments": DEEP},
        {"arguments": {"dict": [[5, 5]]}}, {"arguments": {"dict": [["x", {"tensor": {}}]]}},
        {"arguments": {"dict": [["x", {"real": "1e99"}]]}},
        {"expected": 5}, {"expected": DEEP}, {"expected": {"status": "FINE"}},
        {"expected": {"check": {"name": "no_check", "facts": {"dict": []}}}},
        {"expected": {"check": {"name": "lu_factors", "facts": 5}}},
        {"expected": {"refused": {"status": 5}}},
        {"expected": {"tuple": [{"output": {}}]}},
        {"expected": {"tuple": [{"output": OUTPUT | {"shape": {"tuple": [2]}}}]}},
        {"expected": {"tuple": [{"output": OUTPUT | {"dtype": "int9"}}]}},
        {"expected": {"tuple": [{"real": "0x1p9999999999"}]}},
        {"expected": {"tuple": [{"fraction": "1e999999999"}]}},
    ],
    ids=lambda facts: repr(facts)[:60],
)  # fmt: skip
def test_a_forged_case_is_one_sentence(tmp_path: Path, facts: Any) -> None:
    folder = forged(tmp_path / "forged", changed(tmp_path / "right", **facts))
    with pytest.raises(sz.InvalidArgument, match="is not a case"):
        run_job(Local(Adapter()), Job("add", Wanted(folder=str(folder))))


@pytest.mark.parametrize("line", ["", "5", "[]", "{}", "[" * 100_000, "\x1b[2J"])
def test_a_line_that_is_no_case(tmp_path: Path, line: str) -> None:
    with pytest.raises(sz.InvalidArgument, match="is not a case") as error:
        check("suanzi", folder=forged(tmp_path / "forged", line), jobs=1)
    assert "\x1b" not in str(error.value)


def test_truth_of_the_wrong_kind_is_a_verdict(tmp_path: Path) -> None:
    """The elements of an integer tensor that are no integers: nothing can be held against them."""
    shape = {"tuple": [8]}
    truth = {"tuple": [{"dict": []}] * 8}
    output = {"output": OUTPUT | {"shape": shape, "truth": truth}}
    line = changed(tmp_path / "right", expected={"tuple": [output]})
    found = check("suanzi", folder=forged(tmp_path / "forged", line), jobs=1)
    assert [r.outcome for r in found.results] == ["failed"]


@pytest.mark.parametrize(
    "facts",
    [
        {"files": 5}, {"files": {"add.jsonl": 5}}, {"files": {"add.jsonl": {}}},
        {"files": {"../../etc/passwd": {"sha256": ""}}}, {"sha256": 5}, {"seed": "x"},
        {"seed": None}, {"rules": "nobody's"}, {"rules": 5}, {"filters": 5},
        {"filters": {"ops": 5}}, {"filters": {"dtypes": [5]}},
    ],
    ids=repr,
)  # fmt: skip
def test_a_forged_manifest_is_one_sentence(tmp_path: Path, facts: Any) -> None:
    with pytest.raises(sz.InvalidArgument, match="check: "):
        check("suanzi", folder=forged(tmp_path / "forged", **facts), jobs=1)


@pytest.mark.parametrize("text", ["5", "[]", "null", "[" * 100_000, "\udcff"])
def test_what_is_no_manifest_is_one_sentence(tmp_path: Path, text: str) -> None:
    folder = forged(tmp_path / "forged")
    (folder / frozen.MANIFEST).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(sz.InvalidArgument, match="check: "):
        check("suanzi", folder=folder, jobs=1)
