"""Programs that are hard to watch, under blame; prints what the reports say as one JSON object."""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from typing import Any

import torch
from planted import Plant, after, times
from torch.nn import functional as F

import suanzi as sz

warnings.filterwarnings("ignore")
TESTS: dict[str, Any] = {}


def test(function: Any) -> Any:
    """Have a function run; it returns what is to be said of it."""
    TESTS[function.__name__] = function
    return function


def x(*shape: int) -> torch.Tensor:
    """Return numbers that are the same each time."""
    return torch.arange(float(torch.Size(shape).numel())).sin().reshape(shape)


@test
def raises() -> Any:
    """A program that fails: its error passes on, and its calls are known."""
    try:
        with sz.blame() as report:
            x(3, 4).relu() @ x(3, 4)
    except RuntimeError as error:
        return [
            report.answer,
            report.judged > 0,
            report.raised,
            "cannot be multiplied" in f"{error}",
        ]
    return None


@test
def forks() -> Any:
    """A process that is forked is not judged, and said so; it works as without."""
    with sz.blame() as report:
        child = os.fork()
        if not child:
            os._exit(0 if float(x(3).sum()) < 2 else 1)
        _, status = os.waitpid(child, 0)
        x(3).exp()
    return [status, report.judged > 0, list(report.notes)]


