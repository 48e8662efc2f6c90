"""The documentation as a site: what is made is complete, and every link leads somewhere."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from posixpath import join, normpath
from urllib.parse import unquote, urlsplit

import pytest

import suanzi as sz
from docs_site.fragments import FRAGMENTS, MARK, fill
from docs_site.markdown import docstring, table
from docs_site.operators import INDEX, MINIMAL_SET, TITLES, linked, page_of, pages
from suanzi.errata import errata
from suanzi.registry import REGISTRY
from suanzi.standard import categories, interfaces

ROOT = Path(__file__).parents[2]
WRITTEN = {
    str(page.relative_to(ROOT / "docs")): page.read_text("utf-8")
    for page in (ROOT / "docs").rglob("*.md")
}
READMES = {page.name: page.read_text("utf-8") for page in ROOT.glob("README*.md")}
# What tools/docs_site/hook.py adds: pages that are files of the root, and that of `suanzi site`.
EXPLORER = "explore/index.html"
COPIED = {"contributing.md": "CONTRIBUTING.md", "changes.md": "CHANGELOG.md"}
MADE = pages()
CATEGORY_PAGES = [page_of(category) for category in TITLES]


def headings(markdown: str, level: str = "#+") -> list[str]:
    plain = re.sub(r"^```.*?^```", "", markdown, flags=re.S | re.M)
    return re.findall(rf"^(?:{level}) (.+)$", plain, re.M)


def test_there_is_a_page_for_each_category() -> None:
    assert set(TITLES) == {one.category for one in interfaces().values()}
    models = {f"reference/nn-{name}.md" for name in categories("nn").values()}
    assert set(MADE) == {INDEX, MINIMAL_SET, *CATEGORY_PAGES, *models}


def test_every_interface_is_on_exactly_one_page() -> None:
    found = [name for page in CATEGORY_PAGES for name in headings(MADE[page], "##")]
    assert sorted(found) == sorted(interfaces())
    for one in interfaces().values():
        assert one.name in headings(MADE[page_of(one.category)], "##")


def section(name: str) -> str:
    one = interfaces()[name]
    _, _, rest = MADE[page_of(one.category)].partition(f"\n## {name}\n")
    return rest.split("\n## ")[0]


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


@pytest.mark.parametrize("name", [name for name in interfaces() if name not in REGISTRY])
def test_an_interface_that_is_not_declared_says_so(name: str) -> None:
    assert section(name).startswith("\nNot declared yet.")


def test_the_index_and_the_minimal_set_are_complete() -> None:
    listed = re.findall(r"^\| 7\.2\.[\d.]+ \| \[`(\w+)`\]", MADE[INDEX], re.M)
    assert listed == list(interfaces())
    numbered = re.findall(r"^\| \d+ \| 7\.2\.[\d.]+ \| \[`(\w+)`\]", MADE[MINIMAL_SET], re.M)
    assert numbered == [one.name for one in interfaces().values() if one.minimal]
    assert len(numbered) == 77


def test_every_erratum_is_on_the_page_once() -> None:
    text = WRITTEN["errata.md"]
    assert sorted(headings(text, "###")) == sorted(erratum.id for erratum in errata())
    for erratum in errata():
        assert erratum.here in text


def test_the_tables_are_those_of_the_rule_sets() -> None:
    text = WRITTEN["promotion-tables.md"]
    assert headings(text, "##") == list(sz.rule_sets())
    for name in sz.rule_sets():
        for row in sz.table(name).tensor_rows():
            assert re.search(r" +".join(map(re.escape, filter(None, row))), text), (name, row)


@pytest.mark.parametrize("target", ["cann", "mindspore", "paddle", "openvino"])
def test_a_porting_guide_lists_every_difference(target: str) -> None:
    text = WRITTEN[f"porting/{target}.md"]
    found = sz.diff("torch", target)
    rows = 0
    for shape in found.compared:
        _, _, rest = text.partition(f"\n### {shape[0].upper()}{shape[1:]}\n")
        lines = rest.split("\n###")[0].splitlines()
        rows += sum(len(line.split(" | ")[1].split(", ")) for line in lines[3:] if "|" in line)
    assert rows == len(found.differences)


@pytest.mark.parametrize("path", [*WRITTEN, *READMES])
def test_what_is_made_is_current(path: str) -> None:
    text = (WRITTEN | READMES)[path]
    assert text == fill(text), "run python tools/write_docs.py"


def test_every_mark_has_an_end_and_every_part_is_used() -> None:
    text = "\n".join([*WRITTEN.values(), *READMES.values()])
    found = [m[2] for m in MARK.finditer(text)]
    assert len(found) == len(re.findall("^<!--", text, re.M)) / 2
    assert set(found) == set(FRAGMENTS)


def test_on_the_site_what_is_made_leads_to_the_reference() -> None:
    text = "*Gap. 7.2.4.1 `add`, 7.2.8.2 `sqrt`*\n| 7.2.4.2 | `sub` |\n`add`, `sub` and\n"
    assert linked(text, "../") == (
        "*Gap. 7.2.4.1 [`add`](../reference/arithmetic.md#add), "
        "7.2.8.2 [`sqrt`](../reference/power.md#sqrt)*\n"
        "| 7.2.4.2 | [`sub`](../reference/arithmetic.md#sub) |\n`add`, `sub` and\n"
    )


def test_docstrings_become_markdown() -> None:
    text = 'Say `x` < 2.\n\n>>> print("a\\n\\nb")\na\n<BLANKLINE>\nb\n\nMore, of :mod:`suanzi`.'
    assert docstring(text) == (
        'Say `x` &lt; 2.\n\n```pycon\n>>> print("a\\n\\nb")\na\n\nb\n```\n\nMore, of `suanzi`.'
    )
    assert table(("a", "b"), [("1|2", "3")]) == "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |"


def slug(heading: str) -> str:
    words = re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower()
    return re.sub(r"[-\s]+", "-", words)


def test_links_between_pages_lead_somewhere() -> None:
    site = WRITTEN | MADE | {p: (ROOT / s).read_text("utf-8") for p, s in COPIED.items()}
    anchors = {path: {slug(heading) for heading in headings(text)} for path, text in site.items()}
    for path, text in site.items():
        plain = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
        for target in re.findall(r"\]\(([^)\s]+)\)", plain):
            if target.startswith(("http:", "https:")):
                continue
            file, _, anchor = target.partition("#")
            there = normpath(join(path, "..", file)) if file else path
            for page, source in COPIED.items():
                there = page if there == f"../{source}" else there
            assert there in site, f"{path}: {target}"
            assert not anchor or anchor in anchors[there], f"{path}: {target}"


class Links(HTMLParser):
    """The links, the ids and what the browser would load of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = {name: value for name, value in attrs if value is not None}
        self.ids |= {facts[name] for name in ("id", "name") if name in facts}
        if tag == "a" and "href" in facts:
            self.links.append(facts["href"])
        if "src" in facts:
            self.loads.append(facts["src"])
        if tag == "link" and "href" in facts:
            self.loads.append(facts["href"])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as the one command builds it."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: the extra `docs`")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_built_site_is_whole_and_needs_no_network(built: Path) -> None:
    parsed = {}
    for file in built.rglob("*.html"):
        parsed[file] = page = Links()
        page.feed(file.read_text("utf-8"))
    expected = {path.replace(".md", ".html") for path in WRITTEN | MADE | COPIED}
    found = {str(file.relative_to(built)) for file in parsed}
    assert found == expected | {"404.html", "search.html", EXPLORER}
    for file, page in parsed.items():
        for target in (*page.links, *page.loads):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                assert target not in page.loads, f"{file.name} loads {target}"
                continue
            if file.name == "404.html":  # its links are from the root of a server
                continue
            if parts.fragment.startswith("/"):  # the state of the explorer
                continue
            there = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            assert there.is_file(), f"{file.name}: {target}"
            if parts.fragment and there in parsed:
                assert unquote(parts.fragment) in parsed[there].ids, f"{file.name}: {target}"
    for style in built.rglob("*.css"):
        assert not re.search(r"(url\(|@import)[\"' (]*(https?:)?//", style.read_text("utf-8")), (
            style
        )


