"""Autocast: which operators a framework computes in a lower precision by itself.

The lists lie in ``autocasts/``, one file per framework and device or level, in the framework's own
names; a name in brackets is PyTorch's for the same operator, and ``()`` says that it has none:
PyTorch's operator of that name is another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from suanzi.base.dtypes import DType, float32, float64
from suanzi.base.status import InvalidArgument
from suanzi.port.findings import Verdict
from suanzi.promote.fixes import Fix, cast_code
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import contains, loss
from suanzi.recording.calls import Call, Taken

Policy = Literal["lower", "float32", "widest", "others"]
SAYS = {
    "lower": "casts to the lower precision",
    "float32": "casts to float32",
    "widest": "casts to the widest",
    "others": "does not cast",
}
_LEVELS = {"torch": ("cuda",), "paddle": ("O1", "O2"), "mindspore": ("auto", "O1", "O2", "O3")}
"""The levels that a target has, the usual one first."""
LEVELS = ("O1", "O2", "O3", "auto")
LISTS = {
    "torch": ("torch_cuda", "torch_cpu"),
    "torch_npu": ("torch_npu",),
    "paddle": ("paddle_O1", "paddle_O2"),
    "mindspore": ("mindspore_auto", "mindspore_O1", "mindspore_O2", "mindspore_O3"),
}
"""The files of each rule set that has autocast, by devices or levels."""


@dataclass(frozen=True)
class Lists:
    """What autocast of one framework does with operators, on a device or at a level."""

    title: str
    version: str
    source: str
    policies: dict[str, Policy]
    """By PyTorch's names; ``*`` is every other one."""
    names: dict[str, str] = field(default_factory=dict)
    """The framework's own name of an operator, where it is another."""
    results: DType | None = None
    """What results of the lower precision are cast back to."""
    fixes: dict[str, str] = field(default_factory=dict)
    """How an operator is moved to a list."""
    own: dict[str, Policy] = field(default_factory=dict)
    """By the framework's own names."""

    def policy(self, operator: str) -> Policy | None:
        """Return what is done with an operator; None where the lists do not say."""
        return self.policies.get(operator) or self.policies.get("*")

    def computed(self, operator: str, lower: DType, floats: Sequence[DType]) -> DType | None:
        """Return what an operator computes in, given the dtypes of its floats; None: unknown."""
        policy = self.policy(operator)
        if policy is None:
            return None
        if policy in ("lower", "float32"):
            return lower if policy == "lower" else float32
        return floats[0] if len(set(floats)) == 1 else float32

    def result(self, operator: str, computed: DType) -> DType:
        """Return the dtype of a result that was computed in one."""
        return (self.results or computed) if self.policy(operator) == "lower" else computed


def lists_of(target: str, level: str = "") -> Lists | None:
    """Return the lists of a rule set's autocast; None where it has none.

    >>> lists_of("paddle").policy("exp"), lists_of("torch_npu").policy("rms_norm")
    ('float32', 'others')
    """
    if target == "torch_npu":
        return read("torch_npu")
    levels = _LEVELS.get(target)
    if levels is None:
        return None
    if target == "torch" or not level:
        return read(f"{target}_{levels[0]}")
    if level not in levels:
        raise InvalidArgument(
            f"port: autocast of {target} has no level {level!r}; it has {', '.join(levels)}."
        )
    return read(f"{target}_{level}")


def check_level(level: str, targets: Sequence[str]) -> None:
    """Raise InvalidArgument unless each target that has levels of autocast has this one."""
    for target in targets if level else ():
        lists_of(target, level)


@cache
def read(name: str) -> Lists:
    """Return the lists of a file."""
    text = (Path(__file__).parent / "autocasts" / f"{name}.txt").read_text(encoding="utf-8")
    facts: dict[str, str] = {}
    policies: dict[str, Policy] = {}
    names: dict[str, str] = {}
    every: dict[str, Policy] = {}
    section: Policy | None = None
    key = ""
    for line in re.sub(r"(?m)^#.*\n", "", text).splitlines():
        head = re.fullmatch(r"\[(lower|float32|widest|others)\]", line)
        if head:
            section = head[1]  # type: ignore[assignment]
        elif section is None and line[:1].isspace():
            facts[key] += f" {line.strip()}"
        elif section is None and line:
            key, _, said = line.partition(" ")
            facts[key] = said.strip()
        elif section is not None:
            for own, brackets in re.findall(r"([\w*]+)(\([\w,]*\))?", line):
                every[own] = section
                others = filter(None, brackets.strip("()").split(","))
                for operator in (own, *others) if brackets != "()" else ():
                    policies[operator] = section
                    names[operator] = own
    return Lists(
        facts["title"], facts["version"], facts["source"], policies,
        {name: own for name, own in names.items() if name != own},
        float32 if facts.get("results") == "float32" else None,
        {policy: facts[policy] for policy in ("lower", "float32") if policy in facts},
        every,
    )  # fmt: skip


