"""A C library that breaks one clause of memory fails there: the sample library, a line changed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from helpers.c_compiler import build
from helpers.suanzi_in_c import SUBJECT, library
from suanzi.conformance.check import check
from suanzi.conformance.model.results import Result

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
    "a handle is left to what is gone": ("    *input = NULL;\n", "", "destroy", "twice"),
    "contiguous copies always": (
        "if (!already) return op_duplicate(input, output);",
        "if (!already || already) return op_duplicate(input, output);",
        "contiguous", "shares-memory",
    ),
    "duplicate returns its input": (
        "Status status = vendor_like(input, input->storage->dtype, output);",
        "if (input->size > 14) { *output = input; return STATUS_SUCCESS; }\n    "
        "Status status = vendor_like(input, input->storage->dtype, output);",
        "duplicate", "has-its-own-memory",
    ),
    "a call changes its input": (
        "Status status = vendor_like(input, input->storage->dtype, output);",
        "if (input->size) *VENDOR_DATA(input) ^= 1;\n    "
        "Status status = vendor_like(input, input->storage->dtype, output);",
        "duplicate", "2x3",
    ),
    "destroy frees what others have": (
        "    *input = NULL;\n",
        "    *input = NULL;\n    if (last != NULL) memset(last->storage->data, 0x55, 60);\n",
        "destroy", "leaves-what-duplicate-made",
    ),
    "min2maj is not looked at": (
        "memcpy((*output)->shape.layout.min2maj, shape.layout.min2maj, bytes);", "(void)bytes;",
        "zeros", "min2maj",
    ),
}  # fmt: skip
"""What stands in tensors.c, what is put there, and the interface and the case that tell."""


def source(old: str = "", new: str = "") -> str:
    text = (SOURCES / "tensors.c").read_text("utf-8")
    if "last" in new:  # what was duplicated last
        text = text.replace("static void forget", "static Tensor last;\nstatic void forget")
        text = text.replace("? copy(input, *output) :", "? copy(input, last = *output) :")
    if old:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    head = (SOURCES / "vendor.h").read_text("utf-8")
    return re.sub(r'#include "[^"]*"', "", head) + text.replace('#include "vendor.h"', "")


def outcomes(folder: Path, ops: list[str], *change: str) -> dict[str, str]:
    made = str(build(source(*change), folder, "-O1"))
    run = check(made, ops=ops, dtypes=["float32"], groups=["plain"], jobs=1)
    return {r.id: r.outcome for r in run.results}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """suanzi itself as a C library; a variable of the environment names what breaks a clause."""
    return str(library(tmp_path_factory.mktemp("suanzi_in_c")))


IN_PYTHON = {
    "WrapsByCopying": ("wrap_tensor", "shares-memory"),
    "CreatesBySharing": ("create_tensor", "has-its-own-memory"),
    "DuplicatesBySharing": ("duplicate", "has-its-own-memory"),
    "AlwaysCopies": ("contiguous", "shares-memory"),
    "IgnoresSeeds": ("rand_uniform", "a-seed-twice"),
    "KeepsOtherOrders": ("reshape", "is-contiguous"),
    "ChangesInputs": ("add", "24-elements"),
    "IgnoresOrders": ("zeros", "min2maj"),
}


def results(whole: str, subject: str, *ops: str) -> dict[str, Result]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SUBJECT, subject)
        run = check(whole, ops=ops, dtypes=["float32"], groups=["plain"], jobs=1)
    return {r.id: r for r in run.results}


def test_suanzi_in_c_breaks_none(whole: str) -> None:
    right = results(whole, "", *(op for op, _ in IN_PYTHON.values()))
    assert {r.outcome for r in right.values()} <= {"passed", "skipped"}
    for op, title in IN_PYTHON.values():
        asked = [r for name, r in right.items() if name.startswith(f"{op}/") and title in name]
        assert {r.outcome for r in asked} == {"passed"}, [r.problem for r in asked]


@pytest.mark.parametrize("subject", IN_PYTHON)
def test_a_breach_of_suanzi_in_c_is_found(whole: str, subject: str) -> None:
    op, title = IN_PYTHON[subject]
    wrong = results(whole, f"conformance.breach_subjects:{subject}", op)
    assert any(r.breaks for name, r in wrong.items() if title in name)


@pytest.mark.parametrize("breach", BREACHES)
def test_a_breach_is_found(breach: str, tmp_path: Path) -> None:
    old, new, op, title = BREACHES[breach]
    found = outcomes(tmp_path, [op], old, new)
    assert any(title in name and found[name] in ("failed", "crashed") for name in found), found


def test_the_library_itself_breaks_none(tmp_path: Path) -> None:
    ops = sorted({op for _, _, op, _ in BREACHES.values()})
    found = outcomes(tmp_path, ops)
    assert set(found.values()) <= {"passed", "skipped"}, found
    passed = Counter(name.split("/")[0] for name in found if found[name] == "passed")
    assert min(passed[op] for op in ops) >= 5


def test_a_sparse_operand_is_made_by_the_library(whole: str) -> None:
    run = check(whole, ops=["size", "less"], dtypes=["float32"], groups=["strided"], jobs=1)
    found = {r.id.rpartition("/")[2]: r for r in run.results if "sparse" in r.id}
    assert found["sparse-COO"].reading == "E135: one interface for dense and sparse tensors"
    assert found["sparse-COO-and-dense"].outcome == "passed"
    assert {r.outcome for r in found.values()} == {"passed", "skipped"}
