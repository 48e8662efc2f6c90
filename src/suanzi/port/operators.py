"""How operators of a framework find the dtype of their result: by promotion or otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from suanzi.base.status import InvalidArgument
from suanzi.promote.operators import OPERANDS, Operator, operator
from suanzi.recording.calls import Call, Taken
from suanzi.recording.recorders import recording

_NAMES = {
    "input": 0, "self": 0, "tensors": 0, "other": 1, "exponent": 1, "min": 1, "end": 1, "mat2": 1,
    "weight": 1, "tensor1": 1, "max": 2, "tensor2": 2, "bias": 2, "query": 0, "key": 1, "value": 2,
    "mat1": 1, "batch1": 1, "batch2": 2, "src": 3, "source": 3, "values": 2,
}  # fmt: skip
"""The positions of arguments that are given by name."""


def place_of_name(word: str) -> int | None:
    """Return the position of an argument that is given by name; None for others."""
    return _NAMES.get(word)


FRAMEWORKS = ("torch", "paddle", "mindspore")
"""Those whose programs can be recorded."""


@dataclass(frozen=True)
class Promotion:
    """An operator that promotes: how rule sets see it, and which arguments take part."""

    operator: Operator
    places: tuple[int, ...]
    """Empty: all tensors of the list that is the first argument."""


@dataclass(frozen=True)
class Known:
    """What is known of a framework's operators, by their names."""

    promotes: dict[str, Promotion]
    follows: frozenset[str]
    chosen: frozenset[str]


@cache
def known(framework: str = "torch") -> Known:
    """Return what is known of a framework's operators.

    >>> known().promotes["rsub"].operator.name, "view" in known().follows
    ('sub', True)
    """
    if framework not in (*FRAMEWORKS, "suanzi"):
        raise InvalidArgument(
            f"port: calls of {framework!r} cannot be analysed: which of its operators promote is "
            f"not known. It is for {', '.join(FRAMEWORKS)}."
        )
    promotes: dict[str, Promotion] = {}
    others: dict[str, set[str]] = {"follows": set(), "chosen": set(), "quiet": set()}
    found = recording.kinds(framework)
    if framework == "suanzi":
        promotes = {name: Promotion(operator(name), places) for name, places in OPERANDS.items()}
        found = {name: kind for name, kind in found.items() if kind in others}
    for name, kind in found.items():
        if kind in others:
            others[kind].add(name)
            continue
        title, _, places = kind.rpartition(" ")
        numbers = tuple(int(place) for place in places.split(",") if place != "*")
        promotes[name] = Promotion(operator(title), numbers)
    return Known(promotes, frozenset(others["follows"]), frozenset(others["chosen"]))


plain_name = recording.plain


def operands(call: Call, found: Promotion) -> tuple[Taken, ...] | None:
    """Return the operands of a call that promotes; None where they are unknown."""
    by_place: dict[int, Taken | tuple[Taken, ...] | None] = dict(enumerate(call.arguments))
    for name, x in call.named:
        if name in _NAMES:
            by_place.setdefault(_NAMES[name], x)
    if not found.places:
        joined = by_place.get(0)
        return joined if isinstance(joined, tuple) and joined else None
    taken = [by_place[place] for place in found.places if by_place.get(place) is not None]
    # The first two have to be there; a bound of clip and a bias may be missing.
    if len(taken) < min(len(found.places), 2) or not taken:
        return None
    if any(not isinstance(x, Taken) for x in taken):
        return None
    return tuple(x for x in taken if isinstance(x, Taken))
