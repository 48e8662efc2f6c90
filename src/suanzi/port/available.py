"""Which operators of PyTorch a target has: the texts in ``available``, and SZ008.

The texts were written by tools/port_operators.py from public sources and installed frameworks.
What they do not list is unknown.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from suanzi.port.findings import Verdict
from suanzi.port.given import OWN_GRADIENTS
from suanzi.promote.rules import RuleSet
from suanzi.recording.calls import Call
from suanzi.standard.other_names import by_name

FOLDER = Path(__file__).parent / "available"
STATES = {
    "available": "available", "composed": "by composition", "cpu": "on the CPU",
    "missing": "missing", "unknown": "unknown",
}  # fmt: skip
"""What a target may have of an operator, in words."""
UNCOUNTED = ("view", "device")
"""What computes nothing, and what PyTorch chooses for the device on which it was recorded."""
_SHOWN = 6


@dataclass(frozen=True)
class Kernel:
    """The function that a target calls for an operator."""

    function: str
    places: dict[int, int]
    """Which argument of the operator is which of the function; empty: the result's dtype counts."""


@dataclass(frozen=True)
class Table:
    """What is known of one target."""

    target: str
    sources: tuple[str, ...]
    states: dict[str, str]
    """By PyTorch's name."""
    names: dict[str, str]
    """What the target calls it, where that is known."""
    kernels: dict[str, Kernel]


@cache
def table(target: str) -> Table | None:
    """Return what is known of the operators of a target; None where that is nothing.

    >>> table("torch_npu").states["addmm"], table("torch_npu").states["lgamma"], table("onnx")
    ('available', 'cpu', None)
    """
    name = {"jax_x32": "jax"}.get(target, target.partition("+")[0])
    file = FOLDER / f"{name}.txt"
    if not name.isidentifier() or not file.is_file():
        return None
    return read(file.read_text("utf-8"))


def read(text: str) -> Table:
    """Read the table of a target."""
    head: dict[str, list[str]] = {"target": [], "source": []}
    states: dict[str, str] = {}
    names: dict[str, str] = {}
    kernels: dict[str, Kernel] = {}
    state = ""
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[0].startswith("["):
            state = words[0].strip("[]")
        elif not state:
            head[words[0]].append(line.partition(" ")[2].strip())
        elif len(words) > 1 and words[1] == "is":
            states[words[0]], names[words[0]] = state, words[2]
        elif len(words) > 1 and words[1].startswith("aclnn"):
            states[words[0]], names[words[0]] = state, words[1]
            places = words[2].split(",") if len(words) > 2 else []
            pairs = [one.partition("=") for one in places]
            kernels[words[0]] = Kernel(words[1], {int(a): int(b or a) for a, _, b in pairs})
        else:
            states |= dict.fromkeys(words, state)
    return Table(head["target"][0], tuple(head["source"]), states, names, kernels)


def torch_name(operator: str, source: str) -> str | None:
    """Return what PyTorch calls an operator of a framework; None where that is not known."""
    if source == "torch":
        row = by_name("torch").get(operator)
        symbols = row is not None and operator not in row.names.get("torch", ())
        return row.names["torch"][0] if row is not None and symbols else operator
    row = by_name(source).get(operator)
    return next(iter(row.names.get("torch", ())), None) if row is not None else None


_ALLOCATES = frozenset("empty empty_like empty_strided new_empty new_empty_strided getitem".split())


def computes(call: Call, source: str = "torch") -> bool:
    """Tell whether a call computes anything: a view and an allocation do not."""
    name = torch_name(call.operator, source)
    there = table("torch_npu")
    assert there is not None
    return name not in _ALLOCATES and there.states.get(name or "") not in UNCOUNTED


class Available:
    """Which operators of a program a target has."""

    def __init__(self, rules: RuleSet, source: str = "torch") -> None:
        self.rules, self.source = rules, source
        self.known = table("torch_npu" if rules.name == "cann" else rules.name)
        self.calls: dict[str, Counter[str]] = {state: Counter() for state in STATES}
        """By state, the operators of the program and their calls."""

    def state(self, call: Call) -> str:
        """Return what the target has of an operator; empty for one that does not count."""
        assert self.known is not None
        name = torch_name(call.operator, self.source) or ""
        if not computes(call, self.source):
            return ""
        found = self.known.states.get(name, "unknown")
        if self.rules.name == "cann":
            row = by_name("torch").get(name)
            has = row is not None and "aclnn" in row.names
            # What torch_npu computes on the CPU may have a function that it does not call.
            return "available" if has else "unknown" if found == "cpu" else found
        return found

    def judge(self, call: Call) -> list[Verdict]:
        """Count the operator of a call; return a verdict if the target lacks it."""
        if self.known is None or (call.backward and self.rules.name.startswith(OWN_GRADIENTS)):
            return []
        state = self.state(call)
        if state:
            self.calls[state][call.operator] += call.count
        if state != "missing":
            return []
        name = self.rules.name.partition("+")[0]
        text = f"{name} has no operator for it, and no composition of others is known"
        return [Verdict("SZ008", None, None, text, None, call.operator, f"no {call.operator}")]

    def notes(self) -> list[str]:
        """Return how many operators of the program the target has, in a line."""
        many = sum(map(len, self.calls.values()))
        if not many:
            return []
        said = []
        for state, words in STATES.items():
            names = sorted(self.calls[state])
            if names:
                more = ", ..." * (len(names) > _SHOWN)
                shown = f" ({', '.join(names[:_SHOWN])}{more})" * (state in ("cpu", "missing"))
                said.append(f"{len(names)} {words}{shown}")
        if len(said) == 1 and self.calls["available"]:
            said = ["all available"] if many > 1 else ["available"]
        return [f"{self.rules.name}: {many} operator{'s' * (many != 1)}: {', '.join(said)}"]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {
            "sources": list(self.known.sources) if self.known else [],
            **{state: dict(sorted(names.items())) for state, names in self.calls.items()},
        }
