"""Results for which there is no memory: ALLOC_FAILED, whichever function is asked."""

from __future__ import annotations

import subprocess
import sys

import pytest

from helpers.sanitizers import needs_a_limit

# Views of one element, so that nothing but results is large; the limit is the child's own.
CHILD = """
import resource
import suanzi as sz
xp = sz.array_api
v, b = sz.expand(sz.tensor([1.0]), (2**36,)), sz.expand(sz.tensor([1]), (2**36,))
m = sz.expand(sz.tensor([True]), (2**36,))
a = sz.expand(sz.tensor([[2.0, 1], [1, 2]]), (2**34, 2, 2))
resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
for call in CALLS:
    try:
        eval(call)
        print(call, "gives")
    except sz.AllocFailed:
        pass
    except Exception as error:
        print(call, type(error).__name__, error)
"""
CALLS = """
xp.ones((2**40,)); xp.arange(2**40); xp.linspace(0, 1, 2**40); xp.eye(2**20); xp.meshgrid(b, b)
xp.exp(v); xp.add(v, b); xp.where(m, v, v); xp.clip(v, 0, 1); xp.astype(v, xp.float64)
xp.concat([v, v]); xp.stack([v, v]); xp.tile(v, (2,)); xp.roll(v, 1); xp.unstack(v); xp.repeat(v, 2)
xp.sort(v); xp.argsort(v); xp.unique_values(v); xp.nonzero(m); xp.take(v, b); xp.searchsorted(v, v)
xp.cumulative_sum(v); xp.cumulative_prod(v); xp.diff(v); xp.tensordot(v, v, axes=0)
xp.linalg.outer(v, v); xp.einsum('i,j->ij', v, v); xp.linalg.eigh(a); xp.linalg.eigvalsh(a)
xp.linalg.eig(a); xp.linalg.eigvals(a); xp.linalg.svd(a); xp.linalg.svdvals(a); xp.linalg.det(a)
xp.linalg.slogdet(a); xp.linalg.inv(a); xp.linalg.solve(a, a); xp.linalg.cholesky(a)
xp.linalg.qr(a); xp.linalg.pinv(a); xp.linalg.matrix_rank(a); xp.linalg.matrix_norm(a, ord=2)
xp.linalg.matrix_power(a, 3); xp.linalg.matrix_norm(a); xp.fft.fft(a); xp.fft.rfft(a)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is set as Linux has it")
@needs_a_limit
def test_no_memory_for_the_result() -> None:
    calls = [call.strip() for line in CALLS.split("\n") for call in line.split(";") if call.strip()]
    assert len(calls) == 47
    program = f"CALLS = {calls!r}\n{CHILD}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


# A little more each time, until there is enough for the result, and then for what is beside it.
BESIDE = """
import os, resource
import suanzi as sz
xp = sz.array_api
sz.set_num_threads(1)
x, z = sz.zeros((1 << 20,)), sz.zeros((1 << 20,), sz.complex64)
for call in CALLS:
    eval(call, {"xp": xp, "x": x[:5000], "z": z[:5000]})
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    said = set()
    for more in range(1, 120):
        resource.setrlimit(resource.RLIMIT_AS, (used + (more << 20), -1))
        try:
            eval(call)
            break
        except sz.AllocFailed as error:
            said.add(str(error))
        except Exception as error:
            print(call, type(error).__name__, error)
    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
    print(call, len(said))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is set as Linux has it")
@needs_a_limit
def test_no_memory_beside_the_result() -> None:
    calls = ["xp.sort(x)", "xp.argsort(x)", "xp.unique_all(x)", "xp.argsort(z)"]
    done = subprocess.run(
        [sys.executable, "-c", f"CALLS = {calls!r}\n{BESIDE}"],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {line.rsplit(" ", 1)[0] for line in done.stdout.splitlines()} == set(calls), done.stdout
