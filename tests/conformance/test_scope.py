"""What a subject does not claim to have is one line, unless it is asked for."""

import pytest

from helpers.c_compiler import build
from suanzi.base.status import InvalidArgument
from suanzi.conformance.check import check
from suanzi.conformance.reports.levels import levels, standings
from suanzi.conformance.reports.summary import Line, count_line, summary
from suanzi.standard import interfaces

RANK = """
Status op_rank(const Tensor input, int *rank) {
    if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;
    *rank = (int)input->shape.ndim;
    return STATUS_SUCCESS;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return str(build(RANK, tmp_path_factory.mktemp("rank")))


def test_only_what_a_library_exports_is_tried(library):
    run = check(library, groups=["status", "plain"], jobs=1)
    assert set(run.by_operator()) == {"rank"}
    others = len(interfaces()) - 1
    lines = [part.text for part in summary(run) if isinstance(part, Line)]
    assert any(line.startswith(f"{others} interfaces that the backend does not") for line in lines)
    stand = standings(run)
    assert stand["rank"].verdict == "conforms"
    assert stand["add"].verdict == "not supported"
    assert stand["add"].why == "the library does not export op_add"
    assert {level.answer for level in levels(run)[:3]} == {"not reached"}
    assert "passed (100 %)" in count_line(run.counts())


def test_what_is_named_is_tried(library):
    named = check(library, ops=["rank", "sub"], groups=["status"], jobs=1)
    assert set(named.by_operator()) == {"rank", "sub"}
    assert standings(named)["sub"].verdict == "not supported"
    everything = check(library, categories=["query"], groups=["status"], everything=True, jobs=1)
    assert len(everything.by_operator()) == 7
    assert standings(everything)["add"].verdict == "not tested"


def test_what_has_nothing_to_try_is_told(library):
    with pytest.raises(InvalidArgument, match="none of these interfaces; --all"):
        check(library, categories=["power"], jobs=1)