# A browser, as far as the search needs one: scripts are loaded from the folder of the site.
BROWSER = """
const fs = require("fs"), vm = require("vm"), [folder, query] = process.argv.slice(1);
const run = (name) => vm.runInThisContext(fs.readFileSync(folder + "/" + name, "utf8"));
const input = {value: "", addEventListener: (_, typed) => { input.typed = typed; }};
const results = {
  removeChild() {}, getAttribute() {},
  insertAdjacentHTML: (_, html) => console.log(html),
};
globalThis.window = globalThis;
globalThis.exports = globalThis.module = undefined;  // a browser has no modules of Node.js
globalThis.base_url = ".";
globalThis.location = {protocol: "file:", search: "?q=" + query};
globalThis.document = {
  getElementById: (id) => id === "mkdocs-search-query" ? input : results,
  createElement: () => ({}),
  head: {appendChild: (script) => setTimeout(() => { run(script.src); script.onload(); })},
};
run("search-from-disc.js");
run("search/main.js");
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("transpose", "reference/transformation.html#transpose"),
        ("bernoulli", "reference/creation.html#rand_bernoulli"),
        ("provider", "extending/device.html"),
    ],
)
def test_the_search_works_from_the_disc(built: Path, query: str, page: str) -> None:
    command = ["node", "-e", BROWSER, "--", str(built), query]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f'<a href="./{page}"' in done.stdout


def test_every_erratum_that_results_depend_on_is_a_proposal() -> None:
    from docs_site.proposals import pages, read

    assert list(read()) == [one.id for one in errata() if one.results]
    for said in read().values():
        assert set(said) == {"title", "problem", "options", "elsewhere", "wording"}
    for path, text in pages().items():
        assert path.read_text("utf-8") == text, "run python tools/write_docs.py"
