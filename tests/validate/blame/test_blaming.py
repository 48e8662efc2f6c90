"""What blame does without PyTorch: judging samples, reports, options and the command."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from suanzi.base.status import InvalidArgument
from suanzi.front.agents.schemas import schema
from suanzi.front.cli import main
from suanzi.truth import tracked as t
from suanzi.truth.rounding import rounded
from suanzi.validate.blame.elements import RULES
from suanzi.validate.blame.judging import Judged, judge
from suanzi.validate.blame.locations import Place, Places
from suanzi.validate.blame.norms import _multiplied_out, _pulled
from suanzi.validate.blame.options import options, times
from suanzi.validate.blame.report import Report, Site, read
from suanzi.validate.blame.sampling import Part, Piece

X = np.linspace(-3, 3, 64).astype(np.float32).astype(np.float64)


def piece(found: Any, definition: Any = None, dtype: str = "float32", **more: Any) -> Piece:
    part = Part(np.asarray(found), dtype, lambda k: f"[{k}]")
    return Piece(definition or (lambda x: t.exp(x)), {"x": X}, [part], **more)


def test_a_right_result_is_right() -> None:
    found = judge(piece(np.exp(X).astype(np.float32)))
    assert found.share <= 1
    assert (found.wrong, found.size, found.words) == (0, 64, "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda y: y * 1.5, "1.5 times the answer"),
        (lambda y: y + 1, "off by 1"),
        (lambda y: y * 0, "every element is 0"),
        (lambda y: np.where(np.arange(64) > 60, 0, y), "all from [61] on, which are 0"),
        (lambda y: np.where(np.arange(64) % 3 == 1, 7, y), "all of them are 7"),
        (lambda y: np.where(np.arange(64) == 5, np.nan, y), "[5] is nan, not 0.08015368"),
        (lambda y: rounded(y, "bfloat16"), "as far off as a computation in"),
    ],
)
def test_what_is_wrong_is_said(change: Any, words: str) -> None:
    found = judge(piece(change(np.exp(X))))
    assert found.share > 1
    assert not found.is_small
    assert words in found.words


def test_one_rounding_more_is_an_inaccuracy() -> None:
    exact = np.exp(X)
    twice = np.nextafter(rounded(exact, "float16").astype(np.float16), np.float16(np.inf))
    found = judge(piece(twice.astype(np.float64), dtype="float16"))
    assert found.share > 1
    assert found.is_small


def test_what_is_moved_or_cast_may_not_be_off_by_one_unit() -> None:
    """Truncation is wrong; float64 that is rounded to float32 on the way is inaccurate."""
    x = np.linspace(1, 2, 97) + 2.0**-8 + 2.0**-30
    right, twice = rounded(x, "bfloat16"), rounded(rounded(x, "float32"), "bfloat16")
    truncated = np.floor(x * 128) / 128
    x[5] = 1 + 2.0**-8 + 2.0**-40  # just above the middle of two numbers
    right[5], twice[5], truncated[5] = 1 + 2.0**-7, 1.0, 1.0
    found = [
        judge(Piece(lambda self: self, {"self": x}, [Part(y, "bfloat16", str)], True))
        for y in (right, twice, truncated)
    ]
    assert [(one.wrong > 0, one.is_small) for one in found[:2]] == [(False, True), (True, True)]
    assert found[2].wrong > 1
    assert not found[2].is_small
    assert "rounds to float32 on the way" in found[1].words


def test_what_is_moved_must_be_the_same() -> None:
    moved = X.copy()
    moved[3] = np.nextafter(np.float32(moved[3]), np.float32(9))
    assert judge(piece(X, lambda x: x, exact=True)).share == 0
    assert judge(piece(moved, lambda x: x, exact=True)).wrong == 1


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
def test_numbers_may_be_rounded_in_any_way_that_is_right(dtype: str) -> None:
    """0.1 is not a number of any dtype: a kernel has it as float32, or as the result's dtype."""
    x = rounded(X, "bfloat16")
    number = float(rounded(np.array(0.1), dtype))
    made = rounded(x * number, "bfloat16")
    part = Part(made, "bfloat16", str)
    one = Piece(lambda self, other: self * other, {"self": x}, [part], numbers={"other": 0.1})
    assert judge(one).wrong == 0


