"""The rule set in force, across threads and tasks."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
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
         "cyclopts", "fractions"} & set(sys.modules)
assert not heavy, heavy
from suanzi.promote import library
assert not library.loaded, library.loaded
"""
    subprocess.run([sys.executable, "-c", script], check=True)
