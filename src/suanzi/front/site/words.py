"""The words of the page: English and Chinese, and the translation of what comes from data."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from suanzi.base import lang
from suanzi.base.toml import tomllib

LANGUAGES = tuple(lang.LANGUAGES)


@cache
def words() -> dict[str, Any]:
    """Return labels in both languages, and patterns of data with their translations, best first."""
    data = lang.read(Path(lang.__file__).parent / "zh" / "data.toml")
    ordered = sorted(data, key=lang.order)
    label = tomllib.loads((Path(__file__).parent / "words.toml").read_text("utf-8"))["label"]
    return {"label": label, "data": {en: data[en] for en in ordered}}


def label(key: str) -> str:
    """Return what the page says in English, until its script has chosen a language.

    >>> label("promotion")
    'Promotion'
    """
    found: str = words()["label"][key][0]
    return found


@cache
def _data() -> lang.Catalogue:
    return lang.Catalogue(words()["data"])


def translated(text: str) -> str | None:
    """Return what comes from data in Chinese; None where no pattern fits.

    >>> translated("row i32, column bf16")
    '第 i32 行、第 bf16 列'
    """
    return _data().translated(text)
