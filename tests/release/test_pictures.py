"""The pictures of the documentation are what `tools/draw.py` draws, in the language of the page."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from docs_site.words import LANGUAGES
from draw import FROM_DATA, PICTURES

ROOT = Path(__file__).parents[2]
TERMINAL = [name for name in PICTURES if name not in FROM_DATA]


def file(name: str, language: str) -> Path:
    return ROOT / "docs" / language / "img" / f"{name}.svg"


def lines(svg: str) -> list[str]:
    """Return the texts of a picture by line."""
    rows: dict[float, str] = {}
    for y, text in re.findall(r'<text[^>]* y="([\d.]+)"[^>]*>(.*?)</text>', svg):
        rows[float(y)] = rows.get(float(y), "") + unescape(text).replace("\xa0", " ")
    return [rows[y] for y in sorted(rows)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", FROM_DATA)
def test_a_picture_of_data_is_current(name: str, language: str) -> None:
    assert file(name, language).read_text("utf-8") == PICTURES[name](language == "zh")


def test_a_picture_of_a_terminal_is_current() -> None:
    """Of the one that is quick; the others run for longer."""
    assert lines(file("port", "zh").read_text("utf-8")) == lines(PICTURES["port"](True))


@pytest.mark.parametrize("name", TERMINAL)
def test_a_terminal_speaks_the_language_of_its_page(name: str) -> None:
    english, chinese = (lines(file(name, language).read_text("utf-8")) for language in LANGUAGES)
    assert not re.search(r"[\u3000-\u9fff]", "".join(english))
    assert "--lang zh" in " ".join(chinese)
    assert len(re.findall(r"[\u4e00-\u9fff]", "".join(chinese))) > 40
    assert not re.search(r"\b(conforms|fails|passed|WRONG|fix:|level)\b", "\n".join(chinese))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_picture_is_drawn_and_shown(language: str) -> None:
    folder = ROOT / "docs" / language
    assert {one.stem for one in (folder / "img").iterdir()} == set(PICTURES)
    shown = "".join(page.read_text("utf-8") for page in folder.rglob("*.md"))
    assert all(f"img/{name}.svg" in shown for name in PICTURES)
