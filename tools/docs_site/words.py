"""What generated parts of pages say, in English or in Chinese.

English stands in the code; ``zh/*.toml`` has the Chinese of each text, a line for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from suanzi.base import lang
from suanzi.base.toml import tomllib

LANGUAGES = ("en", "zh")
CATALOGUES = (Path(__file__).parent / "zh", Path(lang.__file__).parent / "zh" / "docs")
"""Those of pages, and those that `suanzi op` prints, too."""
missing: dict[str, None] = {}
"""Texts that were asked for and have no Chinese, in order."""
used: set[str] = set()
"""Texts of the catalogues that were asked for."""
NAME = r"[a-z]+\d+|"
"""What is the same in every language: names of dtypes, and nothing."""
_current = "en"


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Generate in a language."""
    global _current
    before, _current = _current, language
    try:
        yield
    finally:
        _current = before


def language() -> str:
    """Return the language of what is generated now."""
    return _current


@cache
def chinese() -> dict[str, str]:
    """Return every text of the catalogues by its English."""
    texts: dict[str, str] = {}
    for file in sorted(file for folder in CATALOGUES for file in folder.glob("*.toml")):
        for english, said in tomllib.loads(file.read_text("utf-8")).items():
            assert english not in texts, f"{file.name}: {english!r} is in two catalogues"
            texts[english] = said
    return texts


def say(english: str, *values: object) -> str:
    """Return a text in the current language, with values for its braces."""
    if _current == "en" or re.fullmatch(NAME, english):
        said = english
    else:
        said = chinese().get(english, "")
        if said:
            used.add(english)
        else:
            missing[english] = None
            said = english
    return said.format(*values) if values else said
