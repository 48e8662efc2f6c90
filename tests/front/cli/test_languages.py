"""The languages of the command line and of reports: nothing is missing, nothing is too much."""

from __future__ import annotations

import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from helpers.sentences import HOME, everywhere, in_code, in_template, shape, strings_of
from suanzi.base import lang
from suanzi.base.lang import LANGUAGES, MARK, catalogue, described, docstrings, language, read, say
from suanzi.base.lang.choosing import choose, split
from suanzi.base.status import InvalidArgument
from suanzi.base.text import columns, pad, width, wrap
from suanzi.conformance.decision import said_headline
from suanzi.conformance.model.results import Result
from suanzi.conformance.reports.summary import problem_of, said_problem
from suanzi.front.cli import main
from suanzi.front.cli.catalogue import entries, entry, in_one_line
from suanzi.front.site import DATA
from suanzi.port.differences import questions
from suanzi.standard.errata import errata

OTHERS = [name for name in LANGUAGES if name != "en"]
ROOT = Path(__file__).parents[3]
FILES = sorted((HOME / "base" / "lang").glob("*/*.toml"))
LETTERS = re.compile(r"[a-zA-Z]{2,}")

# Modules whose sentences are data, which `say` is given later: each of them has a translation.
SOURCES = """
promote/engine promote/zero_dim promote/writing promote/lossless promote/fixes promote/rounding
promote/facts promote/explain promote/diff promote/table promote/live promote/layers promote/values
promote/live_results port/findings port/layout port/report port/tabulated port/given port/passes
port/available port/support port/values port/patch port/opening port/asking port/under_autocast
port/page port/models/graph port/models/onnx_model port/models/onnx_types port/models/openvino_ir
conformance/judging/checks/choices conformance/judging/checks/examples
conformance/judging/checks/factors conformance/judging/checks/indexing
conformance/judging/checks/random conformance/judging/checks/solutions conformance/running/crashes
conformance/decision conformance/reports/summary conformance/reports/levels conformance/model/basis
conformance/reports/compare conformance/reports/readings conformance/reports/html
conformance/submission conformance/model/tallies validate/judge/findings validate/judge/diagnosis
validate/judge/verdict validate/judge/standards validate/judge/engine validate/judge/inference
validate/blame/report validate/blame/judging validate/blame/comparing validate/blame/functions
validate/blame/primitives validate/blame/operators validate/blame/child validate/accuracy/report
validate/accuracy/compare validate/accuracy/page validate/criteria/holes validate/criteria/diff
validate/criteria/reading validate/criteria/formulas ops/libraries/config front/cli/watch
front/cli/demo front/cli/submit
""".split()
# What they have besides: names, sources, programs to paste.
NOT_SENTENCES = re.compile(
    r"suanzi lossless|of the Paddle document|by exact computation|need no common dtype|"
    r"In real functions|import |# |np\.frombuffer|bool int8|suanzi (check|port|blame)|"
    r"interpreter that ignores|See |in-place method|no dtype|provider|a Python function|"
    r"x \+= y|linear algebra|same kind|odel name|standards (holes|diff)|use vjp|:\.6g|"
    r"\(suanzi|No newline|required \(positional|float64 for float64|not implemented for|"
    r"empty empty_like|log log2|known are|no chips|^mat (v|x|inv) - |valid (ONNX )?model of|"
    r"is not a valid ONNX model|\(\?:"
)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@cache
def keys(name: str) -> dict[str, str]:
    return dict(catalogue(name).texts)


# ---- catalogues ----------------------------------------------------------------------------------


def _missing(name: str, texts: dict[str, str]) -> dict[str, str]:
    """Return the texts that have no translation, and where they stand."""
    known = {shape(key) for key in keys(name)}
    return {text: where for text, where in texts.items() if text not in known}


@pytest.mark.parametrize("name", OTHERS)
def test_every_sentence_is_translated(name: str) -> None:
    assert not _missing(name, everywhere())


def _untranslated(file: Path) -> list[str]:
    """Return the sentences of a module that neither have a translation nor are a part of one."""
    known = "\n".join(key.replace("{s}", "") for key in keys("zh"))

    def is_known(text: str) -> bool:
        filled = (text.replace("{s}", "").replace("{}", some) for some in ("7", "int8"))
        if any(catalogue("zh").translated(one) for one in filled):
            return True
        parts = (part.strip(" .,;:()-\n") for part in re.split(r"\{s?\}", text))
        return all(part in known for part in parts if re.search("[a-z]+ [a-z]+", part))

    texts = strings_of(file)
    return [text for text in texts if not NOT_SENTENCES.search(text) and not is_known(text)]


