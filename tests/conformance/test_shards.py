"""A run in shards, merged: the report of one machine, case for case."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

import suanzi as sz
from suanzi.conformance.check import check
from suanzi.conformance.model.results import Result, Run
from suanzi.conformance.reports import deviations
from suanzi.conformance.reports.deviations import Deviation
from suanzi.conformance.reports.json import schema, to_data, to_json
from suanzi.conformance.reports.levels import levels
from suanzi.conformance.reports.readings import settle
from suanzi.conformance.shards import Shard, hash_of, merge
from suanzi.front.cli import main
from suanzi.standard import interfaces

ASKED = ["--quick", "--op", "rint,add,trunc,mul", "--dtype", "float16,int8", "--jobs", "1"]


def shard(number: int, of: int, *results: Result, **settings: object) -> Run:
    """A report of a shard, as one reads it."""
    asked = {"seed": 0, "rules": "cann", **settings}
    asked |= {"shard": {"number": number, "of": of, "unused": ["a", str(number)]}}
    return Run({"name": "chip", "title": "chip", "version": "1"}, asked, list(results))


def result(op: str, **facts: object) -> Result:
    facts = {"outcome": "passed", "basis": "interpretation", **facts}
    return Result(f"{op}/plain/float32/one", op, "plain", "float32", **facts)  # type: ignore[arg-type]


class TestShares:
    @pytest.mark.parametrize("of", [1, 2, 3, 7, 151])
    def test_everything_is_in_one_shard(self, of: int) -> None:
        work = list(range(151))
        shares = [Shard(k, of).share(work) for k in range(1, of + 1)]
        assert sorted(i for share in shares for i in share) == work
        sizes = {len(share) for share in shares}
        assert max(sizes) - min(sizes) <= 1

    @pytest.mark.parametrize("text", ["0/3", "4/3", "2", "a/b", "1/2/3", "-1/3", "1/0", "", "²/3"])
    def test_no_shard(self, text: str) -> None:
        with pytest.raises(
            sz.InvalidArgument, match="is not a shard; write the second of five as 2/5"
        ):
            Shard.read(text)

    def test_more_shards_than_work(self) -> None:
        with pytest.raises(sz.InvalidArgument, match="1 interface cannot be shared among 2 shards"):
            check("suanzi", ops=["add"], quick=True, jobs=1, shard="2/2")


def test_the_report_is_that_of_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(tmp_path / f"{k}.json") for k in (1, 2, 3)]
    for k, file in enumerate(files, 1):
        assert main(["check", *ASKED, "--shard", f"{k}/3", "--json", file]) == 0
    one, all_of = tmp_path / "one.json", tmp_path / "all.json"
    assert main(["check", *ASKED, "--json", str(one)]) == 0
    capsys.readouterr()
    # In any order.
    assert main(["merge", files[2], files[0], files[1], "--json", str(all_of)]) == 0
    assert "shard" not in capsys.readouterr().out
    single, merged = json.loads(one.read_text()), json.loads(all_of.read_text())
    jsonschema.validate(merged, schema())
    jsonschema.validate(json.loads(Path(files[0]).read_text()), schema())
    for data in (single, merged):
        del data["seconds"], data["settings"]["jobs"], data["settings"]["started"]
    assert merged == single


def test_packed_reports_are_merged_alike() -> None:
    """A report of many cases is read back in another order, and written in the same."""
    made = [
        Result(f"{op}/plain/{dt}/{i}", op, "plain", dt, "failed" if i == 7 else "passed",
               basis="normative")
        for op in ("add", "sub") for dt in ("int8", "float32") for i in range(2000)
    ]  # fmt: skip
    one = Run({"name": "chip", "title": "chip", "version": "1"}, {"seed": 0, "rules": "cann"}, made)
    halves = [shard(k, 2, *(r for r in made if r.op == op)) for k, op in ((1, "add"), (2, "sub"))]
    read = [Run.from_dict(json.loads(to_json(run))) for run in halves]
    merged, single = to_data(merge(read)), to_data(one)
    assert merged["blocks"] == single["blocks"]
    assert merged["results"] == single["results"]


class TestReadings:
    """Which reading most answers follow is a question to all shards."""

    EVEN = "E86: ties to even"
    AWAY = "E86: ties away"

    def halves(self) -> tuple[list[Result], list[Result]]:
        """Two of three answers in one shard follow what one of five follows in all."""
        ops = ["floor", "ceil", "trunc", "round", "rint", "add"]
        follow = [self.AWAY, self.AWAY, self.EVEN, self.EVEN, self.EVEN, self.EVEN]
        made = [result(op, reading=r, throughout=True) for op, r in zip(ops, follow, strict=True)]
        return made[:3], made[3:]

    def test_settled_anew(self) -> None:
        first, second = self.halves()
        assert [r.outcome for r in settle(first)] == ["passed", "passed", "failed"]
        merged = merge([shard(1, 2, *settle(first)), shard(2, 2, *settle(second))])
        together = {r.op: r for r in settle([*first, *second])}
        assert {r.op: r for r in merged.results} == together
        assert together["floor"].outcome == "failed"
        assert together["trunc"].outcome == "passed"

    def test_what_is_known_of_them(self) -> None:
        first, second = self.halves()
        known = Deviation("an old chip", op="floor")
        told = [replace(r, known="x") if r.op == "trunc" else r for r in settle(first)]
        runs = [shard(1, 2, *told), shard(2, 2, *settle(second))]
        found = {r.op: r.known for r in merge(runs, [known]).results}
        assert found["floor"] == "an old chip"
        assert found["trunc"] is None

    def test_what_a_shard_knew_of_what_still_fails(self) -> None:
        ops, other = ["ceil", "trunc", "round"], result("floor", reading=self.AWAY, throughout=True)
        made = settle([other, *(result(op, reading=self.EVEN, throughout=True) for op in ops)])
        assert [r.op for r in made if r.bad] == ["floor"]
        told = [replace(r, known="an old chip", issue="#7") if r.bad else r for r in made]
        found = {r.op: r for r in merge([shard(1, 1, *told)]).results}["floor"]
        assert (found.outcome, found.known, found.issue) == ("failed", "an old chip", "#7")

    @pytest.mark.parametrize(("version", "met"), [("1", "an old chip"), ("2.*", None)])
    def test_what_the_kit_knows_of_this_version(
        self, version: str, met: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        packaged = {"chip": [Deviation("an old chip", op="floor", version=version)]}
        monkeypatch.setattr(deviations, "packaged", lambda name, *of: packaged[name])
        first, second = self.halves()
        merged = merge([shard(1, 2, *settle(first)), shard(2, 2, *settle(second))])
        assert {r.op: r.known for r in merged.results}["floor"] == met


class TestMerged:
    def test_in_the_standards_order(self) -> None:
        """Of interfaces and of groups, wherever and whenever they were run."""
        sub = [
            Result(f"sub/{group}/int8/{i}", "sub", group, "int8", "passed", basis="normative")
            for group in ("status", "plain", "sizes", "broadcast")
            for i in (2, 1)
        ]
        merged = merge([shard(1, 2, *sub), shard(2, 2, result("add"), result("zeros"))])
        assert [r.id.removesuffix("/one") for r in merged.results] == [
            "zeros/plain/float32", "add/plain/float32",
            *(f"sub/{group}/int8/{i}"
              for group in ("plain", "broadcast", "sizes", "status") for i in (2, 1)),
        ]  # fmt: skip

    def test_what_is_said_of_all(self) -> None:
        own = {"jobs": 2, "started": "2026-11-16T15:00", "deviations": ["a.toml"], "ids": "of one"}
        other = {"jobs": 3, "started": "2026-11-16T14:00", "deviations": ["b.toml", "a.toml"]}
        runs = [shard(1, 2, result("add"), **own), shard(2, 2, result("sub"), **other)]
        merged = merge([replace(run, seconds=s) for run, s in zip(runs, (2.0, 5.0), strict=True)])
        assert merged.seconds == 7.0
        assert merged.settings == {
            "seed": 0, "rules": "cann", "jobs": 5, "started": "2026-11-16T14:00",
            "deviations": ["a.toml", "b.toml"], "ids": hash_of(r.id for r in merged.results),
        }  # fmt: skip

    def test_deviations_that_nobody_met(self) -> None:
        merged = merge([shard(1, 2, result("add")), shard(2, 2, result("sub"))])
        assert merged.unused == ["a"]

    def test_an_interrupted_shard(self) -> None:
        half = replace(shard(2, 2, interrupted="by hand"), unfinished=["sub"])
        merged = merge([shard(1, 2, result("add")), half])
        assert merged.unfinished == ["sub"]
        assert merged.settings["interrupted"] == "by hand"
        assert merged.unused == []

    def test_a_known_failure_stays_known(self) -> None:
        bad = result("add", outcome="failed", known="an old chip", issue="#7")
        merged = merge([shard(1, 1, bad)])
        assert list(merged.results) == [bad]

    @pytest.mark.parametrize(
        ("runs", "words"),
        [
            ([], "no reports"),
            ([shard(1, 3), shard(3, 3)], "shard 2/3 missing"),
            ([shard(1, 9)], r"shards 2/9, 3/9, .* and 2 more missing"),
            ([shard(1, 2), shard(1, 2)], "shard 1/2 is given more than once"),
            ([shard(1, 2), shard(2, 3)], "of 2 and 3 shards"),
            ([shard(1, 2), shard(2, 2, seed=1)], "seed is 0 in shard 1/2 and 1 in shard 2/2"),
            ([shard(1, 1, result("add"), result("add"))], "'add/.*' is in two shards"),
            ([Run({}, {"shard": "1/2"}, [])], "report 1 is not of a shard"),
            ([Run({}, {"shard": {"number": True, "of": "2"}}, [])], "report 1 is not of a shard"),
            (
                [shard(1, 2), replace(shard(2, 2), subject={"name": "other"})],
                "different backends",
            ),
            *(
                (
                    [one, replace(one, subject=one.subject | {name: "2"}, settings=second)],
                    f"is of {name} .* of '2'; these are different backends",
                )
                for one, second in [(shard(1, 2), shard(2, 2).settings)]
                for name in ("title", "version", "adapter")
            ),
        ],
    )
    def test_what_does_not_belong_together(self, runs: list[Run], words: str) -> None:
        with pytest.raises(sz.InvalidArgument, match=f"^merge: .*{words}"):
            merge(runs)


def test_nothing_to_share(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--list", "--shard", "1/2"]) == 2
    assert "--shard splits a run; --list and --export run nothing" in capsys.readouterr().err
    assert main(["merge", "nowhere.json"]) == 2
    assert "'nowhere.json' cannot be read" in capsys.readouterr().err


def test_a_level_is_not_tested_in_full() -> None:
    run = check("suanzi", categories=["rounding"], quick=True, jobs=1, shard=Shard(5, 5))
    assert run.settings["shard"] == {"number": 5, "of": 5, "unused": []}
    assert {level["answer"] for level in to_data(run)["levels"]} == {"not tested in full"}


def test_the_rule_set_is_not_tested_in_full() -> None:
    """One shard has some of its cells, and nothing else is left out."""
    cell = Result("add/promotion/int8/one", "add", "promotion", "int8", "passed", basis="normative")
    whole = replace(shard(1, 1, cell), settings={"seed": 0, "rules": "cann"})
    answers = [levels(run)[-1].answer for run in (whole, shard(1, 2, cell))]
    assert answers == ["reached", "not tested in full"]


def test_what_a_shard_did_not_meet_is_no_news() -> None:
    """Another may: it is kept for the report of all."""
    number = list(interfaces()).index("is_contiguous") + 1
    never = Deviation("an old chip", op="add", case="add/nothing/*")
    run = check("suanzi", shard=Shard(number, len(interfaces())), deviations=[never], jobs=1)
    assert {r.op for r in run.results} == {"is_contiguous"}
    assert run.unused == []
    assert run.settings["shard"]["unused"] == [str(never)]