@pytest.mark.parametrize(("factor", "small"), [(1.0, True), (1.01, False)])
def test_differences_that_are_multiplied_out_are_an_inaccuracy(factor: float, small: bool) -> None:
    """The gradient of a layer norm far from 0, by a formula that cancels, in float32."""
    f, rng = np.float32, np.random.default_rng(0)
    x = rng.normal(1000, 1, (4, 64)).astype(f)
    g, mean = rng.normal(0, 1, x.shape).astype(f), x.mean(1, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(1, keepdims=True))
    of_x, of_1 = (g * x).mean(1, keepdims=True), g.mean(1, keepdims=True)
    b = (of_1 * mean - of_x) * rstd**3
    made = (g * rstd + b * x + (-(b * mean) - of_1 * rstd)) * f(factor)
    given = {n: v.astype(np.float64) for n, v in zip("gxmr", (g, x, mean, rstd), strict=True)}
    one = Piece(
        lambda g, x, m, r: _pulled(g, (x - m) * r, r), given, [Part(made, "float32", str)],
        between=lambda g, x, m, r: _multiplied_out(g, x, m, r), between_is="by another way",
    )  # fmt: skip
    found = judge(one)
    assert found.share > 2
    assert (found.is_small, found.words.endswith("; by another way")) == (small, small)


def test_what_fits_one_of_several_ways_is_right() -> None:
    """Numbers of a kernel in float32, or in float64: what fits neither is wrong."""
    y = [X * np.float32(0.1), X * 0.1, X * 0.1001]
    ways = [{"number": 0.1}, {"number": float(np.float32(0.1))}]
    pieces = [piece(one, lambda x, number: x * number, "float64", within="float64", ways=ways)
              for one in y]  # fmt: skip
    assert [judge(one).share > 1 for one in pieces] == [False, False, True]


def test_a_nan_of_an_operand_explains_one_of_the_result() -> None:
    x = X.copy()
    x[7] = np.nan
    part = Part(np.where(np.arange(64) == 7, 0.0, np.exp(X)), "float32", str)
    assert judge(Piece(lambda x: t.exp(x), {"x": x}, [part])).wrong == 0


def test_integers_and_bool_are_exact() -> None:
    i = np.arange(5)
    good = Piece(lambda x: x * 3, {"x": i}, [Part(i * 3, "int64", str)])
    bad = Piece(lambda x: x * 3, {"x": i}, [Part(i * 3 + (i == 4), "int64", str)])
    flags = Piece(lambda x: x > 2, {"x": i}, [Part(i > 2, "bool", str)])
    wraps = Piece(lambda x: x + 254, {"x": i}, [Part((i + 254) % 256, "uint8", str)])
    assert [judge(one).wrong for one in (good, bad, flags, wraps)] == [0, 1, 0, 0]


# ---- reports -------------------------------------------------------------------------------------


def a_report() -> Report:
    here = Place(__file__, 12, "Net.forward", None, "Net.block.0")
    wrong = Site("addmm", here, False, ("float32",), "", calls=4, judged=2)
    wrong.layers = {"Net.block.1": 1}
    wrong.add(Judged(1e4, 1e6, 9, 64, "[3, 4] is 1, not 2"), 17, [[2, 3], [3, 5]], "Net.block.0")
    small = Site("gelu", here._replace(line=30), True, ("bfloat16",), "", calls=1, judged=1)
    small.add(Judged(1.5, 2, 1, 64, "[0] is 1, not 1.01"), 18, [[4]])
    born = Site("log", Place("/x/site-packages/lib/a.py", 3, "f", (__file__, 8)), False,
                ("float32",), "", calls=1, judged=1)  # fmt: skip
    born.birth("infinity", 19, False)
    exact = Site("clone", here, False, ("float32",), "", calls=1, judged=1)
    exact.add(Judged(float("inf"), 3e6, 1, 64, "[1] is 0, not 1"), 20, [[4]])
    silent = Site("view", here, False, ("float32",), "views", calls=5)
    none = Site("mystery", here, False, ("float32",), "no truth", calls=2)
    random = Site("randn", here, False, (), "random", calls=1)
    skipped = Site("exp", here, False, ("float32",), "", calls=3)
    skipped.unjudged["no time left"] = 3
    sites = [small, born, wrong, exact, silent, none, random, skipped]
    return Report("torch 0", 18, sites, {"forked processes are not judged": 2}, None, 2.0, 1.0)


def test_what_matters_most_comes_first() -> None:
    report = a_report()
    assert [s.operator for s in report.findings] == ["clone", "addmm", "log", "gelu"]
    assert report.answer == "wrong"
    assert not report


