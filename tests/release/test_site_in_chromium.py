"""Every page of the site in Chromium: widths, requests, search, languages, colours, axe-core.

They need the extras `docs` and `docs-test` and Chromium; SUANZI_SCREENSHOTS names a folder for
pictures, SUANZI_SITE a site that was built before.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docs_site.words import LANGUAGES
from write_docs import paths

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: the extra `docs-test`"
)
ROOT = Path(__file__).parents[2]
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
PICTURES = os.environ.get("SUANZI_SCREENSHOTS")
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 360, "height": 740}
PAGES = [
    f"{language}/{path.removesuffix('.md')}.html"
    for language in LANGUAGES
    for path in paths(language)
]
LOOKED_AT = (
    "index", "tutorials/start", "tutorials/low-precision", "guides/porting/cann",
    "reference/operators/reduction", "reference/promotion-tables", "reference/cli",
    "reference/accuracy", "explanations/promotion", "explanations/errata",
)  # fmt: skip
"""Pages of every kind, of which axe-core says what is wrong and pictures are taken."""
ALLOWED = r"^(file|data|blob|about):"
MISSED = r"/sitemap\.xml$"
"""What the theme asks for in vain on a disc, where no script may read a file."""
THEME = {"landmark-unique": {"enabled": False}}
"""The theme puts the copy button of each block into a landmark of its own."""
WORDS = {
    "en": {
        "bfloat16": "reference/dtypes",
        "float8_e4m3fn": "reference/dtypes",
        "op_reduce": "reference/operators/reduction",
        "7.2.13.2": "reference/operators/reduction",
        "cumsum": "reference/operators/reduction",
        "softmax": "guides/nn/softmaxes",
        "gelu": "reference/nn/activations",
        "attention": "guides/nn/attention",
        "SZ005": "reference/port-findings",
        "errata": "explanations/errata",
        "E42": "explanations/errata",
        "TYPE_MISMATCH": "reference/errors",
        "matmul": "reference/operators/linear-algebra",
        "svd": "reference/operators/linear-algebra",
        "glossary": "reference/glossary",
        "porting": "guides/porting/index",
        "promotion": "explanations/promotion",
        "quantised": "guides/operators/creation_quantized",
        "sparse": "guides/operators/creation_sparse",
        "speed": "reference/speed",
    },
    "zh": {
        "类型提升": "explanations/promotion",
        "规约": "operators/reduction",
        "op_reduce": "reference/operators/reduction",
        "7.2.13.2": "reference/operators/reduction",
        "softmax": "guides/nn/softmaxes",
        "bfloat16": "reference/dtypes",
        "修改建议": "explanations/proposals",
        "数据类型": "reference/dtypes",
        "状态码": "reference/errors",
        "命令行": "reference/cli",
        "术语": "reference/glossary",
        "傅里叶变换": "operators/signal",
        "入门": "tutorials/start",
        "提升表": "reference/promotion-tables",
        "低精度": "tutorials/low-precision",
        "TYPE_MISMATCH": "reference/errors",
        "线性代数": "reference/operators/linear-algebra",
        "昇腾": "guides/porting/cann",
        "注意力": "guides/nn/attention",
        "激活函数": "guides/nn/activations",
    },
}
"""What is searched, and the page that is found first; the guide or the reference if either does."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if built := os.environ.get("SUANZI_SITE"):
        return Path(built).resolve()
    if shutil.which("zensical") is None:
        pytest.skip("Zensical is not installed: the extra `docs`")
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([ROOT / ".ci" / "site", folder], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


class Tab:
    """A page of the site, with what went wrong in it and what it asked of the network."""

    def __init__(self, browser: Any, site: Path, **options: Any) -> None:
        self.site = site
        self.context = browser.new_context(**{"viewport": DESKTOP} | options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(30_000)
        self.problems: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("requestfailed", self.note_failure)
        self.page.on("request", lambda request: self.note(request.url, ALLOWED))

    def note_failure(self, request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":  # by going on to the next page
            self.note(request.url, MISSED)

    def note(self, address: str, fine: str) -> None:
        if not re.search(fine, address):
            self.problems.append(address)

    def open(self, path: str) -> Any:
        self.page.goto((self.site / path).as_uri())
        return self.page


@pytest.fixture
def tab(browser: Any, site: Path) -> Iterator[Tab]:
    opened = Tab(browser, site)
    yield opened
    opened.context.close()
    assert opened.problems == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_page_scrolls_sideways(browser: Any, site: Path, language: str) -> None:
    wrong = []
    for size in (DESKTOP, PHONE):
        tab = Tab(browser, site, viewport=size)
        for path in (one for one in PAGES if one.startswith(language)):
            page = tab.open(path)
            extra = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            if extra > 0 or tab.problems:
                wrong.append((path, size["width"], extra, tab.problems[:2]))
                tab.problems.clear()
        tab.context.close()
    assert not wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_search_finds_the_right_page_first(tab: Tab, language: str) -> None:
    page = tab.open(f"{language}/index.html")
    page.locator(".md-search__button").first.click()
    wrong = {}
    for word, expected in WORDS[language].items():
        page.locator("input:visible").first.fill("")
        page.locator("input:visible").first.fill(word)
        first = page.locator('a[href*="?h="]').first
        first.wait_for()
        page.wait_for_timeout(600)
        found = str(first.get_attribute("href"))
        if f"/{language}/" not in found or f"/{expected}.html" not in found:
            wrong[word] = found
    assert not wrong


@pytest.mark.parametrize("path", ["index", "reference/operators/reduction", "guides/porting/cann"])
def test_the_language_changes_and_the_page_stays(tab: Tab, path: str) -> None:
    page = tab.open(f"en/{path}.html")
    page.locator(".suanzi-language").first.click()
    page.wait_for_url(f"**/zh/{path}.html")
    assert page.locator("html").get_attribute("lang") == "zh"
    menu = page.locator(".md-tabs__link").all_inner_texts()
    assert [one.strip() for one in menu] == ["首页", "教程", "指南", "参考", "原理"]
    page.locator(".suanzi-language").first.click()
    page.wait_for_url(f"**/en/{path}.html")


def test_colours_follow_the_choice_and_stay(tab: Tab) -> None:
    page = tab.open("en/index.html")
    scheme = "document.body.getAttribute('data-md-color-scheme')"
    assert page.evaluate(scheme) == "default"
    page.locator('label[title="Dark colours"]').click()
    assert page.evaluate(scheme) == "slate"
    page = tab.open("en/tutorials/start.html")
    assert page.evaluate(scheme) == "slate"


def test_code_has_buttons_and_wide_tables_scroll(browser: Any, site: Path) -> None:
    tab = Tab(browser, site, viewport=PHONE)
    page = tab.open("en/reference/accuracy.html")
    assert page.locator("button.md-code__button, .md-clipboard").count() > 0
    table = page.locator(".md-typeset__table, .md-typeset__scrollwrap").first
    assert table.evaluate("e => getComputedStyle(e).overflowX") in ("auto", "scroll") or (
        page.locator(".md-typeset__scrollwrap").first.evaluate("e => getComputedStyle(e).overflowX")
        in ("auto", "scroll")
    )
    tab.context.close()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_axe_core_finds_nothing(
    browser: Any, site: Path, language: str, scheme: str, size: dict[str, int]
) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="the extra `docs-test` is not installed"
    ).Axe()
    tab = Tab(browser, site, color_scheme=scheme, viewport=size)
    wrong = []
    for path in LOOKED_AT:
        page = tab.open(f"{language}/{path}.html")
        if PICTURES:
            name = f"{language}-{path.replace('/', '-')}-{scheme}-{size['width']}.png"
            page.screenshot(path=str(Path(PICTURES) / name))
        found = axe.run(page, options={"runOnly": ["wcag2a", "wcag2aa", "best-practice"],
                                       "rules": THEME})  # fmt: skip
        wrong += [
            (path, one["id"], one["nodes"][0]["target"], len(one["nodes"]))
            for one in found.response["violations"]
        ]
    tab.context.close()
    assert not wrong, "\n".join(map(str, wrong))