class Rows(torch.utils.data.Dataset[torch.Tensor]):
    """Some rows, computed in the process of a worker."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, i: int) -> torch.Tensor:
        return x(3).exp() + i


@test
def workers() -> Any:
    """The workers of a DataLoader are not judged, and said so; their rows are the same."""
    plain = torch.stack([Rows()[i] for i in range(4)])
    with sz.blame() as report:
        loader = torch.utils.data.DataLoader(Rows(), 2, num_workers=1)
        found = torch.cat([batch.mul(1.0) for batch in loader])
    judged = {s.operator for s in report.sites if s.judged}
    return [bool(torch.equal(plain, found)), sorted(judged & {"exp", "mul"}), list(report.notes)]


@test
def hooks() -> Any:
    """What hooks call is judged: of modules, of tensors and of gradients."""
    layer, given = torch.nn.Linear(3, 2), x(4, 3).requires_grad_()
    layer.register_forward_hook(lambda module, args, y: y.tanh())
    given.register_hook(lambda g: g.sinh())
    with sz.blame(overhead=None) as report:
        layer(given).sum().backward()
    judged = {s.operator for s in report.sites if s.judged}
    return [report.answer, sorted(judged & {"addmm", "tanh", "tanh_backward", "sinh"})]


@test
def optimizers() -> Any:
    """Operators that take lists: the bits stay, and a fault in one tensor is found."""

    def run(**more: Any) -> torch.Tensor:
        torch.manual_seed(0)
        model = torch.nn.Sequential(*(torch.nn.Linear(5, 5) for _ in range(3)))
        optimizer = torch.optim.AdamW(model.parameters(), 0.1, **more)
        for _ in range(2):
            model(x(2, 5)).square().sum().backward()
            optimizer.step()
        return torch.cat([p.detach().reshape(-1) for p in model.parameters()])

    def fault(func: Any, *args: Any, **kwargs: Any) -> None:
        func(*args, **kwargs)
        args[0][-1].mul_(1.001)

    found = []
    for name, more in (
        ("_fused_adamw_", {"fused": True}),
        ("_foreach_addcdiv_", {"foreach": True}),
    ):
        before = run(**more)
        with sz.blame(overhead=None) as report:
            now = run(**more)
        with Plant(name, fault), sz.blame(overhead=None) as wrong:
            run(**more)
        same = bool(torch.equal(before, now))
        skipped = {**report.counted("no truth"), **report.unjudged()}
        found.append([same, report.answer, skipped, wrong.findings[0].operator])
    return found


@test
def shared_memory() -> Any:
    """An operand that the call writes to is judged as it was before."""
    y = x(4, 4).clone()
    with sz.blame(overhead=None) as report:
        torch.addmm(y, x(4, 3), x(3, 4), out=y)
        y.mul_(y)
    return [
        report.answer,
        sorted({s.operator for s in report.sites if s.judged} & {"addmm", "mul"}),
    ]


@test
def conversions() -> Any:
    """Dtypes that change without a conversion in the program are listed."""
    with sz.blame() as report:
        x(3).half() + x(3)
        torch.arange(3) * x(3).half()
        x(3).double().float() + x(3) * 2
    return [s.conversion for s in report.sites if s.conversion]


@test
def compared() -> Any:
    """Two runs: the same; one side wrong, here or there; a call more; another program."""
    path = sys.argv[1] + ".sz"
    model = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.GELU(), torch.nn.Linear(6, 6))

    def run(more: bool = False) -> None:
        model.zero_grad()
        y = model(x(3, 6))
        (y.relu() if more else y).square().sum().backward()

    with sz.blame(record=path):
        run()
    with sz.blame(against=path) as same:
        run()
    with Plant("gelu", after(times(1.01))), sz.blame(against=path) as here:
        run()
    with sz.blame(against=path) as longer:
        run(more=True)
    with sz.blame(against=path) as other:
        x(9).exp().log().sin().cos()
    with Plant("gelu", after(times(1.01))), sz.blame(record=path):
        run()
    with sz.blame(against=path) as there:
        run()
    with sz.blame(record=path, samples=0, record_size=400):
        run()
    with sz.blame(against=path) as small:
        run()

    def said(report: Any) -> Any:
        data = report.comparison
        one = data["explained_by"] or {}
        kinds = [(one.get(k) or {}).get("kind") for k in ("verdict", "recorded_verdict")]
        first = [v["layer"] for v in data["layers"] if v["differs"]][:1]
        return [data["answer"], one.get("operator"), kinds, first, data["missing"], data["extra"]]

    texts = [str(one) for one in (here, other, small)]
    return [*map(said, (same, here, longer, other, there)), small.comparison["dropped"] > 0, texts,
            here.to_dict()]  # fmt: skip


@test
def scripts() -> Any:
    """What TorchScript calls is judged."""
    double = torch.jit.trace(lambda v: v.exp() * 2, x(5))
    with sz.blame() as report:
        double(x(5))
        torch.jit.trace(lambda v: v.exp() * 2.5 + 1, x(5))  # which checks itself
    return [report.answer, sorted({s.operator for s in report.sites if s.judged} & {"exp", "mul"})]


@test
def compiles() -> Any:
    """What is compiled runs uncompiled, so that it is seen."""
    with sz.blame() as report:
        torch.compile(lambda v: v.exp() + 1)(x(5))
    return [sorted({s.operator for s in report.sites if s.judged}), list(report.notes)]


@test
def threads() -> Any:
    """The calls of other threads are judged."""
    with sz.blame() as report:
        thread = threading.Thread(target=lambda: x(5).exp())
        thread.start()
        thread.join()
    return sorted({s.operator for s in report.sites if s.judged})


class Sub(torch.Tensor):
    """A subclass that does what tensors do."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        plain = [a.inner if isinstance(a, Sub) else a for a in args]
        return Sub.of(func(*plain, **(kwargs or {})))

    @staticmethod
    def of(inner: torch.Tensor) -> Any:
        made = torch.Tensor._make_wrapper_subclass(Sub, inner.shape, dtype=inner.dtype)
        made.inner = inner
        return made


@test
def subclasses() -> Any:
    """What a subclass is made of is judged."""
    given = Sub.of(x(5))
    with sz.blame() as report:
        made = torch.exp(given)
    same = bool(torch.equal(made.inner, x(5).exp()))
    return [same, sorted({s.operator for s in report.sites if s.judged})]


@test
def kinds() -> Any:
    """Tensors that are not judged are said to be not judged."""
    with sz.blame() as report:
        torch.eye(3).to_sparse() * 2
        torch.quantize_per_tensor(x(4), 0.1, 0, torch.qint8).clone()
        torch.nested.nested_tensor([x(2), x(3)]).relu()
        torch.empty(3, device="meta").exp()
        torch.ones(2, dtype=torch.complex64) * 2
        torch.empty(0, 3).exp()
    return [report.answer != "wrong", sorted(report.unjudged())]


