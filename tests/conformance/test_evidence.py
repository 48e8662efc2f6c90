"""Reports say which library, which kit and which cases they are about."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from suanzi import InvalidArgument
from suanzi.conformance import evidence, mustpass
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.check import check
from suanzi.conformance.model.basis import REQUIRED, why
from suanzi.conformance.model.case import GROUPS
from suanzi.conformance.reports import json as report_json
from suanzi.conformance.running.recording import content_of
from suanzi.conformance.shards import merge


def test_a_report_names_kit_backend_host_and_cases(tmp_path: Path) -> None:
    run = check("numpy", ops=["rint"], dtypes=["float32"], groups=["plain"], jobs=1)
    found = run.evidence
    assert len(found["kit"]["sha256"]) == 64
    assert found["kit"]["commit"]
    assert all(len(one) == 64 for one in found["backend"].values())
    assert found["host"]["machine"]
    required = [r for r in run.results if r.kept is not None]
    assert found["contents"]["rint"]["cases"] == len(required) > 0
    report_json.write(run, tmp_path / "r.json")
    assert report_json.read(tmp_path / "r.json").evidence == found


def test_the_hash_is_the_same_for_every_backend_and_changes_with_a_case() -> None:
    options = {"ops": ["abs"], "dtypes": ["int16"], "groups": ["plain"], "jobs": 1}
    one = check("numpy", **options).evidence["contents"]  # type: ignore[arg-type]
    two = check("suanzi", **options).evidence["contents"]  # type: ignore[arg-type]
    assert one == two
    case = cases("abs", Wanted(groups=frozenset({"plain"}), dtypes=frozenset({"int16"})))[0]
    expected = case.expect()
    assert isinstance(expected, tuple)
    assert content_of(case, expected) == content_of(case, case.expect())
    assert content_of(case, expected) != content_of(case, (*expected, None))


def test_shards_of_different_files_are_not_merged() -> None:
    options = {"ops": ["abs", "sign"], "dtypes": ["int8"], "groups": ["plain"], "jobs": 1}
    runs = [check("suanzi", shard=f"{k}/2", **options) for k in (1, 2)]  # type: ignore[arg-type]
    merged = merge(runs)
    assert set(merged.evidence["contents"]) == {"abs", "sign"}
    runs[1].evidence["backend"] = {"libother.so": "0" * 64}
    with pytest.raises(InvalidArgument, match="different files"):
        merge(runs)


def test_the_compiler_of_a_library(tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    library.write_bytes(b"\x7fELF\0GCC: (Debian 12.2.0-14) 12.2.0\0\0clang version 17.0.1 (x)\0")
    assert evidence.compiler(library) == "GCC: (Debian 12.2.0-14) 12.2.0; clang version 17.0.1 (x)"
    assert evidence.sha256(library) == hashlib.sha256(library.read_bytes()).hexdigest()
    assert evidence.compiler(tmp_path / "none.so") is None


def test_lists_are_known_by_name() -> None:
    assert mustpass.EDITION in mustpass.editions()
    with pytest.raises(InvalidArgument, match="is not a list"):
        mustpass.read("2024.9")


@pytest.mark.parametrize("op", ["rint", "logical_not", "squeeze", "shape"])
def test_the_cases_are_those_of_the_frozen_list(op: str) -> None:
    wanted = Wanted(groups=frozenset(GROUPS) - {"promotion"})
    lines = []
    for case in cases(op, wanted):
        expected = None if case.skip else case.expect()
        if expected is not None and why(case, expected).basis in REQUIRED:
            lines.append(f"{content_of(case, expected)}  {case.id}\n")
    found = {"cases": len(lines), "sha256": evidence.digest(lines)}
    assert found == mustpass.read()["interfaces"][op], "a published list stays: make a new one"
