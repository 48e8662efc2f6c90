"""A shortage of memory is ALLOC_FAILED, whatever the operator: shown under a real limit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from helpers.memory_cases import NOTHING_ALLOCATED, calls
from helpers.sanitizers import needs_a_limit
from suanzi.base.status import Status
from suanzi.standard import interfaces

# The first calls are small: they import what they need and start the threads.
PROGRAM = r"""
import resource, sys
sys.path.insert(0, sys.argv[1])
import suanzi as sz
from helpers.memory_cases import calls
from suanzi import interface
from suanzi.registry import REGISTRY

SINGULAR = ("inverse", "cholesky", "solve")
for name, arguments in calls(3).items():
    status = getattr(interface, "op_" + name)(**arguments)[0]
    assert status is sz.Status.SUCCESS or name in SINGULAR, (name, interface.last_error())
large = calls(2560)
sz._core.trim_pool()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 20), resource.RLIM_INFINITY))
wrong = {}
for name, arguments in large.items():
    status, *outputs = getattr(interface, "op_" + name)(**arguments)
    said = str(interface.last_error())
    if status is not sz.Status.ALLOC_FAILED or outputs != [None] * len(outputs):
        wrong[name] = (status, said)
    elif not said.startswith(REGISTRY[name].title):
        wrong[name] = said
print(len(large), "calls", wrong)
status, made = interface.op_add(x=sz.tensor([1.0]), y=sz.tensor([2.0]))
print(status.name, made.tolist())
sys.exit(bool(wrong))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is set and read as Linux has it")
@needs_a_limit
def test_every_operator_under_a_limit() -> None:
    tests = Path(__file__).parents[2]
    command = [sys.executable, "-c", PROGRAM, str(tests)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.endswith("SUCCESS [3.0]\n")


def test_every_clause_that_lists_it_is_there() -> None:
    listed = {name for name, f in interfaces().items() if Status.ALLOC_FAILED in f.statuses}
    assert listed <= calls(3).keys() | NOTHING_ALLOCATED