@test
def writes() -> Any:
    """Calls in place, into views and into out= are judged on what was there before."""
    y, total = x(4, 6).clone(), torch.empty(4, 6)
    with sz.blame(overhead=None) as report:
        y[1:, ::2].mul_(2).add_(1)
        y[0] = 7
        torch.add(y, 1, out=total)
        y.t().clamp_(min=0)
        y.copy_(total)
        y.masked_fill_(y > 1, 0.5)
    judged = {s.operator: s.judged for s in report.sites if s.judged}
    return [report.answer, judged, report.notes, dict(report.unjudged())]


@test
def wrong_in_place() -> Any:
    """A call in place that is wrong is found."""
    y = x(4, 6).clone()

    def fault(func: Any, z: torch.Tensor, *more: Any) -> Any:
        func(z, *more)
        z[-1, -1] = 5
        return z

    with Plant("mul_", fault), sz.blame() as report:
        y.mul_(2)
    return [report.answer, report.findings[0].operator, report.findings[0].words]


@test
def stored_before_bias() -> Any:
    """A convolution that is stored before the bias is added, as cuDNN's, is only inaccurate."""
    given, weight, bias = x(2, 3, 9, 9).half(), x(4, 3, 3, 3).half(), x(4).half() * 30

    def fault(func: Any, v: torch.Tensor, w: torch.Tensor, b: torch.Tensor, *more: Any) -> Any:
        return func(v, w, None, *more) + b.reshape(-1, 1, 1)

    def wrong(func: Any, v: torch.Tensor, w: torch.Tensor, b: torch.Tensor, *more: Any) -> Any:
        return func(v, w, 1.01 * b, *more)

    found = []
    for one in (fault, wrong):
        with Plant("convolution", one), sz.blame() as report:
            F.conv2d(given, weight, bias)
        found.append([site.kind for site in report.findings])
    return found


@test
def born() -> Any:
    """A NaN that a right operator makes is named where it is born, and not later."""
    with sz.blame() as report:
        z = torch.zeros(3)
        y = z / z
        (y + 1).exp()
    return [report.answer, [(s.operator, s.kind, s.born) for s in report.findings]]


@test
def differs() -> Any:
    """Calls that give other bits the second time are found where that is asked for."""
    count = [0]

    def change(y: torch.Tensor) -> torch.Tensor:
        count[0] += 1
        return y * (1 + (count[0] % 2) * 2.0**-23)

    with Plant("exp", after(change)), sz.blame(twice=True) as report:
        x(9).exp()
    with sz.blame(twice=True) as other:
        x(9).exp().add_(1)
    return [report.answer, report.findings[0].kind, other.answer]


@test
def chosen() -> Any:
    """Operators, shares and steps that are asked for are judged, and no others."""
    layer = torch.nn.Linear(4, 4)
    with sz.blame(ops="addmm") as by_name:
        layer(x(2, 4)).exp()
    with sz.blame(every=3, overhead=None) as by_step:
        for _ in range(6):
            layer(x(2, 4))
    with sz.blame(share=0.25, overhead=None) as by_share:
        for _ in range(80):
            x(7).exp()
    with sz.blame(unusual=True) as odd:
        torch.tensor([1.0, float("inf")]).exp()
        x(7).tanh()
    exp = next(s for s in by_share.sites if s.operator == "exp")
    return [
        [s.operator for s in by_name.sites if s.judged],
        sum(s.judged for s in by_step.sites if s.operator == "addmm"),
        5 < exp.judged < 45,
        [s.operator for s in odd.sites if s.judged],
    ]


@test
def saves() -> Any:
    """A wrong call is saved, and is right when it is made again without the fault."""
    path = sys.argv[1]
    with Plant("native_layer_norm", after(times(1.5))), sz.blame(save=path) as report:
        F.layer_norm(x(3, 8).bfloat16(), (8,))
    found = report.findings[0]
    again = sz.blame.replay(found.reproducer)
    with Plant("native_layer_norm", after(times(1.5))):
        wrong = sz.blame.replay(found.reproducer)
    return [
        report.answer,
        os.path.basename(found.reproducer),
        again.answer,
        again.judged,
        wrong.answer,
        *saved_lists(path),
    ]


