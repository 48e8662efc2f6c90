"""Functions of 16-bit floats and of float8 are looked up once enough elements were computed.

What they must give is the function of float64, rounded once: `cast` converts here, so that no table
is asked. (That this is the exact one rounded, of every number, function and level, is for
`check_narrow`.) Tests that need a table without results start a process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import Array, same_bits
from suanzi.tensors.exchange import numpy_dtype


def every_number(dtype: sz.DType, times: int = 1) -> Array:
    """Return every number of a dtype, NaN of all kinds among them."""
    bits = np.arange(1 << 8 * dtype.itemsize, dtype=f"u{dtype.itemsize}")
    made: Array = np.tile(bits.view(numpy_dtype(dtype)), times)
    return made


def computed(name: str, x: Array) -> Array:
    """Return a function by way of float64."""
    stored = sz.tensor(x)
    return sz.cast(getattr(sz, name)(sz.cast(stored, sz.float64)), stored.dtype).numpy()


@pytest.mark.parametrize("dtype", [sz.bfloat16, sz.float16, sz.float8_e5m2])
@pytest.mark.parametrize("name", ["square", "reciprocal", "sqrt", "round", "sign", "abs"])
def test_what_is_exact_is_looked_up_too(name: str, dtype: sz.DType) -> None:
    x = every_number(dtype)
    want = computed(name, x)
    for _ in range(2):  # the first makes the table, if nobody did
        assert same_bits(getattr(sz, name)(sz.tensor(x)).numpy(), want)
    assert same_bits((-sz.tensor(x)).numpy(), -x)


def test_every_layout_and_size() -> None:
    numbers = every_number(sz.bfloat16, 3)
    x, want = sz.tensor(numbers), computed("exp", numbers)
    assert same_bits(sz.exp(x).numpy(), want)
    for n in (0, 1, 2, 7, 8, 9, 4095, 4097):
        part = slice(16001, 16001 + n)
        assert same_bits(sz.exp(x[part]).numpy(), want[part])
    for part in (slice(None, None, 2), slice(None, None, -3), slice(1, -1)):
        assert same_bits(sz.exp(x[part]).numpy(), want[part])
    square = sz.reshape(x[: 1 << 16], (128, 512))
    assert same_bits(sz.exp(square.T).numpy(), want[: 1 << 16].reshape(128, 512).T)
    assert same_bits(sz.exp(square[3:, ::7]).numpy(), want[: 1 << 16].reshape(128, 512)[3:, ::7])
    one = sz.expand(x[16001:16002], (70000,))
    assert same_bits(sz.exp(one).numpy(), np.repeat(want[16001:16002], 70000))
    assert sz.exp(sz.cast(sz.tensor(5.0), sz.bfloat16)).item() == 148.0


def test_float8_saturates_where_the_rules_say_so() -> None:
    x = every_number(sz.float8_e4m3fn, 2)
    plain, want = sz.exp(sz.tensor(x)).numpy(), computed("exp", x)
    with sz.promotion(replace(sz.get_promotion(), float8_overflow="largest")):
        saturated, wanted = sz.exp(sz.tensor(x)).numpy(), computed("exp", x)
    assert same_bits(plain, want)
    assert same_bits(saturated, wanted)
    assert not same_bits(plain, wanted)
    assert same_bits(sz.exp(sz.tensor(x)).numpy(), want)


FRESH = """
import os, sys, threading
import numpy as np
import suanzi as sz
from native.test_function_tables import computed, every_number, same_bits
x = every_number(sz.float16, 2)
want = {name: computed(name, x) for name in ("exp", "tanh", "log")}
def check(name="exp"):
    assert same_bits(getattr(sz, name)(sz.tensor(x)).numpy(), want[name]), name
"""


def run(program: str) -> None:
    """Run a program in a process that has made no table yet."""
    paths = [str(Path(sz.__file__).parents[1]), str(Path(__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-c", FRESH + program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def test_threads_that_make_the_same_table_at_once_and_a_fork() -> None:
    run("""
sz.set_num_threads(1)
failed = []
def one(barrier):
    barrier.wait()
    try:
        for name in want:
            check(name)
    except BaseException as error:
        failed.append(error)
barrier = threading.Barrier(8)
threads = [threading.Thread(target=one, args=(barrier,)) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failed, failed
want["sin"], want["cos"] = computed("sin", x), computed("cos", x)
check("sin")
if hasattr(os, "fork"):  # it has a table of its parent's, and makes one of its own
    child = os.fork()
    if child == 0:
        try:
            check("sin"), check("cos")
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
check("cos")
""")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for its limits")
def test_without_memory_for_a_table_the_results_are_computed() -> None:
    run("""
import resource
some, small = sz.tensor(x[: 1 << 14]), want["exp"][: 1 << 14]
for _ in range(3):
    assert same_bits(sz.exp(some).numpy(), small)
sz._core.trim_pool()
sz.tanh(some)  # the pool keeps room for such a result
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
_, hard = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (used, hard))
taken = []
for size in (1 << 20, 1 << 17, 1 << 16):
    try:
        while True:
            taken.append(bytearray(size))
    except MemoryError:
        pass
found = sz.exp(some)  # 65,536 elements in all: a table is due, and there is no room for it
resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
taken.clear()
assert same_bits(found.numpy(), small)
check()
""")
