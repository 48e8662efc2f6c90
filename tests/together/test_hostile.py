"""Files that were changed are read or refused; tests/nightly reads a minute of them."""

from __future__ import annotations

import gzip
import pickle
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

import fuzz
import suanzi as sz
from fuzzing import mutations
from fuzzing.hostile import KINDS, Hostile, Kind, _outcome
from suanzi.conformance.reports import json as report_json
from suanzi.validate.blame.runs import read_run

QUICK = ("npy", "npz", "numpy", "safetensors", "sz", "run", "kept")


@pytest.fixture(scope="module")
def hostile() -> Hostile:
    return Hostile(3, QUICK)


def test_files_that_were_changed(
    hostile: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hostile.place = tmp_path
    seen = set()
    for index in range(120):
        kind, path = hostile.changed(index)
        how, found = _outcome(kind, path)
        assert found is None, (index, found)
        assert not (tmp_path / mutations.MARKER).exists()
        seen.add(how)
    assert {"gives", "INVALID_ARGUMENT"} <= seen


def test_changes_follow_from_the_source_alone() -> None:
    content = bytes(range(200))
    some = [mutations.of_bytes(Random(i), content) for i in range(50)]
    assert some == [mutations.of_bytes(Random(i), content) for i in range(50)]
    assert sum(one != content for one in some) > 45
    data = {"a": [1, {"b": None}], "c": "text"}
    assert mutations.of_data(Random(1), data) == mutations.of_data(Random(1), data)
    assert data == {"a": [1, {"b": None}], "c": "text"}


def test_lines_are_changed_again_after_they_are_no_json() -> None:
    content = b'{"a": 1}\n'
    some = {mutations.of_lines(Random(i), content) for i in range(400)}
    assert len(some) > 50


def test_a_folder_is_changed_again_by_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    with suppress(sz.StatusError):
        fuzz.main(["--hostile", "kept", "--seed", "11", "--only", "5"])
    assert capsys.readouterr().out.rstrip().endswith("kept")


def test_what_must_not_be_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_bytes(mutations.pickled())

    def raising(path: Path) -> None:
        raise KeyError(path)

    def far(path: Path) -> None:
        raise sz.AllocFailed("no room")

    for read, kind in ((raising, "foreign"), (far, "alloc_failed")):
        _, found = _outcome(Kind("x", read, read), tmp_path / "x")
        assert found is not None
        assert found.kind == kind
    pickle.loads((tmp_path / "x").read_bytes())
    assert (tmp_path / mutations.MARKER).is_dir(), "a file that is executed leaves a mark"
    assert set(QUICK) < set(KINDS)


def test_a_run_that_is_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    (tmp_path / "bomb").write_bytes(mutations.bomb())
    with pytest.raises(sz.InvalidArgument, match="far larger unpacked"):
        read_run(tmp_path / "bomb")
    (tmp_path / "lines").write_bytes(gzip.compress(b"{}\n" * 10_000_000, 9))
    with pytest.raises(sz.InvalidArgument, match="far larger unpacked"):
        read_run(tmp_path / "lines")


def test_a_report_of_a_long_schema_is_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"schema": "' + "[" * 50_000 + '"}')
    with pytest.raises(sz.InvalidArgument, match="a report of the schema a str") as caught:
        report_json.read(tmp_path / "r.json")
    assert len(str(caught.value)) < 1000
