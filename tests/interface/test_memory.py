"""A shortage of memory is ALLOC_FAILED, whatever the operator: shown under a real limit."""

from __future__ import annotations

import subprocess
import sys

import pytest

# The first calls are small: they import what they need and start the threads.
PROGRAM = r"""
import inspect, resource, sys
import suanzi as sz
from suanzi import interface
from suanzi.registry import REGISTRY

def calls(n):
    x = sz.full("float32", "cpu", (n, n), 0.5)
    i = sz.full("int32", "cpu", (n, n), 3)
    mask, row, order = x > 0.25, x[0], sz.randperm(n, sz.int64)
    found = {
        "create_tensor": dict(shape=(n, n), values=x),
        "zeros": dict(shape=(n, n)), "full": dict(shape=(n, n)), "empty": dict(shape=(n, n)),
        "contiguous": dict(input=x.T),
        "rand_uniform": dict(shape=(n, n), min=0, max=1), "rand_normal": dict(shape=(n, n)),
        "rand_bernoulli": dict(input=x), "randperm": dict(len=n * n),
        "multinomial": dict(input=x, num_samples=2 * n),
        "range": dict(start=0, limit=n * n, step=1), "linspace": dict(start=0, stop=1, num=n * n),
        "duplicate": dict(input=x), "diag": dict(input=row),
        "cast": dict(input=x, type="float64"), "reshape": dict(input=x.T, dims=(n * n,)),
        "concat": dict(input_lists=[x, x], axis=0), "stack": dict(input_lists=[x, x], axis=0),
        "slice_backward": dict(grad_out=x, input=x, begin=(0, 0), size=(n, n), step=(1, 1)),
        "tile": dict(input=x, repeats=(1, 2)), "pad": dict(input=x, pad_width=(1, 1, 1, 1)),
        "roll": dict(input=x, shifts=(1,), axis=(0,)), "clip": dict(input=x, low=0, high=1),
        "clip_backward": dict(grad_out=x, low=0, high=1, input=x),
        "gather": dict(input=x, index=order),
        "scatter": dict(input=x, index=order, updates=x),
        "flatten": dict(input=x.T, start_axis=0, stop_axis=1),
        "sign": dict(input=x), "where": dict(condition=mask, x=x, y=x),
        "masked_select": dict(input=x, mask=mask), "muladd": dict(x=x, y=x, a=x),
        "trace_backward": dict(grad_y=row, input_shape=(n, n, n)),
        "acosh": dict(x=sz.full("float32", "cpu", (n, n), 2.0)),
        "rint": dict(x=x, mode="TONEAREST"),
    }
    for op in REGISTRY.values():
        if op.kernel and op.name not in found:
            parameters = inspect.signature(op.function).parameters.values()
            operand = i if all(d.kind != "float" for d in op.dtypes) else x
            found[op.name] = {p.name: operand for p in parameters if p.default is p.empty}
    return found

for name, arguments in calls(3).items():
    status = getattr(interface, "op_" + name)(**arguments)[0]
    assert status is sz.Status.SUCCESS, (name, interface.last_error())
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
def test_every_operator_under_a_limit() -> None:
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.endswith("SUCCESS [3.0]\n")