def test_sentences_of_data_are_translated() -> None:
    files = (HOME / f"{module}.py" for module in SOURCES)
    missing = {file.stem: found for file in files if (found := _untranslated(file))}
    assert not missing


@pytest.mark.parametrize("name", OTHERS)
def test_titles_of_differences_are_translated(name: str) -> None:
    titles = [one.title for one in questions()]
    assert len(titles) > 30
    same = [text for text in titles if catalogue(name).translated(text) in (None, text)]
    assert all(re.fullmatch(r"[-\d %/]+|\w+\([^()]*\)", text) for text in same), same  # code


@pytest.mark.parametrize("of", ["standard", "nn"])
@pytest.mark.parametrize("name", OTHERS)
def test_descriptions_of_operators_are_translated(name: str, of: str) -> None:
    known = docstrings(name)
    for one in entries(of=of):
        text, _ = one.documentation()
        assert text is not None, one.interface.name
        missing = [part for part in text.split("\n\n") if not known.get(in_one_line(part))]
        assert not missing, one.interface.name


@pytest.mark.parametrize("name", OTHERS)
def test_errata_are_translated(name: str) -> None:
    known = docstrings(name)
    for one in errata():
        texts = (one.printed, one.here, one.settled, one.tentative, *one.readings)
        missing = [text for text in texts if text and not (known.get(text) or text in keys(name))]
        assert all(re.fullmatch(r"[a-z]+\d+", text) for text in missing), one.id  # dtypes
    with language(name):
        assert described("ties to even") == "居中取偶"


@pytest.mark.parametrize("name", OTHERS)
def test_every_clause_has_its_title(name: str) -> None:
    assert all(one.title for one in entries())
    assert entry("reduce_bwd").title == "规约（后向）"
    with language(name):
        assert ("标题", "张量加法操作") in entry("add").said()
    assert "title" not in dict(entry("add").said())


@pytest.mark.parametrize("name", OTHERS)
def test_no_text_is_translated_twice(name: str) -> None:
    files = [file for file in FILES if file.parent.name == name]
    counted = Counter(key for file in files for key in read(file))
    assert [key for key, count in counted.items() if count > 1] == []


def _with_other_marks(texts: dict[str, str]) -> list[str]:
    return [
        key
        for key, text in texts.items()
        if set(MARK.findall(key.replace("{s}", ""))) != set(MARK.findall(text))
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_marks_agree(file: Path) -> None:
    assert not _with_other_marks(read(file))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_texts_have_words_of_their_own(file: Path) -> None:
    """One that were all marks would fit anything."""
    assert [key for key in read(file) if len(re.findall(r"\S", MARK.sub("", key))) < 2] == []


@cache
def _words() -> set[str]:
    """Return every word of the code, of templates and of the data that comes with it."""
    found: set[str] = set()
    for file in HOME.rglob("*"):
        if file.suffix in (".py", ".j2", ".js", ".txt", ".toml") and "lang" not in file.parts:
            found |= set(LETTERS.findall(file.read_text("utf-8").lower()))
    outputs = DATA / "judge.json"
    return found | set(LETTERS.findall(outputs.read_text("utf-8").lower()))


def _unused(texts: Iterable[str]) -> list[str]:
    """Return the texts that nobody says: they have a word that is nowhere."""
    used = set(everywhere())
    stale = []
    for key in texts:
        words = LETTERS.findall(MARK.sub(" ", key.replace("{s}", "")).lower())
        if shape(key) not in used and not set(words) <= _words():
            stale.append(key)
    return stale


@pytest.mark.parametrize("name", OTHERS)
def test_no_translation_is_unused(name: str) -> None:
    assert not _unused(keys(name))


PLANTED = """
def told(n: int) -> None:
    say(f"{n} zeppelin{'s' * (n != 1)} passed")
    say("It is a zither." if n else "Nothing was tested.")
    map(say, ("A zebra.",))
    said([("a zinnia", "passed")])
    raise ValueError("nobody translates errors")
"""


def test_planted_faults_are_found(tmp_path: Path) -> None:
    """Of each of the checks above, in sentences that are given in every way."""
    module, template = tmp_path / "told.py", tmp_path / "page.j2"
    module.write_text(PLANTED)
    template.write_text("{{ say('Nothing was tested.') }} {{ say(n ~ ' zeppelins flew') }}")
    texts = dict.fromkeys(in_code(module), "told") | dict.fromkeys(in_template(template), "page")
    assert _missing("zh", texts) == {
        "{} zeppelin{s} passed": "told", "It is a zither.": "told", "A zebra.": "told",
        "a zinnia": "told", "{} zeppelins flew": "page"}  # fmt: skip
    assert _untranslated(module) == ["It is a zither.", "a zinnia"]
    assert _with_other_marks({"{i} case{s} of {0}": "{0} 中的 {i} 个", "{i} of {0}": "{0} 个"}) == [
        "{i} of {0}"]  # fmt: skip
    assert _unused(["Nothing was tested.", "{i} zeppelin{s} passed"]) == ["{i} zeppelin{s} passed"]


# ---- texts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("3 calls", "3 次调用"),
        ("1 finding.", "1 项发现。"),
        ("14 passed, 2 failed; 7 not answered", "14 个通过，2 个失败；7 个未作答"),
        ("table: row s32, column bf16", "表格：第 s32 行、第 bf16 列"),
        ("a sentence that nobody has translated", "a sentence that nobody has translated"),
    ],
)  # fmt: skip
def test_say(text: str, chinese: str) -> None:
    assert say(text) == text
    with language("zh"):
        assert say(text) == chinese


