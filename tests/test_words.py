"""What users read is plain English: the words that CONTRIBUTING.md replaces appear nowhere."""

from __future__ import annotations

import ast
import re
import tokenize
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
NAMES = re.compile(r"beside a NaN and infinities|a row that is not there|add, beside sz.add")
"""Names of an interpretation, of cases and of a benchmark, which records keep."""
PAGES = [
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.py", "src/**/*.toml", "src/**/*.txt")
    for page in ROOT.glob(pattern)
    if ".zh" not in page.name and "/zh/" not in str(page)
]
FOLDERS = sorted(
    {
        path.parent
        for top in ("src/suanzi", "tools", "benchmarks")
        for path in (ROOT / top).rglob("*.py")
    }
)
NATIVE = sorted({path.parent for path in (ROOT / "native").rglob("*.*")})
BUILD = [ROOT / "CMakeLists.txt", *(p for p in sorted((ROOT / ".ci").iterdir()) if p.is_file())]
NOTES = sorted((ROOT / "benchmarks" / "notes").iterdir())


def strings(file: Path) -> Iterator[tuple[int, str]]:
    """Give the strings of a module that have a space: sentences, not keys and seeds."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def comments(file: Path) -> Iterator[tuple[int, str]]:
    """Give the comments of a module."""
    with tokenize.open(file) as text:
        for token in tokenize.generate_tokens(text.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def matches(file: Path, pattern: str) -> Iterator[tuple[int, str]]:
    """Give what matches a pattern in a file, joined where a line continues the one before."""
    text = file.read_text("utf-8")
    for match in re.finditer(pattern, text, re.M):
        yield text.count("\n", 0, match.start()) + 1, re.sub(r"(?m)^[ \t]*(//|#)", " ", match[0])


def violations(name: str, texts: Iterator[tuple[int, str]]) -> list[str]:
    """Return where texts, each with the number of its first line, use a word of the list."""
    return [
        f"{name}:{line + text.count(chr(10), 0, match.start())}: {match[0]!r}: "
        f"write {BETTER[match.lastgroup or '']!r}"
        for line, text in texts
        for match in PATTERN.finditer(NAMES.sub("", text))
    ]


BETTER = {f"w{i}": better for i, better in enumerate(FORBIDDEN.values())}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: str(f.relative_to(ROOT)))
def test_strings_and_comments_are_plain(folder: Path) -> None:
    found = [
        one
        for file in sorted(folder.glob("*.py"))
        for texts in (strings(file), comments(file))
        for one in violations(str(file.relative_to(ROOT)), texts)
    ]
    assert not found, "\n".join(found)


CPP = r'(^[ \t]*//.*\n)+|//.*|"(\\.|[^"\\\n])*"'
"""Comments, those of several lines as one, and strings."""


@pytest.mark.parametrize("folder", NATIVE, ids=lambda f: str(f.relative_to(ROOT)))
def test_comments_and_strings_of_native_code_are_plain(folder: Path) -> None:
    found = [
        one
        for file in sorted(folder.iterdir())
        if file.is_file()
        for one in violations(str(file.relative_to(ROOT)), matches(file, CPP))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("file", BUILD, ids=lambda file: str(file.relative_to(ROOT)))
def test_comments_of_scripts_are_plain(file: Path) -> None:
    found = violations(str(file.relative_to(ROOT)), matches(file, r"(^[ \t]*#.*\n)+|#.*"))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.name)
def test_notes_are_plain(note: Path) -> None:
    """What a program printed is quoted between ``` and stays as it was."""
    text = note.read_text("utf-8")
    prose = re.sub(r"(?ms)^```.*?^```", lambda quoted: "\n" * quoted[0].count("\n"), text)
    assert not (found := violations(note.name, iter([(1, prose)]))), "\n".join(found)


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


def test_comments_of_several_lines_are_read_as_one(tmp_path: Path) -> None:
    file = tmp_path / "a.cpp"
    file.write_text('int told;  // fine\n  // It can be\n  // had.\nf("It is mended");\n')
    assert violations("a", matches(file, CPP)) == [
        "a:2: 'can be\\n  had': write 'is not available; is available'",
        "a:4: 'mended': write 'fix'",
    ]
    file.write_text("told = 1  # who tells\n")
    assert violations("a", comments(file)) == ["a:1: 'tells': write 'reported, prints, shows'"]
