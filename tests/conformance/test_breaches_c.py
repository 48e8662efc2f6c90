"""A C library that breaks one clause of memory fails there: the sample library, a line changed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers.c_compiler import build
from suanzi.conformance.check import check

SOURCES = Path(__file__).parents[2] / "examples" / "vendor_c"

BREACHES = {
    "n_bytes is not looked at": (
        "size_t given = n_bytes < 0 ? 0 : (size_t)n_bytes;", "size_t given = whole;",
        "create_tensor", "4-of-6-elements",
    ),
    "the rest is left as it was": (
        "if (given < whole) memset(VENDOR_DATA(*output) + given, 0, whole - given);",
        "if (given < whole) memset(VENDOR_DATA(*output) + given, 0x55, whole - given);",
        "create_tensor", "4-of-6-elements",
    ),
    "all bytes are copied": (
        "memcpy(VENDOR_DATA(*output), values, given < whole ? given : whole);",
        "memcpy(VENDOR_DATA(*output), values, given);",
        "create_tensor", "4-MiB-for-6-elements",
    ),
    "min2maj is not looked at": (
        "memcpy((*output)->shape.layout.min2maj, shape.layout.min2maj, bytes);", "(void)bytes;",
        "zeros", "min2maj",
    ),
}  # fmt: skip
"""What stands in tensors.c, what is put there, and the interface and the case that tell."""


def source(old: str = "", new: str = "") -> str:
    text = (SOURCES / "tensors.c").read_text("utf-8")
    if old:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    head = (SOURCES / "vendor.h").read_text("utf-8")
    return re.sub(r'#include "[^"]*"', "", head) + text.replace('#include "vendor.h"', "")


def outcomes(folder: Path, op: str, *change: str) -> dict[str, str]:
    library = str(build(source(*change), folder, "-O1"))
    run = check(library, ops=[op], dtypes=["float32"], groups=["plain"], jobs=1)
    return {r.id: r.outcome for r in run.results}


@pytest.mark.parametrize("breach", BREACHES)
def test_a_breach_is_found(breach: str, tmp_path: Path) -> None:
    old, new, op, title = BREACHES[breach]
    found = outcomes(tmp_path, op, old, new)
    assert any(title in name and found[name] in ("failed", "crashed") for name in found), found


@pytest.mark.parametrize("op", sorted({op for _, _, op, _ in BREACHES.values()}))
def test_the_library_itself_breaks_none(op: str, tmp_path: Path) -> None:
    found = outcomes(tmp_path, op)
    assert set(found.values()) <= {"passed", "skipped"}, found
    assert sum(outcome == "passed" for outcome in found.values()) > 5