@pytest.mark.parametrize(
    ("problem", "chinese"),
    [
        ("ALLOC_FAILED, not SUCCESS: no", "ALLOC_FAILED，应为 SUCCESS：no"),
        ("dtype int8, not int16", "dtype 为 int8，应为 int16"),
        ("L U - P mat: the error at [0, 1] is 2, 1e-6 is allowed of matrix 3",
         "第 3 个矩阵：L U - P mat：在 [0, 1] 处误差为 2，允许 1e-6"),
        ("0.250 of the numbers, not 0.500, are below the mean", "小于均值的数占 0.250，应为 0.500"),
        ("it damages memory: the process ended with SIGSEGV, later, in a/b; not without this call",
         "它破坏内存：后来在 a/b 中进程结束：SIGSEGV；没有这次调用就不会"),
        ("first line\nan element is not finite", "first line\n有元素不是有限数"),
    ],
)  # fmt: skip
def test_problems_are_said_after_their_calls(problem: str, chinese: str) -> None:
    result = Result("a", "zeros", "status", "any", "failed", problem, call="zeros(shape=[-1])")
    assert said_problem(result) == f"zeros(shape=[-1]): {problem}" == problem_of(result)
    with language("zh"):
        assert said_problem(result) == f"zeros(shape=[-1]): {chinese}"


HEADLINES = """
No required case was tested; 3 cases tentative.
No required case was tested; 3 cases beyond the standard passed.
Nothing was tested.
Does not conform: no case passed.
Does not conform: 3 of 9 required cases failed (2 known), 1 was not answered.
No new failures. Does not conform: 3 of 9 required cases failed (known).
Conforms for int32 (9 cases): minimum set.
Conforms in what was tested (9 cases); no level reached.
""".strip().splitlines()


@pytest.mark.parametrize("first", HEADLINES)
def test_every_sentence_of_a_headline_is_translated(first: str) -> None:
    small = first[0].lower() + first[1:]
    for end in (
        "",
        " 2 cases beyond the standard failed.",
        " 1 case that are not required failed.",
    ):
        for text in (first + end, f"Interrupted. So far: {small}{end}"):
            assert said_headline(text) == text
            with language("zh"):
                assert not ENGLISH.search(said_headline(text).replace("minimum set", ""))
                assert ("被中断" in said_headline(text)) == text.startswith("Interrupted")


def test_english_reads_no_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    catalogue.cache_clear()
    run(capsys, "explain", "i32", "bf16")
    assert catalogue.cache_info().currsize == 0


def test_wide_characters_are_aligned() -> None:
    rows = [["规则", "原因"], ["cann", "x"], ["a", "精度"]]
    assert [line.index("|") for line in columns([[a, "|"] for a, _ in rows]).splitlines()] == [
        4,
        6,
        6,
    ]
    assert {width(pad(a, 6)) for a, _ in rows} == {6}
    lines = wrap("累加精度低于所声明的 float32，" * 5, 40, first="  ", rest="    ")
    assert max(map(width, lines)) <= 42  # a comma may stand out
    assert "".join(line.strip() for line in lines).count("float32") == 5


# ---- the command line ----------------------------------------------------------------------------

