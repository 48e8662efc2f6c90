"""Odd programs under blame: tensors of other kinds, traces, lists twice; prints one JSON object."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import torch
from planted import Plant
from robust import x

import suanzi as sz
from suanzi.validate.blame.judging import judge
from suanzi.validate.blame.rules import RULES
from suanzi.validate.blame.sampling import Call
from suanzi.validate.blame.tensors import is_finite

warnings.filterwarnings("ignore")
TESTS: dict[str, Any] = {}


def test(function: Any) -> Any:
    """Have a function run; it returns what is to be said of it."""
    TESTS[function.__name__] = function
    return function


def judged(report: Any) -> list[str]:
    """Return which operators were judged."""
    return sorted({site.operator for site in report.sites if site.judged})


@test
def signs() -> Any:
    """A sign that is pending, of the imaginary part of a conjugate, is that of the numbers."""
    z = torch.complex(x(4), x(4) + 1)
    with sz.blame(overhead=None) as report:
        z.conj().imag.exp()
    return [report.answer, judged(report)]


@test
def float8() -> Any:
    """What is too large for a float8 becomes NaN or the largest number: both are right."""
    large = torch.tensor([1e9, -1e9, 3.0])
    with sz.blame(overhead=None) as report:
        large.to(torch.float8_e4m3fn)
        large.to(torch.float8_e5m2)
    found = [report.answer]
    for value in (448.0, float("nan"), 416.0):
        made = torch.tensor([value, -value, 3.0]).to(torch.float8_e4m3fn)
        with Plant("_to_copy", lambda *a, made=made, **k: made), sz.blame() as report:
            large.to(torch.float8_e4m3fn)
        found.append(report.answer)
    return found


@test
def nested() -> Any:
    """An operator that has a kernel for nested tensors is called as it is."""
    layer = torch.nn.Linear(4, 3)
    given = torch.nested.nested_tensor([x(2, 4), x(3, 4)])
    plain = layer(given)
    with sz.blame(overhead=None) as report:
        made = layer(given)
    same = all(torch.equal(a, b) for a, b in zip(plain.unbind(), made.unbind(), strict=True))
    return [same, report.answer]


@test
def traced() -> Any:
    """Tensors that have shapes alone are not judged, and what is exported runs."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with sz.blame(overhead=None) as report:
        with FakeTensorMode():
            torch.ones(3).exp()
        exported = torch.export.export(torch.nn.Linear(3, 2), (x(1, 3),))
        exported.module()(x(1, 3))
    return [report.answer, report.notes, list(report.unjudged()), "addmm" in judged(report)]


@test
def again() -> Any:
    """Lists that are called twice: parameters stay, and what differs is found."""

    def run(**more: Any) -> Any:
        parameters = [torch.nn.Parameter(x(5) + i) for i in range(9)]
        optimizer = torch.optim.AdamW(parameters, 0.1, fused=True)
        for p in parameters:
            p.grad = x(5)
        with sz.blame(overhead=None, **more) as report:
            optimizer.step()
        return torch.cat([p.detach() for p in parameters]), report

    count = [0]

    def change(func: Any, *args: Any, **kwargs: Any) -> None:
        func(*args, **kwargs)
        count[0] += 1
        args[0][0].view(-1)[1] *= 1 + (count[0] % 2) * 2.0**-22

    before, _ = run()
    now, report = run(twice=True)
    with Plant("_fused_adamw_", change):
        _, other = run(twice=True)
    return [
        bool(torch.equal(before, now)), report.answer, dict(report.unjudged()),
        [(site.operator, site.different) for site in other.sites if site.different],
    ]  # fmt: skip


