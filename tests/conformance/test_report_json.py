"""The report as data: it is what its schema says, and reads back as the run it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from helpers import made_runs
from helpers.made_runs import of_all, result, run
from suanzi import InvalidArgument
from suanzi.conformance.model.results import Result, Run
from suanzi.conformance.reports import json as report_json
from suanzi.conformance.reports.compare import compare
from suanzi.standard import interfaces

VALIDATOR = Draft202012Validator(report_json.schema())


def validate(data: dict[str, Any]) -> None:
    """Validate a report; of the interfaces without results, which are alike, the first ones."""
    ops = {entry["op"] for entry in (*data["results"], *data.get("blocks", ()))}
    some = [one for i, one in enumerate(data["interfaces"]) if i < 3 or one["name"] in ops]
    VALIDATOR.validate(data | {"interfaces": some})


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(report_json.schema())


def test_the_file_of_the_schema_follows_from_the_types() -> None:
    """``python -m suanzi.conformance.reports.json`` writes it."""
    assert report_json.SCHEMA_FILE.read_text("utf-8") == report_json.schema_text()


@settings(max_examples=15)
@given(made_runs.results())
def test_a_report_is_what_the_schema_says(results: list[Result]) -> None:
    one = run(*results, unused=["a"])
    data = json.loads(report_json.to_json(one))
    validate(data)
    assert data["counts"] == one.counts()
    assert len(data["interfaces"]) == len(interfaces())


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "suanzi-conformance/3"},
        {"blocks": [{"op": "add"}]},
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


def test_the_schema_takes_every_interface() -> None:
    VALIDATOR.validate(report_json.to_data(of_all()))


def test_write_and_read(tmp_path: Path) -> None:
    one = run(
        result(problem="算子 \x00 \ud800 </script>", ulp=float("inf")), result("exp", "crashed")
    )
    report_json.write(one, tmp_path / "a.json")
    assert report_json.read(tmp_path / "a.json") == one
    lines = (tmp_path / "a.json").read_text("utf-8").splitlines()
    assert sum('"outcome"' in line for line in lines) == 2, "one line for each result"


@pytest.mark.parametrize("name", ["schema", "results", "blocks"])
def test_what_cannot_be_read_is_said_in_a_few_words(name: str, tmp_path: Path) -> None:
    data = json.loads(report_json.to_json(run()))
    (tmp_path / "r.json").write_text(json.dumps({**data, name: {"a" * 30_000: [[["b"] * 9999]]}}))
    with pytest.raises(InvalidArgument) as found:
        report_json.read(tmp_path / "r.json")
    assert len(str(found.value)) < 1000


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="No such file"):
        report_json.read(tmp_path / "a.json")
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(InvalidArgument, match="is not JSON"):
        report_json.read(tmp_path / "a.json")
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(InvalidArgument, match=r"a\.json.*schema None"):
        report_json.read(tmp_path / "a.json")


@settings(max_examples=15)
@given(made_runs.results())
def test_many_cases_are_read_back_from_blocks(results: list[Result]) -> None:
    one = run(*results, unused=["a"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_json, "MANY", 0)
        data = json.loads(report_json.to_json(one))
    validate(data)
    back = Run.from_dict(data)
    assert (back.subject, back.settings, back.unused) == (one.subject, one.settings, one.unused)
    assert back.counts() == one.counts()
    assert not compare(one, back).kinds()["changed"]
    assert not any(compare(back, one).kinds().values())
    found = {r.id: r for r in back.results}
    for r in results:
        if r.bad or r.unexpected:
            assert found[r.id] == r
        else:
            said, was = found[r.id].to_dict(), r.to_dict()
            assert set(said) == set(was)
            measures = {n for n in was if isinstance(was[n], float)}
            assert all(said[n] == pytest.approx(was[n], rel=1e-1) for n in measures)
            assert all(said[n] == was[n] for n in set(was) - measures)


def test_a_whole_passing_run_is_a_small_file(tmp_path: Path) -> None:
    dtypes = "int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
    some = [
        result(r.op, title=f"{i}-by-{i}-elements", dtype=d, ulp=(i * 37 % 101) / 77, bound=3.0,
               mean_relative=i * 1.2345678e-9, max_relative=i * 8.7654321e-9, cann=True)
        for r in of_all().results[:50] for d in dtypes for i in range(40)
    ]  # fmt: skip
    report_json.write(run(*some), tmp_path / "a.json")
    assert len(some) == 20_000
    assert (tmp_path / "a.json").stat().st_size < 700_000
