"""Known deviations: a file with reasons; nothing in it goes unseen."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_runs import result

from suanzi import InvalidArgument
from suanzi.conformance import deviations
from suanzi.conformance.deviations import Deviation, apply, packaged, read


def written(folder: Path, text: str) -> Path:
    file = folder / "known.toml"
    file.write_text(text, "utf-8")
    return file


def test_read(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        """
        [[deviation]]
        case = "exp/special/*"
        reason = "subnormals are flushed"
        issue = "https://example.com/7"
        version = "2.*"

        [[deviation]]
        op = "add"
        dtype = "float*"
        reason = "it is fast"
        """,
    )
    first, second = read(file)
    assert first == Deviation(
        "subnormals are flushed", case="exp/special/*", issue="https://example.com/7",
        version="2.*", source="known.toml",
    )  # fmt: skip
    assert str(second) == "op add, dtype float*: it is fast (known.toml)"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[deviation]]\ncase = 'a'", "has no reason"),
        ("[[deviation]]\nreason = 'a'", "names no cases"),
        ("[[deviation]]\nreason = ''\ncase = 'a'", "it takes a text"),
        ("[[deviation]]\nreason = 7\ncase = 'a'", "reason is 7"),
        ("[[deviation]]\nreasn = 'a'\ncase = 'a'", "Did you mean 'reason'"),
        ("[deviation]\nreason = 'a'", r"\[\[deviation\]\]"),
        ("[[deviations]]\nreason = 'a'", "'deviations'"),
        ("deviation = [3]", "is no table"),
        ("[[deviation", "is not TOML"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        read(written(tmp_path, text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="No such file"):
        read(tmp_path / "no.toml")


@pytest.mark.parametrize(
    ("deviation", "meets"),
    [
        (Deviation("", case="add/plain/int8/3-elements"), True),
        (Deviation("", case="add/*"), True),
        (Deviation("", case="add/plain"), False),
        (Deviation("", op="add"), True),
        (Deviation("", op="a*", group="plain", dtype="int?"), True),
        (Deviation("", op="add", dtype="float*"), False),
        (Deviation("", group="special"), False),
    ],
)
def test_what_it_speaks_of(deviation: Deviation, meets: bool) -> None:
    assert deviation.meets(result()) is meets


def test_apply() -> None:
    results = [
        result("exp", "failed"),
        result("exp", "passed", dtype="float16"),
        result("exp", "unsupported", dtype="float32"),
        result("exp", "crashed", dtype="float64"),
        result("add", "failed"),
    ]
    listed = [
        Deviation("flushed", op="exp", issue="https://example.com/7"),
        Deviation("too late", case="exp/plain/int8/*"),
        Deviation("nobody", op="log"),
    ]
    marked, unused = apply(results, listed)
    assert [r.known for r in marked] == ["flushed", None, None, "flushed", None]
    assert marked[0].issue == "https://example.com/7"
    assert [r.unexpected for r in marked] == [False, True, False, False, False]
    # It is still a failure.
    assert [r.outcome for r in marked] == [r.outcome for r in results]
    assert unused == [listed[2]]


def test_of_another_version() -> None:
    listed = [Deviation("old", op="add", version="1.*")]
    assert apply([result(outcome="failed")], listed, "1.9")[0][0].known == "old"
    marked, unused = apply([result(outcome="failed")], listed, "2.0")
    # Of another version, it neither excuses nor is missed.
    assert (marked[0].known, unused) == (None, [])


def test_the_files_that_come_with_the_kit_can_be_read() -> None:
    files = list((Path(deviations.__file__).parent / "deviations").glob("*.toml"))
    assert files
    for file in files:
        for deviation in packaged(file.stem):
            assert len(deviation.reason) > 10
    assert packaged("../deviations/suanzi") == []
