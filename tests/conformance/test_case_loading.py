"""Only what is asked is made: the files of a category, cases of a group and a dtype."""

from __future__ import annotations

import subprocess
import sys

import pytest

from suanzi.base.status import InvalidArgument
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.check import filters, wanted_cases, work_of

SEVERAL = """
import sys
from suanzi.conformance.cases import Wanted, cases
wanted = Wanted(quick=True, groups=frozenset({"plain", "status", "example"}))
for op in sys.argv[1:]:
    print(op, [case.id for case in cases(op, wanted)])
"""


def test_cases_do_not_depend_on_what_was_loaded_before() -> None:
    ops = ["matmul", "add", "sin", "reduce"]
    said = [
        subprocess.run(
            [sys.executable, "-c", SEVERAL, *some], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for some in (ops, ops[::-1])
    ]
    assert said[0] == said[1][::-1]
    assert all(len(line) > 200 for line in said[0])


def jobs(*patterns: str) -> dict[str, tuple[Wanted, list[str]]]:
    asked = filters(only=patterns)
    found = work_of(asked, wanted_cases(asked, "cann"))
    return {job.op: (job.wanted, sorted(job.only or ())) for job in found}


def test_one_case_is_made_of_few() -> None:
    name = "exp/plain/float16/24-elements"
    wanted, only = jobs(name)["exp"]
    assert only == [name]
    assert (wanted.groups, wanted.dtypes) == ({"plain"}, {"float16"})
    assert len(cases("exp", wanted)) < 10


@pytest.mark.parametrize(
    "pattern",
    ["add/promotion/int8-float16/*", "add/status/any/*", "ad?/special/*", "add/*/float16/*",
     "op_add/plain/int8/24-elements"],
)  # fmt: skip
def test_patterns_meet_what_they_always_met(pattern: str) -> None:
    from fnmatch import fnmatchcase

    if pattern.startswith("op_"):
        with pytest.raises(InvalidArgument, match="is not a case"):
            jobs(pattern)
        return
    every = [case.id for case in cases("add")]
    assert jobs(pattern)["add"][1] == sorted(i for i in every if fnmatchcase(i, pattern))


def test_several_patterns_of_one_interface() -> None:
    _, only = jobs("exp/plain/float16/24-elements", "exp/special/float32/*")["exp"]
    assert {name.split("/")[1] for name in only} == {"plain", "special"}
    with pytest.raises(InvalidArgument, match="'exp/plain/float16/none' is not a case"):
        jobs("exp/special/float32/*", "exp/plain/float16/none")