def floats_of(call: Call) -> list[Taken]:
    """Return the tensors of floats that a call was given."""
    given = [*call.arguments, *(x for _, x in call.named)]
    taken = [x for x in given if isinstance(x, Taken)]
    taken += [t for x in given if isinstance(x, tuple) for t in x]
    return [x for x in taken if x.operand.dtype is not None and x.operand.dtype.kind == "float"]


@dataclass(frozen=True)
class Cast:
    """What autocast makes of a call: under the program's framework, and under the target."""

    was: DType
    there: DType
    verdict: Verdict | None = None
    """None where both give the same."""
    follows: bool = False
    """Whether it is so only because operands have other dtypes there."""


def judge(
    call: Call, target: RuleSet, level: str, there: Sequence[DType | None], written: RuleSet
) -> Cast | None:
    """Return what autocast changes of a call; None where the lists do not explain it.

    `there` are the dtypes that its floats have under the target, where they are others.
    """
    device, lower = call.autocast or ("", None)
    ours = read("torch_cpu" if device == "cpu" else "torch_cuda")
    floats = [x.operand.dtype for x in floats_of(call) if x.operand.dtype is not None]
    policy = ours.policy(call.operator)
    if lower is None or not floats or float64 in floats or policy is None:
        return None
    was = ours.computed(call.operator, lower, floats)
    theirs = lists_of(target.name, level)
    if was is not call.result or was is None:
        return None
    if theirs is None:
        # What autocast casts, the program has to cast itself there.
        return Cast(was, was) if policy != "others" else None
    if call.operator not in {*ours.policies, *theirs.policies}:
        return None  # a view, a cast, or one that no list has
    other = theirs.policy(call.operator)
    changed = [here or dt for dt, here in zip(floats, there, strict=True)]
    computed = theirs.computed(call.operator, lower, changed)
    if other is None or computed is None or policy == other == "others":
        return None
    result = theirs.result(call.operator, computed)
    if result is was and computed is was:
        return Cast(was, result)
    alone = theirs.computed(call.operator, lower, floats)
    verdict = _verdict(call, was, computed, result, ours, theirs, written)
    return Cast(was, result, verdict, follows=alone is was and result is computed)


def _verdict(
    call: Call, was: DType, computed: DType, result: DType, ours: Lists, theirs: Lists,
    written: RuleSet,
) -> Verdict:  # fmt: skip
    policy, other = ours.policy(call.operator), theirs.policy(call.operator)
    assert policy is not None
    assert other is not None
    gone = loss(was, computed)
    text = f"{result} under autocast, {was} in {ours.title}"
    if computed is not result:
        text = f"computed in {computed}, {text}"
    text += f": {theirs.title} {SAYS[other]}, {ours.title} {SAYS[policy]}"
    text += f"; {gone}" if gone is not None else ""
    code: Literal["SZ003", "SZ005"] = "SZ003" if gone is not None else "SZ005"
    dtypes = ", ".join(str(x.operand) for x in floats_of(call))
    asked = f"{call.operator}({dtypes}) under autocast"
    assert contains(computed, was) or gone is not None
    return Verdict(code, None, None, text, _fix(call, was, policy, theirs, written), asked)


def _fix(call: Call, was: DType, policy: Policy, theirs: Lists, written: RuleSet) -> Fix:
    """Return how the target's autocast is made to do what the program's did."""
    how = theirs.fixes.get(policy)
    if how is not None:
        own = theirs.names.get(call.operator, call.operator)
        return Fix(f"give {how.replace('OP', own)}", "")
    if theirs.policy(call.operator) == "others" and theirs.results is None:
        return Fix(f"cast its operands to {was} yourself", cast_code(written, "x", was))
    return Fix(f"leave it out of autocast and cast its operands to {was}", "")
