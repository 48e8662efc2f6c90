"""The page in Chromium: every control, its address, languages, colours, phones and the keyboard.

They need the extra `docs-test` and Chromium; SUANZI_SCREENSHOTS names a folder for pictures.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import suanzi as sz
from front.site.questions import ASK, answer, questions
from suanzi.front import site
from suanzi.front.site.words import words

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: the extra `docs-test`"
)
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
PICTURES = os.environ.get("SUANZI_SCREENSHOTS")
PARTS = ("promotion", "accuracy", "conformance", "judge")
PHONE = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return site.write(tmp_path_factory.mktemp("explorer")).as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


class Tab:
    """A page, with what went wrong in it and what it asked of the network."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.context = browser.new_context(**{"locale": "en-US"} | options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.address = address
        self.problems: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self.problems.append(request.url)
                     if not request.url.startswith(address) else None)  # fmt: skip

    def open(self, state: str = "") -> Any:
        self.page.goto("about:blank")
        self.page.goto(self.address + state)
        return self.page

    @property
    def state(self) -> str:
        return str(self.page.url).partition("#")[2]


@pytest.fixture
def tab(browser: Any, address: str) -> Iterator[Tab]:
    opened = Tab(browser, address)
    yield opened
    opened.context.close()
    assert opened.problems == []


def cells(page: Any, rules: str) -> list[str]:
    row = page.locator(f'#answers tr:has(th[data-rules="{rules}"])')
    return [str(text) for text in row.locator("td").all_inner_texts()]


def test_it_answers_as_the_engine_does(tab: Tab) -> None:
    page = tab.open("#/promotion")
    page.add_script_tag(content=f"{_engine()}; window.ask = {ASK};")
    asked = questions(400, seed=23)
    found = page.evaluate("questions => ask(questions)", asked)
    for question, one in zip(asked, found, strict=True):
        assert one == answer(question), question
    tab.problems.clear()  # the script was ours


def _engine() -> str:
    script = (site.HOME / "page" / "promote.js").read_text("utf-8")
    return f'{script}\nconst DATA = JSON.parse(document.getElementById("data").textContent)'


def test_what_is_shown_is_the_answer(tab: Tab) -> None:
    page = tab.open("#/promotion?x=int8,0d:float16,300&op=mul&ref=torch&rules=torch,numpy,cann")
    for rules in ("torch", "numpy", "cann"):
        expected = answer((["int8", "0d:float16", "300"], rules, "mul"))
        dtype, lost, why, fix = cells(page, rules)
        assert (expected["dtype"] or "refused") in dtype
        assert all(one["text"] in lost for one in expected["lost"])
        assert expected["reason"] in why
        assert all(one["text"] in fix for one in expected["fixes"])
    assert page.locator("#answers tbody tr").count() == 3


def test_every_control_of_promotion_is_in_the_address(tab: Tab) -> None:
    page = tab.open()
    assert page.locator("#answers tbody tr").count() == len(sz.rule_sets())
    page.get_by_label("Operand 1", exact=True).select_option("uint8")
    page.get_by_role("button", name="Add an operand").click()
    page.get_by_label("Operand 3", exact=True).select_option("py:float")
    assert "x=uint8,bfloat16,py:float" in tab.state
    page.get_by_role("button", name="Remove operand 2").click()
    assert "x=uint8,py:float" in tab.state
    page.get_by_label("Operator").select_option("true_divide")
    page.get_by_label("Compare with").select_option("numpy")
    page.locator("#chosen summary").click()
    page.locator("#no-rules").click()
    assert page.locator("#answers tbody tr").count() == 0
    assert "at least one" in page.locator("#answers-count").inner_text()
    page.locator('#rules input[value="jax"]').check()
    page.locator('#rules input[value="torch"]').check()
    page.locator("#tables > summary").click()
    page.locator("#shape").select_option("number")
    # A part that opens says so a little later.
    page.wait_for_url(
        re.compile("op=true_divide&ref=numpy&rules=torch,jax&shape=number&tables=open")
    )
    assert (
        page.locator("#whole table").count() == 3
    )  # numpy, with which they are compared, is first
    shown = page.inner_text("#answers")
    again = tab.open(f"#{tab.state}")  # the link alone restores it
    assert again.inner_text("#answers") == shown
    assert again.locator("#whole table").count() == 3
    again.locator("#all-rules").dispatch_event("click")
    assert "rules=" not in tab.state


