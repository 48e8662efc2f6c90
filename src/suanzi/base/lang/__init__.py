"""The language of what people read: :func:`say` gives a text in the chosen one.

English stands in the code. A folder per language has the translations in TOML files, by the English
text, with marks: ``{a}`` to ``{h}`` stand for one word, ``{i}`` to ``{n}`` for a number, ``{t}`` to
``{z}`` for any text, ``{..}`` and ``{0}`` to ``{9}`` for text that is translated in turn, and
``{s}`` for the s of a plural, if any. Of several that fit, one that begins with letters is used,
then the one with the most letters. Nothing is read for English. Exceptions, JSON, JUnit and SARIF
are English in any language.

>>> say("row i32, column bf16")
'row i32, column bf16'
>>> with language("zh"):
...     say("row i32, column bf16")
'第 i32 行、第 bf16 列'
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path

LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "中文"}
MARK = re.compile(r"\{(?:[a-z0-9]|\.\.)\}")
_TURN = ".0123456789"
_MATCHES = {
    "s": "(?:e?s)?",
    **dict.fromkeys("ijklmn", r"([+-]?\d[\d.,]*(?:e[+-]?\d+)?)"),
    **dict.fromkeys(f"{_TURN}tuvwxyz", "(.+)"),
}
_HOME = Path(__file__).parent
_chosen = os.environ.get("SUANZI_LANG", "en")
if _chosen not in LANGUAGES:
    _chosen = "en"


def say(text: str) -> str:
    """Return a text in the chosen language; in English where it has no translation."""
    return text if _chosen == "en" else translated(text, _chosen) or text


def said(rows: Iterable[Sequence[str]], names: Collection[int] = ()) -> list[tuple[str, ...]]:
    """Return rows of a table in the chosen language; columns of `names` stay as they are."""
    return [tuple(cell if i in names else say(cell) for i, cell in enumerate(row)) for row in rows]


def chosen() -> str:
    """Return the language that is used."""
    return _chosen


@contextmanager
def language(name: str) -> Iterator[None]:
    """Use a language, one of ``LANGUAGES``."""
    global _chosen
    before, _chosen = _chosen, name
    try:
        yield
    finally:
        _chosen = before


def read(file: Path) -> dict[str, str]:
    """Return the translations of a file, by their English."""
    from suanzi.base.toml import tomllib

    return dict(tomllib.loads(file.read_text("utf-8")))


@cache
def catalogue(name: str) -> Catalogue:
    """Return all translations into a language."""
    files = sorted((_HOME / name).glob("*.toml"))
    return Catalogue({en: to for file in files for en, to in read(file).items()})


@lru_cache(1 << 12)
def translated(text: str, name: str) -> str | None:
    """Return a text in a language; None where it has no translation."""
    return catalogue(name).translated(text)


@cache
def docstrings(name: str) -> dict[str, str]:
    """Return docstrings of operators and texts of errata, a paragraph each, by their English."""
    texts = {
        en: to for file in (_HOME / name / "docs").glob("*.toml") for en, to in read(file).items()
    }

    def plain(markdown: str) -> str:
        return markdown.replace("\\*", "*").replace("&lt;", "<")

    return {plain(en): plain(to) for en, to in texts.items()}


def described(text: str) -> str:
    """Return a text of a record, such as an erratum, in the chosen language."""
    return text if _chosen == "en" else docstrings(_chosen).get(text) or say(text)


def order(en: str) -> tuple[bool, int]:
    """Return what texts are sorted by: those that begin with letters first, then the longest."""
    return MARK.match(en) is not None, -len(MARK.sub("", en))


class Catalogue:
    """Translations by English texts, of which some have marks."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        marked = [en for en in texts if MARK.search(en)]
        marked.sort(key=order)
        self._patterns = [(max(MARK.split(en), key=len), en) for en in marked]
        self._compiled: dict[str, re.Pattern[str]] = {}

    def translated(self, text: str) -> str | None:
        """Return a text in the other language; None where nothing fits.

        >>> Catalogue({"{a} of {b}": "{b} 个中 {a} 个"}).translated("3 of 5")
        '5 个中 3 个'
        """
        if text in self.texts:
            return self.texts[text]
        for letters, en in self._patterns:
            if letters in text and (found := self._pattern(en).fullmatch(text)):
                return self._filled(en, found.groups())
        return None

    def _filled(self, en: str, parts: tuple[str, ...]) -> str:
        given: dict[str, list[str]] = {}
        marks = [mark for mark in MARK.findall(en) if mark != "{s}"]
        for mark, part in zip(marks, parts, strict=True):
            said = (self.translated(part) or part) if mark[1] in _TURN else part
            given.setdefault(mark, []).append(said)

        def fill(mark: re.Match[str]) -> str:
            parts = given[mark.group()]
            return parts.pop(0) if len(parts) > 1 else parts[0]

        return MARK.sub(fill, self.texts[en])

    def _pattern(self, en: str) -> re.Pattern[str]:
        if en not in self._compiled:
            marks = [_MATCHES.get(mark[1], r"(\S+)") for mark in MARK.findall(en)]
            parts = zip(map(re.escape, MARK.split(en)), [*marks, ""], strict=True)
            text = "".join(f"{part}{mark}" for part, mark in parts)
            self._compiled[en] = re.compile(text, re.DOTALL)
        return self._compiled[en]
