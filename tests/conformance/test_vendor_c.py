"""The sample library in C: what is right in it passes, and every fault in it is found."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.c_compiler import HEADER, compiler
from helpers.once import once
from suanzi.conformance.cases import Wanted
from suanzi.conformance.check import check
from suanzi.conformance.header import header
from suanzi.conformance.model.case import GROUPS
from suanzi.conformance.running.process import Backend
from suanzi.conformance.running.run import Job, facts_of, run
from suanzi.standard import interfaces

VENDOR = Path(__file__).parent.parent.parent / "examples" / "vendor_c"

RIGHT = """create_tensor empty zeros full destroy duplicate is_contiguous contiguous shape size
    reshape transpose add equal not_equal greater greater_equal less less_equal floor sqrt is_nan
    is_finite reduce matmul cast gather concat argsort argmax clip where allclose""".split()

WRONG = {
    "mul": ("failed", "float32", r"z: \d+ of"),
    "sub": ("failed", "int8", r"z: \d+ of"),
    "max": ("failed", "any", "INTERNAL_ERROR, not INVALID_ARGUMENT"),
    "min": ("failed", "float32", "not nan"),
    "exp": ("failed", "float32", r"y: \d+ of"),
    "tanh": ("failed", "float64", r"y: \d+ of"),
    "ceil": ("crashed", "float32", "SIGABRT"),
    "trunc": ("hung", "float32", "no answer within"),
    "square": ("failed", "float32", "nan, not"),
    "abs": ("failed", "float32", r"y: \d+ of"),
    "round": ("failed", "float32", "the call changed the input x"),
    "is_inf": ("failed", "float32", "dtype uint8, not bool"),
    "logical_not": ("failed", "float32", "the handle y is NULL"),
    "rank": ("failed", "float32", "not"),
}
"""How each is found: the outcome of one case at least, its dtype, and the words."""


def make(*settings):
    """Run make as somebody does who has suanzi installed: it writes the header, too."""
    command = ["make", "-C", str(VENDOR), f"SUANZI={sys.executable} -m suanzi", *settings]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def vendor(tmp_path_factory):
    if shutil.which("make") is None:
        pytest.skip("needs make")
    return once(tmp_path_factory, "vendor", made)


def made(folder):
    cc = compiler("cc", "gcc", "clang")
    done = make(f"CC={cc}", f"BUILD={folder}", "CFLAGS=-O1 -Werror")
    assert done.returncode == 0, done.stderr
    assert (folder / HEADER).read_text("utf-8") == header()
    adapter = "suanzi.conformance.subjects.c_adapter:Adapter"
    return Backend("vendor", adapter, options={"path": str(folder / "libvendor.so")})


@pytest.fixture(scope="module")
def results(vendor, tmp_path_factory):
    return once(tmp_path_factory, "vendor-results", lambda _: checked(vendor))


def checked(vendor):
    # The quick cases have no float64, which only tanh needs. A hang takes the time limit.
    groups = frozenset(GROUPS) - {"sizes", "random"}  # which differ from others in values only
    dtypes = frozenset({"any", "bool", "int8", "float32"})
    few = Wanted(groups, dtypes, rules="strict", quick=True)
    jobs = [Job(op, few) for op in [*RIGHT, *WRONG] if op != "tanh"]
    jobs.append(Job("tanh", Wanted(dtypes=frozenset({"float64"}))))
    found = list(run(vendor, jobs, timeout=2))
    return {some[0].op: some for some in found}


def test_every_function_of_the_library_is_judged(vendor):
    facts = facts_of(vendor)
    assert set(facts.mapping) == {*RIGHT, *WRONG}
    assert (facts.name, facts.version, facts.rules) == ("libvendor.so", "1.0", "strict")
    assert set(facts.missing) == set(interfaces()) - set(facts.mapping)


def test_make_check_says_what_is_wrong(vendor):
    folder = Path(vendor.options["path"]).parent
    some = "CHECKED=--op sub,add --dtype int8 --quick --jobs 1"
    done = make(f"BUILD={folder}", "check", some)
    assert re.search(r"^add .* conforms$", done.stdout, re.M)
    assert re.search(r"^sub .* fails$", done.stdout, re.M)
    assert "sub/plain/int8/24-elements" in done.stdout
    assert done.returncode != 0


def test_a_header_that_was_not_written_is_written_next_time(tmp_path):
    if shutil.which("make") is None:
        pytest.skip("needs make")
    half = tmp_path / "half"
    half.write_text('#!/bin/sh\necho half > "$3"\nexit 1\n')
    half.chmod(0o755)
    assert make(f"BUILD={tmp_path}", f"SUANZI={half}").returncode != 0
    assert not (tmp_path / HEADER).exists()


def test_its_path_names_it(vendor):
    found = check(vendor.options["path"], ops=["add", "sub"], dtypes=["int8"], quick=True, jobs=1)
    assert {r.op for r in found.results if r.outcome == "failed"} == {"sub"}
    assert found.subject["name"] == "libvendor.so"
    assert found.settings["rules"] == "strict"


@pytest.mark.parametrize("op", RIGHT)
def test_what_is_right_passes(results, op):
    bad = [r for r in results[op] if r.outcome in ("failed", "crashed", "hung")]
    assert not bad, [(r.id, r.outcome, r.problem) for r in bad[:5]]
    assert sum(r.outcome == "passed" for r in results[op]) >= 3


@pytest.mark.parametrize("op", WRONG)
def test_what_is_wrong_is_found(results, op):
    outcome, dtype, words = WRONG[op]
    found = [(r.outcome, r.dtype, r.problem) for r in results[op] if r.outcome != "passed"]
    assert any(o == outcome and d == dtype and re.search(words, p) for o, d, p in found), found


def test_the_run_goes_on_after_a_crash_and_a_hang(results):
    for op in ("ceil", "trunc"):
        outcomes = [r.outcome for r in results[op]]
        first = next(i for i, one in enumerate(outcomes) if one in ("crashed", "hung"))
        assert "passed" in outcomes[first + 1 :]


def test_the_faults_are_said_in_the_source():
    text = (VENDOR / "wrong.c").read_text("utf-8")
    assert len(re.findall(r"^/\* Wrong:", text, re.M)) == len(WRONG)
    assert set(re.findall(r"^Status op_(\w+)\(", text, re.M)) == set(WRONG)