def test_the_tables_compare_with_the_reference(tab: Tab) -> None:
    page = tab.open("#/promotion?op=any&ref=torch&rules=cann&tables=open")
    found = sz.diff("torch", "cann").of_shape("tensor, tensor")
    common = [d for d in sz.rule_set("torch").dtypes if d in sz.rule_set("cann").dtypes]
    marked = page.locator('table[data-rules="cann"] td').evaluate_all(
        "cells => cells.map(one => [one.className, one.dataset.a, one.dataset.b])"
    )
    different = {
        (a, b) for mark, a, b in marked if mark in ("other_dtype", "only_refused", "only_accepted")
    }
    expected = {tuple(str(o.dtype) for o in one.operands) for one in found}
    assert different == expected | {(b, a) for a, b in expected}
    names = {d.name for d in common}
    apart = {(a, b) for mark, a, b in marked if mark == "not_compared"}
    assert all(a not in names or b not in names for a, b in apart)
    page.locator('table[data-rules="cann"] td[data-a="int32"][data-b="bfloat16"]').click()
    assert "row s32, column bf16" in page.inner_text("#cell-reason")


def test_the_atlas_sorts_filters_and_shows_details(tab: Tab) -> None:
    page = tab.open("#/accuracy")
    page.locator("#atlas-dtype").select_option("float16")
    numbers = ".atlas tbody tr td:nth-child(2)"
    page.locator('[data-sort="suanzi"]').click()
    shown = [
        float(re.sub("[a-z]+$", "", text))
        for text in page.locator(numbers).all_inner_texts()
        if text != "–"
    ]
    assert shown == sorted(shown, reverse=True)
    assert "sort=-suanzi" in tab.state
    page.locator('[data-sort="suanzi"]').click()
    assert page.locator('th[aria-sort="ascending"]').count() == 1
    page.locator('[data-sort="name"]').click()
    names = page.locator(".atlas tbody th").all_inner_texts()
    assert names == sorted(names)
    page.locator("#atlas-find").fill("exp")
    assert all("exp" in name for name in page.locator(".atlas tbody th").all_inner_texts())
    page.locator("#atlas-measure").select_option("mean")
    page.locator('[data-show="exp,float16,suanzi"]').click()
    detail = page.locator("#atlas-detail")
    assert detail.locator("svg.chart").count() >= 2
    assert "suanzi accuracy" in detail.inner_text()
    assert "find=exp&show=exp,float16,suanzi" in tab.state
    assert tab.open(f"#{tab.state}").locator("#atlas-detail svg").count() >= 2
    page.locator("#close-detail").click()
    assert detail.is_hidden()


def test_the_scoreboard_filters(tab: Tab) -> None:
    page = tab.open("#/conformance")
    rows = page.locator("#scoreboard tbody tr")
    assert rows.count() == 151
    page.locator("#category").select_option("trigonometric")
    assert 0 < rows.count() < 20
    page.locator("#minimal").check()
    page.locator("#verdict").select_option("known deviations")
    page.locator("#deviation-of").select_option("torch")
    page.locator("#deviation-op").select_option("range")
    page.locator("#deviation-find").fill("end")
    assert "category=trigonometric" in tab.state
    assert "minimal=yes&of=torch&interface=range&text=end" in tab.state
    entry = page.locator(".deviation").first
    entry.locator("summary").click()
    entry.get_by_text("suanzi check --backend torch --case range/").wait_for()  # in the next frame
    entry.get_by_role("button", name="copy").first.click()
    entry.get_by_role("button", name=re.compile("Copied|Copy the")).first.wait_for()