def saved_lists(path: str) -> Any:
    """Calls of optimizers, of which some tensors are saved, in place and not."""
    parameters = [torch.nn.Parameter(x(5) + i) for i in range(9)]
    optimizer = torch.optim.AdamW(parameters, 0.1, fused=True)
    for parameter in parameters:
        parameter.grad = x(5)

    def last(func: Any, *args: Any, **kwargs: Any) -> Any:
        made = func(*args, **kwargs)
        (made or args[0])[-1].detach().mul_(1.01)
        return made

    def column(func: Any, *args: Any) -> Any:
        return func(*args) * torch.tensor([1.0, 1.01])

    for name, fault, run in (
        ("_fused_adamw_", last, optimizer.step),
        ("_foreach_mul_", last, lambda: torch._foreach_mul_([p.detach() for p in parameters], 3)),
        ("_foreach_exp", last, lambda: torch._foreach_exp([p.detach() for p in parameters])),
        ("index", column, lambda: x(4, 4)[:, torch.tensor([0, 3])]),
    ):
        with Plant(name, fault), sz.blame(save=path) as report:
            run()
        found = report.findings[0].reproducer
        with Plant(name, fault):
            wrong = sz.blame.replay(found).answer
        yield [sz.blame.replay(found).answer, wrong]


@test
def limits() -> Any:
    """Where there is no time or no memory, little is judged; by default a line is, once."""
    y = x(64, 64)
    with sz.blame(overhead=1.0001) as report:
        for _ in range(50):
            y.exp()
    with sz.blame(overhead=10) as first:
        y.exp()
    with sz.blame(memory=16) as small:
        y.clone().mul_(2)
    exp = next(s for s in report.sites if s.operator == "exp")
    return [exp.calls, exp.judged <= 1, first.judged, list(small.unjudged())]


@test
def gradients() -> Any:
    """Attention, losses and activations with gradients, in three dtypes: nothing is wrong."""
    torch.manual_seed(0)
    q = torch.randn(2, 2, 9, 8, requires_grad=True)
    found = {}
    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        with sz.blame(overhead=None) as report:
            k = q.to(dtype)
            y = F.scaled_dot_product_attention(k, k, k, is_causal=True)
            y = F.silu(y) + F.gelu(y, approximate="tanh") + F.elu(y) + F.leaky_relu(y)
            y = y + F.hardswish(y) + F.softplus(y) + torch.tanh(y) + torch.sigmoid(y)
            F.smooth_l1_loss(y, torch.zeros_like(y)).backward()
        found[str(dtype)] = [report.answer, dict(report.counted("no truth")), report.notes]
    return found


@test
def shared_heads() -> Any:
    """Attention whose heads share keys: right, and each gradient that is not is found."""
    name = "_scaled_dot_product_flash_attention_for_cpu"

    def run() -> None:
        torch.manual_seed(0)
        q, k = torch.randn(2, 4, 9, 8, requires_grad=True), torch.randn(2, 2, 9, 8)
        k.requires_grad = True
        y = F.scaled_dot_product_attention(q, k, k * 2, is_causal=True, enable_gqa=True)
        y.square().sum().backward()

    found = []
    with sz.blame(overhead=None) as report:
        run()
    found.append([report.answer, dict(report.unjudged())])
    for which in range(3):
        with Plant(f"{name}_backward", after(times(1.01), which)), sz.blame() as report:
            run()
        found.append([report.answer, report.findings[0].words[:8]])
    return found


@test
def lowest() -> Any:
    """Masks of the lowest float32, with which scores overflow: faults beside them are found."""
    mask = torch.full((9, 9), torch.finfo(torch.float32).min).triu(1)
    q = x(1, 2, 9, 8).requires_grad_()

    def run() -> None:
        ((q @ q.transpose(-1, -2)).clamp(-3, 3) + mask).softmax(-1)
        F.scaled_dot_product_attention(q, q * 2, q + 1, mask).square().sum().backward()

    def first_rows(y: torch.Tensor) -> torch.Tensor:
        y = y.clone()
        y[:, :, :5] *= 1.01
        return y

    found = []
    name = "_scaled_dot_product_flash_attention_for_cpu"
    for one in ("", "_softmax", name, f"{name}_backward"):
        with Plant(one, after(first_rows)), sz.blame(overhead=None) as report:
            run()
        found.append([report.answer, [s.operator for s in report.findings], one])
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    wanted = sys.argv[2:] or list(TESTS)
    print(json.dumps({name: TESTS[name]() for name in wanted}))
