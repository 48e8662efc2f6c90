"""``suanzi demo``: the questions people come with, each answered with a small example."""

from __future__ import annotations

from collections.abc import Callable

from suanzi.base.dtypes import bfloat16, float16, int32
from suanzi.base.lang import say
from suanzi.front.cli import render
from suanzi.ops.calling.recording import record
from suanzi.promote.context import promotion
from suanzi.promote.questions import diff, explain, explain_all
from suanzi.tensors.make import tensor

RULES = ("cann", "paddle", "torch", "numpy", "lossless")
"""Enough rule sets to see that they differ."""


def show(print_answer: Callable[..., None]) -> None:
    """Print every question with its answer and the command that asks it."""
    print(say("1. Which dtype comes out, and why?") + " (suanzi promote i32 bf16 --rules all)\n")
    _promotion(print_answer)
    moves = say("2. What changes when my program moves?")
    print(f"\n{moves} (suanzi port model.py --to torch_npu,paddle)\n")
    _port()
    satisfies = say("3. Does my backend satisfy the standard?")
    print(f"\n{satisfies} (suanzi check --backend numpy)\n")
    _check()
    print("\n" + say("4. Is my kernel right?") + " (suanzi judge --help)")
    print()
    print(say("Next: suanzi --help, suanzi ops, suanzi explain i8 300 --rules torch"))


def _promotion(print_answer: Callable[..., None]) -> None:
    print_answer(explain_all(int32, bfloat16, rules=RULES), render.explanations)
    print()
    print_answer(explain(int32, bfloat16, rules="cann"), render.explanation)
    x, y = tensor([2049, 7], int32), tensor([0.5, 0.25], float16)
    print("\n" + say("Operators compute under any rule set:"))
    for name in ("cann", "numpy"):
        with promotion(name):
            print(f"  {name:7}{x!r} + {y!r}\n         {x + y!r}")


def _port() -> None:
    from suanzi.port import judge

    with promotion("torch"), record() as calls:
        scores, mask = tensor([0.5, 2.0], float16), tensor([1, 0], int32)
        scores * mask + tensor(0.1)
    for finding in judge(calls, ["cann", "paddle"]).findings:
        verdict = finding.verdict
        print(f"  {finding.code} {finding.rules}: {verdict.question}: {say(verdict.text)}")
        if verdict.fix is not None:
            print("      " + say(f"fix: {verdict.fix.code}"))
    print("\n  " + say("All pairs of dtypes, PyTorch to CANN:"))
    print(render.diff_summary(diff("torch", "cann")))


def _check() -> None:
    from suanzi.conformance.check import check

    run = check("numpy", ops=["floordiv"], dtypes=["int32"], groups=["special"], jobs=1)
    counts = run.counts()
    passed = f"NumPy's floordiv, int32: {counts['passed']} of {counts['cases']} cases pass."
    print("  " + say(passed))
    for failed in [result for result in run.results if result.outcome == "failed"][:1]:
        print(f"  {failed.id}\n    {failed.call}\n    {say(failed.problem or '')}")
