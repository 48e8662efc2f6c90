"""Every operator of the catalogue, in every dtype that it has, by `judge` and by `assert_right`.

The kernel is suanzi's own implementation: what is called wrong here is a mistake of the judge, or
of the operator. `python tests/nightly/test_every_operator.py FILE` writes the table of all.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import suanzi as sz
from helpers.judged import (
    OPERATORS,
    REFUSED,
    assert_by_inputs,
    assert_refuses_faults,
    judged,
    right_cases,
)
from suanzi.base.status import InvalidArgument
from suanzi.promote.registry import function
from suanzi.validate.judge.arguments import dtypes_known

TOGETHER = 1
JUDGED = [key for key in OPERATORS if key not in REFUSED]


def test_few_operators_refuse() -> None:
    assert len(OPERATORS) == 310
    assert {*REFUSED} <= {*OPERATORS}
    assert len(REFUSED) <= 12


@pytest.mark.parametrize("key", REFUSED)
def test_what_refuses_says_why(key: str) -> None:
    with pytest.raises(InvalidArgument, match=REFUSED[key]):
        sz.judge(function(key), key, framework="suanzi")
    with pytest.raises(InvalidArgument, match=REFUSED[key]):
        sz.assert_right(key, (), ())


@pytest.mark.parametrize("key", JUDGED)
def test_suanzi_is_right_and_wrong_outputs_are_not(key: str) -> None:
    for dtype in dtypes_known(key):
        cases = right_cases(judged(key, dtype))
        assert_by_inputs(key, cases)
        assert_refuses_faults(key, cases)


@pytest.mark.parametrize("key", JUDGED)
def test_as_it_comes(key: str) -> None:
    verdict = sz.judge(function(key), key, framework="suanzi")
    assert len(right_cases(verdict)) >= 10


def table() -> str:
    """Return a line for each operator: its dtypes, cases, the verdict and the time."""
    lines = ["| operator | dtypes | right | cannot fail | not taken | wrong | verdict | seconds |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for key in OPERATORS:
        if key in REFUSED:
            lines.append(f"| {key} | | | | | | refused: {REFUSED[key]} | |")
            continue
        start, counts, answers = time.perf_counter(), Counter[str](), Counter[str]()
        dtypes = dtypes_known(key)
        for dtype in dtypes:
            verdict = judged(key, dtype)
            counts.update(case.outcome for case in verdict.cases)
            answers[verdict.answer] += 1
        seconds = time.perf_counter() - start
        said = ", ".join(f"{answer} in {n}" for answer, n in answers.items())
        lines.append(
            f"| {key} | {len(dtypes)} | {counts['right']} | {counts['cannot fail']} | "
            f"{counts['not taken']} | {counts['wrong']} | {said} | {seconds:.1f} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(table())
