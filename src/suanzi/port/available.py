"""Which operators of PyTorch a target has: the texts in ``available``, and SZ008.

The texts were written by tools/port_operators.py from public sources and installed frameworks.
What they do not list is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from suanzi.port.calls import Call
from suanzi.standard.other_names import by_name

FOLDER = Path(__file__).parent / "available"
STATES = ("available", "composed", "cpu", "missing", "unknown")
"""What a target may have of an operator, best first; views and other devices' are not counted."""
UNCOUNTED = ("view", "device")


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
