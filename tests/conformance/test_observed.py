"""What is noticed while calls run: reads around an input, outputs that do not last, leaks, threads.

The sample library in C with one line changed, and backends in Python.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conformance.test_breaches_c import source
from helpers.c_compiler import build
from suanzi.conformance.cases import Wanted
from suanzi.conformance.check import check
from suanzi.conformance.model.results import Result
from suanzi.conformance.running.process import Local
from suanzi.conformance.running.run import Job, run_job
from suanzi.conformance.subjects import observing
from suanzi.conformance.subjects.c_guards import ALIGNMENT, PAGE, region
from suanzi.conformance.subjects.c_memory import Memory
from suanzi.conformance.subjects.suanzi_adapter import Adapter
from suanzi.conformance.subjects.wire import Data

DUPLICATE = "Status status = vendor_like(input, input->storage->dtype, output);"
DATA = "made->storage->data = malloc(vendor_itemsize(dtype) * (size_t)size + 1);"
FREE = "if (tensor->storage != NULL) free(tensor->storage->data);"
TOUCH = "volatile char touched = VENDOR_DATA(input)[{}]; (void)touched;\n    " + DUPLICATE

SEEN = {
    "64 bytes behind": (
        [(DUPLICATE, TOUCH.format("(size_t)(input->offset + input->size) * 4 + 63"))],
        r"bytes behind the input input",
    ),
    "the byte before": (
        [(DUPLICATE, "if (input->offset == 0) {" + TOUCH.format("-1").replace(DUPLICATE, "}")
          + DUPLICATE)], "1 bytes before",
    ),
    "two buffers in turn": (
        [(DATA, "static char ring[2][1 << 16]; static int turn; (void)size;\n"
          "        made->storage->data = ring[turn++ % 2];"), (FREE, "")],
        "a later call changed this output",
    ),
    "a leak": (
        [(DUPLICATE, "volatile char *lost = malloc(4096); if (lost) lost[0] = 1;\n" + DUPLICATE)],
        r"bytes that they do not give back, 4,1\d\d a call",
    ),
    "a scale": ([("    made->storage->dtype = dtype;\n",
                  "    made->storage->dtype = dtype;\n    made->scale = calloc(1, 4);\n")],
                "is float32 and has a scale"),
    "an output of an error": (
        [("if (input == NULL) return STATUS_UNINITIALIZED_OBJECT;\n    " + DUPLICATE,
          "static struct TensorImpl none; if (input == NULL) { *output = &none; return "
          "STATUS_UNINITIALIZED_OBJECT; }\n    " + DUPLICATE)],
        "it set an output: 'output'",
    ),
}  # fmt: skip
"""What is replaced in tensors.c, and the words that say what it does."""


def changed(changes: list[tuple[str, str]]) -> str:
    text = source()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def results(folder: Path, changes: list[tuple[str, str]]) -> list[Result]:
    made = str(build(changed(changes), folder, "-O1"))
    groups = ["plain", "calls", "status"]
    return list(check(made, ops=["duplicate"], dtypes=["float32", "any"], groups=groups,
                      jobs=1).results)  # fmt: skip


@pytest.mark.parametrize("what", SEEN)
def test_it_is_said_what_a_call_does(what: str, tmp_path: Path) -> None:
    changes, words = SEEN[what]
    found = [r for r in results(tmp_path, changes) if r.bad]
    assert any(re.search(words, r.problem or "") for r in found), [r.problem for r in found]
    required = {r.id for r in found if r.breaks}
    assert bool(required) == (what in SEEN_BY_LEVELS), required


SEEN_BY_LEVELS = {"64 bytes behind", "the byte before", "two buffers in turn", "a scale"}
"""No clause speaks of the others, which are quality."""


def test_the_library_itself_does_none_of_it(tmp_path: Path) -> None:
    found = results(tmp_path, [])
    assert not [r.problem for r in found if r.bad]
    assert sum(r.group == "calls" and r.outcome == "passed" for r in found) == 3


class Reuses(Adapter):
    """Returns one tensor for all calls."""

    def call(self, op, arguments):
        status, *outputs = super().call(op, arguments)
        if status == "SUCCESS" and op == "add":
            if not hasattr(self, "kept"):
                self.kept = outputs[0]
            self.write(self.kept, self.read(outputs[0]))
            outputs = [self.kept]
        return status, *outputs


class Leaks(Adapter):
    """Keeps 4 KiB of every call."""

    kept: list[bytearray] = []  # noqa: RUF012

    def call(self, op, arguments):
        self.kept.append(bytearray(4096))
        return super().call(op, arguments)


@pytest.mark.parametrize(
    ("adapter", "words"),
    [(Reuses, "a later call changed this output"), (Leaks, "bytes that they do not give back")],
)
def test_a_backend_in_python_is_seen_to_do_it(adapter: type[Adapter], words: str) -> None:
    found = run_job(Local(adapter()), Job("add", Wanted(frozenset({"calls"}))))
    assert [words in (r.problem or "") for r in found].count(True) == 1


def test_a_region_has_pages_around_it_that_cannot_be_touched() -> None:
    for size, at_start in ((100, False), (100, True), (PAGE, False), (0, False)):
        one = region(size)
        at = one.lend("the input x", b"\2" * size, at_start)
        assert at % ALIGNMENT == 0
        assert ctypes.string_at(at, size) == b"\2" * size
        assert at - one.begin == 0 if at_start else one.end - at - size < ALIGNMENT
        assert one.words(one.end + 4) == f"the call accessed memory {one.end + 4 - at - size} " \
            "bytes behind the input x"  # fmt: skip
        assert size == 0 or one.words(at) is None
        one.release()


def test_a_fault_is_explained_and_ends_the_process_all_the_same() -> None:
    program = (
        "import ctypes\n"
        "from suanzi.conformance.subjects.c_guards import explain_faults, region\n"
        "explain_faults()\n"
        "one = region(64)\n"
        "at = one.lend('the input x', bytes(64), False)\n"
        "ctypes.string_at(at + 64, 1)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == -11
    if sys.platform == "linux":
        assert "SUMMARY: the call accessed memory 0 bytes behind the input x" in done.stderr


def test_memory_is_used_again() -> None:
    memory = Memory()
    first = memory.elements("x", b"\3" * 10)
    del memory
    again = Memory()
    assert again.elements("y", b"\4" * 10) == first
    again.check()
    data = Data("float32", (2,), b"\0" * 8)
    assert again.tensor("z", data, at_start=True)


def test_threads_that_share_a_buffer_are_seen() -> None:
    cell: list[int] = []

    def call(value: int) -> int:
        cell[:] = [value]
        time.sleep(0.001)
        return cell[0]

    words = observing.threads(lambda: call(1), lambda: call(2))
    assert words is not None
    assert words.startswith("two threads that call at once disturb each other: call ")
    assert observing.threads(lambda: 1, lambda: 2) is None
    numbers = iter(range(1000))
    assert observing.threads(lambda: next(numbers), lambda: 2) is None  # never the same


def test_only_what_grows_in_every_round_leaks() -> None:
    kept: list[bytearray] = []
    assert observing.memory(lambda: None) is None
    assert observing.memory(lambda: kept.append(bytearray(4096))) is not None
    kept.clear()
    filled = iter(bytearray(4096) for _ in range(1500))
    assert (
        observing.memory(lambda: kept.append(next(filled, bytearray()))) is None
    )  # a cache that is full
