"""The rule set in force, across threads and tasks."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread

import pytest

import suanzi as sz

# int32 with float16: these rule sets all answer differently.
EXPECTED = {"cann": sz.float16, "numpy": sz.float64, "lossless": sz.float64, "strict": None}


def ask() -> sz.DType | None:
    try:
        return sz.promote_types(sz.int32, sz.float16)
    except sz.TypeMismatch:
        return None


def test_the_default_is_cann() -> None:
    assert sz.get_promotion().name == "cann"
    assert ask() is sz.float16


def test_with_block() -> None:
    with sz.promotion("numpy") as rules:
        assert rules is sz.get_promotion() is sz.rule_set("numpy")
        assert ask() is sz.float64
        with sz.promotion(sz.rule_set("strict")):
            assert ask() is None
        assert ask() is sz.float64
        assert sz.promote_types(sz.int32, sz.float16, rules="cann") is sz.float16
    assert ask() is sz.float16


def test_an_error_ends_the_block() -> None:
    with pytest.raises(ZeroDivisionError), sz.promotion("numpy"):
        1 / 0  # noqa: B018
    assert sz.get_promotion().name == "cann"


def test_set_and_back() -> None:
    before = sz.set_promotion("numpy")
    try:
        assert before.name == "cann"
        assert ask() is sz.float64
    finally:
        assert sz.set_promotion(before).name == "numpy"


def test_a_misspelt_name_changes_nothing() -> None:
    for use in (sz.set_promotion, lambda name: sz.promotion(name).__enter__()):
        with pytest.raises(sz.InvalidArgument, match="Did you mean 'numpy'"):
            use("nunpy")
    assert sz.get_promotion().name == "cann"


def test_threads_do_not_see_each_other() -> None:
    barrier = Barrier(len(EXPECTED))
    wrong: list[object] = []

    def work(name: str) -> None:
        with sz.promotion(name):
            barrier.wait()
            for _ in range(2000):
                if ask() is not EXPECTED[name] or sz.get_promotion().name != name:
                    wrong.append(name)

    threads = [Thread(target=work, args=(name,)) for name in EXPECTED]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert sz.get_promotion().name == "cann"


def test_a_new_thread_starts_with_the_default_unless_it_gets_the_context() -> None:
    with sz.promotion("numpy"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(ask).result() is sz.float16
        assert pool.submit(contextvars.copy_context().run, ask).result() is sz.float64


def test_everywhere_is_what_threads_begin_with() -> None:
    script = """
import contextvars, suanzi as sz
from concurrent.futures import ThreadPoolExecutor

def ask():
    x = sz.tensor([1], sz.int32) + sz.tensor([1.0], sz.float16)
    return sz.get_promotion().name, x.dtype.name, sz.promote_types(sz.int32, sz.float16).name

with ThreadPoolExecutor(1) as old, ThreadPoolExecutor(1) as other:
    assert old.submit(ask).result() == ("cann", "float16", "float16")
    other.submit(sz.set_promotion, "torch").result()
    assert sz.set_promotion("numpy", everywhere=True).name == "cann"
    assert ask() == ("numpy", "float64", "float64")
    assert old.submit(ask).result() == ("numpy", "float64", "float64")
    assert other.submit(ask).result()[0] == "torch"
with ThreadPoolExecutor(1) as new:
    assert new.submit(ask).result() == ("numpy", "float64", "float64")
    with sz.promotion("lossless"):
        assert ask()[0] == "lossless"
        assert new.submit(ask).result()[0] == "numpy"
    assert contextvars.Context().run(ask)[0] == "numpy"
    assert sz.set_promotion("cann", everywhere=True).name == "numpy"
    assert new.submit(ask).result() == ask() == ("cann", "float16", "float16")
try:
    sz.set_promotion("nunpy", everywhere=True)
except sz.InvalidArgument:
    assert ask()[0] == "cann"
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def steps(rules: str) -> Iterator[str]:
    with sz.promotion(rules):
        yield "inside"
        yield "still inside"
    yield "outside"


def test_a_generator_that_leaks_is_seen_where_blocks_end_out_of_order() -> None:
    one = steps("numpy")
    outer = sz.promotion("strict")
    outer.__enter__()
    next(one)
    assert sz.get_promotion().name == "numpy"  # as is documented
    with pytest.warns(RuntimeWarning, match="a generator holds one"):
        outer.__exit__(None, None, None)
    assert sz.get_promotion().name == "cann"
    with pytest.warns(RuntimeWarning, match="a generator holds one"):
        assert list(one) == ["still inside", "outside"]
    assert sz.get_promotion().name == "cann"


def test_two_generators_in_turn() -> None:
    one, other = steps("numpy"), steps("strict")
    next(one)
    next(other)
    with pytest.warns(RuntimeWarning, match="a generator holds one"):
        list(one)
    assert sz.get_promotion().name == "cann"
    with pytest.warns(RuntimeWarning, match="a generator holds one"):
        list(other)
    assert sz.get_promotion().name == "cann"


def test_a_generator_that_ends_in_another_context() -> None:
    one = steps("numpy")
    contextvars.copy_context().run(next, one)
    assert sz.get_promotion().name == "cann"
    with pytest.warns(RuntimeWarning, match="a generator holds one"):
        one.close()
    assert sz.get_promotion().name == "cann"


def test_blocks_in_order_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with sz.promotion("numpy"):
            sz.set_promotion("strict")
            assert list(steps("torch")) == ["inside", "still inside", "outside"]
            with sz.promotion("lossless"):
                pass
            assert sz.get_promotion().name == "strict"
    assert sz.get_promotion().name == "cann"


def test_tasks_do_not_see_each_other() -> None:
    async def work(name: str) -> bool:
        with sz.promotion(name):
            for _ in range(50):
                await asyncio.sleep(0)
                if ask() is not EXPECTED[name]:
                    return False
        return True

    async def main() -> list[bool]:
        return await asyncio.gather(*(work(name) for name in EXPECTED))

    assert all(asyncio.run(main()))


def test_importing_suanzi_loads_no_framework_and_reads_no_table() -> None:
    script = """
import sys, suanzi
heavy = {"numpy", "torch", "jax", "paddle", "mindspore", "openvino", "ml_dtypes", "rich",
         "cyclopts", "fractions", "suanzi.conformance", "suanzi.standard.records"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
from suanzi.promote import library
assert not library.loaded, library.loaded
suanzi.tensor([1.5])  # what shows it waits until somebody looks
shows = {"suanzi.base.html", "suanzi.tensors.printing", "suanzi.tensors.html", "jinja2", "rich",
         "suanzi.tensors.numerals", "suanzi.front.cli.catalogue"}
assert not shows & set(sys.modules), shows & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True)
