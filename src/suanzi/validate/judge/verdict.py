"""The verdict on a kernel: true or false, a short text, JSON, and a script to paste."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from suanzi.base.lang import say
from suanzi.base.text import wrap
from suanzi.conformance.model.case import Case
from suanzi.conformance.subjects.wire import Data
from suanzi.truth.bounds import Bound
from suanzi.validate.criteria import Ruling
from suanzi.validate.judge.findings import Finding
from suanzi.validate.judge.standards import Tally, tallies

Outcome = Literal["right", "wrong", "no answer", "not taken", "cannot fail"]
SCHEMA = 1


@dataclass(frozen=True)
class CaseResult:
    """What became of one case."""

    id: str
    outcome: Outcome
    finding: Finding | None = None
    share: float | None = None
    """The largest error, as a multiple of its bound."""
    case: Case | None = field(default=None, repr=False, compare=False)
    expected: Sequence[Bound] = field(default=(), repr=False, compare=False)
    standards: Mapping[str, Ruling] = field(default_factory=dict, repr=False, compare=False)
    """What the criteria of others say of the same result, by name."""
    made: Sequence[Any] = field(default=(), repr=False, compare=False)
    """The numbers of a wrong result that has the right dtypes and shapes."""

    @property
    def elements(self) -> int:
        """The number of elements of the inputs."""
        given = self.case.arguments.values() if self.case else ()
        return sum(x.size for x in given if isinstance(x, Data))


@dataclass(frozen=True, repr=False)
class Verdict:
    """Whether a kernel is right; false if it is wrong in one case, or gives no answer in time."""

    kernel: str
    operator: str
    framework: str
    device: str
    accumulate: str
    cases: tuple[CaseResult, ...]
    notes: tuple[Finding, ...] = ()
    seconds: float = 0.0
    backward: bool = False
    """Whether its gradients were judged, too."""

    def __bool__(self) -> bool:
        return self.answer == "right"

    @property
    def answer(self) -> Literal["right", "wrong", "not judged"]:
        """The verdict in a word; a kernel that is not wrong but gives no answer is not judged."""
        outcomes = {c.outcome for c in self.cases}
        if "wrong" in outcomes:
            return "wrong"
        return "right" if "right" in outcomes and "no answer" not in outcomes else "not judged"

    @property
    def failures(self) -> tuple[CaseResult, ...]:
        """The cases that are wrong or have no answer, the smallest first."""
        wrong = [c for c in self.cases if c.outcome in ("wrong", "no answer")]
        return tuple(sorted(wrong, key=lambda c: c.elements))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong, each code once, in the smallest case that shows it."""
        found: dict[str, Finding] = {}
        for one in self.failures:
            if one.finding is not None:
                found.setdefault(one.finding.code, one.finding)
        # What a call does is the reason of the rest, and a diagnosis says more than numbers.
        return tuple(sorted(found.values(), key=lambda f: (f.code == "JD404", f.code)))

    @property
    def standards(self) -> tuple[Tally, ...]:
        """How the criteria of others that were named judge the same results."""
        return tallies([(c.outcome == "right", c.standards) for c in self._judged])

    @property
    def _judged(self) -> list[CaseResult]:
        return [c for c in self.cases if c.outcome in ("right", "wrong")]

    @property
    def first_failure(self) -> CaseResult | None:
        """The smallest case of the first finding; None if nothing is wrong."""
        codes = [f.code for f in self.findings]
        some = (c for c in self.failures if c.finding and c.finding.code == codes[0])
        return next(some, None) if codes else None

    @property
    def script(self) -> str:
        """A program that shows the first failure; empty if there is none."""
        first = self.first_failure
        return "" if first is None or first.case is None else _script(self, first, first.case)

    def __repr__(self) -> str:
        return f"<Verdict: {self}>"

    @property
    def headline(self) -> str:
        """The answer in a sentence, with what was judged."""
        judged = self._judged
        wrong = sum(c.outcome == "wrong" for c in judged)
        dtypes = ", ".join(dict.fromkeys(c.id.split("/")[2] for c in judged)) or "no dtype"
        answer = "WRONG" if wrong else self.answer
        return say(
            f"{self.kernel} is {answer} as {self.operator}{' and its gradient' * self.backward}: "
            f"{wrong or len(judged)} of {_cases(len(judged))} in {dtypes} ({self.framework} on "
            f"{self.device}, accumulation in {self.accumulate})"
        )

    def __str__(self) -> str:
        judged = self._judged
        lines = [self.headline]
        for one in (*self.findings, *self.notes):
            lines += wrap(say(str(one)), 100, first="  ", rest="      ")
            lines += [f"      {one.case}"] * bool(one.case)
        shares = [c.share for c in judged if c.share is not None and c.outcome == "right"]
        said = []
        if self and shares:
            said.append(say(f"largest error: {max(shares):.2f} of its bound"))
        for tally in self.standards:
            said += wrap(say(str(tally)), 98, rest="    ")
        unused = sum(c.outcome == "cannot fail" for c in self.cases)
        if unused:
            said.append(say(f"not counted: {_cases(unused)} that would pass a wrong answer, too"))
        late = sum(c.outcome == "no answer" for c in self.cases)
        if late:
            said.append(say(f"{_cases(late)} without an answer, which are not judged"))
        elif not judged:
            said.append(say("no case fits the kernel: check its parameters, dtypes and shapes"))
        return "\n".join([*lines, *(f"  {line}" for line in said)])

    def to_json(self) -> str:
        """Return the verdict as JSON."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False, default=str)

    def to_html(self) -> str:
        """Return the verdict as one HTML file."""
        from suanzi.validate.judge.page import to_html

        return to_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as data, as its JSON has it."""
        return {
            "schema": SCHEMA,
            "kernel": self.kernel,
            "operator": self.operator,
            "backward": self.backward,
            "right": bool(self),
            "answer": self.answer,
            "framework": self.framework,
            "device": self.device,
            "accumulate": self.accumulate,
            "seconds": round(self.seconds, 3),
            "counts": {
                outcome: sum(c.outcome == outcome for c in self.cases)
                for outcome in get_args(Outcome)
            },
            "findings": [{**asdict(f), "title": f.title} for f in (*self.findings, *self.notes)],
            "standards": {t.name: t.to_dict() for t in self.standards},
            "cases": [
                {
                    "id": c.id,
                    "outcome": c.outcome,
                    "code": c.finding.code if c.finding else None,
                    "words": c.finding.words if c.finding else None,
                    "share": c.share,
                    "standards": {
                        name: {"accepted": r.accepted, "reason": r.reason}
                        for name, r in c.standards.items()
                    },
                }
                for c in self.cases
            ],
            "script": self.script,
        }


