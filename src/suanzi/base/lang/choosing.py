"""Which language the command line uses: an option, a variable, or the locale."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

from suanzi.base.lang import LANGUAGES
from suanzi.base.status import InvalidArgument

OPTION, VARIABLE = "--lang", "SUANZI_LANG"


def split(arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """Return arguments without the option of the language, and what it names; after -- are others'.

    >>> split(["promote", "i8", "--lang", "zh", "--", "--lang", "fr"])
    (['promote', 'i8', '--', '--lang', 'fr'], 'zh')
    """
    left, asked = list(arguments), None
    end = left.index("--") if "--" in left else len(left)
    i = 0
    while i < end:
        name, mark, value = left[i].partition("=")
        if name != OPTION:
            i += 1
            continue
        if not mark and i + 1 >= end:
            raise InvalidArgument(f"{OPTION} needs a language: {_known()}.")
        asked = value if mark else left[i + 1]
        width = 1 if mark else 2
        del left[i : i + width]
        end -= width
    return left, asked


def choose(asked: str | None) -> str:
    """Return the language to use: what was asked for, of SUANZI_LANG, or of the locale.

    One of the first two that is not known is an error; an unknown locale means English.
    """
    for source, name in ((OPTION, asked), (VARIABLE, os.environ.get(VARIABLE))):
        if name:
            if _main(name) not in LANGUAGES:
                raise InvalidArgument(
                    f"{source}: {name!r} is not a language of suanzi: {_known()}."
                )
            return _printed(_main(name), loud=source == OPTION)
    names = (os.environ.get(one) for one in ("LC_ALL", "LC_MESSAGES", "LANG"))
    found = _main(next(filter(None, names), ""))
    return _printed(found if found in LANGUAGES else "en", loud=False)


def _main(name: str) -> str:
    """Return the language of a locale: zh of zh_CN.UTF-8."""
    return re.split(r"[-_.@]", name.strip().lower())[0]


def _known() -> str:
    return ", ".join(f"{name} ({title})" if title.isascii() else name
                     for name, title in LANGUAGES.items())  # fmt: skip


def _printed(name: str, loud: bool) -> str:
    """Return a language that the standard output can print, or English."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        LANGUAGES[name].encode(encoding)
    except (UnicodeEncodeError, LookupError):
        if loud:
            print(f"suanzi: {OPTION} {name}: the output is {encoding}, which has no letters of it; "
                  "set PYTHONIOENCODING=utf-8. English is used.", file=sys.stderr)  # fmt: skip
        return "en"
    return name