def test_the_judge_table_marks_mistakes(tab: Tab) -> None:
    page = tab.open("#/judge")
    first = page.locator("#judged tbody tr").first
    assert first.locator("th").inner_text() == "suanzi"
    assert first.locator(".mistake").count() == 0
    assert page.locator("#judged .mistake").count() > 20
    assert page.locator("#standards details").count() == len(
        page.evaluate("JSON.parse(document.getElementById('data').textContent).judge.standards")
    )


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(("lang", "scheme"), [("en", "light"), ("zh", "dark")])
def test_parts_in_both_languages_colours_and_widths(
    browser: Any, address: str, part: str, lang: str, scheme: str
) -> None:
    for name, size in (("wide", {"width": 1280, "height": 900}), ("phone", PHONE)):
        tab = Tab(browser, address, viewport=size, color_scheme=scheme)
        more = "&tables=open&rules=cann,jax" if part == "promotion" else "&show=exp,float32,numpy"
        page = tab.open(f"#/{part}?lang={lang}{more}")
        wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], f"{part} is too wide on a {name}"
        text = page.locator("header").inner_text() + page.locator(f"#{part}").inner_text()
        for key in ("lead", part, f"{part}_lead"):
            assert words()["label"][key][lang == "zh"] in text
        assert page.locator("html").get_attribute("lang") == ("zh-CN" if lang == "zh" else "en")
        assert "undefined" not in text
        assert "NaN" not in text.replace("NaN ", "").replace("NaN,", "") or part == "conformance"
        light = (
            page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        )
        assert light == (scheme == "light")
        if PICTURES:
            page.screenshot(
                path=Path(PICTURES) / f"{part}-{lang}-{scheme}-{name}.png", full_page=True
            )
        assert tab.problems == []
        tab.context.close()


def test_the_switches_of_language_and_colours(tab: Tab) -> None:
    page = tab.open("#/judge")
    page.get_by_label("Language").select_option("zh")
    assert page.locator('a[data-part="judge"]').inner_text() == "判定标准"
    page.locator("#theme").select_option("dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 28)"
    assert tab.state == "/judge?lang=zh&theme=dark"
    page.locator('a[data-part="accuracy"]').click()
    assert tab.state == "/accuracy?lang=zh&theme=dark"
    page.locator("#theme").select_option("light")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.locator("#link").click()
    page.get_by_role("button", name=re.compile("已复制|请复制页面地址")).wait_for()
    page.go_back()
    assert page.locator("#judge").is_visible()


def test_the_keyboard_reaches_everything(tab: Tab) -> None:
    page = tab.open("#/promotion?rules=torch,jax")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")  # the first operand, int32, becomes int64
    assert "x=int64,bfloat16" in tab.state
    assert page.evaluate("document.activeElement.dataset.operand") == "0"
    page.locator('a[data-part="accuracy"]').focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "accuracy-title"
    page.locator('[data-sort="numpy"]').focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.dataset.sort") == "numpy"
    page.locator(".cell").first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "atlas-detail"
    page.locator("#close-detail").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.className") == "cell"


def test_a_screen_reader_finds_names(tab: Tab) -> None:
    for part in PARTS:
        page = tab.open(f"#/{part}")
        unnamed = page.locator(":is(select, input, button, a):visible").evaluate_all(
            "all => all.filter(x => !x.labels?.length && !x.ariaLabel && !x.textContent.trim())"
            ".map(x => x.outerHTML)"
        )
        assert unnamed == []
        heads = page.locator("table:visible th").evaluate_all(
            "all => all.filter(one => !one.scope).length"
        )
        assert heads == 0
        assert page.locator("nav [aria-current=page]").count() == 1


def test_a_broken_address_shows_defaults(tab: Tab) -> None:
    page = tab.open(
        "#/promotion?x=int99,bfloat16&op=nothing&ref=nobody&rules=none,torch&lang=xx&theme=red"
    )
    assert page.locator("#answers tbody tr").count() == 1
    assert page.get_by_label("Operand 1", exact=True).input_value() == "int32"
    assert tab.open("#/nowhere").locator("#promotion").is_visible()
    assert (
        tab.open("#/accuracy?dtype=x&measure=y&sort=99&show=a,b,c").locator(".atlas").is_visible()
    )
