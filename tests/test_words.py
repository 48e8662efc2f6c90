"""What users read is plain English: the words that CONTRIBUTING.md replaces appear nowhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FORBIDDEN = {
    r"(hold|holds|held|holding) (\S+ ){0,6}against": "test, check, compare",
    r"mend(s|ed|ing)?": "fix",
    r"told|tells": "reported, prints, shows",
    r"reckon(s|ed|ing)?": "estimate, compute",
    r"cannot be had|can be had": "is not available; is available",
    r"demand(s|ed|ing)?": "requirement; requires",
    r"to the letter|the letter of": "the text, normative",
    r"(a|the|one|other|another|each|every|this|which|their) readings?( of|s)": "interpretation",
    r"looked into|look into": "investigated",
    r"way out|own way": "fallback; override",
    r"of our own": "suanzi's",
    r"in the place of": "instead of",
    r"beside": "next to, also",
    r"is none:|are none:": "does not exist",
    r"what came|came instead": "the input received",
    r"asks? less": "does less work",
    r"goes on|go on": "continues",
    r"turns? up|lies? across": "occurs; is strided",
    r"of no elements none": "is undefined for an empty tensor",
    r"there is no (memory|room) (for|to|on)": "not enough memory for",
    r"(is|are) not there|what is not there": "is missing, does not exist",
    r"speaks? of": "has, covers",
    r"from 0 up": "at least 0",
    r"is there already": "already exists",
}
PATTERN = re.compile(
    "|".join(
        rf"(?P<w{i}>(?<![-\w])(?:{words})\b)".replace(" ", r"\s+")
        for i, words in enumerate(FORBIDDEN)
    ),
    re.I,
)
NAMES = re.compile(r"beside a NaN and infinities|a row that is not there")
"""Names of an interpretation and of cases, which reports keep."""
PAGES = [
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.py", "src/**/*.toml", "src/**/*.txt")
    for page in ROOT.glob(pattern)
    if ".zh" not in page.name and "/zh/" not in str(page)
]
FOLDERS = sorted({path.parent for path in (ROOT / "src" / "suanzi").rglob("*.py")})


def strings(file: Path) -> Iterator[tuple[int, str]]:
    """Give the strings of a module that have a space: sentences, not keys and seeds."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def violations(name: str, texts: Iterator[tuple[int, str]]) -> list[str]:
    """Return where texts, each with the number of its first line, use a word of the list."""
    return [
        f"{name}:{line + text.count(chr(10), 0, match.start())}: {match[0]!r}: "
        f"write {BETTER[match.lastgroup or '']!r}"
        for line, text in texts
        for match in PATTERN.finditer(NAMES.sub("", text))
    ]


BETTER = {f"w{i}": better for i, better in enumerate(FORBIDDEN.values())}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: str(f.relative_to(ROOT / "src")))
def test_strings_are_plain(folder: Path) -> None:
    found = [
        one
        for file in sorted(folder.glob("*.py"))
        for one in violations(str(file.relative_to(ROOT)), strings(file))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_are_plain(page: Path) -> None:
    text = page.read_text("utf-8")
    if page.name == "CONTRIBUTING.md":  # its table of words names them
        text = re.sub(r"## Words.*?(?=\n## )", "", text, flags=re.S)
    assert not (found := violations(page.name, iter([(1, text)]))), "\n".join(found)


def test_a_forbidden_word_is_found() -> None:
    assert violations("x", iter([(1, "It was mended, and tells it.")])) == [
        "x:1: 'mended': write 'fix'",
        "x:1: 'tells': write 'reported, prints, shows'",
    ]