ENGLISH = re.compile(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}")
COMMANDS = [
    ("promote", "i32", "bf16", "--rules", "all"),
    ("promote", "i8", "300", "--rules", "all", "--op", "add"),
    ("explain", "bf16", "0d:f32", "--op", "mul", "--rules", "jax", "--like", "torch"),
    ("explain", "f32", "f32", "--op", "bmm", "--rules", "torch,paddle", "--autocast"),
    ("table", "cann"),
    ("diff", "cann", "torch", "--dtype", "bf16,f32,i64"),
    ("laws", "numpy"),
    ("ops", "--category", "arithmetic"),
    ("dtypes",),
    ("check", "--backend", "numpy", "--op", "floordiv", "--dtype", "int32", "--group", "special",
     "--jobs", "1"),
    ("port", str(ROOT / "examples" / "port" / "block.jsonl"), "--to", "cann,jax"),
    ("port", str(ROOT / "examples" / "port" / "results.jsonl"), "--to", "paddle,jax"),
    ("port", str(ROOT / "examples" / "port" / "scaled.xml"), "--to", "cann"),
]  # fmt: skip


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda some: "-".join(map(str, some[:2]))[-20:])
def test_commands_print_chinese(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(capsys, *arguments, "--lang", "zh")
    assert status in (0, 1)
    assert re.search("[\u4e00-\u9fff]", out)
    lines = [line for line in out.splitlines() if "(" not in line or "：" in line]
    titles = "documentation of|Table 1|every pair tested|promote_types|on the CPU|scaled.xml"
    assert [line for line in lines if ENGLISH.search(line) and not re.search(titles, line)] == []


def test_english_is_the_same_with_or_without(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("explain", "i32", "bf16")
    assert run(capsys, *arguments) == run(capsys, *arguments, "--lang", "en")


@pytest.mark.parametrize("arguments", [("explain", "i32", "bf16"), ("diff", "cann", "torch")])
def test_data_is_english(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    _, english, _ = run(capsys, *arguments, "--json")
    _, chinese, _ = run(capsys, *arguments, "--json", "--lang", "zh")
    assert json.loads(english) == json.loads(chinese)


def test_errors_are_english(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, english = run(capsys, "promote", "i32", "nothing")
    assert run(capsys, "promote", "i32", "nothing", "--lang", "zh") == (status, "", english)


@pytest.mark.parametrize("command", ["", "check", "port", "standards diff", "op"])
def test_help_is_chinese(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, *command.split(), "--help", "--lang", "zh")
    text = re.sub(r"suanzi .*", "", out)
    assert re.search("[\u4e00-\u9fff]", text)
    assert ENGLISH.findall(text) == []
    _, out, _ = run(capsys, *command.split(), "--help")
    assert not re.search("[\u4e00-\u9fff]", out)


def test_the_option_may_stand_anywhere_before_the_program_s_own() -> None:
    assert split(["--lang=zh", "demo"]) == (["demo"], "zh")
    assert split(["port", "a.py", "--lang", "zh", "--", "--lang", "x"]) == (
        ["port", "a.py", "--", "--lang", "x"], "zh")  # fmt: skip
    with pytest.raises(InvalidArgument, match="needs a language: en"):
        split(["demo", "--lang"])


def test_an_unknown_language_is_one_error(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "dtypes", "--lang", "fr")
    assert (status, out) == (2, "")
    assert err == "suanzi: --lang: 'fr' is not a language of suanzi: en (English), zh.\n"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"SUANZI_LANG": "zh", "LANG": "en_US.UTF-8"}, "zh"),
        ({"SUANZI_LANG": "en", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_ALL": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_MESSAGES": "zh_CN.UTF-8", "LANG": "de_DE.UTF-8"}, "zh"),
        ({"LANG": "zh_TW"}, "zh"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_the_environment_chooses(
    variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SUANZI_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert choose(None) == expected
    assert choose("en") == "en"


def test_an_unknown_variable_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUANZI_LANG", "xx")
    status, _, err = run(capsys, "dtypes")
    assert status == 2
    assert "SUANZI_LANG: 'xx' is not a language of suanzi: en (English), zh." in err


@pytest.mark.parametrize("asked", ["zh", None])
def test_a_terminal_without_the_letters_gets_english(
    asked: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUANZI_LANG", "zh")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    assert choose(asked) == "en"
    assert capsys.readouterr().err.count("\n") == (asked is not None)


def test_python_reads_the_variable_once() -> None:
    assert lang.chosen() == "en"
    with language("zh"):
        assert lang.chosen() == "zh"
    assert lang.chosen() == "en"
