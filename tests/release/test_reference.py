"""The reference and what is generated on pages: complete, current, and as the data say."""

from __future__ import annotations

import inspect
import re
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

import suanzi as sz
from docs_site import words
from docs_site.fragments import COMMANDS, FRAGMENTS, MARK, SOURCES
from docs_site.markdown import docstring, table
from docs_site.operators import INDEX, MINIMAL_SET, TITLES, linked, page_of, page_paths, pages
from docs_site.proposals import read
from docs_site.words import LANGUAGES, missing, say, speaking
from suanzi.front.cli import app
from suanzi.promote.registry import REGISTRY
from suanzi.standard import categories, interfaces
from suanzi.standard.errata import errata
from write_docs import kept, made, main, paths

ROOT = Path(__file__).parents[2]
ENGLISH = ROOT / "docs" / "en"
MADE = pages()
CATEGORY_PAGES = [page_of(category) for category in TITLES]


@cache
def site() -> dict[str, str]:
    return made()


def page(path: str) -> str:
    return site()[f"en/{path}"]


def headings(markdown: str, level: str = "#+") -> list[str]:
    plain = re.sub(r"^```.*?^```", "", markdown, flags=re.S | re.M)
    found = re.findall(rf"^(?:{level}) (.+)$", plain, re.M)
    return [re.sub(r" (<small>.*)?\{#.*\}$", "", heading) for heading in found]


def test_there_is_a_page_for_each_category() -> None:
    assert set(TITLES) == {one.category for one in interfaces().values()}
    models = {f"reference/nn/{name}.md" for name in categories("nn").values()}
    assert set(MADE) == {*CATEGORY_PAGES, *models}
    assert set(page_paths()) == set(MADE)


def test_every_interface_is_on_exactly_one_page() -> None:
    found = [name for page in CATEGORY_PAGES for name in headings(MADE[page], "##")]
    assert sorted(found) == sorted(interfaces())
    for one in interfaces().values():
        assert one.name in headings(MADE[page_of(one.category)], "##")


def section(name: str) -> str:
    one = interfaces()[name]
    _, _, rest = MADE[page_of(one.category)].partition(f"\n## {name} <small>")
    return rest.partition("\n")[2].split("\n## ")[0]


@pytest.mark.parametrize("name", [name for name in REGISTRY if name in interfaces()])
def test_an_operator_has_its_facts(name: str) -> None:
    op, facts, text = REGISTRY[name], interfaces()[name], section(name)
    assert f"{facts.clause}, Table {facts.table}." in text
    assert f"interface.{facts.c_name}(" in text
    assert f"sz.{name}(" in text
    assert op.dtypes_in_words() in text
    assert all(f"`{status.name}`" in text for status in facts.statuses)
    assert all(parameter.name in text for parameter in facts.parameters)
    assert ("minimal-set.md" in text) == facts.minimal
    assert ("- **accuracy**: " in text) == (op.ulp is not None)
    assert op.domain is None or op.domain in text
    for line in (inspect.getdoc(op.function) or "").splitlines():
        if line.startswith((">>> ", "... ")):
            assert line in text
    assert "Not declared" not in text
    for erratum in errata():
        assert (f"[{erratum.id}]" in text) == (facts.clause in erratum.clauses), erratum.id


def test_every_interface_is_declared() -> None:
    assert not set(interfaces()) - set(REGISTRY)


def test_the_index_and_the_minimal_set_are_complete() -> None:
    listed = re.findall(r"^\| 7\.2\.[\d.]+ \| \[`(\w+)`\]", page(INDEX), re.M)
    assert listed == list(interfaces())
    numbered = re.findall(r"^\| \d+ \| 7\.2\.[\d.]+ \| \[`(\w+)`\]", page(MINIMAL_SET), re.M)
    assert numbered == [one.name for one in interfaces().values() if one.minimal]
    assert len(numbered) == 77


def test_every_erratum_is_on_the_page_once() -> None:
    text = page("explanations/errata.md")
    assert sorted(headings(text, "###")) == sorted(erratum.id for erratum in errata())
    unlinked = re.sub(r"\[(`\w+`)\]\([^)]*\)", r"\1", text)
    for erratum in errata():
        assert erratum.here in unlinked


def test_the_tables_are_those_of_the_rule_sets() -> None:
    text = page("reference/promotion-tables.md")
    assert headings(text, "##") == list(sz.rule_sets())
    for name in sz.rule_sets():
        for row in sz.table(name).tensor_rows():
            assert re.search(r" +".join(map(re.escape, filter(None, row))), text), (name, row)


