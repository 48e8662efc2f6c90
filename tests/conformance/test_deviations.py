"""Known deviations: a file with reasons; nothing in it goes unseen."""

from __future__ import annotations

import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.made_runs import result
from suanzi import InvalidArgument
from suanzi.conformance.reports import deviations
from suanzi.conformance.reports.deviations import Deviation, apply, breadths, packaged, read


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
        machine = "x86_64"

        [[deviation]]
        op = "add"
        dtype = "float*"
        reason = "it is fast"
        """,
    )
    first, second = read(file)
    assert first == Deviation(
        "subnormals are flushed", case="exp/special/*", issue="https://example.com/7",
        version="2.*", machine="x86_64", source="known.toml",
    )  # fmt: skip
    assert str(second) == "op add, dtype float*: it is fast (known.toml)"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[deviation]]\ncase = 'a'", "has no reason"),
        ("[[deviation]]\nreason = 'a'", "names no cases"),
        ("[[deviation]]\nreason = ''\ncase = 'a'", "reason is empty"),
        ("[[deviation]]\nreason = 7\ncase = 'a'", "reason is 7"),
        ("[[deviation]]\nreason = ['a']\ncase = 'a'", "reason is .'a'., not string"),
        ("[[deviation]]\nreason = 'a'\ncase = []", "case is empty"),
        ("[[deviation]]\nreason = 'a'\nop = ['add', 3]", r"op.1. is 3, not string"),
        ("[[deviation]]\nreason = 'a'\nproblem = 'a'", "names no cases"),
        ("[[deviation]]\nreason = 'a'\nop = 'a'\nsometimes = 'a'", "sometimes is 'a', not boolean"),
        ("[[deviation]]\nreason = 'a'\nop = 'a'\nmachine = 64", "machine is 64"),
        ("[[deviation]]\nreasn = 'a'\ncase = 'a'", "Did you mean 'reason'"),
        ("[deviation]\nreason = 'a'", r"\[\[deviation\]\]"),
        ("[[deviations]]\nreason = 'a'", "'deviations'"),
        ("deviation = [3]", "it is 3, not object"),
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
        (Deviation("", op=("exp", "a*"), dtype=("int8", "int16")), True),
        (Deviation("", op=("exp", "log")), False),
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


def test_several_patterns(tmp_path: Path) -> None:
    (found,) = read(written(tmp_path, "[[deviation]]\nreason = 'a'\nop = ['add', 'sub']"))
    assert found.op == ("add", "sub")
    assert str(found) == "op add or sub: a (known.toml)"


def test_a_version_for_all(tmp_path: Path) -> None:
    text = "version = '2.*'\n[[deviation]]\nreason = 'a'\nop = 'add'\n"
    own = "[[deviation]]\nreason = 'b'\nop = 'add'\nversion = '3.*'"
    assert [d.version for d in read(written(tmp_path, text + own))] == ["2.*", "3.*"]


def test_another_problem_of_the_same_case_is_not_known() -> None:
    listed = [Deviation("wide", op="add", problem=("dtype int64*", "dtype uint64*"))]
    for problem, known in (("dtype int64, not int8", "wide"), ("shape [2], not [3]", None)):
        failure = replace(result(outcome="failed"), problem=problem)
        marked, unused = apply([failure], listed)
        assert (marked[0].known, len(unused)) == (known, 0 if known else 1)
    assert apply([result()], listed)[0][0].unexpected


def test_what_fails_sometimes_may_pass() -> None:
    listed = [Deviation("rounds too often", op="add", sometimes=True)]
    marked, unused = apply([result(), result(outcome="failed")], listed)
    assert [(r.unexpected, r.known) for r in marked] == [
        (False, None), (False, "rounds too often"),
    ]  # fmt: skip
    assert not unused
    # That it never happened is told, though.
    assert apply([result()], listed)[1] == listed
    # Another that speaks of the case may expect more.
    assert apply([result()], [*listed, Deviation("always", op="add")])[0][0].unexpected


def test_what_is_not_supported_is_no_proof() -> None:
    listed = [Deviation("wrong", op="add")]
    assert apply([result(outcome="unsupported")], listed)[1] == listed


def test_of_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [Deviation("fused", op="add", machine="aarch64")]
    for system, known in (("aarch64", "fused"), ("arm64", "fused"), ("AMD64", None)):
        monkeypatch.setattr(platform, "machine", lambda system=system: system)
        ((marked,), unused) = apply([result(outcome="failed")], listed)
        assert (marked.known, unused) == (known, [])
    assert not apply([result()], listed)[0][0].unexpected


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


def test_how_much_a_deviation_names() -> None:
    narrow = Deviation("flushes", case="exp/special/*", problem="y: *")
    wide = Deviation("is off", op=("exp", "sin"))
    idle = Deviation("is gone", op="tan")
    results = [
        result("exp", "failed", group="special", title="a", problem="y: 0, not 1"),
        result("exp", "failed", group="special", title="b", problem="refused"),
        result("exp", group="special", title="c"),
        result("sin", title="a"),
        result("sin", "unsupported", title="b"),
    ]
    found = [(narrow, 1, 1), (wide, 1, 2), (idle, 0, 0)]
    assert breadths(results, [narrow, wide, idle]) == found
    elsewhere = Deviation("is off", op="exp", machine="another")
    earlier = Deviation("is off", op="exp", version="1.*")
    assert breadths(results, [elsewhere, earlier, narrow, wide, idle], "2.0") == found
    assert breadths(results, [earlier, narrow], "1.5") == [(earlier, 2, 1), (narrow, 0, 1)]


def test_the_tool_says_how_it_is_called() -> None:
    tool = Path(__file__).parents[2] / "tools" / "broad_deviations.py"
    found = subprocess.run([sys.executable, tool], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.startswith("python tools/broad_deviations.py REPORT.json...: ")


@pytest.mark.parametrize("op", ["sinh", "cosh"])
def test_jax_is_off_from_ten_on_alone(op: str) -> None:
    """The problems of large arguments, as the kit writes them, and those of small ones."""

    def known(*arguments: str) -> bool:
        said = "; ".join(f"[{i}] {op}({x}): 2.5, not 2.25" for i, x in enumerate(arguments))
        problem = f"y: {len(arguments)} of 40 elements: {said}"
        one = result(op, "failed", group="special", title="special-values", problem=problem)
        return any(d.meets(replace(one, dtype="float32", id=f"{op}/special/float32/x"))
                   for d in packaged("jax") if "from 10 on" in d.reason)  # fmt: skip

    large = ["1e+01", "-1e+01", "9.999999", "10.000001", "12.5", "-16.962593", "64", "-64", "89.41"]
    assert [x for x in large if not known(x)] == []
    assert known("1.1754942e-38", "-1.1754942e-38", "1e+01")
    small = [
        "0.12",
        "1.25",
        "-1.25",
        "0.0123",
        "3.14159",
        "9.5",
        "1e-45",
        "1.1754942e-38",
        "2.5e-10",
    ]
    assert [x for x in small if known(x)] == []
    assert not known("0.12", "1.25", "-5.015")