@test
def memory() -> Any:
    """Judging needs little memory next to a large tensor; nobody notices a NaN less."""
    from torch.profiler import ProfilerActivity, profile

    given = x(1 << 10, 1 << 12)
    with (
        profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen,
        sz.blame(overhead=None) as report,
    ):
        given.exp()
    large = [e for e in seen.events() if e.self_cpu_memory_usage > 5 << 20]
    found = [is_finite(torch, given), is_finite(torch, given.t())]
    given[-1, 5] = float("inf")
    found += [is_finite(torch, given), is_finite(torch, given.t()), is_finite(torch, given[:-1])]
    return [len(large), report.answer, found]


@test
def itself() -> Any:
    """A list that is its own operand is judged as it was."""
    tensors = [x(5) + i for i in range(9)]
    with sz.blame(overhead=None) as report:
        torch._foreach_mul_(tensors, tensors)
    return [report.answer, judged(report)]


@test
def tiles() -> Any:
    """A gradient of a convolution by FFT is inaccurate where 0 is right, and no mistake."""
    given, weight, g = x(2, 3, 9, 9).relu(), x(4, 3, 3, 3), x(2, 4, 9, 9).relu()
    given[:, 0, :, 3:] = 0  # what its last column reads is 0; the tile has more
    g[:, :, :, :5] = 0
    more = [None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [False, True, False]]

    def by_fft(func: Any, *args: Any) -> Any:
        sizes = {"s": (16, 16), "dim": (2, 3)}
        a = torch.fft.rfft2(torch.nn.functional.pad(given, (1, 1, 1, 1)), **sizes)
        b = torch.fft.rfft2(g, **sizes).conj()
        made = torch.fft.irfft2(torch.einsum("ncij,noij->ocij", a, b), **sizes)
        return func(*args)[0], made[:, :, :3, :3].contiguous(), None

    def farther(func: Any, *args: Any) -> Any:
        return by_fft(func, *args)[0], by_fft(func, *args)[1] + 1e-3, None

    found = []
    for fault in (by_fft, farther):
        with Plant("convolution_backward", fault), sz.blame(overhead=None) as report:
            made = torch.ops.aten.convolution_backward(g, given, weight, *more)
        last = [site for site in report.findings if site.operator == "convolution_backward"]
        found.append([report.answer, [(site.kind, "transforms" in site.words) for site in last]])
    return [bool((made[1][:, 0] != 0).any()), *found]


@test
def older_names() -> Any:
    """PyTorch 2.11 has another name for the gradient that a distance's takes."""
    a, b = x(4, 7), x(5, 7)
    r, g = torch.cdist(a, b), x(4, 5)
    out = torch.ops.aten._cdist_backward(g, a, b, 2.0, r)
    given = {"grad": g, "x1": a, "x2": b, "p": 2.0, "cdist": r}
    found = []
    for made in (out, out * 1.01):
        call = Call(torch, "_cdist_backward", given, [made], np.random.default_rng(0))
        found += [judge(piece).share <= 1 for piece in RULES[call.name](call)]
    return found


@test
def unwatched() -> Any:
    """Steps that there is no time to watch are counted; what else sees calls is left as it was."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counts(TorchDispatchMode):
        calls = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None):
            Counts.calls += 1
            return func(*args, **(kwargs or {}))

    layer = torch.nn.Linear(4, 4)
    given = x(2, 4)
    depths = []
    with sz.blame(overhead=1.0001) as report:
        for i in range(6):
            if i == 4:  # nothing is entered between a mode of the program and its end
                with Counts():
                    layer(given)
            layer(given).sum().backward()
            depths.append(torch._C._len_torch_dispatch_stack())
    with sz.blame(overhead=1.0001) as inner, Counts():
        for _ in range(4):
            layer(given)
    with sz.blame(overhead=None) as whole:
        for _ in range(6):
            layer(given)
    seen = [s.calls for s in report.sites if s.operator == "addmm"]
    return [
        seen, report.notes, depths, inner.notes, sum(s.calls for s in whole.sites) > 6,
        whole.notes, torch._C._len_torch_dispatch_stack(), Counts.calls > 4,
    ]  # fmt: skip


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps({name: function() for name, function in TESTS.items()}))
