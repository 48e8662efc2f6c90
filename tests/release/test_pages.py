"""Pages of the site in two languages: each has its partner, with the same code, numbers, links
and anchors. What the tree lacks of them is made here."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from posixpath import join, normpath

import pytest

from docs_site.markdown import slug
from docs_site.words import LANGUAGES, chinese
from write_docs import made, paths

ROOT = Path(__file__).parents[2]
PATHS = {language: paths(language) for language in LANGUAGES}
BOTH = [path for path in PATHS["en"] if path in PATHS["zh"]]
FENCE = re.compile(r"^( *)```(.*?)^\1```$", re.M | re.S)
MADE = re.compile(r"^<!-- (?:made|kept): .*?^<!-- end: [a-z-]+ -->$", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")
MANUAL = ("http:", "https:", "mailto:")


@cache
def site() -> dict[str, str]:
    """Return every page by its language and path."""
    return made()


def page(language: str, path: str) -> str:
    return site()[f"{language}/{path}"]


def plain(markdown: str) -> str:
    """Return a page without its blocks of code."""
    return FENCE.sub("", markdown)


def anchors(markdown: str) -> list[str]:
    return [slug(heading) for heading in re.findall(r"^#+ (.+)$", plain(markdown), re.M)]


def blocks(markdown: str) -> list[str]:
    return [match[2] for match in FENCE.finditer(markdown)]


def same_code(one: str, two: str) -> bool:
    """Compare without comments; of what prints Chinese (`--lang zh`), the commands alone."""
    if "--lang zh" in two:
        one, two = ("\n".join(re.findall(r"^\$ .*$", text, re.M)) for text in (one, two))
    one, two = (re.sub(r" *(#|//) .*$| *--lang zh", "", text, flags=re.M) for text in (one, two))
    return one == two


def numbers(markdown: str) -> list[list[str]]:
    """Return the numbers of each row of every table."""
    rows = [line for line in plain(markdown).splitlines() if line.lstrip().startswith("|")]
    return [sorted(re.findall(r"\d+(?:\.\d+)*", LINK.sub("]", row))) for row in rows]


def links(markdown: str) -> list[str]:
    return sorted(LINK.findall(plain(markdown)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_links_lead_somewhere(language: str) -> None:
    pages = {path: page(language, path) for path in PATHS[language]}
    pictures = {f"img/{one.name}" for one in (ROOT / "docs" / language / "img").iterdir()}
    there_are = {path: set(anchors(text)) for path, text in pages.items()}
    for path, text in pages.items():
        for target in LINK.findall(plain(text)):
            if target.startswith(MANUAL):
                continue
            file, _, anchor = target.partition("#")
            there = normpath(join(path, "..", file)) if file else path
            assert not there.startswith(".."), f"{path}: {target} leaves the site"
            assert there in pages or there in pictures, f"{path}: {target}"
            assert not anchor or anchor in there_are[there], f"{path}: {target}"


def test_every_page_has_its_partner() -> None:
    assert PATHS["en"] == PATHS["zh"]
    assert sorted(site()) == sorted(f"{lang}/{path}" for lang in LANGUAGES for path in BOTH)


def test_every_text_has_its_partner() -> None:
    assert not [text for text, said in chinese().items() if not said]


def names(markdown: str) -> list[set[str]]:
    """Return what each section has in code."""
    sections = re.split(r"^#+ ", MADE.sub("", plain(markdown)), flags=re.M)
    return [{re.sub(r"\s+", " ", x) for x in re.findall(r"`([^`]+)`", one)} for one in sections]


@pytest.mark.parametrize("path", BOTH)
def test_no_section_lacks_a_name(path: str) -> None:
    """A sentence that is left out shows, and a name that is spelt otherwise."""
    for english, other in zip(names(page("en", path)), names(page("zh", path)), strict=True):
        assert not english - other


@pytest.mark.parametrize("path", BOTH)
def test_partners_agree(path: str) -> None:
    english, other = page("en", path), page("zh", path)
    assert anchors(other) == anchors(english)
    for one, two in zip(blocks(english), blocks(other), strict=True):
        assert same_code(one, two), two
    assert links(other) == links(english)
    assert numbers(other) == numbers(english)
    assert [m[0].splitlines()[0] for m in MADE.finditer(other)] == [
        m[0].splitlines()[0] for m in MADE.finditer(english)
    ]


def menu(file: str) -> list[object]:
    yaml = pytest.importorskip("yaml", reason="the extra `docs` is not installed")
    found: list[object] = yaml.safe_load((ROOT / file).read_text("utf-8"))["nav"]
    return found


def leaves(nav: object, depth: int = 0) -> list[tuple[int, str]]:
    if isinstance(nav, str):
        return [(depth, nav)]
    inside = nav.values() if isinstance(nav, dict) else nav
    assert isinstance(inside, list) or not isinstance(nav, list)
    return [leaf for one in inside for leaf in leaves(one, depth + isinstance(nav, list))]  # type: ignore[attr-defined]


def test_the_menus_are_the_same_and_have_every_page_once() -> None:
    english, other = leaves(menu("mkdocs.yml")), leaves(menu("mkdocs.zh.yml"))
    assert english == other
    assert sorted(path for _, path in english) == PATHS["en"]
    assert max(depth for depth, _ in english) <= 3


@pytest.mark.parametrize("path", PATHS["zh"])
def test_no_line_ends_where_chinese_has_no_space(path: str) -> None:
    """Browsers show the end of a line as a space."""
    lines = plain(page("zh", path)).splitlines()
    begins = re.compile(r"[*_\[]*[\u3001-\u303f\u4e00-\u9fff\uff01-\uff5e]")
    ends = re.compile(r"[\u3001-\u303f\u4e00-\u9fff\uff01-\uff5e][*_)]*$")
    for line, following in pairwise(lines):
        if not line.lstrip().startswith(("|", "#", "<", "!!!", "===")):
            assert not (ends.search(line) and begins.match(following.lstrip())), line
