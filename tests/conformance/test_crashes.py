"""A crash is told of the call that is to blame, which may be an earlier one."""

import os
import subprocess

import pytest

from helpers.c_compiler import build, compiler
from suanzi.conformance.check import check
from suanzi.conformance.model.results import Result
from suanzi.conformance.running.crashes import blamed

RANK = """
#include <stdlib.h>
#include <stdio.h>
int armed;
Status op_size(const Tensor input, int *size) {
    if (input == NULL) return STATUS_INVALID_ARGUMENT;
    *size = (int)input->size;
    %(arm)s
    return STATUS_SUCCESS;
}
Status op_rank(const Tensor input, int *rank) {
    if (input == NULL) return STATUS_INVALID_ARGUMENT;
    %(fire)s
    *rank = (int)input->shape.ndim;
    return STATUS_SUCCESS;
}
"""
ARM = "if (input->storage->dtype.code == kInt && input->storage->dtype.size == 16) armed = 1;"


def outcomes(folder, **parts):
    library = build(RANK % parts, folder)
    dtypes = ["bool", "int8", "int16", "float32"]
    run = check(
        str(library), ops=["size", "rank"], groups=["plain"], dtypes=dtypes, jobs=1, timeout=60
    )
    return {op: [r for r in some if r.bad] for op, some in run.by_operator().items()}


def test_an_earlier_call_that_damaged_memory_is_found_by_halving(tmp_path):
    """op_size of int16 is to blame; op_rank is right, and it is where the process ends."""
    bad = outcomes(tmp_path, arm=ARM, fire="if (armed) abort();")
    assert bad["rank"] == [], "the case passes alone, and so it is told"
    (found,) = bad["size"]
    assert found.dtype == "int16"
    assert "it damages memory: the process ended with signal SIGABRT" in found.problem
    assert "in rank/plain/" in found.problem
    assert found.alone is None


def test_a_crash_that_does_not_come_again_names_the_calls_before_it(tmp_path):
    """As damaged memory may do: a file stands for what differs from run to run."""
    once = f'if (!fopen("{tmp_path}/once", "r")) {{ fopen("{tmp_path}/once", "w"); abort(); }}'
    bad = outcomes(tmp_path, arm="", fire=once)
    assert bad["size"] == []
    (found,) = bad["rank"]
    assert found.outcome == "crashed"
    assert "alone, in a fresh process, this case passes" in found.problem
    assert "since its start: size" in found.problem
    assert "the last was size/plain/" in found.problem


def test_a_crash_of_its_own_is_told_as_one(tmp_path):
    bad = outcomes(tmp_path, arm="", fire="if (input->storage->dtype.code == kBool) abort();")
    assert bad["size"] == []
    assert {r.dtype for r in bad["rank"]} == {"bool"}
    assert all(r.problem == "the process ended with signal SIGABRT" for r in bad["rank"])


def test_blame_goes_to_the_first_victim_of_a_culprit():
    alone = Result("b", "rank", "plain", "int8", "passed")
    crashed = Result("b", "rank", "plain", "int8", "crashed", "SIGSEGV; alone, it passes",
                     culprit="a", alone=alone)  # fmt: skip
    first, second = blamed([Result("a", "size", "plain", "int8", "passed"), crashed])
    assert (first.outcome, second) == ("crashed", alone)
    assert first.problem == "it damages memory: SIGSEGV, later, in b; not without this call"
    assert "alone" not in crashed.to_dict()


def test_the_sum_of_address_sanitizer_is_shown(tmp_path, monkeypatch):
    cc = compiler("cc", "gcc")
    asan = subprocess.run([cc, "-print-file-name=libasan.so"], capture_output=True, text=True)
    if not os.path.isabs(asan.stdout.strip()):
        pytest.skip("needs libasan")
    beyond = "char *p = malloc(3); p[armed + 3] = 1; armed = p[0] & 0; free(p);"
    library = build(RANK % {"arm": "", "fire": beyond}, tmp_path, "-fsanitize=address", "-g")
    monkeypatch.setenv("LD_PRELOAD", asan.stdout.strip())
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    run = check(str(library), only=["rank/plain/int8/*"], jobs=1, timeout=60)
    crashed = [r for r in run.results if r.outcome == "crashed"]
    assert crashed
    assert "AddressSanitizer: heap-buffer-overflow" in crashed[0].problem
    assert "library.c:" in crashed[0].problem
