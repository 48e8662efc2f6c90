"""The words of the page: English and Chinese, and the translation of what comes from data."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from suanzi._toml import tomllib

LANGUAGES = ("en", "zh")
_MARK = re.compile(r"\{(?:[a-d]|t|\.\.)\}")


@cache
def words() -> dict[str, Any]:
    """Return the file: labels in both languages, and patterns of data with their translations."""
    return tomllib.loads((Path(__file__).parent / "words.toml").read_text("utf-8"))


def label(key: str) -> str:
    """Return what the page says in English, until its script has chosen a language.

    >>> label("promotion")
    'Promotion'
    """
    found: str = words()["label"][key][0]
    return found


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return patterns of English data as the page compiles them."""

    def compiled(text: str) -> re.Pattern[str]:
        parts = _MARK.split(text)
        marks = [r"(\S+)" if mark[1] in "abcd" else "(.+)" for mark in _MARK.findall(text)]
        joined = "".join(
            re.escape(part) + mark for part, mark in zip(parts, [*marks, ""], strict=True)
        )
        return re.compile(joined)

    return [(compiled(en), en) for en in words()["data"]]


def translated(text: str) -> str | None:
    """Return what comes from data in Chinese; None where no pattern fits.

    >>> translated("row i32, column bf16")
    '第 i32 行、第 bf16 列'
    """
    for pattern, en in _patterns():
        found = pattern.fullmatch(text)
        if found is None:
            continue
        zh: str = words()["data"][en]
        for mark, part in zip(_MARK.findall(en), found.groups(), strict=True):
            zh = zh.replace(mark, (translated(part) or part) if mark == "{..}" else part, 1)
        return zh
    return None
