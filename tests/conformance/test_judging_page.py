"""The page on how an answer is judged says what the kit does."""

from __future__ import annotations

import re
from pathlib import Path

from docs_site.fragments import fill
from suanzi.conformance.judging.judge import CANN_THRESHOLDS
from suanzi.conformance.truth.bounds import COMPLEX, REAL, bound

PATH = Path(__file__).parents[2] / "docs/en/explanations/judging.md"
PAGE = fill(PATH.read_text("utf-8"), "../")


def rows(first: str) -> list[list[str]]:
    """Return the cells of the table whose head begins so."""
    table = re.search(rf"^\| {first} \|.*?(?=\n\n)", PAGE, re.S | re.M)
    assert table is not None
    return [[c.strip() for c in line.strip("|").split("|")] for line in table[0].splitlines()]


def test_the_bounds() -> None:
    said = {}
    for what, wide, narrow in rows("What")[2:]:
        kind = "complex" if what.startswith("complex") else "float"
        for op in re.findall(r"`(.*)`", what)[0].split():
            said[kind, op] = float(wide), float(narrow)
    names = {
        "float": ("float32", "float64", "float16"),
        "complex": ("complex64", "complex128", "complex32"),
    }
    for (kind, op), (wide, narrow) in said.items():
        one, two, three = names[kind]
        assert (bound(op, one), bound(op, two), bound(op, three)) == (wide, wide, narrow), op
    assert {op for kind, op in said if kind == "float"} == set(REAL)
    assert {op for kind, op in said if kind == "complex"} == set(COMPLEX)


def test_the_thresholds() -> None:
    names, _, limits = rows("dtype")
    said = zip(names[1:], limits[1:], strict=True)
    assert {name: 2.0 ** int(x.removeprefix("2^")) for name, x in said} == CANN_THRESHOLDS
