"""The report as data: it is what its schema says, and reads back as the run it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from helpers import made_runs
from helpers.made_runs import of_all, result, run
from suanzi import InvalidArgument
from suanzi.conformance.model.results import Result
from suanzi.conformance.reports import json as report_json
from suanzi.standard import interfaces

VALIDATOR = Draft202012Validator(report_json.schema())


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(report_json.schema())


@settings(max_examples=15)
@given(made_runs.results())
def test_a_report_is_what_the_schema_says(results: list[Result]) -> None:
    one = run(*results, unused=["a"])
    data = json.loads(report_json.to_json(one))
    VALIDATOR.validate(data)
    assert data["counts"] == one.counts()
    assert len(data["interfaces"]) == len(interfaces())


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "suanzi-conformance/2"},
        {"results": [{"id": "a", "op": "add", "group": "plain", "dtype": "int8"}]},
        {"results": [result().to_dict() | {"outcome": "fine"}]},
        {"results": [result().to_dict() | {"known": "it passed"}]},
        {"results": [result().to_dict() | {"ulp": "many"}]},
        {"counts": {"cases": -1}},
        {"levels": [{"name": "best"}]},
    ],
)
def test_the_schema_refuses_what_is_wrong(change: dict) -> None:
    assert not VALIDATOR.is_valid(report_json.to_data(of_all()) | change)


def test_write_and_read(tmp_path: Path) -> None:
    one = run(
        result(problem="算子 \x00 \ud800 </script>", ulp=float("inf")), result("exp", "crashed")
    )
    report_json.write(one, tmp_path / "a.json")
    assert report_json.read(tmp_path / "a.json") == one
    lines = (tmp_path / "a.json").read_text("utf-8").splitlines()
    assert sum('"outcome"' in line for line in lines) == 2, "one line for each result"


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="No such file"):
        report_json.read(tmp_path / "a.json")
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(InvalidArgument, match="is not JSON"):
        report_json.read(tmp_path / "a.json")
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(InvalidArgument, match=r"a\.json.*schema None"):
        report_json.read(tmp_path / "a.json")