def test_a_report_as_text() -> None:
    text = str(a_report())
    lines = text.splitlines()
    assert lines[0] == "2 operators WRONG, in 2 lines: 5 of 18 calls judged (torch 0)"
    assert lines[1].startswith("  clone  ")
    assert "(Net.block.0 and 1 more)" in text
    assert "lib/a.py:3 in f, called by" in text
    assert "infinity born of finite inputs" in text
    assert "no truth: mystery 2" in text
    assert "random, not judged: randn 1" in text
    assert "nothing to judge: views 5" in text
    assert "not judged: no time left 3" in text
    assert "note: forked processes are not judged (2 times)" in text
    assert "2.0 s, 2.0 times as long as without" in text


def test_a_report_as_data_fits_its_schema_and_is_read_again() -> None:
    report = a_report()
    data = json.loads(report.to_json())
    jsonschema.validate(data, schema("blame"))
    again = read(data)
    assert str(again) == str(report)
    assert json.loads(again.to_json()) == data


def test_a_report_as_a_page() -> None:
    hostile = "<script>alert(1)</script>"
    report = a_report()
    report.framework, report.raised = f"torch {hostile}", hostile
    report.notes[hostile] = 1
    report.sites[2].words = f"[3, 4] is 1, not 2 {hostile}"
    report.sites[2].place = Place(f"/{hostile}.py", 1, hostile, None, hostile)
    report.sites[5].operator = hostile
    page = report.to_html()
    assert "addmm" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "[3, 4] is 1, not 2" in page
    assert "<script>alert" not in page
    assert page.count("<article") == 4


def test_an_empty_report_is_not_right() -> None:
    assert not Report()
    assert Report().summary().startswith("nothing was judged")


# ---- options and the command ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"share": 0}, "share is 0; it must be above 0"),
        ({"every": 0}, "every is 0; it must be a number from 1 on"),
        ({"overhead": "fast"}, "overhead is 'fast'; it must be above 1"),
        ({"overhead": 1}, "overhead is 1"),
        ({"memory": -1}, "memory is -1"),
        ({"memory": None}, "memory is None; it must be a number from 0 on"),
        ({"share": "all"}, "share is 'all'; it must be above 0"),
        ({"save": 3}, "save is 3; it must be the path of a file"),
        ({"ops": 3}, "ops is 3; it must be names of operators"),
        ({"ops": [3]}, "it must be names of operators"),
        ({"ops": "adm"}, "'adm' is no operator of PyTorch that can be judged"),
    ],
)
def test_wrong_options_are_named(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgument, match="blame") as caught:
        options(**given)
    assert words in str(caught.value)


def test_right_options() -> None:
    assert times("2x") == 2
    assert options(ops="aten::addmm, mm").ops == {"addmm", "mm"}
    assert options(save="a/bad.safetensors").save == "a/bad-{}.safetensors"
    assert options(save=Path("a/bad.pt")).save == "a/bad-{}.pt"  # type: ignore[arg-type]
    assert options(save="a.b/bad").save == "a.b/bad-{}.safetensors"
    assert len(RULES) > 150


def test_the_command_says_what_it_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.write_text("print(1)")
    for words, said in (
        ([], "give a program to run, or a file with --replay"),
        ([str(program), "--replay", "x"], "one of them"),
        (["nothing.py"], "'nothing.py' does not exist"),
        (["--replay", "nothing"], "'nothing' does not exist"),
        ([str(program), "--share", "2"], "share is 2.0"),
        ([str(program), "--python", "/no/python"], "cannot be run"),
    ):
        assert main(["blame", *words]) == 2
        assert said in capsys.readouterr().err


def test_the_line_of_a_call_is_that_of_the_program() -> None:
    places = Places("/somewhere/torch/")
    found = places.here(1)
    code = sys._getframe().f_code
    name = getattr(code, "co_qualname", code.co_name)  # Python 3.10 has no qualified names
    assert (found.file, found.function) == (__file__, name)
    assert found.by is None


def test_the_number_of_lines_agrees_with_its_verb() -> None:
    def said(count: int, **facts: Any) -> str:
        sites = [
            Site("exp", Place("a.py", n, "f"), False, ("float32",), "judged", 1, 1, **facts)
            for n in range(count)
        ]
        return str(Report("torch", count, sites)).splitlines()[1]

    assert said(1, inaccurate=1) == "inaccurate: 1 line is a little beyond the bound"
    assert said(2, inaccurate=1) == "inaccurate: 2 lines are a little beyond the bound"
    assert said(1, births=1, born="infinity").startswith("born: 1 line makes a NaN")
    assert said(2, births=1, born="infinity").startswith("born: 2 lines make a NaN")