@pytest.mark.parametrize("target", ["cann", "mindspore", "paddle", "openvino"])
def test_a_porting_guide_lists_every_difference(target: str) -> None:
    text = page(f"guides/porting/{target}.md")
    found = sz.diff("torch", target)
    rows = 0
    for shape in found.compared:
        _, _, rest = text.partition(f"\n### {shape[0].upper()}{shape[1:]}\n")
        lines = rest.split("\n###")[0].splitlines()
        rows += sum(len(line.split(" | ")[1].split(", ")) for line in lines[3:] if "|" in line)
    assert rows == len(found.differences)


def test_what_the_tree_keeps_is_current_and_short() -> None:
    for path, text in kept().items():
        assert path.read_text("utf-8") == text, f"{path}: run python tools/write_docs.py"
        for mark in MARK.finditer(text):
            assert mark[0].count("\n") < (60 if mark[2] == "kept" else 5), f"{path}: {mark[1]}"


def test_every_text_has_its_chinese() -> None:
    site()
    assert not missing


def test_a_text_without_chinese_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = words.chinese()
    monkeypatch.setattr(words, "chinese", lambda: known | {"clause": ""})
    monkeypatch.setattr("write_docs.renew", lambda: say("clause"))
    monkeypatch.setattr("sys.argv", ["write_docs.py"])
    with speaking("zh"):
        assert main() == 1
    assert "'clause'" in capsys.readouterr().err
    missing.clear()
    assert main() == 0


def test_no_page_that_a_tool_writes_whole_is_in_the_tree() -> None:
    for language in LANGUAGES:
        assert set(page_paths()) <= set(paths(language))
        assert not [path for path in page_paths() if (ROOT / "docs" / language / path).exists()]


def test_what_is_made_is_ignored_by_git() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a checkout of Git")
    for path in ("build/docs/en/index.md", "build/site/en/index.html"):
        done = subprocess.run(["git", "check-ignore", "-q", path], cwd=ROOT, check=False)
        assert done.returncode == 0, path


def test_every_mark_has_an_end_and_every_part_is_used() -> None:
    text = "\n".join(
        file.read_text("utf-8") for file in (*ENGLISH.rglob("*.md"), *ROOT.glob("README*.md"))
    )
    found = [m[3] for m in MARK.finditer(text)]
    assert len(found) == len(re.findall("^<!--", text, re.M)) / 2
    assert set(found) == set(FRAGMENTS)


@pytest.mark.parametrize("name", SOURCES)
def test_files_that_stand_for_what_is_made_exist(name: str) -> None:
    assert any(ROOT.glob(SOURCES[name].replace("{}", "*")))
    assert name not in COMMANDS


@pytest.mark.parametrize("command", COMMANDS.values())
def test_commands_that_stand_for_what_is_made_exist(command: str) -> None:
    words_of_it = shlex.split(command.replace("{}", "torch cann"))[1:]
    app.parse_args(words_of_it, exit_on_error=False, print_error=False)


def test_what_is_generated_leads_to_the_reference() -> None:
    text = "*Gap. 7.2.4.1 `add`, 7.2.8.2 `sqrt`*\n| 7.2.4.2 | `sub` |\n`add`, `sub` and\n"
    assert linked(text, "../") == (
        "*Gap. 7.2.4.1 [`add`](../reference/operators/arithmetic.md#add), "
        "7.2.8.2 [`sqrt`](../reference/operators/power.md#sqrt)*\n"
        "| 7.2.4.2 | [`sub`](../reference/operators/arithmetic.md#sub) |\n`add`, `sub` and\n"
    )


def test_docstrings_become_markdown() -> None:
    text = 'Say `x` < 2.\n\n>>> print("a\\n\\nb")\na\n<BLANKLINE>\nb\n\nMore, of :mod:`suanzi`.'
    assert docstring(text) == (
        'Say `x` &lt; 2.\n\n```pycon\n>>> print("a\\n\\nb")\na\n\nb\n```\n\nMore, of `suanzi`.'
    )
    assert table(("a", "b"), [("1|2", "3")]) == "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_erratum_that_results_depend_on_is_a_proposal(language: str) -> None:
    found = read(language)
    assert list(found) == [one.id for one in errata() if one.results]
    for name, said in found.items():
        assert set(said) == {"title", "problem", "options", "elsewhere", "wording"}
        assert len(said["options"]) == len(read("en")[name]["options"])