def _cases(count: int) -> str:
    return f"{count} case{'s' * (count != 1)}"


def _script(verdict: Verdict, failure: CaseResult, case: Case) -> str:
    """Return a program that makes the inputs and calls the kernel."""
    lines = [
        f"# {failure.id}",
        f"# {failure.finding}",
        "import ml_dtypes  # noqa: F401",
        "import numpy as np",
    ]
    tensors, named = [], []
    for name, x in case.arguments.items():
        if not isinstance(x, Data):
            named.append(f"{name}={x!r}")
            continue
        tensors.append(name)
        text = x.raw.hex()
        short = f'bytes.fromhex("{text}")'
        if len(text) > 600 and len(set(x.raw)) > 0:
            short = "bytes.fromhex(\n" + "\n".join(
                f'    "{text[i : i + 88]}"' for i in range(0, len(text), 88)
            ) + "\n)"  # fmt: skip
        lines.append(f"{name} = np.frombuffer({short}, {x.dtype!r}).reshape({tuple(x.shape)})")
    module, _, function = verdict.kernel.rpartition("::")
    if module:
        lines.append(f"from {module.rpartition('/')[2].removesuffix('.py')} import {function}")
    else:
        lines.append(f"{function} = ...  # the kernel, of {verdict.framework}")
    pulled = verdict.backward and case.op.endswith("_bwd")
    inputs = [name for name in tensors if not (pulled and name == "out_grad")]
    call = f"{function}({', '.join([*inputs, *named])})"
    note = f"# make {verdict.framework} tensors of them first"
    if pulled:  # the gradient of this call is wrong
        call, note = f"torch.autograd.grad({call}, [{inputs[0]}], out_grad)", f"{note}, or use vjp"
    lines += [f"print({call})  {note}"]
    for one in failure.expected[:1]:
        few = [f"{v:.9g}" for v in one.value.reshape(-1)[:8]]
        lines.append(f"# right: {', '.join(few)}{' ...' if one.value.size > 8 else ''}")
    return "\n".join(lines) + "\n"
