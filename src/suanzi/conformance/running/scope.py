"""What a backend claims to have: what a C library exports, what an adapter declares."""

from __future__ import annotations

from suanzi.conformance.running.process import Facts
from suanzi.standard import interfaces

UNDECLARED = "the adapter does not declare it"


def unclaimed(facts: Facts) -> dict[str, str]:
    """Return the interfaces that a backend does not claim, each with the reason.

    An adapter declares what its `mapping` has, if it has one; without one, all but its `missing`.

    >>> some = {"add": "chip.add"}, {"sub": "no sub"}
    >>> facts = Facts("chip", "1", "strict", False, *some, notes=[], python="3.12")
    >>> found = unclaimed(facts)
    >>> found["sub"], found["mul"], "add" in found
    ('no sub', 'the adapter does not declare it', False)
    """
    undeclared = {op: UNDECLARED for op in interfaces() if op not in facts.mapping}
    found = {**(undeclared if facts.mapping else {}), **facts.missing}
    return {op: found[op] for op in interfaces() if op in found}
